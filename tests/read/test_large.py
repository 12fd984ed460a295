"""A large message read by its structure, on a server that lies about it: what is answered is what the octets say, and a
wrong part never stands under an index."""

from __future__ import annotations

from base64 import encodebytes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import pytest

from mailgate.errors import AttachmentNotFound, AttachmentTooLarge
from mailgate.imap.outline import outline_of
from mailgate.imap.rows import SourceRow
from mailgate.imap.sections import Span
from mailgate.imap.tokens import TokenReader
from mailgate.imap.values import Uid
from mailgate.limits import ATTACHMENT_BYTES_MAX, FIRST_BYTES, MIB, PLACES_KNOWN, SOURCE_BYTES_MAX
from mailgate.mime.model import Truncation
from mailgate.read.attachment import get_attachment
from mailgate.read.batch import read_messages
from mailgate.read.message import read_message
from mailgate.read.places import places_in

from .fakes import FakeFolder, FakeMailbox, FakeMessage
from .test_message import reference

HEADER = b"Subject: hello\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n"
FILLING = bytes(range(256)) * 400
"""More than the beginning of a message, however it is encoded."""


@dataclass
class Piece:
    """One part of a message, and its line in BODYSTRUCTURE."""

    header: bytes
    body: bytes
    line: str


def words(text: bytes = b"see attached", kind: str = "PLAIN") -> Piece:
    header = f"Content-Type: text/{kind.lower()}; charset=utf-8\r\n\r\n".encode()
    return Piece(header, text, f'("TEXT" "{kind}" ("CHARSET" "utf-8") NIL NIL "7BIT" {len(text)} 1 NIL NIL NIL)')


def file(name: str, data: bytes = FILLING, kind: str = "pdf") -> Piece:
    body = encodebytes(data).replace(b"\n", b"\r\n").removesuffix(b"\r\n")
    header = f'Content-Type: application/{kind}; name="{name}"\r\nContent-Transfer-Encoding: base64\r\n\r\n'.encode()
    line = f'("APPLICATION" "{kind}" ("NAME" "{name}") NIL NIL "BASE64" {len(body)} NIL NIL NIL)'
    return Piece(header, body, line)


def joined(pieces: Sequence[Piece]) -> bytes:
    return HEADER + b"".join(b"--b\r\n" + one.header + one.body + b"\r\n" for one in pieces) + b"--b--\r\n"


def lines(*pieces: Piece) -> str:
    return "(" + "".join(piece.line for piece in pieces) + ' "MIXED" ("BOUNDARY" "b") NIL NIL)'


class StructureFolder(FakeFolder):
    """A folder of one message whose parts can be fetched, as honest as a test leaves it."""

    def __init__(self, *pieces: Piece, structure: str | None = None) -> None:
        super().__init__()
        self.append(FakeMessage(source=joined(pieces)))
        self.structure = lines(*pieces) if structure is None else structure
        self.sections = {}
        for number, piece in enumerate(pieces, start=1):
            self.sections |= {f"{number}": piece.body, f"{number}.MIME": piece.header}

    async def fetch_beginning(self, uid: Uid, limit: int) -> SourceRow | None:
        row = await super().fetch_beginning(uid, limit)
        return row and replace(row, outline=outline_of(TokenReader((self.structure.encode(),)).value()))

    async def fetch_sections(self, uid: Uid, spans: Sequence[Span]) -> Mapping[str, bytes] | None:
        self._called("sections", tuple(span.section for span in spans))
        if any(span.section not in self.sections for span in spans):
            return None
        return {span.section: self.sections[span.section][span.offset : span.offset + span.limit] for span in spans}

    @property
    def asked(self) -> list[object]:
        """What was asked for since the last look: `beginning`, `one piece`, or the sections."""
        calls = [
            value if name == "sections" else {FIRST_BYTES: "beginning", SOURCE_BYTES_MAX: "one piece"}[value[1]]  # type: ignore[index]
            for name, value in self.calls
        ]
        self.calls.clear()
        return calls


async def listed(folder: StructureFolder) -> list[str | None]:
    found = await read_message(FakeMailbox(folder), reference())
    return [info.filename for info in found.content.attachments or ()]


