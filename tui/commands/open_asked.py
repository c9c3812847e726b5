"""A session whose first connection, where something is asked for it, is made before anybody looks at it."""

from typing import Protocol, runtime_checkable

from tui.commands import start
from tui.session import Session
from tui.settings import Choices
from tui.source import Source
from tui.transport.asking import Asker
from tui.transport.pipe import LinkFault


@runtime_checkable
class AsksFirst(Protocol):
    """A source that can make its first connection before it is iterated."""

    async def connect_first(self, *, always: bool) -> LinkFault | None:
        """Connect, always or where a question is expected on the way; return why that failed."""
        ...


async def open_asked(
    choices: Choices, asker: Asker | None, *, recorded: bool = True, always: bool = False
) -> tuple[Session, LinkFault | None]:
    """Return a session that has put the questions which are to be expected on the way to its host.

    Where none is, it connects when it is iterated, unless it is to be connected ``always``. The fault, when
    there is one, comes as an event as well.
    """
    options = start.options_for(choices)
    source = start.source_for(choices, options, asker)
    session = start.session_over(choices, options, source, recorded=recorded)
    try:
        return session, await asked_first(source, asker, always=always)
    except BaseException:
        await session.close()
        raise


async def asked_first(source: Source, asker: Asker | None, *, always: bool = False) -> LinkFault | None:
    """Put the questions that are to be expected on the way; return why the host was not reached by that."""
    if asker is None or not isinstance(source, AsksFirst):
        return None
    return await source.connect_first(always=always)
