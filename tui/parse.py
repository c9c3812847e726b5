"""Text of a flag, a variable or a file -> the value of one setting, or one sentence that says why not.

Every reader takes what TOML or a shell can give (str, int, float, bool) and raises Wrong with the end of a
sentence whose beginning (where the value stands) the caller knows.
"""

import os
import re
import shlex
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, cast
from urllib.parse import urlsplit

from tui.files import is_pipe

if TYPE_CHECKING:
    from tui.transport.wrapper import Kind

DURATION = re.compile(
    r"(?:(?P<h>\d+(?:\.\d+)?)h)?(?:(?P<m>\d+(?:\.\d+)?)m)?(?:(?P<s>\d+(?:\.\d+)?)s?)?", re.ASCII
)
SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0}
ENDPOINT = re.compile(r"/v1/[a-z/]+$|/(?:health|metrics|generate)$")
YES = ("1", "true", "yes", "on")
NO = ("0", "false", "no", "off")
INTERVAL_S = (0.2, 60.0)
LONGEST_S = 7 * 86400.0
LONGEST_WARMUP_S = 3600.0
PATH_LIMIT = 4096


class Wrong(ValueError):
    """A value that cannot be taken; its text ends the sentence "--flag ..."."""


def text(value: object) -> str:
    """Return a string that says something and holds no control character."""
    if not isinstance(value, str):
        raise Wrong(f"must be text, not {value!r}")
    if not value.strip():
        raise Wrong("must not be empty")
    if not value.isprintable():
        raise Wrong("holds a control character")
    return value


def flag(value: object) -> bool:
    """Return yes or no."""
    if isinstance(value, bool):
        return value
    word = str(value).lower()
    if word in YES:
        return True
    if word in NO:
        return False
    raise Wrong(f"must be yes or no (1, true, on; 0, false, off), not {value!r}")


def whole(value: object) -> int:
    """Return a whole number of 1 or more."""
    number = _integer(value)
    if number < 1:
        raise Wrong(f"must be 1 or more, not {number}")
    return number


def whole_or_none(value: object) -> int:
    """Return a whole number of 0 or more."""
    number = _integer(value)
    if number < 0:
        raise Wrong(f"must be 0 or more, not {number}")
    return number


def wholes(value: object) -> tuple[int, ...]:
    """Return whole numbers of 1 or more, each once: ``8``, ``1,8,32``, or a list of them."""
    return tuple(dict.fromkeys(whole(each) for each in _several(value)))


def rates(value: object) -> tuple[float, ...]:
    """Return requests a second, each once: ``4``, ``0.5,1,2``, or a list of them."""
    return tuple(dict.fromkeys(_positive(each, "requests a second") for each in _several(value)))


def limit_ms(value: object) -> float:
    """Return milliseconds, more than 0."""
    return _positive(value, "milliseconds")


def port(value: object) -> int:
    """Return a TCP port."""
    number = _integer(value)
    if not 1 <= number <= 65535:
        raise Wrong(f"must be a port from 1 to 65535, not {number}")
    return number


def pid(value: object) -> int:
    """Return a process id."""
    number = _integer(value)
    if number < 1:
        raise Wrong(f"must be a process id (1 or more), not {number}")
    return number


def duration_s(value: object) -> float:
    """Return seconds from ``90``, ``90s``, ``20m``, ``1h`` or ``1h30m``."""
    seconds = _seconds(value)
    if not 0 < seconds <= LONGEST_S:
        raise Wrong(f"must be longer than 0 and at most 7 days, not {value!r}")
    return seconds


def warmup_s(value: object) -> float:
    """Return seconds of 0 or more, written as a duration; 0 is none."""
    seconds = _seconds(value)
    if not 0 <= seconds <= LONGEST_WARMUP_S:
        raise Wrong(f"must be from 0 (none) to {LONGEST_WARMUP_S:g} seconds, not {value!r}")
    return seconds


def interval_s(value: object) -> float:
    """Return seconds between two samples, 0.2 to 60."""
    seconds = _seconds(value)
    low, high = INTERVAL_S
    if not low <= seconds <= high:
        raise Wrong(f"must be from {low:g} to {high:g} seconds, not {value!r}")
    return seconds


