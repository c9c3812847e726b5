"""Who is named when storage does not answer: ranks that wait for it, not those that wait for them."""

import pytest
from verdict_asking import loaded, verdict
from verdict_host import LOADS, Doing, VerdictHost

from tui.engines.phase import Phase
from tui.watch.verdict.situation import Past

STUCK = Doing(state="D", wchan="folio_wait_bit_common")
WAITS = Doing(wchan="pipe_read")


def stuck(*ranks: int, of: int) -> VerdictHost:
    """Return a host on which these ranks wait for storage and the others for them."""
    host = loaded(of, Phase.WEIGHTS, seconds=5)
    host.doing = [STUCK if rank in ranks else WAITS for rank in range(of)]
    return host


@pytest.mark.parametrize(
    ("ranks", "named"), [((1,), "TP1 waits"), ((0, 2), "TP0 and TP2 wait"), ((0, 1, 2), "3 ranks wait")]
)
def test_all_that_storage_does_not_answer_are_named_and_only_the_others_wait(
    ranks: tuple[int, ...], named: str
) -> None:
    host = stuck(*ranks, of=4)
    host.run(95)
    found = verdict(host)

    assert found.word == "hung"
    assert f"{named} for it in the kernel" in found.cause
    assert found.rank in {f"TP{rank}" for rank in ranks}
    assert found.waiting == tuple(f"TP{rank}" for rank in range(4) if rank not in ranks)


@pytest.mark.parametrize("ranks", [(0, 1), (0, 1, 2)])
def test_a_rank_that_sleeps_while_several_wait_for_storage_is_not_blamed(ranks: tuple[int, ...]) -> None:
    host = stuck(*ranks, of=4 if len(ranks) == 3 else 3)
    host.run(70)
    found = verdict(host)

    assert found.word == "stalled"
    assert found.rank is None
    assert "storage does not answer" in found.cause


def test_of_two_ranks_the_one_that_waits_for_storage_is_named_before_it_is_proved() -> None:
    host = stuck(1, of=2)
    host.run(70)
    found = verdict(host)

    assert (found.word, found.rank, found.waiting) == ("stalled", "TP1", ("TP0",))


def test_what_the_kernel_says_of_waits_for_storage_is_a_figure_where_a_rank_waits_for_it() -> None:
    host = stuck(1, of=2)
    host.io_some_pct = 63.0
    host.run(70)
    before = verdict(host)
    assert "I/O pressure 63 % of the last 10 s" in before.figures
    host.hung_tasks += 2
    host.run(20)
    told = "I/O pressure 63 % of the last 10 s, the kernel counts 2 more hung tasks since the load began"
    assert told in verdict(host).figures


def test_what_the_kernel_says_of_storage_is_no_figure_where_no_rank_waits_for_it_and_makes_no_verdict() -> (
    None
):
    calm, pressed = loaded(2, Phase.WEIGHTS), loaded(2, Phase.WEIGHTS)
    pressed.io_some_pct = 99.0
    pressed.hung_tasks += 5
    for host in (calm, pressed):
        host.run(60)
    assert verdict(pressed) == verdict(calm)


def test_a_slow_load_of_weights_is_shown_with_the_pressure_on_storage() -> None:
    host = VerdictHost(1)
    host.doing = [LOADS]
    host.phase(Phase.WEIGHTS)
    host.io_some_pct = 41.0
    host.run(60)
    found = verdict(host, rate_mib_s=100.0, past=Past(best_rate_mib_s=1000.0))
    assert found.word == "slow"
    assert "I/O pressure 41 % of the last 10 s" in found.figures
    host.io_some_pct = 0.0
    host.run(5)
    assert not any("pressure" in text for text in verdict(host).figures)


def test_hung_tasks_of_an_earlier_load_are_none_of_this_one() -> None:
    host = stuck(1, of=2)
    host.run(10)
    host.hung_tasks += 2
    host.run(10)
    host.movement.new_load(host.now_s)
    host.run(10)
    assert host.movement.hung_tasks == 0
