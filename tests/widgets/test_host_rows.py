"""Several hosts as a line of tabs, as rows, and as an overview."""

from dataclasses import replace

import pytest

from widgets.glyphs import ASCII, BLOCK, Glyphs
from widgets.host_names import short_names
from widgets.host_rows import HostRows, entries
from widgets.hosts_pane import HostsPane
from widgets.lines import text_of, width_of
from widgets.values import HostRow, LoadRow, Mood

LOADING = HostRow(
    name="gpu-01",
    mood=Mood.ACTIVE,
    word="loading",
    load="weights 0:42",
    load_mood=Mood.ACTIVE,
    clock="T+ 1:02",
    left="T- 3:10",
    memory="412/1128 GiB",
    utilisation="97 %",
    verdict="PROGRESSING",
    verdict_mood=Mood.ACTIVE,
    link="up",
    sentence="not ready: port refuses connections",
)
DEAD = HostRow(
    name="gpu-03",
    mood=Mood.BAD,
    word="not reached",
    link="refused",
    link_mood=Mood.BAD,
    sentence="gpu-03 port 22 refused the connection",
)
THREE = (replace(LOADING, shown=True), replace(LOADING, name="gpu-02", node="1 of 2"), DEAD)
EIGHT = tuple(
    replace(LOADING, name=f"gpu-node-{number}.lab.example.org", shown=number == 7) for number in range(1, 9)
)


def texts(rows: tuple[HostRow, ...], width: int, height: int, glyphs: Glyphs = BLOCK) -> list[str]:
    pane = HostRows(glyphs=glyphs)
    pane.rows = rows
    lines = pane.lines(width, height)
    assert all(width_of(line) <= width for line in lines)
    return [text_of(line) for line in lines]


def test_one_row_is_a_line_of_tabs_with_how_each_host_stands() -> None:
    assert texts(THREE, 80, 1) == [" ► gpu-01  ► gpu-02  ✕ gpu-03 "]
    assert texts(THREE, 80, 1, ASCII) == [" > gpu-01  > gpu-02  x gpu-03 "]


def test_eight_long_names_use_the_eighty_cells_there_are() -> None:
    (line,) = texts(EIGHT, 80, 1)
    assert line.split() == [word for number in range(1, 9) for word in ("►", f"gpu…-{number}")]
    assert len(line) == 80


def test_rows_give_the_names_the_room_that_is_left_and_cut_them_so_that_they_differ() -> None:
    long = [f"inference-gpu-node-{number:02}.lab.example.org" for number in range(1, 5)]
    rows = [replace(DEAD, name=name) for name in long]
    assert all(name in line for name, line in zip(long, texts(tuple(rows), 80, 5)[1:], strict=True))
    narrow = [line.split()[1] for line in texts(tuple(rows), 36, 5)[1:]]
    assert len(set(narrow)) == 4
    assert all(name.endswith(f"{number:02}") for number, name in enumerate(narrow, 1))


@pytest.mark.parametrize("shown", [0, 11, 23])
def test_where_not_all_tabs_fit_the_shown_one_is_there_and_the_others_are_counted(shown: int) -> None:
    many = tuple(replace(LOADING, name=f"host{at:02}-{at:02}", shown=at == shown) for at in range(24))
    (line,) = texts(many, 60, 1)
    assert f"…-{shown:02}" in line
    hidden = sum(int(word) for word in line.split() if word.startswith("+"))
    assert hidden + line.count("►") == 24


def test_each_host_has_a_row_under_its_heads_where_there_is_room() -> None:
    head, first, second, dead = texts(THREE, 120, 4)
    names = ["host", "load", "clock", "to", "ready", "GPU", "memory", "GPUs", "verdict", "link", "node"]
    assert head.split() == names
    assert first.startswith(
        " ►  gpu-01  weights 0:42  T+ 1:02   T- 3:10  412/1128 GiB  97 %  PROGRESSING  up"
    )
    assert second.rstrip().endswith("1 of 2")
    assert dead.split() == ["✕", "gpu-03", "-", "-", "-", "-", "-", "-", "refused", "-"]


def test_where_it_is_narrow_host_verdict_and_link_stay() -> None:
    _, first, _, dead = texts(THREE, 44, 4)
    assert first.split() == ["►", "gpu-01", "PROGRESSING", "up"]
    assert dead.split() == ["✕", "gpu-03", "-", "refused"]


def test_the_overview_counts_the_hosts_and_tells_of_the_one_under_the_pointer() -> None:
    pane = HostsPane(THREE)
    shown = [text_of(line) for line in pane.lines(80, 24)]
    assert "3 hosts: 2 loading, 1 not reached" in shown[0]
    assert "  not ready: port refuses connections" in shown
    pane.action_move(5)
    shown = [text_of(line) for line in pane.lines(80, 24)]
    assert "  gpu-03 port 22 refused the connection" in shown


