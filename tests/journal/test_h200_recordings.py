"""The real recordings of H200 loads, where they are: held to the truth that their README's tables state.

Times of the README are read off by eye to a tenth of a second, some from the log, some from the GPUs or
the port (a pool is full a tick before its line is printed, vLLM's start is counted to its distributed phase),
so a second's tolerance is allowed for phases. Ready is when the answer to /health was there, to 0.2 s.
Processes were looked at each 0.4 s, a flat memory is flat to 2 MiB, and the README rounds the moments that
it did not measure to a second.
"""

import gzip
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from tui.commands.replay import ReplayReport, reported
from tui.engines.phase import Phase
from tui.events import Gpus, Processes
from tui.replay.headless import Played, play
from tui.replay.opening import open_tape

RECORDINGS = Path(__file__).parents[2].parent / "shared" / "recordings"
KEPT = ("launch", "tcp", "listen", "environ", "server_exit")
READY_WITHIN_S = 0.2
PHASE_WITHIN_S = 1.0
END_WITHIN_S = 1.0
STATE_WITHIN_S = 1.0
MEMORY_WITHIN_MIB = 2.0


@dataclass(frozen=True, slots=True)
class Truth:
    """What the README says of one folder.

    ``phases`` are those with the second they begin at (None: it tells of none), in order; ``finer`` what the
    log tells besides. ``stood`` is where the load stood at its end. ``stopped``: title, from, to. ``memory``:
    the NVML v1 figures of each GPU at a time.
    """

    ready_s: float | None
    ended_s: float | None
    stood: str
    fault: str | None
    code: int | None = None
    phases: tuple[tuple[str, float | None], ...] = ()
    finer: tuple[str, ...] = ()
    stopped: tuple[tuple[str, float, float], ...] = ()
    memory: tuple[tuple[float, tuple[float, ...]], ...] = ()


IDLE_X1 = (0.0, (615.0,))
SGLANG_TO_CAPTURE: tuple[tuple[str, float | None], ...] = tuple(
    (phase, None) for phase in ("launch", "distributed", "weights", "kv_cache", "capture")
)
TRUTH = {
    "x1-sglang-tp1-first-launch": Truth(
        ready_s=180.6,
        ended_s=239.2,
        stood="ready",
        fault="shut_down",
        phases=(
            ("launch", 0.0),
            ("distributed", 38.4),
            ("weights", 39.8),
            ("kv_cache", 57.4),
            ("capture", 57.8),
            ("start_api", 170.5),
            ("warmup", 170.5),
            ("ready", 180.6),
        ),
        memory=((100.0, (130_750.0,)), (240.0, (615.0,))),  # it begins while what ran before lets go
    ),
    "x1-sglang-tp1-stopped-then-killed-in-weights": Truth(
        ready_s=None,
        ended_s=68.7,
        stood="weights",
        fault="died",
        code=1,
        phases=SGLANG_TO_CAPTURE[:3],
        stopped=(("sglang::scheduler", 39.1, 63.2),),
        memory=(IDLE_X1, (50.0, (61_486.0,))),
    ),
    "x1-sglang-tp1-oom-in-capture": Truth(
        ready_s=None, ended_s=56.1, stood="capture", fault="died", code=-9, phases=SGLANG_TO_CAPTURE
    ),
    "x1-sglang-tp1-cold-disk-weights": Truth(
        ready_s=None, ended_s=48.0, stood="capture", fault="died", phases=SGLANG_TO_CAPTURE
    ),
    "x1-sglang-2rank-missing-rank": Truth(
        ready_s=None, ended_s=62.0, stood="distributed", fault="died", phases=SGLANG_TO_CAPTURE[:2]
    ),
    "x1-sglang-2rank-hang-capture-and-serving": Truth(
        ready_s=120.6,
        ended_s=203.5 + 12 + 1.5,  # it drains for 12 s; the recorder's script waits 1.5 s more and kills it
        stood="ready",
        fault="shut_down",
        phases=(*SGLANG_TO_CAPTURE, ("start_api", None), ("ready", 120.6)),
        stopped=(("sglang::scheduler_TP1", 41.1, 103.2), ("sglang::scheduler_TP1", 154.9, 195.5)),
        memory=(IDLE_X1,),
    ),
    "x2-sglang-tp2-first-launch-jit": Truth(
        ready_s=None, ended_s=120.0, stood="capture", fault="died", phases=SGLANG_TO_CAPTURE
    ),
    "x2-sglang-tp2-nccl-hang-capture-and-serving": Truth(
        ready_s=125.8,
        ended_s=175.3 + 12 + 1.5,
        stood="ready",
        fault="shut_down",
        phases=(
            ("launch", 0.0),
            ("distributed", 34.7),
            ("weights", 37.7),
            ("kv_cache", 45.8),
            ("capture", 46.2),
            ("start_api", 115.2),
            ("warmup", 115.2),
            ("ready", 125.8),
        ),
        stopped=(("sglang::scheduler_TP1", 47.8, 91.8), ("sglang::scheduler_TP1", 138.1, 167.3)),
        memory=((0.0, (615.0, 615.0)), (70.0, (131_410.0, 131_390.0)), (150.0, (132_548.0, 132_548.0))),
    ),
    "x1-vllm-tp1-first-launch": Truth(
        ready_s=151.6,
        ended_s=203.3 + 0.67,
        stood="ready",
        fault="shut_down",
        phases=(
            ("launch", 0.0),
            ("distributed", 44.3),
            ("weights", 46.0),
            ("compile", 80.4),
            ("kv_cache", 123.1),
            ("capture", 127.4),
            (
                "start_api",
                None,
            ),  # the README's "kernel warm-up, no log output" is capture until a line says more
            ("ready", 151.6),
        ),
        finer=("compile",),  # FlashInfer's autotuner at 126.7, for half a second
        memory=(IDLE_X1, (75.0, (61_515.0,))),
    ),
    # No process or log stream, and no answers of the port after 76 s: only that it opens is told.
    "x1-vllm-tp1-engine-stopped": Truth(
        ready_s=None, ended_s=None, stood="start_api", fault=None, memory=(IDLE_X1,)
    ),
}
FOLDERS = sorted(TRUTH)


