"""What single lines and titles of the engines mean."""

import re

import pytest

from tui.engines.base import Engine
from tui.engines.generic import GENERIC
from tui.engines.lines import Level
from tui.engines.llamacpp import LLAMACPP
from tui.engines.marks import MarkKind
from tui.engines.phase import Phase
from tui.engines.reader import LineReader
from tui.engines.registry import ENGINES
from tui.engines.sglang import SGLANG
from tui.engines.tgi import TGI
from tui.engines.vllm import VLLM
from tui.watch.phases import LogPhases

SGL_TIME = "[2026-11-29 14:36:06 TP1] "
VLLM_TIME = "(EngineCore pid=3096) INFO 11-29 14:46:45 [core.py:114] "
LLAMA_TIME = "0.12.966.953 I srv  llama_server: "


@pytest.mark.parametrize(
    ("engine", "line", "phase"),
    [
        (SGLANG, SGL_TIME + "server_args=ServerArgs(model_path='q', port=30000)", Phase.LAUNCH),
        (SGLANG, SGL_TIME + "server_args={'model_path': 'q'}", Phase.LAUNCH),
        (SGLANG, SGL_TIME + "Init torch distributed begin.", Phase.DISTRIBUTED),
        (SGLANG, SGL_TIME + "Init parallel begin.", Phase.DISTRIBUTED),
        (
            SGLANG,
            "Multi-thread loading shards:   6% Completed | 1/17 [00:01<00:20,  1.27s/it]",
            Phase.WEIGHTS,
        ),
        (SGLANG, SGL_TIME + "Load weight begin. avail mem=138.5 GB", Phase.WEIGHTS),
        (SGLANG, SGL_TIME + "KV Cache is allocated. #tokens: 1, K size: 1 GB, V size: 1 GB", Phase.KV_CACHE),
        (SGLANG, SGL_TIME + "Capture cuda graph begin. This can take up to several minutes.", Phase.CAPTURE),
        (SGLANG, SGL_TIME + "Capture target decode CUDA graph begin. backend=full, bs=[1]", Phase.CAPTURE),
        (SGLANG, SGL_TIME + "Capture draft extend cuda graph begin (step 2).", Phase.CAPTURE),
        (
            SGLANG,
            "Capturing batches (bs=256 avail_mem=12.09 GB):   0%|          | 0/36 [00:00<?, ?it/s]",
            Phase.CAPTURE,
        ),
        (SGLANG, "Compiling num tokens (num_tokens=8192):   0%|   | 0/36 [00:00<?, ?it/s]", Phase.CAPTURE),
        (
            SGLANG,
            SGL_TIME + "max_total_num_tokens=9, max_prefill_tokens=1, max_running_requests=2",
            Phase.START_API,
        ),
        (SGLANG, SGL_TIME + "INFO:     Uvicorn running on http://127.0.0.1:30000", Phase.WARMUP),
        (SGLANG, SGL_TIME + "The server is fired up and ready to roll!", Phase.READY),
        (SGLANG, "sglang-1  | [2026-06-24 11:50:33] Load weight begin. avail mem=90 GB", Phase.WEIGHTS),
        (VLLM, "INFO 11-29 14:46:16 [api_utils.py:339]        █     █     █▄   ▄█", Phase.LAUNCH),
        (VLLM, "INFO 10-22 09:32:12 [api_server.py:1839] vLLM API server version 0.11.0", Phase.LAUNCH),
        (VLLM, VLLM_TIME + "Initializing a V1 LLM engine (v0.24.0) with config: model='q'", Phase.LAUNCH),
        (VLLM, VLLM_TIME + "world_size=1 rank=0 local_rank=0 backend=nccl", Phase.DISTRIBUTED),
        (
            VLLM,
            "Loading safetensors checkpoint shards:  45% Completed | 5/11 [00:10<00:12,  2.1s/it]",
            Phase.WEIGHTS,
        ),
        (VLLM, VLLM_TIME + "Dynamo bytecode transform time: 14.83 s", Phase.COMPILE),
        (VLLM, VLLM_TIME + "GPU KV cache size: 278,880 tokens", Phase.KV_CACHE),
        (VLLM, "Capturing CUDA graphs (decode, FULL):   0%|          | 0/35 [00:00<?, ?it/s]", Phase.CAPTURE),
        (VLLM, "Capturing CUDA graph shapes: 100%|███| 35/35 [00:21<00:00,  1.65it/s]", Phase.CAPTURE),
        (
            VLLM,
            VLLM_TIME + "init engine (profile, create kv cache, warmup model) took 69.61 s",
            Phase.START_API,
        ),
        (VLLM, "INFO:     Application startup complete.", Phase.READY),
        (LLAMACPP, "0.00.026.557 I cmn  common_params_print_info: verbosity = 3 (adjust with", Phase.LAUNCH),
        (LLAMACPP, "0.00.039.508 I srv    load_model: loading model 'gemma.gguf'", Phase.WEIGHTS),
        (
            LLAMACPP,
            "load_tensors: loading model tensors, this can take a while... (mmap = true)",
            Phase.WEIGHTS,
        ),
        (LLAMACPP, LLAMA_TIME + "warming up the model with an empty run - please wait ...", Phase.WARMUP),
        (LLAMACPP, LLAMA_TIME + "model loaded", Phase.START_API),
        (LLAMACPP, LLAMA_TIME + "listening on http://127.0.0.1:18080", Phase.READY),
        (
            LLAMACPP,
            "main: server is listening on http://127.0.0.1:8080 - starting the main loop",
            Phase.READY,
        ),
        (LLAMACPP, "main: HTTP server is listening, hostname: 127.0.0.1, port: 8080", Phase.LAUNCH),
    ],
)
def test_a_line_reaches_its_phase(engine: Engine, line: str, phase: Phase) -> None:
    (mark,) = LineReader(engine).read(line).marks
    assert mark.phase is phase


