"""What travels to a host: the sources of tui/agent and of pynvml, packed for the stub that awaits them."""

import functools
import json
import zlib
from dataclasses import dataclass
from importlib import resources
from importlib.machinery import PathFinder
from importlib.resources.abc import Traversable
from pathlib import Path

from tui.agent.gpus import bindings
from tui.agent.wire import EXIT_BAD_SOURCE

_STAGE = """
import os, sys, types, zlib
def take(size):
    pieces = []
    while size:
        piece = os.read(0, size)
        if not piece:
            sys.exit(0)
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)
def begin(data):
    if zlib.crc32(data) != {crc}:
        sys.stderr.write("the sources of the agent arrived damaged")
        sys.exit({bad_source})
    module = types.ModuleType("tui.agent.sources")
    sys.modules[module.__name__] = module
    exec(compile(zlib.decompress(data[:{texts}]), "<tminus>/tui/agent/sources.py", "exec"), module.__dict__)
    packed = {{"pynvml": data[{pynvml}:]}} if len(data) > {pynvml} else {{}}
    module.install(data[{texts}:{pynvml}], packed)
begin(take({size}))
from tui.agent.main import main
main()
"""


@dataclass(frozen=True, slots=True)
class Bundle:
    """``stage`` is one line of Python that reads ``body`` from standard input and starts the agent."""

    stage: bytes
    body: bytes


@functools.cache
def bundle() -> Bundle:
    """Pack the agent; the same bytes for every host."""
    texts = agent_texts()
    first = zlib.compress(texts["tui.agent.sources"].encode("ascii"), 9)
    modules = zlib.compress(json.dumps(texts).encode("ascii"), 9)
    body = first + modules + _pynvml()
    stage = _STAGE.format(
        crc=zlib.crc32(body),
        size=len(body),
        texts=len(first),
        pynvml=len(first) + len(modules),
        bad_source=EXIT_BAD_SOURCE,
    )
    return Bundle(f"exec({stage!r})\n".encode("ascii"), body)


def agent_texts() -> dict[str, str]:
    """Return the source of each of the agent's modules by its import name; packages are empty."""
    texts = {"tui": "", "tui.agent": ""}
    for item in resources.files("tui.agent").iterdir():
        if item.is_dir():
            modules = _modules(item, f"tui.agent.{item.name}")
            texts |= {f"tui.agent.{item.name}": "", **modules} if modules else {}
    texts |= _modules(resources.files("tui.agent"), "tui.agent")
    return dict(sorted(texts.items()))


def _modules(folder: Traversable, package: str) -> dict[str, str]:
    files = [file for file in folder.iterdir() if file.name.endswith(".py") and file.name != "__init__.py"]
    return {f"{package}.{file.name.removesuffix('.py')}": file.read_text("utf-8") for file in files}


def _pynvml() -> bytes:
    """Return the packed source of our own pynvml; nothing without it (the agent then says so).

    Only what the agent calls travels: 7 KB instead of 50. Where a release cannot be cut, the whole does.
    """
    spec = PathFinder.find_spec("pynvml")
    if spec is None or spec.origin is None:
        return b""
    whole = Path(spec.origin).read_text("utf-8")
    part = bindings.reduced(whole)
    complete = all(f"def {name}(" in part for name in bindings.CALLS if f"def {name}(" in whole)
    return zlib.compress((part if complete else whole).encode(), 9)
