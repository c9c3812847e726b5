"""What a benchmark says for people: one sentence for each class of failure, and for how a run ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tui.agent.load.metrics import Tally

_SENTENCES = {
    "refused": "{where} refuses connections: no server listens there (yet)",
    "dns": "the host in {where} is not known from here: {detail}",
    "timeout": "{where} did not answer: {detail}",
    "reset": "{where} broke the connection: {detail}",
    "tls": "no trusted TLS with {where}: {detail}; name its CA file, or use --insecure",
    "unreachable": "there is no way to {where}: {detail}",
    "not_http": "{where} gave no HTTP answer that can be used: {detail}",
    "http_401": "{where} wants an API key (401): name the variable that holds it with --api-key-env",
    "http_403": "{where} does not allow this (403): {detail}",
    "http_404": "{where} has no such endpoint or model (404): {detail}",
    "http_429": "{where} takes no more requests now (429): {detail}",
    "http_503": "{where} is not ready (503): {detail}",
    "not_a_stream": "{where} does not stream its answers: {detail}",
    "stream_error": "{where} reported an error inside its answer: {detail}",
    "bad_json": "{where} sent an event that is no JSON: {detail}",
    "cut": "{where} cut its answer off: {detail}",
    "wrong_model": "{where} serves another model: {detail}",
    "no_token": "{where} generated nothing: {detail}",
    "long": "{where} answers with more tokens than asked, or counts them wrongly: {detail}",
    "short": "{where} answers with fewer tokens than asked: {detail}",
    "busy": "{detail} on {where}: wait for their end, or measure all the same with --anyway",
    "bad_url": "{detail}",
    "bad_request": "{detail}",
    "client_limit": "no more connections to {where} may be opened from here: {detail}; take fewer streams",
    "no_model": "{where} lists no model: name one with --model",
}

_NONE = "none began in the time there was for it; a longer --duration or fewer tokens leave some"


def failure_sentence(fault: str, detail: str, where: str) -> str:
    """Return one failure in a sentence."""
    if fault in _SENTENCES:
        return _SENTENCES[fault].format(where=where, detail=detail or "no reason given").rstrip()
    return "%s answered %s: %s" % (where, fault.replace("http_", ""), detail or "no reason given")


def outcome_sentence(tally: Tally, *, requests: int, where: str) -> str:
    """Return how a measured run went; ``requests`` is how many there were to be."""
    if not tally.completed:
        fault, detail = tally.outcomes.last_failure
        return "no request succeeded: " + (failure_sentence(fault, detail, where) if fault else _NONE)
    parts = ["%d of %d requests answered" % (tally.completed, requests)]
    failures = sorted(tally.outcomes.failures.items())
    if failures:
        parts.append("failed: " + ", ".join("%s %d" % one for one in failures))
    if tally.completed + tally.failed < requests:
        parts.append("stopped early")
    if tally.ended_early:
        parts.append("%d answers ended by themselves before the length asked for" % tally.ended_early)
    if tally.by_chunks:
        parts.append("the server counts no tokens, so chunks were counted")
    return "; ".join(parts)
