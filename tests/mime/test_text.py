"""Which text is the message's, and what it says."""

import pytest

from mailgate.limits import MIB, TEXT_BYTES_MAX
from mailgate.mime.model import MessageText, TextFormat, TextSource, Truncation
from mailgate.mime.text import is_stub
from tests.mime.messages import attachment, codes, html, multipart, part, read, text

LONG = "This sentence says a good deal more than the other form does. " * 10


def test_a_plain_message_is_its_text() -> None:
    assert read(text("Hello,\r\nGrüße\r\n")).text == MessageText("Hello,\nGrüße")


def test_plain_text_is_preferred_and_the_html_form_is_mentioned() -> None:
    message = read(multipart("alternative", [text("plain form"), html("<p>html form</p>")]))
    assert message.text == MessageText("plain form", alternative=TextSource.HTML)
    assert codes(message) == {"html_not_shown"}


@pytest.mark.parametrize("stub", ["", " \r\n ", "See https://x.example/view", "Your mail program cannot show this."])
def test_html_is_taken_where_the_plain_form_is_only_a_stub(stub: str) -> None:
    message = read(multipart("alternative", [text(stub), html(f"<p>{LONG}</p>")]))
    assert message.text == MessageText(LONG.strip(), TextFormat.MARKDOWN, TextSource.HTML, alternative=TextSource.PLAIN)
    assert codes(message) == {"plain_not_shown"}


def test_a_short_plain_form_of_a_short_html_form_is_no_stub() -> None:
    assert not is_stub("Yes, Friday works.", "Yes, Friday works.\n\nSent from my phone")
    assert not is_stub("", "")


def test_html_alone_becomes_markdown() -> None:
    message = read(html("<p>Hello <b>there</b></p>"))
    assert message.text == MessageText("Hello **there**", TextFormat.MARKDOWN, TextSource.HTML)


def test_text_parts_are_joined_in_order_around_attachments() -> None:
    message = read(multipart("mixed", [text("one"), attachment(), text("two"), attachment(), text("three")]))
    assert message.text.text == "one\n\ntwo\n\nthree"
    assert len(message.attachments) == 2


def test_a_mixed_branch_within_an_alternative_is_one_form() -> None:
    branch = multipart("mixed", [html(f"<p>{LONG}</p>"), attachment(), html("<p>end</p>")])
    message = read(multipart("alternative", [text("stub"), branch]))
    assert message.text.text == f"{LONG.strip()}\n\nend"
    assert len(message.attachments) == 1


def test_only_the_root_of_related_parts_is_text() -> None:
    related = multipart("related", [html("<p>root</p>"), text("a resource")])
    message = read(related)
    assert message.text.text == "root"
    assert [info.content_type for info in message.attachments] == ["text/plain"]


def test_an_attached_message_is_no_part_of_the_text() -> None:
    message = read(multipart("mixed", [text("outer"), part(text("inner"), "Content-Type: message/rfc822")]))
    assert message.text.text == "outer"
    assert [info.content_type for info in message.attachments] == ["message/rfc822"]


def test_a_text_file_is_an_attachment_not_text() -> None:
    named = part(b"notes", "Content-Type: text/plain; name=notes.txt", "Content-Disposition: inline")
    message = read(multipart("mixed", [text("body"), named, attachment(b"log", "text/plain", "a.log")]))
    assert message.text.text == "body"
    assert [info.filename for info in message.attachments] == ["notes.txt", "a.log"]


def test_a_signed_message_is_read_without_its_signature() -> None:
    message = read(multipart("signed", [text("body"), part(b"sig", "Content-Type: application/pgp-signature")]))
    assert message.text.text == "body"
    assert [info.content_type for info in message.attachments] == ["application/pgp-signature"]


@pytest.mark.parametrize(
    ("fields", "body", "expected"),
    [
        (["Content-Transfer-Encoding: 8bit"], b"\xc3\xa9", "é"),
        ([], b"\xe9", "é"),
        (["Content-Type: text/plain; charset=gb2312"], "镕".encode("gbk"), "镕"),
        (["Content-Type: text/plain; charset=utf-16"], "Grüße".encode("utf-16"), "Grüße"),
        (["Content-Type: text/plain; charset=us-ascii (Plain text)"], b"x", "x"),
        (["Content-Type: text"], b"x", "x"),
        (["Content-Transfer-Encoding: base64 "], b"R3LDvMOfZQ==", "Grüße"),
        (["Content-Transfer-Encoding: quoted-printable"], b"a=\r\nb=C3=A9 \r\n", "abé"),
        ([], b"a\x00b\rc\nd\r\ne", "ab\nc\nd\ne"),
    ],
)
def test_text_is_decoded_whatever_it_is_labelled(fields: list[str], body: bytes, expected: str) -> None:
    assert read(part(body, *fields)).text.text == expected


@pytest.mark.parametrize(
    ("fields", "body", "code"),
    [
        (["Content-Type: text/plain; charset=bogus"], b"x", "charset_unknown"),
        (["Content-Type: text/plain; charset=utf-7"], b"x", "charset_unknown"),
        (["Content-Type: text/plain; charset=utf-8"], b"a\xffb", "charset_damaged"),
        (["Content-Transfer-Encoding: x-odd"], b"x", "transfer_unknown"),
        (["Content-Transfer-Encoding: base64"], b"!!!!", "transfer_damaged"),
        (["Content-Type: text/html"], b"<p hidden>x</p>y", "hidden_text_removed"),
        (["Content-Type: text/html"], b"<p>x</p>" * 20_000, "html_limit"),
        ([], b"", "no_text"),
    ],
)
def test_what_was_wrong_with_the_text_is_said(fields: list[str], body: bytes, code: str) -> None:
    assert code in codes(read(part(body, *fields)))


def test_html_without_a_label_is_read_in_the_charset_it_names_itself() -> None:
    body = "<meta http-equiv=Content-Type content='text/html; charset=gb2312'><p>镕</p>".encode("gbk")
    assert read(part(body, "Content-Type: text/html")).text.text == "镕"
    assert read(part(body, "Content-Type: text/html; charset=gbk")).text.text == "镕"


def test_text_beyond_the_limit_is_cut_at_a_character() -> None:
    message = read(text("é" * TEXT_BYTES_MAX))
    assert message.text.truncation is Truncation.TEXT_LIMIT
    assert len(message.text.text.encode()) == TEXT_BYTES_MAX


def test_text_cut_off_with_the_source_says_so() -> None:
    message = read(text("half of"), truncated=True)
    assert message.text.truncation is Truncation.SOURCE_LIMIT
    assert codes(message) == {"source_truncated"}


def test_text_that_is_whole_in_a_cut_source_is_not_called_truncated() -> None:
    source = multipart("mixed", [text("whole"), attachment(b"half")], close=False)
    assert read(source, truncated=True).text == MessageText("whole")


def test_unsafe_characters_in_the_text_are_flagged() -> None:
    assert read(text("a\u202eb")).text == MessageText("ab", sanitized=True)


def test_html_bounds_hold_for_all_parts_together() -> None:
    message = read(multipart("mixed", [html("<p>x</p>" * 6000)] * 50))
    assert message.text.text.count("x") <= 20_000
    assert "html_limit" in codes(message)


def test_a_megabyte_of_plain_text_is_not_decoded_beyond_need() -> None:
    assert len(read(text("x" * 4 * MIB)).text.text) == TEXT_BYTES_MAX
