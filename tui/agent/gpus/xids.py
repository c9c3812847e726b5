"""What Xids mean for the person who watches: whose fault it is, and what helps. Pure."""

from __future__ import annotations

RECOVERY = 154

_MEANINGS = {
    8: "a kernel ran too long or stopped answering; most often the application, restart it",
    13: "an error in a kernel (illegal address or instruction); most often the application, restart it",
    31: "a kernel touched memory that it may not; most often the application, restart it",
    43: "the application's work was stopped after a fault of its own; restart it",
    45: "the application's work was ended after an earlier error; look for the one before it",
    48: "a memory error that cannot be corrected; the application is lost, the GPU needs a reset",
    61: "a warning of the GPU's microcontroller; look for another Xid after it",
    62: "the GPU's microcontroller has halted; the GPU needs a reset, or the host a reboot",
    63: "a faulty row of memory will be replaced at the next reset of the GPU",
    64: "a faulty row of memory could not be replaced; reset the GPU after this load",
    68: "an error of the video unit; most often the application",
    69: "an error in a kernel; most often the application, restart it",
    74: "an NVLink error; collectives may hang until the GPU is reset or the host rebooted",
    79: "the GPU has fallen off the bus; the host needs a reboot",
    92: "many memory errors that could be corrected; the GPU should be checked",
    94: "a memory error that was contained; restart the application that used this memory",
    95: "a memory error that was not contained; all that uses the GPU is lost, it needs a reset",
    109: "the application's context switch timed out; most often the application, restart it",
    119: "the GPU's firmware (GSP) does not answer; the GPU needs a reset, or the host a reboot",
    120: "the GPU's firmware (GSP) failed; the GPU needs a reset, or the host a reboot",
    RECOVERY: "the driver asks for the GPU to be recovered; dmesg says how",
}
_NVLINK = range(144, 151)
_ACTIONS = {
    1: "a reset of the GPU",
    2: "a reboot of the host",
    3: "its peer-to-peer work to be drained",
    4: "its work to be drained, then a reset of the GPU",
    5: "a recovery of the IMEX domain",
    6: "a reset of the bus",
    7: "a reboot of the whole system",
}


def of_xid(index: int | None, xid: int, action: int | None = None) -> str:
    """Return the sentence for an Xid; ``action`` is the recovery that the driver asks for, if it says so."""
    if action in _ACTIONS:
        return "%s reports Xid %d: the driver asks for %s." % (_gpu(index), xid, _ACTIONS[action])
    meaning = _MEANINGS.get(xid)
    if meaning is None and xid in _NVLINK:
        meaning = "an NVLink error; collectives may hang until the host is rebooted"
    return "%s reports Xid %d: %s." % (_gpu(index), xid, meaning or "dmesg says more, look for NVRM")


def unavailable(index: int | None) -> str:
    """Return the sentence for a GPU that the driver has given up."""
    return "%s is not available any more: the driver has lost it. dmesg names the Xid." % _gpu(index)


def recovery(index: int | None, action: int | None) -> str:
    """Return the sentence for a GPU that has to be recovered."""
    what = _ACTIONS.get(action or 0, "a recovery; nvidia-smi -q names it (GPU Recovery Action)")
    return "%s needs %s, says the driver." % (_gpu(index), what)


def _gpu(index: int | None) -> str:
    return "A GPU" if index is None else "GPU %d" % index
