"""ssh's questions about several hosts at a terminal."""

import asyncio
import json
import time
from pathlib import Path

import pytest
from asking_server import StartAskingServer, Wanted
from made_up_person import Person
from simulated_launch import launch
from ssh_hosts import name_hosts, never_answering
from ssh_server import SshServer, make_key, until
from typed_terminal import AtTerminal

from tui.app import HostsApp
from tui.commands.hosts import let_all_go
from tui.commands.hosts_screen import Show
from tui.commands.turns import Turns
from tui.screens.question import QuestionScreen
from tui.settings import Choices

pytestmark = [pytest.mark.ssh, pytest.mark.xdist_group("ssh")]

SCREEN = "\x1b[?1049h"
PASSPHRASE = "Enter passphrase for key"


def _locked(server: SshServer, folder: Path, *names: str, **lines: list[str]) -> None:
    """Let the server be known by these names, each with a locked key; ``lines`` are of further hosts."""
    keys = {name: make_key(folder / f"locked_{name}", passphrase="open sesame") for name in names}
    for key in keys.values():
        server.authorize(key)
    name_hosts(
        server, [*names, *lines], {name: [f"IdentityFile {key}"] for name, key in keys.items()} | lines
    )
    _without_open_key(server, names)


def _without_open_key(server: SshServer, names: tuple[str, ...]) -> None:
    """Take the open key out of the blocks of these hosts."""
    blocks = Path(server.config_file).read_text().split("Host ")[1:]
    open_key = f"  IdentityFile {server.client_key}\n"
    kept = [block.replace(open_key, "") if block.split()[0] in names else block for block in blocks]
    Path(server.config_file).write_text("".join(f"Host {block}" for block in kept))


def _joined(path: Path, first: str, late: str) -> Path:
    """Write both configurations into one, the host of the second under the name late."""
    path.write_text(Path(first).read_text() + Path(late).read_text().replace("Host lab", "Host late"))
    return path


def _arguments(server: SshServer) -> tuple[str, ...]:
    return ("--ssh-config", server.config_file, "--port", "1", "--no-record")


def test_questions_come_one_after_another_under_the_names_of_their_hosts(
    at_terminal: AtTerminal, ssh_server: SshServer, tmp_path: Path
) -> None:
    _locked(ssh_server, tmp_path, "east", "west")
    typed = at_terminal("east", "west", "--once", "--json", *_arguments(ssh_server), out=tmp_path / "out")
    names: set[str] = set()
    for _ in range(2):
        names.add(typed.until(PASSPHRASE).split()[-1])
        typed.until("': ")
        assert not typed.echoes
        assert PASSPHRASE not in typed.output
        typed.type("open sesame\n")

    assert typed.end() == 0
    assert typed.echoes
    assert names == {"east:", "west:"}
    found = [json.loads(line) for line in (tmp_path / "out").read_text().splitlines()]
    assert [each["target"] for each in found] == ["east", "west"]
    assert all(each["host"]["name"] for each in found)


def test_one_passphrase_of_one_key_lets_in_at_both_hosts(
    at_terminal: AtTerminal, ssh_server: SshServer, tmp_path: Path
) -> None:
    _locked(ssh_server, tmp_path, "east", "west")
    config = Path(ssh_server.config_file)
    config.write_text(config.read_text().replace("locked_west", "locked_east"))
    typed = at_terminal("east", "west", "--once", "--json", *_arguments(ssh_server), out=tmp_path / "out")
    typed.until(PASSPHRASE)
    typed.type("open sesame\n")

    assert typed.end() == 0
    assert PASSPHRASE not in typed.output
    found = [json.loads(line) for line in (tmp_path / "out").read_text().splitlines()]
    assert [bool(each["host"]) for each in found] == [True, True]


