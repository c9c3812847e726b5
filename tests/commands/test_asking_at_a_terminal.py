"""ssh's questions at a terminal: what is typed, what is shown, and how the terminal is left."""

import asyncio
import gzip
import json
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from asking_server import USER, StartAskingServer, Wanted
from ssh_server import SshServer, make_key, public, until
from tminus_command import Tminus
from typed_terminal import AtTerminal, Typed

pytestmark = [pytest.mark.ssh, pytest.mark.xdist_group("ssh")]

SURE = "continue connecting (yes/no/[fingerprint])? "
PASSWORD = f"{USER}@127.0.0.1's password: "
SCREEN, LEFT = "\x1b[?1049h", "\x1b[?1049l"


def _wait(config_file: str) -> tuple[str, ...]:
    """Return a wait that ends soon after it is connected: there is no server on that port."""
    return ("wait", "lab", "--ssh-config", config_file, "--port", "1", "--timeout", "20s", "--no-record")


def _once(config_file: str) -> tuple[str, ...]:
    return ("lab", "--once", "--json", "--ssh-config", config_file, "--port", "1", "--no-record")


def _bench(config_file: str) -> tuple[str, ...]:
    return ("bench", "lab", "--ssh-config", config_file, "--port", "1", "--no-record")


def _diagnose(config_file: str) -> tuple[str, ...]:
    return ("diagnose", "lab", "--ssh-config", config_file, "--port", "1", "--no-record")


def _screen(config_file: str) -> tuple[str, ...]:
    return ("lab", "--ssh-config", config_file, "--port", "1", "--no-record")


