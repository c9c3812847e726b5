"""Python tracebacks in a log: whether one ends its process, and where it went through.

An exception that nobody caught begins, in the main thread, at ``<module>`` of the program or of the spawned
child's one-liner, or at multiprocessing's ``_bootstrap``: with it the process is gone. A logged exception begins
where it was caught, and the process lives on.
"""

import re
from typing import NamedTuple

from tui.engines.marks import FaultKind, FaultMark, Mark, MarkKind, Speaker, Weight
from tui.engines.phase import Phase

_BEGIN = "Traceback (most recent call last):"
_FRAME = re.compile(r'[ \t]+(?:\+ )?File "(?P<path>[^"]*)", line \d+, in (?P<function>\S+)')
_SOURCE = re.compile(r"[ \t]{2,}\S")
_OUTERMOST = frozenset(("<module>", "_bootstrap", "spawn_main"))
EXCEPTION = re.compile(
    r"(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Exit|Interrupt|Refused|Timeout|NotFound|Mismatch)(?:: |:?$)"
)
_LIMIT = 64


class Traced(NamedTuple):
    """What a line is of a traceback. ``frame``: a frame or its source line, which says nothing by itself.

    ``exception``: an exception's own line. ``uncaught``: the one that ended its process.
    """

    frame: bool = False
    exception: bool = False
    uncaught: bool = False
    mark: Mark | None = None


_NOTHING = Traced()
_A_FRAME = Traced(frame=True)


class Tracebacks:
    """The tracebacks under way, one a process that writes."""

    def __init__(self, frames: tuple[tuple[Phase, frozenset[str]], ...]) -> None:
        self._phases = {function: phase for phase, functions in frames for function in functions}
        self._under_way: dict[Speaker, str] = {}

    def read(self, message: str, speaker: Speaker, *, raw: bool) -> Traced:
        """Take a message in; ``raw`` ones came without a logger's record, as uncaught exceptions do."""
        if message[:1] in (" ", "\t"):
            return self._indented(message, speaker)
        if _BEGIN in message:
            if len(self._under_way) >= _LIMIT:
                self._under_way.clear()
            self._under_way[speaker] = "begun" if raw and message.startswith(_BEGIN) else "logged"
            return _NOTHING
        if not EXCEPTION.match(message):
            return _NOTHING
        return Traced(exception=True, uncaught=self._under_way.pop(speaker, "") == "uncaught")

    def _indented(self, message: str, speaker: Speaker) -> Traced:
        found = _FRAME.match(message)
        if found is None:
            return _A_FRAME if speaker in self._under_way and _SOURCE.match(message) else _NOTHING
        if self._under_way.get(speaker) == "begun":
            outermost = found["function"] in _OUTERMOST
            self._under_way[speaker] = "uncaught" if outermost else "logged"
        phase = self._phases.get(found["function"])
        if phase is None:
            return _A_FRAME
        return Traced(frame=True, mark=Mark(MarkKind.FRAME, speaker, phase))

    @staticmethod
    def unknown(terminal: bool) -> FaultMark:
        """Return what an exception says that no fault row knows."""
        return FaultMark(
            FaultKind.UNKNOWN,
            Weight.ERROR,
            terminal,
            "An exception that tminus does not know ended the load.",
            "Read the traceback above this line; its last frames say what was being done.",
        )
