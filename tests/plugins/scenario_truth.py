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


SERVED = ("progressing", "ready")
DIED = ("progressing", "dead")


@dataclass(frozen=True, slots=True)
class Worst:
    """The worst that is thought of a load, from when on, and the rank that it stands or falls by."""

    word: str
    since_s: float
    culprit: str | None = None


@dataclass(frozen=True, slots=True)
class Truth:
    """Times are seconds of the scenario; ``fault`` is the class at the end, ``told`` what fails on the
    way, ``culprit`` rank and pid that the state names for it. ``judged`` are all verdicts in their order,
    ``worst`` is the worst of them where that is no fleeting one.
    """

    phases: tuple[Change, ...]
    readiness: tuple[Change, ...]
    outcome: Outcome
    exit_code: int
    ends_s: float
    judged: tuple[str | None, ...]
    fault: str | None = None
    told: tuple[Change, ...] = ()
    culprit: Culprit = (None, None)
    server_code: int | None = None
    worst: Worst | None = None


TRUTH: dict[str, Truth] = {
    "ready": Truth(TO_CAPTURE + SERVES, CLIMBS, "ready", 0, 45.7, SERVED),
    "capture-hang": Truth(
        TO_CAPTURE,
        ((0.3, "process"),),
        "failed",
        1,
        152.6,
        ("progressing", "stalled", "hung"),
        fault="hung",
        worst=Worst("hung", 92.6, "TP5"),
    ),
    "capture-suspended": Truth(
        TO_CAPTURE,
        ((0.3, "process"),),
        "failed",
        1,
        95.6,
        ("progressing", "suspended"),
        fault="suspended",
        worst=Worst("suspended", 35.6, "TP5"),
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
        ("progressing", "slow", "progressing", "ready"),
        worst=Worst("slow", 15.6),
    ),
    "oom-capture": Truth(
        TO_CAPTURE,
        ((0.3, "process"), (35.1, None)),
        "failed",
        1,
        35.1,
        DIED,
        fault="died",
        told=((35.0, "oom_capture"),),
        culprit=("TP3", 4203),
        server_code=-9,
        worst=Worst("dead", 35.1, "TP3"),
    ),
    "rank-killed": Truth(
        TO_CAPTURE[:3],
        ((0.3, "process"), (20.7, None)),
        "failed",
        1,
        20.7,
        DIED,
        fault="died",
        told=((18.4, "oom_host"),),
        culprit=("TP5", 4205),
        server_code=1,
        worst=Worst("dead", 16.35, "TP5"),
    ),
    "false-ready": Truth(
        (*TO_CAPTURE, SERVES[0]),
        ((0.3, "process"), (0.6, "port"), (0.6, "health"), (0.6, "wrong_model"), (37.7, None)),
        "failed",
        1,
        37.7,
        DIED,
        fault="died",
        told=((0.6, "wrong_model"), (36.1, "port_in_use")),
        server_code=1,
        worst=Worst("dead", 37.7),
    ),
    "wrong-model": Truth(
        TO_CAPTURE + SERVES[:2],
        (*CLIMBS[:2], (36.6, "wrong_model")),
        "failed",
        1,
        103.8,
        ("progressing", "quiet"),
        fault="wrong_model",
        told=((36.6, "wrong_model"),),
    ),
    "link-cut": Truth(
        (*TO_CAPTURE, (38.1, "warmup"), (45.7, "ready")),
        ((0.3, "process"), (38.6, "port"), (45.6, "model"), (45.7, "ready")),
        "ready",
        0,
        45.7,
        # For a second after a blind time nothing was seen yet that could have moved.
        ("progressing", "quiet", None, "progressing", "ready"),
    ),
}
