"""TensorRT-LLM's trtllm-serve, 0.20 to 1.3, PyTorch and AutoDeploy backends.

Lines come from its published sources and public logs. Python's logger writes "[time] [TRT-LLM] [I] ", with a
rank or a module's name in some versions, the C++ one "[TensorRT-LLM][INFO] ", uvicorn its own lines without a
time. KV cache, autotuning and graphs come twice: with a small pool that measures, then with the final one.

Up to 2026 the port is bound at once and refuses until the model is up, and "Uvicorn running" is the last line
of a load. Later versions listen at once and answer everything with 503, so that uvicorn's lines come first;
the first line of a start follows them. In both no request gets a 2xx before the model is up.
"""

import re

from tui.engines.base import ENVIRONMENT, Engine, Flags, Metrics, RoleRule
from tui.engines.commands import program, script
from tui.engines.endpoints import PORT, Answer, Endpoint
from tui.engines.faults import COMMON_FAULTS
from tui.engines.header import HeaderForm
from tui.engines.lines import PYTHON_EXCEPTION, UVICORN_ACCESS
from tui.engines.marks import FaultKind, Weight
from tui.engines.phase import Phase
from tui.engines.rules import (
    FaultRule,
    bars,
    begins,
    counts,
    ends,
    facts,
    heartbeats,
    identities,
    serves,
    shutdowns,
    starts,
    within,
)
from tui.requests import Matcher

RULES = (
    *starts(
        (r"Using LLM with \w+ backend", "1.0+; the version's banner comes of every process"),
    ),
    *facts(
        (r"TensorRT-LLM version: (?P<version>\S+)", "to 1.1"),
        (r"TensorRT LLM version: (?P<version>\S+)", "1.2+"),
        # It is printed while memory is profiled as well, so it is no word for serving.
        (r"iter = \d+, .{0,400}?num_scheduled_requests[:=] ?(?P<running>\d+)", "1.0+, with print_iter_log"),
        (r"Memory used after loading model weights \(inside torch\).*: (?P<weights_gib>[\d.]+) GiB", "1.0+"),
    ),
    *within(
        Phase.LAUNCH,
        (r"Starting TensorRT-LLM init|TensorRT-LLM inited|Starting trtllm-serve for", "all"),
    ),
    *within(
        Phase.DISTRIBUTED,
        (
            r"rank \d+ using Mpi\w+ to |Using Mpi\w+ to |Orchestrator is creating",
            "all; the rank's number 1.0+",
        ),
        (r"Refreshed the MPI local session|Generating a new HMAC key", "1.0+"),
    ),
    *within(
        Phase.DISTRIBUTED,
        (r"[\w.-]{1,64}:\d+:\d+ \[\d+\] NCCL INFO ", "NCCL 2.4+ with NCCL_DEBUG=INFO, once a communicator"),
        heartbeat=True,
    ),
    *identities(
        (
            r"Initializing for: lib='\w+', local_rank=(?P<local_rank>\d+), world_size=(?P<world_size>\d+)",
            "AutoDeploy 1.2+",
        ),
    ),
    *begins(
        Phase.WEIGHTS,
        (r"Use (?P<weights_gib>[\d.]+) GB for model weights", "1.0+"),
    ),
    *within(
        Phase.WEIGHTS,
        (r"(?:Prefetching|Pre-fetching) ", "1.0+"),
        (r"ATTENTION RUNTIME FEATURES", "1.0+, as the model begins to be built"),
    ),
    *bars(Phase.WEIGHTS, "files", (r"Loading safetensors weights|Fetching \d+ files", "1.0+")),
    *bars(Phase.WEIGHTS, "modules", (r"Loading weights", "1.0+; concurrently 1.3")),
    *ends(
        Phase.WEIGHTS,
        (r"Model init total -- (?P<seconds>[\d.]+)s", "1.0+"),
    ),
    *begins(
        Phase.KV_CACHE,
        (r"Max KV cache blocks per sequence: ", "1.2+"),
        (
            r"\[MemUsageChange\] Allocated (?P<kv_cache_gib>[\d.]+) GiB for max tokens in paged KV cache"
            r" \((?P<kv_cache_tokens>\d+)\)",
            "all, twice",
        ),
        (r"Estimated max memory in KV cache : (?P<kv_cache_gib>[\d.]+) GiB", "1.0+, before the final pool"),
    ),
    *within(
        Phase.COMPILE,
        (r"\[Autotuner\] (?:Autotuning process starts|Cache size)|Running autotuner warmup", "1.0+, twice"),
        (r"Run warmup with \d+ tokens, include \d+ generation tokens", "1.2+"),
        (r"\[stage=compile, ", "AutoDeploy 1.2+"),
    ),
    *ends(
        Phase.COMPILE,
        (r"\[Autotuner\] Autotuning process ends", "1.0+"),
    ),
    *begins(
        Phase.CAPTURE,
        (r"Creating CUDA graph instances for \d+ batch sizes", "1.0+, twice"),
    ),
    *within(
        Phase.CAPTURE,
        (r"Run (?:generation only|piecewise) CUDA graph warmup for batch size=", "0.20+; largest first"),
        (r"Peak memory during memory usage profiling", "1.0+"),
    ),
    *begins(
        Phase.START_API,
        (r"get signal from executor worker", "1.0+: all ranks are up"),
        (r"Started server process|Waiting for application startup", "uvicorn 0.20+, in all"),
    ),
    *within(
        Phase.START_API,
        (r"Setting PyTorch memory fraction to ", "1.0+, the last line of a rank"),
        (r"Application startup complete", "uvicorn 0.20+, in all"),
    ),
    *counts(
        Phase.START_API,
        "requests",
        (r"Warmup requests: (?P<done>\d+)/(?P<total>\d+)", "visual generation 1.2+"),
    ),
    *serves(
        (r"Uvicorn running on ", "to 2026"),
        (r"Server state: READY", "2026"),
        (r'[^\s"]{1,255} - "(?:GET|POST) \S+ HTTP/[\d.]+" 2\d\d\b', "all: see above"),
        (r"Server is ready to accept requests", "gRPC, 1.2+"),
    ),
    *heartbeats(
        (r"LLM is unavailable|Health check failed", "all"),
    ),
    *shutdowns(
        (r"Shutting down(?: FastAPI HTTP server| TensorRT-LLM gRPC server)?\.{0,3}$", "all"),
        (r"Parent process \(PID \d+\) received signal|Received shutdown signal", "1.0+"),
    ),
)

