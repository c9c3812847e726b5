"""``tminus explain --json``: the shape of the answer, and what stands in it for one file."""

from collections.abc import Callable
from typing import Any, cast

import pytest

Write = Callable[..., str]
Explain = Callable[..., dict[str, Any]]

TOP = [
    "engine", "version", "outcome", "phase", "phases", "ranks", "fault", "stop", "started", "silence",
    "figures", "steady", "earlier", "earlier_count", "files", "lines",
]  # fmt: skip


def times(report: dict[str, Any]) -> list[tuple[object, ...]]:
    """Return name, beginning, end and seconds of each phase."""
    return [(each["name"], each["began"], each["ended"], each["seconds"]) for each in report["phases"]]


def test_the_answer_has_these_keys_and_no_others(write: Write, explain: Explain, failed: str) -> None:
    report = explain(write(failed))

    assert list(report) == TOP
    assert list(report["phases"][0]) == ["name", "began", "ended", "seconds", "longest_silence_s", "progress"]
    assert list(report["ranks"][0]) == [
        "rank",
        "phase",
        "lags",
        "since",
        "global_rank",
        "local_rank",
        "pid",
        "file",
    ]
    assert list(report["fault"]) == ["kind", "line_number", "line", "cause", "next_step", "file"]
    assert list(report["files"][0]) == ["file", "lines", "start_line"]
    assert list(report["silence"]) == ["seconds", "phase", "after_line", "before_line", "file"]


def test_a_ready_load_has_its_phases_with_seconds_since_the_first_time(
    write: Write, explain: Explain, ready: str
) -> None:
    report = explain(write(ready))

    assert (report["engine"], report["outcome"], report["phase"]) == ("sglang", "ready", "ready")
    assert report["started"] == "2026-11-29T10:00:00"
    assert times(report) == [
        ("launch", 0.0, 10.0, 10.0),
        ("distributed", 10.0, 21.0, 11.0),
        ("weights", 21.0, 62.0, 41.0),
        ("kv_cache", 62.0, 64.0, 2.0),
        ("capture", 64.0, 80.0, 16.0),
        ("start_api", 80.0, 81.0, 1.0),
        ("warmup", 81.0, 85.0, 4.0),
        ("ready", 85.0, None, 0.0),
    ]
    assert report["fault"] is None
    assert [rank["lags"] for rank in report["ranks"]] == [False, False]
    assert report["figures"]["weights_gib"] == 70.0


def test_progress_and_silence_stand_in_their_phase(write: Write, explain: Explain, ready: str) -> None:
    weights = next(each for each in explain(write(ready))["phases"] if each["name"] == "weights")

    assert weights["progress"] == {"done": 4, "total": 4, "unit": "shards"}
    # The bar has no times, but a watch: 20 s passed between its first two drawings, 10 before its last.
    assert weights["longest_silence_s"] == 20.0


def test_a_bar_that_names_each_size_does_not_run_ahead_of_the_clock(
    write: Write, explain: Explain, load: str
) -> None:
    drawn = [
        f"Capturing batches (bs={1000 - size}):   0%|  | {size}/900 [00:01<02:00]\r" for size in range(60)
    ]
    end = "[2026-11-29 10:01:07 TP0] Capture cuda graph end. Time elapsed: 3.00 s. avail mem=26.00 GB\n"

    capture = explain(write(load + "".join(drawn) + "\n" + end))["phases"][-1]

    assert (capture["name"], capture["began"], capture["seconds"]) == ("capture", 64.0, 3.0)


def test_the_longest_silence_names_the_lines_around_it(write: Write, explain: Explain, ready: str) -> None:
    assert explain(write(ready))["silence"] == {
        "seconds": 20.0, "phase": "weights", "after_line": 8, "before_line": 9, "file": write(ready),
    }  # fmt: skip


def test_what_the_log_says_that_a_phase_took_counts_and_the_phase_before_ends_then(
    write: Write, explain: Explain, load: str
) -> None:
    until = load.index("[2026-11-29 10:01:04 TP0] Capture")
    end = "[2026-11-29 10:01:43 TP{}] Capture cuda graph end. Time elapsed: 30.20 s. avail mem=26.00 GB\n"
    report = explain(write(load[:until] + end.format(0) + end.format(1)))

    assert times(report)[-2:] == [("kv_cache", 62.0, 72.0, 10.0), ("capture", 72.0, None, 31.0)]
    assert [each["longest_silence_s"] for each in report["phases"]][-2:] == [9.0, 31.0]
    assert report["silence"] | {"file": ""} == {
        "seconds": 40.0, "phase": "capture", "after_line": 16, "before_line": 17, "file": "",
    }  # fmt: skip


