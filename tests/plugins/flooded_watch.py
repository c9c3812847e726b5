"""The real command at a terminal over a slow link, while the log is flooded; what that costs."""

import asyncio
import subprocess
import sys
import time
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

import psutil
from ssh_relay import relayed
from ssh_server import SshServer
from tminus_command import Tminus
from typed_terminal import Typed

from tui.events import AnyEvent, Gap, Gpus, Log
from tui.journal.reader import Recording

FLOOD_BYTES_S = 50_000_000
LINK_BYTES_S = 2_000_000 / 8
_PRESS_S = 0.4
_JUMP_S = 5.0
_FAR = "jumps to its end"
_LOOK_S = 0.1
_MIB = 2**20
# Numbered lines of 100 bytes, in bursts of a tenth of a second, until its input ends.
_PROGRAM = """
import select, sys, time
rate, stream, begun, number = int(sys.argv[1]), open(1, "wb", 0), time.monotonic(), 0
text = b"router sends a request to worker twelve, batch of 32 prompts".ljust(89, b".")
while not select.select([sys.stdin], [], [], max(0, begun + number * 100 / rate - time.monotonic()))[0]:
    stream.write(b"".join(b"%09d %b\\n" % (each, text) for each in range(number, number + rate // 1000)))
    number += rate // 1000
"""


@contextmanager
def flooding(path: Path, bytes_s: int) -> Generator[int, None, None]:
    """Let a process that looks like a server write so much a second into its log; gives its pid."""
    program = path.parent / "sglang" / "launch_server.py"
    program.parent.mkdir()
    program.write_text(_PROGRAM)
    command = [sys.executable, str(program), str(bytes_s), "--model-path", "/m"]
    with (
        path.open("ab", 0) as log,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=log, stderr=log) as process,
    ):
        try:
            yield process.pid
        finally:
            process.kill()


@dataclass
class Figures:
    """What a flooded watch took and gave. Ages are those of the newest sample of all GPUs at the client."""

    key_ms: list[float] = field(default_factory=list[float])
    client_mib: float = 0.0
    client_cpu_pct: float = 0.0
    agent_mib: float = 0.0
    agent_pss_mib: float = 0.0
    age_s: list[float] = field(default_factory=list[float])
    behind_mib: float = 0.0
    read_mib: float = 0.0
    skipped: list[Gap] = field(default_factory=list[Gap])
    jumped_s: float = 0.0
    far_lag_s: float | None = None
    """How far the reading was behind by the sizes of the file, when the screen first said that it is far."""

    def told(self) -> dict[str, object]:
        """Return them by names with their units, as JSON has them."""
        return {
            "client_rss_mib": round(self.client_mib, 1),
            "client_cpu_pct_of_a_core": round(self.client_cpu_pct),
            "agent_largest_process_rss_mib": round(self.agent_mib, 1),
            "agent_all_processes_pss_mib": round(self.agent_pss_mib, 1),
            "newest_sample_age_s": {"p50": round(median(self.age_s), 2), "max": round(max(self.age_s), 2)},
            "key_answer_ms": {"p50": round(median(self.key_ms), 1), "max": round(max(self.key_ms), 1)},
            "log_read_mib": round(self.read_mib, 2),
            "log_behind_mib": round(self.behind_mib, 1),
            "true_lag_when_told_of_s": None if self.far_lag_s is None else round(self.far_lag_s, 1),
            "skipped_mib": [round((gap.lost_bytes or 0) / _MIB, 1) for gap in self.skipped],
            "jump_to_the_end_s": [round(gap.client_s - self.jumped_s, 2) for gap in self.skipped],
        }


class Watched(Typed):
    """The command at its terminal, which looks meanwhile at how long the log is."""

    def __init__(self, tminus: Tminus, arguments: tuple[str, ...], log: Path) -> None:
        super().__init__(tminus, arguments, None, "front")
        self.sizes: list[tuple[float, int]] = []
        self.far_s: float | None = None
        self._log = log

    def read(self) -> bool:
        """Read what comes within a moment."""
        now_s = time.monotonic()
        if not self.sizes or now_s - self.sizes[-1][0] >= _LOOK_S:
            self.sizes.append((now_s, self._log.stat().st_size))
        more = super().read()
        if self.far_s is None and _FAR in self.output:
            self.far_s = time.monotonic()
        return more


