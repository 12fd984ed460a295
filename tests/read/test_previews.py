"""Previews of a page: one command, and never a row or a page less for it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from mailgate.errors import UpstreamProtocolError, UpstreamRefused
from mailgate.imap.rows import PreviewRow
from mailgate.imap.values import Uid
from mailgate.limits import PREVIEW_CHARS
from mailgate.mime import preview as preview_module
from mailgate.mime.preview import preview_of
from mailgate.read import previews as previews_module
from mailgate.read.request import SearchRequest
from mailgate.read.search import SearchPage

from .fakes import FakeFolder, FakeMessage, search

PLAIN = b"Content-Type: text/plain; charset=utf-8\r\n\r\n"


def inbox(*sources: bytes) -> FakeFolder:
    folder = FakeFolder()
    for source in sources:
        folder.append(FakeMessage(source=source))
    return folder


def shown(page: SearchPage) -> list[str | None]:
    return [row.text.preview if row.text else None for row in page.messages]


async def previewed(folder: FakeFolder) -> SearchPage:
    return await search(folder, SearchRequest(previews=True))


async def test_a_page_costs_one_command_more_and_only_where_asked_for() -> None:
    folder = inbox(PLAIN + b"one", PLAIN + b"two")
    assert shown(await search(folder, SearchRequest())) == [None, None]
    assert folder.count("previews") == 0
    assert shown(await previewed(folder)) == ["two", "one"]
    assert [name for name, _ in folder.calls].count("previews") == 1
    await previewed(empty := FakeFolder())
    assert empty.count("previews") == 0


async def test_a_row_without_a_preview_is_a_row_and_it_is_said() -> None:
    folder = inbox(PLAIN + b"one", PLAIN + b"two", PLAIN + b"three")
    folder.spoiled = {2}
    page = await previewed(folder)
    assert shown(page) == ["three", None, "one"]
    assert [warning.code for warning in page.warnings] == ["previews_missing"]


async def test_a_message_without_words_has_no_preview_and_nothing_is_said() -> None:
    page = await previewed(inbox(PLAIN, b"Content-Type: image/png\r\n\r\nx"))
    assert shown(page) == [None, None]
    assert page.warnings == ()


@pytest.mark.parametrize("error", [UpstreamProtocolError(), UpstreamRefused()])
async def test_a_server_that_gives_none_costs_the_previews_and_not_the_page(error: Exception) -> None:
    class Refusing(FakeFolder):
        async def fetch_previews(self, uids: Sequence[Uid]) -> tuple[PreviewRow, ...]:
            raise error

    folder = Refusing()
    folder.append(FakeMessage(source=PLAIN + b"one"))
    page = await previewed(folder)
    assert (len(page.messages), shown(page)) == (1, [None])
    assert [warning.code for warning in page.warnings] == ["previews_missing"]


async def test_a_text_that_breaks_a_parser_costs_its_row_only(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = preview_of

    def fragile(header: bytes, text: bytes, **more: object) -> object:
        if b"poison" in text:
            raise ZeroDivisionError
        return honest(header, text, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(previews_module, "preview_of", fragile)
    page = await previewed(inbox(PLAIN + b"one", PLAIN + b"poison", PLAIN + b"three"))
    assert shown(page) == ["three", None, "one"]


# --- what an extract is -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("header", "text", "expected"),
    [
        (b"Content-Type: text/plain; charset=utf-8", "Grüße,  \r\n\r\nich komme.".encode(), "Grüße, ich komme."),
        (b"", b"no header at all", "no header at all"),
        (
            b"Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64",
            b"R3LDvMOfZSBhdXMgWsO8cmljaC",
            "Grüße aus Zürich",
        ),
        (
            b"Content-Type: multipart/mixed; boundary=a",
            b"--a\r\nContent-Type: multipart/alternative; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain\r\n"
            b"Content-Transfer-Encoding: quoted-printable\r\n\r\nfirst=20words\r\n--b\r\nContent-Type: text/ht",
            "first words",
        ),
        (
            b"Content-Type: text/html",
            b"<style>p{}</style><h1>Hi</h1><p>see <a href='https://a.b/c'>this</a>",
            "Hi see this",
        ),
        (b"Content-Type: text/html", b"<div style='display:none'>hidden</div><p>seen", "seen"),
        (b"Content-Type: text/plain", b"look: https://example.org/a?b=c\r\n> quoted\r\nnow", "look: now"),
        (b"Content-Type: text/plain; charset=utf-8", "a\u202eb\u200bc".encode(), "abc"),
    ],
)
def test_the_beginning_is_decoded_by_its_own_headers_and_cleaned(header: bytes, text: bytes, expected: str) -> None:
    found = preview_of(header + b"\r\n\r\n", text, cut=True)
    assert found is not None
    assert found.text == expected
    assert found.changed is ("\u202e" in text.decode("utf-8", "replace"))


@pytest.mark.parametrize("text", [b"", b"\r\n \r\n", b"<p></p>", b"https://example.org/"])
def test_what_holds_no_words_has_none(text: bytes) -> None:
    assert preview_of(b"Content-Type: text/html\r\n", text, cut=False) is None


@pytest.mark.parametrize("word", ["word ", "x", "東"])
def test_an_extract_is_short_and_says_that_it_goes_on(word: str) -> None:
    found = preview_of(PLAIN, word.encode() * 300, cut=True)
    assert found is not None
    assert PREVIEW_CHARS - 10 <= len(found.text) <= PREVIEW_CHARS
    assert found.text.endswith(("\N{HORIZONTAL ELLIPSIS}",))


@pytest.mark.parametrize("piece", [b"<a ", b"<!--", b"[](", b"> ", b"![", b"**", b"|", b"--b\r\n"])
def test_hostile_beginnings_are_answered_at_once(piece: bytes) -> None:
    for kind in (b"text/html", b"text/plain", b"multipart/mixed; boundary=b"):
        preview_of(b"Content-Type: " + kind, piece * (4096 // len(piece)), cut=True)
    assert preview_module._EXAMINED < 4096
