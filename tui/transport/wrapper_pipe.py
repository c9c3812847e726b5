"""An Opener around an Opener: the command runs in a container, a pod or a job on the same host."""

from tui.transport.pipe import LinkFault, Opener, Pipe
from tui.transport.wrapper import Wrapper
from tui.transport.wrapper_end import end_fault, fault, last_words

TIMEOUT_S = 30.0
"""How long the first word may take: kubectl asks for credentials first, srun waits for the controller."""


def wrapped_opener(inner: Opener, wrapper: Wrapper, host: str | None) -> Opener:
    """Return an Opener that runs commands inside. ``host`` is who ``inner`` leads to, None for this machine.

    Its pipes raise LinkFault at the end where the wrapper's program says why it could not.
    """

    async def open_wrapped(command: list[str]) -> Pipe:
        try:
            pipe = await inner(wrapper.argv(command, over_ssh=host is not None))
        except LinkFault as seen:
            if seen.fault != "no_python":
                raise
            raise fault("no_program_here", wrapper, host) from None
        return _WrappedPipe(pipe, wrapper, host)

    return open_wrapped


class _WrappedPipe:
    """The streams of the wrapper's program, whose own words at the end become one sentence."""

    def __init__(self, pipe: Pipe, wrapper: Wrapper, host: str | None) -> None:
        self._pipe = pipe
        self._wrapper = wrapper
        self._host = host
        self._spoke = False
        self._closed = False

    async def read(self, size: int) -> bytes:
        """Return up to ``size`` bytes, ``b""`` when the process ended. Raises LinkFault."""
        data = await self._pipe.read(size)
        if data or self._closed:
            self._spoke = self._spoke or bool(data)
            return data
        status = await self._pipe.close()
        seen = end_fault(self._wrapper, self._host, status, self._pipe.errors(), spoke=self._spoke)
        if seen is not None:
            raise seen
        return b""

    def write(self, data: bytes) -> None:
        """Queue bytes for the process's input."""
        self._pipe.write(data)

    async def drain(self) -> None:
        """Wait until the queue of unwritten input is short. Raises LinkFault when the link is gone."""
        await self._pipe.drain()

    def errors(self) -> bytes:
        """Return what it and the wrapper's program wrote to their error stream, less the usual noise."""
        return last_words(self._pipe.errors())

    async def close(self) -> int | None:
        """End it. A status of 0 is not known to be the process's own, as kubectl gives it for a cut link."""
        self._closed = True
        return await self._pipe.close() or None
