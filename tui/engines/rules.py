"""The rows of an engine's tables, and short names to write them with.

A pattern is matched at the beginning of a *message*: what is left of a line when container prefixes, time,
rank, level and logger are taken off (``header.py``). So a prompt or a path that quotes an engine's sentence
is no mark. Named groups carry values: ``seconds``, ``part``, ``version``, ``arguments``; names that end in
``_gib``, ``_tokens``, ``_mib``, ``_s`` or ``_pct`` become figures; a progress row has ``done`` and
``total`` (and may have ``current``); steady rows use the field names of ``Steady``; identity rows those of
``RankIdentity``.
"""

import re
from dataclasses import dataclass, field
from functools import cache

from tui.engines.marks import FaultKind, MarkKind, Weight
from tui.engines.phase import Phase

_ALTERNATIVES = re.compile(r"\(\?:([^()?*+\[\]{}]+)\)")
_PLAIN = re.compile(r"(?:[\w :=,'/<>#%@!&-]|\\[^\w])+")
_TOKEN = re.compile(r"\\.|.", re.DOTALL)
_WORD = re.compile(r"[^ =(:]*")
_UNESCAPE = re.compile(r"\\(\W)")
_QUANTIFIERS = ("?", "*", "+", "{")
# One character that a text must begin with: plain or escaped, and not optional.
_FIRST = re.compile(r"\\?(?P<character>[\w :=,'/<>#%@!&-]|(?<=\\)[^\w])(?![?*{])")


@dataclass(frozen=True, slots=True)
class Rule:
    """A message that ``pattern`` matches means ``kind`` (of ``phase``).

    ``versions`` says which releases print it, and where the wording was read if not in the research.
    ``each``: every rank prints it. ``heartbeat``: it proves the phase but no progress. ``unit`` and
    ``part`` are the defaults of the groups of these names. ``bar`` rows are matched against a progress
    bar's own text.
    """

    kind: MarkKind
    phase: Phase | None
    pattern: re.Pattern[str]
    versions: str
    each: bool = False
    heartbeat: bool = False
    part: str = ""
    unit: str = ""
    bar: bool = False

    @property
    def words(self) -> tuple[str, ...]:
        """The words that a message matched by this rule begins with; () where that cannot be told."""
        return first_words(self.pattern.pattern)


@cache
def first_words(pattern: str) -> tuple[str, ...]:
    """Return the first words (see ``first_word``) of every text that a pattern matches at its beginning.

    Understands literal text, escaped punctuation, alternatives, and one leading group of them. () for
    anything else: such a rule is tried on every message.
    """
    found: list[str] = []
    for branch in _branches(pattern):
        group = _ALTERNATIVES.match(branch)
        heads = group[1].split("|") if group is not None else [""]
        rest = branch[group.end() :] if group is not None else branch
        words = [_word_of(head, rest) for head in heads]
        if "" in words:
            return ()
        found += words
    return tuple(dict.fromkeys(found))


def _word_of(head: str, rest: str) -> str:
    """Return the first word of what ``head`` and the pattern ``rest`` match, "" where that cannot be told."""
    if head and rest.startswith(_QUANTIFIERS):
        return ""
    plain = _PLAIN.match(rest)
    tail = "" if plain is None else plain[0]
    # A quantifier takes the last letter of the plain text away again.
    if rest[len(tail) :].startswith(_QUANTIFIERS):
        tail = tail[:-1]
    text = _UNESCAPE.sub(r"\1", head + tail)
    word = first_word(text)
    return word if len(word) < len(text) else ""


@cache
def first_character(pattern: str) -> str:
    """Return the character that every text begins with that a pattern matches, "" where it is not told."""
    found: set[str] = set()
    for branch in _branches(pattern):
        first = _FIRST.match(branch)
        letter = first is not None and branch[0] == "\\" and first["character"].isalnum()
        found.add("" if first is None or letter else first["character"])
    return found.pop() if len(found) == 1 else ""


def _branches(pattern: str) -> list[str]:
    """Split a pattern at the bars that stand outside every group and class."""
    parts = [""]
    depth = 0
    in_class = False
    for token in _TOKEN.findall(pattern):
        if in_class:
            in_class = token != "]"
        elif token == "[":
            in_class = True
        elif token in "()":
            depth += 1 if token == "(" else -1
        if token == "|" and not depth and not in_class:
            parts.append("")
        else:
            parts[-1] += token
    return parts


def first_word(message: str) -> str:
    """Return what a message's rules are looked up by: its text up to a space, ``=``, ``(`` or ``:``."""
    found = _WORD.match(message)
    return found[0] if found is not None else ""


