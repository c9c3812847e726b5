"""Named workloads: what a TOML table says of each, and the runs that come of one.

A profile is one run, or a sweep of several: over ``concurrencies`` in a closed loop, or over ``rates``.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, cast

import msgspec

from tui.benchmark import BenchSpec, Limits

DEFAULT = "decode"
"""What is run when nobody names a profile: one stream, tok/s as people quote it, within a minute."""
OPEN_CONCURRENCY = 256
"""Requests in flight at most where a rate is asked for and no concurrency."""
OPEN_S = 30.0
"""How long requests go out at a rate where nothing else bounds the run."""
MANY = 1_000_000
"""Requests of a run that only its duration bounds."""
NAME_LENGTH = 40
LEVELS = 32


class WrongProfile(ValueError):
    """A table that is no profile: one sentence, and the word that was not known among ``choices``."""

    def __init__(self, sentence: str, word: str = "", choices: Sequence[str] = ()) -> None:
        super().__init__(sentence)
        self.word = word
        self.choices = tuple(choices)


@dataclass(frozen=True, slots=True)
class Profile:
    """A named workload. Fields that a BenchSpec has too mean what they mean there.

    ``concurrencies`` and ``rates`` are the levels of a sweep; with ``rates`` the one concurrency is the most
    in flight. ``requests`` are those of a level; None: ``requests_per_stream`` for each stream, or as many as
    fit into ``duration_s``. ``data`` is a path, "" for made prompts. ``where`` is the file that it is from.
    """

    name: str
    about: str = ""
    concurrencies: tuple[int, ...] = ()
    rates: tuple[float, ...] = ()
    arrival: Literal["constant", "poisson"] | None = None
    requests: int | None = None
    requests_per_stream: int | None = None
    input_tokens: int = 256
    output_tokens: int = 128
    duration_s: float | None = None
    warmup_s: float = 30.0
    timeout_s: float = 300.0
    turns: int = 1
    prefix_tokens: int = 0
    seed: int = 0
    flush_cache: bool = False
    data: str = ""
    ttft_limit_ms: float | None = None
    tpot_limit_ms: float | None = None
    e2e_limit_ms: float | None = None
    where: str = ""

    @property
    def limits(self) -> Limits | None:
        """What a request must keep to count as goodput, None where nothing is limited."""
        given = (self.ttft_limit_ms, self.tpot_limit_ms, self.e2e_limit_ms)
        if given == (None, None, None):
            return None
        return Limits(ttft_ms=given[0], tpot_ms=given[1], e2e_ms=given[2])


def profiles_of(table: Mapping[str, object], where: str) -> dict[str, Profile]:
    """Return the profiles of a TOML document, one a table, by name. Raises WrongProfile."""
    found: dict[str, Profile] = {}
    for name, body in table.items():
        if not isinstance(body, dict):
            raise WrongProfile(f"{where}: {name} stands outside of a table: begin one with [its name]")
        if not name.isprintable() or not 0 < len(name) <= NAME_LENGTH or " " in name:
            raise WrongProfile(f"{where}: [{name}] is no name: 1 to {NAME_LENGTH} characters without spaces")
        found[name] = _profile(name, cast("dict[str, object]", body), where)
    return found


def changed(profile: Profile, changes: Mapping[str, object]) -> Profile:
    """Return a profile with other values (field name -> value), checked. Raises WrongProfile.

    A number of requests or a time that is asked for replaces the other bound of the profile, and so does a
    rate. The name then says that it is not the profile as it stands in the file.
    """
    if not changes:
        return profile
    _check_values(changes, profile.name)
    given = dict(changes)
    if "rates" in given and not profile.rates:
        given = {"concurrencies": (), "requests": None, "requests_per_stream": None} | given
    if "requests" in given:
        given = {"requests_per_stream": None, "duration_s": None} | given
    elif "duration_s" in given:
        given = {"requests": None, "requests_per_stream": None} | given
    if (
        "concurrencies" in given
        and "rates" not in given
        and len(cast("tuple[int, ...]", given["concurrencies"])) > 1
    ):
        given |= {"rates": (), "arrival": None}
    named = replace(profile, **cast("dict[str, Any]", given))
    return named if named == profile else _checked(replace(named, name=_other_name(profile)), profile.name)


def specs_of(
    profile: Profile, *, url: str, model: str | None, series: str, **overrides: object
) -> list[BenchSpec]:
    """Return the runs of a profile in the order of its levels; ``overrides`` are fields of each BenchSpec."""
    levels = [(rate, _cap(profile)) for rate in profile.rates] or [
        (None, concurrency) for concurrency in profile.concurrencies or (1,)
    ]
    shared = cast("dict[str, Any]", overrides)
    return [
        msgspec.structs.replace(
            _spec(profile, rate, concurrency, url=url, model=model),
            series=series if len(levels) > 1 else "",
            level=number,
            levels=len(levels),
            **shared,
        )
        for number, (rate, concurrency) in enumerate(levels, 1)
    ]


def _spec(
    profile: Profile, rate: float | None, concurrency: int, *, url: str, model: str | None
) -> BenchSpec:
    return BenchSpec(
        url=url,
        model=model,
        concurrency=concurrency,
        requests=_requests(profile, rate, concurrency),
        input_tokens=profile.input_tokens,
        output_tokens=profile.output_tokens,
        timeout_s=profile.timeout_s,
        seed=profile.seed,
        profile=profile.name,
        arrival="closed" if rate is None else profile.arrival or "poisson",
        rate_per_s=rate,
        duration_s=profile.duration_s,
        warmup_s=profile.warmup_s,
        turns=profile.turns,
        prefix_tokens=profile.prefix_tokens,
        data=profile.data,
        flush_cache=profile.flush_cache,
        limits=profile.limits,
    )


def _requests(profile: Profile, rate: float | None, concurrency: int) -> int:
    if profile.requests is not None:
        return profile.requests
    if rate is not None:
        return max(1, math.ceil(rate * (profile.duration_s or OPEN_S)))
    each = profile.requests_per_stream
    return MANY if each is None else each * concurrency


def _cap(profile: Profile) -> int:
    return profile.concurrencies[0] if profile.concurrencies else OPEN_CONCURRENCY


def _other_name(profile: Profile) -> str:
    suffix = " (changed)"
    return profile.name if profile.name.endswith(suffix) else profile.name + suffix


def _profile(name: str, body: Mapping[str, object], where: str) -> Profile:
    values: dict[str, Any] = {}
    for key, value in body.items():
        if key not in KEYS:
            raise WrongProfile(f"{where}: [{name}] has no key {key!r}", key.replace("-", "_"), tuple(KEYS))
        field, reader = KEYS[key]
        values[field] = _read(reader, value, f"{where}: [{name}] ", key)
    return _checked(Profile(name=name, where=where, **values), f"{where}: [{name}]")


def _checked(profile: Profile, where: str) -> Profile:
    if profile.rates and len(profile.concurrencies) > 1:
        raise WrongProfile(f"{where}: with a rate, concurrency is one number: the most in flight")
    if profile.arrival is not None and not profile.rates:
        raise WrongProfile(f"{where}: arrival {profile.arrival} needs a rate: without one the loop is closed")
    if profile.prefix_tokens >= profile.input_tokens and profile.prefix_tokens:
        raise WrongProfile(
            f"{where}: prefix_tokens ({profile.prefix_tokens}) must be fewer than input_tokens "
            f"({profile.input_tokens}), of which they are a part"
        )
    if profile.requests is not None and profile.requests_per_stream is not None:
        raise WrongProfile(f"{where}: give requests or requests_per_stream, not both")
    bounds = (profile.requests, profile.requests_per_stream, profile.duration_s)
    if bounds == (None, None, None) and not profile.rates:
        raise WrongProfile(f"{where}: nothing ends it: give requests, requests_per_stream or duration_s")
    return profile


def _check_values(changes: Mapping[str, object], name: str) -> None:
    """Hold changes to what a file may say."""
    for key, (field, reader) in KEYS.items():
        value = changes.get(field)
        if isinstance(value, tuple):
            value = list(cast("tuple[object]", value))
        if value is not None:
            _read(reader, value, f"{name}: ", key)


def _read(reader: Callable[[object], object], value: object, where: str, key: str) -> object:
    try:
        return reader(value)
    except ValueError as error:
        choices: tuple[str, ...] = getattr(error, "choices", ())
        raise WrongProfile(f"{where}{key} {error}", str(value), choices) from None


def _whole(least: int, most: int) -> Callable[[object], int]:
    def read(value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise ValueError(f"must be a whole number from {least:,} to {most:,}, not {value!r}")
        return value

    return read


def _number(least: float, most: float) -> Callable[[object], float]:
    def read(value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
            raise ValueError(f"must be a number from {least:,.10g} to {most:,.10g}, not {value!r}")
        return float(value)

    return read


def _levels(one: Callable[[object], Any]) -> Callable[[object], tuple[Any, ...]]:
    def read(value: object) -> tuple[Any, ...]:
        given = cast("list[object]", value) if isinstance(value, list) else [value]
        if not 1 <= len(given) <= LEVELS:
            raise ValueError(f"must have 1 to {LEVELS} levels, not {len(given)}")
        return tuple(dict.fromkeys(one(each) for each in given))

    return read


def _text(value: object) -> str:
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        raise ValueError(f"must be one line of text, not {value!r}")
    return value


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"must be true or false, not {value!r}")  # noqa: TRY004 - a wrong value of a file
    return value


ARRIVALS = ("constant", "poisson")


def _arrival(value: object) -> str:
    if value not in ARRIVALS:
        raise WrongProfile(f"must be constant or poisson, not {value!r}", str(value), ARRIVALS)
    return cast("str", value)


_positive = _number(0.001, 1e6)
_tokens = _whole(1, 1_000_000)
KEYS: dict[str, tuple[str, Callable[[object], object]]] = {
    "about": ("about", _text),
    "concurrency": ("concurrencies", _levels(_whole(1, 4096))),
    "rate": ("rates", _levels(_positive)),
    "arrival": ("arrival", _arrival),
    "requests": ("requests", _whole(1, MANY)),
    "requests_per_stream": ("requests_per_stream", _whole(1, MANY)),
    "input_tokens": ("input_tokens", _tokens),
    "output_tokens": ("output_tokens", _tokens),
    "duration_s": ("duration_s", _number(0.1, 86_400)),
    "warmup_s": ("warmup_s", _number(0, 3600)),
    "timeout_s": ("timeout_s", _number(1, 86_400)),
    "turns": ("turns", _whole(1, 1000)),
    "prefix_tokens": ("prefix_tokens", _whole(0, 1_000_000)),
    "seed": ("seed", _whole(0, 2**31)),
    "flush_cache": ("flush_cache", _flag),
    "data": ("data", _text),
    "ttft_limit_ms": ("ttft_limit_ms", _positive),
    "tpot_limit_ms": ("tpot_limit_ms", _positive),
    "e2e_limit_ms": ("e2e_limit_ms", _positive),
}
"""Each key of a table -> the field of Profile, and what reads its value."""
assert {field for field, _ in KEYS.values()} == {each.name for each in fields(Profile)} - {"name", "where"}
