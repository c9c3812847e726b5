"""``tminus export FILE --bundle OUT``: a recording as something to attach to a bug report."""

import os
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import msgspec

from tui import __version__, parse
from tui.commands import start
from tui.commands.replay import reported
from tui.events import VERSION, AnyEvent, Hello, Tick
from tui.journal.anonymise import Anonymiser
from tui.journal.bundle import (
    ENDINGS,
    SUFFIX,
    BundleExists,
    PackedJournal,
    bare_name,
    folder_name,
    new_bundle,
)
from tui.journal.bundled import NAMES
from tui.journal.h200_records import recorder_file
from tui.journal.header import Asked, Header
from tui.journal.masking import Masking
from tui.journal.reader import RecordingFault
from tui.journal.rewrite import rewritten
from tui.journal.writer import SUFFIX as RECORDING_SUFFIX
from tui.replay.ending import ending
from tui.replay.evidence import Ended, Evidence, gather
from tui.replay.evidence_bench import bench_text
from tui.replay.evidence_contents import NAME as CONTENTS
from tui.replay.evidence_contents import Masked, Replaced, contents_text
from tui.replay.evidence_head import Made
from tui.replay.evidence_text import environment_text, log_text, versions_text
from tui.replay.headless import Played, Run
from tui.replay.opening import found, open_recording, open_tape, options_of
from tui.replay.ordinary import ordinary_words
from tui.replay.report import report_html
from tui.replay.tape import Tape
from tui.settings import Choices, UsageFault
from tui.terminal import undone_by_signals
from tui.transport.clean import clean
from tui.watch.transitions import Transition

