"""A short way to read the chunks of a stream: most differ from the one before in their text alone."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

OUTPUT_NAMES = ("content", "refusal")
REASONING_NAMES = ("reasoning_content", "reasoning")


# What no text of a mould holds.
_odd = re.compile(rb'["\\\r\n]').search


class Mould:
    """The bytes before and after the text of a chunk that was read the long way, as JSON.

    Another event with the same bytes around a text without quotes and backslashes is the same JSON with that
    text in its place: it carries text, and all else in it is known. To decode it would cost 12 µs.
    """

    __slots__ = ("_after", "_before", "reasoning")

    def __init__(self) -> None:
        self._before = self._after = b""
        self.reasoning = False

    def fits(self, events: Sequence[bytes]) -> bool:
        """Tell whether all these events are of this mould and carry text."""
        before, after = self._before, self._after
        if not before:
            return False
        first, last = len(before), -len(after)
        texts = [event[first:last] for event in events if event.startswith(before) and event.endswith(after)]
        return len(texts) == len(events) and all(texts) and not _odd(b"".join(texts))

    def learn(self, data: bytes, chunk: dict[str, Any]) -> None:
        """Take the mould of an event, given its JSON, when that holds text.

        Only plain words that occur once as a whole string are taken, in events without escapes: between the
        quotes of two neighbouring strings there is always a comma or a colon, so what was found is the text.
        """
        text, name = _only_text(chunk)
        word = text.encode("utf-8", "replace")
        quoted = b'"' + word + b'"'
        if b"\\" in data or not word.replace(b" ", b"").isalnum() or data.count(quoted) != 1:
            return
        at = data.index(quoted) + 1
        self._before, self._after = data[:at], data[at + len(word) :]
        self.reasoning = name in REASONING_NAMES


def _only_text(chunk: dict[str, Any]) -> tuple[str, str]:
    """Return the text of a chunk whose one choice has text in one field, and that field; else two ""."""
    try:
        (choice,) = chunk["choices"]
        delta = choice["delta"]
        fields = [(delta.get(name), name) for name in OUTPUT_NAMES + REASONING_NAMES]
    except (AttributeError, KeyError, TypeError, ValueError):
        return "", ""
    found = [(text, name) for text, name in fields if isinstance(text, str) and text]
    return found[0] if len(found) == 1 and not delta.get("tool_calls") else ("", "")
