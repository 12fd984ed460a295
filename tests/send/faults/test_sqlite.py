"""The same for the file of the local store: locked, refusing to write, read-only, taken away, at every step.

The expectations are written by hand, one line a cell; the columns are those of `test_table`. Every trouble lasts until
the call has given up, and is over before anybody asks again; a file that was taken away stays away.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from mailgate.limits import SEND_DEADLINE_DEFAULT
from tests.send.faults.scene import LETTER, Scene, SqlitePlace

SHORT = 1.0


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Another process holds the file and does not let go."""
    blocker = sqlite3.connect(path, isolation_level=None)
    blocker.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        blocker.execute("ROLLBACK")
        blocker.close()


@contextmanager
def refusing(path: Path) -> Iterator[None]:
    """No row can be written, as on a full disk."""
    triggers = {f"no_{word}_{table}": (word, table) for word in ("INSERT", "UPDATE") for table in ("send", "claim")}
    with closing(sqlite3.connect(path)) as connection, connection:
        for name, (word, table) in triggers.items():
            connection.execute(f"CREATE TRIGGER {name} BEFORE {word} ON {table} BEGIN SELECT RAISE(ABORT, 'full'); END")
    try:
        yield
    finally:
        with closing(sqlite3.connect(path)) as connection, connection:
            for name in triggers:
                connection.execute(f"DROP TRIGGER {name}")


@contextmanager
def read_only(path: Path) -> Iterator[None]:
    """The file says of itself that nobody may write to it (SQLite, "Database File Format", 1.3.3)."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    before = _write_version(path, 3)
    try:
        yield
    finally:
        _write_version(path, before)


def _write_version(path: Path, version: int) -> int:
    with path.open("r+b") as file:
        file.seek(18)
        before = file.read(1)[0]
        file.seek(18)
        file.write(bytes([version]))
    return before


@contextmanager
def removed(path: Path) -> Iterator[None]:
    """Somebody deletes the file while a process has it open, and those beside it."""
    for file in path.parent.glob(path.name + "*"):
        if file.suffix != ".key":
            file.unlink()
    yield


Trouble = Callable[[Path], AbstractContextManager[None]]
TROUBLES: dict[str, Trouble] = {"locked": locked, "refusing": refusing, "read_only": read_only, "removed": removed}

CELLS = """
prepare locked    | store_unavailable | 0 | accepted | 1 | accepted
prepare refusing  | store_unavailable | 0 | accepted | 1 | accepted
prepare read_only | store_unavailable | 0 | accepted | 1 | accepted
claim   locked    | store_unavailable | 0 | accepted | 1 | accepted
claim   refusing  | store_unavailable | 0 | accepted | 1 | accepted
claim   read_only | store_unavailable | 0 | accepted | 1 | accepted
begin   locked    | not_sent:store_unavailable+record_not_saved | 0 | sending | 0 | not_sent
begin   refusing  | not_sent:store_unavailable+record_not_saved | 0 | sending | 0 | not_sent
outcome locked    | accepted+record_not_saved | 1 | sending | 1 | unknown
outcome refusing  | accepted+record_not_saved | 1 | sending | 1 | unknown
"""


@dataclass(frozen=True)
class Cell:
    step: str
    trouble: str
    first: str
    dots: int
    repeat: str
    dots_then: int
    later: str


def cells() -> list[Cell]:
    made = []
    for line in CELLS.strip().splitlines():
        head, first, dots, repeat, dots_then, later = (word.strip() for word in line.split("|"))
        step, trouble = head.split()
        made.append(Cell(step, trouble, first, int(dots), repeat, int(dots_then), later))
    return made


@pytest.fixture
async def path(local: Scene) -> Path:
    """The file, made by somebody who was here before."""
    assert isinstance(local.place, SqlitePlace)
    async with local.service() as service:
        await service.prepare()
    return local.place.path


@pytest.mark.parametrize("cell", cells(), ids=lambda cell: f"{cell.step}-{cell.trouble}")
async def test_trouble_with_the_file(local: Scene, path: Path, cell: Cell) -> None:
    trouble = TROUBLES[cell.trouble](path)
    # A process that has not opened the file yet: one that has would go on writing to a file marked read-only.
    async with local.service(seconds=SHORT) as service:
        if cell.step == "prepare":
            with trouble:
                answer = await service.call("mail_prepare_send", {"message": LETTER})
            assert answer.text.startswith(f"error {cell.first}: ")
            review = await service.prepare()
        else:
            async with local.service() as earlier:
                review = await earlier.prepare()
            if cell.step == "claim":
                with trouble:
                    assert await service.outcome(review) == cell.first
            else:

                async def now() -> None:
                    trouble.__enter__()

                setattr(local.smtp, "at_mail" if cell.step == "begin" else "at_dot", now)
                assert await service.outcome(review) == cell.first
                trouble.__exit__(None, None, None)
                local.smtp.at_mail = local.smtp.at_dot = None
    assert (local.smtp.dots, local.smtp.said("DATA")) == (cell.dots, cell.dots)
    assert local.smtp.connections == (cell.step in ("begin", "outcome"))
    assert await local.confirmed_elsewhere(review) == cell.repeat
    local.backdoor.age(SEND_DEADLINE_DEFAULT + 1)
    assert await local.confirmed_elsewhere(review) == cell.later
    assert (local.smtp.dots, local.smtp.said("DATA")) == (cell.dots_then, cell.dots_then)
    assert local.smtp.connections == 1


@pytest.mark.parametrize(
    ("step", "first", "dots"),
    [
        ("claim", "prepared_not_found", 0),
        ("begin", "not_sent:store_unavailable+record_lost", 0),
        ("outcome", "accepted+record_lost", 1),
    ],
)
async def test_a_file_that_was_taken_away_is_an_empty_store(
    local: Scene, path: Path, step: str, first: str, dots: int
) -> None:
    """Also for the process that has it open: a claim that nobody else can see would be none."""
    async with local.service() as service:
        review = await service.prepare()

        async def now() -> None:
            with removed(path):
                pass

        if step == "claim":
            await now()
        else:
            setattr(local.smtp, "at_mail" if step == "begin" else "at_dot", now)
        assert await service.outcome(review) == first
        local.smtp.at_mail = local.smtp.at_dot = None
        for _ in range(2):
            assert await local.confirmed_elsewhere(review) == "prepared_not_found"
        assert await service.outcome(review) == "prepared_not_found"
        assert (local.smtp.dots, local.smtp.said("DATA")) == (dots, dots)
        assert local.smtp.connections == (step != "claim")
        assert await service.outcome(await service.prepare()) == "accepted"


async def test_a_directory_that_cannot_be_made_is_unavailable(local: Scene, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no directory")
    async with local.service() as service:
        review = await service.prepare()
    blocked = SqlitePlace(tmp_path / "file" / "send.sqlite3")
    async with Scene(blocked, local.smtp, login=local.login).service() as service:
        answer = await service.call("mail_prepare_send", {"message": LETTER})
        assert answer.text.startswith("error store_unavailable: ")
        assert await service.outcome(review) == "store_unavailable"
    assert local.smtp.connections == 0
