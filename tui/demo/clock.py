"""The clocks of a simulated host: a scenario always begins at the same time of the same day."""

from typing import TypedDict

BEGAN_WALL_S = 1_796_040_000.0
"""2026-11-30 12:00:00 UTC."""
BEGAN_MONO_S = 86_400.0
BEGAN_CLIENT_S = 1_000.0


class Stamp(TypedDict):
    """The three clocks of an event."""

    mono_s: float
    wall_s: float
    client_s: float


def stamp(t: float) -> Stamp:
    """Return the clocks at a second of the scenario."""
    return Stamp(mono_s=BEGAN_MONO_S + t, wall_s=BEGAN_WALL_S + t, client_s=BEGAN_CLIENT_S + t)
