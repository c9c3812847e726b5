"""The tables of sentences: their form, and that they are the one place for them."""

import ast
import string
from collections.abc import Iterator
from pathlib import Path

import pytest

import tui.transport
from tui.transport import faults
from tui.transport.faults import TABLE, fault, sentence_of
from tui.transport.faults.row import Row

LINK = {"usage", "dns", "refused", "auth", "host_key", "timeout", "no_python", "agent", "lost"}
DRIVER = {"absent", "failed", "silent"}
OTHER = {"log", "gpus", "notice"}
ROOM = Path(tui.transport.__file__).parent
TABLES = Path(faults.__file__).parent
SAID = [name for name, row in TABLE.items() if row.text]


@pytest.mark.parametrize("row", SAID)
def test_every_row_makes_one_clean_sentence_of_a_known_kind(row: str) -> None:
    entry = TABLE[row]
    places = {name for _, name, _, _ in string.Formatter().parse(entry.text) if name}
    made = sentence_of(row, **dict.fromkeys(places, "va\nl\x1b[31mue"))
    assert entry.kind in LINK | DRIVER | OTHER
    assert made.isprintable()
    assert made.count("value") >= len(places)
    # nvidia-smi's ends are told in whole sentences, beside those of the agent on the driver.
    assert made.endswith(".") == (entry.kind in DRIVER and row != "shell_no_group")
    assert made[0] in "`'v" or made[0].islower() or made.startswith("THE HOST KEY") or entry.kind in DRIVER


def test_only_what_is_usual_has_no_sentence() -> None:
    assert set(TABLE) - set(SAID) == {"log_starting", "log_collected", "log_cut"}


def test_a_fault_has_its_rows_class_and_sentence() -> None:
    made = fault("refused", where="lab", port=22)
    assert (made.fault, made.retry) == (TABLE["refused"].kind, TABLE["refused"].retry)
    assert made.sentence == sentence_of("refused", where="lab", port=22)


def test_no_name_stands_for_two_sentences() -> None:
    rows = [name for path in TABLES.glob("*.py") for name in _row_names(path)]
    assert sorted(rows) == sorted(TABLE)


def test_only_what_may_pass_by_itself_is_tried_again() -> None:
    for entry in TABLE.values():
        assert not entry.retry or entry.kind in {"refused", "timeout", "lost", "agent"} | DRIVER | OTHER, (
            entry
        )


@pytest.mark.parametrize("row", [name for name, row in TABLE.items() if row.pattern])
def test_a_row_that_is_chosen_by_words_says_whose(row: str) -> None:
    assert set(TABLE[row].tools.split()) <= {"docker", "podman", "kubectl", "srun"}
    assert TABLE[row].tools


def test_what_was_said_stands_in_brackets_or_not_at_all() -> None:
    row = Row("agent", False, "the agent ended{it_said}")
    assert row.filled({"it_said": "ouch"}) == "the agent ended (it said: ouch)"
    assert row.filled({"it_said": ""}) == "the agent ended"


def test_a_long_value_is_cut() -> None:
    made = fault("lost", where="gpu7", why="x" * 5000)
    assert len(made.sentence) < 1000


MODULES = sorted(path for path in ROOM.rglob("*.py") if path.parent != TABLES)
# Whatever is told of a failure or of what is missing goes through one of these.
TELLERS = ("LinkFault", "Refusal", "notice", "_notice", "note", "warning", "gap", "_gap")


def calls(path: Path, name: str) -> Iterator[ast.Call]:
    for node in ast.walk(ast.parse(path.read_text())):
        called = node.func if isinstance(node, ast.Call) else None
        if isinstance(node, ast.Call) and name in (getattr(called, "id", ""), getattr(called, "attr", "")):
            yield node


def _row_names(path: Path) -> list[str]:
    return [
        str(key.value)
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Dict)
        for key, value in zip(node.keys, node.values, strict=True)
        if isinstance(key, ast.Constant) and isinstance(value, ast.Call)
    ]


def texts(node: ast.AST) -> set[object]:
    """Return the text constants below a node."""
    return {
        each.value
        for each in ast.walk(node)
        if isinstance(each, ast.Constant) and isinstance(each.value, str)
    }


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOM)))
def test_no_other_module_has_words_of_its_own_for_what_failed(path: Path) -> None:
    for call in (call for name in TELLERS for call in calls(path, name)):
        words = [text for text in texts(call) if isinstance(text, str) and text.count(" ") > 1]
        assert words == [], f"line {call.lineno}: put this sentence into a table of tui/transport/faults"


def test_every_row_is_used_and_no_row_is_used_that_is_not_there() -> None:
    used = set[object]().union(*(texts(ast.parse(path.read_text())) for path in MODULES))
    used |= texts(ast.parse((ROOM.parent / "commands/diagnose.py").read_text()))
    assert {name for name, row in TABLE.items() if not row.pattern} <= used
    asked = {
        call.args[0].value
        for path in MODULES
        for name in ("fault", "told", "_told", "sentence_of")
        for call in calls(path, name)
        if call.args and isinstance(call.args[0], ast.Constant)
    }
    assert len(asked) > len(TABLE) / 3
    assert asked <= set(TABLE)