def test_a_phase_that_the_log_spoke_of_later_is_not_cut_short(
    write: Write, explain: Explain, load: str
) -> None:
    until = load.index("[2026-11-29 10:01:04 TP0] Capture")
    end = "[2026-11-29 10:01:14 TP{}] Capture cuda graph end. Time elapsed: 500.00 s. avail mem=26.00 GB\n"
    report = explain(write(load[:until] + end.format(0) + end.format(1)))

    assert times(report)[-2:] == [("kv_cache", 62.0, 63.0, 1.0), ("capture", 63.0, None, 11.0)]


def test_less_than_a_second_proves_nothing_where_the_clock_shows_whole_ones(
    write: Write, explain: Explain, ready: str
) -> None:
    longer = ready.replace("Time elapsed: 10.00 s", "Time elapsed: 10.95 s")

    assert times(explain(write(longer))) == times(explain(write(ready)))


def test_an_excerpt_that_begins_in_a_phase_has_no_launch(write: Write, explain: Explain) -> None:
    head = "INFO 06-19 23:05:01 [x.py:1] something that no rule knows: 50 %\n"
    end = "INFO 06-19 23:05:06 [monitor.py:33] torch.compile takes 60.50 s in total\n"
    report = explain(write(head + end), "--engine=vllm")

    assert times(report) == [("compile", -56.0, None, 61.0)]


def test_a_launch_that_was_printed_stays_and_is_not_negative(write: Write, explain: Explain) -> None:
    head = "INFO 06-19 23:05:01 [api_server.py:1] vLLM API server version 0.9.0\n"
    end = "INFO 06-19 23:05:06 [monitor.py:33] torch.compile takes 60.50 s in total\n"
    report = explain(write(head + end))

    assert times(report) == [("launch", 0.0, 0.0, 0.0), ("compile", 0.0, None, 5.0)]


def test_a_failure_whose_line_has_no_time_has_no_end(write: Write, explain: Explain, load: str) -> None:
    error = (
        "Traceback (most recent call last):\n"
        '  File "/x/launch_server.py", line 1, in <module>\n'
        "ValueError: no such thing\n"
    )
    later = "[2026-11-29 10:20:00] something is cleaned up: 50 %\n"
    report = explain(write(load + error + later))

    assert report["outcome"] == "failed"
    assert times(report)[-1] == ("capture", 64.0, None, 0.0)

    soon = load.splitlines()[-1][:27] + "] something is cleaned up: 50 %\n"
    assert times(explain(write(load + error + soon)))[-1] == ("capture", 64.0, 64.0, 0.0)


def test_engine_cores_are_no_ranks_where_workers_have_spoken(write: Write, explain: Explain) -> None:
    head = "INFO 10-22 09:33:49 [x.py:1]"
    core = f"(EngineCore_DP0 pid=77) {head} GPU KV cache size: 162,704 tokens\n"
    workers = "".join(
        f"(Worker_TP{n} pid=7{n}) {head} Available KV cache memory: 11.17 GiB\n" for n in range(2)
    )

    assert [rank["rank"] for rank in explain(write(core + workers))["ranks"]] == ["TP0", "TP1"]
    assert [rank["rank"] for rank in explain(write(core * 3))["ranks"]] == ["DP0"]


def test_lines_before_the_first_known_one_belong_to_the_start_that_printed_them(
    write: Write, explain: Explain, failed: str
) -> None:
    lead = "[2026-11-29 09:59:59] Attention backend not specified: 50 %\n"
    one = explain(write(lead + failed))
    other = explain(write((lead + failed) * 2))

    assert other["earlier_count"] == 1
    assert other["files"][0]["start_line"] == 22
    assert (times(other), other["started"]) == (times(one), "2026-11-29T09:59:59")


def test_the_last_words_of_an_ended_start_are_not_those_of_the_next(
    write: Write, explain: Explain, failed: str
) -> None:
    last = "[2026-11-29 10:02:00] the exporter of metrics is closed: 50 %\nand so on\n"
    later = failed.replace(" 10:0", " 11:0")

    assert explain(write(failed + last + later))["files"][0]["start_line"] == 23


