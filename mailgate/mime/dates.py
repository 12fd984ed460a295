"""The Date field (RFC 5322, 3.3 and 4.3), strictly: a date that is not certain is no date."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from typing import Final

_MONTHS: Final = {
    name: number
    for number, name in enumerate(
        ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), start=1
    )
}
_ZONES: Final = {"ut": 0, "utc": 0, "gmt": 0, "z": 0} | {
    "est": -300,
    "edt": -240,
    "cst": -360,
    "cdt": -300,
    "mst": -420,
    "mdt": -360,
    "pst": -480,
    "pdt": -420,
}
_DATE: Final = re.compile(
    r"(?:[A-Za-z]{3,9}\.?(?:, ?| ))?(\d{1,2})[ -]([A-Za-z]{3})[a-z]{0,6}\.?[ -](\d{4}|\d{2}) "
    r"(\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d{1,9})?)? ?"
    r"(?:(?:GMT|UTC?)?([+-])(\d{2}):?(\d{2})|(UT|[A-Za-z]|[A-Za-z]{3,5}))",
    re.ASCII | re.IGNORECASE,
)
"""A name of two letters other than UT is no zone but AM or PM, and the hour then is not the one that is written."""
_COMMENT: Final = re.compile(r"\([^()]{0,100}\)")
_COMMENTS_NESTED_MAX: Final = 4
_YEARS: Final = range(1970, 2200)


def parse_date(text: str) -> str | None:
    """ISO 8601 with offset, or None for what is no complete date with a zone between 1970 and 2199.

    `-0000` and an unknown zone name mean UTC of an unknown place (RFC 5322, 4.3) and are given as `+00:00`.
    """
    # Comments and folding may stand anywhere in a date (RFC 5322, 3.3).
    plain = text[:200]
    for _ in range(_COMMENTS_NESTED_MAX):
        plain = _COMMENT.sub(" ", plain)
    plain = " ".join(plain.split())
    match = _DATE.fullmatch(plain)
    month = _MONTHS.get(match[2].lower()) if match else None
    if match is None or month is None:
        return None
    offset = _offset(match)
    year = _full_year(match[3])
    if offset is None or year not in _YEARS:
        return None
    second = min(int(match[6] or 0), 59)  # 60 is a leap second, which datetime does not know
    try:
        moment = datetime(year, month, int(match[1]), int(match[4]), int(match[5]), second, tzinfo=offset)
    except ValueError:
        return None
    return moment.isoformat()


def _full_year(digits: str) -> int:
    """Two digits below 50 are 20xx (RFC 5322, 4.3)."""
    year = int(digits)
    if len(digits) == 4:
        return year
    return year + (2000 if year < 50 else 1900)


def _offset(match: re.Match[str]) -> timezone | None:
    if match[10]:
        return timezone(timedelta(minutes=_ZONES.get(match[10].lower(), 0)))
    minutes = int(match[8]) * 60 + int(match[9])
    if int(match[9]) > 59 or minutes >= 24 * 60:
        return None
    return timezone(timedelta(minutes=-minutes if match[7] == "-" else minutes))
