"""Slow and dead storage under real ranks, and that the monitor neither reads there nor hangs with it.

The storage is a file system of the tests' own (see fuse_server.py): all of it takes place at once, for the
verdict on a dead one takes a minute and a half of real time.
"""

import asyncio
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

import pytest
from agent_process import alive, until
from fuse_mount import NAMES, Asked, FuseMount, NoFuse
from fuse_server import DEAD
from loading_watch import STARTED_S, Watched, agent_on, judge, ranks_of, server_command, server_environment

from tui.events import Checkpoint, Gpus, Notice
from tui.signals import Signals

pytestmark = [pytest.mark.xdist_group("storage"), pytest.mark.timeout(600)]

MIB_PER_S = 20.0
SIZE_MIB = 64
SLOW_S = 75.0
"""Longer than a stall of local weights takes to be told (60 s)."""
DEAD_S = 400.0
"""90 s in state D on end, and time for a machine so busy that it is not heard for moments of them."""
MAPPED_FAULTS = 200
"""So many pages more than at first a rank has touched before it counts as seen to map."""
STANDS_S = 30.0
"""What stands still for so long hangs with the storage, which is dead for 90 s."""
GONE_S = 20.0
"""So long a busy machine may take to end all of it."""
PORT = 39_000
READERS = {"dead, mapped": {"TP0"}, "dead, read": {"TP0", "TP1"}}
LOOKS = {
    "LOOKUP",
    "GETATTR",
    "OPENDIR",
    "READDIR",
    "RELEASEDIR",
    "STATFS",
    "FORGET",
    "BATCH_FORGET",
    "INTERRUPT",
}
"""What tells names and sizes, and no content."""


class NvmlStub(Protocol):
    """The stand-in for the driver's library."""

    def environment(self, **switches: Any) -> dict[str, str]: ...


@dataclass(frozen=True, slots=True)
class Case:
    """One storage: what the ranks do there, when it dies: before the agent starts, or once all was seen.

    ``inside``: the agent runs where the mount is to be seen; else it finds it through the server's own eyes.
    """

    does: tuple[str, ...]
    dies: Literal["before", "seen"] | None = None
    inside: bool = False


CASES = {
    "slow, mapped": Case(("maps", "waits")),
    "slow, read": Case(("reads", "waits"), inside=True),
    "dead, mapped": Case(("maps", "waits", "waits"), dies="seen"),
    "dead, read": Case(("reads", "maps", "waits"), dies="before", inside=True),
}


@dataclass(frozen=True, slots=True)
class Shown:
    """A case that was watched: its processes, what the file system was asked, what was left after its end."""

    watched: Watched
    ranks: list[int]
    server: set[int]
    asked: list[Asked]
    left: set[int]

    @property
    def asked_by_others(self) -> list[Asked]:
        """What was asked by others than the server itself (process 0 is the kernel)."""
        return [each for each in self.asked if each.pid not in self.server | {0}]


@pytest.fixture(scope="module")
def shown(nvml_stub: NvmlStub, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Shown]:
    """Watch all cases at once."""
    with ExitStack() as stack:
        loads: dict[str, tuple[FuseMount, list[int]]] = {}
        for name, case in CASES.items():
            mount = _mounted(case, tmp_path_factory.mktemp("storage"))
            stack.callback(mount.close)
            loads[name] = (mount, ranks_of(mount.pid, len(case.does)))

        async def all_of_them() -> dict[str, Shown]:
            async with asyncio.TaskGroup() as group:
                tasks = {
                    name: group.create_task(_watch(CASES[name], mount, ranks, nvml_stub))
                    for name, (mount, ranks) in loads.items()
                }
            return {name: task.result() for name, task in tasks.items()}

        return asyncio.run(all_of_them())


def _mounted(case: Case, place: Path) -> FuseMount:
    model = place / "model"
    does = [what if what == "waits" else f"{what}:{model}" for what in case.does]
    command = server_command(len(does), model, PORT)
    environment = server_environment("weights", does, model)
    rate = MIB_PER_S if case.dies is None else 4 * MIB_PER_S
    try:
        return FuseMount(place, command, environment, mib_per_s=rate, size_mib=SIZE_MIB)
    except NoFuse as reason:
        pytest.skip(f"needs a file system in user space (FUSE) in a mount namespace of its own: {reason}")


async def _watch(case: Case, mount: FuseMount, ranks: list[int], nvml_stub: NvmlStub) -> Shown:
    server = {mount.pid, *ranks}
    if case.dies == "before":
        until(lambda: any(each.what == "READ" for each in mount.asked()), STARTED_S)
        mount.die()
        until(lambda: any(each.what == DEAD for each in mount.asked()), STARTED_S)
    held = {gpu: [(pid, 8_000)] for gpu, pid in enumerate(ranks)}
    stub = nvml_stub.environment(
        gpus=len(ranks), start_s=time.monotonic() - 1.5e6, load_s=1e6, processes=held
    )
    wrap = mount.joined if case.inside else None
    async with agent_on(mount.pid, ranks, environment=stub, wrap=wrap) as (watched, session):
        if case.dies is None:
            await judge(watched, session, lambda _: False, SLOW_S)
        else:
            await judge(watched, session, _hung_after_death(mount, case), DEAD_S)
    asked = mount.asked()
    mount.close()
    everyone = server | watched.agents
    left = await asyncio.to_thread(_left, everyone)
    return Shown(watched, ranks, server, asked, left)


