"""Where py-spy is looked for, and what is not run."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest
from watched_stacks import stand_in

from tui.agent.diagnose import library, tool
from tui.agent.processes import procfs


@pytest.fixture(autouse=True)
def nothing_of_ones_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", "/usr/sbin-that-is-not-there")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr(sys, "executable", "/nowhere/python3")


def only(path: str) -> Callable[[Iterable[int]], Iterator[str]]:
    """Return what looks beside the servers' Pythons and finds this path."""

    def beside(pids: Iterable[int]) -> Iterator[str]:
        assert list(pids)
        yield path

    return beside


def test_the_one_that_was_told_comes_first(tmp_path: Path) -> None:
    told = stand_in(tmp_path, "exit 0")

    assert tool.find([], told) == (told, "")


def test_it_is_found_on_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = stand_in(tmp_path, "exit 0")
    monkeypatch.setenv("PATH", f".:/bin:{tmp_path}")

    assert tool.find([]) == (path, "")


def test_it_is_found_beside_the_python_that_runs_this(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = stand_in(tmp_path, "exit 0")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python3"))

    assert tool.find([]) == (path, "")


def test_without_one_it_is_said_where_it_was_looked_for_and_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tool, "beside", only("/nowhere/py-spy"))

    found, why = tool.find([os.getpid()])

    assert found is None
    assert why == (
        "no py-spy on this user's PATH or in the bin folder of the server's Python (pip install py-spy)"
    )


def test_the_environment_of_the_servers_python_is_known_by_what_it_has_mapped() -> None:
    code = "import time, msgspec; print('there', flush=True); time.sleep(60)"
    interpreter = Path(__file__).parents[3] / ".venv" / "bin" / "python"
    if not interpreter.exists():
        pytest.skip("no virtual environment of the checkout")
    with subprocess.Popen([interpreter, "-c", code], stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        server.stdout.readline()
        places = list(tool.beside([server.pid]))
        server.kill()

    assert str(interpreter.parent / "py-spy") in places


def test_a_process_that_is_gone_has_no_environment() -> None:
    assert list(tool.beside([2**22 - 1])) == []


def test_what_others_may_write_to_is_not_run(tmp_path: Path) -> None:
    path = stand_in(tmp_path, "exit 0")
    assert tool.is_safe(path)

    os.chmod(path, 0o777)
    assert not tool.is_safe(path)


def test_nor_what_lies_in_a_folder_that_others_may_write_to(tmp_path: Path) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    path = stand_in(folder, "exit 0")
    folder.chmod(0o777)

    assert not tool.is_safe(path)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_root_does_not_run_what_another_user_owns(tmp_path: Path) -> None:
    path = stand_in(tmp_path, "exit 0")
    os.chown(path, 1234, 1234)

    assert not tool.is_safe(path)


def test_one_that_is_not_run_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = stand_in(tmp_path, "exit 0")
    os.chmod(path, 0o777)
    monkeypatch.setattr(tool, "beside", only(path))

    found, why = tool.find([1])

    assert found is None
    assert f"{path} is not run" in why


@pytest.mark.parametrize(
    ("text", "numbers"),
    [("2.27.3", (2, 27, 3)), ("2.28.9+cuda13.0", (2, 28, 9)), ("", None), ("2.27", None), (None, None)],
)
def test_versions_are_read_as_numbers(text: str | None, numbers: tuple[int, int, int] | None) -> None:
    assert library.numbers(text) == numbers


def maps(monkeypatch: pytest.MonkeyPatch, *paths: str) -> None:
    text = "".join(f"7f00-7f01 r-xp 00000000 08:01 123    {path}\n" for path in paths)

    def read(path: str, size: int) -> bytes:
        assert (path[:6], size) == ("/proc/", tool.MAPS_BYTES)
        return text.encode()

    monkeypatch.setattr(procfs, "read", read)


def test_nccl_is_known_by_its_librarys_name(monkeypatch: pytest.MonkeyPatch) -> None:
    maps(monkeypatch, "/usr/lib/libnccl.so.2.27.5", "/usr/lib/libc.so.6", "/opt/n/libnccl.so.2.26.2")

    assert library.version([1]) == "2.26.2"


def test_or_by_the_package_that_it_came_in(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    packages = tmp_path / "lib" / "python3.12" / "site-packages"
    (packages / "nvidia_nccl_cu12-2.27.5.dist-info").mkdir(parents=True)
    (packages / "nvidia_nccl_tools-9.9.9.dist-info").mkdir(parents=True)
    maps(monkeypatch, f"{packages}/nvidia/nccl/lib/libnccl.so.2")

    assert library.version([os.getpid()]) == "2.27.5"


def test_a_library_without_a_version_in_its_name_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    maps(monkeypatch, "/usr/lib/libnccl.so.2")

    assert library.version([os.getpid()]) is None
    assert library.version([]) is None
