"""What vLLM's lines tell beside the phase: figures, progress, versions, ranks, statistics."""

import pytest

from tui.engines.marks import CACHE_COLD, CACHE_WARM, Mark, MarkKind, RankIdentity, Steady
from tui.engines.phase import Phase
from tui.engines.reader import LineReader
from tui.engines.vllm import VLLM

OLD = "INFO 10-11 09:05:30 model_runner.py:1025] "
V1_8 = "(VllmWorker rank=1 pid=123) INFO 06-05 10:46:24 [backends.py:158] "
V1_11 = "(Worker_TP0 pid=78022) INFO 10-22 09:33:49 [gpu_worker.py:298] "
CORE = "(EngineCore pid=3096) INFO 11-29 14:46:45 [core.py:114] "
API = "(APIServer pid=3224) INFO 11-29 13:47:07 [launcher.py:186] "


def only(line: str) -> Mark:
    found = LineReader(VLLM).read(line).marks
    assert len(found) == 1, found
    return found[0]


@pytest.mark.parametrize(
    ("line", "figures"),
    [
        (
            CORE
            + "Filesystem type for checkpoints: NFS. Checkpoint size: 58.25 GiB. Available RAM: 171.16 GiB.",
            {"checkpoint_gib": 58.25},
        ),
        (OLD + "Loading model weights took 2.8875 GB", {"weights_gib": 2.8875}),
        (CORE + "Model loading took 58.76 GiB and 34.846494 seconds", {"weights_gib": 58.76}),
        (
            OLD
            + "model weights take 2.89GiB; non_torch_memory takes 0.01GiB; PyTorch activation peak memory "
            "takes 2.02GiB; the rest of the memory reserved for KV Cache is 2.36GiB.",
            {"kv_cache_gib": 2.36},
        ),
        (V1_11 + "Available KV cache memory: 11.17 GiB", {"kv_cache_gib": 11.17}),
        (CORE + "Available KV cache memory: -0.72 GiB", {"kv_cache_gib": -0.72}),
        (CORE + "Explicitly set (1.0/23.54) GiB for KV cache on node 0.", {"kv_cache_gib": 1.0}),
        (CORE + "GPU KV cache size: 1,001,650 tokens", {"kv_cache_tokens": 1001650}),
        (CORE + "Maximum concurrency for 200,000 tokens per request: 5.01x", {"max_concurrency_x": 5.01}),
        (
            CORE
            + "CPU KV cache size: 524,288 tokens, Maximum concurrency for 1,024 tokens per request: 512.00x",
            {"kv_cache_tokens": 524288, "max_concurrency_x": 512},
        ),
        (CORE + "Estimated CUDA graph memory: 0.13 GiB total", {"graph_estimated_gib": 0.13}),
        (CORE + "Graph capturing finished in 4 secs, took 0.10 GiB", {"graph_gib": 0.1}),
        (
            CORE
            + "CUDA graph pool memory: 0.1 GiB (actual), 0.13 GiB (estimated), difference: 0.03 GiB (26.9%).",
            {"graph_pool_gib": 0.1},
        ),
    ],
)
def test_a_line_tells_its_figures(line: str, figures: dict[str, float]) -> None:
    assert {figure.name: figure.value for figure in only(line).figures} == figures


@pytest.mark.parametrize(
    ("line", "seconds"),
    [
        (V1_8 + "Loading weights took 838.42 seconds", 838.42),
        (V1_8 + "Compiling a graph for general shape takes 48.12 s", 48.12),
        (CORE + "Compiling a graph for compile range (1, 8000) takes 2219.43 s", 2219.43),
        (V1_8 + "torch.compile takes 60.19 s in total", 60.19),
        (CORE + "[backbone] torch.compile took 2.89 s in total", 2.89),
        (CORE + "Graph capturing finished in 70 secs, took 1.87 GiB", 70),
        (V1_11 + "Time spent downloading weights for org/eagle3-draft: 9.181237 seconds", 9.181237),
    ],
)
def test_a_line_tells_how_long_it_took(line: str, seconds: float) -> None:
    assert only(line).seconds == seconds


@pytest.mark.parametrize(
    ("line", "part"),
    [
        (CORE + "Loading drafter model...", "draft model"),
        (CORE + "Compiling a graph for dynamic shape takes 13.62 s", CACHE_COLD),
        (CORE + "[backbone] Compiling model again due to a load failure from /c", CACHE_COLD),
        (CORE + "Directly load the compiled graph(s) for compile range (1, 8192) from the cache", CACHE_WARM),
        (CORE + "[backbone] Directly load AOT compilation from path /c/model", CACHE_WARM),
        ("Capturing CUDA graphs (decode, FULL): 100%|███| 35/35 [00:01<00:00, 33.86it/s]", "decode, FULL"),
    ],
)
def test_a_line_tells_what_of_the_phase_it_is(line: str, part: str) -> None:
    assert only(line).part == part


