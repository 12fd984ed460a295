"""Header fields as a reader gets them."""

import base64
import dataclasses

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from mailgate.limits import ADDRESSES_MAX, HEADER_BYTES_MAX, HEADER_VALUE_CHARS_MAX, KIB, MIB
from mailgate.mime.clean import clean
from mailgate.mime.model import Clean, MessageHeaders
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


def test_the_fields_of_a_list_are_read_as_plain_strings() -> None:
    found = headers(
        "List-Id: =?utf-8?Q?Gr=C3=BC=C3=9Fe?= <list.x.example>",
        "List-Post: <mailto:list@x.example>",
        "List-Unsubscribe: <mailto:off@x.example?subject=off>,\r\n <https://x.example/off\u200b?u=1>",
        "List-Unsubscribe-Post: List-Unsubscribe=One-Click",
    )
    assert found.list_id == "Grüße <list.x.example>"
    assert found.list_post == "<mailto:list@x.example>"
    assert found.list_unsubscribe == "<mailto:off@x.example?subject=off>, <https://x.example/off?u=1>"
    assert found.list_unsubscribe_post == "List-Unsubscribe=One-Click"
    assert found.sanitized


def test_an_unquoted_comma_in_a_name_is_no_second_author() -> None:
    assert codes(headers("From: Doe, Jane <jane@x.example>")) == {"address_invalid"}


def test_a_character_that_the_limit_cuts_in_two_spoils_nothing() -> None:
    for pad in range(3):
        found = headers("Subject: " + "x" * pad + "日" * 20_000)
        assert found.subject is not None
        assert set(found.subject) <= {"x", "日"}


# --- whatever stands in a header ---------------------------------------------------------------------------------

FIELDS = [
    "Subject", "From", "To", "Cc", "Bcc", "Reply-To", "Sender", "Date", "Message-ID", "In-Reply-To", "References",
    "List-Id", "List-Unsubscribe", "List-Unsubscribe-Post", "List-Post",
]  # fmt: skip
UNSAFE = (
    "\x00\x07\x1b\x7f\x85\x9b\xad\u061c\u115f\u180e\u200b\u200e\u202a\u202e\u2028\u2060\u2066\u2069\ufeff"
    "\U000e0001\U000e0041"
)


def strings(found: MessageHeaders) -> list[str]:
    values = [getattr(found, field.name) for field in dataclasses.fields(found) if field.name != "warnings"]
    flat = [one for value in values for one in (value if isinstance(value, tuple) else [value])]
    return [one for one in flat if isinstance(one, str)]


@settings(derandomize=True, max_examples=400, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(FIELDS), st.binary(max_size=30)), max_size=6),
    st.sampled_from([b"\r\n", b"\n", b"\r\n ", b"\r"]),
)
def test_any_header_octets_give_strings_that_are_safe_to_show(lines: list[tuple[str, bytes]], end: bytes) -> None:
    found = parse_headers(b"".join(name.encode() + b": " + value + end for name, value in lines))
    for text in strings(found):
        text.encode("utf-8")
        assert clean(text) == Clean(text)


@settings(derandomize=True, max_examples=600, deadline=None)
@given(
    st.sampled_from([name for name in FIELDS if name != "Date"]),
    st.sampled_from(UNSAFE),
    st.sampled_from(["raw", "encoded"]),
    st.integers(0, 4),
)
def test_what_is_taken_out_of_any_field_is_flagged(name: str, unsafe: str, form: str, place: int) -> None:
    # At the very start of encoded octets it is a byte order mark (RFC 3629, 6): no character of the text.
    assume((unsafe, form, place) != ("\ufeff", "encoded", 0))
    inside = f"{'abcd'[:place]}{unsafe}{'abcd'[place:]}"
    ids = name in ("Message-ID", "In-Reply-To", "References")
    if form == "encoded" and not ids:
        inside = "=?utf-8?B?" + base64.b64encode(inside.encode()).decode() + "?="
    value = f"<{inside}@x.example>" if ids else f"{inside} <{'list.' if name == 'List-Id' else 'a@'}x.example>"
    found = headers(f"{name}: {value}")
    (text,) = strings(found)
    assert unsafe not in text
    assert text.replace(" ", "").startswith(("abcd", "<abcd"))
    assert found.sanitized


@pytest.mark.parametrize("name", ["From", "To", "Reply-To", "Subject", "List-Post", "Date"])
def test_a_field_of_nothing_but_invisible_characters_is_flagged(name: str) -> None:
    found = headers(f"{name}: \u202e\u200b")
    assert found.sanitized
    assert not any(strings(found))


def test_an_unsafe_character_in_a_date_that_is_not_understood_is_flagged() -> None:
    found = headers("Date: tomor\u202erow")
    assert (found.date_raw, found.sanitized) == ("tomorrow", True)
