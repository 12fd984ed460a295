"""A real Dovecot on loopback: the oracle of every IMAP test.

It needs no rights (as root it drops to `nobody`), is up in about 0.1 s, and leaves nothing behind. Tests share one per
session and take a fresh user each.
"""

from __future__ import annotations

import grp
import itertools
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.peers.dovecot_config import DovecotLayout, DovecotOptions, acl_file, dovecot_configuration
from tests.peers.imap_user import ImapUser
from tests.peers.maildir import folder_path, plain_message, write_maildir
from tests.peers.processes import Account, Child, free_ports, greets, wait_until
from tests.peers.rawlog import SentCommand, parse_raw_log

SEARCH_PATH = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/usr/lib/dovecot"])
START_SECONDS = 10.0
START_ATTEMPTS = 3
PASSWORD = 'pass word\\1"'
"""With everything a LOGIN argument has to quote."""


class DovecotFailed(RuntimeError):
    """Dovecot did not start or a doveadm command failed; the text is its own."""


def dovecot_binary() -> str | None:
    """The program, or None on a machine without it."""
    return shutil.which("dovecot", path=SEARCH_PATH)


def dovecot_version() -> tuple[int, int]:
    """Major and minor number, as in (2, 3): the configuration syntax hangs on them."""
    text = subprocess.run([str(dovecot_binary()), "--version"], capture_output=True, text=True, check=True).stdout
    found = re.match(r"(\d+)\.(\d+)", text)
    if found is None:
        raise DovecotFailed("dovecot --version printed no version")
    return int(found[1]), int(found[2])


@dataclass(frozen=True, slots=True)
class MailUser(ImapUser):
    """One account of a Dovecot of ours, with what only its host can do."""

    server: Dovecot

    def fill(
        self,
        folder: str,
        uids: Sequence[int],
        *,
        uid_validity: int = 1_234_567,
        message: Callable[[int], bytes] = plain_message,
    ) -> None:
        """Write one message per UID straight to disk, into a folder nobody has opened yet (Maildir, ASCII name)."""
        write_maildir(
            folder_path(self.server.mail_root(self.name), folder),
            uids,
            own=self.server.account.own,
            uid_validity=uid_validity,
            message=message,
        )

    def commands(self) -> list[SentCommand]:
        """Everything this user's sessions sent after login, the second client's own included."""
        return self.server.raw_log_commands(self.name)

    def renew_uid_validity(self, folder: str, value: int) -> None:
        """Rebuild a folder under another UIDVALIDITY."""
        self.server.doveadm("mailbox", "update", "--uid-validity", str(value), "-u", self.name, folder)


class Dovecot:
    """One running instance with plaintext and STARTTLS on `plain_port`, TLS on `tls_port`."""

    def __init__(self, certificate: bytes, key: bytes, options: DovecotOptions | None = None) -> None:
        self.options = options or DovecotOptions()
        self.account = Account.unprivileged()
        self.version = dovecot_version()
        # Not pytest's own folder: an unprivileged server cannot enter it, and socket paths end at 108 octets.
        self.root = Path(tempfile.mkdtemp(prefix="mailgate-dovecot-", dir="/tmp"))
        self._numbers = itertools.count(1)
        self._child: Child | None = None
        try:
            self._prepare(certificate, key)
            self._start()
        except BaseException:
            self.stop()
            raise

    def _prepare(self, certificate: bytes, key: bytes) -> None:
        (self.root / "cert.pem").write_bytes(certificate)
        (self.root / "key.pem").write_bytes(key)
        (self.root / "acl").write_text(acl_file(self.options))
        for name in ("run", "state", "rawlog", "mail", "home", "users"):
            (self.root / name).mkdir()
        self.account.own(self.root, *self.root.iterdir())

    def _start(self) -> None:
        for _ in range(START_ATTEMPTS):
            self.plain_port, self.tls_port = free_ports(2)
            if self._started():
                return
        log = self.root / "dovecot.log"
        raise DovecotFailed(log.read_text() if log.exists() else (self.root / "start.log").read_text())

    def _started(self) -> bool:
        group = grp.getgrgid(self.account.gid).gr_name
        account = self.account
        layout = DovecotLayout(self.root, account.name, group, account.uid, account.gid, self.plain_port, self.tls_port)
        self.config = self.root / "dovecot.conf"
        self.config.write_text(dovecot_configuration(self.version, layout, self.options))
        self.account.own(self.config)
        child = Child(
            [str(dovecot_binary()), "-F", "-c", str(self.config)],
            account=self.account,
            output=self.root / "start.log",
        )
        self._child = child
        if wait_until(lambda: greets(self.plain_port, b"* OK"), seconds=START_SECONDS, alive=lambda: child.running):
            return True
        child.kill()
        return False

    def stop(self) -> None:
        """End every process of it and remove its folder."""
        if self._child is not None:
            self._child.kill()
        shutil.rmtree(self.root, ignore_errors=True)

    def new_user(self, prefix: str = "user") -> MailUser:
        """A user nobody has seen before, with an empty INBOX and the special folders."""
        name = f"{prefix}{next(self._numbers)}@example.org"
        user = MailUser(name, PASSWORD, self.plain_port, self)
        for name in ("mail", "home", "rawlog"):
            folder = self.root / name / user.name
            folder.mkdir()
            self.account.own(folder)
        # A file each: Dovecot looks for news in one it has read only once a second.
        (self.root / "users" / user.name).write_text(f"{user.name}:{{plain}}{user.password}\n")
        return user

    def mail_root(self, user: str) -> Path:
        """The folder that holds a user's mail."""
        return self.root / "mail" / user

    def doveadm(self, *arguments: str) -> str:
        """Run one doveadm command as the server's account; its standard output."""
        binary = shutil.which("doveadm", path=SEARCH_PATH)
        done = subprocess.run(  # type: ignore[call-overload]
            [str(binary), "-c", str(self.config), *arguments],
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            **self.account.switch(),
        )
        if done.returncode != 0:
            raise DovecotFailed(str(done.stderr))
        return str(done.stdout)

    def raw_log_commands(self, user: str) -> list[SentCommand]:
        """The commands of every session of a user, session by session."""
        return [
            command
            for path in sorted((self.root / "rawlog" / user).glob("*.in"))
            for command in parse_raw_log(path.read_bytes())
        ]
