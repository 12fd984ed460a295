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


class CharsetProblem(Enum):
    """What was wrong with a label or with the octets under it."""

    UNKNOWN = "unknown"
    DAMAGED = "damaged"


@dataclass(frozen=True, slots=True)
class Decoded:
    """Text, and what went wrong on the way to it."""

    text: str
    problem: CharsetProblem | None = None


_SUPERSETS: Final = {
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "x-gbk": "gb18030",
    "cp936": "gb18030",
    "windows-936": "gb18030",
    "chinese": "gb18030",
    "hz-gb-2312": "hz",
    "big5": "big5hkscs",
    "big5-hkscs": "big5hkscs",
    "x-x-big5": "big5hkscs",
    "iso-8859-1": "cp1252",
    "iso8859-1": "cp1252",
    "iso_8859-1": "cp1252",
    "iso-ir-100": "cp1252",
    "latin1": "cp1252",
    "latin-1": "cp1252",
    "l1": "cp1252",
    "cp-1252": "cp1252",
    "iso-8859-9": "cp1254",
    "latin5": "cp1254",
    "iso-8859-11": "cp874",
    "tis-620": "cp874",
    "windows-874": "cp874",
    "ks_c_5601": "cp949",
    "ks_c_5601-1987": "cp949",
    "ks_c_5601-1989": "cp949",
    "ksc5601": "cp949",
    "ksc_5601": "cp949",
    "korean": "cp949",
    "euc-kr": "cp949",
    "windows-949": "cp949",
    "shift_jis": "cp932",
    "shift-jis": "cp932",
    "sjis": "cp932",
    "x-sjis": "cp932",
    "ms_kanji": "cp932",
    "ms932": "cp932",
    "windows-31j": "cp932",
    "cswindows31j": "cp932",
    "x-euc-jp": "euc_jp",
    "x-euc": "euc_jp",
    "iso2022jp": "iso2022_jp_ext",
    "iso-2022-jp": "iso2022_jp_ext",
    "iso-2022-jp-1": "iso2022_jp_ext",
    "cp50220": "iso2022_jp_ext",
    "iso-8859-8-i": "iso8859-8",
    "iso-8859-8-e": "iso8859-8",
    "iso-8859-6-i": "iso8859-6",
    "x-mac-roman": "mac_roman",
    "macintosh": "mac_roman",
    "x-mac-cyrillic": "mac_cyrillic",
    "unicode-1-1-utf-8": "utf-8",
    "utf8mb4": "utf-8",
    "x-unknown": "us-ascii",
    "unknown-8bit": "us-ascii",
    "8bit": "us-ascii",
    "default": "us-ascii",
    "ansi_x3.4-1968": "us-ascii",
}

_ALLOWED: Final = frozenset(
    {
        *("ascii", "utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"),
        *(f"iso8859-{number}" for number in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 14, 15, 16)),
        *(f"cp{number}" for number in (*range(1250, 1259), 437, 737, 775, 850, 852, 855, 857, 858, 860, 861, 862)),
        *(f"cp{number}" for number in (863, 864, 865, 866, 869, 874, 932, 949, 950, 1125)),
        *("koi8-r", "koi8-u", "koi8-t", "kz1048", "ptcp154", "tis-620", "johab", "euc_kr"),
        *("gb18030", "gbk", "gb2312", "hz", "big5", "big5hkscs", "euc_jp", "euc_jis_2004", "euc_jisx0213"),
        *("shift_jis", "shift_jis_2004", "shift_jisx0213", "iso2022_kr"),
        *(f"iso2022_jp{suffix}" for suffix in ("", "_1", "_2", "_2004", "_3", "_ext")),
        *("mac-roman", "mac-cyrillic", "mac-greek", "mac-latin2", "mac-turkish", "mac-iceland", "hp-roman8"),
    }
)
_LABEL: Final = re.compile(r"[a-z0-9][a-z0-9._:+-]{0,39}")
_NO_CHARSET: Final = frozenset({"", "ascii"})


def codec_of(label: str) -> str | None:
    """The Python codec for a charset label, or None for one that is unknown or refused.

    Case, quotes and blanks around it, an RFC 2231 language suffix, and underscores do not matter.
    """
    name = label.strip(" \t\"';").lower().partition("*")[0]
    if name in _SUPERSETS:
        name = _SUPERSETS[name]
    # codecs.lookup imports a module by the name it is given: only plain labels get that far.
    if not _LABEL.fullmatch(name):
        return None
    return _known(name) or _known(re.sub(r"^(?:x-|cs)|(?<=^cp)-", "", name))


def _known(name: str) -> str | None:
    try:
        canonical = codecs.lookup(name).name
    except (LookupError, ValueError):
        return None
    canonical = {"mac_roman": "mac-roman", "iso8859-1": "cp1252", "gbk": "gb18030", "gb2312": "gb18030"}.get(
        canonical, canonical
    )
    return canonical if canonical in _ALLOWED else None


def decode(data: bytes, label: str | None, *, whole: bool = True) -> Decoded:
    """Text of the octets under a label; never fails.

    No label, or `us-ascii` over 8-bit octets: UTF-8, then Windows-1252, without complaint, for that is what such mail
    holds. An unknown or refused label: the same, with `UNKNOWN`. Octets that do not fit a known label: `DAMAGED`.
    `whole=False`: half a character at the end is dropped in silence, the octets were cut off there.
    """
    # RFC 2046, 4.1.2: the default is US-ASCII.
    codec = "ascii" if not label or not label.strip() else codec_of(label)
    if codec is None:
        return Decoded(_guess(data, whole), CharsetProblem.UNKNOWN)
    if codec == "ascii":
        return Decoded(data.decode("ascii") if data.isascii() else _guess(data, whole))
    return _strict(data, codec, whole) or _lenient(data, codec)


def _strict(data: bytes, codec: str, whole: bool) -> Decoded | None:
    try:
        return Decoded(codecs.getincrementaldecoder(codec)("strict").decode(data, final=whole))
    except (UnicodeError, ValueError):
        return None


def _lenient(data: bytes, codec: str) -> Decoded:
    if codec == "cp1252":
        # Five octets are unassigned in Windows-1252; under a label of ISO 8859-1 they are controls, so no damage.
        return Decoded(data.decode("latin-1"))
    try:
        return Decoded(data.decode(codec, "replace"), CharsetProblem.DAMAGED)
    except (UnicodeError, ValueError):
        return Decoded(data.decode("latin-1"), CharsetProblem.DAMAGED)


def _guess(data: bytes, whole: bool) -> str:
    decoded = _strict(data, "utf-8", whole)
    return decoded.text if decoded else data.decode("cp1252", "replace")
