"""When keys count again after a dialog that is gone."""

from textual import events

from tui.app import TminusApp
from tui.view import StillView


def test_a_pause_is_over_when_no_key_came_for_so_long(view: StillView) -> None:
    questions = TminusApp(view).questions
    questions.begin_pause()
    heard: list[bool] = []
    key = events.Key("x", "x")
    begun_s = key.time
    for after_s in (0.5, 1.0, 1.5, 2.3, 2.4):
        key.time = begun_s + after_s
        heard.append(questions.drops(key))
    assert heard == [True, True, True, False, False]
