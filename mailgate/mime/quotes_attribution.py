"""The line that introduces a quotation: `On DATE, NAME wrote:` in many languages and word orders, wrapped or not.

What makes such a line is not one pattern a language but its facts: it is short, ends in a colon, begins as mail
programs begin it, and names a time and an address, or a date, a writer and the verb.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from mailgate.mime.clean import clean
from mailgate.mime.quotes_dates import FoundDate, ascii_digits, find_date, find_time, month_of
from mailgate.mime.quotes_lines import Line
from mailgate.mime.quotes_words import OPENERS, OPENERS_UNSPACED, QUOTING, WROTE, WROTE_BEFORE_NAME

_CHARS_MAX: Final = 300
_LINES_MAX: Final = 4
_GAP_MAX: Final = 2
"""Blank lines between the introduction and what it introduces."""
_WORDS_BEFORE_MAX: Final = 3
_LOWER_NAME_WORDS_MAX: Final = 3
NAME_CHARS_MAX: Final = 60

_ADDRESS: Final = re.compile(r"[<(\[]{0,2}([^\s<>()\[\]@:;,\"']{1,64}@[^\s<>()\[\]@:;,\"']{1,255})[>)\]]{0,2}")
_BRACKETED: Final = re.compile(r"\(?<([^\s<>()\[\]@:;,\"']{1,64}@[^\s<>()\[\]@:;,\"']{1,255})>\)?")
_VERBS: Final = "|".join(re.escape(verb) for verb in sorted(WROTE, key=len, reverse=True))
_VERB: Final = re.compile(rf"(?:{_VERBS})", re.IGNORECASE)
_VERB_ENDS: Final = tuple(verb.rstrip(")") for verb in sorted(WROTE, key=len, reverse=True))
_MIDDLE_VERB: Final = re.compile(rf"(?<!\w)(?:{'|'.join(WROTE_BEFORE_NAME)})(?!\w)", re.IGNORECASE)
_VERB_THEN_DATE: Final = re.compile(rf"(?<!\w)(?:{_VERBS})(?!\w),? (?=\S{{1,4}} )", re.IGNORECASE)
_QUOTING: Final = re.compile(rf"(?:{'|'.join(QUOTING)})(?!\w)", re.IGNORECASE)
_DIGIT: Final = re.compile(r"\d")
_DASHED: Final = re.compile(r"-{2,8} ?([^-].{0,280}?) ?-{2,8}")
_WORD: Final = re.compile(r"[^\W_][\w.'’\-/]*")
_PARTICLES: Final = frozenset(
    "von van de der den di da du del la le af zu zum bin al el ten ter dos das e y und".split()
)
_JOINTS: Final = re.compile(
    r"[,，、;]|(?<!\S)[+-]\d{4}(?!\d)|ο χρήστης|η χρήστης|odesílatel|użytkownik|je oseba|\bהמשתמש\b|מאת|بواسطة|من قبل"
)
"""What stands between a date and a name, in the middle of either."""
_LEADING: Final = frozenset(
    "via hat has had uhr von by from от at a à às en om klo kl kl. dne heeft je ob v u la lúc w o g. godz. г р".split()
)
"""Words that may be left before a name when date and time are taken away."""
_EDGES: Final = " \t,.;:<>()[]\"'“”„«»‘’-–—|，、"


@dataclass(frozen=True, slots=True)
class Attribution:
    """Who wrote what follows, and when; `date` is what `quotes_dates` shows of it."""

    author: str | None
    date: str | None
    timed: bool = False
    addressed: bool = False
    worded: bool = False

    @property
    def strong(self) -> bool:
        """Whether it names what hardly anybody writes by hand: a time of day."""
        return self.timed

    @property
    def certain(self) -> bool:
        """Whether it is one even where the quoted lines bear no marks."""
        return self.timed and self.addressed and self.worded and self.date is not None


def above(lines: Sequence[Line], end: int, depth: int = 0) -> tuple[int, Attribution] | None:
    """The introduction that ends right above line `end`, and the line on which it begins.

    The fewest lines win, so that it never reaches into the text before; one without its date is taken only if no
    longer one has it: `On DATE` and `NAME wrote:` are two lines with some programs.
    """
    last = end - 1
    while last >= 0 and end - 1 - last < _GAP_MAX and lines[last].depth <= depth and not lines[last].said:
        last -= 1
    return ending_at(lines, last, depth)


def ending_at(lines: Sequence[Line], last: int, depth: int = 0) -> tuple[int, Attribution] | None:
    """The introduction whose last line is `last`."""
    if last < 0 or not ends_like_one(lines[last].said):
        return None
    undated: tuple[int, Attribution] | None = None
    for first in range(last, max(last - _LINES_MAX, -1), -1):
        line = lines[first]
        if not line.said or line.depth != depth:
            break
        found = parse(_joined(lines, first, last))
        if found is not None and found.date is not None:
            # What is above a line that could stand alone must be the rest of it: a date and, at most, a name.
            if undated is None or _is_date_and_name(_joined(lines, first, undated[0] - 1)):
                return _with_name_above(lines, first, last, found, depth)
            break
        undated = undated or ((first, found) if found is not None else None)
    return undated


def _joined(lines: Sequence[Line], first: int, last: int) -> str:
    return " ".join(lines[number].said for number in range(first, last + 1))


def _with_name_above(
    lines: Sequence[Line], first: int, last: int, found: Attribution, depth: int
) -> tuple[int, Attribution]:
    """Where the address comes first, the name before it was wrapped onto a line of its own."""
    above_it = lines[first - 1] if first else None
    if above_it is None or above_it.depth != depth or not lines[first].said.startswith("<"):
        return first, found
    if not is_name(above_it.said):
        return first, found
    whole = parse(_joined(lines, first - 1, last))
    return (first - 1, whole) if whole else (first, found)


def inside(lines: Sequence[Line], start: int, end: int) -> Attribution | None:
    """The introduction with which quoted lines begin: Apple Mail quotes it with the rest."""
    first = start
    while first < end and not lines[first].said:
        first += 1
    for last in range(first, min(first + _LINES_MAX, end)):
        if not lines[last].said:
            return None
        if ends_like_one(lines[last].said):
            found = parse(_joined(lines, first, last))
            if found is not None:
                return found
    return None


def ends_like_one(text: str) -> bool:
    """Cheap, and true of every introduction's last line."""
    return text.endswith((":", "：", "--"))


