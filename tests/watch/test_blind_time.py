"""A link that was lost or fell silent: what is shown is old, blind time is said, and late lines are dated."""

import pytest
from watched_host import BOOTED_S, Watch, WatchedHost

from tui.engines.phase import Phase
from tui.events import Pong
from tui.watch.link import STALE_S

STAMP = "[2026-11-29 15:{:02}:{:02} TP0] {}"
FIRED_UP = "The server is fired up and ready to roll!"


def stamped(host_s: float, text: str) -> str:
    """Return a line of SGLang's log as of a time of the host; its clock showed 15:00:00 at 0."""
    return STAMP.format(int(host_s) // 60, int(host_s) % 60, text)


def beats(host: WatchedHost, seconds: int = 1) -> None:
    """The agent answers a ping each second."""
    for _ in range(seconds):
        host.happen(Pong(**host.when, sent_s=host.now))
        host.wait(1)


@pytest.fixture
def host(watched: Watch) -> WatchedHost:
    """A server whose log is read as it is written, and whose port does not answer yet."""
    host = watched()
    host.hello()
    beats(host)
    host.starts()
    host.log_source("open")
    host.log(stamped(host.now, "Load weight begin. avail mem=138.42 GB"))
    host.probe("port", "refused")
    host.probe("health", "refused")
    beats(host, 10)
    return host


def lose(host: WatchedHost, seconds: float) -> None:
    """Lose the link, and have it again after so long."""
    host.link("lost", "the link was lost")
    host.wait(seconds)
    host.hello()


def test_a_link_that_is_up_and_silent_is_stale_after_three_seconds(host: WatchedHost) -> None:
    host.happen(Pong(**host.when, sent_s=host.now))
    host.wait(STALE_S)
    assert host.state.link.stale_s(host.now) is None
    host.wait(0.5)
    assert host.state.link.stale_s(host.now) == STALE_S + 0.5
    beats(host)
    assert host.state.link.stale_s(host.now) is None


def test_who_never_answered_a_ping_owes_no_sign_of_life(watched: Watch) -> None:
    host = watched()
    host.hello(protocol=0)
    host.wait(60)
    assert host.state.link.stale_s(host.now) is None


def test_blind_time_is_a_line_of_the_log_where_that_goes_on(host: WatchedHost) -> None:
    lose(host, 42)
    host.log("next")
    texts = [line.text for line in host.state.log.lines]
    assert texts[-2:] == ["[nothing was heard from the host for 0:43]", "next"]
    assert host.state.log.lines[-2].level == "warning"


def test_silence_without_a_loss_is_blind_time_too_and_told_once(host: WatchedHost) -> None:
    host.wait(20)
    beats(host, 5)
    assert [line.text for line in host.state.log.lines if line.text.startswith("[nothing")] == [
        "[nothing was heard from the host for 0:21]"
    ]


def test_a_host_that_is_heard_each_second_has_no_blind_time(host: WatchedHost) -> None:
    beats(host, 30)
    assert not any(line.text.startswith("[nothing") for line in host.state.log.lines)


def test_phases_that_passed_meanwhile_are_dated_by_the_log(host: WatchedHost) -> None:
    lost_s = host.now
    lose(host, 100)
    host.log(stamped(lost_s + 40, "Capture cuda graph begin. This can take up to several minutes."))
    assert host.state.phase is Phase.CAPTURE
    since_s = host.state.phase_since_s
    assert since_s is not None
    assert since_s == pytest.approx(BOOTED_S + lost_s + 40, abs=1.0)


def test_readiness_that_came_meanwhile_is_dated_by_the_log_not_by_the_reconnect(host: WatchedHost) -> None:
    lost_s = host.now
    lose(host, 100)
    host.log(stamped(lost_s + 40, FIRED_UP))
    host.becomes_ready()
    assert host.state.ready_s == pytest.approx(BOOTED_S + lost_s + 40, abs=1.0)
    assert host.state.ready_known


def test_it_is_so_too_where_the_port_answers_before_the_log_is_read_on(host: WatchedHost) -> None:
    lost_s = host.now
    lose(host, 100)
    host.becomes_ready()
    assert not host.state.ready_known
    host.wait(2)
    host.log(stamped(lost_s + 40, FIRED_UP), behind_bytes=5000)
    assert host.state.ready_s == pytest.approx(BOOTED_S + lost_s + 40, abs=1.0)
    assert host.state.ready_known
    assert host.state.phase_since_s == host.state.ready_s


def test_a_log_without_times_leaves_it_at_by_then(host: WatchedHost) -> None:
    lose(host, 100)
    host.log(FIRED_UP)
    host.becomes_ready()
    assert host.state.ready_s == host.mono
    assert not host.state.ready_known
    course = host.state.course
    assert course is not None
    assert course.ready_s is None


def test_readiness_after_the_reconnect_is_dated_as_it_is_seen(host: WatchedHost) -> None:
    lose(host, 100)
    host.probe("port", "refused")
    host.probe("token", "refused")
    host.wait(5)
    host.becomes_ready()
    assert host.state.ready_s == host.mono
    assert host.state.ready_known


def test_a_link_that_is_lost_after_ready_leaves_what_was_known_of_it(host: WatchedHost) -> None:
    host.becomes_ready()
    ready_s = host.state.ready_s
    lose(host, 20)
    host.log(stamped(host.now, FIRED_UP))
    host.becomes_ready()
    assert host.state.ready_s == ready_s
    assert host.state.ready_known


def test_a_server_that_was_ready_before_it_was_looked_at_launched_for_nobody_knows_how_long(
    watched: Watch,
) -> None:
    host = watched()
    host.hello()
    host.starts()
    host.log_source("open")
    host.wait(1)
    host.becomes_ready()
    assert [span.phase for span in host.state.phases] == [Phase.READY]


def test_an_end_that_nobody_saw_is_dated_at_most(host: WatchedHost) -> None:
    lose(host, 20)
    host.processes()
    assert host.state.outcome == "failed"
    assert ", at most 0:3" in host.state.reason
    end = host.state.last_end
    assert end is not None
    assert 20 <= end.at_s - end.from_s < 22


def test_an_end_after_the_link_came_back_is_dated_as_it_was_seen(host: WatchedHost) -> None:
    lose(host, 20)
    again = host.state.servers[0].main
    host.processes(again)
    host.wait(5)
    host.processes()
    assert "at most" not in host.state.reason
