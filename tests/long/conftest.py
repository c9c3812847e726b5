"""How much of a long test runs: a tenth by default, the whole with TMINUS_LONG=1."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

HERE = Path(__file__).parent

Share = Callable[[int], int]


@pytest.fixture(scope="session")
def share() -> Share:
    """Return a function that gives the part of a count (at least 1) to run now."""
    part = float(os.environ.get("TMINUS_LONG", "0.1"))

    def of(count: int) -> int:
        return max(1, round(count * part))

    return of


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give the tests of this folder the time that their whole counts need."""
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.timeout(3600))
