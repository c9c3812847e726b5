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
from tui.journal.host_places import is_dashed_address, with_hosts
from tui.journal.names import SPELT_OTHERWISE, Names, Sort
from tui.journal.path_parts import with_parts
from tui.journal.rewrite import S, rewritten
from tui.journal.spelling import decoded, is_escaped, plain_address, spellings
from tui.journal.word_pattern import WordPattern

SHORTEST_WORD = 3
"""Shorter names are replaced where they stand as such, not wherever their letters stand alone."""
SHORTEST_STEM = 4
"""Shorter beginnings of names that figures follow are no reason to take another one for a host."""
# Words of the vocabulary between state and engines; nobody's name.
_SENTENCES = 16_384
_KEPT = frozenset(("matched", "about", "tminus", "engine", "phase", "fault", "run", "against", "topology"))
_PATHS = frozenset(("cwd", "stdout", "stderr", "path", "log_path", "ca_file"))
_MODELS = frozenset(("model", "models"))
_OWN_SENTENCES = frozenset(("sentence", "banner"))
_SHORT_WORD = re.compile("an?|a[st]|b[ey]|do|go|i[fnst]?|me|my|no|o[fnr]|so?|to|u[ps]|we")
_HOST_FLAG = re.compile(r"--?(?:[\w-]*[-_])?(?:host|hosts|hostname|addr|address|ip|rdzv[-_]endpoint|rpc)")
_MODEL_FLAG = re.compile(r"(?:--?(?:[\w-]*[-_])?(?:model|model[-_]path|tokenizer|tokenizer[-_]path)|-m)")
_HOST_VARIABLE = re.compile(r"(?:[A-Z0-9]+_)*(?:HOST|HOSTID|HOSTNAME|ADDR|ADDRESS)")
_USER_VARIABLE = re.compile(r"(?:[A-Z0-9]+_)*(?:USER|USERNAME|LOGNAME)")
_RELATIVE = re.compile(r"[\w.@+-]+(?:/[\w.@+-]+)+/?")
_HOST_TEXT = re.compile(r"(?P<user>[^@\s/]+@)?(?P<host>[^@\s/]+?)\.?(?P<port>:\d+)?")
_PLACE = re.compile(r"(?P<kind>docker|podman|kubectl|srun):(?P<name>\S+?)(?: on (?P<host>.+))?", re.DOTALL)
_LETTER = re.compile(r"[^\W\d_]")
_SURE_HOST_TEXT = re.compile(r"(?P<user>.+@)?(?P<host>[^@]+?)\.?(?P<port>:\d+)?", re.DOTALL)
# A setting that is a model, as engines print their arguments.
_MODEL_SAID = re.compile(
    r"\b(?:model|model_path|model_tag|tokenizer|tokenizer_path|served_model_name|draft_model_path|model_name)"
    r"[\"']?\s?[=:]\s?[\"']?(?P<name>[\w.@+-]+(?:/[\w.@+-]+)+)"
)
_WINDOWS_HOME = re.compile(r"\bUsers\\{1,4}(?P<name>[\w.-]+)")
_STEM = re.compile(r"(?P<stem>.*[^\W\d_][-_.]?)\d{1,6}")
_PART = r"[^\s/\"'`()\[\]{}<>|;,*?\\:]+"
_SLASHED = re.compile(
    r"(?P<scheme>\b[a-z][a-z0-9+.-]{0,30})://(?P<authority>[^\s/\"'`<>?#,;()\[\]]*(?:\[[0-9A-Fa-f:.%]*\](?::\d+)?)?)"
    rf"(?P<rest>(?:/(?:{_PART})?)*)"
    r"|(?P<asked>(?:\b(?:GET|POST|PUT|DELETE|HEAD|OPTIONS|PATCH)|Route:) /[^\s\"',]*)"
    rf"|(?P<path>(?:(?<![\w.\-/)\]~])|(?<=\s-[A-Za-z]))(?:~[\w.-]*|\.\.?)?(?:/{_PART})+/?)"
)
_VERSIONED = re.compile(r"/v\d(?:/|\Z)")
_GLUED = re.compile(r"-[A-Za-z](?=[/~]|\w+/)")
_ENDPOINT = re.compile(r"[a-z][a-z_]*\d?|\{\w+\}|[\w:]*\?.*|")


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
        self._words: WordPattern | None = None
        self._phrase_pattern: re.Pattern[str] | None = None
        # Other spellings of what was learnt, in small letters, and what each stands for.
        self._spelt: dict[str, str] = {}

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
        if field in ("host", "place"):
            place = _PLACE.fullmatch(value)
            return self._host_text(value, _SURE_HOST_TEXT) if place is None else self._place(place)
        if field == "user":
            return self._user(value)
        if field == "container":
            return self._name(Sort.CONTAINER, value[:12])
        if field in _PATHS:
            return self._whole_path(value)
        if field in _MODELS:
            return self._model(value)
        return self._short_hosts(self._free(value)) if field in _OWN_SENTENCES else self._free(value)

    def texts(self, field: str, values: list[str]) -> list[str]:
        """Return texts with their names replaced."""
        if field == "argv":
            return list(self._arguments(values))
        if field in _MODELS:
            return [self._model(value) for value in values]
        if field in _KEPT:
            return values
        if field != "lines" or any("\n" in value for value in values):
            return [self._free(value) for value in values]
        return self._lines(values)

    def pairs(self, field: str, values: dict[str, str]) -> dict[str, str]:
        """Return variables with the names in their values replaced."""
        return {name: self._variable(name, value) for name, value in values.items()}

    def _short_hosts(self, sentence: str) -> str:
        """Replace hosts of one or two letters too, in what tminus wrote: "vm" is no word of its sentences."""
        for name in self.names.words((Sort.HOST,)):
            if len(name) < SHORTEST_WORD and not _SHORT_WORD.fullmatch(name):
                pattern = rf"(?<![\w.-]){re.escape(name)}(?![\w-])"
                sentence = re.sub(pattern, lambda found: self._name(Sort.HOST, found[0]), sentence)
        return sentence

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
        if _USER_VARIABLE.fullmatch(name):
            return self._user(value)
        if ":/" in value and "://" not in value:  # several folders
            return ":".join(self._setting("", each) for each in value.split(":"))
        return self._setting("", value)

    def _user(self, value: str) -> str:
        """A user, perhaps with a domain: user, DOMAIN\\user or user@domain."""
        domain, sign, user = value.rpartition("\\")
        name, at, place = user.partition("@")
        if domain:
            domain = self._name(Sort.DOMAIN, domain)
        if place:
            place = self._host(place)
        if name not in well_known.USERS:
            name = self._name(Sort.USER, name)
        return f"{domain}{sign}{name}{at}{place}"

    def _host_text(self, value: str, form: re.Pattern[str] = _HOST_TEXT) -> str:
        """A host as it is named to ssh or to a server: perhaps a user before it, a port behind it."""
        if "," in value and form is _HOST_TEXT:
            return ",".join(self._host_text(each) for each in value.split(","))
        found = form.fullmatch(value)
        if found is None or "://" in value or _is_address(value) or _is_address(found["host"]):
            return self._free(value)
        user, port = found["user"] or "", found["port"] or ""
        if user:
            user = self._user(user[:-1]) + "@"
        host = found["host"]
        sure = form is _SURE_HOST_TEXT and not any(map(str.isalpha, host))
        return user + (self._name(Sort.HOST, host) if sure else self._host(host)) + port

    def _place(self, found: "re.Match[str]") -> str:
        """A container, pod or job, perhaps on a host: "docker:vllm on gpu-box". A job's number stays."""
        parts = found["name"].split("/")
        named = (self._name(Sort.CONTAINER, part) if _LETTER.search(part) else part for part in parts)
        on = "" if found["host"] is None else " on " + self._host_text(found["host"], _SURE_HOST_TEXT)
        return f"{found['kind']}:{'/'.join(named)}{on}"

    def _host(self, name: str) -> str:
        """A host by its name, which may go on with its domain."""
        if name.casefold() in well_known.HOSTS or well_known.is_public(name):
            return name
        first, dot, rest = name.partition(".")
        if not any(map(str.isalpha, name)) and not is_dashed_address(name):
            return name
        if not dot or not first:
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
        if self._learning or self._words is None:
            return text
        pattern = self._words.escaped if is_escaped(text) else self._words.plain
        return pattern.sub(self._word, text)

    def _places(self, text: str) -> str:
        """Replace what its form gives away: paths, URLs, addresses, names of hosts."""
        if self._learning:
            self._learn_said(text)
            if is_escaped(text):
                plain = decoded(text)
                self._learn_said(plain)
                _ = self._forms(plain)
        return self._forms(text)

    def _forms(self, text: str) -> str:
        if "/" in text:
            text = _SLASHED.sub(self._slashed, text)
        return with_hosts(with_addresses(text, self._name), self._host, self._ordinary)

    def _learn_said(self, text: str) -> None:
        if "/" in text:
            for found in _MODEL_SAID.finditer(text):
                self._model(found["name"])
        if "Users" in text:
            for found in _WINDOWS_HOME.finditer(text):
                self._user(found["name"])

    def _slashed(self, found: "re.Match[str]") -> str:
        if found["path"] is not None:
            path = found["path"]
            asked = path in self._ordinary or _VERSIONED.match(path) is not None
            return self._endpoint(path) if asked else self._parts(path, Sort.FOLDER)
        if found["asked"] is not None:
            method, _, path = found["asked"].partition(" ")
            path, mark, query = path.partition("?")
            return f"{method} {self._endpoint(path)}{mark}{_SLASHED.sub(self._slashed, query)}"
        user, at, host = found["authority"].rpartition("@")
        name, colon, port = host.partition(":") if not host.startswith("[") else ("", "", host)
        if user and user != "***":
            user = self._user(user)
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
        word = self._spelt.get(found[0].casefold(), found[0])
        other = Sort.HOST if found["sibling"] else Sort.FOLDER
        return self._name(self.names.sort_of(word) or other, word)

    def _settle(self) -> None:
        fitting = [word for word in self.names.words() if self._distinct(word)]
        addresses = self.names.words(SPELT_OTHERWISE)
        self._spelt = {
            spelling.casefold(): word
            for word in (*fitting, *addresses)
            for spelling in sorted(spellings(self.names.sort_of(word) or Sort.FOLDER, word))
            if self.names.sort_of(spelling) is None
        }
        found = sorted((*fitting, *self._spelt), key=lambda word: (-len(word), word))
        self._words = WordPattern(found, sorted(self._stems()))
        phrases = sorted(self._phrases, key=lambda phrase: (-len(phrase), phrase))
        self._phrase_pattern = WordPattern(phrases).plain if phrases else None

    def _stems(self) -> set[str]:
        """Return what the names of hosts with a number begin with: gpu-node17 has siblings."""
        found = {
            stem["stem"].casefold()
            for name in self.names.words((Sort.HOST,))
            if (stem := _STEM.fullmatch(name))
        }
        return {stem for stem in found if len(stem) >= SHORTEST_STEM and self._distinct(stem.rstrip("-_."))}

    def _distinct(self, word: str) -> bool:
        return (
            len(word) >= SHORTEST_WORD
            and (any(map(str.isalpha, word)) or is_dashed_address(word))
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


def _is_address(text: str) -> bool:
    return plain_address(text.strip("[]").partition("%")[0]) is not None