JOURNAL = NAMES[0]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to export, as it was written on the command line."""

    recording: str | None
    bundle: str | None
    anonymise: bool
    mask: bool


Course = list[tuple[float, str, str | None]]
"""What a load came to and when, without any name; None where nothing is compared with it."""


@dataclass(frozen=True, slots=True)
class Source:
    """What goes into a bundle: a tape and its header, cleaned, masked and anonymised."""

    tape: Tape
    header: Header
    masking: Masking
    anonymiser: Anonymiser | None
    course: Course | None


def run(wanted: Wanted, choices: Choices) -> int:
    """Write the bundle; return the exit code. Raises UsageFault for what cannot be read or written."""
    try:
        if wanted.bundle is not None:
            _check_name(parse.local_path(wanted.bundle))
        file = found(wanted.recording, start.recordings_folder())
        source = prepared(file, mask=wanted.mask, anonymise=wanted.anonymise)
        path = parse.local_path(wanted.bundle or _own_name(source.tape.name))
        with undone_by_signals():
            sizes = write(source, path)
    except RecordingFault as fault:
        raise UsageFault(str(fault)) from None
    sys.stdout.write(f"wrote {clean(str(path))}: {', '.join(sizes)}\n")
    if not wanted.mask:
        sys.stdout.write("SECRETS WERE NOT MASKED: do not post it where others can read it\n")
    sys.stdout.write(f"look through it before you post it; {CONTENTS} says what is in it\n")
    return 0


def prepared(file: Path, *, mask: bool, anonymise: bool) -> Source:
    """Open a recording, ours or a foreign one, and hide in it what is to be hidden."""
    tape = open_tape(file)
    masking = Masking(hide=mask)
    header = rewritten(_header(file, tape), masking)
    safe = _changed(replace(tape, name=_bare(masking.text("name", tape.name))), header, masking)
    if not anonymise:
        return Source(safe, header, masking, None, None)
    anonymiser = Anonymiser(ordinary_words())
    anonymiser.learn(header)
    changes: list[Transition] = []
    events = 0
    for step in Run(safe).steps():
        anonymiser.learn(step.event)
        changes += step.changes
        events += 1
    changed = anonymiser.anonymised(header)
    # The writer names its files after the host, which may be a word that stays elsewhere.
    name = safe.name.replace(_in_file_name(header.host), _in_file_name(changed.host))
    # A recording that is still being written may have grown by names that were not learnt.
    learnt = replace(safe, name=anonymiser.in_name(name), read=lambda: islice(safe.read(), events))
    return Source(_changed(learnt, changed, anonymiser), changed, masking, anonymiser, _course(changes))


def _bare(name: str) -> str:
    return name.removesuffix(RECORDING_SUFFIX).replace("/", "_") or "recording"


def _own_name(recording: str) -> str:
    """Return how a bundle is called that was given no name; that of a bundle is not told twice."""
    return f"tminus-{recording.removeprefix('tminus-')}{SUFFIX}"


def _in_file_name(host: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "_", host)[:60] or "host"


def _header(file: Path, tape: Tape) -> Header:
    """Return the header of a recording; a foreign one gets ours, by what its events tell."""
    if recorder_file(file) is None:
        return open_recording(file).header
    host, wall_s = tape.name, 0.0
    for number, event in enumerate(tape.read()):
        wall_s = wall_s or event.wall_s
        if isinstance(event, Hello):
            host = event.host
            break
        if number >= 1000:
            break
    options = tape.options
    asked = Asked(**{name: getattr(options, name) for name in Asked.__struct_fields__})
    return Header(tminus=__version__, events=VERSION, host=host, began_wall_s=wall_s, asked=asked)


def _changed(tape: Tape, header: Header, change: Masking | Anonymiser) -> Tape:
    def read() -> Iterator[AnyEvent]:
        for event in tape.read():
            yield rewritten(event, change)

    options = options_of(header.asked)
    return replace(tape, options=options, read=read, outline=None)


def _course(changes: Iterable[Transition]) -> Course:
    return [(each.t, each.kind, each.after) for each in changes]


def write(source: Source, path: Path) -> list[str]:
    """Write a bundle and return the names of the files in it. Raises UsageFault."""
    folder = _folder(path, source.anonymiser)
    try:
        with new_bundle(path, folder) as bundle:
            journal = PackedJournal(source.header)
            try:
                evidence = _played(source, journal)
                texts = _texts(source, evidence)
                files = {name: text.encode("utf-8", "backslashreplace") for name, text in texts}
                packed, packed_bytes = journal.finish()
                sizes = {JOURNAL: packed_bytes, **{name: len(data) for name, data in files.items()}}
                bundle.add(CONTENTS, _contents(source, sizes, evidence))
                bundle.add_open(JOURNAL, packed, packed_bytes)
                for name, data in files.items():
                    bundle.add(name, data)
            finally:
                journal.close()
    except BundleExists:
        raise _taken(path) from None
    except OSError as error:
        raise UsageFault(f"{path} cannot be written: {error.strerror or error}") from None
    return [CONTENTS, *sizes]


def _check_name(path: Path) -> None:
    if os.path.lexists(path):
        raise _taken(path)
    if not path.name.endswith(ENDINGS) or not bare_name(path.name):
        raise UsageFault(
            f"a bundle is a {SUFFIX}: end the name in {' or '.join(ENDINGS)} (it is {path.name})"
        )


def _taken(path: Path) -> UsageFault:
    return UsageFault(f"{path} exists already and is kept: give another name with --bundle, or remove it")


def _folder(path: Path, anonymiser: Anonymiser | None) -> str:
    name = folder_name(path.name)
    return name if anonymiser is None else anonymiser.in_name(name)


def _played(source: Source, journal: PackedJournal) -> Evidence:
    """Run the tape through, into the journal."""
    tape = replace(source.tape, read=lambda: _with_origin(source.tape))
    # What is counted is what goes into the bundle, once.
    source.masking.recorded = source.masking.hidden = 0
    return gather(tape, source.header, journal.append)


def _texts(source: Source, evidence: Evidence) -> Iterator[tuple[str, str]]:
    outcome, fault, reason = ending(evidence.state, evidence.length_s)
    ended = Ended(outcome, fault, reason)
    made = Made(__version__, source.masking.hide, source.anonymiser is not None)
    summary = reported(Played(evidence.transitions, evidence.state, evidence.length_s, evidence.now_s))
    yield "log.txt", log_text(evidence)
    yield "environment.txt", environment_text(evidence)
    yield "versions.txt", versions_text(evidence, made)
    if evidence.state.bench.results:
        yield "benchmark.txt", bench_text(evidence.state.bench.results)
    yield "summary.json", msgspec.json.format(msgspec.json.encode(summary)).decode() + "\n"
    yield "report.html", report_html(evidence, ended, made)


def _with_origin(tape: Tape) -> Iterator[AnyEvent]:
    """Iterate over a tape; where its time counts from before the first event a tick stands there.

    A journal has no origin but its first event.
    """
    first = True
    for event in tape.read():
        early_s = 0.0 if tape.origin_s is None or not first else event.client_s - tape.origin_s
        if early_s > 0:
            yield Tick(
                mono_s=event.mono_s - early_s,
                wall_s=event.wall_s - early_s,
                client_s=event.client_s - early_s,
            )
        first = False
        yield event


def _contents(source: Source, sizes: dict[str, int], evidence: Evidence) -> bytes:
    masking, anonymiser = source.masking, source.anonymiser
    masked = Masked(masking.hide, masking.recorded, masking.hidden)
    names = None
    if anonymiser is not None:
        counts = {sort.value: count for sort, count in sorted(anonymiser.names.counts.items())}
        names = Replaced(counts, source.course == _course(evidence.transitions))
    title = f"Incident bundle of tminus {__version__}, made of the recording {source.tape.name}"
    text = contents_text(title, sizes, masked, names, evidence.processes.others)
    return text.encode("utf-8", "backslashreplace")
