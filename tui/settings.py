"""What a person chose: flags before environment before the configuration file before the defaults.

Each setting has one name: ``ca_file`` is the flag ``--ca-file``, the variable ``TMINUS_CA_FILE`` and the key
``ca_file`` of ``config.toml``. A switch may be given as ``TMINUS_NO_MOUSE=1`` too. An empty variable is not
set.
"""

import dataclasses
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tui import parse
from tui.transport.wrapper import KINDS

PREFIX = "TMINUS_"
FILE_NAME = "config.toml"
# Variables with the prefix that are no setting: the file's place, and what shells use for completion.
OTHER_VARIABLES = ("TMINUS_CONFIG",)


class UsageFault(Exception):
    """Something wrong that is known before connecting: one sentence with what, where and what to do."""


@dataclass(frozen=True, slots=True)
class Choices:
    """Every setting of every command, read and checked. ``host`` is None where nobody named one.

    Of several hosts it is the first, and ``others`` are the rest; see ``for_each_host``.
    """

    host: str | None = None
    others: tuple[str, ...] = ()
    port: int | None = None
    url: str | None = None
    log: str | None = None
    pid: int | None = None
    model: str | None = None
    interval: float = 1.0
    bench_on_ready: bool = False
    once: bool = False
    json: bool = False
    theme: str | None = None
    glyphs: str = "auto"
    mouse: bool = True
    api_key_env: str | None = None
    ready_on: Literal["token", "model", "health"] = "token"
    insecure: bool = False
    ca_file: str | None = None
    record: bool = True
    ssh_config: str | None = None
    ssh_cmd: tuple[str, ...] | None = None
    accept_new: bool = False
    docker: str | None = None
    podman: str | None = None
    kubectl: str | None = None
    srun: str | None = None
    timeout: float = 1200.0
    restarts: bool = False
    fail_on: tuple[Literal["stalled", "hung", "suspended"], ...] = ()
    profile: str | None = None
    concurrency: tuple[int, ...] | None = None
    requests: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    rate: tuple[float, ...] | None = None
    arrival: Literal["constant", "poisson"] | None = None
    duration: float | None = None
    warmup: float | None = None
    turns: int | None = None
    prefix_tokens: int | None = None
    data: str | None = None
    seed: int | None = None
    ttft_limit_ms: float | None = None
    tpot_limit_ms: float | None = None
    e2e_limit_ms: float | None = None
    flush_cache: bool | None = None
    anyway: bool = False
    engine: str | None = None
    headless: bool = False
    speed: float | None = None
    scenario: str | None = None
    keep_recordings: int = 50
    keep_recordings_mib: int = 500


Reader = Callable[[object], object]

READERS: dict[str, Reader] = {
    "host": parse.hosts,
    "port": parse.port,
    "url": parse.url,
    "log": parse.path,
    "pid": parse.pid,
    "model": parse.text,
    "interval": parse.interval_s,
    "bench_on_ready": parse.flag,
    "once": parse.flag,
    "json": parse.flag,
    "theme": parse.text,
    "glyphs": parse.one_of("auto", "block", "ascii", "braille"),
    "mouse": parse.flag,
    "api_key_env": parse.variable,
    "ready_on": parse.one_of("token", "model", "health"),
    "insecure": parse.flag,
    "ca_file": parse.path,
    "record": parse.flag,
    "ssh_config": parse.readable_file,
    "ssh_cmd": parse.command,
    "accept_new": parse.flag,
    "docker": parse.inside("docker"),
    "podman": parse.inside("podman"),
    "kubectl": parse.inside("kubectl"),
    "srun": parse.inside("srun"),
    "timeout": parse.duration_s,
    "restarts": parse.flag,
    "fail_on": parse.some_of("stalled", "hung", "suspended"),
    "profile": parse.text,
    "concurrency": parse.wholes,
    "requests": parse.whole,
    "input_tokens": parse.whole,
    "output_tokens": parse.whole,
    "rate": parse.rates,
    "arrival": parse.one_of("constant", "poisson"),
    "duration": parse.duration_s,
    "warmup": parse.warmup_s,
    "turns": parse.whole,
    "prefix_tokens": parse.whole_or_none,
    "data": parse.readable_file,
    "seed": parse.whole_or_none,
    "ttft_limit_ms": parse.limit_ms,
    "tpot_limit_ms": parse.limit_ms,
    "e2e_limit_ms": parse.limit_ms,
    "flush_cache": parse.flag,
    "anyway": parse.flag,
    "engine": parse.text,
    "headless": parse.flag,
    "speed": parse.speed,
    "scenario": parse.text,
    "keep_recordings": parse.whole,
    "keep_recordings_mib": parse.whole,
}
NAMES = tuple(READERS)


