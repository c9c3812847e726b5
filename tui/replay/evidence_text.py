"""The plain text files of a bundle: log, environment, versions."""

from collections.abc import Iterator

from tui.events import Process
from tui.replay.evidence import Evidence
from tui.replay.evidence_log import LeftOut
from tui.watch.log_buffer import BufferedLine
from tui.watch.words import clock_text

UNREADABLE = "not readable"
UNKNOWN = "not known"


def log_text(evidence: Evidence) -> str:
    """Return the log lines that matter, numbered, with what is left out between them."""
    cause = evidence.cause
    number = None if cause is None else cause.quote.number
    head = [
        "The log lines that matter: the first of each start, phases, warnings and errors, what stands",
        "around the root cause, and the last ones. Numbers count the lines of the whole recording.",
        "> begins a phase   ! warning   E error   ROOT CAUSE stands before the line that tells it",
        "",
    ]
    source = evidence.state.log_source
    if source is not None:
        head.insert(0, f"{source.path or 'no log'}: {source.sentence}")
    body = [_log_line(line, number) for line in evidence.log] or ["no line of a log was recorded"]
    return _joined([*head, *body])


def left_out(gap: LeftOut) -> str:
    """Return in words how many lines are missing."""
    return f"… {gap.lines} line{'' if gap.lines == 1 else 's'} left out"


def flag(line: BufferedLine) -> str:
    """Return the sign before a line."""
    if line.level:
        return "E" if line.level == "error" else "!"
    return ">" if line.mark is not None else " "


def _log_line(line: BufferedLine | LeftOut, cause: int | None) -> str:
    if isinstance(line, LeftOut):
        return f"          {left_out(line)}"
    text = f"{line.number:7} {flag(line)} {line.text}"
    return f"ROOT CAUSE\n{text}" if line.number == cause else text


def environment_text(evidence: Evidence) -> str:
    """Return arguments and environment of the servers' processes as they were recorded."""
    if not evidence.processes:
        return "No process of a server was recorded.\n"
    shown = evidence.state.shown
    main_pid = None if shown is None else shown.pid
    lines = ["Arguments and environment of the servers' processes as they were recorded, the followed first."]
    lines += ["Of the environment only variables that concern engines and GPUs are recorded.", ""]
    told: dict[tuple[tuple[str, str], ...], int] = {}
    for process in sorted(evidence.processes, key=lambda each: (each.pid != main_pid, each.pid)):
        lines += [*_process(process, told), ""]
    return _joined(lines)


def _process(process: Process, told: dict[tuple[tuple[str, str], ...], int]) -> Iterator[str]:
    yield f"pid {process.pid}  {process.title}"
    engine = "" if process.matched is None else f", found as {process.matched}"
    yield f"  parent {process.ppid}, user {process.user} ({process.uid}), state {process.state}{engine}"
    places = {"folder": process.cwd, "stdout": process.stdout, "stderr": process.stderr}
    for name, place in places.items():
        yield f"  {name}: {UNREADABLE if place is None else place}"
    yield f"  container: {process.container or 'none seen'}"
    if process.argv is None:
        yield f"  arguments: {UNREADABLE}"
    else:
        yield "  arguments:"
        yield from (f"    {argument}" for argument in process.argv)
    yield from _variables(process, told)


def _variables(process: Process, told: dict[tuple[tuple[str, str], ...], int]) -> Iterator[str]:
    if process.environment is None:
        yield f"  environment: {UNREADABLE}"
        return
    variables = tuple(sorted(process.environment.items()))
    same = told.setdefault(variables, process.pid)
    if same != process.pid and variables:
        yield f"  environment: the same as that of pid {same}"
        return
    yield "  environment:" if variables else "  environment: no such variable"
    yield from (f"    {name}={value}" for name, value in variables)


def versions(evidence: Evidence, tminus: str) -> list[tuple[str, str]]:
    """Return what ran where: pairs of a name and a version or figure in words."""
    state, header = evidence.state, evidence.header
    hello, driver = state.hello, state.driver
    memory = None if hello is None or hello.memory_total_mib is None else f"{hello.memory_total_mib:,} MiB"
    return [
        ("tminus that made this bundle", tminus),
        ("tminus that recorded", f"{header.tminus} (events of version {header.events})"),
        ("engine", _engine(evidence)),
        ("model", state.model or UNKNOWN),
        ("NVIDIA driver", UNKNOWN if driver is None else driver.version or driver.sentence),
        ("GPUs", _gpus(evidence)),
        ("kernel", UNKNOWN if hello is None else hello.kernel or UNKNOWN),
        ("Python of the agent", UNKNOWN if hello is None else hello.python or UNKNOWN),
        ("processors", UNKNOWN if hello is None or hello.cpu_count is None else str(hello.cpu_count)),
        ("memory of the host", memory or UNKNOWN),
        ("length of the recording", f"{clock_text(evidence.length_s)} ({evidence.length_s:.1f} s)"),
    ]


def _engine(evidence: Evidence) -> str:
    engine = evidence.state.engine
    if engine is None:
        return UNKNOWN
    return f"{engine.title} {evidence.state.engine_version or '(version not known)'}"


def _gpus(evidence: Evidence) -> str:
    names: dict[str, int] = {}
    for gpu in evidence.state.gpus.in_order():
        fact = gpu.fact
        total = None if gpu.sample is None else gpu.sample.memory_total_mib
        total = fact.memory_total_mib if fact is not None and fact.memory_total_mib is not None else total
        name = "GPU" if fact is None or fact.name is None else fact.name
        words = name if total is None else f"{name}, {total:,.0f} MiB"
        names[words] = names.get(words, 0) + 1
    return "; ".join(f"{count} x {words}" for words, count in names.items()) or "none seen"


def versions_text(evidence: Evidence, tminus: str) -> str:
    """Return the versions, and what else the log prints of versions."""
    pairs = versions(evidence, tminus)
    width = max(len(name) for name, _ in pairs)
    lines = [f"{name:<{width}}  {value}" for name, value in pairs]
    if evidence.printed:
        lines += ["", "What the log prints of versions:", ""]
        lines += [f"{line.number:7}   {line.text}" for line in evidence.printed]
    return _joined(lines)


def _joined(lines: list[str]) -> str:
    return "\n".join(lines) + "\n"
