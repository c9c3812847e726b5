"""Python tracebacks in a log: whether one ends its process, and where it went through.

An exception that nobody caught begins, in the main thread, at ``<module>`` of the program or of the
spawned child's one-liner, at the runner of ``python -m`` or at multiprocessing's ``_bootstrap``: with it the
process is gone. A logged exception begins where it was caught, and the process lives on; so it does after one
of a thread, or one that Python ignores.
"""

import re
from dataclasses import dataclass
from typing import NamedTuple

import msgspec

from tui.engines.marks import NOBODY, FaultKind, FaultMark, Mark, MarkKind, Speaker, Weight
from tui.engines.phase import Phase

_BEGIN = "Traceback (most recent call last)"
_BEGINNINGS = (_BEGIN, "Exception Group " + _BEGIN)
_FRAME = re.compile(r'[ \t]+File "(?P<path>[^"]*)", line \d+(?:, in (?P<function>\S+))?')
_SOURCE = re.compile(r"[ \t]{2,}(?P<text>\S.*)")
# A group's traceback draws a margin: "  | ", and "  + " where it begins.
_GROUP = re.compile(r" {2,40}[|+] ")
# Source that holds the text of the exception: the raise statement, or a line of its string.
_QUOTES = re.compile(r"raise\b|[rf]{0,2}[\"']")
_OUTERMOST = frozenset(("<module>", "_run_module_as_main", "_bootstrap", "spawn_main"))
# What Python writes before the traceback of an exception with which the process goes on.
_HARMLESS = (
    "Exception ignored in",
    "Exception in thread",
    "Exception in callback",
    "Task exception was never",
)
# "/x/torch/cuda/__init__.py:174: UserWarning: CUDA initialization: …", and its source line after it.
_WARNED = re.compile(r"(?:.{0,300}?:\d{1,7}: |[^\w\"']{0,8})(?:\w{1,80}\.){0,8}\w{0,80}Warning: ")
_NOT_CAUGHT = "uncaught"

EXCEPTION = re.compile(
    r"(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Exit|Interrupt|Refused|Timeout|NotFound|Mismatch|Died|Group)"
    r"(?:\([\w.]{1,80}\))?(?:: |:?$)"
)
# At the end of a traceback any name can be an exception's: "queue.Empty", "zmq.error.Again: …".
_LAST = re.compile(r"(?:[A-Za-z_]\w*\.)*(?!(?:[A-Z_]+|Warning)\b)[A-Z]\w*(?:\([\w.]{1,80}\))?(?:: |:?$)")
_ASKED_FOR = re.compile(r"KeyboardInterrupt\b")
# Who cancels a task says why, before or after: by itself it did not fail.
_CANCELLED = re.compile(r"(?:[A-Za-z_]\w*\.)*CancelledError(?:: |:?$)")
_LIMIT = 512


class Traced(NamedTuple):
    """What a line is of a traceback. ``frame``: a frame or its source line, which ends nothing by itself.

    ``quoted``: source that may hold the exception's text. ``exception``: an exception's own line.
    ``uncaught``: the one that ended its process. ``speaker`` is who failed, where a line before said so.
    """

    frame: bool = False
    quoted: bool = False
    exception: bool = False
    uncaught: bool = False
    mark: Mark | None = None
    speaker: Speaker | None = None


_NOTHING = Traced()
_A_FRAME = Traced(frame=True)
_A_QUOTE = Traced(frame=True, quoted=True)


@dataclass(slots=True)
class _UnderWay:
    """A traceback under way: ``state`` is begun, uncaught or logged; ``owner`` is whose it is."""

    state: str
    owner: Speaker


