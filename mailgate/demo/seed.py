"""The demo mailbox, filled: folders with their special uses, and the sample mail of `mail/`."""

from __future__ import annotations

from datetime import datetime

from mailgate.demo.mail import bulk, letters, odd, own, risky, work
from mailgate.demo.mail.compose import Sample
from mailgate.demo.store import DemoMailbox

FOLDERS = (
    ("Drafts", "\\Drafts"),
    ("Sent", "\\Sent"),
    ("Trash", "\\Trash"),
    ("Junk", "\\Junk"),
    ("Archive", "\\Archive"),
    ("Projects/Aurora",),
    ("Réunions & Budget",),
    ("日本語",),
)
"""Every folder but INBOX, with its special use (RFC 6154). `Projects` comes into being above Aurora, `\\Noselect`."""


def samples(now: datetime) -> list[Sample]:
    """All sample mail in the order of arrival. `now` must carry an offset; everything is dated back from it."""
    if now.tzinfo is None:
        raise ValueError("the reference date needs its offset")
    moment = now.replace(microsecond=0)
    found = [sample for theme in (work, letters, bulk, odd, risky, own) for sample in theme.samples(moment)]
    return sorted(found, key=lambda sample: sample.arrived)


def seed_mailbox(now: datetime) -> DemoMailbox:
    """A mailbox with all folders and samples; the same `now` gives the same mailbox, octet for octet."""
    mailbox = DemoMailbox()
    for name, *attributes in FOLDERS:
        mailbox.create(name, *attributes)
    for sample in samples(now):
        mailbox.append(sample.folder, sample.raw, sample.flags, sample.arrived)
    return mailbox
