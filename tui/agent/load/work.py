"""The workload: prompts of about the length asked for, and the requests that carry them.

No tokenizer is needed: prompts are common English words, nearly one token each in the usual vocabularies,
and the count that the server returns for the first one corrects how many are taken. Each prompt begins with
words of its own, drawn from a salt that differs in every run, so that no prefix cache knows it; the words
after them are the same for the same seed.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from tui.agent.load.conversation import USER, Form, Template
from tui.agent.load.dataset import DataSet, WrongPrompt
from tui.agent.load.judge import Asked

if TYPE_CHECKING:
    from typing import Any

    from tui.agent.load.connections import Endpoint

CHAT_PATH = "/v1/chat/completions"
MODELS_PATH = "/v1/models"
_SALT_WORDS = 8
_FEWEST_WORDS = 1
_TEMPLATE_TOKENS = 16  # about what a chat template adds; the rest of the count is the words
_SPARE_WORDS = 1009
LONG_PROBE_WORDS = 300  # blocks of a prefix cache have 16 to 128 tokens, and only whole ones count

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
    """Makes the prompts of one run; ``words`` is how many each has, salt and shared prefix included.

    The prefix is the same for the whole run and differs from that of any other.
    """

    def __init__(self, *, seed: int, salt: str, tokens: int, prefix_tokens: int = 0) -> None:
        self.salt = salt
        self._tokens = tokens
        self._prefix_tokens = prefix_tokens
        self.words = max(_FEWEST_WORDS, tokens)
        self._pool = _drawn("tminus %d" % seed, tokens + _SPARE_WORDS)
        # Slices of one text are made at the cost of a copy, while streams are being stamped.
        self._text = " ".join(self._pool)
        self._starts = [0]
        for word in self._pool:
            self._starts.append(self._starts[-1] + len(word) + 1)
        self._share()

    def make(self, index: int, turn: int = 0) -> str:
        """Return what the user says in one turn of a conversation."""
        prefix = self._prefix if not turn else []
        left = self.words - len(prefix)
        own = _drawn("%s %d %d" % (self.salt, index, turn), min(_SALT_WORDS, left))
        rest = left - len(own)
        first = (index + 97 * turn) % _SPARE_WORDS
        body = [self._text[self._starts[first] : self._starts[first + rest] - 1]] if rest else []
        return " ".join(prefix + own + body)

    def message(self, index: int, turn: int) -> bytes:
        """Return the same as JSON; plain words need no escaping."""
        return USER % self.make(index, turn).encode("ascii")

    def salt_words(self, index: int) -> str:
        """Return words that begin no other prompt."""
        return " ".join(_drawn("%s %d" % (self.salt, index), _SALT_WORDS))

    def opening(self, index: int) -> bytes:
        """Return what comes before a conversation as JSON messages: nothing."""
        return b""

    def turns(self, index: int) -> int | None:
        """Return how many turns a conversation has at most, None for any number."""
        return None

    def tokens(self, index: int) -> int | None:
        """Return how long its answers are to be, None for as long as all."""
        return None

    def fit(self, counted: int) -> None:
        """Correct the number of words by how many tokens the server counted in a prompt of ``words`` words.

        What a chat template adds is in the count, so a very short prompt cannot be had: one word at least.
        """
        per_word = max(1.0, (counted - _TEMPLATE_TOKENS) / self.words)
        words = self.words - round((counted - self._tokens) / per_word)
        self.words = max(_FEWEST_WORDS, min(words, len(self._pool) - _SPARE_WORDS))
        self._share()

    def _share(self) -> None:
        words = round(self.words * self._prefix_tokens / self._tokens)
        self._prefix = _drawn(self.salt + " prefix", words)


def _drawn(seed: str, words: int) -> list[str]:
    draw = random.Random(seed)
    return [draw.choice(_WORDS) for _ in range(words)]


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


def requests_of(request: dict[str, Any], endpoint: Endpoint, *, api_key: str | None, salt: str) -> Requests:
    """Return what writes the requests that a BenchRequest asks for. Raises WrongPrompt, with a sentence."""
    spec: dict[str, Any] = request["spec"]
    prefix: int = spec["prefix_tokens"]
    if spec["turns"] < 1:
        raise WrongPrompt("turns must be at least 1")
    if not 0 <= prefix <= spec["input_tokens"]:
        raise WrongPrompt("of %d input tokens, %d cannot be shared" % (spec["input_tokens"], prefix))
    prompts = Prompts(seed=spec["seed"], salt=salt, tokens=spec["input_tokens"], prefix_tokens=prefix)
    own: list[Any] = request.get("prompts") or []
    if spec["data"] and not own:
        raise WrongPrompt("the data set %s came without its prompts" % spec["data"])
    data = DataSet(own, seed=spec["seed"], salt=prompts.salt_words) if own else None
    return Requests(endpoint, api_key=api_key, prompts=prompts, data=data)


class Requests:
    """Writes the requests of one run as bytes, quickly: only the messages differ between them."""

    def __init__(
        self, endpoint: Endpoint, *, api_key: str | None, prompts: Prompts, data: DataSet | None = None
    ) -> None:
        self._endpoint = endpoint
        self._api_key = api_key
        self._data = data
        self.prompts = prompts
        self.manners = Manners()

    def models(self) -> bytes:
        """Return the request for the list of models."""
        return self.plain("GET", MODELS_PATH)

    def plain(self, method: str, path: str) -> bytes:
        """Return a request without a body."""
        length = b"" if method == "GET" else b"Content-Length: 0\r\n"
        return self._endpoint.head(method, path, self._api_key) + length + b"\r\n"

    def template(self, model: str, max_tokens: int, turns: int = 1) -> Template:
        """Return what makes the workload's chat requests to that model, with answers of that length."""
        return Template(self._form(model), self._data or self.prompts, Asked(model, max_tokens), turns)

    def probe(self, model: str, max_tokens: int, index: int) -> bytes:
        """Return a request with a made prompt, whatever the workload's are."""
        return Template(self._form(model), self.prompts, Asked(model, max_tokens), 1).make(index)

    def long_probe(self, model: str) -> bytes:
        """Return a request that fills several blocks of a prefix cache, the same each time, for one token."""
        text = " ".join(_drawn(self.prompts.salt + " probe", LONG_PROBE_WORDS))
        return self._form(model).fill(USER % text.encode("ascii"), 1)

    def _form(self, model: str) -> Form:
        head = self._endpoint.head("POST", CHAT_PATH, self._api_key)
        return Form(head, dict(self.manners.fields(), model=model))
