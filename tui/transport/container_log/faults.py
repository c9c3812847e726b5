"""What is said when a container's log cannot be read: one table, by the tool's own words."""

import re
from dataclasses import dataclass

from tui.transport.clean import clean
from tui.transport.wrapper import Wrapper
from tui.transport.wrapper_faults import end_fault, last_words

_SAID_LIMIT = 300
_KEPT_IN_FILE = "let the server write to a file and name it with --log"


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a log is not read, in a sentence. ``passing``: it may be read later, by itself."""

    sentence: str
    passing: bool


@dataclass(frozen=True, slots=True)
class Row:
    """What the words look like, whether that passes by itself, and the sentence ("": it is usual)."""

    tools: str
    pattern: str
    passing: bool
    text: str


# fmt: off
TABLE: dict[str, Row] = {
    "driver": Row("docker podman",
        r"logging driver does not support reading|'none' log driver|none log driver", False,
        "the container {name} keeps no log that `{command}` could read (its logging driver does not): "
        + _KEPT_IN_FILE),
    "forbidden": Row("kubectl", r"\(Forbidden\)|is forbidden|\(Unauthorized\)|must be logged in", False,
        "the cluster does not let this user read the log of {name} ({said}): it needs the right to get "
        "pods/log there, or " + _KEPT_IN_FILE),
    "starting": Row("kubectl",
        r"is waiting to start|ContainerCreating|PodInitializing|trying and failing to pull",
        True, ""),
    "collected": Row("kubectl",
        r"unable to retrieve container logs|previous terminated container|failed to try resolving symlinks"
        r"|failed to (?:watch|open|create fsnotify)", True, ""),
    "cut": Row("docker podman kubectl",
        r"unexpected EOF|lost connection|connection reset by peer|http2: |stream error|i/o timeout"
        r"|error sending request|TLS handshake timeout|context deadline exceeded", True, ""),
}
# fmt: on


def refusal(wrapper: Wrapper, host: str | None, command: str, status: int | None, words: bytes) -> Refusal:
    """Return why the tool ended, by its last words."""
    lines = [line for line in (clean(each).strip() for each in _lines(words)) if line]
    for row in TABLE.values():
        said = next((line for line in lines if re.search(row.pattern, line)), None)
        if wrapper.kind in row.tools.split() and said is not None:
            return Refusal(_sentence(row.text, wrapper, command, said), row.passing)
    known = end_fault(wrapper, host, status, words, spoke=True)
    if known is not None and status not in (137, 143):
        return Refusal(f"no log of the container: {known.sentence}", passing=known.retry)
    said = f": {lines[-1][:_SAID_LIMIT]}" if lines and status else ""
    return Refusal(f"`{command}` ended (exit status {status}){said}" if said else "", passing=True)


def _lines(words: bytes) -> list[str]:
    return last_words(words).decode("utf-8", "replace").replace("\r", "\n").split("\n")


def _sentence(text: str, wrapper: Wrapper, command: str, said: str) -> str:
    return text.format(name=wrapper.name, command=command, said=said[:_SAID_LIMIT])
