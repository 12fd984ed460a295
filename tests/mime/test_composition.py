"""Every field of a composition is checked before a message exists."""

from __future__ import annotations

import base64
from dataclasses import replace

import pytest

from mailgate.errors import InvalidArgument, LimitExceeded, MailgateError
from mailgate.limits import (
    MIB,
    RECIPIENTS_MAX,
    REFERENCES_MAX,
    SUBJECT_BYTES_MAX,
    TEXT_WRITE_BYTES_MAX,
    UPLOAD_BYTES_MAX,
    UPLOADS_MAX,
)
from mailgate.mime.composition import AttachmentUpload, Composition, decode_upload, is_addr_spec, is_message_id
from tests.mime.composing import upload

C0 = [chr(code) for code in range(0x20)]
NEVER_IN_HEADER = [*C0, "\x7f", *map(chr, range(0x80, 0xA0)), "\u2028", "\u2029", "\ud800", "\udfff"]


def test_nothing_is_required() -> None:
    empty = Composition()
    assert (empty.to, empty.subject, empty.text, empty.attachments, empty.repeated) == ((), "", "", (), False)


@pytest.mark.parametrize(
    "address",
    [
        "a@example.org",
        "first.last+tag@sub.example.org",
        "o'brien@example.org",
        "!#$%&'*+/?=^_`{|}~-@example.org",
        "a@localhost",
        "a@xn--bcher-kva.example",
        "a@1.example",
        "a" * 64 + "@example.org",
        "a@" + ".".join(["d" * 60] * 4) + ".example",
    ],
)
def test_plain_addresses_are_recipients(address: str) -> None:
    assert is_addr_spec(address)
    assert Composition(to=(address,)).to == (address,)


@pytest.mark.parametrize(
    "address",
    [
        "",
        "a",
        "a@",
        "@example.org",
        "a@@example.org",
        "a@b@example.org",
        "Name <a@example.org>",
        "<a@example.org>",
        "a@example.org, b@example.org",
        "a@example.org;",
        "friends: a@example.org;",
        "a@example.org (comment)",
        "(comment)a@example.org",
        "@relay.example:a@example.org",
        '"a"@example.org',
        '"a b"@example.org',
        "a b@example.org",
        " a@example.org",
        "a@example.org ",
        "a@example.org\n",
        "a@example.org\r\nBcc: x@example.org",
        "a@[127.0.0.1]",
        "a@[IPv6:::1]",
        "a@127.0.0.1",
        "a@example.123",
        ".a@example.org",
        "a.@example.org",
        "a..b@example.org",
        "a@example..org",
        "a@.example.org",
        "a@example.org.",
        "a@-example.org",
        "a@example-.org",
        "a@exa_mple.org",
        "ü@example.org",
        "a@exämple.org",
        "a\uff20example.org",
        "a@example\uff0eorg",
        "\u0430@example.org",
        "=?utf-8?q?x?=@example.org",
        "a\0@example.org",
        "a\ud800@example.org",
        "a" * 65 + "@example.org",
        "a@" + "d" * 64 + ".org",
        "a@" + ".".join(["d" * 60] * 4) + ".example123",
    ],
)
def test_anything_else_is_refused_and_its_place_named(address: str) -> None:
    assert not is_addr_spec(address)
    for role in ("to", "cc", "bcc"):
        with pytest.raises(InvalidArgument) as caught:
            Composition(**{role: ("fine@example.org", address)})
        assert caught.value.sentence.startswith(f"`message.{role}.1` ")
        assert len(address) < 3 or address not in caught.value.sentence


def test_a_repeated_recipient_keeps_its_first_role() -> None:
    asked = Composition(
        to=("a@example.org", "b@example.org", "a@EXAMPLE.org"), cc=("b@Example.Org", "c@x.org"), bcc=("c@x.org",)
    )
    assert (asked.to, asked.cc, asked.bcc) == (("a@example.org", "b@example.org"), ("c@x.org",), ())
    assert asked.repeated
    assert replace(asked, subject="kept").repeated


def test_local_parts_that_differ_in_case_are_two_recipients() -> None:
    asked = Composition(to=("Bob@example.org", "bob@example.org"))
    assert asked.to == ("Bob@example.org", "bob@example.org")
    assert not asked.repeated


