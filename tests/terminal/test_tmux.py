"""The screen in a real terminal, from start to quit."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from shlex import quote
from typing import Protocol

import pytest

pytestmark = pytest.mark.terminal

ROOT = Path(__file__).parent.parent.parent
FAKE = Path(__file__).parent / "watch_fake_load.py"
DEADLINE_S = 60.0


class Tmux:
    """A tmux server of its own with one window of 80 by 24 cells."""

    def __init__(self, program: str, command: str, socket: Path) -> None:
        self._base = [program, "-S", str(socket), "-f", "/dev/null"]
        environ = {
            key: value for key, value in os.environ.items() if key not in ("TMUX", "NO_COLOR", "COLORTERM")
        }
        shell = ["new-session", "-d", "-x", "80", "-y", "24", command]
        subprocess.run([*self._base, *shell], check=True, env={**environ, "LANG": "C.UTF-8"})

    def ask(self, *arguments: str) -> str:
        """Run a tmux command; return what it says."""
        return subprocess.run([*self._base, *arguments], check=True, capture_output=True, text=True).stdout

    def press(self, *keys: str) -> None:
        """Type keys, by tmux's names."""
        self.ask("send-keys", *keys)

    def picture(self) -> str:
        """Return what stands on the screen."""
        return self.ask("capture-pane", "-p")

    def wait_for(self, holds: Callable[[str], bool]) -> str:
        """Return the first picture of which this holds."""
        end = time.monotonic() + DEADLINE_S
        while not holds(picture := self.picture()):
            assert time.monotonic() < end, picture
            time.sleep(0.05)
        return picture

    def close(self) -> None:
        """End the server and all in it."""
        subprocess.run([*self._base, "kill-server"], check=False, capture_output=True)


class Needs(Protocol):
    """Finds a system program, or skips."""

    def __call__(self, program: str, /) -> str: ...


@pytest.fixture
def tmux(needs: Needs, tmp_path: Path) -> Iterator[Tmux]:
    """Return a terminal in which the made-up load is being watched."""
    program = needs("tmux")
    command = f"{quote(sys.executable)} {quote(str(FAKE))} --gpus 16; echo code=$?; exec sleep 600"
    made = Tmux(program, f"cd {quote(str(ROOT))} && PYTHONPATH=. {command}", tmp_path / "socket")
    yield made
    made.close()


def test_a_load_is_watched_searched_paged_and_left_at_eighty_by_twenty_four(tmux: Tmux) -> None:
    picture = tmux.wait_for(lambda text: "watching pid 41207" in text)
    lines = picture.splitlines()
    assert len(lines) == 24
    assert lines[0].startswith(" gpu01 · sglang 0.5.6")
    assert "8 more: 1 PgDn" in lines[1]
    assert [line.split()[0] for line in lines[2:10]] == [str(index) for index in range(8)]
    assert "health answers 503" in lines[11]
    assert lines[13].endswith("follow")
    assert lines[23].startswith(" q quit")

    tmux.press("1", "NPage")
    tmux.wait_for(lambda text: text.splitlines()[2].split()[0] == "8")
    tmux.press("/", "warning", "Enter")
    tmux.wait_for(lambda text: "'warning' " in text and "held" in text)
    tmux.press("?")
    tmux.wait_for(lambda text: "Everywhere" in text)
    tmux.press("q")
    tmux.wait_for(lambda text: "Everywhere" not in text)
    tmux.press("Space")
    tmux.wait_for(lambda text: "PAUSED" in text)
    assert tmux.ask("display-message", "-p", "#{pane_title}").strip() == "tminus gpu01: LOADING"
    assert tmux.ask("display-message", "-p", "#{alternate_on} #{mouse_any_flag}").split() == ["1", "1"]

    tmux.press("q")
    left = tmux.wait_for(lambda text: "code=0" in text)
    assert "not ready after 3:12 (loading)" in left
    assert "GPU" not in left
    assert tmux.ask("display-message", "-p", "#{alternate_on} #{mouse_any_flag}").split() == ["0", "0"]