def parse(text: str) -> Attribution | None:
    """What a line says about a quotation, or None where it is no introduction of one, or might be none."""
    if len(text) > _CHARS_MAX or not ends_like_one(text):
        return None
    # Each has a date or an address; this spares every other line the rest.
    if "@" not in text and not _DIGIT.search(text):
        return None
    dashed = _DASHED.fullmatch(text)
    body = ascii_digits(dashed[1] if dashed else text.rstrip(":： "))
    if not dashed and not text.endswith((":", "：")):
        return None
    return _Sentence(body).attribution()


class _Sentence:
    """One line, its facts found once."""

    def __init__(self, text: str) -> None:
        self._text = text
        # A name can look like an address itself.
        self._address = _BRACKETED.search(text) or _ADDRESS.search(text)
        self._time = find_time(text)
        self._date: FoundDate | None = find_date(text)
        self._final = _final_verb(text)
        self._middle = None if self._final is not None else _MIDDLE_VERB.search(text)

    def attribution(self) -> Attribution | None:
        if self._address is not None:
            return self._addressed(self._address)
        return self._named()

    def _addressed(self, address: re.Match[str]) -> Attribution | None:
        """With an address: a time as well, or the verb. Nothing may stand beside these but names and joints, or it
        is a sentence of somebody's own: `On 2 March 2026 I heard from NAME <ADDRESS> and she wrote:`."""
        quoting = _QUOTING.match(self._text)
        name_first = self._begins_with_name(address)
        worded = bool(self._final is not None or self._middle or quoting)
        if not (name_first or quoting or (self._opens() and self._few_before())):
            return None
        if not quoting and not (self._date_after(address) if name_first else self._name_only(address)):
            return None
        dated = self._date is not None
        if (
            not quoting
            and not (self._time is not None and (dated or worded))
            and not (worded and (name_first or dated))
        ):
            return None
        author = self._name_before(address.start()) or address[1]
        return self._made(author, addressed=True, worded=worded)

    def _few_before(self) -> bool:
        """Whether hardly more than a preposition and the day stands before date and time."""
        starts = [self._date.start if self._date else None, self._time[0] if self._time else None]
        first = min((start for start in starts if start is not None), default=0)
        return len(self._text[:first].split()) <= _WORDS_BEFORE_MAX

    def _name_only(self, address: re.Match[str]) -> bool:
        """Whether between the date and the address stands a name, and after it at most the verb."""
        begin = max((end for end in (self._facts_end(), self._middle_end()) if end <= address.start()), default=0)
        name = _without_leading(_JOINTS.sub(" ", self._text[begin : address.start()]))
        after = self._text[address.end() : self._final].strip(_EDGES)
        return not after and (not name or is_name(name) or len(name.split()) <= _LOWER_NAME_WORDS_MAX)

    def _date_after(self, address: re.Match[str]) -> bool:
        """Whether after a name and address stand only the verb and a date, with few words between."""
        after = self._text[address.end() :]
        date, time = find_date(after), find_time(after)
        for start, end in sorted(
            (span for span in ((date.start, date.end) if date else None, time) if span), reverse=True
        ):
            after = after[:start] + " " + after[end:]
        words = _WORD.findall(_VERB.sub(" ", after))
        return len(words) <= _WORDS_BEFORE_MAX

    def _named(self) -> Attribution | None:
        """Without an address: a date, the verb, and between them nothing but a name."""
        if self._date is None:
            return None
        name = self._name_beside_verb()
        if name is None or not (self._few_before() or self._middle or self._final is None):
            return None
        return self._made(name, addressed=False, worded=True)

    def _made(self, author: str, *, addressed: bool, worded: bool) -> Attribution:
        date = self._date.text if self._date else None
        return Attribution(shown_name(author), date, self._time is not None, addressed, worded)

    def _opens(self) -> bool:
        """Whether it begins as mail programs begin: with a preposition, a day, a month, or a number."""
        if self._text[:1].isdigit() or self._text.startswith(OPENERS_UNSPACED):
            return True
        word = _WORD.search(self._text)
        if word is None or self._text[: word.start()].strip(_EDGES):
            return False
        first = word[0].casefold().rstrip(".'’")
        return first in OPENERS or first.split("-")[0] in OPENERS or (month_of(first) is not None and len(first) < 11)

    def _begins_with_name(self, address: re.Match[str]) -> bool:
        before = self._text[: address.start()].strip(_EDGES)
        return not before or (is_name(before) and not any(char.isdigit() or char in ":：" for char in before))

    def _name_beside_verb(self) -> str | None:
        if self._middle is not None:
            after = self._text[self._middle.end() :].strip(_EDGES)
            before = self._text[: self._middle.start()].strip(_EDGES)
            if is_name(after) and self._opens():
                return after
            return before if is_name(before) and self._date_only(after) else None
        if self._final is not None:
            between = self._text[self._facts_end() : self._final]
            name = _without_leading(_JOINTS.sub(" ", between))
            return name if is_name(name) and self._opens() else None
        turned = _VERB_THEN_DATE.search(self._text)
        if turned is None:
            return None
        name, rest = self._text[: turned.start()].strip(_EDGES), self._text[turned.end() :]
        return name if is_name(name) and self._date_only(rest) else None

    def _date_only(self, text: str) -> bool:
        """Whether a text is a date with its preposition and time, as after `NAME wrote on`."""
        found, time = find_date(text), find_time(text)
        if found is None or len(text) > 60:
            return False
        end = max(found.end, time[1] if time else 0)
        return not text[end:].strip(_EDGES) and len(text[: found.start].split()) <= 3

    def _facts_end(self) -> int:
        """Where date and time end, of which the name follows."""
        ends = [self._date.end if self._date else 0, self._time[1] if self._time else 0]
        return max(ends)

    def _name_before(self, address: int) -> str:
        """The name between what else is said and the address."""
        text = self._text[:address].rstrip(" <([")
        if text.endswith(('"', "”", "»")):
            # A quoted name may hold a comma.
            opening = max(text.rfind(mark, 0, len(text) - 1) for mark in '"“„«')
            if opening >= 0:
                return text[opening:].strip(_EDGES)
        begin = max((end for end in (self._facts_end(), self._middle_end()) if end <= address), default=0)
        pieces = [piece for piece in _JOINTS.split(text[begin:]) if piece.strip(_EDGES)]
        return _without_leading(pieces[-1]) if pieces else ""

    def _middle_end(self) -> int:
        quoting = _QUOTING.match(self._text)
        return self._middle.end() if self._middle else quoting.end() if quoting else 0


