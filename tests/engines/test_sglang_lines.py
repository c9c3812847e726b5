"""What SGLang's lines say of a load, by version: real shapes, near misses, and lines glued together."""

import re

import pytest

from tui.engines.header import LEVEL
from tui.engines.marks import Mark, MarkKind
from tui.engines.phase import Phase
from tui.engines.reader import LineReader
from tui.engines.rules import Rule
from tui.engines.sglang import RULES, SGLANG

TIME = "[2026-02-26 05:33:19 TP0] "
MAIN = "[2026-02-26 05:33:19] "
BEGINS, WITHIN, ENDS, PROGRESS = MarkKind.BEGINS, MarkKind.WITHIN, MarkKind.ENDS, MarkKind.PROGRESS


def marks(line: str) -> tuple[Mark, ...]:
    return LineReader(SGLANG).read(line).marks


def only(line: str) -> Mark:
    found = marks(line)
    assert len(found) == 1, found
    return found[0]


PHASE_LINES: list[tuple[str, MarkKind, Phase]] = [
    (MAIN + "server_args=ServerArgs(model_path='m', tp_size=8)", MarkKind.START, Phase.LAUNCH),
    (MAIN + "server_args={'model_path': 'm', 'tp_size': 8}", MarkKind.START, Phase.LAUNCH),
    (MAIN + "Launch DP0 starting at GPU #0.", WITHIN, Phase.LAUNCH),
    (TIME + "Init torch distributed begin.", BEGINS, Phase.DISTRIBUTED),
    (TIME + "Init parallel begin.", BEGINS, Phase.DISTRIBUTED),
    (TIME + "sglang is using nccl==2.27.3", WITHIN, Phase.DISTRIBUTED),
    ("h-0:100:1012 [1] NCCL INFO Channel 13/0 : 1[1] -> 2[2] via P2P/IPC", WITHIN, Phase.DISTRIBUTED),
    ("[Gloo] Rank 1 is connected to 1 peer ranks. Expected 1", WITHIN, Phase.DISTRIBUTED),
    (TIME + "Setup Custom allreduce failed with CUDART error: x", WITHIN, Phase.DISTRIBUTED),
    (TIME + "CustomAllreduce is disabled because it spans nodes.", WITHIN, Phase.DISTRIBUTED),
    (TIME + "Custom allreduce is disabled because of PCIe", WITHIN, Phase.DISTRIBUTED),
    (TIME + "NCCL/RCCL/HCCL warmup completed in 1.53 s (tp_size=8)", WITHIN, Phase.DISTRIBUTED),
    (TIME + "Gated launch waiting for activation. rank=3", WITHIN, Phase.DISTRIBUTED),
    (TIME + "Init torch distributed ends. mem usage=0.97 GB", ENDS, Phase.DISTRIBUTED),
    (TIME + "Init torch distributed ends. elapsed=1.33 s, mem usage=0.61 GB", ENDS, Phase.DISTRIBUTED),
    (TIME + "Init parallel ends. elapsed=1.33 s", ENDS, Phase.DISTRIBUTED),
    (TIME + "Memory baseline taken. mem usage=0.61 GB", WITHIN, Phase.DISTRIBUTED),
    (TIME + "Load weight begin. avail mem=139.13 GB", BEGINS, Phase.WEIGHTS),
    (MAIN + "Found local HF snapshot for q; skipping download.", WITHIN, Phase.WEIGHTS),
    ("[12-11 17:47:40] Loading Flux2DModel, default_dtype: torch.bfloat16", WITHIN, Phase.WEIGHTS),
    (TIME + "Load weight end. type=A, dtype=torch.bfloat16, avail mem=9.69 GB", ENDS, Phase.WEIGHTS),
    (TIME + "KV Cache is allocated. K size: 1.00 GB, V size: 1.00 GB.", BEGINS, Phase.KV_CACHE),
    (TIME + "Mamba Cache is allocated. max_mamba_cache_size: 80, conv_state", BEGINS, Phase.KV_CACHE),
    (TIME + "DSV4 pool sizes: full=2999808, swa=13312", BEGINS, Phase.KV_CACHE),
    (TIME + "DSv4 memory calculation: bytes_per_full_token=15955.85, x", BEGINS, Phase.KV_CACHE),
    (TIME + "Post-capture KV sizing: full_layer_tokens=1, swa_layer_tokens=2", WITHIN, Phase.KV_CACHE),
    (TIME + "Memory pool end. avail mem=2.44 GB", ENDS, Phase.KV_CACHE),
    (TIME + "Running FlashInfer autotune...", WITHIN, Phase.COMPILE),
    (TIME + "Running FlashInfer autotune with cache: /c/rank_tp0.json", WITHIN, Phase.COMPILE),
    (TIME + "FlashInfer autotune completed.", ENDS, Phase.COMPILE),
    (TIME + "Entering DeepGEMM JIT Pre-Complie session. And it may takes", WITHIN, Phase.COMPILE),
    (TIME + "Entering DeepGEMM JIT Pre-Compile session. It may take", WITHIN, Phase.COMPILE),
    (TIME + "Try DeepGEMM JIT Compiling for <GEMM_NT_F8F8BF16> N=4096,", WITHIN, Phase.COMPILE),
    (TIME + "PP-parallel DeepGEMM warmup start (pp_rank=1)", WITHIN, Phase.COMPILE),
    (TIME + "Compiling a graph for dynamic shape takes 2.18 s", WITHIN, Phase.COMPILE),
    (TIME + "Cache the graph for dynamic shape for later use", WITHIN, Phase.COMPILE),
    (TIME + "Capture cuda graph begin. This can take up to several minutes.", BEGINS, Phase.CAPTURE),
    (TIME + "Capture draft cuda graph begin. This can take up to several", BEGINS, Phase.CAPTURE),
    (TIME + "Capture draft extend cuda graph begin (step 1). This can", BEGINS, Phase.CAPTURE),
    (TIME + "Capture single-CG draft extend begin. This can take several", BEGINS, Phase.CAPTURE),
    (TIME + "Capture piecewise CUDA graph begin. avail mem=3.7 GB", BEGINS, Phase.CAPTURE),
    (TIME + "Capture target verify CUDA graph begin. backend=full, bs=[1, 2]", BEGINS, Phase.CAPTURE),
    (TIME + "Capture cuda graph bs [1, 2, 4, 8]", WITHIN, Phase.CAPTURE),
    (TIME + "Registering 2048 cuda graph addresses", WITHIN, Phase.CAPTURE),
    (TIME + "max_total_num_tokens=56524, max_prefill_tokens=16384", BEGINS, Phase.START_API),
    (MAIN + "Engine startup timings (s): load_weight=616.34, kv_cache", BEGINS, Phase.START_API),
    (MAIN + "INFO:     Started server process [83]", BEGINS, Phase.START_API),
    (MAIN + "Dummy health check server started in background thread at h:1", BEGINS, Phase.START_API),
    (MAIN + "INFO:     Application startup complete.", WITHIN, Phase.START_API),
    (MAIN + "INFO:     Uvicorn running on http://0.0.0.0:8888 (Press CTRL+C)", BEGINS, Phase.WARMUP),
    (MAIN + "Starting embedded Granian HTTP/2 server on h:1", BEGINS, Phase.WARMUP),
    (MAIN + "Running warmup compile-deep-gemm", WITHIN, Phase.WARMUP),
    (MAIN + "Start of pd disaggregation warmup ...", WITHIN, Phase.WARMUP),
    (MAIN + "The server is fired up and ready to roll!", MarkKind.READY, Phase.READY),
]