async def gotten(folder: StructureFolder, index: int, box: FakeMailbox | None = None) -> tuple[bytes, str | None]:
    found = await get_attachment(box or FakeMailbox(folder), reference(), index)
    assert found.size == len(found.data)
    return found.data, found.described.filename


ORDINARY = (words(), file("a.pdf"), file("b.pdf", b"second" * 20_000), file("c.pdf", b"third"))


async def test_a_text_in_the_beginning_is_read_without_anything_more() -> None:
    folder = StructureFolder(*ORDINARY)
    found = await read_message(FakeMailbox(folder), reference())
    assert found.content.text == "see attached"
    assert [info.filename for info in found.content.attachments or ()] == ["a.pdf", "b.pdf", "c.pdf"]
    assert (found.truncated_by, found.warnings) == (Truncation.NONE, ())
    assert folder.asked == ["beginning"]


async def test_the_size_of_a_part_that_was_not_fetched_is_an_estimate_and_said_to_be_one() -> None:
    found = await read_message(FakeMailbox(StructureFolder(*ORDINARY)), reference())
    sizes = [(info.size, info.estimated) for info in found.content.attachments or ()]
    assert sizes == [(len(FILLING) + 2, True), (120_000, True), (6, True)]


async def test_an_attachment_by_itself_is_fetched_with_the_header_of_each_part_that_was_not_seen() -> None:
    folder = StructureFolder(*ORDINARY)
    assert await gotten(folder, 2) == (b"second" * 20_000, "b.pdf")
    assert folder.asked == ["beginning", ("3", "3.MIME", "4.MIME")]


async def test_what_was_seen_is_remembered_and_the_next_attachment_costs_one_question() -> None:
    folder = StructureFolder(*ORDINARY)
    box = FakeMailbox(folder)
    await read_message(box, reference())
    assert folder.asked == ["beginning"]
    assert await gotten(folder, 1, box) == (FILLING, "a.pdf")
    assert await gotten(folder, 3, box) == (b"third", "c.pdf")
    assert folder.asked == [("2", "2.MIME", "3.MIME", "4.MIME"), ("4", "4.MIME", "3.MIME")]


async def test_a_batch_reads_large_messages_by_their_structure_too() -> None:
    folder = StructureFolder(words(), file("a.pdf", FILLING * 6))
    (entry,) = (await read_messages(FakeMailbox(folder), [reference()])).entries
    assert entry.content.text == "see attached"  # type: ignore[union-attr]
    assert folder.calls[-1] == ("source", (1, FIRST_BYTES))


async def test_what_is_remembered_is_bounded_and_holds_no_word_of_a_message() -> None:
    folder = StructureFolder(*ORDINARY)
    box = FakeMailbox(folder)
    message = folder.content[1]
    for uid in range(1, PLACES_KNOWN + 3):
        folder.content[uid] = message
        await read_message(box, reference(uid=uid))
    places = places_in(box)
    known = [uid for uid in folder.content if places.find(reference(uid=uid), 1)]
    assert known == list(range(3, PLACES_KNOWN + 3))
    assert not {"a.pdf", "b.pdf", "application/pdf"} & set(repr(places.find(reference(uid=9), 1)).split("'"))


async def test_a_message_that_is_not_the_remembered_one_is_looked_at_anew() -> None:
    folder = StructureFolder(*ORDINARY)
    box = FakeMailbox(folder)
    await read_message(box, reference())
    other = StructureFolder(words(), file("z.pdf", b"other" * 20_000), file("y.pdf", b"others"))
    folder.content, folder.structure, folder.sections = other.content, other.structure, other.sections
    assert await gotten(folder, 1, box) == (b"other" * 20_000, "z.pdf")
    assert await gotten(folder, 1, box) == (b"other" * 20_000, "z.pdf")


async def test_text_behind_a_picture_is_fetched_with_the_header_of_its_part() -> None:
    folder = StructureFolder(file("a.png", kind="png"), words(b"words behind it"), file("b.pdf"))
    found = await read_message(FakeMailbox(folder), reference())
    assert found.content.text == "words behind it"
    assert folder.asked == ["beginning", ("2", "2.MIME", "3.MIME")]


