"""The date in a line that introduces a quotation, in the languages of mail programs.

A date is given as `YYYY-MM-DD` where it can be read in one way only. `03/02/2026` cannot: it is given as written.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

_MONTH_STEMS: Final = (
    "jan ene gen ian янв яну січ sij oca sty led tammi ιαν ינו يناير ژانویه ม.ค.",
    "feb fev fév fév úno lut velj фев лют şub helmi φεβ פבר فبراير فوریه ก.พ.",
    "mar mär mrz mrt maa már bře март мар бер ožu μαρ μάρ מרץ במרץ مارس มี.ค.",
    "apr abr avr ápr dub kwi апр кві nis huhti απρ אפר أبريل إبريل آوریل เม.ย.",
    "may mai maj mei mag máj kvě май мая тра svib touko μαΐ μαϊ μάι μαι מאי مايو พ.ค.",
    "jun juin giu jún iun июн юни чер haz kesä cze ιουν יונ يونيو ژوئن มิ.ย. června červen lipnja",
    "jul juil lug júl iul июл юли tem heinä lipca lipiec ιουλ יול يوليو ژوئیه ก.ค. července červenec",
    "aug ago aoû авг сер ağu elo sie kolo αυγ אוג أغسطس اوت ส.ค. srpna srpen agu",
    "sep set szep сен сеп вер eyl syys wrz zář ruj σεπ ספט سبتمبر سپتامبر ก.ย.",
    "oct okt out ott окт жов eki loka paź říj οκτ אוק أكتوبر اکتبر ต.ค.",
    "nov noi ноя ное kas stud marras νοε νοέ נוב نوفمبر نوامبر พ.ย.",
    "dec dez déc dic des дек гру ara joulu gru pros δεκ דצמ ديسمبر دسامبر ธ.ค.",
)
"""Stems of the names of the months. `lip`, `lis` and `srp` are left out: they are different months among Slavs."""
_STEMS: Final[Mapping[str, int]] = {
    stem: number for number, line in enumerate(_MONTH_STEMS, start=1) for stem in line.split()
}
_STEM_CHARS_MAX: Final = max(map(len, _STEMS))

_YEAR: Final = r"(?P<year>(?:19[89]|20\d)\d)"
_MONTH_WORD: Final = r"(?P<word>[^\W\d_][^\s\d,]{1,14})"
_PATTERNS: Final = tuple(
    re.compile(pattern)
    for pattern in (
        # 2026-03-02, 2026/3/2, 2026. 3. 2., 2026年3月2日, 2026년 3월 2일
        rf"(?<!\d){_YEAR}\s?[-./年년]\s?(?P<month>\d{{1,2}})\s?[-./月월]\s?(?P<day>\d{{1,2}})(?!\d)(?:日|일)?",
        # 2 March 2026, 2. März 2026, 2 de marzo de 2026, 2 במרץ 2026, 2nd of March 2026
        rf"(?<!\d)(?P<day>\d{{1,2}})(?:st|nd|rd|th)?[.,]?\s(?:de\s|of\s|d’|d')?{_MONTH_WORD},?\s(?:de\s|del\s)?{_YEAR}(?!\d)",
        # March 2, 2026
        rf"{_MONTH_WORD}\s(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?\s{_YEAR}(?!\d)",
        # 2026. márc. 2.
        rf"(?<!\d){_YEAR}\.?\s{_MONTH_WORD}\s(?P<day>\d{{1,2}})(?!\d)",
        # 2 thg 3, 2026; 2 tháng 3, 2026
        rf"(?<!\d)(?P<day>\d{{1,2}})\s(?:thg|tháng)\s(?P<month>\d{{1,2}}),?\s(?:năm\s)?{_YEAR}(?!\d)",
        # 02.03.2026, 2. 3. 2026: with full stops the day comes first everywhere
        rf"(?<!\d)(?P<day>\d{{1,2}})\.\s?(?P<month>\d{{1,2}})\.\s?{_YEAR}(?!\d)",
        r"(?<!\d)(?P<day>\d{1,2})\.\s?(?P<month>\d{1,2})\.\s?(?P<short>\d{2})(?![\d:])",
        # 03/02/2026: either may be the month
        rf"(?<!\d)(?P<one>\d{{1,2}})(?P<mark>[-/])(?P<two>\d{{1,2}})(?P=mark)(?:{_YEAR}|(?P<short>\d{{2}}))(?!\d)",
    )
)
_TIME: Final = re.compile(
    r"(?<![\d.:/])(?<!\d-)\d{1,2}(?:[:h時点时시]|\.(?=\d\d(?![\d.])))\s?\d{2}(?::\d{2})?(?![\d/-])"
    r"(?:\s?(?i:a\.?\s?m\b\.?|p\.?\s?m\b\.?|π\.?μ\.?|μ\.?μ\.?|uhr\b|ص|م(?!\w)))?"
    r"(?:,?\s?\(?(?:(?:GMT|UTC)?[+-]\d{1,2}(?::?\d{2})?|(?:GMT|UTC|CES?T|MES?Z|[ECMP][SD]T|BST|MSK|JST|IST|WES?T|EES?T)\b)\)?)*"
)


@dataclass(frozen=True, slots=True)
class FoundDate:
    """`text`: the date to show; `start` and `end`: where it stands."""

    text: str
    start: int
    end: int


def ascii_digits(text: str) -> str:
    """The text with the digits of every script as ASCII; its length stays."""
    if text.isascii():
        return text
    return "".join(str(unicodedata.digit(char)) if char.isdecimal() else char for char in text)


def find_date(text: str) -> FoundDate | None:
    """The first date with a year in which mail can have been written. `text` has ASCII digits and is short."""
    for pattern in _PATTERNS:
        for match in pattern.finditer(text):
            shown = _shown(match)
            if shown is not None:
                return FoundDate(shown, match.start(), match.end())
    return None


def find_time(text: str) -> tuple[int, int] | None:
    """Where a time of day stands, with the zone after it; the last one, for a date can look like a time."""
    found = None
    for match in _TIME.finditer(text):
        hour = int(re.split(r"\D", match[0], maxsplit=1)[0])
        found = match.span() if hour < 25 else found
    return found


def month_of(word: str) -> int | None:
    """The month that a word names, by its longest known beginning."""
    folded = word.casefold()
    for length in range(min(_STEM_CHARS_MAX, len(folded)), 2, -1):
        number = _STEMS.get(folded[:length])
        if number is not None:
            return number
    return None


def _shown(match: re.Match[str]) -> str | None:
    parts = match.groupdict()
    year = int(parts["year"]) if parts.get("year") else 2000 + int(parts["short"])
    if parts.get("one"):
        return _of_two(int(parts["one"]), int(parts["two"]), year, match[0])
    month = int(parts["month"]) if parts.get("month") else month_of(parts["word"])
    return _iso(year, month, int(parts["day"]))


def _of_two(one: int, two: int, year: int, written: str) -> str | None:
    """A date whose first number may be the day or the month."""
    day_first, month_first = _iso(year, two, one), _iso(year, one, two)
    if day_first and month_first and day_first != month_first:
        return written
    return day_first or month_first


def _iso(year: int, month: int | None, day: int) -> str | None:
    if month is None or not 1 <= month <= 12 or not 1 <= day <= 31:
        return None
    return f"{year:04d}-{month:02d}-{day:02d}"
