"""What a streamed chat completion says: server-sent events and OpenAI-style chunks, read after the fact.

Fed with the stamped reads of one exchange, in any pieces: characters split over reads, many events in one,
any of the three line ends, comments, absent spaces. Lines end at line feed and carriage return alone, so that
U+2028 inside a string stays there. Nothing a server sends raises here; what is wrong with it becomes a fault
of the answer.
"""

from __future__ import annotations

import json
from operator import itemgetter
from typing import TYPE_CHECKING, cast

from tui.agent.http.refusal import DETAIL_CHARACTERS, brief, fault_words, fields, items, plain
from tui.agent.load.fast import json_reader
from tui.agent.load.mould import OUTPUT_NAMES, REASONING_NAMES, Mould

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from tui.agent.load.connections import Exchange

# Paths serve as names of models, and one that is cut equals no other.
NAME_CHARACTERS = 4096
_MOST_TOKENS = 1000000000
_decode = json_reader()
_moment_s, _data = itemgetter(0), itemgetter(1)


class Answer:
    """What one stream amounted to.

    ``stamps_s`` are the moments of the chunks that carry text (content or reasoning, not empty), ``last_s``
    that of the last chunk with text or the finish reason, ``first_content_s`` that of the first with
    more than reasoning. ``usage_output``, ``usage_input`` and ``usage_cached`` (of the input) are the
    server's own counts of tokens, None where it gave none. ``fault`` is the first thing wrong inside the
    stream: stream_error (an error object or event), bad_json. ``nothing_read`` is True until an event came.
    """

    __slots__ = (
        "detail",
        "done",
        "fault",
        "finish",
        "first_content_s",
        "last_s",
        "model",
        "nothing_read",
        "stamps_s",
        "usage_cached",
        "usage_input",
        "usage_output",
    )

    def __init__(self) -> None:
        self.stamps_s: list[float] = []
        self.first_content_s: float | None = None
        self.last_s: float | None = None
        self.usage_output: int | None = None
        self.usage_input: int | None = None
        self.usage_cached: int | None = None
        self.finish: str | None = None
        self.model: str | None = None
        self.done = False
        self.nothing_read = True
        self.fault = ""
        self.detail = ""

    def add_texts(self, moments_s: Sequence[float], *, reasoning: bool) -> None:
        """Note chunks with text."""
        self.stamps_s += moments_s
        self.last_s = moments_s[-1]
        if self.first_content_s is None and not reasoning:
            self.first_content_s = moments_s[0]

    def fail(self, fault: str, detail: str) -> None:
        """Keep the first fault."""
        if not self.fault:
            self.fault, self.detail = fault, brief(detail)


class StreamReader:
    """Turns stamped reads into an Answer, one read at a time; into ``texts`` too, if that is made a list."""

    def __init__(self) -> None:
        self.answer = Answer()
        self.texts: list[str] | None = None
        self._pieces: list[bytes] = []
        self._after_return = False
        self._begun = False
        self._event = b""
        self._data: list[bytes] = []
        self._mould = Mould()

    def feed_all(self, reads: list[tuple[float, bytes]]) -> None:
        """Take some reads: at once where all are like one that was read before, which is much cheaper."""
        if not reads:
            return
        if self._clean and self._mould.fits(list(map(_data, reads))):
            self.answer.add_texts(list(map(_moment_s, reads)), reasoning=self._mould.reasoning)
        elif len(reads) > 1:
            middle = len(reads) // 2
            self.feed_all(reads[:middle])
            self.feed_all(reads[middle:])
        else:
            self._feed_slowly(*reads[0])

    def feed(self, moment_s: float, data: bytes) -> None:
        """Take one read."""
        self.feed_all([(moment_s, data)])

    def _feed_slowly(self, moment_s: float, data: bytes) -> None:
        if self._is_one_event(data):
            chunk = self._dispatch_text(moment_s, data[6:-2], b"")
            if chunk is not None and self.texts is None:
                self._mould.learn(data, chunk)
            return
        if data.count(b"\n\n") > 1:  # several events: each may fit the mould by itself
            self._feed_each(moment_s, data)
            return
        if not self._begun:
            data = self._begin(data)
        if self._after_return and data.startswith(b"\n"):
            data = data[1:]
        self._after_return = data.endswith(b"\r")
        if b"\r" in data:
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        if b"\n" not in data:
            self._pieces.append(data)
            return
        lines = data.split(b"\n")
        if self._pieces:
            lines[0] = b"".join(self._pieces) + lines[0]
        rest = lines.pop()
        self._pieces = [rest] if rest else []
        for line in lines:
            self._line(moment_s, line)

    @property
    def _clean(self) -> bool:
        """True between two events."""
        return not (self._pieces or self._data or self._event)

    def _feed_each(self, moment_s: float, data: bytes) -> None:
        *events, rest = data.split(b"\n\n")
        for event in events:
            self.feed(moment_s, event + b"\n\n")
        if rest:
            self.feed(moment_s, rest)

    def _is_one_event(self, data: bytes) -> bool:
        """Tell whether a read is exactly one event of one data line, as most are."""
        return (
            self._begun
            and data.startswith(b"data: ")
            and data.endswith(b"\n\n")
            and data.count(b"\n") == 2
            and not (self._pieces or self._data or self._event or self._after_return or b"\r" in data)
        )

    def close(self, moment_s: float) -> None:
        """Take what stood in an unfinished last event if it is whole: some servers omit the last line end."""
        rest = b"".join(self._pieces)
        if rest:
            self._line(moment_s, rest)
        data = b"\n".join(self._data)
        if data.strip() == b"[DONE]" or _object(data) is not None:
            self._dispatch(moment_s)

    def _begin(self, data: bytes) -> bytes:
        self._begun = True
        return data[3:] if data.startswith(b"\xef\xbb\xbf") else data

    def _line(self, moment_s: float, line: bytes) -> None:
        if not line:
            self._dispatch(moment_s)
        elif line.startswith(b"data:"):
            self._data.append(line[6:] if line[5:6] == b" " else line[5:])
        elif line.startswith(b"event:"):
            self._event = line[6:].strip()

    def _dispatch(self, moment_s: float) -> None:
        data, event = self._data, self._event
        if not data and not event:
            return
        self._data, self._event = [], b""
        self._dispatch_text(moment_s, data[0] if len(data) == 1 else b"\n".join(data), event)

    def _dispatch_text(self, moment_s: float, text: bytes, event: bytes) -> dict[str, Any] | None:
        """Take the data of one event; return it where it is a chunk."""
        self.answer.nothing_read = False
        if event == b"error":
            self.answer.fail("stream_error", fault_words(_object(text), text))
        elif text.strip() == b"[DONE]":
            self.answer.done = True
        elif text:
            return self._take(moment_s, text)
        return None

    def _take(self, moment_s: float, text: bytes) -> dict[str, Any] | None:
        chunk = _object(text)
        if chunk is None:
            self.answer.fail("bad_json", text.decode("utf-8", "replace"))
        elif chunk.get("error") or chunk.get("object") == "error":
            self.answer.fail("stream_error", fault_words(chunk, text))
        else:
            read_chunk(self.answer, moment_s, chunk)
            if self.texts is not None:
                self.texts += _contents(chunk)
            return chunk
        return None


