"""The GPUs of a host by its nvidia-smi: rows of text in, events out. Never two of it at once."""

import math
import re
from collections.abc import Iterator
from typing import Literal

from tui.events import AnyEvent, GpuDetails, GpuDriver, GpuFact, GpuFacts, Gpus, GpuSample, Notice
from tui.transport.clean import clean
from tui.transport.faults import sentence_of
from tui.transport.plain_shell import smi_words
from tui.transport.plain_shell.clock import Moment
from tui.transport.smi_row import NAMES, Row, row_detail, row_fact, row_sample, told_lost, told_trouble

RETRY_S = 30.0
"""A new nvidia-smi costs seconds of GPU start where persistence is off (remote.md 6)."""
DriverState = Literal["ok", "absent", "failed", "silent"]
_GONE_S = 5.0
_SHORTEST_NAME = 6
_NAME = re.compile(
    r"(?:GPU|MIG)-[0-9a-fA-F-]{4,60}|[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-9a-fA-F]"
)
FIRST_ROUND_S = 8.0
FIRST_QUIET_S = 2.0
"""The first round ends as its first GPU comes again, or after so long: in all, and without a row."""
_GPUS = 256
_CELL = 256
_TOLD = 256
"""After so many different texts there is nothing to be learned from another."""
_SAID = 300
_ASKED = ("index", "uuid", "bus_id", "name", "driver", "used", "reserved", "total", "utilisation")
_ASKED_MORE = (
    "memory_utilisation", "power", "limit", "temperature", "sm_clock", "memory_clock", "reasons", "ecc",
    "generation", "width", "generation_max", "width_max",
)  # fmt: skip
_LEAST = ("index", "uuid", "used", "total", "utilisation")
_TEXTS = ("index", "uuid", "bus_id", "name", "driver")


