"""What is looked up in the signals of a H200 recording, for tests."""

from collections.abc import Sequence

from tui.events import AnyEvent, GpuDetail, GpuDetails, Signals
from tui.signals import CompilerSignals, ProcessSignals


def signals(events: Sequence[AnyEvent], after_s: float = 0.0, until_s: float = 1e9) -> list[Signals]:
    return [each for each in events if isinstance(each, Signals) and after_s <= each.mono_s <= until_s]


def of(found: Sequence[Signals], pid: int) -> list[ProcessSignals]:
    """Return the readings of one process."""
    return [each for one in found for each in one.processes if each.pid == pid]


def compilers(found: Sequence[Signals], pid: int) -> list[CompilerSignals]:
    return [each for one in found for each in one.compilers if each.pid == pid]


def details(events: Sequence[AnyEvent], after_s: float, until_s: float) -> list[list[GpuDetail]]:
    between = (each for each in events if after_s <= each.mono_s <= until_s)
    return [each.gpus for each in between if isinstance(each, GpuDetails)]