def read_chunk(answer: Answer, moment_s: float, chunk: dict[str, Any]) -> None:
    """Add one chat.completion.chunk to an answer."""
    model = chunk.get("model")
    if isinstance(model, str) and model and model != answer.model:
        answer.model = plain(model[:NAME_CHARACTERS])
    usage = chunk.get("usage")
    if usage:
        _count_tokens(answer, fields(usage))
    reasoning = text = False
    for choice in map(fields, items(chunk.get("choices"))):
        delta = fields(choice.get("delta"))
        text = text or _has_text(delta, OUTPUT_NAMES) or _calls(delta)
        reasoning = reasoning or _has_text(delta, REASONING_NAMES)
        finish = choice.get("finish_reason")
        if isinstance(finish, str) and finish:
            answer.finish = plain(finish[:DETAIL_CHARACTERS])
            answer.last_s = moment_s
    if text or reasoning:
        answer.add_texts((moment_s,), reasoning=not text)


def _count_tokens(answer: Answer, usage: dict[str, Any]) -> None:
    answer.usage_output = _count(usage.get("completion_tokens"), answer.usage_output)
    answer.usage_input = _count(usage.get("prompt_tokens"), answer.usage_input)
    details = fields(usage.get("prompt_tokens_details"))
    answer.usage_cached = _count(details.get("cached_tokens"), answer.usage_cached)


def read_exchange(exchange: Exchange) -> Answer:
    """Read all of an exchange's stream at once."""
    reader = StreamReader()
    reader.feed_all(exchange.reads)
    reader.close(exchange.ended_s)
    return reader.answer


def _contents(chunk: dict[str, Any]) -> list[str]:
    """Return the text of a chunk that is no reasoning."""
    found = [fields(fields(each).get("delta")).get("content") for each in items(chunk.get("choices"))]
    return [plain(text) for text in found if isinstance(text, str)]


def _has_text(delta: dict[str, Any], names: tuple[str, ...]) -> bool:
    """Tell whether one of these fields of a delta carries text."""
    for name in names:
        text = delta.get(name)
        if isinstance(text, str) and text:
            return True
    return False


def _calls(delta: dict[str, Any]) -> bool:
    """Tell whether a delta carries a piece of a call of a tool: tokens like those of a text."""
    functions = (fields(fields(call).get("function")) for call in items(delta.get("tool_calls")))
    return any(_has_text(function, ("name", "arguments")) for function in functions)


def _object(text: bytes) -> dict[str, Any] | None:
    try:
        found = _decode(text)
    except (ValueError, RecursionError):
        found = _slowly(text)
    return cast("dict[str, Any]", found) if isinstance(found, dict) else None


def _slowly(text: bytes) -> Any:
    """Decode what a stricter reader refuses: NaN, lone surrogates, broken characters; None for no JSON."""
    try:
        return json.loads(text.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None


def _count(value: Any, before: int | None) -> int | None:
    """Return a count of tokens, the one before for what cannot be one."""
    known = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MOST_TOKENS
    return value if known else before
