"""The engines that tminus knows. A new engine is one new file and one line here."""

from tui.engines.base import Engine
from tui.engines.generic import GENERIC
from tui.engines.llamacpp import LLAMACPP
from tui.engines.sglang import SGLANG
from tui.engines.tgi import TGI
from tui.engines.trtllm import TRTLLM
from tui.engines.vllm import VLLM
from tui.requests import Matcher

ENGINES: tuple[Engine, ...] = (SGLANG, VLLM, LLAMACPP, TGI, TRTLLM)


def engine_named(name: str | None) -> Engine | None:
    """Return the engine of that name, None when there is none."""
    return next((engine for engine in (*ENGINES, GENERIC) if engine.name == name), None)


def engine_serving(header: str | None) -> Engine | None:
    """Return the engine that its HTTP ``Server`` header gives away, None when it does not."""
    if header is None:
        return None
    return next((engine for engine in ENGINES if engine.server_header == header.strip()), None)


def matchers() -> list[Matcher]:
    """Return what the agent needs to find every engine's processes."""
    return [engine.matcher for engine in ENGINES]


class EngineGuess:
    """Which engine wrote a log: decided at the first line that only one engine writes, for good.

    ``engine`` is None until then. ``best`` is the answer for a log that ends undecided: the engine of which
    lines were seen that others may quote, else the generic one.
    """

    def __init__(self) -> None:
        self.engine: Engine | None = None
        self._leaning: Engine | None = None

    @property
    def best(self) -> Engine:
        """The engine decided on, or the likeliest."""
        return self.engine or self._leaning or GENERIC

    def read(self, line: str) -> Engine | None:
        """Take one cleaned line in; return the engine once it is decided."""
        if self.engine is None:
            self.engine = next((engine for engine in _KNOWN if engine.sign.search(line)), None)
        if self.engine is None and self._leaning is None:
            self._leaning = next((engine for engine in _LEANING if _leans(engine, line)), None)
        return self.engine


_KNOWN = (*ENGINES, GENERIC)
_LEANING = tuple(engine for engine in _KNOWN if engine.leaning is not None)


def _leans(engine: Engine, line: str) -> bool:
    return engine.leaning is not None and engine.leaning.search(line) is not None
