"""Replacing what tells whose machine it is: hosts, users, paths, addresses. Pure: events in, events out.

The same original gets the same replacement throughout, different originals get different ones, so that what
belongs together still does. Everything is looked through once (``learn``) before anything is replaced, since
a name may stand in a sentence long before it is told as one.
"""

import re
from collections.abc import Collection, Iterator

import msgspec

from tui.journal import well_known
from tui.journal.addresses import with_addresses
from tui.journal.names import Names, Sort
from tui.journal.path_parts import with_parts
from tui.journal.rewrite import S, rewritten

SHORTEST_WORD = 3
"""Shorter names are replaced where they stand as such, not wherever their letters stand alone."""
# Words of the vocabulary between state and engines; nobody's name.
_SENTENCES = 16_384
_KEPT = frozenset(("matched", "about", "tminus", "engine", "phase", "fault", "run"))
_PATHS = frozenset(("cwd", "stdout", "stderr", "path", "log_path", "ca_file"))
_MODELS = frozenset(("model", "models"))
_HOST_FLAG = re.compile(r"--?(?:[\w-]*[-_])?(?:host|hostname|addr|address|ip)")
_MODEL_FLAG = re.compile(r"(?:--?(?:[\w-]*[-_])?(?:model|model[-_]path|tokenizer|tokenizer[-_]path)|-m)")
_HOST_VARIABLE = re.compile(r"(?:[A-Z0-9]+_)*(?:HOST|HOSTID|HOSTNAME|ADDR|ADDRESS)")
_USER_VARIABLE = re.compile(r"(?:[A-Z0-9]+_)*(?:USER|USERNAME|LOGNAME)")
_RELATIVE = re.compile(r"[\w.@+-]+(?:/[\w.@+-]+)+/?")
_HOST_TEXT = re.compile(r"(?:[^@\s/]+@)?(?P<host>[A-Za-z0-9_][\w.-]*)(?::\d+)?")
# A setting that is a model, as engines print their arguments.
_MODEL_SAID = re.compile(
    r"\b(?:model|model_path|model_tag|tokenizer|tokenizer_path|served_model_name|draft_model_path|model_name)"
    r"[\"']?\s?[=:]\s?[\"']?(?P<name>[\w.@+-]+(?:/[\w.@+-]+)+)"
)
_HOST_SAID = re.compile(
    r"\b(?:host|hostname|nodename|master_addr|node_ip)=[\"'](?P<name>[A-Za-z][\w.-]*)[\"']"
)
_PART = r"[^\s/\"'`()\[\]{}<>|;,*?\\:]+"
_SLASHED = re.compile(
    r"(?P<scheme>\b[a-z][a-z0-9+.-]*)://(?P<authority>[^\s/\"'`<>?#,;()\[\]]*(?:\[[0-9A-Fa-f:.%]*\](?::\d+)?)?)"
    rf"(?P<rest>(?:/(?:{_PART})?)*)"
    r"|(?P<asked>(?:\b(?:GET|POST|PUT|DELETE|HEAD|OPTIONS|PATCH)|Route:) /[^\s\"',]*)"
    rf"|(?P<path>(?:(?<![\w.\-/)\]~])|(?<=\s-[A-Za-z]))(?:~[\w.-]*|\.\.?)?(?:/{_PART})+/?)"
)
_VERSIONED = re.compile(r"/v\d(?:/|\Z)")
_GLUED = re.compile(r"-[A-Za-z](?=[/~]|\w+/)")
_ENDPOINT = re.compile(r"[a-z][a-z_]*\d?|\{\w+\}|[\w:]*\?.*|")
_HOST_NAME = re.compile(
    r"(?<![\w.@/-])(?:[A-Za-z0-9](?:[\w-]*[A-Za-z0-9])?\.)+"
    r"(?:com|net|org|edu|gov|local|internal|lan|corp|intranet|cloud|svc|de|uk|eu|cn|jp|fr|ch|nl|kr|se)\b(?![\w(]|\.\w|-)"
)


