"""Changing every text inside an event, whatever its kind: what hides secrets and names goes through here."""

from functools import cache
from typing import Literal, Protocol, TypeVar, cast, get_args, get_origin

import msgspec

from tui.benchmark import Difference

S = TypeVar("S", bound=msgspec.Struct)


class Change(Protocol):
    """What is done to texts. ``field`` is the name of the field in its event or part of an event."""

    def text(self, field: str, value: str) -> str:
        """Return one text changed."""
        ...

    def texts(self, field: str, values: list[str]) -> list[str]:
        """Return a list of texts changed; as many as there were."""
        ...

    def pairs(self, field: str, values: dict[str, str]) -> dict[str, str]:
        """Return names with their values changed."""
        ...


def rewritten(struct: S, change: Change) -> S:
    """Return an event, a part of one or a header with every free text in it changed.

    Fields that take a few fixed words only (``state``, ``outcome``) stay.
    """
    if isinstance(struct, Difference):
        sides = {side: setting(struct.name, getattr(struct, side), change) for side in ("a", "b")}
        return msgspec.structs.replace(struct, **sides)
    changed: dict[str, object] = {}
    for name in _fields(type(struct)):
        old = cast("object", getattr(struct, name))
        new = _value(name, old, change)
        if new != old:
            changed[name] = new
    return msgspec.structs.replace(struct, **changed) if changed else struct


def setting(name: str, value: str | None, change: Change) -> str | None:
    """Return a server's setting changed: the value of a variable, an argument, or of what ``name`` says."""
    if value is None:
        return None
    kind, _, what = name.partition(" ")
    if kind == "environment":
        return next(iter(change.pairs(kind, {what: value}).values()))
    if kind == "argument":
        return change.texts("argv", [what, value])[-1]
    return change.text(name, value)


def _value(name: str, value: object, change: Change) -> object:
    if isinstance(value, str):
        return change.text(name, value)
    if isinstance(value, msgspec.Struct):
        return rewritten(value, change)
    if isinstance(value, tuple):
        return tuple(cast("list[object]", _value(name, list(cast("tuple[object, ...]", value)), change)))
    if isinstance(value, list):
        items = cast("list[object]", value)
        if all(isinstance(each, str) for each in items):
            return change.texts(name, cast("list[str]", items)) if items else items
        return [_value(name, each, change) for each in items]
    if isinstance(value, dict):
        return _pairs(name, cast("dict[str, object]", value), change)
    return value


def _pairs(name: str, values: dict[str, object], change: Change) -> object:
    if all(isinstance(each, str) for each in values.values()):
        return change.pairs(name, cast("dict[str, str]", values))
    return {change.text(name, key): _value(name, each, change) for key, each in values.items()}


@cache
def _fields(kind: type[msgspec.Struct]) -> tuple[str, ...]:
    return tuple(field.name for field in msgspec.structs.fields(kind) if _holds_text(field.type))


def _holds_text(kind: object) -> bool:
    if isinstance(kind, type) and get_origin(kind) is None:
        return kind is str or issubclass(kind, msgspec.Struct)
    return get_origin(kind) is not Literal and any(_holds_text(each) for each in get_args(kind))