def test_heartbeats_and_requests_do_not_end_a_silence(write: Write, explain: Explain, load: str) -> None:
    waiting = '[2026-11-29 10:11:04] INFO:     127.0.0.1:5 - "GET /health HTTP/1.1" 503 Service Unavailable\n'

    report = explain(write(load + waiting))

    assert report["phases"][-1]["longest_silence_s"] == 600.0
    assert report["silence"]["before_line"] is None
    assert report["phases"][-1] | {"progress": None} == {
        "name": "capture", "began": 64.0, "ended": None, "seconds": 600.0, "longest_silence_s": 600.0,
        "progress": None,
    }  # fmt: skip


def test_a_failed_load_names_the_cause_with_its_line(write: Write, explain: Explain, failed: str) -> None:
    path = write(failed)
    report = explain(path)
    fault = report["fault"]

    assert (report["outcome"], report["phase"]) == ("failed", "capture")
    assert (fault["kind"], fault["line_number"], fault["file"]) == ("oom_capture", 20, path)
    assert fault["line"] == failed.splitlines()[19]
    assert fault["cause"].endswith(".")
    assert fault["next_step"].endswith(".")
    assert report["phases"][-1]["ended"] == 94.0


def test_a_log_that_ends_early_is_unfinished_where_it_stands(
    write: Write, explain: Explain, load: str
) -> None:
    report = explain(write(load))

    assert (report["outcome"], report["phase"], report["fault"]) == ("unfinished", "capture", None)
    assert times(report)[-1] == ("capture", 64.0, None, 0.0)


def test_the_rank_that_is_behind_lags_and_the_load_stands_there(
    write: Write, explain: Explain, load: str
) -> None:
    until = load.index("[2026-11-29 10:00:21 TP1] Load weight begin")
    report = explain(write(load[:until]))

    assert report["phase"] == "distributed"
    assert [(rank["rank"], rank["phase"], rank["lags"]) for rank in report["ranks"]] == [
        ("TP0", "weights", False),
        ("TP1", "distributed", True),
    ]


def test_a_failure_told_without_its_load_stands_where_the_traceback_went(
    write: Write, explain: Explain
) -> None:
    text = (
        "[2026-11-29 10:01:34 TP1] Scheduler hit an exception: Traceback (most recent call last):\n"
        '  File "/sglang/srt/model_executor/model_runner.py", line 1, in load_model\n'
        "    self.model = get_model()\n"
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.00 GiB.\n"
    )
    report = explain(write(text))

    assert (report["outcome"], report["phase"]) == ("failed", "weights")
    assert times(report) == [("weights", None, 0.0, None)]


RAW = 'Traceback (most recent call last):\n  File "/x/launch_server.py", line 1, in <module>\n{}\n'
CANCELLED = RAW.format("asyncio.exceptions.CancelledError")


def test_a_task_that_was_cancelled_is_no_failure(write: Write, explain: Explain, load: str) -> None:
    report = explain(write(load + CANCELLED))

    assert (report["outcome"], report["fault"]) == ("unfinished", None)


@pytest.mark.parametrize(
    ("then", "outcome"), [("KeyboardInterrupt", "stopped"), ("TimeoutError: too late", "failed")]
)
def test_of_a_cancelled_task_the_exception_behind_counts(
    write: Write, explain: Explain, load: str, then: str, outcome: str
) -> None:
    between = "\nDuring handling of the above exception, another exception occurred:\n\n"

    assert explain(write(load + CANCELLED + between + RAW.format(then)))["outcome"] == outcome


def test_an_interrupt_whose_traceback_was_cut_off_explains_no_failure(
    write: Write, explain: Explain, load: str
) -> None:
    died = "[2026-11-29 10:02:00] Received sigquit from a child process. It usually means the child failed.\n"

    assert explain(write(load + "KeyboardInterrupt\n" + died))["fault"]["line"] == died.strip()


def test_an_empty_log_is_an_unfinished_launch(write: Write, explain: Explain) -> None:
    report = explain(write(""))

    assert (report["outcome"], report["phase"], report["lines"]) == ("unfinished", "launch", 0)
    assert (report["engine"], report["version"], report["started"], report["fault"]) == (
        None,
        None,
        None,
        None,
    )
    assert times(report) == [("launch", None, None, None)]


