"""A ledger of its own for each test."""

from pathlib import Path

import pytest

from tui.runs.ledger import Ledger


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """Return a ledger whose file does not exist yet."""
    return Ledger(tmp_path / "share" / "tminus" / "runs.sqlite", busy_s=0.3)
