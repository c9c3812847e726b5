"""What is shown beside a verdict, worked out once for each: it costs as much as the verdict itself."""

from dataclasses import dataclass, replace

from tui.present.lanes import lane_rows
from tui.present.verdict import MOODS
from tui.watch.deadlines import RunningDeadline, deadlines
from tui.watch.meaning import Meaning
from tui.watch.rank_lanes import rank_lanes
from tui.watch.verdict.verdict import Verdict
from widgets.values import LaneRow, Mood


@dataclass(slots=True)
class Beside:
    """The time-outs and ranks as of the newest verdict; kept by whoever shows them, from paint to paint."""

    lanes: tuple[LaneRow, ...] = ()
    _deadlines: tuple[RunningDeadline, ...] = ()
    _judged: Verdict | None = None

    def look(self, state: Meaning, now_s: float) -> None:
        """Work both out at a time of the host, unless that was done for this verdict."""
        judged = state.judged
        if judged is self._judged:
            return
        self._judged = judged
        self.lanes, self._deadlines = (), ()
        if judged is not None:
            self.lanes = lane_rows(rank_lanes(state, now_s), bad=MOODS[judged.word] is Mood.BAD)
            self._deadlines = deadlines(state, now_s)

    def deadlines(self, now_s: float) -> tuple[RunningDeadline, ...]:
        """Return the time-outs as they stand at a time of the host."""
        return tuple(
            each if each.at_s is None else replace(each, left_s=max(0.0, each.at_s - now_s))
            for each in self._deadlines
        )
