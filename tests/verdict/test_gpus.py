"""GPUs that only wait, are lost or do not answer, under real ranks: by a stand-in for the driver's library.

All cases take place at once, for nothing may move for a minute of real time before a wait counts.
"""

import asyncio
import shutil
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pytest
from loading_watch import LoadingServer, Watched, agent_on, judge

from tui.events import GpuDriver, Gpus
from tui.signals import Signals

pytestmark = pytest.mark.xdist_group("gpus")

RANKS = 8
BEHIND = 5
LOST = 3
SERVING_S = 1.5e6
"""So long ago the stand-in's GPUs became ready: they idle, each with a context and full memory."""
BEGINS_S = 10.0
"""So long after the start of the watch what a case is about begins."""
AT_MOST_S = 150.0
STANDS_S = 30.0
"""What stands still for so long hangs with the driver, which never answers. Busy machines halt for less."""
PORT = 39_100


class NvmlStub(Protocol):
    """The stand-in for the driver's library."""

    def environment(self, **switches: Any) -> dict[str, str]: ...


def waits(*gpus: int, gpm: bool = True) -> list[str]:
    """Return how these GPUs show a collective that waits: busy all the time, at work on nothing.

    Without GPM only their low power tells it.
    """
    since = f"@{SERVING_S + BEGINS_S:.0f}"
    rules = ["memory_busy~0", *([] if gpm else ["gpm_support~0"])]
    for gpu in gpus:
        rules += [f"utilisation:{gpu}~100{since}", f"gpm_sm:{gpu}~15{since}"]
        rules.append(f"power:{gpu}~{126_000 + gpu * 100}{since}")
    return rules


ALL = tuple(range(RANKS))
OTHERS = tuple(gpu for gpu in ALL if gpu != BEHIND)


@dataclass(frozen=True, slots=True)
class Case:
    """What the driver shows, and what the rank behind does; ``hangs`` is how the verdict is to end."""

    rules: list[str]
    behind: str = "waits"
    phase: str = "weights"
    hangs: bool = True
    at_most_s: float = AT_MOST_S


CASES = {
    "one behind": Case(waits(*OTHERS)),
    "one behind compiles": Case(waits(*OTHERS), behind="compiles", hangs=False, at_most_s=80.0),
    "one behind reads": Case(waits(*OTHERS), behind="sips", hangs=False, at_most_s=80.0),
    "all spin": Case(waits(*ALL, gpm=False), phase="distributed"),
    "one is lost": Case([f"*:{LOST}=15@{SERVING_S + BEGINS_S:.0f}"]),
    "the driver hangs": Case([f"memory:1=hang@{SERVING_S + BEGINS_S:.0f}+100000"]),
}


@dataclass(frozen=True, slots=True)
class Shown:
    """A case that was watched."""

    watched: Watched
    ranks: list[int]


@pytest.fixture(scope="module")
def shown(nvml_stub: NvmlStub, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Shown]:
    """Watch all cases at once."""
    with ExitStack() as stack:
        servers: dict[str, LoadingServer] = {}
        for name, case in CASES.items():
            servers[name] = LoadingServer(*_furnished(case, tmp_path_factory.mktemp("gpus")), port=PORT)
            stack.callback(servers[name].close)

        async def all_of_them() -> dict[str, Shown]:
            async with asyncio.TaskGroup() as group:
                tasks = {
                    name: group.create_task(_watch(CASES[name], server, nvml_stub))
                    for name, server in servers.items()
                }
            return {name: task.result() for name, task in tasks.items()}

        return asyncio.run(all_of_them())


def _furnished(case: Case, place: Path) -> tuple[Path, str, list[str]]:
    """Return folder, phase and what each rank does; the folder has what the one behind needs."""
    needs = {"compiles": place / "cicc", "sips": place / "model"}
    if case.behind == "compiles":
        needs["compiles"].symlink_to(Path(shutil.which("sh") or "/bin/sh").resolve())
    if case.behind == "sips":
        needs["sips"].mkdir()
        (needs["sips"] / "model.safetensors").write_bytes(bytes(8 << 20))
    behind = f"{case.behind}:{needs[case.behind]}" if case.behind in needs else case.behind
    return place, case.phase, [behind if rank == BEHIND else "waits" for rank in ALL]


