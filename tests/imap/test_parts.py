from __future__ import annotations

import pytest

from mailgate.imap.parts import OutgoingLiteral, text_argument


@pytest.mark.parametrize(
    ("octets", "part"),
    [
        (b"a", b'"a"'),
        (b"", b'""'),
        (b'a "b" \\ {5} )', b'"a \\"b\\" \\\\ {5} )"'),
        (b"x" * 1000, b'"' + b"x" * 1000 + b'"'),
        (b"x" * 1001, OutgoingLiteral(b"x" * 1001)),
        ("é".encode(), OutgoingLiteral("é".encode())),
        (b"a\tb", OutgoingLiteral(b"a\tb")),
        (b"a\r\nb", OutgoingLiteral(b"a\r\nb")),
    ],
)
def test_text_is_quoted_or_a_literal(octets: bytes, part: bytes | OutgoingLiteral) -> None:
    assert text_argument(octets) == part


def test_no_literal_holds_nul() -> None:
    with pytest.raises(ValueError, match="NUL"):
        OutgoingLiteral(b"a\0b")


def test_a_literal_never_shows_its_octets() -> None:
    assert repr(OutgoingLiteral(b"secret")) == "OutgoingLiteral(6 octets)"
