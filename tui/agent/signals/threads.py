"""The threads of processes under suspicion: which states they stand in, whether any of them wakes up.

A loader's thread may wait for the storage while the main thread waits for it in a lock, and a deadlock is one
only where no thread at all wakes up. Reading hundreds of threads costs milliseconds: so it is done only for
processes that hardly use the CPU, each 10 s at most, and for a bounded share of the time.
"""

from __future__ import annotations

import os
import time

from tui.agent.signals.stat import read_small

TYPE_CHECKING = False  # as in worker.py
if TYPE_CHECKING:
    from typing import Any

    Process = dict[str, Any]

_QUIET_S = 20.0
_BLOCKED_S = 10.0
_EVERY_S = 10.0
_THREADS = 512
# What a process under suspicion may do in 20 s: threads that look after others wake up now and then, and use
# some CPU time; more of it is work.
_CPU_SHARE = 0.02
_WAKEUPS_PER_S = 2.0
# In the long run; the first readings of all ranks may come at once.
_SHARE = 0.002
_BURST_S = 30.0
_STATE = b"\nState:\t"
_WAKEUPS = b"\nvoluntary_ctxt_switches:\t"
_STATUS_BYTES = 4096


class Suspects:
    """Who is under suspicion, and the last reading of the threads of each."""

    def __init__(self) -> None:
        self._known: dict[int, _Suspect] = {}
        self._free_s = 0.0

    def read(self, now_s: float, processes: list[Process]) -> None:
        """Read anew what is due; give each process its "threads" (None: not under suspicion). May block."""
        pids = {each["pid"] for each in processes}
        for pid in self._known.keys() - pids:
            del self._known[pid]
        for each in processes:
            self._known.setdefault(each["pid"], _Suspect()).look(now_s, each)
        due = [each for each in processes if self._known[each["pid"]].due(now_s)]
        for each in sorted(due, key=lambda each: self._known[each["pid"]].read_s):
            if self._free_s > now_s + _BURST_S:
                break
            began_s = time.process_time()
            self._known[each["pid"]].read(now_s, each)
            self._free_s = max(self._free_s, now_s) + (time.process_time() - began_s) / _SHARE
        for each in processes:
            each["threads"] = self._known[each["pid"]].told(now_s)


class _Suspect:
    __slots__ = ("_base", "_blocked_s", "_fields", "_quiet", "read_s")

    def __init__(self) -> None:
        self.read_s = -_EVERY_S
        self._base: tuple[float, float, int] | None = None
        self._quiet = False
        self._blocked_s: float | None = None
        self._fields: dict[str, object] | None = None

    def look(self, now_s: float, process: Process) -> None:
        """Note what a process did since the last look."""
        if process["state"] != "D":
            self._blocked_s = None
        elif self._blocked_s is None:
            self._blocked_s = now_s
        base, now = self._base, (now_s, process["cpu_s"], process["wakeups"] or 0)
        if base is None:
            self._base = now
        elif now[1] - base[1] > _CPU_SHARE * _QUIET_S or now[2] - base[2] > _WAKEUPS_PER_S * _QUIET_S:
            self._base, self._quiet = now, False
        elif now_s - base[0] >= _QUIET_S:
            self._base, self._quiet = now, True
        if not self._suspicious(now_s):
            self._fields = None

    def _suspicious(self, now_s: float) -> bool:
        return self._quiet or (self._blocked_s is not None and now_s - self._blocked_s >= _BLOCKED_S)

    def due(self, now_s: float) -> bool:
        return self._suspicious(now_s) and now_s - self.read_s >= _EVERY_S

    def read(self, now_s: float, process: Process) -> None:
        # Who may not look at a process (nor at its io) reads 0 as the place where it waits.
        self._fields = threads_of(process["pid"], may_look=process["read_chars_bytes"] is not None)
        self.read_s = now_s

    def told(self, now_s: float) -> dict[str, object] | None:
        fields = self._fields
        return None if fields is None else dict(fields, age_s=round(now_s - self.read_s, 1))


def threads_of(pid: int, *, may_look: bool) -> dict[str, object] | None:
    """Return the fields of ThreadSignals but its age, None for a process that is gone. May block.

    Of more threads than 512 only the first are read, and then nothing can be said of what all of them do.
    """
    try:
        folder = os.open("/proc/%d/task" % pid, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return None
    try:
        names = os.listdir(folder)
        found = [(name, status) for name in names[:_THREADS] for status in _status(folder, name)]
    except OSError:
        return None
    finally:
        os.close(folder)
    states: dict[str, int] = {}
    for _, (state, _) in found:
        states[state] = states.get(state, 0) + 1
    blocked = [(name, woken) for name, (state, woken) in found if state == "D"]
    whole = len(names) <= _THREADS
    return {
        "states": states,
        "wakeups": _sum([woken for _, (_, woken) in found]) if whole else None,
        "blocked_in": _blocked_in(pid, [name for name, _ in blocked], may_look=may_look),
        "blocked_wakeups": _sum([woken for _, woken in blocked]) if blocked else None,
    }


def _status(folder: int, name: str) -> list[tuple[str, int | None]]:
    """Return the state and the wake-ups of a thread, nothing for one that has ended meanwhile."""
    try:
        descriptor = os.open(name + "/status", os.O_RDONLY, dir_fd=folder)
    except OSError:
        return []
    try:
        data = os.read(descriptor, _STATUS_BYTES)
    except OSError:
        return []
    finally:
        os.close(descriptor)
    place = data.find(_STATE) + len(_STATE)
    state = data[place : place + 1].decode("ascii", "replace") if place >= len(_STATE) else "?"
    begin = data.find(_WAKEUPS) + len(_WAKEUPS)
    value = data[begin : data.find(b"\n", begin)]
    return [(state, int(value) if begin >= len(_WAKEUPS) and value.isdigit() else None)]


def _sum(numbers: list[int | None]) -> int | None:
    known = [number for number in numbers if number is not None]
    return sum(known) if len(known) == len(numbers) else None


def _blocked_in(pid: int, names: list[str], *, may_look: bool) -> str | None:
    """Return where the first of these threads waits in the kernel, "" for none of them."""
    for name in names:
        try:
            text = read_small("/proc/%d/task/%s/wchan" % (pid, name), 128).decode("ascii", "backslashreplace")
        except OSError:
            continue
        if text and text != "0":
            return text
    return None if names and not may_look else ""
