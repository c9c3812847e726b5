"""A bug report as text: what is the matter, all that speaks for it, and where it happened. Secrets masked.

Arguments, variables and log lines come masked from the host; they are masked once more, for a recording of
another program is not.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from tui.agent.mask import mask_argv, mask_environment, mask_text
from tui.events import GpuDriver
from tui.present.figures import gib
from tui.present.header import engine_text, host_text
from tui.present.why import why_values
from tui.watch.gpus import Gpu
from tui.watch.log_buffer import BufferedLine, redraw_key
from tui.watch.meaning import Meaning
from tui.watch.words import clock_text, shortened
from widgets.values import LaneRow, WhyPanel

LOG_LINES = 20
LINE_CHARACTERS = 1000
CHARACTERS = 40_000
"""Less than terminals take in one copy, also where every letter is two bytes."""
_ACCESS = ("GET /", "POST /")
_FIGURES = re.compile(r"\d[\d.,]*")


def report_text(state: Meaning, client_now_s: float, *, version: str) -> str:
    """Return the report as of the client's monotonic time."""
    why = why_values(state, client_now_s)
    now_s = state.source_now(client_now_s)
    parts = (
        ("tminus bug report", _head(state, now_s, version)),
        ("Verdict", _verdict(why)),
        ("Rules", (f"{row.state}: {row.name}: {row.numbers}" for row in why.rules)),
        ("Ranks", _ranks(why.lanes)),
        ("GPUs", (_gpu(gpu) for gpu in state.gpus.in_order())),
        ("Time-outs", (f"{row.name}: {row.left} ({row.source})" for row in why.deadlines)),
        ("Diagnosis", why.diagnosis),
        ("Phases", _phases(state, now_s)),
        ("Arguments", _arguments(state)),
        ("Environment", _environment(state)),
        (f"Log, the last {LOG_LINES} lines of their own kind", log_lines(state)),
    )
    lines = [line for heading, body in parts for line in _part(heading, body)]
    return shortened("\n".join(lines), CHARACTERS) + "\n"


def _part(heading: str, body: Iterable[str]) -> Iterator[str]:
    lines = [line for text in body for line in text.splitlines() if line.strip()]
    if lines:
        yield from (heading, "-" * len(heading))
        yield from (mask_text(shortened(line, LINE_CHARACTERS)) for line in lines)
        yield ""


def _head(state: Meaning, now_s: float | None, version: str) -> Iterator[str]:
    server, hello, driver = state.shown, state.hello, state.driver
    engine = f"{engine_text(state)}, version {state.engine_version or 'not known'}"
    began_s = state.origin_s
    yield f"tminus {version}"
    yield f"host {host_text(state)}" if host_text(state) else ""
    yield f"engine {engine}" if state.engine is not None else ""
    yield f"model {state.model}" if state.model else ""
    yield f"pid {server.pid}, port {server.port}" if server is not None else ""
    yield f"T+ {clock_text(now_s - began_s)}" if now_s is not None and began_s is not None else ""
    yield f"kernel {hello.kernel}" if hello is not None and hello.kernel else ""
    yield f"{hello.cpu_count} CPUs" if hello is not None and hello.cpu_count else ""
    yield _driver(driver) if driver is not None else ""


def _driver(driver: GpuDriver) -> str:
    version = f" {driver.version}" if driver.version else ""
    return f"NVIDIA driver{version}: {driver.state}"


def _verdict(why: WhyPanel) -> Iterator[str]:
    verdict = why.verdict
    yield f"{verdict.word} {why.since}".strip() if verdict.word else f"none: {why.sentence}"
    yield ": ".join(text for text in (verdict.place, verdict.told) if text)
    for label, text in (
        ("then", verdict.countdown),
        ("cause", verdict.cause),
        ("waiting", verdict.waiting),
        ("next", verdict.next_step),
        ("caution", verdict.not_to_do),
    ):
        yield f"{label}: {text}" if text else ""
    yield from (f"figure: {text}" for text in verdict.figures)


