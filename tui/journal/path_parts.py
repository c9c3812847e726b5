"""A path with the parts of it that are names replaced."""

import re
from collections.abc import Callable, Iterator

from tui.journal import well_known
from tui.journal.names import Sort

Named = Callable[[Sort, str], str]
_PYTHON = re.compile(r"python\d(?:\.\d+)?(?:\.zip)?")
_PACKAGES = ("site-packages", "dist-packages")
_HOMES = ("home", "Users")


def with_parts(path: str, sort: Sort, name: Named) -> str:
    """Return a path with every part of it that is not the same everywhere replaced by ``name``.

    ``sort`` is what the last part is. Parts of system folders and of well-known Python packages stay, and so
    do extensions. In a Hugging Face cache ``models--a--b`` holds two names.
    """
    if path.startswith(well_known.SYSTEM) and not path.startswith(well_known.NOT_SYSTEM):
        packages = [place for mark in _PACKAGES if (place := path.find(f"/{mark}/")) >= 0]
        if not packages:
            return path
    return "/".join(_parts(path.split("/"), sort, name))


def _parts(parts: list[str], sort: Sort, name: Named) -> Iterator[str]:
    kept = False
    last = max((place for place, part in enumerate(parts) if part), default=-1)
    for place, part in enumerate(parts):
        before = parts[place - 1] if place else ""
        if part in _PACKAGES:
            kept = False
            yield part
        elif kept or _begins_kept(before, part):
            kept = True
            yield part
        elif before in _HOMES and parts[0] == "" and place == 2 and part not in well_known.USERS:
            yield name(Sort.USER, part)
        elif part.startswith("~") and len(part) > 1:
            yield "~" + name(Sort.USER, part[1:])
        else:
            yield _part(part, sort if place == last else Sort.FOLDER, name)


def _begins_kept(before: str, part: str) -> bool:
    """Whether a well-known package, or Python's own library, begins here."""
    if before in _PACKAGES:
        return well_known.split_extension(part)[0] in well_known.PACKAGES
    return before.startswith("lib") and _PYTHON.fullmatch(part) is not None


def _part(part: str, sort: Sort, name: Named) -> str:
    if well_known.stays(part):
        return part
    hub = well_known.HUB.fullmatch(part)
    if hub is not None:
        *owners, model = hub[2].split("--")
        named = [*(name(Sort.FOLDER, owner) for owner in owners), name(Sort.MODEL, model)]
        return "--".join((hub[1], *named))
    hidden = "." if part.startswith(".") else ""
    stem, end = well_known.split_extension(part[len(hidden) :])
    if not stem:
        return part
    if end and sort is Sort.FOLDER:
        sort = Sort.FILE
    return hidden + name(sort, stem) + end
