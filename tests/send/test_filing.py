"""The copy in Sent: looked for first, saved once, and never a reason to do anything again."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager

import pytest

from mailgate.errors import (
    MailgateError,
    OutcomeUnknown,
    SearchNotSupported,
    SpecialUseAmbiguous,
    UpstreamRefused,
    UpstreamUnavailable,
)
from mailgate.imap.criteria import SearchCriteria, search_arguments
from mailgate.imap.endpoint import Credentials, ImapEndpoint, Security
from mailgate.imap.mailbox import Mailbox
from mailgate.imap.values import FolderName, ScanWindow, Uid
from mailgate.limits import SCAN_UIDS_MAX
from mailgate.send.filing import COPY_FAILED, COPY_IN_DOUBT, FiledCopy, file_sent, sent_folder
from mailgate.send.record import SentCopy
from tests.peers.demo import DemoPeer, DemoUser

MESSAGE_ID = "<0123456789abcdef@example.org>"
MESSAGE = b"Message-ID: " + MESSAGE_ID.encode() + b"\r\nSubject: x\r\n\r\nhello\r\n"
SENT = FolderName("Sent")


@pytest.fixture(scope="module")
def peer() -> Iterator[DemoPeer]:
    started = DemoPeer()
    yield started
    started.stop()


@asynccontextmanager
async def mailbox_of(user: DemoUser) -> AsyncIterator[Mailbox]:
    endpoint = ImapEndpoint("127.0.0.1", user.port, Security.PLAINTEXT)
    mailbox = Mailbox(endpoint, Credentials(user.name, user.password))
    try:
        yield mailbox
    finally:
        await mailbox.aclose()


def copies(user: DemoUser) -> list[tuple[bytes, set[str]]]:
    messages = user.mailbox.folder("Sent").messages.values()
    return [(message.raw, set(message.flags)) for message in messages]


async def test_the_copy_is_the_very_octets_and_has_been_seen(peer: DemoPeer) -> None:
    user = peer.new_user()
    async with mailbox_of(user) as mailbox:
        folder = await sent_folder(mailbox)
        assert await file_sent(mailbox, folder, MESSAGE, MESSAGE_ID) == FiledCopy(SentCopy.SAVED)
    assert folder == SENT
    assert copies(user) == [(MESSAGE, {"\\Seen"})]


async def test_a_copy_that_is_there_is_not_made_twice(peer: DemoPeer) -> None:
    user = peer.new_user()
    async with mailbox_of(user) as mailbox:
        await file_sent(mailbox, SENT, b"Message-ID: <other@example.org>\r\n\r\nx\r\n", "<other@example.org>")
        await file_sent(mailbox, SENT, MESSAGE, MESSAGE_ID)
        assert await file_sent(mailbox, SENT, MESSAGE, MESSAGE_ID) == FiledCopy(SentCopy.ALREADY_THERE)
    assert len(copies(user)) == 2
    assert [command.name for command in user.commands()].count("APPEND") == 2


async def test_an_id_in_another_field_is_no_copy(peer: DemoPeer) -> None:
    user = peer.new_user()
    async with mailbox_of(user) as mailbox:
        await mailbox.append(
            SENT, b"In-Reply-To: " + MESSAGE_ID.encode() + b"\r\n\r\n" + MESSAGE_ID.encode() + b"\r\n", ()
        )
        assert (await file_sent(mailbox, SENT, MESSAGE, MESSAGE_ID)).copy is SentCopy.SAVED


class _Folder:
    def __init__(self, last: int, error: MailgateError | None) -> None:
        self.last, self.error = last, error
        self.windows: list[ScanWindow] = []

    async def last_uid(self) -> int:
        return self.last

    async def uid_search(self, criteria: SearchCriteria, window: ScanWindow) -> tuple[Uid, ...]:
        assert criteria == SearchCriteria(message_id=MESSAGE_ID)
        self.windows.append(window)
        if self.error:
            raise self.error
        return ()


class _Mailbox:
    """Fails where it is told to; counts what was appended."""

    def __init__(
        self, *, last: int = 5, search: MailgateError | None = None, append: MailgateError | None = None
    ) -> None:
        self.folder = _Folder(last, search)
        self._append = append
        self.appended = 0

    async def resolve(self, argument: str) -> FolderName:
        raise SpecialUseAmbiguous

    @asynccontextmanager
    async def examine(self, folder: FolderName) -> AsyncIterator[_Folder]:
        yield self.folder

    async def append(self, folder: FolderName, message: bytes, flags: Sequence[str]) -> None:
        self.appended += 1
        if self._append:
            raise self._append


@pytest.mark.parametrize("error", [SearchNotSupported(), UpstreamUnavailable(), OutcomeUnknown()])
async def test_what_cannot_be_looked_for_is_not_saved(error: MailgateError) -> None:
    mailbox = _Mailbox(search=error)
    assert (await file_sent(mailbox, SENT, MESSAGE, MESSAGE_ID)).copy is SentCopy.FAILED
    assert mailbox.appended == 0


@pytest.mark.parametrize(
    ("error", "warning"),
    [(UpstreamRefused(), COPY_FAILED), (UpstreamUnavailable(), COPY_FAILED), (OutcomeUnknown(), COPY_IN_DOUBT)],
)
async def test_a_copy_that_fails_is_a_warning_and_not_tried_again(error: MailgateError, warning: str) -> None:
    mailbox = _Mailbox(append=error)
    assert await file_sent(mailbox, SENT, MESSAGE, MESSAGE_ID) == FiledCopy(SentCopy.FAILED, (warning,))
    assert mailbox.appended == 1


async def test_an_empty_folder_is_not_searched() -> None:
    mailbox = _Mailbox(last=0)
    assert (await file_sent(mailbox, SENT, MESSAGE, MESSAGE_ID)).copy is SentCopy.SAVED
    assert mailbox.folder.windows == []


async def test_only_the_newest_messages_are_searched() -> None:
    mailbox = _Mailbox(last=4_000_000_000)
    await file_sent(mailbox, SENT, MESSAGE, MESSAGE_ID)
    (window,) = mailbox.folder.windows
    assert (len(window), window.high) == (SCAN_UIDS_MAX, 4_000_000_000)


async def test_the_one_sent_folder_is_nobody_s_guess() -> None:
    with pytest.raises(SpecialUseAmbiguous):
        await sent_folder(_Mailbox())


def test_an_id_is_searched_for_as_one_header_key() -> None:
    window = ScanWindow(Uid(1), Uid(9))
    found = search_arguments(SearchCriteria(message_id=MESSAGE_ID), window, utf8=False)
    assert found == (b"UID", b"1:9", b"HEADER MESSAGE-ID", b'"' + MESSAGE_ID.encode() + b'"')


@pytest.mark.parametrize("value", ["", "<a\r\n@b>", "<" + "a" * 600 + "@b>"])
def test_an_id_that_cannot_be_asked_for_is_named_and_not_shown(value: str) -> None:
    with pytest.raises(ValueError, match=r"^message_id "):
        SearchCriteria(message_id=value)
