"""Octets to text by the charset that a message names (RFC 2046, 4.1.2), without trusting the name.

Labels that senders use for a superset are read as that superset, as mail programs do. Only codecs on a list are ever
used: UTF-7 can smuggle markup, and Python also knows codecs that are no charsets at all.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from enum import Enum
from typing import Final

from mailgate.mime.charset_guess import by_letters, by_signs, utf16_order
from mailgate.mime.iso2022 import decode_japanese


class CharsetProblem(Enum):
    """What was wrong with a label or with the octets under it."""

    UNKNOWN = "unknown"
    DAMAGED = "damaged"
    GUESSED = "guessed"


@dataclass(frozen=True, slots=True)
class Decoded:
    """Text, and what went wrong on the way to it."""

    text: str
    problem: CharsetProblem | None = None


_NAMES: Final = {
    "gb18030": "gb2312 gbk gb231280 gb18030 gb180302000 cp936 windows936 chinese euccn gb2312charset isoir58",
    "hz": "hz hzgb2312 hzgb",
    "big5hkscs": "big5 big5hkscs xbig5 big5eten big5tw cnbig5 cp950 windows950",
    "cp1252": "iso88591 latin1 l1 isoir100 cp1252 ansi iso885911987 isolatin1 westerneuropean 8859 88591",
    "cp1254": "iso88599 latin5 l5 isoir148 isolatin5",
    "cp874": "iso885911 tis620 cp874 windows874",
    "cp949": "ksc5601 ksc56011987 ksc56011989 korean euckr cp949 windows949 uhc isoir149",
    "cp932": "shiftjis sjis mskanji ms932 windows31j cp932 mscp932 sjiswin cp943 ibm943",
    "euc_jp": "eucjp euc eucjpwin cp51932 eucjpms",
    "iso2022_jp_ext": "iso2022jp iso2022jp1 cp50220 cp50221 cp50222 iso2022jpms jis csiso2022jp",
    "iso2022_jp_2": "iso2022jp2",
    "iso2022_jp_2004": "iso2022jp3 iso2022jp2004",
    "iso2022_kr": "iso2022kr",
    "iso8859-8": "iso88598 iso88598i iso88598e logical visual hebrew",
    "iso8859-6": "iso88596 iso88596i iso88596e arabic",
    "mac-roman": "macroman macintosh mac",
    "mac-cyrillic": "maccyrillic macukrainian macukraine",
    "mac-latin2": "macce maccentraleurope maccentraleurroman",
    "mac-iceland": "macicelandic",
    "koi8-r": "koi8r koi8 koi",
    "koi8-u": "koi8u koi8ru",
    "utf-8": "utf8 unicode11utf8 utf8mb4 utf8mb3 cp65001 utf8sig utf8bom",
    "utf-16": "utf16 ucs2 iso10646ucs2 unicode",
    "utf-32": "utf32 ucs4 iso10646ucs4",
    "ascii": "usascii ascii iso646us us cp367 ansix341968 ansix341986 unknown unknown8bit 8bit 7bit default none "
    "null undefinedcharset",
}
"""Labels without their punctuation, by the codec they are read with."""
_CODEC_OF: Final = {name: codec for codec, names in _NAMES.items() for name in names.split()}

_ALLOWED: Final = frozenset(
    {
        *("ascii", "utf-8", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"),
        *(f"iso8859-{number}" for number in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)),
        *(f"cp{number}" for number in (*range(1250, 1259), 437, 737, 775, 850, 852, 855, 857, 858, 860, 861, 862)),
        *(f"cp{number}" for number in (863, 864, 865, 866, 869, 874, 932, 949, 950, 1125)),
        *("koi8-r", "koi8-u", "koi8-t", "kz1048", "ptcp154", "johab"),
        *("gb18030", "hz", "big5", "big5hkscs", "euc_jp", "euc_jis_2004", "euc_jisx0213"),
        *("shift_jis", "shift_jis_2004", "shift_jisx0213", "iso2022_kr"),
        *(f"iso2022_jp{suffix}" for suffix in ("", "_1", "_2", "_2004", "_3", "_ext")),
        *("mac-roman", "mac-cyrillic", "mac-greek", "mac-latin2", "mac-turkish", "mac-iceland", "hp-roman8"),
    }
)
_LABEL: Final = re.compile(r"[a-z0-9][a-z0-9._:+-]{0,39}")
_NOT_NAME: Final = re.compile(r"[^a-z0-9]")
_PAGE: Final = re.compile(r"(?:windows|win|cp|ibm|oem|dos|microsoftcp)(\d{3,5})")
MARK: Final = "\ufeff"
"""The byte order mark, as a character."""
_WIDE: Final = {"utf-16": 2, "utf-16-le": 2, "utf-16-be": 2, "utf-32": 4, "utf-32-le": 4, "utf-32-be": 4}
# RFC 3629, 4, loosely: enough to see that octets were meant as UTF-8.
_UTF8_SEQUENCE: Final = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")

_LATIN: Final = frozenset({"cp1252"})
"""The label that programs write which know no other."""
_WEIGHED: Final = 8 * 1024
_SEQUENCES_MIN: Final = 2
_BEYOND_MIN: Final = 16
_TAG: Final = re.compile(rb"<[A-Za-z/!][^<>]{0,500}>")
_BEYOND: Final = re.compile(rb"[\x80-\xff]")
_ASCII_LETTER: Final = re.compile(rb"[A-Za-z]")


def codec_of(label: str) -> str | None:
    """The Python codec for a charset label, or None for one that is unknown or refused.

    Case, punctuation, quotes and blanks around it, a leading `x-` or `cs`, and an RFC 2231 language suffix do not
    matter.
    """
    name = label[:100].strip(" \t\"';").lower().partition("*")[0]
    # codecs.lookup imports a module by the name it is given: only plain labels get that far.
    if not _LABEL.fullmatch(name):
        return None
    for spelling in (name, re.sub(r"^(?:x-|x-x-|cs)", "", name)):
        plain = _NOT_NAME.sub("", spelling)
        page = _PAGE.fullmatch(plain)
        found = _CODEC_OF.get(plain) or _known(f"cp{page[1]}" if page else spelling)
        if found:
            return found
    return None


def _known(name: str) -> str | None:
    try:
        canonical = codecs.lookup(name).name.replace("mac_", "mac-")
    except (LookupError, ValueError):
        return None
    superset = _CODEC_OF.get(_NOT_NAME.sub("", canonical), canonical)
    return superset if superset in _ALLOWED else None


def decode(data: bytes, label: str | None, *, whole: bool = True) -> Decoded:
    """Text of the octets under a label; never fails.

    No label, or `us-ascii` over 8-bit octets: UTF-8, and what the octets look like where they are none (`GUESSED`). An
    unknown or refused label: the same, with `UNKNOWN`. Octets that do not fit a known label: `DAMAGED`, and `GUESSED`
    where they are not UTF-8 at all under its name. The mark of UTF-16 and UTF-32 is no text.
    `whole=False`: half a character at the end is dropped in silence, the octets were cut off there.
    """
    # RFC 2046, 4.1.2: the default is US-ASCII.
    codec = "ascii" if not label or not label.strip() else codec_of(label)
    if codec is None:
        return Decoded(_guess(data, whole).text, CharsetProblem.UNKNOWN)
    if codec == "ascii":
        return _guess(data, whole)
    codec = _with_order(data, codec)
    if codec in _LATIN and (wrong := _not_latin(data, whole)):
        return wrong
    return _strict(data, codec, whole) or _lenient(data, codec, whole)


def _not_latin(data: bytes, whole: bool) -> Decoded | None:
    """Text under a label of Latin letters that is none: every octet beyond ASCII is part of UTF-8, or there are hardly
    any but these and they are another script's."""
    if data.isascii():
        return None
    utf8 = _strict(data, "utf-8", whole)
    if utf8 is not None and len(_UTF8_SEQUENCE.findall(data, 0, _WEIGHED)) >= _SEQUENCES_MIN:
        return Decoded(utf8.text, CharsetProblem.GUESSED)
    sample = _TAG.sub(b"", data[:_WEIGHED])
    beyond = len(_BEYOND.findall(sample))
    if beyond < _BEYOND_MIN or 4 * len(_ASCII_LETTER.findall(sample)) > beyond:
        return None
    codec = by_letters(data)
    if codec in ("cp1252", "cp1250", "cp1254"):
        return None
    found = _strict(data, codec, whole)
    return None if found is None else Decoded(found.text, CharsetProblem.GUESSED)


