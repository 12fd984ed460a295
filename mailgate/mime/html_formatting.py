"""Formatting that a parser opens again: what it does to text outlives the paragraph or the division it stood in.

An element like `font` that is closed by something other than its own end tag is opened again before the next text, up
to its end tag or the end of its cell (HTML Standard, 13.2.4.3). Here only those that can change how text is seen are,
and only so often, for opening them again multiplies a hostile document.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from mailgate.mime import html_rules as rules
from mailgate.mime.html_tokens import StartTag

_KEPT: Final = frozenset({"style", "class", "id", "color", "size", "hidden"})
_ALIKE_MAX: Final = 3
"""Of elements alike only three are kept (13.2.4.3, the Noah's Ark clause); of any, twice as many."""
_CHARS_MAX: Final = 128 * 1024


class ClosedFormatting:
    """The elements to open again, with a mark for each open cell. `limited`: some was not opened again."""

    def __init__(self) -> None:
        self._closed: list[StartTag | None] = []
        self._room = _CHARS_MAX
        self.limited = False

    def enter_cell(self) -> None:
        """Nothing from outside is opened again within."""
        self._closed.append(None)

    def leave_cell(self) -> None:
        """Nothing from within is opened again outside."""
        while self._closed and self._closed.pop() is not None:
            pass

    def close(self, tags: Iterable[StartTag]) -> None:
        """Elements that something else closed, the outermost first."""
        for tag in tags:
            kept = {key: value for key, value in tag.attributes.items() if key in _KEPT}
            if tag.name not in rules.FORMATTING or not kept:
                continue
            again = StartTag(tag.name, kept)
            alike = [index for index in self._here() if self._closed[index] == again]
            if len(alike) >= _ALIKE_MAX:
                del self._closed[alike[0]]
            elif len(self._here()) >= 2 * _ALIKE_MAX:
                del self._closed[self._here()[0]]
            self._closed.append(again)

    def end(self, name: str) -> None:
        """The end tag of an element that is not open."""
        for index in reversed(self._here()):
            tag = self._closed[index]
            if tag is not None and tag.name == name:
                del self._closed[index]
                return

    def take(self) -> list[StartTag]:
        """What is to be opened again now."""
        taken = [tag for index in self._here() if (tag := self._closed[index]) is not None]
        if not taken:
            return taken
        del self._closed[-len(taken) :]
        self._room -= sum(sum(map(len, tag.attributes.values())) + 20 for tag in taken)
        self.limited = self.limited or self._room < 0
        return taken if self._room >= 0 else []

    def _here(self) -> range:
        """Where the elements of the innermost cell are."""
        start = len(self._closed)
        while start and self._closed[start - 1] is not None:
            start -= 1
        return range(start, len(self._closed))