def _is_date_and_name(text: str) -> bool:
    """Whether a line can be the first one of an introduction: `On DATE at TIME`, with or without the name."""
    plain = ascii_digits(text)
    date, time = find_date(plain), find_time(plain)
    if date is None:
        return False
    begin, end = min(date.start, time[0] if time else date.start), max(date.end, time[1] if time else 0)
    rest = _without_leading(_JOINTS.sub(" ", plain[end:]))
    return len(plain[:begin].split()) <= _WORDS_BEFORE_MAX and (not rest or is_name(rest))


def _final_verb(text: str) -> int | None:
    """Where the verb begins with which a text ends."""
    lowered = text.lower().rstrip(" .,;:!)]>\"'”»")
    for verb in _VERB_ENDS:
        if lowered.endswith(verb):
            start = len(lowered) - len(verb)
            before = lowered[start - 1 : start]
            return None if before.isascii() and before.isalpha() else start
    return None


def _without_leading(text: str) -> str:
    words = text.strip(_EDGES).split()
    while words and words[0].casefold() in _LEADING:
        del words[0]
    return " ".join(words).strip(_EDGES)


def is_name(text: str) -> bool:
    """Whether a text can be a person's name and nothing else: up to six words, none in lower case but particles."""
    words = _WORD.findall(text)
    if not 0 < len(words) <= 6 or len(text) > NAME_CHARS_MAX:
        return False
    plain = [word for word in words if word.casefold() not in _PARTICLES]
    return bool(plain) and all(not word[0].islower() and not word[0].isdigit() for word in plain)


def shown_name(text: str) -> str | None:
    """A writer's name as it may stand in our own line: cleaned, bounded, without what could end or imitate it."""
    plain = clean(text).text
    name = (plain.partition("(")[0].strip() or plain).translate({ord(mark): None for mark in '[]<>"“”„`|'})
    return " ".join(name.split()).strip(_EDGES)[:NAME_CHARS_MAX].rstrip() or None
