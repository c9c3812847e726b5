"""How SGLang fails and stops, and what order its phases come in."""

import pytest

from tui.engines.marks import FaultKind, Figure, Mark, Progress, Weight
from tui.engines.phase import Phase
from tui.engines.reader import LineReader
from tui.engines.sglang import SGLANG
from tui.watch.phases import LogPhases

TIME = "[2026-02-26 05:33:19 TP0] "
MAIN = "[2026-02-26 05:33:19] "


def marks(line: str) -> tuple[Mark, ...]:
    return LineReader(SGLANG).read(line).marks


FAULTS: list[tuple[str, FaultKind | None, Weight]] = [
    (
        "RuntimeError: Not enough memory. Please try to increase --mem-fraction-static.",
        FaultKind.OOM_KV,
        Weight.CAUSE,
    ),
    (
        "RuntimeError: Not enough GPU memory for hybrid (mamba/linear-attention) state cache. x",
        FaultKind.OOM_KV,
        Weight.CAUSE,
    ),
    (
        MAIN + "max_total_tokens=40000 is larger than the profiled value -561981. Use the profiled value",
        FaultKind.OOM_KV,
        Weight.CAUSE,
    ),
    ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1 GiB", None, Weight.CAUSE),
    ("Exception: Capture cuda graph failed: CUDA out of memory. Tried", None, Weight.CAUSE),
    ("Exception: Capture cuda graph failed: ", FaultKind.UNKNOWN, Weight.REPORT),
    ("Exception: Capture prefill CUDA graph failed: list index out", FaultKind.UNKNOWN, Weight.ERROR),
    (
        "Exception: Capture cuda graph failed: [../third_party/gloo/gloo/transport/tcp/pair.cc:534] "
        "Connection"
        " closed by peer [10.0.0.1]:1",
        FaultKind.NCCL,
        Weight.CONSEQUENCE,
    ),
    (
        "RuntimeError: The memory capacity is unbalanced. Some GPUs may be occupied by other processes.",
        FaultKind.OOM_WEIGHTS,
        Weight.CAUSE,
    ),
    (
        "ValueError: TP rank 1 could finish the model loading, but there are other ranks that didn't "
        "finish loading.",
        FaultKind.TIMEOUT,
        Weight.CONSEQUENCE,
    ),
    (
        "[rank3]:[E421 04:13:43.4 ProcessGroupGloo.cpp:143] Rank 3 successfully reached monitoredBarrier, but"
        " received errors while waiting for send/recv from rank 0. Please check rank 0 logs for faulty rank.",
        FaultKind.RANK_DIED,
        Weight.CONSEQUENCE,
    ),
    (TIME + "Watchdog timeout (self.watchdog_timeout=300)", FaultKind.TIMEOUT, Weight.CONSEQUENCE),
    (
        TIME + "Scheduler watchdog timeout (self.watchdog_timeout=300.0, self.soft=False)",
        FaultKind.TIMEOUT,
        Weight.CONSEQUENCE,
    ),
    ("[12-11 17:52:52] Rank 0 scheduler is dead. Please check", FaultKind.RANK_DIED, Weight.REPORT),
    ("[12-11 17:52:54] Exit code: -9", FaultKind.OOM_HOST, Weight.ERROR),
    ("[12-11 17:52:54] Exit code: -11", FaultKind.RANK_DIED, Weight.CONSEQUENCE),
    (
        "RuntimeError: Rank 0 scheduler died during initialization (exit code: -9). If exit code is -9 "
        "(SIGKILL)",
        FaultKind.OOM_HOST,
        Weight.ERROR,
    ),
    (
        "RuntimeError: Rank 3 scheduler died during initialization (exit code: 1). If exit code is -9 "
        "(SIGKILL)",
        FaultKind.RANK_DIED,
        Weight.CONSEQUENCE,
    ),
    (
        MAIN + "Subprocess scheduler_0 (pid=77) crashed with exit code -6. Triggering SIGQUIT for cleanup...",
        FaultKind.RANK_DIED,
        Weight.CONSEQUENCE,
    ),
    (MAIN + "Scheduler or DataParallelController 72 terminated with -9", FaultKind.OOM_HOST, Weight.ERROR),
    (
        MAIN + "Scheduler or DataParallelController 72 terminated with -11",
        FaultKind.RANK_DIED,
        Weight.CONSEQUENCE,
    ),
    (
        "prometheus_client.registry.DuplicateTimeseries: Duplicated timeseries in CollectorRegistry: "
        "{'sglang:func_latency_seconds_sum'}",
        FaultKind.RANK_DIED,
        Weight.ECHO,
    ),
    (MAIN + "Received sigquit from a child proces. It usually means", FaultKind.UNKNOWN, Weight.ECHO),
    (MAIN + "SIGQUIT received. signum=None, frame=None. It usually", FaultKind.UNKNOWN, Weight.ECHO),
    (TIME + "Scheduler hit an exception:", FaultKind.UNKNOWN, Weight.ECHO),
    (MAIN + "DetokenizerManager hit an exception: Traceback (most", FaultKind.UNKNOWN, Weight.ECHO),
    ("RuntimeError: SGLang only supports sm75 and above.", FaultKind.BAD_CONFIG, Weight.CAUSE),
    ("KeyError: 'layers.0.self_attn.qkv_proj.weight'", FaultKind.BAD_CONFIG, Weight.CAUSE),
    (
        "Exception: flashinfer_python is installed with version 0.2, which is less than the minimum "
        "required version",
        FaultKind.BAD_CONFIG,
        Weight.CAUSE,
    ),
    (
        "ERROR:    [Errno 98] error while attempting to bind on address ('0.0.0.0', 30000): address "
        "already in use",
        FaultKind.PORT_IN_USE,
        Weight.CAUSE,
    ),
    (
        MAIN + "Port is already in use. dist_init_port=1 port_base=2 detokenizer_port=3",
        FaultKind.PORT_IN_USE,
        Weight.CAUSE,
    ),
    (
        MAIN + "Initialization failed. warmup error: Traceback (most recent call last):",
        FaultKind.WARMUP_FAILED,
        Weight.ERROR,
    ),
    ("AssertionError: res=<Response [502]>, res.text=''", FaultKind.WARMUP_FAILED, Weight.CAUSE),
    (
        "requests.exceptions.ConnectionError: HTTPConnectionPool(host='10.0.0.1', port=30000): Max retries"
        " exceeded with url: /get_model_info (Caused by ProxyError)",
        FaultKind.WARMUP_FAILED,
        Weight.CAUSE,
    ),
    (
        "launch_server.py: error: unrecognized arguments: --tpp 8",
        FaultKind.BAD_CONFIG,
        Weight.CAUSE,
    ),
    ("RuntimeError: Decode out of memory. Try to lower your batch size.", FaultKind.OOM_KV, Weight.CAUSE),
    ("RuntimeError: DeepEP error: timeout (dispatch CPU)", FaultKind.TIMEOUT, Weight.CONSEQUENCE),
    (
        "RuntimeError: Cannot find any model weights: No model weights found",
        FaultKind.MISSING_MODEL,
        Weight.CAUSE,
    ),
    (
        "safetensors_rust.SafetensorError: Error while deserializing header: MetadataIncompleteBuffer",
        FaultKind.MISSING_MODEL,
        Weight.CAUSE,
    ),
    ("FileNotFoundError: [Errno 2] No such file or directory: 'ninja'", FaultKind.COMPILE, Weight.CAUSE),
    ("RuntimeError: HIP error: invalid argument", FaultKind.DRIVER, Weight.CAUSE),
    ("RuntimeError: HIP error: out of memory", None, Weight.CAUSE),
    ("Fatal Python error: Segmentation fault", FaultKind.RANK_DIED, Weight.CONSEQUENCE),
    ("RuntimeError: Ninja build failed. Ninja output:", FaultKind.COMPILE, Weight.CAUSE),
]


