"""The real command as a process, with settings and recordings of its own; a simulated engine to talk to."""

import asyncio
import json
import os
import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import pytest
from simulated_launch import Launch, launch

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
        places = {
            "XDG_STATE_HOME": str(self.folder),
            "XDG_DATA_HOME": str(self.folder),
            "TMPDIR": str(self.folder),
        }
        (self.folder / "none.toml").touch()
        return own | {"TMINUS_CONFIG": str(self.folder / "none.toml")} | places

    def into_one(self, *arguments: str) -> tuple[int, str]:
        """Run it to its end; return its exit code and both outputs, which went to one place."""
        done = subprocess.run(
            [sys.executable, "-m", "tui", *arguments],
            env=self.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        return done.returncode, done.stdout

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

    def until(self, process: "subprocess.Popen[str]", *words: str) -> str:
        """Return the first line of its output that holds all these words; fails when it ends without one."""
        return _line_with(process, process.stdout, words)

    def until_said(self, process: "subprocess.Popen[str]", *words: str) -> str:
        """Return the first line of its error output that holds all these words."""
        return _line_with(process, process.stderr, words)

    def end(self, process: "subprocess.Popen[str]") -> Done:
        """Wait for its end; what ``until`` has taken is not told again."""
        assert process.stdout is not None
        assert process.stderr is not None
        patience = threading.Timer(PATIENCE_S, process.kill)
        patience.start()
        with ThreadPoolExecutor(1) as other, process:
            err = other.submit(process.stderr.read)
            out = process.stdout.read()
            code = process.wait()
            patience.cancel()
            return Done(code, out, err.result())

    @property
    def recordings(self) -> list[Path]:
        """The recordings that it has made."""
        return sorted((self.folder / "tminus" / "recordings").glob("*.jsonl.gz"))


def _line_with(process: "subprocess.Popen[str]", stream: IO[str] | None, words: tuple[str, ...]) -> str:
    patience = threading.Timer(PATIENCE_S, process.kill)
    patience.start()
    try:
        for line in stream or ():
            if all(word in line for word in words):
                return line
    finally:
        patience.cancel()
    pytest.fail(f"ended without a line with {words}")


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
