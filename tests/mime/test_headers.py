"""Header fields as a reader gets them."""

import pytest

from mailgate.limits import ADDRESSES_MAX, HEADER_BYTES_MAX, HEADER_VALUE_CHARS_MAX, KIB, MIB
from mailgate.mime.model import MessageHeaders
from mailgate.mime.parse import parse_headers


def headers(*fields: str) -> MessageHeaders:
    return parse_headers("".join(f"{field}\r\n" for field in fields).encode() + b"\r\n")


def codes(found: MessageHeaders) -> set[str]:
    return {warning.code for warning in found.warnings}


def test_every_field_is_read_decoded() -> None:
    found = headers(
        "From: =?utf-8?Q?J=C3=B6rg?= <j@d.e>",
        "To: a@b.c,",
        " Jane <j@x.y>",
        "Cc: c@d.e",
        "Bcc: h@i.j",
        "Reply-To: r@s.t",
        "Sender: s@t.u",
        "Subject: =?utf-8?B?SsO2cmc=?= writes",
        "Date: Thu, 5 Feb 2026 11:22:33 +0100",
        "Message-ID: <one@x.y>",
        "In-Reply-To: <zero@x.y>",
        "References: <a@x.y> <zero@x.y>",
        "List-Id: A list <list.x.y>",
        "List-Unsubscribe: <https://x.y/u>",
    )
    assert found == MessageHeaders(
        subject="Jörg writes",
        from_=("Jörg <j@d.e>",),
        to=("a@b.c", "Jane <j@x.y>"),
        cc=("c@d.e",),
        bcc=("h@i.j",),
        reply_to=("r@s.t",),
        sender="s@t.u",
        date="2026-02-05T11:22:33+01:00",
        message_id="<one@x.y>",
        in_reply_to=("<zero@x.y>",),
        references=("<a@x.y>", "<zero@x.y>"),
        list_id="A list <list.x.y>",
        list_unsubscribe="<https://x.y/u>",
    )


@pytest.mark.parametrize(
    "block", [b"", b"\r\n", b"\xff\xfe\x00", b": x", b"no colon", b"Subject", b" folded: x", b"\n\n\n"]
)
def test_a_block_without_fields_gives_empty_headers(block: bytes) -> None:
    assert parse_headers(block) == MessageHeaders()


def test_a_leading_mbox_line_is_skipped() -> None:
    assert parse_headers(b"From a@b.c Thu Feb 5\nSubject: x\n\n").subject == "x"


def test_what_follows_the_blank_line_is_no_header() -> None:
    assert parse_headers(b"To: a@b.c\n\nSubject: x\n") == MessageHeaders(to=("a@b.c",))


@pytest.mark.parametrize("raw", [b"Subject: Gr\xc3\xbc\xc3\x9fe\n\n", b"Subject: Gr\xfc\xdfe\n\n"])
def test_raw_8bit_is_utf8_then_windows_1252(raw: bytes) -> None:
    assert parse_headers(raw).subject == "Grüße"


def test_an_encoded_line_break_cannot_add_a_field() -> None:
    found = headers("Subject: =?utf-8?Q?a=0D=0ABcc:_x@y.z?=")
    assert (found.subject, found.bcc, found.sanitized) == ("a Bcc: x@y.z", (), True)


def test_nul_bidi_and_tag_characters_are_removed_and_flagged() -> None:
    found = headers("Subject: a\x00b\u202ec\U000e0041d")
    assert (found.subject, found.sanitized) == ("abcd", True)


def test_a_bracketed_message_id_is_given_as_it_stands() -> None:
    assert headers("Message-ID: <[x@microsoft.com]>").message_id == "<[x@microsoft.com]>"
    assert headers("Message-ID: no brackets").message_id == "no brackets"


@pytest.mark.parametrize("date", ["1 Jan 9999999999 00:00:00 +0000", "17 June , 2022", "16.03.09"])
def test_an_impossible_date_is_null_beside_the_raw_field(date: str) -> None:
    found = headers(f"Date: {date}")
    assert (found.date, found.date_raw, codes(found)) == (None, date, {"date_invalid"})


def test_several_authors_are_all_listed_with_a_warning() -> None:
    found = headers("From: a@b.c", "From: d@e.f")
    assert found.from_ == ("a@b.c", "d@e.f")
    assert codes(found) == {"multiple_from"}


def test_a_name_with_another_address_is_apart_and_warned_about() -> None:
    found = headers('From: "ceo@corp.example" <evil@x.example>')
    assert found.from_ == ('"ceo@corp.example" <evil@x.example>',)
    assert codes(found) == {"display_name_has_other_address"}


def test_an_unknown_charset_costs_a_warning_only() -> None:
    found = headers("Subject: =?bogus?Q?=C3=A9?=")
    assert (found.subject, codes(found)) == ("é", {"charset_unknown"})


def test_the_first_of_two_subjects_counts() -> None:
    assert headers("Subject: one", "Subject: two").subject == "one"


def test_a_subject_of_a_mebibyte_is_cut_and_warned_about() -> None:
    for unit in ("x", "=?utf-8?Q?a?= ", "=?a?q?", "=?utf-8?B?YWFh?="):
        found = headers("To: a@b.c", "Subject: " + unit * (MIB // len(unit)))
        assert found.subject is not None
        assert len(found.subject) <= HEADER_VALUE_CHARS_MAX
        assert "header_limit" in codes(found)


def test_five_thousand_fields_are_cut_and_warned_about() -> None:
    found = headers("Subject: x", *(f"X-Field-{number}: y" for number in range(5000)))
    assert (found.subject, codes(found)) == ("x", {"header_limit"})
    senders = headers(*(f"From: a{number}@b.c" for number in range(5000)))
    assert len(senders.from_) == ADDRESSES_MAX


def test_a_long_reference_chain_keeps_its_first_and_its_latest() -> None:
    ids = [f"<{number}@mail.example>" for number in range(64 * KIB // 20)]
    found = headers("References: " + "\r\n ".join(ids))
    assert found.references[0] == ids[0]
    assert list(found.references[1:]) == ids[1 - len(found.references) :]
    assert sum(map(len, found.references)) <= HEADER_VALUE_CHARS_MAX
    assert codes(found) == {"header_limit"}


def test_a_header_beyond_the_limit_is_not_read_as_text() -> None:
    found = parse_headers(b"X: " + b"y" * HEADER_BYTES_MAX + b"\r\nSubject: late\r\n\r\n")
    assert (found.subject, codes(found)) == (None, {"header_limit"})
