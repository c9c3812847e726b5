"""Which lines of a log tell of progress, and which only say the same again."""

import time
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.engines.marks import Mark, MarkKind, Progress, Speaker
from tui.engines.phase import Phase
from tui.engines.reader import Heard, LineReader
from tui.engines.registry import engine_named
from tui.watch.log_news import TEMPLATES, VARIES, LogNews

PLAIN = Heard()


def news(*lines: str, heard: Heard = PLAIN) -> list[bool]:
    """Return of which of some lines of one phase is told that they are news."""
    told = LogNews()
    return [told.new(line, heard, Phase.WEIGHTS) for line in lines]


@pytest.mark.parametrize(
    ("line", "again"),
    [
        ("waiting for core engine, 10 s", "waiting for core engine, 310 s"),
        ("[2026-11-29 10:00:01] no block for 60 seconds", "[2026-11-29 10:01:01] no block for 60 seconds"),
        ("(EngineCore pid=71) still waiting", "(EngineCore pid=9215) still waiting"),
        ("lock 0x7f3a9c of 1b9d-4c2f-dead-beef", "lock 0x00ee12 of 77af-deca-0e0e-abcd"),
        ("/srv/model/part-00001-of-00002 at 1.5e-3", "/srv/model/part-00002-of-00002 at 2.0e7"),
        ("warte auf die Größe 5", "warte auf die Größe 6"),
        ("等待 5 秒", "等待 15 秒"),
    ],
)
def test_a_line_that_differs_in_figures_alone_says_the_same_again(line: str, again: str) -> None:
    assert news(line, again) == [True, False]


@pytest.mark.parametrize(
    ("line", "other"),
    [
        ("args(path='/srv/model-1',port=30000)", "args(url='http://10.0.0.1',port=30000)"),
        ("Load weight begin", "Load weight end"),
        ("等待", "完成"),
    ],
)
def test_a_line_in_other_words_is_news_also_where_each_word_has_figures(line: str, other: str) -> None:
    assert news(line, other) == [True, True]


@pytest.mark.parametrize("line", ["", "   ", "12:30 5", "-----", "====== 3 ======"])
def test_a_line_without_words_is_no_news(line: str) -> None:
    assert news(line) == [False]


SHM = "No available shared memory broadcast block found in 60 second. This typically happens when"
HEARTBEATS = (
    ("vllm", f"(EngineCore_DP0 pid=71) INFO 11-29 13:{{:02d}}:00 [shm_broadcast.py:501] {SHM}"),
    (
        "vllm",
        "(APIServer pid=7) DEBUG 11-29 13:{:02d}:10 [utils.py:773] Waiting for 1 local, 0 remote core engine",
    ),
    (
        "vllm",
        "INFO 11-29 13:{:02d}:10 ray_utils.py:298] Waiting for creating a placement group for {} seconds.",
    ),
    ("sglang", "[2026-11-29 13:{:02d}:10] Still waiting to acquire lock on /root/.cache/x.lock ({} s)"),
)


@pytest.mark.parametrize(("engine", "line"), HEARTBEATS)
def test_known_heartbeats_in_an_hour_are_no_news_after_the_first(engine: str, line: str) -> None:
    found = engine_named(engine)
    assert found is not None
    reader, told = LineReader(found), LogNews()
    lines = [line.format(minute, 60 * minute) for minute in range(60)]
    assert sum(told.new(each, reader.read(each), Phase.WEIGHTS) for each in lines) <= 1


def test_what_another_rank_said_before_is_news_from_one_that_says_it_later() -> None:
    told = LogNews()
    said = [
        told.new(f"[10:00:0{second} TP{rank}] Load weight end", Heard(speaker=Speaker(f"TP{rank}")), None)
        for second, rank in enumerate((0, 5, 0, 5))
    ]
    assert said == [True, True, False, False]


def test_the_same_line_is_news_in_another_phase() -> None:
    told = LogNews()
    phases = (Phase.LAUNCH, Phase.LAUNCH, Phase.WEIGHTS, Phase.WEIGHTS)
    assert [told.new("it goes on", PLAIN, phase) for phase in phases] == [True, False, True, False]


@pytest.mark.parametrize(
    "mark",
    [
        Mark(MarkKind.HEARTBEAT),
        Mark(MarkKind.FACT, heartbeat=True),
        Mark(MarkKind.ACCESS),
        Mark(MarkKind.PROGRESS, progress=Progress(1, 4, "shards")),
    ],
)
def test_heartbeats_requests_and_bars_are_none(mark: Mark) -> None:
    assert news("some words", heard=Heard((mark,))) == [False]


def test_a_log_whose_every_line_is_new_is_not_remembered_without_end() -> None:
    told = LogNews()
    letters = "ghijklmnopqrstuvwxyz"
    lines = [f"{a}{b}{c}{d}" for a in letters for b in letters for c in letters for d in letters[:2]]
    assert len(lines) > TEMPLATES
    assert all(told.new(line, PLAIN, None) for line in lines)
    assert told.new(lines[0], PLAIN, None)


def test_of_long_lines_little_is_kept_and_their_ends_still_count() -> None:
    told = LogNews()
    words = ["".join(chr(97 + int(figure)) for figure in str(number)) for number in range(100)]
    tracemalloc.start()
    try:
        began = tracemalloc.get_traced_memory()[0]
        assert all(told.new("argument " * 5000 + word + " end", PLAIN, Phase.WEIGHTS) for word in words)
        grown = tracemalloc.get_traced_memory()[0] - began
    finally:
        tracemalloc.stop()
    assert grown < 100_000, "45 kB a line would be 4.5 MB"


@pytest.mark.parametrize("text", ["y" * 65_536, "a_" * 32_768, "\u00e9" * 65_536])
def test_a_long_line_is_no_more_work_than_a_short_one(text: str) -> None:
    begun_s = time.process_time()
    assert news(text, text) == [True, False]
    assert time.process_time() - begun_s < 0.5


@given(st.lists(st.text("ab0 17_-/.é٣fF", max_size=9), max_size=30))
def test_what_is_known_by_its_figures_is_judged_as_by_its_words(lines: list[str]) -> None:
    told, said = LogNews(), {""}
    for line in lines:
        template = VARIES.sub(" ", line).strip()
        assert told.new(line, PLAIN, None) == (template not in said)
        said.add(template)
