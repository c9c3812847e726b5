"""Why llama.cpp's server could not load its model, as its lines tell it."""

import pytest

from tui.engines.llamacpp import LLAMACPP
from tui.engines.marks import FaultKind, FaultMark, Weight
from tui.engines.phase import Phase
from tui.engines.reader import LineReader
from tui.watch.phases import LogPhases


def fault(line: str) -> FaultMark:
    (mark,) = LineReader(LLAMACPP).read(line).marks
    assert mark.fault is not None
    return mark.fault


def after(*lines: str) -> LogPhases:
    phases = LogPhases(LLAMACPP)
    for number, line in enumerate(lines, 1):
        phases.read(line, number)
    return phases


@pytest.mark.parametrize(
    ("line", "kind", "weight", "terminal"),
    [
        (
            "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 20480.00 MiB on device 0: "
            "cudaMalloc failed: out of memory",
            None,
            Weight.CAUSE,
            False,
        ),
        (
            "llama_model_load: error loading model: unable to allocate CUDA0 buffer",
            None,
            Weight.CAUSE,
            False,
        ),
        (
            "0.04.727.125 E ggml_aligned_malloc: insufficient memory (attempted to allocate 11718.75 MB)",
            None,
            Weight.CAUSE,
            False,
        ),
        (
            "0.04.859.616 E llama_init_from_model: failed to initialize the context: "
            "failed to allocate buffer for kv cache",
            FaultKind.OOM_KV,
            Weight.CAUSE,
            False,
        ),
        (
            "gguf_init_from_file: failed to open GGUF file 'nope.gguf' (No such file or directory)",
            FaultKind.MISSING_MODEL,
            Weight.CAUSE,
            False,
        ),
        (
            "llama_model_load: error loading model: tensor 'token_embd.weight' data is not within the file "
            "bounds, model is corrupted or incomplete",
            FaultKind.MISSING_MODEL,
            Weight.CAUSE,
            False,
        ),
        (
            "gguf_init_from_file_impl: invalid magic characters: '<!DO', expected 'GGUF'",
            FaultKind.MISSING_MODEL,
            Weight.CAUSE,
            False,
        ),
        (
            "llama_model_load: error loading model: error loading model architecture: "
            "unknown model architecture: 'new3'",
            FaultKind.BAD_CONFIG,
            Weight.CAUSE,
            False,
        ),
        (
            "ggml_cuda_init: failed to initialize CUDA: "
            "CUDA driver version is insufficient for CUDA runtime version",
            FaultKind.DRIVER,
            Weight.CONSEQUENCE,
            False,
        ),
        (
            "srv    load_model: failed to load model, 'x.gguf'",
            FaultKind.UNKNOWN,
            Weight.REPORT,
            True,
        ),
        (
            '{"tid":"1","timestamp":1,"level":"ERR","function":"load_model","msg":"unable to load model"}',
            FaultKind.UNKNOWN,
            Weight.REPORT,
            True,
        ),
        ("main: exiting due to model loading error", FaultKind.UNKNOWN, Weight.REPORT, True),
        (
            "0.00.034.237 E srv  start: couldn't bind HTTP server socket, hostname: 127.0.0.1, port: 18082",
            FaultKind.PORT_IN_USE,
            Weight.CAUSE,
            True,
        ),
        (
            "couldn't bind to server socket: hostname=127.0.0.1 port=8080",
            FaultKind.PORT_IN_USE,
            Weight.CAUSE,
            True,
        ),
        ("error: invalid argument: --ctx", FaultKind.BAD_CONFIG, Weight.CAUSE, True),
        ("/app/ggml/src/ggml.c:6123: GGML_ASSERT(x != 0) failed", FaultKind.UNKNOWN, Weight.ERROR, True),
    ],
)
def test_a_failure_has_its_kind(line: str, kind: FaultKind | None, weight: Weight, terminal: bool) -> None:
    told = fault(line)
    assert (told.kind, told.weight, told.terminal) == (kind, weight, terminal)
    assert told.cause
    assert told.next_step


@pytest.mark.parametrize(
    "line",
    [
        "ggml_cuda_host_malloc: failed to allocate 1024.00 MiB of pinned memory: out of memory",
        "llama_context: compute buffer allocation failed, retrying without pipeline parallelism",
        "0.03.211.110 W load: control-looking token:    212 '</s>' was not control-type; probably a bug",
        "srv  log_server_r: done request: POST /completion 127.0.0.1 500",
    ],
)
def test_a_warning_of_a_healthy_load_fails_nothing(line: str) -> None:
    phases = after("load_tensors: loading model tensors, this can take a while... (mmap = true)", line)
    assert phases.outcome == "unfinished"
    assert phases.suspect is None or phases.suspect.weight is not Weight.CAUSE


def test_a_gpu_that_cannot_be_used_does_not_fail_a_load_into_the_hosts_memory() -> None:
    phases = after(
        "ggml_cuda_init: failed to initialize CUDA: no CUDA-capable device is detected",
        "load_tensors:   CPU_Mapped model buffer size =   563.62 MiB",
        "main: server is listening on http://127.0.0.1:8080 - starting the main loop",
    )
    assert phases.outcome == "ready"


def test_an_error_told_by_the_fit_and_by_the_load_counts_where_it_came_first() -> None:
    phases = after(
        "0.00.027.850 I srv    load_model: loading model 'nope.gguf'",
        "0.00.027.980 E gguf_init_from_file: failed to open GGUF file 'nope' (No such file or directory)",
        "0.00.030.513 E llama_model_load: error loading model: llama_model_loader: failed to load model",
        "0.00.030.647 E common_fit_params: encountered an error while trying to fit: failed to load model",
        "0.00.030.719 E gguf_init_from_file: failed to open GGUF file 'nope' (No such file or directory)",
    )
    assert phases.outcome == "unfinished"
    phases.read("0.00.030.889 E srv    load_model: failed to load model, 'nope.gguf'", 6)
    phases.read("0.00.030.892 I srv    operator(): operator(): cleaning up before exit...", 7)
    assert phases.outcome == "failed"
    assert phases.phase is Phase.WEIGHTS
    assert phases.cause is not None
    assert (phases.cause.kind, phases.cause.quote.number) == (FaultKind.MISSING_MODEL, 2)


def test_a_router_is_not_ended_by_the_servers_under_it() -> None:
    phases = after(
        "main: router server is listening on http://127.0.0.1:8080",
        "[55123] srv    load_model: failed to load model, 'x.gguf'",
        "[55123] 0.00.030.892 I srv    operator(): operator(): cleaning up before exit...",
        "[55123] CUDA error: out of memory",
    )
    assert phases.outcome == "ready"
