"""Which part is the text: the place decides, then the type; what is shown and may be a file is listed as well."""

from __future__ import annotations

import pytest

from mailgate.mime.model import ParsedMessage, RawMessage
from mailgate.mime.parse import extract_attachment, parse_headers
from mailgate.mime.preview import preview_of
from tests.mime.messages import attachment, codes, html, multipart, part, read, text

INLINE = 'Content-Disposition: inline; filename="body.txt"'


def names(message: ParsedMessage) -> list[str | None]:
    return [info.filename for info in message.attachments]


@pytest.mark.parametrize("field", [INLINE, "Content-Type: text/plain; name=body.txt"])
def test_a_first_text_with_a_name_is_text_and_file(field: str) -> None:
    source = multipart("mixed", [part(b"hello", field), attachment()])
    message = read(source)
    assert message.text.text == "hello"
    assert names(message) == ["body.txt", "a.pdf"]
    assert extract_attachment(RawMessage(source), 1).data == b"hello"
    fields, _, body = source.partition(b"\r\n\r\n")
    preview = preview_of(fields, body, cut=True)
    assert preview is not None
    assert preview.text == "hello"


def test_a_first_text_with_a_name_gives_way_to_one_without() -> None:
    message = read(multipart("mixed", [part(b"a log", "Content-Type: text/plain; name=build.log"), text("hello")]))
    assert message.text.text == "hello"
    assert names(message) == ["build.log"]


def test_a_first_text_attached_without_a_name_is_text_alone() -> None:
    message = read(multipart("mixed", [part(b"hello", "Content-Disposition: attachment"), attachment()]))
    assert message.text.text == "hello"
    assert names(message) == ["a.pdf"]


def test_a_later_text_attached_without_a_name_is_a_file() -> None:
    message = read(multipart("mixed", [text("hello"), part(b"more", "Content-Disposition: attachment")]))
    assert message.text.text == "hello"
    assert names(message) == [None]


def test_a_text_attached_under_a_name_is_a_file_even_where_it_is_all_there_is() -> None:
    message = read(part(b"hello", 'Content-Disposition: attachment; filename="a.txt"'))
    assert not message.text.text
    assert codes(message) == {"no_text"}
    assert names(message) == ["a.txt"]


@pytest.mark.parametrize(
    "kind", ["text/csv", "text/x-diff", "text/x-patch", "text/markdown", "text/anything", "text/css"]
)
def test_a_message_of_any_text_type_is_shown(kind: str) -> None:
    assert read(text("a;b", kind)).text.text == "a;b"


@pytest.mark.parametrize("kind", ["text/vcard", "text/rfc822-headers"])
def test_cards_and_headers_among_other_files_are_no_text(kind: str) -> None:
    assert not read(multipart("mixed", [attachment(), text("x:y", kind)])).text.text


def test_fields_speak_where_the_text_is_empty_and_only_there() -> None:
    calendar = text("BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nSUMMARY:Lunch\r\nEND:VEVENT", "text/calendar")
    assert read(multipart("alternative", [text(" "), calendar])).text.text == "Summary: Lunch"
    full = read(multipart("alternative", [text("hello"), calendar]))
    assert full.text.text == "hello"
    assert [info.content_type for info in full.attachments] == ["text/calendar"]


def test_the_index_of_a_file_does_not_depend_on_what_the_text_says() -> None:
    files = [text("BEGIN:VCALENDAR", "text/calendar"), attachment()]
    empty, full = (read(multipart("mixed", [text(said), *files])) for said in ("", "hello"))
    assert [info.content_type for info in empty.attachments] == [info.content_type for info in full.attachments]


def test_a_page_of_xml_is_read_as_a_page() -> None:
    assert read(text("<p>a <b>b</b></p>", "application/xhtml+xml")).text.text == "a **b**"


@pytest.mark.parametrize("end", [b"\r", b"\n", b"\r\r\n", b"\r\n"])
def test_lines_may_end_in_any_way(end: bytes) -> None:
    source = b"Subject: hello\r\n" + multipart("mixed", [text("one\r\n\r\ntwo"), attachment()])
    message = read(source.replace(b"\r\n", end))
    assert message.headers.subject == "hello"
    assert message.text.text == "one\n\ntwo"
    assert names(message) == ["a.pdf"]


def test_a_header_alone_may_end_its_lines_with_CR() -> None:
    assert parse_headers(b"Subject: hello\rFrom: a@b.example\r\r").from_ == ("a@b.example",)


def test_one_CR_within_a_header_adds_no_field() -> None:
    message = read(b"Subject: hello\rFrom: evil@x.example\r\nTo: a@b.example\r\n\r\ntext\r\rmore")
    assert message.headers.from_ == ()
    assert message.text.text == "text\n\nmore"


def test_blank_lines_of_CR_alone_within_a_field_end_no_header() -> None:
    message = read(b"To: a@b.example\r\nSubject: hello\r\rFrom: evil@x.example\r\n\r\ntext")
    assert message.headers.from_ == ()
    assert message.headers.to == ("a@b.example",)


def test_a_short_plain_form_that_says_something_else_is_flagged() -> None:
    page = html("<p>" + "Transfer the whole sum today or lose your account. " * 4 + "</p>")
    assert "alternatives_differ" in codes(read(multipart("alternative", [text("Please see the attachment."), page])))
    assert "alternatives_differ" not in codes(read(multipart("alternative", [text("Transfer the sum."), page])))
    assert "alternatives_differ" not in codes(read(multipart("alternative", [text("[cid:image001.png@01D9]"), page])))


@pytest.mark.parametrize(
    "value", ["<Undisclosed Recipients@x.example>", "<a:;@x.example>", "<a@x..example>", "<a@b c>"]
)
def test_what_is_no_address_is_never_made_one(value: str) -> None:
    message = read(f"From: {value}\r\n\r\nhello".encode())
    assert message.sender is not None
    assert message.sender.address is None
    assert "address_invalid" in codes(message) | {warning.code for warning in message.headers.warnings}
    assert message.headers.from_ == (value.strip("<>"),)


def test_blanks_and_comments_that_an_address_may_hold_do_not_spoil_it() -> None:
    assert read(b"From: <a (x) @ b . example>\r\n\r\nhello").headers.from_ == ("x <a@b.example>",)
