"""Whatever a sender does to a text on its way, it comes back; whatever octets come, reading ends well."""

from __future__ import annotations

import base64
import binascii
import hashlib
import quopri
from collections.abc import Callable
from datetime import datetime
from itertools import pairwise
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mailgate.errors import AttachmentTooLarge
from mailgate.limits import MIME_PARTS_MAX, TEXT_BYTES_MAX
from mailgate.mime.charsets import codec_of, decode
from mailgate.mime.dates import parse_date
from mailgate.mime.encoded_words import decode_words
from mailgate.mime.model import ParsedMessage, RawMessage
from mailgate.mime.parameters import parse_parameters
from mailgate.mime.parse import extract_attachment
from mailgate.mime.transfer import decode_up_to
from tests.mime.messages import codes, html, multipart, part, read, text

LATIN = "Grüße aus München, für 5 Äpfel"
CYRILLIC = "Привет из Москвы, пять яблок"
JAPANESE = "お世話になります。契約書 カタカナ"
CHINESE = "您好，附件是合同。谢谢"
TRADITIONAL = "您好，附件是合約。謝謝"
KOREAN = "안녕하세요 계약서입니다"
CHARSETS: dict[str, tuple[str, str]] = {
    "us-ascii": ("ascii", "plain words, 7 bits"),
    "utf-8": ("utf-8", LATIN + CYRILLIC + JAPANESE + CHINESE + KOREAN + "😀"),
    "UTF8": ("utf-8", LATIN + JAPANESE),
    "utf-16": ("utf-16", LATIN + JAPANESE),
    "utf-16le": ("utf-16-le", LATIN + CYRILLIC),
    "utf-16be": ("utf-16-be", LATIN + CYRILLIC),
    "utf-32": ("utf-32", LATIN + JAPANESE),
    "iso-8859-1": ("cp1252", LATIN + "“€”"),
    "iso-8859-2": ("iso8859-2", "Dzień dobry, ąćęłńóśźż"),
    "iso-8859-5": ("iso8859-5", CYRILLIC),
    "iso-8859-7": ("iso8859-7", "Καλημέρα σας"),
    "iso-8859-8-i": ("iso8859-8", "שלום רב"),
    "iso-8859-9": ("cp1254", "Teşekkürler, iyi çalışmalar"),
    "iso-8859-15": ("iso8859-15", "café à 5 €"),
    "windows-1250": ("cp1250", "Dzień dobry, ąćęłńóśźż"),
    "cp-1251": ("cp1251", CYRILLIC),
    "x-windows-1252": ("cp1252", LATIN),
    "windows-1256": ("cp1256", "السلام عليكم"),
    "tis-620": ("cp874", "เรียนท่านลูกค้า"),
    "koi8-r": ("koi8-r", CYRILLIC),
    "koi8-u": ("koi8-u", "Привіт, їжак"),
    "x-mac-roman": ("mac-roman", "Grüße “é”"),
    "gb2312": ("gbk", CHINESE + "镕"),
    "gbk": ("gb18030", CHINESE),
    "gb18030": ("gb18030", CHINESE + "😀"),
    "hz-gb-2312": ("hz", CHINESE.replace("，", "")),
    "big5": ("big5", TRADITIONAL),
    "ks_c_5601-1987": ("cp949", KOREAN + "똠"),
    "euc-kr": ("euc_kr", KOREAN),
    "iso-2022-kr": ("iso2022_kr", KOREAN),
    "shift_jis": ("cp932", JAPANESE + "①"),
    "euc-jp": ("euc_jp", JAPANESE),
    "iso-2022-jp": ("iso2022_jp", JAPANESE),
}


def in_base64(data: bytes, width: int) -> bytes:
    encoded = base64.b64encode(data)
    return b"\r\n".join(encoded[at : at + width] for at in range(0, len(encoded), width))


def in_quoted_printable(data: bytes, width: int) -> bytes:
    """Every octet escaped or not by turns, soft breaks anywhere between them."""
    pieces = [
        bytes((octet,)) if octet in b"abcdefghi" and index % width else b"=%02X" % octet
        for index, octet in enumerate(data)
    ]
    return b"=\r\n".join(b"".join(pieces[at : at + width]) for at in range(0, len(pieces), width))


def in_uuencode(data: bytes, width: int) -> bytes:
    size = min(45, width)
    lines = b"".join(binascii.b2a_uu(data[at : at + size]) for at in range(0, len(data), size))
    return b"begin 644 text.txt\n" + lines + b"`\nend\n"


TRANSFERS: dict[str, Callable[[bytes, int], bytes]] = {
    "8bit": lambda data, _: data,
    "base64": in_base64,
    "BASE64 ": in_base64,
    "quoted-printable": in_quoted_printable,
    "Quoted-Printable": lambda data, _: quopri.encodestring(data),
    "x-uuencode": in_uuencode,
}

