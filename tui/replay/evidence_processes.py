"""The processes of the followed servers, gathered over a recording; those of others are only counted."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tui.events import Process, Processes
from tui.watch.target import SAME_S, Server

PROCESSES = 300
SEEN = 10_000
UNREADABLE = "not readable"


@dataclass(frozen=True, slots=True)
class ProcessGroup:
    """Processes that differ in nothing but their ids, their states and when they started; the first leads."""

    processes: tuple[Process, ...]

    @property
    def head(self) -> str:
        """The group in one line."""
        first, count = self.processes[0], len(self.processes)
        return f"pid {first.pid}  {first.title}" + (f"  and {count - 1} like it" if count > 1 else "")


@dataclass(frozen=True, slots=True)
class ProcessList:
    """``followed`` are those of every followed server, each as it was last readable, ``left_out`` how many
    more there were. ``others`` counts those of servers that were not followed.
    """

    followed: tuple[Process, ...] = ()
    left_out: int = 0
    others: int = 0

    def groups(self, main_pid: int | None) -> list[ProcessGroup]:
        """Return them in groups of equal ones; the group with ``main_pid`` comes first."""
        found: dict[tuple[object, ...], list[Process]] = {}
        for process in sorted(self.followed, key=lambda each: (each.pid != main_pid, each.pid)):
            found.setdefault(_what_it_is(process), []).append(process)
        return [ProcessGroup(tuple(each)) for each in found.values()]


class ProcessBook:
    """Gathers the processes event by event."""

    def __init__(self) -> None:
        self._followed: list[Process] = []
        self._places: dict[int, list[int]] = {}
        self._seen: dict[int, list[float]] = {}
        self._seen_count = 0
        self._left_out = 0

    def take(self, event: Processes, followed: Server | None) -> None:
        """Take a list of processes in. ``followed`` is the server in it that is followed, if there is one."""
        pids = set[int]() if followed is None else {member.pid for member in followed.members}
        for process in event.processes:
            fresh = self._is_fresh(process)
            place = self._place(process)
            if place is not None:
                if process.argv is not None:
                    self._followed[place] = process
            elif process.pid in pids:
                self._add(process, fresh=fresh)

    def list(self) -> ProcessList:
        """Return what was gathered."""
        others = self._seen_count - len(self._followed) - self._left_out
        return ProcessList(tuple(self._followed), self._left_out, max(0, others))

    def _add(self, process: Process, *, fresh: bool) -> None:
        if len(self._followed) < PROCESSES:
            self._places.setdefault(process.pid, []).append(len(self._followed))
            self._followed.append(process)
        elif fresh:
            self._left_out += 1

    def _place(self, process: Process) -> int | None:
        places = self._places.get(process.pid, ())
        return next((place for place in places if _same(self._followed[place].started_s, process)), None)

    def _is_fresh(self, process: Process) -> bool:
        starts = self._seen.setdefault(process.pid, [])
        if any(_same(started_s, process) for started_s in starts) or self._seen_count >= SEEN:
            return False
        starts.append(process.started_s)
        self._seen_count += 1
        return True


def _same(started_s: float, process: Process) -> bool:
    """Whether a pid is still the same process; another agent may date it some milliseconds off."""
    return abs(started_s - process.started_s) < SAME_S


def _what_it_is(process: Process) -> tuple[object, ...]:
    variables = None if process.environment is None else tuple(sorted(process.environment.items()))
    arguments = None if process.argv is None else tuple(process.argv)
    places = (process.cwd, process.stdout, process.stderr, process.container)
    who = (process.title, process.ppid, process.uid, process.user, process.matched)
    return (*who, *places, arguments, variables)


Told = dict[tuple[tuple[str, str], ...], int]
"""Which environments were told already, and of which pid."""


def group_lines(group: ProcessGroup, told: Told) -> Iterator[str]:
    """Return what is known of a group, without its head."""
    process = group.processes[0]
    engine = "" if process.matched is None else f", found as {process.matched}"
    if len(group.processes) > 1:
        pids = ", ".join(str(each.pid) for each in group.processes)
        yield from wrapped(f"{len(group.processes)} processes like this: pids {pids}", "  ", "    ")
    states = _states(group.processes)
    yield f"  parent {process.ppid}, user {process.user} ({process.uid}), state {states}{engine}"
    places = {"folder": process.cwd, "stdout": process.stdout, "stderr": process.stderr}
    for name, place in places.items():
        yield f"  {name}: {UNREADABLE if place is None else place}"
    yield f"  container: {process.container or 'none seen'}"
    if process.argv is None:
        yield f"  arguments: {UNREADABLE}"
    else:
        yield "  arguments:"
        yield from (f"    {argument}" for argument in process.argv)
    yield from _variables(process, told)


def _states(processes: Sequence[Process]) -> str:
    counts: dict[str, int] = {}
    for process in processes:
        counts[process.state] = counts.get(process.state, 0) + 1
    if len(counts) == 1:
        return processes[0].state
    return ", ".join(f"{state} ({count})" for state, count in sorted(counts.items()))


def _variables(process: Process, told: Told) -> Iterator[str]:
    if process.environment is None:
        yield f"  environment: {UNREADABLE}"
        return
    variables = tuple(sorted(process.environment.items()))
    same = told.setdefault(variables, process.pid)
    if same != process.pid and variables:
        yield f"  environment: the same as that of pid {same}"
        return
    yield "  environment:" if variables else "  environment: no such variable"
    yield from (f"    {name}={value}" for name, value in variables)


def wrapped(text: str, first: str = "", further: str = "", width: int = 100) -> Iterator[str]:
    """Return the words of a text in rows of so many columns."""
    line = ""
    for word in text.split():
        if line and len(line) + 1 + len(word) > width:
            yield first + line
            line, first = word, further
        else:
            line = f"{line} {word}".strip()
    yield first + line
