"""llama.cpp's llama-server, bare lines of 2023 to the timed lines of 2026 (``M.SS.mmm.uuu L tag func: msg``).

The port opens within a second and answers 503 until the model is loaded, so the health answer, not the log,
tells when it is ready. At default verbosity a 2026 build prints three phase lines in all.
"""

import re

from tui.engines.base import ENVIRONMENT, Engine, Flags, RoleRule
from tui.engines.commands import program, script
from tui.engines.header import HeaderForm
from tui.engines.marks import FaultKind, Weight
from tui.engines.phase import Phase
from tui.engines.rules import FaultRule, begins, serves, shutdowns, starts, within
from tui.requests import Matcher

_NAME = r"llama-server(?:-\w[\w.-]*)?"
_LEVEL = r"(?<!\d)\d{1,6}\.\d\d\.\d{3}\.\d{3} "

_WHO = r"(?:\w+ +)?(?:[\w:~]+: +)?"
RULES = (
    *starts(
        (_WHO + r"(?:build:? \d+ \(|verbosity = \d+ \(adjust)", "all"),
    ),
    *within(
        Phase.LAUNCH,
        (_WHO + r"(?:system[_ ]info: |device_info:|binding port with|using \d+ threads for HTTP)", "all"),
        (_WHO + r"HTTP server is listening, hostname", "all"),
    ),
    *within(
        Phase.WEIGHTS,
        (_WHO + r"(?:loading model '|loading model$|fitting params to)", "all"),
        (r"(?:\w+ +)?(?:llama_model_load\w*|load_tensors|print_info): ", "all"),
    ),
    *within(
        Phase.KV_CACHE,
        (r"(?:\w+ +)?(?:llama_context|llama_kv_cache\w*|llama_new_context_with_model): ", "all"),
    ),
    *within(
        Phase.WARMUP,
        (_WHO + r"warming up the model with an empty run", "all"),
    ),
    *begins(
        Phase.START_API,
        (_WHO + r"(?:initializing(?: slots)?, n_slots = |model loaded\b)", "all"),
    ),
    *serves(
        (_WHO + r"(?:HTTP server listening|(?:server is )?listening on https?://|all slots are idle)", "all"),
    ),
    *shutdowns(
        (_WHO + r"(?:cleaning up before exit|Received second interrupt)", "all"),
    ),
)

FAULTS = (
    FaultRule(
        FaultKind.UNKNOWN,
        re.compile(r"exiting due to |failed to load model"),
        ("exiting due to", "failed to load"),
        "The server could not load the model.",
        "Read the first error above.",
        weight=Weight.REPORT,
        terminal=True,
    ),
)

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
    header=HeaderForm(record=re.compile(r"(?<!\d)(?P<time>\d{1,6}\.\d\d\.\d{3}\.\d{3}) (?P<level>[DIWE]) ")),
    sign=re.compile(r"llama_model_load|llama_server|llama-server|print_info: |load_tensors: "),
    rules=RULES,
    faults=FAULTS,
    frames=(),
    error=re.compile(
        rf"{_LEVEL}E |error loading model|failed to load model|exiting due to|GGML_ASSERT|CUDA error"
    ),
    warning=re.compile(rf"{_LEVEL}W |\bwarning: "),
    access=re.compile(
        r"request: (?P<method>[A-Z]+) +(?P<path>[^\s?]+)\S* +(?P<client>\S+) +(?P<code>\d{3})\b"
    ),
    access_hint="request: ",
    first_lines=(r"\bbuild: \d+ \(", r"\bbuild \d+ \(\w+\) with ", r"verbosity = [0-3] \(adjust"),
    order=(
        Phase.LAUNCH,
        Phase.DISTRIBUTED,
        Phase.WEIGHTS,
        Phase.KV_CACHE,
        Phase.COMPILE,
        Phase.CAPTURE,
        Phase.WARMUP,
        Phase.START_API,
        Phase.READY,
    ),  # fmt: skip
    port_opens_early=True,
    model_is_name=False,
    server_header="llama.cpp",
)
