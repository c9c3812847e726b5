"""Text Generation Inference, 0.8 to 3.3 (its repository is archived since 2026-01).

The launcher writes every record ("shard-manager: text_generation_launcher: … rank=0"); a shard's standard
error comes in one piece when it has ended. The port is bound with "Connected", after the warm-up.
"""

import re

from tui.engines.base import ENVIRONMENT, Engine, Flags, Metrics, RoleRule
from tui.engines.commands import program, script
from tui.engines.endpoints import PORT, Answer, Endpoint
from tui.engines.header import HeaderForm
from tui.engines.lines import PYTHON_EXCEPTION, UVICORN_ACCESS
from tui.engines.marks import FaultKind, Weight
from tui.engines.phase import Phase
from tui.engines.rules import FaultRule, begins, counts, ends, serves, shutdowns, starts, steady, within
from tui.requests import Matcher

_LAUNCHER, _ROUTER, _SHARD = (
    "text-generation-launcher",
    "text-generation-router(?:-v\\d)?",
    "text-generation-server",
)

RULES = (
    *starts((r"Args \{(?P<arguments>.*)", "all; on one line to 1.4")),
    *within(
        Phase.LAUNCH,
        (
            r"(?:Sharding model on|Parsing num_shard from|Using attention|Using default cuda graphs)",
            "all, 2.1+",
        ),
        (r"(?:Default `max_|Model supports up to|Disabling prefix caching)", "2.0+"),
    ),
    *begins(
        Phase.WEIGHTS,
        (r"Starting shard\b", "all"),
        each=True,
    ),
    *within(
        Phase.WEIGHTS,
        (r"(?:Starting check and download process|Starting download process)", "2.2+, before"),
        (r"(?:Successfully downloaded weights|Files are already present|Download file: |Downloaded )", "all"),
        (r"Server started at unix://", "all"),
    ),
    *counts(
        Phase.WEIGHTS,
        "files",
        (r"(?:Download|Convert): \[(?P<done>\d+)/(?P<total>\d+)\]", "all"),
    ),
    *within(
        Phase.WEIGHTS,
        (r"Waiting for shard (?:\d+ )?to be ready\.\.\.", "all, every 10 s"),
        heartbeat=True,
    ),
    *ends(
        Phase.WEIGHTS,
        (r"Shard (?:\d+ )?ready in (?:(?P<seconds>[\d.]+)s)?", "all"),
        each=True,
    ),
    *begins(
        Phase.WARMUP,
        (r"(?:Starting Webserver|Warming up model)", "all"),
    ),
    *within(
        Phase.KV_CACHE,
        (r"KV-cache blocks: (?P<kv_cache_tokens>\d+), size: 1$", "2.2+"),
        (r"KV-cache blocks: ", "2.2+"),
    ),
    *within(
        Phase.CAPTURE,
        (r"Cuda Graphs are enabled for sizes", "2.0+"),
    ),
    *within(
        Phase.START_API,
        (r"Setting max batch total tokens to (?P<kv_cache_tokens>\d+)", "all"),
        (
            r"(?:Using backend |Maximum (?:input|total) tokens defaulted|Using config |Invalid hostname)",
            "2.0+",
        ),
    ),
    *serves((r"Connected$", "all")),
    *steady(
        (
            r"(?:generate|generate_stream|chat_completions|completions|compat_generate)\{.*time_per_token=",
            "all",
        )
    ),
    *shutdowns(
        (
            r"(?:signal received, starting graceful shutdown|Terminating webserver|Shutting down shards)",
            "all",
        ),
    ),
)

FAULTS = (
    FaultRule(
        FaultKind.OOM_HOST,
        re.compile(r"signaled to shutdown with signal 9\b"),
        ("signal 9",),
        "A shard was killed, most often because the host had no memory left.",
        "See `dmesg` for the OOM killer; give the container more memory.",
        terminal=True,
        versions="public reports of 1.0 to 3.3",
    ),
    FaultRule(
        FaultKind.OOM_HOST,
        re.compile(r"signaled to shutdown with signal 7\b|Encountered SIGBUS error"),
        ("signal 7", "SIGBUS"),
        "A shard had too little shared memory.",
        "Start the container with --shm-size 1g or more.",
        terminal=True,
        versions="public reports of 1.0 to 3.3",
    ),
    FaultRule(
        FaultKind.RANK_DIED,
        re.compile(r"signaled to shutdown with signal \d+"),
        ("signaled to shutdown",),
        "A process was ended by a signal, so that it could not say why.",
        "Signal 11 is a native crash, 6 an abort, 15 somebody's wish: read the lines above.",
        weight=Weight.REPORT,
        terminal=True,
        versions="public reports of 1.0 to 3.3",
    ),
    FaultRule(
        FaultKind.OOM_KV,
        re.compile(
            r"Not enough memory to handle \d+ (?:prefill|total) tokens"
            r"|Not enough memory.{0,200}?You need to decrease `--max-batch-prefill-tokens`"
        ),
        ("Not enough memory", "memory", "You need to decrease"),
        "The warm-up's largest batch does not fit beside the weights.",
        "Ask for fewer --max-batch-prefill-tokens, --max-input-tokens or --max-total-tokens, or more shards.",
        terminal=True,
        versions="0.9 to 3.3",
    ),
    FaultRule(
        FaultKind.BAD_CONFIG,
        re.compile(
            r"^Error: (?:ArgumentValidation|NotEnoughCUDADevices|ArgumentError)|only supports Ampere GPUs"
        ),
        ("Error: ", "only supports Ampere"),
        "The launcher cannot run these arguments on this machine.",
        "Read what the line says of the argument.",
        versions="all seen (0.8 to 3.3)",
    ),
    FaultRule(
        FaultKind.MISSING_MODEL,
        re.compile(r"Download encountered an error"),
        ("Download encountered an error",),
        "The model could not be fetched.",
        "Check its name, the network and the access token (HF_TOKEN); the download's own error follows.",
        weight=Weight.REPORT,
        terminal=True,
        versions="all seen (0.8 to 3.3)",
    ),
    FaultRule(
        FaultKind.RANK_DIED,
        re.compile(r"Shard \d+ (?:failed to start|crashed)"),
        ("failed to start", "crashed"),
        "A shard ended.",
        "Read the shard's standard error above this line.",
        weight=Weight.REPORT,
        terminal=True,
        versions="all seen (0.8 to 3.3)",
    ),
    FaultRule(
        FaultKind.WARMUP_FAILED,
        re.compile(r"^warmup\{(?!.*out of memory).*error|^Error: (?:\w+\()*Warmup\("),
        ("warmup{", "Warmup("),
        "The router's first batch did not succeed.",
        "Read the shard's traceback above this line.",
        weight=Weight.CONSEQUENCE,
        terminal=True,
        versions="0.9 to 3.3",
    ),
    FaultRule(
        FaultKind.UNKNOWN,
        re.compile(
            r"^Webserver Crashed|^Failed to start webserver"
            r"|^Error: (?:Shard\w+|Webserver\w+|WebServer\w*\(|DownloadError|Backend\()"
        ),
        ("Webserver Crashed", "Failed to start webserver", "Error: "),
        "The launcher gave up.",
        "Read the first error above this line.",
        weight=Weight.ECHO,
        terminal=True,
        versions="all seen (0.8 to 3.3); Backend( 3.0+",
    ),
)