labels = st.sampled_from(sorted(CHARSETS))


@st.composite
def texts(draw: st.DrawFn) -> tuple[str, str, str]:
    """A label, the codec its senders use, and a text of one line in it."""
    label = draw(labels)
    codec, sample = CHARSETS[label]
    return label, codec, draw(st.text(sorted(set(sample)), min_size=1, max_size=60))


@settings(derandomize=True, max_examples=250, deadline=None)
@given(texts(), st.sampled_from(sorted(TRANSFERS)), st.integers(1, 100))
def test_any_text_in_any_charset_and_transfer_encoding_comes_back(
    made: tuple[str, str, str], transfer: str, width: int
) -> None:
    label, codec, words = made
    body = TRANSFERS[transfer](words.encode(codec), width)
    source = part(body, f"Content-Type: text/plain; charset={label}", f"Content-Transfer-Encoding: {transfer}")
    message = read(source)
    assert message.text.text == words.rstrip()
    assert codes(message) <= {"no_text"}


@settings(derandomize=True, max_examples=250, deadline=None)
@given(texts(), st.lists(st.integers(0, 400), max_size=6), st.lists(st.booleans(), min_size=7, max_size=7))
def test_encoded_words_split_at_any_octet_come_back(
    made: tuple[str, str, str], cuts: list[int], in_b: list[bool]
) -> None:
    label, codec, words = made
    octets = words.encode(codec)
    places = sorted({min(cut, len(octets)) for cut in cuts} | {0, len(octets)})
    pieces = [octets[at:to] for at, to in pairwise(places)]
    encoded = [
        f"=?{label}?b?{base64.b64encode(piece).decode()}?="
        if as_b
        else f"=?{label.upper()}?Q?{''.join(f'={octet:02x}' for octet in piece)}?="
        for piece, as_b in zip(pieces, in_b, strict=False)
    ]
    decoded = decode_words("before " + "\r\n ".join(encoded) + " after")
    assert decoded.text == f"before {words} after"
    assert decoded.problem is None


@pytest.mark.parametrize(
    "words",
    [
        "=?utf-8?B?R3LD?= =?utf-8?B?vMOf?= =?utf-8?B?ZQ==?=",
        "=?utf-8?B?R3LDv?= =?utf-8?B?MOfZQ==?=",
        "=?utf-8?B?R3LDvM?= =?UTF8?B?OfZ?= =?utf-8?B?Q?=",
        "=?utf-8?Q?Gr=C?= =?utf-8?Q?3=BC=?= =?utf-8?Q?C3=9Fe?=",
        "=?utf-8?Q?Gr=C3?= =?utf-8?B?vMOfZQ==?=",
        "=?utf-8?B?R3LDvMOf\r\n ZQ==?=",
        "=?utf-8?Q?Gr=C3?==?utf-8?Q?=BC=C3=9Fe?=",
        "=?utf-8?Q?Gr=c3=bc=c3=9fe?=",
    ],
)
def test_encoded_words_cut_within_their_encoding_come_back(words: str) -> None:
    assert decode_words(words).text == "Grüße"


@settings(derandomize=True, max_examples=150, deadline=None)
@given(
    texts(), st.lists(st.integers(0, 400), max_size=5), st.lists(st.booleans(), min_size=6, max_size=6), st.booleans()
)
def test_a_parameter_in_any_mixture_of_pieces_comes_back(
    made: tuple[str, str, str], cuts: list[int], plain: list[bool], shuffled: bool
) -> None:
    label, codec, words = made
    octets = words.encode(codec)
    places = sorted({min(cut, len(octets)) for cut in cuts} | {0, len(octets)})
    pieces = [octets[at:to] for at, to in pairwise(places)]
    fields = []
    for number, piece in enumerate(pieces):
        start = f"{label}'en'" if number == 0 else ""
        # A piece may go unescaped where it is letters and digits, but the first, which names the charset.
        if number and plain[number] and piece.isalnum() and piece.isascii():
            fields.append(f'name*{number}="{piece.decode()}"')
        else:
            fields.append(f"name*{number}*={start}{quote(piece, safe='')}")
    parsed = parse_parameters("a/b; " + "; ".join(reversed(fields) if shuffled else fields))
    assert parsed.parameters["name"] == words


@settings(derandomize=True, max_examples=150, deadline=None)
@given(st.text(max_size=200))
def test_any_value_with_parameters_is_read(value: str) -> None:
    for name in parse_parameters(value).parameters.values():
        name.encode("utf-8", "surrogatepass")


NOISE = st.sampled_from([b"", b" ", b"\r\n", b"\t", b"\x00", b"!", b"\xff", b"-", b"\r\n\r\n"])


