"""What TensorRT-LLM's lines say, by version, and how its loads go: pools and graphs come twice."""

import re

import pytest

from tui.engines.arguments import read_arguments
from tui.engines.header import LEVEL
from tui.engines.marks import FaultKind, Mark, MarkKind, Weight
from tui.engines.phase import Phase
from tui.engines.reader import LineReader
from tui.engines.rules import Rule
from tui.engines.trtllm import RULES, TRTLLM
from tui.watch.phases import LogPhases

INFO = "[12/20/2025-04:20:04] [TRT-LLM] [I] "
ALLOCATED = "[TensorRT-LLM][INFO] [MemUsageChange] Allocated {} GiB for max tokens in paged KV cache (9)."
BEGINS, WITHIN, ENDS, FACT = MarkKind.BEGINS, MarkKind.WITHIN, MarkKind.ENDS, MarkKind.FACT


def marks(line: str) -> tuple[Mark, ...]:
    return LineReader(TRTLLM).read(line).marks


def only(line: str) -> Mark:
    found = marks(line)
    assert len(found) == 1, found
    return found[0]


LINES: list[tuple[str, MarkKind, Phase | None]] = [
    ("[TensorRT-LLM] TensorRT-LLM version: 1.1.0rc3", FACT, None),
    ("[TensorRT-LLM] TensorRT LLM version: 1.2.0rc5", FACT, None),
    (INFO + "Starting TensorRT-LLM init.", WITHIN, Phase.LAUNCH),
    (INFO + "Using LLM with PyTorch backend", MarkKind.START, Phase.LAUNCH),
    (INFO + "Using LLM with AutoDeploy backend", MarkKind.START, Phase.LAUNCH),
    ("rank 0 using MpiPoolSession to spawn MPI processes", WITHIN, Phase.DISTRIBUTED),
    ("Using MpiCommSession to bind to external MPI processes", WITHIN, Phase.DISTRIBUTED),
    ("[TensorRT-LLM][INFO] Refreshed the MPI local session", WITHIN, Phase.DISTRIBUTED),
    ("gpu-a:46:46 [5] NCCL INFO Init COMPLETE", WITHIN, Phase.DISTRIBUTED),
    (
        "[12/20/2025-03:36:04] [TRT-LLM AUTO-DEPLOY] [RANK 0] [I] Initializing for: lib='OMPI', local_rank=0,"
        " world_size=1, port=47803",
        MarkKind.IDENTITY,
        Phase.DISTRIBUTED,
    ),
    (INFO + "ATTENTION RUNTIME FEATURES:  AttentionRuntimeFeatures(x=1)", WITHIN, Phase.WEIGHTS),
    (INFO + "Use 63.32 GB for model weights.", BEGINS, Phase.WEIGHTS),
    ("[10/21/2025-23:23:27] [TRT-LLM] [RANK 0] [I] Prefetching /m/a.safetensors", WITHIN, Phase.WEIGHTS),
    ("Model init total -- 49.14s", ENDS, Phase.WEIGHTS),
    (
        "[TensorRT-LLM][INFO] Max KV cache blocks per sequence: 288 [window size=8224], tokens",
        BEGINS,
        Phase.KV_CACHE,
    ),
    (
        "[TensorRT-LLM][INFO] [MemUsageChange] Allocated 0.56 GiB for max tokens in paged KV cache (8224).",
        BEGINS,
        Phase.KV_CACHE,
    ),
    (INFO + "Estimated max memory in KV cache : 5.95 GiB", BEGINS, Phase.KV_CACHE),
    (INFO + "[Autotuner] Autotuning process starts ...", WITHIN, Phase.COMPILE),
    (INFO + "[_torch  ] [Autotuner] Autotuning process starts ...", WITHIN, Phase.COMPILE),
    ("[TRT-LLM] [I] Running autotuner warmup...", WITHIN, Phase.COMPILE),
    ("[TRT-LLM] [I] Run warmup with 8192 tokens, include 0 generation tokens", WITHIN, Phase.COMPILE),
    (INFO + "[stage=compile, transform=compile_model] elapsed time: total=12", WITHIN, Phase.COMPILE),
    (INFO + "[Autotuner] Autotuning process ends", ENDS, Phase.COMPILE),
    (INFO + "Creating CUDA graph instances for 11 batch sizes.", BEGINS, Phase.CAPTURE),
    (INFO + "Run generation only CUDA graph warmup for batch size=64", WITHIN, Phase.CAPTURE),
    (INFO + "Run generation only CUDA graph warmup for batch size=64, draft_len=0", WITHIN, Phase.CAPTURE),
    (INFO + "Peak memory during memory usage profiling (torch): 113.65 GiB", WITHIN, Phase.CAPTURE),
    (INFO + "Memory used after loading model weights (inside torch) in x: 63.52 GiB", FACT, None),
    (INFO + "Setting PyTorch memory fraction to 0.59 (71.62 GiB)", WITHIN, Phase.START_API),
    (INFO + "get signal from executor worker", BEGINS, Phase.START_API),
    ("INFO:     Started server process [41]", BEGINS, Phase.START_API),
    ("INFO:     Application startup complete.", WITHIN, Phase.START_API),
    ("Warmup requests: 1/3 (x)", MarkKind.PROGRESS, Phase.START_API),
    ("INFO:     Uvicorn running on http://0.0.0.0:8355 (Press CTRL+C to quit)", MarkKind.READY, Phase.READY),
    (INFO + "[serve   ] Server state: READY (engine initialized)", MarkKind.READY, Phase.READY),
    (INFO + "Server is ready to accept requests", MarkKind.READY, Phase.READY),
    ('INFO:     127.0.0.1:46510 - "GET /v1/models HTTP/1.1" 200 OK', MarkKind.READY, Phase.READY),
    ("[TRT-LLM] [E] LLM is unavailable. Please check the server logs.", MarkKind.HEARTBEAT, None),
    (INFO + "iter = 1, rank = 0, x = 0/1, num_scheduled_requests: 3, states = {}", FACT, None),
    ("INFO:     Shutting down", MarkKind.SHUTDOWN, None),
    (INFO + "Shutting down FastAPI HTTP server.", MarkKind.SHUTDOWN, None),
    (INFO + "Parent process (PID 7) received signal SIGTERM. Terminating child", MarkKind.SHUTDOWN, None),
]  # fmt: skip


