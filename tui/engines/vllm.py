"""vLLM, 0.6 to 0.32, on GPUs and on CPUs.

Patterns are searched in the message; process prefixes, which differ by version, stand before it. Up to 0.31
a bar's prefix is printed alone on the line before it. Tracebacks, bars and uvicorn lines carry no prefix
from 0.32 on.
"""

import re

from tui.engines.base import ENVIRONMENT, Engine, Flags, RoleRule
from tui.engines.commands import module, program, script
from tui.engines.header import HeaderForm
from tui.engines.lines import PYTHON_EXCEPTION, UVICORN_ACCESS
from tui.engines.marks import CACHE_COLD, CACHE_WARM, FaultKind, Weight
from tui.engines.phase import Phase
from tui.engines.rules import (
    FaultRule,
    bars,
    begins,
    ends,
    facts,
    heartbeats,
    serves,
    shutdowns,
    starts,
    steady,
    within,
)
from tui.requests import Matcher

RULES = (
    *starts(
        (r"vLLM API server version (?P<version>\S+)", "to 0.23"),
        (r" +█ +█ +█▄ +▄█", "a logo from 0.24"),
    ),
    *facts(
        (r"[ ▄▀█]+ version (?P<version>\S+)", "0.24+"),
        (r"non-default args: (?P<arguments>.*)", "0.9+"),
    ),
    *within(
        Phase.LAUNCH,
        (r"Resolved architecture: |Using max model len ", "0.10+, 0.9+"),
        (r"Automatically detected platform ", "0.7 to 0.10 by default"),
        (
            r"Initializing an? (?:V[01] )?LLM engine(?: \(v(?P<version>[^)]+)\))?|Waiting for init message",
            "0.6+",
        ),
    ),
    *within(
        Phase.DISTRIBUTED,
        (r"world_size=\d+ rank=\d+ local_rank=|vLLM is using nccl==|Found nccl from library", "all"),
        (r"rank \d+ in world size \d+ is assigned|vLLM message queue communication handle", "0.8+"),
        (r"Worker ready; awaiting tasks|(?:generating|reading) GPU P2P access cache", "V0"),
        (r"No current placement group|Waiting for creating a placement group", "Ray"),
    ),
    *begins(
        Phase.WEIGHTS,
        (r"Starting to load (?:draft )?model |Loading (?:drafter )?model(?:\.\.\.| from)", "all"),
    ),
    *within(
        Phase.WEIGHTS,
        (r"Using V2 Model Runner|Initializing model took|Using model weights format", "0.18+"),
        (r"Filesystem type for checkpoints|Prefetching checkpoint files", "0.20+"),
        (r"Time spent downloading weights|Loading weights took [\d.]+ seconds", "all"),
    ),
    *bars(
        Phase.WEIGHTS,
        "shards",
        (r"(?:Loading|Multi-thread loading) [^:]{0,80}?(?:shards|Streamer|InstantTensor|loader)", "all"),
    ),
    *ends(
        Phase.WEIGHTS,
        (r"(?:Loading model weights|Model loading) took (?P<weights_gib>[\d.]+) Gi?B", "to 0.7, from 0.8"),
    ),
    *begins(
        Phase.COMPILE,
        (
            r"(?:\[\w+\] )?(?:Starting torch\.compile|Using cache directory: .*torch.compile|Dynamo bytecode)",
            "V1",
        ),
        (r"Warming up model for the compilation", "CPU"),
        (
            r"JIT kernel warmup starting|Running FlashInfer autotune|\[Autotuner\]: Autotuning process starts",
            "0.10+",
        ),
    ),
    *within(
        Phase.COMPILE,
        (
            r"(?:\[\w+\] )?(?:torch\.compile took|torch\.compile takes)",
            "V1",
        ),
    ),
    *within(
        Phase.COMPILE,
        (r"(?:\[\w+\] )?Directly load (?:the compiled graph|AOT compilation)", "V1; AOT 0.12+"),
        part=CACHE_WARM,
    ),
    *within(
        Phase.COMPILE,
        (r"(?:\[\w+\] )?(?:Cache the graph|Compiling a graph|saved AOT compiled)", "V1; AOT 0.12+"),
        part=CACHE_COLD,
    ),
    *bars(
        Phase.COMPILE,
        "kernels",
        (r"DeepG(?:EMM|emm)|JIT kernel warmup|Compiling CuTeDSL kernels", "0.10+"),
    ),
    *within(
        Phase.KV_CACHE,
        (r"Encoder cache will be initialized", "0.8+"),
        (r"Memory profiling takes|Initial profiling/warmup run took", "all"),
        (
            r"Available KV cache memory|(?:GPU|CPU|CUDA) KV cache size: [\d,]+ tokens|Maximum concurrency for",
            "all",
        ),
        (r"# (?:GPU|CUDA|cuda|CPU|cpu) blocks: \d+", "V0"),
    ),
    *begins(
        Phase.CAPTURE,
        (r"Capturing (?:the model for CUDA graphs|cudagraphs for decoding)", "V0"),
    ),
    *bars(
        Phase.CAPTURE,
        "sizes",
        (r"Capturing ", "all"),
    ),
    *within(
        Phase.CAPTURE,
        (r"Graph capturing finished in (?P<seconds>\d+) secs|CUDA graph pool memory", "all"),
    ),
    *begins(
        Phase.START_API,
        (r"init engine \(profile, create kv cache, warmup model\) took", "V1"),
        (r"Supported[_ ]tasks: |Starting vLLM (?:API )?server|Available routes are:", "all"),
        (r"Started server process|Waiting for application startup", "all"),
    ),
    *serves(
        (r"Application startup complete", "all"),
        (r"Releasing expired KV blocks for request", "0.10+, disaggregated serving"),
    ),
    *steady(
        (
            r"(?:Engine \d+: |\d+ Engines Aggregated: )?Avg prompt throughput: (?P<prompt_tokens_per_s>[\d.]+) tokens/s, Avg generation throughput: (?P<output_tokens_per_s>[\d.]+) tokens/s, Running: (?P<running>\d+) reqs,.*?(?:Waiting|Pending): (?P<queued>\d+) reqs.*?(?:GPU|CPU) KV cache usage: (?P<kv_used_pct>[\d.]+)%",
            "all",
        ),
        (
            r"(?:SpecDecoding|Speculative) metrics: (?:.*?Mean acceptance length: (?P<acceptance_length>[\d.]+))?",
            "all",
        ),
    ),
    *heartbeats(
        (r"No available (?:shared memory broadcast )?block found", "all"),
    ),
    *shutdowns(
        (r"\[shutdown\] |Shutting down", "all"),
    ),
)