def _with_order(data: bytes, codec: str) -> str:
    """UTF-16 and UTF-32 with their octet order; a mark beats the label (RFC 2781, 4.3: without one, big-endian)."""
    if codec not in _WIDE:
        return codec
    marked = by_signs(data[:4])
    if marked in _WIDE and _WIDE[marked] == _WIDE[codec]:
        return marked
    if codec == "utf-16":
        return utf16_order(data) or "utf-16-be"
    return "utf-32-be" if codec == "utf-32" else codec


def _strict(data: bytes, codec: str, whole: bool) -> Decoded | None:
    try:
        text = codecs.getincrementaldecoder(codec)("strict").decode(data, final=whole)
    except (UnicodeError, ValueError):
        return None
    return Decoded(_without_order_mark(text, codec))


def _lenient(data: bytes, codec: str, whole: bool) -> Decoded:
    if codec == "cp1252":
        # Five octets are unassigned in Windows-1252; under a label of ISO 8859-1 they are controls, so no damage.
        return Decoded(data.decode("latin-1"))
    if codec == "iso2022_jp_ext":
        text = decode_japanese(data)
        return Decoded(text, CharsetProblem.DAMAGED if "\ufffd" in text else None)
    # A label of UTF-8 over octets without any UTF-8 in them is a wrong label, not damage.
    if codec == "utf-8" and len(data) > 3 and not _UTF8_SEQUENCE.search(data):
        return Decoded(_guess(data, whole).text, CharsetProblem.GUESSED)
    return Decoded(_replaced(data, codec, whole), CharsetProblem.DAMAGED)


def _replaced(data: bytes, codec: str, whole: bool) -> str:
    try:
        text = codecs.getincrementaldecoder(codec)("replace").decode(data, final=whole)
    except (UnicodeError, ValueError):
        return data.decode("latin-1")
    return _without_order_mark(text, codec)


def _without_order_mark(text: str, codec: str) -> str:
    """In UTF-8 there is no order to mark: what a mark means there depends on where it stands."""
    return text.removeprefix(MARK) if codec in _WIDE else text


def _guess(data: bytes, whole: bool) -> Decoded:
    signed = by_signs(data)
    if signed is None:
        decoded = _strict(data, "utf-8", whole)
        if decoded:
            return decoded
        return Decoded(_replaced(data, by_letters(data), whole), CharsetProblem.GUESSED)
    decoded = _strict(data, signed, whole) or _lenient(data, signed, whole)
    certain = signed == "utf-8" and decoded.problem is None
    return decoded if certain else Decoded(decoded.text, CharsetProblem.GUESSED)
