"""Reading an engine's log: a cleaned line in, what it says out."""

import re
from collections.abc import Iterable

import msgspec

from tui.engines.base import Engine
from tui.engines.faults import COMMON_FAULTS
from tui.engines.header import BREAK, BREAK_WITHIN, LEVEL, OTHER_LOGGER, ranks_in, without_outer
from tui.engines.lines import BAR
from tui.engines.marks import NOBODY, FaultMark, Mark, MarkKind, Speaker
from tui.engines.rules import Rule, first_word
from tui.engines.tracebacks import Tracebacks, Traced, quoted
from tui.engines.values import fault_mark, mark_of

_LAYERS = 4
_FRAMES = frozenset("{│┃║")
# `docker logs -t` writes nine digits of a second, UTC.
_DOCKER_TIME = slice(29, 31)
_CALM = frozenset(("INFO", "DEBUG", "TRACE", "I", "D"))


class Heard(msgspec.Struct, frozen=True):
    """What one line says: its marks in the order of the text, its time as it is written, who wrote it."""

    marks: tuple[Mark, ...] = ()
    time: str | None = None
    speaker: Speaker = NOBODY


SILENCE = Heard()


class LineReader:
    """Reads the lines of one log by one engine's tables. It remembers only the tracebacks under way.

    A line is a bar, a record, or a record glued behind something else; container prefixes, JSON and frames are
    taken off first. A rule must match at the beginning of a message; a fault rule is searched in it.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._record = engine.header.record
        self._process = engine.header.process
        self._rules, self._anywhere = _index(rule for rule in engine.rules if not rule.bar)
        self._bars = [rule for rule in engine.rules if rule.bar]
        self._faults = (*engine.faults, *COMMON_FAULTS)
        self._hints = _shortest({hint for rule in self._faults for hint in rule.hints})
        self._tracebacks = Tracebacks(engine.frames)

    def read(self, line: str) -> Heard:
        """Return what a cleaned line says."""
        if line[:1] in _FRAMES or line[_DOCKER_TIME] == "Z ":
            line = _unframed(line)
        found = self._record.search(line)
        if found is not None:
            return self._recorded(line, found)
        layers = 0
        inner = without_outer(line)
        while inner is not None and layers < _LAYERS:
            found = self._record.search(inner)
            if found is not None:
                return self._recorded(inner, found)
            line, layers = inner, layers + 1
            inner = without_outer(line)
        return self._bare(line)

    def _recorded(self, line: str, found: re.Match[str]) -> Heard:
        end = found.end()
        groups = found.groupdict()
        level: str = groups.get("level") or ""
        head = line[:end]
        message = line[end:]
        if message[:1].isupper():
            uvicorn = LEVEL.match(message)
            if uvicorn is not None:
                level, message = uvicorn["level"], message[uvicorn.end() :]
        marks = self._bar_marks(_unwrapped(head), NOBODY) if "%" in head else ()
        rule = self._matching(message)
        calm = level in _CALM
        if rule is None and calm and self._bar_free(message):
            return Heard(marks, groups.get("time"))
        speaker = self.engine.header.speaker(head, found)
        if rule is not None:
            marks += (mark_of(rule[0], rule[1], speaker),)
        else:
            marks += self._unruled(message, speaker, calm=calm, raw=False)
        return Heard(marks, groups.get("time"), speaker)

    def _bare(self, line: str) -> Heard:
        """A line without the engine's record: a bar, native output, a traceback, another logger's line."""
        speaker = NOBODY
        level = ""
        if self._process is not None and "pid=" in line:
            prefix = self._process.match(line)
            if prefix is not None:
                speaker = self.engine.header.speaker(line, None)
                while prefix is not None:
                    line = line[prefix.end() :]
                    prefix = self._process.match(line)
        uvicorn = LEVEL.match(line) if line[:1].isupper() else None
        if uvicorn is not None:
            level, line = uvicorn["level"], line[uvicorn.end() :]
        rule = self._matching(line)
        if rule is not None:
            return Heard((mark_of(rule[0], rule[1], speaker),), None, speaker)
        if OTHER_LOGGER.match(line):
            other = self._other_logger(line)
            if other is not None:
                return other
        marks = self._unruled(line, speaker, calm=level in _CALM, raw=True)
        return Heard(marks, None, speaker) if marks or speaker is not NOBODY else SILENCE

    def _other_logger(self, line: str) -> Heard | None:
        """A line of a logger that was configured otherwise: its message begins behind some bracket or dash."""
        for pause in BREAK.finditer(line, 0, BREAK_WITHIN):
            rule = self._matching(line[pause.end() :])
            if rule is not None:
                ranks = ranks_in(line[: pause.end()])
                speaker = Speaker(rank=ranks, depth=2) if ranks else NOBODY
                return Heard((mark_of(rule[0], rule[1], speaker),), None, speaker)
        return None

    def _unruled(self, message: str, speaker: Speaker, *, calm: bool, raw: bool) -> tuple[Mark, ...]:
        marks = self._bar_marks(message, speaker) if "%" in message else ()
        if self.engine.access_hint in message and self.engine.access.search(message):
            return (*marks, Mark(MarkKind.ACCESS, speaker))
        traced = self._tracebacks.read(message, speaker, raw=raw)
        if traced.mark is not None:
            marks += (traced.mark,)
        if calm or (traced.frame and not traced.quoted) or not (traced.exception or self._hinted(message)):
            return marks
        fault = self._fault(message, traced)
        return (
            marks if fault is None else (*marks, Mark(MarkKind.FAULT, traced.speaker or speaker, fault=fault))
        )

    def _fault(self, message: str, traced: Traced) -> FaultMark | None:
        for rule in self._faults:
            if any(hint in message for hint in rule.hints):
                found = rule.pattern.search(message)
                if found is not None:
                    fault = fault_mark(rule, found, terminal=rule.terminal or traced.uncaught)
                    return quoted(fault) if traced.quoted else fault
        return self._tracebacks.unknown(traced.uncaught) if traced.exception else None

    def _hinted(self, message: str) -> bool:
        """Return whether a message may tell of a failure; False is certain."""
        # Half the time of a generator, for most lines of most logs.
        return any(map(message.__contains__, self._hints))

    def _bar_free(self, message: str) -> bool:
        return "%" not in message and self.engine.access_hint not in message

    def _bar_marks(self, text: str, speaker: Speaker) -> tuple[Mark, ...]:
        bar = None
        for bar in BAR.finditer(text):
            pass  # several drawings on one line: the last counts
        if bar is None:
            return ()
        for rule in self._bars:
            found = rule.pattern.match(bar["text"].strip())
            if found is not None:
                return (mark_of(rule, found, speaker, bar),)
        return ()

    def _matching(self, message: str) -> tuple[Rule, re.Match[str]] | None:
        for rule in self._rules.get(first_word(message), ()):
            found = rule.pattern.match(message)
            if found is not None:
                return rule, found
        for rule in self._anywhere:
            found = rule.pattern.match(message)
            if found is not None:
                return rule, found
        return None


def _unframed(line: str) -> str:
    """Return a line without frames, JSON and Docker's times, which an engine's record is not searched behind.

    Other prefixes stay: their time may be the engine's own.
    """
    for _ in range(_LAYERS):
        framed = line[:1] in _FRAMES or line[_DOCKER_TIME] == "Z "
        inner = without_outer(line) if framed else None
        if inner is None:
            break
        line = inner
    return line


def _unwrapped(line: str) -> str:
    """Return a line without what container front ends, JSON loggers and frames put around it."""
    for _ in range(_LAYERS):
        inner = without_outer(line)
        if inner is None:
            break
        line = inner
    return line


def _index(rules: Iterable[Rule]) -> tuple[dict[str, list[Rule]], list[Rule]]:
    """Order rules by the first word of what they match; those that do not tell it come second."""
    by_word: dict[str, list[Rule]] = {}
    anywhere: list[Rule] = []
    for rule in rules:
        for word in rule.words:
            by_word.setdefault(word, []).append(rule)
        if not rule.words:
            anywhere.append(rule)
    return by_word, anywhere


def _shortest(texts: set[str]) -> tuple[str, ...]:
    """Leave out every text that holds another one: where it stands, so does that one."""
    return tuple(text for text in sorted(texts) if not any(other in text for other in texts - {text}))
