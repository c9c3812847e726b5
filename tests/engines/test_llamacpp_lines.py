"""What the lines of llama.cpp's server mean, from the JSON of 2023 to the timed lines of 2026."""

import pytest

from tui.engines.llamacpp import LLAMACPP
from tui.engines.marks import Mark, MarkKind
from tui.engines.phase import Phase
from tui.engines.reader import LineReader
from tui.watch.phases import LogPhases

T = "0.12.966.953 I "
OUTER = "2026-05-17 10:44:42.901 | "
DOTS = "." * 100


def mark(line: str) -> Mark:
    marks = LineReader(LLAMACPP).read(line).marks
    assert len(marks) == 1, marks
    return marks[0]


def figures(line: str) -> dict[str, float]:
    return {figure.name: figure.value for figure in mark(line).figures}


def after(*lines: str) -> LogPhases:
    phases = LogPhases(LLAMACPP)
    for number, line in enumerate(lines, 1):
        phases.read(line, number)
    return phases


@pytest.mark.parametrize(
    ("line", "kind", "phase"),
    [
        ("build: 4800 (abc1234) with cc (GCC) 13 for x86_64-linux-gnu", MarkKind.START, Phase.LAUNCH),
        (
            "0.00.027.331 I cmn  common_param: common_params_print_info: build 1 (7e4c0a9) with GNU 11.4.0",
            MarkKind.START,
            Phase.LAUNCH,
        ),
        (
            "0.00.755.779 I log_info: verbosity = 3 (adjust with the `-lv N` CLI arg)",
            MarkKind.START,
            Phase.LAUNCH,
        ),
        (
            'INFO [                    main] build info | tid="0x1f" timestamp=1 build=3405 commit="ab"',
            MarkKind.START,
            Phase.LAUNCH,
        ),
        (
            '{"timestamp":1689445846,"level":"INFO","function":"main","line":797,"message":"build info"}',
            MarkKind.START,
            Phase.LAUNCH,
        ),
        ("system_info: n_threads = 2 (n_threads_batch = 2) / 2 | CPU", MarkKind.WITHIN, Phase.LAUNCH),
        ("main: HTTP server is listening, hostname: 127.0.0.1, port: 8080", MarkKind.WITHIN, Phase.LAUNCH),
        ("main: binding port with default address family", MarkKind.WITHIN, Phase.LAUNCH),
        ("start: binding port with default address family", MarkKind.WITHIN, Phase.LAUNCH),
        ("ggml_cuda_init: found 2 CUDA devices:", MarkKind.WITHIN, Phase.LAUNCH),
        ("0.01.074.012 I srv          main: loading model", MarkKind.WITHIN, Phase.WEIGHTS),
        ("srv    load_model: loading model '/models/x.gguf'", MarkKind.WITHIN, Phase.WEIGHTS),
        (
            "0.01.074.899 I common_init_result: fitting params to device memory ...",
            MarkKind.WITHIN,
            Phase.WEIGHTS,
        ),
        ("llama_model_loader: - kv   0:  general.architecture str = gemma3", MarkKind.WITHIN, Phase.WEIGHTS),
        ("0.09.791.610 I print_info: n_expert = 0", MarkKind.WITHIN, Phase.WEIGHTS),
        ("llm_load_tensors: ggml ctx size =    0.27 MiB", MarkKind.BEGINS, Phase.WEIGHTS),
        (
            "load_tensors: loading model tensors, this can take a while... (mmap = true)",
            MarkKind.BEGINS,
            Phase.WEIGHTS,
        ),
        ("llama_context: constructing llama_context", MarkKind.WITHIN, Phase.KV_CACHE),
        ("llama_new_context_with_model: n_batch    = 512", MarkKind.WITHIN, Phase.KV_CACHE),
        ("0.12.080.994 I sched_reserve: reserving ...", MarkKind.WITHIN, Phase.KV_CACHE),
        (
            "common_init_from_params: warming up the model with an empty run - please wait ...",
            MarkKind.WITHIN,
            Phase.WARMUP,
        ),
        (
            "0.21.139.869 I slot   load_model: id  0 | task -1 | new slot, n_ctx = 131072",
            MarkKind.WITHIN,
            Phase.START_API,
        ),
        (
            T + "srv    load_model: initializing, n_slots = 2, n_ctx_slot = 1024",
            MarkKind.WITHIN,
            Phase.START_API,
        ),
        (T + "srv  llama_server: model loaded", MarkKind.WITHIN, Phase.START_API),
        ("main: model loaded", MarkKind.WITHIN, Phase.START_API),
        (
            'INFO [                    main] model loaded | tid="1" timestamp=2',
            MarkKind.WITHIN,
            Phase.START_API,
        ),
        (T + "srv  llama_server: listening on http://127.0.0.1:18080", MarkKind.READY, Phase.READY),
        (
            "main: server is listening on http://0.0.0.0:8080 - starting the main loop",
            MarkKind.READY,
            Phase.READY,
        ),
        (
            OUTER + "0.21.162.989 I srv main: server is listening on http://0.0.0.0:8000",
            MarkKind.READY,
            Phase.READY,
        ),
        ("main: router server is listening on http://127.0.0.1:8080", MarkKind.READY, Phase.READY),
        ("srv  update_slots: all slots are idle", MarkKind.READY, Phase.READY),
        (
            'INFO [                    main] HTTP server listening | tid="1" timestamp=2 port="8080"',
            MarkKind.READY,
            Phase.READY,
        ),
        (
            '{"timestamp":1687817876,"level":"INFO","message":"HTTP server listening","port":8080}',
            MarkKind.READY,
            Phase.READY,
        ),
        ("llama server listening at http://127.0.0.1:8080", MarkKind.READY, Phase.READY),
        (T + "srv    operator(): operator(): cleaning up before exit...", MarkKind.SHUTDOWN, None),
        ("^Csrv    operator(): operator(): cleaning up before exit...", MarkKind.SHUTDOWN, None),
        ("Received second interrupt, terminating immediately.", MarkKind.SHUTDOWN, None),
    ],
)
def test_a_line_of_any_year_has_its_meaning(line: str, kind: MarkKind, phase: Phase | None) -> None:
    said = mark(line)
    assert (said.kind, said.phase) == (kind, phase)


