"""What looks like a failure and is none: a server that goes on or only warns, another program's end."""

import pytest

from tui.engines.marks import FaultKind
from tui.engines.phase import Phase
from tui.engines.registry import engine_named
from tui.watch.phases import LogPhases

OUT_OF_MEMORY = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total"
API = "(APIServer pid=100) "
CORE = "(EngineCore_DP0 pid=200) "
VLLM_WEIGHTS = CORE + "INFO 10-20 12:00:27 [gpu_model_runner.py:2602] Starting to load model /models/q..."
VLLM_READY = API + "INFO:     Application startup complete."
VLLM_DEAD = CORE + "ERROR 10-20 12:30:00 [core.py:709] EngineCore encountered a fatal error."
SGLANG_WEIGHTS = "[2025-10-20 12:00:10] Load weight begin. avail mem=78.43 GB"
SGLANG_READY = "[2025-10-20 12:00:41] The server is fired up and ready to roll!"
SGLANG_DECODE = (
    "[2025-10-20 12:00:51] Decode batch. #running-req: 1, #token: 620, token usage: 0.00, cuda graph: True, "
    "gen throughput (token/s): 90.11, #queue-req: 0, "
)
UNCAUGHT = (
    "Traceback (most recent call last):",
    '  File "train.py", line 1, in <module>',
    "    train()",
    OUT_OF_MEMORY,
)


def statistics(generated: float, prompt: float = 0.0) -> str:
    return (
        f"{API}INFO 10-20 12:01:23 [loggers.py:127] Engine 000: Avg prompt throughput: {prompt} tokens/s, "
        f"Avg generation throughput: {generated} tokens/s, Running: 1 reqs, Waiting: 0 reqs, GPU KV cache "
        "usage: 0.2%, Prefix cache hit rate: 0.0%"
    )


def read(engine: str, *lines: str) -> LogPhases:
    found = engine_named(engine)
    assert found is not None
    phases = LogPhases(found)
    for number, line in enumerate(lines, 1):
        phases.read(line, number)
    return phases


# A failure that was outlived.


def test_a_load_that_gets_ready_after_all_had_not_failed() -> None:
    error = CORE + "ERROR 10-20 12:20:00 [autotuner.py:622] tactic failed: " + OUT_OF_MEMORY
    failed = read("vllm", VLLM_WEIGHTS, error)
    assert (failed.outcome, failed.phase) == ("failed", Phase.WEIGHTS)
    phases = read("vllm", VLLM_WEIGHTS, error, VLLM_READY)
    assert (phases.outcome, phases.phase, phases.cause) == ("ready", Phase.READY, None)


def test_what_was_outlived_explains_no_later_failure() -> None:
    error = CORE + "ERROR 10-20 12:20:00 [autotuner.py:622] tactic failed: " + OUT_OF_MEMORY
    phases = read("vllm", VLLM_WEIGHTS, error, VLLM_READY, VLLM_DEAD)
    assert phases.outcome == "failed"
    assert phases.cause is not None
    assert phases.cause.quote.number == 4


def test_a_server_that_generates_had_not_failed() -> None:
    before = (SGLANG_WEIGHTS, SGLANG_READY, SGLANG_DECODE, *UNCAUGHT)
    assert read("sglang", *before).outcome == "failed"
    assert read("sglang", *before, SGLANG_DECODE).outcome == "failed"
    assert read("sglang", *before, SGLANG_DECODE, SGLANG_DECODE).outcome == "ready"


def test_no_lines_of_a_load_make_a_failure_unfinished() -> None:
    phases = read("sglang", SGLANG_WEIGHTS, *UNCAUGHT, SGLANG_WEIGHTS, SGLANG_WEIGHTS)
    assert phases.outcome == "failed"


@pytest.mark.parametrize(
    "rows",
    [
        [statistics(30.0, 90.1)],
        [statistics(0.0)] * 9,
        # What it counted last, then nothing any more.
        [statistics(30.0, 90.1), *[statistics(0.0)] * 9],
    ],
)
def test_what_the_front_end_of_a_dead_engine_prints_is_no_life(rows: list[str]) -> None:
    phases = read("vllm", VLLM_WEIGHTS, VLLM_READY, VLLM_DEAD, *rows)
    assert (phases.outcome, phases.phase) == ("failed", Phase.READY)


