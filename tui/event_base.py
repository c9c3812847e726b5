"""What every event and every value inside one has in common."""

import msgspec


class Event(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", forbid_unknown_fields=True):
    """What every event carries: when it happened and when it was received."""

    mono_s: float
    wall_s: float
    client_s: float = 0.0


class Part(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A value inside an event or command."""
