"""What the answers of an OpenAI-style server mean: statuses, model lists, completions.

Text of the server goes into an event, so it is cut short, printable, and without secrets: a refusal may quote
the key that it refuses.
"""

from __future__ import annotations

import json

from tui.agent.http.refusal import error_words, fields, items
from tui.agent.mask import HIDDEN, mask_text

TYPE_CHECKING = False  # as in channel.py
if TYPE_CHECKING:
    from typing import Any

TEXT_LIMIT = 200
_MODELS_LIMIT = 1000
# Those that a server or what stands before it may give; http.HTTPStatus would take 0.3 MB for the same.
_PHRASES = {
    200: "OK",
    201: "Created",
    202: "Accepted",
    204: "No Content",
    301: "Moved Permanently",
    302: "Found",
    303: "See Other",
    304: "Not Modified",
    307: "Temporary Redirect",
    308: "Permanent Redirect",
    400: "Bad Request",
    401: "Unauthorized",
    402: "Payment Required",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    406: "Not Acceptable",
    407: "Proxy Authentication Required",
    408: "Request Timeout",
    409: "Conflict",
    410: "Gone",
    411: "Length Required",
    413: "Request Entity Too Large",
    415: "Unsupported Media Type",
    421: "Misdirected Request",
    422: "Unprocessable Entity",
    426: "Upgrade Required",
    428: "Precondition Required",
    429: "Too Many Requests",
    451: "Unavailable For Legal Reasons",
    500: "Internal Server Error",
    501: "Not Implemented",
    502: "Bad Gateway",
    503: "Service Unavailable",
    504: "Gateway Timeout",
    505: "HTTP Version Not Supported",
    507: "Insufficient Storage",
    511: "Network Authentication Required",
}
_TEXTS = ("content", "reasoning_content", "reasoning")


class Verdict:
    """One answer, judged: the outcome of events.Probe and its fields."""

    def __init__(
        self,
        outcome: str,
        detail: str,
        models: list[str] | None = None,
        model: str | None = None,
        text: str | None = None,
    ) -> None:
        self.outcome = outcome
        self.detail = detail
        self.models = models
        self.model = model
        self.text = text


def judge_status(status: int, body: bytes, key: str | None) -> Verdict:
    """Judge by the status code alone; the body only adds the server's own words to a refusal."""
    words = "%d %s" % (status, _PHRASES[status]) if status in _PHRASES else str(status)
    if 200 <= status < 300:
        return Verdict("ok", words)
    if status in (401, 403):
        remark = "the server does not take this API key" if key else "the port is open, an API key is needed"
        return Verdict("key_needed", "%s: %s" % (words, remark))
    said = shown(error_words(body), key)
    return Verdict("status", "%s: %s" % (words, said) if said else words)


def judge_models(body: bytes, expected: str | None) -> Verdict:
    """Judge a model list: ok when the expected id is in it (or any id, where none is expected)."""
    listed = _object(body).get("data")
    if not isinstance(listed, list):
        kind = "an HTML page" if body.lstrip()[:1] == b"<" else "no list of models"
        return Verdict("not_http", "the answer is %s: another program's port?" % kind)
    names = [fields(one).get("id") for one in items(listed)]
    ids = [_printable(name, 1024) for name in names if isinstance(name, str)][:_MODELS_LIMIT]
    if not ids:
        return Verdict("empty", "the server lists no model", models=ids)
    if matching(ids, expected) is None:
        words = "expected %s, the server lists %s" % (expected, ", ".join(ids))
        return Verdict("wrong_model", words[: 2 * TEXT_LIMIT], models=ids)
    return Verdict("ok", ", ".join(ids)[:TEXT_LIMIT], models=ids)


def matching(ids: list[str], expected: str | None) -> str | None:
    """Return the listed id to ask for the expected model; a path counts by its last part, as do its owners.

    Whether a person meant exactly that name is for the client to say, who knows where the name comes from.
    """
    if expected is None or expected in ids:
        return expected if expected is not None else (ids[0] if ids else None)
    wanted = _last_part(expected)
    return next((one for one in ids if _last_part(one) == wanted), None)


def judge_token(body: bytes, key: str | None, wanted: list[str] | None = None) -> Verdict:
    """Judge a completion: ok only when a token was generated; reasoning counts, a token may be empty text.

    ``wanted`` holds the expected model, then the listed ones: a server of several names answers to one by
    another. None: any model counts.
    """
    parts = _events(body) if body.lstrip()[:5] == b"data:" else [_object(body)]
    text = "".join(_text(part) for part in parts)
    tokens = max(_tokens(part) for part in parts) if parts else 0
    model = next((str(part["model"]) for part in parts if isinstance(part.get("model"), str)), None)
    generated = bool(text) or tokens >= 1
    if generated and wanted and model is not None and matching(wanted, model) is None:
        words = "expected %s, %s answered" % (wanted[0], shown(model))
        return Verdict("wrong_model", words[: 2 * TEXT_LIMIT], model=shown(model))
    if generated:
        return Verdict("ok", "one token generated", model=model and shown(model), text=shown(text, key))
    said = shown(error_words(body), key) if b'"error"' in body else ""
    return Verdict("empty", "answered without a generated token" + (": " + said if said else ""), model=model)


def shown(text: str, key: str | None = None) -> str:
    """Return remote text fit for an event."""
    text = text.replace(key, HIDDEN) if key else text
    return mask_text(_printable(text, 4 * TEXT_LIMIT))[:TEXT_LIMIT]


def _printable(text: str, limit: int) -> str:
    return "".join(one for one in text[:limit] if one.isprintable())


def _events(body: bytes) -> list[dict[str, Any]]:
    lines = [line.strip() for line in body.splitlines()]
    return [_object(line[5:]) for line in lines if line.startswith(b"data:")]


def _text(part: dict[str, Any]) -> str:
    choices = items(part.get("choices"))
    first = fields(choices[0]) if choices else {}
    message = fields(first.get("message")) or fields(first.get("delta"))
    texts = [message.get(name) for name in _TEXTS] + [first.get("text")]
    return next((one for one in texts if isinstance(one, str) and one), "")


def _tokens(part: dict[str, Any]) -> int:
    count = fields(part.get("usage")).get("completion_tokens")
    return count if isinstance(count, int) else 0


def _object(data: bytes) -> dict[str, Any]:
    try:
        return fields(json.loads(data))
    except (ValueError, RecursionError):
        return {}


def _last_part(name: str) -> str:
    return name.rstrip("/").rpartition("/")[2]
