from __future__ import annotations

import itertools
import threading

import pytest

from mailgate.errors import InvalidArgument, MessageNotFound, StaleReference
from mailgate.imap.values import FolderName, MessageRef, ModSeq, Uid, UidValidity
from mailgate.limits import FIRST_BYTES, READ_CHARS_MAX, SOURCE_BYTES_MAX
from mailgate.mime.model import TextFormat, TextSource, Truncation
from mailgate.read import message
from mailgate.read.message import ReadMessage, hardest, read_message
from mailgate.read.offload import OutOfTime

from .fakes import WHEN, FakeFolder, FakeMailbox, FakeMessage

HEADER = b"From: Ada <ada@example.org>\r\nSubject: hello\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n"


def mailbox_with(source: bytes, *, flags: set[str] | None = None, name: str = "INBOX") -> FakeMailbox:
    folder = FakeFolder(name)
    folder.append(FakeMessage(source=source, flags=flags or set(), mod_seq=ModSeq(2**60)))
    return FakeMailbox(folder, roles={"inbox": name})


def reference(folder: str = "INBOX", uid_validity: int = 7, uid: int = 1) -> MessageRef:
    return MessageRef(FolderName(folder), UidValidity(uid_validity), Uid(uid))


async def read(source: bytes, **settings: int) -> ReadMessage:
    return await read_message(mailbox_with(source), reference(), **settings)


async def test_a_message_is_read_with_its_facts_and_its_own_words_apart() -> None:
    found = await read_message(mailbox_with(HEADER + b"Good morning", flags={"\\SEEN", "todo"}), reference())
    assert found.reference == reference()
    assert found.flags == ("\\Seen", "todo")
    assert (found.internal_date, found.size, found.mod_seq) == (WHEN, len(HEADER) + 12, 2**60)
    assert (found.text_format, found.text_source, found.alternative) == (TextFormat.PLAIN, TextSource.PLAIN, None)
    assert (found.text_chars, found.next_offset, found.truncated_by) == (12, None, Truncation.NONE)
    assert found.content.text == "Good morning"
    assert found.content.headers.subject == "hello"
    assert found.content.attachments == ()


async def test_only_the_examined_part_of_the_source_is_asked_for_and_the_folder_only_examined() -> None:
    mailbox = mailbox_with(HEADER + b"x")
    await read_message(mailbox, reference())
    (folder,) = mailbox.folders.values()
    assert folder.calls == [("source", (1, FIRST_BYTES))]
    assert mailbox.examined == [FolderName("INBOX")]


async def test_without_a_structure_a_large_message_is_asked_for_in_one_piece() -> None:
    mailbox = mailbox_with(HEADER + b"words\r\n" * FIRST_BYTES)
    await read_message(mailbox, reference())
    (folder,) = mailbox.folders.values()
    assert folder.calls == [("source", (1, FIRST_BYTES)), ("source", (1, SOURCE_BYTES_MAX))]
    assert mailbox.examined == [FolderName("INBOX")]


async def test_pages_of_characters_join_into_the_whole_text() -> None:
    text = "Zürich 🚆 " * 50
    offset, whole = 0, ""
    while True:
        page = await read(HEADER + text.encode(), max_chars=37, offset=offset)
        whole += page.content.text
        assert page.text_chars == len(text.rstrip()) or page.text_chars == len(text)
        if page.next_offset is None:
            break
        assert page.truncated_by is Truncation.MAX_CHARS
        offset = page.next_offset
    assert page.truncated_by is Truncation.NONE
    assert whole.rstrip() == text.rstrip()


async def test_an_offset_at_the_end_is_empty_and_one_beyond_it_is_refused() -> None:
    assert (await read(HEADER + b"12345", offset=5)).content.text == ""
    with pytest.raises(InvalidArgument, match="offset"):
        await read(HEADER + b"12345", offset=6)


@pytest.mark.parametrize("settings", [{"max_chars": 0}, {"max_chars": READ_CHARS_MAX + 1}, {"offset": -1}])
async def test_a_range_that_cannot_be_is_refused_before_anything_is_asked(settings: dict[str, int]) -> None:
    mailbox = mailbox_with(HEADER)
    with pytest.raises(InvalidArgument):
        await read_message(mailbox, reference(), **settings)
    assert mailbox.examined == []


