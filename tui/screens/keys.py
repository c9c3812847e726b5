"""All keys in one table, made from the bindings themselves: for the help, the footer and README."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from textual.binding import Binding, BindingType

_NAMES = {
    "question_mark": "?",
    "slash": "/",
    "pagedown": "PgDn",
    "pageup": "PgUp",
    "escape": "Esc",
    "space": "Space",
    "enter": "Enter",
    "backspace": "Backspace",
    "tab": "Tab",
    "home": "Home",
    "end": "End",
    "up": "↑",
    "down": "↓",
    "left": "←",
    "full_stop": ".",
    "comma": ",",
    "plus": "+",
    "equals_sign": "=",
    "minus": "-",
    "right_square_bracket": "]",
    "left_square_bracket": "[",
    "right": "→",
}
GROUPS = {
    "app": "Everywhere",
    "hosts": "Several hosts",
    "replay": "Replay and demo",
    "why": "Why",
    "profile": "Profiles",
    "question": "A question on the way to a host",
    "pane": "Panes",
    "log": "Log",
    "gpus": "GPUs",
    "text": "Notes and this help",
}
_FOOTER = (
    ("app.quit", "quit"),
    ("app.help", "help"),
    ("hosts.all", "hosts"),
    ("hosts.next", "next host"),
    ("replay.play", "play"),
    ("replay.place", "go to"),
    ("replay.next", "next change"),
    ("app.bench", "bench"),
    ("app.why", "why"),
    ("log.search", "search"),
    ("log.follow", "follow"),
    ("app.pause", "pause"),
    ("pane.zoom", "zoom"),
    ("pane.next", "pane"),
    ("log.wrap", "wrap"),
    ("log.copy", "copy"),
    ("app.commands", "commands"),
    ("app.theme", "theme"),
)

_WHY_FOOTER = (
    ("why.close", "close"),
    ("why.report", "copy a bug report"),
    ("why.diagnose", "diagnose"),
    ("text.page_down", "page"),
)


@dataclass(frozen=True, slots=True)
class Key:
    """One binding: its id, its keys as a person reads them, what it does, and the action behind it."""

    id: str
    keys: tuple[str, ...]
    meaning: str
    action: str

    @property
    def group(self) -> str:
        """The first part of the id."""
        return self.id.partition(".")[0]


def keys_of(*bindings: Iterable[BindingType]) -> list[Key]:
    """Return the table of these bindings, groups in the order of the help."""
    found = [_key(each) for group in bindings for each in group if isinstance(each, Binding)]
    order = list(GROUPS)
    return sorted(found, key=lambda key: order.index(key.group))


def _key(binding: Binding) -> Key:
    keys = tuple(display(key) for key in binding.key.split(","))
    return Key(binding.id or "", keys, binding.description, binding.action)


def display(key: str) -> str:
    """Return a key's name as a person reads it."""
    *modifiers, last = key.split("+")
    name = _NAMES.get(last, last.upper() if last[:1] == "f" and last[1:].isdigit() else last)
    return "+".join([each.capitalize() for each in modifiers] + [name])


def ascii_keys(key: Key) -> tuple[str, ...]:
    """Return the keys without arrows, for a screen that is drawn in ASCII."""
    arrows = {"↑": "Up", "↓": "Down", "←": "Left", "→": "Right"}
    return tuple(arrows.get(each, each) for each in key.keys)


def footer_pairs(keys: Sequence[Key]) -> list[tuple[str, str]]:
    """Return key and short meaning of what the footer shows, most important first."""
    return _pairs(keys, _FOOTER)


def why_pairs(keys: Sequence[Key]) -> list[tuple[str, str]]:
    """Return the same for the screen that says why."""
    return _pairs(keys, _WHY_FOOTER)


def _pairs(keys: Sequence[Key], wanted: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    first = {key.id: key.keys[0] for key in keys}
    return [(first[name], short) for name, short in wanted if name in first]


def markdown(keys: Sequence[Key]) -> str:
    """Return the table of keys for README."""
    rows = [
        f"| {GROUPS[key.group]} | {' '.join(f'`{name}`' for name in key.keys)} | {key.meaning} | {key.id} |"
        for key in keys
    ]
    return "\n".join(["| Where | Key | What it does | Id |", "| --- | --- | --- | --- |", *rows, ""])