@pytest.mark.parametrize(
    ("engine", "line"),
    [
        (SGLANG, SGL_TIME + "Setup of the tokenizer is done"),
        (SGLANG, SGL_TIME + 'INFO:     127.0.0.1:4 - "GET /health HTTP/1.1" 503 Service Unavailable'),
        (VLLM, VLLM_TIME + "Asynchronous scheduling is enabled."),
        (VLLM, VLLM_TIME + "No available shared memory broadcast block found in 60 seconds."),
        (LLAMACPP, "0.00.037.999 W srv  llama_server: this can be a security risk"),
    ],
)
def test_a_line_that_is_no_progress_reaches_nothing(engine: Engine, line: str) -> None:
    phases = LogPhases(engine)
    phases.read(line)
    assert phases.phase is None


@pytest.mark.parametrize(
    ("engine", "line", "level"),
    [
        (SGLANG, SGL_TIME + "Scheduler hit an exception: Traceback (most recent call last):", "error"),
        (SGLANG, "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 160.00 MiB", "error"),
        (SGLANG, "ERROR:    [Errno 98] error while attempting to bind on address", "error"),
        (SGLANG, SGL_TIME + "WARNING server_args.py:1245: DSA with TP mode is active", "warning"),
        (SGLANG, SGL_TIME + "Load weight begin. avail mem=90 GB", ""),
        (VLLM, "(Worker_TP0 pid=1) ERROR 06-01 17:32:02 [multiproc_executor.py:962] x", "error"),
        (VLLM, "huggingface_hub.errors.HFValidationError: Repo id must be in the form", "error"),
        (VLLM, "(APIServer pid=1) WARNING 11-29 14:46:16 [system_utils.py:299] Found ulimit", "warning"),
        (VLLM, VLLM_TIME + "Resolved architecture: Qwen3ForCausalLM", ""),
        (LLAMACPP, "0.04.727.125 E ggml_aligned_malloc: insufficient memory", "error"),
        (LLAMACPP, "2026-05-17 10:44:42.901 | 0.19.146.242 W llama_context: n_ctx_seq", "warning"),
        (LLAMACPP, "0.12.966.953 I srv  llama_server: model loaded", ""),
    ],
)
def test_a_line_has_its_level(engine: Engine, line: str, level: Level) -> None:
    assert engine.level(line) == level


