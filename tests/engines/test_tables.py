"""Every row of every table, by a line of its own: what the row says of it, and that no row is without one.

The lines with what they mean stand in ``tests/fixtures/tables``, one file an engine and one for the failures
that any engine's log may tell of. They are messages: without time, rank and level.
"""

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest

from tui.engines.base import Engine
from tui.engines.fault_index import FaultIndex
from tui.engines.faults import COMMON_FAULTS
from tui.engines.generic import GENERIC
from tui.engines.index import RuleIndex
from tui.engines.marks import NOBODY
from tui.engines.registry import ENGINES
from tui.engines.rules import FaultRule, Rule

TABLES = Path(__file__).parents[1] / "fixtures" / "tables"
EVERY = (*ENGINES, GENERIC)


class RuleLine(msgspec.Struct, frozen=True):
    line: str
    kind: str
    phase: str
    each: bool = False
    heartbeat: bool = False
    bar: bool = False
    part: str = ""
    unit: str = ""


class FaultLine(msgspec.Struct, frozen=True):
    line: str
    kind: str
    weight: str
    phase: str
    terminal: bool = False
    while_loading: bool = False


class Table(msgspec.Struct, frozen=True):
    rule: list[RuleLine] = []
    fault: list[FaultLine] = []


class FaultTable(NamedTuple):
    name: str
    rows: tuple[FaultRule, ...]
    own: tuple[FaultRule, ...]


FAULT_TABLES = (
    *(
        FaultTable(
            engine.name,
            (*engine.faults, *COMMON_FAULTS),
            tuple(rule for rule in engine.faults if rule not in COMMON_FAULTS),
        )
        for engine in EVERY
    ),
    FaultTable("common", COMMON_FAULTS, COMMON_FAULTS),
)


@cache
def table(name: str) -> Table:
    with (TABLES / f"{name}.toml").open("rb") as file:
        return msgspec.convert(tomllib.load(file), Table)


def first_rule(engine: Engine, line: RuleLine) -> Rule | None:
    rows = (rule for rule in engine.rules if rule.bar is line.bar)
    return next((rule for rule in rows if rule.pattern.match(line.line)), None)


def first_fault(rules: FaultIndex, line: FaultLine) -> FaultRule | None:
    return next((rule for rule in rules.candidates(line.line) if rule.pattern.search(line.line)), None)


def told_of_rule(rule: Rule | None, line: RuleLine) -> RuleLine | None:
    if rule is None:
        return None
    phase = rule.phase.value if rule.phase is not None else ""
    flags = (rule.each, rule.heartbeat, rule.bar)
    return RuleLine(line.line, rule.kind.value, phase, *flags, rule.part, rule.unit)


def told_of_fault(rule: FaultRule | None, line: FaultLine) -> FaultLine | None:
    if rule is None:
        return None
    kind = rule.kind.value if rule.kind is not None else "oom"
    phase = rule.phase.value if rule.phase is not None else ""
    weight = rule.weight.name.lower()
    return FaultLine(line.line, kind, weight, phase, rule.terminal, rule.while_loading)


@pytest.mark.parametrize("engine", EVERY, ids=lambda engine: engine.name)
def test_a_line_of_each_row_says_what_it_did(engine: Engine) -> None:
    lines = table(engine.name).rule
    assert [told_of_rule(first_rule(engine, line), line) for line in lines] == lines


@pytest.mark.parametrize("engine", EVERY, ids=lambda engine: engine.name)
def test_a_reader_finds_by_the_first_word_the_row_that_trying_all_of_them_does(engine: Engine) -> None:
    rules = RuleIndex(rule for rule in engine.rules if not rule.bar)
    for line in table(engine.name).rule:
        if not line.bar:
            mark = rules.mark(line.line, re.split("[ =(:]", line.line, maxsplit=1)[0], NOBODY)
            assert mark is not None, line
            assert mark.kind.value == line.kind


@pytest.mark.parametrize("engine", EVERY, ids=lambda engine: engine.name)
def test_every_row_has_a_line(engine: Engine) -> None:
    reached = [first_rule(engine, line) for line in table(engine.name).rule]
    assert [rule.pattern.pattern for rule in engine.rules if rule not in reached] == []


@pytest.mark.parametrize("faults", FAULT_TABLES, ids=lambda faults: faults.name)
def test_a_line_of_each_failure_has_its_kind_weight_and_end(faults: FaultTable) -> None:
    lines = table(faults.name).fault
    rules = FaultIndex(faults.rows)
    assert [told_of_fault(first_fault(rules, line), line) for line in lines] == lines


@pytest.mark.parametrize("faults", FAULT_TABLES, ids=lambda faults: faults.name)
def test_every_failure_has_a_line(faults: FaultTable) -> None:
    rules = FaultIndex(faults.rows)
    reached = [first_fault(rules, line) for line in table(faults.name).fault]
    assert [rule.pattern.pattern for rule in faults.own if rule not in reached] == []


@pytest.mark.parametrize("engine", EVERY, ids=lambda engine: engine.name)
def test_every_row_names_the_releases_it_is_for(engine: Engine) -> None:
    rows: list[Rule | FaultRule] = [*engine.rules, *engine.faults, *COMMON_FAULTS]
    named = re.compile(r"\d|^all\b")
    assert [row.pattern.pattern for row in rows if not named.search(row.versions)] == []
