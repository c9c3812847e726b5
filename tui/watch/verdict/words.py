"""Causes in plain words, each with one next step and one thing not to do (stalls research, table 1)."""

import shlex
from collections.abc import Collection
from dataclasses import dataclass

from tui.watch.verdict.verdict import Confidence

CONFIDENCE_WORDS: dict[Confidence, str] = {
    "proof": "proven",
    "pattern": "by a known pattern",
    "guess": "a guess",
}
"""How sure a cause is."""


@dataclass(frozen=True, slots=True)
class Cause:
    """A suspected cause: ``title`` continues a sentence, ``next_step`` is a command or a variable.

    ``elsewhere``: a host that waits for another one shows the same signs.
    """

    title: str
    next_step: str
    not_to_do: str
    elsewhere: bool = False


NO_KILL = "do not kill it yet: the evidence goes with it"

KILLED_FOR_MEMORY = Cause(
    "killed for memory (the kernel's oom_kill counter rose)",
    "give the server more memory, or set MAX_JOBS=4 if compilers used it up",
    "do not start it again unchanged: it will be killed again",
)
DIED = Cause("a process of the server ended", "read the last lines of the log above its end", "")
SHUT_DOWN = Cause("shut down", "", "")
ORPHANED = Cause(
    "the launcher ended and left its ranks behind",
    "end the ranks that are left (they hold GPU memory), then start again",
    "do not start another server on these GPUs before",
)
GPU_LOST = Cause(
    "a GPU is lost to the driver",
    "nvidia-smi -q, then restart the host (or reset the GPU) with nothing running on it",
    "do not restart only the server: it will hang at the same GPU",
)
XID = Cause(
    "the driver reported a fatal GPU error (Xid)",
    "nvidia-smi -q, and look for the recovery action; usually a GPU reset or a restart of the host",
    "do not reset a GPU while processes use it",
)
DRIVER_SILENT = Cause(
    "the NVIDIA driver does not answer",
    "look for Xid 119 or 120 in the kernel log; a restart of the host is the usual way out",
    "do not run nvidia-smi in a loop: each call hangs too",
)
STOPPED = Cause(
    "stopped from outside: a signal (SIGSTOP, Ctrl-Z), a debugger or a frozen control group",
    "kill -CONT {pid}",
    "do not kill it: it goes on where it stood",
)
TRACED = Cause(
    "held by a debugger or a profiler",
    "grep TracerPid /proc/{pid}/status, and end that process",
    "do not attach another one",
)
RANK_MISSING = Cause(
    "the other ranks wait in a collective that {rank} has not entered",
    "py-spy dump --nonblocking --pid {pid}",
    NO_KILL,
)
P2P_BROKEN = Cause(
    "all ranks spin in a collective and none is missing: NCCL or GPU peer-to-peer does not get through",
    "try NCCL_P2P_DISABLE=1 together with custom all-reduce off (--disable-custom-all-reduce)",
    "do not set NCCL_P2P_DISABLE alone: the hang then moves into custom all-reduce",
    elsewhere=True,
)
OTHER_HOSTS = Cause(
    "waiting for ranks of other hosts, or for an interface that does not reach them",
    "check that every node has started; NCCL_SOCKET_IFNAME and GLOO_SOCKET_IFNAME; the firewall",
    NO_KILL,
    elsewhere=True,
)
RENDEZVOUS = Cause(
    "waiting for a rank that has not come to the rendezvous",
    "check that all ranks have started and use the same address and port",
    NO_KILL,
    elsewhere=True,
)
CAPTURE_STUCK = Cause(
    "CUDA graph capture stands still at {bar}",
    "start with --disable-cuda-graph (vLLM: --enforce-eager) or a smaller largest batch",
    "do not kill it before its stack is kept: py-spy dump --nonblocking --pid {pid}",
    elsewhere=True,
)
STORAGE_DEAD = Cause(
    "storage does not answer: {rank} {verb} for it in the kernel and no counter moves",
    "check the mount and its server (NFS, Lustre, FUSE); it may come back",
    "do not kill it before the server's own limits, and open no file on that mount: that hangs too",
)
STORAGE_SLOW = Cause(
    "storage is slow",
    "copy the model to a local disk, or turn on the loader's prefetch",
    "do not restart: it would read everything again",
)
THRASH = Cause(
    "the host is short of memory and reclaims pages",
    "look at memory.stat of the control group: give it more memory or end what else runs",
    "do not start anything more on this host",
)
COMPILING = Cause(
    "kernels are compiled",
    "wait; keep the compile cache for the next start (MAX_JOBS if memory runs short)",
    "do not kill it: the next start would compile everything again",
)
CPU_WORK = Cause(
    "{rank} works on one CPU thread (repacking, tracing), or spins",
    "twice, 10 s apart (another line: it works): py-spy dump --nonblocking --pid {pid}",
    "do not kill it before two dumps are the same",
)
STALE_LOCK = Cause(
    "no process holds the lock file that is waited for: {path}",
    "rm {path}",
    "do not delete other lock files of that cache: they may be held",
)
FLOCK = Cause(
    "a lock is held and not given back: {path}",
    "lslocks -u shows its holder",
    "do not delete the file: that does not free the lock",
)
FLOCK_OF_RANK = Cause(
    "a rank that does nothing holds the lock {path}",
    "py-spy dump --nonblocking --pid {pid}",
    "do not delete the file: that does not free the lock",
)
LOCK_WAIT = Cause(
    "polls for something, such as a lock file left behind in a compile cache",
    "look for lock files in the caches (torch_extensions, flashinfer) that no process has open",
    "do not delete a lock that a process has open",
    elsewhere=True,
)
DEADLOCK = Cause(
    "all threads sleep and nothing wakes them: a deadlock in the process",
    "py-spy dump --nonblocking --pid {pid}",
    "do not attach gdb: it stops the process",
    elsewhere=True,
)
DEADLOCK_OF_SOME = Cause(
    DEADLOCK.title,
    "tminus diagnose (on the screen: d) dumps the stacks of all ranks, the one unlike the others first",
    DEADLOCK.not_to_do,
    elsewhere=True,
)
MAIN_ASLEEP = Cause(
    "the ranks wait on a lock or for each other: a deadlock, or one stands where the others wait for it",
    DEADLOCK_OF_SOME.next_step,
    DEADLOCK.not_to_do,
    elsewhere=True,
)
DOWNLOAD = Cause(
    "the download of the model stands still",
    "HF_HUB_DISABLE_XET=1, or download the model beforehand",
    "do not delete the .incomplete files: the download goes on from them",
)
NOT_ANSWERING = Cause(
    "the server answers no more although its port is open",
    "py-spy dump --nonblocking --pid {pid}",
    NO_KILL,
)
RAS = Cause("NCCL itself says so (RAS)", "py-spy dump --nonblocking --pid {pid}", NO_KILL)
STACKS = Cause(
    "three stack dumps in a row are the same: it waits for what does not come",
    "keep these dumps for a bug report, then start the server again",
    "do not kill it before they are kept",
    elsewhere=True,
)
UNKNOWN = Cause(
    "the cause is not known",
    "prove it: three stack dumps 10 s apart (py-spy dump --nonblocking --pid {pid})",
    NO_KILL,
    elsewhere=True,
)
NONE = Cause("", "", "", elsewhere=True)
ITS_OWN = Cause("", "", "")
"""Nothing is suspected, and no other host either: the server itself has told what is wrong."""


def filled(cause: Cause, **values: object) -> Cause:
    """Return a cause with rank (and the verb to it), pid, bar or path set in."""
    known = {"rank": "a rank", "verb": "waits", "pid": "PID", "bar": "its item", "path": ""}
    known |= {key: value for key, value in values.items() if value is not None}
    # What is copied into a shell deletes the file of that name, whatever its folder is called.
    typed = known | {"path": shlex.quote(str(known["path"]))}
    title, not_to_do = cause.title.format(**known), cause.not_to_do.format(**known)
    return Cause(title, cause.next_step.format(**typed), not_to_do, cause.elsewhere)


def names(ranks: Collection[str]) -> str:
    """Return ranks in a sentence: one or two by name, more by number."""
    listed = list(ranks)
    return " and ".join(listed) if len(listed) <= 2 else f"{len(listed)} ranks"


def wait_words(ranks: Collection[str], on: str) -> str:
    """Return who waits for whom."""
    if len(ranks) == 1:
        return f"{next(iter(ranks))} waits for {on}"
    return f"{len(ranks)} wait for {on}"
