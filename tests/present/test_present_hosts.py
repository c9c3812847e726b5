"""What the row of one among several hosts says of it."""

import pytest
from watched_host import SGLANG, Watch, WatchedHost

from tui.events import Link
from tui.present.hosts import FAULT_WORDS, host_row
from widgets.values import HostRow, Mood


def row(host: WatchedHost) -> HostRow:
    return host_row(host.state, host.now, "gpu-a")


def test_before_a_host_is_heard_it_connects_and_nothing_else_is_said(watched: Watch) -> None:
    host = watched()
    host.link("connecting", "connecting")
    shown = row(host)
    assert (shown.name, shown.word, shown.link) == ("gpu-a", "connecting", "connecting")
    assert (shown.load, shown.memory, shown.verdict, shown.mood) == ("", "", "", Mood.WAITING)


def test_memory_and_utilisation_are_those_of_all_gpus(host: WatchedHost) -> None:
    host.gpus(71_680.0, 71_680.0)
    shown = row(host)
    assert shown.memory == "140/281 GiB"
    assert shown.word == "without a server"


def test_a_load_is_told_by_phase_verdict_and_clock(host: WatchedHost) -> None:
    host.loads_to_capture()
    shown = row(host)
    assert shown.word == "loading"
    assert shown.load.startswith("capture")
    assert shown.clock.startswith("T+ ")
    assert shown.model.startswith("SGLang")


def test_a_load_that_ended_is_bad_and_says_why(host: WatchedHost) -> None:
    host.loads_to_capture()
    host.exits()
    shown = row(host)
    assert (shown.word, shown.verdict, shown.mood) == ("failed", "DEAD", Mood.BAD)
    assert shown.sentence == host.state.reason


def test_a_lost_link_stands_beside_what_was_known(host: WatchedHost) -> None:
    host.link("lost", "the connection was cut")
    host.wait(12)
    shown = row(host)
    assert (shown.link, shown.link_mood, shown.word) == ("stale 12 s", Mood.WARNING, "link lost")
    assert shown.memory
    assert shown.sentence == "the connection was cut"


def test_a_host_that_is_away_at_first_says_why_and_when_it_is_tried_again(watched: Watch) -> None:
    host = watched()
    host.state.apply(
        Link(
            mono_s=0, wall_s=0, client_s=host.now, state="lost", sentence="it refused", fault="refused",
            retry_in_s=5.2,
        )
    )  # fmt: skip
    shown = row(host)
    assert (shown.word, shown.link, shown.mood) == ("not reached", "refused", Mood.BAD)
    assert shown.sentence == "tried again after 5 s: it refused"


@pytest.mark.parametrize("fault", FAULT_WORDS)
def test_why_a_host_was_given_up_is_a_word_or_two(watched: Watch, fault: str) -> None:
    host = watched()
    told = Link(mono_s=0, wall_s=0, client_s=host.now, state="failed", sentence="why it is so", fault=fault)
    host.state.apply(told)
    shown = row(host)
    assert (shown.word, shown.link, shown.link_mood) == ("not reached", FAULT_WORDS[fault], Mood.BAD)
    assert len(shown.link) <= 13
    assert shown.sentence == "why it is so"


def test_a_node_of_a_load_on_several_says_which_it_is(host: WatchedHost) -> None:
    host.starts(argv=f"{SGLANG} --nnodes 2 --node-rank 1")
    assert row(host).node == "1 of 2"


def test_a_load_on_one_node_says_nothing_of_nodes(host: WatchedHost) -> None:
    host.starts()
    assert row(host).node == ""
