"""The colour themes that come with tminus: TOML files, read and checked."""

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import cast

from rich.color import Color, ColorParseError
from rich.errors import StyleSyntaxError
from rich.style import Style

COLOURS = (
    "background",
    "surface",
    "panel",
    "foreground",
    "primary",
    "secondary",
    "accent",
    "success",
    "warning",
    "error",
)
ROLES = (
    "text",
    "muted",
    "strong",
    "title",
    "focused",
    "accent",
    "key",
    "idle",
    "waiting",
    "active",
    "good",
    "warning",
    "bad",
    "bar",
    "track",
    "history",
    "stale",
    "match",
    "cursor",
    "selection",
)
STYLESHEET = "tminus.tcss"


@dataclass(frozen=True, slots=True)
class ThemeFile:
    """One theme: colours for the framework's parts, a Rich style definition for each role."""

    name: str
    dark: bool
    ansi: bool
    colours: dict[str, str]
    roles: dict[str, str]


class ThemeError(ValueError):
    """A theme that cannot be used; each failure is a line of its own."""

    def __init__(self, failures: list[str]) -> None:
        super().__init__("\n".join(failures))
        self.failures = failures


@cache
def packaged() -> tuple[ThemeFile, ...]:
    """Return the themes that come with tminus, the usual one first. Raises ThemeError."""
    files = [each for each in resources.files("themes").iterdir() if each.name.endswith(".toml")]
    themes = [parse(each.name, each.read_text("utf-8")) for each in files]
    return tuple(sorted(themes, key=lambda theme: (theme.ansi, theme.name != "tminus-dark", theme.name)))


def names() -> list[str]:
    """Return the names that can be asked for."""
    return [theme.name for theme in packaged()]


def stylesheet() -> str:
    """Return the text of the application's stylesheet."""
    return resources.files("themes").joinpath(STYLESHEET).read_text("utf-8")


def parse(source: str, text: str) -> ThemeFile:
    """Read one theme. Raises ThemeError with one line for each thing that is wrong, naming source and key."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ThemeError([f"{source}: {error}"]) from error
    failures = _unknown(source, "", table, ("name", "dark", "ansi", "colours", "roles"))
    name, dark, ansi = table.get("name"), table.get("dark"), table.get("ansi", False)
    if not isinstance(name, str) or not name:
        failures.append(f"{source}: name: a text is needed")
    for key, value in (("dark", dark), ("ansi", ansi)):
        if not isinstance(value, bool):
            failures.append(f"{source}: {key}: true or false is needed")
    colours = _texts(source, "colours", table.get("colours"), COLOURS, failures)
    roles = _texts(source, "roles", table.get("roles"), ROLES, failures)
    failures += [f for key, value in colours.items() if (f := _colour_failure(source, key, value))]
    failures += [f for key, value in roles.items() if (f := _role_failure(source, key, value))]
    if failures:
        raise ThemeError(failures)
    return ThemeFile(str(name), bool(dark), bool(ansi), colours, roles)


def _texts(
    source: str, table: str, value: object, keys: tuple[str, ...], failures: list[str]
) -> dict[str, str]:
    if not isinstance(value, dict):
        failures.append(f"{source}: {table}: a table is needed")
        return {}
    entries = cast("dict[str, object]", value)
    failures += _unknown(source, f"{table}.", entries, keys)
    failures += [f"{source}: {table}.{key}: missing" for key in keys if key not in entries]
    known = {key: entry for key, entry in entries.items() if key in keys}
    failures += [
        f"{source}: {table}.{k}: a text is needed" for k, v in known.items() if not isinstance(v, str)
    ]
    return {key: entry for key, entry in known.items() if isinstance(entry, str)}


def _unknown(source: str, prefix: str, table: dict[str, object], keys: tuple[str, ...]) -> list[str]:
    return [f"{source}: {prefix}{key}: no such key" for key in table if key not in keys]


def _colour_failure(source: str, key: str, value: str) -> str:
    try:
        Color.parse(value.removeprefix("ansi_"))
    except ColorParseError:
        return f"{source}: colours.{key}: {value!r} is no colour (#rrggbb or ansi_NAME)"
    return ""


def _role_failure(source: str, key: str, value: str) -> str:
    try:
        Style.parse(value)
    except StyleSyntaxError:
        return f"{source}: roles.{key}: {value!r} is no style (such as 'bold #rrggbb on #rrggbb')"
    return ""
