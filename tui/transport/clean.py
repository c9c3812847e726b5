"""The edge where remote text becomes safe: bytes of a log in, cleaned lines out. Nothing cleans it again.

What is dropped: escape sequences (CSI, OSC, DCS, APC, PM, SOS and the short ones, in their 7-bit and C1
forms), control characters, and characters that are invisible but move or hide text: bidirectional controls,
zero-width characters and selectors, tags, line and paragraph separators, lone surrogates. A string sequence
(OSC, DCS, ...) that never ends loses its introducer only: hiding the rest of a line would hide what went
wrong in it.
"""

import codecs
import re
from typing import NamedTuple

from tui.agent import wire
from tui.agent.mask import mask_text, sentences, suspicion

TAB = 4
# The unfinished line goes into every event; a longer one is shown from its beginning.
TAIL_LIMIT = 4096
_SEQUENCE_LIMIT = 4096

# A string sequence ends at BEL, ST, or where another one begins, so that no text is looked at twice.
_STRING = r"(?:\x1b[\]PX^_]|[\x90\x98\x9d\x9e\x9f])"
_STRING_BODY = r"[^\x07\x1b\x90\x98\x9b-\x9f]*+"
_CONTROL = r"(?:\x1b\[|\x9b)[0-?]*+[ -/]*+"
_SHORT = r"\x1b[ -/]*+"
_ESCAPES = re.compile(
    rf"{_STRING}(?:{_STRING_BODY}(?:\x07|\x1b\\|\x9c))?"
    rf"|{_CONTROL}[@-~]?"
    rf"|{_SHORT}[0-~]?"
)
# Colours are nearly all there is, and a literal prefix makes their search many times faster.
_COMMON = re.compile(r"\x1b\[[0-?]*+[ -/]*+[@-~]?")
_CONTROL_REST = re.compile(r"\[[0-?]*+[ -/]*+[@-~]?")
# At the very end, what may still grow into a sequence.
_BEGUN = re.compile(rf"(?:{_STRING}{_STRING_BODY}\x1b?|{_CONTROL}|{_SHORT})\Z")
_UNSEEN = re.compile(
    "[\x00-\x08\x0a-\x1f\x7f-\x9f\xad\u061c\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
    "\ufff9-\ufffb\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
    "\ud800-\udfff]"
)
# One end of a line however many returns stand before the newline (terminals and nested writers add them).
_RETURNS_NEWLINE = re.compile(r"(?<!\r)\r++\n")
_SENTENCES = 8192
_SENTENCE_LENGTH = 1024


class Split(NamedTuple):
    """What bytes were split into.

    ``lines``: the finished lines. ``returns``: the indexes of those that ended in a carriage return.
    ``tail``: the unfinished line. ``continued``: the indexes of pieces that go on with the line of the piece
    before them, which was longer than ``wire.LINE_LIMIT_BYTES`` (that piece may be the last of an earlier
    ``Split``).
    """

    lines: list[str]
    returns: list[int]
    tail: str
    continued: list[int]


def clean(text: str) -> str:
    """Return one line without escape sequences, control and invisible characters; tabs become spaces.

    Takes time linear in the text, never raises, and leaves its own result as it is.
    """
    if text.isprintable():
        return text
    if "\x1b" in text:
        text = _COMMON.sub("", text)
        if text.isprintable():
            return text
    if "\x1b" in text or not text.isascii():
        text = _ESCAPES.sub("", text)
    return _UNSEEN.sub("", text).expandtabs(TAB)


class LineCleaner:
    """Cleans and masks many lines in a fraction of the time that ``clean`` and ``mask_text`` take for each.

    Most lines need neither: it remembers the sentences (see ``sentences``) of those.
    """

    def __init__(self) -> None:
        self._known: set[bytes] = set()
        self._flagged: set[bytes] = set()

    def lines(self, raw: list[str]) -> list[str]:
        """Return lines, which hold no newlines, cleaned and with the secrets in them hidden."""
        if not raw:
            return raw
        whole = "\n".join(raw)
        text = _uncoloured(whole)
        if "\t" in text:
            text = text.expandtabs(TAB)
        lines = raw if text == whole else text.split("\n")
        said = sentences(text)
        odd = set(said) - self._known
        for sentence in odd - self._flagged:
            self._learn(sentence)
        odd -= self._known
        if not odd or (odd <= self._flagged and "--" not in text):
            return lines
        safe = list(lines)
        for at, sentence in enumerate(said):
            if sentence in odd and (sentence not in self._flagged or "--" in lines[at]):
                safe[at] = mask_text(clean(raw[at]))
        return safe

    def _learn(self, sentence: bytes) -> None:
        """Remember the sentence of lines that need nothing, or nothing without a flag."""
        text = sentence.decode("utf-8", "surrogatepass")
        kind = suspicion(text) if len(text) <= _SENTENCE_LENGTH and text.isprintable() else "odd"
        if kind in ("", "flag"):
            memory = self._flagged if kind else self._known
            if len(memory) >= _SENTENCES:
                memory.clear()
            memory.add(sentence)


