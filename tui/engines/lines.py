"""Line patterns that several engines share, bounded so that any line of 64 KiB is searched at once."""

import re
from typing import Literal, NamedTuple

Level = Literal["", "warning", "error"]

# uvicorn: `INFO:     127.0.0.1:53752 - "GET /health HTTP/1.1" 200 OK`, behind any prefix.
UVICORN_ACCESS = re.compile(
    r'(?:^|(?<=[\s"]))(?P<client>[^\s"]{1,255}?)(?::\d{1,5})? - '
    r'"(?P<method>[A-Z]+) (?P<path>[^ "?]+)(?:\?[^ "]*)? HTTP/[\d.]+" (?P<code>\d{3})'
)
# tqdm, as both engines and the hub's downloader print it. It begins at the line's beginning or behind another
# bar, and its runs are bounded, so that a line of 64 KiB costs a few milliseconds, not minutes.
BAR = re.compile(
    r"(?:^|(?<=[\r\n|%]))(?P<text>[^\r\n|%]*?):?\s{0,8}(?P<percent>\d{1,3})%(?:\|[^|]*\|| Completed \|)\s*"
    r"(?P<done>[\d.]+[kMGT]?)/(?P<total>[\d.]+[kMGT]?) \[[^\]]{0,120}\]"
)
# What follows a bar's percentage, and stands before it.
_DRAWN = re.compile(r"(?:\|[^|]*\|| Completed \|)\s*([\d.]+[kMGT]?)/([\d.]+[kMGT]?) \[[^\]]{0,120}\]")
_PERCENT = re.compile(r":?\s{0,8}\d{1,3}\Z")
# Nearly every bar: it begins the line, and its name ends in a colon or in no digit.
_COMMON_BAR = re.compile(r"([^|%]*(?:[^|%\d\s:]|[^|%\s:](?=:\s))):?\s{0,8}\d{1,3}%" + _DRAWN.pattern)
_PERCENT_LENGTH = 12
_BEGUN = re.compile(r"%(?:\|| Completed \|)")
_DRAWINGS = 64
_COUNTED = re.compile(r"\s*[\d.]+[kMGT]?/[\d.]+[kMGT]? \[[^\]]{0,120}\]")
PYTHON_EXCEPTION = r"(?:^|[\])] )(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Exit|Interrupt)(?:: |$)"

# A text of these stands in every line that any engine's error or warning pattern finds (a test holds them to
# it). Most lines have none, and looking for a text is ten times faster than a pattern.
_TROUBLE = (
    "rror", "ERROR", "Errno", "xception", "ARN", "arning", "atal", "CRITICAL", "memory", "Exit", "nterrupt",
    "Traceback", "hit an", "ailed", "sig", "SIG", "Shutting", "shutdown", "cleaning up", "died", "dead",
    "rashed", "already in use", "couldn't", "atchdog", "illegal", "launch failure", "assert", "ASSERT",
    "kernel image", "insufficient", "deprecated", "xiting", "weights found", "No available", "dummy",
    "To serve", "larger than", "timed out", "Timed out", "invalid", "unable", "egfault", " E ", " W ",
)  # fmt: skip


# A text of fewer letters is looked for in every line, the others once a sentence: what letters a line has.
_LETTERS = 4
_NO_LETTERS = bytes(code for code in range(256) if not (chr(code).isalpha() and code < 128))
_SENTENCES = 4096
_SENTENCE_LENGTH = 1024


def sentence_of(line: str) -> bytes:
    """Return the letters of a line: lines of a log are few sentences with ever other figures."""
    return line.encode("utf-8", "surrogatepass").translate(None, _NO_LETTERS)


_LETTERED = tuple(
    {letters for letters in map(sentence_of, _TROUBLE) if len(letters) >= _LETTERS},
)
_SHORT = tuple(text for text in _TROUBLE if len(sentence_of(text)) < _LETTERS)
_sentences: dict[bytes, bool] = {}


def troubling(line: str) -> bool:
    """Return whether a line may be an error, a warning or an end; False is certain."""
    if any(map(line.__contains__, _SHORT)):
        return True
    sentence = sentence_of(line)
    known = _sentences.get(sentence)
    return _learn(sentence) if known is None else known


def _learn(sentence: bytes) -> bool:
    found = any(map(sentence.__contains__, _LETTERED))
    if len(sentence) <= _SENTENCE_LENGTH:
        if len(_sentences) >= _SENTENCES:
            _sentences.clear()
        _sentences[sentence] = found
    return found


class Bar(NamedTuple):
    """A drawing of a progress bar: the text before its percentage, so much of so much, and where it ends."""

    text: str
    done: str
    total: str
    end: int


def last_bar(text: str) -> Bar | None:
    """Return the last whole drawing in a text, None without one. Several may stand behind one another."""
    common = _COMMON_BAR.match(text)
    if common is not None and text.find("%", common.end()) < 0:
        return Bar(common[1].strip(), common[2], common[3], common.end())
    places = [found.start() for found in _BEGUN.finditer(text)]
    for place in reversed(places[-_DRAWINGS:]):
        drawn = _DRAWN.match(text, place + 1)
        percent = None if drawn is None else _PERCENT.search(text, max(place - _PERCENT_LENGTH, 0), place)
        if drawn is not None and percent is not None:
            return Bar(_bar_name(text, percent.start()), drawn[1], drawn[2], drawn.end())
    return None


def _bar_name(text: str, end: int) -> str:
    start = max(text.rfind("|", 0, end), text.rfind("%", 0, end)) + 1
    # What is counted by a bar before this one is no part of its name.
    before = _COUNTED.match(text, start, end) if start else None
    return text[start if before is None else before.end() : end].strip()
