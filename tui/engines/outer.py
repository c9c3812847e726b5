"""Taking off what stands around an engine's line: container front ends, launchers, frames, JSON.

docker compose and podman ("name-1  | ", "[name]     | "), kubectl ("[pod/name/container] "), the container
runtimes' own files and `docker logs -t` (an ISO time, "stderr F "), journald ("Nov 29 13:48:34 host
unit[7]: ", also with an ISO time), a runner's "DATE TIME | ", launchers that name the rank ("[rank0]: ",
"[default0]:", "[1,0]<stderr>:", " 3: "), a frame drawn by a terminal ("│ … │"), and one JSON object a line.
"""

import re
from typing import NamedTuple

import msgspec

_UNIT = r"[\w.-]{1,80} [\w.@/-]{1,80}\[\d{1,9}\]: "
_ISO = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)"
_DATED = re.compile(
    rf"{_ISO} (?:std(?:out|err) [FP] |{_UNIT})?|\d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d(?:[.,]\d{{1,9}})? \| "
)
_SYSLOG = re.compile(rf"[A-Z][a-z]{{2}} [ \d]\d \d\d:\d\d:\d\d {_UNIT}")
_NAMED = re.compile(r"[\w./-]{1,80} {1,30}\| |\[[\w./-]{1,80}\] {1,30}\| ")
_LAUNCHER = re.compile(
    r"\[pod/[^\]]{1,200}\] |\[(?:rank|default)\d{1,5}\]: ?|\[\d{1,5},\d{1,5}\]<std(?:out|err)>: ?"
)
# srun's label; a shell called "1" would write "1: line 5: …".
_LABEL = re.compile(r" {0,3}\d{1,4}: (?!line \d)")
_FRAMES = "│┃║"
_FRAME_END = " \t" + _FRAMES
_ESCAPES = re.compile(r"\x1b\[[0-?]*+[ -/]*+[@-~]?")
_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")


class Inner(NamedTuple):
    """What stood inside one layer. ``time`` and ``level`` are a JSON logger's own, where it has any."""

    text: str
    time: str | None = None
    level: str = ""


def named(line: str) -> str | None:
    """Return the container that docker compose or podman names before a line, None without such a name."""
    found = _NAMED.match(line) if "| " in line else None
    return None if found is None else found[0].rstrip("| ")


def without_outer(line: str) -> Inner | None:
    """Return a line without one layer of what is no engine's, None where there is none."""
    first = line[:1]
    if first == "{":
        return from_json(line)
    if first in _FRAMES and first:
        return Inner(line[1:].removeprefix(" ").rstrip(_FRAME_END))
    found = _NAMED.match(line) if "| " in line else None
    if found is None:
        if first == "[":
            found = _LAUNCHER.match(line)
        elif first.isdigit() or first == " ":
            found = _DATED.match(line) or _LABEL.match(line)
        elif line[3:4] == " " and line[6:7] == " ":
            found = _SYSLOG.match(line)
    return None if found is None else Inner(line[found.end() :])


class _JsonLine(msgspec.Struct):
    """The fields in which JSON loggers keep a line's text, time and level, and an exception's traceback."""

    message: object = None
    msg: object = None
    event: object = None
    text: object = None
    fields: object = None
    log: object = None
    exc_info: object = None
    exception: object = None
    time: object = None
    timestamp: object = None
    asctime: object = None
    at: object = msgspec.field(default=None, name="@timestamp")
    level: object = None
    levelname: object = None
    severity: object = None


class _Nested(msgspec.Struct):
    message: str | None = None


_json = msgspec.json.Decoder(_JsonLine)


def from_json(line: str) -> Inner | None:
    """Return what a JSON logger's line says, None for anything else. A traceback in it stays many lines."""
    try:
        whole = _json.decode(line)
    except msgspec.DecodeError:
        return None
    if isinstance(whole.log, str):
        # A container runtime's own record holds the whole line, and a time of another clock.
        return Inner(_plain(whole.log))
    text = _text(whole.message, whole.msg, whole.event, whole.text) or _nested(whole.fields)
    if text is None:
        return None
    traceback = _text(whole.exc_info, whole.exception)
    return Inner(
        _plain(text if traceback is None else f"{text}\n{traceback}"),
        _text(whole.time, whole.timestamp, whole.asctime, whole.at),
        (_text(whole.level, whole.levelname, whole.severity) or "").upper(),
    )


def _nested(fields: object) -> str | None:
    """Return the text where Rust's tracing keeps it (TGI with --json-output)."""
    try:
        return msgspec.convert(fields, _Nested).message
    except msgspec.ValidationError:
        return None


def _text(*values: object) -> str | None:
    return next((value for value in values if isinstance(value, str) and value), None)


def _plain(text: str) -> str:
    """Return text without what JSON's escapes may have hidden from the cleaning of the line.

    Of a bar that was drawn again and again the last drawing stays.
    """
    text = text.rstrip("\r\n")
    if text.isprintable():
        return text
    lines = [line.rpartition("\r")[2] for line in _ESCAPES.sub("", text).replace("\r\n", "\n").split("\n")]
    return _UNSEEN.sub("", "\n".join(lines)).expandtabs(4)
