"""A clock that is off: found out by the servers that were talked to anyway."""

from __future__ import annotations

import base64
import re
import time

import pytest

from tests.doctor.conftest import StartRedis
from tests.doctor.deployment import closed_port, dovecot_tls, examined, imap
from tests.peers.dovecot import MailUser

KEY = base64.b64encode(b"k" * 32).decode()
YEAR = 365 * 24 * 3600


@pytest.mark.parametrize(
    ("off", "verdict", "cause"),
    [
        (0, "ok", "clock of the store: [0-2] s apart"),
        (120, "warn", "12[0-2] s ahead of the clock of the store"),
        (1800, "fail", "180[0-2] s ahead of"),
        (-1800, "fail", "1(800|79[89]) s behind the clock"),
        (7200, "fail", "2.0 hours ahead of"),
    ],
)
async def test_the_clock_is_compared_with_the_stores(
    start_redis: StartRedis, off: int, verdict: str, cause: str
) -> None:
    server = start_redis()
    variables = {"MAIL_STORE": server.url, "MAIL_STORE_KEY": KEY}
    found = await examined(imap(closed_port(), **variables), now=lambda: time.time() + off)
    assert found.verdict("clock") == verdict
    # The store tells whole seconds, and the answer takes a moment.
    assert re.search(cause, found.cause("clock"))
    if verdict != "ok":
        assert "NTP" in found.next_step("clock")


@pytest.mark.parametrize("years", [-30, 3000])
async def test_a_clock_outside_the_validity_of_an_accepted_certificate_is_off(mail_user: MailUser, years: int) -> None:
    found = await examined(dovecot_tls(mail_user), now=lambda: time.time() + years * YEAR)
    assert found.failures == ["clock"]
    assert "outside the validity of the certificate of the IMAP server" in found.cause("clock")


async def test_without_anything_to_compare_it_is_not_judged() -> None:
    found = await examined(imap(closed_port()))
    assert found.verdict("clock") == "skipped"
