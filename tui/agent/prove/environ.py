"""The environment of a server's processes, and whether what /proc shows of it is whole."""

from __future__ import annotations

import os
import re

from tui.agent.mask import mask_environment, mask_text
from tui.agent.processes import keys, procfs
from tui.agent.processes.sighting import is_title

_BYTES = 4 * 1024 * 1024  # the kernel gives a process no more for both its arguments and its environment
_TRACKER = b"multiprocessing.resource_tracker import main"
_NAME = re.compile(r"[^\s:/]+$")
_DEPTH = 2
_PROCESSES = 48


def read(pid: int, prefixes: tuple[str, ...]) -> tuple[str, dict[str, str]]:
    """Return the state of a process's environment and its variables with these prefixes, masked. May block.

    A new title takes the place of arguments and environment. setproctitle fills what is left with NULs, all
    of it or (where a variable was changed before) its beginning; a title that is longer than the arguments
    stands there itself. A whole environment has neither empty entries nor any without a name and a "=".
    """
    try:
        data = procfs.read("/proc/%d/environ" % pid, _BYTES)
    except PermissionError:
        return "unreadable", {}
    except OSError:
        return "gone", {}
    if not data and not _lives(pid):
        return "gone", {}
    entries = [entry.decode("utf-8", "backslashreplace").partition("=") for entry in data.split(b"\0")]
    whole = not data or (
        entries.pop()[0] == "" and all(sign and _NAME.match(name) for name, sign, _ in entries)
    )
    found = {
        name: value
        for name, sign, value in entries
        if sign and name.startswith(prefixes) and _NAME.match(name)
    }
    return "read" if whole else "overwritten", mask_environment(found)


def of_tree(pid: int, prefixes: tuple[str, ...], found: list[dict[str, object]]) -> None:
    """Add to ``found`` what is told of a process and those below it, the main one first. May block.

    Of processes further down (compile workers come by the dozen) one of several equal ones is told.
    """
    seen: set[str] = set()
    for each, depth in tree(pid):
        stat = procfs.stat_of(each)
        if stat is None or stat.state in "ZX":
            continue
        line = _cmdline(each)
        argv = keys.split_arguments(line)
        role = "main" if depth == 0 else "resource_tracker" if _TRACKER in line else "worker"
        title = mask_text(argv[0] if argv and is_title(line, argv) else stat.comm)
        state, variables = read(each, prefixes)
        key = "%s %s %s" % (title, state, sorted(variables.items()))
        if depth == _DEPTH and key in seen:
            continue
        seen.add(key)
        found.append(
            {
                "pid": each,
                "started_s": procfs.started_s(stat.ticks),
                "role": role,
                "title": title,
                "state": state,
                "variables": variables,
            }
        )


def tree(pid: int) -> list[tuple[int, int]]:
    """Return a process and those at most two steps below it with their steps, level by level."""
    children: dict[int, list[int]] = {}
    for each in sorted(map(int, filter(str.isdigit, os.listdir("/proc")))):
        stat = procfs.stat_of(each)
        if stat is not None:
            children.setdefault(stat.ppid, []).append(each)
    found = [(pid, 0)]
    for each, depth in found:
        if depth < _DEPTH:
            found += [(child, depth + 1) for child in children.get(each, ())]
    return found[:_PROCESSES]


def _cmdline(pid: int) -> bytes:
    try:
        return procfs.read("/proc/%d/cmdline" % pid)
    except OSError:
        return b""


def _lives(pid: int) -> bool:
    stat = procfs.stat_of(pid)
    return stat is not None and stat.state not in "ZX"
