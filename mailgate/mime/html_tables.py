"""Tables of data told from tables of layout, in the one pass that bounds the document.

Mail is laid out with tables, so a table is one of data only if it says so (heading cells, a caption, a border, a role)
and looks like it: several rows and columns, no table inside, no long text in a cell.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

DATA: Final = "data"
"""The attribute that the scan gives to a table of data."""
_CELL_CHARS_MAX: Final = 300
_LAYOUT_ROLES: Final = frozenset({"presentation", "none"})
_DATA_ROLES: Final = frozenset({"table", "grid", "treegrid"})
_HEADINGS: Final = frozenset({"h1", "h2", "h3", "hr", "blockquote", "pre", "ul", "ol", "center"})


@dataclass(slots=True)
class TableFacts:
    """What is known of one table while it is read. `position`: of its start tag in what is written."""

    position: int
    role: str
    says_data: bool
    is_layout: bool
    rows: int = 0
    cells: int = 0
    columns: int = 0
    full_rows: int = 0
    chars: int = 0

    @classmethod
    def of(cls, position: int, attributes: Mapping[str, str]) -> TableFacts:
        """For a table's start tag."""
        role = attributes.get("role", "").strip().lower()
        border = attributes.get("border", "0").strip()
        says = role in _DATA_ROLES or border not in ("", "0", "0px", "none")
        return cls(position, role, says, role in _LAYOUT_ROLES)

    def element(self, name: str) -> None:
        """An element opens inside, not within a table inside."""
        if name == "tr":
            self._end_row()
            self.rows += 1
        elif name in ("td", "th"):
            self.cells += 1
            self.chars = 0
        self.says_data = self.says_data or name in ("th", "thead", "caption")
        self.is_layout = self.is_layout or name == "table" or name in _HEADINGS

    def text(self, chars: int) -> None:
        """That many characters are in the cell."""
        self.chars += chars
        self.is_layout = self.is_layout or self.chars > _CELL_CHARS_MAX

    def _end_row(self) -> None:
        self.columns = max(self.columns, self.cells)
        self.full_rows += self.cells > 1
        self.cells = 0

    def is_data(self) -> bool:
        """The verdict, once the table is at its end."""
        self._end_row()
        return self.says_data and not self.is_layout and self.columns > 1 and self.full_rows > 1