@pytest.mark.parametrize(
    ("line", "kind", "phase", "progress"),
    [
        (
            "Loading safetensors checkpoint shards:  45% Completed | 5/11 [00:10<00:12,  2.1s/it]",
            MarkKind.PROGRESS,
            Phase.WEIGHTS,
            (5, 11, "shards"),
        ),
        (
            "(EngineCore pid=4024) Loading safetensors checkpoint shards:   6% Completed | 1/17 "
            "[00:02<00:32]",
            MarkKind.PROGRESS,
            Phase.WEIGHTS,
            (1, 17, "shards"),
        ),
        (
            "Multi-thread loading shards:   6% Completed | 1/17 [00:01<00:20,  1.27s/it]",
            MarkKind.PROGRESS,
            Phase.WEIGHTS,
            (1, 17, "shards"),
        ),
        (
            "Loading safetensors using Runai Model Streamer:  50% Completed | 2/4 [00:01<00:01,  1.27s/it]",
            MarkKind.PROGRESS,
            Phase.WEIGHTS,
            (2, 4, "shards"),
        ),
        (
            "Capturing CUDA graph shapes:  20%|██        | 7/35 [00:21<00:00,  1.65it/s]",
            MarkKind.PROGRESS,
            Phase.CAPTURE,
            (7, 35, "sizes"),
        ),
        (
            "Capturing CUDA graphs (mixed prefill-decode, PIECEWISE):   0%|          | 0/8 [00:00<?, ?it/s]",
            MarkKind.PROGRESS,
            Phase.CAPTURE,
            (0, 8, "sizes"),
        ),
        (
            "DeepGEMM warmup:  30%|███       | 535/1762 [00:00<00:00, 2243.00it/s]",
            MarkKind.BEGINS,
            Phase.COMPILE,
            (535, 1762, "kernels"),
        ),
        (
            "DeepGemm(m_grouped_fp8_gemm_nt_contiguous) warmup (W=torch.Size([32, 4096, 7168])):  50%|██   "
            "| 1040/2080 [01:22<0:00, 12.1it/s]",
            MarkKind.BEGINS,
            Phase.COMPILE,
            (1040, 2080, "kernels"),
        ),
    ],
)
def test_a_bar_tells_how_far(
    line: str, kind: MarkKind, phase: Phase, progress: tuple[float, float, str]
) -> None:
    mark = only(line)
    assert (mark.kind, mark.phase) == (kind, phase)
    assert mark.progress is not None
    assert (mark.progress.done, mark.progress.total, mark.progress.unit) == progress


def test_the_download_of_one_weight_file_tells_the_phase_but_no_share_of_it() -> None:
    mark = only("model-00001-of-00004.safetensors:  12%|█▏        | 600M/4.98G [00:20<02:00, 33.1MB/s]")
    assert (mark.kind, mark.phase, mark.progress) == (MarkKind.WITHIN, Phase.WEIGHTS, None)


def test_prefetching_into_the_page_cache_is_no_measure_of_the_load() -> None:
    mark = only(CORE + "Prefetching checkpoint files: 20% (2/2)")
    assert (mark.kind, mark.phase, mark.progress) == (MarkKind.WITHIN, Phase.WEIGHTS, None)


@pytest.mark.parametrize(
    ("line", "version"),
    [
        (
            "INFO 10-22 09:32:12 [api_server.py:1839] vLLM API server version 0.11.0rc2.dev98+g393de22d2",
            "0.11.0rc2.dev98+g393de22d2",
        ),
        (API + " ▄▄ ▄█ █     █     █ ▀▄▀ █  version 0.32.0", "0.32.0"),
        (CORE + "Initializing a V1 LLM engine (v0.24.0) with config: model='q'", "0.24.0"),
        (
            OLD + "Initializing an LLM engine (v0.6.1.dev238+ge2c6e0a82) with config: model='q'",
            "0.6.1.dev238+ge2c6e0a82",
        ),
    ],
)
def test_the_version_is_read(line: str, version: str) -> None:
    assert only(line).version == version


def test_the_arguments_are_read_as_old_and_new_releases_print_them() -> None:
    assert only(API + "non-default args: {'model': 'q'}").arguments == "{'model': 'q'}"
    assert only(OLD + "args: Namespace(host=None, port=8000)").arguments == "Namespace(host=None, port=8000)"