FAULTS = (
    FaultRule(
        FaultKind.UNKNOWN,
        re.compile(
            r"Engine core initialization failed|EngineCore (?:failed to start|encountered a fatal)|WorkerProc (?:failed|hit)"
        ),
        ("Engine core", "EngineCore", "WorkerProc"),
        "A process of the engine failed.",
        "Read the first traceback above.",
        weight=Weight.ECHO,
        terminal=True,
    ),
)

VLLM = Engine(
    name="vllm",
    title="vLLM",
    matcher=Matcher(
        engine="vllm",
        argv=[
            module(r"vllm\.entrypoints\.openai\.api_server"),
            module(r"vllm(?:\.entrypoints\.cli\.main)? serve"),
            script(r"vllm/entrypoints/openai/api_server\.py"),
            script(r"vllm serve"),
            program(r"vllm serve"),
        ],
        titles=[r"^VLLM::"],
        environment=ENVIRONMENT,
    ),
    default_port=8000,
    default_host="0.0.0.0",
    flags=Flags(
        host=("--host",),
        port=("--port",),
        model=("--model",),
        served_name=("--served-model-name",),
        tensor_parallel=("--tensor-parallel-size", "-tp"),
        pipeline_parallel=("--pipeline-parallel-size", "-pp"),
        data_parallel=("--data-parallel-size", "-dp"),
        api_key=("--api-key",),
        tls=("--ssl-keyfile", "--ssl-certfile"),
        config=("--config",),
        node_rank=("--node-rank",),
        headless=("--headless",),
        many=(
            "--served-model-name",
            "--api-key",
            "--lora-modules",
            "--middleware",
            "--cudagraph-capture-sizes",
        ),
        model_after="serve",
        variables=(("api_key", "VLLM_API_KEY"),),
    ),
    roles=(
        RoleRule("rank", re.compile(r"^VLLM::Worker(?:_(?P<rank>\S*\d))?")),
        RoleRule("engine_core", re.compile(r"^VLLM::EngineCor(?:e(?:_(?P<rank>\S*\d))?)?")),
        RoleRule("controller", re.compile(r"^VLLM::DP")),
        RoleRule("launcher", re.compile(r"^VLLM::APIServer")),
        RoleRule("launcher", re.compile(r"vllm[./]entrypoints[./]openai[./]api_server|vllm\S* serve(?: |$)")),
    ),
    header=HeaderForm(
        record=re.compile(
            r"(?P<level>DEBUG|INFO|WARNING|ERROR|CRITICAL) (?P<time>\d\d-\d\d \d\d:\d\d:\d\d)"
            r" \[?[\w./-]+\.py:\d+\] ?"
        ),
        process=re.compile(
            r"\((?P<role>[A-Za-z][\w-]*)(?: (?:rank=)?(?P<rank>\w+))? pid=(?P<pid>\d+)(?:, ip=[^)]*)?\) ?"
        ),
        depths=(
            ("API", 0),
            ("Api", 0),
            ("EngineCore", 1),
            ("Worker", 2),
            ("VllmWorker", 2),
            ("RayWorker", 2),
        ),
    ),
    sign=re.compile(r"vllm|vLLM|EngineCore|VllmWorker"),
    rules=RULES,
    faults=FAULTS,
    frames=(
        (Phase.WEIGHTS, frozenset(("load_model", "load_weights"))),
        (
            Phase.KV_CACHE,
            frozenset(
                (
                    "get_kv_cache_configs",
                    "get_kv_cache_config",
                    "check_enough_kv_cache_memory",
                    "_check_enough_kv_cache_memory",
                    "determine_available_memory",
                    "profile_run",
                )
            ),
        ),
        (Phase.CAPTURE, frozenset(("capture_model",))),
        (Phase.WARMUP, frozenset(("_dummy_sampler_run", "compile_or_warm_up_model"))),
    ),
    order=(
        Phase.LAUNCH,
        Phase.DISTRIBUTED,
        Phase.WEIGHTS,
        Phase.COMPILE,
        Phase.KV_CACHE,
        Phase.CAPTURE,
        Phase.START_API,
        Phase.WARMUP,
        Phase.READY,
    ),  # fmt: skip
    error=re.compile(
        r"\b(?:ERROR|CRITICAL) \d\d-\d\d |\bERROR: |Traceback \(most recent call last\)|^Failed: Cuda error"
        rf"|{PYTHON_EXCEPTION}"
    ),
    warning=re.compile(
        r"\bWARNING \d\d-\d\d |[Ww]arning:|NCCL WARN|No available shared memory broadcast block"
    ),
    access=UVICORN_ACCESS,
    # One line of each start: the first of the logo (0.24+) or the version (before). "non-default args"
    # follows them, so it would cut them off.
    access_hint=" HTTP/",
    first_lines=(r"vLLM API server version ", r"\] +█ +█ +█▄ +▄█"),
    log_stream="stdout",
)