@settings(derandomize=True, max_examples=150, deadline=None)
@given(st.binary(max_size=600), st.lists(NOISE, min_size=1, max_size=9), st.sampled_from([60, 64, 72, 76]))
def test_base64_with_noise_within_its_lines_comes_back(data: bytes, noise: list[bytes], width: int) -> None:
    encoded = base64.b64encode(data)
    lines = [encoded[at : at + width] for at in range(0, len(encoded), width)]
    # One stray octet a line, as transport leaves them.
    noisy = [
        line[:30] + noise[index % len(noise)] + line[30:] for index, line in enumerate(lines) if len(line) == width
    ]
    source = b"\r\n".join([*noisy, *lines[len(noisy) :]])
    assert decode_up_to(source, 0, len(source), "base64", 10_000).data == data


TEXT_LINES = st.sampled_from(
    [
        b"This is an attachment that a gateway wrote about.",
        b"--",
        b"_______________________________________________",
        b"To unsubscribe, write to list-request@lists.example",
        b"http://lists.example/mailman/listinfo/users",
        b"Kind regards from all of us at the list",
        b"",
    ]
)


@settings(derandomize=True, max_examples=150, deadline=None)
@given(st.binary(min_size=60, max_size=600), st.lists(TEXT_LINES, max_size=3), st.lists(TEXT_LINES, max_size=4))
def test_lines_of_other_text_around_base64_are_no_content(data: bytes, before: list[bytes], after: list[bytes]) -> None:
    source = b"\r\n".join([*before, in_base64(data, 76), *after])
    result = decode_up_to(source, 0, len(source), "base64", 10_000)
    assert result.data == data
    assert result.state.damaged == any(line for line in before + after)


@settings(derandomize=True, max_examples=150, deadline=None)
@given(st.lists(st.binary(min_size=1, max_size=80), min_size=1, max_size=6))
def test_base64_with_padding_in_the_middle_comes_back(pieces: list[bytes]) -> None:
    source = b"\r\n".join(map(base64.b64encode, pieces))
    assert decode_up_to(source, 0, len(source), "base64", 10_000).data == b"".join(pieces)


@settings(derandomize=True, max_examples=150, deadline=None)
@given(st.binary(max_size=300))
def test_base64_without_its_padding_comes_back(data: bytes) -> None:
    source = base64.b64encode(data).rstrip(b"=")
    assert decode_up_to(source, 0, len(source), "base64", 10_000).data == data


@settings(derandomize=True, max_examples=250, deadline=None)
@given(st.text("abc =\r\n\tXéZ0Aa4", max_size=200))
def test_quoted_printable_in_any_state_loses_no_word(body: str) -> None:
    source = body.encode()
    decoded = decode_up_to(source, 0, len(source), "quoted-printable", 10_000).data
    # Neither a bad escape nor a lone line end takes anything with it: letters that are no hex digits all stay.
    for letter in b"XZ":
        assert decoded.count(letter) >= source.count(letter)


LABELS = st.one_of(st.none(), st.sampled_from([*CHARSETS, "bogus", "utf-7", "hex", "idna", ""]), st.text(max_size=30))


@settings(derandomize=True, max_examples=200, deadline=None)
@given(st.binary(max_size=400), LABELS, st.booleans())
def test_any_octets_under_any_label_are_text(data: bytes, label: str | None, whole: bool) -> None:
    text = decode(data, label, whole=whole).text
    assert len(text) <= 2 * len(data) + 2


@settings(derandomize=True, max_examples=150, deadline=None)
@given(st.text(max_size=50))
def test_any_label_leads_to_a_charset_of_the_list_or_to_none(label: str) -> None:
    codec = codec_of(label)
    assert codec is None or isinstance(b"".decode(codec), str)


@settings(derandomize=True, max_examples=200, deadline=None)
@given(st.text(max_size=80) | st.text("0123456789 :+-()JanFebMonGMTZ,.", max_size=60))
def test_any_date_is_a_moment_with_an_offset_or_none(text: str) -> None:
    date = parse_date(text)
    assert date is None or datetime.fromisoformat(date).tzinfo is not None


# --- whole messages --------------------------------------------------------------------------------------------

FIELDS = st.sampled_from(
    [
        "Content-Type: text/plain; charset=utf-16",
        "Content-Type: text/plain; format=flowed; delsp=yes",
        "Content-Type: text/html",
        "Content-Type: text/html; charset=iso-2022-jp",
        "Content-Type: multipart/mixed; boundary=b",
        "Content-Type: multipart/alternative; boundary=b",
        "Content-Type: multipart/related; boundary=b; start=x",
        "Content-Type: multipart/signed; boundary=b",
        "Content-Type: multipart/digest; boundary=b",
        "Content-Type: message/rfc822",
        "Content-Type: application/pkcs7-mime",
        "Content-Transfer-Encoding: base64",
        "Content-Transfer-Encoding: quoted-printable",
        "Content-Transfer-Encoding: x-uuencode",
        "Content-Disposition: attachment; filename*0*=utf-16''%ff; filename*1=x",
        "Content-ID: <x>",
        "Subject: =?utf-16?B?/v8=?=",
        "From: \x00 <<>>, ((",
        "Date: Fri, 1 Jan 9999999999 00:00:00 +9999",
    ]
)
BODIES = st.one_of(
    st.binary(max_size=200),
    st.sampled_from([b"--b\r\n", b"--b--\r\n", b"begin 644 x\n", b"<p>", b"=\r\n", b"> \n", b"\x1b$B", b"\r", b"\x00"]),
)


