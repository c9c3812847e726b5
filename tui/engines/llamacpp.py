"""llama.cpp's llama-server, from the JSON lines of 2023 to the timed ones of 2026.

The port opens within a second and answers 503 until the model is loaded, so the health answer, not the log,
tells when it is ready. At default verbosity a 2026 build prints three phase lines in all. The ready line of
2023 and 2024, "HTTP server listening", comes before the load in builds of January to March 2024.
"""

import re

from tui.engines.base import ENVIRONMENT, Engine, Flags, Metrics, RoleRule
from tui.engines.commands import program, script
from tui.engines.endpoints import PORT, Answer, Endpoint
from tui.engines.header import HeaderForm
from tui.engines.llamacpp_faults import LOADER_FAULTS, SERVER_FAULTS
from tui.engines.phase import Phase
from tui.engines.rules import begins, counts, facts, serves, shutdowns, starts, steady, within
from tui.requests import Matcher

_NAME = r"llama-server(?:-\w[\w.-]*)?"
_TIME = r"\d{1,6}\.\d\d\.\d{3}\.\d{3}"
_LEVEL = rf"(?<!\d){_TIME} "

# Before a message stand a tag with a function ("srv  update_slots: "), functions alone ("main: "), or both,
# and for a slot "id  0 | task 3 | ". The loader's functions stay: they tell the phase.
_TAGGED = r"(?:srv|slot|cmn|que|res|spec) +[\w:~]+(?:\(\))?: +"
_FUNCTION = (
    r"(?:(?:main|start|init|load|load_model|log_info|operator\(\)|print_timings?|update_slots|llama_server"
    r"|common_\w+|llama_params_fit\w*): +)"
)
_SLOT = r"(?:id +-?\d+ \| task +-?\d+ \| +)?"
BARE_HEAD = rf"^(?:\^C)?(?:{_TAGGED}{_FUNCTION}*|{_FUNCTION}+){_SLOT}"
_GPU = r"(?:CUDA|ROCm|Vulkan|SYCL|MTL|Metal|MUSA|CANN)\d*"
_HOST = r"(?:CPU|CPU_Mapped|Host)"
_CONTEXT = (
    r"(?:llama_context|llama_new_context_with_model|llama_kv_cache|llama_kv_cache_init|llama_kv_cache_unified"
    r"|llama_kv_cache_iswa|llama_kv_cache_unified_iswa|llama_memory_recurrent|llama_memory_hybrid|sched_reserve"
    r"|llama_build_graph)"
)
_TENSORS = r"(?:load_tensors|llm_load_tensors)"
_WELL = r"(?!.*(?:failed|rror|unable to))"
# A port that a program asks for; a runner inside another program gets one of the system's ephemeral ports.
_CHOSEN_PORT = r"(?:[1-9]\d{0,3}|[12]\d{4}|3[01]\d{3}|32[0-6]\d\d)\b"

LOAD_RULES = (
    *begins(
        Phase.WEIGHTS,
        (r"loading draft model '", "2024-10+"),
        part="draft model",
    ),
    *begins(
        Phase.WEIGHTS,
        (r"load_tensors: loading model tensors", "2024-12+, once more for a draft model"),
        (r"llm_load_tensors: ggml ctx size", "2023-10 to 2024-12"),
    ),
    *within(
        Phase.WEIGHTS,
        (
            _TENSORS + rf": +{_GPU} (?:model )?buffer size = +(?P<weights_mib>[\d.]+) MiB",
            "2024-02+, each device",
        ),
        (_TENSORS + rf": +{_HOST} (?:model )?buffer size = +(?P<weights_host_mib>[\d.]+) MiB", "2024-02+"),
        (_TENSORS + r": VRAM used: +(?P<weights_mib>[\d.]+) M", "2023-10 to 2024-02"),
        (_TENSORS + r": " + _WELL, "2023-10+"),
        (r"loading model '", "2025-02+"),
        (r"loading model$", "2024-10+"),
        (r"(?:fitting params to|projected to use|will leave|successfully fit params)", "2025-12+"),
        (
            r"(?:llama_model_loader|llama_model_load|llama_model_load_internal|llm_load_vocab|print_info): "
            + _WELL,
            "all",
        ),
        (
            r"(?:llm_load_print_meta|llama_model_load_from_file_impl|llama_load_model_from_file): " + _WELL,
            "2023-10+",
        ),
    ),
    *counts(
        Phase.WEIGHTS,
        "%",
        (r"(?P<done_dots>\.{3,100})$", "all: one dot a hundredth, on one growing line"),
    ),
    *within(
        Phase.KV_CACHE,
        (_CONTEXT + rf": +{_GPU} KV buffer size = +(?P<kv_cache_mib>[\d.]+) MiB", "2024-02+, each device"),
        (_CONTEXT + rf": +{_HOST} KV buffer size = +(?P<kv_cache_host_mib>[\d.]+) MiB", "2024-02+"),
        (
            _CONTEXT + rf": +{_GPU} compute buffer size = +(?P<compute_mib>[\d.]+) MiB",
            "2024-02+, each device",
        ),
        (_CONTEXT + r": n_ctx += +(?P<context_tokens>\d+)$", "all"),
        (_CONTEXT + r": " + _WELL, "all"),
    ),
    *within(
        Phase.WARMUP,
        (r"warming up the model with an empty run", "2024-09+"),
        (
            r"(?:loaded multimodal model|creating MTP draft context|adding speculative implementation)",
            "2025-05+",
        ),
    ),
    *within(
        Phase.START_API,
        (r"(?:initializing, n_slots = |initializing slots|new slot)", "2023-11+"),
        (r"model loaded\b", "2024-01+"),
    ),
    *serves(
        (r"(?:server is listening on|router server is listening on) ", "2024-10 to 2026-06, router 2025-12+"),
        (r"listening on (?:https?|unix)://", "2026-07+"),
    ),
)

