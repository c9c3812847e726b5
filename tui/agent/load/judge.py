"""Whether a request succeeded, and if not, in which class it failed.

A success has text, an end (finish_reason or [DONE]) and the length that was asked for. Classes of failure:

- refused, reset, timeout, tls, dns, unreachable, not_http: no usable response;
- http_NNN: another status than 200;
- not_a_stream: a 200 whose body is no event stream;
- stream_error: an error object or error event inside the stream, after a status of 200;
- bad_json: an event that is no JSON object;
- cut: the stream ended with neither finish_reason nor [DONE] (a reset in mid-stream is reset);
- wrong_model: another model answered than was asked;
- no_token: it ended well without any text;
- long: by the server's own count more tokens than asked, which is other work or a wrong count;
- short: by the server's own count fewer tokens than asked, and it did not say "stop". A finish_reason "stop"
  is the model's own end on a server that does not know ignore_eos: a success, counted as ``ended_early``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui.agent.http.refusal import brief, error_words
from tui.agent.load.stream import Answer

if TYPE_CHECKING:
    from tui.agent.load.connections import Exchange

_PREVIEW_BYTES = 4096


class Asked:
    """What a request asked for: the model (None: any) and how many tokens."""

    __slots__ = ("model", "tokens")

    def __init__(self, model: str | None, tokens: int) -> None:
        self.model = model
        self.tokens = tokens


def judge(exchange: Exchange, answer: Answer, asked: Asked) -> tuple[str, str]:
    """Return the class of failure and its words, ("", "") for a success."""
    if exchange.status not in (0, 200):
        return "http_%d" % exchange.status, error_words(_preview(exchange))
    whole = answer.finish is not None or answer.done
    if exchange.fault and not whole:
        # What the server said inside the stream explains its end better than the end itself.
        return (answer.fault or exchange.fault), (answer.detail or exchange.detail)
    return _judge_stream(exchange, answer, asked)


def _judge_stream(exchange: Exchange, answer: Answer, asked: Asked) -> tuple[str, str]:
    if answer.fault:
        return answer.fault, answer.detail
    if answer.nothing_read and exchange.reads:
        return _judge_body(exchange)
    if asked.model is not None and answer.model not in (None, asked.model):
        return "wrong_model", "%s answered, %s was asked" % (brief(answer.model or ""), brief(asked.model))
    if answer.finish is None and not answer.done:
        return "cut", "the stream ended without finish_reason and [DONE]"
    if not answer.stamps_s:
        return "no_token", "the stream ended without any text"
    if _is_long(answer, asked):
        return "long", "%s of %d tokens" % (answer.usage_output, asked.tokens)
    if _is_short(answer, asked):
        return "short", "%s of %d tokens, finish_reason %s" % (
            answer.usage_output,
            asked.tokens,
            answer.finish,
        )
    return "", ""


def _judge_body(exchange: Exchange) -> tuple[str, str]:
    body = _preview(exchange)
    fault = "stream_error" if body.lstrip().startswith(b"{") and b'"error"' in body else "not_a_stream"
    return fault, error_words(body)


def _is_long(answer: Answer, asked: Asked) -> bool:
    """Tell whether more came than asked; what ends an answer may count as one, and 2 % are no other work."""
    return 0 < asked.tokens < (answer.usage_output or 0) - max(1, asked.tokens // 50)


def _is_short(answer: Answer, asked: Asked) -> bool:
    count = answer.usage_output
    return count is not None and 0 < count < asked.tokens and answer.finish != "stop"


def _preview(exchange: Exchange) -> bytes:
    return exchange.body[:_PREVIEW_BYTES]
