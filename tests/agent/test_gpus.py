"""The GPU reader as a worker of its own, with the real pynvml on a stand-in for the driver's library."""

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

import pytest
from agent_process import PATIENCE_S

from tui.agent import wire
from tui.requests import WatchRequest

Message = dict[str, Any]


class Served(Protocol):
    """One worker in a process of its own."""

    def send(self, request: WatchRequest) -> None: ...
    def receive(self, kind: str, timeout_s: float = PATIENCE_S) -> Message: ...
    def receive_within(self, kind: str, timeout_s: float) -> Message | None: ...


class Stub(Protocol):
    """The stand-in for NVML."""

    folder: Path

    def environment(self, **switches: Any) -> dict[str, str]: ...


Start = Callable[..., Served]


@pytest.fixture
def reader(served: Start) -> Callable[[Mapping[str, str]], Served]:
    """Start a reader with these variables added to its environment, at 20 readings a second."""

    def start(environment: Mapping[str, str]) -> Served:
        worker = served("gpus", env=dict(environment))
        worker.send(WatchRequest(matchers=[], interval_s=0.05))
        return worker

    return start


Reader = Callable[[Mapping[str, str]], Served]


def reading_where(worker: Served, holds: Callable[[Message], bool]) -> Message:
    """Return the first reading for which that holds."""
    end_s = time.monotonic() + PATIENCE_S
    while time.monotonic() < end_s:
        reading = worker.receive(wire.GPUS)
        if holds(reading):
            return reading
    pytest.fail("no such reading within 10 s")


def sample_where(worker: Served, holds: Callable[[list[Message]], bool]) -> list[Message]:
    """Return the GPUs of the first reading for which that holds of them."""
    gpus: list[Message] = reading_where(worker, lambda reading: holds(reading["gpus"]))["gpus"]
    return gpus


def test_driver_and_facts_come_first_and_each_gpu_has_its_row(reader: Reader, nvml_stub: Stub) -> None:
    worker = reader(nvml_stub.environment(gpus=8))
    driver = worker.receive(wire.GPU_DRIVER)
    assert (driver["state"], driver["version"]) == ("ok", "580.159.04")
    facts = worker.receive(wire.GPU_FACTS)["gpus"]
    assert [fact["index"] for fact in facts] == list(range(8))
    assert len({fact["uuid"] for fact in facts}) == 8
    assert facts[3] == {
        "index": 3,
        "uuid": "GPU-00000000-0000-4000-8000-000000000003",
        "name": "NVIDIA H200",
        "bus_id": "00000000:13:00.0",
        "memory_total_mib": 143771.0,
        "power_limit_w": 700.0,
        "pcie_generation_max": 5,
        "pcie_width_max": 16,
    }
    gpus = worker.receive(wire.GPUS)["gpus"]
    assert [(gpu["index"], gpu["state"]) for gpu in gpus] == [(index, "ok") for index in range(8)]


def test_memory_of_all_gpus_ramps_with_reserved_told_apart(reader: Reader, nvml_stub: Stub) -> None:
    worker = reader(nvml_stub.environment(gpus=8, load_s=1.5))
    readings: list[list[Message]] = []

    def loaded(gpus: list[Message]) -> bool:
        readings.append(gpus)
        return all(gpu["memory_used_mib"] == 132035 for gpu in gpus)

    sample_where(worker, loaded)
    for index in range(8):
        used = [gpus[index]["memory_used_mib"] for gpus in readings]
        assert used == sorted(used)
        assert len(set(used)) > 3
    assert {gpu["memory_reserved_mib"] for gpu in readings[-1]} == {615.0}
    assert {gpu["memory_total_mib"] for gpu in readings[-1]} == {143771.0}


def test_the_slow_tier_is_told_with_the_first_reading(reader: Reader, nvml_stub: Stub) -> None:
    details = reader(nvml_stub.environment(gpus=2)).receive(wire.GPU_DETAILS)
    assert details["gpus"][1] == {
        "index": 1,
        "temperature_c": 32,
        "sm_clock_mhz": 345,
        "memory_clock_mhz": 3201,
        "event_reasons": 1,
        "ecc_uncorrected": 0,
        "pcie_generation": 1,
        "pcie_width": 16,
        "pcie_received_mib": 0.0,
        "sm_pct": None,
        "tensor_pct": None,
        "dram_pct": None,
        "nvlink_received_mib_s": None,
    }
    assert details["cost_ms"] > 0


def test_a_gpu_lost_on_the_way_keeps_its_row_and_says_so(reader: Reader, nvml_stub: Stub) -> None:
    worker = reader(nvml_stub.environment(gpus=4, lost=2, lost_after_s=1))
    sample_where(worker, lambda gpus: gpus[2]["state"] == "ok")
    gpus = sample_where(worker, lambda gpus: gpus[2]["state"] == "lost")
    assert [gpu["state"] for gpu in gpus] == ["ok", "ok", "lost", "ok"]
    assert gpus[2]["memory_used_mib"] is None
    assert gpus[2]["memory_total_mib"] == 143771.0
    assert gpus[2]["utilisation_pct"] is None
    assert "GPU 2 is lost" in gpus[2]["sentence"]


