"""Finding the row that matches a message without trying all of them.

A message is looked up by its first word, else by its first character; rows that tell neither are tried on
every message. Within what is tried the table's order holds, so the first row of the table that matches is
found.
"""

import re
from collections.abc import Callable, Iterable

from tui.engines.lines import Bar
from tui.engines.marks import Mark, Speaker
from tui.engines.rules import Rule, first_character, first_word
from tui.engines.values import MarkMaker

# What makes the marks of a row, its words, and its first character where it has none.
_Row = tuple[MarkMaker, tuple[str, ...], str]
_Tried = tuple[Callable[[str], re.Match[str] | None], MarkMaker]


class RuleIndex:
    """Rows of a table by what a message (or a bar's text) begins with."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        makers = [MarkMaker(rule) for rule in rules]
        rows = [(maker, maker.rule.words, _character(maker.rule)) for maker in makers]
        words = {word for _, own, _ in rows for word in own}
        characters = {character for _, _, character in rows}
        self._by_word = {word: _tried(rows, word[:1], word) for word in words}
        self._by_character = {character: _tried(rows, character, None) for character in characters}
        self._other = _tried(rows, "", None)

    def mark(self, message: str, word: str, speaker: Speaker, bar: Bar | None = None) -> Mark | None:
        """Return the mark of the first row that matches, None without one; ``word`` is its first word."""
        makers = self._by_word.get(word)
        if makers is None:
            makers = self._by_character.get(message[:1], self._other)
        for match, maker in makers:
            found = match(message)
            if found is not None:
                return maker.mark(found, speaker, bar)
        return None

    def find(self, message: str, speaker: Speaker) -> Mark | None:
        """Like ``mark``, for a message whose first word is not known yet."""
        return self.mark(message, first_word(message), speaker)


def _character(rule: Rule) -> str:
    return first_character(rule.pattern.pattern) if not rule.words else ""


def _tried(rows: list[_Row], character: str, word: str | None) -> list[_Tried]:
    """Return the rows to try on messages with this first character and this first word (None: any other)."""
    return [
        (maker.rule.pattern.match, maker)
        for maker, words, first in rows
        if (word in words if words else first in ("", character))
    ]
