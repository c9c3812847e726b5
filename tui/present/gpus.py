"""GPU rows."""

from tui.present.figures import rounded, sum_text
from tui.watch.gpus import Gpu
from tui.watch.meaning import Meaning
from widgets.values import GpuPanel, GpuRow, Mood

HISTORY_SHOWN = 80
"""Readings that any row has room for at a usual width; a longer history would only be compared and cut."""


def gpu_panel(state: Meaning, width: int | None, *, stale: bool) -> GpuPanel:
    """Return all rows, or the sentence why there is none."""
    shown = max(HISTORY_SHOWN, width or 0)
    driver = state.driver
    alarm = driver.sentence if driver is not None and driver.state != "ok" else ""
    rows = tuple(_row(gpu, shown, stale or bool(alarm)) for gpu in state.gpus.in_order())
    if not rows:
        return GpuPanel((), sentence=_no_rows(state))
    return GpuPanel(rows, caption=_caption(state, rows), alarm=alarm)


def _row(gpu: Gpu, shown: int, stale: bool) -> GpuRow:
    sample, fact, detail = gpu.sample, gpu.fact, gpu.detail
    note, mood = _note(gpu)
    total = sample.memory_total_mib if sample is not None else None
    if total is None and fact is not None:
        total = fact.memory_total_mib
    return GpuRow(
        index=gpu.index,
        name=_short_name(fact.name) if fact is not None else None,
        memory_used_mib=rounded(sample.memory_used_mib) if sample is not None else None,
        memory_total_mib=rounded(total),
        slope_gib_s=rounded(gpu.slope_gib_s, 2),
        utilisation_pct=rounded(sample.utilisation_pct) if sample is not None else None,
        history=tuple(gpu.history)[-shown:],
        power_w=rounded(sample.power_w) if sample is not None else None,
        power_limit_w=rounded(fact.power_limit_w) if fact is not None else None,
        temperature_c=rounded(detail.temperature_c) if detail is not None else None,
        note=note,
        mood=mood,
        stale=stale,
    )


def _note(gpu: Gpu) -> tuple[str, Mood]:
    if gpu.sample is None:
        return "no reading yet", Mood.WAITING
    match gpu.sample.state:
        case "ok":
            return "", Mood.IDLE
        case "lost":
            return gpu.sample.sentence or "lost", Mood.BAD
        case "error":
            return gpu.sample.sentence or "cannot be read", Mood.WARNING


def _short_name(name: str | None) -> str | None:
    return None if name is None else name.removeprefix("NVIDIA ")


def _no_rows(state: Meaning) -> str:
    if state.driver is not None and state.driver.state != "ok":
        return state.driver.sentence
    if state.driver is not None:
        return "the driver shows no GPU"
    if state.without_agent:
        return "a URL alone is watched: its host's GPUs are not seen"
    return "no GPU reading yet"


def _caption(state: Meaning, rows: tuple[GpuRow, ...]) -> str:
    used = [row.memory_used_mib for row in rows if row.memory_used_mib is not None]
    total = [row.memory_total_mib for row in rows if row.memory_total_mib is not None]
    words = [sum_text(sum(used), sum(total))] if used and total else []
    driver = state.driver
    if driver is not None and driver.state == "ok" and driver.version:
        words.append(f"driver {driver.version}")
    return " · ".join(words)
