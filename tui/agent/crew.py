"""The agent's workers together: who hears which request, who runs, who hangs, who died."""

from __future__ import annotations

import json
import time
from functools import partial

from tui.agent import wire
from tui.agent.channel import encode, kind_of
from tui.agent.output import DROPPABLE, Output
from tui.agent.worker import Worker, reap_all, share, words_for

TYPE_CHECKING = False  # as in channel.py
if TYPE_CHECKING:
    from collections.abc import Callable

# The agent looks each second; after a longer pause the whole host, or the agent, has stood still.
_PAUSE_S = 3.0
GPUS, PROCESSES, TAIL, PROBE, LOAD = "gpus", "processes", "tail", "probe", "load"
CHECKPOINT = "checkpoint"
SIGNALS = "signals"
DIAGNOSE = "diagnose"
LOCKS = "locks"
PROVE = "prove"
# Nearly all that these tell may be dropped, so they are heard also while the link is behind.
_SAMPLERS = (GPUS, SIGNALS, LOCKS)

# Which workers hear of which request. One that starts (again) hears the last of the first two kinds anew.
_ROUTES = {
    wire.WATCH: (GPUS, PROCESSES),
    wire.FOLLOW: (PROCESSES, TAIL, PROBE, CHECKPOINT, SIGNALS, LOCKS),
    wire.SKIP: (TAIL,),
    wire.BENCH: (LOAD,),
    wire.BENCH_CANCEL: (LOAD,),
    wire.DIAGNOSE: (DIAGNOSE,),
    wire.PROVE: (PROVE,),
}
# These run as long as a server is followed; the others come and go, and what they need with them. The GPU
# reader is started at once, and shares little with them.
_SHARED = (PROCESSES, TAIL, PROBE, CHECKPOINT, SIGNALS, LOCKS)
_STANDING = (wire.WATCH, wire.FOLLOW)
_POSITION = ("path", "device", "inode", "offset", "fingerprint_bytes", "fingerprint_crc")


class Awake:
    """Since when the agent itself has run without a pause: of a host that was frozen nobody is overdue."""

    def __init__(self) -> None:
        self._looked_s = self._since_s = 0.0

    def look(self, now_s: float) -> None:
        """Note that the agent runs; it does each second."""
        if now_s - self._looked_s > _PAUSE_S:
            self._since_s = now_s
        self._looked_s = now_s

    def overdue_s(self, silent_s: float) -> float:
        """Return how much of a worker's silence the agent itself was awake for."""
        return min(silent_s, self._looked_s - self._since_s)


