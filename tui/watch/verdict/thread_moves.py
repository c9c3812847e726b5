"""What all threads of one process do, from the readings that the agent makes of them on suspicion."""

from dataclasses import dataclass, field

from tui.signals import ThreadSignals
from tui.watch.verdict.meters import Unchanged


@dataclass(frozen=True, slots=True)
class Threads:
    """The threads at one moment, as of their newest reading.

    ``asleep_s``: for how long all of them have slept without a single wake-up, None where one does not, or
    where that cannot be read. ``blocked_s``: for how long those in state D have not woken up, None where none
    is in state D; ``blocked_in`` is where one of them waits in the kernel, "" where that is not known.
    """

    asleep_s: float | None
    blocked_s: float | None
    blocked_in: str


@dataclass(slots=True)
class ThreadMoves:
    """The threads of one process, reading by reading; times are those of the readings themselves."""

    read_s: float | None = None
    asleep: Unchanged = field(default_factory=Unchanged)
    blocked: Unchanged = field(default_factory=Unchanged)
    blocked_in: str = ""

    def take(self, threads: ThreadSignals | None, at_s: float) -> None:
        """Note what is told (again, where it was not read anew); None: the process is under no suspicion."""
        if threads is None:
            self.void()
            return
        read_s = at_s - threads.age_s
        self.read_s, self.blocked_in = read_s, threads.blocked_in or ""
        asleep = set(threads.states) <= {"S", "I"}
        self.asleep.take((threads.wakeups if asleep else None,), read_s)
        self.blocked.take((threads.blocked_wakeups,), read_s)

    @property
    def seen(self) -> Threads | None:
        """What they do, None where they are not read."""
        if self.read_s is None:
            return None
        asleep_s, blocked_s = self.asleep.since_s, self.blocked.since_s
        return Threads(
            None if asleep_s is None else self.read_s - asleep_s,
            None if blocked_s is None else self.read_s - blocked_s,
            self.blocked_in,
        )

    def void(self) -> None:
        """Forget all readings."""
        self.read_s, self.blocked_in = None, ""
        self.asleep.void()
        self.blocked.void()
