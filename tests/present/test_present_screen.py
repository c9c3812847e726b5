"""What the screen says of a watch."""

import pytest
from watched_host import SGLANG, Watch, WatchedHost, process

from tui import present
from widgets.values import GpuRow, LadderRung, Mood, ScreenValues

OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 160.00 MiB."


def values(host: WatchedHost) -> ScreenValues:
    return present.present(host.state, host.now)


def rung(host: WatchedHost, name: str) -> LadderRung:
    return next(rung for rung in values(host).ladder.rungs if rung.name == name)


def row(host: WatchedHost, index: int = 0) -> GpuRow:
    return values(host).gpus.rows[index]


# An idle host.


def test_an_idle_host_has_the_same_values_from_one_paint_to_the_next(host: WatchedHost) -> None:
    for _ in range(100):
        host.wait(1)
        host.gpus(615.0, 615.0)
    before = values(host)
    for _ in range(60):
        host.wait(1)
        host.gpus(615.2, 614.9, power=129.1)
        assert values(host) == before
    assert before.header.clock == ""
    assert before.header.phase == "no server"
    assert before.ladder.headline == "no server yet: waiting for SGLang, vLLM or llama.cpp to start"


def test_a_server_that_ended_leaves_no_running_clock(host: WatchedHost) -> None:
    host.loads_to_capture()
    host.exits()
    before = values(host)
    host.wait(3600)
    assert values(host) == before
    assert before.header.clock == "T+ 2:05"


def test_without_driver_and_server_both_are_said_with_what_else_there_is(watched: Watch) -> None:
    host = watched()
    host.hello()
    host.driver("absent", "no NVIDIA driver: libnvidia-ml.so.1 is not installed")
    host.processes()
    shown = values(host)
    assert shown.gpus.rows == ()
    assert shown.gpus.sentence == "no NVIDIA driver: libnvidia-ml.so.1 is not installed"
    assert "no server yet" in shown.ladder.headline
    assert "no NVIDIA driver and no server" in shown.status
    assert "`tminus demo`" in shown.status
    assert "`tminus HOST`" in shown.status
    host.wait(60)
    assert values(host) == shown


def test_before_the_host_is_heard_nothing_is_said_of_servers(watched: Watch) -> None:
    host = watched()
    host.link("connecting", "connecting to gpu01")
    shown = values(host)
    assert (shown.header.link, shown.header.phase, shown.ladder.headline) == ("connecting", "", "")
    assert shown.status == "connecting to gpu01"
    host.hello()
    assert values(host).ladder.headline == "looking for a server"


# The name of the host.


@pytest.mark.parametrize(
    ("typed", "own"),
    [
        ("gpu7", "gpu01"),
        ("10.0.0.7", "gpu01"),
        ("gpu01", ""),
        ("root@GPU01.lab.example.org", ""),
        ("ssh://me@gpu01:2222", ""),
        ("me@gate", "gpu01"),
    ],
)
def test_a_host_is_called_as_it_was_typed_and_its_own_name_is_told_where_it_differs(
    host: WatchedHost, typed: str, own: str
) -> None:
    shown = present.named(values(host).header, host.state, typed)
    assert (shown.host, shown.own) == (typed, own)


# A load.


def test_a_load_shows_its_clock_and_the_time_in_its_phase(host: WatchedHost) -> None:
    host.loads_to_capture()
    header = values(host).header
    assert (header.host, header.engine, header.model) == ("gpu01", "SGLang TP2", "qwen")
    assert (header.clock, header.phase, header.mood) == ("T+ 2:05", "capture 1:07", Mood.ACTIVE)
    host.wait(1)
    assert values(host).header.clock == "T+ 2:06"


def test_the_ladder_says_what_is_not_there_yet(host: WatchedHost) -> None:
    host.loads_to_capture()
    ladder = values(host).ladder
    assert ladder.headline == "not ready: port: connection refused"
    assert ladder.mood is Mood.WAITING
    assert [each.state for each in ladder.rungs] == [
        "alive",
        "waiting",
        "not asked",
        "not asked",
        "not asked",
    ]
    assert rung(host, "process").since == "T+ 0:00"
    port = rung(host, "port")
    assert (port.since, port.tries, port.latency) == ("T+ 0:00", 1, "1.0 ms")
    assert port.answer == "connection refused: loading, or gone"


