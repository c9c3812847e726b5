"""What the host's kernel counts: kills for lack of memory, hung tasks, pressure. Missing files are None."""

from __future__ import annotations

from tui.agent.processes import procfs

_HOST = {
    "oom_kills": ("/proc/vmstat", b"oom_kill"),
    "hung_tasks": ("/proc/sys/kernel/hung_task_detect_count", b""),
}
_CGROUPS = "/sys/fs/cgroup"


def host_signals() -> dict[str, object]:
    """Return the fields of tui.signals.HostSignals but the control group's. May block."""
    fields: dict[str, object] = {name: _integer(_value(path, label)) for name, (path, label) in _HOST.items()}
    fields["memory_full_pct"] = _average("memory", b"full")
    fields["io_some_pct"] = _average("io", b"some")
    return fields


class ControlGroup:
    """The files that count the kills in one process's control group; found while the process lives."""

    def __init__(self, pid: int) -> None:
        self._files = event_files(_read("/proc/%d/cgroup" % pid), _read("/proc/self/cgroup"))

    def oom_kills(self) -> int | None:
        """Return how many processes the kernel killed in it for lack of memory. May block."""
        for path in self._files:
            count = _integer(_value(path, b"oom_kill"))
            if count is not None:
                return count
        return None


def event_files(theirs: bytes, ours: bytes) -> list[str]:
    """Return where the counts may lie: by version 2, then 1; at the mount's root for a group that is ours.

    A container sees its own group at the mount's root, and may call it by the path that the host does.
    """
    files: list[str] = []
    for line in theirs.splitlines():
        number, _, rest = line.partition(b":")
        controllers, _, path = rest.partition(b":")
        if number == b"0":
            place, name = _CGROUPS, "/memory.events"
        elif b"memory" in controllers.split(b","):
            place, name = _CGROUPS + "/memory", "/memory.oom_control"
        else:
            continue
        inside = path.decode("utf-8", "surrogateescape").rstrip("/")
        if ".." not in inside.split("/"):
            files.append(place + inside + name)
        if line in ours.splitlines():
            files.append(place + name)
    return files


def _average(resource: str, kind: bytes) -> float | None:
    """Return the share of the last 10 s in percent."""
    fields = _value("/proc/pressure/" + resource, kind).split()
    name, _, value = fields[0].partition(b"=") if fields else (b"", b"", b"")
    return float(value) if name == b"avg10" else None


def _value(path: str, label: bytes) -> bytes:
    """Return what follows a label that begins a line (the first line, for no label); empty without one."""
    for line in _read(path).splitlines():
        if not label:
            return line.strip()
        name, _, value = line.partition(b" ")
        if name == label:
            return value.strip()
    return b""


def _integer(value: bytes) -> int | None:
    return int(value) if value.isdigit() else None


def _read(path: str) -> bytes:
    try:
        return procfs.read(path)
    except OSError:
        return b""
