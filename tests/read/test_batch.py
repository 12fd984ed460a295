"""Several messages in one read: an outcome for each, one budget, each folder opened once."""

from __future__ import annotations

import asyncio
import tracemalloc
from collections.abc import Sequence
from dataclasses import replace

import pytest

from mailgate.errors import (
    InvalidArgument,
    MailgateError,
    MessageNotFound,
    UpstreamProtocolError,
    UpstreamTimeout,
    UpstreamUnavailable,
)
from mailgate.imap.values import FolderName, MessageRef, Uid, UidValidity
from mailgate.limits import BATCH_SOURCE_BYTES, READ_CHARS_MAX, SOURCE_BYTES_MAX
from mailgate.mime.model import Truncation
from mailgate.read import message as message_module
from mailgate.read.batch import FailedRead, ReadBatch, read_messages
from mailgate.read.message import Reading, ReadMessage, read_message

from .fakes import FakeFolder, FakeMailbox, FakeMessage

HEADER = b"From: Ada <ada@example.org>\r\nSubject: hello\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n"


def folder(*texts: str, name: str = "INBOX") -> FakeFolder:
    made = FakeFolder(name)
    for text in texts:
        made.append(FakeMessage(source=HEADER + text.encode()))
    return made


def refs(*uids: int, name: str = "INBOX", uid_validity: int = 7) -> list[MessageRef]:
    return [MessageRef(FolderName(name), UidValidity(uid_validity), Uid(uid)) for uid in uids]


def outcome(entry: ReadMessage | FailedRead) -> str:
    """The text, or the code of the error."""
    if isinstance(entry, ReadMessage):
        return entry.content.text
    assert isinstance(entry.error, MailgateError)
    return entry.error.code


def outcomes(batch: ReadBatch) -> list[str]:
    return [outcome(entry) for entry in batch.entries]


async def test_entries_come_in_the_order_asked_and_a_folder_is_opened_once() -> None:
    box = FakeMailbox(folder("one", "two", "three"), folder("sent", name="Sent"))
    asked = [*refs(3), *refs(1, name="Sent"), *refs(1, 2)]
    found = await read_messages(box, asked)
    assert outcomes(found) == ["three", "sent", "one", "two"]
    assert box.examined == [FolderName("INBOX"), FolderName("Sent")]
    inbox = box.folders[FolderName("INBOX")]
    assert [name for name, _ in inbox.calls] == ["sources"]


async def test_one_bad_message_costs_the_others_nothing() -> None:
    box = FakeMailbox(folder("one", "two"))
    asked = [*refs(1), *refs(9), *refs(2, uid_validity=8), *refs(1, name="Gone"), *refs(2)]
    found = await read_messages(box, asked)
    assert outcomes(found) == ["one", "message_not_found", "stale_reference", "folder_not_found", "two"]
    assert [entry.reference for entry in found.entries] == asked


@pytest.mark.parametrize(
    "asked", [[], refs(*range(1, 12)), [*refs(1), *refs(1)], [*refs(1), *refs(1, name="role:inbox")]]
)
async def test_none_too_many_or_a_message_twice_is_refused(asked: list[MessageRef]) -> None:
    box = FakeMailbox(folder("one"), roles={"inbox": "INBOX"})
    with pytest.raises(InvalidArgument, match="references"):
        await read_messages(box, asked)
    assert box.examined == []


@pytest.mark.parametrize("chars", [0, READ_CHARS_MAX + 1])
async def test_a_budget_that_cannot_be_is_refused(chars: int) -> None:
    with pytest.raises(InvalidArgument, match="max_chars"):
        await read_messages(FakeMailbox(folder("one")), refs(1), max_chars=chars)


async def test_short_texts_stay_whole_and_long_ones_share_the_rest() -> None:
    box = FakeMailbox(folder("a" * 10, "b" * 1000, "c" * 1000, "d" * 20))
    found = await read_messages(box, refs(1, 2, 3, 4), max_chars=130)
    assert [len(text) for text in outcomes(found)] == [10, 50, 50, 20]
    cut = [entry.truncated_by for entry in found.entries if isinstance(entry, ReadMessage)]
    assert cut == [Truncation.NONE, Truncation.SHARED_BUDGET, Truncation.SHARED_BUDGET, Truncation.NONE]