def test_the_moment_of_a_rung_does_not_run_on(host: WatchedHost) -> None:
    host.loads_to_capture()
    before = values(host).ladder
    host.wait(30)
    assert values(host).ladder == before


def test_ready_is_said_with_its_time_and_the_clock_stands(host: WatchedHost) -> None:
    host.loads_to_capture()
    host.becomes_ready()
    host.wait(500)
    shown = values(host)
    assert (shown.header.clock, shown.header.phase, shown.header.mood) == ("T+ 2:05", "ready", Mood.GOOD)
    assert shown.ladder.headline == "ready 2:05 after the start: a token came back from qwen"
    assert shown.ladder.mood is Mood.GOOD
    assert shown.alerts == 1


def test_trouble_after_ready_is_said_beside_it(host: WatchedHost) -> None:
    host.loads_to_capture()
    host.becomes_ready()
    host.wait(10)
    host.probe("models", "timeout", "no answer in 10 s")
    assert values(host).ladder.headline == "ready 2:05 after the start, but now model: no answer in 10 s"


def test_a_server_found_ready_is_up_and_its_time_to_ready_is_not_invented(host: WatchedHost) -> None:
    host.starts()
    host.wait(7800)
    host.becomes_ready()
    shown = values(host)
    assert shown.header.clock == "up 2 h 10 min"
    assert shown.ladder.headline.startswith("ready since before the watch began: a token")
    assert "ready before the watch began" in present.exit_summary(host.state, host.now)


def test_rungs_above_the_one_asked_for_are_not_needed(watched: Watch) -> None:
    host = watched(ready_on="health")
    host.hello()
    host.starts()
    host.probe("health", status=200)
    assert rung(host, "first token").state == "not needed"
    assert values(host).ladder.headline.endswith(": health is ok")


def test_a_wrong_model_is_said_on_the_rung_in_the_headline_and_the_header(watched: Watch) -> None:
    host = watched(model="big")
    host.hello()
    host.starts()
    host.becomes_ready("small")
    shown = values(host)
    assert shown.header.phase == "wrong model"
    assert shown.ladder.headline == 'not ready: model: serves "small", expected "big"'
    assert rung(host, "model").state == "wrong model"
    assert rung(host, "model").mood is Mood.BAD
    assert present.title(host.state) == "wrong model · small · gpu01"


def test_a_failure_says_where_it_failed_and_why(host: WatchedHost) -> None:
    host.loads_to_capture()
    host.log(OOM)
    host.exits()
    shown = values(host)
    assert (shown.header.phase, shown.header.mood) == ("failed in capture", Mood.BAD)
    assert shown.ladder.headline == f"the server (pid 100) ended in capture, 2:05 after its start: {OOM}"
    assert rung(host, "process").state == "gone"
    assert (rung(host, "port").state, rung(host, "port").mood) == ("was waiting", Mood.IDLE)
    assert shown.alerts == 1


def test_a_clean_shutdown_is_no_alarm(host: WatchedHost) -> None:
    host.loads_to_capture()
    host.log("[2026-11-29 13:48:34] SIGTERM received. signum=None frame=None. Draining requests...")
    host.exits()
    shown = values(host)
    assert (shown.header.phase, shown.header.mood) == ("shut down", Mood.WARNING)
    assert shown.ladder.mood is Mood.WARNING
    assert "the server (pid 100) was shut down in capture, 2:05 after its start" in present.exit_summary(
        host.state, host.now
    )


def test_the_load_before_is_remembered_while_the_next_is_on(host: WatchedHost) -> None:
    host.loads_to_capture()
    host.exits()
    host.wait(5)
    host.starts(pid=200)
    host.wait(3)
    shown = values(host)
    assert shown.header.clock == "T+ 0:03"
    assert shown.status.startswith("before this load: the server (pid 100) ended in capture")


