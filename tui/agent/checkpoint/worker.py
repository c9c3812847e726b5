"""The checkpoint reader: a worker of the agent that adds up the sizes of a model's weight files.

It lists directories and asks for sizes. No weight file is opened, and of the hub's cache only the line that
names a revision is read. A mount that is dead holds up this process alone. It ends once it has answered.
"""

from __future__ import annotations

import os
import stat

from tui.agent import wire
from tui.agent.checkpoint import places, weights
from tui.agent.mask import mask_text

TYPE_CHECKING = False  # as in the agent's worker.py
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from tui.agent.worker import Channel

# Another follow request may come close behind.
_LINGER_S = 2.0


class Unknown(Exception):
    """The size cannot be told; the text says why."""


def serve(channel: Channel) -> None:
    """Answer follow requests that ask for a checkpoint, until none came for a while."""
    while True:
        request = channel.receive(_LINGER_S)
        if request is None:
            return
        plan = request.get("checkpoint")
        if isinstance(plan, dict):
            channel.send(answer(request, lambda: channel.rest(0.0)))


def answer(request: dict[str, Any], alive: Callable[[], None] = lambda: None) -> dict[str, object]:
    """Return the checkpoint message for a follow request. May block; ``alive`` is called in between."""
    plan: dict[str, Any] = request["checkpoint"]
    model: str = plan["model"]
    view = places.View(request.get("pid"))
    size: int | None = None
    files: list[str] = []
    sentence = ""
    try:
        files = _files(view, model, plan, request.get("pid"))
        size = _size(view, files, alive)
    except Unknown as why:
        sentence = str(why)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        what = (error.strerror if isinstance(error, OSError) else None) or error
        sentence = "the weight files of %s cannot be read: %s" % (model, what)
    return wire.stamped(
        wire.CHECKPOINT,
        model=model,
        weight_bytes=size,
        files=0 if size is None else len(files),
        sentence=_printable(mask_text(sentence)),
    )


def _files(view: places.View, model: str, plan: dict[str, Any], pid: int | None) -> list[str]:
    """Return the paths of a model's weight files. Raises Unknown, OSError."""
    if "://" in model:
        raise Unknown("%s does not lie on a file system" % model)
    path = model if model.startswith("/") or not plan.get("cwd") else "%s/%s" % (plan["cwd"], model)
    if path.startswith("/") and view.is_directory(path):
        return _in_directory(view, path)
    if path.startswith("/") and weights.kind_of(model):
        return _of_file(view, path)
    if not places.is_hub_name(model):
        raise Unknown("no model lies at %s" % model)
    caches = places.hub_caches(pid, plan.get("environment") or {}, plan.get("hub_cache"))
    for cache in caches:
        found = places.snapshot(view, cache, model, plan.get("revision"))
        if found is not None:
            return _in_directory(view, found)
    raise Unknown("%s is neither a directory nor (yet) in a hub cache: %s" % (model, ", ".join(caches)))


def _in_directory(view: places.View, path: str) -> list[str]:
    names, why = weights.chosen(view.names(path))
    if why:
        raise Unknown("%s %s" % (path, why))
    return [path + "/" + name for name in names]


def _of_file(view: places.View, path: str) -> list[str]:
    view.status(path)
    folder, _, name = path.rpartition("/")
    names, why = weights.with_parts(name, view.names(folder or "/"))
    if why:
        raise Unknown("%s %s" % (folder, why))
    return [folder + "/" + name for name in names]


def _size(view: places.View, files: list[str], alive: Callable[[], None]) -> int:
    """Return the bytes of all files, one that has several names counted once. Raises Unknown, OSError."""
    sizes: dict[tuple[int, int], int] = {}
    for path in files:
        status: os.stat_result = view.status(path)
        if not stat.S_ISREG(status.st_mode):
            raise Unknown("%s is no file" % path)
        sizes[(status.st_dev, status.st_ino)] = status.st_size
        alive()
    return sum(sizes.values())


def _printable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
