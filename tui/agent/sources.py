"""The sources that travelled with the agent: a finder for its modules, and the text of those not imported.

On a host the bootstrap hands ``install`` what the client sent; imported from disk (in tests, on the client)
``text`` reads the same files from where they are installed.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import sys
import zlib

TYPE_CHECKING = False  # as in channel.py
if TYPE_CHECKING:
    import types
    from collections.abc import Sequence
    from importlib.abc import Loader
else:
    Loader = object


class Finder(Loader):
    """An importer (finder and loader) of modules that exist as text alone."""

    def __init__(self, texts: dict[str, str], packed: dict[str, bytes]) -> None:
        self.texts = texts
        self.packed = packed

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None, /
    ) -> importlib.machinery.ModuleSpec | None:
        """Return how to load a module of ours, None for any other."""
        if fullname not in self.texts:
            return None
        package = any(name.startswith(fullname + ".") for name in self.texts)
        return importlib.machinery.ModuleSpec(fullname, self, origin=_origin(fullname), is_package=package)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType | None:
        """Leave the making of the module to the import system."""
        return None

    def exec_module(self, module: types.ModuleType) -> None:
        """Compile and run the module's text."""
        name = module.__name__
        exec(compile(self.texts[name], _origin(name), "exec", dont_inherit=True), module.__dict__)

    def get_source(self, fullname: str) -> str | None:
        """Return the text, for tracebacks."""
        return self.texts.get(fullname)


_installed: list[Finder] = []


def install(texts: dict[str, str], packed: dict[str, bytes]) -> None:
    """Make modules importable from their texts; ``packed`` (zlib) ones are for ``text`` alone."""
    finder = Finder(texts, packed)
    _installed.append(finder)
    sys.meta_path.insert(0, finder)


def text(name: str) -> tuple[str, str] | None:
    """Return the source and the file name of a module that travelled with us (pynvml), None without it."""
    for finder in _installed:
        if name in finder.packed:
            return zlib.decompress(finder.packed[name]).decode("utf-8"), _origin(name)
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        return None
    with open(spec.origin, encoding="utf-8") as file:
        return file.read(), spec.origin


def _origin(name: str) -> str:
    return "<tminus>/" + name.replace(".", "/") + ".py"