def _uncoloured(text: str) -> str:
    """Return text without the sequences of ``_COMMON``: split at their first character, which is quicker."""
    first, *rest = text.split("\x1b")
    if not rest:
        return text
    parts = [first]
    for part in rest:
        found = _CONTROL_REST.match(part)
        parts += ("\x1b", part) if found is None else (part[found.end() :],)
    return "".join(parts)


class LineSplitter:
    """Turns a stream of bytes into cleaned and masked lines.

    Lines end in newline, carriage return, or returns and a newline (one end); a return with nothing before it
    ends no line, since progress bars write it first. Bytes that are no UTF-8 show as U+FFFD. A line of more
    than ``wire.LINE_LIMIT_BYTES`` characters comes in pieces of that size at most.
    """

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._pending = ""
        self._continues = False
        self._cleaner = LineCleaner()

    def feed(self, data: bytes, fresh: bool = False) -> Split:
        """Take bytes in; ``fresh`` ones begin a new file or place, where an unfinished line ends."""
        raw: list[str] = []
        returns: list[int] = []
        if fresh:
            self._end(raw)
        text = self._pending + self._decoder.decode(data)
        if "\r" in text:
            self._split_returns(_one_end(text), raw, returns)
        else:
            *finished, self._pending = text.split("\n")
            raw += finished
        return self._cleaned(raw, returns)

    def _cleaned(self, raw: list[str], returns: list[int]) -> Split:
        continued = [0] if raw and self._continues else []
        self._continues = self._continues and not raw
        if max(map(len, raw), default=0) > wire.LINE_LIMIT_BYTES:
            raw, returns, more = _cut_all(raw, returns)
            continued += more
        pieces = self._cut_pending()
        if pieces:
            first = len(raw) if self._continues else len(raw) + 1
            continued += range(first, len(raw) + len(pieces))
            self._continues = True
            raw += pieces
        return Split(self._cleaner.lines(raw), returns, self._tail(), continued)

    def _end(self, raw: list[str]) -> None:
        rest = (self._pending + self._decoder.decode(b"", final=True)).rstrip("\r")
        self._decoder.reset()
        self._pending = ""
        if rest:
            raw.append(rest)

    def _split_returns(self, text: str, raw: list[str], returns: list[int]) -> None:
        *finished, last = text.split("\n")
        for line in finished:
            if "\r" in line:
                *redrawn, line = line.split("\r")
                _add_redrawn(redrawn, raw, returns)
            raw.append(line)
        # A return at the very end may belong to a newline still to come.
        body = last.rstrip("\r")
        *redrawn, self._pending = body.split("\r")
        _add_redrawn(redrawn, raw, returns)
        if self._pending and body != last:
            self._pending += "\r"

    def _cut_pending(self) -> list[str]:
        body = self._pending.rstrip("\r")
        if len(body) <= wire.LINE_LIMIT_BYTES:
            return []
        *pieces, rest = _cut(body)
        self._pending = rest + self._pending[len(body) :]
        return pieces

    def _tail(self) -> str:
        if not self._pending:
            return ""
        shown = self._pending[:TAIL_LIMIT]
        return mask_text(clean(_BEGUN.sub("", shown)))


def _one_end(text: str) -> str:
    """Make one newline of every newline with the returns before it."""
    text = text.replace("\r\n", "\n")
    return _RETURNS_NEWLINE.sub("\n", text) if "\r\n" in text else text


def _add_redrawn(parts: list[str], raw: list[str], returns: list[int]) -> None:
    for part in parts:
        if part:
            returns.append(len(raw))
            raw.append(part)


def _cut_all(raw: list[str], returns: list[int]) -> tuple[list[str], list[int], list[int]]:
    """Cut every line that is too long, and say where its end now stands and which pieces go on with it."""
    ends = set(returns)
    lines: list[str] = []
    moved: list[int] = []
    continued: list[int] = []
    for index, line in enumerate(raw):
        pieces = _cut(line)
        continued += range(len(lines) + 1, len(lines) + len(pieces))
        lines += pieces
        if index in ends:
            moved.append(len(lines) - 1)
    return lines, moved, continued


def _cut(line: str) -> list[str]:
    """Cut a line into pieces, none of which ends inside an escape sequence."""
    pieces: list[str] = []
    start = 0
    while len(line) - start > wire.LINE_LIMIT_BYTES:
        end = start + wire.LINE_LIMIT_BYTES
        begun = _BEGUN.search(line, end - _SEQUENCE_LIMIT, end)
        if begun is not None:
            end = begun.start()
        pieces.append(line[start:end])
        start = end
    pieces.append(line[start:])
    return pieces
