"""How far the weights of each rank have come, at any second of a recording."""

import math

from tui.demo.scenario import Scenario
from tui.demo.script import cues, mark


class Weights:
    """What each rank has of its share: evenly between its own two lines of the log."""

    def __init__(self, scenario: Scenario) -> None:
        self.share_mib = scenario.server.weights_gib * 1024.0
        self._spans = [_span(scenario, rank) for rank in range(scenario.server.ranks)]

    def loaded_mib(self, recorded_s: float, rank: int) -> float:
        """Return how much of its share a rank has loaded."""
        began_s, ended_s = self._spans[rank]
        if recorded_s <= began_s:
            return 0.0
        return self.share_mib * min(1.0, (recorded_s - began_s) / (ended_s - began_s))


def _span(scenario: Scenario, rank: int) -> tuple[float, float]:
    """Return from when to when, on the recording's clock, a rank's weights come; told or not."""
    own = mark(scenario.log, rank)
    began_s = ended_s = math.inf
    for cue in cues(scenario.log.file):
        if own in cue.text and scenario.log.weights_begin in cue.text:
            began_s = cue.at_s
        elif own in cue.text and scenario.log.weights_end in cue.text:
            ended_s = cue.at_s
    return began_s, ended_s
