"""When one GPU is said to wait, and from which readings its idle power is learnt."""

import pytest

from tui.events import GpuSample
from tui.watch.verdict.gpu_moves import GpuMoves

IDLE_W = 124.0


def sample(utilisation_pct: float, memory_mib: float = 60_000.0) -> GpuSample:
    return GpuSample(
        index=0,
        state="ok",
        memory_used_mib=memory_mib,
        memory_reserved_mib=None,
        memory_total_mib=143_771.0,
        utilisation_pct=utilisation_pct,
        memory_utilisation_pct=0.0,
        power_w=IDLE_W,
    )


@pytest.mark.parametrize(("interrupted_s", "waits_on"), [(2.0, True), (3.0, False)])
def test_a_blip_does_not_end_a_wait_and_what_lasts_does(interrupted_s: float, waits_on: bool) -> None:
    gpu = GpuMoves(0)
    gpu.take(sample(100.0), 10.0, IDLE_W)
    gpu.take(sample(0.0), 10.0 + interrupted_s, IDLE_W)
    gpu.take(sample(100.0), 20.0, IDLE_W)
    assert gpu.waiting_since_s == (10.0 if waits_on else 20.0)


@pytest.mark.parametrize(("held_mib", "idle_w"), [(0.0, None), (200.0, None), (1306.0, IDLE_W)])
def test_idle_power_is_that_of_a_gpu_with_a_context(held_mib: float, idle_w: float | None) -> None:
    gpu = GpuMoves(0)
    gpu.take(sample(0.0, held_mib), 10.0, None)
    assert gpu.idle_w == idle_w