_OWN_FAULTS = (
    FaultRule(
        None,
        re.compile(r"Executor creation failed due to insufficient GPU memory"),
        ("insufficient GPU",),
        "The GPU had no memory left for a part of the executor.",
        "The lines below name the part and what to make smaller: free_gpu_memory_fraction, "
        "max_num_tokens, max_seq_len.",
        terminal=True,
        versions="1.0+",
    ),
    FaultRule(
        FaultKind.OOM_KV,
        re.compile(r"Impossible to fit in any sequence in kvCache|No available memory for KV cache"),
        ("kvCache", "memory for KV"),
        "After the weights not even one sequence fits into the KV cache.",
        "Raise --kv_cache_free_gpu_memory_fraction or lower --max_seq_len; see what else holds memory on "
        "the GPU.",
        terminal=True,
        phase=Phase.KV_CACHE,
        versions="public reports of 0.20 to 1.3",
    ),
    FaultRule(
        FaultKind.BAD_CONFIG,
        re.compile(r"Failed to parse the arguments for the LLM constructor"),
        ("Failed to parse",),
        "An argument or the extra options file does not fit this version.",
        "The lines below name the argument.",
        terminal=True,
        versions="1.0+",
        phase=Phase.LAUNCH,
    ),
    FaultRule(
        FaultKind.BAD_CONFIG,
        re.compile(r"Only SM ?\d+\w* (?:is|are|and) .*supported|does not recognize this architecture"),
        ("Only SM", "recognize"),
        "This version does not run this model on this GPU.",
        "Compare the support matrix of the release; another backend for MoE or attention may serve.",
        versions="public reports of 1.0 to 1.3",
    ),
    FaultRule(
        FaultKind.BAD_CONFIG,
        re.compile(
            r"operation not permitted when stream is capturing|StreamCapture(?:Unsupported"
            r"|Invalidated)"
        ),
        ("is capturing", "StreamCapture"),
        "A part of the model does what a CUDA graph cannot hold.",
        "Set cuda_graph_config to null, or choose another MoE or attention backend.",
        phase=Phase.CAPTURE,
        versions="CUDA 12+, public reports of 1.0 to 1.3",
    ),
)  # fmt: skip
_ECHOES = (
    FaultRule(
        FaultKind.UNKNOWN,
        re.compile(r"Failed to initialize executor on rank (?P<rank>\d+): *\S"),
        ("Failed to initialize",),
        "Rank {rank} failed with what this line says.",
        "Read the traceback beside this line.",
        weight=Weight.ERROR,
        terminal=True,
        versions="1.0+",
    ),
    FaultRule(
        FaultKind.RANK_DIED,
        re.compile(
            r"Executor worker died during initialization|MPI_ABORT was invoked|mpirun noticed that"
            r" process"
        ),
        ("died during", "MPI_ABORT", "noticed that process"),
        "A worker process ended without a word.",
        "See `dmesg` for the OOM killer and for an Xid.",
        weight=Weight.REPORT,
        terminal=True,
        versions="1.0+; Open MPI 4.x",
    ),
    FaultRule(
        FaultKind.UNKNOWN,
        re.compile(r"Executor worker (?:returned error|initialization error)|Error in event loop"),
        ("Executor worker", "Error in event"),
        "A worker process failed.",
        "Read the first exception above.",
        weight=Weight.ECHO,
        terminal=True,
        versions="all seen (0.20 to 1.3)",
    ),
)  # fmt: skip

