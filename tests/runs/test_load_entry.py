"""Each load that a watch saw becomes one entry of the ledger, with its phases and verdicts."""

import pytest
from watched_host import Watch, WatchedHost

from tui.runs.entry import Fingerprint, Instance, LoadEntry
from tui.runs.load_entry import LoadsSeen, load_entry
from tui.watch.course import SPANS, VerdictTimes
from tui.watch.meaning import Meaning
from tui.watch.verdict.verdict import Verdict, Word

NOTHING = Fingerprint(digest="")


def instance_of(state: Meaning) -> Instance:
    server = state.shown
    assert server is not None
    return Instance(host="gpu01", pid=server.pid, started_wall_s=1.8e9 + server.started_s)


@pytest.fixture
def loads(watched: Watch) -> WatchedHost:
    host = watched()
    host.hello()
    host.processes()
    host.wait(5)
    return host


def kept(host: WatchedHost) -> list[LoadEntry]:
    """Return the entries that a watch of these events makes, until its end."""
    state = type(host.state)(host.state.options)
    seen = LoadsSeen(lambda _: NOTHING, instance_of)
    entries: list[LoadEntry] = []
    for event in host.events:
        state.apply(event)
        entries += seen.take(state)
    return [*entries, *seen.left(state)]


def test_a_load_that_becomes_ready_is_one_entry(loads: WatchedHost) -> None:
    loads.loads_to_capture()
    loads.becomes_ready()
    loads.wait(1)
    loads.becomes_ready()

    (entry,) = kept(loads)

    assert (entry.outcome, entry.ready_s, entry.sentence) == ("ready", 125.0, "")
    assert entry.instance.pid == 100
    assert entry.began_wall_s == entry.instance.started_wall_s
    phases = {each.phase: (each.began_s, each.seconds) for each in entry.phases}
    assert phases["weights"] == (38.0, 20.0)
    assert phases["capture"] == (58.0, 67.0)
    assert "ready" not in phases


def test_a_server_that_ends_before_it_is_ready_has_failed_or_was_stopped(loads: WatchedHost) -> None:
    loads.loads_to_capture()
    loads.exits(code=1)

    (entry,) = kept(loads)

    assert (entry.outcome, entry.ready_s) == ("failed", None)
    assert "exit code 1" in entry.sentence
    assert entry.phases[-1].seconds == 67.0


def test_a_server_that_is_missing_from_the_list_is_gone(loads: WatchedHost) -> None:
    loads.loads_to_capture()
    loads.processes()

    assert [entry.outcome for entry in kept(loads)] == ["gone"]


def test_a_load_that_goes_on_when_the_watch_ends_was_left(loads: WatchedHost) -> None:
    loads.loads_to_capture()

    (entry,) = kept(loads)

    assert (entry.outcome, entry.ready_s) == ("left", None)


def test_a_load_that_failed_by_its_log_is_told_once(loads: WatchedHost) -> None:
    loads.loads_to_capture()
    loads.log("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.")
    loads.log("[2026-11-29 13:48:34 TP0] Scheduler hit an exception: Traceback (most recent call last):")
    loads.exits(code=1)

    assert [entry.outcome for entry in kept(loads)] == ["failed"]


def test_a_load_that_another_follows_at_once_is_kept_too(loads: WatchedHost) -> None:
    loads.loads_to_capture()
    loads.starts(pid=300)

    assert [(entry.outcome, entry.instance.pid) for entry in kept(loads)] == [("gone", 100), ("left", 300)]


def test_a_load_that_ended_after_it_was_ready_is_not_told_again(loads: WatchedHost) -> None:
    loads.loads_to_capture()
    loads.becomes_ready()
    loads.wait(9)
    loads.exits(code=1)

    assert [entry.outcome for entry in kept(loads)] == ["ready"]


def test_a_server_that_was_ready_before_is_no_load(loads: WatchedHost) -> None:
    loads.starts()
    loads.wait(100)
    loads.becomes_ready()

    assert loads.state.ready
    assert load_entry(loads.state, NOTHING, instance_of(loads.state)) is None
    assert kept(loads) == []


def test_a_url_alone_is_no_load(watched: Watch) -> None:
    host = watched(url="http://h:1")
    host.hello(protocol=0)
    host.refuses()
    host.wait(5)
    host.becomes_ready()

    assert host.state.ready
    assert kept(host) == []


# Verdicts.


def said(word: Word, sentence: str = "") -> Verdict:
    return Verdict(word, 0.0, sentence)


def test_a_verdict_stands_until_the_next_one_with_its_last_sentence() -> None:
    times = VerdictTimes()
    for at_s, verdict in enumerate(
        (said("progressing"), said("quiet", "1 s"), said("quiet", "2 s"), said("stalled"))
    ):
        times.take(verdict, float(at_s))
    times.close(9.0)

    assert [(each.word, each.sentence, each.began_s, each.ended_s) for each in times.spans] == [
        ("progressing", "", 0.0, 1.0),
        ("quiet", "2 s", 1.0, 3.0),
        ("stalled", "", 3.0, 9.0),
    ]


def test_no_verdict_stands_while_nothing_can_tell_or_after_its_end() -> None:
    times = VerdictTimes()
    for at_s, verdict in enumerate((said("quiet"), None, None, said("quiet"))):
        times.take(verdict, float(at_s))
    times.close(4.0)
    times.close(50.0)

    assert [(each.began_s, each.ended_s) for each in times.spans] == [(0.0, 1.0), (3.0, 4.0)]


def test_verdicts_that_go_to_and_fro_are_bounded() -> None:
    times = VerdictTimes()
    for at_s in range(3 * SPANS):
        times.take(said("quiet" if at_s % 2 else "progressing"), float(at_s))

    assert len(times.spans) == SPANS
    assert (times.spans[0].began_s, times.spans[-1].began_s) == (0.0, 3.0 * SPANS - 1)
