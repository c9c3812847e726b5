"""One stack dump of one process by py-spy: never pausing, never of its children, killed after 3 s."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import subprocess
import time

from tui.agent.mask import mask_text

TYPE_CHECKING = False  # as in the agent's worker.py
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

LIMIT_S = 3.0
_END_S = 0.5
_OUTPUT_BYTES = 8 * 1024 * 1024
_ERROR_BYTES = 16 * 1024
# What of a dump is sent on: enough for a report, little enough for a recording.
FRAMES = 48
STACKS_BYTES = 32 * 1024
_NAME_LENGTH = 64
_FRAME_LENGTH = 240
_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG
# Left in part, one would stand before a secret and hide it from the mask.
_ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]?")


class NoStack(Exception):
    """There is no dump; the text says why. ``hung``: it had to be killed, and would have to be again."""

    def __init__(self, sentence: str, *, hung: bool = False) -> None:
        super().__init__(sentence)
        self.hung = hung


def stacks(tool: str, pid: int, limit_s: float = LIMIT_S) -> tuple[list[str], int]:
    """Return the stacks of a process and how many did not fit.

    Each is "name id: leaf < caller < ...", the main thread's comes first. Secrets are hidden. Blocks for
    ``limit_s`` at most. Raises NoStack.
    """
    command = [tool, "dump", "--nonblocking", "--json", "--pid", str(pid)]
    code, output, errors = _run(command, limit_s)
    if code != 0:
        raise NoStack(_why(errors, code, pid))
    try:
        return read(json.loads(output.decode("utf-8", "replace")), pid)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise NoStack("what py-spy printed is not understood") from None


def read(threads: list[dict[str, Any]], pid: int) -> tuple[list[str], int]:
    """Return the stacks of a dump in py-spy's JSON. Raises what unexpected JSON raises."""
    found: list[tuple[tuple[bool, bool, int], str]] = []
    for thread in threads:
        number = int(thread["os_thread_id"] or thread["thread_id"])
        main = number == pid
        text = "%s %d: %s" % (_name(thread), number, " < ".join(map(_frame, thread["frames"][:FRAMES])))
        found.append(((not main, not thread.get("active"), number), text))
    if not found:
        raise ValueError("no thread")
    chosen: list[str] = []
    size = 0
    for _, text in sorted(found):
        size += len(text)
        if chosen and size > STACKS_BYTES:
            break
        chosen.append(text)
    return chosen, len(found) - len(chosen)


def plain(text: str) -> str:
    """Return remote text without escape sequences and what cannot be printed, secrets hidden."""
    return mask_text("".join(filter(str.isprintable, _ESCAPES.sub("", text))))


def _name(thread: dict[str, Any]) -> str:
    name = thread.get("thread_name")
    return plain(name[:_NAME_LENGTH]).replace(":", ".") if isinstance(name, str) and name else "thread"


def _frame(frame: dict[str, Any]) -> str:
    place = frame.get("short_filename") or frame.get("filename") or "?"
    return plain("%s (%s:%s)" % (frame["name"], place, frame.get("line")))[:_FRAME_LENGTH]


def _why(errors: bytes, code: int | None, pid: int) -> str:
    """Return in words why py-spy gave no dump."""
    said = errors.decode("utf-8", "replace")
    lower = said.lower()
    if not os.path.exists("/proc/%d" % pid):
        return "the process has ended"
    if "permission" in lower or "not permitted" in lower:
        return "not allowed to look into it: that takes root or CAP_SYS_PTRACE (a container: SYS_PTRACE)"
    if "failed to find python version" in lower:
        return "it is no Python program that py-spy knows"
    first = next((line.strip() for line in said.splitlines() if line.strip()), "")
    return plain("py-spy failed (%s): %s" % (code, first or "no word"))[:_FRAME_LENGTH]


def _run(command: list[str], limit_s: float) -> tuple[int | None, bytes, bytes]:
    """Run a command to its end; return its status and what it printed. Raises NoStack."""
    end_s = time.monotonic() + limit_s
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(os.environ, RUST_BACKTRACE="0"),
            start_new_session=True,
            preexec_fn=_dies_with_us(),
        )
    except OSError as error:
        raise NoStack("%s cannot be run: %s" % (command[0], error.strerror)) from None
    try:
        output, errors = _read(process, end_s)
        return process.wait(max(0.0, end_s - time.monotonic())), output, errors
    except subprocess.TimeoutExpired:
        sentence = "py-spy did not end within %g s and was killed" % limit_s
        raise NoStack(sentence, hung=True) from None
    finally:
        _end(process)


def _read(process: subprocess.Popen[bytes], end_s: float) -> tuple[bytes, bytes]:
    """Read both outputs to their ends. Raises subprocess.TimeoutExpired, NoStack."""
    assert process.stdout is not None
    assert process.stderr is not None
    pieces = {process.stdout.fileno(): bytearray(), process.stderr.fileno(): bytearray()}
    output, errors = pieces.values()
    waiting = set(pieces)
    while waiting:
        left_s = end_s - time.monotonic()
        ready = select.select(list(waiting), [], [], max(0.0, left_s))[0]
        if not ready:
            raise subprocess.TimeoutExpired("py-spy", 0.0)
        for descriptor in ready:
            data = os.read(descriptor, 65536)
            pieces[descriptor] += data
            if not data:
                waiting.discard(descriptor)
        if len(output) > _OUTPUT_BYTES:
            raise NoStack("py-spy printed more than %d bytes" % _OUTPUT_BYTES)
        del errors[_ERROR_BYTES:]
    return bytes(output), bytes(errors)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill it with all that it started, unless it has ended; one stuck in the kernel is left behind."""
    if process.poll() is None:
        try:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(_END_S)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            pass  # gone meanwhile, or it goes when its read returns
    for pipe in (process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()


def _dies_with_us() -> Callable[[], object] | None:
    """Return what makes the kernel end a child with this process, None where that cannot be asked for."""
    try:
        import ctypes

        prctl = ctypes.CDLL(None).prctl
    except (ImportError, OSError, AttributeError):
        return None
    return lambda: prctl(_DEATH_SIGNAL, signal.SIGKILL)
