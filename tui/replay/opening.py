"""From a file to a tape, whatever wrote it."""

from pathlib import Path

import msgspec

from tui.journal.header import Asked
from tui.journal.reader import Recording, RecordingFault
from tui.journal.writer import SUFFIX
from tui.replay.tape import Tape
from tui.watch.options import WatchOptions


def open_tape(path: Path) -> Tape:
    """Return the tape of a recording. Raises RecordingFault with one sentence."""
    recording = Recording(path)
    return Tape(path.name, options_of(recording.header.asked), recording.events)


def found(name: str | None, folder: Path) -> Path:
    """Return the file that a person names: a path, or a recording in the folder; without a name its newest.

    Raises RecordingFault where there is none.
    """
    kept = sorted(folder.glob(f"*{SUFFIX}"), key=lambda path: path.stat().st_mtime)
    if name is None:
        if not kept:
            raise RecordingFault(f"there is no recording in {folder} yet: name a file")
        return kept[-1]
    path = Path(name).expanduser()
    if path.exists():
        return path
    inside = [each for each in kept if each.name in (name, name + SUFFIX)]
    if not inside:
        raise RecordingFault(f"{name}: there is no such file, nor a recording of that name; see recordings")
    return inside[0]


def options_of(asked: Asked) -> WatchOptions:
    """Return what a recording was asked for as options of a watch."""
    return WatchOptions(**msgspec.structs.asdict(asked))
