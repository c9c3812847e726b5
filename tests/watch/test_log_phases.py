"""One start of a server as its log tells it: where it stands, how it ended and why."""

import pytest
from told_loads import TRACEBACK, make_phases, read, record, to_capture

from tui.engines.marks import FaultKind
from tui.engines.phase import Phase
from tui.watch.phases import LogPhases


def to_ready(phases: LogPhases) -> LogPhases:
    return read(
        to_capture(phases),
        record("Capture cuda graph end. Time elapsed: 3.00 s. avail mem=18.00 GB"),
        record("max_total_num_tokens=1000, chunked_prefill_size=8192, max_prefill_tokens=16384"),
        "INFO:     Uvicorn running on http://0.0.0.0:30000 (Press CTRL+C to quit)",
        record("The server is fired up and ready to roll!"),
    )


# Phases.


def test_a_load_goes_through_its_phases_to_ready() -> None:
    phases = to_capture(make_phases())
    assert (phases.outcome, phases.phase) == ("unfinished", Phase.CAPTURE)
    to_ready(phases)
    assert (phases.outcome, phases.phase, phases.cause) == ("ready", Phase.READY, None)


def test_the_shard_bar_at_100_percent_does_not_end_the_weights() -> None:
    phases = read(
        make_phases(),
        record("Load weight begin. avail mem=100.00 GB"),
        "Loading safetensors checkpoint shards: 100% Completed | 4/4 [00:09<00:00, 2.25s/it]",
    )
    assert phases.phase is Phase.WEIGHTS
    assert phases.progress is not None
    assert (phases.progress.done, phases.progress.total) == (4, 4)


def test_a_draft_model_takes_the_load_back_to_the_weights_and_forward_again() -> None:
    phases = to_capture(make_phases(), "TP0")
    read(
        phases,
        record("Capture cuda graph end. Time elapsed: 3.00 s. avail mem=18.00 GB", "TP0"),
        record("Load weight begin. avail mem=18.00 GB", "TP0"),
    )
    assert phases.phase is Phase.WEIGHTS
    read(phases, record("Load weight end. type=Draft, avail mem=17.00 GB, mem usage=1.00 GB.", "TP0"))
    to_capture(phases, "TP0")
    assert phases.phase is Phase.CAPTURE


def test_the_size_of_a_draft_model_does_not_replace_that_of_the_model() -> None:
    size = "(Worker pid=9) INFO 06-01 17:31:28 [weight_utils.py:922] Filesystem type for checkpoints: NFS. "
    phases = read(make_phases("vllm"), size + "Checkpoint size: 58.25 GiB. Available RAM: 99.00 GiB.")
    read(phases, size + "Checkpoint size: 5.62 GiB. Available RAM: 99.00 GiB.", first=2)
    assert phases.figures["checkpoint_gib"].value == 58.25


def test_a_rank_that_begins_late_takes_the_front_nowhere_back() -> None:
    phases = make_phases()
    both = ("TP0", "TP1")
    read(phases, *(record("Init torch distributed begin.", rank) for rank in both))
    read(phases, *(record("Init torch distributed ends. mem usage=0.5 GB", rank) for rank in both))
    read(phases, record("Load weight begin. avail mem=100.00 GB", "TP0"))
    read(phases, record("Load weight end. avail mem=40.00 GB, mem usage=60.00 GB.", "TP0"))
    assert phases.phase is Phase.DISTRIBUTED
    read(phases, record("Load weight begin. avail mem=100.00 GB", "TP1"))
    assert (phases.front, phases.phase) == (Phase.WEIGHTS, Phase.WEIGHTS)
    assert [lane.name for lane in phases.lanes.lagging] == ["TP1"]


def test_progress_of_the_front_is_none_of_the_rank_that_lags() -> None:
    phases = make_phases()
    read(phases, *(record("Init torch distributed begin.", rank) for rank in ("TP0", "TP1")))
    read(phases, record("Init torch distributed ends. mem usage=0.5 GB", "TP0"))
    read(phases, record("Load weight begin. avail mem=100.00 GB", "TP0"))
    read(phases, "Loading safetensors checkpoint shards:  50% Completed | 2/4 [00:09<00:09, 2.25s/it]")
    assert (phases.phase, phases.front) == (Phase.DISTRIBUTED, Phase.WEIGHTS)
    assert phases.progress is None


def test_captures_in_any_order_stay_in_the_capture() -> None:
    phases = to_capture(make_phases())
    for part in ("draft extend", "target verify", "draft decode"):
        read(phases, record(f"Capture {part} CUDA graph begin. backend=full, avail mem=9.00 GB"))
        read(phases, record(f"Capture {part} CUDA graph end. elapsed=0.5 s, mem usage=0.10 GB."))
        assert phases.phase is Phase.CAPTURE


