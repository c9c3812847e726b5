"""Any server that tminus has no table for: what web servers, Python, CUDA and NCCL print everywhere.

And the few lines of LMDeploy, Ollama (0.1 to 2026) and transformers serve (5.x) that tell of a load. An
Ollama server is up at once and loads with the first request; each load is a start of its own here. It
quotes the lines of the llama.cpp inside it, without their time.
"""

import re

from tui.engines.base import Engine, Flags
from tui.engines.endpoints import PORT, Answer, Endpoint
from tui.engines.header import HeaderForm
from tui.engines.lines import PYTHON_EXCEPTION
from tui.engines.llamacpp import BARE_HEAD, LOAD_RULES
from tui.engines.llamacpp_faults import LOADER_FAULTS
from tui.engines.marks import FaultKind, Weight
from tui.engines.phase import Phase
from tui.engines.rules import (
    FaultRule,
    bars,
    begins,
    counts,
    ends,
    heartbeats,
    serves,
    shutdowns,
    starts,
    within,
)
from tui.requests import Matcher

# "2026-11-29 13:48:34,123 - name - LEVEL - file.py:10 - msg", "[2026-11-29 13:48:34 +0000] [7] [LEVEL] msg",
# "2026-11-29 13:48:34.123 | LEVEL    | module:function:12 - msg"; and Go's slog as Ollama writes it
# (`time=… level=… source=… msg="…"`), also behind the dots of a load. That has no level here: it tells a
# failed load at INFO.
_RECORD = (
    r"^\.{0,100}(?:time=|\[)?"
    r"(?P<time>\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z| ?[+-]\d\d:?\d\d)?)"
    r"(?: level=\w+ (?:source=\S+ )?msg=\"?"
    r"|\]? +(?!\S{1,80} \S{1,80}\[\d+\]: )(?:[-|] |\[\d+\] )?(?:[\w.]+ - (?=[A-Z]+ - ))?"
    r"(?:\[?(?P<level>DEBUG|INFO|WARN|WARNING|ERROR|CRITICAL|FATAL)\b\]?:? *(?:[-|] )?)?"
    r"(?:[\w.]+\.py:\d+:? (?:[-|] )?|[\w.]+:[\w<>]+:\d+ - )?)"
)

