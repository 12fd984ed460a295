"""Doubts that keep a quotation: what was forwarded, what is shown as evidence, what may be answered inside."""

from __future__ import annotations

import sys
from types import FrameType

import pytest

from mailgate.mime.model import TextFormat
from mailgate.mime.quotes import FoldedText, fold_quotes

LINE = "On Mon, Mar 2, 2026 at 10:14 AM Anna Berg <anna@example.org> wrote:"
BLOCK = (
    "From: Anna Berg <anna@example.org>\nSent: Monday, March 2, 2026 10:14 AM\n"
    "To: Ben Adler <ben@example.com>\nSubject: Meeting"
)
TOP = "Thanks, the rest by telephone."


def fold(text: str, *, subject: str | None = None) -> FoldedText:
    return fold_quotes(text, TextFormat.PLAIN, subject=subject)


# --- what was forwarded with marks, or pasted as evidence ----------------------------------------------------------


@pytest.mark.parametrize("prefix", ["Fwd:", "FW:", "WG:", "TR:", "RV:", "VB:", "PD:", "VS:", "转发：", "[list] Fwd:"])
def test_what_a_subject_says_was_forwarded_stays_with_marks_too(prefix: str) -> None:
    marked = "\n".join(f"> {line}" for line in f"{BLOCK}\n\nTwelve pallets.".split("\n"))
    for quoted in (f"{LINE}\n> Twelve pallets.", marked):
        text = f"The answer of the supplier has come.\n\n{quoted}"
        assert fold(text, subject=f"{prefix} Meeting") == FoldedText(text)
        assert fold(text, subject=f"Re: {prefix} Meeting").blocks


def test_a_finnish_answer_is_folded_though_elsewhere_its_prefix_forwards() -> None:
    text = "Torstai sopii hyvin.\n\n2.3.2026 10.14, Anna Berg kirjoitti:\n> Nähdäänkö torstaina?"
    assert fold(text, subject="VS: Tapaaminen").blocks


@pytest.mark.parametrize("above_it", ["He refuses to pay the heating.", "The chat of Monday", "He sent me this"])
def test_what_new_text_stands_around_is_shown_as_evidence(above_it: str) -> None:
    text = f"{above_it}\n\n{LINE}\n> I will not pay.\n\nWhat am I to do about it?"
    assert fold(text, subject="Re: Heating").blocks == ()


@pytest.mark.parametrize(
    "below",
    ["Ben", "Regards\nBen", "-- \nBen\nExample Ltd", "This message is confidential.", "_" * 30 + "\nplans list"],
)
def test_what_programs_and_companies_add_below_is_no_new_text(below: str) -> None:
    folded = fold(f"Thursday suits me well.\n\n{LINE}\n> Shall we meet?\n\n{below}", subject="Re: Meeting")
    assert folded.blocks
    assert folded.text.endswith(below)


@pytest.mark.parametrize(
    "own", ["The landlord wrote to me again.", "Can you tell me what to do?", "Look what he wrote"]
)
def test_a_quotation_that_is_asked_about_stays_where_nothing_says_it_is_answered(own: str) -> None:
    text = f"{own}\n\n{LINE}\n> I will not pay."
    assert fold(text, subject="My flat").blocks == ()


# --- answers written into a message without marks ------------------------------------------------------------------


@pytest.mark.parametrize(
    "answer",
    [
        ">> Thursday",
        "== Thursday",
        "// Thursday",
        "A: Thursday",
        "Answer: Thursday",
        "--> Thursday",
        "=> Thursday",
        "[Ben] Thursday",
        "*** Thursday",
        "## Thursday",
        "- Ben: Thursday",
        "Ben: Thursday",
        "BA: Thursday",
        "@Anna Thursday",
        "Thursday (Ben)",
        "Thursday /BA",
        "{Thursday}",
        "((Thursday))",
        "→ Thursday",
        "~~ Thursday",
        "\tThursday",
        "Antwort: Donnerstag",
        "Réponse : jeudi",
        "回答：木曜日",
        "Re: Thursday",
        "- Thursday",
        "* Thursday",
        "+ Thursday",
        "yes",
        "DONE.",
        "A1. Thursday",
        "【Ben】Thursday",
        "Reply of Ben: Thursday",
        "... Thursday",
        "_Thursday at ten_",
    ],
)
def test_one_line_of_an_odd_form_is_doubt_enough(answer: str) -> None:
    asked = f"Hello Ben,\n\ntell me the day.\n{answer}\nAnd bring the plans.\n\nAnna"
    text = f"{TOP}\n\n{BLOCK}\n\n{asked}"
    assert fold(text, subject="Re: Meeting") == FoldedText(text, interleaved=True)


