"""What curl and wget print, taken apart: status, server, body, or why there was no answer."""

import re
from dataclasses import dataclass
from typing import Literal

from tui.events import Outcome
from tui.transport.clean import clean

Tool = Literal["curl", "wget", "busybox"]
_SAID = 200
_STATUS = re.compile(r"^\s*HTTP/\d(?:\.\d)? (\d{3})\b", re.MULTILINE)
_SERVER = re.compile(r"^\s*server:[ \t]*(.+)$", re.MULTILINE | re.IGNORECASE)
_WGET_DONE = re.compile(r"\n?\d{4}-\d\d-\d\d \d\d:\d\d:\d\d URL:.*\Z", re.DOTALL)

# curl's exit codes by what they mean here (its manual); wget's tell too little, so its words count.
_CURL: dict[int, Outcome] = {
    1: "not_http", 6: "unreachable", 7: "refused", 8: "not_http", 18: "reset", 28: "timeout", 35: "tls",
    52: "reset", 55: "reset", 56: "reset", 58: "tls", 59: "tls", 60: "tls", 77: "tls",
}  # fmt: skip
_WORDS: tuple[tuple[str, Outcome], ...] = (
    (r"refused", "refused"),
    (r"timed? ?out", "timeout"),
    (r"no route|unreachable|resolve|bad address|unable to resolve", "unreachable"),
    (r"certificate|ssl|tls", "tls"),
    (r"reset|closed|empty reply", "reset"),
    (r"error getting response|bad header|http/0\.9|malformed", "not_http"),
)
_TIMED_OUT = (124, 143)


@dataclass(frozen=True, slots=True)
class WebAnswer:
    """One answer. ``status`` None: there was none, and ``outcome`` and ``detail`` say why."""

    status: int | None
    body: bytes
    server: str | None
    outcome: Outcome
    detail: str


def web_answer(tool: Tool, text: str, code: int | None) -> WebAnswer:
    """Return what the output of a tool and its exit code (None: cut off) say."""
    found = _STATUS.findall(text)
    if not found:
        outcome, detail = _fault(tool, text, code)
        return WebAnswer(None, b"", None, outcome, detail)
    head, body = _curl_parts(text) if tool == "curl" else _wget_parts(text)
    server = _SERVER.search(head)
    status = int(found[0]) if tool != "curl" else int(_STATUS.findall(head)[-1])
    named = None if server is None else clean(server[1]).strip()[:_SAID]
    return WebAnswer(status, body.encode("utf-8", "surrogateescape"), named, "ok", "")


def _curl_parts(text: str) -> tuple[str, str]:
    """Return the last head and the body; heads of "100 Continue" come before."""
    head = ""
    while text.lstrip("\n").startswith("HTTP/"):
        head, _, text = text.lstrip("\n").partition("\n\n")
    return head or text, text


def _wget_parts(text: str) -> tuple[str, str]:
    lines = _WGET_DONE.sub("", text).split("\n")
    count = next((place for place, line in enumerate(lines) if not line.startswith("  ")), len(lines))
    return "\n".join(lines[:count]), "\n".join(lines[count:])


def _fault(tool: Tool, text: str, code: int | None) -> tuple[Outcome, str]:
    said = clean(text.strip().replace("\n", " "))[-_SAID:]
    if code in _TIMED_OUT and tool == "busybox":
        return "timeout", "no answer in time"
    by_words: Outcome | None = next(
        (outcome for words, outcome in _WORDS if re.search(words, text, re.IGNORECASE)), None
    )
    outcome: Outcome = by_words or (_CURL.get(code or 0) if tool == "curl" else None) or "unreachable"
    plain: dict[Outcome, str] = {
        "refused": "connection refused",
        "timeout": "no answer in time",
        "reset": "connection reset",
    }
    return outcome, plain.get(outcome, said or f"{tool} ended with status {code}")
