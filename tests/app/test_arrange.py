"""Where the panes go."""

from dataclasses import replace
from itertools import product

import pytest

from tui.screens.arrange import Box, Wants, arrange

LOADING = Wants(gpus=8)
PANES = ["gpus", "ladder", "log", "bench", "notes", "lanes"]


def heights(width: int, height: int, wants: Wants) -> dict[str, int]:
    """Return the height of each pane."""
    return {name: box[3] for name, box in arrange(width, height, wants).items()}


def test_eighty_by_twenty_four_holds_eight_gpus_the_ladder_and_a_log() -> None:
    assert heights(80, 24, LOADING) == {
        "header": 1,
        "status": 1,
        "footer": 1,
        "gpus": 9,
        "ladder": 3,
        "log": 9,
    }


def test_the_phases_take_two_lines_from_the_log() -> None:
    boxes = arrange(80, 24, replace(LOADING, phases=2))
    assert boxes["phases"] == (0, 1, 80, 2)
    assert boxes["gpus"] == (0, 3, 80, 9)
    assert boxes["log"][3] == 7
    assert arrange(200, 50, replace(LOADING, phases=2))["log"] == (101, 3, 99, 45)


def test_a_small_screen_has_one_line_of_phases_and_a_tiny_one_none() -> None:
    assert heights(60, 15, replace(LOADING, phases=2))["phases"] == 1
    assert "phases" not in heights(60, 9, replace(LOADING, phases=2))


def test_the_verdict_has_one_row_two_or_three_above_the_phases() -> None:
    judged = replace(LOADING, phases=2, verdict=3)
    boxes = arrange(80, 24, judged)
    assert (boxes["verdict"], boxes["phases"]) == ((0, 1, 80, 2), (0, 3, 80, 2))
    assert boxes["log"][3] == 5
    assert heights(80, 22, judged)["verdict"] == 1
    assert heights(100, 30, judged)["verdict"] == 2
    assert heights(120, 40, judged)["verdict"] == 3
    assert heights(40, 9, judged)["verdict"] == 1
    assert "verdict" not in arrange(40, 8, judged)
    assert "verdict" not in arrange(120, 40, LOADING)


def test_the_ranks_have_room_where_the_log_stays_long() -> None:
    ranks = replace(LOADING, phases=2, verdict=3, lanes=8)
    assert "lanes" not in arrange(80, 24, ranks)
    assert "lanes" not in arrange(120, 40, ranks)
    assert heights(120, 40, replace(ranks, gpus=2, lanes=2))["lanes"] == 3
    tall = heights(120, 50, ranks)
    assert (tall["lanes"], tall["log"]) == (9, 16)
    assert heights(200, 50, ranks)["lanes"] == 9


def test_the_ranks_get_what_there_is_when_they_are_looked_at() -> None:
    ranks = replace(LOADING, phases=2, verdict=3, lanes=8, lead="lanes")
    assert heights(120, 40, ranks)["lanes"] == 9
    assert heights(80, 24, ranks)["lanes"] == 4
    assert heights(80, 24, replace(ranks, zoomed="lanes"))["lanes"] == 21


def test_a_benchmark_gets_its_whole_table_when_it_is_looked_at_and_a_line_otherwise() -> None:
    done = Wants(gpus=8, bench=9)
    assert heights(80, 24, replace(done, lead="bench"))["bench"] == 9
    assert heights(80, 24, replace(done, lead="log"))["bench"] == 1
    assert heights(120, 40, done)["bench"] == 9


def test_few_gpus_leave_room_for_the_whole_ladder() -> None:
    assert heights(80, 24, Wants(gpus=2))["ladder"] == 6


def test_sixteen_gpus_are_paged_where_they_do_not_fit() -> None:
    assert heights(80, 24, Wants(gpus=16))["gpus"] == 9
    assert heights(120, 50, Wants(gpus=16))["gpus"] == 18
    assert heights(200, 50, Wants(gpus=16))["gpus"] >= 18


def test_a_wide_screen_has_the_log_in_a_column_of_its_own() -> None:
    boxes = arrange(200, 50, Wants(gpus=8, bench=9))
    assert boxes["log"] == (101, 1, 99, 47)
    assert boxes["gpus"][2] == 99
    assert boxes["notes"][3] > 5