def _ranks(rows: Sequence[LaneRow]) -> Iterator[str]:
    for row in rows:
        facts = (
            f"pid {row.pid}" if row.pid else "",
            f"GPU {row.gpus}" if row.gpus else "",
            row.phase,
            f"{row.received} received" if row.received else "",
            f"{row.memory} memory" if row.memory else "",
            f"state {row.state}" if row.state else "",
            row.wait,
        )
        yield f"{row.name}: {', '.join(fact for fact in facts if fact)}"


def _gpu(gpu: Gpu) -> str:
    name = gpu.fact.name if gpu.fact is not None and gpu.fact.name else "GPU"
    sample, detail = gpu.sample, gpu.detail
    facts = [] if sample is None else [sample.state if sample.state != "ok" else "", *_readings(gpu)]
    if detail is not None and detail.sm_pct is not None:
        facts.append(f"SM {detail.sm_pct:.0f} %")
    if detail is not None and detail.pcie_received_mib is not None:
        facts.append(f"{gib(detail.pcie_received_mib)} GiB received over PCIe")
    return f"{gpu.index} {name}: {', '.join(fact for fact in facts if fact) or 'no reading'}"


def _readings(gpu: Gpu) -> Iterator[str]:
    sample = gpu.sample
    if sample is None:
        return
    if sample.memory_used_mib is not None:
        total = f" of {gib(sample.memory_total_mib)}" if sample.memory_total_mib is not None else ""
        yield f"memory {gib(sample.memory_used_mib)}{total} GiB"
    if sample.utilisation_pct is not None:
        yield f"util {sample.utilisation_pct:.0f} %"
    if sample.power_w is not None:
        yield f"{sample.power_w:.0f} W"


def _phases(state: Meaning, now_s: float | None) -> Iterator[str]:
    untimed: set[str] = set()
    for span in state.phases:
        seconds, name = None if now_s is None else span.seconds(now_s), span.phase.words
        if seconds is not None:
            yield f"{name} {clock_text(seconds)}"
        elif name not in untimed:
            # Ranks whose lines come one after the other go through a phase in turn: once is enough.
            untimed.add(name)
            yield f"{name}, when is not known"


def _arguments(state: Meaning) -> Iterator[str]:
    if state.shown is not None:
        yield " ".join(_quoted(each) for each in mask_argv(state.shown.main.argv or []))


def _quoted(argument: str) -> str:
    return f"'{argument}'" if not argument or any(each.isspace() for each in argument) else argument


def _environment(state: Meaning) -> Iterator[str]:
    if state.shown is not None:
        known = mask_environment(state.shown.main.environment or {})
        yield from (f"{name}={known[name]}" for name in sorted(known))


def log_lines(state: Meaning) -> list[str]:
    """Return the last lines of the log that say something of their own, and the one that tells the cause.

    Of lines that differ in figures alone (every rank writes most of them) the newest stands for all. A bar
    under way comes last.
    """
    found = sorted(islice(_telling(state), LOG_LINES), key=lambda line: line.number)
    quote = state.last_end.quote if state.outcome == "failed" and state.last_end is not None else None
    if quote is not None and quote.number not in {line.number for line in found}:
        found = [BufferedLine(quote.number, quote.text), *found]
    return [*(line.text for line in found), *([state.log_tail] if state.log_tail else [])]


def _telling(state: Meaning) -> Iterator[BufferedLine]:
    """Give such lines, the newest first."""
    seen: set[str] = set()
    for line in reversed(state.log.lines):
        kind = _FIGURES.sub("#", line.text)
        if kind not in seen and says_something(line.text):
            seen.add(kind)
            yield line


def says_something(text: str) -> bool:
    """Return whether a line is worth posting: not empty, no bar that is redrawn, no line of a request."""
    if not text.strip() or any(each in text for each in _ACCESS):
        return False
    return redraw_key(text, returned=False) is None
