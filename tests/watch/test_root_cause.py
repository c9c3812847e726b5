"""Which line of a failed load tells the true cause, and of what kind it is."""

import pytest
from told_loads import TRACEBACK, make_phases, read, record, to_capture

from tui.engines.marks import FaultKind, Weight
from tui.engines.phase import Phase


def test_the_named_cause_beats_the_echo_before_it_and_the_unknown_exception_behind_it() -> None:
    phases = read(
        to_capture(make_phases()),
        record("Received sigquit from a child process. It usually means the child failed."),
        "torch.OutOfMemoryError: CUDA out of memory.",
        "RuntimeError: some follow-up",
        first=20,
    )
    assert phases.cause is not None
    assert (phases.cause.kind, phases.cause.quote.number) == (FaultKind.OOM_CAPTURE, 21)


def test_of_a_chain_of_exceptions_the_named_one_wins() -> None:
    phases = read(
        make_phases(),
        TRACEBACK,
        '  File "/lib/auto.py", line 1, in from_pretrained',
        "KeyError: 'new_model'",
        "",
        "During handling of the above exception, another exception occurred:",
        "",
        TRACEBACK,
        '  File "/app/launch_server.py", line 3, in <module>',
        "ValueError: model type `new_model` but Transformers does not recognize this architecture.",
    )
    assert phases.outcome == "failed"
    assert phases.cause is not None
    assert (phases.cause.kind, phases.cause.quote.number) == (FaultKind.BAD_CONFIG, 9)


def test_the_lower_process_tells_the_cause() -> None:
    phases = read(
        make_phases("vllm"),
        "(EngineCore pid=7) ERROR 11-29 10:00:02 [core.py:1] AssertionError: of the core",
        "(Worker_TP1 pid=9) ERROR 11-29 10:00:01 [executor.py:1] AssertionError: of the worker",
        "(APIServer pid=1) ERROR 11-29 10:00:03 [api.py:1] AssertionError: of the server",
    )
    assert phases.suspect is not None
    assert phases.suspect.quote.number == 2


def test_interleaved_tracebacks_of_ranks_are_kept_apart() -> None:
    one, two = "(Worker_TP0 pid=8) ", "(Worker_TP1 pid=9) "
    phases = read(
        make_phases("vllm"),
        one + TRACEBACK,
        two + TRACEBACK,
        one + '  File "/app/worker.py", line 1, in handle',
        two + '  File "/lib/multiprocessing/process.py", line 314, in _bootstrap',
        one + "UnheardOf: logged",
        two + "UnheardOf: not caught",
    )
    assert phases.outcome == "failed"
    assert phases.cause is not None
    assert phases.cause.quote.number == 5
    assert phases.cause.weight is Weight.ERROR


def test_source_that_quotes_a_cause_counts_where_the_exceptions_own_line_is_cut_off() -> None:
    head = "(EngineCore pid=7) ERROR 11-29 10:00:00 [core.py:1] "
    phases = read(
        make_phases("vllm"),
        head + '  File "/app/kv_cache_utils.py", line 699, in check_enough_kv_cache_memory',
        head + '    raise ValueError("No available memory for the cache blocks. "',
    )
    assert (phases.outcome, phases.phase) == ("failed", Phase.KV_CACHE)
    assert phases.cause is not None
    assert (phases.cause.kind, phases.cause.weight) == (FaultKind.OOM_KV, Weight.QUOTED)


def test_trouble_that_was_outlived_does_not_explain_a_rank_that_was_killed() -> None:
    phases = read(make_phases(), record("Init torch distributed begin."))
    read(phases, "AssertionError: a warning of a plugin", first=2)
    read(phases, record("Load weight begin. avail mem=100.00 GB"), first=3)
    read(phases, record("Rank 0 scheduler died during initialization (exit code: -9)."), first=4)
    assert phases.cause is not None
    assert (phases.cause.kind, phases.cause.quote.number) == (FaultKind.OOM_HOST, 4)


def test_out_of_memory_names_the_other_process_that_holds_it() -> None:
    text = (
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 160.00 MiB. GPU 0 has a total capacity"
        " of 139.80 GiB of which 140.75 MiB is free. Process 1656 has 12.41 GiB memory in use. Including"
        " non-PyTorch memory, this process has 127.20 GiB memory in use."
    )
    phases = read(to_capture(make_phases()), text)
    assert phases.cause is not None
    assert (
        phases.cause.cause == "The GPU had no memory left: another process (pid 1656) holds 12.41 GiB of it."
    )


@pytest.mark.parametrize(
    ("engine", "kind"),
    [
        (Phase.WEIGHTS, FaultKind.OOM_WEIGHTS),
        (Phase.KV_CACHE, FaultKind.OOM_KV),
        (Phase.CAPTURE, FaultKind.OOM_CAPTURE),
    ],
)
def test_the_phase_says_which_memory_ran_out(engine: Phase, kind: FaultKind) -> None:
    begun = {
        Phase.WEIGHTS: "Load weight begin. avail mem=100.00 GB",
        Phase.KV_CACHE: "KV Cache is allocated. #tokens: 1000, K size: 1.00 GB, V size: 1.00 GB",
        Phase.CAPTURE: "Capture cuda graph begin. This can take up to several minutes.",
    }
    phases = read(make_phases(), record(begun[engine]), "torch.OutOfMemoryError: CUDA out of memory.")
    assert phases.cause is not None
    assert phases.cause.kind is kind


def test_a_rank_ahead_of_the_slowest_fails_in_its_own_phase() -> None:
    phases = make_phases()
    read(phases, *(record("Init torch distributed begin.", rank) for rank in ("TP0", "TP1")))
    read(phases, record("Init torch distributed ends. mem usage=0.5 GB", "TP0"))
    read(phases, record("Load weight begin. avail mem=100.00 GB", "TP0"))
    read(phases, record("Scheduler hit an exception: " + TRACEBACK, "TP0"))
    assert (phases.outcome, phases.phase) == ("failed", Phase.WEIGHTS)
