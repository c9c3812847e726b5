"""Data sets: prompts from JSON lines, in the shapes that are going round.

A line is an object with one of these, and perhaps ``output_tokens`` or ``max_tokens``, and ``system``:

- ``prompt``: the text;
- ``messages``: [{"role", "content"}]: what the system and the user say; answers are generated, not taken;
- ``conversations``: [{"from", "value"}] (ShareGPT), from human or user; system likewise;
- ``turns``: the texts of the user, or objects like those of ``messages``.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import cast

import msgspec

from tui.requests import Prompt

MOST_BYTES = 8 * 1024 * 1024
MOST_LINES = 20_000
MOST_OUTPUT_TOKENS = 1_000_000
NAMED = 5
KINDS = ("prompt", "messages", "conversations", "turns")
LENGTHS = ("output_tokens", "max_tokens")
_USERS = ("user", "human")
_ROLES = (*_USERS, "system", "developer", "assistant", "gpt", "chatgpt", "bing", "bard", "tool", "function")


class WrongData(ValueError):
    """A file that is no data set; the text ends a sentence that begins with its name."""


def prompts_of(lines: Iterable[bytes]) -> list[Prompt]:
    """Return the conversations of a data set in order; empty lines are none. Raises WrongData."""
    found: list[Prompt] = []
    wrong: list[tuple[int, str]] = []
    for number, line in enumerate(lines, 1):
        if number > MOST_LINES:
            raise WrongData(f"has more than {MOST_LINES:,} lines: take the first {MOST_LINES:,}")
        if not line.strip():
            continue
        try:
            found.append(_prompt(line))
        except ValueError as error:
            wrong.append((number, str(error)))
    if wrong:
        raise WrongData(_words(wrong))
    if not found:
        raise WrongData("holds no prompt")
    return found


def _words(wrong: Sequence[tuple[int, str]]) -> str:
    """Name the first wrong lines and say what the very first one lacks."""
    number, why = wrong[0]
    others = [str(each) for each, _ in wrong[1:NAMED]]
    more = len(wrong) - 1 - len(others)
    rest = f"; wrong too: {', '.join(others)}" if others else ""
    return f"line {number} {why}{rest}" + (f" and {more} more" if more else "")


def _prompt(line: bytes) -> Prompt:
    try:
        table: object = msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError):
        raise ValueError("is no JSON") from None
    if not isinstance(table, dict):
        raise ValueError("is no JSON object")  # noqa: TRY004 - a wrong value of a file
    fields = cast("dict[str, object]", table)
    kinds = [kind for kind in KINDS if kind in fields]
    if len(kinds) != 1:
        raise ValueError(f"has {'two' if kinds else 'none'} of {', '.join(KINDS)}: one is needed")
    turns, system = _said(kinds[0], fields[kinds[0]])
    own = fields.get("system", "")
    if not isinstance(own, str):
        raise ValueError("has a system that is no text")  # noqa: TRY004
    if not turns or not all(turn.strip() for turn in turns):
        raise ValueError(f"has {kinds[0]} in which the user says nothing")
    return Prompt(turns=turns, system=own or system, output_tokens=_length(fields))


def _said(kind: str, value: object) -> tuple[list[str], str]:
    """Return what the user says, turn by turn, and what the system does."""
    if kind == "prompt":
        return [_text(kind, value)], ""
    if not isinstance(value, list):
        raise ValueError(f"has {kind} that are no list")  # noqa: TRY004
    turns: list[str] = []
    system: list[str] = []
    for each in cast("list[object]", value):
        role, text = _turn(kind, each)
        if role in _USERS:
            turns.append(text)
        elif role in ("system", "developer"):
            system.append(text)
    return turns, "\n".join(system)


def _turn(kind: str, value: object) -> tuple[str, str]:
    if isinstance(value, str) and kind == "turns":
        return "user", value
    if not isinstance(value, dict):
        raise ValueError(f"has {kind} of which one is no object")  # noqa: TRY004
    fields = cast("Mapping[str, object]", value)
    role = fields.get("from" if kind == "conversations" else "role")
    if role not in _ROLES:
        raise ValueError(f"has {kind} of which one is said by nobody known: {role!r}")
    # What the model said is generated anew; it may be of any shape.
    if role not in (*_USERS, "system", "developer"):
        return str(role), ""
    return str(role), _text(kind, fields.get("value" if kind == "conversations" else "content"))


def _text(kind: str, value: object) -> str:
    if isinstance(value, str):
        return value
    parts = cast("list[object]", value) if isinstance(value, list) else []
    texts = [cast("dict[str, object]", part).get("text") for part in parts if isinstance(part, dict)]
    if not parts or len(texts) != len(parts) or not all(isinstance(text, str) for text in texts):
        raise ValueError(f"has {kind} with something that is no text")
    return "".join(cast("list[str]", texts))


def _length(fields: Mapping[str, object]) -> int | None:
    given = [fields[name] for name in LENGTHS if fields.get(name) is not None]
    if not given:
        return None
    tokens = given[0]
    if isinstance(tokens, bool) or not isinstance(tokens, int) or not 1 <= tokens <= MOST_OUTPUT_TOKENS:
        raise ValueError(f"asks for {tokens!r} output tokens")
    return tokens
