"""Secrets never leave the host: what hides them in arguments, environments and lines of text.

The client hides secrets in log lines with the same functions, since log bytes travel raw. In doubt a value
is hidden. Token counts ("#new-token: 5", max_tokens=100, tokenizer_path=...) are not secrets.
"""

from __future__ import annotations

import re
from functools import lru_cache

HIDDEN = "***"

# Over names in lower case without separators: HF_TOKEN, --api-key, apiKey, AWS_SECRET_ACCESS_KEY, ...
_SECRET_NAME = re.compile(
    r"(?:(?:api|access|secret|private|auth|admin|account|encryption|signing|master|client|service|shared)keys?"
    r"|licen[cs]ekeys?|token|(?:auth|access|api|bearer|refresh|hf)tokens|password|passwd|passphrase|secrets?"
    r"|credentials?)$"
)
_COUNTED_TOKEN = re.compile(
    r"(?:eos|bos|pad|unk|cls|sep|mask|image|video|audio|stop|start|end|special|new|cached|max|min|num|per|next"
    r"|first|last|draft|think|output|input|prompt|bonus|accepted)token$"
)
_SECRET_FLAGS = frozenset(("-hft",))  # llama.cpp's short form of --hf-token
_LIST_FLAGS = frozenset(("apikey", "apikeys"))  # vLLM takes several keys after one flag
_NOT_SECRET = frozenset(("", "none", "null", "true", "false", "[]", HIDDEN))

_USER_IN_URL = re.compile(r"(?<=://)[^/\s:@\"']*:[^/\s@\"']+(?=@)|(?<=http://|ttps://)[^/\s:@\"']+(?=@)")
_QUERY = re.compile(
    r"([?&](?:key|sig|signature|x-amz-(?:signature|credential|security-token)|code)=)[^&\s\"']+",
    re.IGNORECASE,
)
_AUTHORISATION = re.compile(r"(\b(?:bearer|basic)\s+)[A-Za-z0-9+/=._~-]{6,}", re.IGNORECASE)
_KNOWN_SHAPES = re.compile(
    r"(?<![A-Za-z0-9])(?:hf_[A-Za-z0-9]{16,}|sk-[A-Za-z0-9_-]{16,}|nvapi-[\w-]{16,}|gh[pousr]_[A-Za-z0-9]{20,}"
    r"|github_pat_\w{20,}|glpat-[\w-]{16,}|(?:AKIA|ASIA)[0-9A-Z]{16}|xox[abeoprs]-[\w-]{10,}|AIza[\w-]{30,}"
    r"|eyJ[\w-]{10,}\.[\w-]{10,}(?:\.[\w-]*)?)"
)
_HFT = re.compile(r"(?<!\S)(-hft\s+)\S+")
# Each pattern with the texts (in lower case) of which one stands where it finds anything, first those that
# are quick to look for: most lines hold no secret.
_SHAPES = (
    (("@",), ("://",), _USER_IN_URL, HIDDEN),
    (("?", "&"), ("key=", "sig=", "signature=", "x-amz", "code="), _QUERY, r"\1" + HIDDEN),
    (("bearer ", "basic "), ("bearer ", "basic "), _AUTHORISATION, r"\1" + HIDDEN),
    (("hf_", "sk-", "nvapi-", "akia", "asia", "xox", "aiza", "eyj"), ("",), _KNOWN_SHAPES, HIDDEN),
    (("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-"), ("",), _KNOWN_SHAPES, HIDDEN),
    (("-hft",), ("-hft",), _HFT, r"\1" + HIDDEN),
)

# A second look: nearly every line of a serving engine speaks of tokens, and hardly any of a secret one. One
# expression a word, since a literal prefix makes the search ten times faster than an alternation.
_WORDS = ("token", "key", "passwd", "password", "passphrase", "secret", "credential")
_TOKEN_SIGN = r"(?:[\"']\s*[:,=]|\s*=)"
_ASSIGNED = (
    ("token", re.compile("token" + _TOKEN_SIGN)),
    # Of many tokens only these are secrets: n_tokens=5 is not.
    ("tokens", re.compile("(?:auth|access|api|bearer|refresh|hf)[-_.]*tokens" + _TOKEN_SIGN)),
    *((word, re.compile(word + r"s?[\"']?\s*[=:,]")) for word in _WORDS[1:]),
)
_FLAG = re.compile(r"--\w")
_NAME = r"(?<![\w.-])(?P<name>[\w.-]{0,80}(?:key|token|passwd|password|passphrase|secret|credential)s?)"
_QUOTED = r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'"
# A list of keys; bounded, so that a line of nothing but beginnings of lists costs milliseconds.
_LIST = r"\[(?:" + _QUOTED + r"|[^\[\]\"']){0,400}\]"
# name=value, "name": "value", name: value, --name value, '--name', 'value'
_NAMED = re.compile(
    _NAME + r"(?P<sign>[\"']?\s*[=:]\s*|[\"']\s*,\s*|\s+)(?P<value>" + _QUOTED + "|" + _LIST + r"|[^\s\"']+)",
    re.IGNORECASE,
)
# Where a name of _NAMED may end, and the characters of names before it, read backwards.
_NAME_ENDS = tuple(re.compile(word + r"s?[\"'\s=:]") for word in _WORDS)
_BACKWARDS = re.compile(r"[\w.-]*")
_NAME_LIMIT = 96
# Characters that stand in no sign of a secret, and what is left of the signs without them.
_NEEDLESS = b"0123456789./()[]{}%<>|+*!;~^#$\\"
_SIGNS = tuple(
    tuple(tuple(sign.strip("/") for sign in signs) for signs in (quick, more))
    for quick, more, _, _ in _SHAPES
)