async def test_a_reference_of_another_uidvalidity_is_stale_and_a_missing_uid_is_not_found() -> None:
    mailbox = mailbox_with(HEADER)
    with pytest.raises(StaleReference):
        await read_message(mailbox, reference(uid_validity=8))
    with pytest.raises(MessageNotFound):
        await read_message(mailbox, reference(uid=2))


async def test_a_role_in_a_reference_is_answered_with_the_folder_itself() -> None:
    found = await read_message(mailbox_with(HEADER + b"x", name="Eingang"), reference("role:inbox"))
    assert found.reference == reference("Eingang")


async def test_a_source_larger_than_what_is_examined_says_so_whatever_else_bit() -> None:
    found = await read(HEADER + b"line of text\r\n" * (SOURCE_BYTES_MAX // 14 + 10), max_chars=100)
    assert found.truncated_by is Truncation.SOURCE_LIMIT
    assert found.next_offset is not None


async def test_more_source_than_was_asked_for_is_cut_and_counts_as_truncated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mailgate.read.source.SOURCE_BYTES_MAX", len(HEADER) + 4)
    monkeypatch.setattr("mailgate.read.source.FIRST_BYTES", len(HEADER) + 4)
    mailbox = mailbox_with(HEADER + b"1234567890")
    (folder,) = mailbox.folders.values()
    honest = folder.fetch_source

    async def generous(uid: Uid, limit: int):  # type: ignore[no-untyped-def]
        return await honest(uid, 10**9)

    monkeypatch.setattr(folder, "fetch_source", generous)
    found = await read_message(mailbox, reference())
    assert found.content.text == "1234"
    assert found.truncated_by is Truncation.SOURCE_LIMIT


def test_the_hardest_limit_is_the_one_that_is_told() -> None:
    order = ["none", "max_chars", "result_limit", "text_limit", "source_limit"]
    assert sorted(order, key=lambda name: order.index(hardest(Truncation(name)))) == order
    for weaker, stronger in itertools.pairwise(order):
        assert hardest(Truncation(stronger), Truncation(weaker)) == stronger


async def test_a_page_can_be_shortened_to_fit_a_result() -> None:
    page = await read(HEADER + b"0123456789ab", max_chars=10, offset=2)
    short = page.shortened(4)
    assert (short.content.text, short.next_offset, short.text_chars) == ("2345", 6, 12)
    assert short.truncated_by is Truncation.RESULT_LIMIT
    assert page.shortened(10) is page
    assert page.shortened(0).content.text == ""


async def test_parsing_is_off_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[threading.Thread] = []
    parse = message.parse_message

    def watched(*args: object, **kwargs: object) -> object:
        threads.append(threading.current_thread())
        return parse(*args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(message, "parse_message", watched)
    await read(HEADER)
    assert threads
    assert threading.main_thread() not in threads


async def test_a_message_that_takes_too_long_still_answers_with_its_headers(monkeypatch: pytest.MonkeyPatch) -> None:
    def stuck(*_: object, **__: object) -> None:
        raise OutOfTime

    monkeypatch.setattr(message, "parse_message", stuck)
    found = await read(HEADER + b"text")
    assert found.content.headers.subject == "hello"
    assert found.content.text == ""
    assert found.truncated_by is Truncation.TEXT_LIMIT
    assert [warning.code for warning in found.warnings] == ["time_limit"]


async def test_an_offset_that_was_right_before_time_ran_out_is_no_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def stuck(*_: object, **__: object) -> None:
        raise OutOfTime

    monkeypatch.setattr(message, "parse_message", stuck)
    found = await read(HEADER + b"text", offset=3)
    assert (found.offset, found.content.text, found.next_offset) == (0, "", None)


async def test_when_not_even_the_headers_can_be_read_in_time_the_facts_are_still_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def late(work: object, *, seconds: float) -> None:
        raise OutOfTime

    monkeypatch.setattr(message, "off_loop", late)
    found = await read(HEADER + b"text")
    assert found.size == len(HEADER) + 4
    assert found.content.headers.subject is None
    assert [warning.code for warning in found.warnings] == ["time_limit"]


async def test_warnings_are_told_once() -> None:
    found = await read(HEADER + b"text")
    assert len(found.warnings) == len(set(found.warnings))
