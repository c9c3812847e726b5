"""Which of a directory's files are the weights that an engine loads, by their names alone. Pure."""

from __future__ import annotations

import re

TYPE_CHECKING = False  # as in worker.py
if TYPE_CHECKING:
    from collections.abc import Iterable

# The kinds of weight files; of the first one that is there the engines load all, and none of the others.
KINDS = (".safetensors", ".bin", ".pt", ".pth", ".gguf", ".engine")
_GGUF = ".gguf"
# "model-00003-of-00017", "model-Q4_K_M-00001-of-00003"
_PART = re.compile(r"(?P<stem>.*)-(?P<part>\d+)-of-(?P<parts>\d+)$", re.DOTALL)
# What begins so lies beside the weights: states of a training, adapters, projectors of images.
_BESIDE = re.compile(
    r"\.|(?:training_args|optimi[sz]er|scheduler|scaler|rng_state|adapter_|mmproj|tokenizer)", re.IGNORECASE
)
# The same weights once more, in the form in which they were first published.
_ORIGINAL = "consolidated"
_NAMED = 3


def kind_of(name: str) -> str | None:
    """Return the kind of weight file that a name ends like, None for any other file."""
    return next((kind for kind in KINDS if name.lower().endswith(kind)), None)


def chosen(names: Iterable[str]) -> tuple[list[str], str]:
    """Return the weight files among a directory's names; none, and why, where that cannot be said."""
    weights = sorted(name for name in names if _BESIDE.match(name) is None)
    for kind in KINDS:
        found = [name for name in weights if kind_of(name) == kind]
        if found:
            return _of_one_kind(found, kind)
    return [], "holds no weight files"


def with_parts(name: str, names: Iterable[str]) -> tuple[list[str], str]:
    """Return a file and, if it is one part of several, the others from its directory's names."""
    stem, parts = _taken_apart(name)
    if parts is None:
        return [name], ""
    return _complete({parts: [other for other in sorted(names) if _taken_apart(other) == (stem, parts)]})


def _of_one_kind(names: list[str], kind: str) -> tuple[list[str], str]:
    families = _families(names)
    if kind == _GGUF and len(families) > 1:
        listed = ", ".join(sorted(families)[:_NAMED]) + (", ..." if len(families) > _NAMED else "")
        return [], "holds %d models (%s)" % (len(families), listed)
    ours = {stem: sets for stem, sets in families.items() if not stem.startswith(_ORIGINAL)}
    found: list[str] = []
    for sets in (ours or families).values():
        files, why = _complete(sets)
        if why:
            return [], why
        found += files
    return found, ""


def _families(names: list[str]) -> dict[str, dict[int | None, list[str]]]:
    """Return the files by what they hold parts of, and into how many parts it is split (None: not)."""
    families: dict[str, dict[int | None, list[str]]] = {}
    for name in names:
        stem, parts = _taken_apart(name)
        families.setdefault(stem, {}).setdefault(parts, []).append(name)
    return families


def _taken_apart(name: str) -> tuple[str, int | None]:
    bare = name[: -len(kind_of(name) or "")] if kind_of(name) else name
    part = _PART.match(bare)
    return (bare, None) if part is None else (part.group("stem"), int(part.group("parts")))


def _complete(sets: dict[int | None, list[str]]) -> tuple[list[str], str]:
    """Return the files of one model that may lie there whole as well as split, once."""
    split = [files for parts, files in sets.items() if parts is not None and len(files) >= parts]
    if len(split) > 1:
        return [], "holds the weights split in %d ways" % len(split)
    if split:
        return split[0], ""
    if None in sets:
        return sets[None], ""
    parts, files = next((parts, files) for parts, files in sets.items() if parts is not None)
    return [], "holds %d of %d weight files" % (len(files), parts)
