"""WatchState: what all events together mean. A plain reducer without I/O and without a clock.

The same state serves the screen, ``tminus wait``, ``--json`` and the tests. Times are seconds of the host's
monotonic clock unless a name says ``client``.
"""

from collections import deque
from typing import Literal

from tui.engines.base import Engine, Phase
from tui.events import AnyEvent, GpuDriver, Hello, LogSource, Notice
from tui.requests import FollowRequest
from tui.watch.bench import BenchState
from tui.watch.gpus import GpuBook
from tui.watch.ladder import Rung
from tui.watch.link import LinkState
from tui.watch.load import End
from tui.watch.log_buffer import LogBuffer
from tui.watch.options import WatchOptions
from tui.watch.phases import PhaseSpan
from tui.watch.target import Choice, Server

NOTICES = 50


class WatchState:
    """The watch so far. Feed it every event in order with ``apply``; read the rest.

    Fields that outlive a load: ``hello``, ``link``, ``driver``, ``gpus``, ``servers``, ``choice``, ``log``,
    ``log_source``, ``notices``, ``bench``, ``dropped``. Fields of the current (or just ended) load are
    properties: ``target``, ``engine``, ``started_s``, ``phase``, ``past_phases``, ``ladder``, ``ready``,
    ``outcome``, ``reason``, ``fault``. When the followed server ends its load stays as it was, and
    ``last_end`` with it, until the next server is taken up.
    """

    def __init__(self, options: WatchOptions) -> None:
        self.options = options
        self.hello: Hello | None = None
        self.link = LinkState()
        self.driver: GpuDriver | None = None
        self.gpus = GpuBook()
        self.servers: list[Server] = []
        self.choice = Choice("none", None, "")
        self.log = LogBuffer()
        self.log_source: LogSource | None = None
        self.notices: deque[Notice] = deque(maxlen=NOTICES)
        self.bench = BenchState(armed=options.bench_on_ready)
        self.dropped = 0

    def apply(self, event: AnyEvent) -> None:
        """Take one event in. Never raises for an event that decodes."""
        raise NotImplementedError

    def source_now(self, client_s: float) -> float | None:
        """Return the host's monotonic time at a client's time, None before the first event of the host."""
        raise NotImplementedError

    @property
    def wanted(self) -> FollowRequest | None:
        """What the source should follow now. The session sends it whenever it changes.

        None before the first server was found (and without a URL); FollowRequest(pid=None) lets go.
        """
        raise NotImplementedError

    @property
    def target(self) -> Server | None:
        """The server that is followed, None when there is none (yet, or any more)."""
        raise NotImplementedError

    @property
    def shown(self) -> Server | None:
        """The server of the current load, also after its end."""
        raise NotImplementedError

    @property
    def engine(self) -> Engine | None:
        """The engine of the current load, None when not known."""
        raise NotImplementedError

    @property
    def model(self) -> str | None:
        """The model's name: as listed by the server, else as its arguments say."""
        raise NotImplementedError

    @property
    def expected_model(self) -> str | None:
        """The id that has to be listed: options, else the arguments, else None (the first listed)."""
        raise NotImplementedError

    @property
    def started_s(self) -> float | None:
        """When the server of the current load started."""
        raise NotImplementedError

    @property
    def phase(self) -> Phase | None:
        """Where the load stands (stood, after its end), None when nothing tells."""
        raise NotImplementedError

    @property
    def phase_since_s(self) -> float | None:
        """When that phase began, None when that was not seen."""
        raise NotImplementedError

    @property
    def past_phases(self) -> list[PhaseSpan]:
        """The phases before the current one, in order."""
        raise NotImplementedError

    @property
    def ladder(self) -> tuple[Rung, Rung, Rung, Rung, Rung]:
        """Process, port, health, model, token."""
        raise NotImplementedError

    @property
    def ready(self) -> bool:
        """Whether the rung that counts was reached in this load, by the expected model."""
        raise NotImplementedError

    @property
    def ready_s(self) -> float | None:
        """When it became ready; None also when it was ready before it was first asked (see ready_seen)."""
        raise NotImplementedError

    @property
    def ready_seen(self) -> bool:
        """Whether the load was seen not ready before it was: only then its time to ready is known."""
        raise NotImplementedError

    @property
    def outcome(self) -> Literal["ready", "failed"] | None:
        """How the current load came out so far; a ready one may yet fail."""
        raise NotImplementedError

    @property
    def reason(self) -> str:
        """Why it failed, or what it still waits for, in one sentence."""
        raise NotImplementedError

    @property
    def fault(self) -> str | None:
        """The class of the failure (died, shut_down, refused), "wrong_model" while that is so, else None."""
        raise NotImplementedError

    @property
    def last_end(self) -> End | None:
        """How the last load that ended did; the current one's if that has ended."""
        raise NotImplementedError

    @property
    def attempts(self) -> int:
        """How many questions were put to the server's port in this load."""
        raise NotImplementedError

    @property
    def log_tail(self) -> str:
        """The unfinished line at the end of the log, or the bar that is being redrawn."""
        raise NotImplementedError

    @property
    def log_last_activity_s(self) -> float | None:
        """When the log last grew by a line that we did not cause."""
        raise NotImplementedError

    @property
    def bench_due(self) -> bool:
        """Whether an armed benchmark is to be fired now."""
        raise NotImplementedError