async def flooded(
    server: SshServer,
    folder: Path,
    seconds: float,
    *,
    link_bytes_s: float = LINK_BYTES_S,
    python: bool = True,
) -> Figures:
    """Watch a flooded log for so long over a link of that rate, press keys, and jump to its end at last.

    Without ``python`` on the host no process is followed there, only the log.
    """
    figures, log, tminus = Figures(), folder / "server.log", Tminus(folder)
    async with relayed(server) as relay:
        with flooding(log, FLOOD_BYTES_S) as pid:
            followed = ("--pid", str(pid)) if python else ("--log", str(log))
            arguments = (server.host, "--ssh-config", server.config_file, *followed)
            typed = Watched(tminus, arguments, log)
            try:
                await asyncio.to_thread(typed.until, "behind")
                relay.bytes_s = link_bytes_s
                await asyncio.to_thread(_press, typed, server, figures, seconds)
                await asyncio.to_thread(_jump, typed, figures)
                await asyncio.to_thread(_leave, typed)
            finally:
                typed.close()
    log.unlink()
    _read(Recording(tminus.recordings[0]), figures, typed)
    return figures


def _press(typed: Typed, server: SshServer, figures: Figures, seconds: float) -> None:
    """Hold and follow the log again and again; note how soon the screen says so, and the memory."""
    begun_s = time.monotonic()
    client = psutil.Process(typed.process.pid)
    before_s = sum(client.cpu_times()[:2])
    while time.monotonic() < begun_s + seconds:
        for answer in ("f follows again", "following the newest lines"):
            typed.output = ""
            pressed_s = time.perf_counter()
            typed.type("f")
            typed.until(answer)
            figures.key_ms.append((time.perf_counter() - pressed_s) * 1e3)
            _rest(typed, _PRESS_S)
        _weigh(typed, server, figures)
    spent_s = sum(client.cpu_times()[:2]) - before_s
    figures.client_cpu_pct = 100 * spent_s / (time.monotonic() - begun_s)


def _rest(typed: Typed, seconds: float) -> None:
    """Go on reading, as a terminal does."""
    end_s = time.monotonic() + seconds
    while time.monotonic() < end_s:
        typed.read()
    typed.output = ""


def _weigh(typed: Typed, server: SshServer, figures: Figures) -> None:
    figures.client_mib = max(figures.client_mib, psutil.Process(typed.process.pid).memory_info().rss / _MIB)
    agents = [memory for memory in map(_memory, _agents(server)) if memory is not None]
    if agents:
        figures.agent_mib = max(figures.agent_mib, *(each.rss / _MIB for each in agents))
        figures.agent_pss_mib = max(figures.agent_pss_mib, sum(each.pss for each in agents) / _MIB)


def _agents(server: SshServer) -> Iterable[psutil.Process]:
    """Return the agent and its workers."""
    sessions = server.sessions()
    children = {child for pid in sessions for child in psutil.Process(pid).children(recursive=True)}
    return [child for child in children if child.pid not in sessions and not _is_stand_in(child)]


def _is_stand_in(process: psutil.Process) -> bool:
    """Whether it is no program of ours, but takes the place of nvidia-smi."""
    try:
        return any("stand_in_smi" in word for word in process.cmdline())
    except psutil.Error:
        return False


def _memory(process: psutil.Process) -> Any:
    try:
        return process.memory_full_info()
    except psutil.NoSuchProcess:  # a worker that has just ended, reaped or not
        return None


def _jump(typed: Typed, figures: Figures) -> None:
    """Jump to the end of the log, which the screen says at once, and give it the time to get there."""
    figures.jumped_s = time.monotonic()
    typed.type("J")
    typed.until("jumping to the end of the log")
    _rest(typed, _JUMP_S)


def _leave(typed: Typed) -> None:
    typed.type("q")
    typed.end()


def _read(recording: Recording, figures: Figures, typed: Watched) -> None:
    """Take from the recording how old the newest sample was each time that another one came."""
    events: list[AnyEvent] = list(recording.events())
    samples = [event for event in events if isinstance(event, Gpus)]
    figures.age_s = [later.client_s - earlier.mono_s for earlier, later in pairwise(samples)]
    logs = [event for event in events if isinstance(event, Log)]
    figures.behind_mib = max(event.behind_bytes for event in logs) / _MIB
    figures.read_mib = sum(len(line) + 1 for event in logs for line in event.lines) / _MIB
    figures.skipped = [event for event in events if isinstance(event, Gap) and event.why == "skipped"]
    if typed.far_s is not None:
        figures.far_lag_s = _true_lag_s(typed.far_s, logs, typed.sizes)


def _true_lag_s(at_s: float, logs: list[Log], sizes: list[tuple[float, int]]) -> float:
    """Return how long ago the file grew past what had been read of it at a moment."""
    read_bytes = max(event.offset for event in logs if event.client_s <= at_s)
    return at_s - next(seen_s for seen_s, size in sizes if size > read_bytes)
