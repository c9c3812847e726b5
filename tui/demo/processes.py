"""The processes of the simulated server: which there are, in which state, and how they end."""

import math
from collections.abc import Iterator

from tui.demo.clock import BEGAN_MONO_S, stamp
from tui.demo.scenario import RankFreezes, RankKilled, Scenario, ServerExits
from tui.demo.script import Script
from tui.events import Exit, Process, Processes

SEEN_S = 0.3
"""The first look at the processes of the host finds the server."""
LOG_PATH = "/simulated/server.log"
USER = "simulated"
UID = 1000


class Host:
    """The server's processes at any moment of a scenario."""

    def __init__(self, scenario: Scenario, script: Script) -> None:
        self._server = scenario.server
        happened = list(zip(script.moments, scenario.happens, strict=True))
        self._exits = [(at_s, each) for at_s, each in happened if isinstance(each, ServerExits)]
        self._killed = [(at_s, each.rank) for at_s, each in happened if isinstance(each, RankKilled)]
        self._frozen = [(at_s, each) for at_s, each in happened if isinstance(each, RankFreezes)]

    @property
    def ended_s(self) -> float:
        """When the main process ends, infinite where it does not."""
        return min((at_s for at_s, _ in self._exits), default=math.inf)

    def rank_pid(self, rank: int) -> int:
        """Return the process id of a rank."""
        return self._server.pid + 100 + rank

    def helper_pid(self, place: int) -> int:
        """Return the process id of a helper by its place."""
        return self._server.pid + 100 + self._server.ranks + place

    def is_up(self, t: float) -> bool:
        """Say whether the main process is there and was seen."""
        return SEEN_S <= t < self.ended_s

    def lives(self, t: float, rank: int) -> bool:
        """Say whether a rank's process is there."""
        return self._server.ranks_at_s <= t < self.gone_s(rank)

    def gone_s(self, rank: int) -> float:
        """Return when a rank's process is gone, infinite where it never is."""
        return min([self.ended_s, *(at_s for at_s, each in self._killed if each == rank)])

    def events(self) -> Iterator[tuple[float, Processes | Exit]]:
        """Yield every change of the processes with its second, in order."""
        changes = {SEEN_S, self._server.ranks_at_s, *(at_s for at_s, _ in self._exits)}
        changes |= {at_s for at_s, _ in self._killed} | {at_s for at_s, _ in self._frozen}
        changes |= {at_s + each.for_s for at_s, each in self._frozen if each.for_s is not None}
        for t in sorted(changes):
            yield from ((t, event) for event in self._ended(t))
            yield t, self.processes(t)

    def processes(self, t: float) -> Processes:
        """Return all processes of a moment."""
        return Processes(**stamp(t), processes=list(self._all(t)))

    def _all(self, t: float) -> Iterator[Process]:
        if not self.is_up(t):
            return
        server = self._server
        argv = [each.replace("@PORT@", str(server.port)) for each in server.argv]
        yield self._process(server.pid, 1, 0.0, argv, server.engine)
        if t < server.ranks_at_s:
            return
        for rank in range(server.ranks):
            if self.lives(t, rank):
                title = server.rank_title.format(rank=rank)
                yield self._process(
                    self.rank_pid(rank),
                    server.pid,
                    server.ranks_at_s,
                    [title],
                    server.engine,
                    self._state(t, rank),
                )
        for place, title in enumerate(server.helpers):
            pid = self.helper_pid(place)
            yield self._process(pid, server.pid, server.ranks_at_s, [title], server.engine)

    def _state(self, t: float, rank: int) -> str:
        for at_s, each in self._frozen:
            if each.rank == rank and at_s <= t and (each.for_s is None or t < at_s + each.for_s):
                return each.state
        return "S"

    def _ended(self, t: float) -> Iterator[Exit]:
        for at_s, rank in self._killed:
            if at_s == t:
                yield self._exit(t, self.rank_pid(rank), self._server.rank_title.format(rank=rank))
        for at_s, each in self._exits:
            if at_s == t:
                for rank in range(self._server.ranks):
                    if self.lives(t - 0.001, rank):
                        title = self._server.rank_title.format(rank=rank)
                        yield self._exit(t, self.rank_pid(rank), title)
                yield self._exit(t, self._server.pid, self._server.argv[0], main=True, code=each.code)

    def _exit(self, t: float, pid: int, title: str, *, main: bool = False, code: int | None = None) -> Exit:
        sentence = f"process {pid} ({title}) is gone"
        return Exit(**stamp(t), pid=pid, main=main, title=title, how="gone", code=code, sentence=sentence)

    def _process(
        self, pid: int, ppid: int, started_s: float, argv: list[str], matched: str | None, state: str = "S"
    ) -> Process:
        return Process(
            pid=pid,
            ppid=ppid,
            started_s=BEGAN_MONO_S + started_s,
            uid=UID,
            user=USER,
            state=state,
            title=" ".join(argv),
            argv=argv,
            matched=matched,
            cwd="/simulated",
            stdout=LOG_PATH,
            stderr=LOG_PATH,
            container=None,
            environment=self._server.environment,
        )