def test_more_than_fifty_recipients_are_refused_whatever_their_role() -> None:
    many = tuple(f"r{number}@example.org" for number in range(RECIPIENTS_MAX + 1))
    Composition(to=many[:20], cc=many[20:40], bcc=many[40:50])
    with pytest.raises(LimitExceeded, match=r"`message\.to`, `message\.cc` and `message\.bcc`"):
        Composition(to=many[:20], cc=many[20:40], bcc=many[40:])
    with pytest.raises(LimitExceeded):
        Composition(to=("same@example.org",) * (RECIPIENTS_MAX + 1))


@pytest.mark.parametrize("character", NEVER_IN_HEADER, ids=lambda one: f"U+{ord(one):04X}")
def test_no_header_string_holds_a_control_character(character: str) -> None:
    hostile = f"a{character}b"
    with pytest.raises(InvalidArgument, match=r"`message\.subject`"):
        Composition(subject=hostile)
    with pytest.raises(InvalidArgument, match=r"`message\.attachments\.1\.filename`"):
        Composition(attachments=(upload(), upload(hostile)))
    with pytest.raises(InvalidArgument, match=r"`message\.attachments\.0\.content_type`"):
        Composition(attachments=(upload(kind=f"text/{hostile}"),))
    with pytest.raises(InvalidArgument, match=r"`message\.in_reply_to`"):
        Composition(in_reply_to=f"<{hostile}@example.org>")
    with pytest.raises(InvalidArgument, match=r"`message\.references\.0`"):
        Composition(references=(f"<x@{hostile}>",))
    with pytest.raises(InvalidArgument, match=r"`message\.to\.0`"):
        Composition(to=(f"{hostile}@example.org",))


@pytest.mark.parametrize("character", [*(set(C0) - set("\t\n\r")), "\x7f", "\x85", "\x9b", "\ud800"], ids=ascii)
def test_text_holds_no_control_character_but_tab_and_line_ends(character: str) -> None:
    with pytest.raises(InvalidArgument, match=r"`message\.text`"):
        Composition(text=f"a{character}b")


def test_line_ends_of_text_are_unified_and_separators_kept() -> None:
    assert Composition(text="a\rb\r\nc\nd\r\r\n\te\u2028f\u2029").text == "a\nb\nc\nd\n\n\te\u2028f\u2029"


