"""In what two fingerprints differ, in the order in which one would ask. Pure."""

from collections.abc import Iterable

from tui.benchmark import Difference
from tui.engines.aliases import canonical
from tui.engines.registry import ENGINES
from tui.runs.configuration import ARGUMENT, ENVIRONMENT, LIBRARY, counts, meaning_of
from tui.runs.entry import Fingerprint, Setting

# What decides most and is changed most often comes first; what is not named comes last but for the host.
_ORDER = (
    "engine",
    "engine version",
    "command",
    ARGUMENT.strip(),
    ENVIRONMENT.strip(),
    "nccl",
    "model",
    "model revision",
    "model bytes",
    "gpus",
    "gpu name",
    "power limit W",
    "topology",
    "persistence",
    "driver",
    LIBRARY.strip(),
)
_LAST = ("gpus of the host", "kernel", "cpus", "host")
_CONFIG = ARGUMENT + "--config"


def differences(a: Fingerprint, b: Fingerprint) -> tuple[Difference, ...]:
    """Return the settings of the configuration in which two fingerprints differ.

    What one of them does not know and the other does is a difference, marked as not known; what neither
    knows is none. Settings that no start shares with another (ports, logs) are left out, as are those that
    neither has.
    """
    ours, theirs = _Side(a), _Side(b)
    names = sorted(ours.settings.keys() | theirs.settings.keys(), key=_place)
    found = [_difference(name, ours.of(name), theirs.of(name)) for name in names]
    return tuple(difference for difference in found if difference is not None)


class _Side:
    """One fingerprint by the names that stand for its settings, and what a missing one means there."""

    def __init__(self, fingerprint: Fingerprint) -> None:
        self._known = fingerprint.environment_known
        engine = fingerprint.setting("engine")
        title = engine.value if engine is not None else None
        name = next((each.name for each in ENGINES if title in (each.title, each.name)), None)
        self.settings = {
            _name(setting, name): setting for setting in fingerprint.settings if counts(_named(setting, name))
        }
        command = fingerprint.setting("command")
        self._libraries = any(name.startswith(LIBRARY) for name in self.settings)
        self._arguments = command is not None and command.known and _CONFIG not in self.settings

    def of(self, name: str) -> Setting:
        """Return the setting of that name, or what its absence says."""
        found = self.settings.get(name)
        if found is not None:
            return found
        return Setting(name=name, value=None, known=self._surely_unset(name))

    def _surely_unset(self, name: str) -> bool:
        if name.startswith(ARGUMENT):
            return self._arguments
        if name.startswith(ENVIRONMENT):
            return self._known == "whole"
        return name.startswith(LIBRARY) and self._libraries


def _named(setting: Setting, engine: str | None) -> Setting:
    return Setting(name=_name(setting, engine), value=setting.value, known=setting.known)


def _name(setting: Setting, engine: str | None) -> str:
    kind, space, flag = setting.name.partition(" ")
    return f"{kind}{space}{canonical(engine, flag)}" if setting.name.startswith(ARGUMENT) else setting.name


def _difference(name: str, a: Setting, b: Setting) -> Difference | None:
    if (a.known, meaning_of(a.value)) == (b.known, meaning_of(b.value)) or not (a.known or b.known):
        return None
    return Difference(name=name, a=a.value, b=b.value, a_known=a.known, b_known=b.known)


def _place(name: str) -> tuple[int, str]:
    if name in _LAST:
        return len(_ORDER) + 1 + _LAST.index(name), name
    return _rank((name, name.partition(" ")[0])), name


def _rank(names: Iterable[str]) -> int:
    return next((_ORDER.index(name) for name in names if name in _ORDER), len(_ORDER))