class Tracebacks:
    """The tracebacks under way, one a process that writes."""

    def __init__(self, frames: tuple[tuple[Phase, frozenset[str]], ...]) -> None:
        self._phases = {function: phase for phase, functions in frames for function in functions}
        self._under_way: dict[Speaker, _UnderWay] = {}
        self._harmless = False
        self._warned = False

    def read(self, message: str, speaker: Speaker, *, raw: bool) -> Traced:
        """Take a message in; ``raw`` ones came without a logger's record, as uncaught exceptions do."""
        if raw and self._is_warning(message):
            return _A_FRAME
        if message[:1] in (" ", "\t"):
            margin = _GROUP.match(message)
            if margin is None:
                return self._indented(message, speaker)
            message = message[margin.end() :]
            if message[:1] == " ":
                return self._indented(message, speaker)
        if _BEGIN in message:
            return self._begun(message, speaker, raw=raw)
        if message.startswith(_HARMLESS):
            self._harmless = True
            return _NOTHING
        return self._last_line(message, speaker)

    def _is_warning(self, message: str) -> bool:
        """Whether Python's ``warnings`` wrote it: a warning, or the source line that follows one."""
        before, self._warned = self._warned, "Warning: " in message and _WARNED.match(message) is not None
        return self._warned or (before and message[:1] == " " and _FRAME.match(message) is None)

    def _begun(self, message: str, speaker: Speaker, *, raw: bool) -> Traced:
        own = raw and not self._harmless and message.removeprefix("^C").startswith(_BEGINNINGS)
        self._harmless = False
        self._open(speaker, _UnderWay("begun" if own else "logged", speaker))
        bare = self._under_way.get(NOBODY)
        if not raw and (bare is None or bare.state == "logged"):
            # What a record begins may go on without the record's prefix.
            self._open(NOBODY, _UnderWay("logged", speaker))
        return _NOTHING

    def _open(self, speaker: Speaker, traceback: _UnderWay) -> None:
        if len(self._under_way) >= _LIMIT and speaker not in self._under_way:
            for old in list(self._under_way)[: _LIMIT // 2]:
                del self._under_way[old]
        self._under_way[speaker] = traceback

    def _close(self, speaker: Speaker) -> None:
        del self._under_way[speaker]
        bare = self._under_way.get(NOBODY)
        if bare is not None and bare.owner == speaker:
            del self._under_way[NOBODY]

    def _last_line(self, message: str, speaker: Speaker) -> Traced:
        under_way = self._under_way.get(speaker)
        known = EXCEPTION.match(message)
        if known is None and (under_way is None or under_way.state == "begun" or not _LAST.match(message)):
            return _NOTHING
        cancelled, asked_for = _CANCELLED.match(message), _ASKED_FOR.match(message)
        if under_way is None:
            return _A_FRAME if cancelled or asked_for else Traced(exception=True)
        self._close(speaker)
        if cancelled:
            return _A_FRAME
        uncaught = under_way.state == _NOT_CAUGHT
        if asked_for:
            return Traced(frame=True, mark=Mark(MarkKind.SHUTDOWN, speaker) if uncaught else None)
        return Traced(exception=True, uncaught=uncaught, speaker=under_way.owner)

    def _indented(self, message: str, speaker: Speaker) -> Traced:
        found = _FRAME.match(message)
        under_way = self._under_way.get(speaker)
        if found is None:
            source = _SOURCE.match(message) if under_way is not None else None
            if source is None:
                return _NOTHING
            return _A_QUOTE if _QUOTES.match(source["text"]) else _A_FRAME
        function = found["function"]
        if function is None:
            return _A_FRAME  # a syntax error's own place
        if under_way is None:
            # Its top was cut off: it may have been caught.
            self._open(speaker, _UnderWay("logged", speaker))
        elif under_way.state == "begun":
            under_way.state = _NOT_CAUGHT if function in _OUTERMOST else "logged"
        phase = self._phases.get(function)
        if phase is None:
            return _A_FRAME
        who = speaker if under_way is None else under_way.owner
        return Traced(frame=True, mark=Mark(MarkKind.FRAME, who, phase))

    @staticmethod
    def unknown(uncaught: bool) -> FaultMark:
        """Return what an exception says that no fault row knows."""
        return FaultMark(
            FaultKind.UNKNOWN,
            Weight.ERROR,
            uncaught,
            "An exception that tminus does not know ended the load.",
            "Read the traceback above this line; its last frames say what was being done.",
            uncaught=uncaught,
        )


def quoted(fault: FaultMark) -> FaultMark:
    """Return what a fault counts for where only the source that raises it is seen."""
    known = fault.weight in (Weight.CAUSE, Weight.ERROR)
    return msgspec.structs.replace(fault, weight=Weight.QUOTED) if known else fault
