"""SGLang, 0.4.0 to 0.5.23.

Line templates, their versions and process titles are those read in its published sources and in public logs;
what is marked "measured" was seen on H200s with 0.5.14. Log lines carry no level and no logger name.
"""

import re

from tui.engines.base import ENVIRONMENT, Engine, Flags, Phase, RoleRule, rows
from tui.engines.commands import module, program, script
from tui.engines.lines import ADDRESS_IN_USE, NATIVE, OUT_OF_MEMORY, PYTHON_EXCEPTION, SHARDS, UVICORN_ACCESS
from tui.requests import Matcher

_GRAPH = r"(?:cuda|CUDA|cpu|CPU) graph"

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
    phases=(
        *rows(
            Phase.LAUNCH,
            (r"server_args=(?:ServerArgs\(|\{)", "ServerArgs( to 0.5.15, a dict in 0.5.23"),
        ),
        *rows(
            Phase.LOADING,
            (r"Init (?:torch distributed|parallel|nccl) begin", "nccl 0.2, parallel 0.5.23"),
            (r"sglang is using nccl==|Found nccl from library", "0.4+"),
            (r"\[Gloo\] Rank \d+ is connected|NCCL INFO|Setup Custom allreduce failed", "0.4+"),
            (r"[Cc]ustom ?[Aa]llreduce is disabled|NCCL/RCCL\S* warmup", "0.4+, warm-up 0.5.10+"),
            (r"Init (?:torch distributed|parallel) ends\.", "0.4.3+"),
        ),
        # A draft model's weights come after the capture of the target model.
        *rows(
            Phase.LOADING,
            (r"Load weight begin\.", "all"),
            back=True,
        ),
        *rows(
            Phase.LOADING,
            (SHARDS, "all"),
            (
                r"self\.load_model\(\)|could finish the model loading|monitoredBarrier",
                "a failure's traceback",
            ),
            (r"Load weight end\.", "all"),
            (r"^\[\d\d-\d\d [\d:]+\] Loading \w+, default_dtype", "diffusion runtime, 0.5.6+"),
            (r"KV [Cc]ache (?:is )?allocated|Memory pool end\.", "0.4.1+"),
            (r"Running FlashInfer autotune|\[AutoTuner\]", "0.5.6+"),
            (r"(?:Entering|Try) DeepGEMM JIT|DeepGEMM warmup", "0.4.6+, also inside a capture"),
        ),
        *rows(
            Phase.CAPTURE,
            (rf"Capture [\w ]*{_GRAPH}\b.{{0,40}}? begin", "to 0.5.13"),
            (rf"Capture [\w -]+{_GRAPH} begin\.", "0.5.15+"),
            (r"Capture cuda graph (?:bs|num tokens) \[", "0.4.6 to 0.5.13"),
            (r"Capturing (?:batches|num tokens|prefill shape)\b.*?\d+%", "0.4.4+"),
            (r"\[BCG\] Capturing|Compiling num tokens \(", "0.5.7+"),
            (rf"Capture [\w -]*{_GRAPH} (?:end\.|failed)", "all"),
            (r"Registering \d+ cuda graph addresses", "0.4+"),
            (r'cuda_graph_runner\.py", line \d+, in capture', "a failure's traceback"),
        ),
        *rows(
            Phase.START_API,
            (r"max_total_num_tokens=\d+, .*max_running_requests=", "rank 0; all ranks in 0.4.0"),
            (r"Engine startup timings \(s\)", "0.5.18+"),
            (r"INFO: +(?:Started server process|Waiting for application startup)", "all"),
            (r"INFO: +Application startup complete", "all"),
        ),
        *rows(
            Phase.WARMUP,
            (r"Uvicorn running on |Starting embedded Granian", "Granian 0.5.12+"),
            (r"Prefill batch|Running warmup |Start of pd disaggregation warmup", "all"),
            (r"Initialization failed\. warmup error", "all"),
        ),
        *rows(
            Phase.READY,
            (r"The server is fired up and ready to roll!", "all, node 0 only"),
            (r"Decode batch\b.*gen throughput", "all"),
        ),
    ),
    fatal=(
        re.compile(OUT_OF_MEMORY + "|" + ADDRESS_IN_USE + "|" + NATIVE),
        re.compile(r"Not enough memory|No model weights found in|warmup error|[Ww]atchdog timeout \("),
        re.compile(r"Rank \d+ scheduler (?:is dead|died)|Subprocess \w+ \(pid=\d+\) crashed"),
        re.compile(PYTHON_EXCEPTION),
        re.compile(r"hit an exception|Received sigquit from a child proces|SIGQUIT received"),
    ),
    shutdown=re.compile(r"SIGTERM received\.|Gracefully exiting\.\.\.|INFO: +Shutting down"),
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
