"""Rows are found by what a message begins with, and say what their groups hold."""

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tui.engines.fault_index import FaultIndex
from tui.engines.faults import COMMON_FAULTS
from tui.engines.generic import GENERIC
from tui.engines.index import RuleIndex
from tui.engines.lines import Bar, last_bar
from tui.engines.marks import NOBODY, FaultKind, Figure, Mark, MarkKind, Progress, Speaker, Steady
from tui.engines.phase import Phase
from tui.engines.registry import ENGINES
from tui.engines.rules import (
    FaultRule,
    Rule,
    bars,
    begins,
    ends,
    facts,
    first_character,
    first_word,
    first_words,
    heartbeats,
    identities,
    steady,
)
from tui.engines.values import MarkMaker, number

RULES = [rule for engine in (*ENGINES, GENERIC) for rule in engine.rules]


def mark(rule: Rule, message: str, bar: Bar | None = None, speaker: Speaker = NOBODY) -> Mark:
    found = rule.pattern.match(message)
    assert found is not None
    return MarkMaker(rule).mark(found, speaker, bar)


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        (r"Load weight begin\.", ("Load",)),
        (r"Load weight|Init torch", ("Load", "Init")),
        (r"(?:Loading|Multi-thread loading) x", ("Loading", "Multi-thread")),
        (r"server_args=(?P<arguments>.*)", ("server_args",)),
        (r"Connected", ()),
        (r"Prefill batch\b", ("Prefill",)),
        (r"Load?ing x", ()),
        (r"Ab+ c", ()),
        (r"(?:draft )?model x", ()),
        (r"(?:draft |main )+model x", ()),
        (r"\[shutdown\] ", ("[shutdown]",)),
        (r"\d+ engines", ()),
        (r"a[bc] d", ()),
        (r"One |[t]wo ", ()),
    ],
)
def test_first_words_are_those_that_every_match_begins_with(pattern: str, words: tuple[str, ...]) -> None:
    assert first_words(pattern) == words


@pytest.mark.parametrize(
    ("pattern", "character"),
    [
        (r"\[\w+\] x", "["),
        (r" +x", " "),
        (r"a?b", ""),
        (r"\d+ x", ""),
        (r"[ab] x", ""),
        (r"Load\w+ x|Long", "L"),
        (r"Load\w+ x|Init\w+", ""),
        (r"(?:a|b)c", ""),
    ],
)
def test_a_first_character_is_told_where_every_match_has_it(pattern: str, character: str) -> None:
    assert first_character(pattern) == character


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.pattern.pattern[:40])
def test_what_a_row_matches_begins_with_one_of_its_words(rule: Rule) -> None:
    @settings(max_examples=8, suppress_health_check=[HealthCheck.too_slow], deadline=None, database=None)
    @given(st.from_regex(rule.pattern))
    def begins_so(text: str) -> None:
        message = text if rule.pattern.match(text) else ""
        if message and rule.words:
            assert first_word(message) in rule.words
        if message and first_character(rule.pattern.pattern):
            assert message[0] == first_character(rule.pattern.pattern)

    begins_so()


def test_of_two_rows_that_match_the_first_of_the_table_counts() -> None:
    rows = (*begins(Phase.WEIGHTS, (r"\w+ing model x", "")), *begins(Phase.CAPTURE, (r"Loading model", "")))
    index = RuleIndex(rows)
    first, second = index.find("Loading model x", NOBODY), index.find("Loading model y", NOBODY)
    assert first is not None
    assert second is not None
    assert (first.phase, second.phase) == (Phase.WEIGHTS, Phase.CAPTURE)
    assert RuleIndex(rows[::-1]).find("Loading model x", NOBODY) == second
    assert index.find("Model x", NOBODY) is None


def test_a_row_without_groups_makes_one_mark_a_speaker() -> None:
    (rule,) = begins(Phase.WEIGHTS, (r"Load weight begin", ""), each=True, part="draft")
    maker, found = MarkMaker(rule), rule.pattern.match("Load weight begin")
    assert found is not None
    one, other = Speaker("TP0"), Speaker("TP1")
    assert maker.mark(found, one) == Mark(MarkKind.BEGINS, one, Phase.WEIGHTS, each=True, part="draft")
    assert maker.mark(found, one) is maker.mark(found, one)
    assert maker.mark(found, other).speaker == other


def test_groups_become_seconds_part_and_figures() -> None:
    (rule,) = ends(
        Phase.WEIGHTS,
        (r"took (?P<seconds>\S+) s(?: for (?P<part>.*?), (?P<weights_gib>\S+)? of (?P<used_share>\S+))?", ""),
    )  # fmt: skip
    assert mark(rule, "took 1,234.5 s").seconds == 1234.5
    assert mark(rule, "took x s").seconds is None
    full = mark(rule, "took 1 s for  the draft , 12.5 of 0.25")
    assert (full.part, full.figures) == ("the draft", (Figure("weights_gib", 12.5), Figure("used_pct", 25.0)))
    assert mark(rule, "took 1 s for it,  of 0.5").figures == (Figure("used_pct", 50.0),)


