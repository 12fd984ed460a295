"""Which folders do not exist for any caller: those the operator hides, and everything below them."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from mailgate.imap.mutf7 import WIRE_PREFIX, decode, to_wire
from mailgate.imap.values import FolderName

ANY_DELIMITER: Final = "/.\\|"
"""Taken for delimiters when the server does not tell its own: better hide too much than too little."""

_Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class HiddenFolders:
    """Compares without regard to case, Unicode form and surplus delimiters: some servers do so as well."""

    names: frozenset[FolderName] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.names)

    def hides(self, name: FolderName, delimiters: str | None) -> bool:
        """Whether a folder is hidden. `delimiters`: characters between levels; None or empty for no hierarchy."""
        if not self.names:
            return False
        paths = [path for reading in _readings(name) for path in (_path(reading, delimiters),)]
        return any(_is_at_or_below(path, hidden) for hidden in self._paths(delimiters) for path in paths)

    def has_below(self, name: FolderName, delimiters: str | None) -> bool:
        """Whether a hidden folder lies below this one, so that renaming it would bring that one to light."""
        paths = [_path(reading, delimiters) for reading in _readings(name)]
        return any(_is_at_or_below(hidden, path) for hidden in self._paths(delimiters) for path in paths)

    def _paths(self, delimiters: str | None) -> Iterator[_Path]:
        return (_path(name.text, delimiters) for name in self.names)


def _readings(name: FolderName) -> Iterable[str]:
    """The texts a server may take the name for: as shown, and what its exact octets decode to."""
    yield name.text
    if not name.text.lower().startswith(WIRE_PREFIX):
        return
    try:
        wire = to_wire(name)
    except ValueError:
        return
    for read in (decode, bytes.decode):
        try:
            yield read(wire)
        except ValueError:
            continue


def _path(text: str, delimiters: str | None) -> _Path:
    text = unicodedata.normalize("NFC", text).casefold()
    for delimiter in delimiters or "":
        text = text.replace(delimiter, "\0")
    return tuple(level for level in text.split("\0") if level)


def _is_at_or_below(path: _Path, hidden: _Path) -> bool:
    return bool(hidden) and path[: len(hidden)] == hidden
