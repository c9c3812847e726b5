"""What the answers of an OpenAI-style server mean: statuses, errors, model lists and generated tokens."""

import http
import json
import ssl
from dataclasses import dataclass
from typing import cast

from tui.events import Outcome, Probe
from tui.transport.clean import clean

TEXT_LIMIT = 200
NAME_LIMIT = 1024
MODELS_LIMIT = 1000


@dataclass(frozen=True, slots=True)
class Answer:
    """One exchange: the event it makes, the body, and when it began (monotonic seconds)."""

    probe: Probe
    body: bytes
    began_s: float


@dataclass(frozen=True, slots=True)
class ModelsAnswer:
    """What /v1/models said."""

    outcome: Outcome
    detail: str
    ids: list[str] | None


def words_of_status(status: int) -> tuple[Outcome, str]:
    """Return outcome and words for an HTTP status; 401 and 403 prove the port open and ask for a key."""
    try:
        words = f"{status} {http.HTTPStatus(status).phrase}"
    except ValueError:
        words = str(status)
    if 200 <= status < 300:
        return "ok", words
    if status in (401, 403):
        return "key_needed", f"{words}: the server wants an API key (--api-key-env NAME)"
    return "status", words


def outcome_of(error: Exception) -> tuple[Outcome, str]:
    """Return outcome and words for a failed exchange; refused, reset and time-out are different answers."""
    chain = _causes(error)
    if any(isinstance(each, ssl.SSLError) for each in chain):
        return "tls", f"TLS: {clean(str(error))[:TEXT_LIMIT]}"
    if any(isinstance(each, ConnectionRefusedError) for each in chain):
        return "refused", "connection refused"
    if any(isinstance(each, TimeoutError) or type(each).__name__.endswith("Timeout") for each in chain):
        return "timeout", "no answer in time"
    if any(isinstance(each, ConnectionError) for each in chain):
        return "reset", "connection reset"
    names = {type(each).__name__ for each in chain}
    if names & {"RemoteProtocolError", "DecodingError"}:
        return _protocol(error)
    if names & {"ReadError", "WriteError", "CloseError"}:
        return "reset", "connection reset"
    return "unreachable", clean(str(error))[:TEXT_LIMIT] or type(error).__name__


def _protocol(error: Exception) -> tuple[Outcome, str]:
    if "disconnected" in str(error).lower() or "closed" in str(error).lower():
        return "reset", "connection closed before an answer"
    return "not_http", "the port answers, but not with HTTP: it is another program's"


def _causes(error: BaseException) -> list[BaseException]:
    """Return an error with everything that caused it, groups opened."""
    found: list[BaseException] = []
    waiting: list[BaseException | None] = [error]
    while waiting:
        each = waiting.pop()
        if each is None or each in found:
            continue
        found.append(each)
        waiting += [each.__cause__, each.__context__]
        if isinstance(each, BaseExceptionGroup):
            waiting += cast("BaseExceptionGroup[BaseException]", each).exceptions
    return found


def model_ids(body: bytes, expected: str | None) -> ModelsAnswer:
    """Read the ids of a model list and compare them with the one expected."""
    data = _object(body).get("data")
    if not isinstance(data, list):
        return ModelsAnswer("not_http", "no list of models in the answer: another program's port?", None)
    ids = [
        clean(name[:NAME_LIMIT])
        for each in cast("list[object]", data)
        if isinstance(each, dict) and isinstance(name := cast("dict[str, object]", each).get("id"), str)
    ][:MODELS_LIMIT]
    if not ids:
        return ModelsAnswer("empty", "the server lists no model", ids)
    if expected is not None and expected not in ids:
        words = f"expected {expected}, the server lists {', '.join(ids)}"
        return ModelsAnswer("wrong_model", words[: 2 * TEXT_LIMIT], ids)
    return ModelsAnswer("ok", ", ".join(ids)[:TEXT_LIMIT], ids)


def token_text(body: bytes) -> str | None:
    """Return the text of a completion that generated at least one token, None where none was.

    Reasoning counts as generated. A token may be empty text, so the usage count decides where there is one.
    """
    answer = _object(body)
    choices = answer.get("choices")
    if not isinstance(choices, list) or not choices:
        return None
    message = _dict(_dict(cast("list[object]", choices)[0]).get("message"))
    texts = (message.get(name) for name in ("content", "reasoning_content", "reasoning"))
    text = next((each for each in texts if isinstance(each, str) and each), "")
    tokens = _dict(answer.get("usage")).get("completion_tokens")
    generated = tokens >= 1 if isinstance(tokens, int) else bool(text)
    return clean(text)[:TEXT_LIMIT] if generated else None


def answered_model(body: bytes) -> str | None:
    """Return the model that a completion names as its own, None where it names none."""
    model = _object(body).get("model")
    return clean(model[:NAME_LIMIT]) if isinstance(model, str) else None


def _object(body: bytes) -> dict[str, object]:
    try:
        return _dict(json.loads(body))
    except (ValueError, RecursionError):
        return {}


def _dict(value: object) -> dict[str, object]:
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}