async def test_a_single_read_goes_on_where_the_budget_bit() -> None:
    texts = ["e\u0301" * 400, "> quoted\n" * 10 + "x" * 300]
    box = FakeMailbox(folder(*texts))
    found = await read_messages(box, refs(1, 2), max_chars=301)
    for entry, reference in zip(found.entries, refs(1, 2), strict=True):
        assert isinstance(entry, ReadMessage)
        assert entry.next_offset is not None
        rest = await read_message(box, reference, offset=entry.next_offset)
        whole = await read_message(box, reference)
        assert entry.content.text + rest.content.text == whole.content.text
        assert entry.text_chars == whole.text_chars


async def test_a_budget_below_one_character_each_still_answers_every_entry() -> None:
    found = await read_messages(FakeMailbox(folder("one", "two", "three")), refs(1, 2, 3), max_chars=1)
    assert sum(len(text) for text in outcomes(found)) == 1
    assert {entry.next_offset for entry in found.entries if isinstance(entry, ReadMessage)} == {0, 1}


async def test_large_messages_are_fetched_alone_and_one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    held: list[int] = []
    box = FakeMailbox(folder("one", *(["x" * (BATCH_SOURCE_BYTES + 100)] * 3)))
    inbox = box.folders[FolderName("INBOX")]
    parsed = message_module.parse_message

    def watched(raw: object, **more: object) -> object:
        held.append(inbox.count("source"))
        return parsed(raw, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(message_module, "parse_message", watched)
    found = await read_messages(box, refs(1, 2, 3, 4), max_chars=1000)
    assert [len(text) > 0 for text in outcomes(found)] == [True] * 4
    # Each source, its beginning and then all of it, was parsed before the next one was asked for.
    assert held == [0, 2, 4, 6]
    assert all(entry.text_chars <= READ_CHARS_MAX for entry in found.entries if isinstance(entry, ReadMessage))


async def test_what_the_answer_for_all_left_out_is_asked_for_alone() -> None:
    inbox = folder("one", "two", "three")
    inbox.spoiled = {2}
    assert outcomes(await read_messages(FakeMailbox(inbox), refs(1, 2, 3))) == ["one", "two", "three"]
    assert [name for name, _ in inbox.calls] == ["sources", "source"]


class Breaking(FakeFolder):
    """A folder whose session breaks on some messages."""

    def __init__(self, error: Exception, *breaking: int, texts: Sequence[str] = ("one", "two", "three")) -> None:
        super().__init__()
        self.error, self.breaking = error, set(breaking)
        for text in texts:
            self.append(FakeMessage(source=HEADER + text.encode()))

    async def fetch_sources(self, uids: Sequence[Uid], each: int):  # type: ignore[no-untyped-def]
        if self.breaking & set(uids):
            raise self.error
        return await super().fetch_sources(uids, each)

    async def fetch_source(self, uid: Uid, limit: int):  # type: ignore[no-untyped-def]
        if uid in self.breaking:
            raise self.error
        return await super().fetch_source(uid, limit)


async def test_a_message_that_breaks_the_session_costs_itself_only() -> None:
    inbox = Breaking(UpstreamProtocolError(), 2)
    found = await read_messages(FakeMailbox(inbox), refs(1, 2, 3))
    assert outcomes(found) == ["one", "upstream_protocol_error", "three"]


async def test_a_server_lost_half_way_answers_what_was_read_and_why_the_rest_was_not() -> None:
    box = FakeMailbox(folder("sent", name="Sent"), Breaking(UpstreamUnavailable(), 2))
    found = await read_messages(box, [*refs(1, name="Sent"), *refs(1, 2, 3)])
    assert outcomes(found) == ["sent", *["upstream_unavailable"] * 3]


@pytest.mark.parametrize("error", [UpstreamUnavailable, UpstreamTimeout])
async def test_a_server_that_gives_nothing_fails_the_call(error: type[MailgateError]) -> None:
    with pytest.raises(error):
        await read_messages(FakeMailbox(Breaking(error(), 1, 2, 3)), refs(1, 2))


async def test_an_error_that_is_not_about_the_server_never_fails_the_call() -> None:
    found = await read_messages(FakeMailbox(), refs(1, 2))
    assert outcomes(found) == ["folder_not_found"] * 2
    for entry, kind in zip(
        (await read_messages(FakeMailbox(folder()), refs(1))).entries, [MessageNotFound], strict=True
    ):
        assert isinstance(entry, FailedRead)
        assert isinstance(entry.error, kind)


async def test_what_was_read_is_told_before_the_call_runs_out_of_time() -> None:
    slow = folder("slow", name="Slow")
    never = asyncio.Event()

    class Stalling(FakeFolder):
        async def fetch_source(self, uid: Uid, limit: int):  # type: ignore[no-untyped-def]
            await never.wait()

    stalling = Stalling("Slow")
    stalling.content, stalling.next_uid = slow.content, slow.next_uid
    found = await read_messages(FakeMailbox(folder("one"), stalling), [*refs(1), *refs(1, name="Slow")], seconds=1.0)
    assert outcomes(found) == ["one", "upstream_timeout"]


async def test_a_fault_that_one_message_brings_to_light_is_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed = message_module.parse_message

    def faulty(raw, **more):  # type: ignore[no-untyped-def]
        if b"two" in raw.prefix:
            raise ZeroDivisionError
        return parsed(raw, **more)

    monkeypatch.setattr(message_module, "parse_message", faulty)
    found = await read_messages(FakeMailbox(folder("one", "two")), refs(1, 2))
    assert outcome(found.entries[0]) == "one"
    assert isinstance(found.entries[1], FailedRead)
    assert isinstance(found.entries[1].error, ZeroDivisionError)


async def peak_of(count: int) -> int:
    """The most memory that reading so many large messages takes; the server makes each only when it is asked for."""

    class Endless(FakeFolder):
        async def fetch_source(self, uid: Uid, limit: int):  # type: ignore[no-untyped-def]
            source = HEADER + b"some words\r\n" * ((limit - len(HEADER)) // 12)
            return replace(await super().fetch_source(uid, limit), source=source)

    box = FakeMailbox(Endless())
    for _ in range(count):
        box.folders[FolderName("INBOX")].append(FakeMessage(source=HEADER + b"x" * BATCH_SOURCE_BYTES))
    tracemalloc.start()
    try:
        await read_messages(box, refs(*range(1, count + 1)))
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


async def test_sources_do_not_pile_up() -> None:
    assert await peak_of(4) - await peak_of(1) < SOURCE_BYTES_MAX


# --- headers only, folding ----------------------------------------------------------------------------------------


async def test_headers_only_asks_for_no_text_of_any_message() -> None:
    box = FakeMailbox(folder("one", "two"))
    found = await read_messages(box, refs(1, 2, 9), reading=Reading(headers_only=True))
    inbox = box.folders[FolderName("INBOX")]
    assert [name for name, _ in inbox.calls] == ["heads", "head"]
    first, second, third = found.entries
    for entry in (first, second):
        assert isinstance(entry, ReadMessage)
        assert entry.headers_only
        assert entry.content.headers.subject == "hello"
    assert outcome(third) == "message_not_found"


async def test_a_cut_result_loses_texts_first_and_then_entries() -> None:
    batch = await read_messages(FakeMailbox(folder("one", "two", "three")), refs(1, 2, 3))
    assert batch.within(batch.weight) is batch
    sizes = [sum(len(text) for text in outcomes(batch.within(weight))) for weight in range(3, batch.weight + 1)]
    assert sizes == list(range(batch.weight - 2))
    bare = batch.within(3)
    assert [entry.next_offset for entry in bare.entries if isinstance(entry, ReadMessage)] == [0, 0, 0]
    assert outcomes(batch.within(1)) == ["", "limit_exceeded", "limit_exceeded"]