def test_a_short_line_below_a_question_is_doubt_enough() -> None:
    for gap in ("\n", "\n\n"):
        text = f"{TOP}\n\n{BLOCK}\n\nWhen shall we meet?{gap}Thursday at ten.\n\nAnna"
        assert fold(text, subject="Re: Meeting").interleaved


def test_marked_lines_that_nothing_introduces_are_no_part_of_a_message_without_marks() -> None:
    text = f"{TOP}\n\n{BLOCK}\n\n\n\n\nTell me the day.\n\n> Thursday\n\nAnna"
    assert fold(text, subject="Re: Meeting").blocks == ()


@pytest.mark.parametrize(
    "body",
    [
        "a) The price changes.\nb) The address is new.",
        "1. Budget\n2. Staff\n   - new hires\n   - leave",
        "• mail\n• the wiki\n• backups",
        "Can you come on Friday?\n\nBest regards,\nAnna Berg\nO: +49 30 1234\nC: +49 170 1234",
        "It is due in May.\n\nAnna\n\nThis message is confidential. Please delete it if it is not for you.",
        "■日時：3月5日\n■場所：会議室2\n■議題：予算",
    ],
)
def test_the_lists_and_signatures_of_one_writer_are_no_answers(body: str) -> None:
    assert fold(f"Fine, I will do that.\n\n{BLOCK}\n\nHello Ben,\n\n{body}", subject="Re: Meeting").blocks


def test_an_older_message_of_who_answers_is_signed_by_them() -> None:
    older = BLOCK.replace("From: Anna Berg <anna@example.org>", "From: Ben Adler <ben@example.com>")
    text = f"Fine, I will do that.\n\n{BLOCK}\n\nTen is better.\n\nAnna\n\n{older}\n\nWe meet at nine.\n\nBen"
    assert fold(text, subject="Re: Meeting").blocks


# --- bounds ------------------------------------------------------------------------------------------------------


class _Calls:
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
        fold_quotes(text, form, subject="Re: Meeting")
    finally:
        sys.setprofile(before)
    return counted.number


FLOODS = {
    "lines": "The plans are done and the samples too.\n",
    "one line": "The plans are done and the samples too ",
    "names": "Anna\n",
    "closings": "Regards,\n",
    "lists": "- one\n- two\n\n",
    "tail": "a? _b " * 60 + "\n",
    "dashes": "a -" * 100 + "\n",
    "labels": "To: Ben\n",
    "blocks": BLOCK + "\nThe plans are done.\n\n",
    "introductions": LINE + "\n> The plans are done.\n",
    "deep": "> > The plans are done.\n> The samples too.\n",
    "recipients": "Ben Adler <ben@example.com>; ",
    "announced": "My answer is ",
}


def test_an_older_message_of_more_lines_than_any_has_is_left_as_it_is() -> None:
    for number, folds in ((4_000, True), (6_000, False)):
        text = f"{TOP}\n\n{BLOCK}\n\n" + "The plans are done and the samples too.\n" * number
        assert bool(fold(text, subject="Re: Meeting").blocks) is folds


@pytest.mark.parametrize("unit", FLOODS.values(), ids=FLOODS.keys())
def test_work_on_an_older_message_grows_no_faster_than_it(unit: str) -> None:
    for form in TextFormat:
        for begin in (f"{TOP}\n\n{BLOCK}\n\n", f"{TOP}\n\n{LINE}\n> ", ""):
            small, large = (calls(begin + unit * (size // len(unit)), form) for size in (16_000, 64_000))
            assert large <= 4.5 * small + 3000
