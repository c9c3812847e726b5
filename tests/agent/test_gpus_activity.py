"""What the GPU reader tells of a GPU's work by its GPM counters, at given moments of the stand-in's clock."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import pytest

from tui import events
from tui.agent import wire

_TICKS = """
import json, os, sys
from tui.agent.gpus import worker as gpus
sent = []
reader = gpus.Reader(sent.append, clock=lambda: float(os.environ["NVML_STUB_CLOCK"]))
for moment in json.loads(sys.argv[1]):
    os.environ["NVML_STUB_CLOCK"] = str(moment)
    reader.tick(moment)
print(json.dumps(sent))
"""
LOAD_S = 100  # the stand-in's GPU 0 loads weights from 15 s on, captures from 75 s on, is ready at 95 s
WEIGHTS, CAPTURE = (0, 40, 45), (0, 80, 85)


class Stub(Protocol):
    """The stand-in for NVML."""

    def environment(self, **switches: Any) -> dict[str, str]: ...
    def counts(self, path: Path) -> dict[str, int]: ...


class Told(Protocol):
    """What the fixture ``told`` is: gives the last reading of each GPU."""

    def __call__(self, moments: Sequence[float], **switches: Any) -> list[events.GpuDetail]: ...


@pytest.fixture
def told(nvml_stub: Stub, tmp_path: Path) -> Told:
    """Let a reader tick at these moments (seconds after the load's start)."""

    def take(moments: Sequence[float], **switches: Any) -> list[events.GpuDetail]:
        environment = nvml_stub.environment(
            counts=tmp_path / "counts", start_s=1000, load_s=LOAD_S, **switches
        )
        done = subprocess.run(
            [sys.executable, "-c", _TICKS, json.dumps([1000 + moment for moment in moments])],
            cwd=Path(__file__).parents[2],
            env={**os.environ, **environment},
            stdout=subprocess.PIPE,
            check=True,
        )
        found = [events.convert(one) for one in json.loads(done.stdout) if one["kind"] == wire.GPU_DETAILS]
        last = found[-1]
        assert isinstance(last, events.GpuDetails)
        return last.gpus

    return take


def activity(gpu: events.GpuDetail) -> tuple[float | None, ...]:
    return gpu.sm_pct, gpu.tensor_pct, gpu.dram_pct, gpu.nvlink_received_mib_s


def test_work_is_told_by_its_kind(told: Told) -> None:
    assert activity(told(CAPTURE, gpus=1)[0]) == (62.0, 4.0, 48.0, 250.0)
    assert activity(told(WEIGHTS, gpus=1)[0]) == (1.0, 0.0, 2.0, 0.0)


def test_before_the_second_sample_nothing_is_known(told: Told) -> None:
    assert activity(told([80], gpus=1)[0]) == (None, None, None, None)


def test_all_figures_come_with_one_call(told: Told, nvml_stub: Stub, tmp_path: Path) -> None:
    told([0, 5, 10], gpus=1)
    counts = nvml_stub.counts(tmp_path / "counts")
    assert (counts["nvmlGpmSampleGet"], counts["nvmlGpmMetricsGet"]) == (3, 2)


def test_a_figure_that_is_refused_is_unknown_alone(told: Told) -> None:
    one, other = told(CAPTURE, gpus=2, rules=["gpm_nvlink:0=3", "gpm_tensor:1=10"])
    assert activity(one) == (62.0, 4.0, 48.0, None)
    assert activity(other) == (62.0, None, 48.0, 250.0)
    assert one.pcie_received_mib is not None


@pytest.mark.parametrize("code", [3, 10])
def test_without_the_bytes_over_pcie_the_others_are_told_all_the_same(told: Told, code: int) -> None:
    (gpu,) = told((0, 70, 75, 80, 85), gpus=1, rules=[f"gpm_value={code}"])
    assert gpu.pcie_received_mib is None
    assert activity(gpu) == (62.0, 4.0, 48.0, 250.0)


def test_where_all_figures_are_refused_for_good_none_is_asked_again(
    told: Told, nvml_stub: Stub, tmp_path: Path
) -> None:
    fields = ("gpm_value", "gpm_sm", "gpm_tensor", "gpm_dram", "gpm_nvlink")
    (gpu,) = told([0, 5, 10, 15], gpus=1, rules=[f"{field}=3" for field in fields])
    assert (gpu.pcie_received_mib, *activity(gpu)) == (None,) * 5
    assert nvml_stub.counts(tmp_path / "counts")["nvmlGpmMetricsGet"] == 1


def test_a_share_is_never_more_than_the_whole(told: Told) -> None:
    assert told(CAPTURE, gpus=1, rules=["gpm_sm~101"])[0].sm_pct == 100.0


def test_a_wait_at_full_utilisation_is_seen_by_its_idle_multiprocessors(told: Told) -> None:
    spinning = ["utilisation~100", "gpm_sm~17", "gpm_tensor~0", "gpm_dram~0", "gpm_nvlink~0"]
    assert activity(told(CAPTURE, gpus=1, rules=spinning)[0]) == (17.0, 0.0, 0.0, 0.0)