def test_lines_of_serving_do_not_take_a_ready_load_back() -> None:
    phases = to_ready(make_phases())
    to_capture(phases)
    assert (phases.outcome, phases.phase) == ("ready", Phase.READY)


# Unfinished lines.


def test_an_unfinished_line_tells_progress_but_counts_no_step() -> None:
    phases = make_phases()
    line = record("Load weight begin. avail mem=100.00 GB", "TP0")
    read(phases, record("Load weight begin. avail mem=100.00 GB", "TP1"))
    for length in range(len(line)):
        phases.peek(line[:length])
    read(phases, line)
    assert phases.phase is Phase.WEIGHTS
    assert phases.lanes.lagging == []


def test_an_unfinished_line_ends_nothing() -> None:
    phases = make_phases()
    phases.peek("The server is fired up and ready to roll!")
    phases.peek("torch.OutOfMemoryError: CUDA out of memory.")
    assert phases.outcome == "unfinished"


def test_a_traceback_whose_lines_came_in_pieces_is_heard_once() -> None:
    phases = make_phases()
    for line in (TRACEBACK, '  File "/app/run.py", line 1, in <module>', "UnheardOf: it broke"):
        for length in range(len(line)):
            phases.peek(line[:length])
        phases.read(line, 7)
    assert (phases.outcome, phases.cause and phases.cause.kind) == ("failed", FaultKind.UNKNOWN)


# Ends.


def test_a_ready_line_after_the_port_was_taken_is_not_believed() -> None:
    phases = read(
        make_phases(),
        "INFO:     Waiting for application startup.",
        "ERROR:    [Errno 98] error while attempting to bind on address ('127.0.0.1', 31999)",
        "The server is fired up and ready to roll!",
    )
    assert (phases.outcome, phases.phase) == ("failed", Phase.START_API)
    assert phases.cause is not None
    assert (phases.cause.kind, phases.cause.quote.number) == (FaultKind.PORT_IN_USE, 2)


def test_errors_after_a_stop_that_was_asked_for_are_part_of_it() -> None:
    phases = to_ready(make_phases())
    read(phases, record("SIGTERM received. signum=15 frame=None. Draining requests and shutting down..."))
    read(phases, record("Received sigquit from a child process. It usually means the child failed."))
    assert (phases.outcome, phases.phase, phases.cause) == ("stopped", Phase.READY, None)
    assert phases.shutdown is not None


def test_a_shutdown_after_an_error_is_part_of_the_failure() -> None:
    phases = to_ready(make_phases())
    read(phases, record("Received sigquit from a child process. It usually means the child failed."))
    read(phases, record("SIGTERM received. signum=15 frame=None. Draining requests and shutting down..."))
    assert (phases.outcome, phases.phase) == ("failed", Phase.READY)


def test_ctrl_c_is_a_stop_and_no_failure() -> None:
    phases = to_capture(make_phases())
    read(phases, "^C" + TRACEBACK)
    read(phases, '  File "<frozen runpy>", line 198, in _run_module_as_main', "KeyboardInterrupt")
    assert (phases.outcome, phases.phase) == ("stopped", Phase.CAPTURE)


def test_a_traceback_that_was_logged_and_survived_is_no_failure() -> None:
    phases = read(
        to_capture(make_phases()),
        TRACEBACK,
        '  File "/app/plugins.py", line 12, in load_plugin',
        "    import missing",
        "ModuleNotFoundError: No module named 'missing'",
    )
    assert phases.outcome == "unfinished"
    assert to_ready(phases).outcome == "ready"


def test_an_exception_that_nobody_caught_ends_the_load() -> None:
    phases = read(
        to_capture(make_phases()),
        TRACEBACK,
        '  File "/app/run.py", line 3, in <module>',
        "    main()",
        '  File "/app/run.py", line 9, in main',
        "queue.Empty",
        first=20,
    )
    assert (phases.outcome, phases.phase) == ("failed", Phase.CAPTURE)
    assert phases.cause is not None
    assert (phases.cause.kind, phases.cause.quote.number) == (FaultKind.UNKNOWN, 24)


@pytest.mark.parametrize(
    "before",
    ["Exception ignored in: <function Pool.__del__ at 0x7f>", "Exception in thread Thread-3 (watch):"],
)
def test_an_exception_with_which_python_goes_on_is_no_failure(before: str) -> None:
    phases = read(
        to_capture(make_phases()),
        before,
        TRACEBACK,
        '  File "/app/run.py", line 3, in <module>',
        "RuntimeError: too late",
    )
    assert phases.outcome == "unfinished"


