"""How the signals reader understands names, mappings and control groups, without processes."""

import mmap
from pathlib import Path

import pytest

from tui.agent.signals import host, roles, shards


@pytest.mark.parametrize(
    ("comm", "cmdline", "role"),
    [
        ("python3", b"python3\0-m\0sglang.launch_server\0", roles.SERVER),
        (
            "pt_main_thread",
            b"/usr/bin/python3.12\0-c\0from multiprocessing.spawn import spawn_main\0",
            "server",
        ),
        ("sglang::schedul", b"sglang::scheduler_TP0\0\0\0\0\0\0", roles.SERVER),
        ("sglang::detoken", b"sglang::detokenizer\0\0\0\0", roles.SERVER),
        ("clang-18", b"/opt/rocm/llvm/bin/clang-18\0-cc1\0", roles.COMPILER),
        ("x86_64-conda-li", b"x86_64-conda-linux-gnu-c++\0-c\0", roles.COMPILER),
        ("g++-12", b"g++-12\0-c\0", roles.COMPILER),
        ("clangd", b"clangd\0", roles.OTHER),
        ("VLLM::EngineCor", b"VLLM::EngineCore\0\0\0", roles.SERVER),
        ("VLLM::Worker_TP", b"VLLM::Worker_TP0\0\0\0", roles.SERVER),
        ("llama-server", b"./llama-server\0-m\0x.gguf\0", roles.SERVER),
        (
            "python3",
            b"python3\0-c\0from multiprocessing.resource_tracker import main;main(28)\0",
            roles.OTHER,
        ),
        (
            "python3",
            b"python3\0/torch/_inductor/compile_worker/__main__.py\0--workers=32\0",
            "compile_worker",
        ),
        ("cicc", b"/usr/local/cuda/nvvm/bin/cicc\0--c++17\0", roles.COMPILER),
        ("ninja", b"/usr/bin/python3\0/usr/local/bin/ninja\0", roles.COMPILER),
        ("sh", b"sh\0-c\0nvcc x.cu\0", roles.OTHER),
        ("nvidia-smi", b"nvidia-smi\0", roles.OTHER),
        ("python3", b"", None),
    ],
)
def test_a_process_is_known_by_name_title_and_arguments(comm: str, cmdline: bytes, role: str | None) -> None:
    assert roles.role_of(comm, cmdline, roles.SERVER, None) == role


def test_what_a_compile_worker_forks_is_one_too_but_for_compilers() -> None:
    below = roles.COMPILE_WORKER
    assert roles.role_of("python3", b"a title\0\0\0", below, None) == roles.COMPILE_WORKER
    assert roles.role_of("ptxas", b"", below, None) == roles.COMPILER


def test_a_role_stays_while_there_are_no_arguments_to_read() -> None:
    assert roles.role_of("python3", b"", roles.SERVER, roles.SERVER) == roles.SERVER


def test_mapped_weights_are_found_by_the_last_part_of_their_names(tmp_path: Path) -> None:
    held: list[mmap.mmap] = []
    for name in ("a b.safetensors", "x.gguf", "pytorch_model-00001.bin", "no.safetensors.index.json"):
        path = tmp_path / name
        path.write_bytes(bytes(4096))
        with path.open("rb") as file:
            held.append(mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ))
    (tmp_path / "x.gguf").unlink()
    found = shards.mapped_weights(_own())
    assert found is not None
    assert {"a b.safetensors", "x.gguf", "pytorch_model-00001.bin"} <= set(found)
    assert not any(name.endswith(".json") for name in found)


def _own() -> int:
    return int(Path("/proc/self").readlink().name)


@pytest.mark.parametrize(
    ("theirs", "ours", "files"),
    [
        (b"0::/user.slice/a.scope\n", b"0::/\n", ["/sys/fs/cgroup/user.slice/a.scope/memory.events"]),
        (b"0::/\n", b"0::/\n", ["/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory.events"]),
        (
            b"5:cpu:/\n4:cpuset,memory:/docker/1\n",
            b"4:cpuset,memory:/docker/1\n",
            ["/sys/fs/cgroup/memory/docker/1/memory.oom_control", "/sys/fs/cgroup/memory/memory.oom_control"],
        ),
        (b"0::/../../other\n", b"0::/\n", []),
        (b"", b"", []),
    ],
)
def test_the_kills_of_a_control_group_are_looked_for_where_it_can_be_seen(
    theirs: bytes, ours: bytes, files: list[str]
) -> None:
    assert host.event_files(theirs, ours) == files


def _give(monkeypatch: pytest.MonkeyPatch, files: dict[str, bytes]) -> None:
    def read(path: str) -> bytes:
        return files.get(path, b"")

    monkeypatch.setattr(host, "_read", read)


def test_a_kernel_without_these_files_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    _give(monkeypatch, {})
    assert set(host.host_signals().values()) == {None}


def test_figures_are_taken_from_their_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    files = {
        "/proc/vmstat": b"oom_kill_disable 9\noom_kill 3\n",
        "/proc/sys/kernel/hung_task_detect_count": b"2\n",
        "/proc/pressure/memory": b"some avg10=9.00 avg60=0.00\nfull avg10=12.50 avg60=1.00 total=7\n",
        "/proc/pressure/io": b"some avg10=0.25 avg60=0.00\nfull avg10=0.00\n",
    }
    _give(monkeypatch, files)
    assert host.host_signals() == {
        "oom_kills": 3,
        "hung_tasks": 2,
        "memory_full_pct": 12.5,
        "io_some_pct": 0.25,
    }
