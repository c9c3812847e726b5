"""The table of sentences."""

import ast
import string
from collections.abc import Iterator
from pathlib import Path

import pytest

import tui.transport
from tui.transport.faults import TABLE, fault

CLASSES = {"usage", "dns", "refused", "auth", "host_key", "timeout", "no_python", "agent", "lost"}


@pytest.mark.parametrize("row", sorted(TABLE))
def test_every_row_makes_one_clean_sentence_with_a_known_class(row: str) -> None:
    entry = TABLE[row]
    places = {name for _, name, _, _ in string.Formatter().parse(entry.text) if name}
    made = fault(row, **dict.fromkeys(places, "va\nl\x1b[31mue"))
    assert made.fault == entry.fault
    assert entry.fault in CLASSES
    assert made.sentence.isprintable()
    assert not made.sentence.endswith(".")
    assert made.sentence.count("value") >= len(places)


def test_only_what_may_pass_by_itself_is_tried_again() -> None:
    for entry in TABLE.values():
        assert not entry.retry or entry.fault in {"refused", "timeout", "lost", "agent"}, entry


def test_a_long_value_is_cut() -> None:
    made = fault("lost", where="gpu7", why="x" * 5000)
    assert len(made.sentence) < 1000


ROOM = Path(tui.transport.__file__).parent
TABLES = {"faults.py", "wrapper_faults.py"}
MODULES = sorted(path for path in ROOM.rglob("*.py") if path.name not in TABLES)


def calls(path: Path, name: str) -> Iterator[ast.Call]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name:
            yield node


def texts(node: ast.AST) -> set[object]:
    """Return the text constants below a node."""
    return {
        each.value
        for each in ast.walk(node)
        if isinstance(each, ast.Constant) and isinstance(each.value, str)
    }


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOM)))
def test_no_other_module_has_words_of_its_own_for_a_failed_link(path: Path) -> None:
    for call in calls(path, "LinkFault"):
        assert texts(call) == set(), f"line {call.lineno}: put this sentence into the table of faults.py"


def test_every_row_is_used_and_no_row_is_used_that_is_not_there() -> None:
    used = set[object]().union(*(texts(ast.parse(path.read_text())) for path in MODULES))
    assert set(TABLE) <= used
    asked = {
        call.args[0].value
        for path in MODULES
        if "faults import fault" in path.read_text() and "wrapper_faults" not in path.read_text()
        for name in ("fault", "told", "_told")
        for call in calls(path, name)
        if isinstance(call.args[0], ast.Constant)
    }
    assert len(asked) > len(TABLE) / 2
    assert asked <= set(TABLE)
