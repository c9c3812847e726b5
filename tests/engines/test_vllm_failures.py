"""How vLLM's failures and ends read."""

import pytest

from tui.engines.marks import FaultKind, Weight
from tui.engines.phase import Phase
from tui.engines.reader import LineReader
from tui.engines.vllm import VLLM
from tui.watch.phases import LogPhases

CORE = "(EngineCore pid=3096) INFO 11-29 14:46:45 [core.py:114] "
API = "(APIServer pid=3224) INFO 11-29 13:47:07 [launcher.py:186] "
ERROR = "(EngineCore pid=3096) ERROR 11-29 14:46:45 [core.py:114] "
READY = "INFO:     Application startup complete."
DIED = ERROR + "Worker proc VllmWorker-0 died unexpectedly (exit code: None), shutting down executor."
DEAD = ERROR + "vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue."
SIGNAL = CORE + "[shutdown] EngineCore: trigger received signal=SIGTERM"


@pytest.mark.parametrize(
    ("lines", "outcome"),
    [
        ((READY, API + "[shutdown] API server: shutdown triggered", DEAD), "stopped"),
        ((READY, SIGNAL, DEAD), "stopped"),
        ((READY, API + "Shutting down FastAPI HTTP server."), "stopped"),
        ((READY, "INFO:     Shutting down", DEAD), "stopped"),
        ((CORE + "Loading model from scratch...", CORE + "Shutting down."), "stopped"),
        ((READY, DIED, "INFO:     Shutting down"), "failed"),
        ((READY, DEAD, API + "[shutdown] API server: shutdown triggered"), "failed"),
        ((READY, CORE + "[shutdown] Executor: waiting for worker exit count=4"), "ready"),
        # The API server failed after the engine had started, and took it along.
        (
            (API + "Supported tasks: ['generate']", API + "[shutdown] MPClient: start timeout=0s", SIGNAL),
            "unfinished",
        ),
        # A ready server goes on after a call that failed; a load does not.
        ((READY, ERROR + "WorkerProc hit an exception."), "ready"),
        ((CORE + "Loading model from scratch...", ERROR + "WorkerProc hit an exception."), "failed"),
        # Ended on request: no reason of its own.
        ((READY, ERROR + "Worker VllmWorkerProcess pid 812 died, exit code: -15"), "ready"),
    ],
)
def test_a_stop_is_told_from_a_death_by_which_came_first(lines: tuple[str, ...], outcome: str) -> None:
    log = LogPhases(VLLM)
    for number, line in enumerate(lines, 1):
        log.read(line, number)
    assert log.outcome == outcome


