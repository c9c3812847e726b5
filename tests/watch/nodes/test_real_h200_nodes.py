"""Real loads of SGLang 0.5.14 and vLLM 0.24.0 over two nodes, each watched by tminus as a host of its own.

Both nodes ran on one machine with one H200, in process and host name spaces of their own, and talked over
sockets. Node 1 was started 20 s (15 s) after node 0 had come to the rendezvous, its rank stopped in the
capture (compile) for 30 s (25 s), and killed after READY; in ``sglang-killed`` in the weights.
Times are seconds since node 0 was launched. Left out to keep them small: most questions to the port, pongs,
locks, past loads.
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from tui.events import AnyEvent
from tui.replay.headless import Run
from tui.replay.opening import open_tape
from tui.watch.nodes.load import NodesLoad, loads

FOLDER = Path(__file__).parents[2] / "fixtures" / "h200" / "nodes"
HOSTS = ("gpu-a", "gpu-b")


@dataclass(frozen=True, slots=True)
class Done:
    """What was done to a load when, in Unix time."""

    name: str
    launched: float
    second: float
    killed: float
    stopped: float = 0.0
    went_on: float = 0.0

    def since(self, when: float) -> float:
        """Return a Unix time as seconds of the load."""
        return when - self.launched


SGLANG = Done("sglang", 1796055278.898, 1796055343.554, 1796055513.741, 1796055386.25, 1796055416.251)
VLLM = Done("vllm", 1796055616.552, 1796055692.246, 1796055930.619, 1796055785.985, 1796055810.985)
KILLED = Done("sglang-killed", 1796055534.023, 1796055534.024, 1796055586.155)
each_load = pytest.mark.parametrize("done", [SGLANG, VLLM], ids=["sglang", "vllm"])


class Tape:
    """The recording of one host."""

    def __init__(self, name: str) -> None:
        self.run = Run(open_tape(FOLDER / f"{name}.jsonl.gz"))

    def coming(self) -> float | None:
        """Return when the next event came, on the watching machine's clock."""
        t = self.run.next_t()
        return None if t is None or self.run.origin_s is None else self.run.origin_s + t

    def take(self) -> AnyEvent:
        """Take the next event in."""
        step = self.run.advance()
        assert step is not None
        return step.event


@cache
def seen(done: Done) -> tuple[tuple[float, NodesLoad], ...]:
    """Play both recordings as they were made; return each change of what is told: (second, the load)."""
    tapes = [Tape(f"{done.name}-{end}") for end in "ab"]
    offset_s: float | None = None
    found: list[tuple[float, NodesLoad]] = []
    last: object = None
    while any(tape.coming() is not None for tape in tapes):
        now_s, at = min(
            (coming, at) for at, tape in enumerate(tapes) if (coming := tape.coming()) is not None
        )
        event = tapes[at].take()
        offset_s = event.wall_s - event.client_s if offset_s is None else offset_s
        hosts = [(host, tape.run.state) for host, tape in zip(HOSTS, tapes, strict=True)]
        for load in loads(hosts, now_s):
            standing = [node.standing for node in load.nodes]
            told = (load.outcome, load.word, load.judged.waiting, load.judged.culprits, standing)
            if told != last:
                found.append((done.since(now_s + offset_s), load))
            last = told
    return tuple(found)


def words(done: Done) -> list[str | None]:
    """Return the words of the verdict in their order, each run of the same once."""
    told = [load.word for _, load in seen(done)]
    return [word for at, word in enumerate(told) if at == 0 or told[at - 1] != word]


def first(done: Done, word: str, after_s: float = 0.0) -> tuple[float, NodesLoad]:
    """Return when a word of the verdict was first told, and the load then."""
    return next((t, load) for t, load in seen(done) if load.word == word and t >= after_s)


@each_load
def test_a_node_that_waits_for_a_late_one_a_stop_and_a_death_are_told_and_nothing_else(done: Done) -> None:
    assert words(done) == [None, "progressing", "suspended", "progressing", "ready", "dead"]


@each_load
def test_while_the_second_node_starts_the_first_one_is_said_to_wait_for_it(done: Done) -> None:
    came_s = done.since(done.second)
    t, load = next((t, load) for t, load in seen(done) if load.judged.waiting)
    assert came_s < t < done.since(done.stopped)
    assert (load.judged.waiting, load.judged.culprits) == ((0,), (1,))
    assert load.sentence == "node 0 waits for node 1 (gpu-b), which still starts"
    before = [each for at, each in seen(done) if at < came_s]
    assert before
    assert {each.sentence for each in before} == {"node 1 of 2 is not found: no server on gpu-b yet"}


@each_load
def test_a_rank_that_is_stopped_is_named_within_6_seconds_and_goes_on_within_3(done: Done) -> None:
    stopped_s, went_on_s = done.since(done.stopped), done.since(done.went_on)
    t, load = first(done, "suspended")
    assert stopped_s < t < stopped_s + 6.0
    assert load.sentence.startswith("node 1 (gpu-b): suspended in ")
    assert "TP1" in load.sentence
    t, load = first(done, "progressing", t)
    assert went_on_s < t < went_on_s + 3.0


@each_load
def test_the_load_is_ready_with_its_first_node_though_the_second_tells_nothing(done: Done) -> None:
    _, load = first(done, "ready")
    assert load.outcome == "ready"
    assert not load.nodes[1].is_ready
    told = load.told(1)
    assert told is not None
    assert told.sentence == "ready: node 0 (gpu-a) answers"


@pytest.mark.parametrize("done", [SGLANG, VLLM, KILLED], ids=["sglang", "vllm", "killed"])
def test_a_rank_that_is_killed_ends_the_load_within_2_seconds_and_its_node_is_named(done: Done) -> None:
    killed_s = done.since(done.killed)
    t, load = first(done, "dead")
    assert killed_s < t < killed_s + 2.0
    assert load.sentence.startswith("node 1 (gpu-b) is dead: TP1 (pid ")
    assert load.outcome == "failed" or load.told(0) is not None


def test_of_two_nodes_that_died_the_one_is_named_that_the_other_only_followed() -> None:
    _, load = seen(KILLED)[-1]
    assert [node.standing for node in load.nodes] == ["dead", "dead"]
    assert load.judged.culprits == (1,)
    assert "killed from outside (-9)" in load.judged.cause.title
