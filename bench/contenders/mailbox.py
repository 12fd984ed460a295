"""The mailbox that everybody is measured on, and what the right answers are."""

from __future__ import annotations

import hashlib
import random
from email.message import EmailMessage
from email.policy import SMTP
from functools import cache
from typing import Final

from tests.peers.dovecot import Dovecot, MailUser
from tests.peers.maildir import folder_path, write_maildir

FOLDERS: Final = ("Archive", "Drafts", "Sent", "Trash", "Projects 2026", "Invoices")
UID_VALIDITY: Final = 1_234_567
SMALL_UID: Final = 11
LARGE_UID: Final = 20
FIRST_UNREAD: Final = 101
"""From here on messages are marked as read, one a call."""
FOUND: Final = (31, 32, 33)
CANARY: Final = "The small letter says blue heron."
LARGE_CANARY: Final = "The large letter says grey wagtail."
LARGE_TEXT: Final = f"{LARGE_CANARY}\n" * 40
FILE: Final = "two.bin"
FILE_BYTES: Final = random.Random(7).randbytes(2 * 1024 * 1024)
FILE_DIGEST: Final = hashlib.sha256(FILE_BYTES).hexdigest()
NEEDLE_FROM: Final = "needle@example.net"
NEEDLE_SUBJECT: Final = "quarterly figures"


def _message(subject: str, text: str, *, sender: str = "Ann Other <ann@example.org>", number: int = 0) -> EmailMessage:
    message = EmailMessage(policy=SMTP)
    message["From"], message["To"], message["Subject"] = sender, "owner@example.org", subject
    message["Date"] = f"Sat, 03 Feb 2024 {number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02} +0000"
    message["Message-ID"] = f"<{number}@bench.example.org>"
    message.set_content(text)
    return message


def message(uid: int) -> bytes:
    """The message with this UID, lines ended as Maildir has them: mostly short letters, every tenth a newsletter."""
    return _octets(uid).replace(b"\r\n", b"\n")


def _octets(uid: int) -> bytes:
    if uid == SMALL_UID:
        return bytes(_message("a small letter", f"{CANARY}\n", number=uid))
    if uid == LARGE_UID:
        return large()
    if uid == LARGE_UID + 1:
        medium = _message("five megabytes", "See the file.\n", number=uid)
        medium.add_attachment(bytes(3_800_000), maintype="application", subtype="octet-stream", filename="five.bin")
        return bytes(medium)
    if uid in FOUND:
        return bytes(_message(f"{NEEDLE_SUBJECT} {uid}", "Attached.\n", sender=f"N <{NEEDLE_FROM}>", number=uid))
    letter = _message(f"letter number {uid}", "A few words.\n" * (1 + uid % 7), number=uid)
    if uid % 10 == 0:
        rows = "".join(f"<tr><td><p>Offer {row} of {uid}</p></td></tr>" for row in range(60))
        letter.add_alternative(f"<html><body><table>{rows}</table></body></html>", subtype="html")
    return bytes(letter)


@cache
def large() -> bytes:
    """20 MB: a text, a file of 13 MiB, and behind it one of 2 MiB."""
    made = _message("twenty megabytes", LARGE_TEXT, number=LARGE_UID)
    big = random.Random(8).randbytes(13 * 1024 * 1024)
    made.add_attachment(big, maintype="application", subtype="octet-stream", filename="big.bin")
    made.add_attachment(FILE_BYTES, maintype="application", subtype="octet-stream", filename=FILE)
    return bytes(made)


def fresh(number: int) -> bytes:
    """A message that arrives while somebody is measured."""
    return bytes(_message(f"fresh arrival {number}", "Just now.\n", number=number))


def filled(server: Dovecot, size: int) -> MailUser:
    """A new account with that many messages in its INBOX."""
    user: MailUser = server.new_user()
    write_maildir(
        folder_path(server.mail_root(user.name), "INBOX"),
        range(1, size + 1),
        own=server.account.own,
        uid_validity=UID_VALIDITY,
        message=message,
        seen=False,
    )
    with user.client() as client:
        listed = str(client.list())
    user.create(*(folder for folder in FOLDERS if f'"{folder}"' not in listed and f" {folder}'" not in listed))
    with user.client("INBOX") as client:  # the server's own index is made now, not while somebody is measured
        client.uid("SEARCH", "ALL")
        client.uid("FETCH", f"{max(1, size - 50)}:*", "(BODY.PEEK[HEADER] BODYSTRUCTURE)")
    return user