STEADY_LINES = [
    "world_size=16 rank=6 local_rank=6 distributed_init_method=tcp://h:1 backend=nccl",
    "Gated launch still waiting for activation. rank=3 elapsed=30 s",
    "TP rank 1 could finish the model loading, but there are other ranks that didn't finish loading.",
    "Load weight end. Committed real weights after CUDA graph capture in 12.5 s (7 tensors)",
    "SWAKVPool mem usage: 3.25 GB, swa size: 5, full size: 9",
    "Post-capture KV sizing: KV cache allocated. dtype: b, #tokens: 9, KV size: 1.50 GB, avail mem=1 GB",
    "Directly load the compiled graph for dynamic shape from the cache",
    "Capture cuda graph end. Time elapsed: 2.19 s",
    "Capture target decode CUDA graph end. bs=[1, 2], elapsed=6.77 s",
    "Capture draft cuda graph end. Time elapsed: 2.19 s",
    "Freezing GC in Scheduler process. gen0: 580->0",
    "Prefill batch. #new-seq: 1, #new-token: 4, #cached-token: 0, token usage: 0.00, #running-req: 0",
    "Decode batch. #running-req: 3, #token: 9, token usage: 0.25, gen throughput (token/s): 7.5",
    "Warmup requests: 1/3 (1024x1024)",
    "Init nccl begin.",
    "Worker 0: Scheduler loop started.",
    "Health check failed. Server couldn't get a response from detokenizer for last 20 seconds.",
    "Health check request received during shutdown. Returning 503.",
    "port 20000 is in use. Waiting for 3 seconds for nccl_port to be available.",
    "Receive: obj=GenerateReqInput(rid='a', text='CUDA out of memory')",
    "in=Why is [Errno 98] printed?, out={'text': 'An illegal memory access'}",
    "SIGTERM received. signum=None frame=None.",
    "Shutting down",
]