def test_a_fact_keeps_version_and_arguments() -> None:
    (rule,) = facts((r"v(?P<version>\S+)(?: with (?P<arguments>.*))?", ""))
    assert mark(rule, "v0.32").version == "0.32"
    assert mark(rule, "v0.32 with a=1").arguments == "a=1"


def test_steady_figures_are_numbers_and_a_share_becomes_per_cent() -> None:
    (rule,) = steady(
        (r"run (?P<running>\d+) at (?P<output_tokens_per_s>\S+)(?: of (?P<kv_used_share>\S+))?", "")
    )
    assert mark(rule, "run 3 at 83.0k of 0.12").steady == Steady(83000.0, None, 3, None, 12.0, None)
    assert mark(rule, "run 3 at 9.2").steady == Steady(9.2, None, 3, None, None, None)


def test_an_identity_is_whole_numbers() -> None:
    (rule,) = identities((r"rank (?P<global_rank>\S+) of (?P<world_size>\d+)", ""))
    identity = mark(rule, "rank x of 8").identity
    assert identity is not None
    assert (identity.world_size, identity.global_rank) == (8, None)


def test_a_heartbeat_without_a_phase_is_one() -> None:
    (rule,) = heartbeats((r"No block found in (?P<wait_s>\d+)", ""))
    assert mark(rule, "No block found in 60").kind is MarkKind.HEARTBEAT


def test_a_bar_tells_progress_and_one_beyond_its_total_none() -> None:
    (rule,) = bars(Phase.CAPTURE, "sizes", (r"Capturing (?:\((?P<current>bs=\d+))?", ""))
    bar = Bar("Capturing (bs=16", "3", "4", 0)
    assert mark(rule, bar.text, bar).progress == Progress(3.0, 4.0, "sizes", bar.text, "bs=16")
    assert mark(rule, "Capturing ", Bar("Capturing ", "5", "4", 0)).progress is None
    assert mark(rule, "Capturing ", Bar("Capturing ", "0", "0", 0)).progress is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1,001,650", 1001650.0),
        ("83.0k", 83000.0),
        ("12.", 12.0),
        ("2M", 2e6),
        ("x", None),
        ("", None),
        (None, None),
    ],
)
def test_printed_figures_are_read(text: str | None, value: float | None) -> None:
    assert number(text) == value


@pytest.mark.parametrize(
    ("text", "bar"),
    [
        ("Loading shards:  50% Completed | 1/2 [07:06<07:06, 4.74s/it]", ("Loading shards", "1", "2")),
        ("Capturing (bs=4):  25%|██▌       | 1/4 [00:03<00:10,  3.62s/it]", ("Capturing (bs=4)", "1", "4")),
        ("Tuning gemm1:   0%|          | 0/4 [00:00<?, ?it/s]", ("Tuning gemm1", "0", "4")),
        ("  0%|          | 0/4 [00:00<?, ?it/s]", ("", "0", "4")),
        ("model.bin: 100%|███| 1.2G/1.2G [00:01<00:00]", ("model.bin", "1.2G", "1.2G")),
        ("A: 10%|█ | 1/9 [x]B: 20%|█ | 2/9 [x]", ("B", "2", "9")),
        ("A: 10%|█ | 1/9 [x] done at 50%", ("A", "1", "9")),
        ("usage: 50%", None),
        ("50%| 1/2", None),
        ("a|b: 5%|x| 1/2 [y]", ("b", "1", "2")),
    ],
)
def test_the_last_drawing_of_a_bar_is_found(text: str, bar: tuple[str, str, str] | None) -> None:
    found = last_bar(text)
    assert (None if found is None else found[:3]) == bar
    assert found is None or text[: found.end].endswith("]")


FAULTS = tuple(
    FaultRule(FaultKind.UNKNOWN, re.compile("x"), hints, "", "", versions="1.0")
    for hints in (("out of memory", "-9"), ("Errno 98",), ("-9", "code 137"), ("OutOf",))
)
HINTED = st.lists(
    st.sampled_from(["out of memory", "-9", "Errno 98", "code 137", "OutOf", "out", "of", "memory", "é"])
)


@given(st.lists(HINTED.map(" ".join), max_size=6))
def test_rows_are_tried_where_a_hint_of_theirs_stands(messages: list[str]) -> None:
    index = FaultIndex(FAULTS)
    for message in messages:
        expected = [rule for rule in FAULTS if any(hint in message for hint in rule.hints)]
        assert index.candidates(message) == expected


def test_figures_that_differ_make_no_other_sentence_of_a_hint() -> None:
    index = FaultIndex(COMMON_FAULTS)
    assert index.candidates("Exit code 5 and 2 of 7") == []
    assert index.candidates("[Errno 97]") == []
    assert any(rule.kind is FaultKind.PORT_IN_USE for rule in index.candidates("[Errno 98]"))
