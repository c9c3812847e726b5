"""What SGLang's endpoints answer and what its series are called, 0.4.0 to 0.5.23.

From its published sources, and from loads on H200s with 0.5.14.

The port opens when every scheduler is ready, behind the captures and before the warm-up; a further node of
a multi-node load serves a dummy that answers /health with 200 whatever happens.
"""

from tui.engines.base import Metrics
from tui.engines.endpoints import PORT, Answer, Endpoint

_KEY = Answer(401, "up, wants the API key", "up")

ENDPOINTS = (
    Endpoint(PORT, "all", (Answer("refused", "loading, or gone", "unclear"),)),
    Endpoint(
        "/health",
        "all",
        (
            Answer(200, "up", "up"),
            Answer(200, "up, may still warm up", "up", "to 0.4.10"),
            Answer(200, "up and generating", "ready", "0.4.10.post2+"),
            Answer(503, "starting, stuck, or stopping", "unclear"),
            Answer("timeout", "busy, or a stuck scheduler", "unclear"),
        ),
        "from 0.4.10.post2 a generated token: at least 1 s, 20 s until the 503 of a stuck scheduler",
    ),
    Endpoint(
        "/health_generate",
        "all",
        (
            Answer(200, "up and generating", "ready"),
            Answer(503, "not up, or stuck", "unclear"),
            Answer("timeout", "busy, or a stuck scheduler", "unclear"),
        ),
        "a generated token: at least 1 s from 0.4.3",
    ),
    Endpoint(
        "/ready",
        "0.5.20+",
        (
            Answer(200, "up and warmed up", "ready", "0.5.20+"),
            Answer(503, "starting, ill, or shutting down", "unclear", "0.5.20+"),
            Answer(404, "not served by this version", "absent", "to 0.5.19"),
        ),
        "generates nothing",
    ),
    Endpoint(
        "/v1/models",
        "all",
        (Answer(200, "port open, may still warm up", "up"), _KEY),
        "answered by the main process, also while the schedulers hang",
    ),
    Endpoint(
        "/get_model_info",
        "all",
        (Answer(200, "port open, may still warm up", "up"), _KEY),
        "deprecated from 0.5.6, where each call logs a warning",
    ),
    Endpoint(
        "/model_info",
        "0.5.6+",
        (
            Answer(200, "port open, may still warm up", "up", "0.5.6+"),
            Answer(404, "not served by this version", "absent", "to 0.5.5"),
            _KEY,
        ),
    ),
    Endpoint(
        "/get_server_info",
        "all",
        (Answer(200, "a scheduler answers", "up", "0.4.3+"), Answer(200, "up", "up"), _KEY),
        "from 0.4.3 it waits for the scheduler, which may be busy; deprecated from 0.5.6",
    ),
    Endpoint(
        "/server_info",
        "0.5.6+",
        (
            Answer(200, "a scheduler answers", "up", "0.5.6+"),
            Answer(404, "not served by this version", "absent", "to 0.5.5"),
            Answer("timeout", "a busy or stuck scheduler", "unclear"),
            _KEY,
        ),
        "waits for the scheduler, 6 to 8 s in the warm-up",
    ),
    Endpoint(
        "/metrics",
        "all",
        (Answer(200, "up", "up"), Answer(404, "not enabled", "absent")),
        "needs --enable-metrics",
    ),
    Endpoint(
        "/flush_cache",
        "all",
        (
            Answer(200, "cache flushed", "ready", "0.4.3+"),
            Answer(400, "requests are running: not flushed", "ready"),
            _KEY,
            Answer(403, "wants the admin key", "up"),
        ),
        "POST; to 0.4.3 that alone. Old versions answer 200 and flush nothing while requests run",
    ),
)

# With --enable-metrics; the names keep their colon.
METRICS = Metrics(
    running="sglang:num_running_reqs",
    queued="sglang:num_queue_reqs",
    kv_used="sglang:token_usage",
    generated_tokens="sglang:generation_tokens_total",
    prompt_tokens="sglang:prompt_tokens_total",
    ttft="sglang:time_to_first_token_seconds",
    itl="sglang:inter_token_latency_seconds",
    older=(("itl", "sglang:time_per_output_token_seconds", "early 0.4"),),
)
