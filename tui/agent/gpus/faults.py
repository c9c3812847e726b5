"""What the driver reports of its GPUs by events: Xids, a GPU that is gone, one that has to be recovered.

The driver keeps the events of one set until they are fetched, so looking at each tick misses none. Where it
knows no events (other hosts' kernels, a container without the right), nothing is told and nothing is lost.
"""

from __future__ import annotations

import time

from tui.agent import wire
from tui.agent.gpus import nvml, xids

TYPE_CHECKING = False  # as in worker.py
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from tui.agent.gpus.row import Row

_XID, _UNAVAILABLE, _RECOVERY = 0x8, 0x4000, 0x8000
_WANTED = _XID | _UNAVAILABLE | _RECOVERY
_RECOVERY_FIELD = 230  # NVML_FI_DEV_GET_GPU_RECOVERY_ACTION
# A program that fails in a loop makes the same Xid many times a second.
_SAME_S = 10.0
_AT_ONCE = 16


class Faults:
    """The events of all GPUs. ``send`` takes finished wire messages."""

    def __init__(
        self, send: Callable[[dict[str, object]], None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._send = send
        self._clock = clock
        self._set: object = None
        self._refused = False
        self._registered: dict[int, nvml.Device] = {}
        self._told: dict[tuple[str, int | None, int | None], float] = {}

    def watch(self, library: nvml.Library, rows: Sequence[Row]) -> None:
        """Ask for the events of those GPUs that are not watched yet. Raises DriverTrouble."""
        for row in rows:
            device = row.device
            if device is not None and self._registered.get(row.index) is not device and not self._refused:
                self._registered[row.index] = device
                self._register(library, device)

    def _register(self, library: nvml.Library, device: nvml.Device) -> None:
        try:
            if self._set is None:
                self._set = library.call("nvmlEventSetCreate")
        except nvml.DriverTrouble:
            raise
        except nvml.Refusal:
            self._refused = True
            return
        try:
            supported = device.call("nvmlDeviceGetSupportedEventTypes")
            wanted = supported & _WANTED if isinstance(supported, int) else _XID
            if wanted:
                device.call("nvmlDeviceRegisterEvents", wanted, self._set)
        except nvml.DriverTrouble:
            raise
        except nvml.Refusal:
            return  # then this GPU tells of none

    def read(self, library: nvml.Library, rows: Sequence[Row]) -> None:
        """Tell what has been reported since the last time; does not wait. Raises DriverTrouble."""
        for _ in range(_AT_ONCE if self._set is not None else 0):
            try:
                event = library.call("nvmlEventSetWait_v2", self._set, 0)
            except nvml.DriverTrouble:
                raise
            except nvml.Refusal:
                return  # mostly "time-out": there is no more
            self._take(event, library, rows)

    def free(self, library: nvml.Library) -> None:
        """Give the set back; to be called before the library is shut down."""
        events, self._set, self._refused = self._set, None, False
        self._registered.clear()
        if events is not None:
            try:
                library.call("nvmlEventSetFree", events)
            except nvml.Refusal:
                return  # the library is gone, and it with it

    def _take(self, event: object, library: nvml.Library, rows: Sequence[Row]) -> None:
        kind, data = int(getattr(event, "eventType", 0)), int(getattr(event, "eventData", 0))
        row = _row_of(getattr(event, "device", None), library, rows)
        index = None if row is None else row.index
        if kind & _XID:
            action = _recovery(row) if data == xids.RECOVERY else None
            self._tell("xid", index, xids.of_xid(index, data, action), data)
        elif kind & _UNAVAILABLE:
            self._tell("lost", index, xids.unavailable(index))
        elif kind & _RECOVERY:
            action = _recovery(row)
            if action != 0:
                self._tell("recovery", index, xids.recovery(index, action))

    def _tell(self, fault: str, index: int | None, sentence: str, xid: int | None = None) -> None:
        now_s, same = self._clock(), (fault, index, xid)
        if now_s - self._told.get(same, -_SAME_S) < _SAME_S:
            return
        self._told[same] = now_s
        self._send(wire.stamped(wire.GPU_FAULT, fault=fault, sentence=sentence, index=index, xid=xid))


def _row_of(handle: object, library: nvml.Library, rows: Sequence[Row]) -> Row | None:
    """Return the GPU that an event is of: by its handle, else by its UUID; None where it does not say."""
    place = _address(handle)
    if place is None:
        return None
    known = [row for row in rows if row.device is not None and _address(row.device.handle) == place]
    if known:
        return known[0]
    try:
        uuid = library.call("nvmlDeviceGetUUID", handle)
    except nvml.Refusal:
        return None
    return next((row for row in rows if row.uuid == uuid), None)


def _address(handle: Any) -> int | None:
    """Return where a handle of the library points, None for one that points nowhere."""
    import ctypes  # loaded by pynvml

    return None if handle is None else ctypes.cast(handle, ctypes.c_void_p).value


def _recovery(row: Row | None) -> int | None:
    """Return what the driver says is needed to recover a GPU, None where it does not say."""
    if row is None or row.device is None:
        return None
    try:
        values: Any = row.device.call("nvmlDeviceGetFieldValues", [_RECOVERY_FIELD])
    except nvml.Refusal:
        return None
    return int(values[0].value.uiVal) if values[0].nvmlReturn == 0 else None
