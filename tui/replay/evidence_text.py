"""The plain text files of a bundle: log, environment, versions."""

from collections.abc import Iterable, Iterator

from tui.replay.evidence import Evidence
from tui.replay.evidence_head import Made, asked_rows, began_text, made_rows
from tui.replay.evidence_log import LeftOut
from tui.replay.evidence_processes import Told, group_lines
from tui.runs.entry import Setting
from tui.runs.gathering import fingerprint_of
from tui.watch.log_buffer import BufferedLine
from tui.watch.words import clock_text

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
    """Return arguments and environment of the followed servers' processes as they were recorded."""
    lines = [*environment_notes(evidence), ""]
    for head, block in environment_groups(evidence):
        lines += [head, *block, ""]
    return _joined(lines)


def environment_notes(evidence: Evidence) -> Iterator[str]:
    """Return what is to be known of the list of processes."""
    processes = evidence.processes
    if processes.followed:
        yield "Arguments and environment of the followed servers' processes as they were recorded. Processes"
        yield "that differ only in their ids are told once. Of the environment only variables that concern"
        yield "engines and GPUs are recorded."
    else:
        yield "No process of a followed server was recorded."
    if processes.left_out:
        yield f"{processes.left_out} more processes of theirs are only in the journal."
    if processes.others:
        yield others_words(processes.others)


def others_words(count: int) -> str:
    """Return in words what is not told of servers that were not followed."""
    noun = "process" if count == 1 else "processes"
    return f"{count} {noun} of other servers on the host: only in the journal, not in the other files."


def environment_groups(evidence: Evidence) -> Iterator[tuple[str, list[str]]]:
    """Iterate over the groups of equal processes: the head of each, and its lines."""
    shown = evidence.state.shown
    told: Told = {}
    for group in evidence.processes.groups(None if shown is None else shown.pid):
        yield group.head, list(group_lines(group, told))
    provenance = evidence.state.provenance
    if provenance is not None:
        settings = fingerprint_of(evidence.state, provenance).settings
        yield (
            f"Under what pid {provenance.pid} ran, as its host told when asked",
            list(map(_setting, settings)),
        )


def _setting(setting: Setting) -> str:
    if not setting.known:
        return f"  {setting.name}: {UNKNOWN}"
    value = "none" if setting.value is None else setting.value
    return f"  {setting.name}: {value}  ({setting.source})"


def versions(evidence: Evidence, made: Made) -> list[tuple[str, str]]:
    """Return what ran where: pairs of a name and a version or figure in words."""
    state, header = evidence.state, evidence.header
    hello, driver = state.hello, state.driver
    memory = None if hello is None or hello.memory_total_mib is None else f"{hello.memory_total_mib:,} MiB"
    return [
        ("tminus that made this bundle", made.tminus),
        ("tminus that recorded", f"{header.tminus} (events of version {header.events})"),
        ("engine", _engine(evidence)),
        ("model", state.model or UNKNOWN),
        ("NVIDIA driver", UNKNOWN if driver is None else driver.version or driver.sentence),
        ("GPUs", _gpus(evidence)),
        ("kernel", UNKNOWN if hello is None else hello.kernel or UNKNOWN),
        ("Python of the agent", UNKNOWN if hello is None else hello.python or UNKNOWN),
        ("processors", UNKNOWN if hello is None or hello.cpu_count is None else str(hello.cpu_count)),
        ("memory of the host", memory or UNKNOWN),
        ("recording began", began_text(evidence)),
        ("length of the recording", f"{clock_text(evidence.length_s)} ({evidence.length_s:.1f} s)"),
        *made_rows(made),
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


def versions_text(evidence: Evidence, made: Made) -> str:
    """Return the versions, what tminus was asked for, and what else the log prints of versions."""
    lines = [*_pairs(versions(evidence, made)), "", "Options that tminus watched with:", ""]
    lines += _pairs(asked_rows(evidence))
    if evidence.printed:
        lines += ["", "What the log prints of versions:", ""]
        lines += [f"{line.number:7}   {line.text}" for line in evidence.printed]
    return _joined(lines)


def _pairs(pairs: Iterable[tuple[str, str]]) -> list[str]:
    rows = list(pairs)
    width = max(len(name) for name, _ in rows)
    return [f"{name:<{width}}  {value}" for name, value in rows]


def _joined(lines: list[str]) -> str:
    return "\n".join(lines) + "\n"
