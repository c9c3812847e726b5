"""Where a text names a host: by what stands around a name, or by how the name ends."""

import re
from collections.abc import Callable, Collection

from tui.journal import well_known

Replaced = Callable[[str], str]
# Perhaps with a user before it.
_NAME = r"(?:[\w.+-]{1,64}@)?(?P<name>[^\W_](?:[\w.+-]{0,252}\w)?)(?![@\w])"
_PORT = r":\d{2,5}(?![\w:.])"
_BEFORE = r"(?<![\w.+:/@%-])"
_KEY = r"(?<![A-Za-z0-9])"
_HOST = r"(?:host|hostname|nodename|addr|address|ip)"
_PLACE = r"(?:host|hostname|nodename|addr|address|ip|endpoint|master|head|peer|server|node|worker)"
_REACHED = (
    r"(?:connect\w{0,3}(?: to)?|connection (?:to|from)|addresses of|listen\w{0,3}(?: on)?"
    r"|(?:bind(?:ing)?|bound) to|reach\w{0,3})"
)
# A mark that the text must hold, in small letters, and the pattern that is then tried.
_CERTAIN = (
    # The head of every line of NCCL, of UCX and of Open MPI.
    ("nccl", re.compile(rf"(?<![\w.+-]){_NAME}(?=:\d+:\d+ \[-?\d+\] (?:\S+:\d+ )?NCCL\b)")),
    ("] [", re.compile(rf"\[\d{{9,}}\.\d+\] \[{_NAME}(?=:\d+:\d+\])")),
    ("] ", re.compile(rf"\[{_NAME}(?=:\d+\] (?:\*\*\*|mca_|\[\[|\[ ?\d+\]|PMIX|PRTE|ORTE|OPAL))")),
    ("=", re.compile(rf"{_KEY}(?:HOST|HOSTNAME|ADDR|ADDRESS|NODENAME)=[\"']?{_NAME}")),
    ("=", re.compile(rf"(?i:{_KEY}{_PLACE})=[\"']?{_NAME}(?={_PORT})")),
    (", ", re.compile(rf"{_REACHED} \([\"']?{_NAME}(?=[\"']?, \d{{2,5}}\))")),
    ("]:", re.compile(rf"(?:{_REACHED} ?|\b(?:addr|remote|local)=)\[{_NAME}(?=\]:\d{{2,5}})")),
    ("host", re.compile(rf"(?:resolve|[Cc]onnect to|unknown|reach) host:? [\"']?{_NAME}")),
)
_LIKELY = (
    (
        "-",
        re.compile(
            rf"(?<![\w-])--?(?:[A-Za-z0-9]{{1,30}}[-_]){{0,6}}(?:{_HOST}|endpoint)(?:=|\s{{1,4}})[\"']?{_NAME}"
        ),
    ),
    ("", re.compile(rf"(?i:{_KEY}{_HOST})[\"']?\s?[=:]\s?[\"']{_NAME}(?=[\"']|{_PORT})")),
)
# These need a name that looks like one: with a figure or a hyphen in it.
_PERHAPS = (
    (":", re.compile(rf"(?i:{_KEY}{_PLACE})(?:[\"']?\s?:\s?[\"']?|\s){_NAME}(?={_PORT})")),
    ("name", re.compile(rf"(?i:\b(?:host|node) ?name)[\"']?(?: is|\s?[=:])\s?[\"']?{_NAME}")),
    ("connect", re.compile(rf"(?i:connect(?:ed|ing|ion)?) (?:to|from) {_NAME}(?![\w(])")),
    (" port ", re.compile(rf"\b(?:on|to|at|host) {_NAME}(?=,? port \d)")),
    (
        ":",
        re.compile(
            rf"{_BEFORE}(?P<name>[A-Za-z][A-Za-z0-9]{{2,60}}(?:-[A-Za-z0-9]{{1,60}}){{1,6}}(?<=\d))"
            r"(?=:\d{4,5}(?![\w:.-]))"
        ),
    ),
)
_FIGURE = re.compile(r"\d|-")
_DEVICE = re.compile(
    r"(?i:rank|tp|dp|pp|ep|gpu|cuda|mlx|eth|eno?|ens|ib|engine|core|stage|layer|pid|process)[_-]?\d+.*"
)
_FILE = re.compile(r".*\.[A-Za-z]\w{0,4}")
_DASHED = re.compile(r"\d{1,3}(?:-\d{1,3}){3}")