def _seen_to_load(watched: Watched) -> bool:
    """Whether the sizes were told, and the first rank was seen to map."""
    faults = [
        each.minor_faults
        for event in watched.all(Signals)
        for each in event.processes
        if each.pid == watched.pids[0]
    ]
    return bool(watched.all(Checkpoint)) and bool(faults) and faults[-1] - faults[0] > MAPPED_FAULTS


def _hung_after_death(mount: FuseMount, case: Case) -> Callable[[Watched], bool]:
    """Return what ends a watch: the storage dies once all was seen, and then the load is said to hang."""
    died = case.dies == "before"

    def stands(watched: Watched) -> bool:
        nonlocal died
        if not died and _seen_to_load(watched):
            mount.die()
            died = True
        return died and _stands_hung(watched)

    return stands


def _left(pids: set[int]) -> set[int]:
    """Wait until none of these is left; return those that are after all."""
    end_s = time.monotonic() + GONE_S
    while (left := {pid for pid in pids if alive(pid)}) and time.monotonic() < end_s:
        time.sleep(0.05)
    return left


def _stands_hung(watched: Watched) -> bool:
    return [verdict.word for verdict in watched.verdicts[-3:]] == ["hung"] * 3


@pytest.mark.parametrize("name", ["slow, mapped", "slow, read"])
def test_slow_storage_is_progress_by_file_data_and_never_an_alarm(name: str, shown: dict[str, Shown]) -> None:
    watched = shown[name].watched

    assert set(watched.words) <= {"progressing", "slow", "quiet"}
    assert set(watched.words[1:]) == {"progressing"} or watched.words == ["progressing"]
    assert "TP0: " in watched.numbers("R3 progressing")
    assert "MiB of file data in 30 s" in watched.numbers("R3 progressing")


def test_a_mapped_files_progress_is_seen_where_no_byte_counts_as_read(shown: dict[str, Shown]) -> None:
    slow = shown["slow, mapped"]
    mapped = [
        each for event in slow.watched.all(Signals) for each in event.processes if each.pid == slow.ranks[0]
    ]

    assert (mapped[-1].read_bytes or 0) - (mapped[0].read_bytes or 0) == 0
    assert mapped[-1].minor_faults > mapped[0].minor_faults


@pytest.mark.parametrize("name", ["dead, mapped", "dead, read"])
def test_dead_storage_hangs_the_load_after_a_minute_and_a_half(name: str, shown: dict[str, Shown]) -> None:
    watched, verdict = shown[name].watched, shown[name].watched.last

    assert verdict.word == "hung"
    assert "storage does not answer" in verdict.cause
    assert verdict.confidence == "proof"
    assert verdict.pid in shown[name].ranks[: len(READERS[name])]
    assert verdict.rank in READERS[name]
    assert not set(verdict.waiting) & READERS[name]
    assert "open no file on that mount" in verdict.not_to_do
    assert "TP0" in watched.numbers("R4(c)")
    assert "dead" not in watched.words


@pytest.mark.parametrize("name", sorted(CASES))
def test_the_monitor_opens_and_reads_nothing_where_the_model_lies(name: str, shown: dict[str, Shown]) -> None:
    others = shown[name].asked_by_others

    assert {each.what for each in others} <= LOOKS
    assert any(each.what == "READ" for each in shown[name].asked), "or it proves nothing"


@pytest.mark.parametrize("name", ["slow, mapped", "slow, read", "dead, mapped"])
def test_sizes_are_told_without_a_file_opened_while_the_storage_answers(
    name: str, shown: dict[str, Shown]
) -> None:
    told = {each.weight_bytes for each in shown[name].watched.all(Checkpoint)}

    assert told == {len(NAMES) * SIZE_MIB * 1024 * 1024}


def test_only_the_checkpoints_reader_hangs_with_dead_storage_and_it_is_told(shown: dict[str, Shown]) -> None:
    watched = shown["dead, read"].watched
    notices = [each.sentence for each in watched.all(Notice) if each.about == "checkpoint"]

    assert len({each.pid for each in shown["dead, read"].asked_by_others}) == 1
    assert len(notices) == 1
    assert "a read on this host hangs" in notices[0]
    assert not watched.all(Checkpoint)


@pytest.mark.parametrize("name", sorted(CASES))
def test_the_watch_goes_on_meanwhile(name: str, shown: dict[str, Shown]) -> None:
    watched = shown[name].watched

    assert watched.longest_gap_s(Signals) < STANDS_S
    assert watched.longest_gap_s(Gpus) < STANDS_S
    assert not [each for each in watched.all(Notice) if each.about not in ("checkpoint", "server")]


@pytest.mark.parametrize("name", sorted(CASES))
def test_the_agent_ends_when_it_is_told_to_and_all_goes_with_the_mount(
    name: str, shown: dict[str, Shown]
) -> None:
    assert shown[name].watched.ended_in_s < STANDS_S
    assert not shown[name].left