def test_subject_and_text_are_bounded_in_octets() -> None:
    Composition(subject="ü" * (SUBJECT_BYTES_MAX // 2), text="x\r\n" * (TEXT_WRITE_BYTES_MAX // 2))
    with pytest.raises(LimitExceeded, match=r"`message\.subject` is longer than 512 octets"):
        Composition(subject="ü" * (SUBJECT_BYTES_MAX // 2) + "x")
    with pytest.raises(LimitExceeded, match=r"`message\.text` is longer than 1 MiB"):
        Composition(text="€" * (TEXT_WRITE_BYTES_MAX // 3 + 1))


@pytest.mark.parametrize(
    "message_id",
    [
        "<a@b>",
        "<CAB+x_1=..y.@mail.example.org>",
        "<20240101.ABC$d@[127.0.0.1]>",
        "<a@[IPv6:2001:db8::1]>",
        "<" + "a" * 508 + "@b>",
    ],
)
def test_ids_of_the_plain_form_thread_a_message(message_id: str) -> None:
    assert is_message_id(message_id)
    asked = Composition(in_reply_to=message_id, references=[message_id, "<c@d>"])  # type: ignore[arg-type]
    assert (asked.in_reply_to, asked.references) == (message_id, (message_id, "<c@d>"))


@pytest.mark.parametrize(
    "message_id",
    [
        "",
        "a@b",
        "<a>",
        "<@b>",
        "<a@>",
        "<a@b@c>",
        "<a@b> <c@d>",
        " <a@b>",
        "<a@b>\r\n",
        "<a b@c>",
        "<<a@b>>",
        "<a@[b@c]>",
        '<"a"@b>',
        "<ü@b>",
        "<٣@b>",
        "<a@[٣]>",
        "<=?utf-8?q?x?=@b>",
        "<" + "a" * 509 + "@b>",
    ],
)
def test_any_other_id_is_refused(message_id: str) -> None:
    with pytest.raises(InvalidArgument, match=r"`message\.in_reply_to`"):
        Composition(in_reply_to=message_id)
    with pytest.raises(InvalidArgument, match=r"`message\.references\.1`"):
        Composition(references=("<a@b>", message_id))


def test_references_are_bounded_in_number_and_size() -> None:
    Composition(references=("<a@b>",) * REFERENCES_MAX)
    with pytest.raises(LimitExceeded, match=r"`message\.references`"):
        Composition(references=("<a@b>",) * (REFERENCES_MAX + 1))
    with pytest.raises(LimitExceeded, match=r"`message\.references` is longer than 8 KiB"):
        Composition(references=("<" + "a" * 508 + "@b>",) * 17)


@pytest.mark.parametrize(
    "kind",
    [
        *("", "text", "text/", "/plain", "text/plain; charset=utf-8", "a/b/c", "a /b", "te(x)t/plain", "ünl/x"),
        *("a" * 128 + "/b", "multipart/mixed", "Multipart/Mixed", "message/rfc822", "MESSAGE/partial", "\u212aml/x"),
    ],
)
def test_a_content_type_is_two_tokens_and_no_container(kind: str) -> None:
    with pytest.raises(InvalidArgument, match=r"`message\.attachments\.0\.content_type`"):
        Composition(attachments=(upload(kind=kind),))


def test_a_content_type_has_no_case() -> None:
    (found,) = Composition(attachments=(upload(kind="Application/VND.x+Json"),)).attachments
    assert found == AttachmentUpload("a.pdf", "application/vnd.x+json", b"data")


@pytest.mark.parametrize("name", ["", " ", ".", "..", "../x", "a/b", "a\\b", "/", "C:\\x"])
def test_a_file_name_is_bare(name: str) -> None:
    with pytest.raises(InvalidArgument, match=r"`message\.attachments\.0\.filename`"):
        Composition(attachments=(upload(name),))


def test_attachments_are_bounded_in_name_number_and_size() -> None:
    Composition(attachments=(upload("n" * 200),) * UPLOADS_MAX)
    Composition(attachments=(upload(data=bytes(UPLOAD_BYTES_MAX - 1)), upload(data=b"x")))
    with pytest.raises(LimitExceeded, match=r"`message\.attachments\.0\.filename` is longer than 200 characters"):
        Composition(attachments=(upload("n" * 201),))
    with pytest.raises(LimitExceeded, match=r"`message\.attachments` holds more than 20 "):
        Composition(attachments=(upload(),) * (UPLOADS_MAX + 1))
    with pytest.raises(LimitExceeded, match=r"`message\.attachments` hold more than 3 MiB decoded"):
        Composition(attachments=(upload(data=bytes(UPLOAD_BYTES_MAX)), upload(data=b"x")))


@pytest.mark.parametrize("data", [b"", b"a", b"ab", b"abc", bytes(range(256))])
def test_base64_is_decoded(data: bytes) -> None:
    assert decode_upload(base64.b64encode(data).decode(), 0) == data


@pytest.mark.parametrize(
    "text", ["a", "YQ", "YQ=", "YQ=\n", "YQ ==", "Y===", "====", "YQ==YQ==", "YW-_", "ＹＷＪj", "YW\0j"]
)
def test_base64_is_strict(text: str) -> None:
    with pytest.raises(InvalidArgument, match=r"`message\.attachments\.3\.data_base64`"):
        decode_upload(text, 3)


def test_base64_that_cannot_fit_is_not_decoded() -> None:
    assert len(decode_upload("A" * (4 * MIB), 0)) == UPLOAD_BYTES_MAX
    with pytest.raises(LimitExceeded):
        decode_upload("A" * (4 * MIB + 8), 0)


def test_a_composition_shows_nothing_of_itself() -> None:
    asked = Composition(subject="secret", text="secret", attachments=(upload("secret"),))
    assert "secret" not in repr(asked) + repr(asked.attachments)


def test_no_error_repeats_what_was_given() -> None:
    for fields in ({"to": ("sEcReT",)}, {"subject": "sEcReT\n"}, {"text": "sEcReT\0"}, {"in_reply_to": "sEcReT"}):
        with pytest.raises(MailgateError) as caught:
            Composition(**fields)  # type: ignore[arg-type]
        assert "sEcReT" not in caught.value.render()
