"""The named workloads of this user: those that come with tminus, and the user's own in ``profiles.toml``.

The user's file lies beside ``config.toml``. A profile there of one of our names replaces ours.
"""

import dataclasses
import tomllib
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

from tui import parse
from tui.bench.profiles import Profile, WrongProfile, profiles_of
from tui.settings import UsageFault, config_path

FILE_NAME = "profiles.toml"
OURS = "tminus"
"""``where`` of the profiles that come with tminus."""
MOST_BYTES = 256 * 1024


def profiles_path(environ: Mapping[str, str]) -> Path:
    """Return where the user's own profiles are looked for."""
    return config_path(environ).with_name(FILE_NAME)


def load_profiles(environ: Mapping[str, str]) -> dict[str, Profile]:
    """Return all profiles by name, ours first. Raises UsageFault with one sentence; no file is no profile."""
    return our_profiles() | _own_profiles(profiles_path(environ))


def our_profiles() -> dict[str, Profile]:
    """Return the profiles that come with tminus."""
    text = files("tui.bench").joinpath("data", FILE_NAME).read_text("utf-8")
    return profiles_of(tomllib.loads(text), OURS)


def profile_named(name: str, environ: Mapping[str, str]) -> Profile:
    """Return one profile. Raises UsageFault that names the nearest."""
    profiles = load_profiles(environ)
    if name not in profiles:
        hint = parse.nearest(name, tuple(profiles)) or f"; there are {', '.join(profiles)}"
        raise UsageFault(f"there is no profile {name!r}{hint}")
    return profiles[name]


def fault_of(error: WrongProfile) -> UsageFault:
    """Return the sentence for a person, with the nearest word where one was mistyped."""
    return UsageFault(f"{error}{parse.nearest(error.word, error.choices)}")


def _own_profiles(file: Path) -> dict[str, Profile]:
    try:
        with file.open("rb") as opened:
            data = opened.read(MOST_BYTES + 1)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise UsageFault(f"{file} cannot be read: {error.strerror}") from None
    if len(data) > MOST_BYTES:
        raise UsageFault(f"{file} is longer than {MOST_BYTES // 1024} KiB: no file of profiles")
    try:
        table = tomllib.loads(data.decode("utf-8"))
    except UnicodeDecodeError:
        raise UsageFault(f"{file} is no text in UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise UsageFault(f"{file} is no valid TOML: {error}") from None
    try:
        found = profiles_of(table, str(file))
    except WrongProfile as error:
        raise fault_of(error) from None
    return {name: _beside(file, each) for name, each in found.items()}


def _beside(file: Path, profile: Profile) -> Profile:
    """Read the path of a data set as one beside the file that names it."""
    if not profile.data:
        return profile
    return dataclasses.replace(profile, data=str(file.parent / parse.local_path(profile.data)))
