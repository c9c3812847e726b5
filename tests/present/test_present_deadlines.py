"""Time-outs as they are shown."""

from tui.present.deadlines import deadline_rows, nearest
from tui.watch.deadlines import RunningDeadline
from widgets.values import Mood


def told(name: str, left_s: float | None, seconds: float | None = 600.0) -> RunningDeadline:
    at_s = None if left_s is None else 1000.0 + left_s
    return RunningDeadline(
        name, left_s, seconds, "default of PyTorch", "ends the ranks", "if one is late", at_s
    )


def test_each_has_when_it_strikes_what_it_does_and_where_it_is_set() -> None:
    near, far, open_end = deadline_rows(
        [told("NCCL group", 80.0), told("gloo group", 500.0), told("own port", None, None)]
    )
    assert (near.name, near.left, near.mood) == ("NCCL group", "in 1:20", Mood.WARNING)
    assert near.source == "ends the ranks if one is late (600 s, default of PyTorch)"
    assert (far.left, far.mood) == ("in 8:20", Mood.IDLE)
    assert (open_end.left, open_end.mood) == ("at a time that is not known", Mood.IDLE)
    assert open_end.source.endswith("(default of PyTorch)")


def test_beside_the_verdict_stands_the_next_when_it_is_near_or_the_load_stands_still() -> None:
    near, far, never = told("a", 120.0), told("b", 121.0), told("c", None)
    assert nearest([near, far], standing=False) is near
    assert nearest([far, never], standing=False) is None
    assert nearest([never, far], standing=True) is far
    assert nearest([never], standing=True) is None
    assert nearest([], standing=True) is None
