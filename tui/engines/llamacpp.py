"""llama.cpp's llama-server, bare lines of 2023 to the timed lines of 2026 (``M.SS.mmm.uuu L tag func: msg``).

The port opens within a second and answers 503 until the model is loaded, so the health answer, not the log,
tells when it is ready. At default verbosity a 2026 build prints three phase lines in all.
"""

import re

from tui.engines.base import ENVIRONMENT, Engine, Flags, Phase, RoleRule, rows
from tui.engines.commands import program, script
from tui.engines.lines import ADDRESS_IN_USE, OUT_OF_MEMORY
from tui.requests import Matcher

_NAME = r"llama-server(?:-\w[\w.-]*)?"
_LEVEL = r"(?<!\d)\d{1,6}\.\d\d\.\d{3}\.\d{3} "

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
    phases=(
        *rows(
            Phase.LAUNCH,
            (r"\bbuild:? \d+ \(|verbosity = \d+ \(adjust|system[_ ]info: |device_info:", "all"),
            (r"binding port with|using \d+ threads for HTTP|HTTP server is listening, hostname", "all"),
        ),
        *rows(
            Phase.LOADING,
            (r"loading model '|\bloading model$|fitting params to|common_fit_params: ", "all"),
            (r"llama_model_load(?:er|_from_file_impl|)\b|load_tensors: |\bprint_info: ", "all"),
            (r"llama_context: |llama_kv_cache\w*: |llama_new_context_with_model: |llm_load_", "all"),
            (r"gguf_init_from_file|error loading model", "all"),
        ),
        *rows(
            Phase.WARMUP,
            (r"warming up the model with an empty run", "all"),
        ),
        *rows(
            Phase.START_API,
            (r"initializing(?: slots)?, n_slots = |\bmodel loaded\b", "all"),
        ),
        *rows(
            Phase.READY,
            (r"HTTP server listening|(?:server is )?listening on https?://", "all"),
            (r"all slots are idle|prompt processing, n_tokens|prompt eval time =", "all"),
        ),
    ),
    fatal=(
        re.compile(
            OUT_OF_MEMORY + "|" + ADDRESS_IN_USE + r"|insufficient memory \(|failed to open GGUF file"
        ),
        re.compile(r"error loading model: |GGML_ASSERT|CUDA error|unable to allocate \S+ buffer"),
        re.compile(r"failed to (?:allocate buffer|load model|create_?\s?context)|invalid argument: "),
        re.compile(r"exiting due to "),
    ),
    shutdown=re.compile(r"cleaning up before exit|Received second interrupt"),
    error=re.compile(
        rf"{_LEVEL}E |error loading model|failed to load model|exiting due to|GGML_ASSERT|CUDA error"
    ),
    warning=re.compile(rf"{_LEVEL}W |\bwarning: "),
    access=re.compile(
        r"request: (?P<method>[A-Z]+) +(?P<path>[^\s?]+)\S* +(?P<client>\S+) +(?P<code>\d{3})\b"
    ),
    access_hint="request: ",
    first_lines=(r"\bbuild: \d+ \(", r"\bbuild \d+ \(\w+\) with ", r"verbosity = [0-3] \(adjust"),
    port_opens_early=True,
    model_is_name=False,
    server_header="llama.cpp",
)