_UP = (Answer(200, "up", "up"),)

TRTLLM = Engine(
    name="trtllm",
    title="TensorRT-LLM",
    matcher=Matcher(
        engine="trtllm",
        argv=[script(r"trtllm-serve"), program(r"trtllm-serve")],
        titles=[],
        environment=[*ENVIRONMENT, "TRTLLM_", "TLLM_"],
    ),
    default_port=8000,
    default_host="localhost",
    flags=Flags(
        host=("--host",),
        port=("--port",),
        model=(),
        served_name=("--served-model-name",),
        tensor_parallel=("--tp-size", "--tensor-parallel-size"),
        pipeline_parallel=("--pp-size", "--pipeline-parallel-size"),
        config=("--config", "--extra-llm-api-options"),
        model_after="serve",
        model_program="trtllm-serve",
    ),
    roles=(RoleRule("launcher", re.compile(r"(?:^|[\s/])trtllm-serve(?: |$)")),),
    header=HeaderForm(
        record=re.compile(
            r"(?:\[(?P<time>\d\d/\d\d/\d{4}-\d\d:\d\d:\d\d)\] )?\[(?:TRT-LLM|TensorRT-LLM)[A-Z -]{0,20}\] ?"
            r"(?:\[(?P<ranks>RANK \d+)\] )?(?:\[(?P<level>[A-Z]{1,7})\] )?(?:\[[a-z_]{1,12} *\] )?"
        ),
    ),
    sign=re.compile(r"\[TRT-LLM[ \]]|\[TensorRT-LLM\] TensorRT[- ]LLM version|trtllm-serve"),
    rules=RULES,
    faults=(*_OWN_FAULTS, *COMMON_FAULTS, *_ECHOES),
    frames=(
        (Phase.WEIGHTS, frozenset(("_load_model", "load_weights", "load_model", "_load_weights_impl"))),
        (
            Phase.KV_CACHE,
            frozenset(("build_managers", "_create_kv_cache_manager", "configure_kv_cache_capacity")),
        ),
        (Phase.COMPILE, frozenset(("_run_autotuner_warmup", "_run_torch_compile_warmup"))),
        (
            Phase.CAPTURE,
            frozenset(("_run_cuda_graph_warmup", "_capture_generation_cuda_graphs", "capture")),
        ),
    ),
    error=re.compile(
        r"\[TRT-LLM[^\]]*\] (?:\[RANK \d+\] )?\[E\]|\[TensorRT-LLM\]\[ERROR\]|\bERROR: "
        rf"|Traceback \(most recent call last\)|{PYTHON_EXCEPTION}"
    ),
    warning=re.compile(
        r"\[TRT-LLM[^\]]*\] (?:\[RANK \d+\] )?\[W\]|\[TensorRT-LLM\]\[WARNING\]|[Ww]arning:|NCCL WARN"
    ),
    access=UVICORN_ACCESS,
    access_hint=" HTTP/",
    first_lines=(r"Using LLM with \w+ backend",),
    health_path="/health",
    log_stream="stdout",
    # Served at /prometheus/metrics; /metrics itself is JSON.
    metrics=Metrics(
        running="trtllm_num_requests_running",
        queued="trtllm_num_requests_waiting",
        kv_used="trtllm_kv_cache_utilization",
        generated_tokens="trtllm_generation_tokens_total",
        prompt_tokens="trtllm_prompt_tokens_total",
        ttft="trtllm_time_to_first_token_seconds",
        itl="trtllm_time_per_output_token_seconds",
    ),
    # trtllm-serve has no route that empties its cache of reused blocks, in any version to 1.3.
    flush_cache=None,
    # Which release brought the change of 2026 (a port that answers 503 while loading) is not known, so a
    # row holds before and after it.
    endpoints=(
        Endpoint(
            PORT, "all", (Answer("refused", "loading, or gone", "unclear"),), "after 2026's change: gone"
        ),
        Endpoint(
            "/health",
            "all",
            (Answer(200, "up", "up"), Answer(503, "still initializing, or failed", "unclear")),
            "newer versions end the server when the engine has failed and this is asked",
        ),
        Endpoint(
            "/health_generate",
            "1.0+",
            (
                Answer(200, "up and generating", "ready"),
                Answer(500, "generates nothing", "ill"),
                Answer(503, "still initializing", "loading"),
            ),
            "a generated token",
        ),
        Endpoint("/v1/models", "all", (*_UP, Answer(503, "still initializing", "loading"))),
        Endpoint("/version", "all", (*_UP, Answer(503, "still initializing", "loading"))),
        Endpoint(
            "/metrics", "all", (*_UP, Answer(503, "still initializing", "loading")), "JSON of iterations"
        ),
        Endpoint("/prometheus/metrics", "1.0+", _UP, "needs return_perf_metrics"),
    ),
)
