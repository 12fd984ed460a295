"""A real Courier imapd on loopback: an honest old server without MOVE, CONDSTORE, SPECIAL-USE, LITERAL+ or UNSELECT.

Courier's login program has paths of root compiled in, so a front of ours answers up to the login and then hands the
connection over to the real imapd, whose first word is the tagged OK. What a client sent is kept on the way.
"""

from __future__ import annotations

import itertools
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from tests.peers.dovecot_config import SPECIAL_FOLDERS
from tests.peers.imap_user import ImapUser
from tests.peers.processes import Account
from tests.peers.rawlog import SentCommand, parse_raw_log
from tests.peers.unpacked import program, unpacked_environment, unpacked_root

PASSWORD = "secret"
BEFORE_LOGIN = "IMAP4rev1 UIDPLUS CHILDREN NAMESPACE THREAD=ORDEREDSUBJECT THREAD=REFERENCES SORT QUOTA IDLE"
WAIT_SECONDS = 60.0

_LOGIN = re.compile(rb'(?i)(\S+) LOGIN "?([^" ]+)"? "?([^" ]+)"?\Z')


def courier_binary() -> str | None:
    """The program, or None on a machine without it."""
    return program("/usr/bin/imapd") if unpacked_root() else None


@dataclass(frozen=True, slots=True)
class CourierUser(ImapUser):
    """One account of a Courier of ours. Every folder lies below INBOX, and the delimiter is a dot."""

    maildir: Path
    sent: list[bytearray] = field(repr=False)

    delimiter: ClassVar[str] = "."
    lacks: ClassVar[frozenset[str]] = frozenset({"MOVE", "CONDSTORE", "SPECIAL-USE"})
    # It takes the two halves of a character beyond the first plane for no character at all.
    refused_names: ClassVar[frozenset[str]] = frozenset({"emoji \N{OPEN MAILBOX WITH RAISED FLAG} mail"})

    def folder(self, *levels: str) -> str:
        """A name in the personal namespace (RFC 2342: `(("INBOX." "."))`)."""
        return ".".join(("INBOX", *levels))

    def renew_uid_validity(self, folder: str, value: int) -> None:
        """The first line of the UID list is `1 UIDVALIDITY UIDNEXT`."""
        listing = self.maildir.joinpath(*([] if folder == "INBOX" else ["." + folder.removeprefix("INBOX.")]))
        path = listing / "courierimapuiddb"
        first, _, rest = path.read_text().partition("\n")
        version, _, uid_next = first.split()
        path.write_text(f"{version} {value} {uid_next}\n{rest}")

    def commands(self) -> list[SentCommand]:
        """Everything sent after each login, session by session."""
        return [command for raw in list(self.sent) for command in parse_raw_log(bytes(raw))]


