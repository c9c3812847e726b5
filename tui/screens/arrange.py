"""Where each pane of the main screen goes, for every size of terminal. Pure."""

from dataclasses import dataclass

Box = tuple[int, int, int, int]

WIDE_CELLS = 180
ROOMY_ROWS = 30
_LADDER_FULL = 6
_LADDER_SHORT = 3
_GPUS_AT_ONCE = 8
_LOG_FOLDED = 3
_LOG_GOOD = 9
_NOTES_ROWS = 6
_TINY_ROWS = 16
_REASON_ROWS = 7
_VERDICT_LEAST = 6
_VERDICT_ADVISES = 20
"""What to type next has a row on 80x24 too: a replay there leaves 20 rows."""
_LANES_LEAST = 3
_HOSTS_LEAST = 4
_LOG_BESIDE_LANES = 12


@dataclass(frozen=True, slots=True)
class Wants:
    """What decides over the room: rows wanted, and which pane the person looks at.

    ``phases``, ``bench`` and ``verdict`` are the rows of the phases, of the whole benchmark and of all that
    speaks for the verdict, 0 while there are none; ``lanes`` counts the ranks. ``lead`` is the pane focused
    last, ``replay`` whether a line says where a replay stands, ``hosts`` the rows of all that are
    watched and of their loads, 0 for one.
    """

    gpus: int = 1
    phases: int = 0
    bench: int = 0
    verdict: int = 0
    lanes: int = 0
    replay: bool = False
    hosts: int = 0
    lead: str = "log"
    zoomed: str | None = None


def arrange(width: int, height: int, wants: Wants) -> dict[str, Box]:
    """Return x, y, width and height of each pane that has room."""
    boxes: dict[str, Box] = {"header": (0, 0, width, 1)}
    below = min(max(height - 3, 0), 2)
    body = height - 1 - below
    if below:
        boxes["status"] = (0, height - below, width, 1)
    if below == 2:
        boxes["footer"] = (0, height - 1, width, 1)
    top = 1
    if wants.replay and body >= 4:
        boxes["replay"] = (0, 1, width, 1)
        top, body = 2, body - 1
    hosts = _host_rows(body, wants)
    if hosts:
        boxes["hosts"] = (0, top, width, hosts)
        top, body = top + hosts, body - hosts
    if wants.zoomed is not None:
        return boxes | _stack([(wants.zoomed, body)], 0, top, width)
    verdict = min(wants.verdict, _verdict_rows(body))
    if verdict:
        boxes["verdict"] = (0, top, width, verdict)
    top, body = top + verdict, body - verdict
    phases = min(wants.phases, _phase_rows(body))
    if phases:
        boxes["phases"] = (0, top, width, phases)
    top, body = top + phases, body - phases
    if width >= WIDE_CELLS and body >= 20:
        return boxes | _two_columns(width, body, top, wants)
    return boxes | _stack(_one_column(body, wants), 0, top, width)


def _host_rows(body: int, wants: Wants) -> int:
    """Return a row for each host under their heads where the panes keep enough, else one line of tabs."""
    if not wants.hosts or body < _HOSTS_LEAST:
        return 0
    whole = wants.hosts + 1
    return whole if wants.zoomed is None and body - whole >= ROOMY_ROWS else 1