@pytest.mark.parametrize(("line", "kind", "phase"), LINES)
def test_a_line_tells_its_phase(line: str, kind: MarkKind, phase: Phase | None) -> None:
    mark = only(line)
    assert (mark.kind, mark.phase) == (kind, phase)


def messages() -> list[str]:
    return [LEVEL.sub("", TRTLLM.header.record.sub("", line)) for line, _, _ in LINES]


def first_of(message: str) -> Rule:
    return next(rule for rule in RULES if not rule.bar and rule.pattern.match(message))


@pytest.mark.parametrize("message", messages())
def test_looking_rows_up_by_the_first_word_finds_what_trying_all_of_them_does(message: str) -> None:
    mark = marks(INFO + message)[0]
    first = first_of(message)
    assert (mark.kind if not mark.heartbeat else None, mark.phase) == (
        first.kind if not first.heartbeat else None,
        first.phase,
    )


def test_every_row_is_the_one_that_some_line_reaches() -> None:
    reached = {first_of(message).pattern.pattern for message in messages()}
    assert [
        rule.pattern.pattern for rule in RULES if not rule.bar and rule.pattern.pattern not in reached
    ] == []


@pytest.mark.parametrize(
    ("line", "expected", "seconds"),
    [
        (INFO + "Use 63.32 GB for model weights.", {"weights_gib": 63.32}, None),
        ("Model init total -- 49.14s", {}, 49.14),
        (
            "[TensorRT-LLM][INFO] [MemUsageChange] Allocated 5.95 GiB for max tokens in paged KV cache "
            "(86720).",
            {"kv_cache_gib": 5.95, "kv_cache_tokens": 86720.0},
            None,
        ),
    ],
)
def test_a_line_gives_its_figures(line: str, expected: dict[str, float], seconds: float | None) -> None:
    mark = only(line)
    assert {figure.name: figure.value for figure in mark.figures} == expected
    assert mark.seconds == seconds


