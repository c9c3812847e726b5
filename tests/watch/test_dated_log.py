"""A log whose lines come late but with their moments, as a container's runtime keeps it."""

from watched_host import BOOTED_S, Watch, WatchedHost, process

from tui.engines.phase import Phase
from tui.events import Log, LogSource

SGLANG = "python -m sglang.launch_server --model-path /models/m --port 30000"
LINES = {
    -300.0: "[2026-11-30 09:00:00] server_args=ServerArgs(model_path='m')",
    -280.0: "[2026-11-30 09:00:20 TP0] Load weight begin. avail mem=139.12 GB",
    -100.0: "[2026-11-30 09:03:20 TP0] Capture cuda graph begin. This can take up to several minutes.",
}


def reads(host: WatchedHost, at_s: float, *lines: str) -> None:
    """Take lines in that were written at a time of the client's clock."""
    host.happen(
        Log(
            mono_s=BOOTED_S + at_s, wall_s=1.8e9 + at_s, client_s=host.now, lines=list(lines), tail="",
            returns=[], path="docker logs vllm", device=0, inode=0, offset=1,
        )
    )  # fmt: skip


def taken_up_late(host: WatchedHost) -> None:
    """A server that has loaded for five minutes is found, and then its log."""
    host.hello()
    main = process(
        7, SGLANG, matched="sglang", started_s=BOOTED_S - 301.0, stdout="pipe:[1]", stderr="pipe:[1]"
    )
    host.processes(main)
    host.happen(
        LogSource(**host.when, path="docker logs vllm", state="open", sentence="reading docker logs vllm")
    )
    reads(host, host.now)
    for at_s, line in LINES.items():
        reads(host, at_s, line)


def test_phases_that_were_over_before_the_watch_have_their_times(watched: Watch) -> None:
    host = watched()
    taken_up_late(host)
    found = {span.phase: span.began_s for span in host.state.phases}

    assert found[Phase.WEIGHTS] == BOOTED_S - 280.0
    assert found[Phase.CAPTURE] == BOOTED_S - 100.0
    assert host.state.phase is Phase.CAPTURE


def test_old_lines_do_not_set_the_hosts_clock_back(watched: Watch) -> None:
    host = watched()
    taken_up_late(host)
    host.wait(30)
    reads(host, -50.0, "one more")

    assert host.state.source_now(30.0) == BOOTED_S + 30.0
