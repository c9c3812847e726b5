"""The % tokens, ~ and ${VARIABLE} of OpenSSH's configuration values (ssh_config(5), TOKENS)."""

import getpass
import hashlib
import os
import re
import socket
from dataclasses import dataclass
from pathlib import Path

_TOKEN = re.compile(r"%(.)")
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


def home_directory() -> Path:
    """Return the home directory that ssh uses: the account's, which HOME does not change."""
    try:
        import pwd
    except ImportError:  # not a POSIX system
        return Path.home()
    try:
        return Path(pwd.getpwuid(os.getuid()).pw_dir)
    except KeyError:  # an account without an entry, as in some containers
        return Path.home()


def local_user() -> str:
    """Return the name of the user who runs this."""
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):  # without an entry; the class depends on the version of Python
        return str(os.getuid()) if hasattr(os, "getuid") else "user"


@dataclass(frozen=True, slots=True)
class Tokens:
    """The values behind the tokens, for one host."""

    original: str
    hostname: str
    port: int
    user: str
    values: dict[str, str]

    @classmethod
    def of(
        cls,
        *,
        original: str,
        hostname: str,
        port: int,
        user: str,
        alias: str | None,
        jump: str,
        both_ends: str | None = None,
    ) -> "Tokens":
        """Gather the tokens of one host; an empty ``user`` is the local one.

        ``both_ends`` is the value of %C where it is known.
        """
        here, me = socket.gethostname(), local_user()
        user = user or me
        values = {
            "%": "%",
            "d": str(home_directory()),
            "h": hostname,
            "i": str(os.getuid()) if hasattr(os, "getuid") else "",
            "j": jump,
            "k": alias or original,
            "L": here.partition(".")[0],
            "l": here,
            "n": original,
            "p": str(port),
            "r": user,
            "T": "NONE",
            "u": me,
        }
        ends = "".join(values[name] for name in "lhprj")
        values["C"] = both_ends or hashlib.sha1(ends.encode("utf-8", "surrogateescape")).hexdigest()
        return cls(original, hostname, port, user, values)

    def expand(self, text: str) -> str:
        """Replace the % tokens; one that is not known stays as it is."""
        return _TOKEN.sub(lambda found: self.values.get(found[1], found[0]), text)

    def path(self, text: str) -> Path:
        """Expand a file name: variables, ~ and % tokens; a variable that is not set becomes nothing."""
        named = _VARIABLE.sub(lambda found: os.environ.get(found[1], ""), self.expand(text))
        if named == "~" or named.startswith("~/"):
            named = str(home_directory()) + named[1:]
        return Path(os.path.expanduser(named))
