"""The arrows between the rooms, what each command imports, and the size of things."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from in_turn import TURNS

ROOT = Path(__file__).parent.parent
LINES_AT_MOST = 400
FUNCTION_LINES_AT_MOST = 40


def sources(*folders: str) -> list[Path]:
    return [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]


def imported(path: Path) -> Iterator[str]:
    """Give the full name of everything a file imports."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            yield from (f"{module}.{alias.name}" for alias in node.names)


def modules_after(*arguments: str) -> set[str]:
    """Return the top-level modules that a command line of tminus leaves imported."""
    code = (
        "import sys\n"
        "from tui.cli import run\n"
        f"run({list(arguments)!r})\n"
        "sys.stderr.write('MODULES ' + ' '.join(sorted({name.partition('.')[0] for name in sys.modules})))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    return set(done.stderr.rpartition("MODULES ")[2].split())


def test_the_contracts_between_the_rooms_hold() -> None:
    command = [
        sys.executable,
        "-c",
        "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports())",
    ]

    done = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=ROOT, check=False)

    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("path", sources("tui/agent"), ids=lambda path: path.name)
def test_the_agent_imports_what_python_has_and_itself_alone(path: Path) -> None:
    for name in imported(path):
        top = name.partition(".")[0]
        own = name == "tui.agent" or name.startswith("tui.agent.")
        assert own or top in sys.stdlib_module_names or top == "pynvml", name


@pytest.mark.parametrize("path", sources("widgets"), ids=lambda path: path.name)
def test_a_widget_imports_the_standard_library_textual_rich_and_widgets_alone(path: Path) -> None:
    for name in imported(path):
        top = name.partition(".")[0]
        assert top in sys.stdlib_module_names or top in ("textual", "rich", "widgets"), name


def test_the_values_that_widgets_draw_need_the_standard_library_alone() -> None:
    for name in imported(ROOT / "widgets" / "values.py"):
        assert name.partition(".")[0] in sys.stdlib_module_names, name


@pytest.mark.parametrize("arguments", [("--version",), ("--help",), ("wait", "--help"), ("demo", "--help")])
def test_help_and_version_import_nothing_heavy(arguments: tuple[str, ...]) -> None:
    heavy = {"textual", "rich", "asyncio", "asyncssh", "httpx", "msgspec", "pydantic", "platformdirs"}

    assert not modules_after(*arguments) & heavy


def test_waiting_never_imports_textual(free_port: int) -> None:
    arguments = ("wait", "--url", f"http://127.0.0.1:{free_port}", "--timeout", "1s", "--json", "--no-record")

    after = modules_after(*arguments)

    assert "msgspec" in after
    assert not after & {"textual", "asyncssh"}


def test_a_local_wait_imports_neither_textual_nor_the_network_libraries() -> None:
    after = modules_after("wait", "--timeout", "1s", "--json", "--no-record")

    assert not after & {"textual", "rich", "asyncssh", "httpx"}


def body_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Return the lines of a function without its signature and its docstring."""
    documented = ast.get_docstring(function) is not None
    body = function.body[1:] if documented else function.body
    return (function.end_lineno or 0) - body[0].lineno + 1 if body else 0


@pytest.mark.parametrize(
    "path", sources("tui", "widgets", "themes", "tests"), ids=lambda p: str(p.relative_to(ROOT))
)
def test_files_and_functions_stay_readable(path: Path) -> None:
    text = path.read_text("utf-8")
    functions = [
        node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]

    assert text.count("\n") <= LINES_AT_MOST
    assert not [each.name for each in functions if body_lines(each) > FUNCTION_LINES_AT_MOST]


def test_tests_are_no_packages() -> None:
    assert not list((ROOT / "tests").rglob("__init__.py"))


@pytest.mark.parametrize("name", TURNS)
def test_what_has_a_turn_among_the_tests_is_there(name: str) -> None:
    if name.startswith("group "):
        mark = f'xdist_group("{name.removeprefix("group ")}")'
        assert any(mark in path.read_text("utf-8") for path in sources("tests"))
    else:
        assert (ROOT / name).exists()
