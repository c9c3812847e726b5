"""How long nothing may move before it counts as a stall: by phase, by this same capture, by past loads."""

from dataclasses import dataclass

from tui.engines.phase import Phase
from tui.watch.verdict.bar import Bar
from tui.watch.verdict.situation import Situation

LEAST_S = 30.0
FEW_LOADS = 5
FACTOR_FEW = 3.0
FACTOR = 2.0
CAPTURE_GAPS = 3.0

FLOORS_S: dict[Phase, float] = {
    Phase.LAUNCH: 90.0,
    Phase.DISTRIBUTED: 60.0,
    Phase.WEIGHTS: 60.0,
    Phase.KV_CACHE: 180.0,
    Phase.COMPILE: 300.0,
    Phase.CAPTURE: 60.0,
    Phase.START_API: 300.0,
    Phase.WARMUP: 300.0,
    Phase.READY: 60.0,
}
"""Joint silence over all channels, not of the log alone; the stalls research, 3.3, proposes them.

Launch (imports, arguments): cold Python on NFS. Distributed: communicators take under 1 s on one host.
Weights: local storage. KV cache: what follows the weights (repack) is work of one CPU thread that few
channels show. Compile: without compiler CPU; with it nothing is ever stuck by time. Capture: see
``stall_after``. API start and warm-up: first kernels. Ready: how long a server that answered may leave a
question unanswered.

Measured on H200s, the longest silences of the *log* in healthy loads were 55.3 s (JIT of a first launch),
15.9 s and 15.2 s, 35 to 38 s for all imports: on the joint channels none of them was silent for 30 s, so no
floor had to be raised.
"""
NODES_S = 180.0
"""Distributed over several hosts: the others may start late."""
NETWORK_S = 120.0
"""Weights from a network: NFS tries again each 60 s."""
DOWNLOAD_S = 120.0
"""A download without bytes."""
FIRST_ITEM_S = 300.0
"""The first item of a capture has its JIT; it holds until one whole gap of this capture is known."""
UNKNOWN_PHASE_S = 300.0
"""The longest of all: where the phase is not known, any of them may be at work."""


@dataclass(frozen=True, slots=True)
class Threshold:
    """``seconds`` of joint silence make a stall; ``words`` say where that comes from."""

    seconds: float
    words: str


def stall_after(situation: Situation, bar: Bar) -> Threshold:
    """Return the threshold for a moment: T = max(floor / 2, k x longest past silence), at least 30 s.

    Without past loads it is the floor. k is 3 below 5 past loads, 2 from there: simulated over mixed modes
    that errs in 10 % and 1 % of healthy loads, every rule built on the middle of past times in 14 % and more.
    In a capture 3 x its own longest gap is the least.
    """
    floor = _capture(situation, bar) if situation.phase is Phase.CAPTURE else _floor(situation)
    past = situation.past.silences_s
    if not past:
        return floor
    factor = FACTOR_FEW if len(past) < FEW_LOADS else FACTOR
    own = CAPTURE_GAPS * (bar.longest_gap_s or 0.0) if situation.phase is Phase.CAPTURE else 0.0
    seconds = max(floor.seconds / 2.0, factor * max(past), own, LEAST_S)
    words = f"{factor:.0f} x the longest silence of {len(past)} past loads ({max(past):.0f} s)"
    return Threshold(
        seconds, words if seconds == factor * max(past) else f"{floor.words}, less after past loads"
    )


def _floor(situation: Situation) -> Threshold:
    if situation.downloading:
        return Threshold(DOWNLOAD_S, "a download without bytes")
    phase = situation.phase
    if phase is Phase.DISTRIBUTED and situation.nodes > 1:
        return Threshold(NODES_S, f"distributed over {situation.nodes} hosts")
    if phase is Phase.WEIGHTS and situation.network_storage:
        return Threshold(NETWORK_S, "weights from a network")
    if phase is None or phase not in FLOORS_S:
        return Threshold(UNKNOWN_PHASE_S, "phase not known")
    return Threshold(FLOORS_S[phase], f"usual for {phase.words}")


def _capture(situation: Situation, bar: Bar) -> Threshold:
    began_s = situation.phase_since_s
    own = bar.began_s is not None and (began_s is None or bar.began_s >= began_s - 1.0)
    if not own or bar.longest_gap_s is None:
        return Threshold(FIRST_ITEM_S, "first item of a capture")
    gap = CAPTURE_GAPS * bar.longest_gap_s
    if gap <= FLOORS_S[Phase.CAPTURE]:
        return Threshold(FLOORS_S[Phase.CAPTURE], "usual for capture")
    return Threshold(gap, f"3 x the longest gap of this capture ({bar.longest_gap_s:.1f} s)")
