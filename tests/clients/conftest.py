"""One demo server for all foreign clients, and their figures at the end of the run."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.clients.demo import Demo, running_demo
from tests.clients.installed import Installed, installed
from tests.conftest import missing_peer

pytest.register_assert_rewrite("tests.clients.walks")

FIGURES = pytest.StashKey[list[str]]()

Figure = Callable[[str], None]


@pytest.fixture(scope="session")
def clients() -> Installed:
    """What `scripts/clients` installed."""
    found = installed()
    if found is None:
        missing_peer("The set of foreign MCP clients")
    assert found is not None
    return found


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    """The session's server; nobody changes its mail."""
    with running_demo(tmp_path_factory.mktemp("demo")) as server:
        yield server


@pytest.fixture
def figure(request: pytest.FixtureRequest) -> Figure:
    """Has a line printed at the end of the run."""
    return request.config.stash.setdefault(FIGURES, []).append


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print the figures, whether or not anybody asked for the output of tests that pass."""
    lines = config.stash.get(FIGURES, [])
    if lines:
        terminalreporter.section("foreign clients")
        for line in lines:
            terminalreporter.line(line)
