"""On what kind of file system a server's model lies, by the list of mounts alone: no path is looked at."""

from __future__ import annotations

from tui.agent.checkpoint import places
from tui.agent.mounts import mount_of, mounts_of

TYPE_CHECKING = False  # as in channel.py
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


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
        mounts = mounts_of(pid)
    except OSError:
        return None
    found = mount_of(paths[0].encode("utf-8", "surrogateescape"), mounts)
    return None if found is None else found.kind.decode("ascii", "replace")