def test_three_rows_of_any_work_are_life() -> None:
    phases = read("vllm", VLLM_WEIGHTS, VLLM_READY, VLLM_DEAD, *[statistics(0.0, 90.1)] * 3)
    assert phases.outcome == "ready"


def test_each_new_failure_asks_for_proof_again() -> None:
    row = statistics(30.0)
    phases = read("vllm", VLLM_WEIGHTS, VLLM_READY, VLLM_DEAD, row, VLLM_DEAD, row)
    assert phases.outcome == "failed"


@pytest.mark.parametrize(
    ("trouble", "kind"),
    [
        (
            "ERROR:    [Errno 98] error while attempting to bind on address ('0.0.0.0', 30000)",
            FaultKind.PORT_IN_USE,
        ),
        ("[2025-10-20 12:00:41] Initialization failed. warmup error: x", FaultKind.WARMUP_FAILED),
    ],
)
def test_a_ready_line_that_another_server_may_have_caused_is_proof_only_with_work(
    trouble: str, kind: FaultKind
) -> None:
    before = ("INFO:     Waiting for application startup.", trouble, SGLANG_READY)
    phases = read("sglang", *before, SGLANG_DECODE)
    assert (phases.outcome, phases.cause and phases.cause.kind) == ("failed", kind)
    assert read("sglang", *before, SGLANG_DECODE, SGLANG_DECODE).outcome == "ready"


# Trouble of a server that serves.


@pytest.mark.parametrize(
    "said",
    [
        "Error in preprocessing audio: " + OUT_OF_MEMORY,
        "Error decoding image: std::bad_alloc",
        "Error in a tool: CUDA error: an illegal memory access was encountered",
        "Error in a tool: no kernel image is available",
        "Error in a tool: [Errno 98] Address already in use",
    ],
)
def test_an_error_that_a_server_logs_while_it_serves_is_no_end(said: str) -> None:
    line = API + "ERROR 10-20 12:40:08 [serving.py:200] " + said
    assert read("vllm", VLLM_WEIGHTS, line).outcome == "failed"
    assert read("vllm", VLLM_WEIGHTS, VLLM_READY, line).outcome == "ready"


def test_memory_that_ran_out_before_the_engine_died_is_its_cause_and_said_to_be_of_serving() -> None:
    error = CORE + "ERROR 10-20 12:30:00 [core.py:709] " + OUT_OF_MEMORY
    phases = read("vllm", VLLM_WEIGHTS, VLLM_READY, VLLM_DEAD, error)
    assert phases.cause is not None
    assert (phases.cause.kind, phases.cause.quote.number) == (FaultKind.OOM_CAPTURE, 4)
    assert phases.cause.cause == "While it served, the GPU had no memory left."


def test_an_exception_that_nobody_caught_ends_a_server_too() -> None:
    core = [CORE + line for line in UNCAUGHT]
    assert read("vllm", VLLM_WEIGHTS, VLLM_READY, *core).outcome == "failed"


def test_a_traceback_without_the_prefix_of_all_processes_is_not_the_servers() -> None:
    assert read("vllm", VLLM_WEIGHTS, VLLM_READY, *UNCAUGHT).outcome == "ready"
    assert (
        read("vllm", VLLM_WEIGHTS, "INFO:     Application startup complete.", *UNCAUGHT).outcome == "failed"
    )


def test_a_collective_that_hangs_ends_a_server() -> None:
    line = (
        "[rank0]:[E1020 12:40:00.123456789 ProcessGroupNCCL.cpp:685] [Rank 0] Watchdog caught collective "
        "operation timeout: WorkNCCL(SeqNum=1234, OpType=ALLREDUCE)"
    )
    phases = read("sglang", SGLANG_WEIGHTS, SGLANG_READY, line, "Fatal Python error: Aborted")
    assert (phases.outcome, phases.phase) == ("failed", Phase.READY)
    assert phases.cause is not None
    assert (phases.cause.kind, phases.cause.quote.number) == (FaultKind.NCCL, 3)


# Warnings, advice, and what is tried another way.

CUDA_INIT = "/usr/lib/torch/cuda/__init__.py:174: UserWarning: CUDA initialization: "


