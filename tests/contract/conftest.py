"""The two mailboxes that most promises are tried on."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from mailgate.demo.seed import seed_mailbox
from tests.contract.deployment import WHEN, Deployment, mailbox_with, on_demo, raw


@pytest.fixture
async def seeded() -> AsyncIterator[Deployment]:
    """The sample mail of the demo."""
    async with on_demo(seed_mailbox(WHEN)) as box:
        yield box


@pytest.fixture
async def small() -> AsyncIterator[Deployment]:
    """Five ordinary messages in INBOX, of which the last two are read."""
    mailbox = mailbox_with(*(raw(subject=f"Letter {number}") for number in range(1, 6)))
    for uid in (4, 5):
        mailbox.folder("INBOX").change_flags(uid, "+", ["\\Seen"])
    async with on_demo(mailbox) as box:
        yield box