async def test_a_text_that_was_cut_goes_on_where_the_beginning_ends() -> None:
    text = b"".join(b"line %d\r\n" % number for number in range(9_000)).removesuffix(b"\r\n")
    folder = StructureFolder(words(text), file("a.pdf"))
    found = await read_message(FakeMailbox(folder), reference(), max_chars=200_000)
    assert found.content.text == text.decode().replace("\r\n", "\n")
    assert found.truncated_by is Truncation.NONE
    assert folder.asked == ["beginning", ("1", "2.MIME")]


async def test_an_attached_text_is_read_as_text() -> None:
    piece = words("größer ".encode() * 10_000, "CALENDAR")
    found = await get_attachment(FakeMailbox(StructureFolder(words(), piece)), reference(), 1, as_text=True)
    assert found.text is not None
    assert found.text.text.startswith("größer größer")


async def test_an_attachment_that_is_too_large_is_not_fetched() -> None:
    folder = StructureFolder(words(), file("a.pdf", bytes(2 * ATTACHMENT_BYTES_MAX)))
    box = FakeMailbox(folder)
    for _ in range(2):
        with pytest.raises(AttachmentTooLarge):
            await gotten(folder, 1, box)
        assert folder.asked == ["beginning"]


async def test_an_attachment_beyond_what_is_examined_is_there() -> None:
    folder = StructureFolder(words(), file("big.pdf", bytes(SOURCE_BYTES_MAX)), file("small.pdf", b"small"))
    assert await gotten(folder, 2) == (b"small", "small.pdf")


async def test_an_index_that_names_nothing_is_not_found() -> None:
    folder = StructureFolder(*ORDINARY)
    with pytest.raises(AttachmentNotFound):
        await gotten(folder, 4)
    assert folder.asked == ["beginning", ("3.MIME", "4.MIME")]


# --- servers that say what is not so ---------------------------------------------------------------------------------

A, B, C = file("a.pdf"), file("b.pdf", b"second" * 20_000), file("c.pdf", b"third")
LYING = {
    "parts in another order": lines(words(), B, A, C),
    "a part less": lines(words(), B, C),
    "a part more": lines(words(), words(b"more"), A, B, C),
    "a part less at the end that was not seen": lines(words(), A, B),
    "another encoding": lines(words(), A, B, C).replace("BASE64", "QUOTED-PRINTABLE"),
    "another encoding of what was not seen": lines(words(), A, B, replace(C, line=C.line.replace("BASE64", "7BIT"))),
    "another size of what was seen": lines(replace(words(), line=words().line.replace("12 1", "13 1")), A, B, C),
    "too large a size": lines(words(), replace(A, line=A.line.replace('"BASE64" ', '"BASE64" 9')), B, C),
    "too small a size": lines(words(), replace(A, line=A.line.replace('"BASE64" 1', '"BASE64" ')), B, C),
    "no size": lines(words(), replace(A, line='("APPLICATION" "pdf" NIL NIL NIL "BASE64" NIL NIL NIL NIL)'), B, C),
    "nothing": "NIL",
    "one part": words().line,
    "a deeper nesting": f'({lines(words(), A)}{B.line}{C.line} "MIXED")',
    "a flatter nesting": f'({words().line}{A.line}{lines(B, C)} "MIXED")',
    "another kind": lines(words(kind="HTML"), A, B, C),
    "a kind that was not seen": lines(words(), A, B, words(b"third")),
    "another name": lines(words(), A, file("x.pdf", b"second" * 20_000), C),
    "an attached message with parts of its own": lines(words(), A, B).replace(
        B.line, f'("MESSAGE" "RFC822" NIL NIL NIL "7BIT" 99 (NIL) {lines(words(), C)} 9 NIL NIL NIL)'
    ),
    "a multipart/alternative": lines(words(), A, B, C).replace('"MIXED"', '"ALTERNATIVE"'),
}


