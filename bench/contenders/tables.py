"""The figures as text: a line for each cell as it comes, and tables for the page."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bench.contenders.jobs import JOBS

if TYPE_CHECKING:
    from bench.peers import Cell

BEGIN: Final = "<!-- measured: begin -->"
END: Final = "<!-- measured: end -->"


def ratio(cell: Cell, mbit: float, *, cold: bool) -> float | None:
    """Times the floor; None where there is no floor, or no figure."""
    took = cell.cold if cold else cell.warm
    least = JOBS[cell.job].floor(cell.rtt, mbit, cold=cold, tls=cell.tls)
    return None if took is None or least <= 0 else took / least


def shown(cell: Cell, mbit: float, *, cold: bool) -> str:
    """Milliseconds, and times the floor."""
    took, times = (cell.cold if cold else cell.warm), ratio(cell, mbit, cold=cold)
    mark = "!" if cell.wrong else ""
    if took is None:
        return "–" + mark
    return f"{took:,.0f}" + ("" if times is None else f" ({times:.2f})") + mark


def plain(cell: Cell, mbit: float) -> str:
    """One cell in a line."""
    return (
        f"{cell.size:>6} {cell.rtt:>4.0f} ms  {cell.contender:<24} {cell.job:<9}"
        f" cold {shown(cell, mbit, cold=True):>16} in {cell.cold_turns:>2}  warm {shown(cell, mbit, cold=False):>16}"
        f" in {cell.warm_turns:>2}, {cell.warm_down / 1024:>9,.0f} KiB, {cell.peak / 2**20:>5.0f} MiB  {cell.wrong}"
    )


def page(cells: Iterable[Cell], mbit: float) -> str:
    """Tables, for each size and round trip: times, then what it took; and a line for every wrong answer."""
    cells = list(cells)
    parts = []
    for size, rtt in dict.fromkeys((cell.size, cell.rtt) for cell in cells):
        here = [cell for cell in cells if (cell.size, cell.rtt) == (size, rtt)]
        title = f"{size:,} messages, {rtt:.0f} ms"
        careless = dict.fromkeys(cell.contender for cell in here if cell.any_certificate)
        for name, cold in (("warm", False), ("cold", True)):
            rows = _table(here, lambda cell, cold=cold: shown(cell, mbit, cold=cold))
            parts.append(
                f"**{title}, {name}**: milliseconds (times the floor)\n\n{_floors(here, mbit, cold=cold, rows=rows)}"
            )
        rows = _table(here, _cost)
        parts.append(
            f"**{title}, cost**: round trips, new connections, KiB to the client, each cold / warm; peak MiB\n\n"
            + "\n".join(rows)
        )
        wrong = dict.fromkeys(f"- {cell.contender}, {cell.job}: {cell.wrong}" for cell in here if cell.wrong)
        if wrong:
            parts.append("Marked `!`:\n\n" + "\n".join(wrong))
        if careless:
            parts.append(
                "Logs in to a server with a certificate of nobody that it trusts: " + ", ".join(careless) + "."
            )
    return "\n\n".join(parts) + "\n"


def _cost(cell: Cell) -> str:
    turns = f"{cell.cold_turns} / {cell.warm_turns}"
    connections = f"{cell.cold_connections} / {cell.warm_connections}"
    down = f"{cell.cold_down / 1024:,.0f} / {cell.warm_down / 1024:,.0f}"
    return f"{turns}; {connections}; {down}; {cell.peak / 2**20:.0f}"


def _table(cells: list[Cell], show: Callable[[Cell], str]) -> list[str]:
    jobs = [job for job in JOBS if any(cell.job == job for cell in cells)]
    rows = [f"| | {' | '.join(jobs)} |", "|---|" + "--:|" * len(jobs)]
    for contender in dict.fromkeys(cell.contender for cell in cells):
        found = {cell.job: show(cell) for cell in cells if cell.contender == contender}
        rows.append(f"| {contender} | {' | '.join(found.get(job, '–') for job in jobs)} |")
    return rows


def _floors(cells: list[Cell], mbit: float, *, cold: bool, rows: list[str]) -> str:
    jobs = [job for job in JOBS if any(cell.job == job for cell in cells)]
    floors = [f"{JOBS[job].floor(cells[0].rtt, mbit, cold=cold):,.0f}" for job in jobs]
    return "\n".join([*rows[:2], f"| floor | {' | '.join(floors)} |", *rows[2:]])


def write(path: Path, text: str) -> None:
    """Put the text between the marks of a page."""
    old = path.read_text(encoding="utf-8")
    before, _, rest = old.partition(BEGIN)
    _, _, after = rest.partition(END)
    path.write_text(f"{before}{BEGIN}\n\n{text}\n{END}{after}", encoding="utf-8")
