"""Whose processes use which GPU, as the driver lists them, and what each of them holds there."""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import NamedTuple

from tui.events import GpuProcess
from tui.watch.verdict.channels import Channel, Reading, amount_words, reading
from tui.watch.verdict.gpu_moves import MOVED_MEMORY_MIB, SAMPLE_FRESH_S, GpuMoves
from tui.watch.verdict.meters import Level


class Holder(NamedTuple):
    """A process that the driver lists. ``foreign``: its number is not one of this place's (a container)."""

    pid: int
    foreign: bool = False


@dataclass(slots=True)
class Holders:
    """The newest list of the driver: users of each GPU by its index, memory of each process on it."""

    _users: dict[int, set[Holder]] = field(default_factory=dict[int, set[Holder]])
    _memory: dict[tuple[int, Holder], Level] = field(default_factory=dict[tuple[int, Holder], Level])

    def take(self, processes: Collection[GpuProcess], lost: Collection[int], at_s: float) -> None:
        """Note a list. Of a lost GPU nothing is listed any more: who held it hangs on it."""
        self._users = {index: held for index, held in self._users.items() if index in lost}
        before, self._memory = self._memory, {}
        for each in processes:
            holder = Holder(each.pid, each.foreign)
            self._users.setdefault(each.index, set()).add(holder)
            key = (each.index, holder)
            self._memory[key] = before.get(key) or Level(MOVED_MEMORY_MIB)
            self._memory[key].take(each.memory_mib, at_s)

    def void(self) -> None:
        """Forget where the memory rested: a blind time lies between the readings."""
        for level in self._memory.values():
            level.void()

    def held_by(self, pids: Collection[int]) -> set[int]:
        """Return the GPUs that one of these processes uses."""
        ours = _of_here(pids)
        return {index for index, users in self._users.items() if not users.isdisjoint(ours)}

    def shared(self, index: int, pids: Collection[int], own: Collection[int] = ()) -> bool:
        """Whether others than these processes (and ``own``) use the GPU beside them: its work may be theirs.

        Where none of its users is one of these, the driver numbers processes otherwise (a container).
        """
        users, ours = self._users.get(index, set()), _of_here(pids)
        return not users.isdisjoint(ours) and not users - ours <= _of_here(own)

    def memory(self, gpu: GpuMoves, pids: Collection[int], now_s: float) -> Reading:
        """Return P2 of these processes alone; unknown where the driver does not tell all of it."""
        ours = _of_here(pids)
        levels = [level for (at, who), level in self._memory.items() if at == gpu.index and who in ours]
        told = [level.value for level in levels if level.value is not None]
        moved_s = max((level.moved_s for level in levels if level.moved_s is not None), default=None)
        known = len(told) == len(levels) > 0 and now_s - gpu.sample_s <= SAMPLE_FRESH_S
        figure = f"{amount_words(sum(told))} of GPU memory"
        return reading(Channel.GPU_MEMORY, now_s, moved_s, known=known, amount=0.0, figure=figure)


def _of_here(pids: Collection[int]) -> set[Holder]:
    """Return processes as they are listed where they are numbered as here."""
    return {Holder(pid) for pid in pids}
