"""Address fields that were written to hurt: bounded, linear, and never an exception."""

import sys
import time
from types import FrameType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mailgate.limits import ADDRESSES_MAX, KIB
from mailgate.mime.addresses import ADDRESS_CHARS_MAX, NAME_CHARS_MAX, parse_addresses
from mailgate.mime.clean import is_safe
from mailgate.mime.fields import parse_fields
from mailgate.mime.sender import sender_facts

UNITS = {
    "opening parentheses": "(",
    "closing parentheses": ")",
    "comments": "(a)",
    "nested comments with quotes": '("\\(',
    "addresses": "user@host.example, ",
    "commas": ",",
    "semicolons": ";",
    "groups": "g:a@b.c;",
    "groups that never end": "g:",
    "groups with addresses in their names": "a@b.c:",
    "colons": ":",
    "routes": "<@a,@b:u@h.i>,",
    "routes that never end": "<@a,",
    "route parts": "@a,",
    "opening angles": "<",
    "closing angles": ">",
    "angles within angles": "<a@b.c><d@e.f>",
    "quoted local parts": '"a b"@c.d,',
    "quotes": '"',
    "quotes and backslashes": '"\\',
    "backslashes": "\\",
    "at signs": "@",
    "at signs with blanks": "@ ",
    "addresses without commas": "a@b.c ",
    "encoded words": "=?utf-8?q?a?= ",
    "encoded words without blanks": "=?utf-8?q?a?=",
    "encoded words as local parts": "=?utf-8?q?a=40b.c?=@d.e,",
    "encoded words in domains": "a@=?utf-8?q?b?=,",
    "encoded words within angles": "<=?utf-8?q?a=40b.c?=>,",
    "beginnings of encoded words": "=?a?q?",
    "question marks": "=?",
    "base64 words": "=?utf-8?b?QUFB?=",
    "domain literals": "a@[1.2.3.4],",
    "opening brackets": "[",
    "dots": "a.",
    "letters": "a",
    "blanks": " ",
    "bidi controls": "\u202e",
    "cyrillic names": "Раура Servicе <a@xn--80ak6aa92e.example>,",
    "letters that normalise to eighteen": "\ufdfa <a@b.c>,",
    "names with addresses": '"a@b.c d@e.f" <g@h.i>,',
    "punycode labels": "a@" + "xn--999a." * 30 + "b,",
}


def steps(text: str) -> int:
    """Calls, of Python and of C functions, that reading the sender takes."""
    block = f"From: {text}\r\nReply-To: {text}\r\nSender: {text}\r\n".encode()
    fields = parse_fields(block, 0, len(block))
    count = 0

    def tick(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(tick)
    try:
        sender_facts(fields, trusted_authserv_id="mx.example.net")
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize("unit", UNITS.values(), ids=UNITS.keys())
def test_twice_the_field_takes_at_most_twice_the_steps(unit: str) -> None:
    small, large = (steps((unit * size)[:size]) for size in (4 * KIB, 8 * KIB))
    assert large <= 2 * small + 500
    assert large < 40 * 3 * 8 * KIB


@pytest.mark.parametrize("unit", UNITS.values(), ids=UNITS.keys())
def test_64_kib_are_read_within_the_limits(unit: str) -> None:
    text = (unit * (64 * KIB // len(unit) + 1))[: 64 * KIB]
    block = f"From: {text}\r\nReply-To: {text}\r\n".encode()
    started = time.process_time()
    found = parse_addresses(text)
    sender_facts(parse_fields(block, 0, len(block)), trusted_authserv_id=None)
    assert time.process_time() - started < 2  # some 0.1 s: what is quadratic within one call takes minutes
    assert len(found.addresses) <= ADDRESSES_MAX
    for one in found.addresses:
        assert len(one.name) <= NAME_CHARS_MAX
        assert len(one.address) <= ADDRESS_CHARS_MAX
        assert is_safe(str(one))


@pytest.mark.parametrize(
    ("text", "address", "valid"),
    [
        ("(" * 8 * KIB, "", False),
        ("(" * 8 * KIB + " a@b.c", "", False),
        ("(" * 4 * KIB + ")" * 4 * KIB + " a@b.c", "a@b.c", True),
        ('"a@b.c"@d.e', '"a@b.c"@d.e', True),
        ('"a\\"b"@d.e', '"a\\"b"@d.e', True),
        ("<@a.b,@c.d:u@h.i>", "u@h.i", True),
        ("Ann <@a.b:u@h.i>", "u@h.i", True),
        ("=?utf-8?q?a=40b.c?=@d.e", "=?utf-8?q?a=40b.c?=@d.e", True),
        ("<=?utf-8?q?a=40b.c?=>", "=?utf-8?q?a=40b.c?=", False),
        ("=?utf-8?q?<a=40b.c>?= <e@f.g>", "e@f.g", True),
        ("a(comment)@b.c", "a@b.c", True),
        ("a@(comment)b.c", "a@b.c", True),
        ("a@b.c" + "d" * 400, ("a@b.c" + "d" * 400)[:ADDRESS_CHARS_MAX], False),
    ],
)
def test_odd_forms_give_the_address_that_stands_there_or_none(text: str, address: str, valid: bool) -> None:
    found = parse_addresses(text).addresses
    assert [one.address for one in found] in ([address], [] if not address else None)
    assert [one.valid for one in found] == [valid] * len(found)


@pytest.mark.parametrize("count", [ADDRESSES_MAX - 1, ADDRESSES_MAX, ADDRESSES_MAX + 1])
def test_the_list_is_called_cut_exactly_when_an_address_was_left_out(count: int) -> None:
    found = parse_addresses(", ".join(f"a{number}@b.c" for number in range(count)) + " ,,; ")
    assert (len(found.addresses), found.cut) == (min(count, ADDRESSES_MAX), count > ADDRESSES_MAX)


@settings(derandomize=True, max_examples=300, deadline=None)
@given(st.lists(st.sampled_from([*UNITS.values(), "a@b.c", " ", ")", "?=", "]"]), max_size=30).map("".join))
def test_no_mixture_of_them_raises_or_hides_an_address_in_a_name(text: str) -> None:
    for one in parse_addresses(text).addresses:
        assert is_safe(one.name)
        assert is_safe(one.address)
        assert not set("<>") & set(one.address)
        if one.valid:
            assert one.domain
