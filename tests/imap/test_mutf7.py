from __future__ import annotations

import base64

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mailgate.imap.mutf7 import decode, encode, of_wire, to_wire
from mailgate.imap.values import INBOX, FolderName
from mailgate.limits import FOLDER_NAME_MAX

# name shown, octets on the wire, octets after ENABLE UTF8=ACCEPT
BOTH_WAYS = {
    "ASCII": ("Archive/2024", b"Archive/2024", b"Archive/2024"),
    "a space, quotes and backslashes": ('[Gmail]/All "Mail" \\', b'[Gmail]/All "Mail" \\', b'[Gmail]/All "Mail" \\'),
    "the untagged marker inside": ("Sale * 50%", b"Sale * 50%", b"Sale * 50%"),
    "an umlaut": ("Entwürfe", b"Entw&APw-rfe", "Entwürfe".encode()),
    "the example of RFC 3501": (
        "~peter/mail/台北/日本語",
        b"~peter/mail/&U,BTFw-/&ZeVnLIqe-",
        "~peter/mail/台北/日本語".encode(),
    ),
    "Cyrillic": ("Входящие", b"&BBIERQQ+BDQETwRJBDgENQ-", "Входящие".encode()),
    "an ampersand": ("A & B", b"A &- B", b"A & B"),
    "an ampersand beside a shift": ("&ü&", b"&-&APw-&-", "&ü&".encode()),
    "what looks encoded": ("&APw-", b"&-APw-", b"&APw-"),
    "a character outside the first plane": ("\U0001f4ec", b"&2D3c7A-", "\U0001f4ec".encode()),
    "digits with a plus": ("1200+1201", b"1200+1201", b"1200+1201"),
    "a dotless i, whose upper case is I": ("\u0131nbox", b"&ATE-nbox", "\u0131nbox".encode()),
    "INBOX and what is below": ("INBOX/a", b"INBOX/a", b"INBOX/a"),
    "a percent sign": ("50%0A", b"50%0A", b"50%0A"),
}


@pytest.mark.parametrize(("text", "wire", "wire8"), BOTH_WAYS.values(), ids=BOTH_WAYS)
def test_names_and_octets_are_inverse(text: str, wire: bytes, wire8: bytes) -> None:
    assert to_wire(FolderName(text)) == wire
    assert of_wire(wire) == FolderName(text)
    assert to_wire(FolderName(text), utf8=True) == wire8
    assert of_wire(wire8, utf8=True) == FolderName(text)


@pytest.mark.parametrize("wire", [b"INBOX", b"inbox", b"InBox"])
def test_inbox_in_any_case_is_inbox(wire: bytes) -> None:
    assert of_wire(wire) == INBOX
    assert to_wire(FolderName("iNbOx")) == b"INBOX"


VERBATIM = {
    "raw UTF-8": ("é".encode(), "wire:%C3%A9"),
    "a TAB in an unquoted name": (b"Da\tOggetto\t", "wire:Da%09Oggetto%09"),
    "a shift that never ends": (b"&APw", "wire:&APw"),
    "a shift that ends in ASCII": (b"&BBAEMQQyACYEMwQ0BDU-", "wire:&BBAEMQQyACYEMwQ0BDU-"),
    "base64 with a stray sign": (b"&5rWL6K+V-!&", "wire:&5rWL6K+V-!&"),
    "base64 with padding bits set": (b"&APx-", "wire:&APx-"),
    "base64 with an odd octet": (b"&AA-", "wire:&AA-"),
    "a solidus where a comma belongs": (b"&U/BTFw-", "wire:&U/BTFw-"),
    "printable ASCII in base64": (b"&AEE-", "wire:&AEE-"),
    "an ampersand in base64": (b"&ACY-", "wire:&ACY-"),
    "two shifts where one would do": (b"&APw-&APw-", "wire:&APw-&APw-"),
    "a lone surrogate": (b"&2D0-", "wire:&2D0-"),
    "a line feed in base64": (b"&AAo-", "wire:&AAo-"),
    "a right-to-left override": (b"&IC4-", "wire:&IC4-"),
    "a zero-width space": (b"a&IAs-", "wire:a&IAs-"),
    "a tag character": (b"&20DcQQ-", "wire:&20DcQQ-"),
    "a line separator": (b"&ICg-", "wire:&ICg-"),
    "a soft hyphen": (b"&AK0-", "wire:&AK0-"),
    "a filler that shows nothing": (b"&MWQ-", "wire:&MWQ-"),
    "the prefix for octets": (b"wire:x", "wire:wire:x"),
    "the prefix for octets in capitals": (b"WIRE:x", "wire:WIRE:x"),
    "the prefix for roles": (b"Role:sent", "wire:Role:sent"),
    "a percent sign beside an odd octet": (b"50%\x80", "wire:50%25%80"),
}


