"""Which charset octets are in when nobody says so: certain signs first, then the letters that a language uses most.

The choice is small on purpose: what mail is written in, and only where the octets speak clearly. Everything else is
Windows-1252, the code page of most unlabelled mail. At most `_SAMPLE` octets are weighed.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from typing import Final

_SAMPLE: Final = 8 * 1024
_HIGH: Final = re.compile(rb"[\x80-\xff]+")
_NON_LATIN_MIN: Final = 6
"""Octets beyond ASCII below which nothing but Windows-1252 can be told."""
_BOMS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# RFC 1468 and RFC 1557: designations that only these charsets have.
_JAPANESE_ESCAPE: Final = re.compile(rb"\x1b\$[@B]|\x1b\$\(D")
_KOREAN_ESCAPE: Final = b"\x1b$)C"


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A codec with the characters its languages use most, and the share of all that these usually make up."""

    codec: str
    frequent: frozenset[str]
    usual: float


_CYRILLIC: Final = frozenset("оеаинтсрвлкмдпуяыьіз")
_HAN: Final = frozenset(
    "的一是不了在人有我他这這中大来來上国國个個到说說们們为為子和你地出道也时時年得就那要下以生会會自着著去之过過家"
    "学學对對可她里裡后後小么麼心多天而能好都然没沒日于於起还還发發成事只作当當想看文无無开開手十用主行方又如前所"
    "本见見经經头頭面公同三已老从從动動两兩长長知民样樣现現分将將外但身些与與高意进進把法此实實回二理美点點月明"
    "其种種声聲全工己话話儿兒者向情部正名定女问問力机機给給等几幾很业業最间間新什打便位因重被走电電四第门門相次"
    "东東政海口使教西再平真听聽世气氣信北少关關并並内內加化由却卻代军軍产產入先山五太水万萬市眼体體别別处處总總"
    "才场場师師书書比住员員九笑性通目华華报報立马馬命张張活难難神数數件安表原车車白应應路期叫死常提感金何更反合"
    "放做系计計或司利受光王果亲親界及今京务務制解各任至清物台象记記边邊共风風战戰干接它许許八特觉覺望直服毛林题題"
    "建南度统統色字请請交爱愛让讓认認算论論百吃义義科怎元社术術结結六功指思非流每青管夫连連远遠资資队隊带帶花快"
    "您附邮郵谢謝复復收发發订訂单單付款客户戶编編号號，。、：！？"
)
_KANA: Final = frozenset(map(chr, (*range(0x3041, 0x3097), *range(0x30A1, 0x30FB), 0x30FC, 0x3001, 0x3002)))
_HANGUL: Final = frozenset("이다는에의가을하고지은한를로도기사대어리인서아나자시일수해니습안보있들과그정요주부제전으")
_CANDIDATES: Final = (
    _Candidate("cp932", _KANA, 0.5),
    _Candidate("euc_jp", _KANA, 0.5),
    _Candidate("gb18030", _HAN, 0.5),
    _Candidate("big5hkscs", _HAN, 0.5),
    _Candidate("cp949", _HANGUL, 0.45),
    _Candidate("cp1251", _CYRILLIC, 0.8),
    _Candidate("koi8-r", _CYRILLIC, 0.8),
    _Candidate("cp866", _CYRILLIC, 0.8),
    _Candidate("iso8859-5", _CYRILLIC, 0.8),
    _Candidate("cp1253", frozenset("αοιετσνηυρπκμλςάίόέήώδγ"), 0.85),
    _Candidate("cp1255", frozenset("יוהלאתרבשםמנעחד"), 0.8),
    _Candidate("cp1256", frozenset("اليمنورتبةعدسفهكقحأ"), 0.8),
    _Candidate("cp874", frozenset("านรอกเงมยลวดทสต่้ัีะคปแขห"), 0.75),
)
_CLEAR: Final = 0.6
"""Part of the usual share that a candidate has to reach."""
_TURKISH: Final = frozenset(b"\xf0\xfd\xfe")
_NOT_TURKISH: Final = frozenset(b"\xe1\xed\xf3\xfa\xe6\xe5\xe3\xf5")
_LATIN_LETTERS: Final = frozenset("ąćęłńóśźżĄĆĘŁŃÓŚŹŻáčďéěíňřšťúůýžőűöüäôľĺŕăâîșțşţđ")


