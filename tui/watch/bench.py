"""The benchmark as a watch sees it: armed, running, done."""

from dataclasses import dataclass, field

from tui.benchmark import (
    BenchChoice,
    BenchComparison,
    BenchProgress,
    BenchRecord,
    BenchRecords,
    BenchResult,
    BenchSpec,
)

BUSY = "busy"


@dataclass(frozen=True, slots=True)
class CutOff:
    """A run that was under way when its link was lost, and the last that was heard of it."""

    run: str
    spec: BenchSpec
    progress: BenchProgress | None


@dataclass(slots=True)
class BenchState:
    """``armed``: to be fired at ready. ``running`` is the run under way, ``results`` oldest first.

    ``profile`` is what the key fires ("" before one was chosen), ``spec`` what the run under way asks.
    ``records`` are the requests of the newest run, ``comparisons`` what the ledger says of runs, by run.
    ``cut_off`` is the newest run that was cut with its link: whoever fired it makes a result of it.

    What the person chose comes as an event where it is recorded; where it is not (a demo's live server), who
    fires calls ``arm``, ``disarm`` and ``started``.
    """

    armed: bool = False
    profile: str = ""
    running: str | None = None
    spec: BenchSpec | None = None
    progress: BenchProgress | None = None
    results: list[BenchResult] = field(default_factory=list[BenchResult])
    records: list[BenchRecord] = field(default_factory=list[BenchRecord])
    comparisons: dict[str, BenchComparison] = field(default_factory=dict[str, BenchComparison])
    cut_off: CutOff | None = None
    _records_of: str = ""

    @property
    def busy(self) -> bool:
        """Whether the newest run was not made because others use the server."""
        return bool(self.results) and self.results[-1].fault == BUSY

    @property
    def series(self) -> list[BenchResult]:
        """The results of the newest sweep, or the newest result alone."""
        if not self.results:
            return []
        newest = self.results[-1]
        if not newest.spec.series:
            return [newest]
        return [each for each in self.results if each.spec.series == newest.spec.series]

    def arm(self) -> None:
        """Fire at ready."""
        self.armed = True

    def disarm(self) -> None:
        """Do not fire at ready."""
        self.armed = False

    def started(self, run: str, spec: BenchSpec | None = None) -> None:
        """A request for this run was sent."""
        self.armed = False
        self.running = run
        self.spec = spec
        self.progress = None

    def choose(self, event: BenchChoice) -> None:
        """Note what the person chose."""
        if event.choice == "chosen":
            self.profile = event.profile
        elif event.choice == "started" and event.run is not None:
            self.started(event.run, event.spec)
        else:
            self.armed = event.choice == "armed"

    def take(self, event: BenchProgress | BenchRecords | BenchResult | BenchComparison) -> None:
        """Note the progress, the requests or the result of a run, or what the ledger says of it."""
        match event:
            case BenchProgress():
                self.running = event.run
                self.progress = event
            case BenchRecords():
                self._keep_records(event)
            case BenchComparison():
                self.comparisons[event.run] = event
            case BenchResult():
                self.results.append(event)
                if self.running in (None, event.run):
                    self.running = self.spec = self.progress = None

    def records_of(self, run: str) -> tuple[BenchRecord, ...]:
        """Return the requests of a run, () when they are not those of the newest one."""
        return tuple(self.records) if run == self._records_of else ()

    def cut(self) -> bool:
        """Forget the run under way, whose agent is gone; return whether there was one."""
        running, spec = self.running, self.spec
        if running is not None and spec is not None:
            self.cut_off = CutOff(running, spec, self.progress)
        self.running = self.spec = self.progress = None
        return running is not None

    def _keep_records(self, event: BenchRecords) -> None:
        if event.run != self._records_of:
            self.records, self._records_of = [], event.run
        self.records += event.records