@pytest.mark.parametrize(
    ("line", "unit"),
    [
        ("Loading safetensors weights in parallel: 100%|█████| 15/15 [00:00<00:00, 81.92it/s]", "files"),
        ("Loading weights: 100%|██████████| 15/15 [00:46<00:00, 17.29it/s]", "modules"),
        ("Fetching 15 files: 100%|██████████| 15/15 [00:00<00:00, 41875.13it/s]", "files"),
    ],
)
def test_a_bar_tells_how_far_the_weights_are(line: str, unit: str) -> None:
    mark = only(line)
    assert (mark.kind, mark.phase) == (MarkKind.PROGRESS, Phase.WEIGHTS)
    assert mark.progress is not None
    assert (mark.progress.done, mark.progress.total, mark.progress.unit) == (15, 15, unit)


def test_a_rank_stands_before_the_level() -> None:
    mark = only(
        "[10/21/2025-23:24:47] [TRT-LLM] [RANK 3] [I] Setting PyTorch memory fraction to 0.2 (40 GiB)"
    )
    assert mark.speaker.rank == "RANK 3"


def test_the_version_is_kept() -> None:
    assert only("[TensorRT-LLM] TensorRT LLM version: 1.3.0rc0").version == "1.3.0rc0"


@pytest.mark.parametrize(
    "line",
    [
        INFO + "Prompt: Uvicorn running on http://0.0.0.0:8355",
        'INFO:     127.0.0.1:46510 - "GET /health HTTP/1.1" 503 Service Unavailable',
        INFO + "Set nccl_plugin to None.",
        "[TensorRT-LLM][INFO] Number of tokens per block: 32.",
        "[TensorRT-LLM][WARNING] Attention workspace size is not enough, increase the size from 0 bytes",
        "[TensorRT-LLM][ERROR] CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED not supported on GPU0.",
        "2025-12-20 04:20:03,864 - INFO - flashinfer.jit: Prebuilt kernels not found, using JIT backend",
    ],
)
def test_what_says_nothing_of_the_load_is_no_mark_that_moves_or_ends_it(line: str) -> None:
    load = LogPhases(TRTLLM)
    load.read(line)
    assert (load.outcome, load.phase) == ("unfinished", None)


def test_pools_tuning_and_graphs_come_twice_and_the_load_goes_along() -> None:
    load = LogPhases(TRTLLM)
    steps = [
        ("Model init total -- 49.14s", Phase.WEIGHTS),
        *(
            (line, phase)
            for size in ("0.56", "5.95")
            for line, phase in (
                (ALLOCATED.format(size), Phase.KV_CACHE),
                (INFO + "[Autotuner] Autotuning process starts ...", Phase.COMPILE),
                (INFO + "Creating CUDA graph instances for 11 batch sizes.", Phase.CAPTURE),
            )
        ),
        ("INFO:     Started server process [41]", Phase.START_API),
        ("INFO:     Uvicorn running on http://0.0.0.0:8355", Phase.READY),
    ]  # fmt: skip
    stood: list[Phase | None] = []
    for line, _ in steps:
        load.read(line)
        stood.append(load.phase)
    assert stood == [phase for _, phase in steps]
    assert load.outcome == "ready"
    assert load.figures["kv_cache_gib"].value == 5.95


