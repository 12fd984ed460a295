"""Quoted history, found and folded: what its writer added stays, each quoted block becomes one line.

The first law is that nothing new is ever folded away, so every doubt leaves the text as it is:

- where a writer's answers stand between quoted lines, nothing is folded;
- a forwarded message is content, and so is a quotation below a text that says nothing itself, only passes it on, or
  sends its reader to it;
- a quotation that a writer leads over to (`She wrote:`), a poem, or code with `>` before its lines, is content.

What is folded: lines marked with `>` under the introduction of a mail program (`On DATE, NAME wrote:`), or that carry
one themselves; and everything from an unmarked header block (Outlook) or introduction (Yahoo) on to the end.
Work is linear in the text, and nothing in it raises.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto
from itertools import islice, pairwise
from typing import Final

from mailgate.mime import quotes_letter as letter
from mailgate.mime.model import TextFormat
from mailgate.mime.quotes_announced import announces, may_announce
from mailgate.mime.quotes_answers import look_answered, names_in
from mailgate.mime.quotes_attribution import above, ending_at, ends_like_one, inside, is_name
from mailgate.mime.quotes_headers import Opening, is_forward, opening_at, opening_inside
from mailgate.mime.quotes_lines import Line, lines_of, runs
from mailgate.mime.quotes_subject import Subject

_RUNS_MAX: Final = 2000
"""Stretches of quoted lines; no letter has more, and a text of more is left as it is."""
_TRIES_MAX: Final = 2000
"""Lines that are looked at as introductions without marks below."""
_FINNISH_LINES: Final = 4
_GAP_MAX: Final = 3
"""Blank lines between an introduction and marked lines."""
_WRAPPED_MIN: Final = 30
"""Characters of a subject that is taken for the first line of a longer one."""


@dataclass(frozen=True, slots=True)
class QuotedBlock:
    """One block that was folded. `author`: a name, else an address; `date`: `YYYY-MM-DD`, or as written where that can
    be read in two ways; both as the quoting message says, safe to show and bounded. `chars`: its length."""

    author: str | None
    date: str | None
    chars: int

    @property
    def line(self) -> str:
        """What stands in its place."""
        known = [part for part in (self.author, self.date) if part]
        unit = "character" if self.chars == 1 else "characters"
        return f"[quoted: {', '.join([*known, f'{self.chars:,} {unit}'])}]"


@dataclass(frozen=True, slots=True)
class FoldedText:
    """The text with its quoted blocks folded, in their order. `interleaved`: answers stand between quoted lines, or
    are said to; then nothing is folded."""

    text: str
    blocks: tuple[QuotedBlock, ...] = ()
    interleaved: bool = False


class _Kind(Enum):
    HISTORY = auto()
    """Quoted lines that a mail program introduced."""
    MARKED = auto()
    """Quoted lines of which nobody says whose they are."""
    OPEN = auto()
    """An older message without marks, to the end."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """Lines `start` to `end` (not included) that are not, or may not be, the writer's own."""

    kind: _Kind
    start: int
    end: int
    author: str | None = None
    date: str | None = None
    opening: Opening | None = None


def fold_quotes(text: str, form: TextFormat, *, subject: str | None = None) -> FoldedText:
    """The text with its quoted history folded, where there is no doubt. Never raises.

    `subject`: the message's own, if known. An Outlook header block stands over forwarded messages as well as over
    quoted ones; a subject that says it is forwarded, or is another than the block's, leaves it unfolded.
    """
    lines = lines_of(text, form)
    # Folded already, or made to look so: never our lines beside somebody else's of the same form.
    if any(not line.depth and letter.is_marker(line.said) for line in lines):
        return FoldedText(text)
    return _Page(lines, form, subject).folded(text)


@dataclass(frozen=True, slots=True)
class _Run:
    """Quoted lines `start` to `stop` (not included); own text before them begins at `own_from`."""

    start: int
    stop: int
    own_from: int
    first: bool
    last: bool


def _of_opening(kind: _Kind, opening: Opening, end: int) -> _Piece:
    return _Piece(kind, opening.start, end, opening.author, opening.date, opening)


