"""What is read from servers without a table of their own: Ollama, LMDeploy, any Python server, NCCL alone."""

import pytest

from tui.engines.generic import GENERIC
from tui.engines.marks import FaultKind, Mark, MarkKind
from tui.engines.phase import Phase
from tui.engines.reader import LineReader
from tui.watch.phases import LogPhases

OLLAMA = "time=2025-08-20T10:00:00.000Z level={} source=server.go:1278 msg="
FAILED = "time=2025-01-30T12:01:19.487Z level=ERROR source=sched.go:455 msg="
RUNNER = "/usr/bin/ollama runner --model /blobs/sha256-28 --ctx-size 8192"


def ollama(message: str, level: str = "INFO") -> str:
    return OLLAMA.format(level) + message


def mark(line: str) -> Mark:
    marks = LineReader(GENERIC).read(line).marks
    assert len(marks) == 1, marks
    return marks[0]


def after(*lines: str) -> LogPhases:
    phases = LogPhases(GENERIC)
    for number, line in enumerate(lines, 1):
        phases.read(line, number)
    return phases


@pytest.mark.parametrize(
    ("line", "kind", "phase"),
    [
        (ollama(f'"starting llama server" cmd="{RUNNER}"'), MarkKind.START, Phase.LAUNCH),
        (ollama(f'"starting runner" cmd="{RUNNER}"'), MarkKind.START, Phase.LAUNCH),
        (ollama(f'"starting llama-server" cmd="{RUNNER}"'), MarkKind.START, Phase.LAUNCH),
        (ollama('"waiting for llama runner to start responding"'), MarkKind.WITHIN, Phase.WEIGHTS),
        (
            ollama('"waiting for server to become available" status="llm server loading model"'),
            MarkKind.WITHIN,
            Phase.WEIGHTS,
        ),
        (
            ollama('"waiting for llama-server to become available" status="llm server error"'),
            MarkKind.WITHIN,
            Phase.WEIGHTS,
        ),
        (ollama('"llama runner started in 7.74 seconds"'), MarkKind.READY, Phase.READY),
        (ollama('"llama-server started in 56.02 seconds"'), MarkKind.READY, Phase.READY),
        (ollama('"Listening on [::]:11434 (version 0.11.4)"'), MarkKind.READY, Phase.READY),
        ("load_tensors:        CUDA0 model buffer size = 24277.75 MiB", MarkKind.WITHIN, Phase.WEIGHTS),
        ("llama_kv_cache_init:      CUDA0 KV buffer size =  4096.00 MiB", MarkKind.WITHIN, Phase.KV_CACHE),
        ("cmn  common_init_: warming up the model with an empty run", MarkKind.WITHIN, Phase.WARMUP),
        ("srv  llama_server: model loaded", MarkKind.WITHIN, Phase.START_API),
        ("INFO:     Started server process [3602229]", MarkKind.BEGINS, Phase.START_API),
        ("INFO:     Application startup complete.", MarkKind.READY, Phase.READY),
        ("HINT:    Please open http://0.0.0.0:23333 in a browser", MarkKind.BEGINS, Phase.START_API),
        (
            "[2026-11-29 13:48:34 +0000] [7] [INFO] Listening at: http://0.0.0.0:8000 (7)",
            MarkKind.READY,
            Phase.READY,
        ),
        (" * Running on http://127.0.0.1:5000", MarkKind.READY, Phase.READY),
        ("2026-11-29 13:48:34,123 - app - INFO - Loading model from /m", MarkKind.WITHIN, Phase.WEIGHTS),
        ("2026-11-29 13:48:34 | INFO | app.py:12 | Loading model from /m", MarkKind.WITHIN, Phase.WEIGHTS),
        ("host:1:2 [0] NCCL INFO NCCL_ALGO set by environment to Tree", MarkKind.WITHIN, Phase.DISTRIBUTED),
        ("INFO:     Shutting down", MarkKind.SHUTDOWN, None),
    ],
)
def test_a_line_has_its_meaning(line: str, kind: MarkKind, phase: Phase | None) -> None:
    said = mark(line)
    assert (said.kind, said.phase) == (kind, phase)


@pytest.mark.parametrize(
    "line",
    [
        ollama('"starting runner" cmd="/usr/bin/ollama runner --ollama-engine --port 41239"'),
        ollama('"gpu memory" id=0 library=CUDA available="36.9 GiB"'),
        'user said "Application startup complete."',
        "srv    operator(): operator(): cleaning up before exit...",
        "2026-11-29 13:48:34 the runner said: llama runner started in 3 seconds",
        "level=INFO msg=x",
    ],
)
def test_what_only_looks_like_a_line_of_the_load_is_none(line: str) -> None:
    assert LineReader(GENERIC).read(line).marks == ()


def test_ollamas_progress_is_a_share() -> None:
    said = mark(ollama('"model load progress 0.07"', "DEBUG"))
    assert said.progress is not None
    assert (said.progress.done, said.progress.total, said.progress.unit) == (7.0, 100.0, "%")


def test_a_record_is_found_behind_the_dots_of_a_load() -> None:
    heard = LineReader(GENERIC).read(".." + ollama('"llama-server started in 9.83 seconds"'))
    assert [said.kind for said in heard.marks] == [MarkKind.READY]
    assert heard.time == "2025-08-20T10:00:00.000Z"