class SmiGpus:
    """What one nvidia-smi after another tells. Rows belong to a GPU by its UUID, else its bus id."""

    def __init__(self, interval_s: float) -> None:
        self._interval_ms = max(100, round(interval_s * 1000))
        self._refused: set[str] = set()
        self._least = False
        self._fields: dict[str, str] = {}
        self._running = False
        self._start_s: float | None = -math.inf
        self._begun_s = 0.0
        self._heard_s: float | None = None
        self._said = ""
        self._indexes: dict[str, int] = {}
        self._facts: dict[int, GpuFact] = {}
        self._round: dict[int, Row] = {}
        self._round_s = 0.0
        self._driver: tuple[str, str, str | None] | None = None
        self._odd: set[tuple[str, str]] = set()
        self._told: set[str] = set()
        self._silence_told_s = -math.inf
        self._seen_s: dict[int, float] = {}
        self._version: str | None = None

    def command(self, now_s: float) -> str | None:
        """Return what the shell is to start now (client's clock), None for nothing."""
        if self._running or self._start_s is None or now_s < self._start_s:
            return None
        self._running, self._begun_s, self._heard_s, self._said = True, now_s, None, ""
        self._fields = self._wanted()
        return f"g {self._interval_ms} {','.join(self._fields.values())}"

    def stop(self, at: Moment, sentence: str) -> Iterator[AnyEvent]:
        """Start none (any more), and say why."""
        self._start_s = None
        yield from self._tell_driver(at, "failed", sentence)

    def row(self, line: str, at: Moment) -> Iterator[AnyEvent]:
        """Take one line of output."""
        self._heard_s = at.client_s
        line = clean(line).strip()
        if not line:
            return
        cells = [cell.strip()[:_CELL] for cell in line.split(",")]
        fits = len(cells) == len(self._fields)
        row = Row(at.wall_s, "", dict(zip(self._fields, cells, strict=True)) if fits else {})
        index = self._index(row)
        if index is None:
            yield from self._words(line, at)
            return
        if index in self._round:
            yield from self._finish_round(at)
        self._add(index, row, at)
        # Until the first round is over nobody knows how many rows one has.
        if self._facts and self._facts.keys() <= self._round.keys():
            yield from self._finish_round(at)

    def pause(self, at: Moment) -> Iterator[AnyEvent]:
        """Look at the time: a round that stays short is finished, and silence is told of."""
        if self._round and self._is_over(at):
            yield from self._finish_round(at)
        if not self._running:
            return
        first = self._heard_s is None
        since_s = at.client_s - (self._begun_s if self._heard_s is None else self._heard_s)
        if at.client_s - self._silence_told_s < 1.0:
            return
        if since_s > (smi_words.FIRST_OUTPUT_S if first else smi_words.SILENT_S + self._interval_ms / 1000):
            sentence = smi_words.silent(since_s, first=first)
            self._driver = ("silent", "", self._version)
            self._silence_told_s = at.client_s
            yield _driver(at, "silent", sentence, self._version, silent_s=round(since_s, 1))

    def ended(self, code: int | None, at: Moment) -> Iterator[AnyEvent]:
        """Take in that nvidia-smi has ended."""
        yield from self._finish_round(at)
        self._running = False
        refused = {field for field in smi_words.refused_fields(self._said)} & set(self._fields.values())
        if code == smi_words.REFUSED and (refused or not self._least):
            self._least = not refused
            self._refused |= refused
            self._start_s = at.client_s
            return
        self._start_s = None if code == smi_words.ABSENT_CODE else at.client_s + RETRY_S
        state, sentence = smi_words.ended(code, self._said[-_SAID:])
        yield from self._tell_driver(at, state, sentence, code)

    def _wanted(self) -> dict[str, str]:
        """Return the fields to ask for with the name of each that was not refused yet."""
        fields = _LEAST if self._least else (*_ASKED, *_ASKED_MORE)
        found = {field: next((n for n in NAMES[field] if n not in self._refused), None) for field in fields}
        return {field: name for field, name in found.items() if name is not None}

    def _words(self, line: str, at: Moment) -> Iterator[AnyEvent]:
        """Take a line that is no row: words of nvidia-smi, perhaps on one GPU that it cannot reach."""
        self._said = f"{self._said} {line}".strip()[-4 * _SAID :]
        names = {fact.index: (fact.uuid, fact.bus_id) for fact in self._facts.values()}
        lost = next((i for i, known in names.items() if any(_named(line, name) for name in known)), None)
        if lost is not None and told_trouble(line):
            row = Row(at.wall_s, "", {"used": line})
            row = row if row.trouble else Row(at.wall_s, "", {"used": f"the GPU is lost: {line}"})
            self._add(lost, row, at)
        if line not in self._told and self._facts and len(self._told) < _TOLD:
            self._told.add(line)
            yield _notice(at, "warning", sentence_of("smi_says", line=line[:_SAID]))

    def _add(self, index: int, row: Row, at: Moment) -> None:
        self._round_s = self._round_s if self._round else at.mono_s
        self._round[index] = row
        self._seen_s[index] = at.mono_s

    def _is_over(self, at: Moment) -> bool:
        """Say whether no further row of this round is to be expected.

        How many the first has shows when the next begins: it may take its time where the driver is slow.
        """
        lasted_s = at.mono_s - self._round_s
        if self._facts:
            return lasted_s > min(0.4, self._interval_ms / 2000)
        return lasted_s > FIRST_ROUND_S or at.mono_s - max(self._seen_s.values()) > FIRST_QUIET_S

    def _index(self, row: Row) -> int | None:
        """Return the GPU's place for the whole watch, None for what is no row."""
        told = row.whole("index")
        names = (row.text("uuid") or "", row.text("bus_id") or "")
        key = next((name for name in names if _NAME.fullmatch(name)), None)
        if key is None and told is not None and told < _GPUS:
            key = str(told)
        if key is None:
            return None
        known = self._indexes.get(key)
        if known is not None:
            return known
        taken = set(self._indexes.values())
        free = told if told is not None and told not in taken else len(taken)
        while free in taken:
            free += 1
        if free >= _GPUS:
            return None
        return self._indexes.setdefault(key, free)

    def _finish_round(self, at: Moment) -> Iterator[AnyEvent]:
        """Tell what one reading of all GPUs says."""
        rows, self._round = self._round, {}
        if not rows:
            return
        at = Moment(self._round_s, at.wall_s - at.mono_s + self._round_s, at.client_s)
        self._version = next((v for r in rows.values() if (v := r.text("driver"))), self._version)
        words = f"NVIDIA driver {self._version or 'of unknown version'}, by nvidia-smi"
        yield from self._tell_driver(at, "ok", words)
        known = dict(self._facts)
        self._facts.update({index: row_fact(index, row, known.get(index)) for index, row in rows.items()})
        if self._facts != known:
            facts = [self._facts[index] for index in sorted(self._facts)]
            yield GpuFacts(mono_s=at.mono_s, wall_s=at.wall_s, client_s=at.client_s, gpus=facts)
        gone = [self._facts[index] for index in self._facts.keys() - rows.keys() if self._is_gone(index, at)]
        samples = [row_sample(index, row) for index, row in rows.items()] + [_missing(fact) for fact in gone]
        samples.sort(key=lambda sample: sample.index)
        details = [row_detail(index, rows[index]) for index in sorted(rows)]
        # Before the samples: who looks once is content with these.
        yield GpuDetails(mono_s=at.mono_s, wall_s=at.wall_s, client_s=at.client_s, gpus=details, cost_ms=0.0)
        yield Gpus(mono_s=at.mono_s, wall_s=at.wall_s, client_s=at.client_s, gpus=samples, cost_ms=0.0)
        yield from self._odd_cells(rows, at)

    def _is_gone(self, index: int, at: Moment) -> bool:
        """Say whether a GPU has had no row for so long that it is no mere delay."""
        return at.mono_s - self._seen_s.get(index, 0.0) > _GONE_S + 3 * self._interval_ms / 1000

    def _odd_cells(self, rows: dict[int, Row], at: Moment) -> Iterator[AnyEvent]:
        """Tell once of each text that stands where a number should be."""
        found: dict[tuple[str, str], int] = {}
        for index, row in rows.items():
            for field, cell in row.cells.items():
                known = field in _TEXTS or (field == "reasons" and cell.startswith("0x")) or told_lost(cell)
                if not known and row.number(field) is None and (field, cell) not in self._odd:
                    found.setdefault((field, cell), index)
        if found and len(self._odd) < _TOLD:
            self._odd |= found.keys()
            said = [f"{self._fields.get(f, f)} of GPU {i}: {c or 'nothing'}" for (f, c), i in found.items()]
            yield _notice(at, "info", sentence_of("smi_no_number", cells="; ".join(said))[:600])

    def _tell_driver(
        self, at: Moment, state: DriverState, sentence: str, code: int | None = None
    ) -> Iterator[AnyEvent]:
        if self._driver != (state, sentence, self._version):
            self._driver = (state, sentence, self._version)
            yield _driver(at, state, sentence, self._version, code=code)


