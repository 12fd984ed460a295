"""Address fields."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mailgate.limits import ADDRESSES_MAX
from mailgate.mime.addresses import parse_addresses


def shown(text: str) -> list[str]:
    return [str(address) for address in parse_addresses(text).addresses]


@pytest.mark.parametrize(
    ("text", "addresses"),
    [
        ("a@b.c", ["a@b.c"]),
        ("Jane Doe <j@d.e>, a@b.c", ["Jane Doe <j@d.e>", "a@b.c"]),
        ("J. Smith <j@s.t>; x@y.z", ["J. Smith <j@s.t>", "x@y.z"]),
        ('"Doe, Jane" <j@d.e>', ['"Doe, Jane" <j@d.e>']),
        ('"say \\"hi\\"" <j@d.e>', ['"say \\"hi\\"" <j@d.e>']),
        ("=?utf-8?Q?Doe,_J=C3=B6rg?= <j@d.e>", ['"Doe, Jörg" <j@d.e>']),
        ('"=?utf-8?Q?J=C3=B6rg?=" <j@d.e>', ["Jörg <j@d.e>"]),
        ("=?utf-8?Q?=C3?= =?utf-8?Q?=B6?= <j@d.e>", ["ö <j@d.e>"]),
        ("a@b.c (Jane (nested) Doe)", ['"Jane (nested) Doe" <a@b.c>']),
        ("Team: a@b.c, d@e.f;, g@h.i", ["a@b.c", "d@e.f", "g@h.i"]),
        ("undisclosed-recipients:;", []),
        ("<@relay.a,@relay.b:u@h.i>", ["u@h.i"]),
        ('"a b"@host.example', ['"a b"@host.example']),
        ("u@[IPv6:2001::1]", ["u@[IPv6:2001::1]"]),
        ("a @ b.c", ["a@b.c"]),
        ("jörg@exämple.de", ["jörg@exämple.de"]),
        ("Name <a@b.c, d@e.f", ["Name <a@b.c>", "d@e.f"]),
        ("<<a@b.c>>", ["a@b.c"]),
        ("a@b.c <a@b.c>", ["a@b.c"]),
        (" , ;; ,", []),
    ],
)
def test_fields_become_lists_of_addresses(text: str, addresses: list[str]) -> None:
    assert shown(text) == addresses
    assert all(address.valid for address in parse_addresses(text).addresses)


@pytest.mark.parametrize(
    ("text", "rendered", "address"),
    [
        ('"boss@corp.example" <evil@x.example>', '"boss@corp.example" <evil@x.example>', "evil@x.example"),
        ("boss@corp.example evil@x.example", '"boss@corp.example" <evil@x.example>', "evil@x.example"),
        ("a <boss@corp.example> <evil@x.example>", '"a <boss@corp.example>" <evil@x.example>', "evil@x.example"),
        (
            "=?utf-8?Q?boss_=3Cboss=40corp.example=3E?= <evil@x.example>",
            '"boss <boss@corp.example>" <evil@x.example>',
            "evil@x.example",
        ),
    ],
)
def test_a_display_name_with_another_address_is_kept_apart(text: str, rendered: str, address: str) -> None:
    (found,) = parse_addresses(text).addresses
    assert (str(found), found.address) == (rendered, address)
    assert found.name_has_other_address


@pytest.mark.parametrize(
    "text", ["=?utf-8?Q?boss=40corp.example?=", '"Boss <boss@corp.example>"', '"Boss <boss@corp.example>', "a@b@c"]
)
def test_what_only_looks_like_an_address_is_not_valid(text: str) -> None:
    (found,) = parse_addresses(text).addresses
    assert not found.valid


def test_an_encoded_comma_adds_no_address() -> None:
    assert len(shown("=?utf-8?Q?a=40b.c=2C_d=40e.f?= <g@h.i>")) == 1


def test_the_same_address_in_the_name_is_no_other_address() -> None:
    (found,) = parse_addresses("\"'A@b.c'\" <a@b.c>").addresses
    assert not found.name_has_other_address


def test_names_and_addresses_are_safe_to_show() -> None:
    (found,) = parse_addresses("=?utf-8?Q?ev=E2=80=AEil=0D=0AX=3A?= <a\x00@b\u200b.c>").addresses
    assert str(found) == '"evil X:" <a@b.c>'
    assert found.changed


def test_no_more_addresses_than_the_limit_are_listed() -> None:
    found = parse_addresses(", ".join(f"a{number}@b.c" for number in range(10_000)))
    assert len(found.addresses) == ADDRESSES_MAX
    assert found.cut


@settings(derandomize=True, max_examples=200, deadline=None)
@given(st.text(alphabet='ab@.,;:<>()"\\[] =?Qé\u202e', max_size=60))
def test_any_field_gives_names_that_cannot_be_taken_for_the_address(text: str) -> None:
    for found in parse_addresses(text).addresses:
        rendered = str(found)
        assert "<" not in found.address
        assert ">" not in found.address
        if not found.address and "<" in rendered:
            assert rendered.startswith('"')
            assert rendered.endswith('"')
        if found.address and found.name:
            assert rendered.endswith(f" <{found.address}>")
