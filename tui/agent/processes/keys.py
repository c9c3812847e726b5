"""The API key in a server's own arguments: read on the host, used on the host, never sent."""

from __future__ import annotations

from tui.agent.processes import procfs

_FLAGS = ("--api-key", "--api_key")


def arguments_of(pid: int) -> list[str] | None:
    """Return the arguments of a process as they are, None when they cannot be read. May block."""
    try:
        data = procfs.read("/proc/%d/cmdline" % pid)
    except OSError:
        return None
    return split_arguments(data)


def split_arguments(data: bytes) -> list[str]:
    """Take a cmdline apart; what is left of it after setproctitle is a title padded with NULs."""
    parts = data.rstrip(b"\0").split(b"\0")
    return [part.decode("utf-8", "backslashreplace") for part in parts] if parts != [b""] else []


def key_of(pid: int) -> str | None:
    """Return the (first) API key in the arguments of a process, None without one. May block."""
    argv = arguments_of(pid)
    return None if argv is None else key_in(argv)


def key_in(argv: list[str]) -> str | None:
    """Return the API key in these arguments; llama.cpp takes several in one value, joined with commas."""
    for place, argument in enumerate(argv):
        flag, sign, value = argument.partition("=")
        if flag not in _FLAGS:
            continue
        if not sign:
            value = argv[place + 1] if place + 1 < len(argv) else ""
        first = value.split(",")[0]
        return first or None
    return None
