"""The GPU pane as text."""

from dataclasses import replace

import pytest

from widgets.glyphs import ASCII
from widgets.gpu_rows import GpuRows
from widgets.lines import text_of, width_of
from widgets.values import GpuPanel, GpuRow, Mood

ROW = GpuRow(
    index=0,
    name="NVIDIA H200",
    memory_used_mib=94_720.0,
    memory_total_mib=143_771.0,
    slope_gib_s=2.31,
    utilisation_pct=97.0,
    history=(0.0, 50.0, 97.0),
    power_w=412.4,
    power_limit_w=700.0,
    temperature_c=54.0,
)
UNKNOWN = replace(
    ROW,
    memory_used_mib=None,
    memory_total_mib=None,
    slope_gib_s=None,
    utilisation_pct=None,
    history=(),
    power_w=None,
    power_limit_w=None,
    temperature_c=None,
)


def pane(*rows: GpuRow, sentence: str = "", caption: str = "") -> GpuRows:
    """Return a pane with these rows."""
    made = GpuRows()
    made.panel = GpuPanel(rows, sentence, caption)
    return made


def texts(made: GpuRows, width: int, height: int) -> list[str]:
    """Return the lines as text."""
    return [text_of(line) for line in made.lines(width, height)]


def test_a_row_tells_all_figures_in_eighty_cells() -> None:
    head, row = texts(pane(ROW), 80, 2)
    assert head.split() == ["1", "GPU", "memory", "GiB", "GiB/s", "util", "power", "W", "°C"]
    assert row.split() == ["0", row.split()[1], "92.5/140.4", "+2.31", "97%", "▁▅█", "412/700", "54"]


def test_heads_stand_over_the_end_of_their_columns() -> None:
    head, row = texts(pane(ROW), 120, 2)
    for name, figure in (("GiB/s", "+2.31"), ("util", "97%"), ("°C", "54"), ("power W", "412/700")):
        assert head.index(name) + len(name) == row.index(figure) + len(figure)


def test_what_is_not_known_is_said_in_words_and_never_as_nought() -> None:
    row = texts(pane(UNKNOWN), 80, 2)[1]
    assert row.split() == ["0", "memory", "n/a", "n/a", "n/a", "n/a", "n/a", "n/a"]
    assert texts(pane(replace(ROW, power_limit_w=None)), 80, 2)[1].split()[-2] == "412/n/a"


def test_an_idle_gpu_shows_real_noughts() -> None:
    idle = replace(ROW, memory_used_mib=0.0, slope_gib_s=-0.001, utilisation_pct=0.0)
    row = texts(pane(idle), 80, 2)[1].split()
    assert row[2:5] == ["0.0/140.4", "0.00", "0%"]


@pytest.mark.parametrize("width", range(12, 230, 7))
def test_every_line_fits_its_width(width: int) -> None:
    rows = [replace(ROW, index=index) for index in range(16)]
    panes = (
        pane(*rows),
        pane(ROW, UNKNOWN, replace(ROW, note="lost")),
        pane(sentence="no NVIDIA driver here"),
    )
    for made in panes:
        for height in (1, 2, 3, 9, 20):
            assert all(width_of(line) <= width for line in made.lines(width, height))


def test_a_note_stands_in_place_of_the_figures() -> None:
    lost = replace(ROW, index=3, note="lost since 12:03", mood=Mood.BAD)
    assert texts(pane(lost), 80, 2)[1] == "✕  3 NVIDIA H200: lost since 12:03"


def test_a_stale_row_is_dim_from_end_to_end() -> None:
    line = pane(replace(ROW, stale=True)).lines(80, 2)[1]
    assert {span.role for span in line} == {"stale"}


def test_why_the_figures_are_old_is_said_at_every_size() -> None:
    made = pane(*(replace(ROW, index=index) for index in range(8)), caption="740 of 1123 GiB")
    made.panel = replace(made.panel, alarm="driver has not answered for 7 s")
    for width, height in ((80, 9), (120, 10), (80, 1)):
        assert "driver has not answered for 7 s" in texts(made, width, height)[0]
    assert len(texts(made, 80, 9)) == 9
    assert texts(made, 80, 5)[0] == " 1 GPU  4 more: 1 PgDn · driver has not answered for 7 s"


def test_a_caption_too_long_for_the_heads_keeps_its_first_part_whole() -> None:
    made = pane(
        *(replace(ROW, index=index) for index in range(8)), caption="740 of 1123 GiB · driver 580.159.04"
    )
    assert texts(made, 80, 9)[0].startswith(" 1 GPU  740 of 1123 GiB   ")
    assert "driver 580.159.04" in texts(made, 120, 10)[0]


def test_sixteen_gpus_come_in_pages_that_say_what_is_missing() -> None:
    made = pane(*(replace(ROW, index=index) for index in range(16)), caption="16 GPUs")
    first = texts(made, 80, 9)
    assert "8 more: 1 PgDn" in first[0]
    assert [row.split()[0] for row in first[1:]] == [str(index) for index in range(8)]
    made.action_page(8)  # without a height yet, a page is one row
    second = texts(made, 80, 9)
    assert "8 more: PgUp" in second[0]
    assert [row.split()[0] for row in second[1:]] == [str(index) for index in range(8, 16)]


def test_no_row_says_why() -> None:
    lines = texts(pane(sentence="no NVIDIA driver on gpu01: nothing to show"), 40, 4)
    assert " ".join(" ".join(lines[1:]).split()) == "no NVIDIA driver on gpu01: nothing to show"
    assert "no GPU reading yet" in texts(pane(), 80, 3)[1]
    assert (pane(sentence="word " * 40).rows_wanted(80), pane().rows_wanted(80)) == (3, 1)
    assert pane(ROW, ROW).rows_wanted(80) == 2


def test_one_line_of_bars_is_left_on_a_small_screen() -> None:
    line = texts(pane(ROW, replace(ROW, memory_used_mib=0.0), UNKNOWN), 80, 1)[0]
    assert line.split(" ", 3)[3].strip() == "x3  ▆▁ 92/281 GiB, 1 without a reading"


def test_the_ascii_set_draws_ascii_only() -> None:
    made = GpuRows(glyphs=ASCII)
    made.panel = GpuPanel((ROW,))
    assert all(line.isascii() for line in texts(made, 80, 2))
