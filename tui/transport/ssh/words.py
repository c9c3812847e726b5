"""What the ssh program says when it fails, and what that means: the one list by which its words are classed.

ssh has one exit status (255) for all that goes wrong on its side; what it was stands in its error text alone.
"""

import re
from dataclasses import dataclass

KINDS = (
    "usage", "dns", "host_key_changed", "host_key", "unreachable", "auth", "agreement", "timeout", "refused",
    "not_ssh", "session", "lost",
)  # fmt: skip

# Kind, the words that mean it (in the whole text), and the line to quote where another one tells more. The
# first that is found counts: what ends the talk comes after what it followed from. OpenSSH 9.2 and older.
_WORDS: tuple[tuple[str, str, str], ...] = (
    (
        "usage",
        r"^usage: |bad configuration option|can't open user config|terminating, \d+ bad|illegal option"
        r"|unknown option|option requires an argument|bad owner or permissions on",
        r"bad configuration option: |can't open|illegal|unknown|requires|bad owner",
    ),
    ("dns", r"could not resolve host|name or service not known|nodename nor servname", ""),
    (
        "host_key_changed",
        r"identification has changed!(?s:.*)host key verification failed",
        r"^offending .* in ",
    ),
    ("host_key", r"host key verification failed", r"host key is known for"),
    (
        "unreachable",
        r"no route to host|network is unreachable|connect to \w+ .*: permission denied"
        r"|stdio forwarding failed",
        r"open failed: |unreachable|no route|: permission denied",
    ),
    ("auth", r"permission denied|too many authentication failures", r"permission denied \(|too many auth"),
    ("agreement", r"unable to negotiate|no matching .* found", ""),
    ("timeout", r"timed out|timeout, server", ""),
    ("refused", r"connection refused", ""),
    (
        "not_ssh",
        r"(kex|ssh)_exchange_identification|banner exchange: |protocol mismatch|bad remote protocol version",
        "",
    ),
    ("session", r"session open refused|channel \d+: open failed", ""),
    ("lost", r"connection (to .* )?(closed|reset|aborted)|broken pipe|connection closed by", ""),
)
_MEANT = [
    (kind, re.compile(words, re.IGNORECASE | re.MULTILINE), re.compile(line or words, re.IGNORECASE))
    for kind, words, line in _WORDS
]
# ssh's last words that only tell that it ended, not why.
_LAST_WORDS = ("connection closed", "stdio forwarding failed", "kex_exchange")


@dataclass(frozen=True, slots=True)
class Heard:
    """What a failing command said: ``kind`` is one of KINDS, None for words that are no ssh's."""

    kind: str | None
    line: str


def hear(errors: bytes) -> Heard | None:
    """Class an error text and pick the line that tells the cause; None where nothing was said."""
    lines = [line.strip() for line in errors.decode("utf-8", "replace").splitlines() if line.strip()]
    if not lines:
        return None
    text = "\n".join(lines)
    for kind, words, shown in _MEANT:
        if words.search(text):
            told = [line for line in lines if shown.search(line)]
            return Heard(kind, told[-1] if told else _telling(lines))
    return Heard(None, _telling(lines))


def _telling(lines: list[str]) -> str:
    """Return the last line that is more than ssh's word that the connection was closed."""
    for line in reversed(lines):
        if not line.lower().startswith(_LAST_WORDS):
            return line
    return lines[-1]