@pytest.mark.parametrize(
    ("engine", "title", "words"),
    [
        (SGLANG, "sglang::scheduler", "rank"),
        (SGLANG, "sglang::scheduler_TP1", "rank TP1"),
        (SGLANG, "sglang::scheduler_DP0_TP0_EP0", "rank DP0_TP0_EP0"),
        (SGLANG, "sglang::detokenizer", "detokenizer"),
        (SGLANG, "sglang::schedul", "rank"),
        (SGLANG, "sglang::detoken", "detokenizer"),
        (VLLM, "VLLM::EngineCor", "engine core"),
        (VLLM, "VLLM::Worker_TP", "rank"),
        (SGLANG, "python3 -m sglang.launch_server --tp 2", "launcher"),
        (SGLANG, "python3 -c from multiprocessing.spawn import spawn_main", "helper"),
        (SGLANG, "ninja -v -C /cache/norm", "helper"),
        (VLLM, "VLLM::EngineCore_DP0", "engine core DP0"),
        (VLLM, "VLLM::Worker_TP3", "rank TP3"),
        (VLLM, "VLLM::APIServer", "launcher"),
        (VLLM, "/usr/bin/python3 /usr/local/bin/vllm serve q", "launcher"),
        (LLAMACPP, "/app/llama-server -m q.gguf", "launcher"),
    ],
)
def test_a_process_has_its_role(engine: Engine, title: str, words: str) -> None:
    assert engine.role(title).words == words


@pytest.mark.parametrize(
    ("engine", "line"),
    [
        (SGLANG, "[2026-11-29 15:07:10] server_args=ServerArgs(model_path='models/q',"),
        (VLLM, "INFO 10-22 09:32:12 [api_server.py:1839] vLLM API server version 0.11.0"),
        (VLLM, "(APIServer pid=2966) INFO 11-29 14:46:16 [api_utils.py:339]        █     █     █▄   ▄█"),
        (LLAMACPP, "build: 4800 (abc1234) with cc (GCC) 13"),
        (TGI, "2025-07-04T12:35:02.586768Z  INFO text_generation_launcher: Args {"),
        (LLAMACPP, "0.00.026.557 I cmn  common_param: common_params_print_info: verbosity = 3 (adjust with"),
    ],
)
def test_a_start_is_known_by_its_first_line_before_and_after_it_is_read(engine: Engine, line: str) -> None:
    assert any(re.search(pattern, line) for pattern in engine.first_lines)
    assert [mark.kind for mark in LineReader(engine).read(line).marks] == [MarkKind.START]


@pytest.mark.parametrize(
    ("engine", "line", "groups"),
    [
        (
            SGLANG,
            '[2026-11-29 14:36:06] INFO:     127.0.0.1:39792 - "GET /health HTTP/1.1" 503',
            ("127.0.0.1", "GET", "/health", "503"),
        ),
        (
            VLLM,
            '(APIServer pid=1) INFO:     ::1:39792 - "POST /v1/chat/completions?x=1 HTTP/1.1" 200 OK',
            ("::1", "POST", "/v1/chat/completions", "200"),
        ),
        (
            LLAMACPP,
            "0.01.000.000 I srv  log_server_r: request: GET /health 127.0.0.1 503",
            ("127.0.0.1", "GET", "/health", "503"),
        ),
    ],
)
def test_an_access_line_is_read(engine: Engine, line: str, groups: tuple[str, ...]) -> None:
    found = engine.access.search(line)
    assert found is not None
    assert (found["client"], found["method"], found["path"], found["code"]) == groups
    assert engine.access_hint in line


@pytest.mark.parametrize("engine", [*ENGINES, GENERIC], ids=lambda engine: engine.name)
def test_every_row_of_every_table_names_the_versions_it_is_for(engine: Engine) -> None:
    assert all(rule.versions for rule in (*engine.rules, *engine.faults))


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)
def test_every_engine_tells_the_phases_that_no_load_is_without(engine: Engine) -> None:
    told = {rule.phase for rule in engine.rules}
    assert told >= {Phase.LAUNCH, Phase.WEIGHTS, Phase.READY}
    assert any(rule.kind is MarkKind.START for rule in engine.rules)


@pytest.mark.parametrize("engine", [*ENGINES, GENERIC], ids=lambda engine: engine.name)
def test_every_phase_that_an_engine_tells_has_its_place_in_its_loads(engine: Engine) -> None:
    told = {rule.phase for rule in engine.rules if rule.phase is not None}
    assert told <= set(engine.order)
