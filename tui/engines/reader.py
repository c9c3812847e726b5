"""Reading an engine's log: a cleaned line in, what it says out."""

import re

import msgspec

from tui.engines.base import Engine
from tui.engines.fault_index import FaultIndex
from tui.engines.faults import COMMON_FAULTS
from tui.engines.header import BREAK, BREAK_WITHIN, LEVEL, LEVELS, OTHER_LOGGER, Heads, ranks_in
from tui.engines.index import RuleIndex
from tui.engines.lines import UVICORN_ACCESS, Bar, last_bar
from tui.engines.marks import NOBODY, FaultMark, Mark, MarkKind, Speaker
from tui.engines.outer import without_outer
from tui.engines.rules import FaultRule, first_word
from tui.engines.tracebacks import Tracebacks, Traced, quoted
from tui.engines.values import fault_mark

_LAYERS = 4
# `docker logs -t` writes nine digits of a second, UTC. Of other times before a line one may be the engine's
# own.
_DOCKER_TIME = slice(29, 31)
_A_DOCKER_LINE = "2026-01-01T00:00:00.000000000Z  INFO x"
# So much of a longer message is searched for a failure, around each hint of one.
_AROUND = 1024
_CALM = frozenset(("INFO", "DEBUG", "TRACE", "I", "D"))
# uvicorn's line for a request, as it is nearly always: what is the log of a server that serves.
_REQUEST = r'[^\s"]{1,255} - "[A-Z]+ [^ "]+ HTTP/[\d.]+" \d{3}'
_PLAIN_REQUEST = re.compile(_REQUEST)
_BARE_REQUEST = re.compile(rf"((?:\([A-Za-z][\w-]*(?: \w+)? pid=\d{{1,10}}\) )*)INFO: +{_REQUEST}")
_A_REQUEST = '127.0.0.1:1 - "GET /x HTTP/1.1" 200 OK'
# What stands before a record that is quoted, not written.
_QUOTES = frozenset("\"'`\u201c\u2018\u00ab")


class Heard(msgspec.Struct, frozen=True):
    """What one line says: its marks in the order of the text, its time as it is written, who wrote it."""

    marks: tuple[Mark, ...] = ()
    time: str | None = None
    speaker: Speaker = NOBODY


SILENCE = Heard()


