"""The figures, bars and steady lines of SGLang, by version."""

import pytest

from tui.engines.marks import Mark, MarkKind, Steady
from tui.engines.phase import Phase
from tui.engines.reader import LineReader
from tui.engines.sglang import SGLANG
from tui.watch.phases import LogPhases

TIME = "[2026-02-26 05:33:19 TP0] "
MAIN = "[2026-02-26 05:33:19] "


def only(line: str) -> Mark:
    found = LineReader(SGLANG).read(line).marks
    assert len(found) == 1, found
    return found[0]


def figures(mark: Mark) -> dict[str, float]:
    return {figure.name: figure.value for figure in mark.figures}


@pytest.mark.parametrize(
    ("line", "seconds", "expected"),
    [
        (
            "Load weight end. type=A, dtype=torch.bfloat16, avail mem=31.87 GB, mem usage=105.59 GB.",
            None,
            {"free_gib": 31.87, "weights_gib": 105.59},
        ),
        (
            "Load weight end. elapsed=541.76 s, type=A, quant=fp8, fmt=e4m3, avail mem=17.47 GB, mem "
            "usage=94.00 GB.",
            541.76,
            {"free_gib": 17.47, "weights_gib": 94.0},
        ),
        (
            "Load weight end. elapsed=2.90 s, type=A, avail mem=123.4 GB, mem usage=-1.86 GB.",
            2.9,
            {"free_gib": 123.4, "weights_gib": -1.86},
        ),
        (
            "Load weight end. Committed real weights after CUDA graph capture in 12.5 s (7 tensors)",
            12.5,
            {},
        ),
        (
            "KV Cache is allocated. #tokens: 161488, KV size: 10.57 GB",
            None,
            {"kv_cache_tokens": 161488.0, "kv_cache_gib": 10.57},
        ),
        (
            "KV Cache is allocated. dtype: torch.float8_e4m3fn, #tokens: 879872, K size: 13.43 GB, V "
            "size: 13.4 GB",
            None,
            {"kv_cache_tokens": 879872.0, "k_cache_gib": 13.43, "v_cache_gib": 13.4},
        ),
        (
            "Post-capture KV sizing: KV cache allocated. dtype: torch.bfloat16, #tokens: 9, KV size: "
            "1.50 GB, avail",
            None,
            {"kv_cache_tokens": 9.0, "kv_cache_gib": 1.5},
        ),
        (
            "SWAKVPool mem usage: 3.25 GB, swa size: 5, full size: 9",
            None,
            {"kv_cache_gib": 3.25},
        ),
        ("Capture cuda graph end. Time elapsed: 2.19 s", 2.19, {}),
        (
            "Capture cuda graph end. Time elapsed: 9.1 s. avail mem=2.00 GB. mem usage=1.10 GB.",
            9.1,
            {"graph_gib": 1.1},
        ),
        (
            "Capture cuda graph end. Time elapsed: 9.1 s. mem usage=1.10 GB. avail mem=2.00 GB.",
            9.1,
            {"graph_gib": 1.1},
        ),
        (
            "Capture target decode CUDA graph end. bs=[1, 2], elapsed=6.77 s, mem usage=0.48 GB, avail "
            "mem=9.7 GB.",
            6.77,
            {"graph_gib": 0.48},
        ),
        (
            "Capture draft extend CUDA graph end. step=1, elapsed=0.74 s, mem usage=0.08 GB, avail "
            "mem=6.60 GB.",
            0.74,
            {"graph_gib": 0.08},
        ),
        (
            "max_total_num_tokens=273825, chunked_prefill_size=8192, context_len=4, "
            "available_gpu_mem=9.70 GB",
            None,
            {"kv_cache_tokens": 273825.0, "free_gib": 9.7},
        ),
        (
            "Engine startup timings (s): load_weight=616.34, kv_cache_allocation=6.68, "
            "scheduler_e2e=761.30, cuda",
            None,
            {"load_weights_s": 616.34, "kv_cache_s": 6.68, "scheduler_s": 761.3},
        ),
    ],
)
def test_a_line_gives_its_figures(line: str, seconds: float | None, expected: dict[str, float]) -> None:
    mark = only(TIME + line)
    assert mark.seconds == seconds
    assert figures(mark) == expected


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("Capture cuda graph begin. This can take", ""),
        ("Capture draft cuda graph begin. This can take", "draft"),
        ("Capture target prefill CUDA graph begin. backend=tc_piecewise,", "target prefill"),
        ("Capture draft extend CUDA graph end. elapsed=1 s", "draft extend"),
        ("Capture single-CG draft extend end. elapsed=1 s", "single-CG draft extend"),
        ("Capture Frozen-KV MTP draft cuda graph begin.", "Frozen-KV MTP draft"),
    ],
)
def test_a_capture_names_what_it_captures(line: str, part: str) -> None:
    assert only(TIME + line).part == part