@cache
def played(folder: str) -> Played:
    if not (RECORDINGS / folder).is_dir():
        pytest.skip("the recordings of H200 loads are not here")
    return play(open_tape(RECORDINGS / folder))


@pytest.mark.parametrize("folder", FOLDERS)
def test_ready_comes_when_the_readme_says_or_never(folder: str) -> None:
    truth, found = TRUTH[folder], played(folder)
    ready = [each.t for each in found.transitions if each.kind == "readiness" and each.after == "ready"]

    assert ready == ([] if truth.ready_s is None else [pytest.approx(truth.ready_s, abs=READY_WITHIN_S)])


@pytest.mark.parametrize("folder", FOLDERS)
def test_phases_come_in_the_readmes_order_and_at_its_times(folder: str) -> None:
    truth, spans = TRUTH[folder], played(folder).state.phases
    if not truth.phases:
        assert [span.phase.value for span in spans] == [truth.stood]
        return
    firsts: dict[str, float | None] = {}
    for span in spans:
        firsts.setdefault(span.phase.value, span.began_s)
    again = [
        after.phase.value
        for place, after in enumerate(spans)
        if after.phase in {before.phase for before in spans[:place]}
    ]

    assert list(firsts) == [phase for phase, _ in truth.phases]
    assert tuple(again) == truth.finer
    for phase, began_s in truth.phases:
        if began_s is not None:
            assert firsts[phase] == pytest.approx(began_s, abs=PHASE_WITHIN_S), phase


@pytest.mark.parametrize("folder", FOLDERS)
def test_it_ends_as_the_readme_says(folder: str) -> None:
    truth, state = TRUTH[folder], played(folder).state
    end = state.last_end

    assert state.phase == Phase(truth.stood)
    if truth.ended_s is None:
        assert end is None
        return
    assert end is not None
    assert end.at_s == pytest.approx(truth.ended_s, abs=END_WITHIN_S)
    assert end.fault == truth.fault
    assert ("exit code" in end.reason) == (truth.code is not None)
    assert truth.code is None or f"(exit code {truth.code})" in end.reason


def test_the_root_cause_of_the_end_is_memory_where_memory_was_taken_away() -> None:
    end = played("x1-sglang-tp1-oom-in-capture").state.last_end

    assert end is not None
    assert end.cause is not None
    assert end.cause.kind.value == "oom_capture"


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_rank_is_stopped_for_as_long_as_it_was(folder: str) -> None:
    truth = TRUTH[folder]
    if not (RECORDINGS / folder).is_dir():
        pytest.skip("the recordings of H200 loads are not here")
    told: list[tuple[str, float, float]] = []
    since: dict[str, float] = {}
    for event in open_tape(RECORDINGS / folder).read():
        if isinstance(event, Processes):
            stopped = {one.title for one in event.processes if one.state == "T"}
            told += [(title, since.pop(title), event.mono_s) for title in list(since) if title not in stopped]
            since |= {title: event.mono_s for title in stopped if title not in since}

    assert [(title, pytest.approx(a, abs=STATE_WITHIN_S), pytest.approx(b, abs=STATE_WITHIN_S))
            for title, a, b in truth.stopped] == told  # fmt: skip
    assert not since


@pytest.mark.parametrize("folder", FOLDERS)
def test_memory_is_without_the_drivers_reserve(folder: str) -> None:
    if not (RECORDINGS / folder).is_dir():
        pytest.skip("the recordings of H200 loads are not here")
    samples = [event for event in open_tape(RECORDINGS / folder).read() if isinstance(event, Gpus)]
    for t, with_reserve in TRUTH[folder].memory:
        at = next(event for event in samples if event.mono_s >= t)

        told = [gpu.memory_used_mib for gpu in at.gpus]
        assert told == [pytest.approx(mib - 615.0, abs=MEMORY_WITHIN_MIB) for mib in with_reserve], t


@pytest.mark.parametrize("folder", FOLDERS)
def test_without_the_recorders_own_events_everything_is_the_same(folder: str, tmp_path: Path) -> None:
    """SIGSTOP, READY, trigger ... are the answers to what a watch has to find out."""
    whole = reported(played(folder))
    fewer = tmp_path / "recording.jsonl.gz"
    with gzip.open(RECORDINGS / folder / "recording.jsonl.gz", "rt") as lines, gzip.open(fewer, "wt") as file:
        left_out = 0
        for line in lines:
            record = json.loads(line)
            answer = record["k"] == "events" and record["ev"] not in KEPT
            left_out += answer
            file.write("" if answer else line)

    again: ReplayReport = reported(play(open_tape(fewer)))

    assert left_out >= 5
    assert again == whole


@pytest.mark.parametrize("folder", [name for name in FOLDERS if TRUTH[name].ready_s is not None])
def test_what_counted_as_ready_is_said(folder: str) -> None:
    ready = next(
        each for each in played(folder).transitions if each.after == "ready" and each.kind == "readiness"
    )

    assert ("generates a token" if "sglang" in folder else "counts as ready") in ready.reason


def test_every_recording_is_held_to_a_truth() -> None:
    if not RECORDINGS.is_dir():
        pytest.skip("the recordings of H200 loads are not here")

    assert sorted(path.name for path in RECORDINGS.iterdir() if path.is_dir()) == FOLDERS
