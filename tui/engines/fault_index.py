"""Finding the fault rows that may be found in a message: those of which a hint stands in it.

There are more than a hundred hints, and to look for each in every message would cost more than all the
rest. But the lines of a log are few sentences with ever other figures: so it is learned which hints a
sentence may hold, by the letters of both alone.
"""

import re
from collections.abc import Iterable
from itertools import chain, compress

from tui.engines.lines import sentence_of
from tui.engines.rules import FaultRule

_LETTER = re.compile("[A-Za-z]")
# A hint of fewer letters is looked for in every message.
_LETTERS = 4
_SENTENCES = 4096
_SENTENCE_LENGTH = 1024


class FaultIndex:
    """The fault rows of a table, by their hints."""

    def __init__(self, rules: Iterable[FaultRule]) -> None:
        self._rules = tuple(rules)
        lettered: dict[str, set[int]] = {}
        self._short: list[tuple[str, int]] = []
        for number, rule in enumerate(self._rules):
            for hint in rule.hints:
                letters = "".join(_LETTER.findall(hint))
                if len(letters) < _LETTERS:
                    self._short.append((hint, number))
                else:
                    lettered.setdefault(letters, set()).add(number)
        self._short_hints = tuple({hint for hint, _ in self._short})
        self._letters = tuple(lettered)
        self._numbers = tuple(lettered.values())
        self._known: dict[bytes, frozenset[int]] = {}

    def candidates(self, message: str) -> list[FaultRule]:
        """Return the rows of which a hint stands in a message, in the order of the table."""
        sentence = sentence_of(message)
        numbers = self._known.get(sentence)
        if numbers is None:
            numbers = self._learn(sentence)
        if any(map(message.__contains__, self._short_hints)):
            numbers = numbers.union(number for hint, number in self._short if hint in message)
        if not numbers:
            return []
        rules = (self._rules[number] for number in sorted(numbers))
        return [rule for rule in rules if any(map(message.__contains__, rule.hints))]

    def _learn(self, sentence: bytes) -> frozenset[int]:
        text = sentence.decode("ascii")
        found = compress(self._numbers, map(text.__contains__, self._letters))
        numbers = frozenset(chain.from_iterable(found))
        if len(sentence) <= _SENTENCE_LENGTH:
            if len(self._known) >= _SENTENCES:
                self._known.clear()
            self._known[sentence] = numbers
        return numbers
