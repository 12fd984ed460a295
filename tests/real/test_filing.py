"""The copy in Sent against real servers: its octets, its flag, and that no server lets it be saved twice."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from mailgate.imap.endpoint import Credentials, ImapEndpoint, Security
from mailgate.imap.mailbox import Mailbox
from mailgate.imap.values import FolderName, SpecialUse
from mailgate.mime.compose import compose, make_message_id
from mailgate.mime.composition import Composition
from mailgate.send.filing import FiledCopy, file_sent, sent_folder
from mailgate.send.record import SentCopy
from tests.mime.composing import DATE, From
from tests.peers.imap_user import ImapUser


@pytest.fixture
async def mailbox(user: ImapUser) -> AsyncIterator[Mailbox]:
    named = {SpecialUse.SENT: FolderName(user.folder("Sent"))} if "SPECIAL-USE" in user.lacks else {}
    endpoint = ImapEndpoint("127.0.0.1", user.port, Security.PLAINTEXT)
    made = Mailbox(endpoint, Credentials(user.name, user.password), roles=named)
    yield made
    await made.aclose()


def message_with(message_id: str) -> bytes:
    asked = Composition(to=("ann@example.org",), subject="Grüße", text=".\n..\nFrom here\n" + "é" * 500)
    return compose(asked, sender=From(), message_id=message_id, date=DATE, keep_bcc=False).data


async def test_the_copy_is_saved_once_octet_for_octet(user: ImapUser, mailbox: Mailbox) -> None:
    first, second = (make_message_id("owner@example.org", token * 16) for token in ("a", "b"))
    folder = await sent_folder(mailbox)
    outcomes = [
        await file_sent(mailbox, folder, message_with(message_id), message_id)
        for message_id in (first, second, first, second)
    ]
    assert outcomes == [FiledCopy(SentCopy.SAVED)] * 2 + [FiledCopy(SentCopy.ALREADY_THERE)] * 2
    kept = user.contents(user.folder("Sent")).values()
    assert [message.raw for message in kept] == [message_with(first), message_with(second)]
    assert [message.flags - {"\\Recent"} for message in kept] == [{"\\Seen"}] * 2


async def test_an_id_that_only_begins_alike_is_another(user: ImapUser, mailbox: Mailbox) -> None:
    folder = await sent_folder(mailbox)
    longer = make_message_id("owner@example.org", "c" * 32)
    shorter = longer.replace("c" * 32, "c" * 31)
    await file_sent(mailbox, folder, message_with(longer), longer)
    assert (await file_sent(mailbox, folder, message_with(shorter), shorter)).copy is SentCopy.SAVED
    assert len(user.contents(user.folder("Sent"))) == 2
