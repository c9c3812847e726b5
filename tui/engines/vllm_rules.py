"""What vLLM's log says line by line, 0.6 to 0.32: phases, bars, figures, ranks, heartbeats, the end.

Versions are those in which the wording was read: sources of 14 releases, public logs, own runs of 0.24 on
H200s and 0.32 on CPUs. V0 is the first engine (to 0.8, on request to 0.10); V1 and its V2 runner followed.
Where logs tell otherwise than sources, the log counts: "rank N in world size M" comes from the first rank
alone in 0.32 (from every rank to 0.10), "Starting to load model" from every rank on CPUs (from the first
alone on GPUs from 0.11), "Available KV cache memory" from one rank a node from 0.20, the logo of 0.24 stands
in logs of 0.19. So only the compile lines of 0.6 to 0.10 hold that every rank prints them.
"""

import re

from tui.engines.marks import CACHE_COLD, CACHE_WARM, MarkKind
from tui.engines.phase import Phase
from tui.engines.rules import (
    Rule,
    bars,
    begins,
    ends,
    facts,
    heartbeats,
    identities,
    serves,
    shutdowns,
    starts,
    steady,
    within,
)

# From 0.32 lines of the compiler begin with the part of the model: "[backbone] ", "[eagle_head] ".
_PART = r"\[\w{1,40}\] "
_STATISTICS = (
    r"Avg prompt throughput: (?P<prompt_tokens_per_s>[\d.]+) tokens/s, "
    r"Avg generation throughput: (?P<output_tokens_per_s>[\d.]+) tokens/s, Running: (?P<running>\d+) reqs,"
    r".{0,80}?(?:Waiting|Pending): (?P<queued>\d+) reqs"
    r".{0,120}?[A-Z]+ KV cache usage: (?P<kv_used_pct>[\d.]+)%"
)


LAUNCH = (
    *starts(
        (r"vLLM API server version (?P<version>\S+)", "to 0.18; the sources have it to 0.23"),
        (r" +█ +█ +█▄ +▄█", "the logo's first line, 0.19+"),
    ),
    *facts(
        (r"[ ▄▀█]+ version (?P<version>\S+)", "the logo's second line, 0.19+"),
        (r"non-default args: (?P<arguments>.*)", "0.9+"),
        (r"args: (?P<arguments>Namespace\(.*)", "to 0.8"),
    ),
    *within(
        Phase.LAUNCH,
        (r"Automatically detected platform ", "0.7 to 0.10 by default"),
        (r"Resolved architecture: ", "0.10+"),
        (r"Using max model len ", "0.9+"),
        (r"Initializing an LLM engine \(v(?P<version>[^)\s]+)\) with config", "0.6"),
        (r"Initializing a V[01] LLM engine \(v(?P<version>[^)\s]+)\) with config", "V0 0.7+, V1 0.8+"),
        (r"Waiting for init message from front-end", "0.9 to 0.10, DEBUG later"),
        (r"DP group leader: node_rank=", "0.18+"),
        (r"Launching \d+ data parallel engine", "0.9+, nodes without an API server"),
        (r"Started DP Coordinator process", "0.9+, data parallel"),
    ),
)

DISTRIBUTED = (
    *identities(
        (
            r"world_size=(?P<world_size>\d+) rank=(?P<global_rank>\d+) local_rank=(?P<local_rank>\d+) ",
            "all; DEBUG to 0.10, every rank",
        ),
        (
            r"rank (?P<global_rank>\d+) in world size (?P<world_size>\d+) is assigned as "
            r"DP rank (?P<dp>\d+), PP rank (?P<pp>\d+),(?: PCP rank \d+,)? TP rank (?P<tp>\d+)"
            r"(?:, ETP rank \d+)?(?:, EP rank (?P<ep>\w+))?",
            "0.8+; PCP 0.13+, ETP 0.32; every rank to 0.10, rank 0 alone in 0.32",
        ),
    ),
    *within(
        Phase.DISTRIBUTED,
        (r"Found nccl from library", "all, DEBUG from 0.11"),
        (r"vLLM is using nccl==", "all; every rank to 0.10, the first one later"),
        (r"vLLM message queue communication handle", "0.6+"),
        (r"Worker ready; awaiting tasks", "V0"),
        (r"generating GPU P2P access cache in", "all"),
        (r"reading GPU P2P access cache from", "all"),
        (r"Custom allreduce is disabled", "all, a warning"),
        (r"Using [^.]{1,120} all-reduce backends", "0.25+"),
        (r"No current placement group found", "0.7+, Ray"),
    ),
    *within(
        Phase.DISTRIBUTED,
        (r"Waiting for creating a placement group of specs", "0.7+, Ray, after 10, 30, 70, 150 … s"),
        heartbeat=True,
    ),
)

