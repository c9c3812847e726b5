"""``tminus bench --list``: the named workloads, ours and the user's own."""

import json
import os
import sys
import textwrap
from collections.abc import Iterator, Mapping

from tui import profiles_file
from tui.bench.profiles import DEFAULT, Profile, specs_of
from tui.bench.workload import Workload
from tui.settings import Choices

WIDTH = 80
INDENT = " " * 10


def run(choices: Choices) -> int:
    """Print the profiles; return the exit code."""
    profiles = profiles_file.load_profiles(os.environ)
    lines = list(objects(profiles)) if choices.json else list(words(profiles, os.environ))
    encoding = "utf-8" if choices.json else sys.stdout.encoding or "utf-8"
    sys.stdout.buffer.write("".join(f"{line}\n" for line in lines).encode(encoding, "replace"))
    sys.stdout.buffer.flush()
    return 0


def words(profiles: Mapping[str, Profile], environ: Mapping[str, str]) -> Iterator[str]:
    """Give the lines for people: name, what it is for, what it asks, and whose it is."""
    for name, profile in profiles.items():
        about = profile.about + (" This is what runs where none is named." if name == DEFAULT else "")
        yield from _wrapped(name.ljust(len(INDENT) - 1), about or "-")
        yield from _wrapped("", _workload(profile).words)
        if profile.where != profiles_file.OURS:
            yield from _wrapped("", whose(profile))
        yield ""
    yield f"Your own stand in {profiles_file.profiles_path(environ)}; tminus bench --profile NAME runs one."


def objects(profiles: Mapping[str, Profile]) -> Iterator[str]:
    """Give one JSON object a profile."""
    ours = profiles_file.our_profiles()
    for name, profile in profiles.items():
        workload = _workload(profile)
        yield json.dumps(
            {
                "name": name,
                "about": profile.about,
                "workload": workload.words,
                "levels": len(workload.specs),
                "from": profile.where,
                "replaces_ours": profile.where != profiles_file.OURS and name in ours,
            }
        )


def whose(profile: Profile) -> str:
    """Say where a profile of the user's own is from, and that it replaces one of ours where it does."""
    replaces = ", in place of the one that comes with tminus" if profile.name in _our_names() else ""
    return f"(your own, from {profile.where}{replaces})"


def _our_names() -> set[str]:
    return set(profiles_file.our_profiles())


def _workload(profile: Profile) -> Workload:
    specs = specs_of(profile, url="", model=None, series="")
    return Workload(profile.name, profile.about, tuple(specs))


def _wrapped(first: str, text: str) -> list[str]:
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=first.ljust(len(INDENT) - 1) + " ",
        subsequent_indent=INDENT,
        break_long_words=False,
        break_on_hyphens=False,
    )