@pytest.mark.parametrize(
    ("line", "phase", "progress"),
    [
        (
            "Loading safetensors checkpoint shards:  25% Completed | 1/4 [00:00<00:00,  6.66it/s]",
            Phase.WEIGHTS,
            (1, 4, "shards", ""),
        ),
        (
            "Loading pt checkpoint shards: 100% Completed | 4/4 [00:00<00:00,  6.66it/s]",
            Phase.WEIGHTS,
            (4, 4, "shards", ""),
        ),
        (
            "Multi-thread loading shards:   6% Completed | 3/48 [00:07<01:56,  2.59s/it]",
            Phase.WEIGHTS,
            (3, 48, "shards", ""),
        ),
        (
            "Loading safetensors using Runai Model Streamer:  50% Completed | 2/4 [00:07<01:56,  2.59s/it]",
            Phase.WEIGHTS,
            (2, 4, "shards", ""),
        ),
        (
            "Fetching 9 files:  44%|████▍     | 4/9 [00:08<00:10,  2.00s/it]",
            Phase.WEIGHTS,
            (4, 9, "files", ""),
        ),
        (
            "Capturing batches (avail_mem=30.87 GB):  25%|██▌       | 1/4 [00:08<00:24,  8.29s/it]",
            Phase.CAPTURE,
            (1, 4, "sizes", ""),
        ),
        (
            "Capturing batches (bs=16 avail_mem=2.60 GB):   0%|          | 0/52 [00:00<?, ?it/s]",
            Phase.CAPTURE,
            (0, 52, "sizes", "bs=16"),
        ),
        (
            "Capturing num tokens (num_tokens=8192 avail_mem=10.97 GB):   2%|▏ | 1/58 [00:01<01:18,  "
            "1.38s/it]",
            Phase.CAPTURE,
            (1, 58, "sizes", "num_tokens=8192"),
        ),
        (
            "[BCG] Capturing (num_tokens=64 avail_mem=1 GB):  50%|█████     | 1/2 [00:01<01:18,  1.38s/it]",
            Phase.CAPTURE,
            (1, 2, "sizes", "num_tokens=64"),
        ),
        (
            "Compiling num tokens (num_tokens=8192):   0%|          | 0/58 [00:00<?, ?it/s]",
            Phase.CAPTURE,
            (0, 58, "sizes", "num_tokens=8192"),
        ),
        (
            "DeepGEMM warmup:  12%|█▏        | 1902/16384 [00:00<00:00, 19014.49it/s]",
            Phase.COMPILE,
            (1902, 16384, "kernels", ""),
        ),
        (
            "[AutoTuner]: Tuning trtllm::fused_moe::gemm1:  50%|█████     | 3/6 [00:00<00:00,  "
            "5.84profile/s]",
            Phase.COMPILE,
            (3, 6, "profiles", ""),
        ),
        ("  0%|          | 0/52 [00:00<?, ?it/s]", None, (0, 52, "", "")),
    ],
)
def test_a_bar_tells_how_far_and_what_is_under_way(
    line: str, phase: Phase | None, progress: tuple[float, float, str, str]
) -> None:
    mark = only(line)
    assert (mark.kind, mark.phase) == (MarkKind.PROGRESS, phase)
    assert mark.progress is not None
    said = mark.progress
    assert (said.done, said.total, said.unit, said.current) == progress


