"""What a message carries beside its text."""

import base64

import pytest

from mailgate.errors import AttachmentNotFound, AttachmentTooLarge
from mailgate.limits import ATTACHMENT_BYTES_MAX
from mailgate.mime.model import AttachmentInfo, RawMessage
from mailgate.mime.parse import extract_attachment
from tests.mime.messages import attachment, codes, html, multipart, part, read, text


def encoded(data: bytes, *fields: str) -> bytes:
    return part(
        base64.encodebytes(data).replace(b"\n", b"\r\n"),
        "Content-Type: application/octet-stream",
        "Content-Disposition: attachment",
        "Content-Transfer-Encoding: base64",
        *fields,
    )


def test_an_attachment_is_listed_with_its_decoded_size() -> None:
    message = read(multipart("mixed", [text("body"), encoded(b"x" * 1000)]))
    assert message.attachments == (
        AttachmentInfo(1, None, False, "application/octet-stream", 1000, disposition="attachment"),
    )


def test_every_leaf_that_is_not_text_is_listed_wherever_it_is() -> None:
    picture = part(b"png", "Content-Type: image/png", "Content-ID: <logo@x>", "Content-Disposition: inline")
    related = multipart("related", [html("<img src=cid:logo@x>"), picture])
    calendar = text("BEGIN:VCALENDAR", "text/calendar")
    message = read(multipart("mixed", [multipart("alternative", [text("plain"), related, calendar]), attachment()]))
    assert [(one.index, one.content_type, one.referenced) for one in message.attachments] == [
        (1, "image/png", True),
        (2, "text/calendar", False),
        (3, "application/pdf", False),
    ]
    assert message.attachments[0].content_id == "<logo@x>"


def test_a_related_part_marked_as_attachment_is_one() -> None:
    pdf = part(b"x", "Content-Type: application/pdf", "Content-ID: <a@x>", "Content-Disposition: attachment")
    assert not read(multipart("related", [html("x"), pdf])).attachments[0].referenced


def test_a_message_that_is_only_a_file_is_an_attachment() -> None:
    message = read(part(b"%PDF", "Content-Type: application/pdf; name=a.pdf"))
    assert [info.filename for info in message.attachments] == ["a.pdf"]
    assert codes(message) == {"no_text"}


@pytest.mark.parametrize("kind", ["application/ms-tnef", "application/octet-stream"])
def test_a_tnef_container_is_listed_and_said_to_be_unopened(kind: str) -> None:
    message = read(multipart("mixed", [text("body"), attachment(b"x", kind, "WINMAIL.DAT")]))
    assert len(message.attachments) == 1
    assert codes(message) == {"tnef_not_decoded"}


def test_an_encrypted_message_says_so() -> None:
    message = read(part(b"x", "Content-Type: application/pkcs7-mime; name=smime.p7m"))
    assert "encrypted_not_decoded" in codes(message)


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        (["Content-Type: IMAGE/PNG"], "image/png"),
        (["Content-Type: image/png\u202e"], "application/octet-stream"),
        (["Content-Type: <script>"], "application/octet-stream"),
        (["Content-Type: a/" + "b" * 500], "application/octet-stream"),
    ],
)
def test_a_content_type_is_a_token_pair_or_opaque(fields: list[str], kind: str) -> None:
    source = multipart("mixed", [text("x"), part(b"x", *fields, "Content-Disposition: attachment")])
    assert read(source).attachments[0].content_type == kind


def test_a_hostile_name_is_bare_and_flagged() -> None:
    info = read(multipart("mixed", [text("x"), attachment(name="../../a\u202etxt.exe")])).attachments[0]
    assert (info.filename, info.filename_changed) == ("atxt.exe", True)


def test_an_attachment_cut_off_with_the_source_has_no_size_and_is_not_extracted() -> None:
    source = multipart("mixed", [text("x"), encoded(b"whole"), encoded(b"half")], close=False)
    message = read(source, truncated=True)
    assert [info.size for info in message.attachments] == [5, None]
    assert extract_attachment(RawMessage(source, True), 1).data == b"whole"
    with pytest.raises(AttachmentTooLarge):
        extract_attachment(RawMessage(source, True), 2)


def test_an_index_names_the_same_part_as_the_list() -> None:
    source = multipart("mixed", [encoded(b"one"), text("x"), encoded(b"two"), attachment(b"three")])
    message = read(source)
    for info in message.attachments:
        found = extract_attachment(RawMessage(source), info.index)
        assert found.info == info
        assert len(found.data) == info.size
    assert extract_attachment(RawMessage(source), 2).data == b"two"


@pytest.mark.parametrize("index", [-1, 0, 2, 10**9])
def test_an_index_outside_the_list_is_not_found(index: int) -> None:
    with pytest.raises(AttachmentNotFound):
        extract_attachment(RawMessage(multipart("mixed", [text("x"), attachment()])), index)


def test_the_largest_attachment_is_given_and_one_octet_more_is_refused() -> None:
    largest = multipart("mixed", [text("x"), encoded(bytes(ATTACHMENT_BYTES_MAX))])
    assert len(extract_attachment(RawMessage(largest), 1).data) == ATTACHMENT_BYTES_MAX
    larger = multipart("mixed", [text("x"), encoded(bytes(ATTACHMENT_BYTES_MAX + 1))])
    with pytest.raises(AttachmentTooLarge):
        extract_attachment(RawMessage(larger), 1)


def test_base64_padded_with_blanks_is_measured_by_what_it_decodes_to() -> None:
    body = b"aGk=" + b" \r\n" * 1_000_000
    source = multipart("mixed", [text("x"), part(body, "Content-Type: a/b", "Content-Transfer-Encoding: base64")])
    assert read(source).attachments[0].size == 2
    assert extract_attachment(RawMessage(source), 1).data == b"hi"


def test_an_attached_message_is_extracted_as_it_stands() -> None:
    inner = text("inner")
    source = multipart("mixed", [text("x"), part(inner, "Content-Type: message/rfc822")])
    assert extract_attachment(RawMessage(source), 1).data == inner
