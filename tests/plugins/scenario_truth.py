"""What each scenario of the demo has to come to, read off its file and its log: data, no tests."""

from dataclasses import dataclass

from tui.commands.records import Outcome

Change = tuple[float, str | None]
Culprit = tuple[str | None, int | None]

TO_CAPTURE: tuple[Change, ...] = (
    (0.3, "launch"),
    (8.1, "distributed"),
    (11.2, "weights"),
    (22.6, "kv_cache"),
    (23.0, "capture"),
)
SERVES: tuple[Change, ...] = ((36.0, "start_api"), (36.05, "warmup"), (45.7, "ready"))
CLIMBS: tuple[Change, ...] = ((0.3, "process"), (36.6, "port"), (45.6, "model"), (45.7, "ready"))


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is to be thought of a load in one word, and the rank that it stands or falls by."""

    word: str
    culprit: str | None = None


@dataclass(frozen=True, slots=True)
class Truth:
    """Times are seconds of the scenario; ``fault`` is the class at the end, ``told`` what fails on the
    way, ``culprit`` rank and pid that the state names for it, ``dead_s`` when a part of the server is seen
    to be gone where that is before its end.

    NOT ASSERTED SO FAR: ``verdict`` is the worst that will be thought of the load once the state tells loads
    that stand or crawl from those that go on; None where only the outcome counts.
    """

    phases: tuple[Change, ...]
    readiness: tuple[Change, ...]
    outcome: Outcome
    exit_code: int
    ends_s: float
    fault: str | None = None
    told: tuple[Change, ...] = ()
    culprit: Culprit = (None, None)
    server_code: int | None = None
    dead_s: float | None = None
    verdict: Verdict | None = None


TRUTH: dict[str, Truth] = {
    "ready": Truth(TO_CAPTURE + SERVES, CLIMBS, "ready", 0, 45.7),
    "capture-hang": Truth(
        TO_CAPTURE, ((0.3, "process"),), "failed", 1, 152.6, fault="hung", verdict=Verdict("hung", "TP5")
    ),
    "capture-suspended": Truth(
        TO_CAPTURE,
        ((0.3, "process"),),
        "failed",
        1,
        95.6,
        fault="suspended",
        verdict=Verdict("suspended", "TP5"),
    ),
    "slow-storage": Truth(
        (
            *TO_CAPTURE[:3],
            (104.1, "kv_cache"),
            (104.5, "capture"),
            (117.5, "start_api"),
            (117.5, "warmup"),
            (126.7, "ready"),
        ),
        ((0.3, "process"), (117.6, "port"), (126.6, "model"), (126.7, "ready")),
        "ready",
        0,
        126.7,
        verdict=Verdict("slow"),
    ),
    "oom-capture": Truth(
        TO_CAPTURE,
        ((0.3, "process"), (35.1, None)),
        "failed",
        1,
        35.1,
        fault="died",
        told=((35.0, "oom_capture"),),
        culprit=("TP3", 4203),
        server_code=-9,
        verdict=Verdict("dead", "TP3"),
    ),
    "rank-killed": Truth(
        TO_CAPTURE[:3],
        ((0.3, "process"), (20.7, None)),
        "failed",
        1,
        20.7,
        fault="died",
        told=((18.4, "oom_host"),),
        culprit=("TP5", 4205),
        server_code=1,
        dead_s=16.6,
        verdict=Verdict("dead", "TP5"),
    ),
    "false-ready": Truth(
        (*TO_CAPTURE, SERVES[0]),
        ((0.3, "process"), (0.6, "port"), (0.6, "health"), (0.6, "wrong_model"), (37.7, None)),
        "failed",
        1,
        37.7,
        fault="died",
        told=((0.6, "wrong_model"), (36.1, "port_in_use")),
        server_code=1,
        verdict=Verdict("dead"),
    ),
    "wrong-model": Truth(
        TO_CAPTURE + SERVES[:2],
        (*CLIMBS[:2], (36.6, "wrong_model")),
        "failed",
        1,
        103.8,
        fault="wrong_model",
        told=((36.6, "wrong_model"),),
    ),
    "link-cut": Truth(
        (*TO_CAPTURE, (38.1, "warmup"), (45.7, "ready")),
        ((0.3, "process"), (38.6, "port"), (45.6, "model"), (45.7, "ready")),
        "ready",
        0,
        45.7,
    ),
}
