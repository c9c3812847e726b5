"""What the screen says of a link that is lost, silent or slow."""

from watched_host import WatchedHost

from tui import present
from tui.events import Pong
from widgets.values import ScreenValues


def values(host: WatchedHost) -> ScreenValues:
    return present.present(host.state, host.now)


def test_a_link_that_is_up_and_silent_is_stale_too(host: WatchedHost) -> None:
    host.hello()
    host.gpus(615.0, 615.0)
    host.happen(Pong(**host.when, sent_s=host.now))
    host.wait(3)
    assert not values(host).stale
    host.wait(2)
    shown = values(host)
    assert shown.header.link == "stale 5 s"
    assert shown.stale
    assert all(each.stale for each in shown.gpus.rows)


def test_readiness_that_came_unseen_is_told_as_by_then(host: WatchedHost) -> None:
    host.starts()
    host.refuses()
    host.link("lost", "the link was lost")
    host.wait(90)
    host.hello()
    host.becomes_ready()
    shown = values(host)
    assert shown.header.clock == "T+ under 1:30"
    assert shown.ladder.headline.startswith("ready at most 1:30 after the start")


def test_a_log_that_is_read_far_behind_says_how_far_and_what_to_press(host: WatchedHost) -> None:
    host.starts()
    host.log_source("open")
    host.log("a", behind_bytes=13_000_000)
    host.wait(40)
    host.log("b", behind_bytes=26_000_000)
    shown = values(host)
    assert shown.log.title == "25 MiB behind, at least 0:40: J jumps to its end · /srv/server.log"
    assert shown.status == "the log is read far behind its writing: J jumps to its end"