class Anonymiser:
    """A Change that replaces names. ``ordinary``: words (and endpoints' paths) of engines, which stay.

    A name that is such a word ("capture") is replaced only where its place says that it is a name.
    """

    def __init__(self, ordinary: Collection[str] = ()) -> None:
        self.names = Names()
        self._ordinary = frozenset(word.casefold() for word in ordinary)
        self._learning = False
        self._phrases: set[str] = set()
        self._found = 0
        # Sentences in whose lines nothing was found but perhaps words that are known as names.
        self._quiet: set[bytes] = set()
        self._words: re.Pattern[str] | None = None
        self._phrase_pattern: re.Pattern[str] | None = None

    def learn(self, struct: msgspec.Struct) -> None:
        """Note every name in an event or header."""
        self._learning, self._words = True, None
        rewritten(struct, self)
        self._learning = False

    def anonymised(self, struct: S) -> S:
        """Return an event or header with every name in it replaced."""
        return rewritten(struct, self)

    def in_name(self, text: str) -> str:
        """Return the name of a file with the names that were learnt replaced: it may be all one word."""
        self._ready()
        return self._with_words(text)

    # What a Change does.

    def text(self, field: str, value: str) -> str:
        """Return one text with its names replaced."""
        if field in _KEPT or not value:
            return value
        if field == "host":
            return self._host_text(value)
        if field == "user":
            return value if value in well_known.USERS else self._name(Sort.USER, value)
        if field == "container":
            return self._name(Sort.CONTAINER, value[:12])
        if field in _PATHS:
            return self._whole_path(value)
        return self._model(value) if field in _MODELS else self._free(value)

    def texts(self, field: str, values: list[str]) -> list[str]:
        """Return texts with their names replaced."""
        if field == "argv":
            return list(self._arguments(values))
        if field in _MODELS:
            return [self._model(value) for value in values]
        if field != "lines" or any("\n" in value for value in values):
            return [self._free(value) for value in values]
        return self._lines(values)

    def pairs(self, field: str, values: dict[str, str]) -> dict[str, str]:
        """Return variables with the names in their values replaced."""
        return {name: self._variable(name, value) for name, value in values.items()}

    # Places that say what a text is.

    def _arguments(self, values: list[str]) -> Iterator[str]:
        before = ""
        for value in values:
            flag, sign, rest = value.partition("=")
            glued = _GLUED.match(value)
            if glued is not None:
                yield glued[0] + self._setting("", value[glued.end() :])
            elif value.startswith("-") and sign:
                yield flag + sign + self._setting(flag, rest)
            else:
                yield self._setting(before, value)
            before = value if value.startswith("-") else ""

    def _setting(self, flag: str, value: str) -> str:
        if _HOST_FLAG.fullmatch(flag):
            return self._host_text(value)
        if _MODEL_FLAG.fullmatch(flag):
            return self._model(value)
        whole = _RELATIVE.fullmatch(value) is not None or value.startswith(("/", "~/"))
        if whole or self.names.sort_of(value) is not None:
            return self._whole_path(value) if value.startswith(("/", "~")) else self._model(value)
        return self._free(value)

    def _variable(self, name: str, value: str) -> str:
        if _HOST_VARIABLE.fullmatch(name):
            return self._host_text(value)
        if _USER_VARIABLE.fullmatch(name) and value not in well_known.USERS:
            return self._name(Sort.USER, value)
        return self._setting("", value)

    def _host_text(self, value: str) -> str:
        """A host as it is named to ssh or to a server: perhaps a user before it, a port behind it."""
        found = _HOST_TEXT.fullmatch(value)
        if found is None or value.replace(".", "").isdigit() or not any(map(str.isalpha, found["host"])):
            return self._free(value)
        start, end = found.span("host")
        user = value[: max(start - 1, 0)]
        if user and user not in well_known.USERS:
            user = self._name(Sort.USER, user)
        return user + value[:start][-1:] + self._host(value[start:end]) + value[end:]

    def _host(self, name: str) -> str:
        if (
            name.casefold() in well_known.HOSTS
            or well_known.is_public(name)
            or not any(map(str.isalpha, name))
        ):
            return name
        first, dot, rest = name.partition(".")
        if not dot:
            return self._name(Sort.HOST, name)
        if rest in well_known.PRIVATE_ENDS:
            return self._name(Sort.HOST, first) + dot + rest
        if "." not in rest:
            return self._name(Sort.DOMAIN, name)
        return self._name(Sort.HOST, first) + dot + self._name(Sort.DOMAIN, rest)

    def _model(self, value: str) -> str:
        """A model: a path, an organisation's name for it, or a name that may be the last part of one."""
        if value.startswith(("/", "~", "./", "../")):
            return self._whole_path(value, Sort.MODEL)
        if "/" in value and "://" not in value and " " not in value:
            if self._learning:
                self._phrases.add(value)
            return self._parts(value, Sort.MODEL)
        stem, end = well_known.split_extension(value)
        if self.names.sort_of(stem) is not None and not self._learning:
            return self._name(Sort.MODEL, stem) + end
        return self._free(value)

    def _whole_path(self, value: str, sort: Sort = Sort.FOLDER) -> str:
        if not value.startswith(("/", "~", "./", "../")):
            return self._free(value)
        deleted = " (deleted)" if value.endswith(" (deleted)") else ""
        bare = value.removesuffix(deleted)
        if self._learning and re.search(r"[\s\"'`()\[\]{}<>|;,*?\\:]", bare):
            self._phrases.add(bare)
        return self._parts(bare, sort) + deleted

    def _parts(self, path: str, sort: Sort) -> str:
        return with_parts(path, sort, self._name)

    # Sentences and lines.

    def _free(self, text: str) -> str:
        self._ready()
        return self._with_words(self._places(self._with_phrases(text)))

    def _lines(self, lines: list[str]) -> list[str]:
        """Lines of a log: few sentences with ever other figures, most of which hold no name."""
        self._ready()
        found = self._with_phrases("\n".join(lines)).split("\n")
        for place, line in enumerate(found):
            sentence = _sentence(line)
            if sentence not in self._quiet:
                found[place] = self._heard(line, sentence)
        return self._with_words("\n".join(found)).split("\n")

    def _heard(self, line: str, sentence: bytes) -> str:
        before = self._found
        changed = self._places(line)
        if self._found == before and not _telling(line, sentence) and len(self._quiet) < _SENTENCES:
            self._quiet.add(sentence)
        return changed

    def _ready(self) -> None:
        if not self._learning and self._words is None:
            self._settle()

    def _with_phrases(self, text: str) -> str:
        if self._learning or self._phrase_pattern is None:
            return text
        return self._phrase_pattern.sub(lambda found: self._parts(found[0], Sort.MODEL), text)

    def _with_words(self, text: str) -> str:
        return text if self._learning or self._words is None else self._words.sub(self._word, text)

    def _places(self, text: str) -> str:
        """Replace what its form gives away: paths, URLs, addresses, names of hosts."""
        if self._learning:
            self._learn_said(text)
        if "/" in text:
            text = _SLASHED.sub(self._slashed, text)
        text = with_addresses(text, self._name)
        if "." in text:
            text = _HOST_NAME.sub(lambda found: self._host(found[0]), text)
        return text

    def _learn_said(self, text: str) -> None:
        if "/" in text:
            for found in _MODEL_SAID.finditer(text):
                self._model(found["name"])
        if "=" in text:
            for found in _HOST_SAID.finditer(text):
                self._host(found["name"])

    def _slashed(self, found: "re.Match[str]") -> str:
        if found["path"] is not None:
            path = found["path"]
            asked = path in self._ordinary or _VERSIONED.match(path) is not None
            return self._endpoint(path) if asked else self._parts(path, Sort.FOLDER)
        if found["asked"] is not None:
            method, _, path = found["asked"].partition(" ")
            return f"{method} {self._endpoint(path)}"
        user, at, host = found["authority"].rpartition("@")
        name, colon, port = host.partition(":") if not host.startswith("[") else ("", "", host)
        if user and user != "***":
            user = self._name(Sort.USER, user)
        path = self._url_path(found["scheme"], name, found["rest"])
        return f"{found['scheme']}://{user}{at}{self._host(name) if name else ''}{colon}{port}{path}"

    def _url_path(self, scheme: str, host: str, path: str) -> str:
        if well_known.is_public(host):
            return self._parts(path, Sort.MODEL) if host.endswith(well_known.HUBS) else path
        return self._endpoint(path) if scheme in ("http", "https") else self._parts(path, Sort.FOLDER)

    def _endpoint(self, path: str) -> str:
        """A path of an HTTP server: engines' own are words in small letters, anything else may be a name."""
        parts = path.split("/")
        return "/".join(
            part
            if _ENDPOINT.fullmatch(part) and self.names.sort_of(part) is None
            else self._parts(part, Sort.FOLDER)
            for part in parts
        )

    def _word(self, found: "re.Match[str]") -> str:
        word = found[0]
        return self._name(self.names.sort_of(word) or Sort.FOLDER, word)

    def _settle(self) -> None:
        fitting = [word for word in self.names.words() if self._distinct(word)]
        self._words = _any_of(fitting) or re.compile(r"(?!)")
        self._phrase_pattern = _any_of(sorted(self._phrases, key=lambda phrase: (-len(phrase), phrase)))

    def _distinct(self, word: str) -> bool:
        return (
            len(word) >= SHORTEST_WORD
            and any(map(str.isalpha, word))
            and word.casefold() not in self._ordinary
            and not well_known.stays(word)
        )

    def _name(self, sort: Sort, original: str) -> str:
        self._found += 1
        if self._learning:
            self.names.learn(sort, original)
            return original
        return self.names.replacement(sort, original)


def _sentence(line: str) -> bytes:
    """Return a line without its figures; the addresses that stay are none."""
    bare = line.replace("127.0.0.1", "").replace("0.0.0.0", "")
    return bare.encode("utf-8", "surrogatepass").translate(None, b"0123456789")


def _telling(line: str, sentence: bytes) -> bool:
    """Whether other figures in the same sentence could make an address."""
    return b"..." in sentence or b"----" in sentence or b":::" in sentence or "::" in line


def _any_of(words: list[str]) -> re.Pattern[str] | None:
    """Return a pattern for whole words, in any case; grouped by their first letter, which is quicker."""
    if not words:
        return None
    by_first: dict[str, list[str]] = {}
    for word in words:
        by_first.setdefault(word[0].casefold(), []).append(re.escape(word[1:]))
    groups = "|".join(f"{re.escape(first)}(?:{'|'.join(rest)})" for first, rest in by_first.items())
    return re.compile(rf"(?<![^\W_])(?:{groups})(?![^\W_])", re.IGNORECASE)
