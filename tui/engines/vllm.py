"""vLLM, 0.6 to 0.32, on GPUs and on CPUs: its processes, arguments, endpoints and the form of its log lines.

What the lines say is in ``vllm_rules.py``, how its failures read in ``vllm_faults.py``. A process writes
its name in front of a line, and several names may stand there, of which the last one speaks. Up to 0.31 a
bar's prefix stands alone on the line before it; from 0.32 on tracebacks, bars and uvicorn's lines have none.
"""

import re

from tui.engines.base import ENVIRONMENT, Engine, Flags, Metrics, RoleRule
from tui.engines.commands import module, program, script
from tui.engines.header import HeaderForm
from tui.engines.lines import PYTHON_EXCEPTION, UVICORN_ACCESS
from tui.engines.phase import Phase
from tui.engines.vllm_endpoints import ENDPOINTS
from tui.engines.vllm_faults import FAULTS
from tui.engines.vllm_rules import RULES
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
        nodes=("--nnodes", "-n"),
        node_rank=("--node-rank", "-r"),
        rendezvous_host=("--master-addr",),
        rendezvous_port=("--master-port",),
        rendezvous_default=("127.0.0.1", 29501),
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
            ("DP", 0),
            ("EngineCore", 1),
            ("Worker", 2),
            ("VllmWorker", 2),
            ("RayWorker", 2),
        ),
    ),
    # SGLang to 0.4 prints records of the vLLM modules that it imports, so not every file is a sign.
    sign=re.compile(
        r"vLLM API server version |Initializing an? (?:V[01] )?LLM engine \("
        r"|\((?:APIServer|ApiServer_\d+|EngineCore(?:_(?:DP)?\d+)?|VllmWorker(?:Process)?(?:-\d+)?|RayWorkerWrapper)"
        r"(?: (?:rank=)?\w+)? pid=\d+|\(Worker(?:_[A-Z]+\d+)+ pid=\d+\)"
        r"|\(Worker pid=\d+\) (?:DEBUG|INFO|WARNING|ERROR) \d\d-\d\d |Capturing CUDA graph(?:s \(| shapes:)"
        r"|(?:DEBUG|INFO|WARNING|ERROR|CRITICAL) \d\d-\d\d \d\d:\d\d:\d\d \[?(?:\w+/)*(?:api_server|api_utils"
        r"|cli_args|model|llm_engine|async_llm\w*|core|core_client|metrics|loggers|launcher|(?:gpu_|cpu_)?model_runner"
        r"|(?:gpu_|cpu_)?worker|multiproc_\w+|\w+_executor|executor_base|kv_cache_utils|backends|serving_\w+)"
        r"\.py:\d+\]|[\\/]vllm/(?:v1|engine|entrypoints)/"
    ),
    rules=RULES,
    faults=FAULTS,
    frames=(
        (
            Phase.DISTRIBUTED,
            frozenset(
                (
                    "init_device",
                    "init_worker_distributed_environment",
                    "init_distributed_environment",
                    "ensure_model_parallel_initialized",
                    "initialize_model_parallel",
                )
            ),
        ),
        (Phase.WEIGHTS, frozenset(("load_model", "load_weights", "download_model"))),
        (
            Phase.KV_CACHE,
            frozenset(
                (
                    "profile_run",
                    "profile_cudagraph_memory",
                    "determine_available_memory",
                    "determine_num_available_blocks",
                    "get_kv_cache_config",
                    "get_kv_cache_configs",
                    "check_enough_kv_cache_memory",
                    "_check_enough_kv_cache_memory",
                    "initialize_kv_cache",
                )
            ),
        ),
        (Phase.COMPILE, frozenset(("kernel_warmup", "deep_gemm_warmup", "flashinfer_autotune"))),
        (Phase.CAPTURE, frozenset(("capture_model", "_capture_cudagraphs", "capture_graphs"))),
        (Phase.START_API, frozenset(("init_app_state", "build_and_serve"))),
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
    ),
    error=re.compile(
        r"\b(?:ERROR|CRITICAL) \d\d-\d\d |\bERROR: |Traceback \(most recent call last\)|^Failed: Cuda error"
        rf"|{PYTHON_EXCEPTION}"
    ),
    warning=re.compile(
        r"\bWARNING \d\d-\d\d |[Ww]arning:|NCCL WARN|No available shared memory broadcast block"
    ),
    access=UVICORN_ACCESS,
    access_hint=" HTTP/",
    metrics=Metrics(
        running="vllm:num_requests_running",
        queued="vllm:num_requests_waiting",
        kv_used="vllm:kv_cache_usage_perc",
        generated_tokens="vllm:generation_tokens_total",
        prompt_tokens="vllm:prompt_tokens_total",
        ttft="vllm:time_to_first_token_seconds",
        itl="vllm:inter_token_latency_seconds",
        # The new names came before the old ones went: that of kv_used with 0.9, that of itl with 0.10.
        older=(
            ("kv_used", "vllm:gpu_cache_usage_perc", "to 0.11"),
            ("itl", "vllm:time_per_output_token_seconds", "to 0.11"),
        ),
    ),
    # Served with VLLM_SERVER_DEV_MODE=1 alone.
    flush_cache="POST /reset_prefix_cache",
    endpoints=ENDPOINTS,
    # The logo (0.19+) or the version (before). "non-default args" follows them, so it would cut them off.
    first_lines=(r"vLLM API server version ", r"\] +█ +█ +█▄ +▄█"),
    log_stream="stdout",
)
