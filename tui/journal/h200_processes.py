"""What the H200 recorder saw of the server's processes, told as a live watch tells it.

A list goes out when the set of processes or a state in it has changed: at once for the launcher and what it
started itself, at most each 3 s for helpers; what lives for less than 2 s is not told. The commands ran as
root, and start times are those of the first sight (0.4 s apart at most).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from tui.agent.mask import mask_argv, mask_environment, mask_text
from tui.agent.processes.keys import key_in
from tui.events import Exit, Process, Processes
from tui.journal.h200_records import Environ, Launch, ProcessRecord, ServerExit
from tui.transport.clean import clean

SETTLED_S = 2.0
HELPERS_S = 3.0
DISK_S = 2.0
"""A read from disk passes; one that is still waiting after this time is a state of its own."""
CODE_WAIT_S = 2.0
"""The recorder notes the exit code of an ended server so soon, or never."""
_COMM = 15
_COMMAND = 400
_GONE = "ZXx"
_WRAPPERS = frozenset(("sh", "bash", "dash", "env", "nohup", "setsid", "timeout", "numactl", "taskset"))


@dataclass(slots=True)
class _Seen:
    """One process. ``argv`` stays what it was before a title of its own."""

    pid: int
    ppid: int
    started_s: float
    title: str = ""
    argv: list[str] = field(default_factory=list[str])
    environment: dict[str, str] | None = None
    state: str = ""
    state_s: float = 0.0

    def condition(self, t: float) -> str:
        """Return the state as far as a change of it is news."""
        if self.state in _GONE or self.state == "T":
            return self.state
        return "D" if self.state == "D" and t - self.state_s >= DISK_S else "S"

    def name(self, command: str, comm: str) -> None:
        """Take a command line, or the title in its place: then the kernel's short name begins it."""
        if command and command[:_COMM] == comm:
            self.title = command
            self.argv = self.argv or [command]
        else:
            self.argv = command.split()
            self.title = comm


@dataclass(frozen=True, slots=True)
class _Member:
    seen: _Seen
    depth: int
    matched: str | None

    def key(self, t: float) -> tuple[object, ...]:
        """Return what makes a difference worth telling."""
        seen = self.seen
        return (
            self.depth, seen.ppid, seen.condition(t), seen.title, tuple(seen.argv), self.matched,
            seen.environment is None,
        )  # fmt: skip


