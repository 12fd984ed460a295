"""Whatever is put together: nothing new goes, folding again changes nothing, nothing raises, work grows with length.

The pieces are those of real mail in every order, also in orders no program writes.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from types import FrameType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mailgate.limits import MIB, TEXT_BYTES_MAX
from mailgate.mime import quotes
from mailgate.mime.model import TextFormat
from mailgate.mime.quotes import FoldedText, QuotedBlock, fold_quotes

NEW = [
    "Thursday suits me well.",
    "Nein, noch nichts.",
    "はい、木曜日で結構です。",
    "Hi Anna,",
    "Best,\nBen",
    "-- \nBen Adler\nExample Ltd",
    "Sent from my iPhone",
    "Two things:\n\n- the plans\n- the samples",
    "On Monday we meet at ten, and Anna wrote that she comes.",
    "See you: Ben",
    "As the manual says:",
    "1 + 1 = 2",
    "",
]
INTRODUCTIONS = [
    "On Mon, Mar 2, 2026 at 10:14 AM Anna Berg <anna@example.org> wrote:",
    "Am 02.03.26 um 10:14 schrieb Anna Berg:",
    "On Mon, 2 Mar 2026, Anna Berg wrote:",
    "Anna Berg <anna@example.org> writes:",
    "On Mon, Mar 2, 2026 at 10:14 AM Anna Berg\n<anna@example.org> wrote:",
    "2026年3月2日(月) 10:14 山田花子 <anna@example.org>:",
]
MARKED = ["> Shall we meet?\n> Anna", ">> Older.\n> Newer.", "> one\n>\n> two", "> > deep\n> flat\n> -- \n> Anna"]
new = st.sampled_from(NEW)
quotation = st.builds(
    "{}\n{}{}".format, st.sampled_from(INTRODUCTIONS), st.sampled_from(["", "\n"]), st.sampled_from(MARKED)
)
piece = st.one_of(new.map(lambda text: (True, text)), quotation.map(lambda text: (False, text)))
forms = st.sampled_from(list(TextFormat))

OTHER = [
    "From: Anna <anna@example.org>\nSent: Monday, March 2, 2026 10:14 AM\nTo: Ben <ben@example.com>\nSubject: Plan",
    "-----Original Message-----",
    "________________________________",
    "* * *",
    "---------- Forwarded message ---------",
    "Begin forwarded message:",
    "[quoted: Anna, 2026-03-02, 12 characters]",
    "```",
    "> ```",
    ">From here",
    "wrote:",
    "From:",
    "On ",
    "Answers below in red.",
    "FYI",
]
anything = st.lists(
    st.one_of(st.sampled_from([*NEW, *INTRODUCTIONS, *MARKED, *OTHER]), st.text(max_size=20)), max_size=12
).map("\n".join)
subjects = st.one_of(st.none(), st.sampled_from(["Re: Plan", "FW: Plan", "Plan", ""]), st.text(max_size=20))


def kept(folded: FoldedText) -> Iterator[str]:
    lines = folded.text.split("\n")
    for block in folded.blocks:
        lines.remove(block.line)
    return iter(lines)


@settings(deadline=None, max_examples=400)
@given(st.lists(piece, max_size=8), forms, st.sampled_from(["\n", "\n\n"]))
def test_all_new_text_is_kept_in_its_order(pieces: list[tuple[bool, str]], form: TextFormat, between: str) -> None:
    folded = fold_quotes(between.join(text for _, text in pieces), form)
    shown = kept(folded)
    for mine, text in pieces:
        if mine:
            assert all(line in shown for line in text.split("\n"))


@settings(deadline=None, max_examples=300)
@given(st.lists(piece, min_size=1, max_size=8), forms)
def test_where_new_text_stands_between_quotations_nothing_is_folded(
    pieces: list[tuple[bool, str]], form: TextFormat
) -> None:
    text = "\n\n".join(text for _, text in pieces)
    inner = [index for index, (mine, _) in enumerate(pieces) if not mine]
    between = pieces[inner[0] : inner[-1]] if inner else []
    said = [part for mine, part in between if mine and part.strip()]
    # A quotation that own text leads over to is part of that text, as far as folding goes.
    led_over = any(mine and part.endswith(":") for mine, part in pieces[: inner[0]]) if inner else False
    if said and not led_over:
        assert fold_quotes(text, form).blocks == ()


@settings(deadline=None, max_examples=400)
@given(anything, forms, subjects)
def test_folding_again_changes_nothing(text: str, form: TextFormat, subject: str | None) -> None:
    once = fold_quotes(text, form, subject=subject)
    again = fold_quotes(once.text, form, subject=subject)
    assert again.text == once.text
    assert again.blocks == ()


@settings(deadline=None, max_examples=400)
@given(anything, forms, subjects)
def test_what_is_folded_is_all_there_was_and_the_rest_is_untouched(
    text: str, form: TextFormat, subject: str | None
) -> None:
    folded = fold_quotes(text, form, subject=subject)
    if not folded.blocks:
        assert folded.text == text
        return
    assert not folded.interleaved
    parts: list[str] = []
    rest = folded.text
    for block in folded.blocks:
        before, marker, rest = rest.partition(block.line)
        assert marker
        parts += [re.escape(before), f".{{{block.chars}}}"]
    assert re.fullmatch("".join([*parts, re.escape(rest)]), text, re.DOTALL)


@settings(deadline=None, max_examples=300)
@given(st.text(alphabet="><-_*|:：\n \t@.0123456789FromOnwteSubjc년日Am[]()\\\"'", max_size=400), forms, subjects)
def test_nothing_that_is_written_raises(text: str, form: TextFormat, subject: str | None) -> None:
    assert isinstance(fold_quotes(text, form, subject=subject), FoldedText)


@settings(deadline=None, max_examples=300)
@given(st.text(max_size=200), st.text(max_size=80))
def test_a_writers_name_cannot_end_or_imitate_our_line(name: str, date: str) -> None:
    text = f"Fine.\n\nOn {date} 2 Mar 2026 at 10:14 {name} <anna@example.org> wrote:\n\n> Shall we meet?\n> Anna"
    for block in fold_quotes(text, TextFormat.PLAIN).blocks:
        assert re.fullmatch(r"\[quoted: [^\[\]\n]{0,200}[0-9,]+ characters\]", block.line)
        assert len(block.author or "") <= 60


# --- work ----------------------------------------------------------------------------------------------------------

FLOODS = {
    "marks": ">",
    "marks with blanks": "> ",
    "marked lines": ">\n",
    "answers": "> x\ny\n",
    "on": "On ",
    "lines of on": "On \n",
    "from": "From:",
    "lines of from": "From:\n",
    "introductions": "On 2 Mar 2026 at 10:14, A <a@b.c> wrote:\n",
    "introduced": "On 2 Mar 2026 at 10:14, A <a@b.c> wrote:\n> x\n",
    "uncertain introductions": "On 2 Mar 2026 at 10:14, Anna wrote:\n\n",
    "led to": "a:\n> x\n",
    "blocks": "From: a@b.c\nSent: 2 March 2026 10:14\nTo: x\nSubject: s\n> x\ny\n",
    "incomplete blocks": "From: a\nTo: b\nx\nx\nx\n",
    "separators": "-----Original Message-----\n",
    "rules": "_" * 30 + "\n",
    "colons": "wrote:\n",
    "fences": "```\n",
    "greetings": "Hi\n",
    "references": "see the mail ",
    "brackets": "[](",
    "addresses": "[mailto:",
    "escapes": "\\-",
    "times": "1:2",
    "empty lines": "\n",
    "mbox": ">From x\n",
}


LONGEST = {"marks", "marks with blanks", "marked lines", "on", "lines of on", "from", "lines of from"}


class _Calls:
    """How many functions of the rules are entered: a count, so the same on every machine."""

    def __init__(self) -> None:
        self.number = 0

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        if event in ("call", "c_call"):
            self.number += 1


def calls(text: str, form: TextFormat) -> int:
    counted = _Calls()
    before = sys.getprofile()
    sys.setprofile(counted)
    try:
        fold_quotes(text, form)
    finally:
        sys.setprofile(before)
    return counted.number


@pytest.mark.parametrize("unit", FLOODS.values(), ids=FLOODS.keys())
def test_work_grows_no_faster_than_the_text(unit: str) -> None:
    for form in TextFormat:
        small, large = (calls(unit * (size // len(unit)), form) for size in (16_000, 64_000))
        assert large <= 4.5 * small + 2000


@pytest.mark.parametrize("name", FLOODS)
def test_a_flood_of_one_thing_is_answered(name: str) -> None:
    unit = FLOODS[name]
    size = MIB if name in LONGEST else TEXT_BYTES_MAX
    text = unit * (size // len(unit))
    folded = fold_quotes(text, TextFormat.PLAIN)
    assert folded.text == text or folded.blocks


def test_a_text_of_more_quotations_than_any_letter_has_is_left_as_it_is() -> None:
    text = "Yes.\n\nOn 2 Mar 2026 at 10:14, Anna <a@b.c> wrote:\n> x\n" + "> x\ny\n" * (quotes._RUNS_MAX + 1)
    assert fold_quotes(text, TextFormat.PLAIN) == FoldedText(text)


def test_the_line_of_a_block_tells_what_is_known() -> None:
    assert QuotedBlock("Anna Berg", "2026-03-02", 1234).line == "[quoted: Anna Berg, 2026-03-02, 1,234 characters]"
    assert QuotedBlock(None, None, 1).line == "[quoted: 1 character]"