_LABELS = r"(?<![\w.@/+-])(?P<name>(?:[^\W_](?:[\w-]{0,62}[^\W_])?\.)+"
# Ends that hardly anything but hosts has.
_SURE_END = re.compile(
    rf"{_LABELS}(?:com|net|org|edu|gov|mil|ai|local|internal|lan|corp|intranet|cloud|svc|localdomain|arpa"
    r"|de|uk|eu|cn|jp|fr|ch|nl|kr|se))\b(?![\w(]|\.\w|-)"
)
# Ends that parts of programs have too: these need a figure or a hyphen before them, or a port behind.
_OPEN_END = re.compile(
    rf"{_LABELS}(?:io|dev|app|info|tech|xyz|biz|co|us|ca|in|au|br|es|it|be|at|dk|fi|no|pl|cz|ru|tw|sg|hk|il"
    r"|ie|nz|home|private|prod|lab|hpc|cluster|site|online|network|systems|gg|me|tv))"
    r"(?P<port>:\d{2,5})?(?![\w(:]|\.\w|-)"
)


def is_dashed_address(name: str) -> bool:
    """Return whether a name is an address of four numbers, written as hosts are named: 10-20-30-40."""
    return _DASHED.fullmatch(name) is not None


def with_hosts(text: str, host: Replaced, ordinary: Collection[str]) -> str:
    """Return a text with the hosts in it replaced by ``host``.

    ``ordinary``: words, in small letters, that are taken for hosts only where nothing else can stand.
    """
    low = text.lower()
    for mark, pattern in _CERTAIN:
        if mark in low:
            text = pattern.sub(lambda found: _replaced(found, host), text)
    for mark, pattern in _LIKELY:
        if mark in low:
            text = pattern.sub(lambda found: _likely(found, host, ordinary), text)
    for mark, pattern in _PERHAPS:
        if mark in low:
            text = pattern.sub(lambda found: _perhaps(found, host, ordinary), text)
    if "." in text:
        text = _SURE_END.sub(lambda found: _named(found, host), text)
        text = _OPEN_END.sub(lambda found: _open(found, host), text)
    return text


def _replaced(found: "re.Match[str]", host: Replaced) -> str:
    name = found["name"]
    if name.casefold() in well_known.NO_HOSTS:
        return found[0]
    start, end = (place - found.start() for place in found.span("name"))
    return found[0][:start] + host(name) + found[0][end:]


def _likely(found: "re.Match[str]", host: Replaced, ordinary: Collection[str]) -> str:
    name = found["name"]
    word = name.casefold()
    if word in ordinary or word in well_known.FOLDERS or _is_module(name):
        return found[0]
    return _replaced(found, host)


def _perhaps(found: "re.Match[str]", host: Replaced, ordinary: Collection[str]) -> str:
    name = found["name"]
    if _FIGURE.search(name) is None or _DEVICE.fullmatch(name) or _FILE.fullmatch(name):
        return found[0]
    return _likely(found, host, ordinary)


def _named(found: "re.Match[str]", host: Replaced) -> str:
    return found[0] if _is_module(found["name"]) else _replaced(found, host)


def _open(found: "re.Match[str]", host: Replaced) -> str:
    name = found["name"]
    body = name.rpartition(".")[0]
    telling = _FIGURE.search(body) is not None and any(map(str.isalpha, body)) and "_" not in name
    return _named(found, host) if telling or found["port"] else found[0]


def _is_module(name: str) -> bool:
    first, dot, _ = name.partition(".")
    return bool(dot) and first in well_known.MODULES