@pytest.mark.parametrize(
    "line",
    [
        "0.19.725.404 I slot print_timing: id  1 | task 0 |    graphs reused =         23",
        "0.00.037.999 W srv  llama_server: this can be a security risk (cross-origin attacks)",
        "0.17.333.604 I srv  init: init: chat template, example_format: 'all slots are idle'",
        "user: main: server is listening on http://127.0.0.1:8080",
        'llm said "model loaded"',
        "The main: model loaded",
        "..",
        "....and so on",
        "." * 101,
        "total_load_tensors: 5",
        "10.12.2026 5 I think so",
    ],
)
def test_what_only_looks_like_a_line_of_the_load_is_none(line: str) -> None:
    assert LineReader(LLAMACPP).read(line).marks == ()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("load_tensors:        CUDA0 model buffer size = 20038.81 MiB", {"weights_mib": 20038.81}),
        ("llm_load_tensors:      ROCm1 buffer size =  3963.38 MiB", {"weights_mib": 3963.38}),
        ("load_tensors:   CPU_Mapped model buffer size =   563.62 MiB", {"weights_host_mib": 563.62}),
        ("load_tensors:   CPU_REPACK model buffer size =    12.66 MiB", {}),
        ("llama_kv_cache:      CUDA0 KV buffer size =  4096.00 MiB", {"kv_cache_mib": 4096.0}),
        ("llama_kv_cache_init:      CUDA0 KV buffer size =  4096.00 MiB", {"kv_cache_mib": 4096.0}),
        (
            "0.12.030.766 I llama_kv_cache:        CPU KV buffer size =     6.00 MiB",
            {"kv_cache_host_mib": 6.0},
        ),
        ("0.12.030.256 I llama_context: n_ctx                 = 2048", {"context_tokens": 2048.0}),
        ("llama_context:      CUDA0 compute buffer size =   258.50 MiB", {"compute_mib": 258.5}),
    ],
)
def test_buffers_and_the_context_are_figures(line: str, expected: dict[str, float]) -> None:
    assert figures(line) == expected