class ProcessReader:
    """Follows the launched process and its tree.

    ``lines`` are the whole command lines by pid as far as known (a ``new`` record has 400 characters of
    them), ``code_s`` when the exit code of the server is told, None for never.
    """

    def __init__(self, launch: Launch, lines: dict[int, str], code_s: float | None) -> None:
        self._launch = launch
        self._lines = lines
        self._code_s = code_s
        self._known: dict[int, _Seen] = {}
        self._alive: dict[int, _Seen] = {}
        self._told: dict[int, tuple[object, ...]] | None = None
        self._told_s = 0.0
        self._shown: dict[int, _Seen] = {}
        self._ended = False

    def launched(self, t: float) -> Processes:
        """Return the launched process by the launch alone, where nothing was seen of processes."""
        seen = self._meet(self._launch.pid, 0, t)
        return Processes(mono_s=t, wall_s=t, processes=[self._process(_Member(seen, 0, self._launch.engine))])

    def environ(self, record: Environ) -> None:
        """Note an environment; like a watch, the first that is read of a process counts."""
        seen = self._alive.get(record.pid)
        if seen is not None and (seen.environment is None or record.pid == self._launch.pid):
            seen.environment = _environment(record.kept)

    def take(self, record: ProcessRecord) -> Iterator[Processes | Exit]:
        """Give what is news."""
        if record.new is not None:
            self._name(record, record.new)
        if record.gone is not None:
            self._alive.pop(record.gone, None)
        if record.p is not None:
            self._look(record)
            yield from self._tell(record.t)

    def exited(self, record: ServerExit) -> Iterator[Exit]:
        """Give the end of the launched process with its code."""
        if not self._ended:
            self._ended = True
            yield self._exit(record.t, self._launch.pid, "gone", record.rc)

    def _name(self, record: ProcessRecord, pid: int) -> None:
        seen = self._alive.get(pid) or self._meet(pid, record.ppid, record.t)
        seen.ppid = record.ppid
        line = self._lines.get(pid, "")
        command = line if len(record.cmd) >= _COMMAND and line.startswith(record.cmd) else record.cmd
        seen.name(clean(command), clean(record.comm))
        if pid == self._launch.pid and clean(" ".join(self._launch.cmd)).startswith(clean(record.cmd)):
            seen.argv = [clean(part) for part in self._launch.cmd]

    def _meet(self, pid: int, ppid: int, t: float) -> _Seen:
        seen = _Seen(pid, ppid, t)
        if pid == self._launch.pid:
            seen.started_s = 0.0
            seen.argv = [clean(part) for part in self._launch.cmd]
            seen.title = seen.argv[0] if seen.argv else ""
            seen.environment = _environment(self._launch.env)
        self._alive[pid] = self._known[pid] = seen
        return seen

    def _look(self, record: ProcessRecord) -> None:
        for text, row in (record.p or {}).items():
            pid = int(text) if text.isdecimal() else 0
            seen = self._alive.get(pid) or self._again(pid, record.t)
            if seen is not None and seen.state != row.state:
                seen.state, seen.state_s = clean(row.state)[:1], record.t

    def _again(self, pid: int, t: float) -> _Seen | None:
        """Take up a number that is used again: the recorder names only what has another title."""
        before = self._known.get(pid)
        if before is None:
            return None
        seen = self._meet(pid, before.ppid, t)
        seen.title, seen.argv = before.title, before.argv
        return seen

    def _tell(self, t: float) -> Iterator[Processes | Exit]:
        main = self._alive.get(self._launch.pid)
        over = main is None or main.state in _GONE
        if over and self._told is not None and not self._ended:
            if self._code_s is not None and 0 <= self._code_s - t <= CODE_WAIT_S:
                return  # a list without it would tell its end before the code is known
            self._ended = True
            yield self._exit(t, self._launch.pid, "gone" if main is None else "zombie", None)
        members = self._members(t)
        yield from self._ends(members, t)
        yield from self._changes(members, t)

    def _members(self, t: float) -> list[_Member]:
        found = [self._member(seen) for seen in self._alive.values()]
        return [each for each in found if each.depth == 0 or t - each.seen.started_s >= SETTLED_S]

    def _member(self, seen: _Seen) -> _Member:
        above = self._above(seen)
        own = self._engine_of(seen)
        taken = any(self._engine_of(each) is not None for each in above)
        return _Member(seen, len(above), None if taken else own)

    def _above(self, seen: _Seen) -> list[_Seen]:
        above: list[_Seen] = []
        at = self._alive.get(seen.ppid)
        while at is not None and at is not seen and at not in above:
            above.append(at)
            at = self._alive.get(at.ppid)
        return above

    def _engine_of(self, seen: _Seen) -> str | None:
        """Return the engine of a process that is a server's: the launched one, or what a wrapper started.

        A rank whose launcher is gone is known by its title.
        """
        engine = self._launch.engine
        launched = seen.pid == self._launch.pid
        parent = self._alive.get(seen.ppid)
        started = parent is not None and _is_wrapper(parent) and engine in " ".join(seen.argv)
        titled = seen.title.lower().startswith(f"{engine}::")
        return engine if titled or ((launched or started) and not _is_wrapper(seen)) else None

    def _ends(self, members: list[_Member], t: float) -> Iterator[Exit]:
        """Tell of processes below the server that were told of and ended."""
        for pid, seen in list(self._shown.items()):
            now = self._alive.get(pid)
            if now is not seen or seen.state in _GONE:
                del self._shown[pid]
                yield self._exit(t, pid, "gone" if now is not seen else "zombie", None)
        for each in members:
            if each.depth > 0 and each.seen.state not in _GONE:
                self._shown[each.seen.pid] = each.seen

    def _changes(self, members: list[_Member], t: float) -> Iterator[Processes]:
        keys = {each.seen.pid: each.key(t) for each in members}
        if keys == self._told:
            return
        news = self._told is None or _main(keys) != _main(self._told)
        if not news and t - self._told_s < HELPERS_S:
            return
        self._told, self._told_s = keys, t
        members.sort(key=lambda each: (each.depth, each.seen.pid))
        yield Processes(mono_s=t, wall_s=t, processes=[self._process(each) for each in members])

    def _process(self, member: _Member) -> Process:
        seen = member.seen
        return Process(
            pid=seen.pid,
            ppid=seen.ppid,
            started_s=seen.started_s,
            uid=0,
            user="root",
            state=seen.state,
            title=mask_text(seen.title),
            argv=mask_argv(seen.argv),
            matched=member.matched,
            cwd=None,
            stdout=None,
            stderr=None,
            container=None,
            environment=seen.environment,
            api_key_in_argv=key_in(seen.argv) is not None,
        )

    def _exit(self, t: float, pid: int, how: str, code: int | None) -> Exit:
        seen = self._known.get(pid)
        title = mask_text(seen.title) if seen is not None else ""
        end = "has ended and waits to be reaped by its parent" if how == "zombie" else "is gone"
        told = "" if code is None else f" with exit code {code}"
        return Exit(
            mono_s=t,
            wall_s=t,
            pid=pid,
            main=pid == self._launch.pid,
            title=title,
            how="zombie" if how == "zombie" else "gone",
            code=code,
            sentence=f"process {pid} ({title}) {end}{told}",
        )


def _main(keys: dict[int, tuple[object, ...]]) -> dict[int, tuple[object, ...]]:
    return {pid: key for pid, key in keys.items() if key[0] in (0, 1)}


def _is_wrapper(seen: _Seen) -> bool:
    return bool(seen.argv) and seen.argv[0].rpartition("/")[2] in _WRAPPERS


def _environment(kept: dict[str, str]) -> dict[str, str]:
    return mask_environment({clean(name): clean(value) for name, value in kept.items()})
