"""A load over several hosts in a line, and on the screens of its nodes; by events of two hosts."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from watched_host import SGLANG, Watch, WatchedHost, process

from tui import present
from tui.commands.load_records import load_words
from tui.engines.phase import Phase
from tui.present.header import known_at
from tui.present.hosts import host_row
from tui.present.nodes import load_row, outcome_of, over, row_over
from tui.signals import ProcessSignals, Signals
from tui.watch.nodes.load import NodesLoad, loads
from widgets.lines import text_of, width_of
from widgets.values import LoadRow, Mood
from widgets.verdict_row import VerdictRow

NODE = SGLANG + " --nnodes 2 --node-rank {} --dist-init-addr gpu-a:5000"
GB = 1_000_000_000
LINES = {
    Phase.DISTRIBUTED: "[2026-11-29 13:48:34 TP{}] Init torch distributed begin.",
    Phase.WEIGHTS: "[2026-11-29 13:48:34 TP{}] Load weight begin. avail mem=9 GB",
}


class Two:
    """Two hosts with a node each, and clocks that differ."""

    def __init__(self, watched: Watch) -> None:
        self.hosts: list[WatchedHost] = [watched(), watched()]
        self._read_bytes = [0, 0]
        for host, name in zip(self.hosts, "ab", strict=True):
            host.hello(f"gpu-{name}", boot_id=name)

    def starts(self, rank: int, phase: Phase) -> None:
        host = self.hosts[rank]
        title = f"sglang::scheduler_TP{rank}"
        host.processes(
            process(100, NODE.format(rank), matched="sglang", started_s=host.mono),
            process(101, "python3", matched=None, ppid=100, title=title),
        )
        host.log("server_args=ServerArgs(model_path='qwen')", LINES[phase].format(rank))

    def wait(self, seconds: int, *moving: int) -> None:
        """Let time pass; the ranks of the nodes named read files meanwhile."""
        for _ in range(seconds):
            for rank in (0, 1):
                self._read_bytes[rank] += GB if rank in moving else 0
                self.tell(rank)

    def tell(self, rank: int) -> None:
        """A second passes for one host."""
        host, read = self.hosts[rank], self._read_bytes[rank]
        host.wait(1.0)
        found = ProcessSignals(
            pid=101,
            state="S",
            wchan="futex_do_wait",
            cpu_s=20.0,
            minor_faults=0,
            major_faults=0,
            wakeups=1000,
            rss_file_mib=1.0,
            rss_anon_mib=1.0,
            read_chars_bytes=read,
            read_bytes=read,
            write_bytes=0,
        )
        host.happen(Signals(**host.when, processes=[found], compilers=[], cost_ms=1.0))

    def look(self) -> NodesLoad:
        states = [(f"gpu-{'ab'[at]}", host.state) for at, host in enumerate(self.hosts)]
        (found,) = loads(states, self.hosts[0].now)
        return found


@pytest.fixture
def two(watched: Watch) -> Two:
    return Two(watched)


def verdict_line(two: Two, rank: int, width: int) -> str:
    host, load = two.hosts[rank], two.look()
    values = present.present(host.state, host.now, width)
    row = VerdictRow()
    row.panel = over(values, load, rank, host.mono).verdict
    lines = row.lines(width, 3)
    assert all(width_of(line) <= width for line in lines)
    return " ".join(text_of(lines[0]).split()) if lines else ""


@pytest.mark.parametrize("width", [80, 120])
def test_a_node_that_waits_names_the_one_that_it_waits_for_instead_of_a_fault(two: Two, width: int) -> None:
    two.starts(1, Phase.DISTRIBUTED)
    two.starts(0, Phase.WEIGHTS)
    two.wait(40, 1)
    assert two.hosts[0].state.verdict == "quiet"
    line = verdict_line(two, 0, width)
    assert line.startswith("► PROGRESSING")
    assert "node 0 waits for node 1 (gpu-b), which still sets up its ranks" in line
    assert "node 0 (gpu-a) waits for this node" in verdict_line(two, 1, width)
    row = host_row(two.hosts[0].state, two.hosts[0].now, "gpu-a", two.look().told(0))
    assert (row.verdict, row.mood, row.word) == ("PROGRESSING", Mood.ACTIVE, "loading")


def test_the_line_of_a_load_says_where_its_slowest_node_stands(two: Two) -> None:
    two.starts(1, Phase.DISTRIBUTED)
    two.starts(0, Phase.WEIGHTS)
    two.wait(40, 1)
    row = load_row(two.look())
    assert (row.name, row.load, row.verdict, row.members) == (
        "SGLang on 2 nodes",
        "distributed",
        "PROGRESSING",
        (0, 1),
    )


def test_a_node_that_answers_nobody_is_ready_with_the_first_one_and_not_stalled(two: Two) -> None:
    two.starts(0, Phase.WEIGHTS)
    two.starts(1, Phase.WEIGHTS)
    two.wait(5, 0, 1)
    two.hosts[0].becomes_ready()
    two.wait(900)
    assert two.hosts[1].state.verdict == "stalled"
    assert load_row(two.look()).mood is Mood.GOOD
    host = two.hosts[1]
    shown = over(present.present(host.state, host.now), two.look(), 1, host.mono)
    assert (shown.header.phase, shown.ladder.mood) == ("ready", Mood.GOOD)
    assert shown.ladder.headline == "node 0 (gpu-a) answers for this load"
    assert verdict_line(two, 1, 80) == ""
    row = host_row(two.hosts[1].state, two.hosts[1].now, "gpu-b", two.look().told(1))
    assert (row.verdict, row.load, row.word, row.mood) == ("READY", "ready", "ready", Mood.GOOD)


def lose(two: Two) -> None:
    two.hosts[1].link("lost", "the connection was cut")


def die(two: Two) -> None:
    two.hosts[1].exits(code=1)


@pytest.mark.parametrize(
    ("happens", "word", "said", "mood"),
    [
        (lose, "QUIET", "node 0 may wait for node 1 (gpu-b), not heard for 40 s", Mood.WARNING),
        (die, "", "node 1 (gpu-b) is dead: ", Mood.BAD),
    ],
    ids=["lost", "dead"],
)
def test_a_node_whose_link_is_lost_is_not_known_and_one_that_ended_is_the_end(
    two: Two, happens: Callable[[Two], None], word: str, said: str, mood: Mood
) -> None:
    two.starts(1, Phase.DISTRIBUTED)
    two.starts(0, Phase.WEIGHTS)
    two.wait(2, 0, 1)
    happens(two)
    for _ in range(40):
        two.tell(0)
    row = load_row(two.look())
    assert row.verdict == word
    assert said in row.sentence
    assert row.mood is mood


def test_a_node_that_has_not_started_is_looked_for_on_the_host_without_a_server(two: Two) -> None:
    two.starts(0, Phase.DISTRIBUTED)
    two.hosts[1].processes()
    two.wait(40)
    line = verdict_line(two, 0, 80)
    assert line.startswith("▲ QUIET")
    assert "node 0 waits for node 1: no server on gpu-b yet" in line


def test_a_node_that_died_before_the_first_started_anew_belongs_to_the_start_before(two: Two) -> None:
    two.starts(1, Phase.DISTRIBUTED)
    two.wait(5, 1)
    two.hosts[1].exits(code=1)
    two.wait(30)
    two.starts(0, Phase.DISTRIBUTED)
    two.wait(10)
    found = two.look()
    assert found.outcome is None
    assert found.missing == "node 1 of 2 has not started again"


def test_a_node_with_another_rendezvous_is_named_with_it(two: Two) -> None:
    two.starts(0, Phase.DISTRIBUTED)
    host = two.hosts[1]
    argv = NODE.format(1).replace("gpu-a:5000", "gpu-b:5000")
    host.processes(process(100, argv, matched="sglang", started_s=host.mono))
    states = [(f"gpu-{'ab'[at]}", host.state) for at, host in enumerate(two.hosts)]
    first, second = loads(states, two.hosts[0].now)
    assert first.missing == "node 1 of 2 is not found: gpu-b has one that meets at gpu-b:5000"
    assert second.missing == "node 0 of 2 is not found: gpu-a has one that meets at gpu-a:5000"


# What is news of a load.


def test_that_a_second_passes_is_no_news_of_a_load_and_another_phase_is(two: Two) -> None:
    two.starts(0, Phase.WEIGHTS)
    two.hosts[1].processes()
    two.wait(40)
    rows: list[LoadRow] = []
    for _ in range(4):
        two.wait(1)
        rows.append(load_row(two.look()))
    assert len({row.sentence for row in rows}) == 4
    assert len({row.news for row in rows}) == 1
    two.starts(1, Phase.WEIGHTS)
    assert load_row(two.look()).news != rows[0].news


def test_how_long_a_node_was_not_heard_is_no_news(two: Two) -> None:
    two.starts(0, Phase.WEIGHTS)
    two.starts(1, Phase.WEIGHTS)
    two.wait(5, 0, 1)
    lose(two)
    two.tell(0)
    first = load_row(two.look())
    two.tell(0)
    second = load_row(two.look())
    assert first.sentence != second.sentence
    assert first.news == second.news


def test_whether_a_node_is_there_is_not_known_before_the_processes_of_its_host(two: Two) -> None:
    two.starts(1, Phase.DISTRIBUTED)
    row = load_row(two.look())
    assert row.sentence == "node 0 of 2 is not known yet: no process list of gpu-a yet"
    assert (row.news, row.mood) == ((), Mood.WAITING)
    two.wait(40)
    assert two.look().judged.waiting == ()
    assert "not known yet" in load_row(two.look()).sentence
    two.hosts[0].processes()
    row = load_row(two.look())
    assert row.sentence == "node 1 waits for node 0: no server on gpu-a yet"
    assert row.news != ()


def test_a_guess_does_not_hide_that_a_node_is_not_there(two: Two) -> None:
    two.starts(0, Phase.WEIGHTS)
    two.hosts[1].processes()
    two.wait(40)
    found = two.look()
    assert found.sentence.startswith(
        "node 1 of 2 is not found: no server on gpu-b yet; node 0 (gpu-a): quiet"
    )
    told = found.told(0)
    assert told is not None
    assert told.sentence.endswith(": node 1 of 2 is not found: no server on gpu-b yet")
    assert "node 1 of 2 is not found" in verdict_line(two, 0, 120)
    assert found.may_hold == (1,)


# A node that is never asked itself, once the first one is ready.


def ready_with_the_first(two: Two) -> NodesLoad:
    """Node 0 is ready while the log of node 1 is still in its weights."""
    two.starts(0, Phase.WEIGHTS)
    two.starts(1, Phase.WEIGHTS)
    two.hosts[1].log("Loading safetensors checkpoint shards:  10% Completed | 1/10 [00:01<00:09,  1.00s/it]")
    two.wait(5, 0, 1)
    two.hosts[0].becomes_ready()
    two.wait(2)
    return two.look()


@pytest.mark.parametrize("is_lost", [False, True], ids=["heard", "lost"])
def test_a_node_whose_first_one_is_ready_shows_no_time_to_ready_and_no_time_that_runs(
    two: Two, is_lost: bool
) -> None:
    found = ready_with_the_first(two)
    if is_lost:
        lose(two)
        found = two.look()
    host = two.hosts[1]
    alone = replace(host_row(host.state, host.now, "gpu-b", found.told(1)), left="T- 0:13")
    assert alone.clock.startswith("T+ ")
    row = row_over(alone, found, 1)
    assert (row.left, row.clock) == ("", "")
    shown = over(present.present(host.state, host.now), found, 1, host.mono)
    assert (shown.header.clock, shown.phases.estimate) == ("", "")
    first = host_row(two.hosts[0].state, host.now, "gpu-a", None)
    assert row_over(first, found, 0) is first


def test_what_is_left_behind_says_with_which_node_a_load_is_ready(two: Two) -> None:
    found = ready_with_the_first(two)
    host = two.hosts[1]
    assert any(line.startswith("not ready at T+") for line in present.exit_summary(host.state, host.now))
    lines = present.exit_summary(host.state, host.now, "gpu-b", elsewhere=outcome_of(found, 1))
    assert "ready with node 0 (gpu-a)" in lines
    assert not any("not ready" in line for line in lines)
    assert outcome_of(found, 0) == ""
    assert load_row(found).sentence.startswith("ready with node 0 (gpu-a)")
    assert load_words(found) == f"SGLang on 2 nodes (gpu-a, gpu-b): {load_row(found).sentence}"


# A node whose link is lost.


def test_a_node_that_is_not_heard_keeps_what_was_last_known_of_it(two: Two) -> None:
    two.starts(0, Phase.WEIGHTS)
    two.starts(1, Phase.WEIGHTS)
    two.wait(5, 0, 1)
    lose(two)
    host = two.hosts[1]
    last_s = host.mono
    two.tell(0)
    host.now = two.hosts[0].now + 30.0
    assert known_at(host.state, host.now) == last_s
    shown = over(present.present(host.state, host.now), two.look(), 1, host.mono)
    assert shown.ladder.headline == "node 0 (gpu-a) answers for this load; this node is not heard"
    assert shown.ladder.mood is Mood.WARNING
