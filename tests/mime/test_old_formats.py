"""Calendars, enriched and rich text, and RTF as words."""

from __future__ import annotations

import pytest

from mailgate.mime.old_formats import calendar_text, enriched_text, rich_text, rtf_text, shown_text

EVENT = "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\n{}\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("SUMMARY:Lunch\\, at\r\n  last", "Summary: Lunch, at last"),
        ("dtstart;TZID=Europe/Berlin:20240308T110000", "Start: 2024-03-08 11:00 (Europe/Berlin)"),
        ("DTSTART:20240308T110000Z", "Start: 2024-03-08 11:00 UTC"),
        ("DTSTART;VALUE=DATE:20240308", "Start: 2024-03-08"),
        ("DTSTART:tomorrow", "Start: tomorrow"),
        ('ORGANIZER;CN="Lee; Ann: x":mailto:a@b.example', "Organizer: Lee; Ann: x <a@b.example>"),
        ("ATTENDEE;PARTSTAT=DECLINED:MAILTO:a@b.example", "Attendee: a@b.example (DECLINED)"),
        ("DESCRIPTION:one\\ntwo\\\\n", "Description: one\ntwo\\n"),
        ("X-OTHER:1\r\nSTATUS:CANCELLED", "Status: CANCELLED"),
        ("BEGIN:VALARM\r\nDESCRIPTION:bell\r\nEND:VALARM\r\nSUMMARY:s", "Summary: s"),
    ],
)
def test_an_entry_of_a_calendar_is_a_line_for_each_fact(line: str, shown: str) -> None:
    assert calendar_text(EVENT.format(line)) == shown


def test_a_calendar_without_an_entry_stands_as_it_is() -> None:
    assert calendar_text("BEGIN:VCALENDAR\nEND:VCALENDAR\n") == "BEGIN:VCALENDAR\nEND:VCALENDAR\n"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<bold>a</bold>\nb\n\nc\n\n\nd", "a b\nc\n\nd"),
        ("a << b <c d> <color><param>red</param>e</color>", "a < b <c d> e"),
        ("<nofill>a\n b</nofill>\nc", "a\n b c"),
        ("<param>never closed", "never closed"),
    ],
)
def test_enriched_text_is_filled_and_without_commands(text: str, shown: str) -> None:
    assert enriched_text(text) == shown


def test_rich_text_ends_lines_by_command_alone() -> None:
    assert rich_text("a\nb<nl>c<lt>d<comment>x</comment><paragraph>e</paragraph>f") == "a b\nc<de\n\nf"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (r"{\rtf1 a\par b\tab c}", "a\nb\tc"),
        (r"{\rtf1{\fonttbl{\f0 Arial;}}{\*\x hidden {deeper}}{\pict 0102}shown}", "shown"),
        (r"{\rtf1 \'fc\{\\\}\~\_\emdash }", "ü{\\}\u00a0-—"),
        (r"{\rtf1\uc1 \u8364?5 \u-10179?\u-8704?\uc0\u8364 x}", "€5 \U0001f600€x"),
        ("{\\rtf1 a\r\nb", "ab"),
        ("no document", "no document"),
        (r"{\rtf1 a}}}} b", "a b"),
    ],
)
def test_a_document_in_rtf_is_its_words(text: str, shown: str) -> None:
    assert rtf_text(text) == shown


def test_other_types_are_not_touched() -> None:
    assert shown_text("text/plain", "<bold>a\n{\\rtf1") == "<bold>a\n{\\rtf1"
