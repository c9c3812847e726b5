"""The simulated log as the agent tells of it: lines, the unfinished one at the end, the place in the file."""

from collections.abc import Iterator, Sequence

from tui.demo.clock import BEGAN_WALL_S, stamp
from tui.demo.processes import LOG_PATH
from tui.demo.scenario import Scenario
from tui.demo.script import Cue, filled
from tui.events import Log, LogSource

OPENED_S = 0.5
"""The agent follows the log from here on; what stands in it then comes at once."""
READ_S = 0.05
"""The agent reads what was written meanwhile this often at most."""


def source(t: float) -> LogSource:
    """Return where the log is read from."""
    sentence = f"reading {LOG_PATH} from the file's beginning"
    return LogSource(**stamp(t), path=LOG_PATH, state="open", sentence=sentence)


def logs(scenario: Scenario, cues: Sequence[Cue]) -> Iterator[tuple[float, Log]]:
    """Yield the log piece by piece, each with its second."""
    reader = Reader(scenario)
    waiting: list[Cue] = []
    for cue in cues:
        if waiting and cue.at_s >= _read_s(waiting[0]):
            yield reader.read(waiting)
            waiting = []
        waiting.append(cue)
    if waiting:
        yield reader.read(waiting)


class Reader:
    """Splits what is printed into lines; keeps the place and the unfinished line."""

    def __init__(self, scenario: Scenario) -> None:
        self._server = scenario.server
        self._offset = 0
        self._tail = ""

    def read(self, cues: Sequence[Cue]) -> tuple[float, Log]:
        """Return what these cues add, as it is read in one piece."""
        t = _read_s(cues[0])
        text = "".join(self._filled(cue) for cue in cues)
        self._offset += len(text.encode())
        lines, returns = self._split(text)
        log = Log(
            **stamp(t),
            lines=lines,
            tail=self._tail,
            returns=returns,
            path=LOG_PATH,
            device=1,
            inode=1,
            offset=self._offset,
        )
        return t, log

    def _filled(self, cue: Cue) -> str:
        return filled(cue.text, self._server.port, self._server.pid, BEGAN_WALL_S + cue.at_s)

    def _split(self, text: str) -> tuple[list[str], list[int]]:
        """Split at newlines, and at carriage returns where a bar is drawn anew."""
        whole = (self._tail + text).split("\n")
        lines: list[str] = []
        returns: list[int] = []
        for place, line in enumerate(whole):
            *drawn, last = line.split("\r")
            for each in drawn:
                if each:
                    returns.append(len(lines))
                    lines.append(each)
            if place == len(whole) - 1:
                self._tail = last
            else:
                lines.append(last)
        return lines, returns


def _read_s(first: Cue) -> float:
    return max(OPENED_S, first.at_s + READ_S)
