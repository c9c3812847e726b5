"""What nodes mean together: where the load stands, how it is, and who waits for whom."""

from dataclasses import replace
from typing import Any, cast

import pytest

from tui.engines.phase import Phase
from tui.engines.sglang import SGLANG
from tui.watch.nodes.load import BLIND, NO_SERVER, NOT_REACHED, NodesLoad, again, load_of, told_over
from tui.watch.nodes.node import Node, Standing
from tui.watch.verdict.verdict import Verdict, Word

# How far the clock of each host is ahead of ours.
CLOCKS: dict[int, float | None] = {0: 500.0, 1: 9000.0, 2: 70.0}
MEETS = ("gpu-a", 5000)


def verdict(
    word: Word, phase: Phase = Phase.DISTRIBUTED, *, elsewhere: bool = True, cause: str = ""
) -> Verdict:
    return Verdict(
        word, 100.0, f"{word} in {phase.words}: nothing has moved for 2:10", cause=cause, elsewhere=elsewhere
    )


def node(
    rank: int,
    word: Word | None = "progressing",
    phase: Phase | None = Phase.WEIGHTS,
    standing: Standing = "loading",
    **more: object,
) -> Node:
    made = Node(
        rank,
        f"gpu-{'abc'[rank]}",
        rank,
        standing,
        phase,
        None if word is None else verdict(word, phase or Phase.LAUNCH),
        is_ready=standing == "ready",
    )
    return replace(made, **cast("dict[str, Any]", more))


def load(*nodes: Node, vacant: tuple[tuple[str, str], ...] = ()) -> NodesLoad:
    return load_of(SGLANG, nodes, vacant, meets=MEETS, clocks=CLOCKS)


WAITS = node(0, "quiet", Phase.DISTRIBUTED)


def test_a_load_stands_where_its_slowest_node_stands() -> None:
    assert load(node(0, phase=Phase.CAPTURE), node(1, phase=Phase.WEIGHTS)).phase is Phase.WEIGHTS
    assert load(node(0, phase=None), node(1, phase=Phase.WEIGHTS)).phase is Phase.WEIGHTS


def test_after_the_last_capture_the_first_node_alone_tells_where_a_load_stands() -> None:
    found = load(node(0, "quiet", Phase.WARMUP), node(1, "quiet", Phase.CAPTURE))
    assert found.phase is Phase.WARMUP
    assert found.judged.waiting == ()


def test_a_load_is_ready_with_its_first_node_and_the_others_are_not_stalled() -> None:
    found = load(node(0, "ready", Phase.READY, "ready"), node(1, "stalled", Phase.CAPTURE))
    assert (found.outcome, found.phase, found.word) == ("ready", Phase.READY, "ready")
    told = found.told(1)
    assert told is not None
    assert (told.word, told.sentence) == ("ready", "ready: node 0 (gpu-a) answers")


def test_another_node_that_answers_proves_nothing() -> None:
    found = load(node(0, "progressing", Phase.WEIGHTS), node(1, "ready", Phase.READY, "ready"))
    assert (found.outcome, found.phase) == (None, Phase.WEIGHTS)


def test_who_waits_in_distributed_init_for_one_that_has_not_come_so_far() -> None:
    found = load(WAITS, node(1, "progressing", Phase.LAUNCH))
    assert found.sentence == "node 0 waits for node 1 (gpu-b), which still starts"
    assert (found.word, found.judged.waiting, found.judged.culprits) == ("progressing", (0,), (1,))


@pytest.mark.parametrize("word", ["quiet", "stalled", "hung"])
def test_who_is_done_waits_for_one_that_still_loads_weights_and_is_no_fault_itself(word: Word) -> None:
    found = load(node(0, word, Phase.KV_CACHE), node(1, "progressing", Phase.WEIGHTS))
    told = found.told(0)
    assert told is not None
    assert told.word == "progressing"
    assert told.sentence == (
        "progressing in KV cache: node 0 waits for node 1 (gpu-b), which still loads weights"
    )
    assert (told.cause, told.rank, told.pid, told.until_s) == ("", None, None, None)