@pytest.mark.parametrize(("line", "kind", "weight"), FAULTS)
def test_a_failure_has_its_kind_weight_cause_and_next_step(
    line: str, kind: FaultKind | None, weight: Weight
) -> None:
    fault = next(mark.fault for mark in marks(line) if mark.fault is not None)
    assert (fault.kind, fault.weight) == (kind, weight)
    assert fault.cause.endswith(".")
    assert fault.next_step.endswith(".")
    assert "{" not in fault.cause + fault.next_step


@pytest.mark.parametrize(
    "line",
    [
        MAIN + "max_total_tokens=40000 is larger than the profiled value 30000. Use the profiled value",
        MAIN + "The memory capacity is unbalanced. Some GPUs may be occupied by other processes.",
        MAIN + "Scheduler watchdog timeout (self.watchdog_timeout=300.0, self.soft=True)",
        MAIN + "Port 30001 is already in use, trying port 30002",
        MAIN + "Using custom SIGQUIT handler: <function f>",
        MAIN + "Exit code: 0",
        "'(ReadTimeoutError(\"HTTPSConnectionPool(host='huggingface.co', port=443): Read timed out. "
        "(read timeout=10)\"))'",
        MAIN + "Setup Custom allreduce failed with CUDART error: peer access is not supported",
        MAIN + "Health check failed. Server couldn't get a response from detokenizer for last 20 seconds.",
        "[rank0]:[W1129 ProcessGroupNCCL.cpp:1575] Warning: WARNING: destroy_process_group() was not called",
    ],
)
def test_a_line_that_a_healthy_load_prints_is_no_failure(line: str) -> None:
    assert [mark for mark in marks(line) if mark.fault is not None and mark.fault.terminal] == []


def read_all(lines: list[str]) -> LogPhases:
    load = LogPhases(SGLANG)
    for number, line in enumerate(lines, 1):
        load.read(line, number)
    return load


