"""What /proc told the H200 recorder of the server's processes, as the Signals of a live watch: thinned.

The recorder looked each 0.4 s and wrote down what had changed. It read no context switches and no maps, so
that wake-ups and the mapped shard are not known; it had file and shmem pages in one figure, which stands for
``rss_file_mib``; and its own cost at this is not told apart (``cost_ms`` is 0). The server's own processes
are the launched one, those with a title of the engine's, and other Python processes of the tree: no compile
workers, no resource trackers. Of the compile workers only those count as running that used CPU time since
the reading before: the others wait for work. Nothing was recorded that HostSignals tell of.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from tui.agent.signals.roles import COMPILE_WORKER, COMPILERS
from tui.journal.h200_records import Launch, ProcessRecord, ProcessRow
from tui.signals import CompilerSignals, ProcessSignals, Signals
from tui.transport.clean import clean

EACH_S = 1.0
TICK_S = 0.01
_KIB = 1024
_GONE = "ZXx"
_TRACKER = "resource_tracker"


@dataclass(slots=True)
class _Process:
    """One process of the tree; ``compiler`` is its name as one, "" for others, ``owner`` whose it is."""

    pid: int
    ppid: int
    own: bool
    compiler: str
    owner: int = 0
    alive: bool = True
    row: ProcessRow | None = None
    told_cpu_s: float = 0.0

    @property
    def cpu_s(self) -> float:
        """CPU time at the last look, 0 before the first."""
        return 0.0 if self.row is None else (_cpu_s(self.row) or 0.0)


@dataclass(slots=True)
class _Compilers:
    """The compilers under one process of the server; ``ended_s`` is what those that are gone used."""

    alive: dict[int, _Process] = field(default_factory=dict[int, _Process])
    started: int = 0
    ended_s: float = 0.0


class SignalReader:
    """Follows the tree of the launched process, and tells of it about once a second."""

    def __init__(self, launch: Launch) -> None:
        self._pid = launch.pid
        self._title = f"{launch.engine.lower()}::"
        self._known: dict[int, _Process] = {}
        self._own: dict[int, _Process] = {}
        self._compilers: dict[int, _Compilers] = {}
        self._due_s = 0.0

    def take(self, record: ProcessRecord) -> Iterator[Signals]:
        """Give a reading when a second is over."""
        if record.new is not None:
            self._name(record.new, record)
        if record.gone is not None:
            self._end(record.gone)
        if record.p is None:
            return
        for text, row in record.p.items():
            self._look(int(text) if text.isdecimal() else 0, row)
        if record.t >= self._due_s:
            self._due_s += EACH_S * ((record.t - self._due_s) // EACH_S + 1)
            yield self._told(record.t)

    def _name(self, pid: int, record: ProcessRecord) -> None:
        before = self._known.get(pid)
        now = _Process(pid, record.ppid, self._is_own(pid, record), _compiler(record))
        if before is not None and before.alive:
            now.row = before.row
            if before.own and now.own:
                self._known[pid] = self._own[pid] = now
                return
            self._end(pid)
            # It has taken another name: what it used before counts with the new one.
            if before.compiler and now.compiler and (group := self._compilers.get(before.owner)):
                group.started -= 1
                group.ended_s -= before.cpu_s
        self._begin(now)

    def _is_own(self, pid: int, record: ProcessRecord) -> bool:
        python = record.cmd.partition(" ")[0].rpartition("/")[2].startswith("python")
        titled = record.cmd.lower().startswith(self._title)
        helper = python and (COMPILE_WORKER in record.cmd or _TRACKER in record.cmd)
        return pid == self._pid or titled or (python and not helper)

    def _begin(self, process: _Process) -> None:
        self._known[process.pid] = process
        if process.own:
            self._own[process.pid] = process
        elif process.compiler:
            process.owner = self._above(process)
            group = self._compilers.setdefault(process.owner, _Compilers())
            group.alive[process.pid] = process
            group.started += 1

    def _end(self, pid: int) -> None:
        process = self._known.get(pid)
        if process is None or not process.alive:
            return
        process.alive = False
        self._own.pop(pid, None)
        if process.compiler:
            group = self._compilers.get(process.owner, _Compilers())  # gone with its process
            group.alive.pop(pid, None)
            group.ended_s += process.cpu_s
        self._compilers.pop(pid, None)

    def _above(self, process: _Process) -> int:
        """Return the nearest process of the server's own above one, the launched one where none is known."""
        at, seen = self._known.get(process.ppid), {process.pid}
        while at is not None and at.pid not in seen:
            if at.own:
                return at.pid
            seen.add(at.pid)
            at = self._known.get(at.ppid)
        return self._pid

    def _look(self, pid: int, row: ProcessRow) -> None:
        process = self._known.get(pid)
        if process is None:
            return
        if not process.alive:  # a number that is used again: only what has another title is named
            process = _Process(pid, process.ppid, process.own, process.compiler)
            self._begin(process)
        process.row = row

    def _told(self, t: float) -> Signals:
        readings = [_reading(process) for _, process in sorted(self._own.items())]
        compilers = [_compilers(owner, group) for owner, group in sorted(self._compilers.items())]
        told = [each for each in readings if each is not None]
        return Signals(mono_s=t, wall_s=t, processes=told, compilers=compilers, cost_ms=0.0)


def _compiler(record: ProcessRecord) -> str:
    """Return which compiler a process is, "" for none."""
    command = record.cmd
    if COMPILE_WORKER in command:
        return COMPILE_WORKER
    name = command.partition(" ")[0].rpartition("/")[2].removesuffix("-real")
    return name if name in COMPILERS else ""


def _compilers(owner: int, group: _Compilers) -> CompilerSignals:
    running = [each for each in group.alive.values() if _works(each)]
    for each in group.alive.values():
        each.told_cpu_s = each.cpu_s
    return CompilerSignals(
        pid=owner,
        names=sorted({each.compiler for each in running}),
        running=len(running),
        started=group.started,
        cpu_s=round(group.ended_s + sum(each.cpu_s for each in group.alive.values()), 2),
    )


def _works(process: _Process) -> bool:
    if process.row is not None and process.row.state in _GONE:
        return False
    return process.compiler != COMPILE_WORKER or process.cpu_s > process.told_cpu_s


def _reading(process: _Process) -> ProcessSignals | None:
    """Return the last look at a process, None for one that was not looked at."""
    row = process.row
    cpu_s = None if row is None else _cpu_s(row)
    if row is None or cpu_s is None or row.minor_faults is None or row.major_faults is None:
        return None
    resident, shared = row.resident_mib, row.shared_mib
    return ProcessSignals(
        pid=process.pid,
        state=clean(row.state)[:1],
        cpu_s=cpu_s,
        minor_faults=int(row.minor_faults),
        major_faults=int(row.major_faults),
        rss_file_mib=shared,
        rss_anon_mib=None if resident is None or shared is None else resident - shared,
        read_chars_bytes=_bytes(row.read_chars_kib),
        read_bytes=_bytes(row.read_kib),
        write_bytes=_bytes(row.write_kib),
        wchan=None if row.wchan is None else clean(row.wchan),
    )


def _cpu_s(row: ProcessRow) -> float | None:
    if row.user_ticks is None or row.system_ticks is None:
        return None
    return round((row.user_ticks + row.system_ticks) * TICK_S, 2)


def _bytes(kib: float | None) -> int | None:
    return None if kib is None else int(kib * _KIB)
