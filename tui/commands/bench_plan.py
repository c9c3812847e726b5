"""From choices to the workloads that a command or a key fires: profile, changes to it, data set."""

import hashlib
import os
import uuid
from collections.abc import Mapping
from pathlib import Path

from tui import profiles_file
from tui.bench.dataset import MOST_BYTES, WrongData, prompts_of
from tui.bench.profiles import DEFAULT, Profile, WrongProfile, changed, specs_of
from tui.bench.workload import Workload
from tui.requests import Prompt
from tui.settings import Choices, UsageFault

DIGEST_LENGTH = 8
FIELDS = {
    "concurrency": "concurrencies",
    "requests": "requests",
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "rate": "rates",
    "arrival": "arrival",
    "duration": "duration_s",
    "warmup": "warmup_s",
    "turns": "turns",
    "prefix_tokens": "prefix_tokens",
    "data": "data",
    "seed": "seed",
    "ttft_limit_ms": "ttft_limit_ms",
    "tpot_limit_ms": "tpot_limit_ms",
    "e2e_limit_ms": "e2e_limit_ms",
    "flush_cache": "flush_cache",
}
"""Settings that change a profile -> its fields."""


def plan_for(choices: Choices, environ: Mapping[str, str] = os.environ) -> Workload:
    """Return what the choices ask for. Raises UsageFault for a wrong profile, change or data set."""
    return planned(chosen_profile(choices, environ), choices)


def chosen_profile(choices: Choices, environ: Mapping[str, str] = os.environ) -> Profile:
    """Return the profile that was named, with what the other options change of it. Raises UsageFault."""
    profile = profiles_file.profile_named(choices.profile or DEFAULT, environ)
    given = {field: getattr(choices, name) for name, field in FIELDS.items()}
    try:
        return changed(profile, {field: value for field, value in given.items() if value is not None})
    except WrongProfile as error:
        raise profiles_file.fault_of(error) from None


def planned(profile: Profile, choices: Choices) -> Workload:
    """Return the runs of a profile against the server that was chosen. Raises UsageFault."""
    prompts, data = read_data(profile.data) if profile.data else ([], "")
    specs = specs_of(
        profile,
        url=choices.url or "",
        model=choices.model,
        series=uuid.uuid4().hex[:8],
        insecure=choices.insecure,
        ca_file=choices.ca_file,
        despite_load=choices.anyway,
        data=data,
    )
    return Workload(profile.name, profile.about, tuple(specs), tuple(prompts))


def read_data(name: str) -> tuple[list[Prompt], str]:
    """Return the conversations of a file, and its name with a digest of its content. Raises UsageFault."""
    path = Path(os.path.expanduser(name))
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise UsageFault(f"the data set {path} cannot be read: {error.strerror}") from None
    if len(data) > MOST_BYTES:
        raise UsageFault(f"the data set {path} is larger than {MOST_BYTES // 1024**2} MiB: take a part of it")
    try:
        prompts = prompts_of(data.split(b"\n"))
    except WrongData as error:
        raise UsageFault(f"the data set {path} {error}") from None
    digest = hashlib.sha256(data).hexdigest()[:DIGEST_LENGTH]
    return prompts, f"{path.name} {digest}"