def test_the_port_that_another_server_holds_beats_the_ready_line_and_the_shutdown() -> None:
    load = read_all(
        [
            MAIN + "INFO:     Application startup complete.",
            MAIN + "ERROR:    [Errno 98] error while attempting to bind on address: address already in use",
            MAIN + "INFO:     Shutting down",
            MAIN + "The server is fired up and ready to roll!",
        ]
    )
    assert (load.outcome, load.phase) == ("failed", Phase.START_API)
    assert load.cause is not None
    assert (load.cause.kind, load.cause.quote.number) == (FaultKind.PORT_IN_USE, 2)


def test_weights_that_end_behind_the_capture_take_nothing_back() -> None:
    load = read_all(
        [
            TIME + "Load weight begin. avail mem=139.13 GB",
            TIME + "Memory pool end. avail mem=9 GB",
            TIME + "Capture target decode CUDA graph begin. backend=full",
            TIME
            + "Capture target decode CUDA graph end. elapsed=6.77 s, mem usage=0.48 GB, avail mem=9.7 GB.",
            TIME + "Load weight end. Committed real weights after CUDA graph capture in 12.5 s (7)",
            TIME + "Post-capture KV sizing: KV cache allocated. dtype: b, #tokens: 9, KV size: 1.50 GB, x",
        ]
    )
    assert (load.outcome, load.phase) == ("unfinished", Phase.CAPTURE)
    assert load.figures["kv_cache_tokens"] == Figure("kv_cache_tokens", 9.0)


@pytest.mark.parametrize(
    "order",
    [
        # To 0.5.13 the draft model is loaded behind the target's graphs, later before the pools.
        ["weights", "kv_cache", "capture", "weights", "kv_cache", "capture"],
        ["weights", "weights", "kv_cache", "kv_cache", "capture", "capture"],
    ],
)
def test_a_draft_model_is_followed_in_either_order(order: list[str]) -> None:
    lines = {
        "weights": ["Load weight begin. avail mem=9 GB", "Load weight end. type=A, dtype=b, avail mem=8 GB"],
        "kv_cache": ["KV Cache is allocated. #tokens: 9, KV size: 1.0 GB", "Memory pool end. avail mem=2 GB"],
        "capture": [
            "Capture draft cuda graph begin. This",
            "Capture draft cuda graph end. Time elapsed: 1 s",
        ],
    }
    load = LogPhases(SGLANG)
    stood: list[Phase | None] = []
    for step in order:
        load.read(TIME + lines[step][0])
        stood.append(load.phase)
        load.read(TIME + lines[step][1])
    assert stood == [Phase(step) for step in order]


def test_a_kernel_compiled_inside_a_capture_leaves_it_a_capture_and_its_bar_the_count() -> None:
    load = read_all(
        [
            TIME + "Capture cuda graph begin. This can take up to several minutes. avail mem=31 GB",
            "  0%|          | 0/19 [00:00<?, ?it/s]",
            "Capturing batches (bs=128 avail_mem=31.18 GB):   0%|          | 0/19 [00:00<?, ?it/s]",
            TIME + "Entering DeepGEMM JIT Pre-Compile session. It may take a long time",
            "DeepGEMM warmup: 100%|██████████| 256/256 [00:44<00:00,  5.75it/s]",
            "100%|██████████| 256/256 [00:44<00:00,  5.75it/s]",
        ]
    )
    assert load.phase is Phase.CAPTURE
    text = "Capturing batches (bs=128 avail_mem=31.18 GB)"
    assert load.progress == Progress(0.0, 19.0, "sizes", text, "bs=128")


def test_the_wordless_bar_of_old_captures_counts() -> None:
    load = read_all(
        [
            TIME + "Capture cuda graph begin. This can take up to several minutes.",
            " 43%|████▎     | 10/23 [00:02<00:03,  4.10it/s]",
        ]
    )
    assert load.progress == Progress(10.0, 23.0, "")


def test_a_log_of_level_warning_is_followed_by_its_bars() -> None:
    load = LogPhases(SGLANG)
    load.read("Multi-thread loading shards:   6% Completed | 3/48 [00:07<01:56,  2.59s/it]")
    assert load.phase is Phase.WEIGHTS
    load.read("Capturing batches (bs=4 avail_mem=7.94 GB):  25%|██▌       | 1/4 [00:08<00:24,  8.29s/it]")
    assert load.phase is Phase.CAPTURE


def test_a_process_killed_from_outside_is_told_by_its_exit_code_not_by_the_broken_pipe() -> None:
    load = read_all(
        [
            TIME + "Load weight begin. avail mem=139.13 GB",
            "Traceback (most recent call last):",
            '  File "site-packages/sglang/srt/entrypoints/engine.py", line 1, in _wait_for_scheduler_ready',
            "EOFError",
            "",
            "During handling of the above exception, another exception occurred:",
            "",
            "Traceback (most recent call last):",
            '  File "<frozen runpy>", line 198, in _run_module_as_main',
            "RuntimeError: Rank 0 scheduler died during initialization (exit code: -9). If exit code is -9 (",
        ]
    )
    assert (load.outcome, load.phase) == ("failed", Phase.WEIGHTS)
    assert load.cause is not None
    assert (load.cause.kind, load.cause.quote.number) == (FaultKind.OOM_HOST, 10)
