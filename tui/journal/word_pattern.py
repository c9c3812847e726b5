"""One pattern for many whole words, in any case of their letters."""

import re
from collections.abc import Collection, Iterable

from tui.journal.spelling import BEGINS, BEGINS_ESCAPED

_FEW = 8
_DEPTH = 6


class WordPattern:
    """Finds words where no letter or figure stands beside them; behind an escape (%2F, \\u002f) they begin.

    ``stems`` are beginnings that figures follow: what they find is the group ``sibling``. Longer words
    must come before shorter ones.
    """

    def __init__(self, words: Iterable[str], stems: Collection[str] = ()) -> None:
        beginnings = tuple(stem.lower() for stem in stems)
        longer: list[str] = []
        others: list[str] = []
        for word in dict.fromkeys(words):
            (longer if word.lower().startswith(beginnings) else others).append(word)
        siblings = rf"(?P<sibling>(?:{'|'.join(map(re.escape, beginnings)) or '(?!)'})\d{{1,6}})"
        parts = [_grouped(longer, 0) or "(?!)", siblings, _grouped(others, 0) or "(?!)"]
        self._body = f"(?:{'|'.join(parts)})(?![^\\W_])"
        self._escaped: re.Pattern[str] | None = None
        self.plain = re.compile(BEGINS + self._body, re.IGNORECASE)

    @property
    def escaped(self) -> re.Pattern[str]:
        """The pattern for a text with escapes in it, which takes longer."""
        if self._escaped is None:
            self._escaped = re.compile(BEGINS_ESCAPED + self._body, re.IGNORECASE)
        return self._escaped


def _grouped(words: list[str], depth: int) -> str:
    """Return alternatives, grouped by their next letter: a place in a text is then tried with few of them."""
    if len(words) <= _FEW or depth == _DEPTH:
        return "|".join(re.escape(word[depth:]) for word in words)
    groups: dict[str, list[str]] = {}
    for word in words:
        letter = word[depth : depth + 1]
        low = letter.lower()
        groups.setdefault(low if len(low) == 1 else letter, []).append(word)
    # What ends here comes last, as the shortest.
    ended = groups.pop("", None)
    parts = [f"{re.escape(letter)}(?:{_grouped(each, depth + 1)})" for letter, each in groups.items()]
    return "|".join(parts if ended is None else [*parts, ""])