WEIGHTS = (
    *begins(
        Phase.WEIGHTS,
        (r"Starting to load model ", "all; the V2 runner does not print it"),
        (r"Loading model from scratch\.\.\.", "0.10 to 0.11, V2 runner 0.13+"),
    ),
    *begins(
        Phase.WEIGHTS,
        (r"Loading drafter model\.\.\.", "0.8+"),
        (r"Starting to load draft model ", "0.15"),
        part="draft model",
    ),
    *within(
        Phase.WEIGHTS,
        (r"Using V2 Model Runner", "0.18+"),
        (r"Initializing model took ", "0.30+"),
        (r"Using model weights format", "to 0.12"),
        (r"Time spent downloading weights for \S+: (?P<seconds>[\d.]+) seconds", "0.6+"),
        (
            r"Filesystem type for checkpoints: [^.]{1,80}\. Checkpoint size: (?P<checkpoint_gib>[\d.]+) GiB",
            "0.20+",
        ),
        (r"Auto-prefetch is disabled", "0.20+"),
        # Into the page cache: with "20% (2/2)" half of the shards were still to load, so it is no measure.
        (r"Prefetching checkpoint files", "0.18+"),
        (r"Loading weights took (?P<seconds>[\d.]+) seconds", "0.8+, once more for a draft model"),
        (r"Detected (?:EAGLE|MTP) model", "0.10+"),
        (r"MTP draft model loaded: ", "0.22+"),
    ),
    *bars(
        Phase.WEIGHTS,
        "shards",
        (
            r"(?:Loading|Multi-thread loading) [^:]{0,80}?(?:shards|Streamer|InstantTensor|loader)",
            "all; threads 0.10+, InstantTensor 0.18+, Fastsafetensor 0.8 to 0.23",
        ),
    ),
    # A file that the hub's client downloads: it proves the phase, but says nothing of the other files.
    Rule(
        MarkKind.WITHIN,
        Phase.WEIGHTS,
        re.compile(r"\S{1,200}\.(?:safetensors|bin|pt|gguf)$"),
        "all",
        part="download",
        bar=True,
    ),
    # The word is GB, but the figure is in GiB, before 0.8 as after.
    *ends(
        Phase.WEIGHTS,
        (r"Loading model weights took (?P<weights_gib>[\d.]+) GB", "to 0.7"),
        (
            r"Model loading took (?P<weights_gib>-?[\d.]+) GiB(?: memory)? and (?P<seconds>[\d.]+) seconds",
            "0.8+; memory from 0.11, V2 runner 0.28+",
        ),
    ),
)

