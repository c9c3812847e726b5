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

README = (Path(__file__).parent.parent / "README.md").read_text("utf-8")
FOREIGN = {
    "--all-groups", "--nnodes", "--node-rank", "--dist-init-addr", "--master-addr", "--master-port",
}  # fmt: skip
COMPLETION = ("install_completion", "show_completion")


def test_the_table_of_keys_is_the_programs_own() -> None:
    between = README.partition("compared by a test -->\n")[2].partition("<!-- end of keys -->")[0]

    assert between.strip() == markdown(key_table()).strip()


def commands_of(command: click.Command) -> list[click.Command]:
    """Return a command and all beneath it."""
    beneath: list[click.Command] = list(getattr(command, "commands", {}).values())
    return [command, *(each for one in beneath for each in commands_of(one))]


def test_every_option_that_it_names_exists() -> None:
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", README.partition("## Troubleshooting")[0])) - FOREIGN
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
    between = README.partition("options: compared by a test -->\n")[2].partition("<!-- end of options -->")[0]

    assert between.strip() == options_table()


def test_every_variable_and_key_that_it_names_exists() -> None:
    variables = set(re.findall(r"TMINUS_([A-Z_]+)", README)) - {"CONFIG"}

    assert {name.lower() for name in variables} <= set(settings.NAMES)


def test_its_exit_codes_are_those_of_wait() -> None:
    rows = re.findall(r"^\| (\d+) \| (\w+) \|", README, re.MULTILINE)
    told = {outcome: int(code) for code, outcome in rows if code != "130"}

    assert told == EXIT_CODES