def test_who_stands_in_the_same_phase_as_one_that_moves_waits_for_it() -> None:
    found = load(node(0, "stalled", Phase.WEIGHTS), node(1, "slow", Phase.WEIGHTS))
    assert found.sentence == "node 0 waits for node 1 (gpu-b), which still loads weights"
    assert found.word == "slow"


def test_the_one_that_is_waited_for_says_so_on_its_own_screen() -> None:
    told = load(WAITS, node(1, "progressing", Phase.LAUNCH)).told(1)
    assert told is not None
    assert told.sentence.endswith("; node 0 (gpu-a) waits for this node")
    assert told.word == "progressing"


def test_who_shows_a_reason_of_its_own_waits_for_nobody() -> None:
    own = verdict("stalled", Phase.KV_CACHE, elsewhere=False, cause="storage does not answer")
    found = load(node(0, verdict=own, phase=Phase.KV_CACHE), node(1, "progressing", Phase.WEIGHTS))
    assert found.told(0) is None
    assert found.word == "stalled"
    assert found.sentence.startswith("node 0 (gpu-a): stalled in KV cache")


def test_who_is_further_never_is_waited_for() -> None:
    found = load(node(0, "stalled", Phase.WEIGHTS), node(1, "progressing", Phase.CAPTURE))
    assert found.judged.waiting == ()
    assert found.sentence.startswith("node 0 (gpu-a): stalled in weights")


def test_a_node_stuck_for_a_reason_of_its_own_is_whom_the_others_wait_for() -> None:
    own = replace(
        verdict("hung", Phase.WEIGHTS, elsewhere=False, cause="storage does not answer"),
        next_step="check the mount",
    )
    found = load(WAITS, node(1, verdict=own), node(2, "quiet", Phase.DISTRIBUTED))
    assert found.word == "hung"
    assert found.sentence.startswith("nodes 0 and 2 wait for node 1 (gpu-b), which is hung in weights")
    told = found.told(2)
    assert told is not None
    assert (told.word, told.cause) == ("hung", "storage does not answer")
    assert told.next_step == "on gpu-b: check the mount"


def test_a_stopped_node_is_whom_the_others_wait_for_whatever_their_phase() -> None:
    stopped = replace(verdict("suspended", Phase.CAPTURE), sentence="suspended: TP1 (pid 7) is stopped")
    stopped = replace(stopped, next_step="kill -CONT 7")
    found = load(
        node(0, "stalled", Phase.CAPTURE), node(1, phase=Phase.CAPTURE, verdict=stopped, since_s=40.0)
    )
    assert found.word == "suspended"
    assert found.sentence == "node 0 waits for node 1 (gpu-b), which is suspended: TP1 (pid 7) is stopped"
    told = found.told(0)
    assert told is not None
    assert told.next_step == "on gpu-b: kill -CONT 7"
    assert told.since_s == 540.0  # as long as it is suspended, on the clock of the host that waits


def test_a_node_of_which_no_server_is_found_is_waited_for_where_a_host_may_yet_show_it() -> None:
    found = load(
        node(0, "stalled", Phase.DISTRIBUTED), Node(1), vacant=(("gpu-b", NO_SERVER.format("gpu-b")),)
    )
    assert found.sentence == "node 0 waits for node 1: no server on gpu-b yet"
    told = found.told(0)
    assert told is not None
    assert (told.word, told.cause) == ("stalled", "node 1 has not come to the rendezvous")
    assert told.next_step == "start node 1, with gpu-a:5000 as its rendezvous"
    assert found.missing == "node 1 of 2 is not found: no server on gpu-b yet"


