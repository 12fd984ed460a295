"""The Date field."""

import pytest

from mailgate.mime.dates import parse_date


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("Thu, 5 Feb 2026 11:22:33 +0100", "2026-02-05T11:22:33+01:00"),
        ("5 Feb 2026 11:22 +0530", "2026-02-05T11:22:00+05:30"),
        ("Thu,5 Feb 2026 11:22:33 +0100", "2026-02-05T11:22:33+01:00"),
        ("Thu, 05 Feb 2026 11:22:33 -0000", "2026-02-05T11:22:33+00:00"),
        ("Thu, 05 Feb 2026 11:22:33 +0000 (UTC)", "2026-02-05T11:22:33+00:00"),
        ("Thu, 05 Feb 2026 11:22:33 GMT", "2026-02-05T11:22:33+00:00"),
        ("5 Feb 26 1:02 EST", "2026-02-05T01:02:00-05:00"),
        ("5 Feb 97 1:02 X", "1997-02-05T01:02:00+00:00"),
        ("31 Dec 2016 23:59:60 +0000", "2016-12-31T23:59:59+00:00"),
        ("5 (day) Feb 2026 11:22:33 -0800", "2026-02-05T11:22:33-08:00"),
    ],
)
def test_complete_dates_keep_their_offset(text: str, iso: str) -> None:
    assert parse_date(text) == iso


@pytest.mark.parametrize(
    "text",
    [
        "",
        "17 June , 2022",
        "05 Feb 26 11:22:33 PM",
        "Thu, 05 Feb 2026 11:22:33 AM",
        "16.03.09",
        "Thu, 05 Feb 2026 11:22:33",
        "Fri, 1 Jan 9999999999 00:00:00 +0000",
        "Fri, 1 Jan 100 00:00:00 +0000",
        "Mon, 30 Feb 2026 11:22:33 +0000",
        "Thu, 05 Feb 2026 25:22:33 +0000",
        "Thu, 05 Feb 2026 11:22:33 +9999",
        "Thu, 05 Foo 2026 11:22:33 +0000",
        "٥ Feb 2026 11:22:33 +0000",
        "(" * 100_000,
    ],
)
def test_what_is_not_certainly_a_date_is_none(text: str) -> None:
    assert parse_date(text) is None
