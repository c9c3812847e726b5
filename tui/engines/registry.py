"""The engines that tminus knows. A new engine is one new file and one line here."""

from tui.engines.base import Engine
from tui.engines.generic import GENERIC
from tui.engines.llamacpp import LLAMACPP
from tui.engines.sglang import SGLANG
from tui.engines.vllm import VLLM
from tui.requests import Matcher

ENGINES: tuple[Engine, ...] = (SGLANG, VLLM, LLAMACPP)


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
