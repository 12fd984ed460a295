"""Content-Transfer-Encoding."""

import base64
import quopri

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mailgate.mime.transfer import (
    BLOCK,
    TransferState,
    decode_up_to,
    decoded_blocks,
    decoded_size,
    estimated_size,
    least_decoded,
)


def decoded(source: bytes, encoding: str) -> bytes:
    return decode_up_to(source, 0, len(source), encoding, 1 << 30).data


@pytest.mark.parametrize("label", ["base64", "BASE64", "base64 ", ' "base64" '])
def test_an_encoding_label_is_read_without_case_blanks_and_quotes(label: str) -> None:
    assert decoded(b"aGVsbG8=", label) == b"hello"


@pytest.mark.parametrize(
    ("source", "data"),
    [
        (b"aGVs\r\nbG8=\r\n", b"hello"),
        (b"aGVsbG8", b"hello"),
        (b"a G\tV-s*b!G8=", b"hello"),
        (b"aGk=\r\naGk=\r\n", b"hihi"),
        (b"aGk=\r\n_____\r\nmailing list footer\r\n", b"hi"),
        (b"aGkhA", b"hi!"),
        (b"====", b""),
        (b"", b""),
    ],
    ids=["lines", "no padding", "noise", "padded pieces", "footer", "a digit too many", "padding only", "empty"],
)
def test_base64_in_any_state_gives_what_can_be_decoded(source: bytes, data: bytes) -> None:
    assert decoded(source, "base64") == data


def test_damaged_base64_is_never_handed_back_as_content() -> None:
    source = b"!!! not base64 at all ???"
    result = decode_up_to(source, 0, len(source), "base64", 100)
    assert b"not" not in result.data
    assert result.state.damaged


@settings(derandomize=True, max_examples=30, deadline=None)
@given(st.integers(0, 3 * BLOCK), st.sampled_from([b"\r\n", b"\n", b"  \r\n"]))
def test_base64_across_blocks_equals_the_original(size: int, line_end: bytes) -> None:
    data = bytes(index * 7 % 256 for index in range(size))
    source = line_end.join(base64.encodebytes(data).split(b"\n"))
    assert decoded(source, "base64") == data
    assert decoded_size(source, 0, len(source), "base64")[0] == size


@pytest.mark.parametrize(
    ("source", "data"),
    [
        (b"a=C3=A9b", "aéb".encode()),
        (b"soft=\r\nbreak", b"softbreak"),
        (b"soft= \t\r\nbreak", b"softbreak"),
        (b"blanks  \r\nend", b"blanks\r\nend"),
        (b"bad =ZZ and =4", b"bad =ZZ and =4"),
        (b"lower =c3=a9", "lower é".encode()),
    ],
)
def test_quoted_printable_with_damage_keeps_the_rest(source: bytes, data: bytes) -> None:
    assert decoded(source, "quoted-printable") == data


def test_quoted_printable_is_cut_into_blocks_only_at_line_ends() -> None:
    data = b"\xe9=" * BLOCK + b"\r\n" + b"x" * BLOCK
    source = quopri.encodestring(data)
    blocks = list(decoded_blocks(source, 0, len(source), "quoted-printable", TransferState()))
    assert len(blocks) > 1
    assert b"".join(blocks).replace(b"\r\n", b"\n") == data.replace(b"\r\n", b"\n")


def test_an_unknown_encoding_is_given_as_it_stands_and_reported() -> None:
    result = decode_up_to(b"xx body xx", 3, 7, "x-yencode", 100)
    assert (result.data, result.state.unknown) == (b"body", True)


def test_no_more_is_decoded_than_the_limit_and_one_block() -> None:
    source = base64.encodebytes(bytes(1 << 20))
    result = decode_up_to(source, 0, len(source), "base64", 1000)
    assert (len(result.data), result.cut) == (1000, True)


def test_exactly_the_limit_is_not_cut() -> None:
    assert not decode_up_to(b"abcd", 0, 4, "7bit", 4).cut
    assert decode_up_to(b"abcde", 0, 5, "7bit", 4).cut


@given(st.binary(max_size=4000), st.sampled_from(["base64", "quoted-printable", "7bit", "x-uuencode", "x-odd"]))
def test_a_size_worked_out_from_encoded_octets_is_never_far_off(data: bytes, encoding: str) -> None:
    encoders = {"base64": base64.encodebytes, "quoted-printable": quopri.encodestring}
    encoded = encoders[encoding](data).replace(b"\n", b"\r\n").removesuffix(b"\r\n") if encoding in encoders else data
    octets = len(encoded)
    guess = estimated_size(octets, encoding)
    if encoding == "base64":
        assert guess is not None
        assert len(data) <= guess <= len(data) + 2
    else:
        assert guess == (octets if encoding == "7bit" else None)


@pytest.mark.parametrize(("name", "octets"), [("base64", 60), ("quoted-printable", 33), ("identity", 100), (None, 100)])
def test_what_is_encoded_has_a_least_size(name: str | None, octets: int) -> None:
    assert least_decoded(100, name) >= octets
    assert least_decoded(len(base64.encodebytes(bytes(3000))), "base64") <= 3000
