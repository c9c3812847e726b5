"""GPUs, driver and host of a server as settings."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from tui.provenance import Provenance
from tui.runs.entry import Setting
from tui.watch.gpus import Gpu
from tui.watch.history import held_gpus
from tui.watch.meaning import Meaning

T = TypeVar("T")
_HOLDS = "driver: GPUs on which the server holds memory"
_ALL = "driver: all GPUs of the host"


def hardware(state: Meaning, provenance: Provenance | None) -> Iterator[Setting]:
    """Give what is known of the machine; GPUs are those that the server uses, all where that is not told."""
    yield from _host(state, provenance)
    yield from _driver(state)
    server = state.shown
    held = set[int]() if server is None else held_gpus(server, state.gpus)
    gpus = [gpu for gpu in state.gpus.in_order() if not held or gpu.index in held]
    source = _HOLDS if held else _ALL
    absent = state.driver is not None and state.driver.state == "absent"
    if absent and not gpus:
        yield Setting(name="gpus", value="0", source="driver")
        return
    yield known("gpus", str(len(held)) if held else None, _HOLDS)
    yield known("gpus of the host", str(len(state.gpus.by_index)) if state.gpus.by_index else None, "driver")
    yield known("gpu name", _counted(gpu.fact.name if gpu.fact else None for gpu in gpus), source)
    yield known("power limit W", _counted(_limits(gpus, provenance)), source)
    if provenance is not None:
        indexes = [gpu.index for gpu in gpus]
        modes = _at(provenance.persistence, indexes)
        words = (None if mode is None else "on" if mode else "off" for mode in modes)
        yield known("persistence", _counted(words), source)
        if len(indexes) > 1:
            yield known("topology", _topology(provenance.topology, indexes), source)


def known(name: str, value: str | None, source: str) -> Setting:
    """Return a setting that is not known where there is no value."""
    if value is None:
        return Setting(name=name, value=None, known=False)
    return Setting(name=name, value=value, source=source)


def _host(state: Meaning, provenance: Provenance | None) -> Iterator[Setting]:
    hello = None if state.without_agent else state.hello
    kernel = provenance.kernel if provenance is not None else None
    yield known("host", hello.host if hello is not None else None, "host")
    yield known("kernel", (hello.kernel if hello is not None else None) or kernel, "kernel")
    cpus = hello.cpu_count if hello is not None else None
    yield known("cpus", None if cpus is None else str(cpus), "host")


def _driver(state: Meaning) -> Iterator[Setting]:
    driver = state.driver
    if driver is not None and driver.state == "absent":
        yield Setting(name="driver", value=None, source="driver")
    else:
        yield known("driver", driver.version if driver is not None else None, "driver")


def _limits(gpus: Sequence[Gpu], provenance: Provenance | None) -> Iterator[str | None]:
    asked = _at(provenance.power_limits_w if provenance is not None else None, [gpu.index for gpu in gpus])
    for gpu, limit in zip(gpus, asked, strict=True):
        before = gpu.fact.power_limit_w if gpu.fact is not None else None
        watts = before if limit is None else limit
        yield None if watts is None else f"{watts:g}"


def _at(values: Sequence[T | None] | None, indexes: Iterable[int]) -> list[T | None]:
    return [values[index] if values is not None and index < len(values) else None for index in indexes]


def _counted(values: Iterable[str | None]) -> str | None:
    """Return what all share, else how many have what; None where one is not known, or there is none."""
    found = list(values)
    if not found or None in found:
        return None
    counts = Counter(found)
    if len(counts) == 1:
        return found[0]
    return "; ".join(f"{count} x {value}" for value, count in sorted(counts.items(), key=str))


def _topology(rows: Sequence[Sequence[str | None]] | None, indexes: Sequence[int]) -> str | None:
    """Return how each pair is joined, in one word where all are alike; None where a pair is not known."""
    if rows is None or max(indexes) >= len(rows):
        return None
    pairs = [(one, other) for one in indexes for other in indexes if one < other]
    words = {(one, other): rows[one][other] for one, other in pairs if other < len(rows[one])}
    if len(words) < len(pairs) or None in words.values():
        return None
    if len(set(words.values())) == 1:
        return f"all {words[pairs[0]]}"
    return ", ".join(f"{one}-{other} {word}" for (one, other), word in words.items())