@pytest.mark.parametrize(
    "lines",
    [
        (
            CUDA_INIT + "Found no NVIDIA driver on your system.",
            "  return torch._C._cuda_getDeviceCount() > 0",
        ),
        (CUDA_INIT + "Unexpected error from cudaGetDeviceCount(). Error 804: forward compatibility was",),
        (CUDA_INIT + "No CUDA GPUs are available (Triggered internally)",),
        ("/usr/lib/x.py:1: FutureWarning: torch.cuda.OutOfMemoryError: is deprecated",),
        ("/usr/lib/x.py:1: RuntimeWarning: x", '  warn(f"{x}: no kernel image is available")'),
        ("sys:1: RuntimeWarning: Bus error",),
        ("UserWarning: No CUDA GPUs are available",),
    ],
)
@pytest.mark.parametrize("engine", ["vllm", "sglang", "trtllm"])
def test_what_python_warns_of_is_no_failure_and_explains_none(engine: str, lines: tuple[str, ...]) -> None:
    phases = read(engine, *lines)
    assert (phases.outcome, phases.suspect) == ("unfinished", None)


@pytest.mark.parametrize(
    "said",
    [
        "Tip: if you see CUDA out of memory during capture, lower --cuda-graph-max-bs.",
        "KV cache pool reserves memory to avoid CUDA out of memory at long prefill",
    ],
)
def test_advice_on_memory_is_no_failure_and_explains_none(said: str) -> None:
    phases = read("sglang", SGLANG_WEIGHTS, "[2025-11-29 14:00:00] " + said)
    assert (phases.outcome, phases.suspect) == ("unfinished", None)


@pytest.mark.parametrize(
    "said",
    [
        "Failed to import deep_gemm, disable SGL_ENABLE_JIT_DEEPGEMM: CUDA driver version is insufficient",
        "Failed to import flash_attn: no kernel image is available",
        "ZMQError: Address already in use (addr='tcp://127.0.0.1:5555'), retrying with another port",
        "metrics port 9000: [Errno 98] Address already in use, trying 9001",
        "DeepGEMM JIT: skipping m=4096: torch.OutOfMemoryError: CUDA out of memory, retry with smaller batch",
        "Failed to initialize NVLS: CUDA driver version is insufficient, falling back",
        "Warning: std::bad_alloc in optional prefetch, ignored",
    ],
)
def test_who_says_how_it_goes_on_has_not_failed(said: str) -> None:
    assert read("sglang", SGLANG_WEIGHTS, "[2025-11-29 14:00:00] " + said).outcome == "unfinished"


def test_a_warning_of_tensorrt_llm_is_no_failure() -> None:
    line = "[10/20/2025-12:01:06] [TRT-LLM] [RANK 0] [{level}] [Autotuner] Failed when profiling. Error: "
    line += "CUDA out of memory. Tried to allocate 2 GiB"
    assert read("trtllm", line.format(level="W")).outcome == "unfinished"
    assert read("trtllm", line.format(level="E")).outcome == "failed"


# Reports of a shell.


@pytest.mark.parametrize(
    "report",
    [
        "/opt/start.sh: line 12:  4321 Killed                  nvidia-smi dmon -s u > /tmp/dmon.log",
        "/opt/entry.sh: line 3: 55 Bus error               (core dumped) dcgmi",
    ],
)
def test_the_end_of_a_helper_is_none_of_the_servers(report: str) -> None:
    assert read("vllm", VLLM_WEIGHTS, report).outcome == "unfinished"
    assert read("vllm", VLLM_WEIGHTS, VLLM_READY, report).outcome == "ready"


@pytest.mark.parametrize(
    "report",
    [
        "bash: line 1: 12345 Killed                  python3 -m sglang.launch_server --model-path /models/q",
        "/opt/start.sh: line 12:  4321 Killed                  vllm serve /models/q",
        "/opt/start.sh: line 12:  4321 Killed",
        "Killed",
        "/opt/entry.sh: line 3: 55 Bus error               (core dumped) python3 -m vllm",
        "/opt/entry.sh: line 3: 55 Bus error               (core dumped)",
    ],
)
def test_the_end_of_the_server_is_a_failure_also_while_it_serves(report: str) -> None:
    phases = read("vllm", VLLM_WEIGHTS, VLLM_READY, report)
    assert (phases.outcome, phases.cause and phases.cause.kind) == ("failed", FaultKind.OOM_HOST)