def test_a_small_screen_keeps_one_line_of_gpus_one_of_readiness_and_the_log() -> None:
    assert heights(60, 15, LOADING) == {
        "header": 1,
        "status": 1,
        "footer": 1,
        "gpus": 1,
        "ladder": 1,
        "log": 10,
    }


def test_a_zoomed_pane_has_all_but_header_status_and_footer() -> None:
    assert arrange(80, 24, replace(LOADING, zoomed="ladder"))["ladder"] == (0, 1, 80, 21)
    assert "log" not in arrange(80, 24, replace(LOADING, zoomed="ladder"))


@pytest.mark.parametrize("lead", PANES)
@pytest.mark.parametrize("zoomed", [None, "bench"])
@pytest.mark.parametrize("bench", [0, 3, 9, 40])
def test_at_every_size_panes_stay_on_the_screen_and_apart(lead: str, zoomed: str | None, bench: int) -> None:
    for gpus, phases, verdict, lanes in product((2, 8, 16, 64), (0, 1, 2), (0, 1, 3), (0, 8, 64)):
        wants = Wants(
            gpus=gpus, phases=phases, bench=bench, verdict=verdict, lanes=lanes, lead=lead, zoomed=zoomed
        )
        for width, height in ((1, 1), (20, 3), (40, 8), (80, 19), (80, 24), (120, 40), (180, 30), (200, 50)):
            check(width, height, arrange(width, height, wants))


def test_several_hosts_have_a_line_of_tabs_and_a_row_each_on_a_large_screen() -> None:
    three = replace(LOADING, hosts=3)
    assert arrange(80, 24, three)["hosts"] == (0, 1, 80, 1)
    assert arrange(80, 24, three)["gpus"] == (0, 2, 80, 9)
    assert heights(120, 40, three)["hosts"] == 4
    assert heights(120, 40, replace(LOADING, hosts=8))["hosts"] == 1
    assert heights(120, 60, replace(LOADING, hosts=8))["hosts"] == 9
    assert heights(120, 40, replace(three, zoomed="log"))["hosts"] == 1
    assert "hosts" not in arrange(120, 40, LOADING)


@pytest.mark.parametrize("hosts", [1, 3, 8, 64])
def test_with_several_hosts_panes_stay_on_the_screen_and_apart(hosts: int) -> None:
    for lead, zoomed, verdict in product(PANES, (None, "log"), (0, 3)):
        wants = Wants(gpus=8, phases=2, verdict=verdict, lanes=8, lead=lead, zoomed=zoomed, hosts=hosts)
        for width, height in ((1, 1), (20, 3), (40, 8), (80, 19), (80, 24), (120, 40), (180, 30), (200, 50)):
            check(width, height, arrange(width, height, wants))


def check(width: int, height: int, boxes: dict[str, Box]) -> None:
    """Fail where a pane leaves the screen, lies over another, or leaves a hole above the footer."""
    taken: set[tuple[int, int]] = set()
    for x, y, box_width, box_height in boxes.values():
        assert box_width > 0
        assert box_height > 0
        assert x + box_width <= width
        assert y + box_height <= height
        cells = {(x, row) for row in range(y, y + box_height)}
        assert not cells & taken
        taken |= cells
    assert {row for _, row in taken} == set(range(height))


@pytest.mark.parametrize("size", [(80, 24), (60, 15), (120, 40)])
@pytest.mark.parametrize("lead", PANES)
def test_the_pane_that_is_looked_at_is_always_there(size: tuple[int, int], lead: str) -> None:
    assert lead in arrange(*size, Wants(gpus=8, bench=0, lead=lead))


def test_a_replay_has_a_line_under_the_header_also_when_zoomed() -> None:
    boxes = arrange(80, 24, replace(LOADING, phases=2, replay=True))
    assert boxes["replay"] == (0, 1, 80, 1)
    assert boxes["phases"] == (0, 2, 80, 2)
    assert boxes["log"][3] == 6
    zoomed = arrange(80, 24, replace(LOADING, replay=True, zoomed="log"))
    assert (zoomed["replay"], zoomed["log"]) == ((0, 1, 80, 1), (0, 2, 80, 20))
