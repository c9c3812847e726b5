"""The sources that travelled with the agent: a finder for its modules, and the text of those not imported.

On a host the bootstrap hands ``install`` what the client sent; imported from disk (in tests, on the client)
``text`` reads the same files from where they are installed.
"""

from __future__ import annotations

import json
import marshal
import os
import sys
import zlib
from importlib.machinery import ModuleSpec

TYPE_CHECKING = False  # as in channel.py
if TYPE_CHECKING:
    import types
    from collections.abc import Callable, Sequence
    from importlib.abc import Loader
    from typing import Any
else:
    Loader = object


class Finder(Loader):
    """An importer (finder and loader) of modules that exist as packed text alone."""

    def __init__(self, texts: bytes, packed: dict[str, bytes]) -> None:
        self.texts = texts
        self.packed = packed
        self.names: set[str] = set()
        self._codes: dict[str, types.CodeType] = {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None, /
    ) -> ModuleSpec | None:
        """Return how to load a module of ours, None for any other."""
        if not self.names:
            self.fetch("tui.agent.main")
        if fullname not in self.names:
            return None
        package = any(name.startswith(fullname + ".") for name in self.names)
        return ModuleSpec(fullname, self, origin=_origin(fullname), is_package=package)

    def create_module(self, spec: ModuleSpec) -> types.ModuleType | None:
        """Leave the making of the module to the import system."""
        return None

    def exec_module(self, module: types.ModuleType) -> None:
        """Run the module's code."""
        name = module.__name__
        if name not in self._codes:
            self.fetch(name)
        exec(self._codes.pop(name), module.__dict__)

    def fetch(self, name: str) -> None:
        """Compile a module and those that it imports, as far as they are not here yet."""
        here = frozenset(sys.modules)
        self.names, codes = aside(lambda: _compiled(json.loads(zlib.decompress(self.texts)), name, here))
        self._codes.update(codes)


def _compiled(
    texts: dict[str, str], first: str, here: frozenset[str]
) -> tuple[set[str], dict[str, types.CodeType]]:
    codes: dict[str, types.CodeType] = {}
    todo = [first]
    while todo:
        name = todo.pop()
        if name in texts and name not in codes and (name == first or name not in here):
            codes[name] = code_of(texts[name], _origin(name))
            names = codes[name].co_names
            for place in names:
                if place in texts:  # an import of it, or of what is in it
                    todo += [place, *(place + "." + each for each in names)]
    return set(texts), codes


def code_of(text: str, origin: str) -> types.CodeType:
    """Compile a module, without its documentation: the processes of the agent are to be small."""
    return compile(text, origin, "exec", dont_inherit=True, optimize=2)


def aside(make: Callable[[], Any]) -> Any:
    """Return what ``make`` returns, made by a child: what the making takes and leaves behind goes with it.

    Compiling a module takes 20 times the memory of its code, and of that the allocator gives little back.
    """
    reader, writer = os.pipe()
    try:
        pid = os.fork()
    except OSError:  # the host gives no more processes
        pid = -1
    if pid == 0:
        try:
            os.close(reader)  # else it would wait for itself to read, when the agent is gone
            _write(writer, marshal.dumps(make()))
        finally:
            os._exit(0)
    os.close(writer)
    pieces = iter(lambda: os.read(reader, 65536), b"")
    data = b"".join(pieces)
    os.close(reader)
    if pid > 0:
        os.waitpid(pid, 0)
    return marshal.loads(data) if data else make()


def _write(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


_installed: list[Finder] = []


def install(texts: bytes, packed: dict[str, bytes]) -> None:
    """Make modules importable from their texts (packed JSON); ``packed`` ones are for ``text`` alone."""
    finder = Finder(texts, packed)
    _installed.append(finder)
    sys.meta_path.insert(0, finder)


def text(name: str) -> tuple[str, str] | None:
    """Return the source and the file name of a module that travelled with us (pynvml), None without it."""
    for finder in _installed:
        if name in finder.packed:
            return zlib.decompress(finder.packed[name]).decode("utf-8"), _origin(name)
    from importlib import util  # not on a host as a rule, where it would cost memory

    spec = util.find_spec(name)
    if spec is None or spec.origin is None:
        return None
    with open(spec.origin, encoding="utf-8") as file:
        return file.read(), spec.origin


def _origin(name: str) -> str:
    return "<tminus>/" + name.replace(".", "/") + ".py"