@pytest.mark.parametrize(
    ("line", "identity"),
    [
        (
            "(Worker pid=958) INFO 08-09 20:55:03 [distributed/parallel_state.py:1607] world_size=2 rank=1 "
            "local_rank=1 distributed_init_method=tcp://127.0.0.1:51789 backend=nccl",
            RankIdentity(world_size=2, global_rank=1, local_rank=1),
        ),
        (
            CORE + "rank 3 in world size 4 is assigned as DP rank 1, PP rank 0, TP rank 1, EP rank 3",
            RankIdentity(world_size=4, global_rank=3, dp=1, pp=0, tp=1, ep=3),
        ),
        (
            CORE + "rank 0 in world size 2 is assigned as DP rank 0, PP rank 0, PCP rank 0, TP rank 0, ETP "
            "rank 0, "
            "EP rank N/A, EPLB rank N/A",
            RankIdentity(world_size=2, global_rank=0, dp=0, pp=0, tp=0),
        ),
    ],
)
def test_a_line_says_which_rank_a_process_is(line: str, identity: RankIdentity) -> None:
    assert only(line).identity == identity


@pytest.mark.parametrize(
    ("prefix", "rank", "role", "pid", "depth"),
    [
        ("", None, "", None, None),
        ("(VllmWorkerProcess pid=240) ", None, "VllmWorkerProcess", 240, 2),
        ("(RayWorkerWrapper pid=4194, ip=192.0.2.2) ", None, "RayWorkerWrapper", 4194, 2),
        ("(VllmWorker rank=3 pid=123) ", "3", "VllmWorker", 123, 2),
        ("(EngineCore_1 pid=77) ", None, "EngineCore_1", 77, 1),
        ("(APIServer pid=32) (EngineCore_0 pid=296) (VllmWorker TP0 pid=302) ", "TP0", "VllmWorker", 302, 2),
        ("(EngineCore_DP1 pid=68) ", "DP1", "EngineCore_DP1", 68, 1),
        ("(EngineCore_DP0 pid=68) (Worker_DP0_TP3_EP3 pid=70) ", "DP0 TP3 EP3", "Worker_DP0_TP3_EP3", 70, 2),
        ("(ApiServer_3 pid=39385) ", None, "ApiServer_3", 39385, 0),
        ("(DPSupervisor pid=9) ", None, "DPSupervisor", 9, 0),
        ("(EngineCore pid=594) ", None, "EngineCore", 594, 1),
        ("(Worker pid=958) ", None, "Worker", 958, 2),
        ("(VllmWorker-0 pid=6307) ", None, "VllmWorker-0", 6307, 2),
    ],
)
def test_the_last_prefix_of_a_line_speaks(
    prefix: str, rank: str | None, role: str, pid: int | None, depth: int | None
) -> None:
    speaker = only(prefix + "INFO 11-29 13:46:06 [x.py:1] Starting to load model m...").speaker
    assert (speaker.rank, speaker.role, speaker.pid, speaker.depth) == (rank, role, pid, depth)


@pytest.mark.parametrize(
    ("line", "steady"),
    [
        (
            OLD + "Avg prompt throughput: 0.8 tokens/s, Avg generation throughput: 0.2 tokens/s, Running: 1 "
            "reqs, "
            "Swapped: 0 reqs, Pending: 3 reqs, GPU KV cache usage: 0.1%, CPU KV cache usage: 0.0%.",
            Steady(0.2, 0.8, 1, 3, 0.1),
        ),
        (
            API
            + "Engine 000: Avg prompt throughput: 58.4 tokens/s, Avg generation throughput: 844.6 tokens/s, "
            "Running: 16 reqs, Waiting: 2 reqs, GPU KV cache usage: 0.3%, Prefix cache hit rate: 95.5%",
            Steady(844.6, 58.4, 16, 2, 0.3),
        ),
        (
            API + "4 Engines Aggregated: Avg prompt throughput: 1.0 tokens/s, Avg generation throughput: 2.0 "
            "tokens/s, Running: 5 reqs, Waiting: 0 reqs, Deferred: 1 reqs, Preemptions: 7, GPU KV cache "
            "usage: "
            "12.5%, Prefix cache hit rate: 0.0%",
            Steady(2.0, 1.0, 5, 0, 12.5),
        ),
        (
            API + "SpecDecoding metrics: Mean acceptance length: 2.71, Accepted throughput: 1.2 tokens/s",
            Steady(acceptance_length=2.71),
        ),
        (
            OLD + "SpecDecoding metrics: Draft acceptance rate: 57.1%, Mean acceptance length: 2.14, "
            "Accepted: 8 t",
            Steady(acceptance_length=2.14),
        ),
    ],
)
def test_statistics_mean_a_server_that_serves(line: str, steady: Steady) -> None:
    mark = only(line)
    assert mark.kind is MarkKind.STEADY
    assert mark.steady == steady


def test_the_engines_start_is_a_figure_and_no_time_of_the_api_that_starts_then() -> None:
    mark = only(
        CORE + "init engine (profile, create kv cache, warmup model) took 69.61 s (compilation: 42 s)"
    )
    assert (mark.phase, mark.seconds) == (Phase.START_API, None)
    assert [(figure.name, figure.value) for figure in mark.figures] == [("engine_init_s", 69.61)]
