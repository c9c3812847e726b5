"""What stands before a message: time, rank, level, process.

Formats of engines are in their own files (``HeaderForm``); here are those that any program's log may have:
uvicorn's level, and headers of a logger that was configured otherwise. What is around the whole line is taken
off first (``outer.py``).
"""

import re
from dataclasses import dataclass

from tui.engines.marks import NOBODY, Speaker
from tui.engines.outer import named

# uvicorn: level, colon, padding.
LEVEL = re.compile(r"(?P<level>INFO|WARNING|ERROR|CRITICAL|DEBUG|TRACE): +")
LEVELS = frozenset(("INFO", "WARNING", "ERROR", "CRITICAL", "DEBUG", "TRACE"))
# A logger configured by the user: some time or level first, then anything up to a bracket, bar or dash.
OTHER_LOGGER = re.compile(r"\W?(?:\d{2,4}[-/.]\d\d[-/.]|\d\d:\d\d:\d\d|(?:INFO|WARN|WARNING|ERROR|DEBUG)\b)")
# A dash counts behind a space alone. The class comes first: to look for one of its characters is quick.
BREAK = re.compile(r"[\])|>:-](?<!(?<! )-) +(?=[A-Za-z#\[])")
BREAK_WITHIN = 240
_RANKS = re.compile(r"(?<![A-Za-z0-9])(?:DP|PP|ATTN_CP|MOE_DP|PCP|TP|DCP|EP)\d{1,4}(?![A-Za-z0-9])")
# In a head: it may be a frame, a bar, JSON or a quotation.
_ODD = re.compile("[│┃║%{\"'`\u201c\u2018\u00ab]")
_HEAD_LENGTH = 160
_LEAD_LENGTH = 120
_HEADS = 1024


@dataclass(frozen=True, slots=True)
class HeaderForm:
    """What an engine's own logger writes before a message.

    ``record`` is searched anywhere in a line, since a record may be glued to a bar or to native output; its
    match ends where the message begins. Groups: ``time``, ``level``, ``ranks``, all optional. ``process``
    is a prefix in brackets that may come again and again before it (groups ``role``, ``rank``, ``pid``);
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


class Heads:
    """Who speaks, by what stands before a message; the same heads come again on most lines."""

    def __init__(self, form: HeaderForm) -> None:
        self._form = form
        self._ranks = form.record.groupindex.get("ranks", 0)
        self._known: dict[str, Speaker] = {}
        self._prefixes: dict[str, Speaker] = {}
        self._lead: str | None = None

    def speaker(self, line: str, found: re.Match[str]) -> Speaker | None:
        """Return who wrote a line by the match of its record, None if what is before that needs a look.

        It does where it may be a frame, a bar or a quotation. Other text is a prefix (a container's or the
        user's) or native output, to which the record is glued.
        """
        start = found.start()
        head = (found[self._ranks] or "") if self._ranks else ""
        if start:
            head = line[:start] + head
        return self._known.get(head) or self._learn(line, found, start, head)

    def own(self, line: str) -> str | None:
        """Return a line without a record less what stood before the first record, None if it is another's.

        In the joint log of several containers a line of another name is no word of this server.
        """
        lead = self._lead
        if not lead:
            return line
        if line.startswith(lead):
            return line[len(lead) :]
        mine, its = named(lead), named(line)
        return None if mine is not None and its is not None and mine != its else line

    def _learn(self, line: str, found: re.Match[str], start: int, head: str) -> Speaker | None:
        if _ODD.search(line, 0, start):
            return None
        if self._lead is None:
            process = None if self._form.process is None else self._form.process.search(line, 0, start)
            lead = line[: start if process is None else process.start()][:_LEAD_LENGTH]
            # An indentation may be the line's own.
            self._lead = lead if not lead.isspace() else ""
        speaker = self._form.speaker(line[:start], found)
        if len(head) <= _HEAD_LENGTH:
            self._remember(head, speaker)
        return speaker

    def _remember(self, head: str, speaker: Speaker) -> None:
        if len(self._known) >= _HEADS:
            self._known.clear()
            self._prefixes.clear()
        self._known[head] = speaker

    def processes(self, line: str) -> tuple[Speaker, int]:
        """Return who wrote a line without a record, and the length of the process prefixes before it."""
        process = self._form.process
        if process is None or line[:1] != "(":
            return NOBODY, 0
        # Nearly every one has been read before, up to its bracket.
        length = line.find(")") + 2
        known = self._prefixes.get(line[:length])
        if known is not None and line[length : length + 1] != "(":
            return known, length
        prefix = process.match(line)
        end = 0
        while prefix is not None and prefix.end() > end:
            end = prefix.end()
            prefix = process.match(line, end)
        if not end:
            return NOBODY, 0
        head = line[:end]
        speaker = self._known.get(head)
        if speaker is None:
            speaker = self._form.speaker(head, None)
            self._remember(head, speaker)
        if end == length:
            self._prefixes[head] = speaker
        return speaker, end


def ranks_in(text: str) -> str | None:
    """Return the rank tokens ("DP1 TP3") in the head of a line, None without any."""
    return " ".join(_RANKS.findall(text)) or None
