"""A real Cyrus on loopback: a second opinion that differs from Dovecot in many small ways.

Lower-case special-use attributes, LOGINDISABLED after login, FETCH items in an order of its own, NO without response
codes. It runs without rights, from unpacked packages, and leaves nothing behind.
"""

from __future__ import annotations

import itertools
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest

from tests.peers.dovecot_config import SPECIAL_FOLDERS
from tests.peers.imap_user import ImapUser
from tests.peers.processes import Account, Child, free_ports, greets, wait_until
from tests.peers.rawlog import SentCommand, parse_raw_log
from tests.peers.unpacked import program, unpacked_environment, unpacked_root

START_SECONDS = 15.0
START_ATTEMPTS = 3
PASSWORD = 'pass word\\1"'

_CHUNK = re.compile(rb"^([<>])\d+[<>]", re.MULTILINE)


class CyrusFailed(RuntimeError):
    """Cyrus did not start or one of its commands failed; the text is its own."""


def cyrus_binary() -> str | None:
    """The program, or None on a machine without it."""
    return program("/usr/lib/cyrus/bin/master") if unpacked_root() else None


@dataclass(frozen=True, slots=True)
class CyrusUser(ImapUser):
    """One account of a Cyrus of ours."""

    server: Cyrus

    # It does not survive even the question whether there is one of these names.
    deadly_names: ClassVar[frozenset[str]] = frozenset({"{5}"})
    refuses_rubbish: ClassVar[bool] = True
    refused_names: ClassVar[frozenset[str]] = frozenset(
        {"100%", 'quo"ted', "back\\slash", "{5}", "tab-free ;,:'`^~$!?#+=|<>@"}
    )

    def renew_uid_validity(self, folder: str, value: int) -> None:
        """None of its tools does that."""
        pytest.skip("Cyrus gives no folder another UIDVALIDITY")

    def commands(self) -> list[SentCommand]:
        """Everything this user's sessions sent after login, session by session."""
        return self.server.telemetry_commands(self.name)


class Cyrus:
    """One running instance with plaintext on `plain_port`."""

    def __init__(self) -> None:
        self.account = Account.unprivileged()
        self.root = Path(tempfile.mkdtemp(prefix="mailgate-cyrus-", dir="/tmp"))
        self._numbers = itertools.count(1)
        self._child: Child | None = None
        self._environment = {**unpacked_environment(), "CYRUS_USER": self.account.name}
        try:
            for name in ("conf", "spool", "conf/log", "conf/socket", "conf/proc", "conf/db"):
                (self.root / name).mkdir()
                self.account.own(self.root / name)
            self.account.own(self.root)
            self._start()
        except BaseException:
            self.stop()
            raise

    def _start(self) -> None:
        for _ in range(START_ATTEMPTS):
            (self.plain_port,) = free_ports(1)
            if self._started():
                return
        raise CyrusFailed((self.root / "start.log").read_text())

    def _started(self) -> bool:
        imapd = self._write("imapd.conf", _IMAPD.format(root=self.root, account=self.account.name) + _roles())
        services = _SERVICES.format(imapd=imapd, root=self.root, port=self.plain_port, programs=_programs())
        cyrus = self._write("cyrus.conf", services)
        child = Child(
            [str(cyrus_binary()), "-C", str(imapd), "-M", str(cyrus), "-p", str(self.root / "master.pid"), "-j", "1"],
            account=self.account,
            output=self.root / "start.log",
            environment=self._environment,
        )
        self._child = child
        if wait_until(lambda: greets(self.plain_port, b"* OK"), seconds=START_SECONDS, alive=lambda: child.running):
            return True
        child.kill()
        return False

    def _write(self, name: str, text: str) -> Path:
        path = self.root / name
        path.write_text(text)
        self.account.own(path)
        return path

    def stop(self) -> None:
        """End every process of it and remove its folder."""
        if self._child is not None:
            self._child.kill()
        shutil.rmtree(self.root, ignore_errors=True)

    def new_user(self) -> CyrusUser:
        """A user nobody has seen before, with an empty INBOX and the special folders from the first login on."""
        user = CyrusUser(f"cyrus{next(self._numbers)}", PASSWORD, self.plain_port, self)
        telemetry = self.root / "conf" / "log" / user.name
        telemetry.mkdir()
        self.account.own(telemetry)
        database = str(self.root / "sasldb2")
        done = subprocess.run(  # type: ignore[call-overload]
            [program("/usr/sbin/saslpasswd2"), "-p", "-c", "-f", database, "-u", "localhost", user.name],
            input=user.password,
            capture_output=True,
            text=True,
            env=self._environment,
            **self.account.switch(),
        )
        if done.returncode != 0:
            raise CyrusFailed(str(done.stderr))
        return user

    def telemetry_commands(self, user: str) -> list[SentCommand]:
        """The commands of every session of a user, session by session."""
        logs = sorted((self.root / "conf" / "log" / user).iterdir(), key=lambda path: path.stat().st_ctime_ns)
        return [command for path in logs for command in parse_raw_log(_sent(path.read_bytes()))]


def _sent(telemetry: bytes) -> bytes:
    """What the client sent: the pieces marked `<`; those marked `>` are the server's."""
    pieces = _CHUNK.split(telemetry)[1:]
    return b"".join(text for mark, text in zip(pieces[::2], pieces[1::2], strict=True) if mark == b"<")


def _programs() -> str:
    return program("/usr/lib/cyrus/bin")


def _roles() -> str:
    return "".join(f"xlist-{role.lstrip(chr(92)).lower()}: {name}\n" for name, role in SPECIAL_FOLDERS.items())


_IMAPD = f"""
configdirectory: {{root}}/conf
partition-default: {{root}}/spool
defaultpartition: default
cyrus_user: {{account}}
cyrus_group: nogroup
admins: nobody-at-all
servername: localhost
sasl_pwcheck_method: auxprop
sasl_auxprop_plugin: sasldb
sasl_mech_list: PLAIN LOGIN
sasl_sasldb_path: {{root}}/sasldb2
allowplaintext: yes
altnamespace: yes
unixhierarchysep: yes
autocreate_quota: 0
autocreate_inbox_folders: {" | ".join(SPECIAL_FOLDERS)}
conversations: 0
lmtpsocket: {{root}}/conf/socket/lmtp
idlesocket: {{root}}/conf/socket/idle
notifysocket: {{root}}/conf/socket/notify
syslog_prefix: mailgate
"""

_SERVICES = """
START {{
  recover cmd="{programs}/ctl_cyrusdb -C {imapd} -r"
}}
SERVICES {{
  imap cmd="{programs}/imapd -C {imapd} -U 200" listen="127.0.0.1:{port}" proto="tcp4" prefork=1 maxchild=200
}}
EVENTS {{
}}
"""