TGI = Engine(
    name="tgi",
    title="TGI",
    matcher=Matcher(
        engine="tgi",
        argv=[program(_LAUNCHER), program(_ROUTER), program(_SHARD), script(_SHARD)],
        titles=[],
        environment=ENVIRONMENT,
    ),
    default_port=3000,
    default_host="0.0.0.0",
    flags=Flags(
        host=("--hostname",),
        port=("-p", "--port"),
        model=("--model-id", "--tokenizer-name"),
        served_name=(),
        tensor_parallel=("--num-shard",),
        api_key=("--api-key",),
        variables=(
            ("model", "MODEL_ID"),
            ("port", "PORT"),
            ("tensor_parallel", "NUM_SHARD"),
            ("api_key", "API_KEY"),
        ),
    ),
    roles=(
        RoleRule("launcher", re.compile(rf"(?:^|/| ){_LAUNCHER}(?: |$)")),
        RoleRule("controller", re.compile(rf"(?:^|/| ){_ROUTER}(?: |$)")),
        RoleRule("rank", re.compile(rf"(?:^|/| ){_SHARD} serve ")),
    ),
    header=HeaderForm(
        # The rank stands at the end of the line.
        record=re.compile(
            r"(?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z) +"
            r"(?P<level>TRACE|DEBUG|INFO|WARN|ERROR) "
            r"(?:(?:[\w-]+(?:\{rank=\d+\})?: ){0,3}text_generation_\w+(?:::\w+)*: (?:[\w./-]+\.rs:\d+: )?)?"
            r"(?=(?:.* rank=(?P<ranks>\d+)$)?)"
        )
    ),
    sign=re.compile(r"\btext_generation_(?:launcher|router)\b|\btext_generation_router(?:_v\d|::)"),
    rules=RULES,
    faults=FAULTS,
    frames=(
        (Phase.WEIGHTS, frozenset(("get_model", "load_weights"))),
        (Phase.WARMUP, frozenset(("warmup",))),
    ),
    error=re.compile(rf"Z +ERROR |Traceback \(most recent call last\)|^Error: |{PYTHON_EXCEPTION}"),
    warning=re.compile(r"Z +WARN |[Ww]arning:"),
    access=UVICORN_ACCESS,
    access_hint=" HTTP/",
    first_lines=(r"text_generation_launcher: Args \{",),
    # The shards are warmed up before the port is bound; the KV cache and the graphs are part of it.
    order=(
        Phase.LAUNCH,
        Phase.DISTRIBUTED,
        Phase.WEIGHTS,
        Phase.WARMUP,
        Phase.COMPILE,
        Phase.KV_CACHE,
        Phase.CAPTURE,
        Phase.START_API,
        Phase.READY,
    ),
    health_costs_a_token=True,
    log_stream="stdout",
    metrics=Metrics(
        running="tgi_batch_current_size",
        queued="tgi_queue_size",
        generated_tokens="tgi_request_generated_tokens_sum",
        prompt_tokens="tgi_request_input_length_sum",
        itl="tgi_request_mean_time_per_token_duration",
    ),
    # No route of the router empties the prefix cache, in any version to 3.3.
    flush_cache=None,
    endpoints=(
        Endpoint(PORT, "all", (Answer("refused", "loading or warming up, or gone", "unclear"),)),
        Endpoint(
            "/health",
            "all",
            (Answer(200, "up and generating", "ready"), Answer(503, "a shard is unhealthy", "ill")),
            "a generated token while nothing else is generated",
        ),
        Endpoint("/info", "all", (Answer(200, "up", "ready"),)),
        Endpoint("/v1/models", "2.0+", (Answer(200, "up", "ready"),), "one model: that of the command line"),
        Endpoint("/metrics", "all", (Answer(200, "up", "ready"),)),
    ),
)
