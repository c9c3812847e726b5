"""What makes a configuration: which settings of a fingerprint count, how their values compare, its digest.

Left out, since two starts of one configuration differ in them and run alike: ports and addresses that a
start listens on, places of logs and dumps, numbers that it gives itself (SGLANG_RUN_ID), the order of
arguments and how a flag is spelt (those are gone already), parts of temporary paths that are made up anew.
Process ids stand in sources alone. What was hidden as a secret can not be compared, and an API key slows
nothing down. All else counts, host and kernel included; what is not known counts as not known, since nobody
can say that it is the same.
"""

import hashlib
import re
from collections.abc import Iterable

import msgspec

from tui.agent.mask import HIDDEN
from tui.engines.aliases import PER_START
from tui.engines.environment import is_per_start
from tui.engines.given import comparable
from tui.runs.entry import Setting

ARGUMENT = "argument "
ENVIRONMENT = "environment "
LIBRARY = "library "
_TEMPORARY = re.compile(r"(?<![\w.~-])/(?:tmp|var/tmp|dev/shm|run|private/tmp)/[^\s:,;\"']+")
# By tempfile, by mktemp, a UUID, hexadecimal digits, a process id or a time.
_MADE_UP = re.compile(
    r"(?<=[/._-])(?:tmp[a-z0-9_]{8}|tmp\.\w{6,}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{16,}"
    r"|\d{3,})(?=[/._-]|$)"
)
_DIGITS = 16


def counts(setting: Setting) -> bool:
    """Return whether a setting is part of the configuration."""
    kind, _, name = setting.name.partition(" ")
    if setting.value == HIDDEN:
        return False
    if kind == "argument":
        return name not in PER_START
    return kind != "environment" or not is_per_start(name)


def meaning_of(value: str | None) -> str | None:
    """Return a value so that two which mean the same are equal: its numbers, its JSON, its lasting paths."""
    if value is None:
        return None
    return comparable(_TEMPORARY.sub(lambda path: _MADE_UP.sub("*", path[0]), value))


def digest(settings: Iterable[Setting], environment_known: str) -> str:
    """Return the name of a configuration: 16 hexadecimal digits."""
    counted = sorted((each.name, meaning_of(each.value), each.known) for each in settings if counts(each))
    text = msgspec.json.encode((environment_known, counted))
    return hashlib.sha256(text).hexdigest()[:_DIGITS]
