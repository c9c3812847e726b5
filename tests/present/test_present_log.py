"""What the log pane says where there is no log, and of one that a container's runtime tells."""

from msgspec.structs import replace
from watched_host import WatchedHost

from tui.events import Log
from tui.present.log import log_panel


def test_without_python_a_log_has_to_be_named(host: WatchedHost) -> None:
    host.hello()
    assert host.state.hello is not None
    host.state.hello = replace(host.state.hello, python="")
    host.becomes_ready()
    assert "name it with --log PATH" in log_panel(host.state, host.now).sentence


def test_a_containers_log_says_how_old_its_lines_are_while_they_come(host: WatchedHost) -> None:
    host.starts()
    host.wait(100)
    for _ in range(4):
        host.wait(1)
        host.gpus(0.0)
        line = Log(**host.when, lines=["a"], tail="", returns=[], path="", device=0, inode=0, offset=2)
        host.happen(replace(line, mono_s=host.mono - 72))
    assert log_panel(host.state, host.now).title.startswith("1:12 behind")
    host.wait(10)
    assert "behind" not in log_panel(host.state, host.now).title
