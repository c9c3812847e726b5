"""Figures as they are written everywhere: GiB, milliseconds, rates."""


def gib(mib: float) -> str:
    """Return mebibytes as GiB with one decimal."""
    return f"{mib / 1024:.1f}"


def sum_text(used_mib: float, total_mib: float) -> str:
    """Return memory in use of all there is; in whole GiB from 100 on, so that it fits over a bar."""
    if total_mib < 100 * 1024:
        return f"{gib(used_mib)} of {gib(total_mib)} GiB"
    return f"{used_mib / 1024:.0f} of {total_mib / 1024:.0f} GiB"


def size_text(count: int) -> str:
    """Return bytes in the unit that fits: 812 B, 3.1 KiB, 12 MiB, 1.2 GiB."""
    value = float(count)
    for unit in ("B", "KiB", "MiB"):
        if value < 1024:
            return f"{value:.0f} {unit}" if value >= 10 or unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} GiB"


def latency_text(milliseconds: float | None) -> str:
    """Return a latency: 0.4 ms, 12 ms, 1.2 s; "" when there is none."""
    if milliseconds is None:
        return ""
    if milliseconds >= 1000:
        return f"{milliseconds / 1000:.1f} s"
    return f"{milliseconds:.1f} ms" if milliseconds < 10 else f"{milliseconds:.0f} ms"


def figure(value: float | None) -> str:
    """Return a measured value with three figures or so, "-" when it is not known."""
    if value is None:
        return "-"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 100 else f"{value:.2f}"


def rounded(value: float | None, digits: int = 0) -> float | None:
    """Return a value as precise as it is drawn, None as None, and never a negative zero."""
    return None if value is None else round(value, digits) + 0.0