def test_a_log_without_times_invents_none(write: Write, explain: Explain) -> None:
    report = explain(
        write("Load weight begin. avail mem=138.00 GB\nThe server is fired up and ready to roll!\n"),
        "--engine=sglang",
    )

    assert (report["outcome"], report["started"], report["silence"]) == ("ready", None, None)
    assert times(report) == [("weights", None, None, None), ("ready", None, None, None)]
    assert {each["longest_silence_s"] for each in report["phases"]} == {None}


def test_line_ends_of_windows_change_nothing(write: Write, explain: Explain, failed: str) -> None:
    plain = explain(write(failed))

    assert explain(write(failed.replace("\n", "\r\n"))) == plain


def test_a_bar_drawn_over_itself_counts_as_one_line(write: Write, explain: Explain, failed: str) -> None:
    bar = "".join(
        f"\rMulti-thread loading shards: {n}% Completed | {n}/100 [00:00<00:00]" for n in range(100)
    )
    bars = failed.replace("Loading safetensors checkpoint shards:   0%", bar + "\nLoading shards:   0%")

    assert explain(write(bars))["fault"]["line_number"] == 21
    assert bars.split("\n")[20].startswith("torch.OutOfMemoryError")


def test_a_line_longer_than_any_buffer_counts_once(write: Write, explain: Explain, failed: str) -> None:
    long = "x" * 300_000 + "\n"

    assert explain(write(long + failed))["fault"]["line_number"] == 21


def test_the_last_line_needs_no_newline(write: Write, explain: Explain, failed: str) -> None:
    report = explain(write(failed.rstrip("\n")))

    assert report["fault"]["line_number"] == 20
    assert report["lines"] == 20


def test_the_last_of_several_starts_is_told_and_the_earlier_are_listed(
    write: Write, explain: Explain, load: str, failed: str, ready: str
) -> None:
    path = write(failed + load + ready.replace("10:0", "12:0"))
    report = explain(path)

    assert (report["outcome"], report["started"]) == ("ready", "2026-11-29T12:00:00")
    assert report["earlier_count"] == 2
    assert [(each["outcome"], each["phase"], each["line_number"]) for each in report["earlier"]] == [
        ("failed", "capture", 1),
        ("unfinished", "capture", 21),
    ]
    assert report["earlier"][0]["fault"]["line_number"] == 20
    assert report["files"] == [{"file": path, "lines": 62, "start_line": 39}]
    assert report["fault"] is None


def test_the_arguments_printed_by_each_process_are_one_start(
    write: Write, explain: Explain, ready: str
) -> None:
    first, rest = ready.split("\n", 1)

    assert explain(write(f"{first}\n{first}\n{first}\n{rest}"))["earlier"] == []


def test_another_node_in_the_same_file_is_no_new_start(write: Write, explain: Explain, ready: str) -> None:
    lines = ready.replace("nnodes=1", "nnodes=2").splitlines(keepends=True)
    other = lines[0].replace("node_rank=0", "node_rank=1").replace("10:00:00", "10:00:19")
    report = explain(write("".join([*lines[:3], other, *lines[3:]])))

    assert (report["outcome"], report["earlier"]) == ("ready", [])
    assert report["started"] == "2026-11-29T10:00:00"


def test_a_server_killed_in_its_launch_without_a_word_is_an_earlier_start(
    write: Write, explain: Explain, ready: str
) -> None:
    first = ready.splitlines(keepends=True)[0].replace("10:00:00", "09:50:00")
    report = explain(write(first + ready))

    assert [(each["outcome"], each["phase"]) for each in report["earlier"]] == [("unfinished", "launch")]


def test_secrets_and_escape_sequences_of_a_log_are_not_repeated(
    write: Write, explain: Explain, failed: str
) -> None:
    dirty = failed.replace("Tried to", "\x1b[31mapi_key=sk-0123456789abcdef0123 Tried to")
    line = cast("str", explain(write(dirty))["fault"]["line"])

    assert "sk-0123456789abcdef0123" not in line
    assert "\x1b" not in line
    assert "Tried to allocate" in line


@pytest.mark.parametrize("cut", [0, 1, 7, 40, 300, 900, 1500])
def test_a_log_cut_anywhere_is_explained(write: Write, explain: Explain, failed: str, cut: int) -> None:
    assert explain(write(failed[:cut]))["outcome"] == "unfinished"
