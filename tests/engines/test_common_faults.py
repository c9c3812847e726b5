"""Failures that any engine's log may tell of: their kinds, and what is said of them."""

import pytest

from tui.engines.marks import FaultKind, FaultMark, Weight
from tui.engines.reader import LineReader
from tui.engines.registry import engine_named

CASES: list[tuple[str, FaultKind | None, str]] = [
    (
        "RuntimeError: Failed to find C compiler. Please specify via CC environment variable",
        FaultKind.COMPILE,
        "Compiling",
    ),
    (
        "RuntimeError: Could not find nvcc and default cuda_home='/usr/local/cuda' doesn't exist",
        FaultKind.COMPILE,
        "Compiling",
    ),
    (
        "triton.runtime.errors.OutOfResources: out of resource: shared memory, Required: 262144",
        FaultKind.COMPILE,
        "Compiling",
    ),
    ("OSError: [Errno 28] No space left on device: '/psm_abcd'", FaultKind.UNKNOWN, "/dev/shm"),
    (
        "RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
        None,
        "no GPU memory",
    ),
    (
        "AssertionError: Attempted to load weight (torch.Size([4096])) into parameter (torch.Size([2048]))",
        FaultKind.BAD_CONFIG,
        "shape",
    ),
    (
        "torch.distributed.DistNetworkError: The client socket has timed out after 600000ms while trying to "
        "connect to (10.0.0.1, 5000).",
        FaultKind.NCCL,
        "never reached the first one at 10.0.0.1, 5000",
    ),
    ("torch.AcceleratorError: CUDA error: out of memory", None, "memory"),
    ("torch.OutOfMemoryError: HIP out of memory. Tried to allocate 1 GiB", None, "memory"),
    ("RuntimeError: CUDA driver error: out of memory", None, "memory"),
]


def fault_in(engine: str, line: str) -> FaultMark:
    found = engine_named(engine)
    assert found is not None
    faults = [mark.fault for mark in LineReader(found).read(line).marks if mark.fault is not None]
    assert len(faults) == 1, line
    return faults[0]


@pytest.mark.parametrize(("line", "kind", "cause"), CASES)
@pytest.mark.parametrize("engine", ["vllm", "sglang", "trtllm"])
def test_a_failure_has_its_kind_and_cause_in_the_log_of_any_engine(
    engine: str, line: str, kind: FaultKind | None, cause: str
) -> None:
    fault = fault_in(engine, line)
    assert fault.kind is kind
    assert fault.weight in (Weight.CAUSE, Weight.CONSEQUENCE)
    assert cause in fault.cause