@pytest.mark.parametrize(("line", "kind", "phase"), PHASE_LINES)
def test_a_line_of_a_load_tells_its_phase(line: str, kind: MarkKind, phase: Phase) -> None:
    mark = only(line)
    assert (mark.kind, mark.phase) == (kind, phase)


@pytest.mark.parametrize(
    "around",
    [
        "{}",
        "sglang-1  | {}",
        "[sglang]     | {}",
        "2026-02-26T05:33:19.123456789Z stderr F {}",
        "│ {}          │",
        '{{"log":"{}\\n","stream":"stderr"}}',
        "{}\r",
    ],
)
@pytest.mark.parametrize(
    ("line", "kind", "phase"), [row for row in PHASE_LINES if row[0].startswith(TIME) and '"' not in row[0]]
)
def test_container_prefixes_frames_and_json_change_nothing(
    around: str, line: str, kind: MarkKind, phase: Phase
) -> None:
    mark = only(around.format(line))
    assert (mark.kind, mark.phase, mark.speaker.rank) == (kind, phase, "TP0")


@pytest.mark.parametrize(
    ("prefix", "rank"),
    [
        ("[2026-02-26 05:33:19 TP3] ", "TP3"),
        ("[2026-02-26 05:33:19 DP7 TP7] ", "DP7 TP7"),
        ("[2026-02-26 05:33:19.123 DP0 PP1 ATTN_CP0 MOE_DP1 TP2 EP2] ", "DP0 PP1 ATTN_CP0 MOE_DP1 TP2 EP2"),
        ("[2026-02-26 05:33:19] ", None),
        ("[2026-02-26 05:33:19] INFO scheduler.py:501: ", None),
        ("2025-08-28 21:19:34 INFO 125765 [ DP10 TP10 EP10 scheduler.py:2655] ", "DP10 TP10 EP10"),
        ("INFO 02-26 05:33:19 model_runner.py:12] ", None),
        ("2026-02-26 05:33:19,123 - sglang.srt - INFO - ", None),
    ],
)
def test_a_line_is_read_in_any_format_of_the_logger(prefix: str, rank: str | None) -> None:
    mark = only(prefix + "Load weight begin. avail mem=139.13 GB")
    assert (mark.kind, mark.phase, mark.speaker.rank) == (BEGINS, Phase.WEIGHTS, rank)
    assert [(figure.name, figure.value) for figure in mark.figures] == [("free_gib", 139.13)]


@pytest.mark.parametrize(
    ("line", "every_rank"),
    [
        ("Init torch distributed begin.", True),
        ("Load weight end. type=A, dtype=b, avail mem=1 GB", True),
        ("Memory pool end. avail mem=2.44 GB", True),
        ("Capture target decode CUDA graph begin. backend=full", True),
        ("Capture cuda graph end. Time elapsed: 2.19 s", True),
        ("Capture draft decode CUDA graph begin. backend=full", False),
        ("KV Cache is allocated. #tokens: 161488, KV size: 10.57 GB", False),
        ("max_total_num_tokens=56524, max_prefill_tokens=16384", False),
        ("Capture cuda graph bs [1, 2]", False),
    ],
)
def test_only_lines_that_every_rank_prints_can_show_that_one_lags(line: str, every_rank: bool) -> None:
    assert only(TIME + line).each is every_rank


@pytest.mark.parametrize(
    "line",
    [
        TIME + "Receive: prompt='The server is fired up and ready to roll!'",
        MAIN + "Prompt: The server is fired up and ready to roll!",
        "user asked: Load weight begin. avail mem=1 GB",
        MAIN + 'INFO:     10.0.0.1:5 - "GET /v1/models?q=The+server+is+fired+up HTTP/1.1" 404 Not Found',
        TIME + "Detected fp8 checkpoint.",
        TIME + "Finished streaming dequant fp8 wo_a",
        TIME + "Using FP8 KV cache but no scaling factors provided. Defaulting to 1.0",
        TIME + "Loading is done elsewhere",
        TIME + "Capture the flag begins here",
        MAIN + "Endpoint '/get_server_info' is deprecated and will be removed. Please use '/server_info'.",
        "The memory of this is 50% of that 1/2 [maybe]",
    ],
)
def test_what_only_quotes_a_sentence_is_no_mark(line: str) -> None:
    assert [mark for mark in marks(line) if mark.kind is not MarkKind.ACCESS] == []


