"""SGLang, 0.4.0 to 0.5.23.

Line templates, their versions and process titles are those read in its published sources and in public logs;
what is marked "measured" was seen on H200s with 0.5.14. Log lines carry no level and no logger name. How it
fails is in ``sglang_faults.py``.
"""

import re

from tui.engines.base import ENVIRONMENT, Engine, Flags, RoleRule
from tui.engines.commands import module, program, script
from tui.engines.header import HeaderForm
from tui.engines.lines import PYTHON_EXCEPTION, UVICORN_ACCESS
from tui.engines.marks import CACHE_COLD, CACHE_WARM
from tui.engines.phase import Phase
from tui.engines.rules import (
    bars,
    begins,
    counts,
    ends,
    heartbeats,
    identities,
    serves,
    shutdowns,
    starts,
    steady,
    within,
)
from tui.engines.sglang_endpoints import ENDPOINTS, METRICS
from tui.engines.sglang_faults import FAULTS
from tui.requests import Matcher

_GRAPH = r"(?:cuda|CUDA|cpu|CPU|NPU|XPU) graph"
_GB = r"-?[\d.]+"

# Other fields of a batch's line, each up to its comma: bounded, and faster than one character after another.
_FIELDS = r"(?:[^,]{0,80},){0,24}? (?:full )?"