def test_a_host_that_is_asked_about_holds_up_no_other(
    at_terminal: AtTerminal, ssh_server: SshServer, tmp_path: Path
) -> None:
    """The open one is heard, in a line of its own, once the question of the locked one is answered or not."""
    _locked(ssh_server, tmp_path, "locked", open=[])
    typed = at_terminal("wait", "locked", "open", *_arguments(ssh_server), "--timeout", "60s")
    typed.until(PASSPHRASE)
    end_s = time.monotonic() + 30
    while ssh_server.log().count("Accepted publickey") < 1 and time.monotonic() < end_s:
        time.sleep(0.05)
    assert ssh_server.log().count("Accepted publickey") == 1
    assert "open: connected" not in typed.output
    typed.type("open sesame\n")
    typed.until("open: connected")
    typed.type("\x03")

    assert typed.end() == 130


async def test_a_host_that_is_ready_beside_an_open_question_is_told_of_behind_its_answer(
    at_terminal: AtTerminal, ssh_server: SshServer, tmp_path: Path, free_port: int
) -> None:
    _locked(ssh_server, tmp_path, "locked")
    options = ("--ssh-config", ssh_server.config_file, "--port", str(free_port), "--no-record")
    typed = at_terminal("wait", "locked", "local", *options, "--timeout", "80s")
    await asyncio.to_thread(typed.until, PASSPHRASE)
    engine = await launch(15.0, free_port)

    def play() -> int:
        typed.until("local is connected; Ctrl-D goes on without locked\r\n")
        for _ in range(80):
            typed.read()
        assert "READY" not in typed.output
        typed.type("open sesame\n")
        return typed.end()

    try:
        assert await asyncio.to_thread(play) == 0
    finally:
        await engine.close()
    lines = typed.output.splitlines()
    assert [name for name in ("locked", "local") if any(f"{name}: READY" in line for line in lines)] == [
        "locked",
        "local",
    ]


@pytest.mark.parametrize(
    ("limit", "keys", "told", "code"),
    [("8s", "", "TIME-OUT after", 3), ("60s", "\x03", "LOST after", 130)],
    ids=["time-out", "ctrl-c"],
)
@pytest.mark.parametrize("apart", [False, True], ids=["terminal", "file"])
def test_every_host_has_its_end_though_a_question_be_open(
    at_terminal: AtTerminal,
    ssh_server: SshServer,
    tmp_path: Path,
    limit: str,
    keys: str,
    told: str,
    code: int,
    *,
    apart: bool,
) -> None:
    _locked(ssh_server, tmp_path, "locked", open=[])
    out = tmp_path / "out" if apart else None
    typed = at_terminal("wait", "locked", "open", *_arguments(ssh_server), "--timeout", limit, out=out)
    typed.until(PASSPHRASE)
    typed.until("': ")
    typed.type(keys)

    assert typed.end() == code
    lines = (out.read_text() if out else typed.output).splitlines()
    ends = [line for line in lines if told in line]
    assert [[name in line for line in ends] for name in ("locked: ", "open: ")] == [
        [True, False],
        [False, True],
    ]
    assert lines[-2:] == ends
    assert out or lines[0] == "" or "Ctrl-D goes on" in typed.output
    assert typed.echoes


def test_the_screen_starts_when_all_questions_are_answered_and_without_the_host_that_was_refused(
    at_terminal: AtTerminal, ssh_server: SshServer, tmp_path: Path
) -> None:
    _locked(ssh_server, tmp_path, "east", "west", dead=["Port 1"])
    typed = at_terminal("east", "dead", "west", *_arguments(ssh_server))
    for answers in (["open sesame"], ["no", "no", "no"]):
        for answer in answers:
            assert SCREEN not in typed.until(PASSPHRASE)
            typed.type(f"{answer}\n")
    typed.until(SCREEN)
    typed.until("dead")
    typed.type("q")

    assert typed.end() == 0
    assert "dead: " in typed.output
    assert "refused the connection" in typed.output