@pytest.mark.parametrize(("wire", "text"), VERBATIM.values(), ids=VERBATIM)
def test_what_cannot_be_shown_as_text_is_shown_as_octets(wire: bytes, text: str) -> None:
    name = of_wire(wire)
    assert name.text == text
    assert to_wire(name) == wire


@pytest.mark.parametrize(
    ("wire", "text"),
    [(b"\xff", "wire:%FF"), (b"\xed\xa0\x80", "wire:%ED%A0%80"), ("a\u200bb".encode(), "wire:a%E2%80%8Bb")],
)
def test_what_is_no_utf8_is_shown_as_octets_in_utf8_mode(wire: bytes, text: str) -> None:
    assert of_wire(wire, utf8=True).text == text
    assert to_wire(FolderName(text), utf8=True) == wire


def test_names_that_decode_alike_are_shown_apart() -> None:
    wires = [b"Entw&APw-rfe", b"Entw&APw-rfe"[:-1] + b"&AGU-", b"&AEU-ntw&APw-rfe", "Entwürfe".encode()]
    names = [of_wire(wire) for wire in wires]
    assert len(set(names)) == len(wires)
    assert [to_wire(name) for name in names] == wires


REFUSED = {
    "a second spelling of a plain name": "wire:Archive",
    "a second spelling of INBOX": "wire:INBOX",
    "a prefix in capitals": "WIRE:%FF",
    "an escape that is none": "wire:%F",
    "an escape in lower case": "wire:%ff",
    "an escape nobody needs": "wire:%41%FF",
    "text beyond ASCII": "wire:é",
    "nothing": "wire:",
    "a role": "role:sent",
    "a zero-width space": "a\u200bb",
    "a line feed": "wire:a%0A",
    "a carriage return": "wire:a%0D",
    "NUL": "wire:a%00",
}


@pytest.mark.parametrize("text", REFUSED.values(), ids=REFUSED)
@pytest.mark.parametrize("utf8", [False, True])
def test_a_name_that_no_list_shows_is_refused(text: str, utf8: bool) -> None:
    with pytest.raises(ValueError, match="folder name"):
        to_wire(FolderName(text), utf8=utf8)


@pytest.mark.parametrize("wire", [b"a\rb", b"a\nb", b"a\0b"])
def test_a_name_with_a_line_end_is_shown_but_never_sent(wire: bytes) -> None:
    name = of_wire(wire)
    assert name.text.startswith("wire:a%")
    with pytest.raises(ValueError, match="NUL, CR or LF"):
        to_wire(name)


@pytest.mark.parametrize("wire", [b"", b"x" * (FOLDER_NAME_MAX + 1), b"\xff" * 400])
def test_an_empty_or_too_long_name_has_no_form(wire: bytes) -> None:
    with pytest.raises(ValueError, match="folder name"):
        of_wire(wire)


def test_a_name_whose_octets_are_too_many_is_refused() -> None:
    with pytest.raises(ValueError, match="too long"):
        to_wire(FolderName("&" * 501))
    assert len(to_wire(FolderName("&" * 500))) == FOLDER_NAME_MAX


# Octets as servers send them, and everything else: near misses of the encoding are the likely trouble.
WIRES = st.binary(min_size=1, max_size=40) | st.text("&-,+/AaEwP3%: \tü", min_size=1, max_size=40).map(str.encode)


@given(WIRES, st.booleans())
@example(b"&", True)
@settings(max_examples=500, derandomize=True, deadline=None)
def test_every_folder_is_reached_by_the_name_it_is_shown_under(wire: bytes, utf8: bool) -> None:
    name = of_wire(wire, utf8=utf8)
    if any(octet in wire for octet in b"\0\r\n"):
        return  # shown, and refused above
    assert to_wire(name, utf8=utf8) == (b"INBOX" if wire.upper() == b"INBOX" else wire)


@given(st.text(min_size=1, max_size=40), st.booleans())
@example("ROLE:sent", False)
@settings(max_examples=500, derandomize=True, deadline=None)
def test_every_name_that_is_sent_is_shown_under_that_name(text: str, utf8: bool) -> None:
    try:
        name = FolderName(text)
        wire = to_wire(name, utf8=utf8)
    except ValueError:
        return
    assert of_wire(wire, utf8=utf8) == name


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
@settings(max_examples=300, derandomize=True, deadline=None)
def test_modified_utf7_agrees_with_its_definition(text: str) -> None:
    wire = encode(text)
    assert decode(wire) == text
    assert all(0x20 <= octet <= 0x7E for octet in wire)
    for run in wire.decode().split("&")[1:]:
        shifted = run.partition("-")[0].replace(",", "/")
        assert base64.b64encode(base64.b64decode(shifted + "=" * (-len(shifted) % 4))).decode().rstrip("=") == shifted
