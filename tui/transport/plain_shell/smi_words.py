"""What it means that nvidia-smi has ended, is not there or says nothing: its exit codes, in words."""

import re
from typing import Literal

State = Literal["absent", "failed", "silent"]

FIRST_OUTPUT_S = 45.0
"""Many-GPU machines take 10 to 24 s to the first line (remote.md 6)."""
SILENT_S = 15.0
"""After the first line it prints each second; drivers that hang do so for longer than this."""
REFUSED, ABSENT_CODE, NO_GPU = 2, 127, 6
_NOT_A_FIELD = re.compile(r'Field "([^"]{1,100})" is not a valid field to query', re.IGNORECASE)

# The codes and what they mean are those of nvidia-smi's manual.
_CODES: dict[int, tuple[State, str]] = {
    2: ("failed", "it takes none of the questions put to it: the driver may be very old"),
    3: ("failed", "what was asked is not available on these GPUs"),
    4: ("failed", "this user may not ask: watch as a user who may open /dev/nvidiactl"),
    6: ("absent", "it shows no GPU; a container must be started with its GPUs (docker run --gpus all)"),
    8: ("failed", "a GPU's external power cables are not attached"),
    9: (
        "failed",
        "the NVIDIA driver is not loaded; as root, run modprobe nvidia, and see dmesg if that fails",
    ),
    10: ("failed", "the driver has an interrupt problem with a GPU; see dmesg for NVRM"),
    12: (
        "failed",
        "libnvidia-ml.so.1 is missing; a container must be started with its GPUs",
    ),
    13: ("failed", "the NVIDIA library is older than nvidia-smi; install both from one driver"),
    14: ("failed", "a GPU's infoROM is corrupted; it still computes, but ask for its replacement"),
    15: ("failed", "a GPU has fallen off the bus or cannot be reached; dmesg names the Xid"),
    126: ("failed", "this user may not run it"),
    255: ("failed", "it met an error of its own"),
}
_ABSENT = (
    "No nvidia-smi was found there, and without python3 nothing else tells of the GPUs. If the host has "
    "GPUs, install the driver's tools; a container must be started with its GPUs (docker run --gpus all)."
)


def ended(code: int | None, said: str) -> tuple[State, str]:
    """Return the driver's state and the sentence for one that has ended, with its own last words."""
    if code == ABSENT_CODE:
        return "absent", _ABSENT
    quoted = f" It said: {said}" if said else ""
    if code is not None and code > 128:
        return "failed", f"nvidia-smi was ended by signal {code - 128}.{quoted}"
    state, words = _CODES.get(code or 0, ("failed", "it ended without a word on why"))
    number = "" if code is None else f" (exit status {code})"
    return state, f"nvidia-smi has ended{number}: {words}.{quoted}"


def silent(seconds: float, *, first: bool) -> str:
    """Return the sentence for one that prints nothing."""
    since = "since it was started" if first else "since its last line"
    return (
        f"nvidia-smi has printed nothing for {seconds:.0f} s {since}: the driver does not answer. "
        "It is not asked a second time meanwhile; dmesg may name an Xid."
    )


def refused_fields(text: str) -> list[str]:
    """Return the names of the fields that it does not know."""
    return _NOT_A_FIELD.findall(text)
