"""Every row, in the order of the table."""

from __future__ import annotations

from tests.send.crash import rows_around, rows_claim, rows_data, rows_outcome, rows_prepare
from tests.send.crash.rows import ROWS
from tests.send.crash.run import Row

_TOLD = (rows_prepare, rows_claim, rows_data, rows_outcome, rows_around)


def all_rows() -> list[Row]:
    """By number, and as they were written."""
    assert len({row.name for row in ROWS}) == len(ROWS)
    return sorted(ROWS, key=lambda row: int(row.number.removeprefix("K")))