def _files_with(folder: Path, word: bytes) -> list[Path]:
    """Return the files beneath a folder that hold a word, packed or not."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [
        path
        for path in files
        if word in (gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes())
    ]


def _locked(server: SshServer, folder: Path) -> Path:
    key = make_key(folder / "locked", passphrase="open sesame")
    (server.folder / "authorized_keys").write_text("")
    server.authorize(key)
    server.configure(f"IdentityFile {key}")
    return key


def test_a_yes_adds_the_key_and_the_output_stays_pure(
    at_terminal: AtTerminal, ssh_server: SshServer, tmp_path: Path
) -> None:
    ssh_server.known_hosts.write_text("")
    typed = at_terminal(*_once(ssh_server.config_file), out=tmp_path / "out")
    before = typed.until(SURE)
    assert "The authenticity of host" in before
    assert typed.echoes
    typed.type("yes\n")

    assert typed.end() == 0

    assert "Permanently added" in typed.output
    assert ssh_server.known_hosts.read_text() == f"{ssh_server.known_name} {public(ssh_server.host_key)}\n"
    assert json.loads((tmp_path / "out").read_text())["host"]


def test_a_no_is_4_with_one_sentence(at_terminal: AtTerminal, ssh_server: SshServer) -> None:
    ssh_server.known_hosts.write_text("")
    typed = at_terminal(*_wait(ssh_server.config_file))
    typed.until(SURE)
    typed.type("no\n")

    assert typed.end() == 4
    assert "was not agreed to" in typed.output


def test_a_passphrase_is_typed_unseen(at_terminal: AtTerminal, ssh_server: SshServer, tmp_path: Path) -> None:
    key = _locked(ssh_server, tmp_path)
    typed = at_terminal(*_once(ssh_server.config_file), out=tmp_path / "out")
    for answer in ("wrong", "open sesame"):
        typed.until(f"Enter passphrase for key '{key}': ")
        assert not typed.echoes
        typed.type(f"{answer}\n")

    assert typed.end() == 0
    assert typed.echoes
    assert "wrong" not in typed.output
    assert "sesame" not in typed.output


def _name(value: object) -> str:
    return "ctrl-c" if value == "\x03" else str(getattr(value, "__name__", value)).strip("_")


WAYS = [("\x03", 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]


@pytest.mark.parametrize(
    ("command", "way", "code"),
    [
        *((command, *way) for command in (_wait, _once, _screen) for way in WAYS),
        *((command, *WAYS[0]) for command in (_bench, _diagnose)),
    ],
    ids=_name,
)
def test_a_question_that_is_given_up_leaves_the_terminal_as_it_was(
    at_terminal: AtTerminal,
    ssh_server: SshServer,
    tmp_path: Path,
    command: Callable[[str], tuple[str, ...]],
    way: str | signal.Signals,
    code: int,
) -> None:
    _locked(ssh_server, tmp_path)
    ssh_server.client_key.unlink()  # a key that lies open would put the question off until a screen is up
    typed: Typed = at_terminal(*command(ssh_server.config_file))
    typed.until("Enter passphrase")
    assert not typed.echoes
    if isinstance(way, str):
        typed.type(way)
    else:
        typed.process.send_signal(way)

    assert typed.end() == code
    assert typed.echoes


@pytest.mark.parametrize(
    ("limit", "keys", "told", "code"),
    [("4s", "", "TIME-OUT after", 3), ("60s", "\x03", "LOST after", 130)],
    ids=["time-out", "ctrl-c"],
)
def test_the_end_of_a_wait_has_a_line_of_its_own_behind_an_open_question(
    at_terminal: AtTerminal,
    ssh_server: SshServer,
    tmp_path: Path,
    limit: str,
    keys: str,
    told: str,
    code: int,
) -> None:
    _locked(ssh_server, tmp_path)
    ssh_server.client_key.unlink()
    typed = at_terminal(*_wait(ssh_server.config_file), "--timeout", limit)
    typed.until("Enter passphrase")
    typed.until("': ")
    typed.type(keys)

    assert typed.end() == code
    behind, first, *more = typed.output.splitlines()
    assert behind == ""
    assert told in first
    assert "" not in more
    assert typed.echoes


def test_the_screen_starts_when_the_questions_are_answered(
    at_terminal: AtTerminal, ssh_server: SshServer, tmp_path: Path
) -> None:
    ssh_server.known_hosts.write_text("")
    _locked(ssh_server, tmp_path)
    typed = at_terminal(*_screen(ssh_server.config_file))
    assert SCREEN not in typed.until(SURE)
    typed.type("yes\n")
    assert SCREEN not in typed.until("Enter passphrase")
    typed.type("open sesame\n")
    typed.until(SCREEN)
    typed.until("connection refused")
    typed.type("q")

    assert typed.end() == 0
    assert typed.echoes


def test_keys_typed_behind_an_answer_are_none_of_the_screen_that_starts_then(
    at_terminal: AtTerminal, ssh_server: SshServer, tmp_path: Path
) -> None:
    """They were typed while nothing was there to take them: q would quit, b start a benchmark."""
    _locked(ssh_server, tmp_path)
    ssh_server.client_key.unlink()
    typed = at_terminal(*_screen(ssh_server.config_file))
    typed.until("Enter passphrase")
    typed.type("open sesame\nq\nq")
    typed.until(SCREEN)
    typed.until("connection refused")
    for _ in range(20):
        typed.read()
    assert typed.process.poll() is None
    typed.type("q")

    assert typed.end() == 0


def test_a_no_before_the_screen_shows_none(at_terminal: AtTerminal, ssh_server: SshServer) -> None:
    ssh_server.known_hosts.write_text("")
    typed = at_terminal(*_screen(ssh_server.config_file))
    typed.until(SURE)
    typed.type("no\n")

    assert typed.end() == 4
    assert SCREEN not in typed.output
    assert "was not agreed to" in typed.output


async def test_a_question_that_nobody_expected_comes_in_a_dialog_and_its_answer_is_kept_nowhere(
    at_terminal: AtTerminal, start_asking_server: StartAskingServer, tmp_path: Path, tminus: Tminus
) -> None:
    """The key that lies here open is not taken, so that the server wants a password after all."""
    server = await start_asking_server(Wanted(password="hunter2"))
    server.configure(f"IdentityFile {make_key(tmp_path / 'open')}")
    typed = at_terminal(*(each for each in _screen(server.config_file) if each != "--no-record"))
    seen: list[str] = []

    def play() -> None:
        typed.until(SCREEN)
        seen.append(typed.until(PASSWORD.strip()))
        typed.type("hunter2\r")
        seen.append(typed.until("connection refused"))

    await asyncio.to_thread(play)
    server.cut()
    await until(lambda: len(server.tried) == 2)

    def leave() -> int:
        typed.type("wy")
        seen.append(typed.until("the bug report is in"))
        typed.type("qq")
        return typed.end()

    assert await asyncio.to_thread(leave) == 0
    said = "".join((*seen, typed.output))
    assert "Login to lab" in said
    assert said.count(LEFT) == 1
    assert "hunter2" not in said
    assert server.tried == ["hunter2", "hunter2"]
    assert tminus.recordings
    assert not await asyncio.to_thread(_files_with, tmp_path, b"hunter2")


@pytest.mark.parametrize("way", ["\x11", signal.SIGTERM, signal.SIGHUP], ids=["ctrl-q", "SIGTERM", "SIGHUP"])
async def test_a_screen_that_is_left_in_a_question_leaves_the_terminal_as_it_was(
    at_terminal: AtTerminal, start_asking_server: StartAskingServer, tmp_path: Path, way: str | signal.Signals
) -> None:
    server = await start_asking_server(Wanted(password="hunter2"))
    server.configure(f"IdentityFile {make_key(tmp_path / 'open')}")
    typed = at_terminal(*_screen(server.config_file))

    def play() -> int:
        typed.until(PASSWORD.strip())
        typed.type("hunt")
        if isinstance(way, str):
            typed.type(way)
        else:
            typed.process.send_signal(way)
        return typed.end()

    assert await asyncio.to_thread(play) == (0 if isinstance(way, str) else 128 + way)
    assert typed.echoes
    assert server.tried == []


async def test_a_server_that_waits_no_longer_takes_its_question_back(
    at_terminal: AtTerminal, start_asking_server: StartAskingServer
) -> None:
    server = await start_asking_server(Wanted(password="hunter2", grace_s=3.0))
    typed = at_terminal(*_wait(server.config_file))

    assert await asyncio.to_thread(typed.end) == 4
    assert typed.echoes
    assert f"{PASSWORD}\r\n" in typed.output
    assert "LoginGraceTime" in typed.output.partition(PASSWORD)[2]


async def test_prompts_of_the_server_come_one_after_another_each_with_its_echo(
    at_terminal: AtTerminal, start_asking_server: StartAskingServer, tmp_path: Path
) -> None:
    prompts = [("Name: ", True), ("Code: ", False)]
    server = await start_asking_server(Wanted(rounds=[("", "Who?", prompts, ["al", "123"])]))
    typed = at_terminal(*_once(server.config_file), out=tmp_path / "out")

    def play() -> int:
        assert "Who?" in typed.until(f"({USER}@127.0.0.1) Name: ")
        assert typed.echoes
        typed.type("al\n")
        typed.until(f"({USER}@127.0.0.1) Code: ")
        assert not typed.echoes
        typed.type("123\n")
        return typed.end()

    assert await asyncio.to_thread(play) == 0
    assert "123" not in typed.output


async def test_what_was_typed_is_in_no_recording_log_or_output(
    at_terminal: AtTerminal, start_asking_server: StartAskingServer, tmp_path: Path, tminus: Tminus
) -> None:
    server = await start_asking_server(Wanted(password="hunter2"))
    arguments = [each for each in _wait(server.config_file) if each != "--no-record"]
    arguments[arguments.index("20s")] = "8s"
    typed = at_terminal(*arguments, out=tmp_path / "out")

    def play() -> int:
        typed.until(PASSWORD)
        typed.type("hunter2\n")
        return typed.end()

    assert await asyncio.to_thread(play) == 3
    assert tminus.recordings
    assert not await asyncio.to_thread(_files_with, tmp_path, b"hunter2")
    assert "hunter2" not in typed.output


@pytest.mark.parametrize("without", ["--json", "standard input", "background"])
def test_where_nobody_sits_nothing_is_asked(
    at_terminal: AtTerminal, tminus: Tminus, ssh_server: SshServer, without: str
) -> None:
    ssh_server.known_hosts.write_text("")
    arguments = _wait(ssh_server.config_file)
    if without != "standard input":
        more = ("--json",) if without == "--json" else ()
        typed = at_terminal(*arguments, *more, behind=without == "background")
        code, said = typed.end(), typed.output
    else:
        done = tminus.run(*arguments)
        code, said = done.code, done.err

    assert code == 4
    assert "is not known here" in said
    assert SURE not in said


def test_accept_new_adds_an_unknown_key_unasked_and_refuses_a_changed_one(
    tminus: Tminus, ssh_server: SshServer, tmp_path: Path
) -> None:
    ssh_server.known_hosts.write_text("")
    arguments = (*_once(ssh_server.config_file), "--accept-new")
    assert tminus.run(*arguments).code == 0
    assert ssh_server.known_hosts.read_text() == f"{ssh_server.known_name} {public(ssh_server.host_key)}\n"
    ssh_server.know(make_key(tmp_path / "old"))
    done = tminus.run(*arguments)
    assert done.code == 4
    assert f"{ssh_server.known_hosts}:1" in done.err
