"""Seconds that a server's command line and environment set, each with the words of where it comes from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tui.engines.arguments import read_arguments
from tui.engines.base import Engine, ServerArguments

NO_ENVIRONMENT = "the environment of the server cannot be read"
NO_ARGUMENTS = "the arguments of the server cannot be read"


def flag_value(argv: Sequence[str], *names: str) -> str | None:
    """Return the value of the last of these flags on a command line: "" for one without, None when none is.

    Dashes and underscores are the same in a flag's name.
    """
    found: str | None = None
    for word, following in zip(argv, (*argv[1:], "--"), strict=False):
        name, equals, value = word.partition("=")
        if name.startswith("--") and name.replace("_", "-") in names:
            found = value if equals else ("" if following.startswith("--") else following)
    return found


def number(text: str | None) -> float | None:
    """Return a time-out as a number; nothing else than plain positive decimals is one."""
    plain = (text or "").strip()
    if not plain.isascii() or not plain.replace(".", "", 1).isdigit() or len(plain) > 12:
        return None
    return float(plain) or None


@dataclass(frozen=True, slots=True)
class Setting:
    """A number of seconds and where it comes from."""

    seconds: float | None
    source: str

    def times(self, factor: float, words: str) -> "Setting":
        """Return it for what strikes only after several of it."""
        if self.seconds is None:
            return self
        return Setting(self.seconds * factor, f"{self.source}, {words}")


class Told:
    """What a server says of itself."""

    def __init__(
        self, engine: Engine, argv: Sequence[str] | None, environment: Mapping[str, str] | None
    ) -> None:
        self.engine = engine
        self.argv = argv
        self.environment = environment
        self.arguments: ServerArguments = read_arguments(engine, argv, environment)

    @property
    def ranks(self) -> int:
        """How many ranks compute one model together."""
        arguments = self.arguments
        replicas = (arguments.data_parallel or 1) if arguments.expert_parallel else 1
        if self.engine.name == "sglang":  # there they share the tensor-parallel ranks
            replicas = 1
        return (arguments.tensor_parallel or 1) * (arguments.pipeline_parallel or 1) * replicas

    @property
    def single(self) -> bool:
        """Whether one rank alone is known to compute: it waits for nobody."""
        return self.argv is not None and self.arguments.config_path is None and self.ranks == 1

    def given(self, *names: str) -> bool:
        """Return whether a flag is there."""
        return flag_value(self.argv or (), *names) is not None

    def text(self, name: str) -> str:
        """Return a flag's value, "" without one."""
        return flag_value(self.argv or (), name) or ""

    def flag(self, name: str, default_s: float, whose: str) -> Setting:
        """Return what a flag says in seconds, else the default and whose it is."""
        if self.argv is None:
            return Setting(None, NO_ARGUMENTS)
        seconds = number(flag_value(self.argv, name))
        if seconds is not None:
            return Setting(seconds, f"{name} {seconds:g}")
        unread = self.arguments.config_path
        unless = "" if unread is None else f", unless {unread} sets it"
        return Setting(default_s, f"{whose} default{unless}")

    def variable(self, name: str, default_s: float) -> Setting:
        """Return what an environment variable says in seconds."""
        if self.environment is None:
            return Setting(None, NO_ENVIRONMENT)
        seconds = number(self.environment.get(name))
        if seconds is None:
            return Setting(default_s, f"{name}={default_s:g} (default)")
        return Setting(seconds, f"{name}={seconds:g}")

    def off(self, name: str) -> bool:
        """Return whether an environment variable switches something off."""
        value = (self.environment or {}).get(name, "").strip().lower()
        return value in ("0", "n", "no", "f", "false")