COMPILE = (
    *begins(
        Phase.COMPILE,
        (r"Starting torch\.compile", "0.32+"),
        (r"Using cache directory: .{1,500}torch\.compile", "0.8+"),
        (r"Dynamo bytecode transform time: (?P<seconds>[\d.]+) s", "0.7+"),
        (
            _PART + r"(?:Starting torch\.compile|Using cache directory: |Dynamo bytecode transform time: )",
            "0.32+",
        ),
        (r"Warming up model for the compilation", "0.8+, CPU"),
        # What a kernel needs is compiled and tuned between the KV cache and the capture.
        (r"JIT kernel warmup starting", "0.30+"),
        (r"Running FlashInfer autotune", "0.10+"),
        (r"\[Autotuner\]: Autotuning process starts", "0.10+, FlashInfer's own logger"),
        (r"Warming up DeepSeek", "0.22+"),
    ),
    *within(
        Phase.COMPILE,
        (r"Cache the graph of shape ", "0.6 to 0.10, every rank"),
        (
            r"Compiling a graph for (?:general )?shape.{0,40}? takes (?P<seconds>[\d.]+) s",
            "0.6 to 0.10, every rank",
        ),
        each=True,
        part=CACHE_COLD,
    ),
    *within(
        Phase.COMPILE,
        (r"Cache the graph (?:for dynamic|of compile)", "0.11+"),
        (r"Compiling a graph for (?:dynamic|compile)\b.{0,80}? takes (?P<seconds>[\d.]+) s", "0.11+"),
        (r"saved AOT compiled function", "0.15+"),
        (r"Compiling model again due to a load failure", "0.15+, a warning"),
        (_PART + r"(?:Cache the graph|Compiling (?:a graph|model again)|saved AOT)", "0.32+"),
        part=CACHE_COLD,
    ),
    *within(
        Phase.COMPILE,
        (r"Directly load the compiled graph", "0.8+"),
        (r"Directly load AOT compilation", "0.15+"),
        (_PART + r"Directly load ", "0.32+"),
        part=CACHE_WARM,
    ),
    *within(
        Phase.COMPILE,
        (r"torch\.compile takes (?P<seconds>[\d.]+) s in total", "0.6 to 0.15"),
        (r"torch\.compile took (?P<seconds>[\d.]+) s in total", "0.18+"),
        (_PART + r"torch\.compile took (?P<seconds>[\d.]+) s in total", "0.32+"),
        (r"JIT kernel warmup finished in (?P<seconds>[\d.]+)", "0.30+"),
        (r"\[Autotuner\]: Autotuning process ends", "0.10+"),
        (r"DeepSeek .{1,60} warmup finished in (?P<seconds>[\d.]+) seconds", "0.22+"),
    ),
    *ends(
        Phase.COMPILE,
        (r"Warming up done\.", "0.8+, CPU"),
    ),
    *bars(
        Phase.COMPILE,
        "kernels",
        (r"DeepGEMM warmup", "0.15+"),
        (r"DeepGemm\(\w+\) warmup", "0.10 to 0.13"),
        (r"JIT kernel warmup", "0.30+"),
        (r"Compiling CuTeDSL kernels", "0.30+"),
        begin=True,
    ),
)

KV_CACHE = (
    *within(
        Phase.KV_CACHE,
        (r"Encoder cache will be initialized", "0.8+, vision; 10 to 30 s of silence follow"),
        (r"Memory profiling takes ", "0.6.5 to 0.8"),
        (r"the current vLLM instance can use ", "0.6.5 to 0.8"),
        (
            r"model weights take [\d.]+GiB; .{1,200}reserved for KV Cache is (?P<kv_cache_gib>[\d.]+)GiB",
            "0.6.5 to 0.8",
        ),
        (r"Initial profiling/warmup run took (?P<seconds>[\d.]+) s", "0.18+"),
        (_PART + r"Initial profiling/warmup run took (?P<seconds>[\d.]+) s", "0.32+"),
        (r"Profiling CUDA graph memory: ", "0.18+, by default 0.21+"),
        (r"Estimated CUDA graph memory: (?P<graph_estimated_gib>[\d.]+) GiB", "0.18+"),
        (
            r"Initial free memory [\d.]+ GiB, reserved (?P<kv_cache_gib>[\d.]+) GiB memory for KV Cache",
            "0.11+, a fixed size",
        ),
        (r"Explicitly set \((?P<kv_cache_gib>[\d.]+)/[\d.]+\) GiB for KV cache", "0.28+, CPU"),
        (r"Available KV cache memory: (?P<kv_cache_gib>-?[\d.]+) GiB", "0.9+; below 0 where none is left"),
        (r"Overriding num_gpu_blocks=", "0.8+"),
        (r"Auto-fit max_model_len", "0.13+"),
        (
            r"(?:GPU|CPU|CUDA|ROCM|XPU|HPU|TPU|NPU) KV cache size: (?P<kv_cache_tokens>[\d,]+) tokens"
            r"(?:, Maximum concurrency for [\d,]+ tokens per request: (?P<max_concurrency_x>[\d.]+)x)?",
            "0.8+; one line 0.28+",
        ),
        (r"Maximum concurrency for [\d,]+ tokens per request: (?P<max_concurrency_x>[\d.]+)x", "0.6 to 0.25"),
        (r"# (?:GPU|CUDA|cuda|CPU|cpu|rocm) blocks: \d+", "V0"),
        (r"Creating v1 connector with name", "0.9+, disaggregated serving"),
    ),
)

