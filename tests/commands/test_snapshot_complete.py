"""When one snapshot has heard everything there is to hear."""

from watched_host import Watch, WatchedHost

from tui.commands.once import encoded
from tui.commands.snapshot import complete, snapshot
from tui.events import Tick
from tui.signals import ProcessSignals, Signals


def loaded(watched: Watch, **options: object) -> WatchedHost:
    host = watched(**options)
    host.hello()
    host.driver("absent", "no driver")
    host.starts()
    return host


def is_judged(host: WatchedHost) -> None:
    """Let the seconds go by after which a server of which nothing moves is called quiet."""
    assert not complete(host.state)
    for _ in range(7):
        host.wait(1.0)
        host.happen(Tick(**host.when))


def test_a_snapshot_waits_for_every_rung_above_a_good_health_answer(watched: Watch) -> None:
    host = loaded(watched)
    host.probe("port", "ok")
    host.probe("health", "ok", latency_ms=1002.0)
    assert not complete(host.state)
    host.probe("models", "ok", models=[host.state.expected_model or "any"])
    assert not complete(host.state)
    host.probe("token", "ok", model=host.state.expected_model)
    assert complete(host.state)


def test_a_snapshot_ends_at_the_first_rung_that_is_not_reached(watched: Watch) -> None:
    host = loaded(watched)
    host.probe("port", "ok")
    host.probe("health", "status", status=503)
    is_judged(host)
    assert complete(host.state)


def test_a_refused_port_is_answer_enough(watched: Watch) -> None:
    host = loaded(watched)
    assert not complete(host.state)
    host.refuses()
    is_judged(host)
    assert complete(host.state)


def test_only_the_rung_that_counts_is_waited_for(watched: Watch) -> None:
    host = loaded(watched, ready_on="health")
    host.probe("port", "ok")
    host.probe("health", "ok")
    assert complete(host.state)


def in_state(host: WatchedHost, state: str) -> None:
    """Read the server's process once."""
    host.wait(1.0)
    read = ProcessSignals(pid=100, state=state, cpu_s=host.now, minor_faults=1, major_faults=0, wakeups=1)
    host.happen(Signals(**host.when, processes=[read], compilers=[], cost_ms=0.1))


def test_a_snapshot_waits_until_a_stop_counts_and_tells_it_in_seconds_from_now(watched: Watch) -> None:
    host = loaded(watched)
    host.refuses()
    in_state(host, "R")
    in_state(host, "T")
    in_state(host, "T")
    assert not complete(host.state)
    in_state(host, "T")
    in_state(host, "T")
    assert complete(host.state)

    seen = snapshot(host.state, host.now)
    assert (seen.verdict, seen.judgement is not None) == ("suspended", True)
    assert seen.judgement is not None
    assert (seen.judgement.since, seen.judgement.pid) == (-3.0, 100)
    assert seen.judgement.next_step == "kill -CONT 100"


def test_a_snapshot_tells_progress_estimate_and_ranks_that_lag(watched: Watch) -> None:
    host = loaded(watched)
    begin = "[2026-11-29 13:48:34 TP{}] Load weight begin. avail mem=9 GB"
    host.log(begin.format(0), begin.format(1))
    for done in range(1, 5):
        host.wait(2)
        host.log(f"Multi-thread loading shards:  {done * 10}% Completed | {done}/10 [00:02<00:09,  2.0s/it]")
    host.log("[2026-11-29 13:48:44 TP0] Load weight end. elapsed=8.75 s, type=Qwen3, avail mem=1 GB")
    seen = snapshot(host.state, host.now)
    assert (seen.phase, seen.lagging_ranks) == ("weights", ["TP1"])
    assert seen.progress is not None
    assert (seen.progress.done, seen.progress.total, seen.progress.unit) == (4, 10, "shards")
    assert seen.estimate is not None
    assert (seen.estimate.remaining_s, seen.estimate.of_phase) == (12.0, True)


def test_what_nothing_tells_of_is_left_out_of_a_snapshot(watched: Watch) -> None:
    host = loaded(watched)
    assert '"progress"' not in encoded(snapshot(host.state, host.now))
    assert '"estimate"' not in encoded(snapshot(host.state, host.now))
