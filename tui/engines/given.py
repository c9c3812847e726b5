"""A server's command line as settings: program, flags by the name that stands for them, values as they were.

The order of flags is lost on purpose, and so is how a value was joined to its flag.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import msgspec

from tui.engines.aliases import REPEATED, canonical
from tui.engines.arguments import SWITCH, is_flag
from tui.engines.base import Engine

_PYTHON = re.compile(r"(?:python|pypy)[\d.]*t?")
# Options of the interpreter that take the next word.
_WITH_VALUE = ("-X", "-W", "--check-hash-based-pycs")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")


@dataclass(frozen=True, slots=True)
class Given:
    """``command`` is the program without its folder and its interpreter, ``flags`` the values by name.

    A switch has the value "".
    """

    command: str
    flags: dict[str, str]


def given(engine: Engine, argv: Sequence[str]) -> Given:
    """Return what a command line gives, masked or not."""
    command, words = _command(argv)
    subcommand = engine.flags.model_after
    flags: dict[str, list[str]] = {}
    bare: list[str] = []
    name = ""
    for word in words:
        if is_flag(word):
            spelt, sign, value = word.partition("=")
            name = canonical(engine.name, spelt)
            kept = flags.get(name, []) if name in REPEATED else []
            flags[name] = [*kept, value] if sign else kept
        elif name and _takes(engine, name, flags[name]):
            flags[name].append(word)
        else:
            bare.append(word)
    takes_model = command == engine.flags.model_program
    if subcommand is not None and subcommand in bare:
        command, takes_model = f"{command} {subcommand}", True
        bare = bare[bare.index(subcommand) + 1 :]
    model = canonical(engine.name, "--model")
    if bare and takes_model and model not in flags:
        flags[model] = bare[:1]
    return Given(command, {flag: " ".join(values) for flag, values in sorted(flags.items())})


def _takes(engine: Engine, name: str, values: list[str]) -> bool:
    """Return whether a bare word is a value of the flag before it."""
    if SWITCH.match(name):
        return False
    many = name in REPEATED or any(canonical(engine.name, each) == name for each in engine.flags.many)
    return many or not values


def _command(argv: Sequence[str]) -> tuple[str, Iterable[str]]:
    if not argv:
        return "", ()
    program = argv[0].rpartition("/")[2]
    if not _PYTHON.fullmatch(program):
        return program, argv[1:]
    place = 1
    while place < len(argv) and argv[place].startswith("-"):
        if argv[place] in ("-m", "-c"):
            name = argv[place + 1] if argv[place] == "-m" and place + 1 < len(argv) else argv[place]
            return name, argv[place + 2 :]
        place += 2 if argv[place] in _WITH_VALUE else 1
    script = argv[place].rpartition("/")[2] if place < len(argv) else program
    return script, argv[place + 1 :]


def comparable(value: str) -> str:
    """Return a value so that two spellings of one compare equal: 0.90 and 0.9, JSON in another order."""
    if _NUMBER.fullmatch(value):
        return f"{float(value):.15g}" if len(value) < 16 else value
    if value[:1] in ("{", "["):
        try:
            return msgspec.json.encode(msgspec.json.decode(value), order="sorted").decode()
        except msgspec.DecodeError:
            return value
    return value
