"""What stands before a message: container prefixes, time, rank, level, process; and taking it off.

Formats of engines are in their own files (``HeaderForm``); here are those that any program's log may have:
uvicorn's level, container front ends, JSON loggers, boxed terminals, and headers of a logger that was
configured otherwise.
"""

import re
from dataclasses import dataclass

import msgspec

from tui.engines.marks import NOBODY, Speaker

# docker compose and podman ("name-1  | ", "[name]     | "), kubectl ("[pod/name/container] "), the
# container runtimes' own files and `docker logs -t` (an ISO time, "stderr F "), journald ("Nov 29 13:48:34
# host unit[7]: " and with an ISO time), a runner's "DATE TIME | ", PyTorch's rank before a traceback, a
# terminal's frame ("│ ").
OUTER = re.compile(
    r"[\w./-]{1,80} {1,30}\| |\[[\w./-]{1,80}\] {1,30}\| |\[pod/[^\]]{1,200}\] "
    r"|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d) (?:std(?:out|err) [FP] )?"
    r"(?:[\w.-]{1,80} [\w.@/-]{1,80}\[\d{1,9}\]: )?"
    r"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d [\w.-]{1,80} [\w.@/-]{1,80}\[\d{1,9}\]: "
    r"|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:[.,]\d{1,9})? \| "
    r"|\[rank\d{1,5}\]: "
    r"|[│┃║] ?"
)
_CONTROL = re.compile(r"\x1b\[[0-?]*+[ -/]*+[@-~]?|[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
BOX_END = " \t│┃║"
# uvicorn: level, colon, padding.
LEVEL = re.compile(r"(?P<level>INFO|WARNING|ERROR|CRITICAL|DEBUG|TRACE): +")
# A logger configured by the user: some time or level first, then anything up to a bracket, bar or dash.
OTHER_LOGGER = re.compile(r"\W?(?:\d{2,4}[-/.]\d\d[-/.]|\d\d:\d\d:\d\d|(?:INFO|WARN|WARNING|ERROR|DEBUG)\b)")
BREAK = re.compile(r"(?:[\])|>:]|(?<= )-) +(?=[A-Za-z#\[])")
BREAK_WITHIN = 240
_RANKS = re.compile(r"(?<![A-Za-z0-9])(?:DP|PP|ATTN_CP|MOE_DP|PCP|TP|DCP|EP)\d{1,4}(?![A-Za-z0-9])")


@dataclass(frozen=True, slots=True)
class HeaderForm:
    """What an engine's own logger writes before a message.

    ``record`` is searched anywhere in a line, since a record may be glued to a bar or to native output;
    its match ends where the message begins. Groups: ``time``, ``level``, ``ranks``, all optional.
    ``process`` is a prefix that may come again and again before it (groups ``role``, ``rank``, ``pid``);
    the last one speaks. ``depths`` gives a process's depth by the beginning of its role.
    """

    record: re.Pattern[str]
    process: re.Pattern[str] | None = None
    depths: tuple[tuple[str, int], ...] = ()

    def speaker(self, head: str, found: re.Match[str] | None) -> Speaker:
        """Return who wrote a line, by the text before its message and the record's match."""
        if self.process is not None and "pid=" in head:
            prefixes = list(self.process.finditer(head))
            if prefixes:
                return self._process(prefixes[-1])
        ranks = (found.groupdict().get("ranks") or "").strip() if found is not None else ""
        return Speaker(rank=ranks, depth=2) if ranks else NOBODY

    def _process(self, prefix: re.Match[str]) -> Speaker:
        role, rank = prefix["role"], prefix["rank"]
        depth = next((depth for start, depth in self.depths if role.startswith(start)), None)
        named = _RANKS.findall(role + " " + (rank or ""))
        label = " ".join(named) if named else rank
        return Speaker(rank=label or None, role=role, pid=int(prefix["pid"]), depth=depth)


class _JsonLine(msgspec.Struct):
    """The fields in which JSON loggers keep the text of a line."""

    message: str | None = None
    msg: str | None = None
    event: str | None = None
    log: str | None = None
    text: str | None = None
    fields: msgspec.Raw = msgspec.Raw()


class _JsonFields(msgspec.Struct):
    """Where Rust's tracing keeps it (TGI with --json-output)."""

    message: str | None = None


_json_fields = msgspec.json.Decoder(_JsonFields)
_json = msgspec.json.Decoder(_JsonLine)


def from_json(line: str) -> str | None:
    """Return the text of a JSON logger's line, None for anything else."""
    try:
        read = _json.decode(line)
        # A container runtime's own record holds the whole line as "log".
        text = read.message or read.msg or read.event or read.log or read.text
        if text is None and bytes(read.fields)[:1] == b"{":
            text = _json_fields.decode(read.fields).message
    except msgspec.DecodeError:
        return None
    return text


def _one_line(text: str) -> str:
    """Return what JSON kept as one line: the last drawing of a bar, without escape sequences."""
    text = text.strip("\r\n")
    if text.isprintable():
        return text
    return _CONTROL.sub("", text.rpartition("\r")[2])


def without_outer(line: str) -> str | None:
    """Return a line without one layer of what is no engine's, None where there is none."""
    if line[:1] == "{":
        inner = from_json(line)
        return _one_line(inner) if inner is not None else None
    found = OUTER.match(line)
    if found is None:
        return None
    inner = line[found.end() :]
    return inner.rstrip(BOX_END) if found[0][0] in "│┃║" else inner


def ranks_in(text: str) -> str | None:
    """Return the rank tokens ("DP1 TP3") in the head of a line, None without any."""
    return " ".join(_RANKS.findall(text)) or None
