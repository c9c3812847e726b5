"""A short way to read the chunks of a stream: most differ from the one before in their text alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

OUTPUT_NAMES = ("content", "refusal")
REASONING_NAMES = ("reasoning_content", "reasoning")


# Looking for a number in bytes costs an eighth of looking for bytes in them; 10 and 13 are the line ends.
_QUOTE, _ESCAPE = b'"\\'


class Mould:
    """The bytes before and after the text of a chunk that was read the long way, as JSON.

    Another event with the same bytes around a text without quotes and backslashes is the same JSON with that
    text in its place: it carries text, and all else in it is known. To decode it would cost 12 µs.
    """

    __slots__ = ("_after", "_around", "_before", "reasoning")

    def __init__(self) -> None:
        self._before = self._after = b""
        self._around = 0
        self.reasoning = False

    def fits(self, data: bytes) -> bool:
        """Tell whether an event is of this mould and carries text."""
        if not self._around or not data.startswith(self._before) or not data.endswith(self._after):
            return False
        text = data[len(self._before) : -len(self._after)]
        return len(data) > self._around and not (
            _QUOTE in text or _ESCAPE in text or 10 in text or 13 in text
        )

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
        self._around = len(self._before) + len(self._after)
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
