"""What stays in the terminal, the title, and how durations are written."""

import pytest
from watched_host import Watch, WatchedHost

from tui import present
from tui.watch.verdict.verdict import Verdict

OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 160.00 MiB."


def summary(host: WatchedHost) -> list[str]:
    return present.exit_summary(host.state, host.now)


def test_the_exit_summary_has_six_lines_at_most(host: WatchedHost) -> None:
    host.loads_to_capture()
    host.exits()
    host.wait(5)
    host.starts(pid=200)
    host.refuses()
    host.gpus(61_486.0, 61_486.0)
    host.wait(30)
    host.becomes_ready()
    host.bench_result()
    assert summary(host) == [
        "tminus: gpu01: SGLang TP2 · qwen · pid 200, port 30000",
        "phases: launch 0:30, API start 0:00",
        "ready 0:30 after the start",
        "peak GPU memory: 2 GPUs 60.0 GiB each",
        "benchmark: 841.3 output tokens/s, 64 of 64 requests, TTFT p50 57.00 ms",
        "before it: the server (pid 100) ended in capture, 2:05 after its start",
    ]


def test_the_exit_summary_of_a_load_under_way_says_where_it_stood(host: WatchedHost) -> None:
    host.loads_to_capture()
    host.gpus(61_486.0, 700.0)
    assert summary(host)[1:] == [
        "phases: launch 0:38, weights 0:20, capture 1:07",
        "not ready at T+ 2:05: port: connection refused",
        "peak GPU memory: 0: 60.0, 1: 0.7 GiB",
    ]


def test_the_exit_summary_of_a_failure_gives_the_reason(host: WatchedHost) -> None:
    host.loads_to_capture()
    host.log(OOM)
    host.exits()
    assert f"failed: the server (pid 100) ended in capture, 2:05 after its start: {OOM}" in summary(host)


def test_a_load_that_is_stuck_is_said_to_be_with_what_to_do(
    host: WatchedHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    host.loads_to_capture()
    stuck = Verdict("suspended", host.mono, "suspended in capture: TP1 is stopped", next_step="kill -CONT 9")
    monkeypatch.setattr(type(host.state), "judged", stuck)
    assert "not ready at T+ 2:05: suspended in capture: TP1 is stopped (next: kill -CONT 9)" in summary(host)
    assert present.title(host.state) == "SUSPENDED · qwen · gpu01"


def test_a_host_that_has_not_answered_yet_is_named_and_a_recording_has_no_host_to_reach(
    watched: Watch,
) -> None:
    host = watched()
    host.link("connecting", "connecting")
    assert present.exit_summary(host.state, host.now, "gpu7") == ["tminus: gpu7: it had not answered yet"]
    host.link("failed", "gpu7 port 22 refused the connection")
    assert present.exit_summary(host.state, host.now, "gpu7") == [
        "tminus: gpu7 port 22 refused the connection"
    ]
    assert present.exit_summary(host.state, host.now, unheard="nothing was played") == [
        "tminus: nothing was played"
    ]


def test_the_exit_summary_without_a_server_says_so(host: WatchedHost) -> None:
    assert summary(host) == ["tminus: gpu01: no server yet: waiting for SGLang, vLLM or llama.cpp to start"]


@pytest.mark.parametrize(
    ("seconds", "clock", "age"),
    [
        (7.9, "0:07", "7 s"),
        (187, "3:07", "3 min"),
        (3723, "1:02:03", "1 h 2 min"),
        (7200, "2:00:00", "2 h"),
        (183_845, "2 d 3:04:05", "2 d"),
        (-3, "0:00", "0 s"),
    ],
)
def test_durations_and_ages_are_written_alike_everywhere(seconds: float, clock: str, age: str) -> None:
    assert present.clock_text(seconds) == clock
    assert present.age_text(seconds) == age


def test_the_title_says_the_most_important_thing_first(host: WatchedHost) -> None:
    assert present.title(host.state) == "no server · gpu01"
    host.loads_to_capture()
    assert present.title(host.state) == "capture · qwen · gpu01"
    host.becomes_ready()
    assert present.title(host.state) == "READY · qwen · gpu01"
    host.exits()
    assert present.title(host.state) == "FAILED · qwen · gpu01"