async def _watch(case: Case, server: LoadingServer, nvml_stub: NvmlStub) -> Shown:
    stub = nvml_stub.environment(
        gpus=RANKS,
        start_s=time.monotonic() - SERVING_S,
        load_s=1e6,
        processes={gpu: [(pid, 120_000)] for gpu, pid in enumerate(server.ranks)},
        rules=case.rules,
    )
    done: Callable[[Watched], bool] = _stands_hung if case.hangs else lambda _: False
    async with agent_on(server.pid, server.ranks, environment=stub) as (watched, session):
        await judge(watched, session, done, case.at_most_s)
    return Shown(watched, server.ranks)


def _stands_hung(watched: Watched) -> bool:
    return [verdict.word for verdict in watched.verdicts[-5:]] == ["hung"] * 5


def test_the_rank_that_seven_others_spin_for_is_named(shown: dict[str, Shown]) -> None:
    verdict = shown["one behind"].watched.last

    assert verdict.word == "hung"
    assert verdict.rank == f"TP{BEHIND}"
    assert verdict.pid == shown["one behind"].ranks[BEHIND]
    assert verdict.waiting == tuple(f"TP{rank}" for rank in OTHERS)
    assert f"7 wait for TP{BEHIND}" in verdict.sentence
    assert "has not entered" in verdict.cause


@pytest.mark.parametrize(
    ("name", "figure"), [("one behind compiles", "cicc"), ("one behind reads", "MiB of file data")]
)
def test_a_rank_that_is_behind_and_moves_is_waited_for(
    name: str, figure: str, shown: dict[str, Shown]
) -> None:
    watched, verdict = shown[name].watched, shown[name].watched.last

    assert "hung" not in watched.words
    assert "stalled" not in watched.words
    assert verdict.word == "progressing"
    assert f"7 wait for TP{BEHIND} (pid {shown[name].ranks[BEHIND]}), which moves" in verdict.sentence
    assert figure in verdict.sentence
    assert verdict.rank == f"TP{BEHIND}"


def test_ranks_that_all_spin_blame_none_of_them_but_their_way_to_each_other(shown: dict[str, Shown]) -> None:
    verdict = shown["all spin"].watched.last

    assert verdict.word == "hung"
    assert verdict.rank is None
    assert "peer-to-peer" in verdict.cause
    assert "NCCL_P2P_DISABLE=1" in verdict.next_step
    assert "custom all-reduce off" in verdict.next_step


@pytest.mark.parametrize("name", ["one behind", "all spin"])
def test_a_wait_is_told_as_a_hang_soon_after_a_minute(name: str, shown: dict[str, Shown]) -> None:
    watched = shown[name].watched
    hung = next(verdict for verdict in watched.verdicts if verdict.word == "hung")
    rule = next(each for each in hung.rules if each.matched == "yes")

    assert rule.rule.startswith("R4(e)")
    assert set(watched.words) <= {"progressing", "quiet", "hung"}
    assert watched.words[-1] == "hung"


def test_a_lost_gpu_is_told_at_once_with_its_rank(shown: dict[str, Shown]) -> None:
    watched, verdict = shown["one is lost"].watched, shown["one is lost"].watched.last
    lost = next(each for each in watched.all(Gpus) if each.gpus[LOST].state == "lost")
    told = next(each for each in watched.verdicts if each.word == "hung")

    assert "lost to the driver" in verdict.cause
    assert verdict.confidence == "proof"
    assert verdict.rank == f"TP{LOST}"
    assert told.since_s - lost.mono_s < 3.0


def test_a_driver_that_does_not_answer_is_told_after_two_deadlines(shown: dict[str, Shown]) -> None:
    verdict = shown["the driver hangs"].watched.last

    assert verdict.word == "hung"
    assert "driver does not answer" in verdict.cause
    assert verdict.rank is None
    assert "has not answered" in verdict.sentence


def test_the_watch_goes_on_while_the_driver_hangs(shown: dict[str, Shown]) -> None:
    watched = shown["the driver hangs"].watched
    silent_s = min(each.mono_s for each in watched.all(GpuDriver) if each.state == "silent")

    assert watched.longest_gap_s(Signals) < STANDS_S
    assert len([each for each in watched.all(Signals) if each.mono_s > silent_s]) > 8
    assert watched.ended_in_s < STANDS_S
