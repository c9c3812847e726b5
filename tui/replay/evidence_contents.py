"""CONTENTS.txt: what is in a bundle, in plain words, for the person who is about to post it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tui.replay.evidence_processes import wrapped

NAME = "CONTENTS.txt"
FILES = {
    "journal.jsonl.gz": "the recording itself; `tminus replay` plays it, this folder or the bundle as it is",
    "log.txt": "the lines of the server's log that matter, numbered",
    "environment.txt": "arguments and environment of the followed server's processes",
    "versions.txt": "versions of the engine, the driver, the host and tminus, and tminus's options",
    "benchmark.txt": "results of the benchmarks that were run",
    "summary.json": "every change of phase, readiness and verdict, and the end",
    "report.html": "all of it on one page, to open in a browser; it loads nothing and runs nothing",
}
LOOK = (
    "Look through these files before you post them: a program cannot know every secret, nor every name "
    "that should stay yours. What people typed into prompts, and what engines print of their own, may still "
    "be in the log."
)
ANONYMISED = (
    "Kept on purpose: parts of paths that are the same everywhere (/usr, /dev, /proc, cache and Python "
    "folders), modules of well-known packages in tracebacks (site-packages/sglang/...), file extensions, "
    "loopback addresses, process ids, versions, names of models that are no paths, and addresses of public "
    "sites."
)


@dataclass(frozen=True, slots=True)
class Masked:
    """``hide`` False: nothing was hidden on export. Counts of values hidden before and on export."""

    hide: bool
    recorded: int
    hidden: int


@dataclass(frozen=True, slots=True)
class Replaced:
    """How many different originals of each sort were replaced, and whether the journal still reads alike."""

    counts: Mapping[str, int]
    reads_alike: bool


def contents_text(
    title: str, sizes: Mapping[str, int], masked: Masked, replaced: Replaced | None, others: int = 0
) -> str:
    """Return the list. ``sizes`` are those of the other files in bytes, in their order.

    ``others`` counts the processes of servers that were not followed.
    """
    lines = [title, "", "What is in this bundle:", ""]
    width = max(len(name) for name in sizes)
    lines += [f"  {name:<{width}}  {size:>12,} bytes  {FILES[name]}" for name, size in sizes.items()]
    lines += ["", *_masked(masked), "", *_replaced(replaced), "", *wrapped(LOOK)]
    lines += ["", *_others(others)] if others else []
    return "\n".join(lines) + "\n"


def _others(count: int) -> Iterator[str]:
    of_others = "a process" if count == 1 else f"{count} processes"
    yield from wrapped(
        f"The journal also holds {of_others} of other servers on that host, which were not followed, with "
        "user, arguments and environment as far as they could be read. They may be somebody else's. "
        "The other files leave them out."
    )


def _masked(masked: Masked) -> Iterator[str]:
    if not masked.hide:
        yield "SECRETS WERE NOT MASKED ON EXPORT (--no-mask): EVERYTHING IS AS IT WAS RECORDED."
        yield "DO NOT POST THIS BUNDLE WHERE OTHERS CAN READ IT."
        return
    yield "Secrets (keys, tokens, passwords) are shown as ***:"
    yield f"  {masked.recorded} were hidden when it was recorded, {masked.hidden} more on export"


def _replaced(replaced: Replaced | None) -> Iterator[str]:
    if replaced is None:
        yield "Names of hosts and users, paths and addresses are as recorded; --anonymise replaces them."
        return
    yield "Replaced, each by one name throughout (--anonymise):"
    yield from (f"  {count:>6} x {sort}" for sort, count in replaced.counts.items())
    if not replaced.counts:
        yield "  nothing: no name was found"
    yield from wrapped(ANONYMISED)
    if not replaced.reads_alike:
        yield "With the names replaced the log reads differently: times and phases here are NOT those of the"
        yield "original. summary.json is that of the replaced journal."