@pytest.mark.parametrize("structure", LYING.values(), ids=LYING)
@pytest.mark.parametrize("warm", [False, True])
async def test_a_structure_that_is_not_the_message_s_own_never_gives_a_wrong_part(structure: str, warm: bool) -> None:
    pieces = (words(), A, B, C)
    folder = StructureFolder(*pieces, structure=structure)
    box = FakeMailbox(folder)
    if warm:
        assert (await read_message(box, reference())).content.text == "see attached"
    for index, data in enumerate((FILLING, b"second" * 20_000, b"third"), start=1):
        try:
            found, name = await gotten(folder, index, box)
        except (AttachmentTooLarge, AttachmentNotFound):
            # Only the sizes and the number of what nobody saw cannot be checked.
            assert structure in (LYING["too large a size"], LYING["a part less at the end that was not seen"])
            continue
        assert (found, name) == (data, f"{'_abc'[index]}.pdf")


SPOILED = {
    "a part that is not there": {"3": None},
    "a header that is not there": {"3.MIME": None},
    "the octets of another part": {"3": C.body},
    "another part, header and all": {"3": C.body, "3.MIME": C.header},
    "octets too few": {"3": B.body[:-4]},
    "octets too many": {"3": B.body + b"AAAA"},
    "nothing": {"3": b""},
    "a line end torn in two": {"3": B.body[:-1] + b"\r"},
    "a header with a body behind it": {"3.MIME": B.header + B.body},
    "an empty header": {"3.MIME": b"\r\n"},
    "no header at all": {"3.MIME": b""},
    "a header of the message": {"3.MIME": HEADER},
    "the header of another part that was not seen": {"4.MIME": B.header.replace(b"b.pdf", b"c.txt")},
}


@pytest.mark.parametrize("spoiled", SPOILED.values(), ids=SPOILED)
@pytest.mark.parametrize("warm", [False, True])
async def test_a_part_that_comes_in_another_way_is_read_from_the_message(
    spoiled: dict[str, bytes | None], warm: bool
) -> None:
    folder = StructureFolder(*ORDINARY)
    box = FakeMailbox(folder)
    if warm:
        await read_message(box, reference())
    folder.sections = {name: octets for name, octets in (folder.sections | spoiled).items() if octets is not None}
    assert await gotten(folder, 2, box) == (b"second" * 20_000, "b.pdf")
    assert folder.asked[-1] == "one piece"


TEXT = b"".join(b"line %d\r\n" % number for number in range(9_000)).removesuffix(b"\r\n")
TORN = {
    "from its beginning, whatever was asked for": {"1": b"XX" * 60 + TEXT},
    "of another part": {"1": b"other words\r\n" * 20_000},
    "shorter than the server said": {"1": TEXT[:-1]},
    "longer than the server said": {"1": TEXT + b"!"},
    "not at all": {"1": None},
}


@pytest.mark.parametrize("torn", TORN.values(), ids=TORN)
async def test_a_text_that_does_not_go_on_is_read_in_one_piece(torn: dict[str, bytes | None]) -> None:
    folder = StructureFolder(words(TEXT), file("a.pdf"))
    folder.sections = {name: octets for name, octets in (folder.sections | torn).items() if octets is not None}
    found = await read_message(FakeMailbox(folder), reference(), max_chars=200_000)
    assert found.content.text == TEXT.decode().replace("\r\n", "\n")
    assert folder.asked[-1] == "one piece"


async def test_a_text_of_no_octets_that_nobody_saw_is_not_believed() -> None:
    lost = Piece(b"Forgot the blank line.\r\n", b"", '("TEXT" "PLAIN" NIL NIL NIL "7BIT" 0 0 NIL NIL NIL)')
    folder = StructureFolder(file("a.pdf"), lost)
    assert (await read_message(FakeMailbox(folder), reference())).content.text == "Forgot the blank line."
    assert folder.asked == ["beginning", ("2.MIME",), "one piece"]


async def test_a_name_that_a_server_may_not_have_understood_is_read_from_its_header() -> None:
    piece = file("a.pdf", b"second")
    odd = Piece(piece.header.replace(b'"a.pdf"', b"my report.pdf"), piece.body, piece.line.replace("a.pdf", "my"))
    folder = StructureFolder(words(), A, odd)
    assert await listed(folder) == ["a.pdf", "my report.pdf"]


