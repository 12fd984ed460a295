from __future__ import annotations

import pytest

from mailgate.imap.criteria import SearchCriteria
from mailgate.imap.rows import SummaryRow
from mailgate.imap.values import INBOX, MessageRef, ModSeq, Uid, UidValidity
from mailgate.read import summary
from mailgate.read.offload import OutOfTime
from mailgate.read.summary import MessageSummary, SummaryMaker

from .fakes import WHEN, FakeMessage

MAKER = SummaryMaker(INBOX, UidValidity(7), SearchCriteria())


def row(uid: int = 1, header: bytes | None = None, flags: tuple[str, ...] = ("\\Seen",)) -> SummaryRow:
    return SummaryRow(Uid(uid), flags, WHEN, 123, ModSeq(2**62), header or FakeMessage().header(), has_attachments=True)


async def made(*rows: SummaryRow, maker: SummaryMaker = MAKER) -> list[MessageSummary]:
    return [each for each in await maker.make_all(rows) if each is not None]


async def test_a_row_keeps_server_facts_apart_from_the_messages_own_text() -> None:
    (only,) = await made(row())
    assert only.reference == MessageRef(INBOX, UidValidity(7), Uid(1))
    assert (only.size, only.internal_date, only.mod_seq, only.has_attachments) == (123, WHEN, 2**62, True)
    assert only.flags == ("\\Seen",)
    assert only.text is not None
    assert only.text.subject == "hello"
    assert only.text.from_ == ("Ada <ada@example.org>",)
    assert only.text.to == ("owner@example.org",)
    assert only.text.date == "2024-02-01T12:00:00+00:00"
    assert only.text.message_id == "<m@example.org>"
    assert not only.text.sanitized


async def test_text_that_had_to_be_cleaned_says_so() -> None:
    (only,) = await made(row(header="Subject: a\u202eb\r\n\r\n".encode()))
    assert only.text is not None
    assert only.text.sanitized
    assert "\u202e" not in (only.text.subject or "")


async def test_one_header_that_breaks_the_parser_flags_one_row(monkeypatch: pytest.MonkeyPatch) -> None:
    parse = summary.parse_headers

    def fragile(block: bytes):  # type: ignore[no-untyped-def]
        if b"boom" in block:
            raise RecursionError
        return parse(block)

    monkeypatch.setattr(summary, "parse_headers", fragile)
    first, second = await made(row(1, b"Subject: boom\r\n\r\n"), row(2))
    assert first.text is None
    assert [warning.code for warning in first.warnings] == ["message_unreadable"]
    assert second.text is not None


async def test_rows_that_cannot_be_read_in_time_are_flagged_and_none_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    async def late(work: object, *, seconds: float) -> None:
        raise OutOfTime

    monkeypatch.setattr(summary, "off_loop", late)
    rows = await made(row(1), row(2))
    assert [each.reference.uid for each in rows] == [1, 2]
    assert all(each.text is None and each.warnings[0].code == "message_unreadable" for each in rows)


async def test_an_unreadable_row_is_never_held_against_the_filters() -> None:
    maker = SummaryMaker(INBOX, UidValidity(7), SearchCriteria(subject="nothing", unread=True))
    unreadable = SummaryRow(Uid(1), ("\\Seen",))
    assert await made(unreadable, maker=maker)
    assert not await made(row(2), maker=maker)