RULES = (
    *starts(
        (r"server_args=(?P<arguments>(?:ServerArgs\(|\{).*)", "ServerArgs( to 0.5.15, a dict in 0.5.23"),
    ),
    *within(
        Phase.LAUNCH,
        (r"Launch DP\d+ starting at GPU", "0.4+"),
    ),
    *begins(
        Phase.DISTRIBUTED,
        (r"Init torch distributed begin\.", "0.4.0 to 0.5.20"),
        (r"Init parallel begin\.", "0.5.23"),
        (r"Init nccl begin", "0.2"),
        each=True,
    ),
    *identities(
        (
            r"world_size=(?P<world_size>\d+) rank=(?P<global_rank>\d+) local_rank=(?P<local_rank>\d+) ",
            "0.4+",
        ),
    ),
    *within(
        Phase.DISTRIBUTED,
        (r"sglang is using nccl==|Found nccl from library", "0.4+, the library 0.4"),
        (r"Setup Custom allreduce failed", "0.4+, a warning that is normal without peer access"),
        (r"(?:CustomAllreduce|Custom) (?:allreduce )?is disabled", "0.4+, a warning"),
        (
            r"(?:NCCL/RCCL|NCCL/RCCL/HCCL) warmup completed in (?P<seconds>[\d.]+) ?s",
            "0.5.10+, HCCL 0.5.18+",
        ),
        (r"Gated launch (?:waiting|activated)", "0.5.23, waits on purpose"),
    ),
    *within(
        Phase.DISTRIBUTED,
        (r"Gated launch still waiting", "0.5.23"),
        (r"\[Gloo\] Rank \d+ is connected to", "all, once a group"),
        (r"[\w.-]{1,64}:\d+:\d+ \[\d+\] NCCL INFO ", "NCCL 2.4+ with NCCL_DEBUG=INFO, once a communicator"),
        heartbeat=True,
    ),
    *ends(
        Phase.DISTRIBUTED,
        (
            r"Init (?:torch distributed|parallel) ends\.(?: elapsed=(?P<seconds>[\d.]+) s)?"
            rf"(?:,? ?mem usage=(?P<distributed_gib>{_GB}) GB)?",
            "0.4.3+, elapsed 0.5.9+, parallel 0.5.23",
        ),
        each=True,
    ),
    *within(
        Phase.DISTRIBUTED,
        (rf"Memory baseline taken\. mem usage=(?P<distributed_gib>{_GB}) GB", "0.5.23"),
    ),
    *begins(
        Phase.WEIGHTS,
        (rf"Load weight begin\. avail mem=(?P<free_gib>{_GB}) GB", "all; again for a draft model"),
        each=True,
    ),
    *within(
        Phase.WEIGHTS,
        (r"TP rank \d+ could finish the model loading, but there are other ranks", "0.4.3+"),
        (r"Found local HF snapshot|Using model weights format", "0.4+"),
        (
            r"Loading (?:pipeline modules|required components|\w+(?:, default_dtype| from ))|Loaded \w+: ",
            "diffusion runtime 0.5.6+",
        ),
    ),
    *bars(
        Phase.WEIGHTS,
        "shards",
        (
            r"(?:Loading|Multi-thread loading) [^:]{0,80}?(?:shards|Streamer|InstantTensor|loader)",
            "all; multi-thread an option from 0.4.8, the default in 0.5.14",
        ),
    ),
    *bars(Phase.WEIGHTS, "files", (r"Fetching \d+ files", "huggingface_hub 0.14+")),
    *bars(Phase.WEIGHTS, "modules", (r"Loading (?:required|pipeline) modules", "diffusion runtime 0.5.6+")),
    *bars(Phase.WEIGHTS, "weights", (r"quant weights to fp8|Online quark", "DeepSeek 0.4.6+; ROCm")),
    *ends(
        Phase.WEIGHTS,
        # With startup_weight_load_mode=overlap this comes behind the captures.
        (
            r"Load weight end\.(?: Committed real weights after CUDA graph capture in (?P<seconds>[\d.]+) s)",
            "0.5.18+, overlap mode",
        ),
        (
            r"Load weight end\.(?: elapsed=(?P<seconds>[\d.]+) s,)?(?:.{0,200}?avail mem="
            rf"(?P<free_gib>{_GB}) GB)?(?:, mem usage=(?P<weights_gib>{_GB}) GB)?",
            "all; mem usage 0.4.3+, elapsed 0.5.9+, quant= 0.5.10+",
        ),
        each=True,
    ),
    *begins(
        Phase.KV_CACHE,
        (
            r"KV [Cc]ache (?:is )?allocated\.(?: dtype: [\w.]+,)?(?: #tokens: (?P<kv_cache_tokens>\d+),)?"
            r"(?: K size: (?P<k_cache_gib>[\d.]+) GB, V size: (?P<v_cache_gib>[\d.]+) GB"
            r"| KV size: (?P<kv_cache_gib>[\d.]+) GB)?",
            "0.4.1+, tokens 0.4.3+, one size for MLA, dtype 0.5.14+ (the research says 0.5.15)",
        ),
        (r"Mamba Cache is allocated\.", "0.5.2+ hybrids"),
        (r"SWAKVPool mem usage: (?P<kv_cache_gib>[\d.]+) GB", "0.5.2+ hybrids"),
        (
            r"DSV4 pool sizes: full=(?P<kv_cache_tokens>\d+)|DSv4 memory calculation: ",
            "DeepSeek-V4, which prints no KV line",
        ),
    ),
    *within(
        Phase.KV_CACHE,
        # Behind the captures, when asked for.
        (
            r"Post-capture KV sizing: (?:draft )?KV cache allocated\.(?: dtype: [\w.]+,)?"
            r" #tokens: (?P<kv_cache_tokens>\d+), KV size: (?P<kv_cache_gib>[\d.]+) GB",
            "0.5.18+, an option",
        ),
        (r"Post-capture KV sizing: ", "0.5.18+, an option"),
    ),
    *ends(
        Phase.KV_CACHE,
        (rf"Memory pool end\. avail mem=(?P<free_gib>{_GB}) GB", "all; again for a draft model"),
        each=True,
    ),
    *within(
        Phase.COMPILE,
        # All of these also come inside a capture or in the warm-up, which they do not end.
        (r"Running FlashInfer autotune|FlashInfer autotune: per-rank caches", "0.5.6+, caches 0.5.20+"),
        (r"Entering DeepGEMM JIT Pre-Comp|Try DeepGEMM JIT Compiling", "0.4.6+; first spelt Pre-Complie"),
        (r"PP-parallel DeepGEMM warmup (?:start|done in (?P<seconds>[\d.]+) ?s)", "0.5.14+"),
    ),
    # 0.5.14 prints the first one with a warm cache too (measured), so it tells no cache mode.
    *within(Phase.COMPILE, (r"Compiling a graph for", "0.5.3+")),
    *within(Phase.COMPILE, (r"Cache the graph", "0.5.3+"), part=CACHE_COLD),
    *within(Phase.COMPILE, (r"Directly load the compiled graph", "0.5.3+"), part=CACHE_WARM),
    *ends(Phase.COMPILE, (r"FlashInfer autotune completed", "0.5.6+")),
    *bars(Phase.COMPILE, "kernels", (r"DeepGEMM warmup", "0.5.1+; without a word before")),
    *bars(Phase.COMPILE, "profiles", (r"\[AutoTuner\]", "0.5.12+")),
    *begins(
        Phase.CAPTURE,
        (rf"Capture {_GRAPH} begin", "0.4.0 to 0.5.13"),
        (
            rf"Capture (?P<part>target \w+|piecewise) {_GRAPH} begin",
            "piecewise 0.5.6 to 0.5.13, target 0.5.14+ (the research says 0.5.15)",
        ),
        each=True,
    ),
    *begins(
        Phase.CAPTURE,
        # From 0.4.4 on, the research says, the first rank alone prints these; a log of 0.4.7 has them of TP1.
        (rf"Capture (?P<part>[\w -]{{1,60}}?) (?:{_GRAPH} )?begin\b", "0.4.3+, decode and extend 0.4.7+"),
    ),
    *within(
        Phase.CAPTURE,
        (r"Capture cuda graph (?:bs|num tokens) \[", "0.4.6 to 0.5.13"),
        (r"Registering \d+ cuda graph addresses", "0.4+"),
    ),
    *bars(
        Phase.CAPTURE,
        "sizes",
        (
            r"(?:\[BCG\] )?(?:Capturing|Compiling) (?:batches |num tokens |prefill shape )?"
            r"\((?P<current>(?:bs|num_tokens)=\d+)?",
            "0.4.4+; what is under way named from 0.4.8",
        ),
    ),
    *bars(None, "", (r"$", "0.4.0 to 0.4.3 captures, 0.4.6 to 0.5.0 DeepGEMM; the first drawing of any")),
    *ends(
        Phase.CAPTURE,
        (
            rf"Capture {_GRAPH} end\.(?: Time elapsed: (?P<seconds>[\d.]+) s)?"
            rf"(?:.{{0,40}}?mem usage=(?P<graph_gib>{_GB}) GB)?",
            "0.4.0 to 0.5.13, memory 0.4.3+",
        ),
        (
            rf"Capture (?P<part>target \w+|piecewise) {_GRAPH} end\.(?: bs=\[[^\]]*\],)?(?: Time)?"
            rf" elapsed[=:] ?(?P<seconds>[\d.]+) s(?:.{{0,40}}?mem usage=(?P<graph_gib>{_GB}) GB)?",
            "piecewise 0.5.6 to 0.5.13, target 0.5.14+",
        ),
        each=True,
    ),
    *ends(
        Phase.CAPTURE,
        (
            rf"Capture (?P<part>[\w -]{{1,60}}?) (?:{_GRAPH} )?end\.(?: bs=\[[^\]]*\],)?"
            rf"(?: step=\d+,)?(?: Time)?(?: elapsed[=:] ?(?P<seconds>[\d.]+) s)?"
            rf"(?:.{{0,40}}?mem usage=(?P<graph_gib>{_GB}) GB)?",
            "0.4.3+",
        ),
    ),
    *begins(
        Phase.START_API,
        (
            r"max_total_num_tokens=(?P<kv_cache_tokens>\d+), "
            r"(?:.*available_gpu_mem=(?P<free_gib>[\d.]+) GB)?",
            "all; memory 0.5.2+. The research says the first rank alone from 0.4.1; a log of 2025-03 has all",
        ),
        (
            r"Engine startup timings \(s\): load_weight=(?P<load_weights_s>[\d.]+)"
            r"(?:, kv_cache_allocation=(?P<kv_cache_s>[\d.]+))?"
            r"(?:, scheduler_e2e=(?P<scheduler_s>[\d.]+))?",
            "0.5.18+",
        ),
        (r"Started server process|Waiting for application startup", "all"),
        # The last line of a node that is not the first; it proves nothing about serving.
        (r"Dummy health check server (?:started|scheduled)", "0.4.3+"),
        (r"Worker \d+: Scheduler loop started", "diffusion runtime 0.5.6+"),
    ),
    *within(
        Phase.START_API,
        (r"Application startup complete", "all"),
    ),
    *begins(
        Phase.WARMUP,
        (r"Uvicorn running on |Starting embedded Granian", "Granian 0.5.12+"),
    ),
    *within(
        Phase.WARMUP,
        # With --warmups these come before the port is open.
        (r"Running warmup |Generate warm up request", "--warmups, 0.4.6+"),
        (r"(?:Start|End) of (?:pd )?disaggregation warmup|Disaggregation warmup", "0.4+"),
        (r"Freezing GC in ", "0.5.18+"),
        (
            r"Prefill batch\b(?: \[\d+\])?[.,] +#new-seq: \d+,"
            rf"(?:{_FIELDS}token usage: (?P<kv_used_share>[\d.]+),)?"
            rf"(?:{_FIELDS}#queue-req: (?P<queued>\d+))?"
            rf"(?:,?{_FIELDS}input throughput \(token/s\): (?P<prompt_tokens_per_s>[\d.]+))?",
            "all; throughput 0.5.9+, hybrids say full token usage",
        ),
    ),
    *counts(
        Phase.WARMUP,
        "requests",
        (r"Warmup requests: (?P<done>\d+)/(?P<total>\d+)", "diffusion runtime 0.5.6+"),
    ),
    *bars(Phase.WARMUP, "shapes", (r"Warmup prefill shapes", "--warmups, 0.4.6+")),
    *serves(
        (r"The server is fired up and ready to roll!", "all, the first node alone"),
    ),
    *steady(
        (
            r"Decode batch\b(?: \[\d+\])?[.,] +#running-req: (?P<running>\d+),"
            rf"(?:{_FIELDS}token usage: (?P<kv_used_share>[\d.]+),)?"
            rf"(?:{_FIELDS}accept len: (?P<acceptance_length>[\d.]+),)?"
            rf"{_FIELDS}gen throughput \(token/s\): (?P<output_tokens_per_s>[\d.]+)"
            rf"(?:,{_FIELDS}#queue-req: (?P<queued>\d+))?",
            "all; cuda graph 0.4.6+, accept rate 0.5.3+, hybrids say full token usage or mamba usage",
        ),
    ),
    *heartbeats(
        (r"Health check failed\. Server couldn't get a response", "0.4.3+"),
        (r"Health check request received during shutdown", "0.5+"),
        (r"port \d+ is in use\. Waiting for", "0.5.5+, its own ports"),
        (r"(?:Receive|Finish): obj=", "0.4+, with --log-requests: a prompt may quote any failure"),
        (r"in=", "to 0.4.2, with --log-requests"),
    ),
    *shutdowns(
        (r"SIGTERM received|Signal SIGTERM received|Gracefully exiting\.\.\.", "all; per node 0.5.23"),
        (r"Shutting down$", "uvicorn 0.20+, in all"),
    ),
)

