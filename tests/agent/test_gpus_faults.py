"""What the driver reports of its GPUs by itself, with the real pynvml on a stand-in for its library."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

import pytest

from tui import events
from tui.agent import wire
from tui.agent.gpus import xids
from tui.agent.output import DROPPABLE
from tui.signals import GpuFault

XID, UNAVAILABLE, RECOVERY = 0x8, 0x4000, 0x8000

# Ticks at these moments, with the stand-in's clock set to each, and prints what was sent.
_TICKS = """
import ctypes, json, os, sys
from tui.agent.gpus import worker as gpus
sent = []
reader = gpus.Reader(sent.append, lambda: float(os.environ["NVML_STUB_CLOCK"]))
for moment in json.loads(sys.argv[1]):
    os.environ["NVML_STUB_CLOCK"] = str(moment)
    reader.tick(moment)
print(json.dumps([sent, ctypes.CDLL("libnvidia-ml.so.1").nvml_stub_event_sets_held()]))
"""


class Stub(Protocol):
    """The stand-in for NVML."""

    def environment(self, **switches: Any) -> dict[str, str]: ...
    def counts(self, path: Path) -> dict[str, int]: ...


class Told:
    """What a reader told, how often it called what, and how many sets of events it holds at the end."""

    def __init__(self, sent: list[dict[str, Any]], held: int, counts: dict[str, int]) -> None:
        self.sent = sent
        self.held = held
        self.counts = counts
        decoded = [events.convert(message) for message in sent]
        self.faults = [each for each in decoded if isinstance(each, GpuFault)]


Run = Callable[..., Told]


@pytest.fixture
def run(nvml_stub: Stub, tmp_path: Path) -> Run:
    """Let a reader tick once a second while the driver reports: (at, GPU, kind, data)."""

    def take(seconds: int, reports: Sequence[tuple[float, int, int, int]], **switches: Any) -> Told:
        counts = tmp_path / "counts"
        environment = nvml_stub.environment(counts=counts, start_s=1000, load_s=1e9, **switches)
        moments = [1000.0 + second for second in range(seconds)]
        done = subprocess.run(
            [sys.executable, "-c", _TICKS, json.dumps(moments)],
            cwd=Path(__file__).parents[2],
            env={
                **os.environ,
                **environment,
                "NVML_STUB_EVENTS": ",".join(":".join(map(str, one)) for one in reports),
            },
            stdout=subprocess.PIPE,
            check=True,
        )
        sent, held = json.loads(done.stdout)
        return Told(sent, held, nvml_stub.counts(counts))

    return take


def test_an_xid_is_told_once_with_its_gpu_and_what_it_means(run: Run) -> None:
    told = run(6, [(2, 3, XID, 79)], gpus=8)
    (fault,) = told.faults
    assert (fault.fault, fault.index, fault.xid) == ("xid", 3, 79)
    assert fault.sentence.startswith("GPU 3 reports Xid 79: the GPU has fallen off the bus")
    assert told.counts["nvmlDeviceRegisterEvents"] == 8
    assert (
        told.counts["nvmlEventSetWait_v2"] == 5 + 1
    )  # each tick after the first, and once more for what it gave
    assert told.held == 1


def test_a_gpu_that_the_driver_gave_up_is_lost(run: Run) -> None:
    (fault,) = run(4, [(1, 0, UNAVAILABLE, 0)], gpus=2).faults
    assert (fault.fault, fault.index, fault.xid) == ("lost", 0, None)
    assert "GPU 0 is not available any more" in fault.sentence


def test_a_recovery_is_told_with_what_the_driver_asks_for(run: Run) -> None:
    reports = [(1, 1, RECOVERY, 0), (1, 1, XID, 154)]
    recovery, xid = run(4, reports, gpus=2, rules=["recovery~2"]).faults
    assert (recovery.fault, recovery.sentence) == (
        "recovery",
        "GPU 1 needs a reboot of the host, says the driver.",
    )
    assert xid.sentence == "GPU 1 reports Xid 154: the driver asks for a reboot of the host."
    (unknown,) = run(4, [(1, 1, RECOVERY, 0)], gpus=2, rules=["recovery=3"]).faults
    assert "nvidia-smi -q names it" in unknown.sentence
    assert run(4, [(1, 1, RECOVERY, 0)], gpus=2, rules=["recovery~0"]).faults == []


def test_an_event_without_a_gpu_is_told_without_one(run: Run) -> None:
    (fault,) = run(3, [(1, -1, XID, 119)], gpus=2).faults
    assert (fault.index, fault.xid) == (None, 119)
    assert fault.sentence.startswith("A GPU reports Xid 119")


def test_the_same_xid_many_times_is_told_each_10_s(run: Run) -> None:
    reports = [(at / 2, 0, XID, 13) for at in range(28)] + [(2, 1, XID, 13), (2, 0, XID, 31)]
    faults = run(16, reports, gpus=2).faults
    assert [(each.index, each.xid) for each in faults] == [(0, 13), (1, 13), (0, 31), (0, 13)]


@pytest.mark.parametrize("rule", ["events=3", "nvmlEventSetCreate=13", "nvmlDeviceRegisterEvents=4"])
def test_a_driver_without_events_or_the_right_to_them_is_read_all_the_same(run: Run, rule: str) -> None:
    told = run(12, [(1, 0, XID, 79)], gpus=2, rules=[rule])
    assert told.faults == []
    assert sum(message["kind"] == wire.GPUS for message in told.sent) == 12
    assert not [message for message in told.sent if message["kind"] == wire.NOTICE]
    assert told.counts.get("nvmlEventSetCreate", 0) <= 1
    assert told.counts.get("nvmlDeviceRegisterEvents", 0) <= 2


def test_only_the_kinds_that_a_gpu_supports_are_asked_for(run: Run) -> None:
    reports = [(1, 0, XID, 48), (1, 0, UNAVAILABLE, 0)]
    assert [each.fault for each in run(4, reports, gpus=1, rules=["event_types~31"]).faults] == ["xid"]
    assert [each.fault for each in run(4, reports, gpus=1, rules=["event_types=3"]).faults] == []


def test_a_driver_that_was_loaded_anew_is_asked_anew(run: Run) -> None:
    told = run(12, [(9, 1, XID, 74)], gpus=2, rules=["power=1@2+3"])
    assert [(each.index, each.xid) for each in told.faults] == [(1, 74)]
    assert told.counts["nvmlEventSetCreate"] == 2
    assert told.held == 1


def test_faults_of_a_gpu_are_never_dropped() -> None:
    assert wire.GPU_FAULT not in DROPPABLE


@pytest.mark.parametrize("xid", [8, 13, 31, 43, 45, 48, 62, 63, 64, 74, 79, 94, 95, 119, 120, 144, 150, 154])
def test_every_common_xid_has_its_meaning(xid: int) -> None:
    assert "dmesg says more" not in xids.of_xid(0, xid)
    assert xids.of_xid(0, xid).startswith(f"GPU 0 reports Xid {xid}: ")


def test_an_unknown_xid_names_where_to_look() -> None:
    assert xids.of_xid(None, 999) == "A GPU reports Xid 999: dmesg says more, look for NVRM."