def speed(value: object) -> float:
    """Return how many times faster than life, 0.1 to 100."""
    factor = _real(value)
    if not 0.1 <= factor <= 100:
        raise Wrong(f"must be from 0.1 to 100, not {value!r}")
    return factor


def host(value: object) -> str:
    """Return a host as ssh takes it. A leading dash would be read as an option by ssh, so it is refused."""
    name = text(value)
    if name.startswith("-"):
        raise Wrong(f"cannot begin with a dash: {name!r} looks like an option")
    if re.search(r"\s", name):
        raise Wrong(f"holds a space: {name!r}")
    return name


def hosts(value: object) -> tuple[str, ...]:
    """Return one host or several, each once: the words of a command line, ``"a b"``, or a list of them."""
    if isinstance(value, str) and not value.strip():
        raise Wrong("must not be empty")
    named = value.split() if isinstance(value, str) else value
    if not isinstance(named, list | tuple):
        raise Wrong(f"must be text, not {value!r}")
    found = tuple(host(each) for each in cast("list[object]", named))
    if not found:
        raise Wrong("must not be empty")
    for each in found:
        if found.count(each) > 1:
            raise Wrong(f"names one host twice: {each}")
    return found


def inside(kind: "Kind") -> "Inside":
    """Return a reader of the names that one of docker, podman, kubectl and srun takes."""
    return Inside(kind)


class Inside:
    """Reads the name of a container, a pod or a job, as the program that leads there takes it."""

    def __init__(self, kind: "Kind") -> None:
        self._kind: Kind = kind

    def __call__(self, value: object) -> str:
        from tui.transport.wrapper import WrongName, wrapper

        name = text(str(value) if self._kind == "srun" and type(value) is int else value)
        try:
            return wrapper(self._kind, name).name
        except WrongName as error:
            raise Wrong(str(error)) from None


def url(value: object) -> str:
    """Return scheme, host, port and path prefix, without a trailing slash or ``/v1``."""
    given = text(value).strip()
    if "://" not in given:
        raise Wrong(f"has no scheme: write http://{given} or https://{given}")
    try:
        parts = urlsplit(given)
    except ValueError as error:
        raise Wrong(f"cannot be read: {error}") from None
    if parts.scheme not in ("http", "https"):
        raise Wrong(f"must begin with http:// or https://, not {parts.scheme}://")
    _check_place(parts.hostname, parts.netloc)
    if parts.query or parts.fragment:
        raise Wrong("must end with the path: a ? or # part has no place in it")
    prefix = re.sub(r"/v1$", "", parts.path.rstrip("/"))
    if ENDPOINT.search(prefix):
        raise Wrong("must be the server's own, without the endpoint at its end")
    return f"{parts.scheme}://{parts.netloc}{prefix}"


def variable(value: object) -> str:
    """Return the name of an environment variable. A key given by mistake is not repeated in the message."""
    name = text(value)
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,63}", name):
        raise Wrong("must be the NAME of an environment variable that holds the key, not the key itself")
    return name


def path(value: object) -> str:
    """Return a path as given, with a leading ``~`` opened by whoever knows the home."""
    name = text(value)
    if len(name) > PATH_LIMIT:
        raise Wrong("is too long for a path")
    return name


def local_path(name: str) -> Path:
    """Return the path of a file on this machine; the ``~`` of a home that nobody knows stays as it is."""
    return Path(os.path.expanduser(name))


def readable_file(value: object) -> str:
    """Return the path of a file on this machine that can be read now."""
    name = os.path.expanduser(path(value))
    place = Path(name)
    if os.path.isdir(place):
        raise Wrong(f"is a directory: {name}")
    if is_pipe(place):  # it is read more than once
        raise Wrong(f"is a pipe: {name}: name a file")
    try:
        with place.open("rb"):
            return name
    except OSError as error:
        raise Wrong(f"cannot be read: {name}: {error.strerror}") from error


