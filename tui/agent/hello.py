"""The agent's first message: which host, user and kernel it runs on."""

from __future__ import annotations

import os
import sys

from tui.agent import wire
from tui.agent.processes import procfs


def hello() -> dict[str, object]:
    """Return the hello message. Asks no name service: one that hangs must not hold up the first message."""
    system = os.uname()
    return wire.stamped(
        wire.HELLO,
        protocol=wire.PROTOCOL,
        host=system.nodename,
        user=user_name(os.getuid()),
        uid=os.getuid(),
        pid=os.getpid(),
        boot_id=_text("/proc/sys/kernel/random/boot_id").strip(),
        python="%d.%d.%d" % sys.version_info[:3],
        kernel=system.release,
        cpu_count=os.cpu_count() or 1,
        memory_total_mib=_memory_total_mib(),
    )


def user_name(uid: int) -> str:
    """Return the name of a user by /etc/passwd, else the session's own name for us, else the number."""
    for line in _text("/etc/passwd").splitlines():
        fields = line.split(":")
        if len(fields) > 2 and fields[2] == str(uid):
            return fields[0]
    mine = os.environ.get("USER") or os.environ.get("LOGNAME") if uid == os.getuid() else None
    return mine or str(uid)


def _memory_total_mib() -> int | None:
    for line in _text("/proc/meminfo").splitlines():
        if line.startswith("MemTotal:"):
            return int(line.split()[1]) // 1024
    return None


def _text(path: str) -> str:
    try:
        return procfs.read(path, 1024 * 1024).decode("utf-8", "backslashreplace")
    except OSError:
        return ""
