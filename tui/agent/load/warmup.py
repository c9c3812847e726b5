"""The warm-up: when a server answers as fast as it will.

Windows follow one another while the streams go on; each lasts a second or more, and until every request that
was on its way at its start, of every stream in a closed loop, has ended. What is compared is the speed of a
busy stream: what arrived, over the time of requests on their way, summed. Where all streams are busy that is
the rate of tokens; where requests arrive at random it does not vary with how many arrived. Bytes stand for
tokens, each of which costs as many on average: what decides must not wait until answers are read, and reads
of many streams at once coalesce.

Two neighbouring windows whose speeds differ by less than 5 % agree: six identical runs of one published
measurement spread by 7 %, so a difference below that tells of nothing that goes on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

WINDOW_S = 1.0
AGREEMENT = 0.05


class Mark:
    """Where the account stood at a moment: bytes that had arrived, seconds of requests on their way."""

    __slots__ = ("arrived", "busy_s", "now_s")

    def __init__(self, now_s: float, arrived: int, busy_s: float) -> None:
        self.now_s = now_s
        self.arrived = arrived
        self.busy_s = busy_s


class Windows:
    """The windows of one warm-up."""

    def __init__(self, mark: Mark, slots: Iterable[int]) -> None:
        self._speed: float | None = None
        self._start = mark
        self._awaited = set(slots)

    def due(self, slot: int, now_s: float) -> bool:
        """Note that a request ended on a stream; tell whether this window can end, too."""
        self._awaited.discard(slot)
        return not self._awaited and now_s - self._start.now_s >= WINDOW_S

    def turn(self, mark: Mark, slots: Iterable[int]) -> bool:
        """End this window and begin the next; tell whether it agrees with the one before."""
        busy_s = mark.busy_s - self._start.busy_s
        speed = (mark.arrived - self._start.arrived) / busy_s if busy_s > 0 else 0.0
        before, self._speed = self._speed, speed
        self._start, self._awaited = mark, set(slots)
        return before is not None and agree(before, speed)


def agree(before: float, after: float) -> bool:
    """Tell whether two speeds are the same; nothing agrees with no speed at all."""
    slower, faster = sorted((before, after))
    return slower > 0 and faster - slower <= AGREEMENT * faster