def _phase_rows(body: int) -> int:
    """Return how many rows the phases may have: a small screen keeps its room for GPUs and log."""
    if body < _TINY_ROWS:
        return 1 if body >= 8 else 0
    # Two while it loads; the reason of a failure may take what the log can spare.
    return 2 if body < 20 else min(2 + (body - 16) // 2, _REASON_ROWS)


def _verdict_rows(body: int) -> int:
    """Return how many rows the verdict may have: its sentence, what to do, then what shows it."""
    if body < _VERDICT_LEAST:
        return 0
    return 1 if body < _VERDICT_ADVISES else 2 if body < ROOMY_ROWS else 3


def _stack(rows: list[tuple[str, int]], x: int, y: int, width: int) -> dict[str, Box]:
    boxes: dict[str, Box] = {}
    for name, height in rows:
        if height > 0:
            boxes[name] = (x, y, width, height)
            y += height
    return boxes


def _two_columns(width: int, body: int, top: int, wants: Wants) -> dict[str, Box]:
    left = width // 2 - 1
    ladder = _LADDER_FULL
    bench = max(wants.bench, 1) + 1
    gpus = min(wants.gpus + 3, body - ladder - min(bench, 6))
    bench = min(bench, body - ladder - gpus)
    notes = body - ladder - gpus - bench
    lanes = min(_lane_rows(wants), max(notes - _LANES_LEAST, 0))
    rows = [("gpus", gpus), ("lanes", lanes), ("ladder", ladder), ("bench", bench), ("notes", notes - lanes)]
    return _stack(rows, 0, top, left) | _stack([("log", body)], left + 2, top, width - left - 2)


def _one_column(body: int, wants: Wants) -> list[tuple[str, int]]:
    if body < _TINY_ROWS - 2:
        return _tiny(body, wants)
    roomy = body >= ROOMY_ROWS
    gpus, ladder = _upper(body, wants, roomy)
    flexible = body - gpus - ladder
    lanes = _lanes(flexible, wants, roomy)
    log, bench, notes = _shares(flexible - lanes, wants, roomy)
    lower = [("log", log), ("bench", bench), ("notes", notes)]
    return [("gpus", gpus), ("lanes", lanes), ("ladder", ladder), *lower]


def _lane_rows(wants: Wants) -> int:
    """Return the rows of all ranks with their heads; of a pane that is looked at at least two."""
    return wants.lanes + 1 if wants.lanes else 2 * (wants.lead == "lanes")


def _lanes(rows: int, wants: Wants, roomy: bool) -> int:
    """Return the rows of the ranks: all where the log stays long, else what there is when looked at."""
    wanted, folded = _lane_rows(wants), 1 if wants.bench or roomy else 0
    if wants.lead == "lanes":
        return min(wanted, rows - folded - _LOG_FOLDED)
    return wanted if roomy and rows - wanted - max(wants.bench, folded) >= _LOG_BESIDE_LANES else 0


def _upper(body: int, wants: Wants, roomy: bool) -> tuple[int, int]:
    if roomy:
        most = max(_GPUS_AT_ONCE, body - _LADDER_FULL - 2 - 2 * _LOG_GOOD)
        return min(wants.gpus, most) + 2, _LADDER_FULL
    gpus = min(wants.gpus, _GPUS_AT_ONCE, body - _LADDER_SHORT - 1 - _LOG_FOLDED) + 1
    left = body - gpus
    wanted = {"bench": wants.bench, "lanes": _lane_rows(wants)}.get(wants.lead, 0)
    if left - _LADDER_SHORT - _LOG_FOLDED < wanted:
        return gpus, 1
    return gpus, _LADDER_FULL if left - _LADDER_FULL >= _LOG_GOOD else _LADDER_SHORT


def _shares(rows: int, wants: Wants, roomy: bool) -> tuple[int, int, int]:
    """Share rows between log, benchmark and notes: the one that is looked at gets what it needs."""
    folded = 1 if wants.bench or roomy else 0
    if wants.lead == "bench":
        bench = min(max(wants.bench, 1), rows - (_LOG_FOLDED if roomy else _LOG_FOLDED - 1))
        return rows - bench, bench, 0
    if wants.lead == "notes":
        notes = min(_NOTES_ROWS, max(rows - folded - _LOG_FOLDED, 1))
        return rows - folded - notes, folded, notes
    bench = wants.bench if rows - wants.bench >= _LOG_GOOD + 1 else folded
    bench = max(bench, folded)
    notes = 4 if rows - bench >= 2 * _LOG_GOOD else 0
    return rows - bench - notes, bench, notes


def _tiny(body: int, wants: Wants) -> list[tuple[str, int]]:
    """Return one line of GPU bars, one of readiness, and the log, or the pane that is looked at."""
    if body < 4:
        return [("log", body)]
    lower = wants.lead if wants.lead in ("bench", "notes", "lanes") else "log"
    if wants.lead == "gpus" and body >= 8:
        gpus = min(wants.gpus + 1, body - 1 - _LOG_FOLDED)
        return [("gpus", gpus), ("ladder", 1), ("log", body - gpus - 1)]
    if wants.lead == "ladder" and body >= 8:
        return [("gpus", 1), ("ladder", _LADDER_SHORT), ("log", body - 1 - _LADDER_SHORT)]
    return [("gpus", 1), ("ladder", 1), (lower, body - 2)]
