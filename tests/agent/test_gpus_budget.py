"""How often the GPU reader asks the driver for what, over an hour of its clock, and what follows failures."""

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

Message = dict[str, Any]

# Ticks at these moments, with the stand-in's clock set to each, and prints what was sent.
_TICKS = """
import json, os, sys
from tui.agent.gpus import worker as gpus
sent = []
reader = gpus.Reader(sent.append)
for moment in json.loads(sys.argv[1]):
    os.environ["NVML_STUB_CLOCK"] = str(moment)
    try:
        reader.tick(moment)
    except gpus.StaleLibrary as stale:
        sent.append(dict(kind="stale", sentence=str(stale)))
        break
print(json.dumps(sent))
"""


class Stub(Protocol):
    """The stand-in for NVML."""

    def environment(self, **switches: Any) -> dict[str, str]: ...
    def counts(self, path: Path) -> dict[str, int]: ...


Run = Callable[..., tuple[list[Message], dict[str, int]]]


@pytest.fixture
def run(nvml_stub: Stub, tmp_path: Path) -> Run:
    """Let a reader tick at these moments; returns what it sent and how often it called what."""

    def take(moments: Sequence[float], **switches: Any) -> tuple[list[Message], dict[str, int]]:
        more = switches.pop("more", {})
        counts = tmp_path / "counts"
        environment = nvml_stub.environment(counts=counts, start_s=1000, **switches)
        done = subprocess.run(
            [sys.executable, "-c", _TICKS, json.dumps(moments)],
            cwd=Path(__file__).parents[2],
            env={**os.environ, **environment, **more},
            stdout=subprocess.PIPE,
            check=True,
        )
        sent: list[Message] = json.loads(done.stdout)
        for message in sent:
            if message["kind"] != "stale":
                events.convert(message)
        return sent, nvml_stub.counts(counts)

    return take


def seconds(count: int) -> list[float]:
    return [1000.0 + second for second in range(count)]


def kinds(sent: list[Message], kind: str) -> list[Message]:
    return [message for message in sent if message["kind"] == kind]


def per_gpu_and_second(counts: dict[str, int], gpus: int, length_s: float) -> float:
    return (
        sum(number for name, number in counts.items() if "Device" in name or "Gpm" in name) / gpus / length_s
    )


def test_a_load_costs_at_most_five_calls_a_gpu_and_second(run: Run) -> None:
    held = {gpu: [(4000 + gpu, 700), (5000 + gpu, 20)] for gpu in range(8)}
    sent, counts = run(seconds(60), gpus=8, step_mib=64, processes=held)
    assert len(kinds(sent, wire.GPUS)) == 60
    assert len(kinds(sent, wire.GPU_DETAILS)) == 12
    assert per_gpu_and_second(counts, 8, 60) <= 5


def test_a_quiet_hour_costs_less(run: Run) -> None:
    sent, counts = run(seconds(3600), gpus=2, load_s=1e9, processes={0: [(4000, 700)]})
    assert per_gpu_and_second(counts, 2, 3600) <= 4.5
    assert len(kinds(sent, wire.GPU_PROCESSES)) == 1
    assert len(kinds(sent, wire.GPU_FACTS)) == 1
    assert len(kinds(sent, wire.GPU_DRIVER)) == 1


def test_dear_calls_are_never_made_and_facts_are_asked_once(run: Run) -> None:
    _, counts = run(seconds(60), gpus=4, step_mib=64)
    for dear in ("PcieThroughput", "TotalEnergyConsumption", "FanSpeed", "FieldValues", "ProcessUtilization"):
        assert not any(dear in name for name in counts)
    for once in ("nvmlDeviceGetName", "nvmlDeviceGetUUID", "nvmlDeviceGetEnforcedPowerLimit"):
        assert counts[once] == 4
    assert counts["nvmlInitWithFlags"] == 1


def test_processes_are_listed_only_after_memory_moved_or_a_minute_went_by(run: Run) -> None:
    _, still = run(seconds(59), gpus=1, load_s=1e9, processes={0: [(4000, 700)]})
    assert still["nvmlDeviceGetComputeRunningProcesses_v3"] == 2
    _, minutes = run(seconds(121), gpus=1, load_s=1e9, processes={0: [(4000, 700)]})
    assert minutes["nvmlDeviceGetComputeRunningProcesses_v3"] == 2 * 3
    _, moving = run(seconds(59), gpus=1, step_mib=1, processes={0: [(4000, 700)]})
    assert 8 <= moving["nvmlDeviceGetComputeRunningProcesses_v3"] <= 18


def test_what_is_not_supported_is_asked_once(run: Run) -> None:
    _, counts = run(seconds(30), gpus=2, na=["power", "temperature", "ecc"])
    assert counts["nvmlDeviceGetPowerUsage"] == 2
    assert counts["nvmlDeviceGetTemperatureV"] == counts["nvmlDeviceGetTemperature"] == 2
    assert counts["nvmlDeviceGetTotalEccErrors"] == 2
    assert counts["nvmlDeviceGetUtilizationRates"] == 60