CAPTURE = (
    *begins(
        Phase.CAPTURE,
        (r"Capturing the model for CUDA graphs\.", "V0 to 0.6"),
        (r"Capturing cudagraphs for decoding\.", "V0 0.7+"),
    ),
    *bars(
        Phase.CAPTURE,
        "sizes",
        (
            r"Capturing [^(:]{0,80}(?:\((?P<part>[^)]{1,80})\))?",
            "all: CUDA graph shapes to 0.9, CUDA graphs (MODE) 0.10+, prefill and decode V2 runner",
        ),
    ),
    *ends(
        Phase.CAPTURE,
        (
            r"Graph capturing finished in (?P<seconds>\d+) secs(?:, took (?P<graph_gib>-?[\d.]+) GiB)?",
            "all; size from 0.6.2",
        ),
    ),
    *within(
        Phase.CAPTURE,
        (r"CUDA graph pool memory: (?P<graph_pool_gib>-?[\d.]+) GiB \(actual\)", "0.18+"),
    ),
)

API = (
    *begins(
        Phase.START_API,
        (
            r"init engine \(profile, create kv cache, warmup model\) took (?P<engine_init_s>[\d.]+) s",
            "V0 0.7+, V1; compilation 0.20+",
        ),
        (r"Supported_tasks: ", "0.10 to 0.11"),
        (r"Supported tasks: ", "0.11+"),
        (r"Starting vLLM API server ", "to 0.15"),
        (r"Starting vLLM server on ", "0.18+"),
        (r"Available routes are:", "all"),
        (r"Started server process", "all"),
        (r"Waiting for application startup", "all"),
    ),
    *within(
        Phase.START_API,
        (
            r"Multi-modal warmup completed in (?P<seconds>[\d.]+)s",
            "0.20+, after up to 33 s of silence",
        ),
        (r"Readonly multi-modal warmup completed in (?P<seconds>[\d.]+)s", "0.20+"),
        (r"Chat template warmup completed in ", "0.20+"),
    ),
    *serves(
        (r"Application startup complete", "all; uvicorn, on standard error"),
        (r"vLLM gRPC server started on ", "0.18+, --grpc: no HTTP server then"),
        (r"Releasing expired KV blocks for request", "0.10+, disaggregated serving: only a server does"),
    ),
    *steady(
        (_STATISTICS, "0.6 to 0.8"),
        (r"Engine \d+: " + _STATISTICS, "0.8+"),
        (r"\d+ Engines Aggregated: " + _STATISTICS, "0.11+, data parallel"),
        (
            r"SpecDecoding metrics: .{0,80}?Mean acceptance length: (?P<acceptance_length>[\d.]+)",
            "0.8+; the draft's rate before it to 0.9",
        ),
        (r"Speculative metrics: ", "V0; tells no length"),
    ),
)

HEARTBEATS = heartbeats(
    (r"No available block found in \d+ second", "0.6, DEBUG"),
    (r"No available shared memory broadcast block found", "0.8+; DEBUG to 0.10"),
    (r"Waiting for \d+ local, \d+ remote core engine", "0.9+, DEBUG, each 10 s"),
)

# The engine core's word counts once the server is ready, where a signal to the whole group reaches it first:
# before, the API server sends it that signal too when it fails itself, and its traceback comes last.
# "Executor", "MPClient" and "Process manager" lines follow a failure as well as a stop.
SHUTDOWNS = (
    *shutdowns(
        (r"\[shutdown\] API server: shutdown triggered", "0.18+"),
        (r"Shutting down FastAPI HTTP server", "0.6 to 0.17"),
        (r"Shutting down\.?$", "all; uvicorn, and nodes without an API server"),
    ),
    Rule(
        MarkKind.SHUTDOWN,
        Phase.READY,
        re.compile(r"\[shutdown\] EngineCore: trigger received signal=SIG(?:TERM|INT)"),
        "0.18+",
    ),
)

RULES: tuple[Rule, ...] = (
    *LAUNCH,
    *DISTRIBUTED,
    *WEIGHTS,
    *COMPILE,
    *KV_CACHE,
    *CAPTURE,
    *API,
    *HEARTBEATS,
    *SHUTDOWNS,
)
