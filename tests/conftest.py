"""What every test may ask for: a system program that must be there, a free port."""

import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import settings

# A build must say the same of the same code; examples are looked for anew wherever people run the tests.
settings.register_profile("ci", derandomize=True)
if os.environ.get("CI") == "true":
    settings.load_profile("ci")

# Started in the background of a script, it ignores ctrl-C, and so would every command that a test interrupts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

Needs = Callable[[str], str]

pytest_plugins = [
    "ssh_server",
    "asking_server",
    "llama_server",
    "watched_host",
    "tminus_command",
    "typed_terminal",
    "watched_stacks",
    "odd_server",
    "wrapped_host",
    "bare_host",
    "ready_server",
    "node_hosts",
    "in_turn",
]


@pytest.fixture(scope="session")
def needs() -> Needs:
    """Return the path of a system program; skip with its name where it is missing, fail for it in CI."""

    def find(program: str) -> str:
        path = shutil.which(program, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
        if path is not None:
            return path
        if os.environ.get("CI") == "true":
            pytest.fail(f"CI needs the system program {program!r}, and it is not installed")
        pytest.skip(f"needs the system program {program!r}")

    return find


@pytest.fixture
def free_port() -> int:
    """Return a loopback port that nothing listened on a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class NvmlStub:
    """A stand-in for the NVIDIA driver's library, for programs started with ``environment()``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def environment(
        self,
        *,
        gpus: int = 8,
        load_s: float = 20.0,
        start_s: float | None = None,
        step_mib: int | None = None,
        lost: int | None = None,
        lost_after_s: float | None = None,
        na: Sequence[str] = (),
        init_code: int | None = None,
        hang: tuple[int, float, float] | None = None,
        mig: bool = False,
        unified: bool = False,
        v1_only: bool = False,
        pcie_ms: float = 0,
        driver: str = "580.159.04",
        processes: Mapping[int, Sequence[tuple[int, int]]] | None = None,
        received: Sequence[tuple[float, float, float]] = (),
        counts: Path | None = None,
        rules: Sequence[str] = (),
        links: Sequence[str] = (),
        near: Sequence[str] = (),
    ) -> dict[str, str]:
        """Return the variables to add to a program's environment; tests/stubs/nvml_stub.c explains them.

        ``start_s`` is on the monotonic clock (default: when the library is loaded), ``step_mib`` lets memory
        grow at each reading instead of by time, ``lost`` names a GPU, ``na`` fields that are not supported,
        ``hang`` is a GPU, from when and for how long its memory is not told, ``processes`` maps a GPU to
        (pid, MiB), ``received`` says from when to when how many MiB/s come over PCIe, and
        ``rules`` are further exceptions in the stub's own words, ``links`` and ``near`` the topology.
        """
        since = "" if lost_after_s is None else f"@{lost_after_s}"
        said = [
            *rules,
            *([f"*:{lost}=15{since}"] if lost is not None else []),
            *([f"memory:{hang[0]}=hang@{hang[1]}+{hang[2]}"] if hang else []),
            *([f"init={init_code}"] if init_code is not None else []),
            *(["memory=3"] if unified else []),
            *(["nvmlDeviceGetMemoryInfo_v2=13"] if v1_only else []),
            *(f"{field}=3" for field in na),
        ]
        held = [f"{gpu}:{pid}:{mib}" for gpu, one in (processes or {}).items() for pid, mib in one]
        return {
            "LD_LIBRARY_PATH": str(self.folder),
            "NVML_STUB_GPUS": str(gpus),
            "NVML_STUB_LOAD_S": str(load_s),
            "NVML_STUB_START": "" if start_s is None else str(start_s),
            "NVML_STUB_STEP_MIB": "" if step_mib is None else str(step_mib),
            "NVML_STUB_MIG": str(int(mig)),
            "NVML_STUB_PCIE_MS": str(pcie_ms),
            "NVML_STUB_DRIVER": driver,
            "NVML_STUB_PROCESSES": ",".join(held),
            "NVML_STUB_RECEIVED": ",".join(f"{since}:{until}:{rate}" for since, until, rate in received),
            "NVML_STUB_LINKS": ",".join(links),
            "NVML_STUB_NEAR": ",".join(near),
            "NVML_STUB_COUNTS": "" if counts is None else str(counts),
            "NVML_STUB_RULES": ";".join(said),
        }

    def counts(self, path: Path) -> dict[str, int]:
        """Return how often each function was called, from the file given as ``counts``."""
        lines = path.read_bytes().rstrip(b"\0").decode().splitlines()
        return {name: int(number) for name, number in (line.split() for line in lines)}


@pytest.fixture(scope="session")
def nvml_stub(needs: Needs, tmp_path_factory: pytest.TempPathFactory) -> NvmlStub:
    """Build the stand-in for NVML once and say how to make a program find it."""
    folder = tmp_path_factory.mktemp("nvml")
    source = Path(__file__).parent / "stubs" / "nvml_stub.c"
    library = folder / "libnvidia-ml.so.1"
    flags = ["-O1", "-shared", "-fPIC", "-Wl,-soname,libnvidia-ml.so.1"]
    subprocess.run([needs("gcc"), *flags, "-o", library, source], check=True)
    return NvmlStub(folder)
