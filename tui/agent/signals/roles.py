"""What a process below a server is there for, by its name and command line. Pure."""

from __future__ import annotations

from tui.agent.processes.keys import split_arguments
from tui.agent.processes.sighting import is_title

SERVER, COMPILER, COMPILE_WORKER, OTHER = "server", "compiler", "compile_worker", "other"

# Names as the kernel has them, cut to 15 bytes.
COMPILERS = frozenset(
    (
        *(
            "nvcc",
            "cicc",
            "ptxas",
            "ptxas-blackwell",
            "tileiras",
            "cudafe++",
            "fatbinary",
            "nvlink",
            "ninja",
            "cc1plus",
            "cc1",
            "as",
        ),
        *("g++", "gcc", "c++", "cc", "clang", "clang++", "x86_64-linux-gn", "aarch64-linux-g", "collect2"),
        *("ld", "ld.bfd", "ld.gold", "ld.lld", "lld", "ld.mold", "mold", "lto1", "hipcc"),
    )
)
# With a version or a target in the name: clang-18 of ROCm, g++-12, the compilers of conda.
_COMPILERS_LIKE = ("clang-", "clang++-", "amdclang", "gcc-", "g++-", "x86_64-conda-", "aarch64-conda-")
# Servers that are no Python programs.
_NATIVE = ("llama-", "text-generation", "tritonserver")
# Helpers of Python's multiprocessing, which never work.
_TRACKERS = (b"resource_tracker", b"semaphore_tracker")


def role_of(comm: str, cmdline: bytes, parent: str, known: str | None) -> str | None:
    """Return a process's role; None when that cannot be told yet (in the middle of an exec, or a zombie).

    ``parent`` is the role of the process above it, ``known`` what it was taken for before. What a compile
    worker forks is one too, whatever it calls itself.
    """
    if comm in COMPILERS or comm.startswith(_COMPILERS_LIKE):
        return COMPILER
    if COMPILE_WORKER in (parent, known):
        return COMPILE_WORKER
    if parent == COMPILER:
        return OTHER
    argv = split_arguments(cmdline)
    if not argv:
        return known
    if b"compile_worker" in cmdline:
        return COMPILE_WORKER
    if any(name in cmdline for name in _TRACKERS):
        return OTHER
    return SERVER if _serves(comm, cmdline, argv) else OTHER


def _serves(comm: str, cmdline: bytes, argv: list[str]) -> bool:
    program = argv[0].rpartition("/")[2]
    return (
        program.startswith(("python", "pypy", *_NATIVE))
        or comm.startswith(_NATIVE)
        or is_title(cmdline, argv)
    )
