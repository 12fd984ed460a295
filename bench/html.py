"""Newsletters and hostile documents through the HTML reader: `python -m bench.html`.

Prints octets of the raw HTML, of html2text on its own and of ours, and how long hostile documents take.
"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

import html2text

from mailgate.limits import KIB, MIB
from mailgate.mime.html_text import html_to_text
from tests.mime.html_hostile import HOSTILE_DOCUMENTS
from tests.mime.newsletters import Newsletter, newsletters


@dataclass(frozen=True)
class Sizes:
    """Octets of one document in three forms."""

    name: str
    raw: int
    theirs: int
    ours: int


def sizes_of(documents: Iterable[Newsletter]) -> list[Sizes]:
    """The three sizes of each document; html2text as it comes, but without its line breaks."""
    found = []
    for document in documents:
        theirs = html2text.HTML2Text(bodywidth=0)
        theirs.unicode_snob = True
        texts = (document.html, theirs.handle(document.html), html_to_text(document.html).text)
        found.append(Sizes(document.name, *(len(text.encode()) for text in texts)))
    return found


def _print_newsletters() -> None:
    sizes = sizes_of(newsletters())
    for each in sizes:
        octets = f"raw {each.raw:7,}  html2text {each.theirs:6,}  ours {each.ours:6,}"
        print(f"{each.name:20} {octets}  1/{each.raw / each.ours:.1f}")
    raw, theirs, ours = (median(values) for values in zip(*((s.raw, s.theirs, s.ours) for s in sizes), strict=True))
    ratio = median(each.raw / each.ours for each in sizes)
    print(f"{len(sizes)} documents, medians: raw {raw:,}, html2text {theirs:,}, ours {ours:,}, ratio 1/{ratio:.1f}")


def _print_hostile() -> None:
    for name, html in HOSTILE_DOCUMENTS.items():
        began = time.perf_counter()
        result = html_to_text(html)
        taken = time.perf_counter() - began
        tracemalloc.start()
        html_to_text(html)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        shown = f"{len(result.text) / KIB:7.1f} KiB shown, limited {result.limited!s:5}"
        print(f"{name:45} {len(html) / KIB:8.0f} KiB  {taken:6.3f} s  {peak / MIB:6.1f} MiB  {shown}")


if __name__ == "__main__":
    _print_newsletters()
    print()
    _print_hostile()
