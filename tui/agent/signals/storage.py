"""On what kind of file system a server's model lies, by the list of mounts alone: no path is looked at."""

from __future__ import annotations

import re

from tui.agent.checkpoint import places
from tui.agent.processes import procfs

TYPE_CHECKING = False  # as in channel.py
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

_ESCAPED = re.compile(rb"\\([0-7]{3})")


def model_places(pid: int, plan: dict[str, Any] | None) -> list[str]:
    """Return where the model of a checkpoint plan may lie, as the server sees it; links are not followed."""
    if plan is None:
        return []
    model = str(plan["model"])
    if model.startswith("/"):
        return [model]
    if "://" in model:
        return []
    cwd = plan.get("cwd")
    # A relative path and a name of the hub look alike: only the one with a leading dot is surely a path.
    if model.startswith(".") and cwd:
        return ["%s/%s" % (cwd, model)]
    return places.hub_caches(pid, plan.get("environment") or {}, plan.get("hub_cache"))[:1]


def file_system(pid: int, paths: Sequence[str]) -> str | None:
    """Return the type of the file system that holds the first path ("nfs4"), None where it is not known."""
    if not paths:
        return None
    try:
        mounts = procfs.read("/proc/%d/mountinfo" % pid, procfs.MOUNTS_BYTES)
    except OSError:
        return None
    return mounted_as(mounts, paths[0].encode("utf-8", "surrogateescape"))


def mounted_as(mountinfo: bytes, path: bytes) -> str | None:
    """Return the type of the mount that holds a path, by the lines of a mountinfo file."""
    best: tuple[int, bytes] | None = None
    for line in mountinfo.splitlines():
        before, _, after = line.partition(b" - ")
        fields, kind = before.split(b" "), after.split(b" ")[0]
        if len(fields) < 5 or not kind:
            continue
        point = _ESCAPED.sub(lambda found: bytes([int(found.group(1), 8) & 255]), fields[4]).rstrip(b"/")
        # Of two mounts at one place the later one is on top.
        if (path + b"/").startswith(point + b"/") and (best is None or len(point) >= best[0]):
            best = (len(point), kind)
    return None if best is None else best[1].decode("ascii", "replace")
