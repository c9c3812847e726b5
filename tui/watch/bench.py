"""The benchmark as a watch sees it: armed, running, done."""

from dataclasses import dataclass, field

from tui.benchmark import BenchChoice, BenchProgress, BenchResult


@dataclass(slots=True)
class BenchState:
    """``armed``: to be fired at ready. ``running`` is the run under way, ``results`` oldest first.

    What the person chose comes as an event where it is recorded; where it is not (a demo's live server), who
    fires calls ``arm``, ``disarm`` and ``started``.
    """

    armed: bool = False
    running: str | None = None
    progress: BenchProgress | None = None
    results: list[BenchResult] = field(default_factory=list[BenchResult])

    def arm(self) -> None:
        """Fire at ready."""
        self.armed = True

    def disarm(self) -> None:
        """Do not fire at ready."""
        self.armed = False

    def started(self, run: str) -> None:
        """A request for this run was sent."""
        self.armed = False
        self.running = run
        self.progress = None

    def choose(self, event: BenchChoice) -> None:
        """Note what the person chose."""
        if event.choice == "started" and event.run is not None:
            self.started(event.run)
        else:
            self.armed = event.choice == "armed"

    def take(self, event: BenchProgress | BenchResult) -> None:
        """Note the progress or the result of a run."""
        if isinstance(event, BenchProgress):
            self.running = event.run
            self.progress = event
            return
        self.results.append(event)
        if self.running in (None, event.run):
            self.running = None
            self.progress = None

    def cut(self) -> bool:
        """Forget the run under way, whose agent is gone; return whether there was one."""
        running, self.running, self.progress = self.running, None, None
        return running is not None
