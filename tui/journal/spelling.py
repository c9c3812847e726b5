"""Other spellings of one text: escaped in a URL, in JSON, in HTML; addresses with other signs between."""

import html
import ipaddress
import json
import re
from urllib.parse import quote, unquote

from tui.journal.names import Sort

_ESCAPE = re.compile(
    r"%[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}|\\[/nrt\"']|&#?[0-9A-Za-z]{2,8};", re.ASCII
)
_CODED = re.compile(r"\\u(?P<four>[0-9A-Fa-f]{4})|\\x(?P<two>[0-9A-Fa-f]{2})|\\(?P<sign>[/nrt\"'])")
_SIGNS = {"n": "\n", "r": "\n", "t": "\t"}
_ROUNDS = 2
# Whether a word begins: not behind a letter or figure, unless that belongs to an escape.
BEGINS = r"(?<![^\W_])"
BEGINS_ESCAPED = (
    rf"(?:{BEGINS}|(?<=%[0-9A-Fa-f]{{2}})|(?<=%25[0-9A-Fa-f]{{2}})|(?<=\\u[0-9A-Fa-f]{{4}})"
    r"|(?<=\\x[0-9A-Fa-f]{2})|(?<=\\[nrt]))"
)


def is_escaped(text: str) -> bool:
    """Return whether something in a text may be an escape: %2F, \\u002f, \\x2f, \\n or &#47;."""
    return ("%" in text or "\\" in text or "&" in text) and _ESCAPE.search(text) is not None


def decoded(text: str) -> str:
    """Return a text with its escapes undone, those inside escapes too."""
    for _ in range(_ROUNDS):
        text = html.unescape(_CODED.sub(_character, unquote(text, errors="replace")))
    return text


def _character(found: "re.Match[str]") -> str:
    sign = found["sign"]
    return _SIGNS.get(sign, sign) if sign else chr(int(found["four"] or found["two"], 16))


def spellings(sort: Sort, original: str) -> frozenset[str]:
    """Return the other ways in which an original may be written, itself not among them."""
    if sort in (Sort.GPU, Sort.UUID):
        label, _, digits = original.partition("-") if sort is Sort.GPU else ("", "", original)
        bare = digits.replace("-", "")
        return frozenset((bare, f"{label}-{bare}") if label else (bare,))
    if sort is Sort.MAC:
        return frozenset((original.replace(":", ""),))
    if sort is Sort.IPV4:
        return frozenset((original.replace(".", "-"),))
    if original.isalnum() and original.isascii():
        return frozenset()
    coded = json.dumps(original)[1:-1]
    entities = original.encode("ascii", "xmlcharrefreplace").decode()
    found = (quote(original, safe="", errors="replace"), coded, html.escape(original), entities)
    return frozenset(found) - {original}


def plain_mac(text: str) -> str:
    """Return a MAC address as most programs write it: aa:bb:cc:dd:ee:ff."""
    digits = re.sub(r"[^0-9a-f]", "", text.lower())
    return ":".join(digits[place : place + 2] for place in range(0, 12, 2))


def plain_uuid(text: str) -> str:
    """Return the 32 digits of a UUID with dashes between them."""
    digits = text.replace("-", "").lower()
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def plain_address(text: str) -> str | None:
    """Return an address of a network in its usual spelling; None where it is none."""
    if ":" not in text:
        text = ".".join(part.lstrip("0") or "0" for part in text.split("."))
    try:
        return str(ipaddress.ip_address(text))
    except ValueError:
        return None
