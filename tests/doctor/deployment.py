"""A deployment under examination, and what every examination has to keep: no secret printed, every check answered."""

from __future__ import annotations

import json
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from socket import SOCK_NONBLOCK, SOCK_STREAM, create_server, socket
from threading import Thread

import pytest

from mailgate.doctor.checks import CHECKS
from mailgate.doctor.notes import Patience, Patient
from mailgate.doctor.run import examine
from mailgate.doctor.verdicts import Report, Verdict
from mailgate.settings import load_settings
from tests.peers.authority import authority
from tests.peers.dovecot import MailUser

CANARY = "canary-4711-secret"
USER = "canary-owner@example.org"
SHORT = Patience(connect=1.0, command=1.0, total=30.0)
"""For servers that say nothing."""
SECRETS = ("MAIL_PASSWORD", "MAIL_SMTP_PASSWORD", "MAIL_USERNAME", "UPSTASH_REDIS_REST_TOKEN", "MAIL_STORE_KEY")


@dataclass(frozen=True)
class Examined:
    """A report, read as the operator reads it."""

    report: Report

    def verdict(self, check: str) -> str:
        return self.report.outcomes[check].verdict.value

    def cause(self, check: str) -> str:
        return self.report.outcomes[check].cause or ""

    def next_step(self, check: str) -> str:
        return self.report.outcomes[check].next_step or ""

    def told(self, verdict: Verdict) -> list[str]:
        """The checks with this verdict."""
        return [check for check, outcome in self.report.outcomes.items() if outcome.verdict is verdict]

    @property
    def failures(self) -> list[str]:
        return self.told(Verdict.FAIL)


async def examined(
    environ: dict[str, str], *, patience: Patience | None = None, now: Callable[[], float] = time.time
) -> Examined:
    """The report on a deployment with these variables."""
    report = await examine(Patient(load_settings(environ), patience or Patience(), now))
    keep_the_rules(report, environ)
    return Examined(report)


def keep_the_rules(report: Report, environ: dict[str, str]) -> None:
    assert list(report.outcomes) == [check.id for check in CHECKS]
    printed = "\n".join(report.lines()) + json.dumps(report.as_json(), ensure_ascii=False)
    assert len(report.lines()) == len(CHECKS)
    assert not any("\n" in line or "{" in line for line in report.lines())
    assert CANARY not in printed
    for name in SECRETS:
        assert name not in environ or environ[name] not in printed, name


def imap(port: int, security: str = "plaintext", host: str = "127.0.0.1", **more: str) -> dict[str, str]:
    """A mailbox on this port."""
    return {
        "MAIL_IMAP_HOST": host,
        "MAIL_IMAP_PORT": str(port),
        "MAIL_IMAP_SECURITY": security,
        "MAIL_USERNAME": USER,
        "MAIL_PASSWORD": CANARY,
        "MAIL_TLS_CA_FILE": str(authority().ca_file),
        **more,
    }


def dovecot_tls(user: MailUser, **more: str) -> dict[str, str]:
    """A user's mailbox, over implicit TLS."""
    login = {"MAIL_USERNAME": user.name, "MAIL_PASSWORD": user.password}
    return imap(user.server.tls_port, "tls", "localhost", **{**login, **more})


def smtp(port: int, security: str = "plaintext", host: str = "127.0.0.1", **more: str) -> dict[str, str]:
    """A submission server beside a mailbox that nobody reaches."""
    return {
        **imap(closed_port()),
        "MAIL_SMTP_HOST": host,
        "MAIL_SMTP_PORT": str(port),
        "MAIL_SMTP_SECURITY": security,
        **more,
    }


def closed_port() -> int:
    """A port where nobody listens."""
    with socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


@contextmanager
def black_hole() -> Iterator[int]:
    """A port that lets SYN packets disappear: its queue is full, and nobody takes anything out of it (listen(2))."""
    with ExitStack() as stack:
        server = stack.enter_context(create_server(("127.0.0.1", 0), backlog=0))
        port = server.getsockname()[1]
        for _ in range(8):
            waiting = stack.enter_context(socket(type=SOCK_STREAM | SOCK_NONBLOCK))
            waiting.connect_ex(("127.0.0.1", port))
        yield port


@contextmanager
def old_tls_server() -> Iterator[int]:
    """A port whose server has TLS 1.1 at most, and says so in an alert, which asyncio's servers do not."""
    with pytest.deprecated_call():
        context = authority().certificate().server_context(maximum=ssl.TLSVersion.TLSv1_1)

    def serve_one() -> None:
        with suppress(OSError):
            client, _ = server.accept()
            with client, suppress(ssl.SSLError), context.wrap_socket(client, server_side=True):
                pass

    with create_server(("127.0.0.1", 0)) as server:
        server.settimeout(10)
        thread = Thread(target=serve_one)
        thread.start()
        yield server.getsockname()[1]
        thread.join()