@lru_cache(maxsize=1024)
def is_secret_name(name: str) -> bool:
    """Return whether a flag, variable or field of this name holds a secret."""
    plain = re.sub(r"[-_.]", "", name).lower()
    return _SECRET_NAME.search(plain) is not None and _COUNTED_TOKEN.search(plain) is None


def mask_text(text: str) -> str:
    """Return a line of text with the secrets in it hidden."""
    lower = text.lower()
    for quick, signs, pattern, hidden in _SHAPES:
        if _one_of(quick, lower) and _one_of(signs, lower):
            text = _hide_shapes(text, quick) if pattern is _KNOWN_SHAPES else pattern.sub(hidden, text)
    for word, assigned in _ASSIGNED:
        if word in lower and (assigned.search(lower) or _FLAG.search(lower)):
            return _mask_named(text)
    return text


def sentences(text: str) -> list[bytes]:
    """Return what is left of each line without digits and other characters that no sign of a secret needs.

    The lines of a log are few sentences with ever other figures: what is known of a sentence need not be
    looked for in its next line. Only printable ASCII is left out.
    """
    return text.encode("utf-8", "surrogatepass").translate(None, _NEEDLESS).split(b"\n")


def suspicion(sentence: str) -> str:
    """Return whether lines of a sentence may hold a secret: "" for none, "flag" for those with a ``--``."""
    lower = sentence.lower()
    if any(_one_of(quick, lower) and _one_of(signs, lower) for quick, signs in _SIGNS):
        return "secret"
    words = [assigned for word, assigned in _ASSIGNED if word in lower]
    if any(assigned.search(lower) for assigned in words):
        return "secret"
    # Without its digits a date looks like a flag.
    return "flag" if words and "--" in lower else ""


def _one_of(signs: tuple[str, ...], text: str) -> bool:
    return any(map(text.__contains__, signs))  # three times faster than a generator


def _hide_shapes(text: str, signs: tuple[str, ...]) -> str:
    """Hide secrets of known shapes that begin with one of these signs: tried only where one stands."""
    lower = text.lower()
    if len(lower) != len(text):
        return _KNOWN_SHAPES.sub(HIDDEN, text)
    places = sorted(found.start() for sign in signs for found in re.finditer(sign, lower))
    parts: list[str] = []
    done = 0
    for place in places:
        found = _KNOWN_SHAPES.match(text, place) if place >= done else None
        if found is not None:
            parts += (text[done:place], HIDDEN)
            done = found.end()
    return "".join((*parts, text[done:]))


def _mask_named(text: str) -> str:
    """Hide the values of secret names: ``_NAMED.sub``, tried only where such a name ends."""
    lower = text.lower()
    if not text.isascii():
        return _NAMED.sub(_hide_named, text)
    ends = sorted(found.start() for pattern in _NAME_ENDS for found in pattern.finditer(lower))
    parts: list[str] = []
    done = 0
    for end in ends:
        if end < done:
            continue
        before = _BACKWARDS.match(text[max(done, end - _NAME_LIMIT) : end][::-1])
        match = _NAMED.match(text, end - (before.end() if before is not None else 0))
        if match is not None:
            parts += (text[done : match.start()], _hide_named(match))
            done = match.end()
    return "".join((*parts, text[done:]))


def mask_argv(argv: list[str]) -> list[str]:
    """Return the arguments of a process with the secrets in them hidden."""
    masked: list[str] = []
    hide = ""
    for argument in argv:
        if hide and not argument.startswith("--"):
            masked.append(HIDDEN)
            hide = hide if hide in _LIST_FLAGS else ""
            continue
        hide = _expects_secret(argument)
        masked.append(_mask_argument(argument))
    return masked


def mask_environment(environment: dict[str, str]) -> dict[str, str]:
    """Return variables with the values of secret ones, and secrets within others, hidden."""
    return {
        name: HIDDEN if value and is_secret_name(name) else mask_text(value)
        for name, value in environment.items()
    }


def _expects_secret(argument: str) -> str:
    """Return the plain name of a flag whose value follows as the next argument, "" for any other."""
    if not argument.startswith("-") or "=" in argument:
        return ""
    if argument in _SECRET_FLAGS or is_secret_name(argument):
        return re.sub(r"[-_.]", "", argument).lower()
    return ""


def _mask_argument(argument: str) -> str:
    name, sign, value = argument.partition("=")
    if sign and value and re.match(r"[\w.-]+$", name) and is_secret_name(name):
        return name + sign + HIDDEN
    return mask_text(argument)


def _hide_named(match: re.Match[str]) -> str:
    name, sign, value = match.group("name"), match.group("sign"), match.group("value")
    if not is_secret_name(name) or not _assigns(name, sign, value):
        return match.group(0)
    bare = value.rstrip(",;)]}") if value[0] not in "\"'[" else value.strip("\"'")
    if bare.lower() in _NOT_SECRET:
        return match.group(0)
    quote = value[0] if value[0] in "\"'" else ""
    tail = "" if quote or value[0] == "[" else value[len(bare) :]
    return name + sign + quote + HIDDEN + quote + tail


def _assigns(name: str, sign: str, value: str) -> bool:
    """Return whether this is a name with its value, and not two words of a sentence."""
    token = name.lower().endswith(("token", "tokens"))
    if sign.isspace() or "," in sign:
        return name.startswith("--")
    if ":" in sign and not sign.startswith(("'", '"')):
        return not token  # "stop token: <eos>"; real tokens are known by their shape
    return not (token and re.match(r"\d{1,9}[,;)\]}]*$", value))