def test_a_gpu_lost_from_the_start_keeps_its_row_too(reader: Reader, nvml_stub: Stub) -> None:
    worker = reader(nvml_stub.environment(gpus=4, lost=1))
    facts = worker.receive(wire.GPU_FACTS)["gpus"]
    assert [fact["index"] for fact in facts] == [0, 1, 2, 3]
    assert (facts[1]["uuid"], facts[2]["uuid"][-1]) == (None, "2")
    assert worker.receive(wire.GPUS)["gpus"][1]["state"] == "lost"
    assert worker.receive(wire.GPU_DETAILS)["gpus"][1]["temperature_c"] is None


def test_a_gpu_whose_handle_is_refused_is_an_error_with_its_reason(reader: Reader, nvml_stub: Stub) -> None:
    worker = reader(nvml_stub.environment(gpus=2, rules=["handle:0=4"]))
    gpu = worker.receive(wire.GPUS)["gpus"][0]
    assert gpu["state"] == "error"
    assert "may not read" in gpu["sentence"]


def test_a_call_that_hangs_delays_one_reading_and_the_schedule_goes_on(
    reader: Reader, nvml_stub: Stub
) -> None:
    worker = reader(nvml_stub.environment(gpus=3, hang=(1, 0.5, 1.0)))
    slow = reading_where(worker, lambda reading: reading["cost_ms"] > 250)
    assert [gpu["state"] for gpu in slow["gpus"]] == ["ok", "ok", "ok"]
    after = worker.receive(wire.GPUS)
    # What was missed is skipped, not caught up with.
    assert worker.receive(wire.GPUS)["mono_s"] - after["mono_s"] > 0.01


def test_no_library_is_absence_with_a_way_out(reader: Reader, tmp_path: Path) -> None:
    worker = reader({"LD_LIBRARY_PATH": str(tmp_path)})
    driver = worker.receive(wire.GPU_DRIVER)
    if driver["state"] == "ok":
        pytest.skip("this machine has an NVIDIA driver")
    assert (driver["state"], driver["code"]) == ("absent", 12)
    assert "No NVIDIA driver was found here" in driver["sentence"]
    assert worker.receive_within(wire.GPUS, 0.2) is None


def test_a_library_that_is_no_library_is_a_failure_in_the_loaders_words(
    reader: Reader, tmp_path: Path
) -> None:
    (tmp_path / "libnvidia-ml.so.1").write_bytes(b"not a library")
    driver = reader({"LD_LIBRARY_PATH": str(tmp_path)}).receive(wire.GPU_DRIVER)
    if driver["state"] == "ok":
        pytest.skip("this machine has an NVIDIA driver in a place of its own")
    assert driver["state"] == "failed"
    assert "libnvidia-ml.so.1" in driver["sentence"]


@pytest.mark.parametrize(
    ("code", "words"),
    [(18, "different versions"), (4, "refuses this user"), (9, "not loaded"), (999, "unknown error")],
)
def test_a_driver_that_does_not_start_is_told_once(
    reader: Reader, nvml_stub: Stub, code: int, words: str
) -> None:
    worker = reader(nvml_stub.environment(init_code=code))
    driver = worker.receive(wire.GPU_DRIVER)
    assert (driver["state"], driver["code"]) == ("failed", code)
    assert words in driver["sentence"]
    assert worker.receive_within(wire.GPU_DRIVER, 0.3) is None


def test_a_driver_without_gpus_is_told_as_such(reader: Reader, nvml_stub: Stub) -> None:
    driver = reader(nvml_stub.environment(gpus=0)).receive(wire.GPU_DRIVER)
    assert (driver["state"], driver["version"]) == ("absent", "580.159.04")
    assert "shows no GPU" in driver["sentence"]


def test_unknown_errors_of_every_gpu_are_the_drivers_failure(reader: Reader, nvml_stub: Stub) -> None:
    worker = reader(nvml_stub.environment(gpus=2, rules=["*=999@1"]))
    assert worker.receive(wire.GPU_DRIVER)["state"] == "ok"
    driver = worker.receive(wire.GPU_DRIVER)
    assert (driver["state"], driver["code"]) == ("failed", 999)
    assert "container" in driver["sentence"]


def test_fields_that_are_not_supported_are_none(reader: Reader, nvml_stub: Stub) -> None:
    fields = ["utilisation", "power", "temperature", "ecc", "limit", "clock", "reasons", "pcie"]
    worker = reader(nvml_stub.environment(gpus=1, na=fields))
    assert worker.receive(wire.GPU_FACTS)["gpus"][0]["power_limit_w"] is None
    gpu = worker.receive(wire.GPUS)["gpus"][0]
    assert (gpu["state"], gpu["utilisation_pct"], gpu["power_w"]) == ("ok", None, None)
    assert gpu["memory_used_mib"] == 0.0
    detail = worker.receive(wire.GPU_DETAILS)["gpus"][0]
    assert set(detail.values()) == {0, None}