@pytest.mark.parametrize(
    ("line", "kind", "weight"),
    [
        (
            "[07/22/2025-05:45:38] [TRT-LLM] [E] Failed to initialize executor on rank 0: CUDA out of "
            "memory. Tried",
            None,
            Weight.CAUSE,
        ),
        (
            "[TRT-LLM] [E] Failed to initialize executor on rank 0: The checkpoint you are trying to "
            "load has model"
            " type `q` but Transformers does not recognize this architecture.",
            FaultKind.BAD_CONFIG,
            Weight.CAUSE,
        ),
        ("[TRT-LLM] [E] Failed to initialize executor on rank 2: boom", FaultKind.UNKNOWN, Weight.ERROR),
        ("RuntimeError: Executor creation failed due to insufficient GPU memory.", None, Weight.CAUSE),
        ("RuntimeError: Executor worker returned error", FaultKind.UNKNOWN, Weight.ECHO),
        ("RuntimeError: Executor worker died during initialization", FaultKind.RANK_DIED, Weight.REPORT),
        (
            "RuntimeError: Failed to bind socket to localhost:8000: [Errno 98] Address already in use",
            FaultKind.PORT_IN_USE,
            Weight.CAUSE,
        ),
        ("RuntimeError: Only SM100 is supported by FP4 block scale MOE", FaultKind.BAD_CONFIG, Weight.CAUSE),
        (
            "[04/17/2026-08:21:45] [TRT-LLM] [E] Failed to parse the arguments for the LLM constructor: "
            "1 validation",
            FaultKind.BAD_CONFIG,
            Weight.CAUSE,
        ),
        ("ptxas fatal   : Ptx assembly aborted due to errors", FaultKind.COMPILE, Weight.CAUSE),
    ],
)
def test_a_failure_has_its_kind_and_weight(line: str, kind: FaultKind | None, weight: Weight) -> None:
    fault = next(mark.fault for mark in marks(line) if mark.fault is not None)
    assert (fault.kind, fault.weight) == (kind, weight)
    assert "{" not in fault.cause + fault.next_step


def test_the_cause_in_a_worker_beats_the_parent_that_only_repeats_it() -> None:
    load = LogPhases(TRTLLM)
    lines = [
        INFO + "Use 63.32 GB for model weights.",
        "[TRT-LLM] [E] Failed to initialize executor on rank 0: CUDA out of memory. Tried to allocate "
        "136.00 MiB.",
        "RuntimeError: Executor worker returned error",
    ]
    for number, line in enumerate(lines, 1):
        load.read(line, number)
    assert (load.outcome, load.phase) == ("failed", Phase.WEIGHTS)
    assert load.cause is not None
    assert (load.cause.kind, load.cause.quote.number) == (FaultKind.OOM_WEIGHTS, 2)


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("/usr/bin/python3 /usr/local/bin/trtllm-serve openai/gpt-oss-120b --port 8355", True),
        ("trtllm-serve serve openai/gpt-oss-120b --tp_size 4", True),
        ("tail -f trtllm-serve.log", False),
        ("mpirun -n 8 trtllm-llmapi-launch trtllm-serve m", False),
        ("grep trtllm-serve /var/log/x", False),
    ],
)
def test_a_server_is_found_by_its_command_line(command: str, found: bool) -> None:
    assert any(re.search(pattern, command) for pattern in TRTLLM.matcher.argv) is found


@pytest.mark.parametrize(
    "command",
    [
        "/usr/bin/python3 /usr/local/bin/trtllm-serve openai/gpt-oss-120b --port 8355 --tp_size 4",
        "trtllm-serve serve openai/gpt-oss-120b --port 8355 --tp_size 4",
        "trtllm-serve --port 8355 --tp_size=4 serve openai/gpt-oss-120b",
    ],
)
def test_the_model_stands_behind_the_program_or_its_subcommand(command: str) -> None:
    said = read_arguments(TRTLLM, command.split())
    assert (said.model, said.port, said.tensor_parallel) == ("openai/gpt-oss-120b", 8355, 4)
