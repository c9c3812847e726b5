"""Real Python processes to dump: a deadlock, work that moves on, and one that was stopped."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

DEADLOCK = """
import threading
first = threading.Lock()
first.acquire()
print("there", flush=True)
def waits_for_ever():
    first.acquire()
waits_for_ever()
"""
WORK = """
import time
print("there", flush=True)
def one():
    end = time.monotonic() + 0.13
    while time.monotonic() < end:
        pass
def two():
    time.sleep(0.13)
def three():
    sum(range(2_000_000))
while True:
    one(); two(); three()
"""
IDLE = """
import time
print("there", flush=True)
def rests():
    time.sleep(600)
rests()
"""

StartPython = Callable[[str], "subprocess.Popen[str]"]


@pytest.fixture
def start_python() -> Iterator[StartPython]:
    """Start a Python program that prints a line once it is there; it is killed with the test."""
    started: list[subprocess.Popen[str]] = []

    def start(code: str) -> "subprocess.Popen[str]":
        process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
        started.append(process)
        assert process.stdout is not None
        assert process.stdout.readline()
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def stop(pid: int) -> None:
    """Stop a process and wait until it is."""
    os.kill(pid, signal.SIGSTOP)
    while Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "T":
        time.sleep(0.005)


def stand_in(folder: Path, script: str) -> str:
    """Write a shell script in py-spy's place; return its path."""
    path = folder / "py-spy"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)