RULES = (
    *starts(
        (
            r"(?:starting llama server|starting llama-server|starting runner)\" cmd=.*--model ",
            "Ollama 0.1.33+, each load",
        ),
        (r"server config\" env=", "Ollama 0.1.30+"),
    ),
    *within(
        Phase.DISTRIBUTED,
        (r"\S+:\d+:\d+ \[\d+\] NCCL INFO", "NCCL 2.4+, with NCCL_DEBUG"),
        heartbeat=True,
    ),
    *begins(
        Phase.START_API,
        (r"(?:Started server process|Waiting for application startup)", "uvicorn 0.12+"),
        (r"HINT: +Please open http", "LMDeploy 0.2+, three times"),
        (r"(?:Starting gunicorn|Booting worker with pid)", "gunicorn 20+"),
    ),
    *serves(
        (r"(?:Application startup complete|Uvicorn running on )", "uvicorn 0.12+"),
        (r" ?\* Running on http", "Flask 1.0+"),
        (
            r"(?:Listening at: http|Running on http|======== Running on http)",
            "gunicorn 20+, Hypercorn 0.11+, aiohttp 3",
        ),
        (r"(?:llama runner|llama-server) started in (?P<seconds>[\d.]+) seconds", "Ollama 0.1.33+, 2026"),
        (r"runner started in (?P<seconds>[\d.]+) seconds", "Ollama 0.3+"),
        (r"Listening on \S+ \(version (?P<version>[^)]+)\)", "Ollama 0.1+, before any model"),
    ),
    *counts(
        Phase.WEIGHTS,
        "%",
        (r"model load progress (?P<done_share>[\d.]+)", "Ollama 0.1.38+, with OLLAMA_DEBUG"),
    ),
    *within(
        Phase.WEIGHTS,
        (
            r"(?:waiting for llama runner to start responding|waiting for llama-server to start responding"
            r"|waiting for server to become available|waiting for llama-server to become available"
            r"|loading model via llama-server)",
            "Ollama 0.1.33+, 2026",
        ),
        (
            r"Loading (?:model|weights|checkpoint|pipeline|tokenizer)\b(?!.*\d%)",
            "servers on Python 3, no one library",
        ),
        heartbeat=True,
    ),
    *bars(
        Phase.WEIGHTS,
        "shards",
        (
            r"(?:Loading|Fetching|Downloading|Materializing) ",
            "tqdm 4: LMDeploy, transformers 4.30+, huggingface_hub 0.14+",
        ),
        (r"[\w./-]+\.(?:safetensors|bin|gguf|pt)$", "huggingface_hub 0.14+, one file"),
    ),
    *bars(Phase.COMPILE, "kernels", (r"(?:Compiling|Autotuning|Tuning|Warming up)\b", "tqdm 4")),
    *bars(Phase.CAPTURE, "sizes", (r"Capturing\b", "tqdm 4")),
    *within(
        Phase.CAPTURE,
        (
            r"(?:Capturing|Capture) (?:the |a )?(?:model for )?(?:cuda|CUDA) ?[Gg]raph",
            "servers on Python 3, no one library",
        ),
    ),
    *within(
        Phase.COMPILE,
        (
            r"(?:torch\.compile|Compiling (?:the )?model|Running warm-?up)\b",
            "servers on Python 3, no one library",
        ),
    ),
    *LOAD_RULES,
    *ends(
        Phase.WEIGHTS,
        (r"(?:Model loaded|Loaded model|Model loading took)\b", "servers on Python 3, no one library"),
    ),
    *heartbeats((r"gpu VRAM usage didn't recover within timeout", "Ollama 0.1.34+")),
    *shutdowns(
        (r"(?:Shutting down|Handling signal: (?:term|int|quit))", "uvicorn 0.12+, gunicorn 20+"),
        (r"(?:Received|received) (?:signal )?SIG(?:TERM|INT)", "servers on Python 3, no one library"),
    ),
)

_OLLAMA_FAILS = (
    r"^(?:error loading llama server|Load failed|error loading model|do load request)\b"
    r".{0,2000}?error=.{0,2000}?"
)

FAULTS = (
    FaultRule(
        FaultKind.TIMEOUT,
        re.compile(_OLLAMA_FAILS + r"timed out waiting for (?:llama runner|llama-server|server) to start"),
        ("timed out waiting",),
        "The model's runner made no progress for as long as OLLAMA_LOAD_TIMEOUT allows (5 min by default).",
        "Raise OLLAMA_LOAD_TIMEOUT; see what the model is read from, and whether it fits into memory.",
        terminal=True,
        versions="Ollama 0.1.33+, llama-server 2026",
    ),
    FaultRule(
        FaultKind.OOM_HOST,
        re.compile(_OLLAMA_FAILS + r"(?:signal: killed|requires more system memory)"),
        ("signal: killed", "requires more system memory"),
        "The host's memory does not hold this model.",
        "Take a smaller quantisation or context, or a host with more memory; see `dmesg` for the OOM killer.",
        terminal=True,
        versions="Ollama 0.1.33+",
    ),
    FaultRule(
        None,
        re.compile(_OLLAMA_FAILS + r"(?:out[- ]of[- ]memory|unable to allocate|failed to allocate)"),
        ("out of memory", "out-of-memory", "out of-memory", "out-of memory", "to allocate"),
        "The GPU's memory does not hold this model.",
        "Take a smaller context or quantisation, or let it load fewer layers (num_gpu).",
        terminal=True,
        versions="Ollama 0.1.33+",
    ),
    FaultRule(
        FaultKind.MISSING_MODEL,
        re.compile(_OLLAMA_FAILS + r"(?:no such file or directory|file does not exist|unable to load model)"),
        ("no such file", "does not exist", "unable to load model"),
        "The model's file is missing, damaged, or of a kind that this version does not know.",
        "Pull the model again, with a current version.",
        terminal=True,
        versions="Ollama 0.1.33+",
    ),
    FaultRule(
        FaultKind.RANK_DIED,
        re.compile(_OLLAMA_FAILS),
        ("error loading", "Load failed", "do load request"),
        "The model's runner ended before it was loaded.",
        "Read the runner's own lines above; OLLAMA_DEBUG=1 shows more of them.",
        weight=Weight.REPORT,
        terminal=True,
        versions="Ollama 0.1.33+, Load failed 2026",
    ),
    FaultRule(
        FaultKind.UNKNOWN,
        re.compile(r"^Application startup failed\. Exiting|^Worker failed to boot|^panic: |^fatal error: "),
        ("startup failed", "failed to boot", "panic: ", "fatal error: "),
        "The server ended itself while it started.",
        "Read the traceback beside this line.",
        weight=Weight.REPORT,
        terminal=True,
        versions="uvicorn 0.20+, gunicorn 20+, Go 1.x",
    ),
    *LOADER_FAULTS,
)