def test_several_servers_ask_for_a_choice(host: WatchedHost) -> None:
    host.processes(
        process(11, "vllm serve a", matched="vllm"), process(12, "vllm serve b --port 9", matched="vllm")
    )
    shown = values(host)
    assert shown.header.phase == "choose a server"
    assert "choose one with --pid or --port" in shown.ladder.headline
    assert "choose one with --pid or --port" in shown.status


def test_a_node_that_answers_no_requests_says_which_to_watch(host: WatchedHost) -> None:
    host.starts(argv=SGLANG + " --nnodes 2 --node-rank 1")
    assert "watch its first node" in values(host).ladder.headline


# The link.


def test_a_lost_link_shows_the_age_of_what_is_drawn(host: WatchedHost) -> None:
    host.loads_to_capture()
    host.gpus(615.0, 615.0)
    host.link("lost", "the link to gpu01 was lost; trying again in 1 s")
    host.wait(7)
    shown = values(host)
    assert shown.header.link == "stale 7 s"
    assert shown.status == "the link to gpu01 was lost; trying again in 1 s"
    assert all(each.stale for each in shown.gpus.rows)


def test_a_host_that_could_not_be_reached_is_said(watched: Watch) -> None:
    host = watched()
    host.link("failed", "gpu01: no such host", fault="dns")
    assert values(host).header.phase == "no link"
    assert values(host).status == "gpu01: no such host"
    assert present.exit_summary(host.state, host.now) == ["tminus: no host was reached"]


# GPUs.


def test_a_gpu_row_holds_figures_as_precise_as_they_are_drawn(host: WatchedHost) -> None:
    host.wait(1)
    host.gpus(61_486.4, 615.0, utilisation=9.4, power=129.6)
    first = row(host)
    assert (first.name, first.memory_used_mib, first.memory_total_mib) == ("H200", 61_486.0, 143_771.0)
    assert (first.utilisation_pct, first.power_w, first.power_limit_w) == (9.0, 130.0, 700.0)
    assert first.temperature_c == 41.0
    assert first.slope_gib_s == 59.44
    assert first.history == (0.0, 9.4)
    assert values(host).gpus.caption == "61 of 281 GiB · driver 580.159.04"


def test_a_value_that_is_not_known_stays_unknown(host: WatchedHost) -> None:
    host.gpus(None, 615.0, utilisation=None, power=None)
    first = row(host)
    assert (first.memory_used_mib, first.utilisation_pct, first.power_w) == (None, None, None)
    assert first.history[-1] is None


def test_a_lost_gpu_keeps_its_row(host: WatchedHost) -> None:
    host.gpus(None, None, state="lost")
    assert (row(host, 1).note, row(host, 1).mood) == ("lost", Mood.BAD)


def test_a_silent_driver_is_said_with_its_age_and_the_rows_are_old(host: WatchedHost) -> None:
    host.driver("silent", "the driver has not answered for 7 s", silent_s=7.2)
    assert values(host).gpus.alarm == "the driver has not answered for 7 s"
    assert row(host).stale
    host.driver("ok", "NVIDIA driver 580")
    assert values(host).gpus.alarm == ""


# The log.


def test_log_lines_have_the_mood_of_what_they_say(host: WatchedHost) -> None:
    host.starts()
    host.log("server_args=ServerArgs(", "plain", "[2026-11-29 13:48:34] WARNING x: y", OOM)
    lines = present.log_lines(host.state, 0)
    assert [(line.number, line.mood) for line in lines] == [
        (1, Mood.ACTIVE),
        (2, Mood.IDLE),
        (3, Mood.WARNING),
        (4, Mood.BAD),
    ]
    assert present.log_lines(host.state, 3) == lines[3:]


