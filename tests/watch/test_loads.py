"""Loads one after another: phases with their times, ends with their reasons, and successors."""

import pytest
from watched_host import SGLANG, Watch, WatchedHost, process

from tui.engines.phase import Phase

OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 160.00 MiB."
VLLM = "vllm serve qwen --port 30000"


@pytest.fixture
def host(watched: Watch) -> WatchedHost:
    watched_host = watched()
    watched_host.hello()
    watched_host.processes()
    watched_host.wait(5)
    return watched_host


def load_to_capture(host: WatchedHost) -> None:
    host.starts()
    host.log("server_args=ServerArgs(model_path='qwen')")
    host.wait(38)
    host.log("[2026-11-29 13:48:34 TP0] Init torch distributed begin.")
    host.wait(2)
    host.log("[2026-11-29 13:48:34 TP0] Load weight begin. avail mem=9 GB")
    host.wait(18)
    host.log("[2026-11-29 13:48:34 TP0] Capture cuda graph begin. This can take up to several minutes.")
    host.wait(100)


def test_phases_have_their_times(host: WatchedHost) -> None:
    began = host.mono
    load_to_capture(host)
    assert host.state.phase is Phase.CAPTURE
    assert host.state.phase_since_s == began + 58
    seconds = [(span.phase, span.seconds(host.mono)) for span in host.state.phases]
    assert seconds == [
        (Phase.LAUNCH, 38),
        (Phase.DISTRIBUTED, 2),
        (Phase.WEIGHTS, 18),
        (Phase.CAPTURE, 100),
    ]
    past = [span.phase for span in host.state.past_phases]
    assert past == [Phase.LAUNCH, Phase.DISTRIBUTED, Phase.WEIGHTS]


def test_a_phase_that_the_log_says_took_longer_began_earlier(host: WatchedHost) -> None:
    load_to_capture(host)
    host.log("[2026-11-29 13:48:34 TP0] Capture cuda graph end. Time elapsed: 110.00 s. avail mem=9 GB")
    assert host.state.phase_since_s == host.mono - 110
    assert [span.seconds(host.mono) for span in host.state.phases] == [38, 2, 8, 110]


def test_a_line_that_begins_a_phase_is_marked(host: WatchedHost) -> None:
    load_to_capture(host)
    marks = [line.mark for line in host.state.log.lines]
    assert marks == [Phase.LAUNCH, Phase.DISTRIBUTED, Phase.WEIGHTS, Phase.CAPTURE]


def test_a_draft_model_takes_the_load_back_to_the_weights(host: WatchedHost) -> None:
    load_to_capture(host)
    host.log("[2026-11-29 13:48:34 TP0] Load weight begin. avail mem=9 GB")
    assert host.state.phase is Phase.WEIGHTS


def test_a_bar_that_is_not_finished_begins_its_phase(host: WatchedHost) -> None:
    host.starts()
    host.log(tail="Capturing batches (bs=256 avail_mem=12 GB):   0%|   | 0/36 [00:00<?, ?it/s]")
    assert host.state.phase is Phase.CAPTURE
    assert host.state.log_tail.startswith("Capturing batches (bs=256")


def test_phases_read_from_what_was_written_before_the_watch_have_no_times(host: WatchedHost) -> None:
    host.processes(process(100, SGLANG, matched="sglang", started_s=host.mono - 300))
    host.log("server_args={'model_path': 'q'}", "Load weight begin. avail mem=9 GB", behind_bytes=100_000)
    host.log("Capture cuda graph begin. This can")
    assert host.state.phase is Phase.CAPTURE
    assert host.state.phase_since_s is None
    assert host.state.log_last_activity_s is None
    host.wait(10)
    host.log("max_total_num_tokens=1, max_prefill_tokens=2, max_running_requests=3")
    assert host.state.phase_since_s == host.mono
    assert [span.seconds(host.mono) for span in host.state.past_phases] == [None, None, None]


def test_a_process_that_is_gone_has_failed_with_the_line_that_says_why(host: WatchedHost) -> None:
    load_to_capture(host)
    host.log("[2026-11-29 13:48:34 TP0] Scheduler hit an exception: Traceback (most recent call last):", OOM)
    host.exits()
    assert host.state.outcome == "failed"
    assert host.state.fault == "died"
    assert host.state.phase is Phase.CAPTURE
    assert host.state.reason == f"the server (pid 100) ended in capture, 2:38 after its start: {OOM}"
    end = host.state.last_end
    assert end is not None
    assert end.quote is not None
    assert host.state.log.lines[end.quote.number - 1].text == OOM
    assert (end.lasted_s, end.was_ready) == (158, False)
    assert host.state.target is None
    assert host.state.alerts == 1


def test_a_cause_outweighs_what_only_reports_the_end(host: WatchedHost) -> None:
    host.starts()
    host.log(
        "[2026-11-29 13:48:34] Received sigquit from a child process. It usually means the child failed.", OOM
    )
    host.exits()
    assert host.state.reason.endswith(OOM)


