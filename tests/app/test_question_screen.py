"""Questions on the way to a host, in a dialog: whose, in which order, what is seen of the answer."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest
from textual import events
from textual.pilot import Pilot
from textual.reactive import Reactive

from tui.app import TminusApp
from tui.screens.question import QuestionScreen, Typed
from tui.view import StillView
from widgets.line_widget import LineWidget
from widgets.question_pane import LIMIT, QuestionPane

SECRET = "hunter2"
PASSWORD = "alice@10.0.0.7's password: "
FINGERPRINT = "SHA256:pzR7q0J3M7Kx0yZkq6a9w2mC1n7s8t9u0v1w2x3y4z5"
UNKNOWN = (
    "The authenticity of host 'gpu-box (10.0.0.7)' can't be established.",
    f"ED25519 key fingerprint is {FINGERPRINT}.",
    "This key is not known by any other names.",
)
SURE = "Are you sure you want to continue connecting (yes/no/[fingerprint])? "
Answer = asyncio.Task[Typed | None]


class Asked:
    """An app over a watch that stands still, and hosts that ask."""

    def __init__(self, app: TminusApp, pilot: Pilot[None]) -> None:
        self.app, self.pilot = app, pilot

    def ask(
        self, prompt: str = PASSWORD, host: str = "gpu-box", *, said: tuple[str, ...] = (), echo: bool = False
    ) -> Answer:
        return asyncio.create_task(self.app.questions.ask(host, said, prompt, echo=echo))

    async def dialog(self, prompt: str = PASSWORD, host: str = "gpu-box") -> QuestionScreen:
        """Wait until a question stands on the screen."""
        for _ in range(50):
            await self.pilot.pause()
            screen = self.app.screen
            if isinstance(screen, QuestionScreen) and screen.question is not None:
                assert (screen.question.prompt, screen.host) == (prompt, host)
                return screen
        raise AssertionError("no question came")

    async def back(self) -> None:
        """Wait until the main screen is seen again."""
        for _ in range(50):
            await self.pilot.pause()
            if self.app.screen is self.app.main:
                return
        raise AssertionError(f"{self.app.screen} stayed")

    async def text(self) -> str:
        """Return what stands on the screen that is on top."""
        await self.pilot.pause()
        widgets = [each for each in self.app.screen.query(LineWidget) if each.placed]
        return "\n".join(each.render_line(y).text for each in widgets for y in range(each.size.height))


@asynccontextmanager
async def running(view: StillView, size: tuple[int, int] = (80, 24)) -> AsyncGenerator[Asked, None]:
    app = TminusApp(view)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        yield Asked(app, pilot)


async def test_a_password_is_typed_under_the_name_of_the_host_and_seen_nowhere(view: StillView) -> None:
    async with running(view) as asked:
        answer = asked.ask(said=("Authorised users only.",))
        await asked.dialog()
        await asked.pilot.press(*SECRET)
        text = await asked.text()
        assert "Login to gpu-box" in text
        assert text.index("Authorised users only.") < text.index(PASSWORD.strip())
        assert "> •••••••" in text
        assert SECRET not in text
        await asked.pilot.press("enter")
        typed = await answer
    assert typed is not None
    assert typed.text == SECRET
    assert SECRET not in repr(typed)


async def test_what_may_be_seen_is_seen_and_can_be_mended(view: StillView) -> None:
    async with running(view) as asked:
        answer = asked.ask("Name: ", echo=True)
        await asked.dialog("Name: ")
        await asked.pilot.press(*"no", "ctrl+u", *"alx", "backspace", "question_mark", "space", "T")
        assert "> al? T" in await asked.text()
        await asked.pilot.press("enter")
        typed = await answer
    assert typed is not None
    assert typed.text == "al? T"


async def test_keys_that_come_with_the_question_are_its_own_and_those_behind_its_end_nobodys(
    view: StillView,
) -> None:
    async with running(view) as asked:
        answer = asked.ask()
        await asyncio.sleep(0)
        for key, character in (("s", "s"), ("q", "q"), ("slash", "/"), ("enter", "\r"), ("q", "q")):
            asked.app.post_message(events.Key(key, character))
        typed = await answer
        await asked.pilot.pause()
        assert asked.app.is_running
        assert isinstance(asked.app.screen, QuestionScreen)
        assert "logging in" in await asked.text()
    assert typed is not None
    assert typed.text == "sq/"


async def test_the_questions_of_one_login_come_in_one_dialog(view: StillView) -> None:
    async with running(view) as asked:
        first = asked.ask("Password: ")
        dialog = await asked.dialog("Password: ")
        await asked.pilot.press("a", "enter")
        await first
        await asked.pilot.press("q", "x")
        second = asked.ask("Code: ", said=("Password: ",))
        assert await asked.dialog("Code: ") is dialog
        await asked.pilot.press("b", "enter")
        typed = await second
        asked.app.questions.over("gpu-box")
        await asked.back()
    assert typed is not None
    assert typed.text == "b"


async def test_another_host_waits_until_the_login_before_it_is_over(view: StillView) -> None:
    async with running(view) as asked:
        asked.app.questions.pause_s = 0
        first, other = asked.ask(host="a"), asked.ask(host="b")
        await asked.dialog(host="a")
        await asked.pilot.press("1", "enter")
        await first
        again = asked.ask(host="a", prompt="Code: ")
        await asked.dialog("Code: ", host="a")
        await asked.pilot.press("2", "enter")
        await again
        await asked.pilot.press("3", "enter")
        asked.app.questions.over("b")
        assert "logging in" in await asked.text()
        assert not other.done()
        asked.app.questions.over("a")
        await asked.dialog(host="b")
        await asked.pilot.press("4", "enter")
        typed = await other
    assert typed is not None
    assert typed.text == "4"


@pytest.mark.parametrize("key", ["escape", "ctrl+c"])
async def test_it_can_be_given_up_without_leaving_the_screen(view: StillView, key: str) -> None:
    async with running(view) as asked:
        answer = asked.ask()
        await asked.dialog()
        await asked.pilot.press(*SECRET, key)
        assert await answer is None
        await asked.back()
        assert asked.app.is_running
        assert asked.app.clipboard == ""


@pytest.mark.parametrize("key", ["enter", "escape", "ctrl+c"])
async def test_a_question_that_nobody_needs_any_more_says_so_and_takes_all_keys_until_it_is_closed(
    view: StillView, key: str
) -> None:
    async with running(view) as asked:
        asked.app.questions.pause_s = 0
        first, second = asked.ask(host="a"), asked.ask(host="b")
        dialog = await asked.dialog(host="a")
        await asked.pilot.press(*"hun")
        first.cancel()
        await asked.pilot.pause()
        asked.app.questions.over("a", "a ended the login (LoginGraceTime)")
        await asked.pilot.press(*"ter2q", "question_mark", "tab")
        text = await asked.text()
        assert asked.app.screen is dialog
        assert "the login ended before it was answered: a ended the login" in " ".join(text.split())
        assert "•" not in text
        await asked.pilot.press(key)
        await asked.dialog(host="b")
        assert "•" not in await asked.text()
        second.cancel()
        await asked.pilot.pause()
        await asked.pilot.press(key)
        await asked.back()
        assert asked.app.is_running


async def test_what_is_still_typed_for_one_host_goes_to_no_other(view: StillView) -> None:
    async with running(view) as asked:
        first, second = asked.ask(host="a"), asked.ask(host="b")
        await asked.dialog(host="a")
        asked.app.questions.pause_s = 60
        await asked.pilot.press(*"hun")
        first.cancel()
        await asked.pilot.press("t", "enter")
        dialog = await asked.dialog(host="b")
        await asked.pilot.press(*"er2", "enter", "escape", "ctrl+c")
        asked.app.post_message(events.Paste(SECRET))
        text = await asked.text()
        assert asked.app.screen is dialog
        assert "•" not in text
        assert "keys are taken after a short pause" in text
        assert not second.done()
        asked.app.questions.pause_s = 0
        await asked.pilot.press("4", "enter")
        typed = await second
    assert typed is not None
    assert typed.text == "4"


async def test_the_first_question_of_a_second_host_takes_no_key_at_once(view: StillView) -> None:
    async with running(view) as asked:
        asked.app.questions.pause_s = 60
        first, second = asked.ask(host="a"), asked.ask(host="b")
        await asked.dialog(host="a")
        await asked.pilot.press("1", "enter")
        await first
        asked.app.questions.over("a")
        await asked.dialog(host="b")
        await asked.pilot.press("enter")
        await asked.pilot.pause()
        assert not second.done()


async def test_what_is_still_typed_after_its_end_is_no_key_of_the_main_screen(view: StillView) -> None:
    async with running(view) as asked:
        asked.app.questions.pause_s = 60
        answer = asked.ask()
        await asked.dialog()
        answer.cancel()
        await asked.pilot.press("enter")
        await asked.back()
        await asked.pilot.press("question_mark", "q")
        await asked.pilot.pause()
        assert asked.app.screen is asked.app.main
        assert asked.app.is_running
        asked.app.questions.pause_s = 0
        await asked.pilot.press("question_mark")
        await asked.pilot.pause()
        assert asked.app.screen is not asked.app.main


async def test_one_that_was_still_waiting_is_never_put(view: StillView) -> None:
    async with running(view) as asked:
        first, second = asked.ask(host="a"), asked.ask(host="b")
        await asked.dialog(host="a")
        second.cancel()
        await asked.pilot.press("enter")
        await first
        asked.app.questions.over("a")
        await asked.back()


@pytest.mark.parametrize(
    ("pasted", "taken"),
    [("hunter2\n", "hunter2"), ("\r\nhunter2\r\n", "hunter2"), ("hun\x1bter2", "hunter2"), ("\n", "")],
    ids=repr,
)
async def test_a_newline_that_was_pasted_answers_nothing(view: StillView, pasted: str, taken: str) -> None:
    async with running(view) as asked:
        answer = asked.ask()
        await asked.dialog()
        asked.app.post_message(events.Paste(pasted))
        await asked.pilot.pause()
        assert not answer.done()
        assert "first line" not in await asked.text()
        await asked.pilot.press("enter")
        typed = await answer
    assert typed is not None
    assert typed.text == taken


async def test_of_several_pasted_lines_the_first_is_taken_and_that_is_said(view: StillView) -> None:
    async with running(view) as asked:
        answer = asked.ask()
        await asked.dialog()
        asked.app.post_message(events.Paste("hunter2\nls\n"))
        assert "only the first line of what was pasted was taken" in await asked.text()
        await asked.pilot.press("enter")
        typed = await answer
    assert typed is not None
    assert typed.text == SECRET


@pytest.mark.parametrize("key", ["ctrl+p", "f1", "tab", "w", "1", "slash"])
async def test_no_key_leads_elsewhere(view: StillView, key: str) -> None:
    async with running(view) as asked:
        answer = asked.ask()
        dialog = await asked.dialog()
        await asked.pilot.press(key)
        await asked.pilot.pause()
        assert asked.app.screen is dialog
        answer.cancel()


@pytest.mark.parametrize("key", ["question_mark", "w", "ctrl+p"])
async def test_it_comes_over_whatever_is_open_and_leaves_it_as_it_was(view: StillView, key: str) -> None:
    async with running(view) as asked:
        await asked.pilot.press(key)
        await asked.pilot.pause()
        below = asked.app.screen
        assert below is not asked.app.main
        answer = asked.ask()
        await asked.dialog()
        await asked.pilot.press("q", "enter")
        typed = await answer
        asked.app.questions.over("gpu-box")
        await asked.pilot.pause()
        await asked.pilot.pause()
        assert asked.app.screen is below
    assert typed is not None
    assert typed.text == "q"


@pytest.mark.parametrize("size", [(80, 24), (40, 24), (40, 12), (120, 40)], ids=lambda size: f"{size[0]}")
async def test_the_words_and_the_fingerprint_of_an_unknown_key_are_seen_whole(
    view: StillView, size: tuple[int, int]
) -> None:
    async with running(view, size) as asked:
        asked.ask(SURE, said=UNKNOWN, echo=True)
        await asked.dialog(SURE)
        await asked.pilot.press(*"yes")
        text = await asked.text()
    together = "".join(text.split())
    assert "Logintogpu-box" in together
    assert ">yes" in together
    assert "".join(SURE.split()) in together
    assert FINGERPRINT in together


async def test_a_long_talk_leaves_the_question_in_sight_and_can_be_scrolled(view: StillView) -> None:
    async with running(view, (40, 12)) as asked:
        asked.ask(said=tuple(f"line {number}" for number in range(40)))
        await asked.dialog()
        text = await asked.text()
        assert "line 39" in text
        assert "rows above: PgUp" in text
        assert PASSWORD.strip() in text
        await asked.pilot.press(*["pageup"] * 12)
        text = await asked.text()
        assert "line 0 " in text
        assert "rows above" not in text
        assert PASSWORD.strip() in text


def test_a_long_answer_shows_its_end_in_one_row() -> None:
    pane = QuestionPane("gpu-box")
    pane.put((), "Name: ", echo=True)
    pane.type("a" * 2 * LIMIT + "z")
    rows = ["".join(span.text for span in line) for line in pane.lines(40, 10)]
    assert max(map(len, rows)) <= 40
    assert sum("aaa" in row for row in rows) == 1
    assert pane.take() == "a" * LIMIT


async def test_an_answer_is_in_nothing_that_is_drawn_watched_or_can_be_selected(view: StillView) -> None:
    async with running(view) as asked:
        answer = asked.ask()
        dialog = await asked.dialog()
        await asked.pilot.press(*SECRET)
        pane = dialog.pane
        nodes = (asked.app, asked.app.main, dialog, pane)
        watched = [getattr(node, name) for node in nodes for name in reactives(node)]
        assert SECRET not in "".join(map(repr, (*nodes, *watched, *pane.lines(80, 24))))
        assert not pane.allow_select
        dialog.text_select_all()
        assert SECRET not in (dialog.get_selected_text() or "")
        assert asked.app.devtools is None
        await asked.pilot.press("enter")
        await answer
        assert pane.take() == ""


def reactives(node: object) -> list[str]:
    """Return the names of what Textual watches of a node, but for what it makes of them on demand."""
    return [
        name
        for each in type(node).__mro__
        for name, value in vars(each).items()
        if isinstance(value, Reactive)
    ]
