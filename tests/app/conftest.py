"""A made-up load as a view, for tests of the app."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from tui.view import StillView

_FAKE = Path(__file__).parent.parent / "terminal" / "watch_fake_load.py"


@pytest.fixture(scope="session")
def fake() -> ModuleType:
    """Return the module with the made-up values."""
    spec = importlib.util.spec_from_file_location("watch_fake_load", _FAKE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def view(fake: ModuleType, monkeypatch: pytest.MonkeyPatch) -> StillView:
    """Return a load of eight GPUs that stands still at 40 s, with 100 log lines."""
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    made = StillView(fake.values(40.0, 8), [fake.log_line(number) for number in range(100)])
    made.farewell = ["ready after 3:12"]
    return made
