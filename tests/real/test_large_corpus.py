"""Every message of the corpus, cut where it hurts: read by its structure it says what it says in one piece, or it was
read in one piece after all. No server's account of a message ever turns one attachment into another."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, replace

import pytest

from mailgate.errors import MailgateError
from mailgate.imap.endpoint import Credentials
from mailgate.imap.mailbox import Mailbox
from mailgate.imap.values import INBOX, MessageRef, Uid
from mailgate.mime.model import AttachmentInfo
from mailgate.read import attachment as attachment_module
from mailgate.read import source as source_module
from mailgate.read.attachment import get_attachment
from mailgate.read.message import FOLDED, ReadMessage, understood
from mailgate.read.source import fetch_readable
from tests.corpus.reading import Stored, stored
from tests.imap.sessions import loopback
from tests.peers.demo import DemoUser
from tests.peers.dovecot import MailUser
from tests.peers.imap_user import ClientFailed, ImapUser, append_raw

MESSAGES = [message for message in stored() if b"\0" not in message.source]
ALL = 10_000_000
NAMED_OTHERWISE = {
    "a_file_name_with_blanks_but_without_quotes_is_whole",
    "of_two_file_names_of_one_kind_the_first_counts",
}
"""Names that break RFC 2045. Some servers repair them in a way that looks like any name, and until such a part is
fetched nobody knows better."""
SHARE_MIN = 0.9
"""Of the messages that are cut, how many have to be read by their structure, or nothing is gained."""

pytestmark = pytest.mark.requirement("M7", "M8", "G2")


@pytest.fixture
async def mailbox(user: ImapUser) -> AsyncIterator[Mailbox]:
    """The user's mailbox, which `kept` fills."""
    made = Mailbox(loopback(user.port), Credentials(user.name, user.password))
    yield made
    await made.aclose()


@pytest.fixture
def kept(user: ImapUser) -> dict[Uid, str]:
    """The names of the messages that the server took, by UID."""
    found: dict[Uid, str] = {}
    # The others take their time; what is special about them is how they see parts.
    messages = MESSAGES if isinstance(user, MailUser | DemoUser) else [one for one in MESSAGES if _files(one)][::4]
    with user.client() as client:
        for message in messages:
            # What is damaged in some ways is refused by some servers.
            with suppress(ClientFailed, client.error):
                found[Uid(append_raw(client, "INBOX", message.source))] = message.name
    return found


def _files(message: Stored) -> bool:
    return bool(message.expected.get("attachments"))


def cut_at(monkeypatch: pytest.MonkeyPatch, octets: int) -> None:
    for module in (source_module, attachment_module):
        monkeypatch.setattr(module, "FIRST_BYTES", octets)


def said(message: ReadMessage, *, names: bool) -> tuple[object, ...]:
    """What a reader is told, but for sizes and warnings."""
    content = message.content
    assert content.attachments is not None
    attachments = [named(info if names else replace(info, filename=None)) for info in content.attachments]
    return (content.headers, content.text, content.quoted_blocks, message.text_source, message.truncated_by,
            message.sender, attachments)  # fmt: skip


def named(info: AttachmentInfo) -> tuple[object, ...]:
    return (info.index, info.filename, info.filename_changed, info.content_type, info.disposition, info.content_id,
            info.referenced, info.sanitized)  # fmt: skip


@dataclass
class Read:
    """One message read, and how."""

    message: ReadMessage
    source: bytes
    way: str


async def read(mailbox: Mailbox, reference: MessageRef, first: int) -> Read:
    fetched = await fetch_readable(mailbox, reference)
    cut = len(fetched.raw.prefix) > first
    way = "structure" if fetched.raw.skeleton is not None else "one piece" if cut else "was not cut"
    return Read(await understood(fetched, FOLDED), fetched.raw.prefix, way)


async def attached(mailbox: Mailbox, reference: MessageRef, index: int) -> object:
    try:
        found = await get_attachment(mailbox, reference, index)
    except MailgateError as error:
        return error.code
    return found.data, found.sha256, found.described


@pytest.mark.parametrize("share", [0.1, 0.4, 0.7])
async def test_a_message_says_the_same_wherever_it_is_cut(
    mailbox: Mailbox,
    kept: dict[Uid, str],
    monkeypatch: pytest.MonkeyPatch,
    share: float,
    record_property: pytest.RecordProperty,
) -> None:
    async with mailbox.examine(INBOX) as folder:
        assert await folder.last_uid()
        validity = folder.uid_validity
    ways: Counter[str] = Counter()
    warnings: Counter[str] = Counter()
    for uid, name in kept.items():
        reference = MessageRef(INBOX, validity, uid)
        cut_at(monkeypatch, ALL)
        whole = await read(mailbox, reference, ALL)
        truth = [await attached(mailbox, reference, at) for at in range(1, len(whole.message.content.attachments) + 2)]
        header = whole.source.find(b"\r\n\r\n") + 4
        first = header + int((len(whole.source) - header) * share) + 1
        cut_at(monkeypatch, first)
        # Without having read it, having read it, and by what is remembered of it.
        for _ in ("cold", "warm"):
            found = [await attached(mailbox, reference, at) for at in range(1, len(truth) + 1)]
            assert found == truth, name
            part = await read(mailbox, reference, first)
            names = name not in NAMED_OTHERWISE
            assert said(part.message, names=names) == said(whole.message, names=names), name
        for info, true in zip(part.message.content.attachments, whole.message.content.attachments, strict=True):
            assert info.size == true.size or info.size is None or info.estimated, name
        ways[part.way] += 1
        warnings.update({each.code for each in part.message.warnings} ^ {each.code for each in whole.message.warnings})
    record_property("ways", dict(ways))
    print(f"\n{share}: {dict(ways)}, warnings {dict(warnings)}")
    assert len(kept) >= 20
    assert ways["structure"] >= SHARE_MIN * (ways["structure"] + ways["one piece"]), ways
    # What lies in a body that was not fetched cannot be warned of.
    assert set(warnings) <= {"boundary_missing", "transfer_damaged", "transfer_unknown", "tnef_not_decoded"}, warnings
