"""What README.md says of keys, options and exit codes is what the program does."""

import re
from pathlib import Path
from typing import cast

import click
import typer

from tui import settings
from tui.app import key_table
from tui.cli import app
from tui.replay.ending import EXIT_CODES
from tui.screens.keys import markdown
from tui.transport.faults import TABLE
from tui.transport.faults.notices import ROWS as NOTICES

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text("utf-8")
# Measurements name options of their own scripts.
TOLD = re.sub(r"\n## Tested on, and measured\n.*?(?=\n## )", "", README, flags=re.DOTALL)
FOREIGN = {
    "--all-groups", "--nnodes", "--node-rank", "--dist-init-addr", "--master-addr", "--master-port",
}  # fmt: skip
COMPLETION = ("install_completion", "show_completion")


def between(begin: str, end: str) -> str:
    """Return what stands between two marks."""
    return README.partition(begin)[2].partition(end)[0].strip()


def test_the_table_of_keys_is_the_programs_own() -> None:
    shown = between("keys.py, compared by a test -->\n", "<!-- end of keys -->")

    assert shown == markdown(key_table()).strip()


def test_the_keys_that_the_readme_puts_first_are_keys() -> None:
    told = README.partition("## Keys\n")[2].partition("\n## ")[0]
    names = set(re.findall(r"`([^`]+)`", told))

    assert names <= {name for key in key_table() for name in key.keys}
    assert len(names) > 5


def commands_of(command: click.Command) -> list[click.Command]:
    """Return a command and all beneath it."""
    beneath: list[click.Command] = list(getattr(command, "commands", {}).values())
    return [command, *(each for one in beneath for each in commands_of(one))]


def test_every_option_that_is_named_exists() -> None:
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", TOLD)) - FOREIGN
    parameters = [
        each for one in commands_of(cast("click.Command", typer.main.get_command(app))) for each in one.params
    ]
    known = {flag for each in parameters for flag in (*each.opts, *each.secondary_opts)}

    assert named <= known | {"--version", "--help"}


def options_table() -> str:
    """Return the table of all options: those of one meaning in a row, with the commands that have them."""
    found: dict[tuple[str, str], list[str]] = {}
    root = cast("click.Command", typer.main.get_command(app))
    for path, command in paths_of("tminus", root):
        for each in command.params:
            if each.param_type_name == "option" and each.name not in COMPLETION:
                option = cast("click.Option", each)
                names = "`, `".join((*option.opts, *option.secondary_opts))
                takes = "" if option.is_flag else f" {option.metavar}"
                found.setdefault((f"`{names}{takes}`", option.help or ""), []).append(path)
    rows = [f"| {option} | {', '.join(paths)} | {told} |" for (option, told), paths in found.items()]
    return "\n".join(["| Option | Of | What it does |", "| --- | --- | --- |", *rows])


def paths_of(path: str, command: click.Command) -> list[tuple[str, click.Command]]:
    """Return a command and all beneath it with the words that call each."""
    beneath: dict[str, click.Command] = getattr(command, "commands", {})
    below = [each for name, one in beneath.items() for each in paths_of(f"{path} {name}", one)]
    return [(path.removeprefix("tminus "), command), *below]


def test_the_table_of_options_has_all_of_all_commands() -> None:
    shown = between("options: compared by a test -->\n", "<!-- end of options -->")

    assert shown == options_table()


def test_every_variable_and_key_that_is_named_exists() -> None:
    variables = set(re.findall(r"TMINUS_([A-Z_]+)", TOLD)) - {"CONFIG"}

    assert {name.lower() for name in variables} <= set(settings.NAMES)


def test_its_exit_codes_are_those_of_wait() -> None:
    rows = re.findall(r"^\| (\d+) \| (\w+) \|", README, re.MULTILINE)
    told = {outcome: int(code) for code, outcome in rows if code != "130"}

    assert told == EXIT_CODES


def quoted(head: str) -> list[str]:
    """Return the sentences in the first column of the table with this head, … for what differs."""
    rows = README.partition(f"| {head} |")[2].partition("\n\n")[0].splitlines()[2:]
    return [re.findall(r"`([^`]+)`", row)[0] for row in rows]


def says(text: str, sentence: str) -> bool:
    """Whether a row's text, with its places filled, could hold a sentence as README.md quotes it."""
    plain = re.sub(r"\{[^}]*\}", "…", text)
    pattern = ".*".join(re.escape(part) for part in sentence.split("…"))
    return re.search(pattern, plain) is not None


def test_the_sentences_of_a_failed_connection_are_those_of_the_program() -> None:
    sentences = quoted("sentence")

    assert len(sentences) >= 5
    assert [each for each in sentences if not any(says(row.text, each) for row in TABLE.values())] == []


def test_the_notices_on_the_way_to_a_host_are_those_of_the_program() -> None:
    notices = quoted("notice")

    assert len(notices) >= 3
    assert [each for each in notices if not any(says(row.text, each) for row in NOTICES.values())] == []
