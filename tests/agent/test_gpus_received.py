"""What the GPU reader tells of the bytes that came over PCIe, at given moments of the stand-in's clock."""

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

# Ticks at these moments, then ends the driver; prints what was sent and how many samples were not given back.
_TICKS = """
import ctypes, json, os, sys
from tui.agent.gpus import worker as gpus
sent = []
reader = gpus.Reader(sent.append, clock=lambda: float(os.environ["NVML_STUB_CLOCK"]))
for moment in json.loads(sys.argv[1]):
    os.environ["NVML_STUB_CLOCK"] = str(moment)
    reader.tick(moment)
reader._close(reader._library)
print(json.dumps([sent, ctypes.CDLL("libnvidia-ml.so.1").nvml_stub_samples_held()]))
"""
Totals = list[float | None]


class Stub(Protocol):
    """The stand-in for NVML."""

    def environment(self, **switches: Any) -> dict[str, str]: ...
    def counts(self, path: Path) -> dict[str, int]: ...


class Told(Protocol):
    """What the fixture ``told`` is: gives the totals of each GPU, as they were told one after the other."""

    def __call__(self, moments: Sequence[float], **switches: Any) -> list[Totals]: ...


@pytest.fixture
def told(nvml_stub: Stub, tmp_path: Path) -> Told:
    """Let a reader tick at these moments (seconds after the load's start) and see that it leaves nothing."""

    def take(moments: Sequence[float], **switches: Any) -> list[Totals]:
        environment = nvml_stub.environment(counts=tmp_path / "counts", start_s=1000, **switches)
        done = subprocess.run(
            [sys.executable, "-c", _TICKS, json.dumps([1000 + moment for moment in moments])],
            cwd=Path(__file__).parents[2],
            env={**os.environ, **environment},
            stdout=subprocess.PIPE,
            check=True,
        )
        sent, held = json.loads(done.stdout)
        assert held == 0
        details = [events.convert(message) for message in sent if message["kind"] == wire.GPU_DETAILS]
        readings = [each.gpus for each in details if isinstance(each, events.GpuDetails)]
        return [
            [reading[index].pcie_received_mib for reading in readings] for index in range(len(readings[0]))
        ]

    return take


@pytest.fixture
def called(nvml_stub: Stub, tmp_path: Path) -> Callable[[str], int]:
    """Return how often a function was called."""
    return lambda name: nvml_stub.counts(tmp_path / "counts").get(name, 0)


def test_the_total_begins_at_zero_and_grows_by_what_came(told: Told) -> None:
    totals = told([0, 5, 10, 15], gpus=2, received=[(5, 10, 3700), (10, 11, 100)])
    assert totals == [[0.0, 0.0, 18500.0, 18600.0]] * 2


def test_a_reading_that_comes_late_covers_the_time_that_it_took(told: Told) -> None:
    assert told([0, 5, 23], gpus=1, received=[(0, 20, 1000)]) == [[0.0, 5000.0, 20000.0]]


@pytest.mark.parametrize("failing", ["gpm_sample", "gpm_metrics", "gpm_value"])
def test_a_reading_that_fails_is_unknown_and_the_next_covers_it(told: Told, failing: str) -> None:
    totals = told([0, 5, 10, 15], gpus=2, received=[(0, 15, 1000)], rules=[f"{failing}:1=10@4+2"])
    assert totals == [[0.0, 5000.0, 10000.0, 15000.0], [0.0, None, 10000.0, 15000.0]]


def test_a_first_reading_that_fails_begins_later(told: Told) -> None:
    totals = told([0, 5, 10], gpus=1, received=[(0, 10, 1000)], rules=["gpm_sample=10@0+2"])
    assert totals == [[None, 0.0, 5000.0]]


def test_a_gpu_that_does_not_support_it_is_asked_once(told: Told, called: Callable[[str], int]) -> None:
    totals = told([0, 5, 10], gpus=2, received=[(0, 9, 1000)], rules=["gpm_support:0~0"])
    assert totals == [[None, None, None], [0.0, 5000.0, 9000.0]]
    assert called("nvmlGpmQueryDeviceSupport") == 2
    assert called("nvmlGpmSampleGet") == 3


@pytest.mark.parametrize(
    ("rule", "function"),
    [
        ("nvmlGpmQueryDeviceSupport=13", "nvmlGpmQueryDeviceSupport"),
        ("gpm_support=3", "nvmlGpmQueryDeviceSupport"),
        ("gpm_sample=4", "nvmlGpmSampleGet"),
        ("gpm_sample=3", "nvmlGpmSampleGet"),
    ],
)
def test_what_is_refused_for_good_is_not_asked_again(
    told: Told, called: Callable[[str], int], rule: str, function: str
) -> None:
    assert told([0, 5, 10], gpus=1, rules=[rule]) == [[None, None, None]]
    assert called(function) == 1


def test_with_mig_the_gpu_as_a_whole_does_not_say_and_is_not_asked(
    told: Told, called: Callable[[str], int]
) -> None:
    assert told([0, 5], gpus=1, mig=True) == [[None, None]]
    assert called("nvmlGpmQueryDeviceSupport") == called("nvmlGpmSampleAlloc") == 0


def test_a_lost_gpu_is_unknown_and_begins_at_zero_when_it_is_back(told: Told) -> None:
    totals = told([0, 5, 10, 15, 20], gpus=2, received=[(0, 30, 1000)], rules=["*:1=15@6+5"])
    assert totals == [[0.0, 5000.0, 10000.0, 15000.0, 20000.0], [0.0, 5000.0, None, 0.0, 5000.0]]


def test_a_driver_that_is_started_anew_begins_at_zero(told: Told) -> None:
    totals = told([0, 5, 6, 7, 12, 17], gpus=1, received=[(0, 30, 1000)], rules=["power=1@6+2"])
    assert totals == [[0.0, 5000.0, 0.0, 5000.0]]


def test_the_weights_of_a_load_are_seen_to_come_in(told: Told) -> None:
    (totals,) = told(range(0, 101, 5), gpus=1, load_s=100)
    assert totals[0] == totals[3] == 0.0
    assert totals[-1] == pytest.approx(61486 * 1.075, rel=1e-4)
    assert None not in totals
    assert totals == sorted(total for total in totals if total is not None)