def test_the_last_lines_may_come_after_the_end(host: WatchedHost) -> None:
    load_to_capture(host)
    host.exits()
    assert OOM not in host.state.reason
    host.wait(0.2)
    host.log(OOM)
    assert host.state.reason.endswith(OOM)
    assert host.state.last_end is not None
    assert host.state.last_end.at_s == host.mono - 0.2


def test_a_process_missing_from_the_list_is_gone_as_well(host: WatchedHost) -> None:
    host.starts()
    host.wait(2)
    host.processes()
    assert host.state.outcome == "failed"
    assert host.state.reason == "the server (pid 100) ended in launch, 0:02 after its start"


def test_a_process_that_the_list_had_missed_is_followed_on(host: WatchedHost) -> None:
    server = host.starts()
    host.processes()
    host.processes(server)
    assert host.state.outcome is None
    assert host.state.target is not None
    assert host.state.phase is Phase.LAUNCH


def test_a_list_made_before_the_exit_does_not_bring_the_server_back(host: WatchedHost) -> None:
    server = host.starts()
    host.exits()
    host.processes(server)
    assert host.state.outcome == "failed"
    assert host.state.target is None
    host.processes()
    assert host.state.alerts == 1


def test_another_agent_may_date_the_same_server_a_little_off(host: WatchedHost) -> None:
    host.starts()
    wanted = host.state.wanted
    started = host.state.started_s
    assert started is not None
    host.wait(10)
    host.hello()
    host.processes(process(100, SGLANG, matched="sglang", started_s=started + 0.01))
    assert host.state.outcome is None
    assert host.state.loads == 1
    assert host.state.wanted == wanted


def test_after_a_reboot_of_the_host_the_next_server_is_taken_up(host: WatchedHost) -> None:
    host.wait(5000)
    host.starts()
    host.refuses()
    host.wait(60)
    host.now -= 5000  # the host's clock begins again
    host.hello(boot_id="b2")
    assert host.state.last_end is not None
    assert host.state.last_end.lasted_s == 0
    assert "was restarted" in host.state.notices[-1].sentence
    host.processes()
    assert host.state.target is None
    host.starts(pid=100)
    assert host.state.target is not None
    assert host.state.outcome is None


def test_a_server_that_dies_while_serving_says_so(host: WatchedHost) -> None:
    host.starts()
    host.refuses()
    host.becomes_ready()
    host.wait(60)
    host.exits(code=-9)
    assert host.state.reason == "the server (pid 100) ended while ready, 1:00 after its start (exit code -9)"
    assert host.state.last_end is not None
    assert host.state.last_end.was_ready
    assert not host.state.ready
    assert host.state.alerts == 2


@pytest.mark.parametrize(
    ("argv", "matched", "line"),
    [
        (
            SGLANG,
            "sglang",
            "[2026-11-29 13:48:34] SIGTERM received. signum=None frame=None. Draining requests and shutting",
        ),
        (VLLM, "vllm", "INFO 11-29 14:49:24 [launcher.py:1] [shutdown] API server: shutdown triggered"),
        (VLLM, "vllm", "INFO:     Shutting down"),
        ("llama-server -m q", "llamacpp", "0.20.877.311 I srv    operator(): cleaning up before exit..."),
    ],
)
def test_a_clean_shutdown_is_told_from_a_death(host: WatchedHost, argv: str, matched: str, line: str) -> None:
    host.starts(argv=argv, matched=matched)
    host.log(line, "ERROR 11-29 14:03:49 [async_llm.py:906] vllm.v1.engine.exceptions.EngineDeadError: x")
    host.exits()
    assert host.state.outcome == "failed"
    assert host.state.fault == "shut_down"
    assert "was shut down" in host.state.reason


def test_a_shutdown_after_a_fatal_error_is_a_death(host: WatchedHost) -> None:
    host.starts(argv=VLLM, matched="vllm")
    host.log("(EngineCore pid=1) ERROR 11-29 14:09:53 [core.py:1] EngineCore encountered a fatal error.")
    host.log("INFO:     Shutting down")
    host.exits(code=0)
    assert host.state.fault == "died"


def test_a_rank_that_is_gone_is_noted_and_the_load_goes_on(host: WatchedHost) -> None:
    main = process(100, SGLANG, matched="sglang", started_s=host.mono)
    rank = process(102, "sglang::scheduler_TP1", matched="sglang", ppid=100, started_s=host.mono)
    host.processes(main, rank)
    host.exits(102, main=False)
    assert host.state.outcome is None
    assert host.state.notices[-1].sentence == "rank TP1 (pid 102) is gone"


