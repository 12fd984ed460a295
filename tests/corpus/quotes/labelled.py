"""The labelled messages of this folder, and how much of each a folding got right."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from mailgate.mime.model import TextFormat
from mailgate.mime.quotes import FoldedText, fold_quotes

FOLDER = Path(__file__).parent
NEW, QUOTED, FORWARDED = "n", "q", "f"


@dataclass(frozen=True, slots=True)
class Labelled:
    """One message. `lines`: whose each is, and what it says."""

    name: str
    client: str
    language: str
    form: TextFormat
    kind: str
    lines: tuple[tuple[str, str], ...]
    author: str | None = None
    date: str | None = None
    subject: str | None = None

    @property
    def text(self) -> str:
        return "\n".join(line for _, line in self.lines)

    def folded(self) -> FoldedText:
        return fold_quotes(self.text, self.form, subject=self.subject)

    @property
    def foldable(self) -> bool:
        """Whether it has quoted lines, and no answers between them."""
        return self.kind != "interleaved" and any(mark == QUOTED for mark, _ in self.lines)


@dataclass(frozen=True, slots=True)
class Outcome:
    """Of one message, in characters that are not blank: `lost` of what is new, `quoted` in all, `folded` of those."""

    lost: int
    quoted: int
    folded: int


@cache
def messages() -> tuple[Labelled, ...]:
    return tuple(message for path in sorted(FOLDER.glob("*.txt")) for message in _read(path))


def _read(path: Path) -> Iterator[Labelled]:
    entries = path.read_text(encoding="utf-8").split("\n%% ")[1:]
    for entry in entries:
        name, *rest = entry.rstrip("\n").split("\n")
        known: dict[str, str] = {}
        lines: list[tuple[str, str]] = []
        for line in rest:
            if line[1:2] == "|":
                assert line[0] in (NEW, QUOTED, FORWARDED), (name, line)
                lines.append((line[0], line[2:]))
            elif line:
                key, separator, value = line.partition(": ")
                assert separator, (name, line)
                assert not lines, (name, line)
                known[key] = value
        yield Labelled(
            name=name,
            client=known.pop("client"),
            language=known.pop("language"),
            form=TextFormat(known.pop("format")),
            kind=known.pop("kind"),
            lines=tuple(lines),
            **known,
        )


def weigh(text: str) -> int:
    return sum(len(word) for word in text.split())


def measure(message: Labelled, kept: Callable[[Labelled], list[str]] | None = None) -> Outcome:
    """Compare the lines that a folding kept with the labels. A kept line counts for the new one where both say the
    same; what stands in place of a block is not a kept line."""
    shown = (kept or kept_lines)(message)
    own = [line for mark, line in message.lines if mark != QUOTED and line.strip()]
    quoted = sum(weigh(line) for mark, line in message.lines if mark == QUOTED)
    position = found = 0
    for line in own:
        try:
            position = shown.index(line, position) + 1
        except ValueError:
            continue
        found += weigh(line)
    return Outcome(
        lost=sum(map(weigh, own)) - found,
        quoted=quoted,
        folded=quoted - max(sum(map(weigh, shown)) - found, 0),
    )


def kept_lines(message: Labelled) -> list[str]:
    """What is left of a message when its quoted blocks are folded, without the lines that stand for them."""
    folded = message.folded()
    shown = folded.text.split("\n")
    for block in folded.blocks:
        shown.remove(block.line)
    return shown
