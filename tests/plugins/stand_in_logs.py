"""Stand-ins for the ``logs`` command of docker, podman and kubectl: their argument rules, forms and words.

Run as ``python3 stand_in_logs.py STATE TOOL ARGUMENT...``. Of the STATE of stand_in_tools.py ``log`` names
the file that the runtime keeps (see stand_in_runtime.py), ``log_fails`` a text of TEXTS that the tool ends
with, ``log_over`` that the container has ended, ``log_clients`` a file that gets the pid of each tool.

Docker and Podman write each stream to their own of the same name; Podman leaves the moment of ``--since``
itself out, kubectl rounds it down to seconds, reads only the newest file, and ends when that is rotated away.
"""

import json
import os
import re
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NoReturn

# As the real programs print them, with their exit codes.
TEXTS: dict[str, dict[str, tuple[int, str]]] = {
    "docker": {
        "driver": (1, "Error response from daemon: configured logging driver does not support reading"),
        "missing": (1, "Error response from daemon: No such container: vllm"),
        "rights": (
            1,
            "permission denied while trying to connect to the docker API at unix:///var/run/docker.sock",
        ),
        "cut": (1, "error from daemon in stream: Error grabbing logs: unexpected EOF"),
        "odd": (1, "Error response from daemon: the \x1b[31mfrobnicator\x07 is out of whack"),
    },
    "podman": {
        "driver": (125, "Error: this container is using the 'none' log driver, cannot read logs: this"),
        "missing": (125, 'Error: no container with name or ID "vllm" found: no such container'),
    },
    "kubectl": {
        "forbidden": (
            1,
            'Error from server (Forbidden): pods "llm-0" is forbidden: User "ann" cannot get resource '
            '"pods/log" in API group "" in the namespace "prod"',
        ),
        "missing": (1, 'Error from server (NotFound): pods "llm-0" not found'),
        "starting": (
            1,
            'Error from server (BadRequest): container "server" in pod "llm-0" is waiting to start: '
            "ContainerCreating",
        ),
        "collected": (1, "unable to retrieve container logs for containerd://5f1c2d"),
    },
}
POLL_S = 0.01
# Go's time.RFC3339Nano, as these tools read --since and --since-time.
MOMENT = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?Z")


def fail(code: int, text: str) -> NoReturn:
    """End as the tool does."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()
    os._exit(code)


def options(tool: str, arguments: list[str]) -> dict[str, str]:
    """Return the options and ``name``. Values follow "=" or the next argument, flags have none."""
    given: dict[str, str] = {}
    rest = list(arguments)
    names: list[str] = []
    flags = {"-f": "-f", "--follow": "-f", "--timestamps": "--timestamps"}
    valued = {"--tail": "--tail", "--since": "--since"}
    if tool == "kubectl":
        valued |= {"--since-time": "--since-time", "-n": "-n", "-c": "-c", "--context": "--context"}
    else:
        flags["-t"] = "--timestamps"
        valued["-n"] = "--tail"
    while rest:
        flag, has_value, value = rest.pop(0).partition("=")
        if flag in flags:
            given[flags[flag]] = ""
        elif flag in valued:
            given[valued[flag]] = value if has_value else rest.pop(0)
        elif flag.startswith("-"):
            fail(125 if tool != "kubectl" else 1, f"unknown flag: {flag}")
        else:
            names.append(flag)
    if len(names) != 2 or names[0] != "logs":
        fail(1, f'"{tool} logs" requires exactly 1 argument.')
    if tool == "kubectl" and "-c" not in given:
        sys.stderr.write('Defaulted container "server" out of: server, sidecar\n')
        sys.stderr.flush()
    return given


def moment_ns(text: str) -> int:
    """Read the moment that was asked for, in ns since 1970."""
    found = MOMENT.fullmatch(text)
    if found is None:
        fail(1, f'invalid value for "since": failed to parse time: {text}')
    seconds = int(datetime.fromisoformat(found[1]).replace(tzinfo=UTC).timestamp())
    return seconds * 10**9 + int((found[2] or "").ljust(9, "0"))


def wanted(tool: str, given: dict[str, str], stamp_ns: int) -> bool:
    """Say whether a line lies after the moment that was asked for, as the tool understands it."""
    since = given.get("--since-time" if tool == "kubectl" else "--since")
    if since is None:
        return True
    since_ns = moment_ns(since)
    if tool == "kubectl":
        return stamp_ns >= since_ns // 10**9 * 10**9
    return stamp_ns > since_ns if tool == "podman" else stamp_ns >= since_ns


def generations(path: Path, tool: str) -> list[Path]:
    """Return the files of the log, oldest first."""
    rotated = [path.with_name(f"{path.name}.{number}") for number in (3, 2, 1)]
    return [file for file in ([] if tool == "kubectl" else rotated) if file.exists()] + [path]


def records(path: Path, tool: str, state_file: Path, *, follow: bool) -> Iterator[dict[str, str]]:
    """Iterate over what the runtime has written, and goes on to write."""
    for old in generations(path, tool)[:-1]:
        yield from map(json.loads, old.read_bytes().splitlines())
    file = path.open("rb")
    while True:
        line = file.readline()
        if line.endswith(b"\n"):
            yield json.loads(line)
            continue
        file.seek(-len(line), 1)
        moved = not path.exists() or path.stat().st_ino != os.fstat(file.fileno()).st_ino
        if moved and tool != "kubectl" and path.exists():
            file = path.open("rb")
        elif not follow or moved or json.loads(state_file.read_text()).get("log_over"):
            return
        else:
            time.sleep(POLL_S)


def main(state_file: Path, tool: str, arguments: list[str]) -> None:
    """Print the log as the tool does."""
    given = options(tool, arguments)
    state: dict[str, Any] = json.loads(state_file.read_text())
    if "log_fails" in state:
        fail(*TEXTS[tool][state["log_fails"]])
    if "log_clients" in state:
        with Path(state["log_clients"]).open("a") as file:
            file.write(f"{os.getpid()} {given.get('--since') or given.get('--since-time')}\n")
    path = Path(state["log"])
    found = records(path, tool, state_file, follow="-f" in given)
    skip = 0
    if int(given.get("--tail", -1)) >= 0:
        count = sum(1 for file in generations(path, tool) for _ in file.open("rb"))
        skip = max(0, count - int(given["--tail"]))
    for number, record in enumerate(found):
        if number >= skip and wanted(tool, given, int(record["ns"])):
            show(record, 2 if record["stream"] == "stderr" and tool != "kubectl" else 1, given)


def show(record: dict[str, str], stream: int, given: dict[str, str]) -> None:
    """Print one record with its stamp: Go's RFC3339Nano with all nine digits."""
    seconds, part = divmod(int(record["ns"]), 10**9)
    stamp = f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{part:09d}Z "
    text = (stamp if "--timestamps" in given else "") + record["log"]
    view = memoryview(text.encode("utf-8", "surrogateescape"))
    while view:
        view = view[os.write(stream, view) :]


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3:])
