"""How long the end of the load before is told in the status line, and that no link is said once."""

from watched_host import Watch, WatchedHost

from tui import present
from tui.events import Notice
from widgets.values import ScreenValues

EXCEPTION = "[2026-11-29 13:48:34 TP0] Scheduler hit an exception: Traceback (most recent call last):"
OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 160.00 MiB."


def values(host: WatchedHost) -> ScreenValues:
    return present.present(host.state, host.now)


def test_the_end_before_gives_way_to_what_is_newer(host: WatchedHost) -> None:
    host.loads_to_capture()
    host.exits()
    host.wait(5)
    host.starts(pid=200)
    host.wait(3)
    host.happen(Notice(**host.when, level="warning", about="gpus", sentence="a GPU has fallen off"))
    assert values(host).status == "a GPU has fallen off"


def test_the_end_before_gives_way_to_another_death(host: WatchedHost) -> None:
    host.loads_to_capture()
    host.exits()
    host.wait(5)
    host.starts(pid=200)
    host.log(EXCEPTION, OOM)
    assert values(host).header.phase == "failed by its log"
    assert "before this load" not in values(host).status


def test_the_end_before_is_no_news_for_ever(host: WatchedHost) -> None:
    host.loads_to_capture()
    host.exits()
    host.wait(5)
    host.starts(pid=200)
    host.wait(720)
    assert "before this load" not in values(host).status


def test_no_link_is_said_once_in_the_top_line(watched: Watch) -> None:
    host = watched()
    host.link("failed", "gpu-box refused the connection")
    top = values(host).header
    assert (top.link, top.phase) == ("", "no link")
