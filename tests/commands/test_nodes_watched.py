"""One load over two hosts with process trees of their own, watched through a real sshd."""

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import pytest
from node_hosts import NodeHost
from ssh_server import SshServer
from tminus_command import Tminus

from tui.commands.hosts_screen import LoadAlerts
from tui.commands.wait import Ending
from tui.commands.wait_nodes import ATTENDS, Waited, decided_by, end_unfound
from tui.engines.phase import Phase
from tui.engines.sglang import SGLANG
from tui.watch.nodes.load import NodesLoad, load_of
from tui.watch.nodes.node import Node, Standing
from tui.watch.verdict.verdict import Verdict

MIB = 1024 * 1024


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    folder = tmp_path / "weights"
    folder.mkdir()
    with (folder / "model.safetensors").open("wb") as file:
        file.truncate(400 * MIB)
    return folder


@pytest.mark.ssh
@pytest.mark.xdist_group("ssh")
def test_one_look_at_two_hosts_with_a_node_each_shows_one_load(
    tminus: Tminus, ssh_server: SshServer, two_hosts: list[NodeHost], weights: Path
) -> None:
    first, second = two_hosts
    second.start(1, "weights", f"sips:{weights}")
    first.start(0, "capture", "waits")
    done = tminus.run("gpu-a", "gpu-b", "--once", "--json", "--ssh-config", ssh_server.config_file)
    assert done.code == 0, done.err
    loads = [cast("dict[str, Any]", each["load"]) for each in done.objects]
    assert loads[0] == loads[1]
    assert (loads[0]["nodes"], loads[0]["phase"], loads[0]["ready"]) == (2, "weights", False)
    assert [(each["host"], each["state"], each["phase"]) for each in loads[0]["members"]] == [
        ("gpu-a", "loading", "capture"),
        ("gpu-b", "loading", "weights"),
    ]


@pytest.mark.ssh
@pytest.mark.xdist_group("ssh")
def test_who_waits_for_whom_is_told_and_a_node_that_dies_ends_the_wait_for_all_of_them(
    tminus: Tminus, ssh_server: SshServer, two_hosts: list[NodeHost], weights: Path
) -> None:
    first, second = two_hosts
    first.start(0, "capture", "waits")
    options = ("--json", "--timeout", "80s", "--ssh-config", ssh_server.config_file)
    process = tminus.start("wait", "gpu-a", "gpu-b", *options)
    tminus.until(process, '"event":"load"', "node 1 of 2 is not found: no server on gpu-b yet")
    second.start(1, "weights", f"sips:{weights}")
    waits = "node 0 waits for node 1 (gpu-b), which still loads weights"
    tminus.until(process, '"event":"load"', '"waiting":[0],"waits_for":[1]', '"progressing"', waits)
    killed_s = time.monotonic()
    second.kill()
    done = tminus.end(process)
    assert time.monotonic() - killed_s < 20
    assert done.code == 1
    ends = {str(each["target"]): each for each in done.objects if each["event"] == "end"}
    assert ends["gpu-b"]["fault"] == ends["gpu-a"]["fault"] == "died"
    assert str(ends["gpu-a"]["reason"]).startswith("node 1 (gpu-b) is dead: the server (pid ")
    (dead,) = [each for each in done.objects if each["event"] == "load" and each["verdict"] == "dead"]
    assert (dead["waits_for"], dead["ready"]) == ([1], False)


@pytest.mark.ssh
@pytest.mark.xdist_group("ssh")
def test_a_node_that_dies_before_the_other_one_was_started_ends_the_wait(
    tminus: Tminus, ssh_server: SshServer, two_hosts: list[NodeHost]
) -> None:
    first, _ = two_hosts
    first.start(0, "capture", "waits")
    options = ("--json", "--timeout", "80s", "--ssh-config", ssh_server.config_file)
    process = tminus.start("wait", "gpu-a", "gpu-b", *options)
    tminus.until(process, '"event":"load"', "node 1 of 2 is not found: no server on gpu-b yet")
    first.kill()
    done = tminus.end(process)
    assert done.code == 1
    ends = {str(each["target"]): each for each in done.objects if each["event"] == "end"}
    assert ends["gpu-b"]["outcome"] == ends["gpu-a"]["outcome"] == "failed"
    assert str(ends["gpu-b"]["reason"]).startswith("node 0 (gpu-a) is dead: the server (pid ")


# Who decides for whom.


@dataclass
class Wait:
    ended: Ending | None = None
    attends: bool = False

    def end(self, found: Ending) -> None:
        self.ended = found


