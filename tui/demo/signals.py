"""What /proc would tell of the simulated server's processes at any moment of a scenario."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tui.demo.clock import stamp
from tui.demo.pace import Build, Stretch, paces, said_s, stretches
from tui.demo.processes import Host
from tui.demo.scenario import RankFreezes, Scenario
from tui.demo.script import Script, cues
from tui.demo.weights import Weights
from tui.signals import CompilerSignals, HostSignals, ProcessSignals, Signals

HOST_EVERY_S = 5.0
PRESSURE_OVER_S = 10
COST_MS = 0.4
"""Measured: what reading 8 processes takes."""
SPIN_WAKEUPS = 4.0
"""Invented: what the other threads of a rank that waits do in a second."""
_APART = 0.004
"""So much less than the one before it does each rank, so that no two are the same."""
_FROZEN_IN = {"T": "do_signal_stop", "S": "futex_do_wait", "D": "folio_wait_bit_common", "R": "0"}
_KIB, _MIB = 1024, 1024 * 1024


@dataclass(frozen=True, slots=True)
class _Person:
    """One process: its paces, and which rank it is, None for others."""

    pid: int
    laid: Sequence[Stretch]
    rank: int | None = None


class SimulatedSignals:
    """Figures of every process by what its log tells it does and by what has happened."""

    def __init__(self, scenario: Scenario, script: Script, host: Host) -> None:
        server = scenario.server
        self._scenario = scenario
        self._clocks = script.clocks
        self._host = host
        self._weights = Weights(scenario)
        happened = zip(script.moments, scenario.happens, strict=True)
        self._freezes = [(at_s, each) for at_s, each in happened if isinstance(each, RankFreezes)]
        known = paces(scenario.processes)
        forked_s = self._clocks.recorded_s(server.ranks_at_s)
        self._main = _Person(server.pid, stretches(known.main, scenario, 0.0))
        self._ranks = [
            _Person(host.rank_pid(rank), stretches(known.rank, scenario, forked_s, rank), rank)
            for rank in range(server.ranks)
        ]
        self._helpers = [
            _Person(host.helper_pid(place), stretches(known.helper, scenario, forked_s))
            for place in range(len(server.helpers))
        ]
        recorded = cues(scenario.log.file)
        self._builds = [
            (each, said_s(recorded, each.line), said_s(recorded, each.until_line)) for each in known.builds
        ]

    def events(self, t: float) -> Iterator[Signals | HostSignals]:
        """Return what is read at a whole second of the scenario."""
        there = list(self._there(t))
        if there:
            readings = [self._reading(t, each) for each in there]
            compilers = list(self._compilers(t))
            yield Signals(**stamp(t), processes=readings, compilers=compilers, cost_ms=COST_MS)
        if t % HOST_EVERY_S == 0:
            yield HostSignals(
                **stamp(t),
                oom_kills=0,
                hung_tasks=0,
                cgroup_oom_kills=0,
                memory_full_pct=0.0,
                io_some_pct=self._pressure(t),
            )

    def _there(self, t: float) -> Iterator[_Person]:
        if not self._host.is_up(t):
            return
        yield self._main
        yield from (each for rank, each in enumerate(self._ranks) if self._host.lives(t, rank))
        if t >= self._scenario.server.ranks_at_s:
            yield from self._helpers

    def _reading(self, t: float, person: _Person) -> ProcessSignals:
        recorded_s, rank = self._clocks.recorded_s(t), person.rank
        scale = 1.0 - _APART * (rank or 0)
        state, wchan = self._state(t, recorded_s, person)
        now = _at(person.laid, recorded_s)
        loaded = [(each, self._loaded(each, recorded_s, rank)) for each in person.laid]

        def total(name: str) -> float:
            return scale * sum(getattr(each.pace, name) * each.seconds(recorded_s) for each in person.laid)

        return ProcessSignals(
            pid=person.pid,
            state=state,
            cpu_s=round(total("cpu") + self._spun_s(t, rank), 2),
            minor_faults=int(total("minor_faults") + sum(e.pace.faults_per_mib * mib for e, mib in loaded)),
            major_faults=int(total("major_faults")),
            wakeups=int(total("wakeups") + SPIN_WAKEUPS * self._spun_s(t, rank)),
            rss_file_mib=round(self._file_mib(now, recorded_s, rank), 1),
            rss_anon_mib=round(now.level(now.anon_mib, recorded_s) * scale, 1),
            read_chars_bytes=int(total("read_chars_kib")) * _KIB,
            read_bytes=int(sum(each.pace.disk_share * mib for each, mib in loaded) * _MIB),
            write_bytes=int(total("write_kib")) * _KIB,
            wchan=wchan,
        )

    def _state(self, t: float, recorded_s: float, person: _Person) -> tuple[str, str]:
        frozen = next((each for at_s, each in self._freezes if _over_s(at_s, each, t) is None), None)
        if frozen is None or person.rank is None:
            pace = _at(person.laid, recorded_s).pace
            turn = int(t) + (person.rank or 0)
            return pace.states[turn % len(pace.states)], pace.waits[turn % len(pace.waits)]
        if frozen.rank == person.rank:
            return frozen.state, _FROZEN_IN[frozen.state]
        return "R", "0"

    def _spun_s(self, t: float, rank: int | None) -> float:
        """Return how long a rank has waited for a frozen one, which takes a whole core."""
        waited = [
            (t if (over_s := _over_s(at_s, each, t)) is None else over_s) - at_s
            for at_s, each in self._freezes
            if rank is not None and each.rank != rank and at_s <= t
        ]
        return sum(waited)

    def _loaded(self, stretch: Stretch, recorded_s: float, rank: int | None) -> float:
        """Return what a rank has loaded of its weights in a stretch."""
        if rank is None:
            return 0.0
        until_s = max(stretch.began_s, min(recorded_s, stretch.ended_s))
        return self._weights.loaded_mib(until_s, rank) - self._weights.loaded_mib(stretch.began_s, rank)

    def _file_mib(self, now: Stretch, recorded_s: float, rank: int | None) -> float:
        saw = now.pace.file_saw_mib
        if saw is None or rank is None:
            return now.level(now.file_mib, recorded_s)
        return saw[0] + self._weights.loaded_mib(recorded_s, rank) % (saw[1] - saw[0])

    def _compilers(self, t: float) -> Iterator[CompilerSignals]:
        recorded_s = self._clocks.recorded_s(t)
        for build, began_s, ended_s in self._builds:
            if recorded_s > began_s and self._host.lives(t, build.rank):
                yield self._build(build, t, min(recorded_s, ended_s) - began_s, over=recorded_s >= ended_s)

    def _build(self, build: Build, t: float, for_s: float, *, over: bool) -> CompilerSignals:
        names = [] if over else build.names[int(t) % len(build.names)]
        return CompilerSignals(
            pid=self._host.rank_pid(build.rank),
            names=names,
            running=len(names),
            started=len(build.names[0]) + int(build.starts * for_s),
            cpu_s=round(build.cpu * for_s, 2),
        )

    def _pressure(self, t: float) -> float:
        """Return the share of the last seconds in which somebody waited for a disk."""
        seconds = [max(0.0, t - before) for before in range(PRESSURE_OVER_S)]
        laid = self._ranks[0].laid if self._ranks else self._main.laid
        felt = [
            _at(laid, self._clocks.recorded_s(each)).pace.io_some_pct
            for each in seconds
            if self._host.is_up(each)
        ]
        return round(sum(felt) / PRESSURE_OVER_S, 2)


def _at(laid: Sequence[Stretch], recorded_s: float) -> Stretch:
    return next((each for each in reversed(laid) if each.began_s <= recorded_s), laid[0])


def _over_s(at_s: float, freeze: RankFreezes, t: float) -> float | None:
    """Return when a freeze was over, its beginning where it is still to come, None while it lasts."""
    if t < at_s:
        return at_s
    ended_s = math.inf if freeze.for_s is None else at_s + freeze.for_s
    return None if t < ended_s else ended_s
