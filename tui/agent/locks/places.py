"""Where a server's libraries keep locks that exist as long as they are held, and which are there now.

Three are known to wait for a file to vanish: torch's FileBaton (a file named lock in an extension's build
folder), AITER's copy of it, and the soft lock of the model hub, for file systems without locks. Those that
the kernel keeps (flock) leave their files behind in the same caches, which means nothing. They are told apart
by how they are made: FileBaton leaves the rights of its file to the umask, so that its owner may execute it,
and the soft lock names its holder in its file; a file for the kernel's locks is empty and never executable.
No file is opened, and no folder of models is entered.
"""

from __future__ import annotations

import itertools
import os
import stat
import time

TYPE_CHECKING = False  # as in worker.py
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

_ENTRIES = 4096
_BUDGET_S = 0.2
_FOUND = 64


class Place:
    """A folder in which locks lie, ``depth`` folders down; ``holds`` tells one by its name and stat."""

    __slots__ = ("depth", "holds", "root")

    def __init__(self, root: str, depth: int, holds: Callable[[str, os.stat_result], bool]) -> None:
        self.root = root
        self.depth = depth
        self.holds = holds


def existence_places(environment: Mapping[str, str], home: str) -> list[Place]:
    """Return the folders of existence locks of a server with this environment."""
    cache = _cache(environment, home)
    torch = _given(environment, "TORCH_EXTENSIONS_DIR") or cache + "/torch_extensions"
    aiter = _given(environment, "AITER_JIT_DIR", "JIT_WORKSPACE_DIR") or home + "/.aiter/jit"
    return [
        Place(torch, 2, _baton),
        Place(aiter + "/build", 2, _baton),
        Place(hub_locks(environment, home), 1, _soft),
    ]


def hub_locks(environment: Mapping[str, str], home: str) -> str:
    """Return the folder of the model hub's locks."""
    base = _given(environment, "HF_HOME") or _cache(environment, home) + "/huggingface"
    return (_given(environment, "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE") or base + "/hub") + "/.locks"


def lock_roots(environment: Mapping[str, str], home: str) -> list[str]:
    """Return the folders below which a lock of the kernel is one of a known cache."""
    cache = _cache(environment, home)
    named = (
        *(
            "TORCH_EXTENSIONS_DIR",
            "TORCHINDUCTOR_CACHE_DIR",
            "TRITON_CACHE_DIR",
            "TRITON_HOME",
            "VLLM_CACHE_ROOT",
        ),
        *("SGLANG_CACHE_DIR", "AITER_JIT_DIR", "JIT_WORKSPACE_DIR", "DG_JIT_CACHE_DIR", "TVM_FFI_CACHE_DIR"),
    )
    given = [_given(environment, name) for name in named]
    flashinfer = (_given(environment, "FLASHINFER_WORKSPACE_BASE") or home) + "/.cache/flashinfer"
    usual = ("torch_extensions", "vllm", "sglang", "tvm-ffi", "flashinfer")
    homes = (home + "/.triton", home + "/.aiter", home + "/.deep_gemm")
    roots = [*filter(None, given), flashinfer, *(cache + "/" + each for each in usual), *homes]
    return [*roots, hub_locks(environment, home)]


def find(places: list[Place], begins: str = "") -> list[str]:
    """Return the paths of the locks that are there, at most 64. May block; ends after 0.2 s of its own time.

    ``begins`` stands before every folder: where another mount namespace is to be seen.
    """
    found: list[str] = []
    end_s = time.monotonic() + _BUDGET_S
    for place in places:
        for entry in itertools.islice(_walk(begins + place.root, place.depth), _ENTRIES):
            if len(found) == _FOUND or time.monotonic() > end_s:
                return found
            if _is_lock(place, entry):
                found.append(entry.path)
    return found


def _is_lock(place: Place, entry: os.DirEntry[str]) -> bool:
    if not entry.name.startswith("lock") and not entry.name.endswith(".lock"):
        return False
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError:
        return False
    return stat.S_ISREG(status.st_mode) and place.holds(entry.name, status)


def _walk(folder: str, depth: int) -> Iterator[os.DirEntry[str]]:
    """Give all entries of a folder, and of those below it; links are not followed."""
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                yield entry
                if depth and _is_folder(entry):
                    yield from _walk(entry.path, depth - 1)
    except OSError:
        return


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def _baton(name: str, status: os.stat_result) -> bool:
    return (name == "lock" or name.startswith("lock_")) and bool(status.st_mode & stat.S_IXUSR)


def _soft(name: str, status: os.stat_result) -> bool:
    return name.endswith(".lock") and status.st_size > 0


def _cache(environment: Mapping[str, str], home: str) -> str:
    return _given(environment, "XDG_CACHE_HOME") or home + "/.cache"


def _given(environment: Mapping[str, str], *names: str) -> str | None:
    """Return the first of these variables that names a folder by its whole path."""
    for name in names:
        value = environment.get(name, "")
        if value.startswith("/"):
            return value.rstrip("/")
    return None
