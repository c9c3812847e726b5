"""What speaks for a verdict, from what the rules really say."""

from dataclasses import replace

from verdict_asking import loaded, verdict
from verdict_host import IDLES, SPINS
from watched_host import Watch, WatchedHost

from tui.engines.phase import Phase
from tui.present.why import rule_rows, why_panel, why_values
from widgets.values import Mood


def test_every_rule_is_there_the_one_that_made_the_verdict_on_top() -> None:
    host = loaded(8, seconds=40)
    host.all_do(SPINS)
    host.doing[5] = IDLES
    host.run(112)
    found = verdict(host)
    rows = rule_rows(found)
    assert {row.name for row in rows} == {rule.words for rule in found.rules}
    assert (rows[0].name, rows[0].mood, rows[0].state) == (
        "GPUs only wait",
        Mood.BAD,
        "made the verdict",
    )
    states = [row.state for row in rows[1:]]
    order = ("holds too", "nearly", "no")
    assert states == sorted(states, key=order.index)
    assert {row.mood for row in rows if row.state == "nearly"} <= {Mood.WARNING}
    assert all(row.numbers for row in rows)


def test_since_when_it_is_so_is_told_as_age_and_as_moment_of_the_load() -> None:
    host = loaded(2, seconds=35)
    found = verdict(host)
    panel = why_panel(found, found.since_s + 72.0, found.since_s - 187.0)
    assert panel.since == "for 1:12, since T+ 3:07"
    assert why_panel(found, found.since_s + 72.0, None).since == "for 1:12"


def test_a_ready_server_has_its_reasons_too() -> None:
    host = loaded(2, Phase.READY)
    host.situation = replace(host.situation, ready=True, ready_since_s=host.now_s)
    panel = why_panel(verdict(host), host.now_s, None)
    assert (panel.verdict.word, panel.verdict.mood) == ("READY", Mood.GOOD)
    assert panel.rules


def test_without_a_verdict_it_says_why_there_is_none(host: WatchedHost, watched: Watch) -> None:
    assert why_values(host.state, host.now).sentence.startswith("there is no load to judge: ")
    assert why_values(watched().state, 0.0).sentence == "there is no load to judge"
    alone = watched(url="http://127.0.0.1:30000")
    assert "a URL alone" in why_values(alone.state, 0.0).sentence
