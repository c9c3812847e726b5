"""A log that was written before the watch, beside a port: it tells of the past, and when is not known."""

import msgspec
import pytest
from watched_host import Watch, WatchedHost

from tui.engines.phase import Phase
from tui.present.header import header
from tui.present.phases import phase_panel

LINES = (
    "(APIServer pid=100) INFO 10-20 12:00:20 [api_server.py:1839] vLLM API server version 0.11.0",
    "(EngineCore_DP0 pid=200) INFO 10-20 12:00:27 [gpu_model_runner.py:2602] Starting to load model /m/q...",
    "(APIServer pid=100) INFO 10-20 12:00:40 [api_server.py:1912] Starting vLLM API server 0 on http://[::]:1",
)


@pytest.fixture
def host(watched: Watch) -> WatchedHost:
    """A host without Python whose port and log are named; the log was written long before."""
    host = watched(url="http://127.0.0.1:30000")
    host.hello()
    assert host.state.hello is not None
    host.state.hello = msgspec.structs.replace(host.state.hello, python="")
    host.log_source("open")
    host.log(behind_bytes=1000)
    host.log(*LINES)
    return host


def test_phases_of_a_server_that_was_ready_before_have_no_times(host: WatchedHost) -> None:
    host.wait(1)
    host.becomes_ready()
    cells = phase_panel(host.state, host.now).cells
    assert host.state.ready
    assert [(cell.name, cell.time) for cell in cells[:3]] == [
        ("launch", ""),
        ("weights", ""),
        ("API start", ""),
    ]
    assert "T+" not in header(host.state, host.now).clock


def test_with_a_port_that_refuses_no_load_is_under_way(host: WatchedHost) -> None:
    host.refuses()
    host.wait(4)
    assert (host.state.phase, host.state.phases) == (None, [])
    assert header(host.state, host.now).phase == "waiting"
    assert phase_panel(host.state, host.now).cells == ()


def test_once_a_line_comes_the_log_tells_where_the_load_is(host: WatchedHost) -> None:
    host.refuses()
    host.wait(4)
    host.log("(APIServer pid=100) INFO:     Waiting for application startup.")
    assert host.state.phase is Phase.START_API
    assert host.state.phase_since_s is None


def test_a_start_before_our_eyes_begins_anew(host: WatchedHost) -> None:
    host.refuses()
    host.wait(4)
    host.log(LINES[0])
    host.wait(3)
    host.log(LINES[1])
    host.wait(2)
    assert [(span.phase, span.seconds(host.mono)) for span in host.state.phases] == [
        (Phase.LAUNCH, 3),
        (Phase.WEIGHTS, 2),
    ]
