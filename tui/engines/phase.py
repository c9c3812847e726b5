"""The phases of a load."""

from enum import StrEnum


class Phase(StrEnum):
    """Where a load stands. The value is what --json prints.

    The order below is that of most loads; an engine's own order (``Engine.order``) wins, and loads, pools and
    captures may come twice (a draft model). ``FAILED`` and ``STOPPED`` say how a load ended; where it stood
    then is always one of the others.
    """

    LAUNCH = "launch"
    DISTRIBUTED = "distributed"
    WEIGHTS = "weights"
    KV_CACHE = "kv_cache"
    COMPILE = "compile"
    CAPTURE = "capture"
    START_API = "start_api"
    WARMUP = "warmup"
    READY = "ready"
    FAILED = "failed"
    STOPPED = "stopped"

    @property
    def words(self) -> str:
        """The phase as it is shown."""
        return _WORDS[self]

    @property
    def order(self) -> int:
        """The place in a load, 0 for the first."""
        return _ORDER[self]


_WORDS = {phase: phase.value for phase in Phase} | {
    Phase.KV_CACHE: "KV cache",
    Phase.START_API: "API start",
    Phase.WARMUP: "warm-up",
}
_ORDER = {phase: place for place, phase in enumerate(Phase)}
