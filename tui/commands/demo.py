"""``tminus demo``: a scenario on the screen, beside a real server, or with ``--headless`` run through."""

import asyncio
import dataclasses
import sys
import time
from collections.abc import Callable, Iterator

import msgspec

from tui.commands import start
from tui.commands.replay import WITHOUT_SCREEN, headless
from tui.commands.wait import ending_of
from tui.commands.watch import check_terminal
from tui.demo.scenario import DEFAULT, Scenario, ScenarioFault, scenario, scenarios
from tui.demo.tape import Simulation, simulation
from tui.events import AnyEvent
from tui.past_load import PastLoad
from tui.replay.ending import EXIT_CODES
from tui.replay.headless import Run, Step, play
from tui.replay.player import Player
from tui.replay.tape import Tape
from tui.requests import WatchRequest
from tui.settings import Choices, UsageFault
from tui.source import Source
from tui.watch.ladder import NEEDS_A_PERSON
from tui.watch.options import WatchOptions
from tui.watch.state import WatchState

CAPTION = "SIMULATED"
SETTLED_S = 60.0
AT_MOST_S = 1200.0
DAY_S = 86_400.0
MOVING = ("progressing", "slow", "quiet")
"""Verdicts that a load may still leave by itself."""


def run(choices: Choices, *, list_all: bool = False) -> int:
    """Show a scenario, or list them; return the exit code. Raises UsageFault for one that there is not."""
    try:
        if list_all:
            return _list(json=choices.json)
        chosen = scenario(choices.scenario or DEFAULT)
        if choices.headless or choices.json:
            return _headless(chosen, choices)
        check_terminal(WITHOUT_SCREEN)
        from tui.commands.replay_screen import show_player

        return asyncio.run(show_player(lambda: _player(chosen, choices), choices, rings=True))
    except ScenarioFault as fault:
        raise UsageFault(str(fault)) from None


class Listed(msgspec.Struct, frozen=True, kw_only=True):
    """A scenario in the list of ``--list --json``, one object a line."""

    name: str
    title: str


def _list(*, json: bool) -> int:
    known = scenarios()
    if json:
        for each in known:
            sys.stdout.write(msgspec.json.encode(Listed(name=each.name, title=each.title)).decode() + "\n")
        return 0
    width = max(len(each.name) for each in known)
    sys.stdout.write("".join(f"{each.name:{width}}  {each.title}\n" for each in known))
    return 0


def _headless(chosen: Scenario, choices: Choices) -> int:
    simulated = simulation(chosen, past=past_loads(chosen))
    tape = tape_of(chosen, simulated)
    if choices.speed is not None:
        tape = dataclasses.replace(tape, read=lambda: _paced(simulated.events(), choices.speed or 1.0))
    end = headless(tape, json=choices.json, stop=Settled(simulated.told_s))
    return EXIT_CODES[end.outcome]


async def _player(chosen: Scenario, choices: Choices) -> Player:
    """Return a player over the scenario with its live server, whose port is that of the scenario."""
    from tui.commands.demo_live import DemoLive
    from tui.demo.live import launch

    simulation(chosen)  # a file that is wrong is told before anything is started
    past = past_loads(chosen)
    server = await launch(chosen.server.served)
    live = DemoLive(server, start.workloads_for(dataclasses.replace(choices, url=None)), _bench_agent)
    tape = tape_of(chosen, simulation(chosen, past=past, port=server.port, busy=live.busy))
    return Player(tape, speed=choices.speed or 1.0, live=live)


def tape_of(chosen: Scenario, simulated: Simulation) -> Tape:
    """Return a scenario as a tape, whose outline ends where a run without a screen does."""
    options = WatchOptions(model=chosen.asked.model)
    tape = Tape(chosen.name, options, simulated.events, caption=CAPTION)
    return dataclasses.replace(tape, outline=lambda: _until(tape, Settled(simulated.told_s)))


def past_loads(chosen: Scenario) -> list[PastLoad]:
    """Return the load that a scenario is compared with: the one that it names, watched the day before."""
    if chosen.past is None:
        return []
    before = scenario(chosen.past)
    simulated = simulation(before)
    finished = play(tape_of(before, simulated), Settled(simulated.told_s)).state.finished
    return [] if finished is None else [msgspec.structs.replace(finished, wall_s=finished.wall_s - DAY_S)]


class Settled:
    """Says when a scenario has come to its end.

    That is where ``wait`` would end, or 60 s after the story has ended and the verdict has changed last, but
    at the latest after 20 minutes. Seconds are those of the scenario.
    """

    def __init__(self, told_s: float) -> None:
        self._since_s = told_s

    def __call__(self, step: Step, state: WatchState) -> bool:
        if ending_of(state, restarts=False) is not None:
            return True
        changed = any(each.kind == "verdict" for each in step.changes)
        decided = state.fault in NEEDS_A_PERSON
        if not decided and (changed or state.verdict in MOVING):
            self._since_s = max(self._since_s, step.t)
        return step.t >= min(self._since_s + SETTLED_S, AT_MOST_S)


def _until(tape: Tape, stop: Callable[[Step, WatchState], bool]) -> Iterator[AnyEvent]:
    run = Run(tape)
    for step in run.steps():
        yield step.event
        if stop(step, run.state):
            return


def _paced(events: Iterator[AnyEvent], speed: float) -> Iterator[AnyEvent]:
    """Yield the events when they are due."""
    began_s, first_s = time.monotonic(), None
    for event in events:
        first_s = event.client_s if first_s is None else first_s
        left_s = (event.client_s - first_s) / speed - (time.monotonic() - began_s)
        if left_s > 0:
            time.sleep(left_s)
        yield event


def _bench_agent() -> Source:
    """Return an agent that runs benchmarks and looks at nothing of this machine."""
    from tui.transport.agent_source import AgentSource
    from tui.transport.local import agent_opener

    watch = WatchRequest(matchers=[], gpus=False, discover=False)
    return AgentSource(agent_opener(), watch, reconnect=False, python=sys.executable)