@pytest.mark.parametrize(
    ("message", "kind", "weight", "terminal", "phase"),
    [
        (
            "ValueError: Free memory on device (16.61/23.68 GiB) on startup is less than desired GPU memory "
            "utilization "
            "(0.8, 18.95 GiB). Decrease GPU memory utilization.",
            FaultKind.OOM_WEIGHTS,
            Weight.CAUSE,
            True,
            None,
        ),
        (
            "ValueError: Free memory on device cuda:0 (1.61/23.68 GiB) on startup is less than desired GPU "
            "memory "
            "utilization (0.8, 18.95 GiB).",
            FaultKind.OOM_WEIGHTS,
            Weight.CAUSE,
            True,
            None,
        ),
        (
            "ValueError: Available memory on node 0 (4.85/18.0 GiB) on startup is less than desired CPU "
            "memory "
            "utilization (0.92, 16.56 GiB).",
            FaultKind.OOM_HOST,
            Weight.CAUSE,
            True,
            None,
        ),
        (
            "ValueError: No available memory for the cache blocks. Try",
            FaultKind.OOM_KV,
            Weight.CAUSE,
            True,
            Phase.KV_CACHE,
        ),
        (
            "ValueError: The model's max seq len (131072) is larger than the maximum number of tokens that "
            "can be stored "
            "in KV cache (4400). Try",
            FaultKind.OOM_KV,
            Weight.CAUSE,
            True,
            Phase.KV_CACHE,
        ),
        (
            "RuntimeError: CUDA out of memory occurred when warming up sampler with 1024 dummy requests. "
            "Please try",
            FaultKind.OOM_CAPTURE,
            Weight.CAUSE,
            True,
            Phase.WARMUP,
        ),
        ("TimeoutError: RPC call to execute_model timed out.", FaultKind.TIMEOUT, Weight.CAUSE, False, None),
        (
            "TimeoutError: Timed out waiting for engines to sendinitial message on input socket.",
            FaultKind.TIMEOUT,
            Weight.CAUSE,
            True,
            None,
        ),
        (
            "Worker VllmWorkerProcess pid 812 died, exit code: -9",
            FaultKind.OOM_HOST,
            Weight.REPORT,
            True,
            None,
        ),
        (
            "Worker VllmWorkerProcess pid 812 died, exit code: -11",
            FaultKind.RANK_DIED,
            Weight.REPORT,
            True,
            None,
        ),
        (
            "Worker proc VllmWorker-2 died unexpectedly, shutting down executor.",
            FaultKind.RANK_DIED,
            Weight.REPORT,
            True,
            None,
        ),
        (
            "Engine core proc EngineCore_DP0 died unexpectedly, shutting down client.",
            FaultKind.RANK_DIED,
            Weight.REPORT,
            True,
            None,
        ),
        (
            "Worker proc VllmWorker-0 died unexpectedly (exit code: 0)",
            FaultKind.RANK_DIED,
            Weight.ECHO,
            False,
            None,
        ),
        (
            "RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): "
            "{'EngineCore': -9}",
            FaultKind.OOM_HOST,
            Weight.REPORT,
            True,
            None,
        ),
        (
            "RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): "
            "{'EngineCore': -4}",
            FaultKind.RANK_DIED,
            Weight.REPORT,
            True,
            None,
        ),
        (
            "RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}",
            FaultKind.RANK_DIED,
            Weight.ECHO,
            True,
            None,
        ),
        ("EngineCore failed to start.", FaultKind.UNKNOWN, Weight.ECHO, True, None),
        (
            "EngineCore hit an exception: Traceback (most recent call last):",
            FaultKind.UNKNOWN,
            Weight.ECHO,
            True,
            None,
        ),
        (
            "Got fatal signal from worker processes, shutting down. See stack trace above for",
            FaultKind.UNKNOWN,
            Weight.ECHO,
            True,
            None,
        ),
        ("RuntimeError: cancelled", FaultKind.UNKNOWN, Weight.ECHO, False, None),
        (
            "ValueError: Couldn't instantiate the backend tokenizer from one of:",
            FaultKind.MISSING_MODEL,
            Weight.CAUSE,
            False,
            None,
        ),
        (
            "KeyError: 'model.layers.0.mlp.gate_up_proj.weight'",
            FaultKind.MISSING_MODEL,
            Weight.CAUSE,
            False,
            None,
        ),
        (
            "ValueError: User-specified max_model_len (90000) is greater than the derived max_model_len",
            FaultKind.BAD_CONFIG,
            Weight.CAUSE,
            False,
            None,
        ),
        ("ValueError: Cannot provide a placement group of", FaultKind.BAD_CONFIG, Weight.CAUSE, False, None),
        (
            "torch.AcceleratorError: HIP error: invalid device ordinal",
            FaultKind.DRIVER,
            Weight.CAUSE,
            True,
            None,
        ),
        ("OSError: [Errno 98] Address already in use", FaultKind.PORT_IN_USE, Weight.CAUSE, True, None),
    ],
)
def test_a_failure_has_its_kind(
    message: str, kind: FaultKind, weight: Weight, terminal: bool, phase: Phase | None
) -> None:
    mark = next(mark for mark in LineReader(VLLM).read(ERROR + message).marks if mark.fault is not None)
    assert mark.fault is not None
    assert (mark.fault.kind, mark.fault.weight, mark.fault.terminal) == (kind, weight, terminal)
    assert mark.fault.phase is phase
    assert mark.fault.cause.endswith((".", ")."))
    assert mark.fault.next_step.endswith(".")
    assert "{" not in mark.fault.cause


def test_a_wrong_flag_ends_the_load_without_a_traceback() -> None:
    log = LogPhases(VLLM)
    log.read("vllm: error: unrecognized arguments: --swap-space=16", 1)
    assert log.outcome == "failed"
    assert log.cause is not None
    assert log.cause.kind is FaultKind.BAD_CONFIG
    assert "--swap-space=16" in log.cause.cause


def test_the_memory_that_was_free_stands_in_the_cause() -> None:
    line = (
        ERROR + "ValueError: Free memory on device (1.5/80.0 GiB) on startup is less than desired GPU memory "
    )
    log = LogPhases(VLLM)
    log.read(line + "utilization (0.9, 72.0 GiB). Decrease GPU memory utilization.", 1)
    assert log.cause is not None
    assert "1.5 of 80.0 GiB" in log.cause.cause