SGLANG = Engine(
    name="sglang",
    title="SGLang",
    matcher=Matcher(
        engine="sglang",
        argv=[
            module(r"sglang\.launch_server"),
            module(r"sglang(?:\.cli(?:\.main)?)? serve"),
            script(r"sglang/launch_server\.py"),
            script(r"sglang serve"),
            program(r"sglang serve"),
        ],
        titles=[r"^sglang::"],
        environment=ENVIRONMENT,
    ),
    default_port=30000,
    flags=Flags(
        host=("--host",),
        port=("--port",),
        model=("--model-path", "--model"),
        served_name=("--served-model-name",),
        tensor_parallel=("--tp", "--tp-size", "--tensor-parallel-size"),
        pipeline_parallel=("--pp", "--pp-size", "--pipeline-parallel-size"),
        data_parallel=("--dp", "--dp-size", "--data-parallel-size"),
        api_key=("--api-key",),
        tls=("--ssl-keyfile", "--ssl-certfile"),
        config=("--config",),
        node_rank=("--node-rank",),
        rendezvous=("--dist-init-addr", "--nccl-init-addr"),
        many=("--cuda-graph-bs", "--lora-paths", "--decode-log-interval", "--warmups", "--mm-process-config"),
        model_after="serve",
    ),
    roles=(
        RoleRule("rank", re.compile(r"^sglang::schedul(?:er(?:_(?P<rank>\S+))?)?")),
        RoleRule("detokenizer", re.compile(r"^sglang::detoken")),
        RoleRule("controller", re.compile(r"^sglang::data_parallel_controller")),
        RoleRule("launcher", re.compile(r"^sglang::http_server")),
        RoleRule("launcher", re.compile(r"sglang[./]launch_server|sglang\S* serve(?: |$)")),
    ),
    header=HeaderForm(
        record=re.compile(
            r"\[(?P<time>(?:\d{4}-)?\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{3})?)"
            r"(?P<ranks>(?: (?:DP|PP|ATTN_CP|MOE_DP|TP|EP)\d+)*)\] (?:(?P<level>[A-Z]+) [\w.-]+\.py:\d+: )?"
        ),
    ),
    sign=re.compile(
        r"server_args=(?:ServerArgs\(|\{)|\bsglang is using nccl=="
        r"|/sglang/(?:srt|launch_server|cli|multimodal_gen)\b"
        r"|\[[\d-]{0,10} ?\d\d:\d\d:\d\d(?:\.\d{3})?(?: (?:DP|PP|ATTN_CP|MOE_DP|TP|EP)\d+)+\] "
        r"|(?:Load weight|Memory pool) (?:begin|end)\."
        r"|Capture [\w -]{0,40}(?:cuda|CUDA|cpu|CPU) graph (?:begin|end)"
        r"|Capturing (?:batches|num tokens|prefill shape) ?\(|\] Loading \w+, default_dtype: "
        r"|The server is fired up and ready to roll!|#running-req: \d+, #token|#new-seq: \d+, #new-token"
    ),
    rules=RULES,
    faults=FAULTS,
    frames=(
        (
            Phase.DISTRIBUTED,
            frozenset(
                ("init_torch_distributed", "init_distributed_environment", "initialize_model_parallel")
            ),
        ),
        (Phase.WEIGHTS, frozenset(("load_model", "load_weights", "_initialize_model", "initialize_model"))),
        (Phase.KV_CACHE, frozenset(("init_memory_pool", "profile_max_num_token"))),
        (Phase.COMPILE, frozenset(("kernel_warmup", "_flashinfer_autotune", "run_flashinfer_autotune"))),
        (
            Phase.CAPTURE,
            frozenset(
                (
                    "capture",
                    "capture_one_batch_size",
                    "capture_one_shape",
                    "init_cuda_graphs",
                    "init_all_cuda_graphs",
                    "init_device_graphs",
                    "init_prefill_cuda_graph",
                    "init_piecewise_cuda_graphs",
                )
            ),
        ),
        (Phase.WARMUP, frozenset(("_wait_and_warmup", "_execute_server_warmup", "execute_warmups"))),
    ),
    error=re.compile(
        r"\] ERROR\b|\bERROR: |Traceback \(most recent call last\)|hit an exception|graph failed: "
        r"|Received sigquit|SIGQUIT received|[Ww]atchdog timeout|warmup error|scheduler (?:is dead|died)"
        rf"|\] Exit code: |crashed with exit code|{PYTHON_EXCEPTION}"
    ),
    warning=re.compile(r"\bWARNING\b|[Ww]arning:|NCCL WARN|is deprecated"),
    access=UVICORN_ACCESS,
    # Each generating health check and token probe prints one (measured).
    echo=re.compile(r"Prefill batch\b.*#new-seq: 1, #new-token: \d{1,3}, .*#running-req: 0, #queue-req: 0"),
    access_hint=" HTTP/",
    first_lines=(r"server_args=(?:ServerArgs\(|\{)",),
    health_costs_a_token=True,
    metrics=METRICS,
    flush_cache="POST /flush_cache",
    endpoints=ENDPOINTS,
)
