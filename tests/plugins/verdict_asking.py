"""Asking a host of the tests for its verdict, and a load that has come as far as its capture."""

from dataclasses import replace

from verdict_host import IDLES, LOADS, VerdictHost

from tui.engines.phase import Phase
from tui.watch.verdict.rules import judge
from tui.watch.verdict.verdict import Verdict


def verdict(host: VerdictHost, **more: object) -> Verdict:
    return judge(replace(host.at(), **more), host.movement)


def words(host: VerdictHost, seconds: int) -> list[tuple[int, str]]:
    """Run, and return each change of the word with its second."""
    told: list[tuple[int, str]] = []

    def note(second: int) -> None:
        word = verdict(host).word
        if not told or told[-1][1] != word:
            told.append((second, word))

    host.run(seconds, note)
    return told


def loaded(count: int = 2, phase: Phase = Phase.CAPTURE, seconds: int = 30) -> VerdictHost:
    """Return a host whose ranks have just loaded their weights, and then idled for some seconds."""
    host = VerdictHost(count)
    host.all_do(LOADS)
    host.phase(Phase.WEIGHTS)
    host.run(20)
    host.all_do(IDLES)
    host.run(seconds)
    host.phase(phase)
    return host


def rule(found: Verdict, name: str) -> str:
    return next(each.matched for each in found.rules if each.rule.startswith(name))


def numbers(found: Verdict, name: str) -> str:
    return next(each.numbers for each in found.rules if each.rule.startswith(name))