def node(rank: int, standing: Standing = "loading", reason: str = "") -> Node:
    word = "dead" if standing == "dead" else "ready" if standing == "ready" else "progressing"
    told = Verdict(word, 0.0, f"{word}: it is so")
    return Node(
        rank, f"gpu-{rank}", rank, standing, Phase.WEIGHTS, told, reason=reason, is_ready=standing == "ready"
    )


def load(*nodes: Node) -> NodesLoad:
    return load_of(SGLANG, nodes, meets=("a", 5000))


def decide(found: NodesLoad, *waits: Wait) -> list[str | None]:
    decided_by(found, cast("list[Waited]", waits))
    return [None if each.ended is None else each.ended.outcome for each in waits]


def test_the_nodes_of_a_load_are_ready_with_the_first_and_with_no_other_one() -> None:
    ready = Ending("ready", None, "")
    head, other = Wait(ready), Wait(attends=True)
    assert decide(load(node(0, "ready"), node(1)), head, other) == ["ready", "ready"]
    assert other.ended is not None
    assert other.ended.reason == ATTENDS
    assert decide(load(node(0), node(1, "ready")), Wait(), Wait(ready)) == [None, "ready"]


def test_a_node_that_failed_fails_the_others_with_its_name_and_cause() -> None:
    waits = [Wait(), Wait(Ending("failed", "died", "killed"))]
    assert decide(load(node(0), node(1, "dead", "killed")), *waits) == ["failed", "failed"]
    assert waits[0].ended == Ending("failed", "died", "node 1 (gpu-1) is dead: killed", elsewhere=True)


def test_a_verdict_that_was_asked_to_end_the_wait_ends_it_for_all_nodes() -> None:
    waits = [Wait(), Wait(Ending("failed", "stalled", "stalled in weights"))]
    assert decide(load(node(0), node(1)), *waits) == ["failed", "failed"]
    assert waits[0].ended is not None
    assert waits[0].ended.reason == "node 1 (gpu-1): stalled in weights"


def test_a_host_that_was_lost_decides_for_no_other_one() -> None:
    assert decide(load(node(0), node(1)), Wait(), Wait(Ending("lost", "timeout", ""))) == [None, "lost"]


def unfound(*waits: Wait, others: tuple[NodesLoad, ...] = ()) -> list[str | None]:
    """Let node 0 on the first host fail while nothing started on the others."""
    found = replace(load(node(0, "dead", "killed"), Node(1)), may_hold=tuple(range(1, len(waits))))
    end_unfound((found, *others), cast("list[Waited]", waits))
    return [None if each.ended is None else each.ended.outcome for each in waits]


def test_a_node_that_dies_ends_the_wait_for_the_host_whose_node_was_never_found() -> None:
    waits = [Wait(Ending("failed", "died", "killed")), Wait()]
    assert unfound(*waits) == ["failed", "failed"]
    assert waits[1].ended == Ending("failed", "died", "node 0 (gpu-0) is dead: killed", elsewhere=True)


def test_the_wait_for_a_host_without_a_server_goes_on_while_it_may_be_of_a_load_that_does() -> None:
    other = replace(load(node(0), Node(1)), may_hold=(1,))
    other = replace(other, nodes=(replace(other.nodes[0], at=2), other.nodes[1]))
    assert unfound(Wait(Ending("failed", "died", "")), Wait(), Wait(), others=(other,))[1] is None
    assert unfound(Wait(), Wait()) == [None, None]


# The bell.


def test_the_bell_rings_once_for_the_end_of_a_load_and_again_for_its_next_one() -> None:
    alerts = LoadAlerts(3)
    going, dead = load(node(0), node(1)), load(node(0), node(1, "dead"))
    counted = [
        alerts.take(own, [found])
        for own, found in (
            ([0, 0, 0], going),
            ([0, 1, 0], dead),
            ([1, 1, 0], dead),
            ([1, 1, 1], dead),
            ([1, 1, 1], going),
            ([2, 1, 1], dead),
        )
    ]
    assert counted == [[0, 0, 0], [0, 1, 0], [0, 1, 0], [0, 1, 1], [0, 1, 1], [1, 1, 1]]


def test_a_load_that_was_ready_and_then_ends_rings_for_both() -> None:
    alerts = LoadAlerts(2)
    ready, dead = load(node(0, "ready"), node(1)), load(node(0, "dead"), node(1))
    assert alerts.take([1, 0], [ready]) == [1, 0]
    assert alerts.take([2, 0], [dead]) == [2, 0]
