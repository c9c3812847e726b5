"""SGLang, 0.4.0 to 0.5.23.

Line templates, their versions and process titles are those read in its published sources and in public logs;
what is marked "measured" was seen on H200s with 0.5.14. Log lines carry no level and no logger name.
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
    heartbeats,
    serves,
    shutdowns,
    starts,
    steady,
    within,
)  # fmt: skip
from tui.requests import Matcher

_GRAPH = r"(?:cuda|CUDA|cpu|CPU) graph"
_GB = r"-?[\d.]+"

RULES = (
    *starts(
        (r"server_args=(?P<arguments>(?:ServerArgs\(|\{).*)", "ServerArgs( to 0.5.15, a dict in 0.5.23"),
    ),
    *begins(
        Phase.DISTRIBUTED,
        (r"Init torch distributed begin\.", "0.4.0 to 0.5.20"),
        (r"Init parallel begin\.", "0.5.23"),
        (r"Init nccl begin", "0.2"),
        each=True,
    ),
    *within(
        Phase.DISTRIBUTED,
        (r"sglang is using nccl==(?P<nccl>[\d.]+)|Found nccl from library", "0.4+, library 0.4"),
        (r"world_size=\d+ rank=\d+ local_rank=", "0.4+"),
        (r"Setup Custom allreduce failed", "0.4+, a warning"),
        (r"(?:CustomAllreduce|Custom) (?:allreduce )?is disabled", "0.4+, a warning"),
        (r"NCCL/RCCL\S* warmup completed in (?P<seconds>[\d.]+) s", "0.5.10+, HCCL 0.5.18+"),
        (r"Gated launch (?:waiting|activated|still)", "0.5.23"),
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
    *begins(
        Phase.WEIGHTS,
        (rf"Load weight begin\. avail mem=(?P<free_gib>{_GB}) GB", "all"),
        each=True,
    ),
    *within(
        Phase.WEIGHTS,
        (r"TP rank \d+ could finish the model loading, but there are other ranks", "0.4.3+"),
        (r"Loading \w+, default_dtype", "diffusion runtime, 0.5.6+"),
        (r"Found local HF snapshot|Using model weights format", "0.4+"),
    ),
    *bars(
        Phase.WEIGHTS,
        "shards",
        (r"(?:Loading|Multi-thread loading) [^:]{0,80}?(?:shards|Streamer|InstantTensor|loader)", "all"),
    ),
    *ends(
        Phase.WEIGHTS,
        (
            rf"Load weight end\.(?: elapsed=(?P<seconds>[\d.]+) s,)?.{{0,200}}?(?:mem usage=(?P<weights_gib>{_GB}) GB|$)",
            "all; mem usage 0.4.3+, elapsed 0.5.9+",
        ),
        each=True,
    ),
    *begins(
        Phase.KV_CACHE,
        (
            r"KV [Cc]ache (?:is )?allocated\.(?: dtype: [\w.]+,)?(?: #tokens: (?P<kv_cache_tokens>\d+),)?"
            r"(?: K size: (?P<k_cache_gib>[\d.]+) GB, V size: (?P<v_cache_gib>[\d.]+) GB| KV size: (?P<kv_cache_gib>[\d.]+) GB)?",
            "0.4.1+, tokens 0.4.3+, dtype 0.5.15+",
        ),
        (r"Mamba Cache is allocated|SWAKVPool mem usage", "0.5.2+ hybrids"),
        each=True,
    ),
    *within(
        Phase.KV_CACHE,
        (r"Post-capture KV sizing: KV cache allocated", "0.5.18+, an option"),
    ),
    *ends(
        Phase.KV_CACHE,
        (rf"Memory pool end\. avail mem=(?P<free_gib>{_GB}) GB", "all"),
        each=True,
    ),
    *within(
        Phase.COMPILE,
        (r"Running FlashInfer autotune", "0.5.6+"),
        (r"(?:Entering|Try) DeepGEMM JIT", "0.4.6+, also inside a capture"),
        (r"PP-parallel DeepGEMM warmup", "0.5.15+"),
    ),
    *within(Phase.COMPILE, (r"Compiling a graph for|Cache the graph", "0.5.3+"), part=CACHE_COLD),
    *within(Phase.COMPILE, (r"Directly load the compiled graph", "0.5.3+"), part=CACHE_WARM),
    *bars(
        Phase.COMPILE,
        "kernels",
        (r"DeepGEMM warmup", "0.5.1+; a bare bar before"),
        (r"\[AutoTuner\]", "0.5.12+"),
    ),
    *begins(
        Phase.CAPTURE,
        (rf"Capture (?P<part>[\w -]*?) ?{_GRAPH} begin", "all; names what is captured from 0.5.15"),
        each=True,
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
            r"(?:\[BCG\] )?(?:Capturing|Compiling) (?:batches|num tokens|prefill shape)?\s?\((?P<current>\w+=\d+)?",
            "0.4.4+; sizes named from 0.4.8",
        ),
        (r"Capturing ", "0.4.4 to 0.4.7"),
    ),
    *ends(
        Phase.CAPTURE,
        (
            rf"Capture (?P<part>[\w -]*?) ?{_GRAPH} end\.(?: bs=\[[^\]]*\],)?"
            r"(?: Time elapsed: (?P<seconds>[\d.]+) s| (?:step=\d+, )?elapsed=[\d.]+ s)?"
            rf"(?:.{{0,80}}?mem usage=(?P<capture_gib>{_GB}) GB)?",
            "all",
        ),
        each=True,
    ),
    *begins(
        Phase.START_API,
        (r"max_total_num_tokens=(?P<kv_cache_tokens>\d+), ", "all; rank 0 only from 0.4.1"),
        (r"Engine startup timings \(s\)", "0.5.18+"),
        (r"Started server process|Waiting for application startup", "all"),
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
        (r"Running warmup |Start of pd disaggregation warmup", "0.4+"),
        (r"Prefill batch\b", "all"),
    ),
    *serves(
        (r"The server is fired up and ready to roll!", "all, node 0 only"),
    ),
    *steady(
        (
            r"Decode batch(?: \[\d+\])?[.,] +#running-req: (?P<running>\d+),.*?(?:token usage: (?P<kv_used_share>[\d.]+), )"
            r"(?:.*?accept len: (?P<acceptance_length>[\d.]+),)?.*?gen throughput \(token/s\): (?P<output_tokens_per_s>[\d.]+)"
            r"(?:,.*?#queue-req: (?P<queued>\d+))?",
            "all; order of the last two fields changed in 0.4.6",
        ),
    ),
    *heartbeats(
        (r"Health check failed\. Server couldn't get a response", "0.4.3+"),
    ),
    *shutdowns(
        (r"SIGTERM received\.|Gracefully exiting\.\.\.|Shutting down", "all"),
    ),
)

FAULTS = (
    FaultRule(
        FaultKind.OOM_KV,
        re.compile(
            r"Not enough (?:GPU )?memory(?: for hybrid|\. Please try to increase)|The memory capacity is unbalanced"
        ),
        ("Not enough", "unbalanced"),
        "After the weights no memory is left for the KV cache.",
        "Raise --mem-fraction-static, or free the GPU from what else holds memory on it.",
        terminal=True,
    ),
    FaultRule(
        FaultKind.WARMUP_FAILED,
        re.compile(r"Initialization failed\. warmup error"),
        ("warmup error",),
        "The server's own first request did not succeed, so it ended itself.",
        "Read the answer it got; a proxy (http_proxy) or a wrong host name can stand between.",
        terminal=True,
    ),
    FaultRule(
        FaultKind.TIMEOUT,
        re.compile(r"there are other ranks that didn't finish loading"),
        ("other ranks",),
        "Some ranks took longer to load than the others would wait.",
        "See which rank is slow and what it reads from; copy the weights to a local disk.",
        terminal=True,
    ),
    FaultRule(
        FaultKind.TIMEOUT,
        re.compile(r"[Ww]atchdog timeout \("),
        ("atchdog timeout",),
        "A batch did not finish within the watchdog's time.",
        "Read the stacks that follow; a JIT compile or a lost rank can be the reason.",
        weight=Weight.CONSEQUENCE,
        terminal=True,
    ),
    FaultRule(
        FaultKind.RANK_DIED,
        re.compile(r"Rank \d+ scheduler (?:is dead|died)|Subprocess \w+ \(pid=\d+\) crashed"),
        ("scheduler is dead", "scheduler died", "crashed"),
        "A scheduler process was killed or crashed natively, so that it could not say why.",
        "Exit code -9 is the OOM killer or a person: see `dmesg`; -11 is a native crash.",
        weight=Weight.REPORT,
        terminal=True,
    ),
    FaultRule(
        FaultKind.UNKNOWN,
        re.compile(rf"Capture [\w -]*{_GRAPH} failed"),
        ("graph failed",),
        "Capturing a graph failed.",
        "Read the traceback; --disable-cuda-graph tells whether the model itself runs.",
        weight=Weight.REPORT,
        terminal=True,
    ),
    FaultRule(
        FaultKind.UNKNOWN,
        re.compile(r"hit an exception: |Received sigquit from a child proces|SIGQUIT received"),
        ("hit an exception", "sigquit", "SIGQUIT"),
        "A process of the server failed.",
        "Read the traceback beside this line.",
        weight=Weight.ECHO,
        terminal=True,
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
            r"\[(?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{3})?|\d\d-\d\d \d\d:\d\d:\d\d)"
            r"(?P<ranks>(?: (?:DP|PP|ATTN_CP|MOE_DP|TP|EP)\d+)*)\] (?:(?P<level>[A-Z]+) [\w.-]+\.py:\d+: )?"
        ),
    ),
    sign=re.compile(
        r"server_args=(?:ServerArgs\(|\{)|sglang/srt/|sglang::|\bsglang is using nccl|#new-seq: "
    ),
    rules=RULES,
    faults=FAULTS,
    frames=(
        (Phase.DISTRIBUTED, frozenset(("init_torch_distributed", "initialize_model_parallel"))),
        (Phase.WEIGHTS, frozenset(("load_model", "load_weights", "_initialize_model", "initialize_model"))),
        (Phase.KV_CACHE, frozenset(("init_memory_pool", "profile_max_num_token"))),
        (
            Phase.CAPTURE,
            frozenset(
                (
                    "capture",
                    "capture_one_batch_size",
                    "capture_one_shape",
                    "init_cuda_graphs",
                    "init_device_graphs",
                )
            ),
        ),
    ),
    error=re.compile(
        r"\] ERROR\b|\bERROR: |Traceback \(most recent call last\)|hit an exception|graph failed: "
        rf"|Received sigquit|SIGQUIT received|[Ww]atchdog timeout|warmup error|{PYTHON_EXCEPTION}"
    ),
    warning=re.compile(r"\bWARNING\b|[Ww]arning:|NCCL WARN|is deprecated"),
    access=UVICORN_ACCESS,
    # Each generating health check and token probe prints one (measured).
    echo=re.compile(r"Prefill batch\b.*#new-seq: 1, #new-token: \d{1,3}, .*#running-req: 0, #queue-req: 0"),
    access_hint=" HTTP/",
    first_lines=(r"server_args=(?:ServerArgs\(|\{)",),
    health_costs_a_token=True,
)
