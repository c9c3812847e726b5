"""The H200 recorder's files as a watch: what was asked, and the events that a live watch would have had.

Both of the host's clocks are the file's own ``t``, seconds since the server was started. The recorder asked
for no completion: SGLang generates a token for each answer of 200 to /health, so that counts as the token;
of other engines that answer counts as ready, and both are said. The wall clock is taken from the launch or
from a model list's ``created``; without either it counts from 1970.
"""

import heapq
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
from msgspec.structs import replace

from tui.agent import wire
from tui.events import AnyEvent, Gap, Hello, Link, Log, LogSource, Notice, Tick
from tui.journal.h200_answers import MODELS, AnswerReader
from tui.journal.h200_gpus import GpuReader
from tui.journal.h200_processes import ProcessReader
from tui.journal.h200_records import (
    FILES,
    AnyRecord,
    Cut,
    Environ,
    GpuRecord,
    HttpRecord,
    Launch,
    LogRecord,
    ProcessRecord,
    ServerExit,
    Tcp,
    read_records,
)
from tui.journal.h200_signals import SignalReader
from tui.journal.header import Asked
from tui.journal.reader import RecordingFault
from tui.transport.clean import LineSplitter, clean

LOG = "server.log"
HOST = "recorded"
SHORT_S = 10.0
"""A stream that ends so long before the others is said to be cut."""
_SERVED = re.compile(r"--served-model-name[= ]([^\s;&|]+)")
_PORT = re.compile(r"--port[= ](\d{1,5})\b")
_STREAMS: dict[type[AnyRecord], str] = {
    GpuRecord: "GPU readings",
    ProcessRecord: "processes",
    LogRecord: "the log",
    HttpRecord: "answers of the port",
}


@dataclass(slots=True)
class Facts:
    """What a first pass finds: who was started, what the streams hold, and what stands late in the file.

    ``ends`` is the last time of each stream, ``lines`` whole command lines by pid.
    """

    launch: Launch
    began_wall_s: float = 0.0
    memory_total_mib: int | None = None
    port: int | None = None
    code_s: float | None = None
    ends: dict[str, float] = field(default_factory=dict[str, float])
    lines: dict[int, str] = field(default_factory=dict[int, str])

    @property
    def command(self) -> str:
        """The server's command line, its own where a shell was started."""
        return self.lines.get(self.launch.pid) or " ".join(self.launch.cmd)

    @property
    def missing(self) -> str:
        """What the file lacks, in a sentence; "" for nothing."""
        length_s = max(self.ends.values(), default=0.0)
        lacks = [words for words in _STREAMS.values() if words not in self.ends]
        short = [
            f"{words} end at {end_s:.0f} s"
            for words, end_s in self.ends.items()
            if words not in ("", _STREAMS[LogRecord]) and length_s - end_s > SHORT_S
        ]
        parts = ([f"the file holds nothing of: {', '.join(lacks)}"] if lacks else []) + short
        if _STREAMS[LogRecord] in lacks:
            parts.append(f"a {LOG} beside it is not read, since nothing tells when its lines were printed")
        return "; ".join(parts)

    def take(self, record: AnyRecord) -> None:
        """Note one record of the first pass."""
        self.ends[_STREAMS.get(type(record), "")] = record.t
        match record:
            case ProcessRecord() if self.memory_total_mib is None and record.mem is not None:
                self.memory_total_mib = record.mem.get("MemTotal")
            case Environ() if record.title is not None:
                self.lines.setdefault(record.pid, clean(record.title))
            case ServerExit():
                self.code_s = record.t
            case Tcp():
                self.port = record.port
            case HttpRecord() if not self.began_wall_s and record.p == MODELS and record.st == 200:
                created = _created(record.body)
                self.began_wall_s = 0.0 if created is None else created - record.t - record.ms / 1000.0
            case _:
                pass


class _Models(msgspec.Struct):
    data: list[dict[str, object]]


def _created(body: str | None) -> float | None:
    """Return when a model list was made (both engines make it anew for each answer)."""
    try:
        models = msgspec.json.decode(body or "", type=_Models)
    except (msgspec.MsgspecError, UnicodeEncodeError):
        return None
    created = models.data[0].get("created") if models.data else None
    return float(created) if isinstance(created, int) else None


