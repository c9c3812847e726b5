"""From a file to a tape, whatever wrote it."""

from pathlib import Path

import msgspec

from tui.journal.bundle import bare_name
from tui.journal.bundled import NAMES, is_bundle, open_bundled
from tui.journal.h200 import H200Recording
from tui.journal.h200_records import FILES, recorder_file
from tui.journal.header import Asked
from tui.journal.reader import Recording, RecordingFault
from tui.journal.writer import SUFFIX
from tui.replay.tape import Tape
from tui.watch.options import WatchOptions


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
        bare_name(path.resolve().name if path.is_dir() else path.name),
        options_of(recording.header.asked),
        recording.events,
    )


def open_recording(path: Path) -> Recording:
    """Return a recording of ours: a file, that in the folder of a bundle, or that inside a packed bundle.

    Raises RecordingFault with one sentence.
    """
    if path.is_dir():
        inside = next((path / name for name in NAMES if (path / name).is_file()), None)
        if inside is None:
            raise RecordingFault(f"{path} is a folder without {NAMES[0]} or {FILES[0]}: name a recording")
        return Recording(inside)
    return Recording(path, open_bundled if is_bundle(path) else None)


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
    # The list of recordings calls one by the time in its name where that is enough.
    inside = inside or [each for each in kept if each.name.startswith(f"{name}-")]
    if not inside:
        raise RecordingFault(f"{name}: there is no such file, nor a recording of that name; see recordings")
    if len(inside) > 1:
        raise RecordingFault(f"{name}: {len(inside)} recordings begin with that; see recordings")
    return inside[0]


def options_of(asked: Asked) -> WatchOptions:
    """Return what a recording was asked for as options of a watch."""
    return WatchOptions(**msgspec.structs.asdict(asked))
