"""From a file to a tape, whatever wrote it."""

import os
from collections.abc import Sequence
from pathlib import Path

import msgspec

from tui import parse
from tui.journal.bundle import bare_name
from tui.journal.bundled import NAMES, is_bundle, open_bundled
from tui.journal.h200 import H200Recording
from tui.journal.h200_records import FILES, recorder_file
from tui.journal.header import Asked
from tui.journal.heard import heard
from tui.journal.reader import Recording, RecordingFault
from tui.journal.writer import SUFFIX
from tui.replay.tape import Tape
from tui.transport.clean import clean
from tui.watch.options import WatchOptions

LISTED = 3
"""So many of several recordings that a name may mean are listed, the newest first."""


def open_tape(path: Path) -> Tape:
    """Return the tape of a recording, of a bundle or of a file of the H200 recorder (its folder will do).

    Raises RecordingFault with one sentence.
    """
    recorder = recorder_file(path)
    if recorder is not None:
        measured = H200Recording(recorder)
        return Tape(measured.name, options_of(measured.asked), measured.events, origin_s=0.0)
    recording = open_recording(path)
    return Tape(
        bare_name(path.resolve().name if os.path.isdir(path) else path.name),
        options_of(recording.header.asked),
        recording.events,
    )


def open_recording(path: Path) -> Recording:
    """Return a recording of ours: a file, that in the folder of a bundle, or that inside a packed bundle.

    Raises RecordingFault with one sentence.
    """
    if os.path.isdir(path):
        inside = next((path / name for name in NAMES if os.path.isfile(path / name)), None)
        if inside is None:
            raise RecordingFault(f"{path} is a folder without {NAMES[0]} or {FILES[0]}: name a recording")
        return Recording(inside)
    return Recording(path, open_bundled if is_bundle(path) else None)


def found(name: str | None, folder: Path) -> Path:
    """Return the file that a person names: a path, or a recording in the folder.

    As much of a recording's name is enough as is its alone; without a name it is the newest in which the host
    is heard. Raises RecordingFault where there is none.
    """
    try:
        kept = recordings_in(folder)
    except OSError as error:
        raise RecordingFault(f"{folder} cannot be read: {error.strerror}") from None
    if name is None:
        if not kept:
            raise RecordingFault(f"there is no recording in {folder} yet: name a file")
        return next(filter(_tells, reversed(kept)), kept[-1])
    path = parse.local_path(name)
    # What is written as a path is one: why it cannot be read is said when it is opened.
    return path if os.sep in name or os.path.exists(path) else _named(name, kept)


def recordings_in(folder: Path) -> list[Path]:
    """Return the recordings of a folder, the one written last at the end. Raises OSError."""
    try:
        names = [name for name in os.listdir(folder) if name.endswith(SUFFIX)]
    except FileNotFoundError:
        return []
    return [path for _, path in sorted((_modified_ns(folder / name), folder / name) for name in names)]


def _modified_ns(path: Path) -> int:
    try:
        return path.lstat().st_mtime_ns
    except FileNotFoundError:
        return 0  # another tminus has just dropped it


def _tells(path: Path) -> bool:
    """Whether a recording holds a word of what was watched; what cannot be read is told, not passed over."""
    try:
        return any(map(heard, Recording(path).events()))
    except RecordingFault:
        return True


def _named(name: str, kept: Sequence[Path]) -> Path:
    """Return the one recording that a name, the time in it or any other beginning of it means."""
    meanings = (
        [path for path in kept if path.name in (name, name + SUFFIX)],
        [path for path in kept if path.name.startswith(f"{name}-")],
        [path for path in kept if path.name.startswith(name)],
    )
    inside = next(filter(None, meanings), None)
    if inside is None:
        raise RecordingFault(
            f"{name}: there is no such file, nor a recording of that name; tminus recordings lists them"
        )
    if len(inside) > 1:
        some = ", ".join(clean(path.name.removesuffix(SUFFIX)) for path in inside[: -LISTED - 1 : -1])
        more = ", ..." if len(inside) > LISTED else ""
        raise RecordingFault(f"{name}: {len(inside)} recordings begin with that ({some}{more}): name one")
    return inside[0]


def options_of(asked: Asked) -> WatchOptions:
    """Return what a recording was asked for as options of a watch."""
    return WatchOptions(**msgspec.structs.asdict(asked))
