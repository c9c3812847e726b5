"""What an outside file tells of the server, as a fingerprint. Most of them tell little."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping

from tui.agent.mask import HIDDEN, is_secret_name, mask_text
from tui.runs.entry import Fingerprint, Setting
from tui.runs.importing.reading import short

SETTINGS = 600
_OWN_OF_A_START = frozenset(("argument --host", "argument --port", "argument --random-seed"))


def setting(name: str, value: object, source: str) -> Setting | None:
    """Return a setting, None for what is unset; a switch that is on has the value ""."""
    if value is None or value is False or value in ("", [], {}):
        return None
    text = "" if value is True else value if isinstance(value, str) else json.dumps(value, default=str)
    hidden = HIDDEN if is_secret_name(name.rpartition(" ")[2]) and text else short(mask_text(text))
    return Setting(name=short(name), value=hidden, source=source)


def arguments(values: Mapping[str, object], source: str) -> Iterator[Setting | None]:
    """Iterate over a server's arguments by their flags: ``tp_size`` is ``argument --tp-size``."""
    for name, value in values.items():
        yield setting(f"argument --{name.replace('_', '-')}", value, source)


def fingerprint(settings: Iterable[Setting | None], label: str) -> Fingerprint:
    """Return the fingerprint of what is told.

    No client tells the environment of the server, so no two runs are known to have the same configuration:
    the digest is empty, unless a person has given the configuration a ``label``.
    """
    told = {each.name: each for each in settings if each is not None}
    if label:
        told["label"] = Setting(name="label", value=label, source="import")
    ordered = tuple(told[name] for name in sorted(told))[:SETTINGS]
    return Fingerprint(digest=_digest(ordered) if label else "", settings=ordered)


def _digest(settings: Iterable[Setting]) -> str:
    lasting = [(each.name, each.value) for each in settings if each.name not in _OWN_OF_A_START]
    return hashlib.sha256(json.dumps(["import", lasting]).encode()).hexdigest()[:16]