def test_a_question_that_stands_names_who_waits_and_one_key_goes_on_without_its_host(
    at_terminal: AtTerminal, ssh_server: SshServer, tmp_path: Path
) -> None:
    """The screen starts, and there the question comes back in a dialog."""
    _locked(ssh_server, tmp_path, "locked", open=[])
    typed = at_terminal("locked", "open", *_arguments(ssh_server))
    typed.until(PASSPHRASE)
    typed.type("open s")
    typed.until("tminus: open is connected; Ctrl-D goes on without locked (r there asks again)\r\n")
    typed.until(PASSPHRASE)
    typed.type("\x15\x04")
    typed.until(SCREEN)
    typed.until("r tries again")
    typed.type("r")
    typed.until(PASSPHRASE)
    time.sleep(1.0)  # keys that come at once after another screen are meant for that
    typed.type("open sesame\r")
    typed.until("tminus locked: waiting")
    typed.type("q")
    assert typed.end() == 0
    assert typed.echoes


def test_what_was_typed_before_it_was_told_who_waits_is_part_of_the_answer(
    at_terminal: AtTerminal, ssh_server: SshServer, tmp_path: Path
) -> None:
    _locked(ssh_server, tmp_path, "locked", open=[])
    typed = at_terminal("wait", "locked", "open", *_arguments(ssh_server), "--timeout", "60s")
    typed.until(PASSPHRASE)
    typed.type("open s")
    typed.until("tminus: open is connected; Ctrl-D goes on without locked\r\n")
    typed.type("esame\n")
    typed.until("locked: connected")
    typed.type("\x03")
    assert typed.end() == 130


@pytest.mark.parametrize("keys", ["\x03"], ids=["ctrl-c"])
def test_a_question_that_is_given_up_ends_all_and_leaves_the_terminal_as_it_was(
    at_terminal: AtTerminal, ssh_server: SshServer, tmp_path: Path, keys: str
) -> None:
    _locked(ssh_server, tmp_path, "east", "west")
    typed = at_terminal("east", "west", *_arguments(ssh_server))
    typed.until(PASSPHRASE)
    typed.type(keys)

    assert typed.end() == 130
    assert typed.echoes
    assert SCREEN not in typed.output


async def test_it_is_said_what_is_waited_for_and_keys_typed_meanwhile_are_none_of_the_screen(
    at_terminal: AtTerminal, ssh_server: SshServer, tmp_path: Path
) -> None:
    """No question came in time: what was typed for it would quit, or start a benchmark."""
    key = make_key(tmp_path / "locked", passphrase="open sesame")
    async with never_answering() as silent:
        name_hosts(ssh_server, ["silent", "open"], {"silent": [f"IdentityFile {key}", f"Port {silent}"]})
        _without_open_key(ssh_server, ("silent",))
        typed = at_terminal("silent", "open", *_arguments(ssh_server))
        await asyncio.to_thread(typed.until, "tminus: connecting to silent")
        typed.type("q\n")
        await asyncio.to_thread(typed.until, SCREEN)
        await asyncio.to_thread(typed.until, "open")
        for _ in range(20):
            await asyncio.to_thread(typed.read)
        assert typed.process.poll() is None
        typed.type("q")
        assert await asyncio.to_thread(typed.end) == 0


async def test_what_is_asked_while_the_screen_is_up_is_a_dialog_that_names_its_host(
    ssh_server: SshServer,
    start_asking_server: StartAskingServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    asking = await start_asking_server(Wanted(password="hunter2"))
    asking.configure(f"IdentityFile {make_key(tmp_path / 'not-taken')}")
    name_hosts(ssh_server, ["steady"])
    both = _joined(tmp_path / "both", ssh_server.config_file, asking.config_file)
    choices = Choices(host="steady", others=("late",), ssh_config=str(both), port=1, record=False)
    show = Show(choices, Turns(Person()))
    app = HostsApp(show.views)
    show.move_to(app)
    try:
        async with app.run_test(size=(80, 24)) as pilot:
            await until(lambda: isinstance(app.screen, QuestionScreen), 60)
            assert isinstance(app.screen, QuestionScreen)
            assert app.screen.host == "late"
            await pilot.press(*"hunter2", "enter")
            await until(lambda: app.screen is app.main, 60)
            states = [host.session.state for host in show.hosts]
            await until(lambda: all(state.hello is not None for state in states), 60)
    finally:
        await let_all_go(show.watching, show.hosts)
    assert asking.tried == ["hunter2"]