def test_the_log_pane_shows_path_arrears_and_the_unfinished_line(host: WatchedHost) -> None:
    host.starts()
    host.log_source("open")
    host.log("a", tail="Capturing batches", behind_bytes=13_000_000)
    assert values(host).log.title == "12 MiB behind · /srv/server.log"
    assert values(host).log.tail == "Capturing batches"


def test_a_log_that_cannot_be_read_says_why(host: WatchedHost) -> None:
    assert values(host).log.sentence == "no log: no server is followed yet"
    host.starts(stdout="/dev/pts/3", stderr="/dev/pts/3")
    assert "goes to a terminal (/dev/pts/3)" in values(host).log.sentence
    assert values(host).header.phase == "loading, no log"
    host.log_source("unreadable", "/srv/server.log: permission denied")
    assert values(host).log.sentence == "/srv/server.log: permission denied"


def test_a_url_alone_says_what_is_not_seen(watched: Watch) -> None:
    host = watched(url="http://127.0.0.1:30000")
    host.hello(host="127.0.0.1", protocol=0)
    host.refuses()
    host.wait(32)
    shown = values(host)
    assert "host's GPUs are not seen" in shown.gpus.sentence
    assert "log is not seen" in shown.log.sentence
    assert (shown.header.clock, shown.header.phase) == ("0:32", "waiting")


# The benchmark.


def test_the_benchmark_pane_says_what_runs_and_what_came_out(host: WatchedHost) -> None:
    host.starts()
    assert values(host).bench.headline == "no run yet: b arms it until ready"
    host.state.bench.arm()
    assert values(host).bench.headline == "armed: will fire when the server is ready; Esc disarms it"
    host.becomes_ready()
    host.state.bench.started("r1")
    assert values(host).bench.headline == "starting"
    host.bench_progress(16)
    running = values(host).bench
    assert running.headline == "measuring, 841.3 tok/s, 16 of 64 requests, 4 in flight"
    assert running.progress == 0.25
    host.bench_result()
    done = values(host).bench
    assert (done.headline, done.mood) == ("841.3 output tokens/s, 64 of 64 requests", Mood.GOOD)
    assert done.columns == ("mean", "p50", "p90", "p99")
    assert [each.name for each in done.rows] == ["TTFT ms", "ITL ms", "TPOT ms", "E2E ms"]
    assert done.rows[0].cells == ("58.04", "57.00", "61.20", "-")
    assert "6.57 requests/s, concurrency 15.80 of 16, 9.74 s" in done.notes


def test_failures_of_a_benchmark_are_counted_by_class(host: WatchedHost) -> None:
    host.bench_result(failed=2)
    assert values(host).bench.mood is Mood.WARNING
    assert "failed: timeout 2" in values(host).bench.warnings
    host.bench_result("cancelled")
    assert values(host).bench.headline == "cancelled: the server closed the connection"


def test_a_health_answer_is_said_with_what_it_means_for_the_engine(host: WatchedHost) -> None:
    host.loads_to_capture()
    host.probe("port")
    host.probe("health", "status", "503 Service Unavailable", status=503)
    answer = rung(host, "health").answer
    assert answer == "503 Service Unavailable: starting, stuck, or stopping"
    host.becomes_ready()
    assert rung(host, "health").answer == "200 OK: up"


def test_a_version_known_from_the_log_makes_the_meaning_sharper(
    host: WatchedHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    host.loads_to_capture()
    host.becomes_ready()
    monkeypatch.setattr(type(host.state), "engine_version", "0.5.14")
    assert rung(host, "health").answer == "200 OK: up and generating"


def test_what_the_server_says_itself_is_not_said_twice(host: WatchedHost) -> None:
    host.loads_to_capture()
    host.probe("health", "status", "503 Service Unavailable: Loading model", status=503)
    assert rung(host, "health").answer == "503 Service Unavailable: Loading model"


def test_a_conclusion_from_another_answer_has_no_meaning_of_its_own(host: WatchedHost) -> None:
    host.loads_to_capture()
    host.becomes_ready()
    host.refuses()
    assert rung(host, "health").answer == "port closed"
    assert rung(host, "port").answer.startswith("connection refused")