class Crew:
    """All workers, started when something is asked that needs them."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._workers: dict[str, Worker] = {}
        self._standing: dict[str, dict[str, object]] = {}
        self._silent: set[str] = set()
        self._awake = Awake()
        self._last_driver: bytes | None = None
        self._last_log: bytes | None = None
        self._bench: dict[str, object] | None = None  # the one under way
        self._unshared = list(_SHARED)

    def dispatch(self, request: dict[str, object]) -> bool:
        """Hand a request to the workers that it concerns; False when it concerns none."""
        kind = str(request["kind"])
        if kind not in _ROUTES:
            return False
        if kind in _STANDING:
            self._standing[kind] = request
        if kind == wire.FOLLOW:
            self._last_log = None
        if kind == wire.BENCH:  # its key may stand in the arguments of the server that is followed
            request = dict(request, pid=self._standing.get(wire.FOLLOW, {}).get("pid"))
            self._bench = self._bench or request
        for name in _ROUTES[kind]:
            if name in self._workers:
                self._bury(self._workers[name])  # one that has just ended would not hear it
            if name in self._workers:
                self._workers[name].send(request)
            elif _needed(name, request):
                self._workers[name] = Worker(name)
                self._start(self._workers[name])
                if kind not in _STANDING:
                    self._workers[name].send(request)
        return True

    @property
    def ready(self) -> bool:
        """Whether all workers may start; until then ``prepare`` is to be called."""
        return not self._unshared

    def prepare(self) -> None:
        """Import a part of what workers share; those that were asked for meanwhile start after the last."""
        if self._unshared:
            share(self._unshared.pop(0))
            for worker in () if self._unshared else list(self._workers.values()):
                self._start(worker)

    def handlers(self) -> dict[int, Callable[[], None]]:
        """Return what to call when which descriptor is readable."""
        # What makes durable messages waits while the link is behind; samples are dropped instead.
        return {
            worker.fileno(): partial(self._pass_on, worker)
            for worker in self._workers.values()
            if worker.fileno() >= 0 and self._is_heard(worker.name)
        }

    def _is_heard(self, name: str) -> bool:
        return name in _SAMPLERS or (self._output.log_room if name == TAIL else self._output.room)

    def tick(self) -> None:
        """Once a second: bury the dead, start what may start again, report who hangs."""
        self._awake.look(time.monotonic())
        for worker in list(self._workers.values()):
            self._bury(worker)
            self._start(worker)
            worker.flush()
            self._watch_over(worker)

    def stop(self) -> None:
        """Kill all workers and wait a moment for their end."""
        reap_all(list(self._workers.values()))

    def _pass_on(self, worker: Worker) -> None:
        for line in worker.read_lines():
            kind = kind_of(line)
            if kind == wire.GPU_DRIVER:
                self._last_driver = line
            elif kind == wire.LOG_BYTES:
                self._last_log = line
                self._output.log_bytes += len(line)
            elif kind == wire.BENCH_RESULT and self._bench is not None:
                ended = json.loads(line)["run"] == self._bench["run"]
                self._bench = None if ended else self._bench
            self._output.put(line, droppable=kind in DROPPABLE)

    def _start(self, worker: Worker) -> None:
        if worker.pid is not None or (self._unshared and worker.name != GPUS):
            return
        try:
            worker.start()
        except OSError as error:
            self._notice("error", worker.name, "cannot start the %s: %s" % (words_for(worker.name), error))
        if worker.pid is not None:
            for kind, request in self._standing.items():
                if worker.name in _ROUTES[kind]:
                    worker.send(self._resumed(request) if worker.name == TAIL else request)
            if worker.name == LOAD and self._bench is not None and "died" in self._bench:
                worker.send(self._bench)  # to tell how it ended
            worker.flush()  # what was asked before it could start

    def _resumed(self, request: dict[str, object]) -> dict[str, object]:
        """Return the follow request, going on where the last log bytes that were passed on ended."""
        if self._last_log is None:
            return request
        message = json.loads(self._last_log)
        return dict(request, resume={name: message[name] for name in _POSITION})

    def _bury(self, worker: Worker) -> None:
        death = worker.reap()
        if death is None:
            return
        if death.finished:
            del self._workers[worker.name]
            return
        self._silent.discard(worker.name)
        if worker.name == LOAD and self._bench is not None:
            self._bench = dict(self._bench, died=death.how)
        sentence = "the %s ended (%s); it is started again" % (words_for(worker.name), death.how)
        self._notice("warning", worker.name, sentence)

    def _watch_over(self, worker: Worker) -> None:
        silent_s = worker.silent_s
        overdue_s = self._awake.overdue_s(silent_s)
        if overdue_s > wire.BLOCKING_DEADLINE_S:
            self._report_silent(worker.name, overdue_s)
        elif worker.name in self._silent and silent_s <= wire.BLOCKING_DEADLINE_S:
            self._silent.discard(worker.name)
            self._report_answer(worker.name)

    def _report_silent(self, name: str, silent_s: float) -> None:
        known = name in self._silent
        self._silent.add(name)
        if name != GPUS and not known:
            what = "has not answered for %d s: a read on this host hangs" % silent_s
            self._notice("warning", name, "the %s %s" % (words_for(name), what))
        elif name == GPUS and self._output.room:
            sentence = "driver has not answered for %d s" % silent_s
            self._output.say(wire.GPU_DRIVER, state="silent", sentence=sentence, silent_s=silent_s)

    def _report_answer(self, name: str) -> None:
        if name != GPUS:
            self._notice("info", name, "the %s answers again" % words_for(name))
        elif self._last_driver is not None:
            self._output.put(encode(dict(json.loads(self._last_driver), **wire.stamped(wire.GPU_DRIVER))))

    def _notice(self, level: str, about: str, sentence: str) -> None:
        self._output.say(wire.NOTICE, level=level, about=about, sentence=sentence)


def _needed(name: str, request: dict[str, object]) -> bool:
    """Return whether a request is reason enough to start this worker."""
    if name == GPUS:
        return bool(request.get("gpus", True))
    if name == PROCESSES:
        return request["kind"] == wire.WATCH and bool(request.get("discover", True))
    if name == TAIL:
        return request.get("pid") is not None or request.get("log_path") is not None
    if name in (SIGNALS, LOCKS):
        return request.get("pid") is not None
    if name in (PROBE, CHECKPOINT):
        return request.get(name) is not None
    return True
