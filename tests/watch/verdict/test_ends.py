"""Why a load is dead: whom the kernel killed, what the log tells. Found with real processes."""

from dataclasses import replace

import pytest
from verdict_asking import loaded, numbers, verdict
from watched_host import process

from tui.engines.phase import Phase
from tui.events import Processes
from tui.watch.verdict.channels import Channel
from tui.watch.verdict.situation import End
from tui.watch.verdict.words import Cause

FAILED = Cause("the log tells why: Compiling a kernel or a graph failed.", "Look above.", "")


@pytest.mark.parametrize(("in_its_group", "told"), [(0, False), (1, True), (None, True)])
def test_a_kill_elsewhere_on_the_host_is_no_cause_where_the_servers_own_group_is_counted(
    in_its_group: int | None, told: bool
) -> None:
    host = loaded()
    host.cgroup_oom_kills = 0 if in_its_group is not None else None
    host.run(6)
    host.oom_kills += 1
    host.cgroup_oom_kills = in_its_group
    host.run(6)
    assert ("killed for memory" in verdict(host, end=End("it ended")).cause) is told


def test_what_the_log_tells_of_its_failure_is_the_cause() -> None:
    found = verdict(loaded(), end=End("it ended"), failure=FAILED)
    assert (found.cause, found.next_step) == (FAILED.title, FAILED.next_step)


def test_a_kill_for_memory_explains_what_the_log_tells() -> None:
    host = loaded()
    host.cgroup_oom_kills = 1
    host.run(6)
    assert "killed for memory" in verdict(host, end=End("it ended"), failure=FAILED).cause


def test_of_a_rank_that_is_gone_no_state_is_told() -> None:
    host = loaded(2)
    ranks = (host.ranks[0], replace(host.ranks[1], gone="is gone"))
    assert verdict(host, ranks=ranks).figures[0] == "TP1 (pid 102) is gone"


def test_a_helper_of_which_no_signals_are_told_hides_nothing_of_its_rank() -> None:
    host = loaded(2, Phase.CAPTURE, seconds=40)
    helper = process(900, "nvcc", matched=None, ppid=101)
    host.movement.take(Processes(mono_s=host.now_s, wall_s=0.0, client_s=0.0, processes=[helper], hidden=0))
    rank = replace(host.ranks[0], helpers=frozenset({900}))
    found = host.movement.of(rank, host.now_s, Phase.CAPTURE)
    assert found.state_of(Channel.FILE) == "still"
    assert not any("cannot be read" in text for text in verdict(host, ranks=(rank, host.ranks[1])).figures)


def test_a_rank_that_is_gone_is_dead_since_it_went() -> None:
    host = loaded(2)
    ranks = (host.ranks[0], replace(host.ranks[1], gone="is gone", gone_s=host.now_s - 7.0))
    assert verdict(host, ranks=ranks).since_s == host.now_s - 7.0


def test_kills_that_are_not_counted_are_not_known_instead_of_none() -> None:
    host = loaded()
    assert numbers(verdict(host), "R0").endswith("out-of-memory kills: 0 on the host, 0 in its group")
    host.cgroup_oom_kills = None
    host.run(6)
    assert numbers(verdict(host), "R0").endswith("out-of-memory kills: 0 on the host")
    host.movement.host = None
    assert numbers(verdict(host), "R0").endswith("out-of-memory kills: not known")


def test_where_no_gpu_of_the_load_is_seen_the_driver_is_not_said_to_answer() -> None:
    host = loaded(2)
    assert "the driver answers" in numbers(verdict(host), "R1")
    unknown = tuple(replace(each, pid=900 + place) for place, each in enumerate(host.ranks))
    assert numbers(verdict(host, ranks=unknown), "R1") == "no GPU of the load is seen"