def test_a_draft_acceptance_is_a_figure_in_per_cent() -> None:
    line = (
        "0.49.246.120 I slot print_timing: id  2 | task 2 | draft acceptance rate = 0.78788 (   26 accepted"
    )
    assert figures(line)["draft_acceptance_pct"] == pytest.approx(78.788)


def test_the_build_is_the_version() -> None:
    assert mark("build: 4800 (abc1234) with cc (GCC) 13").version == "4800"
    assert mark('INFO [ main] build info | tid="1" timestamp=1 build=3405 commit="a"').version == "3405"


@pytest.mark.parametrize(("dots", "done"), [("...", 3.0), ("." * 57, 57.0), (DOTS, 100.0)])
def test_a_dot_is_a_hundredth_of_the_weights(dots: str, done: float) -> None:
    said = mark(dots)
    assert said.phase is Phase.WEIGHTS
    assert said.progress is not None
    assert (said.progress.done, said.progress.total, said.progress.unit) == (done, 100.0, "%")


def test_the_growing_line_of_dots_tells_progress_before_it_ends() -> None:
    phases = after("load_tensors: loading model tensors, this can take a while... (mmap = true)")
    phases.peek("." * 40)
    assert phases.progress is not None
    assert phases.progress.done == 40.0


def test_speeds_of_prompt_and_answer_add_up() -> None:
    phases = after(
        "0.19.725.389 I slot print_timing: id  1 | task 0 | prompt eval time =     438.15 ms /    26 tokens "
        "(   16.85 ms per token,    59.34 tokens per second)",
        "0.19.725.394 I slot print_timing: id  1 | task 0 |        eval time =    1461.74 ms /    24 tokens "
        "(   63.55 ms per token,    15.73 tokens per second)",
    )
    assert phases.outcome == "ready"
    assert phases.steady is not None
    assert (phases.steady.prompt_tokens_per_s, phases.steady.output_tokens_per_s) == (59.34, 15.73)


@pytest.mark.parametrize(
    "line",
    [
        "       eval time =    1461.74 ms /    24 tokens (   63.55 ms per token,    15.73 tokens per second)",
        "INFO [           print_timings] generation eval time =    1461.74 ms /    24 runs   "
        '(   63.55 ms per token,    15.73 tokens per second) | tid="1" timestamp=2',
    ],
)
def test_a_speed_is_read_from_older_builds(line: str) -> None:
    said = mark(line)
    assert said.steady is not None
    assert said.steady.output_tokens_per_s == 15.73


def test_a_draft_model_is_loaded_after_the_first_ones_warm_up() -> None:
    phases = after(
        "common_init_from_params: warming up the model with an empty run - please wait ...",
        "srv    load_model: loading draft model '/models/draft.gguf'",
    )
    assert phases.phase is Phase.WEIGHTS


def test_a_stop_while_it_serves_is_no_failure() -> None:
    phases = after(
        "srv  update_slots: all slots are idle",
        "srv    operator(): operator(): cleaning up before exit...",
    )
    assert (phases.outcome, phases.phase) == ("stopped", Phase.READY)


@pytest.mark.parametrize(
    ("line", "groups"),
    [
        (
            "0.01.000.000 I srv  log_server_r: request: GET /health 127.0.0.1 503",
            ("127.0.0.1", "GET", "/health", "503"),
        ),
        (
            "srv  log_server_r: done request: POST /v1/chat/completions?x=1 192.0.2.7 200",
            ("192.0.2.7", "POST", "/v1/chat/completions", "200"),
        ),
        (
            'INFO [      log_server_request] request | tid="1" timestamp=2 remote_addr="172.17.0.3" '
            'remote_port=48272 status=200 method="GET" path="/v1/models" params={}',
            ("172.17.0.3", "GET", "/v1/models", "200"),
        ),
    ],
)
def test_an_access_line_of_any_year_is_read(line: str, groups: tuple[str, ...]) -> None:
    found = LLAMACPP.access.search(line)
    assert found is not None
    assert (found["client"], found["method"], found["path"], found["code"]) == groups
    assert LLAMACPP.access_hint in line
    assert mark(line).kind is MarkKind.ACCESS