def test_values_that_mean_not_available_are_none(reader: Reader, nvml_stub: Stub) -> None:
    rules = ["power~4294967295", "utilisation~4294967295", "ecc~9223372036854775794", "clock~4294967295"]
    worker = reader(nvml_stub.environment(gpus=1, rules=rules))
    gpu = worker.receive(wire.GPUS)["gpus"][0]
    assert (gpu["power_w"], gpu["utilisation_pct"], gpu["memory_utilisation_pct"]) == (None, None, None)
    detail = worker.receive(wire.GPU_DETAILS)["gpus"][0]
    assert (detail["ecc_uncorrected"], detail["sm_clock_mhz"]) == (None, None)


def test_a_driver_with_the_old_memory_call_gives_no_reserved(reader: Reader, nvml_stub: Stub) -> None:
    gpu = reader(nvml_stub.environment(gpus=1, v1_only=True)).receive(wire.GPUS)["gpus"][0]
    assert (gpu["memory_used_mib"], gpu["memory_reserved_mib"]) == (615.0, None)


def test_unified_memory_is_none_with_a_sentence(reader: Reader, nvml_stub: Stub) -> None:
    worker = reader(nvml_stub.environment(gpus=1, unified=True))
    assert worker.receive(wire.GPU_FACTS)["gpus"][0]["memory_total_mib"] is None
    gpu = worker.receive(wire.GPUS)["gpus"][0]
    assert (gpu["state"], gpu["memory_used_mib"], gpu["memory_total_mib"]) == ("ok", None, None)
    assert gpu["utilisation_pct"] == 0.0
    assert "share one memory" in gpu["sentence"]


def test_a_total_of_zero_is_unified_memory_too(reader: Reader, nvml_stub: Stub) -> None:
    gpu = reader(nvml_stub.environment(gpus=1, rules=["memory~0"])).receive(wire.GPUS)["gpus"][0]
    assert gpu["memory_used_mib"] is None
    assert "share one memory" in gpu["sentence"]


def test_memory_that_may_not_be_read_says_so(reader: Reader, nvml_stub: Stub) -> None:
    gpu = reader(nvml_stub.environment(gpus=1, rules=["memory=4"])).receive(wire.GPUS)["gpus"][0]
    assert gpu["state"] == "ok"
    assert "may not read" in gpu["sentence"]


def test_a_mig_parent_has_memory_and_no_utilisation(reader: Reader, nvml_stub: Stub) -> None:
    gpu = reader(nvml_stub.environment(gpus=1, mig=True)).receive(wire.GPUS)["gpus"][0]
    assert (gpu["state"], gpu["memory_used_mib"], gpu["utilisation_pct"]) == ("ok", 0.0, None)
    assert "MIG" in gpu["sentence"]


def test_a_failure_for_now_is_an_error_and_passes(reader: Reader, nvml_stub: Stub) -> None:
    worker = reader(nvml_stub.environment(gpus=2, rules=["*:1=10@0.5+0.5"]))
    gpus = sample_where(worker, lambda gpus: gpus[1]["state"] == "error")
    assert gpus[1]["memory_used_mib"] is None
    assert "time-out" in gpus[1]["sentence"]
    assert gpus[0]["state"] == "ok"
    # A reading in which the trouble passed half-way is ok without its memory; the next one is whole.
    gpus = sample_where(worker, lambda gpus: gpus[1]["memory_used_mib"] is not None)
    assert gpus[1]["state"] == "ok"


def test_processes_of_both_kinds_are_listed(reader: Reader, nvml_stub: Stub) -> None:
    held = {0: [(4242, 691)], 1: [(4243, 700), (4244, -1)]}
    environment = nvml_stub.environment(gpus=2, processes=held)
    environment["NVML_STUB_GRAPHICS"] = "1:99:12"
    processes = reader(environment).receive(wire.GPU_PROCESSES)["processes"]
    assert [(each["index"], each["pid"], each["memory_mib"]) for each in processes] == [
        (0, 4242, 691.0),
        (1, 99, 12.0),
        (1, 4243, 700.0),
        (1, 4244, None),
    ]


def test_a_driver_whose_lists_cannot_be_read_gives_none_and_a_notice(reader: Reader, nvml_stub: Stub) -> None:
    worker = reader(nvml_stub.environment(gpus=1, driver="535.54.03", processes={0: [(4242, 691)]}))
    assert "535.54.03" in worker.receive(wire.NOTICE)["sentence"]
    assert worker.receive_within(wire.GPU_PROCESSES, 0.2) is None


def test_a_new_interval_counts_at_once(served: Start, nvml_stub: Stub) -> None:
    worker = served("gpus", env=nvml_stub.environment(gpus=1))
    worker.send(WatchRequest(matchers=[], interval_s=3600))
    worker.receive(wire.GPUS)
    worker.send(WatchRequest(matchers=[], interval_s=0.05))
    worker.receive(wire.GPUS, 5)