class _Page:
    """One text while it is decided what of it is history."""

    def __init__(self, lines: Sequence[Line], form: TextFormat, subject: str | None) -> None:
        self._lines = lines
        self._form = form
        self._subject = subject
        self._over: dict[int, Opening] = {}
        """What stands over marked lines, by the first of these."""
        self._pieces = self._found()

    def folded(self, text: str) -> FoldedText:
        """The result; the very same text where nothing is folded."""
        if not self._pieces:
            return FoldedText(text)
        if self._interleaved():
            return FoldedText(text, interleaved=True)
        history = [piece for piece in self._pieces if piece.kind is not _Kind.MARKED]
        if not history or self._kept_whole(history):
            return FoldedText(text)
        return self._replaced(history)

    # --- what there is ------------------------------------------------------------------------------------------

    def _found(self) -> list[_Piece]:
        end, opening = self._unmarked()
        stretches = list(islice(runs(self._lines, end), _RUNS_MAX + 1))
        if len(stretches) > _RUNS_MAX:
            return []
        pieces: list[_Piece] = []
        own_from = 0
        for number, (start, stop) in enumerate(stretches):
            run = _Run(start, stop, own_from, first=not number, last=number + 1 == len(stretches) and opening is None)
            piece = self._piece(run, bool(pieces), end)
            if piece is not None:
                pieces.append(piece)
            own_from = stop
        if opening is not None:
            pieces.append(_of_opening(_Kind.OPEN, opening, len(self._lines)))
        return pieces

    def _unmarked(self) -> tuple[int, Opening | None]:
        """Where a forwarded message begins (all of it is content), or an older one without marks, or the text ends."""
        over: Opening | None = None
        tries = 0
        for number, line in enumerate(self._lines):
            if line.depth or not line.said or (over is not None and number < over.end):
                continue
            if is_forward(line.said):
                return number, None
            over = opening_at(self._lines, number)
            if over is None and tries < _TRIES_MAX and ends_like_one(line.said):
                tries += 1
                over = self._bare(number)
            if over is None:
                continue
            marked = self._marked_below(over.end)
            if marked is None:
                return over.start, over
            # Outlook Express writes its block over lines with marks, below which its user may go on.
            self._over[marked] = over
        return len(self._lines), None

    def _bare(self, last: int) -> Opening | None:
        """An introduction that names all there is to name, without marked lines below it (Yahoo)."""
        if self._marked_below(last + 1) is not None:
            return None
        found = ending_at(self._lines, last)
        if found is None or not found[1].certain or not self._said_below(last):
            return None
        # Marked lines further down that nothing introduces: the text between may be an answer to them.
        marked = next(runs(self._lines, len(self._lines), last + 1), None)
        if marked is not None and above(self._lines, marked[0]) is None and inside(self._lines, *marked) is None:
            return None
        return Opening(found[0], last + 1, found[1].author, found[1].date)

    def _marked_below(self, first: int) -> int | None:
        """The marked line that follows, after a few blank ones at most."""
        for number in range(first, min(first + _GAP_MAX + 1, len(self._lines))):
            if self._lines[number].depth:
                return number
            if self._lines[number].said:
                return None
        return None

    def _said_below(self, last: int) -> bool:
        return any(line.said for line in self._lines[last + 1 : last + 4])

    def _piece(self, run: _Run, follows: bool, end: int) -> _Piece | None:
        """What quoted lines are; None where they are the writer's own: a quotation that own text leads over to.
        `follows`: after another piece."""
        block = self._over.get(run.start)
        over = None if block else above(self._lines, run.start)
        first = block.start if block else over[0] if over else run.start
        own_before = self._lines[run.own_from : first]
        if letter.ends_with_colon(own_before):
            # After a first quotation an answer may end in a colon too.
            return _Piece(_Kind.MARKED, run.start, run.stop) if follows else None
        if block is not None:
            return _of_opening(_Kind.HISTORY, block, run.stop)
        introduced = over[1] if over else inside(self._lines, run.start, run.stop)
        edge = self._at_edge(run, own_before, end)
        # With a time of day it stands anywhere, else only at the edge of a text: in its middle,
        # `On 2 March 2026 Anna Berg wrote:` can be the writer's own.
        if introduced is not None and (introduced.strong or edge):
            return _Piece(_Kind.HISTORY, first, run.stop, introduced.author, introduced.date)
        block = None if over or introduced else opening_inside(self._lines, run.start, run.stop)
        if block is not None:
            return _of_opening(_Kind.HISTORY, block, run.stop)
        if introduced is None and edge and self._evident(run):
            return _Piece(_Kind.HISTORY, run.start, run.stop)
        return _Piece(_Kind.MARKED, run.start, run.stop)

    def _at_edge(self, run: _Run, own_before: Sequence[Line], end: int) -> bool:
        """Whether nothing but a greeting stands before quoted lines, or nothing but a signature below them."""
        if run.first and not letter.substance([own_before]):
            return True
        return run.last and end == len(self._lines) and not letter.substance([self._lines[run.stop :]])

    def _evident(self, run: _Run) -> bool:
        """Whether unintroduced quoted lines are mail by themselves: they hold older quotations. Only with the marks of
        plain text. A greeting or a signature among them is no proof: a draft that is shown to somebody has both."""
        return self._form is TextFormat.PLAIN and self._introduces_deeper(run.start, run.stop)

    def _introduces_deeper(self, start: int, stop: int) -> bool:
        """Whether a quoted line introduces lines quoted twice."""
        for number in range(start + 1, stop):
            deeper = self._lines[number].depth > 1 and self._lines[number - 1].depth == 1
            if deeper and above(self._lines, number, depth=1) is not None:
                return True
        return False

    # --- what becomes of it -------------------------------------------------------------------------------------

    def _own(self) -> list[Sequence[Line]]:
        """The stretches between the pieces, in order; one more than there are pieces."""
        edges = [0, *(edge for piece in self._pieces for edge in (piece.start, piece.end)), len(self._lines)]
        return [self._lines[edges[index] : edges[index + 1]] for index in range(0, len(edges), 2)]

    def _interleaved(self) -> bool:
        own = self._own()
        introduced = any(piece.kind is not _Kind.MARKED for piece in self._pieces)
        # In HTML a quotation without an introduction is set off by its writer.
        counts = introduced or self._form is TextFormat.PLAIN
        if counts and any(any(line.said for line in stretch) for stretch in own[1:-1]):
            return True
        if not introduced:
            return False
        said = letter.substance(own)
        if letter.answers_inside(said) or announces(said):
            return True
        if self._pieces[-1].kind is _Kind.OPEN and may_announce(said):
            return True
        names = self._signed(own)
        return any(self._look_answered(piece, names) for piece in self._pieces if piece.kind is not _Kind.MARKED)

    def _look_answered(self, piece: _Piece, names: frozenset[str]) -> bool:
        """Whether answers may be written into one block. `names`: by which the writer of the message signs it; to
        whom the quoted one was sent, and so answers it, its own block tells."""
        opening = piece.opening
        marked = piece.kind is not _Kind.OPEN
        start = opening.end if opening is not None and not marked else piece.start
        sent_to = names_in(opening.to.split(";")) if opening is not None else frozenset()
        lines = self._lines[start : piece.end]
        return look_answered(lines, self._form, names | sent_to, author=piece.author, marked=marked)

    def _signed(self, own: Sequence[Sequence[Line]]) -> frozenset[str]:
        """The names below the new text."""
        said = [line.said for stretch in own for line in stretch if line.said]
        signed = [below for above_it, below in pairwise(said) if letter.is_closing(above_it)]
        return names_in([*signed, *(text for text in said[-1:] if len(text) <= 40 and is_name(text))])

    def _kept_whole(self, history: Sequence[_Piece]) -> bool:
        """Whether the quoted text is what the message is about: own text says nothing beside it, or refers to it."""
        said = letter.substance(self._own())
        opening = history[-1].opening
        if opening is not None and history[-1].kind is _Kind.OPEN:
            own_before = self._lines[self._pieces[-2].end if len(self._pieces) > 1 else 0 : opening.start]
            if letter.ends_with_colon(own_before) or not letter.substance([own_before]):
                return True
        if self._in_the_middle(history) or self._is_evidence(history):
            return True
        answers = self._answers(history[-1])
        return answers is False or letter.introduces(said, asking=answers is None) or letter.refers_below(said)

    def _in_the_middle(self, history: Sequence[_Piece]) -> bool:
        """Whether new text stands above and below: who answers writes on one side, who shows something on both. Only
        Outlook Express, whose users go on below, writes a header block over marked lines."""
        if history[0].opening is not None:
            return False
        above_it = letter.substance([self._lines[: history[0].start]])
        return bool(above_it) and letter.says_more(self._lines[history[-1].end :])

    def _is_evidence(self, history: Sequence[_Piece]) -> bool:
        """Whether the text right above leads over to what somebody else wrote."""
        return letter.shows_evidence(letter.substance([self._lines[: history[0].start]]))

    def _answers(self, piece: _Piece) -> bool | None:
        """Whether the message answers the one that is quoted; None where that is not known.

        A header block stands over forwarded messages as well, and so does `On DATE, NAME wrote:` where a program
        quotes what it forwards; both can be pasted into a letter. So what the subject says counts, if there is one.
        """
        opening = piece.opening
        if self._subject is None:
            return True if opening is None or not opening.block else None
        own = Subject.of(self._subject)
        if own.forwards or (own.unsure and not self._is_finnish(piece)):
            return False
        if opening is None:
            return True if own.answers or own.unsure else None
        if opening.subject is None:
            return own.answers
        # A ticket system puts its number before somebody's subject, a gateway its warning before the answer's.
        quoted = Subject.of(opening.subject).bare
        same = own.bare == quoted or (len(quoted) >= _WRAPPED_MIN and own.bare.startswith(quoted))
        return same and (own.answers or own.unsure)

    def _is_finnish(self, piece: _Piece) -> bool:
        """Whether a Finnish program quoted it."""
        over = self._lines[piece.start : piece.start + _FINNISH_LINES]
        return any(word in line.said.casefold() for line in over for word in ("kirjoitti", "lähettäjä"))

    def _replaced(self, history: Sequence[_Piece]) -> FoldedText:
        out: list[str] = []
        blocks: list[QuotedBlock] = []
        position = 0
        for piece in history:
            end = piece.end
            # Blank lines below a block part it from what follows.
            while end > piece.start + 1 and not self._lines[end - 1].said and not self._lines[end - 1].depth:
                end -= 1
            block = self._block(piece, end)
            out.extend(line.text for line in self._lines[position : piece.start])
            out.append(block.line)
            blocks.append(block)
            position = end
        out.extend(line.text for line in self._lines[position:])
        return FoldedText("\n".join(out), tuple(blocks))

    def _block(self, piece: _Piece, end: int) -> QuotedBlock:
        lines = self._lines[piece.start : end]
        chars = sum(len(line.text) for line in lines) + len(lines) - 1
        return QuotedBlock(piece.author, piece.date, chars)