class LineReader:
    """Reads the lines of one log by one engine's tables. It remembers only the tracebacks under way.

    A line is a bar, a record, or a record glued behind something else; container prefixes, JSON and frames
    are taken off first. A rule must match at the beginning of a message; a fault rule is searched in it.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        # One look for the record and the first word of its message.
        record = engine.header.record
        search = re.compile(f"(?:{record.pattern})(?P<first_word>[^ =(:]*)", record.flags)
        self._search = search.search
        self._word = search.groupindex["first_word"]
        # Group 0, the whole match, where there is none of the name.
        self._time = search.groupindex.get("time", 0)
        self._level = search.groupindex.get("level", 0)
        self._may_be_docker = record.match(_A_DOCKER_LINE) is not None
        self._access = engine.access
        self._access_hint = engine.access_hint
        self._heads = Heads(engine.header)
        self._rules = RuleIndex(rule for rule in engine.rules if not rule.bar)
        self._bars = RuleIndex(rule for rule in engine.rules if rule.bar)
        # Where no row has a say on them, requests are known at once.
        self._requests = engine.access is UVICORN_ACCESS and self._rules.find(_A_REQUEST, NOBODY) is None
        self._faults = FaultIndex((*engine.faults, *COMMON_FAULTS))
        self._tracebacks = Tracebacks(engine.frames)

    def read(self, line: str) -> Heard:
        """Return what a cleaned line says."""
        found = self._search(line)
        if found is None or (self._may_be_docker and line[_DOCKER_TIME] == "Z "):
            return self._wrapped(line, found) if line else SILENCE
        speaker = self._heads.speaker(line, found)
        return self._wrapped(line, found) if speaker is None else self._recorded(line, found, speaker)

    def _wrapped(self, line: str, found: re.Match[str] | None) -> Heard:
        """A line that is no plain record: take off what is around it until one is found."""
        time, level = None, ""
        if found is None:
            if self._requests and self._access_hint in line:
                request = _BARE_REQUEST.match(line)
                if request is not None:
                    speaker, _ = self._heads.processes(request[1])
                    return Heard((Mark(MarkKind.ACCESS, speaker),), None, speaker)
            own = self._heads.own(line)
            if own is None:
                return SILENCE
            line = own
        for _ in range(_LAYERS):
            inner = without_outer(line)
            if inner is None:
                break
            line, time, level = inner.text, inner.time or time, inner.level or level
            if "\n" in line:
                return self._many(line.split("\n"), time, level)
            found = self._search(line)
            speaker = None if found is None else self._heads.speaker(line, found)
            if found is not None and speaker is not None:
                return self._recorded(line, found, speaker)
        return self._unwrapped(line, found, time, level)

    def _many(self, lines: list[str], time: str | None, level: str) -> Heard:
        """One JSON object that keeps several lines, as those of a traceback."""
        heard = [self._unwrapped(line, self._search(line), time, level) for line in lines]
        marks = tuple(mark for each in heard for mark in each.marks)
        return Heard(marks, heard[0].time, heard[0].speaker)

    def _unwrapped(self, line: str, found: re.Match[str] | None, time: str | None, level: str) -> Heard:
        while found is not None and found.start() and line[found.start() - 1] in _QUOTES:
            found = self._search(line, found.end())
        if found is not None:
            head = line[: found.start()]
            heard = self._recorded(line, found, self.engine.header.speaker(head, found))
            marks = self._bar_marks(last_bar(head), NOBODY) if "%" in head else ()
            return Heard((*marks, *heard.marks), heard.time, heard.speaker) if marks else heard
        return self._bare(line, time, level)

    def _recorded(self, line: str, found: re.Match[str], speaker: Speaker) -> Heard:
        word, level, time = found.group(self._word, self._level, self._time)
        message = line[found.end() - len(word) :]
        if not self._time:
            time = None
        if word in LEVELS:
            uvicorn = LEVEL.match(message)
            if uvicorn is not None:
                level, message = word, message[uvicorn.end() :]
                if self._requests and self._access_hint in message and _PLAIN_REQUEST.match(message):
                    return Heard((Mark(MarkKind.ACCESS, speaker),), time, speaker)
                word = first_word(message)
        mark = self._rules.mark(message, word, speaker)
        if mark is not None:
            return Heard((mark,), time, speaker)
        calm = level in _CALM
        if calm and "%" not in message and self._access_hint not in message:
            return Heard((), time, speaker)
        return Heard(self._unruled(message, speaker, calm=calm, raw=False), time, speaker)

    def _bare(self, line: str, time: str | None, level: str) -> Heard:
        """A line without the engine's record: a bar, native output, a traceback, another logger's line."""
        raw = not level
        speaker, length = self._heads.processes(line)
        line = line[length:]
        if not line or line.isspace():
            return Heard((), time, speaker) if time or speaker is not NOBODY else SILENCE
        if "%" in line:
            drawn = self._drawn(line, speaker, time, level)
            if drawn is not None:
                return drawn
        word = first_word(line)
        if word in LEVELS:
            uvicorn = LEVEL.match(line)
            if uvicorn is not None:
                level, line = word, line[uvicorn.end() :]
                word = first_word(line)
        mark = self._rules.mark(line, word, speaker)
        if mark is not None:
            return Heard((mark,), time, speaker)
        if OTHER_LOGGER.match(line):
            other = self._other_logger(line, time)
            if other is not None:
                return other
        marks = self._unruled(line, speaker, calm=level in _CALM, raw=raw)
        return Heard(marks, time, speaker) if marks or time or speaker is not NOBODY else SILENCE

    def _drawn(self, line: str, speaker: Speaker, time: str | None, level: str) -> Heard | None:
        """A bar, with what is glued behind it; None where no row knows it and it is all there is."""
        bar = last_bar(line)
        if bar is None:
            return None
        marks = self._bar_marks(bar, speaker)
        rest = line[bar.end :].lstrip()
        if not rest:
            return Heard(marks, time, speaker) if marks else None
        behind = self._bare(rest, time, level)
        return Heard((*marks, *behind.marks), time, speaker if behind.speaker is NOBODY else behind.speaker)

    def _other_logger(self, line: str, time: str | None) -> Heard | None:
        """A line of a logger configured otherwise: its message begins behind some bracket or dash."""
        for pause in BREAK.finditer(line, 0, BREAK_WITHIN):
            message = line[pause.end() :]
            # Who speaks is looked for once a row matches: few do.
            if self._rules.find(message, NOBODY) is not None:
                ranks = ranks_in(line[: pause.end()])
                speaker = Speaker(rank=ranks, depth=2) if ranks else NOBODY
                mark = self._rules.find(message, speaker)
                return Heard((mark,) if mark is not None else (), time, speaker)
        return None

    def _unruled(self, message: str, speaker: Speaker, *, calm: bool, raw: bool) -> tuple[Mark, ...]:
        marks: tuple[Mark, ...] = ()
        if "%" in message:
            bar = last_bar(message)
            if bar is not None:
                marks = self._bar_marks(bar, speaker)
                message = message[bar.end :]
                if not message or message.isspace():
                    return marks
        if self._access_hint in message and self._is_access(message):
            return (*marks, Mark(MarkKind.ACCESS, speaker))
        traced = self._tracebacks.read(message, speaker, raw=raw)
        if traced.mark is not None:
            marks += (traced.mark,)
        if calm or (traced.frame and not traced.quoted):
            return marks
        fault = self._fault(message, traced)
        return (
            marks if fault is None else (*marks, Mark(MarkKind.FAULT, traced.speaker or speaker, fault=fault))
        )

    def _is_access(self, message: str) -> bool:
        return self._access.match(message) is not None or self._access.search(message) is not None

    def _fault(self, message: str, traced: Traced) -> FaultMark | None:
        for rule in self._faults.candidates(message):
            found = _searched(rule, message)
            if found is not None:
                fault = fault_mark(rule, found, uncaught=traced.uncaught)
                return quoted(fault) if traced.quoted else fault
        return self._tracebacks.unknown(traced.uncaught) if traced.exception else None

    def _bar_marks(self, bar: Bar | None, speaker: Speaker) -> tuple[Mark, ...]:
        mark = None if bar is None else self._bars.mark(bar.text, first_word(bar.text), speaker, bar)
        return () if mark is None else (mark,)


def _searched(rule: FaultRule, message: str) -> re.Match[str] | None:
    """Search a message for a failure, a long one only around the first of each hint: time stays linear."""
    if len(message) <= 2 * _AROUND:
        return rule.pattern.search(message)
    for hint in rule.hints:
        place = message.find(hint)
        if place >= 0:
            found = rule.pattern.search(message, max(place - _AROUND, 0), place + _AROUND)
            if found is not None:
                return found
    return None
