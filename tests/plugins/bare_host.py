"""A host without Python, as far as its PATH goes: what a shell finds there, and a stand-in for nvidia-smi."""

import json
import shlex
import shutil
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest
import stand_in_smi

H200: dict[str, str] = {
    "name": "NVIDIA H200", "driver_version": "580.105.08", "memory.used": "1024", "memory.reserved": "615",
    "memory.total": "143771", "utilization.gpu": "97", "utilization.memory": "41",
    "power.draw.instant": "345.12", "enforced.power.limit": "700.00", "temperature.gpu": "52",
    "clocks.current.sm": "1980", "clocks.current.memory": "3201",
    "clocks_event_reasons.active": "0x0000000000000004", "ecc.errors.uncorrected.volatile.total": "0",
    "pcie.link.gen.gpucurrent": "5", "pcie.link.width.current": "16", "pcie.link.gen.gpumax": "5",
    "pcie.link.width.max": "16",
}  # fmt: skip


def gpu(index: int, **cells: str) -> dict[str, str]:
    """Return the cells of one GPU; names of ``cells`` are fields with ``__`` for a dot."""
    own = {
        "index": str(index),
        "uuid": f"GPU-0000000{index}-aaaa-bbbb-cccc-dddddddddddd",
        "pci.bus_id": f"00000000:{index + 1:02X}:00.0",
    }
    return H200 | own | {name.replace("__", "."): text for name, text in cells.items()}


class BareHost:
    """A folder to be the PATH of a session: without python3, with nvidia-smi once ``smi`` was called."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._state = folder / "smi.json"
        for name in ("sh", "env", "cat"):
            program = shutil.which(name)
            assert program is not None
            (folder / name).symlink_to(program)

    def smi(self, *gpus: "dict[str, str] | str", **more: Any) -> None:
        """Set what nvidia-smi prints from now on; see stand_in_smi.py."""
        new = self._state.with_suffix(".new")
        new.write_text(json.dumps({"gpus": gpus, **more}))
        new.replace(self._state)
        program = self.folder / "nvidia-smi"
        if not program.exists():
            words = shlex.join([sys.executable, "-ISs", stand_in_smi.__file__, str(self._state)])
            program.write_text(f'#!/bin/sh\nexec {words} "$@"\n')
            program.chmod(0o755)

    @property
    def path(self) -> str:
        """The PATH of a session on it."""
        return str(self.folder)


def session_of(pid: int) -> list[psutil.Process]:
    """Return every process of the session that a shell leads, itself included; zombies are not counted."""
    found: list[psutil.Process] = []
    for process in psutil.process_iter():
        try:
            stat = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if stat[3] == str(pid) and stat[0] != "Z":
            found.append(process)
    return found


@pytest.fixture
def bare_host(tmp_path_factory: pytest.TempPathFactory) -> BareHost:
    """Make the folder."""
    return BareHost(tmp_path_factory.mktemp("bare"))