def command(value: object) -> tuple[str, ...]:
    """Return the words of a command, split as a shell splits them; its program must be on this machine."""
    line = text(value)
    try:
        words = shlex.split(line)
    except ValueError:
        raise Wrong(f"has a quote or a backslash that is not closed: {line}") from None
    if not words or not words[0]:
        raise Wrong("names no program")
    opened = tuple(os.path.expanduser(word) if word.startswith("~/") else word for word in words)
    if shutil.which(opened[0]) is None:
        raise Wrong(f"names a program that is not on this machine: {opened[0]}")
    return opened


def one_of(*choices: str) -> "OneOf":
    """Return a reader that takes one of these words."""
    return OneOf(choices)


class OneOf:
    """Reads one of a few words, and names them and the nearest where the word is another."""

    def __init__(self, choices: tuple[str, ...]) -> None:
        self.choices = choices

    def __call__(self, value: object) -> str:
        word = str(value)
        if word in self.choices:
            return word
        hint = nearest(word, self.choices)
        raise Wrong(f"must be {_listed(self.choices)}, not {word!r}{hint}")


def some_of(*choices: str) -> "SomeOf":
    """Return a reader that takes one or more of these words: ``a,b``, or a list of them."""
    return SomeOf(choices)


class SomeOf:
    """Reads a few words of a set, each once, in the order in which they are given."""

    def __init__(self, choices: tuple[str, ...]) -> None:
        self._choices = choices

    def __call__(self, value: object) -> tuple[str, ...]:
        given = cast("list[object]", value) if isinstance(value, list) else str(value).split(",")
        return tuple(dict.fromkeys(self._read(word) for word in given))

    def _read(self, value: object) -> str:
        word = str(value).strip()
        if word in self._choices:
            return word
        words, hint = _listed(self._choices), nearest(word, self._choices)
        raise Wrong(f"must be {words}, or several of them with commas between, not {word!r}{hint}")


def nearest(word: str, choices: tuple[str, ...]) -> str:
    """Return ``; did you mean X?`` for a word close to one of the choices, else nothing."""
    import difflib

    found = difflib.get_close_matches(word, choices, n=1)
    return f"; did you mean {found[0]}?" if found else ""


def _listed(choices: tuple[str, ...]) -> str:
    return choices[0] if len(choices) == 1 else ", ".join(choices[:-1]) + " or " + choices[-1]


def _check_place(name: str | None, netloc: str) -> None:
    if "@" in netloc:
        raise Wrong("must hold no user or password; name a variable with the key by --api-key-env")
    if "[" not in netloc and netloc.count(":") > 1:
        raise Wrong("must have its IPv6 address in brackets: http://[::1]:8000")
    if not name or re.search(r"\s", netloc):
        raise Wrong("names no host")
    number = netloc.rpartition("]")[2].partition(":")[2]
    if number:
        port(number)


def _several(value: object) -> list[object]:
    if isinstance(value, list):
        return cast("list[object]", value) or [""]
    return list[object](value.split(",")) if isinstance(value, str) else [value]


def _positive(value: object, what: str) -> float:
    number = _real(value)
    if number <= 0:
        raise Wrong(f"must be more than 0 {what}, not {value!r}")
    return number


def _integer(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise Wrong(f"must be a whole number, not {value!r}")
    if isinstance(value, str) and not re.fullmatch(r"[+-]?[0-9]{1,18}", value.strip()):
        raise Wrong(f"must be a whole number, not {value!r}")
    return int(value.strip()) if isinstance(value, str) else value


def _real(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise Wrong(f"must be a number, not {value!r}")
    if isinstance(value, str) and not re.fullmatch(r"[+-]?[0-9]{1,12}(\.[0-9]{1,12})?", value.strip()):
        raise Wrong(f"must be a number, not {value!r}")
    return float(value.strip() if isinstance(value, str) else value)


def _seconds(value: object) -> float:
    if isinstance(value, str) and (match := DURATION.fullmatch(value.strip())) and match.group():
        return sum(float(number) * SECONDS[unit] for unit, number in match.groupdict().items() if number)
    try:
        return _real(value)
    except Wrong:
        raise Wrong(f"must be a time such as 90, 90s, 20m or 1h, not {value!r}") from None
