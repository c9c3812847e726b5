"""What holds for any history: more movement never makes a verdict worse, and ranks have no order."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
from verdict_host import COMPILES, IDLES, LOADS, POLLS, SPINS, STOPPED, Doing, VerdictHost

from tui.engines.phase import Phase
from tui.watch.verdict.rules import judge
from tui.watch.verdict.situation import Past
from tui.watch.verdict.verdict import Verdict

BLOCKED = Doing(state="D", wchan="folio_wait_bit_common")
UNREAD = replace(POLLS, io=False, gpm=False)
DOINGS = st.sampled_from([IDLES, LOADS, SPINS, POLLS, STOPPED, COMPILES, BLOCKED, UNREAD])
PHASES = st.sampled_from([phase for phase in Phase if phase not in (Phase.FAILED, Phase.STOPPED)])
MORE = st.sampled_from(
    [
        {"file_mib": 80.0},
        {"anon_mib": 80.0},
        {"written_mib": 80.0},
        {"memory_mib": 80.0},
        {"compiler_cpu": 0.5, "compilers": ("cicc", "ptxas")},
        {"memory_util": 40.0},
    ]
)
STEPS = st.lists(
    st.tuples(st.lists(DOINGS, min_size=3, max_size=3), st.integers(1, 80)), min_size=1, max_size=3
)


def after(
    steps: list[tuple[list[Doing], int]],
    phase: Phase,
    *,
    more: dict[str, object] | None = None,
    order: list[int] | None = None,
    past: Past | None = None,
) -> Verdict:
    """Play some steps; ``more`` is done (to be read) in the last 5 s by the first rank besides."""
    order = order or [0, 1, 2]
    host = VerdictHost(3, order=order)
    host.phase(phase)
    host.situation = replace(host.situation, past=past or Past(), ready=phase is Phase.READY)
    for doings, seconds in steps:
        host.doing = [doings[rank] for rank in order]
        host.run(seconds)
    first = order.index(0)
    seen = {**more, "io": True} if more else {}
    host.doing[first] = replace(host.doing[first], **seen)  # pyright: ignore[reportArgumentType]
    host.run(5)
    return judge(host.at(), host.movement)


@settings(deadline=None, max_examples=30)
@given(STEPS, PHASES, MORE)
def test_more_movement_never_makes_a_verdict_worse(
    steps: list[tuple[list[Doing], int]], phase: Phase, more: dict[str, object]
) -> None:
    less, moved = after(steps, phase), after(steps, phase, more=more)
    assert moved.severity <= less.severity
    assert moved.word in ("progressing", "ready", "suspended")


@settings(deadline=None, max_examples=30)
@given(STEPS, PHASES, st.permutations([0, 1, 2]))
def test_ranks_in_another_order_have_the_same_verdict_and_the_same_culprit(
    steps: list[tuple[list[Doing], int]], phase: Phase, order: list[int]
) -> None:
    one, other = after(steps, phase), after(steps, phase, order=order)
    assert (one.word, one.since_s, one.until_s) == (other.word, other.since_s, other.until_s)
    assert set(one.waiting) == set(other.waiting)
    assert (one.rank, one.pid) == (other.rank, other.pid)


@settings(deadline=None, max_examples=30)
@given(STEPS, PHASES)
def test_every_verdict_can_be_told(steps: list[tuple[list[Doing], int]], phase: Phase) -> None:
    found = after(steps, phase)
    assert found.sentence
    assert "{" not in found.sentence + found.cause + found.next_step + found.not_to_do
    assert len(found.figures) in range(1, 6)
    assert (found.until_s is None) or found.word == "quiet"
    assert sum(each.matched == "yes" for each in found.rules) >= 1
    assert found.rank not in found.waiting


@settings(deadline=None, max_examples=20)
@given(st.integers(1, 20), st.floats(0.0, 200.0), st.integers(10, 100))
def test_a_longer_past_never_makes_a_verdict_worse(count: int, silence_s: float, quiet_s: int) -> None:
    steps = [([LOADS] * 3, 10), ([POLLS] * 3, quiet_s)]
    short = after(steps, Phase.WEIGHTS, past=Past(silences_s=(silence_s,) * count))
    longer = after(steps, Phase.WEIGHTS, past=Past(silences_s=(silence_s + 50.0,) * count))
    assert longer.severity <= short.severity
