"""Which libraries a process has loaded, and how their versions are found: by names, hardly by reading."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tui.agent.prove import libraries

MAP = """
import mmap, sys
kept = []
for path in sys.argv[1:]:
    with open(path, "rb") as file:
        kept.append(mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ))
print("here", flush=True)
sys.stdin.read()
"""
ELF = b"\x7fELF" + b"\0" * 4092

Found = dict[str, tuple[str | None, str]]


@pytest.fixture
def mapped() -> Iterator[Callable[..., int]]:
    """Start a process that maps files, each made with the content given; returns its pid."""
    started: list[subprocess.Popen[str]] = []

    def start(files: dict[Path, bytes]) -> int:
        for path, content in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        command = [sys.executable, "-S", "-c", MAP, *map(str, files)]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        started.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "here\n"
        return process.pid

    yield start
    for process in started:
        process.kill()
        process.communicate()


def told(pid: int) -> Found:
    """Return versions and paths by name."""
    found: list[dict[str, Any]] = []
    libraries.of([pid], found)
    return {each["name"]: (each["version"], each["path"]) for each in found}


def test_a_full_file_name_tells_the_version(mapped: Callable[..., int], tmp_path: Path) -> None:
    nccl, cuda = tmp_path / "libnccl.so.2.27.5", tmp_path / "libcuda.so.580.159.04"
    found = told(mapped({nccl: ELF, cuda: ELF, tmp_path / "libc-like.so.6": ELF}))
    assert found == {"nccl": ("2.27.5", str(nccl)), "cuda": ("580.159.04", str(cuda))}


def test_a_package_tells_the_version_in_the_name_of_its_folder(
    mapped: Callable[..., int], tmp_path: Path
) -> None:
    folder = tmp_path / "lib/python3.12/site-packages"
    for name in ("nvidia_nccl_cu12-2.28.9", "torch-2.9.1+cu128", "sglang-0.5.14", "requests-2.0"):
        (folder / f"{name}.dist-info").mkdir(parents=True)
    torch = folder / "torch/lib/libtorch_cuda.so"
    found = told(mapped({folder / "nvidia/nccl/lib/libnccl.so.2": ELF, torch: ELF}))
    assert {name: version for name, (version, _) in found.items()} == {
        "nccl": "2.28.9",
        "torch": "2.9.1+cu128",
        "sglang": "0.5.14",
    }
    assert found["torch"][1] == str(torch)
    assert found["sglang"][1] == str(folder / "sglang-0.5.14.dist-info")


@pytest.mark.parametrize("before", [0, 1024 * 1024 - 4096 - 10, 3 * 1024 * 1024])
def test_without_a_name_that_tells_the_library_itself_does(
    mapped: Callable[..., int], tmp_path: Path, before: int
) -> None:
    content = ELF + b"x" * before + b"NCCL version 9.8.7+cuda12.9\0" + b"x" * 5000
    assert told(mapped({tmp_path / "libnccl.so.2": content}))["nccl"][0] == "9.8.7"


def test_what_is_no_library_tells_nothing(mapped: Callable[..., int], tmp_path: Path) -> None:
    found = told(mapped({tmp_path / "libnccl.so.2": b"NCCL version 9.8.7\0" + ELF}))
    assert found["nccl"][0] is None


def test_the_number_of_an_interface_is_no_version(mapped: Callable[..., int], tmp_path: Path) -> None:
    found = told(mapped({tmp_path / "libcudart.so.12": ELF, tmp_path / "libggml-base.so.0": ELF}))
    assert found["cudart"][0] is None
    assert found["ggml"][0] is None


def test_a_library_that_was_replaced_under_the_server_is_still_what_it_has_loaded(
    mapped: Callable[..., int], tmp_path: Path
) -> None:
    path = tmp_path / "libnccl.so.2.27.5"
    pid = mapped({path: ELF})
    path.unlink()
    assert told(pid) == {"nccl": ("2.27.5", str(path))}


def test_no_file_is_opened_but_the_library_that_must_be(
    mapped: Callable[..., int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, nccl = tmp_path / "libnccl.safetensors", tmp_path / "libnccl.so.2"
    named = tmp_path / "libcuda.so.580.1.2"
    pid = mapped({model: ELF, nccl: ELF, named: ELF})
    opened: list[str] = []
    really = os.open

    def spy(path: Any, flags: int, *rest: Any, **more: Any) -> int:
        opened.append(os.fsdecode(path))
        return really(path, flags, *rest, **more)

    monkeypatch.setattr(os, "open", spy)
    told(pid)
    assert [path for path in opened if not path.startswith("/proc/")] == [str(nccl)]


def test_a_process_that_is_gone_has_none() -> None:
    assert told(2**22 - 1) == {}