def by_signs(data: bytes) -> str | None:
    """The codec that a byte order mark, an escape sequence or zero octets prove, or None."""
    for mark, codec in _BOMS:
        if data.startswith(mark):
            return codec
    if _JAPANESE_ESCAPE.search(data, 0, _SAMPLE):
        return "iso2022_jp_ext"
    if data.startswith(_KOREAN_ESCAPE):
        return "iso2022_kr"
    return utf16_order(data, certain=True)


def utf16_order(data: bytes, *, certain: bool = False) -> str | None:
    """The order of UTF-16 without a mark: one half of the octets of Latin text is zero, the other half never is.

    `certain`: nothing else says that it is UTF-16, so most of it has to be Latin text.
    """
    sample = data[: _SAMPLE // 2 * 2]
    pairs = len(sample) // 2
    if pairs < 2 or b"\0" not in sample:
        return None
    high, low = sample[0::2].count(0), sample[1::2].count(0)
    # Line ends and blanks are zero in one half in every script.
    few, many = sorted((high, low))
    if many * (2 if certain else 10) < pairs or few * 10 > many:
        return None
    return "utf-16-be" if high > low else "utf-16-le"


def by_letters(data: bytes) -> str:
    """The likeliest codec for octets beyond ASCII that are no UTF-8."""
    first = _HIGH.search(data)
    start = max(0, first.start() - _SAMPLE // 8) if first else 0
    lines = data[start : start + 8 * _SAMPLE].splitlines(keepends=True)
    sample = b"".join(line for line in lines if not line.isascii())[:_SAMPLE]
    runs: list[bytes] = _HIGH.findall(sample)
    high = sum(map(len, runs))
    letters = sum(sample.count(bytes((octet,))) for octet in b"aeiounrst")
    # Accented letters of Latin scripts stand alone among ASCII ones.
    if high < _NON_LATIN_MIN or (high < 2 * len(runs) and letters > high):
        return _latin(sample, runs)
    best = max(_CANDIDATES, key=lambda candidate: _likeness(sample, candidate))
    return best.codec if _likeness(sample, best) >= _CLEAR else _latin(sample, runs)


def _likeness(sample: bytes, candidate: _Candidate) -> float:
    """The share of frequent characters, against what is usual; 0 where the octets are not valid at all."""
    try:
        text = codecs.getincrementaldecoder(candidate.codec)("strict").decode(sample, final=False)
    except (UnicodeError, ValueError):
        return 0.0
    beyond = [character for character in text if character > "\x7f"]
    frequent = sum(character in candidate.frequent for character in beyond)
    return frequent / max(1, len(beyond)) / candidate.usual


def _latin(sample: bytes, runs: list[bytes]) -> str:
    octets = b"".join(runs)
    turkish = sum(octet in _TURKISH for octet in octets)
    # Icelandic has the same three octets, and accented vowels that Turkish lacks.
    if turkish * 4 >= len(octets) > 0 and not _NOT_TURKISH & set(octets):
        return "cp1254"
    return "cp1250" if _is_central_european(sample) else "cp1252"


def _is_central_european(sample: bytes) -> bool:
    """Signs within words, where Windows-1250 has letters, give Polish and its neighbours away."""
    western, central = sample.decode("cp1252", "replace"), sample.decode("cp1250", "replace")
    signs = 0
    for index in range(1, len(western) - 1):
        sign = western[index]
        if sign > "\x7f" and not sign.isalpha() and western[index - 1].isalpha() and western[index + 1].isalpha():
            signs += 1
            if central[index] not in _LATIN_LETTERS:
                return False
    return signs > 1