def test_the_overview_scrolls_to_the_pointer() -> None:
    pane = HostsPane(EIGHT)
    pane.action_move(-8)
    assert "gpu-node-1" in text_of(pane.lines(80, 10)[2])
    pane.action_move(8)
    assert any("gpu-node-8" in text_of(line) for line in pane.lines(80, 10)[2:6])
    assert len(pane.lines(80, 10)) <= 10


def test_names_lose_first_what_does_not_tell_them_apart() -> None:
    names = ["root@gpu-01.lab", "root@gpu-02.lab", "spare.lab"]
    assert short_names(names, 60) == names
    assert short_names(names, 20) == ["gpu-01", "gpu-02", "spare"]
    assert short_names(names, 14) == ["g…-01", "g…-02", "…are"]


@pytest.mark.parametrize(
    ("names", "room", "shown"),
    [
        (["a.east", "a.west"], 8, ["a.e…", "a.w…"]),
        (["10.0.0.1", "10.0.0.12"], 8, ["…0.1", "….12"]),
        (["east1", "east2", "west1", "west2"], 16, ["e…t1", "e…t2", "w…t1", "w…t2"]),
        (["alpha-inference-server", "beta-inference-server"], 20, ["alpha…rver", "beta-…rver"]),
        (["srv-eu-a-pool-prod", "srv-eu-b-pool-prod"], 14, ["srv-…a…", "srv-…b…"]),
        (["dead", "gpu-node-01", "gpu-node-02"], 20, ["dead", "gpu-…-01", "gpu-…-02"]),
    ],
)
def test_names_that_share_their_beginning_or_end_stay_apart(
    names: list[str], room: int, shown: list[str]
) -> None:
    assert short_names(names, room) == shown


def test_no_two_of_many_names_look_alike_in_any_room_that_leaves_each_enough() -> None:
    places = [f"{where}-rack{rack}" for where in ("east", "west") for rack in (1, 2)]
    names = [f"{place}-node{node:02}-ib0" for place in places for node in range(4)]
    for each in range(12, 24):
        found = short_names(names, each * len(names))
        assert len(set(found)) == len(names), each
        assert sum(map(len, found)) <= each * len(names)


# Loads over several hosts.

WAITS = "node 0 waits for node 1 (gpu-02), which still loads weights"
JOINED = LoadRow("SGLang on 2 nodes", (2, 0), Mood.ACTIVE, "weights", "T- 3:10", "PROGRESSING", WAITS)
OF_ONE = (
    replace(LOADING, name="gpu-02", node="1 of 2", joined=JOINED, shown=True, sentence="it loads"),
    replace(LOADING, name="gpu-09"),
    replace(LOADING, name="gpu-01", node="0 of 2", joined=JOINED),
)


@pytest.mark.parametrize(("width", "said"), [(80, "node 0 waits"), (120, WAITS)])
def test_the_nodes_of_a_load_stand_under_its_line_in_their_order(width: int, said: str) -> None:
    rows = HostRows()
    rows.rows = OF_ONE
    lines = [text_of(line) for line in rows.lines(width, 5)]
    assert [line.split()[1] for line in lines[1:]] == ["SGLang", "gpu-01", "gpu-02", "gpu-09"]
    assert "SGLang on 2 nodes · weights · T- 3:10 · PROGRESSING" in lines[1]
    assert said in lines[1]
    assert lines[2].index("gpu-01") > lines[4].index("gpu-09")
    assert all(width_of(line) <= width for line in rows.lines(width, 5))


def test_beside_the_tabs_stands_the_load_of_the_shown_host_as_far_as_there_is_room() -> None:
    rows = HostRows()
    rows.rows = OF_ONE
    assert text_of(rows.lines(80, 1)[0]).endswith("gpu-01  · SGLang on 2 nodes · weights · T- 3:10")
    assert text_of(rows.lines(60, 1)[0]).endswith("gpu-01  · SGLang on 2 nodes · weights")
    assert text_of(rows.lines(40, 1)[0]).rstrip().endswith("gpu-01")
    rows.rows = tuple(replace(row, shown=row.name == "gpu-09") for row in OF_ONE)
    assert "nodes" not in text_of(rows.lines(80, 1)[0])


def test_the_pointer_moves_as_the_hosts_stand_and_says_what_is_to_be_said_of_the_load() -> None:
    pane = HostsPane(OF_ONE)
    seen: list[str] = []
    for step in (-5, 1, 1, 1):
        pane.action_move(step)
        seen.append(pane.rows[pane.pointer].name)
    assert seen == ["gpu-01", "gpu-02", "gpu-09", "gpu-09"]
    pane.action_move(-1)
    text = " ".join(" ".join(text_of(line) for line in pane.lines(80, 20)).split())
    assert text.endswith(f"it loads SGLang on 2 nodes: {WAITS}")


def test_two_loads_over_the_same_hosts_have_a_line_each() -> None:
    other = replace(JOINED, name="vLLM on 2 nodes", members=(3,))
    rows = (*OF_ONE, replace(LOADING, name="gpu-03", joined=other))
    assert entries(rows) == [JOINED, 2, 0, 1, other, 3]
