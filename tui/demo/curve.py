"""The recorded curve of two GPUs, read for all GPUs of the simulated host."""

import json
from bisect import bisect_right
from functools import cache
from importlib.resources import files
from typing import cast

from tui.demo.scenario import ScenarioFault

Figures = list[float]
"""Used MiB, GPU %, memory %, W, SM MHz, memory MHz, °C, event reasons."""
Activity = list[float]
"""By GPM: SM %, tensor %, DRAM %, MiB/s received over NVLink."""
UNUSED_S = 1.0
"""Here every recording's GPUs are as they are without a process."""


class Curve:
    """The samples of a recording's two GPUs, while loading, idle after it, and while generating."""

    def __init__(self, name: str = "gpus.json") -> None:
        try:
            text = files("tui.demo").joinpath("data", name).read_text("utf-8")
        except FileNotFoundError:
            raise ScenarioFault(f"the demo has no curve named {name}") from None
        data = cast("dict[str, list[list[object]]]", json.loads(text))
        self._times_s = [cast("float", row[0]) for row in data["load"]]
        self._load = [cast("list[Figures]", row[1:]) for row in data["load"]]
        self._idle = cast("list[list[Figures]]", data["idle"])
        self._busy = cast("list[list[Figures]]", data["busy"])
        activity = data.get("gpm", [])
        self._activity_s = [cast("float", row[0]) for row in activity]
        self._activity = [cast("list[Activity]", row[1:]) for row in activity]
        self._activity_busy = cast("list[list[Activity]]", data.get("gpm_busy", []))
        self._gone = cast("list[list[Figures]]", data.get("gone", [self._at(UNUSED_S)]))

    def figures(self, recorded_s: float, index: int, *, busy: bool = False) -> Figures:
        """Return the figures of one GPU at a second of the recording; of a copied one set a little apart."""
        if busy:
            pair = self._busy[int(recorded_s) % len(self._busy)]
        elif recorded_s >= self._times_s[-1]:
            pair = self._idle[int(recorded_s) % len(self._idle)]
        else:
            pair = self._at(recorded_s)
        return _apart(pair[index % 2], index)

    def activity(self, recorded_s: float, index: int, *, busy: bool = False) -> Activity | None:
        """Return what the parts of one GPU do at a second of the recording, None where it does not tell."""
        if not self._activity:
            return None
        if busy and self._activity_busy:
            return self._activity_busy[int(recorded_s) % len(self._activity_busy)][index % 2]
        return self._activity[max(0, bisect_right(self._activity_s, recorded_s) - 1)][index % 2]

    def gone(self, index: int) -> Figures:
        """Return the figures of one GPU whose process has gone: unused, but for what others hold."""
        return _apart(self._gone[0][index % 2], index)

    def _at(self, recorded_s: float) -> list[Figures]:
        return self._load[max(0, bisect_right(self._times_s, recorded_s) - 1)]


@cache
def curve(name: str) -> Curve:
    """Return a curve of the package, read once. Raises ScenarioFault where there is none."""
    return Curve(name)


def _apart(row: Figures, index: int) -> Figures:
    """Set a copied GPU a few watts and a degree or two apart, as the eight of one host are."""
    copy = index // 2
    apart = list(row)
    apart[3] = round(row[3] + 2.1 * copy, 1)
    apart[6] = row[6] + copy
    return apart
