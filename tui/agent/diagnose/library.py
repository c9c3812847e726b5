"""Which NCCL a process runs: by the name of the library that it has mapped, or of the package around it."""

from __future__ import annotations

import os
import re

from tui.agent.diagnose.tool import MAPS_BYTES
from tui.agent.processes import procfs

TYPE_CHECKING = False  # as in the agent's worker.py
if TYPE_CHECKING:
    from collections.abc import Iterable

SAFE = (2, 27, 3)
"""From here on RAS may be asked: before it, a question could crash a process that was in its init."""

_MAPPED = re.compile(r"\s(/[^\n]*/libnccl\.so[^\n/]*)")
_IN_NAME = re.compile(r"libnccl\.so\.(\d+\.\d+\.\d+)")
_PACKAGE = re.compile(r"nvidia_nccl_cu\d+-(\d+\.\d+\.\d+)[^/]*\.dist-info$")
_WRITTEN = re.compile(r"\d+\.\d+\.\d+")


def version(pids: Iterable[int]) -> str | None:
    """Return the lowest version of NCCL that these processes have mapped, None if not known. May block."""
    found = [each for pid in pids for each in _of(pid)]
    return min(found, key=lambda text: numbers(text) or (0, 0, 0), default=None)


def numbers(text: str | None) -> tuple[int, int, int] | None:
    """Return a written version as numbers, None where it is none."""
    written = _WRITTEN.match(text or "")
    if written is None:
        return None
    major, minor, patch = written.group().split(".")
    return int(major), int(minor), int(patch)


def _of(pid: int) -> list[str]:
    try:
        maps = procfs.read("/proc/%d/maps" % pid, MAPS_BYTES).decode("utf-8", "replace")
    except OSError:
        return []
    found: list[str] = []
    for path in sorted(set(_MAPPED.findall(maps))):
        named = _IN_NAME.search(path)
        found += [named.group(1)] if named is not None else _by_package(pid, path)
    return found


def _by_package(pid: int, path: str) -> list[str]:
    """Return the version of the package that a library came in: pip keeps it in the name of a folder."""
    folder, _, inside = path.partition("-packages/")
    if not inside:
        return []
    try:
        names = os.listdir("/proc/%d/root%s-packages" % (pid, folder))
    except OSError:
        return []
    return [match.group(1) for match in map(_PACKAGE.match, names) if match is not None]
