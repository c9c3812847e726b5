"""The processes of a server that loads: a launcher and its ranks, each at what it is told to do.

Run as ``python -m loading_server -m sglang.launch_server ...``. All ranks print the line that begins
LOADING_PHASE; then each does what its word in LOADING_RANKS (in JSON) says:

``waits``           waits for ever, without a wake-up
``maps:FOLDER``     maps the weight files in FOLDER one by one, again and again, and touches all pages
``reads:FOLDER``    reads them
``sips:FOLDER``     reads them, some MiB a second at most
``compiles:CICC``   starts the program CICC (a shell by a compiler's name), which uses some CPU, and waits

They end with the launcher, the launcher with its parent, all of them after some minutes. LOADING_IN names the
folder in which they stand.
"""

import json
import mmap
import os
import signal
import subprocess
import time
from collections.abc import Iterator

from simulated_ranks import die_with_parent, set_title

LONGEST_S = 600
PAGE = 4096
READ_BYTES = 1 << 20
PAUSE_S = 0.3
LINES = {
    "distributed": "Init torch distributed begin.",
    "weights": "Load weight begin. avail mem=139.12 GB",
    "capture": "Capture cuda graph begin. This can take up to several minutes. avail mem=9.12 GB",
}
# Some turns of a loop, then a rest: a compiler that leaves the cores to others, and that is seen to work also
# where it gets an eighth of one.
BURN = "while :; do i=0; while [ $i -lt 80000 ]; do i=$((i+1)); done; sleep 0.3; done"


def say(rank: int | None, text: str) -> None:
    """Print a line as SGLang does."""
    name = "" if rank is None else f" TP{rank}"
    os.write(1, f"[{time.strftime('%Y-%m-%d %H:%M:%S')}{name}] {text}\n".encode())


def be(rank: int, phase: str, does: str) -> None:
    """Live as one rank."""
    die_with_parent()
    signal.alarm(LONGEST_S)
    set_title(f"sglang::scheduler_TP{rank}")
    say(rank, LINES[phase])
    what, _, place = does.partition(":")
    if what == "maps":
        for path in weights(place):
            touch(path)
    if what in ("reads", "sips"):
        for path in weights(place):
            read(path, PAUSE_S if what == "sips" else 0.0)
    if what == "compiles":
        subprocess.Popen([place, "-c", BURN], preexec_fn=die_with_parent)
    wait()


def weights(folder: str) -> Iterator[str]:
    """Give the weight files of a folder, without end."""
    names = sorted(os.listdir(folder))
    while names:
        for name in names:
            yield os.path.join(folder, name)


def touch(path: str) -> None:
    """Map a file and touch all of its pages, as loaders of safetensors do."""
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as mapped:
        for place in range(0, len(mapped), PAGE):
            _ = mapped[place]


def read(path: str, pause_s: float) -> None:
    """Read a file from its beginning to its end."""
    with open(path, "rb", buffering=0) as file:
        while file.read(READ_BYTES):
            time.sleep(pause_s)


def wait() -> None:
    """Wait for a word that never comes."""
    mine, _other = os.pipe()
    os.read(mine, 1)


def main(phase: str, ranks: list[str]) -> None:
    """Start the ranks and outlive none of them."""
    die_with_parent()
    signal.alarm(LONGEST_S)
    os.chdir(os.environ.get("LOADING_IN", "/"))
    say(None, "server_args=ServerArgs(model_path='model')")
    for rank, does in enumerate(ranks):
        if os.fork() == 0:
            be(rank, phase, does)
    wait()


if __name__ == "__main__":
    main(os.environ["LOADING_PHASE"], json.loads(os.environ["LOADING_RANKS"]))