def test_a_bar_that_is_closed_after_the_error_is_no_progress() -> None:
    phases = read(
        make_phases(),
        record("Load weight begin. avail mem=100.00 GB"),
        "Loading safetensors checkpoint shards:  25% Completed | 1/4 [00:09<00:27, 9.00s/it]",
        "torch.OutOfMemoryError: CUDA out of memory.",
        "Loading safetensors checkpoint shards:  50% Completed | 2/4 [00:09<00:09, 9.00s/it]",
    )
    assert phases.outcome == "failed"
    assert phases.progress is not None
    assert phases.progress.done == 1


def test_a_bar_after_the_error_tells_the_phase_where_no_line_before_did() -> None:
    phases = read(make_phases(), "torch.OutOfMemoryError: CUDA out of memory.")
    assert (phases.outcome, phases.phase) == ("failed", None)
    read(phases, "Loading safetensors checkpoint shards:  50% Completed | 2/4 [00:09<00:09, 9.00s/it]")
    assert (phases.outcome, phases.phase) == ("failed", Phase.WEIGHTS)


def test_the_frames_of_a_traceback_tell_the_phase_of_a_failure() -> None:
    phases = read(
        make_phases(),
        record("Scheduler hit an exception: " + TRACEBACK, "TP1"),
        '  File "/app/model_runner.py", line 647, in load_model',
        "    self.model = get_model(",
        "torch.OutOfMemoryError: CUDA out of memory.",
    )
    assert (phases.outcome, phases.phase) == ("failed", Phase.WEIGHTS)
    assert phases.cause is not None
    assert (phases.cause.kind, phases.cause.quote.number) == (FaultKind.OOM_WEIGHTS, 4)


def test_the_frames_of_a_traceback_that_was_survived_tell_no_later_failure() -> None:
    phases = read(
        make_phases(),
        TRACEBACK,
        '  File "/app/runner.py", line 3, in capture_one_batch_size',
        "ValueError: try another way",
        record("Load weight begin. avail mem=100.00 GB"),
        record("Received sigquit from a child process. It usually means the child failed."),
    )
    assert (phases.outcome, phases.phase) == ("failed", Phase.WEIGHTS)


@pytest.mark.parametrize(
    ("engine", "line"),
    [
        ("sglang", record("Receive: obj=GenerateReqInput(text='[Errno 98] CUDA out of memory. Bus error')")),
        ("sglang", record("Finish: obj=GenerateReqInput(text='an illegal memory access')", "TP0")),
        ("vllm", "(APIServer pid=1) INFO 11-29 10:00:00 [logger.py:3] prompt: 'CUDA out of memory'"),
        ("vllm", "prompt: 'CUDA out of memory'"),
    ],
)
def test_a_prompt_that_quotes_a_failure_is_none(engine: str, line: str) -> None:
    phases = read(make_phases(engine), line)
    assert (phases.outcome, phases.suspect) == ("unfinished", None)


@pytest.mark.parametrize(
    ("engine", "line"),
    [
        (
            "vllm",
            "(EngineCore pid=1) WARNING 11-29 10:00:00 [tune.py:3] CUDA out of memory, trying the next one",
        ),
        ("vllm", "W1129 10:00:00.123 1 torch/_inductor/select_algorithm.py:2] CUDA out of memory"),
        ("sglang", record("WARNING tune.py:3: CUDA out of memory, trying the next one")),
        ("llamacpp", "warning: failed to mlock 1000-byte buffer: Cannot allocate memory"),
        ("vllm", "host:1:2 [0] NCCL INFO ras: bind failed: Address already in use"),
        ("sglang", "Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions."),
    ],
)
def test_who_only_warns_goes_on(engine: str, line: str) -> None:
    assert read(make_phases(engine), line).outcome == "unfinished"


# Hostile logs.


def test_a_log_of_ever_new_processes_stays_small() -> None:
    phases = make_phases("vllm")
    for pid in range(100_000):
        phases.read(f"(Worker pid={pid}) INFO 11-29 10:00:00 [loader.py:1] Loading weights took 1.00 seconds")
    for pid in range(5_000):
        phases.read(f"(Worker pid={pid}) Traceback (most recent call last):")
    assert phases.phase is Phase.WEIGHTS
    assert len(phases.lanes.all) <= 512
    assert len(phases.reader._tracebacks._under_way) <= 512  # pyright: ignore[reportPrivateUsage] - the bound itself
