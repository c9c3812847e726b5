"""The real command as a process, with settings and recordings of its own; a simulated engine to talk to."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tui.demo.launch import Launch, launch

PATIENCE_S = 90


@dataclass(frozen=True, slots=True)
class Done:
    """A command that has ended."""

    code: int
    out: str
    err: str

    @property
    def objects(self) -> list[dict[str, object]]:
        """The JSON objects that it printed."""
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def last(self) -> dict[str, object]:
        """The last object that it printed."""
        return self.objects[-1]


@dataclass(frozen=True, slots=True)
class Tminus:
    """Starts the command in an environment where nobody's settings have a say."""

    folder: Path

    def environment(self) -> dict[str, str]:
        """Return the variables that it runs with."""
        own = {
            name: value for name, value in os.environ.items() if not name.startswith(("TMINUS_", "OPENAI_"))
        }
        return own | {"TMINUS_CONFIG": str(self.folder / "none.toml"), "XDG_STATE_HOME": str(self.folder)}

    def start(self, *arguments: str) -> "subprocess.Popen[str]":
        """Start it and return at once."""
        return subprocess.Popen(
            [sys.executable, "-m", "tui", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=self.environment(),
            start_new_session=True,
        )

    def run(self, *arguments: str) -> Done:
        """Run it to its end."""
        return self.end(self.start(*arguments))

    async def aside(self, *arguments: str) -> Done:
        """Run it to its end while the test's own loop goes on."""
        return await asyncio.to_thread(self.run, *arguments)

    def end(self, process: "subprocess.Popen[str]") -> Done:
        """Wait for its end."""
        out, err = process.communicate(timeout=PATIENCE_S)
        return Done(process.returncode, out, err)

    @property
    def recordings(self) -> list[Path]:
        """The recordings that it has made."""
        return sorted((self.folder / "tminus" / "recordings").glob("*.jsonl.gz"))


@pytest.fixture
def tminus(tmp_path: Path) -> Tminus:
    """Return the command."""
    return Tminus(tmp_path)


@pytest.fixture
async def simulated_engine() -> AsyncIterator[Launch]:
    """Start a simulated engine that is ready after a moment, and end it."""
    running = await launch(60.0)
    yield running
    await running.close()
