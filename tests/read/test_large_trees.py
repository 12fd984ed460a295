"""Any message, cut anywhere, with the structure that a server gives of it, or of another message: what is read by
structure is what is read in one piece."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as st

from mailgate.demo.bodystructure import body_structure
from mailgate.demo.fetch import Section, section_octets
from mailgate.demo.structure import parse_structure
from mailgate.errors import AttachmentNotFound, MailgateError
from mailgate.imap.outline import PartOutline, outline_of
from mailgate.imap.rows import SourceRow
from mailgate.imap.sections import Span
from mailgate.imap.tokens import TokenReader
from mailgate.imap.values import Uid
from mailgate.mime.model import AttachmentInfo
from mailgate.read import attachment as attachment_module
from mailgate.read import source as source_module
from mailgate.read.attachment import get_attachment
from mailgate.read.message import read_message

from .fakes import FakeFolder, FakeMailbox, FakeMessage
from .test_attached import LEAVES, TREES
from .test_attached import message as entity
from .test_message import reference

ALL = 10**7
SHARES = st.integers(40, 99).map(lambda percent: percent / 100)
"""Where to cut: mostly behind the header of the message."""


def numbered(raw: bytes) -> bytes:
    """The message with words of its own in every part, so that none can stand for another."""
    pieces = raw.split(b"\r\n\r\nwords")
    told = [b"\r\n\r\nwords of part %d\r\nand more" % number for number in range(1, len(pieces))]
    return b"".join(piece for pair in zip(pieces, [*told, b""], strict=True) for piece in pair)


def message(tree: object) -> bytes:
    return b"Subject: hello\r\nMIME-Version: 1.0\r\n" + numbered(entity(tree))


def structure(raw: bytes) -> PartOutline | None:
    """As the demo mailbox gives it; in one frame, for nothing in it needs a literal."""
    return outline_of(TokenReader((body_structure(parse_structure(raw), extended=True),)).value())


class Serving(FakeFolder):
    """One message and a structure, honest about everything but perhaps that."""

    def __init__(self, raw: bytes, outline: PartOutline | None) -> None:
        super().__init__()
        self.append(FakeMessage(source=raw))
        self.outline = outline

    async def fetch_beginning(self, uid: Uid, limit: int) -> SourceRow | None:
        row = await super().fetch_beginning(uid, limit)
        return row and replace(row, outline=self.outline)

    async def fetch_sections(self, uid: Uid, spans: Sequence[Span]) -> Mapping[str, bytes] | None:
        self._called("sections", spans)
        found = {}
        for span in spans:
            path, _, mime = span.section.partition(".MIME") if ".MIME" in span.section else (span.section, "", None)
            section = Section(tuple(map(int, path.split("."))), "" if mime is None else "MIME")
            octets = section_octets(section, self.content[uid].source)
            found[span.section] = octets[span.offset : span.offset + span.limit]
        return found


@contextmanager
def cut_at(octets: int) -> Iterator[None]:
    with patch.object(source_module, "FIRST_BYTES", octets), patch.object(attachment_module, "FIRST_BYTES", octets):
        yield


def shown(info: AttachmentInfo) -> AttachmentInfo:
    """Without the size, which is an estimate where the part was not fetched."""
    return replace(info, size=None, estimated=False)


async def told(box: FakeMailbox, *, read: bool = True) -> tuple[object, ...]:
    """What the message says, and each attachment, one more than there are."""
    message = await read_message(box, reference())
    listed = message.content.attachments or ()
    said = (message.content.text, message.text_source, message.truncated_by, tuple(map(shown, listed)))
    return (*(said if read else ()), *[await attachment(box, index) for index in range(1, len(listed) + 2)])


async def attachment(box: FakeMailbox, index: int) -> object:
    try:
        found = await get_attachment(box, reference(), index)
    except MailgateError as error:
        return error.code
    return found.data, found.described


def in_one_piece(raw: bytes) -> tuple[object, ...]:
    with cut_at(ALL):
        return asyncio.run(told(FakeMailbox(Serving(raw, None))))


@settings(max_examples=150, deadline=None)
@given(TREES, SHARES)
def test_a_message_says_the_same_wherever_it_is_cut(tree: object, share: float) -> None:
    raw = message(tree)
    folder = Serving(raw, structure(raw))
    with cut_at(int(len(raw) * share) + 1):
        assert asyncio.run(told(FakeMailbox(folder))) == in_one_piece(raw)


@settings(max_examples=150, deadline=None)
@given(TREES, SHARES)
def test_an_attachment_is_the_same_without_reading_the_message_first(tree: object, share: float) -> None:
    raw = message(tree)
    truth = in_one_piece(raw)
    with cut_at(int(len(raw) * share) + 1):
        for index, wanted in enumerate(truth[4:], start=1):
            assert asyncio.run(attachment(FakeMailbox(Serving(raw, structure(raw))), index)) == wanted


def altered(draw: st.DrawFn, tree: object) -> object:
    """Another tree, but for one thing the same: a part more, moved, of another kind, nested otherwise, at any depth.

    None is missing: a part of a few octets that a server leaves out is the one thing that can go unnoticed.
    """
    if isinstance(tree, str):
        return draw(st.sampled_from(sorted(LEAVES)))
    kind, children = tree  # type: ignore[misc]
    at = draw(st.integers(0, len(children) - 1))
    before, child, after = children[:at], children[at], children[at + 1 :]
    changes = [
        lambda: (kind, [*before, draw(st.sampled_from(sorted(LEAVES))), child, *after]),
        lambda: (kind, [*after, child, *before]),
        lambda: (draw(st.sampled_from([b"mixed", b"alternative", b"related", b"signed"])), children),
        lambda: (kind, [*before, altered(draw, child), *after]),
        lambda: (kind, [*before, (b"mixed", [child]), *after]),
    ]
    return draw(st.sampled_from(changes))()


@st.composite
def lies(draw: st.DrawFn) -> tuple[object, object]:
    """A message, and another one's structure that is given for it."""
    tree = draw(TREES)
    return tree, altered(draw, tree)


@settings(max_examples=300, deadline=None)
@given(lies(), SHARES)
def test_the_structure_of_another_message_never_gives_another_attachment(
    trees: tuple[object, object], share: float
) -> None:
    raw, other = map(message, trees)
    lying = Serving(raw, structure(other))
    with cut_at(int(len(raw) * share) + 1):
        for index, wanted in enumerate(in_one_piece(raw)[4:], start=1):
            assert asyncio.run(attachment(FakeMailbox(lying), index)) in (wanted, AttachmentNotFound.code)
