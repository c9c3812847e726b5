"""The words that engines print: no name is taken for one of them in a sentence."""

import dataclasses
import re
from collections.abc import Iterator
from functools import cache
from typing import cast

import msgspec

from tui.engines.generic import GENERIC
from tui.engines.phase import Phase
from tui.engines.registry import ENGINES

_ENDPOINT = re.compile(r"(?:GET |POST )?(/[a-z0-9_/]+)")
_WORD = re.compile(r"[a-z]+(?:_[a-z]+)*")


@cache
def ordinary_words() -> frozenset[str]:
    """Return every word of every engine's tables, in small letters: patterns, flags, advice.

    Paths of endpoints are among them as they are asked for ("/v1/models").
    """
    texts = [text for engine in (*ENGINES, GENERIC) for text in _texts(engine)]
    texts += [phase.words for phase in Phase]
    asked = [found[1] for found in map(_ENDPOINT.fullmatch, texts) if found is not None]
    lower = (text.replace("\\b", " ").lower() for text in texts)
    words = (word for text in lower for found in _WORD.findall(text) for word in _both(found))
    return frozenset((*words, *asked))


def _both(word: str) -> tuple[str, ...]:
    return (word, *word.split("_"))


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, re.Pattern):
        yield str(cast("re.Pattern[str]", value).pattern)
    elif isinstance(value, msgspec.Struct):
        yield from _texts(tuple(msgspec.structs.asdict(value).values()))
    elif dataclasses.is_dataclass(value):
        yield from _texts(tuple(getattr(value, field.name) for field in dataclasses.fields(value)))
    elif isinstance(value, (tuple, list, frozenset)):
        for each in cast("tuple[object, ...]", value):
            yield from _texts(each)
