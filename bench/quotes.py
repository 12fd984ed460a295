"""How well quoted history is found: `scripts/bench quotes`.

Folds the labelled messages of `tests/corpus/quotes` and prints, for each client and each language, how much that is new
was folded away (it has to be nothing) and which share of what is quoted was folded, where no answers stand inside it.
Characters are counted without blanks. The run fails where the tests would.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable

from tests.corpus.quotes.labelled import Labelled, measure, messages

SHARE_MIN = 0.95


def main() -> int:
    found = messages()
    kinds = Counter(message.kind for message in found)
    print(f"{len(found)} messages: " + ", ".join(f"{number} {kind}" for kind, number in kinds.most_common()))
    print()
    row("", len(found), *totals(found))
    for title in ("client", "language", "form"):
        print(f"\nby {title}")
        for name in sorted({getattr(message, title) for message in found}):
            group = [message for message in found if getattr(message, title) == name]
            row(name, len(group), *totals(group))
    lost, quoted, folded = totals(found)
    unmarked = [message.name for message in found if message.kind == "interleaved" and not message.folded().interleaved]
    print(f"\nnew characters folded away: {lost}; interleaved but not said to be: {len(unmarked)}")
    return int(lost > 0 or folded < SHARE_MIN * quoted or bool(unmarked))


def totals(group: Iterable[Labelled]) -> tuple[int, int, int]:
    """New characters folded away in all of them; quoted characters of the foldable ones, and how many were folded."""
    lost = quoted = folded = 0
    for message in group:
        outcome = measure(message)
        lost += outcome.lost
        if message.foldable:
            quoted += outcome.quoted
            folded += outcome.folded
    return lost, quoted, folded


def row(name: str, number: int, lost: int, quoted: int, folded: int) -> None:
    share = f"{folded / quoted:7.1%}" if quoted else "      -"
    print(f"{name or 'all':18}{number:5} messages  new lost {lost:4}  quoted {quoted:6,}  folded {share}")


if __name__ == "__main__":
    sys.exit(main())