RULES = (
    *facts((r"\[ ?\d{4,5}\] ", "2025-12+, router mode: a line of a server under it")),
    *starts(
        (r"build: (?P<version>\d+) \(", "2024-09 to 2026-04"),
        (r"build (?P<version>\d+) \(\w+\) with ", "2026-04+, shown with -lv 4"),
        (r"build info(?: \|.*?\bbuild=(?P<version>\d+))?", "2023-07 to 2024-08"),
        (r"verbosity = [0-3] \(adjust", "2026-04+; from 4 on the build's line stands before it"),
    ),
    *within(
        Phase.LAUNCH,
        (r"(?:system_info: |system info: |system info \|)", "2023-07+"),
        (r"(?:device_info:|binding port with |HTTP server is listening, hostname)", "2024-09+"),
        (r"using \d+ threads for HTTP", "2025-12+"),
        (r"(?:ggml_cuda_init|ggml_vulkan|ggml_metal_init|load_backend|register_backend): " + _WELL, "all"),
    ),
    *LOAD_RULES,
    *serves(
        (r"(?:HTTP server listening|llama server listening at )", "2023-07 to 2024-08"),
        (r"all slots are idle", "2023-11+"),
        (r"(?:prompt processing, n_tokens|processing task|slot is processing task)", "2024-01+"),
    ),
    *steady(
        (
            r"prompt eval time += +[\d.]+ ms / +\d+ tokens +"
            r"\( *[\d.]+ ms per token, +(?P<prompt_tokens_per_s>[\d.]+) tokens",
            "all",
        ),
        (
            r" *(?:generation )?eval time += +[\d.]+ ms / +\d+ (?:tokens|runs) +"
            r"\( *[\d.]+ ms per token, +(?P<output_tokens_per_s>[\d.]+) tokens",
            "all; runs to 2024-08",
        ),
    ),
    *facts((r"draft acceptance(?: rate)? = (?P<draft_acceptance_share>[\d.]+)", "2025-01+")),
    *shutdowns(
        (r"cleaning up before exit", "2025-05+"),
        (r"Received second interrupt", "2024-01+"),
    ),
)

# The body says "Loading model"; the state is checked before the key.
_LOADING = (Answer(503, "loading the model", "loading"),)

