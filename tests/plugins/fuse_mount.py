"""A file system of the tests' own as a process to be started, told and ended: see fuse_server.py."""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from agent_process import alive

NAMES = tuple(f"model-{part:05}-of-00004.safetensors" for part in range(1, 5))
END_S = 5.0
JOIN = """
import ctypes, os, sys
for kind in ("user", "mnt"):
    place = "/proc/%s/ns/%s" % (sys.argv[1], kind)
    if os.readlink(place) != os.readlink("/proc/self/ns/" + kind):
        number = os.open(place, os.O_RDONLY)
        if ctypes.CDLL(None).setns(number, 0):
            sys.exit("cannot join " + place)
        os.close(number)
os.execvp(sys.argv[2], sys.argv[2:])
"""


class NoFuse(Exception):
    """Such a file system cannot be had on this machine; the message says why."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One kind of question that a process put to the file system about one node."""

    what: str
    pid: int
    node: int


class FuseMount:
    """A folder of weight files of zeros that exists for the processes of one command alone.

    ``folder`` is where it is (for others that is an empty folder), ``pid`` the command's process.
    """

    def __init__(
        self,
        place: Path,
        command: Sequence[str],
        environment: Mapping[str, str],
        *,
        mib_per_s: float,
        size_mib: int = 64,
    ) -> None:
        self.folder = place / "model"
        self.folder.mkdir()
        self.log = place / "server.log"
        self._asked = place / "asked"
        plugins = str(Path(__file__).parent)
        how = [str(self.folder), str(self._asked), str(mib_per_s), str(size_mib), *NAMES]
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "fuse_server", *how],
                cwd=plugins,
                env={**environment, "FUSE_COMMAND": json.dumps(command)},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        assert self._process.stdout is not None
        said, _, rest = self._process.stdout.readline().strip().partition(" ")
        if said != "up":
            self.close()
            raise NoFuse(rest or self.log.read_text()[-500:])
        self.pid = int(rest)

    @property
    def weight_files(self) -> int:
        """How many there are."""
        return len(NAMES)

    def die(self) -> None:
        """Answer nothing any more, once all who read wait for data; who asks waits until this is closed."""
        assert self._process.stdin is not None
        self._process.stdin.write("dead\n")
        self._process.stdin.flush()

    def asked(self) -> list[Asked]:
        """Return what was asked so far, by whom."""
        lines = [line.split(" ") for line in self._asked.read_text().splitlines()]
        return [Asked(what, int(pid), int(node)) for what, pid, node in lines]

    def joined(self, command: list[str]) -> list[str]:
        """Return a command that runs where this folder is to be seen."""
        return [sys.executable, "-c", JOIN, str(self.pid), *command]

    def close(self) -> None:
        """Take it away, and with it the command: at once, whoever waits for an answer; twice is allowed."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.kill()
        self._process.wait(END_S)
        self._process.stdin.close()
        self._process.stdout.close()

    @property
    def up(self) -> bool:
        """Whether its process is still there."""
        return alive(self._process.pid)