class _Notifier:
    """Stands in for gam_server, which imapd's gamin library would look for at each start for more than a second.

    It takes every connection and never notifies of anything: Courier is asked, not waited for. Courier of Debian 13
    knows nothing of it.
    """

    def __init__(self, account: Account, number: int) -> None:
        self.environment = {"GAM_CLIENT_ID": f"mailgate{number}"}
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        # An abstract address is compared whole, the zeros behind the name included (unix(7)).
        name = f"\0/tmp/fam-{account.name}-mailgate{number}".encode()
        self._listener.bind(name.ljust(108, b"\0"))
        self._listener.listen(200)
        self._taken: list[socket.socket] = []
        threading.Thread(target=self._accept, name="courier-notifier", daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                self._taken.append(self._listener.accept()[0])

    def stop(self) -> None:
        """Hang up."""
        _close(self._listener)
        for each in self._taken:
            each.close()


class Courier:
    """A listening front and one imapd for each connection that has logged in."""

    def __init__(self) -> None:
        self.account = Account.unprivileged()
        self.root = Path(tempfile.mkdtemp(prefix="mailgate-courier-", dir="/tmp"))
        self.account.own(self.root)
        self._numbers = itertools.count(1)
        self._users: dict[str, CourierUser] = {}
        self._children: list[subprocess.Popen[bytes]] = []
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=100)
        self.plain_port: int = self._listener.getsockname()[1]
        self._notifier = _Notifier(self.account, self.plain_port)
        threading.Thread(target=self._accept, name="courier-front", daemon=True).start()

    def stop(self) -> None:
        """End every imapd and remove the folder."""
        _close(self._listener)
        self._notifier.stop()
        for child in list(self._children):
            with suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait(timeout=10)
        shutil.rmtree(self.root, ignore_errors=True)

    def new_user(self) -> CourierUser:
        """A user nobody has seen before, with an empty INBOX and folders named like special ones."""
        name = f"courier{next(self._numbers)}"
        home = self.root / name
        home.mkdir()
        self.account.own(home)
        self._maildirmake(str(home / "Maildir"))
        for folder in SPECIAL_FOLDERS:
            self._maildirmake("-f", folder, str(home / "Maildir"))
        user = CourierUser(name, PASSWORD, self.plain_port, home / "Maildir", [])
        self._users[name] = user
        return user

    def _maildirmake(self, *arguments: str) -> None:
        subprocess.run(  # type: ignore[call-overload]
            [program("/usr/bin/maildirmake.courier"), *arguments],
            check=True,
            capture_output=True,
            env=unpacked_environment(),
            **self.account.switch(),
        )

    # --- the front ----------------------------------------------------------------------------------------------

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                client.settimeout(WAIT_SECONDS)
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, suppress(OSError):
            client.sendall(b"* OK [CAPABILITY %s] Courier-IMAP ready.\r\n" % BEFORE_LOGIN.encode())
            found = self._log_in(client)
            if found is not None:
                self._converse(client, *found)

    def _log_in(self, client: socket.socket) -> tuple[str, CourierUser] | None:
        """The tag of the LOGIN that was right, and whose it was."""
        while line := _line(client):
            tag, _, rest = line.partition(b" ")
            word = rest.upper()
            login = _LOGIN.fullmatch(line)
            user = self._users.get(login[2].decode()) if login else None
            if login and user is not None and login[3].decode() == user.password:
                return tag.decode(), user
            if word == b"CAPABILITY":
                client.sendall(b"* CAPABILITY %s\r\n%s OK CAPABILITY completed\r\n" % (BEFORE_LOGIN.encode(), tag))
            elif word == b"LOGOUT":
                client.sendall(b"* BYE Courier-IMAP server shutting down\r\n%s OK LOGOUT completed\r\n" % tag)
                return None
            else:
                client.sendall(tag + (b" NO Login failed.\r\n" if login else b" NO Error in IMAP command.\r\n"))
        return None

    def _converse(self, client: socket.socket, tag: str, user: CourierUser) -> None:
        """Both directions, until one side ends."""
        ours, theirs = socket.socketpair()
        with ours:
            with theirs:
                child = self._imapd(theirs, tag, user, client.getpeername()[1])
            self._children.append(child)
            sent = bytearray()
            user.sent.append(sent)
            back = threading.Thread(target=_pump, args=(ours, client, None), daemon=True)
            back.start()
            _pump(client, ours, sent)
            back.join(timeout=WAIT_SECONDS)
        child.wait(timeout=WAIT_SECONDS)
        self._children.remove(child)

    def _imapd(
        self, connection: socket.socket, tag: str, user: CourierUser, client_port: int
    ) -> subprocess.Popen[bytes]:
        environment = {
            **unpacked_environment(),
            **self._notifier.environment,
            "AUTHENTICATED": user.name,
            "AUTHADDR": user.name,
            "AUTHFULLNAME": "",
            "IMAPLOGINTAG": tag,
            "IMAP_CAPABILITY": BEFORE_LOGIN,  # imapd adds ENABLE UTF8=ACCEPT itself
            "IMAP_KEYWORDS": "1",
            "IMAP_USELOCKS": "0",
            "IMAP_ENHANCEDIDLE": "0",
            "IMAP_OBSOLETE_CLIENT": "0",
            "PROTOCOL": "IMAP",
            "TCPREMOTEIP": "127.0.0.1",
            "TCPREMOTEPORT": str(client_port),
            "HOME": str(user.maildir.parent),
            "MAILDIRQUOTA": "",
        }
        return subprocess.Popen(  # type: ignore[call-overload,no-any-return]
            [str(courier_binary()), "Maildir"],
            stdin=connection,
            stdout=connection,
            stderr=subprocess.DEVNULL,
            cwd=user.maildir.parent,
            env=environment,
            start_new_session=True,
            **self.account.switch(),
        )


def _close(listener: socket.socket) -> None:
    # A thread that waits in accept() does not notice that its socket was closed.
    with suppress(OSError):
        listener.shutdown(socket.SHUT_RDWR)
    listener.close()


def _line(client: socket.socket) -> bytes:
    """One line without its end, and not an octet more: the rest is imapd's."""
    line = bytearray()
    while not line.endswith(b"\r\n"):
        octet = client.recv(1)
        if not octet:
            return b""
        line += octet
    return bytes(line[:-2])


def _pump(source: socket.socket, sink: socket.socket, record: bytearray | None) -> None:
    with suppress(OSError):
        while data := source.recv(64 * 1024):
            if record is not None:
                record += data
            sink.sendall(data)
    # Whoever listens learns that nothing more comes.
    with suppress(OSError):
        sink.shutdown(socket.SHUT_WR)