def _named(line: str, name: str | None) -> bool:
    """Say whether words name a GPU; the domain of a bus id has four digits at times and eight at others."""
    short = (name or "").lower().split(":", 1)[-1]
    return len(short) >= _SHORTEST_NAME and short in line.lower()


def _notice(at: Moment, level: Literal["info", "warning"], sentence: str) -> Notice:
    return Notice(
        mono_s=at.mono_s,
        wall_s=at.wall_s,
        client_s=at.client_s,
        level=level,
        about="gpus",
        sentence=sentence,
    )


def _driver(
    at: Moment,
    state: DriverState,
    sentence: str,
    version: str | None,
    *,
    silent_s: float | None = None,
    code: int | None = None,
) -> GpuDriver:
    return GpuDriver(
        mono_s=at.mono_s,
        wall_s=at.wall_s,
        client_s=at.client_s,
        state=state,
        sentence=sentence,
        version=version,
        silent_s=silent_s,
        code=code,
    )


def _missing(fact: GpuFact) -> GpuSample:
    return GpuSample(
        index=fact.index,
        state="lost",
        memory_used_mib=None,
        memory_reserved_mib=None,
        memory_total_mib=fact.memory_total_mib,
        utilisation_pct=None,
        memory_utilisation_pct=None,
        power_w=None,
        sentence=sentence_of("smi_gpu_unlisted"),
    )
