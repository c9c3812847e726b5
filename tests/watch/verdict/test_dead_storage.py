"""Who is named when storage does not answer: ranks that wait for it, not those that wait for them."""

import pytest
from verdict_asking import loaded, verdict
from verdict_host import Doing, VerdictHost

from tui.engines.phase import Phase

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