@pytest.mark.parametrize(
    ("line", "first", "second"),
    [
        (
            "Capturing batches (bs=128 avail_mem=31.18 GB):   0%|    | 0/19 [00:00<?, ?it/s][2025-09-14 "
            "20:08:18 TP0]"
            " Entering DeepGEMM JIT Pre-Compile session. It may",
            (PROGRESS, Phase.CAPTURE),
            (WITHIN, Phase.COMPILE),
        ),
        (
            "Capturing batches (bs=4 avail_mem=7.67 GB):  25%|██▌  | 1/4 [00:08<00:24,  "
            "8.29s/it][2026-11-29 13:48:34"
            " TP0] Registering 2048 cuda graph addresses",
            (PROGRESS, Phase.CAPTURE),
            (WITHIN, Phase.CAPTURE),
        ),
        (
            "Compiling num tokens (num_tokens=8192):   0%|          | 0/58 [00:00<?, ?it/s][2026-11-29 "
            "14:35:18]"
            " Compiling a graph for dynamic shape takes 2.18 s",
            (PROGRESS, Phase.CAPTURE),
            (WITHIN, Phase.COMPILE),
        ),
    ],
)
def test_a_record_glued_to_a_bar_gives_both_marks(
    line: str, first: tuple[MarkKind, Phase], second: tuple[MarkKind, Phase]
) -> None:
    assert [(mark.kind, mark.phase) for mark in marks(line)] == [first, second]


@pytest.mark.parametrize(
    "around",
    ["{}", "[pod/llm-0/main] {}", "2026-02-26T05:33:19.1Z stderr F {}", '{{"message":"{}","level":"INFO"}}'],
)
def test_a_bar_behind_a_container_prefix_is_read_though_a_record_is_glued_to_it(around: str) -> None:
    bar = "Capturing batches (bs=4 avail_mem=7.67 GB):  25%|##   | 1/4 [00:08<00:24,  8.29s/it]"
    found = marks(around.format(bar + TIME + "Registering 2048 cuda graph addresses"))
    assert [(mark.kind, mark.phase) for mark in found] == [(PROGRESS, Phase.CAPTURE), (WITHIN, Phase.CAPTURE)]


def test_a_json_line_ends_where_its_message_does() -> None:
    mark = only('{"log":"' + MAIN + 'INFO:     Shutting down\\n","stream":"stderr"}')
    assert mark.kind is MarkKind.SHUTDOWN


@pytest.mark.parametrize(
    "line",
    [
        MAIN + "SIGTERM received. signum=None frame=None. Draining requests and shutting down...",
        MAIN + "SIGTERM received on node_rank 1; waiting for the rank-0 ShutdownReq broadcast to stop",
        MAIN + "Signal SIGTERM received while health check failed. Force exiting.",
        MAIN
        + "Gracefully exiting... Remaining number of requests 1. Remaining requests remaining_rids=['4'].",
        MAIN + "INFO:     Shutting down",
    ],
)
def test_an_end_that_was_asked_for_is_a_stop(line: str) -> None:
    assert only(line).kind is MarkKind.SHUTDOWN


@pytest.mark.parametrize(
    "line",
    [
        MAIN
        + "Health check failed. Server couldn't get a response from detokenizer for last 20 seconds. tic",
        MAIN + "Health check request received during shutdown. Returning 503.",
        MAIN + "port 20000 is in use. Waiting for 3 seconds for nccl_port to be available. x",
    ],
)
def test_what_repeats_without_progress_is_a_heartbeat(line: str) -> None:
    assert only(line).kind is MarkKind.HEARTBEAT


def messages() -> list[str]:
    """Return every sample without its head."""
    heads = re.compile(r"^\[[^\]]*\d\d:\d\d[^\]]*\] ")
    return [*(LEVEL.sub("", heads.sub("", line)) for line, _, _ in PHASE_LINES), *STEADY_LINES]


def first_of(message: str) -> Rule:
    """Return the first row of the table that matches, tried one after the other."""
    return next(rule for rule in RULES if not rule.bar and rule.pattern.match(message))


@pytest.mark.parametrize("message", messages())
def test_looking_rows_up_by_the_first_word_finds_what_trying_all_of_them_does(message: str) -> None:
    mark = marks(TIME + message)[0]
    first = first_of(message)
    assert (mark.kind, mark.phase, mark.each, mark.heartbeat) == (
        first.kind,
        first.phase,
        first.each,
        first.heartbeat,
    )


def test_every_row_is_the_one_that_some_line_reaches() -> None:
    reached = {first_of(message).pattern.pattern for message in messages()}
    assert [
        rule.pattern.pattern for rule in RULES if not rule.bar and rule.pattern.pattern not in reached
    ] == []