def test_a_node_on_no_watched_host_is_said_to_be_and_nothing_is_claimed_of_it() -> None:
    found = load(node(0, "stalled", Phase.DISTRIBUTED), Node(1))
    assert found.missing == "node 1 of 2 is on no watched host"
    assert found.told(0) is None
    moving = load(node(0), Node(1))
    assert moving.sentence == "node 1 of 2 is on no watched host"


def test_several_missing_nodes_are_counted() -> None:
    assert load(node(0), Node(1), Node(2)).missing == "nodes 1 and 2 of 3 are on no watched host"


@pytest.mark.parametrize(
    ("whys", "told"),
    [
        ((NO_SERVER, NO_SERVER), "no server on gpu-b, gpu-c yet"),
        ((NOT_REACHED, NOT_REACHED), "gpu-b, gpu-c are not reached yet"),
        ((NO_SERVER, NOT_REACHED), "no server on gpu-b yet, gpu-c is not reached yet"),
        ((BLIND, BLIND), "gpu-b, gpu-c have no python3, without which no server is found"),
    ],
    ids=["no-server", "unreached", "both", "blind"],
)
def test_of_each_host_it_is_said_why_it_shows_no_server(whys: tuple[str, str], told: str) -> None:
    vacant = tuple((name, why.format(name)) for name, why in zip(("gpu-b", "gpu-c"), whys, strict=True))
    found = load(node(0), Node(1), Node(2), vacant=vacant)
    assert found.missing == f"nodes 1 and 2 of 3 are not found: {told}"


def test_a_node_whose_link_is_lost_is_not_known_and_not_gone() -> None:
    found = load(WAITS, node(1, phase=Phase.DISTRIBUTED, standing="unheard", unheard_s=40.0))
    assert found.outcome is None
    assert found.sentence == "node 0 may wait for node 1 (gpu-b), not heard for 40 s"
    assert found.missing == "node 1 (gpu-b) was last heard 40 s ago"
    assert found.word == "quiet"


def test_a_load_that_was_ready_is_neither_ready_nor_dead_while_its_first_node_is_not_heard() -> None:
    head = node(0, "ready", Phase.READY, "unheard", unheard_s=9.0, is_ready=True)
    found = load(head, node(1, "stalled", Phase.CAPTURE))
    assert (found.outcome, found.word, found.phase) == (None, None, Phase.READY)
    told = found.told(1)
    assert told is not None
    assert told.sentence == "ready: node 0 (gpu-a) answered when last heard"
    assert found.sentence == "node 0 (gpu-a) was last heard 9 s ago"


def test_all_there_and_nobody_goes_on_is_the_way_between_them() -> None:
    found = load(node(0, "stalled", Phase.DISTRIBUTED), node(1, "quiet", Phase.DISTRIBUTED))
    assert found.sentence == "both nodes have started and wait for each other"
    assert found.judged.cause.title == "both nodes have started, but they do not reach each other"
    assert "gpu-a:5000" in found.judged.cause.next_step
    assert found.word == "stalled"


def test_one_dead_node_is_the_death_of_the_load_with_its_cause() -> None:
    dead = node(
        1, "dead", Phase.CAPTURE, "dead", ended_s=50.0, reason="out of memory", cause="oom", fault="died"
    )
    found = load(node(0, "stalled", Phase.CAPTURE), dead)
    assert (found.outcome, found.word, found.phase) == ("failed", "dead", Phase.CAPTURE)
    assert found.sentence == "node 1 (gpu-b) is dead: out of memory"
    told = found.told(0)
    assert told is not None
    assert (told.word, told.sentence) == ("dead", "dead: node 1 (gpu-b) is dead: out of memory")
    assert told.cause == "oom"
    assert told.since_s == 550.0  # when that was, on the clock of its own host


def test_of_two_dead_nodes_the_first_counts_and_of_two_at_once_the_one_that_says_why() -> None:
    first = node(1, "dead", standing="dead", ended_s=50.0, reason="killed")
    later = node(0, "dead", standing="dead", ended_s=58.0, reason="NCCL error", cause="nccl")
    assert load(later, first).sentence == "node 1 (gpu-b) is dead: killed"
    assert load(replace(later, ended_s=50.3), first).sentence == "node 0 (gpu-a) is dead: NCCL error"