LLAMACPP = Engine(
    name="llamacpp",
    title="llama.cpp",
    matcher=Matcher(
        engine="llamacpp", argv=[program(_NAME), script(_NAME)], titles=[], environment=ENVIRONMENT
    ),
    default_port=8080,
    flags=Flags(
        host=("--host",),
        port=("--port",),
        model=("-m", "--model", "-hf", "-hfr", "--hf-repo", "-mu", "--model-url"),
        served_name=("-a", "--alias"),
        api_key=("--api-key", "--api-key-file"),
        tls=("--ssl-key-file", "--ssl-cert-file"),
        prefix=("--api-prefix",),
        names_by_comma=True,
        variables=(
            ("host", "LLAMA_ARG_HOST"),
            ("port", "LLAMA_ARG_PORT"),
            ("model", "LLAMA_ARG_MODEL"),
            ("model", "LLAMA_ARG_HF_REPO"),
            ("served_name", "LLAMA_ARG_ALIAS"),
            ("prefix", "LLAMA_ARG_API_PREFIX"),
            ("api_key", "LLAMA_API_KEY"),
        ),
    ),
    roles=(RoleRule("launcher", re.compile(rf"(?:^|/| ){_NAME}(?: |$)")),),
    header=HeaderForm(
        # The time; not that of a server under a router, whose lines come behind "[port] ".
        record=re.compile(
            rf"(?<!\d)(?<!\] )(?P<time>{_TIME}) (?P<level>[DIWE]) (?:{_TAGGED})?{_FUNCTION}*{_SLOT}"
            rf"|{BARE_HEAD}|^(?:INFO|WARN|ERR|VERB|DEBUG) +\[ *[\w~:]+\] "
        )
    ),
    sign=re.compile(
        rf"(?<!\d){_TIME} [DIWE] |\bbuild: \d+ \(\w+\) with |llama server listening at http"
        rf"|server is listening on https?://\S{{1,255}}:{_CHOSEN_PORT}"
        rf"|HTTP server (?:is )?listening\b.{{0,400}}?\bport(?:\"?: ?\"?|=\"){_CHOSEN_PORT}"
    ),
    leaning=re.compile(
        r"llama_model_load|llm_load_\w+: |load_tensors: |print_info: |llama_(?:context|kv_cache|new_context)"
        r"|(?:^|\s)(?:srv|cmn|slot) +\w+: |\bgguf_init_from_file"
    ),
    rules=RULES,
    faults=(*SERVER_FAULTS, *LOADER_FAULTS),
    frames=(),
    error=re.compile(
        rf"{_LEVEL}E |error loading model|failed to load model|exiting due to|GGML_ASSERT|CUDA error|^ERR +\["
    ),
    warning=re.compile(rf"{_LEVEL}W |\bwarning: |^WARN +\["),
    # "request: GET /health 127.0.0.1 200"; to 2024-08 `request | … remote_addr="…" … method="GET"`.
    access=re.compile(
        r"\brequest(?=: [A-Z]+ +/| \| )(?=.{0,400}?(?:: |method=\")(?P<method>[A-Z]+))"
        r"(?=.{0,400}?(?:: [A-Z]+ +|path=\")(?P<path>[^\s?\"]+))"
        r"(?=.{0,400}?(?:: [A-Z]+ +\S+ +|remote_addr=\")(?P<client>[^\s\"]+))"
        r"(?=.{0,400}?(?:: [A-Z]+ +\S+ +\S+ +|status=)(?P<code>\d{3})\b)"
    ),
    access_hint="request",
    first_lines=(r"\bbuild: \d+ \(", r"\bbuild \d+ \(\w+\) with ", r"verbosity = [0-3] \(adjust"),
    # A draft model comes after the first one's warm-up.
    order=(
        Phase.LAUNCH,
        Phase.DISTRIBUTED,
        Phase.WEIGHTS,
        Phase.KV_CACHE,
        Phase.COMPILE,
        Phase.WARMUP,
        Phase.CAPTURE,
        Phase.START_API,
        Phase.READY,
    ),
    port_opens_early=True,
    model_is_name=False,
    server_header="llama.cpp",
    metrics=Metrics(
        running="llamacpp:requests_processing",
        queued="llamacpp:requests_deferred",
        generated_tokens="llamacpp:tokens_predicted_total",
        prompt_tokens="llamacpp:prompt_tokens_total",
        older=(("kv_used", "llamacpp:kv_cache_usage_ratio", "2024 and 2025; not in the builds of 2026"),),
    ),
    # One call a slot, with --slot-save-path alone.
    flush_cache="POST /slots/{id}?action=erase",
    endpoints=(
        Endpoint(PORT, "all", (Answer("refused", "not started yet, or gone", "unclear"),)),
        Endpoint("/health", "2024+", (*_LOADING, Answer(200, "the model is loaded", "ready"))),
        Endpoint("/v1/health", "2026 (seen)", (*_LOADING, Answer(200, "the model is loaded", "ready"))),
        Endpoint(
            "/v1/models",
            "all",
            (*_LOADING, Answer(200, "up", "up"), Answer(401, "loaded, wants the API key", "ready")),
            "some builds list the model before it is loaded; a router lists what it may load",
        ),
        Endpoint("/props", "2024+", (*_LOADING, Answer(200, "up", "up"))),
        Endpoint("/slots", "2024+", (*_LOADING, Answer(200, "up", "up"))),
        Endpoint(
            "/metrics",
            "2024+",
            (*_LOADING, Answer(200, "the model is loaded", "ready"), Answer(501, "not enabled", "absent")),
            "needs --metrics",
        ),
    ),
)
