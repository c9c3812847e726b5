"""What vLLM's endpoints answer, 0.6 to 0.32, as measured with 0.24 on H200s and 0.32 on CPUs.

Every path is refused until the server is ready. /health tells of an engine that is known to be dead, and
nothing of one that hangs: a frozen worker was answered with 200 for 151 s.
"""

from tui.engines.endpoints import PORT, Answer, Endpoint

_DEVELOPER = "needs VLLM_SERVER_DEV_MODE=1"
_HEALTH = (
    Answer(200, "the engine is not known to be dead", "ready"),
    Answer(503, "the engine is dead", "ill"),
)
_UP = (Answer(200, "up", "up"),)
_ABSENT = Answer(404, "not served by this version or mode", "absent")

ENDPOINTS = (
    Endpoint(
        PORT,
        "all",
        (Answer("refused", "loading, or gone", "unclear"), Answer("timeout", "API process stuck", "ill")),
    ),
    Endpoint("/health", "all", _HEALTH, "1 ms; an answer while the engine sleeps or hangs is 200 too"),
    Endpoint("/ping", "seen 0.24 and 0.32", (*_HEALTH, _ABSENT), "the same as /health"),
    Endpoint(
        "/v1/models",
        "all",
        (Answer(200, "loaded", "ready"), Answer(401, "up, wants the API key", "ready")),
        "200 also with a dead engine, until the process ends",
    ),
    Endpoint("/version", "all", _UP),
    Endpoint(
        "/load", "seen 0.24 and 0.32", (*_UP, _ABSENT), "counts with --enable-server-load-tracking alone"
    ),
    Endpoint("/metrics", "all", _UP, "50 KB in 6 to 10 ms"),
    Endpoint("/is_sleeping", "seen 0.32", (*_UP, _ABSENT), _DEVELOPER),
    Endpoint(
        "/reset_prefix_cache",
        "seen 0.32",
        (Answer(200, "prefix cache emptied", "ready"), _ABSENT),
        f"POST; {_DEVELOPER}",
    ),
)
