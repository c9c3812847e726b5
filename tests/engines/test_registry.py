"""Which engine wrote a log, by its lines."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tui.engines.base import Engine
from tui.engines.generic import GENERIC
from tui.engines.registry import ENGINES, EngineGuess, engine_named
from tui.transport.clean import LineSplitter

CORPUS = Path(__file__).parents[3] / "shared" / "corpus"
RECORDINGS = CORPUS.parent / "recordings"
NAMES = {"llama.cpp": "llamacpp", "tensorrt-llm": "trtllm", "lmdeploy": "generic", "ollama": "generic"}
# PyTorch's lines alone, as any engine's log holds them: nothing in it tells the engine.
UNTOLD = {"sglang/dsr1-2x8h100-nccl-watchdog-serving.log"}
OLLAMA = 'time=2025-08-20T10:00:00.000Z level=INFO source=server.go:1278 msg="waiting for server"'


def known_by(*lines: str) -> str | None:
    guess = EngineGuess()
    for line in lines:
        guess.read(line)
    return None if guess.engine is None else guess.engine.name


def best(*lines: str) -> str:
    guess = EngineGuess()
    for line in lines:
        guess.read(line)
    return guess.best.name


def signed(line: str) -> list[str]:
    return [engine.name for engine in (*ENGINES, GENERIC) if engine.sign.search(line)]


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("[2026-11-29 15:07:10] server_args=ServerArgs(model_path='models/q',", "sglang"),
        ("[2026-11-29 14:36:06 TP1] Init torch distributed begin.", "sglang"),
        ("[01:33:10] Memory pool end. avail mem=1.27 GB", "sglang"),
        ("sglang-1  | [2026-06-24 11:50:33 DP0 TP0] x", "sglang"),
        ("Capturing batches (bs=256 avail_mem=12.09 GB):   0%|          | 0/36 [00:00<?, ?it/s]", "sglang"),
        ('  File "/opt/sglang/srt/managers/scheduler.py", line 1, in run', "sglang"),
        ("INFO 10-22 09:32:12 [api_server.py:1839] vLLM API server version 0.11.0", "vllm"),
        ("(EngineCore_DP0 pid=441) INFO 11-24 11:43:54 [default_loader.py:1] x", "vllm"),
        ("(Worker_TP0 pid=57) ", "vllm"),
        ("(VllmWorkerProcess pid=240) INFO 08-31 09:50:45 x", "vllm"),
        ("INFO 10-11 09:05:30 model_runner.py:1025] Starting to load model m...", "vllm"),
        ("DEBUG 10-11 09:05:30 [v1/engine/core.py:10] x", "vllm"),
        ("Capturing CUDA graphs (decode, FULL):   0%|          | 0/35 [00:00<?, ?it/s]", "vllm"),
        ("0.00.026.557 I cmn  common_param: verbosity = 3", "llamacpp"),
        ("build: 4800 (abc1234) with cc (GCC) 13", "llamacpp"),
        ("main: server is listening on http://127.0.0.1:8080 - starting the main loop", "llamacpp"),
        ("main: HTTP server is listening, hostname: 127.0.0.1, port: 8080, http threads: 31", "llamacpp"),
        ('{"level":"INFO","message":"HTTP server listening","hostname":"127.0.0.1","port":8080}', "llamacpp"),
        ('INFO [ main] HTTP server listening | tid="1" n_threads_http="15" port="8080"', "llamacpp"),
        (
            "2024-05-21T12:39:10.2Z  INFO shard-manager: text_generation_launcher: Starting shard rank=0",
            "tgi",
        ),
        (OLLAMA, "generic"),
        ('[GIN] 2024/09/23 - 11:32:33 | 200 |  9.13s |  127.0.0.1 | POST  "/api/chat"', "generic"),
        ("2025-07-08 11:20:26,869 - lmdeploy - WARNING - __init__.py:10 - x", "generic"),
    ],
)
def test_an_engine_is_known_by_a_line_that_it_alone_writes(line: str, name: str) -> None:
    assert signed(line) == [name]
    assert known_by(line) == name


@pytest.mark.parametrize(
    "line",
    [
        # What SGLang's logs hold of the vLLM modules it imported (to 0.4), and both of their bars.
        "INFO 02-11 10:24:44 __init__.py:190] Automatically detected platform cuda.",
        "INFO 12-29 06:11:32 weight_utils.py:243] Using model weights format ['*.safetensors']",
        '  File "/opt/venv/lib/python3.10/site-packages/vllm/distributed/parallel_state.py", line 1, in f',
        '  File "/opt/venv/site-packages/vllm/model_executor/layers/linear.py", line 1, in f',
        "Loading safetensors checkpoint shards:  45% Completed | 5/11 [00:10<00:12,  2.1s/it]",
        # What Ollama quotes of the llama.cpp inside it.
        "load_tensors:        CUDA0 model buffer size = 24277.75 MiB",
        "srv  llama_server: listening on http://127.0.0.1:64835",
        'INFO [main] HTTP server listening | tid="1" port="41557" hostname="127.0.0.1"',
        'INFO [main] model loaded | tid="139820253798400" timestamp=1727091153',
        # What any engine's log may hold.
        "INFO:     Application startup complete.",
        "host:1:2 [0] NCCL INFO NCCL_ALGO set by environment to Tree",
        "nvcc -I/x/flashinfer/data/csrc/nv_internal/tensorrt_llm/kernels -c x.cu",
        "model='/models/vllm/sglang/llama.cpp/trtllm'",
        "I1129 12:00:00.123 1234 metrics.py:12] x",
        "(Worker pid=12) x",
    ],
)
def test_what_others_write_too_tells_no_engine(line: str) -> None:
    assert signed(line) == []
    assert known_by(line) is None


def test_an_engine_once_known_stays() -> None:
    assert known_by("build: 4800 (abc1234) with cc", OLLAMA) == "llamacpp"


def test_quoted_lines_decide_only_where_nothing_better_comes() -> None:
    quoted = "load_tensors:        CUDA0 model buffer size = 24277.75 MiB"
    assert best(quoted) == "llamacpp"
    assert best(quoted, OLLAMA) == "generic"
    assert best("INFO:     Application startup complete.") == "generic"


def corpus() -> dict[str, tuple[str, list[str]]]:
    if not CORPUS.exists():
        pytest.skip("needs the corpus of start-up logs beside the checkout")
    expected: dict[str, dict[str, object]] = json.loads((CORPUS / "expect.json").read_text())
    logs: dict[str, tuple[str, list[str]]] = {}
    for name, log in expected.items():
        engine = str(log["engine"]).split(" ")[0]
        lines = LineSplitter().feed((CORPUS / name).read_bytes() + b"\n").lines
        logs[name] = (NAMES.get(engine, engine), lines)
    return logs


def test_every_real_log_is_known_by_its_lines() -> None:
    wrong: list[str] = []
    for name, (engine, lines) in corpus().items():
        if engine == "nccl" or name in UNTOLD:
            assert known_by(*lines) is None
        elif engine_named(engine) is not None and known_by(*lines) != engine:
            wrong.append(f"{name}: {known_by(*lines)}, expected {engine}")
    assert wrong == []


def test_no_line_of_a_real_log_is_a_sign_of_two_engines() -> None:
    lines = {line for _, told in corpus().values() for line in told}
    assert [line for line in lines if len(signed(line)) > 1] == []


def test_no_real_log_holds_a_sign_of_another_engine() -> None:
    foreign: list[str] = []
    for name, (engine, lines) in corpus().items():
        if engine_named(engine) is not None:
            foreign += [f"{name}: {line[:100]}" for line in lines if signed(line) not in ([], [engine])]
    assert foreign == []


def test_real_recordings_are_known_by_their_first_lines() -> None:
    logs = sorted(RECORDINGS.glob("*/server.log"))
    if not logs:
        pytest.skip("needs the recordings of real loads beside the checkout")
    for path in logs:
        lines = LineSplitter().feed(path.read_bytes() + b"\n").lines
        assert known_by(*lines) == ("vllm" if "vllm" in path.parent.name else "sglang"), path.parent.name


@given(st.sampled_from([*ENGINES, GENERIC]), st.text(max_size=300))
@settings(max_examples=200, deadline=None)
def test_any_text_is_looked_at_without_fault(engine: Engine, text: str) -> None:
    assert engine.sign.search(text) is None or signed(text)
