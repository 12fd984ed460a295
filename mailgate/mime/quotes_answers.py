"""Answers that somebody wrote into an older message: whether its lines look as one writer left them, or not.

Where an older message bears no marks, nothing tells the two apart but their form: an odd mark before a line, a name or
`Answer:`, an arrow, a line of capitals, bold letters or a `yes` below a question, a second letter below the first.
One such line is doubt enough; that it was the older writer's own costs nothing but a few lines that are shown.
Each line is looked at once.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from mailgate.mime import quotes_forms as forms
from mailgate.mime import quotes_letter as letter
from mailgate.mime.model import TextFormat
from mailgate.mime.quotes_announced import speaks_of_answers
from mailgate.mime.quotes_attribution import above, ending_at, ends_like_one, inside
from mailgate.mime.quotes_headers import attribution_of, header_block, is_label, is_separator
from mailgate.mime.quotes_lines import Line, runs

_CHARS_MAX: Final = 300
_TRIES_MAX: Final = 2000
_RUNS_MAX: Final = 2000
_NAMES_MAX: Final = 40
_LINES_MAX: Final = 5000
"""Lines of older messages that are read; of more it is not known what is in them."""
_UNSPACED_MIN: Final = 8
"""Characters of a sentence in a script without blanks."""
_SIGNED_WORDS_MAX: Final = 4
_REPLY_MAX: Final = 100
_SHORT_MAX: Final = 50
"""Characters of a line that is doubt enough below one question."""
_TELEPHONE: Final = frozenset("+(0123456789")
_WRAPPED_MIN: Final = 55
"""Characters of a line that may go on in the next."""


@dataclass(slots=True)
class _Letter:
    """One older message while its lines pass: what was seen of it."""

    question: bool = False
    """Whether the last line that said something asked."""
    closed: bool = False
    after_closing: int = 0
    blank: bool = True
    bullets: int = 0
    """Lines of the list that is being read."""
    bullet: str = ""
    long: bool = False
    """Whether the last line was long enough to be wrapped."""
    flush: int = 0
    """Lines that are not set in, but the greeting."""
    lines: int = 0
    disclaims: bool = False
    capitals: int = 0
    replies: int = 0
    """Short lines below a question, and questions with a few words after them."""
    leads: Counter[str] = field(default_factory=Counter)


def names_in(values: Iterable[str]) -> frozenset[str]:
    """The words of names, and their initials, by which a writer may sign an answer."""
    found: set[str] = set()
    for value in list(values)[:_NAMES_MAX]:
        plain = re.sub(r"[<\[(][^<>]{0,200}[>\])]?|\S{1,64}@\S{1,200}", " ", value[:_CHARS_MAX])
        for person in re.split(r"[;,]", plain)[:_NAMES_MAX]:
            words = forms.WORD.findall(person)[:4]
            found.update(word.casefold() for word in words)
            if len(words) > 1:
                found.add("".join(word[0] for word in words).casefold())
                found.add(" ".join(words).casefold())
    return frozenset(found)


def look_answered(
    lines: Sequence[Line], form: TextFormat, names: frozenset[str], *, author: str | None, marked: bool
) -> bool:
    """Whether the older messages in these lines may have answers written into them.

    `names`: by which whoever quotes them may go. `author`: whose the first is. `marked`: their lines bear `>`, and what
    bears more is older still.
    """
    if len(lines) > _LINES_MAX:
        return True
    depth = min((line.depth for line in lines if line.depth), default=0) if marked else 0
    # With the marks of plain text a program set them, and what is written between has none; only who quotes with a
    # program that knows no marks of others adds to them, and signs it.
    signed = marked and form is TextFormat.PLAIN
    if not marked and any(not _is_introduced(lines, *run) for run in islice(runs(lines, len(lines)), _RUNS_MAX)):
        return True
    return any(
        _Reader(form, names, names_in([by.partition("@")[0]]), signed=signed).answered(part)
        for by, part in _letters(lines, depth, author or "")
    )


def _is_introduced(lines: Sequence[Line], start: int, stop: int) -> bool:
    """Whether something stands over marked lines within an older message."""
    if above(lines, start) or inside(lines, start, stop) or attribution_of(lines, start, stop):
        return True
    before = next((line.said for line in reversed(lines[max(start - 3, 0) : start]) if line.said), "")
    return is_label(before)


def _letters(lines: Sequence[Line], depth: int, author: str) -> Iterator[tuple[str, list[Line]]]:
    """The author and the lines of each message, without what stands over it and without what it quotes with marks."""
    part: list[Line] = []
    number = tries = 0
    while number < len(lines):
        line = lines[number]
        after = _over(lines, number) if line.said and line.depth <= depth and tries < _TRIES_MAX else None
        if after is not None:
            tries += 1
            yield author, part
            part = []
            number, author = after
            continue
        if line.depth == depth or not line.said:
            part.append(line)
        number += 1
    yield author, part


def _over(lines: Sequence[Line], number: int) -> tuple[int, str] | None:
    """The line after what stands over an older message, if that stands here; and who wrote it."""
    if is_separator(lines[number].said):
        return number + 1, ""
    block = header_block(lines, number)
    if block is not None and block.complete:
        return block.end, block.author or ""
    for last in range(number, min(number + 3, len(lines))):
        if ends_like_one(lines[last].said):
            found = ending_at(lines, last, lines[number].depth)
            if found is not None and found[0] == number:
                return last + 1, found[1].author or ""
    return None


class _Reader:
    """Reads one message line by line."""

    def __init__(self, form: TextFormat, names: frozenset[str], author: frozenset[str], *, signed: bool) -> None:
        self._markdown = form is TextFormat.MARKDOWN
        self._names = names - author
        self._author = author
        self._signed = signed
        self._seen = _Letter()

    def answered(self, lines: Sequence[Line]) -> bool:
        """Whether one of them looks like an answer."""
        return any(self._is_answer(line) for line in lines) or self._repeats()

    def _is_answer(self, line: Line) -> bool:
        seen = self._seen
        if not line.said:
            seen.blank = True
            return False
        raw = self._raw(line)
        text = raw.strip()
        if (
            letter.is_footer(line.said)
            or forms.ONLY_RULE.fullmatch(text)
            or (self._markdown and forms.TABLE.fullmatch(text))
        ):
            return False
        found = self._is_labelled(text) or self._is_bracketed(text)
        found = found or (not self._signed and self._looks_written(raw, text, line.said))
        self._note(raw, text, line.said)
        return found

    def _looks_written(self, raw: str, text: str, said: str) -> bool:
        """Whether its form tells a line from those around it."""
        return (
            self._breaks_list(raw, text)
            or self._is_set_in(raw, text)
            or self._is_marked(text)
            or self._answers_question(raw, text, said)
            or self._is_emphasised(text, said)
            or self._is_second_letter(said)
        )

    def _raw(self, line: Line) -> str:
        """The line without quotation marks, links and escapes."""
        raw = line.text[: 2 * _CHARS_MAX]
        if line.depth:
            marks = forms.QUOTE_MARKS.match(raw)
            raw = raw[marks.end() :] if marks else raw
        return forms.LINK.sub(lambda match: match[1] or "", raw)[:_CHARS_MAX]

    def _plain(self, text: str) -> str:
        """Without the marks of Markdown."""
        if not self._markdown:
            return text
        # Emphasis begins with what is no blank (CommonMark, 6.2).
        bare = text.strip("*_ ") if forms.EMPHASIS_BEGINS.match(text) else text
        return forms.ESCAPE.sub(r"\1", bare)

    # --- marks --------------------------------------------------------------------------------------------------

    def _is_marked(self, text: str) -> bool:
        plain = self._plain(text)
        signs = (forms.ODD, forms.ARROW, forms.INNER_BRACKETS)
        return any(sign.match(plain) for sign in signs) or bool(forms.SPOKEN.fullmatch(plain))

    def _is_bracketed(self, text: str) -> bool:
        plain = self._plain(text)
        return bool(forms.BRACKETED.match(plain)) and not forms.CAUTION.search(plain[:60])

    def _is_labelled(self, text: str) -> bool:
        plain = self._plain(text)
        match = forms.LABEL.match(plain)
        if match is not None:
            label = match[1].strip().casefold()
            # `a)` counts items, and `C: +49 30` is a telephone.
            counts = plain[match.end(1) :].lstrip().startswith(")") or (
                len(label) == 1 and label.isascii() and match[2] in _TELEPHONE
            )
            if label in forms.ANSWER_LABELS and not counts:
                return not self._seen.closed or len(label) > 2
            # Above the first line a name and a colon greet.
            if label in self._names and self._seen.lines and not letter.is_greeting(plain):
                return True
            words = {word.casefold() for word in forms.WORD.findall(label)}
            if (
                self._seen.lines
                and len(words) <= _SIGNED_WORDS_MAX
                and (words & self._names and speaks_of_answers(label))
            ):
                return True
        enclosed = forms.ENCLOSED.match(plain)
        if enclosed is not None and enclosed[1].casefold() in forms.ANSWER_LABELS | self._names:
            return len(enclosed[1]) > 1 or not enclosed[1].isascii()
        if forms.NUMBERED_ANSWER.match(plain):
            return True
        first = forms.INITIALS.match(plain)
        if first is not None and first[1].casefold() in self._names:
            return True
        spoken_to = forms.SPOKEN_TO.match(plain)
        if spoken_to is not None and spoken_to[1].casefold() in self._author:
            return True
        return not self._seen.closed and self._ends_signed(plain)

    def _ends_signed(self, plain: str) -> bool:
        """Whether a line ends in the name of whoever answers: `Thursday is fine (BA)`."""
        match = re.search(r"\s[(\[/–—-]{1,2}\s?([^\W\d_]{2,20})\s?[)\]]?$", plain[-40:])
        return match is not None and match[1].casefold() in self._names and len(plain) > len(match[0])

    # --- below a question ---------------------------------------------------------------------------------------

    def _answers_question(self, raw: str, text: str, said: str) -> bool:
        if forms.QUESTION_YES.search(text):
            return True
        seen = self._seen
        if seen.lines and not seen.closed and forms.YES_ALONE.fullmatch(said):
            return True
        if not seen.question:
            return False
        plain = self._plain(text)
        if text[0] in forms.SET_OFF:
            return True
        if forms.YES.match(plain) or (_is_capitals(said) and not forms.CAUTION.search(said)):
            return True
        return bool(forms.INDENTED.match(raw) and not forms.BULLET.match(text))

    def _breaks_list(self, raw: str, text: str) -> bool:
        """Whether a list of one line is over with this one, or goes on with another mark: no list, but an answer."""
        seen = self._seen
        bullet = forms.BULLET.match(text)
        if bullet is not None:
            turns = seen.bullets > 0 and text[0] != seen.bullet and not raw[:1].isspace() and not self._markdown
            seen.bullet = text[0]
            return turns
        goes_on = not seen.blank and (raw[:1].isspace() or seen.long) and not forms.ITEM.match(text)
        return seen.bullets == 1 and not goes_on

    def _is_set_in(self, raw: str, text: str) -> bool:
        """Whether a line is set in below lines that are not."""
        seen = self._seen
        # Lists and code are set in with blanks in Markdown.
        if not forms.INDENTED.match(raw) or (self._markdown and raw[0] != "\t") or forms.LISTED.match(text):
            return False
        return seen.flush > 0 and not seen.bullets and not seen.closed and not letter.is_closing(text)

    # --- letters of another kind --------------------------------------------------------------------------------

    def _is_emphasised(self, text: str, said: str) -> bool:
        seen = self._seen
        if seen.closed or forms.CAUTION.search(said[:80]):
            return False
        if forms.TAIL_EMPHASISED.fullmatch(text):
            return True
        whole = forms.EMPHASISED.fullmatch(text)
        if whole is None or whole[1].startswith("* "):
            return False
        return (
            seen.question
            or whole[1].startswith("_")
            or bool(forms.SENTENCE_END.search(text))
            or len(said.split()) >= 4
            or (len(said) >= _UNSPACED_MIN and not said.isascii() and " " not in said)
        )

    # --- a second letter ----------------------------------------------------------------------------------------

    def _is_second_letter(self, said: str) -> bool:
        """Whether below the closing of one letter another begins or ends."""
        seen = self._seen
        if not seen.closed:
            return False
        if said.casefold().strip(" .,!-–—") in self._names:
            return True
        if letter.is_disclaimer(said) or forms.POSTSCRIPT.match(said):
            seen.disclaims = True
        if not seen.after_closing or seen.disclaims:
            return False
        if letter.is_closing(said) or forms.ITEM.match(said):
            return True
        if letter.is_greeting(said) and said.endswith((",", "!", ":", "，", "、")):
            return True
        return not (forms.CONTACT.search(said) or forms.PROMOTES.search(said)) and _is_sentence(said)

    def _note(self, raw: str, text: str, said: str) -> None:
        seen = self._seen
        if seen.closed:
            seen.after_closing += len(said) > 0
        elif letter.is_closing(said):
            seen.closed = True
        elif seen.lines and self._is_signed(said):
            seen.closed, seen.after_closing = True, 1
        if forms.BULLET.match(text) and not self._is_signed(text.lstrip("-–— ")):
            seen.bullets += 1
        elif seen.blank or forms.ITEM.match(text) or not (raw[:1].isspace() or seen.long):
            seen.bullets = 0
        # Once this may be how somebody writes; twice it is a list of questions that somebody went through.
        below = seen.question and not forms.QUESTION.search(said) and len(said) <= _REPLY_MAX and not seen.closed
        seen.replies += 2 * (below and len(said) <= _SHORT_MAX)
        seen.replies += below or bool(forms.ASKED_AND_SAID.fullmatch(said))
        seen.long = len(raw) >= _WRAPPED_MIN
        seen.lines += 1
        seen.flush += not raw[:1].isspace() and not letter.is_greeting(said)
        seen.question = bool(forms.QUESTION.search(said))
        seen.blank = False
        if _is_capitals(said) and not forms.CAUTION.search(said) and not seen.closed:
            seen.capitals += 1
        lead = forms.LEAD.match(self._plain(text)) if not seen.closed else None
        if lead is not None and len(seen.leads) < 4 * _TRIES_MAX:
            seen.leads[lead[1].strip().casefold()] += 1

    def _is_signed(self, said: str) -> bool:
        """Whether a line is the author's name, with or without a closing before it."""
        closing, comma, name = said.rpartition(",")
        if comma and not letter.is_closing(f"{closing},"):
            return False
        words = [word.casefold() for word in forms.WORD.findall(name)]
        return 0 < len(words) <= _SIGNED_WORDS_MAX and self._author.issuperset(words)

    def _repeats(self) -> bool:
        """Whether several lines begin alike, or are in capitals, or a list of one line ended it."""
        seen = self._seen
        if self._signed:
            return False
        if seen.bullets == 1 and not seen.closed:
            return True
        return seen.capitals >= 2 or seen.replies >= 2 or any(number >= 2 for number in seen.leads.values())


def _is_capitals(said: str) -> bool:
    """Whether a line is written in capitals, where a script has them."""
    letters = [char for char in said if char.isalpha()]
    return len(letters) >= 6 and " " in said and all(char.isupper() for char in letters)


def _is_sentence(said: str) -> bool:
    """Whether a line is prose, and not a name, a title or an address."""
    if not said.isascii() and len(said.split()) <= 2:
        return len(said) >= 6 and bool(forms.SENTENCE_END.search(said))
    return len(said.split()) >= 3 and bool(forms.SENTENCE_END.search(said) or forms.QUESTION.search(said))