@st.composite
def sources(draw: st.DrawFn) -> bytes:
    fields = draw(st.lists(FIELDS, max_size=4))
    body = b"".join(draw(st.lists(BODIES, max_size=8)))
    inner = part(body, *draw(st.lists(FIELDS, max_size=3)))
    return part(b"--b\r\n" + inner if draw(st.booleans()) else body, *fields)


def assert_sound(message: ParsedMessage) -> None:
    """Valid UTF-8 within bounds, whatever came in."""
    assert len(message.text.text.encode("utf-8")) <= TEXT_BYTES_MAX
    assert len(message.attachments) <= MIME_PARTS_MAX
    for info in message.attachments:
        assert len((info.filename or "").encode("utf-8")) <= 4 * 200
        (info.content_id or "").encode("utf-8")
        assert info.content_type.isascii()


@settings(derandomize=True, max_examples=200, deadline=None)
@given(sources(), st.booleans())
def test_any_octets_in_any_part_are_read_and_every_part_can_be_had(source: bytes, truncated: bool) -> None:
    message = read(source, truncated=truncated)
    assert_sound(message)
    assert "part_unreadable" not in codes(message)
    for info in message.attachments:
        try:
            found = extract_attachment(RawMessage(source, truncated), info.index)
        except AttachmentTooLarge:
            assert info.size is None
            continue
        assert (found.info, len(found.data)) == (info, info.size)


# --- attachments keep their index ------------------------------------------------------------------------------

KINDS = ("mixed", "alternative", "related", "signed", "x-other")


@st.composite
def trees(draw: st.DrawFn, depth: int = 2) -> tuple[list[bytes], ...] | bytes | tuple[str, list[object]]:
    """A structure whose leaves are marks: `P` plain, `H` HTML, and octets for files."""
    if depth == 0 or draw(st.integers(0, 3)) == 0:
        return draw(st.sampled_from([b"P", b"H"]) | st.binary(min_size=2, max_size=40))
    children: list[object] = [draw(trees(depth - 1)) for _ in range(draw(st.integers(1, 4)))]
    return draw(st.sampled_from(KINDS)), children


def built(tree: object, plain: str, rich: str, files: list[bytes], path: str = "b") -> bytes:
    if tree == b"P":
        return text(plain)
    if tree == b"H":
        return html(rich)
    if isinstance(tree, bytes):
        files.append(tree)
        return part(base64.b64encode(tree), "Content-Type: a/b", "Content-Transfer-Encoding: base64")
    assert isinstance(tree, tuple)
    kind, children = tree
    parts = [built(child, plain, rich, files, f"{path}-{index}") for index, child in enumerate(children)]
    return multipart(kind, parts, boundary=path)


@settings(derandomize=True, max_examples=40, deadline=None)
@given(trees())
def test_an_index_names_one_part_whatever_the_texts_say(tree: object) -> None:
    listings = []
    for plain, rich in [("plain words", "<p>plain words</p>"), ("", "<p>rich</p>"), ("view in browser", "<p>x</p>")]:
        files: list[bytes] = []
        source = built(tree, plain, rich, files)
        message = read(source)
        listings.append([(info.index, info.content_type, info.disposition) for info in message.attachments])
        found = [extract_attachment(RawMessage(source), info.index) for info in message.attachments]
        assert [one.info for one in found] == list(message.attachments)
        kept = [hashlib.sha256(one.data).digest() for one in found if one.info.content_type == "a/b"]
        assert kept == [hashlib.sha256(data).digest() for data in files]
    assert listings[0] == listings[1] == listings[2]


@settings(derandomize=True, max_examples=40, deadline=None)
@given(trees(), st.integers(0, 3000))
def test_a_cut_source_keeps_the_index_of_what_is_whole(tree: object, length: int) -> None:
    source = built(tree, "plain", "<p>plain</p>", [])
    if length >= len(source):
        return
    whole = {info.index: info for info in read(source).attachments}
    cut = RawMessage(source[:length], truncated=True)
    for info in read(cut.prefix, truncated=True).attachments:
        if info.size is not None:
            assert extract_attachment(cut, info.index).info == info
            if info.content_type == "a/b":
                assert whole[info.index].size == info.size
