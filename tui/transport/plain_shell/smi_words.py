"""What it means that nvidia-smi has ended, is not there or says nothing: its exit codes, in words."""

import re
from typing import Literal

from tui.transport.faults import TABLE, sentence_of

State = Literal["absent", "failed", "silent"]

FIRST_OUTPUT_S = 45.0
"""Many-GPU machines take 10 to 24 s to the first line (remote.md 6)."""
SILENT_S = 15.0
"""After the first line it prints each second; drivers that hang do so for longer than this."""
REFUSED, ABSENT_CODE, NO_GPU = 2, 127, 6
_NOT_A_FIELD = re.compile(r'Field "([^"]{1,100})" is not a valid field to query', re.IGNORECASE)

# The codes and what they mean are those of nvidia-smi's manual.
_CODES = {
    2: "smi_questions",
    3: "smi_not_available",
    4: "smi_no_rights",
    6: "smi_no_gpu",
    8: "smi_power",
    9: "smi_no_driver",
    10: "smi_interrupt",
    12: "smi_no_library",
    13: "smi_old_library",
    14: "smi_info_rom",
    15: "smi_gpu_lost",
    126: "smi_not_allowed",
    ABSENT_CODE: "smi_absent",
    255: "smi_own_error",
}


def ended(code: int | None, said: str) -> tuple[State, str]:
    """Return the driver's state and the sentence for one that has ended, with its own last words."""
    row = _row(code)
    words = sentence_of(row, code=code, signal=(code or 0) - 128)
    quoted = f" It said: {said}" if said and row != "smi_absent" else ""
    return "absent" if TABLE[row].kind == "absent" else "failed", words + quoted


def _row(code: int | None) -> str:
    known = _CODES.get(code or 0)
    if known is not None:
        return known
    if code is not None and code > 128:
        return "smi_signal"
    return "smi_ended" if code is None else "smi_ended_with"


def silent(seconds: float, *, first: bool) -> str:
    """Return the sentence for one that prints nothing."""
    return sentence_of("smi_silent_at_first" if first else "smi_silent", seconds=f"{seconds:.0f}")


def refused_fields(text: str) -> list[str]:
    """Return the names of the fields that it does not know."""
    return _NOT_A_FIELD.findall(text)
