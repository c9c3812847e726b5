"""The pure parts of discovery: trees, containers, titles, stat lines."""

import pytest

from tui.agent.processes.forest import descendants, grow
from tui.agent.processes.procfs import parse_stat
from tui.agent.processes.sighting import container_in, is_title

ID = "0123456789abcdef" * 4


def test_a_tree_holds_the_match_and_all_below_it() -> None:
    parents = {1: 0, 10: 1, 11: 10, 12: 11, 20: 1}

    members = grow(parents, {10: "a"}, None)

    assert {pid: (each.root, each.depth, each.engine) for pid, each in members.items()} == {
        10: (10, 0, "a"),
        11: (10, 1, None),
        12: (10, 2, None),
    }


def test_a_match_below_another_engine_keeps_its_own() -> None:
    members = grow({10: 1, 11: 10, 12: 11}, {10: "a", 11: "b", 12: "b"}, None)

    assert [members[pid].engine for pid in (10, 11, 12)] == ["a", "b", None]


def test_two_servers_have_two_trees() -> None:
    members = grow({10: 1, 11: 10, 20: 1, 21: 20}, {10: "a", 20: "a"}, None)

    assert {pid: each.root for pid, each in members.items()} == {10: 10, 11: 10, 20: 20, 21: 20}


def test_the_followed_process_is_a_root_of_its_own_unless_it_stands_in_a_tree() -> None:
    parents = {10: 1, 11: 10, 30: 1, 31: 30}

    assert grow(parents, {10: "a"}, 11).keys() == {10, 11}
    assert grow(parents, {10: "a"}, 30).keys() == {10, 11, 30, 31}
    assert grow(parents, {}, 99) == {}


def test_parents_in_a_circle_end_the_climb() -> None:
    assert descendants(grow({1: 2, 2: 1, 3: 2}, {3: "a"}, None), 2, {1: 2, 2: 1, 3: 2}) == [3]


@pytest.mark.parametrize(
    ("cgroup", "container"),
    [
        ("0::/\n", None),
        (f"0::/system.slice/docker-{ID}.scope\n", ID[:12]),
        (f"12:memory:/docker/{ID}\n", ID[:12]),
        (
            f"0::/kubepods.slice/kubepods-burstable.slice/kubepods-pod1_2.slice/cri-containerd-{ID}.scope",
            ID[:12],
        ),
        (f"0::/machine.slice/libpod-{ID}.scope/container", ID[:12]),
        ("0::/user.slice/user-1000.slice/session-3.scope", None),
    ],
)
def test_a_container_is_known_by_its_cgroup(cgroup: str, container: str | None) -> None:
    assert container_in(cgroup) == container


def test_a_name_with_parentheses_and_spaces_is_taken_apart() -> None:
    stat = parse_stat(b"42 (a) b (c) S 7 " + b"0 " * 17 + b"12345 0 0\n")

    assert stat is not None
    assert (stat.comm, stat.state, stat.ppid, stat.ticks) == ("a) b (c", "S", 7, 12345)


@pytest.mark.parametrize("data", [b"", b"42 (x", b"42 (x) S 1"])
def test_a_stat_that_is_cut_short_is_none(data: bytes) -> None:
    assert parse_stat(data) is None


def test_a_title_is_told_from_a_program_without_arguments() -> None:
    assert is_title(b"sglang::scheduler\0\0\0", ["sglang::scheduler"])
    assert not is_title(b"./llama-server\0", ["./llama-server"])
    assert not is_title(b"a\0b\0", ["a", "b"])