class H200Recording:
    """One file of the recorder. ``events`` reads it anew at each call, without holding it in memory.

    ``asked`` names the served model and what counts as ready. Raises RecordingFault for a file without the
    start of a server.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = path.parent.name if path.name in FILES else path.name
        self.facts = _facts(path)
        served = _SERVED.search(self.facts.command)
        self.asked = Asked(
            log_path=LOG if _STREAMS[LogRecord] in self.facts.ends else None,
            model=None if served is None else clean(served[1]),
            ready_on="token" if self.generates else "health",
        )

    @property
    def generates(self) -> bool:
        """Whether the engine generates a token for an answer of its /health."""
        return self.facts.launch.engine == "sglang"

    def events(self) -> Iterator[AnyEvent]:
        """Iterate over the events in the order of their times."""
        return _Story(self).events()


def _facts(path: Path) -> Facts:
    facts: Facts | None = None
    for record in read_records(path):
        if facts is None and isinstance(record, Launch):
            facts = Facts(record, began_wall_s=record.wall or 0.0)
        if facts is not None:
            facts.take(record)
    if facts is None:
        raise RecordingFault(f"{path} does not tell of a server's start: it has no launch event")
    return facts


class _Story:
    """One pass: records in, events out, each as it was known by then."""

    def __init__(self, recording: H200Recording) -> None:
        facts = recording.facts
        self._recording = recording
        self._facts = facts
        found = _PORT.search(facts.command)
        port = facts.port if facts.port is not None else int(found[1]) if found else None
        url = "http://127.0.0.1" + ("" if port is None else f":{port}")
        model, generates = recording.asked.model, recording.generates
        self._answers = AnswerReader(url, model, generates=generates)
        self._gpus = GpuReader(facts.launch)
        self._processes = ProcessReader(facts.launch, facts.lines, facts.code_s)
        self._signals = SignalReader(facts.launch)
        self._splitter = LineSplitter()
        self._log_end = 0
        self._waiting: list[tuple[float, int, AnyEvent]] = []
        self._number = 0
        self._tick_s = 1.0
        self._last_s = 0.0

    def events(self) -> Iterator[AnyEvent]:
        """Iterate over the events: an answer comes when it was there, a tick once a second."""
        for event in self._opening():
            self._later(event)
        for record in read_records(self._recording.path):
            self._last_s = max(self._last_s, record.t)
            yield from self._until(self._last_s)
            for event in self._told(record):
                self._later(event)
        self._last_s = max(self._last_s, max((each[0] for each in self._waiting), default=0.0))
        yield from self._until(self._last_s, last=True)

    def _later(self, event: AnyEvent) -> None:
        self._number += 1
        heapq.heappush(self._waiting, (event.mono_s, self._number, event))

    def _until(self, t: float, *, last: bool = False) -> Iterator[AnyEvent]:
        """Give what is due before a time, and the ticks between; at the end what is due then too."""
        while self._waiting and (self._waiting[0][0] < t or last):
            yield from self._ticks(self._waiting[0][0])
            yield self._stamped(heapq.heappop(self._waiting)[2])
        yield from self._ticks(t)

    def _ticks(self, t: float) -> Iterator[AnyEvent]:
        while self._tick_s <= t:
            yield self._stamped(Tick(mono_s=self._tick_s, wall_s=0.0))
            self._tick_s += 1.0

    def _stamped(self, event: AnyEvent) -> AnyEvent:
        t = event.mono_s
        return replace(event, wall_s=self._facts.began_wall_s + t, client_s=t)

    def _told(self, record: AnyRecord) -> Iterator[AnyEvent]:
        match record:
            case GpuRecord():
                yield from self._gpus.take(record)
            case ProcessRecord():
                yield from self._processes.take(record)
                yield from self._signals.take(record)
            case LogRecord():
                yield from self._log(record)
            case HttpRecord():
                yield from self._answers.http(record)
            case Tcp():
                yield from self._answers.tcp(record)
            case Environ():
                self._processes.environ(record)
            case ServerExit():
                yield from self._processes.exited(record)
            case Cut():
                yield _notice(record.t, "warning", record.sentence)
            case Launch():
                if _STREAMS[ProcessRecord] not in self._facts.ends:
                    yield self._processes.launched(record.t)
                yield self._log_source(record.t)

    def _log_source(self, t: float) -> LogSource:
        there = self._recording.asked.log_path is not None
        sentence = "" if there else "the file holds no log with times: what was printed when is not known"
        path = LOG if there else None
        return LogSource(mono_s=t, wall_s=t, path=path, state="open" if there else "none", sentence=sentence)

    def _log(self, record: LogRecord) -> Iterator[AnyEvent]:
        t, lost = record.t, record.off - self._log_end
        if lost > 0:
            sentence = f"{lost} bytes of the log are not in the recording"
            yield Gap(mono_s=t, wall_s=t, path=LOG, lost_bytes=lost, why="unknown", sentence=sentence)
        split = self._splitter.feed(record.s.encode("utf-8", "replace"), lost != 0)
        self._log_end = record.off + record.n
        yield Log(
            mono_s=t,
            wall_s=t,
            lines=split.lines,
            tail=split.tail,
            returns=split.returns,
            path=LOG,
            device=0,
            inode=0,
            offset=self._log_end,
        )

    def _opening(self) -> Iterator[AnyEvent]:
        yield Hello(
            mono_s=0.0,
            wall_s=0.0,
            protocol=wire.PROTOCOL,
            host=HOST,
            user="root",
            uid=0,
            pid=0,
            boot_id="",
            python="unknown",
            kernel="",
            cpu_count=None,
            memory_total_mib=self._facts.memory_total_mib,
        )
        yield Link(mono_s=0.0, wall_s=0.0, state="up", sentence=f"recording {self._recording.name}")
        yield _notice(0.0, "info", self._about())
        if self._facts.missing:
            yield _notice(0.0, "warning", self._facts.missing)

    def _about(self) -> str:
        counts = (
            "SGLang generates a token for its /health, so that its 200 counts as the first token"
            if self._recording.generates
            else "its /health answering 200 counts as ready"
        )
        return f"a file of the H200 recorder: no completion was asked for, {counts}"


def _notice(t: float, level: str, sentence: str) -> Notice:
    said = "warning" if level == "warning" else "info"
    return Notice(mono_s=t, wall_s=t, level=said, about="recording", sentence=clean(sentence))
