"""Questions that come while the screen is up, from real servers: asked in a dialog, or a link that rests."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest
from asking_server import USER, Prompts, StartAskingServer, Wanted
from made_up_person import Person
from ssh_server import SshServer, make_key, public, run, until
from textual.pilot import Pilot

from tui.app import TminusApp
from tui.commands import start
from tui.commands.ask_on_screen import ScreenAsker
from tui.commands.screen import LOST, SessionView, follow
from tui.screens.question import QuestionScreen
from tui.session import Session
from tui.settings import Choices
from tui.transport import bootstrap
from tui.transport.bootstrap import Command, Started
from tui.transport.pipe import Pipe
from widgets.lines import text_of
from widgets.question_pane import QuestionPane

pytestmark = [pytest.mark.ssh, pytest.mark.xdist_group("ssh")]

PASSWORD = f"{USER}@127.0.0.1's password: "
AGAIN = "Permission denied, please try again."
NO_LONGER = "The link broke, and what was typed for this login before was refused when it was used again."
SURE = "Are you sure you want to continue connecting (yes/no/[fingerprint])? "
SOON_S = 60.0


class Watched:
    """A watch on the screen, as ``tminus lab`` has it, without a terminal."""

    def __init__(self, app: TminusApp, pilot: Pilot[None], session: Session) -> None:
        self.app, self.pilot, self.session = app, pilot, session

    async def asked(self, prompt: str) -> tuple[str, ...]:
        """Wait for a question; return what stands above it."""

        def is_asked() -> bool:
            screen = self.app.screen
            question = screen.question if isinstance(screen, QuestionScreen) else None
            return question is not None and question.prompt == prompt

        await until(is_asked, SOON_S)
        screen = self.app.screen
        assert isinstance(screen, QuestionScreen)
        assert screen.question is not None
        return screen.question.said

    async def answer(self, text: str) -> None:
        """Type an answer."""
        await self.pilot.press(*text, "enter")

    async def link(self, state: str, sentence: str = "") -> None:
        """Wait until the link stands so and no dialog is left."""

        def stands() -> bool:
            link = self.session.state.link
            return link.state == state and sentence in link.sentence and self.app.screen is self.app.main

        await until(stands, SOON_S)

    async def notes(self, wanted: str) -> None:
        """Wait until the notes have a sentence."""
        await until(lambda: wanted in self._notes(), SOON_S)

    def _notes(self) -> str:
        return " ".join(text_of(line).strip() for line in self.app.main.notes.body(10_000))


@asynccontextmanager
async def watched(config_file: str) -> AsyncGenerator[Watched, None]:
    choices = Choices(host="lab", ssh_config=config_file, port=1, record=False)
    asker = ScreenAsker("lab", Person())
    session = start.open_session(choices, recorded=False, asker=asker)
    view = SessionView(session)
    app = TminusApp(view)
    asker.move_to(app.questions)
    async with app.run_test(size=(80, 24)) as pilot:
        following = asyncio.create_task(follow(session, app, view, asker))
        yield Watched(app, pilot, session)
        await start.let_go(following, session)


async def test_a_password_that_is_asked_late_may_be_wrong_once(
    start_asking_server: StartAskingServer,
) -> None:
    server = await start_asking_server(Wanted(password="hunter2"))
    async with watched(server.config_file) as watch:
        assert await watch.asked(PASSWORD) == ()
        await watch.answer("wrong")
        await until(lambda: server.tried == ["wrong"])
        assert await watch.asked(PASSWORD) == (PASSWORD, AGAIN)
        await watch.answer("hunter2")
        await watch.link("up")
        await watch.pilot.press("r")
        await watch.notes("the host is connected")
        report = watch.app.view.bug_report()
    assert server.tried == ["wrong", "hunter2"]
    assert "hunter2" not in report


async def test_the_dialog_is_gone_once_the_login_succeeded_however_long_the_agent_takes(
    start_asking_server: StartAskingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on, reached = asyncio.Event(), asyncio.Event()

    async def slow(pipe: Pipe, command: Command, timeout_s: float, place: str) -> Started:
        reached.set()
        await go_on.wait()
        return await usual(pipe, command, timeout_s, place)

    usual = bootstrap._converse  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(bootstrap, "_converse", slow)
    server = await start_asking_server(Wanted(password="hunter2"))
    async with watched(server.config_file) as watch:
        await watch.asked(PASSWORD)
        await watch.answer("hunter2")
        await asyncio.wait_for(reached.wait(), SOON_S)
        await watch.link("connecting")
        go_on.set()
        await watch.link("up")


async def test_prompts_of_the_server_come_one_after_another_under_its_words(
    start_asking_server: StartAskingServer,
) -> None:
    prompts: Prompts = [("Name: ", True), ("Code\x1b[2J: ", False)]
    rounds: list[tuple[str, str, Prompts, list[str]]] = [
        ("Cluster \x1b[31mlogin", "Have it ready.", prompts, ["al", "123"])
    ]
    server = await start_asking_server(Wanted(rounds=rounds))
    async with watched(server.config_file) as watch:
        above = await watch.asked(f"({USER}@127.0.0.1) Name: ")
        assert above == ("Cluster login", "Have it ready.")
        await watch.answer("al")
        await watch.asked(f"({USER}@127.0.0.1) Code: ")
        await watch.answer("123")
        await watch.link("up")
    assert server.tried == [["al", "123"]]


@pytest.mark.parametrize("key", ["escape", "ctrl+c"])
async def test_a_login_that_is_given_up_rests_until_r(
    start_asking_server: StartAskingServer, key: str
) -> None:
    server = await start_asking_server(Wanted(password="hunter2"))
    async with watched(server.config_file) as watch:
        await watch.asked(PASSWORD)
        await watch.pilot.press(*"hunt", key)
        await watch.link("failed", "was given up")
        await watch.notes("r tries again: the login to lab")
        tries = len(server.connections)
        await watch.pilot.press("r")
        assert await watch.asked(PASSWORD) == ()
        assert len(server.connections) == tries + 1
        await watch.answer("hunter2")
        await watch.link("up")
    assert server.tried == ["hunter2"]


async def test_a_password_that_has_changed_is_asked_for_after_a_lost_link_and_kept(
    start_asking_server: StartAskingServer,
) -> None:
    server = await start_asking_server(Wanted(password="hunter2"))
    async with watched(server.config_file) as watch:
        await watch.asked(PASSWORD)
        await watch.answer("hunter2")
        await watch.link("up")
        server.wanted.password = "hunter3"
        server.cut()
        assert await watch.asked(PASSWORD) == (NO_LONGER,)
        await watch.answer("hunter3")
        await watch.link("up")
        server.cut()
        await until(lambda: len(server.tried) == 4)
        await watch.link("up")
    assert server.tried == ["hunter2", "hunter2", "hunter3", "hunter3"]


async def test_a_kept_password_that_was_refused_is_not_sent_again(
    start_asking_server: StartAskingServer,
) -> None:
    server = await start_asking_server(Wanted(password="hunter2"))
    async with watched(server.config_file) as watch:
        await watch.asked(PASSWORD)
        await watch.answer("hunter2")
        await watch.link("up")
        server.wanted.password = "hunter3"
        server.cut()
        for _ in range(2):
            assert await watch.asked(PASSWORD) == (NO_LONGER,)
            await watch.pilot.press("escape")
            await watch.link("failed", "was given up")
            await watch.pilot.press("r")
        await watch.asked(PASSWORD)
        await watch.answer("hunter3")
        await watch.link("up")
        server.cut()
        await until(lambda: len(server.tried) == 4)
        await watch.link("up")
    assert server.tried == ["hunter2", "hunter2", "hunter3", "hunter3"]


async def test_a_password_that_is_refused_three_times_rests_and_is_asked_for_anew(
    start_asking_server: StartAskingServer,
) -> None:
    server = await start_asking_server(Wanted(password="hunter2"))
    async with watched(server.config_file) as watch:
        for number in range(3):
            await until(lambda number=number: len(server.tried) == number)
            await watch.asked(PASSWORD)
            await watch.answer(f"wrong{number}")
        await watch.link("failed", "what was typed was not taken")
        await watch.pilot.press("r")
        assert await watch.asked(PASSWORD) == ()


async def test_a_server_that_waits_no_longer_is_told_in_the_dialog_and_in_the_notes(
    start_asking_server: StartAskingServer,
) -> None:
    server = await start_asking_server(Wanted(password="hunter2", grace_s=2.0))
    async with watched(server.config_file) as watch:
        await watch.asked(PASSWORD)
        await watch.pilot.press(*"hunt")
        dialog = watch.app.screen
        await until(lambda: watch.session.state.link.state == "failed", SOON_S)
        await watch.pilot.pause()
        assert watch.app.screen is dialog
        drawn = "".join(text_of(line) for each in dialog.query(QuestionPane) for line in each.lines(80, 24))
        assert "LoginGraceTime" in drawn
        watch.app.questions.pause_s = 0
        await watch.pilot.press(*"er2", "enter")
        await watch.link("failed", "LoginGraceTime")
        await watch.notes("LoginGraceTime")
        await watch.pilot.press("r")
        await watch.asked(PASSWORD)


async def test_an_unknown_key_shows_its_fingerprint_and_a_changed_one_is_never_asked_about(
    ssh_server: SshServer,
) -> None:
    async with watched(ssh_server.config_file) as watch:
        await watch.link("up")
        replace_host_key(ssh_server)
        await watch.link("failed", f"{ssh_server.known_hosts}:1")
        assert "HAS CHANGED" in watch.session.state.link.sentence
        ssh_server.known_hosts.write_text("")
        await watch.pilot.press("r")
        said = await watch.asked(SURE)
        fingerprint = run("ssh-keygen", "-lf", ssh_server.host_key).split()[1]
        assert f"ED25519 key fingerprint is {fingerprint}." in said
        await watch.answer("perhaps")
        await watch.asked("Please type 'yes', 'no' or the fingerprint: ")
        await watch.answer(fingerprint)
        await watch.link("up")
        await watch.notes("Permanently added")
    assert ssh_server.known_hosts.read_text() == f"{ssh_server.known_name} {public(ssh_server.host_key)}\n"


async def test_a_key_that_was_agreed_to_but_kept_nowhere_counts_as_known(ssh_server: SshServer) -> None:
    ssh_server.configure("UserKnownHostsFile none")
    async with watched(ssh_server.config_file) as watch:
        await watch.asked(SURE)
        await watch.answer("yes")
        await watch.link("up")
        replace_host_key(ssh_server)
        await watch.link("failed", "HAS CHANGED since it was agreed to here")


@pytest.mark.parametrize("answer", ["no", "given up"])
async def test_an_unknown_key_that_is_not_agreed_to_leaves_the_screen_and_the_file_as_they_were(
    ssh_server: SshServer, answer: str
) -> None:
    ssh_server.known_hosts.write_text("")
    async with watched(ssh_server.config_file) as watch:
        await watch.asked(SURE)
        if answer == "no":
            await watch.answer("no")
        else:
            await watch.pilot.press("escape")
        await watch.link("failed", "was given up" if answer == "given up" else "was not agreed to")
        assert watch.app.is_running
    assert ssh_server.known_hosts.read_text() == ""


async def test_a_host_that_asks_nothing_and_lets_nobody_in_ends_the_screen(ssh_server: SshServer) -> None:
    (ssh_server.folder / "authorized_keys").write_text("")
    async with watched(ssh_server.config_file) as watch:
        await until(lambda: watch.app.return_code is not None, SOON_S)
        assert watch.app.return_code == LOST


async def test_a_session_that_ends_takes_its_question_along(start_asking_server: StartAskingServer) -> None:
    server = await start_asking_server(Wanted(password="hunter2"))
    async with watched(server.config_file) as watch:
        await watch.asked(PASSWORD)
        await watch.session.close()
        await watch.pilot.pause()
        await watch.pilot.press("escape")
        await until(lambda: watch.app.screen is watch.app.main, SOON_S)


def replace_host_key(server: SshServer) -> None:
    """Put another machine in the place of a server."""
    server.stop()
    for path in (server.host_key, server.host_key.with_name(f"{server.host_key.name}.pub")):
        path.unlink()
    make_key(server.host_key)
    server.start()
