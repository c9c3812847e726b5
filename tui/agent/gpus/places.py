"""Which row a GPU belongs to when the driver was loaded anew and numbers its GPUs differently."""

from __future__ import annotations


def places(rows: list[str | None], found: list[str | None]) -> list[int | None]:
    """Return NVML's index for each row, None for a GPU that is gone; rows that are new come at the end.

    ``rows`` and ``found`` are UUIDs, None where a GPU could not be asked. A row keeps its GPU by UUID. A GPU
    without one goes to the row of its own index if that is free, else to the first free row, and a new GPU
    to a row whose GPU was never known, before it gets a row of its own.
    """
    seats: list[int | None] = [_index(found, uuid) for uuid in rows]
    left = [place for place in range(len(found)) if place not in seats]
    for place in sorted(left, key=lambda place: not _fits(rows, seats, place, found[place])):
        row = place if _fits(rows, seats, place, found[place]) else _free(rows, seats, found[place])
        if row is None:
            seats.append(place)
        else:
            seats[row] = place
    return seats


def _index(found: list[str | None], uuid: str | None) -> int | None:
    return found.index(uuid) if uuid is not None and uuid in found else None


def _fits(rows: list[str | None], seats: list[int | None], row: int, uuid: str | None) -> bool:
    return row < len(rows) and seats[row] is None and (rows[row] is None or uuid is None)


def _free(rows: list[str | None], seats: list[int | None], uuid: str | None) -> int | None:
    fitting = [row for row in range(len(rows)) if _fits(rows, seats, row, uuid)]
    return fitting[0] if fitting else None
