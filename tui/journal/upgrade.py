"""Lines of older event versions -> lines of this one, a version at a time.

Whoever raises ``tui.events.VERSION`` adds the step from the version before, and a recording of that version
to tests/fixtures/recordings.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from tui.events import VERSION

Raw = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Upgrade:
    """What changes from a version to the next, on decoded lines; ``event`` None: no event has changed.

    Neither may expect anything of a line: one that is no event then fails to decode.
    """

    header: Callable[[Raw], Raw]
    event: Callable[[Raw], Raw] | None = None


def _with_asked(header: Raw) -> Raw:
    """Version 1 did not tell what was asked for: the defaults are what most watches had."""
    return {**header, "asked": {}}


def _same(header: Raw) -> Raw:
    """Versions 3 to 5 only added events and figures that a recording may lack."""
    return header


UPGRADES: Mapping[int, Upgrade] = {
    1: Upgrade(header=_with_asked),
    2: Upgrade(header=_same),
    3: Upgrade(header=_same),
    4: Upgrade(header=_same),
}
"""By the version that a step begins from."""


def upgraded_header(line: bytes, version: int, upgrades: Mapping[int, Upgrade] = UPGRADES) -> bytes:
    """Return a header's line in this version. Raises msgspec.MsgspecError for what is no JSON object."""
    header = msgspec.json.decode(line, type=Raw)
    for step in _steps(version, upgrades):
        header = step.header(header)
    return msgspec.json.encode({**header, "events": version + len(_steps(version, upgrades))})


def event_upgrade(
    version: int, upgrades: Mapping[int, Upgrade] = UPGRADES
) -> Callable[[bytes], bytes] | None:
    """Return what brings an event's line of a version to this one, None where nothing has to change.

    What is returned raises msgspec.MsgspecError for what is no JSON object.
    """
    changes = [step.event for step in _steps(version, upgrades) if step.event is not None]
    if not changes:
        return None

    def upgraded(line: bytes) -> bytes:
        event = msgspec.json.decode(line, type=Raw)
        for change in changes:
            event = change(event)
        return msgspec.json.encode(event)

    return upgraded


def _steps(version: int, upgrades: Mapping[int, Upgrade]) -> list[Upgrade]:
    newest = max(upgrades, default=VERSION - 1) + 1
    return [upgrades[each] for each in range(version, newest)]