def test_the_next_server_is_taken_up_by_itself_and_everything_begins_anew(host: WatchedHost) -> None:
    load_to_capture(host)
    host.refuses()
    host.log(OOM)
    host.exits()
    first = host.state.last_end
    host.wait(30)
    assert host.state.outcome == "failed"
    host.starts(pid=200)
    assert host.state.outcome is None
    assert host.state.started_s == host.mono
    assert host.state.phase is Phase.LAUNCH
    assert host.state.attempts == 0
    assert host.state.last_end == first
    assert host.state.wanted is not None
    assert host.state.wanted.pid == 200
    assert host.state.loads == 2
    assert host.state.log.lines[-1].text == "[pid 200 (SGLang, port 30000, qwen) is followed from here]"
    host.refuses()
    host.wait(7)
    host.becomes_ready()
    assert host.state.ready
    assert host.state.phases[0].seconds(host.mono) == 7


def test_lines_of_the_successor_are_left_to_be_read_with_it(host: WatchedHost) -> None:
    host.starts()
    host.exits()
    host.log(
        "nanobind: leaked 4 instances!", "server_args=ServerArgs(model_path='qwen')", "Load weight begin."
    )
    host.log("Load weight end.")
    assert [line.text for line in host.state.log.lines] == ["nanobind: leaked 4 instances!"]
    host.wait(1)
    host.starts(pid=200)
    host.log("server_args=ServerArgs(model_path='qwen')")
    assert host.state.log.lines[-1].text == "server_args=ServerArgs(model_path='qwen')"


def test_a_server_that_ran_beside_the_ended_one_is_not_its_successor(watched: Watch) -> None:
    host = watched(pid=100)
    other = process(50, "vllm serve q", matched="vllm", started_s=host.mono - 100)
    main = process(100, SGLANG, matched="sglang", started_s=host.mono)
    host.processes(other, main)
    assert host.state.target is not None
    host.exits()
    host.processes(other)
    assert host.state.target is None
    assert host.state.outcome == "failed"


def test_a_dead_servers_port_is_no_news(host: WatchedHost) -> None:
    host.starts()
    host.refuses()
    host.exits()
    before = host.state.ladder
    host.refuses()
    assert host.state.ladder == before


def test_a_benchmark_on_ready_is_armed_for_each_load(watched: Watch) -> None:
    host = watched(bench_on_ready=True)
    host.starts()
    host.becomes_ready()
    host.state.bench.started("r1")
    host.exits()
    host.wait(1)
    host.starts(pid=200)
    assert host.state.bench.armed


# A URL alone.


@pytest.fixture
def url(watched: Watch) -> WatchedHost:
    return watched(url="http://127.0.0.1:30000")


def test_a_url_that_refuses_from_the_first_is_waited_for(url: WatchedHost) -> None:
    for _ in range(30):
        url.refuses()
        url.wait(1)
    assert url.state.outcome is None
    assert url.state.url_alone
    assert url.state.started_s is None
    assert url.state.phase is None


def test_a_url_that_had_answered_has_failed_after_ten_seconds_of_refusal(url: WatchedHost) -> None:
    url.probe("port")
    url.becomes_ready()
    assert url.state.ready
    url.wait(1)
    url.refuses()
    url.wait(9.9)
    url.refuses()
    assert url.state.outcome == "ready"
    url.wait(0.1)
    url.refuses()
    assert url.state.outcome == "failed"
    assert url.state.fault == "refused"
    assert url.state.reason == "the server refused connections for 10 s after it had answered"


def test_a_url_that_refuses_now_and_then_has_not_failed(url: WatchedHost) -> None:
    url.probe("port")
    for _ in range(10):
        url.refuses()
        url.wait(6)
        url.probe("port")
        url.wait(1)
    assert url.state.outcome is None


def test_a_url_that_answers_again_is_a_new_load(url: WatchedHost) -> None:
    url.becomes_ready()
    url.refuses()
    url.wait(10)
    url.refuses()
    assert url.state.outcome == "failed"
    url.refuses()
    assert url.state.outcome == "failed"
    url.becomes_ready()
    assert url.state.ready
    assert url.state.loads == 2
    assert url.state.last_end is not None
    assert url.state.last_end.fault == "refused"


def test_the_http_header_gives_the_engine_of_a_url_away(url: WatchedHost) -> None:
    url.probe("health", "status", "503 Loading model", status=503, server="llama.cpp")
    assert url.state.engine is not None
    assert url.state.engine.title == "llama.cpp"
    assert url.state.phase is Phase.WEIGHTS


def test_t_plus_counts_from_the_start_of_the_server_and_else_from_the_start_of_the_watch(
    watched: Watch,
) -> None:
    host = watched()
    assert host.state.origin_s is None
    host.hello()
    host.processes(process(100, SGLANG, matched="sglang", started_s=host.mono - 40.0))
    assert (host.state.origin_s, host.state.began_s) == (host.mono - 40.0, host.mono)
    alone = watched(url="http://127.0.0.1:30000")
    alone.hello(host="127.0.0.1", protocol=0)
    alone.refuses()
    assert alone.state.origin_s is not None
    assert (alone.state.origin_s, alone.state.started_s) == (alone.state.began_s, None)
