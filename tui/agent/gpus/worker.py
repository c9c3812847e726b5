"""The GPU reader: a worker of the agent that asks the NVIDIA driver and nothing else.

Three tiers: memory, utilisation and power at each tick; temperature, clock, event reasons and what came over
PCIe every 5 s (ECC, memory clock and PCIe link every 15 s); process lists when memory moved. What does not
change is asked once per start of the driver. The faults that it reports by itself are fetched at each tick. A
driver that is absent or fails is tried again every 5 s. A call that hangs hangs this process alone, and the
agent sees that it owes a sign of life.
"""

from __future__ import annotations

import math
import time

from tui.agent import wire
from tui.agent.gpus import bindings, driver_words, nvml
from tui.agent.gpus.faults import Faults
from tui.agent.gpus.places import places
from tui.agent.gpus.row import Row, text
from tui.agent.gpus.users import Users, trusted

TYPE_CHECKING = False  # as in worker.py
if TYPE_CHECKING:
    from collections.abc import Callable

    from tui.agent.worker import Channel

_SLOW_S = 5.0
_RETRY_S = 5.0
_SHORTEST_S = 0.05


class StaleLibrary(Exception):
    """The driver was updated under this process: only a fresh one can load the new library."""


def serve(channel: Channel) -> None:
    """Read and report until the agent is gone; a watch request comes first and says how often."""
    interval_s = _interval_s(channel.receive(None)) or 1.0
    reader = Reader(channel.send)
    due_s = time.monotonic()
    while True:
        request = channel.receive(max(0.0, due_s - time.monotonic()))
        if request is not None:
            interval_s = _interval_s(request) or interval_s
            due_s = min(due_s, time.monotonic() + interval_s)
            continue
        reader.tick(time.monotonic())
        due_s = next_due(due_s, time.monotonic(), interval_s)


def next_due(due_s: float, now_s: float, interval_s: float) -> float:
    """Return the next moment of the schedule that ``due_s`` is on: no drift, what was missed is skipped."""
    missed = max(0, math.floor((now_s - due_s) / interval_s))
    return due_s + (missed + 1) * interval_s


def _interval_s(request: dict[str, object] | None) -> float | None:
    if request is None or request.get("kind") != wire.WATCH:
        return None
    interval_s = request.get("interval_s", 1.0)
    return max(_SHORTEST_S, float(interval_s)) if isinstance(interval_s, (int, float)) else None


