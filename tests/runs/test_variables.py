"""One value for each variable, and who says so, out of processes that know more or less of it."""

from typing import Literal

from tui.engines.base import Role
from tui.provenance import ProcessEnvironment
from tui.runs.variables import Variables, said_by_log, variables
from tui.watch.target import Member

State = Literal["read", "overwritten", "unreadable", "gone"]
MEMBERS = [
    Member(1, "python3", "S", Role("launcher")),
    Member(10, "sglang::scheduler_TP0", "S", Role("rank", "TP0")),
    Member(11, "sglang::scheduler_TP1", "S", Role("rank", "TP1")),
    Member(20, "python3", "S", Role("helper")),
]


def environment(
    pid: int,
    role: Literal["main", "worker", "resource_tracker"],
    state: State = "read",
    **named: str,
) -> ProcessEnvironment:
    return ProcessEnvironment(pid=pid, started_s=1.0, role=role, title="", state=state, variables=named)


def merged(*environments: ProcessEnvironment, lines: tuple[str, ...] = ()) -> Variables:
    return variables(environments, MEMBERS, lines)


def told(found: Variables) -> dict[str, tuple[str | None, str]]:
    return {each.name.removeprefix("environment "): (each.value, each.source) for each in found.settings}


def test_one_process_alone_is_the_whole_truth() -> None:
    found = merged(environment(1, "main", OMP_NUM_THREADS="4"))
    assert told(found) == {"OMP_NUM_THREADS": ("4", "main process")}
    assert found.known == "whole"


def test_the_tracker_tells_what_overwritten_ranks_inherited() -> None:
    found = merged(
        environment(1, "main", NCCL_ALGO="Tree"),
        environment(2, "resource_tracker", NCCL_ALGO="Tree", NCCL_CUMEM_ENABLE="0"),
        environment(10, "worker", "overwritten"),
        environment(11, "worker", "overwritten"),
    )
    assert told(found) == {
        "NCCL_ALGO": ("Tree", "resource_tracker"),
        "NCCL_CUMEM_ENABLE": ("0", "resource_tracker; not set in the main process"),
    }
    assert found.known == "whole"


def test_without_a_tracker_what_overwritten_ranks_lack_is_unknown_and_not_unset() -> None:
    found = merged(
        environment(1, "main", NCCL_ALGO="Tree"),
        environment(10, "worker", "overwritten", NCCL_CUMEM_ENABLE="0"),
    )
    assert told(found)["NCCL_ALGO"] == ("Tree", "main process")
    assert told(found)["NCCL_CUMEM_ENABLE"][0] == "0"
    assert found.known == "partly"


def test_what_is_left_of_a_rank_counts_more_than_what_it_was_started_from() -> None:
    found = merged(
        environment(1, "main", CUDA_DEVICE_MAX_CONNECTIONS="1"),
        environment(10, "worker", "overwritten", CUDA_DEVICE_MAX_CONNECTIONS="8"),
    )
    assert told(found)["CUDA_DEVICE_MAX_CONNECTIONS"] == ("8", "worker 10 (TP0); main process: 1")


def test_ranks_that_disagree_are_all_shown() -> None:
    found = merged(
        environment(1, "main"),
        environment(11, "worker", CUDA_VISIBLE_DEVICES="1"),
        environment(10, "worker", CUDA_VISIBLE_DEVICES="0"),
    )
    value, source = told(found)["CUDA_VISIBLE_DEVICES"]
    assert value == "0 | 1"
    assert "worker 11 (TP1): 1" in source
    assert "worker 10 (TP0): 0" in source


def test_equal_ranks_are_told_in_few_words() -> None:
    found = merged(environment(10, "worker", A="1"), environment(11, "worker", A="1"))
    assert told(found) == {"A": ("1", "worker 10 (TP0) and 1 more")}


def test_helpers_below_ranks_add_nothing_of_their_own() -> None:
    found = merged(environment(1, "main", NCCL_ALGO="Tree"), environment(20, "worker", TORCH_WARM_POOL="0"))
    assert set(told(found)) == {"NCCL_ALGO"}


def test_a_helper_that_alone_could_be_read_is_better_than_nothing() -> None:
    found = merged(
        environment(1, "main", "overwritten"),
        environment(10, "worker", "overwritten"),
        environment(20, "worker", NCCL_ALGO="Tree"),
    )
    assert told(found) == {"NCCL_ALGO": ("Tree", "worker 20 (helper)")}
    assert found.known == "partly"


def test_nothing_readable_is_unknown() -> None:
    for state in ("unreadable", "gone", "overwritten"):
        found = merged(environment(1, "main", state), environment(10, "worker", state))
        assert (found.settings, found.known) == ((), "unknown")
    assert merged().known == "unknown"


def test_what_nccl_read_is_what_counts() -> None:
    found = merged(
        environment(1, "main", NCCL_ALGO="Ring", NCCL_PROTO="LL"),
        lines=(
            "host:1:2 [0] NCCL INFO NCCL_ALGO set by environment to Tree",
            "host:1:2 [0] NCCL INFO NCCL_PROTO set by environment to LL",
            "host:1:2 [0] NCCL INFO NCCL_P2P_DISABLE set by environment to 1.",
        ),
    )
    assert told(found) == {
        "NCCL_ALGO": ("Tree", "log: set by environment; main process: Ring"),
        "NCCL_PROTO": ("LL", "main process"),
        "NCCL_P2P_DISABLE": ("1", "log: set by environment"),
    }


def test_ranks_that_read_different_values_are_both_told() -> None:
    lines = [
        f"h:{rank}:2 [0] NCCL INFO NCCL_ALGO set by environment to {algo}" for rank, algo in enumerate("BAB")
    ]
    assert said_by_log(lines) == {"NCCL_ALGO": "A | B"}