@pytest.mark.parametrize(
    ("line", "steady"),
    [
        (
            "Decode batch. #running-req: 3, #token: 9, token usage: 0.25, gen throughput (token/s): 7.5, "
            "#queue-req: 2",
            Steady(7.5, None, 3, 2, 25.0, None),
        ),
        (
            "Decode batch. #running-req: 3, #token: 9, token usage: 0.25, accept len: 2.31, gen "
            "throughput (token/s):"
            " 7.5, largest-len: 0, #queue-req: 2, ",
            Steady(7.5, None, 3, 2, 25.0, 2.31),
        ),
        (
            "Decode batch. #running-req: 16, #token: 9, token usage: 0.25, cuda graph: True, gen "
            "throughput (token/s):"
            " 9.2, #queue-req: 0",
            Steady(9.2, None, 16, 0, 25.0, None),
        ),
        (
            "Decode batch [40], #running-req: 1, #token: 9, token usage: 0.50, accept len: 3.10, accept "
            "rate: 0.62,"
            " pre-allocated usage: 0.10, #prealloc-req: 0, #transfer-req: 0, #retracted-req: 0, cuda "
            "graph: False,"
            " gen throughput (token/s): 77.10, #queue-req: 4, est. decode TFLOPS/s (per GPU): 1.00",
            Steady(77.1, None, 1, 4, 50.0, 3.1),
        ),
        (
            "Decode batch, #running-req: 2, #full token: 9, full token usage: 0.50, #swa token: 3, swa "
            "token usage:"
            " 0.75, accept len: 2.00, accept rate: 0.5, cap len: 3.00, block accept len: 9.00, cuda "
            "graph: True,"
            " gen throughput (token/s): 12.00, #queue-req: 0",
            Steady(12.0, None, 2, 0, 50.0, 2.0),
        ),
        (
            "Decode batch, #running-req: 2, mamba num: 5, mamba usage: 0.20, cuda graph: True, gen throughput"
            " (token/s): 12.00, #queue-req: 0",
            Steady(12.0, None, 2, 0, None, None),
        ),
    ],
)
def test_a_decode_line_of_any_version_is_steady_state(line: str, steady: Steady) -> None:
    mark = only(TIME + line)
    assert (mark.kind, mark.phase, mark.steady) == (MarkKind.STEADY, Phase.READY, steady)


@pytest.mark.parametrize(
    ("line", "steady"),
    [
        (
            "Prefill batch. #new-seq: 1, #new-token: 4, #cached-token: 0, cache hit rate: 1.00%, token "
            "usage: 0.01,"
            " #running-req: 0, #queue-req: 5",
            Steady(None, None, None, 5, 1.0, None),
        ),
        (
            "Prefill batch, #new-seq: 1, #new-token: 256, #cached-token: 0, full token usage: 0.01, swa "
            "token usage:"
            " 0.02, #running-req: 0, #queue-req: 0, #pending-token: 0, cuda graph: False, input "
            "throughput (token/s):"
            " 19.66",
            Steady(None, 19.66, None, 0, 1.0, None),
        ),
        (
            "Prefill batch [7], #new-seq: 1, #new-token: 29, #cached-token: 0, token usage: 0.00, "
            "#running-req: 0,"
            " #queue-req: 0, input throughput (token/s): 3.25, cuda graph: True",
            Steady(None, 3.25, None, 0, 0.0, None),
        ),
    ],
)
def test_a_prefill_line_is_warm_up_with_figures(line: str, steady: Steady) -> None:
    mark = only(TIME + line)
    assert (mark.kind, mark.phase, mark.steady) == (MarkKind.WITHIN, Phase.WARMUP, steady)


def test_a_prefill_line_of_a_ready_server_takes_nothing_back_and_adds_its_rate() -> None:
    load = LogPhases(SGLANG)
    load.read(MAIN + "The server is fired up and ready to roll!")
    load.read(TIME + "Decode batch, #running-req: 2, token usage: 0.50, gen throughput (token/s): 12.00")
    load.read(TIME + "Prefill batch, #new-seq: 1, token usage: 0.50, input throughput (token/s): 3.25")
    assert (load.outcome, load.phase) == ("ready", Phase.READY)
    assert load.steady == Steady(12.0, 3.25, 2, None, 50.0, None)


def test_which_rank_a_process_is_stands_in_its_init_line() -> None:
    mark = only(TIME + "world_size=16 rank=6 local_rank=6 distributed_init_method=tcp://h:1 backend=nccl")
    assert mark.kind is MarkKind.IDENTITY
    assert mark.identity is not None
    assert (mark.identity.world_size, mark.identity.global_rank, mark.identity.local_rank) == (16, 6, 6)


def test_the_arguments_are_kept() -> None:
    assert only(MAIN + "server_args=ServerArgs(model_path='m')").arguments == "ServerArgs(model_path='m')"
