"""Why a container's log is not read: the row that the tool's own words lead to."""

from dataclasses import dataclass

from tui.transport.clean import clean
from tui.transport.faults import TABLE, container_log, sentence_of
from tui.transport.pipe import LinkFault
from tui.transport.wrapper import Wrapper
from tui.transport.wrapper_end import KILLED, end_fault, last_words, said_by

_SAID_LIMIT = 300


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a log is not read, in a sentence ("": it is usual). ``passing``: it may be read later by itself."""

    sentence: str
    passing: bool


def refusal(wrapper: Wrapper, host: str | None, command: str, status: int | None, words: bytes) -> Refusal:
    """Return why the tool ended, by its last words."""
    lines = [line for line in (clean(each).strip() for each in _lines(words)) if line]
    for name, row in container_log.ROWS.items():
        said = said_by(row, wrapper, lines)
        if said is not None:
            return _told(name, name=wrapper.name, command=command, said=said[:_SAID_LIMIT])
    known = end_fault(wrapper, host, status, words, spoke=True)
    if known is not None and status not in KILLED:
        return Refusal(sentence_of("log_no_way", why=known.sentence), passing=known.retry)
    if not lines or not status:
        return Refusal("", passing=True)
    return _told("log_command_ended", command=command, status=status, said=lines[-1][:_SAID_LIMIT])


def of_link(fault: LinkFault) -> Refusal:
    """Return what a fault of the way there means for the log: of a lost link the agent tells already."""
    if fault.fault == "lost" or fault.retry:
        return Refusal("", passing=True)
    return Refusal(sentence_of("log_no_way", why=fault.sentence), passing=False)


def _told(row: str, **values: object) -> Refusal:
    return Refusal(sentence_of(row, **values), TABLE[row].retry)


def _lines(words: bytes) -> list[str]:
    return last_words(words).decode("utf-8", "replace").replace("\r", "\n").split("\n")
