"""The workload: prompts of about the length asked for, and the requests that carry them.

No tokenizer is needed: prompts are common English words, nearly one token each in the usual vocabularies,
and the count that the server returns for the first one corrects how many are taken. Each prompt begins with
words of its own, drawn from a salt that differs in every run, so that no prefix cache knows it; the words
after them are the same for the same seed.
"""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tui.agent.load.connections import Endpoint

CHAT_PATH = "/v1/chat/completions"
MODELS_PATH = "/v1/models"
_SALT_WORDS = 8
_FEWEST_WORDS = 1
_TEMPLATE_TOKENS = 16  # about what a chat template adds; the rest of the count is the words
_SPARE_WORDS = 1009

_TEXT = """
able about above across action after again air all almost alone along also always among and animal answer
any apple area arm around ask away baby back bad ball bank base bear beat bed been before began behind
best better between big bird black blood blue board boat body bone book born both box boy bring brown
build burn busy buy call came camp can car card care carry case cat catch cause cell center chair chance
change check child choose circle city class clean clear climb clock close cloud coast coat cold color come
common cook cool copy corn corner cost count country course cover cross crowd cry current cut dance dark
day dead deal dear death deep desert desk did die dinner direct dog dollar door double down draw dream
dress drink drive drop dry during each early earth ease east eat edge effect egg eight end energy engine
enough enter equal even evening event ever every exact eye face fact fair fall family famous far farm fast
father fear feed feel feet few field fight figure fill final find fine finger fire first fish fit five
flat floor flow flower fly follow food foot force forest form forward found four free fresh friend front
fruit full fun game garden gas gave general gentle girl give glad glass gold gone good got grand grass
gray great green ground group grow guess guide hair half hand happy hard has hat have head hear heart heat
heavy help
"""
_WORDS = _TEXT.split()


class Prompts:
    """Makes the prompts of one run; ``words`` is how many each has, salt included."""

    def __init__(self, *, seed: int, salt: str, tokens: int) -> None:
        self._salt = salt
        self._tokens = tokens
        self.words = max(_FEWEST_WORDS, tokens)
        body = random.Random("tminus %d" % seed)
        self._pool = [body.choice(_WORDS) for _ in range(tokens + _SPARE_WORDS)]
        # Slices of one text are made at the cost of a copy, while streams are being stamped.
        self._text = " ".join(self._pool)
        self._starts = [0]
        for word in self._pool:
            self._starts.append(self._starts[-1] + len(word) + 1)

    def make(self, index: int) -> str:
        """Return the prompt of one request."""
        salt = random.Random("%s %d" % (self._salt, index))
        own = [salt.choice(_WORDS) for _ in range(min(_SALT_WORDS, self.words))]
        rest = self.words - len(own)
        if rest <= 0:
            return " ".join(own)
        first = index % _SPARE_WORDS
        return " ".join(own) + " " + self._text[self._starts[first] : self._starts[first + rest] - 1]

    def fit(self, counted: int) -> None:
        """Correct the number of words by how many tokens the server counted in a prompt of ``words`` words.

        What a chat template adds is in the count, so a very short prompt cannot be had: one word at least.
        """
        per_word = max(1.0, (counted - _TEMPLATE_TOKENS) / self.words)
        words = self.words - round((counted - self._tokens) / per_word)
        self.words = max(_FEWEST_WORDS, min(words, len(self._pool) - _SPARE_WORDS))


class Manners:
    """Which optional fields the server takes; ``less`` gives up the next one that a strict server may refuse.

    ``ignore_eos`` makes every answer as long as asked on vLLM, SGLang and llama.cpp. ``min_tokens`` is never
    sent: with ignore_eos it adds nothing but a penalty that some engines compute at each step.
    """

    def __init__(self) -> None:
        self.ignore_eos = True
        self.usage = True

    def less(self) -> bool:
        """Give up one field; False when there is none left."""
        if self.ignore_eos:
            self.ignore_eos = False
            return True
        if self.usage:
            self.usage = False
            return True
        return False

    def fields(self) -> dict[str, object]:
        """Return the fields to send."""
        fields: dict[str, object] = {"stream": True, "temperature": 0}
        if self.usage:
            fields["stream_options"] = {"include_usage": True}
        if self.ignore_eos:
            fields["ignore_eos"] = True
        return fields


class Requests:
    """Writes the requests of one run as bytes, quickly: only the prompt differs between them."""

    def __init__(self, endpoint: Endpoint, *, api_key: str | None, prompts: Prompts) -> None:
        self._endpoint = endpoint
        self._api_key = api_key
        self.prompts = prompts
        self.manners = Manners()

    def models(self) -> bytes:
        """Return the request for the list of models."""
        return self._endpoint.head("GET", MODELS_PATH, self._api_key) + b"\r\n"

    def template(self, model: str, max_tokens: int) -> Template:
        """Return what makes chat requests for that model with answers of that length."""
        head = self._endpoint.head("POST", CHAT_PATH, self._api_key)
        fields = dict(self.manners.fields(), model=model, max_tokens=max_tokens)
        return Template(head, fields, self.prompts)


class Template:
    """A chat request without its prompt."""

    def __init__(self, head: bytes, fields: dict[str, object], prompts: Prompts) -> None:
        self._head = head + b"Content-Type: application/json\r\nContent-Length: "
        self._before = (
            json.dumps(fields)[:-1].encode("ascii") + b', "messages": [{"role": "user", "content": "'
        )
        self._prompts = prompts

    def make(self, index: int) -> bytes:
        """Return the request with the prompt of that index; prompts are plain words and need no escaping."""
        body = self._before + self._prompts.make(index).encode("ascii") + b'"}]}'
        return self._head + b"%d\r\n\r\n" % len(body) + body
