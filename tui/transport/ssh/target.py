"""The host as a person names it: alias, ``user@host``, ``user@host:port``, ``[v6]:port``, ``ssh://...``."""

import re
from dataclasses import dataclass
from urllib.parse import unquote

from tui.transport.faults import fault

_PORT = re.compile(r"[0-9]{1,5}")
# What OpenSSH refuses in a name given on its command line, since a ProxyCommand's shell would see it.
_UNFIT_HOST = re.compile(r"[\x00-\x20\x7f'\"`$\\;&<>|(){},/]")
_UNFIT_USER = re.compile(r"[\x00-\x20\x7f'\"`;&<>|(){}]|\\$")


@dataclass(frozen=True, slots=True)
class Target:
    """A host as named by the user; what was not said (None) is left to the SSH configuration."""

    text: str
    host: str
    user: str | None = None
    port: int | None = None

    def ssh_arguments(self) -> list[str]:
        """Return what ``ssh`` takes for this target, options first, the host after ``--``."""
        user = ["-l", self.user] if self.user is not None else []
        port = ["-p", str(self.port)] if self.port is not None else []
        return [*user, *port, "--", self.host]


def parse_target(text: str) -> Target:
    """Take a target apart. Raises LinkFault (usage) for what no SSH host can be called."""
    rest = text
    if text.lower().startswith("ssh://"):
        rest = text[len("ssh://") :].removesuffix("/")
    user, at, place = rest.rpartition("@")
    host, port = _host_and_port(text, place)
    if text != rest:
        user = unquote(user)
    target = Target(text, host, user if at else None, port)
    _refuse_unfit(target)
    return target


def _host_and_port(text: str, place: str) -> tuple[str, int | None]:
    if place.startswith("["):
        host, bracket, after = place[1:].partition("]")
        if not bracket or (after and not after.startswith(":")):
            raise fault("target", target=text, why="its bracket does not close")
        return host, _port(text, after[1:]) if after else None
    if place.count(":") == 1:
        host, _, port = place.partition(":")
        return host, _port(text, port)
    return place, None


def _port(text: str, port: str) -> int:
    if not _PORT.fullmatch(port) or not 0 < int(port) < 65536:
        raise fault("target", target=text, why=f"{port!r} is no port (1 to 65535)")
    return int(port)


def _refuse_unfit(target: Target) -> None:
    """Refuse what ssh could take for an option, or a shell for more than a name."""
    parts = [("host", target.host, _UNFIT_HOST)]
    if target.user is not None:
        parts.append(("user", target.user, _UNFIT_USER))
    for name, part, unfit in parts:
        if not part:
            raise fault("target", target=target.text, why=f"its {name} name is empty")
        if part.startswith("-"):
            raise fault("target", target=target.text, why=f"its {name} name begins with a dash")
        if unfit.search(part):
            raise fault(
                "target", target=target.text, why=f"its {name} name has a character that is not allowed"
            )