GENERIC = Engine(
    name="generic",
    title="server",
    matcher=Matcher(engine="generic", argv=[], titles=[], environment=[]),
    default_port=8000,
    flags=Flags(host=("--host",), port=("--port",), model=("--model",), served_name=()),
    roles=(),
    header=HeaderForm(record=re.compile(rf"{_RECORD}|{BARE_HEAD}")),
    sign=re.compile(
        r"time=\S{1,64} level=\w{1,8} source=\w+\.go:\d+ msg=|\[GIN\] \d{4}/\d\d/\d\d - "
        r"| - lmdeploy - [A-Z]+ - |^HINT: +Please open http"
    ),
    rules=RULES,
    faults=FAULTS,
    frames=((Phase.WEIGHTS, frozenset(("load_model", "load_weights", "from_pretrained"))),),
    error=re.compile(rf"\bERROR\b|Traceback \(most recent call last\)|{PYTHON_EXCEPTION}"),
    warning=re.compile(r"\bWARN(?:ING)?\b|[Ww]arning:"),
    # uvicorn's line, and `[GIN] 2024/09/23 - 11:32:33 | 200 |  9.1s |  127.0.0.1 | POST  "/api/chat"`.
    access=re.compile(
        r"(?:\[GIN\] [\d/]{10} - [\d:]{8} \| +(?=\d{3} \|)"
        r"|(?:^|(?<=[\s\"]))(?=[^\s\"]{1,255} - \"[A-Z]+ [^\"]{1,4096} HTTP/[\d.]+\" \d{3}))"
        r"(?=(?:\d{3} \|[^|]{1,40}\| *)?(?P<client>[^\s\"|]{1,255}?)(?::\d{1,5})? (?:- \"|\|))"
        r"(?=[^\"]{1,400}?(?:\"(?=[A-Z]+ )|\| (?=[A-Z]+ +\"))(?P<method>[A-Z]+))"
        r"(?=[^\"]{1,400}\"(?:[A-Z]+ )?(?P<path>[^ \"?]+))"
        r"(?=(?:.{1,8192}? HTTP/[\d.]+\" )?(?P<code>\d{3})\b)"
    ),
    access_hint=" - ",
    first_lines=(),
    # Not known of every server: a cache to empty.
    flush_cache=None,
    # Ollama has no /health, LMDeploy's was a static 200 to 2026-05: only what holds for all of them.
    endpoints=(
        Endpoint(PORT, "all", (Answer("refused", "not started, loading, or gone", "unclear"),)),
        Endpoint(
            "/health",
            "all",
            (
                Answer(200, "up", "up"),
                Answer(404, "this server has no /health", "absent"),
                Answer(503, "starting, or ill", "unclear"),
            ),
        ),
        Endpoint("/v1/models", "all", (Answer(200, "up", "up"), Answer(401, "up, wants the API key", "up"))),
    ),
    # A server may load its model while its start-up is waited for.
    order=(
        Phase.LAUNCH,
        Phase.START_API,
        Phase.DISTRIBUTED,
        Phase.WEIGHTS,
        Phase.KV_CACHE,
        Phase.COMPILE,
        Phase.CAPTURE,
        Phase.WARMUP,
        Phase.READY,
    ),
)
