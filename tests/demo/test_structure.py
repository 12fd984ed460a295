"""MIME trees, sections of them, BODYSTRUCTURE and ENVELOPE."""

from __future__ import annotations

import pytest

from mailgate.demo.bodystructure import body_structure, envelope
from mailgate.demo.fetch import Section, section_octets
from mailgate.demo.structure import MAX_DEPTH, parse_structure, split_multipart

NESTED = (
    b"From: a@example.org\r\nContent-Type: multipart/mixed; boundary=out\r\n\r\npreamble\r\n"
    b"--out\r\nContent-Type: multipart/alternative; boundary=in\r\n\r\n"
    b"--in\r\n\r\nplain\r\n--in\r\nContent-Type: text/html\r\n\r\n<p>\r\n--in--\r\n\r\n"
    b"--out\r\nContent-Type: message/rfc822\r\n\r\nSubject: inner\r\n\r\ninner body\r\n"
    b'--out\r\nContent-Type: image/png; name*0="a"; name*1="b.png"\r\nContent-Transfer-Encoding: BASE64\r\n'
    b'Content-Disposition: attachment; filename="x y.png"\r\n\r\nAAAA\r\n--out--\r\nepilogue\r\n'
)


@pytest.mark.parametrize(
    ("path", "text", "octets"),
    [
        ((1, 1), "", b"plain"),
        ((1, 2), "", b"<p>"),
        ((1, 2), "MIME", b"Content-Type: text/html\r\n\r\n"),
        ((2,), "", b"Subject: inner\r\n\r\ninner body"),
        ((2,), "HEADER", b"Subject: inner\r\n\r\n"),
        ((2,), "TEXT", b"inner body"),
        ((2, 1), "", b"inner body"),
        ((3,), "", b"AAAA"),
        ((4,), "", b""),
        ((3, 1), "", b""),
        ((1, 1), "HEADER", b""),
    ],
)
def test_part_numbers_reach_their_part(path: tuple[int, ...], text: str, octets: bytes) -> None:
    assert section_octets(Section(path, text), NESTED) == octets


def test_body_structure_of_a_nested_message() -> None:
    assert body_structure(parse_structure(NESTED), extended=True) == (
        b'((("text" "plain" ("charset" "us-ascii") NIL NIL "7bit" 5 0 NIL NIL NIL NIL)'
        b'("text" "html" ("charset" "us-ascii") NIL NIL "7bit" 3 0 NIL NIL NIL NIL)'
        b' "alternative" ("boundary" "in") NIL NIL NIL)'
        b'("message" "rfc822" NIL NIL NIL "7bit" 28 (NIL "inner" NIL NIL NIL NIL NIL NIL NIL NIL) '
        b'("text" "plain" ("charset" "us-ascii") NIL NIL "7bit" 10 0 NIL NIL NIL NIL) 2 NIL NIL NIL NIL)'
        b'("image" "png" ("name" "ab.png") NIL NIL "base64" 4 NIL ("attachment" ("filename" "x y.png")) NIL NIL)'
        b' "mixed" ("boundary" "out") NIL NIL NIL)'
    )


def test_body_has_no_extension_data() -> None:
    assert body_structure(parse_structure(b"\r\nx\r\n"), extended=False) == (
        b'("text" "plain" ("charset" "us-ascii") NIL NIL "7bit" 3 1)'
    )


def test_an_envelope_repeats_from_where_sender_and_reply_to_are_missing() -> None:
    raw = b'From: "Doe, Jane" <jane@example.org>\r\nTo: a@example.org, B <b@example.net>\r\nSubject: "x"\r\n\r\n'
    jane = b'(("Doe, Jane" NIL "jane" "example.org"))'
    assert envelope(parse_structure(raw)) == (
        b'(NIL "\\"x\\"" %b %b %b ((NIL NIL "a" "example.org")("B" NIL "b" "example.net")) NIL NIL NIL NIL)'
        % (jane, jane, jane)
    )


def test_a_part_without_its_closing_boundary_runs_to_the_end() -> None:
    assert split_multipart(b"--b\r\n\r\none\r\n--b\r\n\r\ntwo\r\n", b"b") == [b"\r\none", b"\r\ntwo\r\n"]


def test_a_line_that_only_begins_like_a_boundary_separates_nothing() -> None:
    assert split_multipart(b"--b\r\n\r\n--bb\r\n--b--\r\n", b"b") == [b"\r\n--bb"]


def test_nesting_is_bounded() -> None:
    raw = b"".join(
        b"Content-Type: multipart/mixed; boundary=b%d\r\n\r\n--b%d\r\n" % (level, level) for level in range(5000)
    )
    part, depth = parse_structure(raw), 0
    while part.children:
        part, depth = part.children[0], depth + 1
    assert depth == MAX_DEPTH


@pytest.mark.parametrize("raw", [b"", b"\r\n", b"\n", b":", b"Content-Type: multipart/mixed", b"\0\xff" * 50, b"a: b"])
def test_any_octets_are_a_message(raw: bytes) -> None:
    assert body_structure(parse_structure(raw), extended=True).startswith(b"(")


@pytest.mark.parametrize(
    ("parameters", "shown"),
    [
        (b'name*0="a"; name*1="b.png"', b'("name" "ab.png")'),
        (b'name*1="b.png"; name*0="a"', b'("name" "ab.png")'),
        (b'name*0="kept"; name*2="lost"', b'("name" "kept")'),
        (b"name*0*=utf-8''%E2%98%83; name*1=.100%41", b'("name*" "utf-8\'\'%E2%98%83.100%2541")'),
    ],
)
def test_pieces_of_a_parameter_are_joined_up_to_a_gap_and_a_plain_percent_sign_stays_one(
    parameters: bytes, shown: bytes
) -> None:
    structure = body_structure(parse_structure(b"Content-Type: image/png; " + parameters + b"\r\n\r\nx"), extended=True)
    assert structure.startswith(b'("image" "png" ' + shown)
