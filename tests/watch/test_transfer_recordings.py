"""The weights phase by its bytes in recorded loads of H200s, read each 5 s as the agent does.

The recorder took the rate of PCIe receive at 5 Hz; its integral up to a moment over that of the whole phase
is what a fraction is held against. With -s each load's errors are printed.
"""

import gzip
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from watched_host import Watch, WatchedHost, process

from tui.engines.phase import Phase
from tui.events import Checkpoint, GpuDetail, GpuDetails, GpuProcess, GpuProcesses
from tui.watch.transfer import Transfer

RECORDINGS = Path(__file__).parents[2].parent / "shared" / "recordings"
SLOW_S = 5.0
GPM, RECEIVED = 10, 7
BLANK = GpuDetail(
    index=0,
    temperature_c=None,
    sm_clock_mhz=None,
    memory_clock_mhz=None,
    event_reasons=None,
    ecc_uncorrected=None,
    pcie_generation=None,
    pcie_width=None,
)


def weight_bytes(layers: int) -> int:
    """The recorded model's size: bf16, by its shape (hidden 5120, MLP 25600, 64 and 8 heads of 128)."""
    layer = 5120 * (64 + 8 + 8) * 128 + 64 * 128 * 5120 + 3 * 5120 * 25600
    return 2 * (layers * layer + 2 * 32768 * 5120)


@dataclass(slots=True)
class Replayed:
    """A recorded load as a watch saw it: each reading with what the state made of it, and the true totals."""

    host: WatchedHost
    gpus: int
    told: list[Transfer] = field(default_factory=list[Transfer])
    true: list[tuple[float, float]] = field(default_factory=list[tuple[float, float]])
    _tick_s: float | None = None
    _totals: list[float] = field(default_factory=list[float])
    _due_s: float = 1.3
    _text: str = ""

    def take(self, record: dict[str, Any]) -> None:
        """Take one record of the recording in."""
        self.host.now = record["t"]
        if record["k"] == "gpu" and "g" in record:
            self._gpus(record["g"], record.get("procs"))
        elif record["k"] == "log":
            *lines, self._text = re.split(r"[\r\n]", self._text + record["s"])
            self.host.log(*lines, tail=self._text)

    def _gpus(self, gpus: list[list[Any]], held: dict[str, int] | None) -> None:
        if held is not None:
            self._held(held)
        seconds = 0.0 if self._tick_s is None else self.host.now - self._tick_s
        self._tick_s = self.host.now
        rates = [gpu[GPM][RECEIVED] if isinstance(gpu[GPM], list) else 0.0 for gpu in gpus]
        before = self._totals or [0.0] * self.gpus
        self._totals = [total + rate * seconds for total, rate in zip(before, rates, strict=True)]
        self.true.append((self.host.mono, sum(self._totals)))
        if self.host.now >= self._due_s:
            self._due_s += SLOW_S
            told = [
                replace(BLANK, index=index, pcie_received_mib=mib) for index, mib in enumerate(self._totals)
            ]
            self.host.happen(GpuDetails(**self.host.when, gpus=told, cost_ms=1.0))
            self._look()

    def _held(self, held: dict[str, int]) -> None:
        entries = [(*map(int, name.split(":")), mib) for name, mib in held.items()]
        processes = [GpuProcess(index=index, pid=pid, memory_mib=float(mib)) for index, pid, mib in entries]
        ranks = [process(each.pid, "rank", matched=None, ppid=643) for each in processes if each.pid > 643]
        self.host.processes(self.host.state.servers[0].main, *ranks)
        self.host.happen(GpuProcesses(**self.host.when, processes=processes))

    def _look(self) -> None:
        found = self.host.state.transfer(self.host.mono)
        if found is not None and self.host.state.phase is Phase.WEIGHTS:
            self.told.append(found)


def records(folder: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(folder / "recording.jsonl.gz", "rt", encoding="utf-8") as file:
        for line in file:
            if line.startswith(('{"k":"gpu"', '{"k":"log"', '{"k":"events","t":0.0')):
                yield json.loads(line)


def replayed(folder: Path, host: WatchedHost, layers: int) -> Replayed:
    started = next(record for record in records(folder) if record.get("ev") == "launch")
    host.hello()
    command, model = " ".join(started["cmd"]), "models/qwen3-shape-random"
    host.starts(643, command, matched=started["engine"])
    (server,) = host.state.servers
    model = server.arguments.model or model
    host.happen(Checkpoint(**host.when, model=model, weight_bytes=weight_bytes(layers), files=17))
    load = Replayed(host, started["gpus"])
    for record in records(folder):
        load.take(record)
        ended_s = next((span.ended_s for span in host.state.phases if span.phase is Phase.WEIGHTS), None)
        if ended_s is not None and host.mono > ended_s + SLOW_S:
            break
    return load


LOADS = [
    ("x1-sglang-tp1-first-launch", 64),
    ("x1-sglang-tp1-cold-disk-weights", 16),
    ("x1-vllm-tp1-first-launch", 64),
    ("x2-sglang-tp2-first-launch-jit", 32),
    ("x2-sglang-tp2-nccl-hang-capture-and-serving", 32),
]


@pytest.mark.parametrize(("name", "layers"), LOADS)
def test_a_recorded_load_is_followed_by_its_bytes(name: str, layers: int, watched: Watch) -> None:
    folder = RECORDINGS / name
    if not folder.is_dir():
        pytest.skip("needs the recordings of real loads")
    load = replayed(folder, watched(), layers)
    state = load.host.state
    weights = next(span for span in state.phases if span.phase is Phase.WEIGHTS)
    assert weights.began_s is not None
    assert weights.ended_s is not None
    began, ended = _total(load, weights.began_s), _total(load, weights.ended_s)
    errors = [
        (each.fraction or 0.0) - (_total(load, each.at_s) - began) / (ended - began) for each in load.told
    ]
    last = state.transfer(load.host.mono)
    assert last is not None
    assert last.expected_mib is not None
    end = last.received_mib / last.expected_mib / load.gpus
    shown = " ".join(f"{100 * (each.fraction or 0.0):.0f}" for each in load.told)
    worst = max(map(abs, errors))
    sys.stdout.write(f"\n{name}: {shown} %, off by {100 * worst:.1f} at most; {end:.3f} of it at the end\n")
    fractions = [each.fraction for each in load.told]
    assert fractions == sorted(each for each in fractions if each is not None)
    assert worst < 0.03
    assert 0.97 < end < 1.03


def _total(load: Replayed, at_s: float) -> float:
    return next(total for time_s, total in load.true if time_s >= at_s)
