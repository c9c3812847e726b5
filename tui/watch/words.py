"""Durations and ages in words."""


def clock_text(seconds: float) -> str:
    """Return a duration as the clock shows it: 0:07, 3:07, 1:02:03, 2 d 3:04:05."""
    whole = max(0, int(seconds))
    days, rest = divmod(whole, 86_400)
    hours, rest = divmod(rest, 3600)
    minutes, left = divmod(rest, 60)
    short = f"{hours}:{minutes:02}:{left:02}" if hours or days else f"{minutes}:{left:02}"
    return f"{days} d {short}" if days else short


def age_text(seconds: float) -> str:
    """Return an age in one or two units, coarser with time: 7 s, 3 min, 2 h 10 min, 3 d."""
    whole = max(0, int(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min"
    if whole < 86_400:
        minutes = whole % 3600 // 60
        return f"{whole // 3600} h {minutes} min" if minutes else f"{whole // 3600} h"
    return f"{whole // 86_400} d"
