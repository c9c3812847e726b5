"""The libraries that a server has mapped, with their versions as far as names tell.

No file is opened but, where no name tells NCCL's version, the one shared library that holds it.
"""

from __future__ import annotations

import os
import re
import stat

from tui.agent.checkpoint.places import View
from tui.agent.diagnose.tool import MAPS_BYTES
from tui.agent.processes import procfs

TYPE_CHECKING = False  # as in the agent's worker.py
if TYPE_CHECKING:
    from collections.abc import Iterable

_MAPPED = re.compile(
    r"\s(/[^\n]*/lib(nccl-net|nccl-tuner|nccl|cudart|cuda|torch|cublas|cudnn|nvshmem_host|ggml|llama|jemalloc"
    r"|tcmalloc)(?:[-_][\w-]*)?\.so(?:\.(\d[\d.]*))?)(?: \(deleted\))?$",
    re.M,
)
# Folders of Python packages, and what of them is told: pip keeps the version in the name of a folder.
_PACKAGES = re.compile(r"\s(/[^\n]*?/(?:site|dist)-packages)/")
_DIST = re.compile(
    r"(torch|sglang|vllm|flashinfer_python|sgl_kernel|sglang_kernel|triton|nvidia_(nccl|cudnn|cublas)_cu\d+"
    r"|nvidia_cuda_(runtime)_cu\d+|nvidia_(nccl|cudnn|cublas|cuda_runtime)|tensorrt_llm|flash_attn)"
    r"-([^-/]+)\.dist-info$"
)
_OWN = {"runtime": "cudart", "cuda_runtime": "cudart"}
_SAID = re.compile(rb"NCCL version (\d+\.\d+\.\d+)")
_CHUNK = 1024 * 1024
_LARGEST = 1024 * _CHUNK


def of(pids: Iterable[int], found: list[dict[str, object]]) -> None:
    """Add to ``found`` each library of these processes once, one of each name in a folder. May block."""
    mapped: dict[tuple[str, str], tuple[int, str, str]] = {}
    folders: dict[str, int] = {}
    for pid in pids:
        try:
            maps = procfs.read("/proc/%d/maps" % pid, MAPS_BYTES).decode("utf-8", "replace")
        except OSError:
            continue
        for path, name, version in _MAPPED.findall(maps):
            mapped.setdefault((name, os.path.dirname(path)), (pid, path, version))
        for folder in _PACKAGES.findall(maps):
            folders.setdefault(folder, pid)
    packaged = {folder: _packages(View(pid), folder) for folder, pid in folders.items()}
    for (name, _), (pid, path, version) in sorted(mapped.items()):
        if version.count(".") < 2:  # libnccl.so.2 names an interface
            inside = packaged.get(path.partition("-packages/")[0] + "-packages", {})
            version = inside.get(name, ("", ""))[0] or (name == "nccl" and _said(View(pid), path)) or version
        found.append({"name": name, "version": version if "." in version else None, "path": path})
    known = {name for name, _ in mapped}
    for packages in packaged.values():
        for name, (version, path) in sorted(packages.items()):
            if name not in known:
                found.append({"name": name, "version": version, "path": path})


def _packages(view: View, folder: str) -> dict[str, tuple[str, str]]:
    """Return the versions of packages and the folders that tell them, by name."""
    try:
        names = view.names(folder)
    except OSError:
        return {}
    told: dict[str, tuple[str, str]] = {}
    for match in filter(None, map(_DIST.match, sorted(names))):
        whole, *parts, version = match.groups()
        name = next(filter(None, parts), whole)
        told[_OWN.get(name, name)] = (version, folder + "/" + match.group())
    return told


def _said(view: View, path: str) -> str | None:
    """Return the version that NCCL's own library holds, None where it does not. May block."""
    try:
        descriptor = os.open(view.from_here(path), os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or os.pread(descriptor, 4, 0) != b"\x7fELF":
            return None
        for place in range(0, min(status.st_size, _LARGEST), _CHUNK):
            match = _SAID.search(os.pread(descriptor, _CHUNK + 64, place))
            if match is not None:
                return match.group(1).decode("ascii")
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return None
