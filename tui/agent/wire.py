"""The names that the agent and its client share: message kinds, commands and protocol limits.

One JSON object a line in both directions. Messages of the agent carry ``kind`` and ``mono_s``, ``wall_s``
(the host's monotonic and wall clock when it was made) and become events of ``tui.events`` field by field;
only ``log_bytes`` differs: log bytes travel raw (base64), and the client cleans them.
"""

from __future__ import annotations

import time

PROTOCOL = 1

# Agent -> client.
HELLO = "hello"
NOTICE = "notice"
GPU_DRIVER = "gpu_driver"
GPU_FACTS = "gpu_facts"
GPUS = "gpus"
GPU_DETAILS = "gpu_details"
GPU_PROCESSES = "gpu_processes"
PROCESSES = "processes"
EXIT = "exit"
LOG_SOURCE = "log_source"
LOG_BYTES = "log_bytes"
LOG = "log"
GAP = "gap"
PROBE = "probe"
DROPPED = "dropped"
PONG = "pong"
CHECKPOINT = "checkpoint"
SIGNALS = "signals"
HOST_SIGNALS = "host_signals"
LOCKS = "locks"
GPU_FAULT = "gpu_fault"
EVIDENCE = "evidence"
PROVENANCE = "provenance"
BENCH_PROGRESS = "bench_progress"
BENCH_RECORDS = "bench_records"
BENCH_RESULT = "bench_result"
GOODBYE = "goodbye"

# Made by the client alone, and by the journal.
LINK = "link"
TICK = "tick"
HISTORY = "history"
BENCH_CHOICE = "bench_choice"
BENCH_COMPARISON = "bench_comparison"

# Client -> agent.
WATCH = "watch"
FOLLOW = "follow"
PING = "ping"
ACK = "ack"
SKIP = "skip"
BENCH = "bench"
BENCH_CANCEL = "bench_cancel"
DIAGNOSE = "diagnose"
PROVE = "prove"
BYE = "bye"

# Limits of the protocol; the client may shorten the ping time-out in its watch command, for tests.
PING_INTERVAL_S = 1.0
PING_TIMEOUT_S = 15.0
BLOCKING_DEADLINE_S = 5.0
QUEUE_BYTES = 256 * 1024
LOG_CHUNK_BYTES = 32 * 1024
# So much of the log is under way at most: samples wait behind it, half a second on a link of 2 Mbit/s.
LOG_WINDOW_BYTES = 128 * 1024
LOG_BACKLOG_BYTES = 256 * 1024 * 1024
FINGERPRINT_BYTES = 64
# An unfinished line longer than this is cut and sent on in pieces, so that neither side grows with it.
LINE_LIMIT_BYTES = 64 * 1024

# The oldest Python that runs the agent, and the stub's exit codes, apart from the shell's own 126 and 127.
PYTHON_MINIMUM = (3, 8)
EXIT_OLD_PYTHON = 97
EXIT_BAD_SOURCE = 98


def stamped(kind: str, **fields: object) -> dict[str, object]:
    """Return a message of this kind made now, with both clocks of this host."""
    message: dict[str, object] = {"kind": kind, "mono_s": time.monotonic(), "wall_s": time.time()}
    message.update(fields)
    return message
