"""Reading a server's command line by an engine's table of flags."""

import re
from collections.abc import Iterator, Mapping, Sequence

from tui.engines.base import Engine, Flags, ServerArguments

SWITCH = re.compile(r"--(?:enable|disable|no|skip|trust|enforce|use)-")
"""Flags of this form are switches in all engines: a bare word after one is no value of theirs."""


def read_arguments(
    engine: Engine, argv: Sequence[str] | None, environment: Mapping[str, str] | None = None
) -> ServerArguments:
    """Return what the command line (and, where the engine has them, environment variables) says.

    Both are masked on the host; an API key shows as present only. Nothing here raises: what cannot be read
    is None.
    """
    words = _Words(engine.flags, argv or (), environment or {})
    model = words.text("model") or words.positional_model()
    config_path = words.text("config")
    served_name = words.served_name()
    if served_name is None and engine.model_is_name and config_path is None:
        served_name = model
    node_rank = words.number("node_rank") or 0
    return ServerArguments(
        host=words.text("host"),
        port=words.port(),
        model=model,
        served_name=served_name,
        tensor_parallel=words.number("tensor_parallel"),
        pipeline_parallel=words.number("pipeline_parallel"),
        data_parallel=words.number("data_parallel"),
        api_key=words.given("api_key"),
        tls=words.given("tls"),
        config_path=config_path,
        prefix=_prefix(words.text("prefix")),
        serves_api=node_rank == 0 and not words.given("headless"),
        hub_cache=words.text("hub_cache"),
        revision=words.text("revision"),
        load_format=words.text("load_format"),
        expert_parallel=words.given("expert_parallel"),
        nodes=words.number("nodes"),
        node_rank=words.number("node_rank"),
        quantization=words.text("quantization"),
        rendezvous=words.rendezvous(config_path is not None),
    )


def address(text: str) -> tuple[str | None, int | None]:
    """Return host and port of "host:port", "tcp://host:port" or "[::1]:port"; None for what is not there."""
    host, _, port = text.rpartition("://")[2].rpartition(":")
    known = int(port) if port.isascii() and port.isdigit() else 0
    return host.strip("[]") or None, known if 0 < known < 65536 else None


def _prefix(text: str | None) -> str:
    bare = (text or "").strip("/")
    return f"/{bare}" if bare else ""


def _normal(flag: str) -> str:
    """Return the flag as the tables spell it: long ones with dashes (vLLM takes underscores as well)."""
    return flag.replace("_", "-") if flag.startswith("--") else flag


def is_flag(word: str) -> bool:
    """Return whether a word of a command line is a flag; a negative number is none."""
    return len(word) > 1 and word[0] == "-" and not word[1].isdigit()


class _Words:
    """One command line, split into flags with their values and bare words."""

    def __init__(self, flags: Flags, argv: Sequence[str], environment: Mapping[str, str]) -> None:
        self.flags = flags
        self.values: dict[str, list[str]] = {}
        self.bare: list[str] = []
        self.variables: dict[str, str] = {}
        for name, variable in flags.variables:
            if environment.get(variable):
                self.variables.setdefault(name, environment[variable])
        self._split(argv)

    def _split(self, argv: Sequence[str]) -> None:
        words = iter(argv)
        for word in words:
            if is_flag(word):
                self._flag(word, words)
            else:
                self.bare.append(word)

    def _flag(self, word: str, words: Iterator[str]) -> None:
        while True:
            name, equals, value = word.partition("=")
            name = _normal(name)
            self.values.pop(name, None)
            taken = self.values[name] = [value] if equals else []
            full = SWITCH.match(name) is not None
            following = next(words, None)
            while following is not None and not is_flag(following):
                if full or (taken and name not in self.flags.many):
                    self.bare.append(following)
                else:
                    taken.append(following)
                following = next(words, None)
            if following is None:
                return
            word = following

    def _names(self, argument: str) -> tuple[str, ...]:
        names: tuple[str, ...] = getattr(self.flags, argument)
        return names

    def given(self, argument: str) -> bool:
        """Return whether a flag for it is there at all."""
        return any(name in self.values for name in self._names(argument)) or bool(
            self.variables.get(argument)
        )

    def text(self, argument: str) -> str | None:
        """Return its (first) value, None when it is not given or empty."""
        found: str | None = None
        for name, values in self.values.items():
            if name in self._names(argument) and values and values[0]:
                found = values[0]
        return found or self.variables.get(argument)

    def number(self, argument: str) -> int | None:
        """Return its value as a whole number, None when it is none."""
        text = self.text(argument)
        return int(text) if text is not None and text.isascii() and text.isdigit() else None

    def port(self) -> int | None:
        """Return the port, None when it is not given or none."""
        number = self.number("port")
        return number if number is not None and 0 < number < 65536 else None

    def rendezvous(self, configured: bool) -> tuple[str, int] | None:
        """Return where the nodes of a load on several meet, None where it runs on one or does not say.

        ``configured``: a configuration file may say what the command line does not.
        """
        if (self.number("nodes") or 1) < 2:
            return None
        host, port = address(self.text("rendezvous") or "")
        if self.flags.rendezvous_host:
            default = (None, None) if configured else self.flags.rendezvous_default
            host = self.text("rendezvous_host") or default[0]
            port = self.number("rendezvous_port") or default[1]
        return None if host is None or port is None else (host, port)

    def served_name(self) -> str | None:
        """Return the first served name."""
        text = self.text("served_name")
        if text is not None and self.flags.names_by_comma:
            text = text.split(",")[0].strip()
        return text or None

    def positional_model(self) -> str | None:
        """Return the bare word after the subcommand or program that takes the model, None without one."""
        after, program = self.flags.model_after, self.flags.model_program
        start = next((place for place, word in enumerate(self.bare) if word == after), None)
        if start is None and program is not None:
            names = [word.rpartition("/")[2] for word in self.bare]
            start = names.index(program) if program in names else None
        return None if start is None else next(iter(self.bare[start + 1 :]), None)


def printed_model(flags: Flags, printed: str) -> str | None:
    """Return the model that an engine prints among its arguments (``model_path='x'``, ``'model': 'x'``).

    The first name that it is served under counts, then the model argument; None where neither is printed.
    """
    for flag in (*flags.served_name, *flags.model):
        name = flag.lstrip("-").replace("-", "_")
        found = re.search(rf"\b{re.escape(name)}['\"]?\s?[=:]\s?\[?(['\"])(.{{1,512}}?)\1", printed)
        if found is not None:
            return found[2]
    return None