def test_a_node_that_died_later_says_on_its_screen_after_which_one() -> None:
    first = node(1, "dead", standing="dead", ended_s=50.0, reason="killed")
    told = load(node(0, "dead", standing="dead", ended_s=58.0), first).told(0)
    assert told is not None
    assert told.sentence.startswith("dead: after node 1 (gpu-b): ")


def test_a_node_that_still_moves_says_that_another_one_stands() -> None:
    stopped = node(1, "suspended", Phase.CAPTURE)
    told = load(node(0, "progressing", Phase.CAPTURE), stopped).told(0)
    assert told is not None
    assert told.word == "progressing"
    assert told.sentence.endswith("; node 1 (gpu-b) is suspended")
    assert load(node(0, "progressing"), node(1, "slow")).told(0) is None


def test_a_node_that_may_have_ended_before_the_other_is_not_passed_over() -> None:
    seen = node(1, "dead", standing="dead", ended_s=50.0, ended_from_s=50.0, reason="killed")
    unseen = node(0, "dead", standing="dead", ended_s=70.0, ended_from_s=40.0, reason="gone", cause="killed")
    assert load(unseen, seen).judged.culprits == (0,)
    assert load(replace(unseen, ended_from_s=60.0), seen).judged.culprits == (1,)


def test_a_shutdown_is_called_one() -> None:
    ended = node(1, "dead", standing="dead", ended_s=50.0, reason="shut down", fault="shut_down")
    assert load(node(0), ended).sentence == "node 1 (gpu-b) was shut down"


def test_of_two_nodes_that_died_at_once_the_one_that_only_followed_is_not_to_blame() -> None:
    one = node(0, "dead", standing="dead", ended_s=9.0, cause="a peer is gone", follows=True)
    other = node(1, "dead", standing="dead", ended_s=9.4, cause="it was killed")
    assert load(one, other).judged.culprits == (1,)
    assert load(replace(one, follows=False), other).judged.culprits == (0,)


def test_a_node_that_ended_before_another_started_has_not_started_again() -> None:
    old = node(0, "dead", standing="dead", started_s=1.0, ended_s=50.0)
    nodes = again([old, node(1, "quiet", Phase.DISTRIBUTED, started_s=80.0)])
    found = load(*nodes)
    assert found.outcome is None
    assert found.sentence == "node 1 waits for node 0 (gpu-a), which has not started again"
    assert load(*again([old, node(1, started_s=20.0)])).outcome == "failed"


def test_the_time_to_ready_is_the_largest_and_none_while_one_is_missing_or_stands() -> None:
    head, other = node(0, left_s=40.0), node(1, left_s=90.0)
    assert load(head, other).left_s == 90.0
    assert load(head, replace(other, left_s=None)).left_s == 40.0
    assert load(replace(head, left_s=None), other).left_s is None
    assert load(head, Node(1)).left_s is None
    assert load(head, replace(other, standing="unheard", unheard_s=5.0)).left_s is None
    stopped = replace(other, verdict=verdict("suspended"))
    assert load(head, stopped).left_s is None


def test_a_node_of_which_nothing_is_judged_yet_is_no_reason_for_a_verdict() -> None:
    found = load(node(0, None, None), node(1, None, None))
    assert (found.word, found.phase, found.sentence) == (None, None, "")


def test_what_is_told_keeps_the_rules_of_the_hosts_own_verdict() -> None:
    found = load(WAITS, node(1, "progressing", Phase.LAUNCH))
    own = WAITS.verdict
    shown = told_over(own, found, 0)
    assert shown is not None
    assert own is not None
    assert shown.rules == own.rules
    assert told_over(own, None, 0) is own
