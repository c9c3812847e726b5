"""What every test may ask for: a system program that must be there, a free port."""

import os
import shutil
import socket
from collections.abc import Callable

import pytest

Needs = Callable[[str], str]


@pytest.fixture(scope="session")
def needs() -> Needs:
    """Return the path of a system program; skip with its name where it is missing, fail for it in CI."""

    def find(program: str) -> str:
        path = shutil.which(program, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
        if path is not None:
            return path
        if os.environ.get("CI") == "true":
            pytest.fail(f"CI needs the system program {program!r}, and it is not installed")
        pytest.skip(f"needs the system program {program!r}")

    return find


@pytest.fixture
def free_port() -> int:
    """Return a loopback port that nothing listened on a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