def test_what_fails_for_now_is_asked_again(run: Run) -> None:
    _, counts = run(seconds(30), gpus=1, rules=["power=10"])
    assert counts["nvmlDeviceGetPowerUsage"] == 30


def test_old_names_are_used_where_the_driver_lacks_the_new(run: Run) -> None:
    lacking = [
        "nvmlDeviceGetTemperatureV",
        "nvmlDeviceGetCurrentClocksEventReasons",
        "nvmlDeviceGetComputeRunningProcesses_v3",
        "nvmlDeviceGetGraphicsRunningProcesses_v3",
    ]
    rules = [f"{name}=13" for name in lacking]
    sent, counts = run(seconds(11), gpus=1, v1_only=True, rules=rules, processes={0: [(4000, 700)]})
    assert kinds(sent, wire.GPU_DETAILS)[0]["gpus"][0]["temperature_c"] == 31
    assert kinds(sent, wire.GPU_DETAILS)[0]["gpus"][0]["event_reasons"] == 1
    (held,) = kinds(sent, wire.GPU_PROCESSES)[0]["processes"]
    assert (held["index"], held["pid"], held["memory_mib"]) == (0, 4000, 700.0)
    assert all(counts[name] == 1 for name in [*lacking, "nvmlDeviceGetMemoryInfo_v2"])


def test_a_lost_gpu_is_left_alone_but_for_a_look_each_5_s_and_taken_up_again(run: Run) -> None:
    sent, counts = run(seconds(26), gpus=2, load_s=1e9, rules=["*:1=15@0+20"])
    states = [message["gpus"][1]["state"] for message in kinds(sent, wire.GPUS)]
    assert states[0] == states[19] == "lost"
    assert states[-1] == "ok"
    assert counts["nvmlDeviceGetHandleByIndex_v2"] <= 1 + 7
    assert [facts["gpus"][1]["uuid"] is None for facts in kinds(sent, wire.GPU_FACTS)] == [True, False]


def test_processes_of_a_lost_gpu_are_no_longer_told(run: Run) -> None:
    held = {0: [(4000, 700)], 1: [(4001, 700)]}
    sent, _ = run(seconds(4), gpus=2, load_s=1e9, processes=held, lost=1, lost_after_s=2)
    told = [[one["pid"] for one in message["processes"]] for message in kinds(sent, wire.GPU_PROCESSES)]
    assert told == [[4000, 4001], [4000]]


def test_a_driver_that_went_away_is_started_again_with_the_same_rows(run: Run) -> None:
    rules, more = ["power=1@2+3"], {"NVML_STUB_RENUMBER": "3,0,2"}
    sent, counts = run(seconds(9), gpus=4, load_s=1e9, rules=rules, more=more)
    assert [message["state"] for message in kinds(sent, wire.GPU_DRIVER)] == ["ok", "failed", "ok"]
    last = kinds(sent, wire.GPUS)[-1]["gpus"]
    assert [gpu["index"] for gpu in last] == [0, 1, 2, 3]
    assert [gpu["state"] for gpu in last] == ["ok", "lost", "ok", "ok"]
    assert "GPU 1 is gone" in last[1]["sentence"]
    # The power of the stand-in's GPUs differs, so that each is known by it.
    assert [gpu["power_w"] for gpu in last] == [84.0, None, 84.3, 84.4]
    assert counts["nvmlInitWithFlags"] == 2


def test_a_failed_start_is_tried_again_each_5_s(run: Run) -> None:
    sent, counts = run(seconds(21), gpus=1, init_code=9)
    assert counts == {"nvmlInitWithFlags": 5}
    assert len(sent) == 1


def test_a_driver_updated_under_the_reader_needs_a_fresh_process(run: Run) -> None:
    sent, _ = run(seconds(9), gpus=1, load_s=1e9, rules=["power=1@2+9", "init=18@3+9"])
    states = [(one["state"], one["code"]) for one in kinds(sent, wire.GPU_DRIVER)]
    assert states == [("ok", None), ("failed", 1), ("failed", 18)]
    assert sent[-1]["kind"] == "stale"


def test_a_missing_library_costs_no_bindings(tmp_path: Path) -> None:
    (tmp_path / "libnvidia-ml.so.1").write_bytes(b"not a library")
    script = "import sys; from tui.agent.gpus import worker as gpus; gpus.Reader(lambda _: None).tick(0);"
    done = subprocess.run(
        [sys.executable, "-c", script + "print('pynvml' in sys.modules)"],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "LD_LIBRARY_PATH": str(tmp_path)},
        stdout=subprocess.PIPE,
        check=True,
    )
    assert done.stdout.decode().strip() == "False"
