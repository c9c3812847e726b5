"""vLLM, 0.6 to 0.32, on GPUs and on CPUs.

Patterns are searched in the message; process prefixes, which differ by version, stand before it. Up to 0.31
a bar's prefix is printed alone on the line before it. Tracebacks, bars and uvicorn lines carry no prefix
from 0.32 on.
"""

import re

from tui.engines.base import ENVIRONMENT, Engine, Flags, Phase, RoleRule, rows
from tui.engines.commands import module, program, script
from tui.engines.lines import ADDRESS_IN_USE, NATIVE, OUT_OF_MEMORY, PYTHON_EXCEPTION, SHARDS, UVICORN_ACCESS
from tui.requests import Matcher

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
    phases=(
        *rows(
            Phase.LAUNCH,
            (r"vLLM API server version|█ +version \d", "to 0.23; as a logo from 0.24"),
            (r"non-default args: ", "0.9+"),
            (r"Resolved architecture: |Using max model len ", "0.10+, 0.9+"),
            (r"Automatically detected platform ", "0.7 to 0.10 by default"),
            (r"Initializing an? (?:V[01] )?LLM engine|Waiting for init message", "0.6+, 0.9-0.10"),
        ),
        *rows(
            Phase.LOADING,
            (r"world_size=\d+ rank=\d+ local_rank=|vLLM is using nccl==|Found nccl from library", "all"),
            (r"rank \d+ in world size \d+ is assigned|message queue communication handle", "0.8+"),
            (r"Worker ready; awaiting tasks|P2P access cache|placement group", "V0, Ray"),
            (r"Starting to load (?:draft )?model |Loading (?:drafter )?model(?:\.\.\.| from)", "all"),
            (r"Using V2 Model Runner|Initializing model took|Using model weights format", "0.18+"),
            (r"Filesystem type for checkpoints|Prefetching checkpoint files", "0.20+"),
            (r"Time spent downloading weights|Loading weights took [\d.]+ seconds", "all"),
            (SHARDS, "all"),
            (r"(?:Loading model weights|Model loading) took [\d.]+ Gi?B", "to 0.7, from 0.8"),
            (r"Encoder cache will be initialized", "0.8+"),
            (r"torch\.compile|Dynamo bytecode transform time|Cache the graph (?:of|for)", "V1"),
            (r"Compiling a graph for|Directly load (?:the compiled graph|AOT)", "V1"),
            (r"Warming up model for the compilation", "CPU"),
            (r"Memory profiling takes|Initial profiling/warmup run took|CUDA graph memory: ", "all"),
            (r"Available KV cache memory|KV cache size: [\d,]+ tokens|Maximum concurrency for", "all"),
            (r"# (?:GPU|CUDA|cuda|CPU|cpu) blocks: \d+|_enough_kv_cache_memory", "blocks: V0"),
            (r"DeepG(?:EMM|emm)\S* ?warmup|FlashInfer autotune|utotuner\]: Autotuning process", "all"),
            (r"JIT kernel warmup|Compiling CuTeDSL kernels|Free memory on device", "0.30+, 0.9+"),
        ),
        *rows(
            Phase.CAPTURE,
            (r"Capturing (?:the model for CUDA graphs|cudagraphs for decoding)", "V0"),
            (r"Capturing (?:\w+/\w+ )?CUDA graph.*?\d+%", "V1"),
            (r"Graph capturing finished in \d+ secs|CUDA graph pool memory", "all"),
        ),
        *rows(
            Phase.START_API,
            (r"init engine \(profile, create kv cache, warmup model\) took", "V1"),
            (r"Supported[_ ]tasks: |Starting vLLM (?:API )?server|Available routes are:", "all"),
            (r"[Mm]ulti-modal warmup completed|Chat template warmup completed", "0.11+"),
            (r"INFO: +(?:Started server process|Waiting for application startup)", "all"),
        ),
        *rows(
            Phase.WARMUP,
            (r"warming up sampler with \d+ dummy", "printed by its failure alone"),
        ),
        *rows(
            Phase.READY,
            (r"INFO: +Application startup complete", "all"),
            (r"Avg prompt throughput: |SpecDecoding metrics: |Speculative metrics: ", "all"),
            (r"Releasing expired KV blocks for request", "0.10+, disaggregated serving"),
        ),
    ),
    fatal=(
        re.compile(OUT_OF_MEMORY + "|" + ADDRESS_IN_USE + "|" + NATIVE),
        re.compile(
            r"Free memory on device .*less than|No available memory for the cache blocks"
            r"|warming up sampler with|To serve at least one request with"
            r"|larger than the maximum number of tokens that can be stored"
            r"|RPC call to \w+ timed out|Timed out waiting for engine|SafetensorError"
        ),
        re.compile(rf"^(?!.*(?:Engine core initialization failed|EngineDeadError)).*?{PYTHON_EXCEPTION}"),
        re.compile(r"\bdied\b.*exit code|died unexpectedly"),
        re.compile(r"EngineCore (?:failed to start|encountered a fatal error)|WorkerProc (?:failed|hit)"),
        re.compile(r"Engine core initialization failed|EngineDeadError|Engine process failed to start"),
    ),
    shutdown=re.compile(
        r"\[shutdown\] API server: shutdown triggered|\[shutdown\] \w+: trigger received signal"
        r"|received signal=SIG(?:TERM|INT)|INFO: +Shutting down"
    ),
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
