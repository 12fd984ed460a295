"""Large Maildir folders, written straight to disk: a hundred thousand messages in seconds.

A Dovecot Maildir is one file per message plus `dovecot-uidlist`, which maps UIDs to file names. Writing both gives any
UIDs at all, so a folder whose UIDs have wide gaps needs no hundred thousand appends and expunges.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

FIRST_DAY = 1_577_880_000
"""1 January 2020, 12:00 UTC. Message number n arrived n minutes later."""


def plain_message(number: int) -> bytes:
    """A small message that names its number in subject and body."""
    return (
        f"From: Sender {number} <sender{number % 97}@example.org>\n"
        f"To: Owner <owner@example.org>\n"
        f"Subject: Message number {number}\n"
        f"Message-ID: <{number}@example.org>\n"
        "Date: Wed, 01 Jan 2020 12:00:00 +0000\n"
        "\n"
        f"This is the text of message {number}.\n"
    ).encode()


def folder_path(mail_root: Path, folder: str) -> Path:
    """Where Maildir++ keeps a folder: INBOX is the root, others are `.A.B` (ASCII names only)."""
    return mail_root if folder == "INBOX" else mail_root / ("." + folder.replace("/", "."))


def _write(path: str, content: bytes, arrived: int) -> None:
    # Readable by the server's account as it is: a hundred thousand calls of chown would double the time.
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    try:
        os.write(descriptor, content)
        os.utime(descriptor, (arrived, arrived))
    finally:
        os.close(descriptor)


def write_maildir(
    folder: Path,
    uids: Sequence[int],
    *,
    own: Callable[[Path], None],
    uid_validity: int,
    message: Callable[[int], bytes] = plain_message,
    seen: bool = True,
) -> None:
    """Fill a folder that does not exist yet with one message for each of the ascending UIDs."""
    for each in (folder.parent, folder, folder / "cur", folder / "new", folder / "tmp"):
        each.mkdir(exist_ok=True)
        own(each)
    messages = f"{folder}/cur/"
    flags = ":2,S" if seen else ":2,"
    rows = [f"3 V{uid_validity} N{uids[-1] + 1} G{uid_validity:032x}\n"]
    for number, uid in enumerate(uids, start=1):
        content = message(number)
        virtual = len(content) + content.count(b"\n")
        arrived = FIRST_DAY + 60 * number
        base = f"{arrived}.M{number}P1.peer,S={len(content)},W={virtual}"
        _write(messages + base + flags, content, arrived)
        rows.append(f"{uid} :{base}\n")
    listing = folder / "dovecot-uidlist"
    listing.write_text("".join(rows))
    own(listing)
    if folder.name.startswith("."):
        marker = folder / "maildirfolder"
        marker.touch()
        own(marker)
