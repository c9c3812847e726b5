"""The prompts of a data set, as they came with the request."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, cast

from tui.agent.load.flight import WARMUP_INDEX

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class WrongPrompt(ValueError):
    """What came is no prompt; the text says which one and why."""


class DataSet:
    """Conversations in the order of the set (a seed other than 0 shuffles it), over and over.

    Those of the warm-up begin with a salt: none of the set is in a prefix cache before it is measured.
    """

    def __init__(self, prompts: list[Any], *, seed: int, salt: Callable[[int], str]) -> None:
        self._prompts = [_checked(prompt, number) for number, prompt in enumerate(prompts, 1)]
        self._salt = salt
        if seed:
            random.Random("tminus data %d" % seed).shuffle(self._prompts)

    def opening(self, index: int) -> bytes:
        """Return the system's message as JSON, with the comma after it; b"" for none."""
        system: str = self._prompt(index).get("system") or ""
        return b'{"role": "system", "content": %s}, ' % self._salted(index, system) if system else b""

    def message(self, index: int, turn: int) -> bytes:
        """Return what the user says in a turn, as a JSON message."""
        text = self._prompt(index)["turns"][turn]
        first = not turn and not self._prompt(index).get("system")
        return b'{"role": "user", "content": %s}' % (self._salted(index, text) if first else quoted(text))

    def turns(self, index: int) -> int:
        """Return how many turns a conversation has."""
        return len(self._prompt(index)["turns"])

    def tokens(self, index: int) -> int | None:
        """Return how long its answers are to be, None for as long as all."""
        return cast("int | None", self._prompt(index).get("output_tokens"))

    def _prompt(self, index: int) -> dict[str, Any]:
        return self._prompts[index % len(self._prompts)]

    def _salted(self, index: int, text: str) -> bytes:
        return quoted(self._salt(index) + " " + text if index >= WARMUP_INDEX else text)


def quoted(text: str) -> bytes:
    """Return a text as JSON in ASCII; lone surrogates, which no server takes, become question marks."""
    return json.dumps(text.encode("utf-8", "replace").decode("utf-8")).encode("ascii")


def _checked(prompt: Any, number: int) -> dict[str, Any]:
    """Return a prompt whose fields have the types of Prompt in tui/requests.py."""
    if not isinstance(prompt, dict):
        raise WrongPrompt("prompt %d of the data set is no object" % number)
    fields = cast("dict[str, Any]", prompt)
    turns, tokens = fields.get("turns"), fields.get("output_tokens")
    if not isinstance(turns, list) or not turns:
        raise WrongPrompt("prompt %d of the data set has no turns" % number)
    texts = [*cast("list[Any]", turns), fields.get("system") or ""]
    if not all(isinstance(text, str) for text in texts) or not all(texts[:-1]):
        raise WrongPrompt("prompt %d of the data set has a turn or a system without text" % number)
    if tokens is not None and (not isinstance(tokens, int) or isinstance(tokens, bool) or tokens < 1):
        raise WrongPrompt("prompt %d of the data set asks for no number of output tokens" % number)
    return fields