class Reader:
    """The driver as seen so far. ``send`` takes finished wire messages; ``clock`` gives monotonic seconds."""

    def __init__(
        self, send: Callable[[dict[str, object]], None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._send = send
        self._clock = clock
        self._library: nvml.Library | None = None
        self._open = False
        self._was_open = False
        self._rows: list[Row] = []
        self._users: dict[int, Users] = {}
        self._faults = Faults(send, clock)
        self._lists_trusted = True
        self._retry_s = -math.inf
        self._slow_s: float | None = None
        self._told: dict[str, object] = {}

    def tick(self, now_s: float) -> None:
        """Do what is due at this moment (monotonic): start the driver if need be, then each tier.

        Raises StaleLibrary.
        """
        try:
            if not self._open and now_s >= self._retry_s:
                self._retry_s = now_s + _RETRY_S
                self._start()
            if self._open and self._library is not None:
                self._read(self._library, now_s)
        except nvml.DriverTrouble as trouble:
            self._fail(trouble.code, now_s)

    # The driver.

    def _start(self) -> None:
        library = self._load()
        if library is None:
            return
        try:
            library.call("nvmlInitWithFlags", 0)
            self._open = True
            self._meet(library)
        except nvml.Refusal as no:
            raise nvml.DriverTrouble(no.code) from None

    def _load(self) -> nvml.Library | None:
        """Load library and bindings; what costs memory is left alone while there is no library."""
        if self._library is not None:
            return self._library
        found, broken = bindings.find_library()
        module = bindings.load() if found else None
        if not found:
            self._tell_driver(
                *driver_words.of_driver(nvml.LIBRARY_NOT_FOUND, broken), code=nvml.LIBRARY_NOT_FOUND
            )
        elif module is None:
            self._tell_driver("failed", driver_words.NO_BINDINGS)
        else:
            self._library = nvml.Library(module)
        return self._library

    def _meet(self, library: nvml.Library) -> None:
        """Take up the GPUs of a driver that has just started. Raises Refusal."""
        version = text(library.call("nvmlSystemGetDriverVersion"))
        count = library.call("nvmlDeviceGetCount")
        if not isinstance(count, int) or count == 0:
            self._close(library)
            self._tell_driver("absent", driver_words.NO_GPU, version=version)
            return
        self._seat(library, count)
        self._was_open = True
        self._slow_s = None
        self._tell_driver("ok", "NVIDIA driver %s" % (version or "of unknown version"), version=version)
        self._tell_facts()
        self._lists_trusted = trusted(version)
        if version is not None and not self._lists_trusted:
            self._tell(
                wire.NOTICE, level="warning", about="gpus", sentence=driver_words.unreliable_lists(version)
            )

    def _seat(self, library: nvml.Library, count: int) -> None:
        """Give each GPU of NVML its row: the one it had before, by its UUID."""
        known = [row.uuid for row in self._rows]
        # The first time there is nothing to compare with.
        found = [_uuid(library, place) if known else None for place in range(count)]
        seats = places(known, found)
        for index, place in enumerate(seats):
            if index == len(self._rows):
                self._rows.append(Row(index, self._clock))
                self._users[index] = Users()
            row = self._rows[index]
            row.place = place
            if place is None:
                row.close(driver_words.missing(index))
            else:
                row.open(library, place)
        self._give_up_if_nothing_answers()

    def _give_up_if_nothing_answers(self) -> None:
        """Raise DriverTrouble when every GPU gives "unknown error", as after a container lost its devices."""
        if all(row.code == nvml.UNKNOWN for row in self._rows):
            raise nvml.DriverTrouble(nvml.UNKNOWN)

    def _fail(self, code: int, now_s: float) -> None:
        if self._library is not None:
            self._close(self._library)
        self._retry_s = now_s + _RETRY_S
        self._tell_driver(*driver_words.of_driver(code), code=code)
        if self._was_open and code == nvml.VERSION_MISMATCH:
            raise StaleLibrary("the driver was updated, and its library has to be loaded anew")

    def _close(self, library: nvml.Library) -> None:
        if self._open:
            self._open = False
            self._faults.free(library)
            for row in self._rows:
                row.let_go()
            try:
                library.call("nvmlShutdown")
            except nvml.Refusal:
                return  # then it is closed already

    # The tiers.

    def _read(self, library: nvml.Library, now_s: float) -> None:
        self._faults.read(library, self._rows)
        self._fast()
        if self._slow_s is None or now_s >= self._slow_s:
            self._slow_s = next_due(now_s if self._slow_s is None else self._slow_s, now_s, _SLOW_S)
            self._slow(library)
        if self._lists_trusted:
            self._list(now_s)

    def _fast(self) -> None:
        began_s = time.perf_counter()
        gpus = [row.sample() for row in self._rows]
        self._give_up_if_nothing_answers()
        self._send(wire.stamped(wire.GPUS, gpus=gpus, cost_ms=_ms_since(began_s)))

    def _slow(self, library: nvml.Library) -> None:
        began_s = time.perf_counter()
        for row in self._rows:
            if row.device is None and row.place is not None and row.open(library, row.place):
                self._tell_facts()
        self._faults.watch(library, self._rows)
        gpus = [row.detail() for row in self._rows]
        self._send(wire.stamped(wire.GPU_DETAILS, gpus=gpus, cost_ms=_ms_since(began_s)))

    def _list(self, now_s: float) -> None:
        processes: list[dict[str, object]] = []
        for row in self._rows:
            self._users[row.index].update(row, now_s)
            processes += self._users[row.index].fields(row.index)
        if processes or wire.GPU_PROCESSES in self._told:
            self._tell(wire.GPU_PROCESSES, processes=processes)

    # Telling what is new.

    def _tell_facts(self) -> None:
        self._tell(wire.GPU_FACTS, gpus=[row.fact for row in self._rows])

    def _tell_driver(
        self, state: str, sentence: str, code: int | None = None, version: str | None = None
    ) -> None:
        self._tell(wire.GPU_DRIVER, state=state, sentence=sentence, code=code, version=version)

    def _tell(self, kind: str, **fields: object) -> None:
        """Send a message unless the last of its kind said the same."""
        if self._told.get(kind) != fields:
            self._told[kind] = fields
            self._send(wire.stamped(kind, **fields))


def _uuid(library: nvml.Library, place: int) -> str | None:
    try:
        return text(library.call("nvmlDeviceGetUUID", library.call("nvmlDeviceGetHandleByIndex", place)))
    except nvml.DriverTrouble:
        raise
    except nvml.Refusal:
        return None


def _ms_since(began_s: float) -> float:
    return round((time.perf_counter() - began_s) * 1000, 3)
