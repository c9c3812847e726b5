"""A file of results as JSON values with their lines. The file is somebody else's: it may hold anything."""

import json
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn, TypeVar, cast

import msgspec

from tui import files
from tui.transport.clean import clean

FILE_BYTES = 512 * 1024 * 1024
WORDS = 160

T = TypeVar("T")


class ImportFault(Exception):
    """A file that cannot be imported: one sentence with file, line and what."""


@dataclass(frozen=True, slots=True)
class Found:
    """One JSON object of a file: where it stands, and when the file was last written."""

    path: Path
    line: int
    fields: dict[str, object]
    written_wall_s: float

    @property
    def where(self) -> str:
        """The place in words that begin a sentence."""
        return f"{clean(str(self.path))}, line {self.line}"

    def refuse(self, what: str) -> NoReturn:
        """Raise ImportFault that says what is wrong with it."""
        raise ImportFault(f"{self.where}: {what}")

    def read_as(self, sort: type[T]) -> T:
        """Return its fields as a struct; raises ImportFault for one that is missing or of another kind."""
        try:
            return msgspec.convert(self.fields, sort)
        except (msgspec.ValidationError, OverflowError, RecursionError) as error:
            self.refuse(short(f"{error}"[:1].lower() + f"{error}"[1:]))


def short(text: str) -> str:
    """Return somebody else's words cleaned, on one line and not too long."""
    line = clean(" ".join(text.split()))
    return line if len(line) <= WORDS else f"{line[: WORDS - 1]}…"


def read(path: Path) -> list[Found]:
    """Return the objects of a file that holds one, or one a line. Raises ImportFault."""
    name = clean(str(path))
    try:
        data, written_s = _bytes(path)
    except OSError as error:
        raise ImportFault(f"{name} cannot be read: {error.strerror or error}") from None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ImportFault(f"{name}, line {line}: this is no text in UTF-8") from None
    if not text.strip():
        raise ImportFault(f"{name} is empty")
    return [Found(path, line, fields, written_s) for line, fields in _objects(text, name)]


def _bytes(path: Path) -> tuple[bytes, float]:
    """Return a plain file's content and the time of its last change; raises OSError."""
    file = os.open(path, files.READ)
    with os.fdopen(file, "rb") as reader:
        facts = os.fstat(file)
        if not stat.S_ISREG(facts.st_mode):
            raise OSError(0, "it is no plain file")
        if facts.st_size > FILE_BYTES:
            raise OSError(0, f"it is larger than {FILE_BYTES // 1024**2} MiB")
        return reader.read(FILE_BYTES), facts.st_mtime


def _objects(text: str, name: str) -> Iterator[tuple[int, dict[str, object]]]:
    """Iterate over a text's one object, or over those of its lines; with the line that each begins in."""
    try:
        yield 1, _object(text, name, 1)
    except json.JSONDecodeError as error:
        if error.msg != "Extra data" or "\n" not in text.strip():
            raise ImportFault(f"{name}, line {error.lineno}: {_wrong(error)}") from None
    else:
        return
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                yield number, _object(line, name, number)
            except json.JSONDecodeError as error:
                raise ImportFault(f"{name}, line {number}: {_wrong(error)}") from None


def _wrong(error: json.JSONDecodeError) -> str:
    cut = error.msg.startswith("Unterminated") or error.pos >= len(error.doc.rstrip())
    return "the JSON ends in the middle" if cut else f"this is no JSON ({error.msg}, column {error.colno})"


def _object(text: str, name: str, line: int) -> dict[str, object]:
    try:
        # The clients write Infinity and NaN, which the standard library alone takes.
        value = cast("object", json.loads(text))
    except json.JSONDecodeError:
        raise
    except (ValueError, RecursionError) as error:
        what = "it is nested too deeply" if isinstance(error, RecursionError) else short(str(error))
        raise ImportFault(f"{name}, line {line}: {what}") from None
    if not isinstance(value, dict):
        raise ImportFault(f"{name}, line {line}: a result is a JSON object, and this is none")
    return cast("dict[str, object]", value)