@pytest.mark.parametrize(
    "head",
    ["2026-09-26T20:01:22+00:00 host ollama[4426]: ", "Sep 26 20:01:22 host ollama[4426]: ", "ollama-1  | "],
)
def test_what_a_journal_puts_before_a_line_is_taken_off(head: str) -> None:
    assert mark(head + ollama('"llama-server started in 9.83 seconds"')).kind is MarkKind.READY
    assert mark(head + "srv  llama_server: model loaded").phase is Phase.START_API


def test_a_bar_tells_progress_of_the_weights() -> None:
    said = mark("Loading weights from safetensors:  40%|████      | 2/5 [00:16<00:00,  3.32s/it]")
    assert said.phase is Phase.WEIGHTS
    assert said.progress is not None
    assert (said.progress.done, said.progress.total) == (2, 5)


def test_weights_may_be_loaded_while_the_start_up_is_waited_for() -> None:
    phases = after(
        "INFO:     Started server process [1]",
        "INFO:     Waiting for application startup.",
        "Loading checkpoint shards:  50%|█████     | 1/2 [00:16<00:16,  16s/it]",
    )
    assert phases.phase is Phase.WEIGHTS
    phases.read("INFO:     Application startup complete.", 4)
    assert phases.outcome == "ready"


def test_the_start_of_the_api_may_also_come_behind_the_weights() -> None:
    phases = after(
        "Loading weights from safetensors: 100%|██████████| 5/5 [00:16<00:00,  3.32s/it]",
        "INFO:     Started server process [1]",
    )
    assert phases.phase is Phase.START_API


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (
            FAILED + '"error loading llama server" '
            'error="timed out waiting for llama runner to start - progress 0.00 - "',
            FaultKind.TIMEOUT,
        ),
        (
            ollama(
                '"Load failed" model=/b error="timed out waiting for llama-server to start: context canceled"'
            ),
            FaultKind.TIMEOUT,
        ),
        (
            ollama('"Load failed" model=/b error="llama-server process has terminated: signal: killed"'),
            FaultKind.OOM_HOST,
        ),
        (
            ollama(
                '"Load failed" model=/b error="model requires more system memory (9.1 GiB) than is available"'
            ),
            FaultKind.OOM_HOST,
        ),
        (
            ollama('"Load failed" model=/b error="llama-server reported out-of-memory during startup: x"'),
            None,
        ),
        (
            ollama(
                '"Load failed" model=/b error="llama-server process has terminated: exit status 0xe06d7363"'
            ),
            FaultKind.RANK_DIED,
        ),
        ("ERROR:    Application startup failed. Exiting.", FaultKind.UNKNOWN),
    ],
)
def test_a_failed_load_has_its_kind(line: str, kind: FaultKind | None) -> None:
    fault = mark(line).fault
    assert fault is not None
    assert (fault.kind, fault.terminal) == (kind, True)


def test_what_the_runner_said_first_is_the_cause() -> None:
    phases = after(
        "load_tensors: loading model tensors, this can take a while... (mmap = true)",
        "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 20480.00 MiB on device 0: "
        "cudaMalloc failed: out of memory",
        FAILED + '"error loading llama server" error="llama runner process has terminated: exit status 2"',
    )
    assert phases.cause is not None
    assert (phases.cause.kind, phases.cause.quote.number) == (FaultKind.OOM_WEIGHTS, 2)


def test_a_model_that_is_unloaded_stops_no_server() -> None:
    phases = after(
        ollama('"llama-server started in 9.83 seconds"'),
        "srv    operator(): operator(): cleaning up before exit...",
        "time=2025-01-30T12:01:26.104Z level=WARN source=sched.go:646 "
        'msg="gpu VRAM usage didn\'t recover within timeout" seconds=6.61 model=/b',
    )
    assert phases.outcome == "ready"


@pytest.mark.parametrize(
    ("line", "groups"),
    [
        (
            '[GIN] 2024/09/23 - 11:32:33 | 200 |  9.134411817s |       127.0.0.1 | POST     "/api/chat"',
            ("127.0.0.1", "POST", "/api/chat", "200"),
        ),
        (
            'INFO:     127.0.0.1:39792 - "GET /health?x=1 HTTP/1.1" 503 Service Unavailable',
            ("127.0.0.1", "GET", "/health", "503"),
        ),
        (
            '(App pid=1) INFO:     ::1:39792 - "POST /v1/chat/completions HTTP/1.1" 200 OK',
            ("::1", "POST", "/v1/chat/completions", "200"),
        ),
    ],
)
def test_an_access_line_is_read(line: str, groups: tuple[str, ...]) -> None:
    found = GENERIC.access.search(line)
    assert found is not None
    assert (found["client"], found["method"], found["path"], found["code"]) == groups
    assert GENERIC.access_hint in line


@pytest.mark.parametrize(
    "line",
    ['[GIN] 2024/09/23 - 11:32:33 | "x"', '127.0.0.1 - "GET"', "a - b", '1 - "' * 5000, "[GIN] " * 5000],
)
def test_what_only_looks_like_an_access_line_is_none(line: str) -> None:
    assert GENERIC.access.search(line) is None
