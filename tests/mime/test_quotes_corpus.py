"""The labelled messages: nothing new is ever folded away, and nearly all that is quoted is folded."""

from __future__ import annotations

from collections import Counter, defaultdict

import pytest

from mailgate.mime.model import TextFormat
from mailgate.mime.quotes import fold_quotes
from tests.corpus.quotes.labelled import NEW, QUOTED, Labelled, Outcome, measure, messages

SHARE_MIN = 0.95


def share(outcomes: list[Outcome]) -> float:
    return sum(outcome.folded for outcome in outcomes) / sum(outcome.quoted for outcome in outcomes)


def test_the_corpus_is_as_wide_as_it_has_to_be() -> None:
    found = messages()
    kinds = Counter(message.kind for message in found)
    assert len(found) >= 120
    assert len({message.name for message in found}) == len(found)
    assert len({message.language for message in found}) >= 8
    assert len({message.client for message in found if message.kind != "own"}) >= 10
    assert kinds["interleaved"] >= 25
    assert kinds["forward"] >= 20
    assert kinds["own"] >= 30
    for message in found:
        assert message.lines, message.name
        assert any(mark != QUOTED for mark, _ in message.lines), message.name


@pytest.mark.parametrize("message", messages(), ids=lambda message: message.name)
def test_no_new_text_is_folded_away(message: Labelled) -> None:
    assert measure(message).lost == 0


def test_of_what_is_quoted_and_not_answered_inside_nearly_all_is_folded() -> None:
    foldable = [message for message in messages() if message.foldable]
    assert len(foldable) >= 100
    assert share([measure(message) for message in foldable]) >= SHARE_MIN


def test_no_client_and_no_language_falls_far_behind() -> None:
    """But for marked lines that nothing introduces ("plain"): they may as well be a draft that is shown to somebody."""
    groups: dict[str, list[Outcome]] = defaultdict(list)
    for message in messages():
        if message.foldable:
            groups[message.client].append(measure(message))
            groups[message.language].append(measure(message))
    behind = {name for name, outcomes in groups.items() if share(outcomes) < 0.8}
    assert behind <= {"plain"}


@pytest.mark.parametrize(
    "message", [message for message in messages() if message.kind == "interleaved"], ids=lambda message: message.name
)
def test_where_answers_are_interleaved_nothing_is_folded(message: Labelled) -> None:
    folded = message.folded()
    assert folded.interleaved
    assert (folded.text, folded.blocks) == (message.text, ())


@pytest.mark.parametrize(
    "message",
    [message for message in messages() if message.kind in ("forward", "own")],
    ids=lambda message: message.name,
)
def test_what_is_passed_on_and_what_is_nobodys_quotation_stays(message: Labelled) -> None:
    folded = message.folded()
    if not message.foldable:
        assert (folded.text, folded.blocks) == (message.text, ())


@pytest.mark.parametrize(
    "message", [message for message in messages() if message.author or message.date], ids=lambda message: message.name
)
def test_a_block_says_whose_it_is_and_of_when(message: Labelled) -> None:
    first = message.folded().blocks[0]
    if message.author:
        assert first.author == message.author
    if message.date:
        assert first.date == message.date


@pytest.mark.parametrize("message", messages(), ids=lambda message: message.name)
def test_folding_again_changes_nothing(message: Labelled) -> None:
    once = message.folded()
    again = fold_quotes(once.text, message.form, subject=message.subject)
    assert (again.text, again.blocks) == (once.text, ())


@pytest.mark.parametrize("message", messages(), ids=lambda message: message.name)
def test_other_forms_of_the_same_message_lose_nothing_either(message: Labelled) -> None:
    """Without its subject, in the other format, without its blank lines, with blanks after its lines."""
    own = [line for mark, line in message.lines if mark == NEW]
    other = TextFormat.PLAIN if message.form is TextFormat.MARKDOWN else TextFormat.MARKDOWN
    tight = [line for _, line in message.lines if line.strip()]
    for text, form in (
        (message.text, other),
        ("\n".join(tight), message.form),
        ("\n".join(f"{line}  " for _, line in message.lines), message.form),
    ):
        shown = iter([line.rstrip() for line in fold_quotes(text, form, subject=message.subject).text.split("\n")])
        assert all(line.rstrip() in shown for line in own if line.strip())
