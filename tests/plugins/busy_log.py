"""A log that a process of its own writes at a steady rate and rotates, and what a reader made of it."""

import asyncio
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tui.events import AnyEvent, Gap, Log

# Writes numbered lines, 20 at a time, and makes the next of the named rotations after each so many lines,
# until it is told to stop; then it prints how many lines it wrote, and which of them it destroyed. Names end
# as those of logrotate with dateext. copytruncate is done between two writes, so that it destroys nothing;
# truncate and delete destroy what was not read by then.
_PROGRAM = """
import json, os, select, shutil, sys, time
path, rate, every, rotations = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
stream, begun, turn, line, first, destroyed = open(path, "ab", 0), time.monotonic(), 0, 0, 0, []
while not select.select([sys.stdin], [], [], max(0, begun + line / rate - time.monotonic()))[0]:
    stream.write(b"".join(b"%08d the quick brown fox jumps\\n" % number for number in range(line, line + 20)))
    line += 20
    if rotations and line % every == 0:
        kind, turn = rotations[turn % len(rotations)], turn + 1
        if kind in ("truncate", "delete"):
            destroyed.append([first, line])
        if kind == "copytruncate":
            shutil.copy(path, "%s-%08d" % (path, turn))
        if kind in ("copytruncate", "truncate"):
            stream.truncate(0)
        else:
            os.replace(path, "%s-%08d" % (path, turn)) if kind == "rename" else os.remove(path)
            stream.close()
            stream = open(path, "ab", 0)
        first = line
print(json.dumps([line, destroyed]))
"""


@dataclass(frozen=True, slots=True)
class Written:
    """How many lines were written, and which ranges of them (first, end) were destroyed in the end."""

    lines: int
    destroyed: list[tuple[int, int]]


class Writer:
    """A running writer."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    async def finish(self) -> Written:
        """Let it end and tell what it wrote."""
        said, _ = await asyncio.to_thread(self._process.communicate, "end\n")
        lines, destroyed = json.loads(said)
        return Written(lines, [(first, end) for first, end in destroyed])


@contextmanager
def writing(
    path: Path, rotations: Sequence[str] = (), *, every: int = 4000, rate: int = 2000
) -> Generator[Writer, None, None]:
    """Let a process write ``rate`` lines a second, rotating after each ``every`` lines (a multiple of 20)."""
    command = [sys.executable, "-c", _PROGRAM, str(path), str(rate), str(every), *rotations]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        try:
            yield Writer(process)
        finally:
            process.kill()


@dataclass
class Read:
    """What came of a busy log: how often each line, in which order, and what was said to be lost."""

    counts: Counter[int] = field(default_factory=Counter[int])
    gaps: list[Gap] = field(default_factory=list[Gap])
    out_of_order: int = 0
    strange: list[str] = field(default_factory=list[str])
    last: int = -1

    def take(self, event: AnyEvent) -> None:
        """Count the lines of a log event, and keep gaps."""
        if isinstance(event, Gap):
            self.gaps.append(event)
            self._forgive()
        if isinstance(event, Log):
            for line in event.lines:
                self._count(line)

    def lost(self, lines: int) -> list[int]:
        """Return the lines, of so many written, that never came."""
        return [number for number in range(lines) if not self.counts[number]]

    def holes(self, lines: int) -> int:
        """Return how many unbroken runs of lines never came."""
        lost = self.lost(lines)
        return sum(number - 1 != before for before, number in zip([-2, *lost], lost, strict=False))

    def repeated(self) -> list[int]:
        """Return the lines that came more than once."""
        return [number for number, times in self.counts.items() if times > 1]

    def _forgive(self) -> None:
        """Pass over the beginning of the next line, whose end a gap has destroyed."""
        if self.strange and f"{self.last + 1:08d} the quick brown fox jumps".startswith(self.strange[-1]):
            self.strange.pop()

    def _count(self, line: str) -> None:
        number, _, rest = line.partition(" ")
        if not number.isdigit() or rest != "the quick brown fox jumps":
            self.strange.append(line)
            return
        self.counts[int(number)] += 1
        self.out_of_order += int(number) < self.last
        self.last = max(self.last, int(number))