def _rows(
    kind: MarkKind,
    phase: Phase | None,
    lines: tuple[tuple[str, str], ...],
    *,
    each: bool = False,
    heartbeat: bool = False,
    part: str = "",
    unit: str = "",
    bar: bool = False,
) -> tuple[Rule, ...]:
    return tuple(
        Rule(kind, phase, re.compile(text), versions, each, heartbeat, part, unit, bar)
        for text, versions in lines
    )


def starts(*lines: tuple[str, str]) -> tuple[Rule, ...]:
    """Rows for the first line of a server's start."""
    return _rows(MarkKind.START, Phase.LAUNCH, lines)


def begins(phase: Phase, *lines: tuple[str, str], each: bool = False, part: str = "") -> tuple[Rule, ...]:
    """Rows for lines with which a phase begins, also one that the load had left behind."""
    return _rows(MarkKind.BEGINS, phase, lines, each=each, part=part)


def within(
    phase: Phase, *lines: tuple[str, str], each: bool = False, heartbeat: bool = False, part: str = ""
) -> tuple[Rule, ...]:
    """Rows for lines of a phase: they take the load forward to it, never back."""
    return _rows(MarkKind.WITHIN, phase, lines, each=each, heartbeat=heartbeat, part=part)


def ends(phase: Phase, *lines: tuple[str, str], each: bool = False) -> tuple[Rule, ...]:
    """Rows for lines with which a phase is over for who writes them."""
    return _rows(MarkKind.ENDS, phase, lines, each=each)


def bars(
    phase: Phase | None, unit: str, *lines: tuple[str, str], part: str = "", begin: bool = False
) -> tuple[Rule, ...]:
    """Rows for progress bars, matched against a bar's own text; without a phase: that under way.

    ``begin``: with this bar its phase begins, also when the load had left it behind.
    """
    kind = MarkKind.BEGINS if begin else MarkKind.PROGRESS
    return _rows(kind, phase, lines, unit=unit, part=part, bar=True)


def counts(phase: Phase, unit: str, *lines: tuple[str, str]) -> tuple[Rule, ...]:
    """Rows for plain lines that tell of progress; groups ``done`` and ``total`` where they say so."""
    return _rows(MarkKind.PROGRESS, phase, lines, unit=unit)


def serves(*lines: tuple[str, str]) -> tuple[Rule, ...]:
    """Rows for lines with which the engine says that it is ready."""
    return _rows(MarkKind.READY, Phase.READY, lines)


def steady(*lines: tuple[str, str]) -> tuple[Rule, ...]:
    """Rows for the figures of a server that serves."""
    return _rows(MarkKind.STEADY, Phase.READY, lines)


def identities(*lines: tuple[str, str]) -> tuple[Rule, ...]:
    """Rows for lines that say which rank a process is."""
    return _rows(MarkKind.IDENTITY, Phase.DISTRIBUTED, lines)


def facts(*lines: tuple[str, str]) -> tuple[Rule, ...]:
    """Rows for lines that hold figures, a version or arguments and tell no phase."""
    return _rows(MarkKind.FACT, None, lines)


def heartbeats(*lines: tuple[str, str]) -> tuple[Rule, ...]:
    """Rows for lines that come again and again without progress."""
    return _rows(MarkKind.HEARTBEAT, None, lines)


def shutdowns(*lines: tuple[str, str]) -> tuple[Rule, ...]:
    """Rows for lines that say that the end was asked for."""
    return _rows(MarkKind.SHUTDOWN, None, lines)


@dataclass(frozen=True, slots=True)
class FaultRule:
    """A line in which ``pattern`` is found (anywhere in its message) tells of a failure.

    ``hints`` are texts of which one stands in every such line: most lines hold none, and looking for a text
    is ten times faster than a pattern. ``kind`` None is out of GPU memory (the phase says which).
    ``weight`` and ``terminal`` as in ``FaultMark``. ``cause`` is one sentence, ``next_step`` what to do;
    both may use the pattern's named groups in braces. ``phase`` is where such a thing happens, None where
    the line does not say. ``while_loading``: terminal only until the server is ready. ``versions`` names the
    releases, of the engine or of a library, that the line is known of.
    """

    kind: FaultKind | None
    pattern: re.Pattern[str]
    hints: tuple[str, ...]
    cause: str
    next_step: str
    weight: Weight = Weight.CAUSE
    terminal: bool = False
    versions: str = field(kw_only=True)
    phase: Phase | None = None
    while_loading: bool = False
