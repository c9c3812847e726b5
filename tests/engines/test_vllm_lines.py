"""What lines of vLLM mean, by the releases that print them."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tui.engines.lines import troubling
from tui.engines.marks import (
    Mark,
    MarkKind,
    Progress,
)
from tui.engines.phase import Phase
from tui.engines.reader import LineReader
from tui.engines.rules import first_word
from tui.engines.vllm import VLLM
from tui.transport.clean import LineSplitter
from tui.watch.phases import LogPhases

SHARED = Path(__file__).parents[3] / "shared"
OLD = "INFO 10-11 09:05:30 model_runner.py:1025] "
V0 = "(VllmWorkerProcess pid=240) INFO 10-11 09:05:30 model_runner.py:1025] "
V1_8 = "(VllmWorker rank=1 pid=123) INFO 06-05 10:46:24 [backends.py:158] "
V1_10 = "(APIServer pid=32) (EngineCore_0 pid=296) (VllmWorker TP0 pid=302) INFO 09-07 11:25:27 [x.py:1] "
V1_11 = "(Worker_TP0 pid=78022) INFO 10-22 09:33:49 [gpu_worker.py:298] "
CORE = "(EngineCore pid=3096) INFO 11-29 14:46:45 [core.py:114] "
API = "(APIServer pid=3224) INFO 11-29 13:47:07 [launcher.py:186] "


def marks(line: str) -> list[Mark]:
    return list(LineReader(VLLM).read(line).marks)


def only(line: str) -> Mark:
    found = marks(line)
    assert len(found) == 1, found
    return found[0]


LINES = (
    (
        OLD.replace("model_runner.py:1025", "api_server.py:8") + "vLLM API server version 0.6.1",
        "start",
        "launch",
    ),
    ("INFO 10-22 09:32:12 [api_server.py:1839] vLLM API server version 0.11.0", "start", "launch"),
    (API + "       █     █     █▄   ▄█", "start", "launch"),
    (
        OLD + "Initializing an LLM engine (v0.6.1.dev238+ge2c6e0a82) with config: model='q'",
        "within",
        "launch",
    ),
    (CORE + "Initializing a V1 LLM engine (v0.24.0) with config: model='q'", "within", "launch"),
    (API + "Resolved architecture: Qwen3ForCausalLM", "within", "launch"),
    (
        "DEBUG 08-31 09:50:46 parallel_state.py:845] world_size=2 rank=0 local_rank=0 d=t",
        "identity",
        "distributed",
    ),
    (V0 + "Found nccl from library libnccl.so.2", "within", "distributed"),
    (V1_8 + "vLLM is using nccl==2.20.5", "within", "distributed"),
    (V0 + "Worker ready; awaiting tasks", "within", "distributed"),
    (OLD + "Starting to load model org/llama-3.1-8b-instruct...", "begins", "weights"),
    (CORE + "Loading model from scratch...", "begins", "weights"),
    (V1_11 + "Loading drafter model...", "begins", "weights"),
    (CORE + "Using V2 Model Runner", "within", "weights"),
    (V1_8 + "Loading weights took 0.69 seconds", "within", "weights"),
    (OLD + "Loading model weights took 14.9595 GB", "ends", "weights"),
    (V1_8 + "Model loading took 3.4213 GiB and 0.902026 seconds", "ends", "weights"),
    (V1_11 + "Model loading took 142.31 GiB memory and 912.235622 seconds", "ends", "weights"),
    (V1_11 + "Using cache directory: /c/rank_0_0 for vLLM's torch.compile", "begins", "compile"),
    (CORE + "[backbone] Dynamo bytecode transform time: 4.63 s", "begins", "compile"),
    (V1_8 + "Cache the graph of shape None for later use", "within", "compile"),
    (CORE + "Cache the graph of compile range (1, 8192) for later use", "within", "compile"),
    (CORE + "[backbone] saved AOT compiled function to /c/model", "within", "compile"),
    (CORE + "torch.compile took 42.26 s in total", "within", "compile"),
    (CORE + "Warming up model for the compilation...", "begins", "compile"),
    (CORE + "Warming up done.", "ends", "compile"),
    (CORE + "DeepSeek V4 mHC warmup finished in 0.45 seconds.", "within", "compile"),
    (
        "(EngineCore pid=4) 2026-11-29 14:52:55,587 - INFO - autotuner.py:622 - flashinfer.jit: "
        "[Autotuner]: Autotuning process starts ...",
        "begins",
        "compile",
    ),
    (OLD + "Memory profiling takes 5.31 seconds", "within", "kv_cache"),
    (CORE + "Encoder cache will be initialized with a budget of 8192 tokens, and", "within", "kv_cache"),
    (CORE + "[eagle_head] Initial profiling/warmup run took 0.07 s", "within", "kv_cache"),
    (OLD + "# CUDA blocks: 5519, # CPU blocks: 9362", "within", "kv_cache"),
    (OLD + "Capturing cudagraphs for decoding. This may lead to", "begins", "capture"),
    (OLD + "Graph capturing finished in 9 secs.", "ends", "capture"),
    (
        CORE + "init engine (profile, create kv cache, warmup model) took 11629.91 seconds",
        "begins",
        "start_api",
    ),
    (API + "Supported_tasks: ['generate']", "begins", "start_api"),
    (API + "Starting vLLM API server 0 on http://0.0.0.0:8000", "begins", "start_api"),
    (API + "Multi-modal warmup completed in 33.069s", "within", "start_api"),
    ("INFO:     Started server process [3224]", "begins", "start_api"),
    ("(APIServer pid=8) INFO:     Application startup complete.", "ready", "ready"),
    ("vllm-1  | (APIServer pid=8) INFO:     Application startup complete.", "ready", "ready"),
    ('{"level":"info","message":"Application startup complete."}', "ready", "ready"),
    (API + "vLLM gRPC server started on 0.0.0.0:50051", "ready", "ready"),
    (V1_10 + "Releasing expired KV blocks for request cmpl-0 which", "ready", "ready"),
)


@pytest.mark.parametrize(("line", "kind", "phase"), LINES)
def test_a_line_means_its_phase(line: str, kind: str, phase: str) -> None:
    mark = only(line)
    assert (mark.kind, mark.phase) == (MarkKind(kind), Phase(phase))


@pytest.mark.parametrize(
    "line",
    [
        OLD.replace("INFO", "DEBUG") + "No available block found in 60 second.",
        CORE + "No available shared memory broadcast block found in 60 seconds. This typically happens when",
        "(APIServer pid=1) DEBUG 08-09 20:55:20 [v1/engine/utils.py:1262] Waiting for 1 local, 0 remote core "
        "engine proc(s) to start.",
        # A record glued to the tail of a native line.
        "pod:958:958 [1] NCCL INFO Channel 01/0 : (APIServer pid=1) DEBUG 08-09 20:55:10 "
        "[v1/engine/utils.py:1262] "
        "Waiting for 1 local, 0 remote core engine proc(s) to start.",
    ],
)
def test_a_line_that_comes_again_and_again_is_no_progress(line: str) -> None:
    assert only(line).kind is MarkKind.HEARTBEAT


def test_waiting_for_a_placement_group_tells_the_phase_without_progress() -> None:
    mark = only(
        CORE + "Waiting for creating a placement group of specs for 30 seconds. specs=[{'GPU': 1.0}]."
    )
    assert (mark.kind, mark.phase, mark.heartbeat) == (MarkKind.WITHIN, Phase.DISTRIBUTED, True)


@pytest.mark.parametrize(
    "line",
    [
        API + "Received request cmpl-1: prompt: 'Application startup complete.', params: SamplingParams(n=1)",
        API + "Received request chatcmpl-2: prompt: 'INFO 11-29 13:47:07 [launcher.py:186] Shutting down', p",
        API
        + "Received request chatcmpl-3: prompt: 'ValueError: No available memory for the cache blocks', p",
        API + "Received request chatcmpl-4: prompt: 'Capturing CUDA graphs: 100%|██| 35/35 [00:21<00:00, "
        "1it/s]', p",
        API + "Received request cmpl-5: prompt: 'Engine 000: Avg prompt throughput: 1.0 tokens/s, Avg "
        "generation', p",
        API + "Route: /health, Methods: GET",
        API + "SECURITY WARNING: Development endpoints are enabled!",
        API + "Asynchronous scheduling is enabled.",
        CORE + "Using LBHNC KV cache layout.",
        CORE + "Successfully reset prefix cache",
        CORE + "[shutdown] Executor: all workers exited gracefully",
        CORE + "[shutdown] Process manager: send sigterm to process EngineCore",
        "(Worker_TP0 pid=21704) INFO 11-29 14:03:49 [x.py:843] Parent process exited, terminating worker "
        "queues",
        "(EngineCore pid=594) WARNING 08-04 13:17:28 [jit_monitor.py:103] Triton kernel JIT compilation "
        "during "
        "inference: kernel_unified_attention. This causes a latency spike; consider extending warmup",
        "(APIServer pid=3224) WARNING 11-29 13:44:29 [system_utils.py:255] Found ulimit of 20000 and failed "
        "to "
        "automatically increase with error current limit exceeds maximum limit. This can cause fd limit "
        "errors like "
        "`OSError: [Errno 24] Too many open files`.",
        "[rank0]:[W502 23:41:23.118203194 ProcessGroupNCCL.cpp:1575] Warning: WARNING: "
        "destroy_process_group() was "
        "not called before program exit, which can leak resources.",
        "(Worker_TP0 pid=60) ",
        "nanobind: leaked 514 functions!",
        "INFO:     Application shutdown complete.",
        "the server said Application startup complete",
    ],
)
def test_a_line_that_only_looks_like_one_means_nothing(line: str) -> None:
    assert marks(line) == []


@pytest.mark.parametrize(
    "line",
    [
        'INFO:     127.0.0.1:53752 - "GET /health HTTP/1.1" 200 OK',
        '(APIServer pid=1) INFO:     ::1:3 - "POST /v1/completions?q=Application%20startup HTTP/1.1" 200 OK',
    ],
)
def test_an_access_line_is_nothing_else(line: str) -> None:
    assert [mark.kind for mark in marks(line)] == [MarkKind.ACCESS]


def test_a_draft_model_takes_the_load_back_to_its_weights() -> None:
    log = LogPhases(VLLM)
    lines = (
        CORE + "Starting to load model big...",
        "Loading safetensors checkpoint shards: 100% Completed | 85/85 [02:11<00:00,  5.98s/it]",
        CORE + "Dynamo bytecode transform time: 4.63 s",
        CORE + "Loading drafter model...",
        "Loading safetensors checkpoint shards:   0% Completed | 0/1 [00:00<?, ?it/s]",
    )
    seen: list[Phase | None] = []
    for number, line in enumerate(lines, 1):
        log.read(line, number)
        seen.append(log.front)
    assert seen == [Phase.WEIGHTS, Phase.WEIGHTS, Phase.COMPILE, Phase.WEIGHTS, Phase.WEIGHTS]
    assert log.progress == Progress(0, 1, "shards", "Loading safetensors checkpoint shards")


def test_kernels_are_compiled_after_the_kv_cache_too() -> None:
    log = LogPhases(VLLM)
    log.read(CORE + "GPU KV cache size: 97,541 tokens", 1)
    log.read("DeepGEMM warmup:  30%|███       | 535/1762 [00:00<00:00, 2243.00it/s]", 2)
    assert log.front is Phase.COMPILE
    assert log.progress is not None
    assert log.progress.done == 535


def messages() -> Iterator[str]:
    """The messages of the lines above and, where they are there, of real logs."""
    record = VLLM.header.record
    lines = [line for line, _, _ in LINES]
    for path in (*SHARED.glob("corpus/vllm/*.log"), *SHARED.glob("recordings/x1-vllm-*/server.log")):
        lines += LineSplitter().feed(path.read_bytes() + b"\n").lines
    for line in lines:
        found = record.search(line)
        yield line[found.end() :] if found is not None else line
        yield re.sub(r"^(?:\([^)]*\) )*(?:INFO: +)?", "", line)


def test_looking_rules_up_by_the_first_word_loses_no_line() -> None:
    rules = [rule for rule in VLLM.rules if not rule.bar]
    lost = {
        (rule.pattern.pattern, message)
        for message in set(messages())
        for rule in rules
        if rule.words and rule.pattern.match(message) and first_word(message) not in rule.words
    }
    assert lost == set()


def test_no_line_of_the_fault_rows_is_passed_over() -> None:
    passed_over = {
        message
        for message in set(messages())
        for rule in VLLM.faults
        if rule.pattern.search(message) and not (any(h in message for h in rule.hints) and troubling(message))
    }
    assert passed_over == set()


def test_every_row_names_its_versions_and_every_phase_has_one() -> None:
    assert all(rule.versions for rule in VLLM.rules)
    told = {rule.phase for rule in VLLM.rules if rule.phase is not None}
    assert told >= set(VLLM.order) - {Phase.WARMUP}


def test_only_lines_that_every_rank_prints_can_show_that_one_lags() -> None:
    assert {rule.versions for rule in VLLM.rules if rule.each} == {"0.6 to 0.10, every rank"}
