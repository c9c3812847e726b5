"""One run of the ledger in words: where it was made, its figures, and under what its server ran."""

import time
from collections.abc import Iterator

from tui.bench.report import text_lines, wrapped
from tui.engines.counters import figures_of
from tui.runs.entry import Fingerprint, RunEntry, Setting, value_words
from tui.watch.words import clock_text
from widgets.cells import clip, width

VALUE, SOURCE = 40, 20
NAME_AT_MOST = 36
_ENVIRONMENT = {
    "whole": "the environment is known: a variable that is not listed is unset",
    "partly": "the environment is known in part: a variable that is not listed may be set",
    "unknown": "the environment is not known",
}


def run_lines(entry: RunEntry, number: int | None, *, baseline: bool) -> list[str]:
    """Return everything of a run, 80 columns wide. ``number`` is that of the start in its configuration."""
    return [
        *_head(entry, number, baseline=baseline),
        "",
        *text_lines(entry.result, figures_of(entry.result)),
        "",
        *_fingerprint(entry.fingerprint),
    ]


def _head(entry: RunEntry, number: int | None, *, baseline: bool) -> Iterator[str]:
    spec = entry.result.spec
    made = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(min(max(0.0, entry.made_wall_s), 253e9)))
    yield f"run {entry.id}, made {made}{', the baseline of its workload' if baseline else ''}"
    yield from wrapped(f"workload: {entry.workload}")
    if spec.profile:
        level = f", level {spec.level} of {spec.levels} of sweep {spec.series}" if spec.levels > 1 else ""
        yield f"profile: {spec.profile}{level}"
    if entry.origin != "tminus":
        yield f"measured by {entry.origin}, and imported"
    yield from wrapped(_server(entry, number))
    yield f"{len(entry.records)} requests are kept one by one"


def _server(entry: RunEntry, number: int | None) -> str:
    instance = entry.instance
    pid = "process not known" if instance.pid is None else f"pid {instance.pid}"
    words = [f"server on {entry.host or 'an unknown host'}, {pid}"]
    if number is not None:
        words.append(f"start {number} of its configuration")
    if entry.ready_for_s is not None:
        words.append(f"ready for {clock_text(entry.ready_for_s)} before")
    return ", ".join(words)


def _fingerprint(fingerprint: Fingerprint) -> Iterator[str]:
    """Yield under what the server ran: a line for each setting, with where it was seen."""
    if not fingerprint.settings:
        yield "under what the server ran is not known"
        return
    yield f"configuration {fingerprint.digest or 'not known'}"
    room = min(NAME_AT_MOST, max(width(setting.name) for setting in fingerprint.settings))
    for setting in fingerprint.settings:
        yield from _setting(setting, room)
    yield _ENVIRONMENT[fingerprint.environment_known]


def _setting(setting: Setting, room: int) -> Iterator[str]:
    """Yield a setting; a name or value that is too long is whole, and what follows it a line further."""
    value = value_words(setting.value, known=setting.known, name=setting.name)
    source = f"  [{clip(setting.source, SOURCE)}]" if setting.source else ""
    name = setting.name + " " * max(0, room - width(setting.name))
    if width(setting.name) > room or width(value) > VALUE:
        yield f"  {setting.name}{source}"
        yield f"      {value}"
    else:
        yield f"  {name}  {value}{source}"
