"""What tests leave to the garbage collector is collected while they still answer for it."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def nothing_lingers() -> Iterator[None]:
    """Transports whose loop has ended complain when they are freed, though their sockets were closed before."""
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        for _ in range(3):
            gc.collect()
