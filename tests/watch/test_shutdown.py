"""A server that is shut down: its parts go before it does, and none of them has failed."""

from watched_host import WatchedHost, process

from tui.watch.options import WatchOptions

LAUNCHER = "python3 -m sglang.launch_server --model-path /models/qwen --served-model-name qwen"
DOWN = "[2026-11-29 14:49:24] INFO:     Shutting down"


def serving() -> WatchedHost:
    """Return a host whose server is ready and has a rank as a process of its own."""
    host = WatchedHost(WatchOptions())
    host.hello()
    host.processes(
        process(100, LAUNCHER, matched="sglang", started_s=host.mono),
        process(101, "sglang::scheduler", matched=None, ppid=100, started_s=host.mono),
    )
    host.log("server_args=ServerArgs(model_path='qwen')")
    host.refuses()
    host.wait(30)
    host.log("[2026-11-29 14:48:24] The server is fired up and ready to roll!")
    host.becomes_ready()
    host.wait(10)
    return host


def test_a_rank_that_goes_after_the_log_told_of_a_shutdown_is_not_mourned() -> None:
    host = serving()
    host.log(DOWN)
    host.wait(1)
    host.exits(101, main=False)

    assert host.state.verdict == "ready"
    assert host.state.lost is None
    assert [each for each in host.state.notices if each.level == "error"] == []


def test_a_rank_that_goes_before_is_dead_and_stays_so() -> None:
    host = serving()
    host.exits(101, main=False)
    host.wait(1)
    host.log(DOWN)
    host.wait(1)
    host.gpus(1000.0)

    assert host.state.verdict == "dead"
    assert host.state.judged is not None
    assert host.state.judged.pid == 101


def test_a_ready_server_that_is_stopped_is_judged_at_once_though_calm_ones_are_seldom() -> None:
    host = serving()
    told: list[tuple[float, str | None]] = []
    for second in range(12):
        host.wait(1)
        host.processes(
            process(100, LAUNCHER, matched="sglang", started_s=1000.0),
            process(
                101,
                "sglang::scheduler",
                matched=None,
                ppid=100,
                started_s=1000.0,
                state="T" if second >= 2 else "S",
            ),
        )
        told.append((second, host.state.verdict))
    assert [word for _, word in told] == ["ready"] * 5 + ["suspended"] * 7
