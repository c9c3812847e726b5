"""What a host's Python may have to make the generator cheaper: uvloop and orjson.

The agent runs without site-packages (python -I -S), so that nothing installed there can change it. These two
alone are looked for, in the folders of the interpreter and of its virtual environment; no .pth file is read.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import json
import os
import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio
    import types
    from collections.abc import Callable
    from typing import Any

# What importing a module that does not fit this Python raises, as far as known.
_MISFITS = (ImportError, OSError, AttributeError, TypeError, ValueError, RuntimeError, SyntaxError)


class ReadingClock:
    """The time now, for event loops whose selector cannot be asked."""

    @property
    def now_s(self) -> float:
        """Monotonic seconds."""
        return time.monotonic()


def find(name: str) -> types.ModuleType | None:
    """Return a module of the interpreter's site-packages, None when it is not there or does not fit."""
    if name in sys.modules:
        return sys.modules[name]
    try:
        spec = importlib.machinery.PathFinder.find_spec(name, [*sys.path, *_folders()])
        if spec is None or spec.loader is None:
            return None
        module = sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    except _MISFITS:
        sys.modules.pop(name, None)
        return None
    return module


def _folders() -> list[str]:
    import site  # read for its names alone: under -S importing it changes nothing

    prefixes = [sys.prefix, sys.exec_prefix]
    home = os.path.dirname(os.path.dirname(sys.executable))
    if os.path.exists(os.path.join(home, "pyvenv.cfg")):
        prefixes.insert(0, home)
    return [folder for folder in site.getsitepackages(prefixes) if os.path.isdir(folder)]


def new_uvloop() -> asyncio.AbstractEventLoop | None:
    """Return an event loop of uvloop, None where it cannot be had."""
    module: Any = find("uvloop")
    try:
        return module.new_event_loop() if module is not None else None
    except _MISFITS:
        return None


def json_reader() -> Callable[[bytes], Any]:
    """Return what decodes JSON the quickest; both raise ValueError for what is none."""
    module: Any = find("orjson")
    quick: Callable[[bytes], Any] | None = getattr(module, "loads", None)
    return quick or json.loads
