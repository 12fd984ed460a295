"""A real MTA on loopback: Exim takes mail from who has logged in and hands all of it to Dovecot by LMTP.

It runs as the same account as Dovecot, from a copy of its program without the set-user-ID bit (exim4 would drop its
rights by itself when it is given a configuration of ours), and leaves nothing behind. Nothing leaves the machine:
every address is handed to that Dovecot, whatever its domain.
"""

from __future__ import annotations

import grp
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tests.peers.authority import Certificate
from tests.peers.dovecot import Dovecot
from tests.peers.maildir import folder_path
from tests.peers.processes import Account, Child, free_ports, greets, wait_until

SEARCH_PATH = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin"])
START_SECONDS = 10.0
START_ATTEMPTS = 3
USERNAME = "owner@example.org"
PASSWORD = "pass word of the MTA"


class EximFailed(RuntimeError):
    """Exim did not start; the text is its own."""


def exim_binary() -> str | None:
    """The program, or None on a machine without it."""
    return shutil.which("exim4", path=SEARCH_PATH) or shutil.which("exim", path=SEARCH_PATH)


def lmtp_binary() -> str | None:
    """Dovecot's LMTP service, which is a package of its own."""
    return shutil.which("lmtp", path="/usr/lib/dovecot:/usr/libexec/dovecot")


@dataclass(frozen=True, slots=True)
class EximLayout:
    """Where one instance lives, listens and delivers. `files_copies_for`: it files what this sender sends in Sent."""

    root: Path
    account: str
    group: str
    starttls_port: int
    tls_port: int
    lmtp_socket: Path
    files_copies_for: str | None = None
    sent_folder: Path | None = None


def exim_configuration(layout: EximLayout) -> str:
    """The whole file, for Exim 4.96 and later."""
    root = layout.root
    return f"""
exim_path = {root}/exim
exim_user = {layout.account}
exim_group = {layout.group}
never_users =
deliver_drop_privilege = true
spool_directory = {root}/spool
log_file_path = {root}/%slog
pid_file_path = {root}/pid
primary_hostname = mta.example.org
qualify_domain = example.org
keep_environment =
local_interfaces = 127.0.0.1
daemon_smtp_ports = {layout.starttls_port} : {layout.tls_port}
tls_on_connect_ports = {layout.tls_port}
tls_advertise_hosts = *
tls_certificate = {root}/cert.pem
tls_privatekey = {root}/key.pem
auth_advertise_hosts = ${{if def:tls_in_cipher{{*}}}}
host_lookup =
rfc1413_query_timeout = 0s
smtp_accept_max = 50
message_size_limit = 20M
acl_smtp_rcpt = who_logged_in
acl_smtp_data = everything

begin acl

who_logged_in:
  accept authenticated = *
  deny message = log in first

everything:
  accept

begin routers
{_filing_router(layout)}
everywhere:
  driver = accept
  transport = dovecot

begin transports

dovecot:
  driver = lmtp
  socket = {layout.lmtp_socket}
  batch_max = 100
{_filing_transport(layout)}
begin retry

* * F,1m,1s

begin authenticators

plain:
  driver = plaintext
  public_name = PLAIN
  server_prompts = :
  server_condition = ${{if and{{{{eq{{$auth2}}{{{USERNAME}}}}}{{eq{{$auth3}}{{{PASSWORD}}}}}}}}}
  server_set_id = $auth2

login:
  driver = plaintext
  public_name = LOGIN
  server_prompts = Username:: : Password::
  server_condition = ${{if and{{{{eq{{$auth1}}{{{USERNAME}}}}}{{eq{{$auth2}}{{{PASSWORD}}}}}}}}}
  server_set_id = $auth1
"""


def _filing_router(layout: EximLayout) -> str:
    """What some providers do: everything sent by their user also lands in Sent, by no wish of the client."""
    if layout.files_copies_for is None:
        return ""
    return f"""
filed:
  driver = accept
  senders = {layout.files_copies_for}
  unseen
  transport = filed
"""


def _filing_transport(layout: EximLayout) -> str:
    if layout.files_copies_for is None:
        return ""
    return f"""
filed:
  driver = appendfile
  maildir_format
  directory = {layout.sent_folder}
  create_directory
  batch_max = 100
"""


class Exim:
    """A running instance in front of `dovecot`, with STARTTLS on one port and implicit TLS on the other.

    `files_copies_for`: an address whose mail it also files in that user's Sent folder, as some providers do.
    """

    def __init__(self, dovecot: Dovecot, certificate: Certificate, *, files_copies_for: str | None = None) -> None:
        self.account = Account.unprivileged()
        self.root = Path(tempfile.mkdtemp(prefix="mailgate-exim-", dir="/tmp"))
        self._dovecot = dovecot
        self._filing = files_copies_for
        self._child: Child | None = None
        try:
            self._prepare(certificate)
            self._start()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """End every process of it and remove its folder."""
        if self._child is not None:
            self._child.kill()
        shutil.rmtree(self.root, ignore_errors=True)

    def log(self) -> str:
        """What it has written about the messages it took."""
        return "".join(path.read_text(errors="replace") for path in sorted(self.root.glob("*log")))

    def _prepare(self, certificate: Certificate) -> None:
        program = self.root / "exim"
        shutil.copyfile(str(exim_binary()), program)
        program.chmod(0o755)
        (self.root / "cert.pem").write_bytes(certificate.chain)
        (self.root / "key.pem").write_bytes(certificate.key)
        (self.root / "spool").mkdir()
        self.account.own(self.root, *self.root.iterdir())

    def _start(self) -> None:
        for _ in range(START_ATTEMPTS):
            self.starttls_port, self.tls_port = free_ports(2)
            if self._started():
                return
        raise EximFailed((self.root / "start").read_text() + self.log())

    def _started(self) -> bool:
        config = self.root / "exim.conf"
        config.write_text(exim_configuration(self._layout()))
        self.account.own(config)
        # A queue runner each second, for what Dovecot could not take at once.
        command = [str(self.root / "exim"), "-C", str(config), "-bdf", "-q1s"]
        child = Child(command, account=self.account, output=self.root / "start")
        self._child = child
        if wait_until(lambda: greets(self.starttls_port, b"220 "), seconds=START_SECONDS, alive=lambda: child.running):
            return True
        child.kill()
        return False

    def _layout(self) -> EximLayout:
        sent = folder_path(self._dovecot.mail_root(self._filing), "Sent") if self._filing else None
        return EximLayout(
            self.root,
            self.account.name,
            grp.getgrgid(self.account.gid).gr_name,
            self.starttls_port,
            self.tls_port,
            self._dovecot.root / "run" / "lmtp",
            self._filing,
            sent,
        )
