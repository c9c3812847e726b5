"""Who and where the host is, as its shell tells; and what will not be seen of it, said once."""

from typing import Literal

from tui.agent import wire
from tui.events import Hello, Notice
from tui.transport.clean import clean
from tui.transport.faults import sentence_of
from tui.transport.plain_shell.clock import Moment, seconds
from tui.transport.plain_shell.web_answer import Tool

NO_PYTHON = "no_python"
"""What these notices are about."""
_UNKNOWN_UID = -1
_TOOLS: tuple[Tool, ...] = ("curl", "wget", "busybox")


class ShellHello:
    """What the shell says of its host before anything else."""

    def __init__(self) -> None:
        self._said: dict[str, str] = {}

    def hear(self, words: str) -> bool:
        """Take one line; say whether it was the last."""
        name, _, value = words.partition(" ")
        self._said[name] = clean(value).strip()
        return name == "end"

    def said(self, name: str) -> str:
        """Return what was said of one thing, "" where nothing was."""
        return self._said.get(name, "")

    @property
    def uptime(self) -> str:
        """The host's time of the last line."""
        return self.said("end").partition(" ")[2]

    @property
    def tool(self) -> Tool | None:
        """What can ask a server there, None for nothing."""
        return next((tool for tool in _TOOLS if tool == self.said("web")), None)

    @property
    def leads(self) -> bool:
        """Whether all that is started there can be ended for certain."""
        return self.said("leads") == "1"

    def event(self, at: Moment) -> Hello:
        """Return the first event of the host. Without a Python its version is empty."""
        uid = _whole(self.said("uid"))
        memory_kib = seconds(self.said("memory_kib"))
        return Hello(
            mono_s=at.mono_s,
            wall_s=at.wall_s,
            client_s=at.client_s,
            protocol=wire.PROTOCOL,
            host=self.said("host") or "unknown",
            user=self.said("user") or self.said("uid"),
            uid=_UNKNOWN_UID if uid is None else uid,
            pid=_whole(self.said("end").partition(" ")[0]) or 0,
            boot_id=self.said("boot_id"),
            python="",
            kernel=self.said("kernel"),
            cpu_count=_whole(self.said("cpus")),
            memory_total_mib=None if memory_kib is None else int(memory_kib) // 1024,
        )

    def notices(self, at: Moment, *, asks: bool) -> list[Notice]:
        """Return what is not there; ``asks``: whether a server is to be asked for its readiness."""
        host = self.said("host") or "the host"
        found = [_notice(at, "info", sentence_of("shell_no_python", host=host))]
        return [*found, _notice(at, "warning", sentence_of("shell_no_web", host=host))] if asks else found


def _notice(at: Moment, level: Literal["info", "warning"], words: str) -> Notice:
    return Notice(
        mono_s=at.mono_s,
        wall_s=at.wall_s,
        client_s=at.client_s,
        level=level,
        about=NO_PYTHON,
        sentence=words,
    )


def _whole(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 12 else None