def choose(flags: Mapping[str, object], environ: Mapping[str, str], file: Path | None) -> Choices:
    """Return the choices of one call. Raises UsageFault with one sentence.

    ``flags`` maps setting names to what the command line gave, None where it gave nothing; settings that the
    command does not have may be absent.
    """
    values: dict[str, Any] = {}
    for name, (where, given) in _layers(flags, environ, file).items():
        values[name] = _read(name, where, given)
    if "host" in values:
        values["host"], *values["others"] = values["host"]
        values["others"] = tuple(values["others"])
    return dataclasses.replace(Choices(), **values)


def for_each_host(choices: Choices) -> tuple[Choices, ...]:
    """Return the choices once for each host that was named: as they are for one or none."""
    if not choices.others:
        return (choices,)
    return tuple(
        dataclasses.replace(choices, host=host, others=()) for host in (choices.host, *choices.others)
    )


def config_file(environ: Mapping[str, str]) -> Path:
    """Return the configuration file; it may be missing unless TMINUS_CONFIG names it. Raises UsageFault."""
    path = config_path(environ)
    if environ.get("TMINUS_CONFIG") and not path.exists():
        raise UsageFault(f"TMINUS_CONFIG names a file that is not there: {path}")
    return path


def config_path(environ: Mapping[str, str]) -> Path:
    """Return where the configuration file is looked for: TMINUS_CONFIG or the user's configuration folder."""
    named = environ.get("TMINUS_CONFIG")
    if named:
        return Path(named)
    import platformdirs

    return platformdirs.user_config_path("tminus") / FILE_NAME


def flag_name(name: str) -> str:
    """Return how a setting is written on the command line."""
    return "HOST" if name == "host" else "--" + name.replace("_", "-")


def _layers(
    flags: Mapping[str, object], environ: Mapping[str, str], file: Path | None
) -> dict[str, tuple[str, object]]:
    """Return for each setting that was given where the winning value stands, and the value."""
    found: dict[str, tuple[str, object]] = {}
    if file is not None:
        found = _over(found, {name: (f"{file}: {name}", value) for name, value in _file(file).items()})
    found = _over(found, _environment(environ))
    return _over(
        found, {name: (flag_name(name), value) for name, value in flags.items() if value is not None}
    )


def _over(
    weaker: dict[str, tuple[str, object]], stronger: dict[str, tuple[str, object]]
) -> dict[str, tuple[str, object]]:
    """Lay one layer over those before it. Raises UsageFault where it says two things at once.

    Of the ways into a container one at most can be meant: one that is given voids those of weaker layers.
    """
    chosen = [where for name, (where, _) in stronger.items() if name in KINDS]
    if len(chosen) > 1:
        raise UsageFault(f"{' and '.join(chosen)} cannot be meant together: give one of them")
    dropped = KINDS if chosen else ()
    return {name: given for name, given in weaker.items() if name not in dropped} | stronger


def _read(name: str, where: str, given: object) -> object:
    try:
        return READERS[name](given)
    except parse.Wrong as error:
        raise UsageFault(f"{where} {error}") from None


def _environment(environ: Mapping[str, str]) -> dict[str, tuple[str, object]]:
    found: dict[str, tuple[str, object]] = {}
    for name, reader in READERS.items():
        variable = PREFIX + name.upper()
        if environ.get(variable):
            found[name] = (variable, environ[variable])
        negative = PREFIX + "NO_" + name.upper()
        if reader is parse.flag and environ.get(negative):
            found[name] = (negative, not _read(name, negative, environ[negative]))
    return found


def _file(file: Path) -> Mapping[str, object]:
    """Return the table of the configuration file; a missing file is an empty one."""
    try:
        table = tomllib.loads(file.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise UsageFault(f"{file} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageFault(f"{file} is no text in UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise UsageFault(f"{file} is no valid TOML: {error}") from None
    _check_keys(file, table)
    return table


def _check_keys(file: Path, keys: Iterable[str]) -> None:
    for key in keys:
        if key not in READERS:
            hint = parse.nearest(key.replace("-", "_"), NAMES)
            raise UsageFault(f"{file}: there is no setting {key!r}{hint}")
