"""Why the way into a container, a pod or a job ended: the row that the program's own words lead to."""

import re

from tui.transport import faults
from tui.transport.clean import clean
from tui.transport.faults import wrappers
from tui.transport.faults.row import Row
from tui.transport.pipe import LinkFault
from tui.transport.wrapper import Wrapper

_SAID_LIMIT = 300
KILLED = (137, 143)
_NOT_STARTED = (126, 127)
# What the programs print beside, whatever happens.
_NOISE = re.compile(
    r"command terminated with exit code \d+$|command terminated with non-zero exit code"
    r"|Defaulted container |Unable to use a TTY|srun: error: \S+: task \d+: Exited with exit code \d+$"
    r"|srun: launch/slurm: |Emulate Docker CLI using podman"
)


def last_words(errors: bytes) -> bytes:
    """Return what a program wrote to its error stream, less what it prints beside whatever happens."""
    return b"\n".join(line for line in errors.split(b"\n") if not _NOISE.search(_text(line).strip()))


def end_fault(
    wrapper: Wrapper, host: str | None, status: int | None, errors: bytes, *, spoke: bool
) -> LinkFault | None:
    """Return why a wrapped process ended, None where that is for its agent (or nobody) to say.

    ``spoke``: it has printed something, so that the way in was there.
    """
    lines = [line for line in map(_clean, _text(last_words(errors)).splitlines()) if line]
    for name, row in wrappers.ROWS.items():
        said = said_by(row, wrapper, lines)
        if said is not None:
            return fault(name, wrapper, host, said=said, status=status)
    if status in KILLED:
        return fault("killed_inside", wrapper, host)
    if spoke:
        return None
    if status in _NOT_STARTED:
        return fault("no_python_inside", wrapper, host)
    if status in (None, 0) or not lines or _is_agents(status):
        return None
    return fault("not_started_inside", wrapper, host, said=lines[-1], status=status)


def fault(
    row: str, wrapper: Wrapper, host: str | None, *, said: str = "", status: int | None = None
) -> LinkFault:
    """Return the LinkFault of one row."""
    return faults.fault(
        row,
        tool=wrapper.kind,
        name=wrapper.name,
        where=host or "this machine",
        place=wrapper.place(host),
        said=said if len(said) <= _SAID_LIMIT else said[: _SAID_LIMIT - 1] + "…",
        status=status,
    )


def said_by(row: Row, wrapper: Wrapper, lines: list[str]) -> str | None:
    """Return the line that the row speaks of, None for none."""
    if wrapper.kind not in row.tools.split():
        return None
    pattern = re.compile(row.pattern.replace("{tool}", wrapper.kind))
    return next((line for line in lines if pattern.search(line)), None)


def _is_agents(status: int | None) -> bool:
    from tui.agent import wire

    return status in (wire.EXIT_OLD_PYTHON, wire.EXIT_BAD_SOURCE)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace").replace("\r", "\n")


def _clean(line: str) -> str:
    return clean(line).strip()
