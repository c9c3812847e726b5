"""The characters that widgets draw with: block (the default), braille for the history, and plain ASCII."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from widgets.values import Mood


@dataclass(frozen=True, slots=True)
class Glyphs:
    """One set of characters, each a single cell wide.

    ``parts`` are the fractions of a cell of a bar, ``levels`` the heights of the history, both from small to
    large; with ``braille`` two readings share one cell of the history.
    """

    name: str
    full: str
    parts: str
    track: str
    levels: str
    moods: Mapping[Mood, str]
    ellipsis: str
    more: str
    dot: str
    degree: str
    braille: bool = False


BLOCK = Glyphs(
    name="block",
    full="━",
    parts="╸",
    track="─",
    levels="▁▂▃▄▅▆▇█",
    moods=MappingProxyType(
        {
            Mood.IDLE: "·",
            Mood.WAITING: "◌",
            Mood.ACTIVE: "►",
            Mood.GOOD: "●",
            Mood.WARNING: "▲",
            Mood.BAD: "✕",
        }
    ),
    ellipsis="…",
    more="→",
    dot="·",
    degree="°",
)

BRAILLE = replace(BLOCK, name="braille", braille=True)

ASCII = Glyphs(
    name="ascii",
    full="#",
    parts="",
    track=".",
    levels="_.:-=+*#",
    moods=MappingProxyType(
        {
            Mood.IDLE: "-",
            Mood.WAITING: "~",
            Mood.ACTIVE: ">",
            Mood.GOOD: "+",
            Mood.WARNING: "!",
            Mood.BAD: "x",
        }
    ),
    ellipsis="~",
    more=">",
    dot="|",
    degree=" ",
)

SETS: Mapping[str, Glyphs] = MappingProxyType({each.name: each for each in (BLOCK, BRAILLE, ASCII)})