async def test_the_root_of_a_compound_object_that_only_its_header_names_is_read_in_one_piece() -> None:
    picture = file("a.png", kind="png")
    inner = Piece(
        b"Content-Type: multipart/alternative; boundary=c\r\nContent-ID: <root>\r\n\r\n",
        b"--c\r\n\r\nwords\r\n--c--\r\n",
        '(("TEXT" "PLAIN" NIL NIL NIL "7BIT" 5 1 NIL NIL NIL) "ALTERNATIVE" ("BOUNDARY" "c") NIL NIL)',
    )
    folder = StructureFolder(picture, inner)
    folder.content[1].source = folder.content[1].source.replace(b"multipart/mixed", b"multipart/related; start=root")
    folder.structure = folder.structure.replace('"MIXED" (', '"RELATED" ("START" "root" ')
    assert (await read_message(FakeMailbox(folder), reference())).content.text == "words"
    assert folder.asked == ["beginning", "one piece"]


async def test_a_server_that_refuses_structures_is_asked_in_the_plain_way() -> None:
    folder = StructureFolder(*ORDINARY)

    async def refused(uid: Uid, limit: int) -> SourceRow | None:
        return None

    folder.fetch_beginning = refused  # type: ignore[method-assign]
    assert await listed(folder) == ["a.pdf", "b.pdf", "c.pdf"]
    assert folder.asked == ["one piece"]


# --- bounds -----------------------------------------------------------------------------------------------------------


async def test_of_many_texts_no_more_is_fetched_than_is_examined_of_a_message() -> None:
    text = b"words of a long text\r\n" * (MIB // 22)
    folder = StructureFolder(*[words(text) for _ in range(7)], file("late.pdf", b"late"))
    asked: list[int] = []

    async def counted(uid: Uid, spans: Sequence[Span]) -> Mapping[str, bytes] | None:
        asked.extend(span.limit for span in spans if not span.section.endswith("MIME"))
        return await StructureFolder.fetch_sections(folder, uid, spans)

    folder.fetch_sections = counted  # type: ignore[method-assign]
    found = await read_message(FakeMailbox(folder), reference())
    assert SOURCE_BYTES_MAX - MIB < sum(asked) <= SOURCE_BYTES_MAX
    assert found.truncated_by is Truncation.SOURCE_LIMIT
    assert [info.filename for info in found.content.attachments or ()] == ["late.pdf"]


async def test_of_one_text_no_more_is_fetched_than_is_looked_at() -> None:
    text = b"words of a long text\r\n" * (4 * MIB // 22)
    folder = StructureFolder(file("a.pdf"), words(text))
    asked: list[int] = []

    async def counted(uid: Uid, spans: Sequence[Span]) -> Mapping[str, bytes] | None:
        asked.extend(span.limit for span in spans)
        return await StructureFolder.fetch_sections(folder, uid, spans)

    folder.fetch_sections = counted  # type: ignore[method-assign]
    found = await read_message(FakeMailbox(folder), reference())
    whole = FakeFolder()
    whole.append(FakeMessage(source=folder.content[1].source))
    truth = await read_message(FakeMailbox(whole), reference())
    assert sum(asked) < 2 * MIB
    assert (found.content.text, found.text_chars, found.truncated_by) == (
        truth.content.text,
        truth.text_chars,
        truth.truncated_by,
    )


async def test_whether_a_wrapped_part_is_signed_or_encrypted_is_told_by_its_first_octets() -> None:
    signed = file("smime.p7m", bytes.fromhex("3080 0609 2a864886f70d010702") + FILLING, kind="pkcs7-mime")
    folder = StructureFolder(words(), A, signed)
    found = await read_message(FakeMailbox(folder), reference())
    assert [warning.code for warning in found.warnings] == ["signed_not_opened"]
    assert folder.asked == ["beginning", ("3", "3.MIME")]


async def test_parts_that_do_not_make_up_the_message_are_not_believed() -> None:
    pieces = (words(), A, B, C)
    folder = StructureFolder(*pieces, structure=lines(words(), A, C))
    assert await listed(folder) == ["a.pdf", "b.pdf", "c.pdf"]
    assert folder.asked == ["beginning", "one piece"]
