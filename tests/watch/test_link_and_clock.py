"""The link, the host's clock, notices and gaps."""

from watched_host import BOOTED_S, Watch

from tui.events import Dropped, Pong
from tui.watch.clock import SourceClock


def test_the_hosts_time_runs_on_between_events(watched: Watch) -> None:
    host = watched()
    assert host.state.source_now(0.0) is None
    host.hello()
    assert host.state.source_now(7.5) == BOOTED_S + 7.5


def test_an_event_that_was_delayed_does_not_set_the_clock_back() -> None:
    clock = SourceClock()
    clock.take(1000.0, 0.0)
    clock.take(1001.0, 3.0)
    assert clock.source_s(3.0) == 1003.0


def test_a_clock_that_fell_behind_for_good_is_believed_after_a_while() -> None:
    clock = SourceClock()
    clock.take(1000.0, 0.0)
    for second in range(1, 13):
        clock.take(995.0 + second, float(second))
    assert clock.source_s(12.0) == 1007.0


def test_an_event_that_tells_of_the_past_does_not_set_the_clock() -> None:
    clock = SourceClock()
    clock.take(1000.0, 0.0)
    clock.take(1011.0, 11.0)
    clock.take(400.0, 30.0)
    assert clock.source_s(30.0) == 1030.0


def test_another_boot_starts_the_clock_anew(watched: Watch) -> None:
    host = watched()
    host.hello()
    host.wait(5)
    host.now += 0.0
    host.happen(Pong(mono_s=50_000.0, wall_s=1.0, client_s=5.0, sent_s=5.0))
    assert host.state.source_now(5.0) == 50_000.0
    host.hello(boot_id="b2")
    assert host.state.source_now(5.0) == BOOTED_S + 5.0


def test_what_the_client_made_does_not_set_the_hosts_clock(watched: Watch) -> None:
    host = watched()
    host.link("connecting")
    assert host.state.source_now(1.0) is None


def test_a_lost_link_makes_what_is_shown_old(watched: Watch) -> None:
    host = watched()
    host.link("connecting")
    assert host.state.link.stale_s(host.now) is None
    host.hello()
    assert host.state.link.stale_s(host.now) is None
    host.wait(3)
    host.link("lost", "the link to gpu01 was lost; trying again in 1 s")
    host.wait(4)
    assert host.state.link.stale_s(host.now) == 7
    host.hello()
    assert host.state.link.stale_s(host.now) is None


def test_a_link_that_never_was_up_is_not_stale(watched: Watch) -> None:
    host = watched()
    host.link("failed", "gpu01: no such host", fault="dns")
    assert host.state.link.stale_s(host.now) is None
    assert host.state.link.fault == "dns"


def test_a_gap_is_a_line_of_the_log(watched: Watch) -> None:
    host = watched()
    host.starts()
    host.log("a")
    host.gap("the log was truncated: 12 bytes are lost")
    assert host.state.log.lines[-1].text == "[the log was truncated: 12 bytes are lost]"
    assert host.state.log.lines[-1].level == "warning"


def test_only_the_newest_notices_are_kept(watched: Watch) -> None:
    host = watched()
    for number in range(60):
        host.notice(str(number))
    assert len(host.state.notices) == 50
    assert host.state.notices[-1].sentence == "59"


def test_dropped_samples_are_counted(watched: Watch) -> None:
    host = watched()
    for _ in range(2):
        host.happen(Dropped(**host.when, samples=3))
    assert host.state.dropped == 6
