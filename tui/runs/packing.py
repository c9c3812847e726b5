"""Entries of the ledger as they lie in its file, and back.

A body is the entry's JSON without what lies in tables of its own. Fields that a later tminus has added are
left out when read; a body that is damaged reads as None.
"""

import hashlib
import zlib
from typing import Any, TypeVar, cast

import msgspec
from msgspec import inspect
from msgspec.structs import replace

from tui.benchmark import BenchRecord
from tui.runs.entry import Fingerprint, LoadEntry, RunEntry

RECORDS_BYTES = 1024**3
"""More than this is no run's records, whatever a damaged file says."""

_NOTHING = Fingerprint(digest="")
_encode = msgspec.json.Encoder().encode
_BROKEN = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)

T = TypeVar("T")


def packed_fingerprint(fingerprint: Fingerprint) -> tuple[str, bytes]:
    """Return the name of its content, and the body."""
    body = _encode(fingerprint)
    return hashlib.sha256(body).hexdigest(), body


def packed_run(entry: RunEntry) -> bytes:
    """Return the body of a run: all but its fingerprint and records."""
    return _encode(replace(entry, fingerprint=_NOTHING, records=()))


def packed_load(entry: LoadEntry) -> bytes:
    """Return the body of a load: all but its fingerprint."""
    return _encode(replace(entry, fingerprint=_NOTHING))


def packed_records(records: tuple[BenchRecord, ...]) -> bytes:
    """Return the records of a run, compressed: some 20 bytes each."""
    return zlib.compress(_encode(records), 6)


def unpacked_run(body: bytes, fingerprint: bytes) -> RunEntry | None:
    """Return a run without its records, None when it is damaged."""
    entry, own = _unpacked(body, RunEntry), _unpacked(fingerprint, Fingerprint)
    return None if entry is None or own is None else replace(entry, fingerprint=own)


def unpacked_load(body: bytes, fingerprint: bytes) -> LoadEntry | None:
    """Return a load, None when it is damaged."""
    entry, own = _unpacked(body, LoadEntry), _unpacked(fingerprint, Fingerprint)
    return None if entry is None or own is None else replace(entry, fingerprint=own)


def unpacked_records(body: bytes) -> tuple[BenchRecord, ...] | None:
    """Return the records of a run, None when they are damaged."""
    reader = zlib.decompressobj()
    try:
        text = reader.decompress(body, RECORDS_BYTES)
    except zlib.error:
        return None
    return _unpacked(text, tuple[BenchRecord, ...]) if reader.eof else None


def _unpacked(body: bytes, kind: type[T]) -> T | None:
    try:
        return msgspec.json.decode(body, type=kind)
    except _BROKEN:
        return _unpacked_later(body, kind)


def _unpacked_later(body: bytes, kind: type[T]) -> T | None:
    """Return what is known here of a body that holds more."""
    try:
        found: object = msgspec.json.decode(body)
        return msgspec.convert(_known(found, inspect.type_info(kind)), kind)
    except _BROKEN:
        return None


def _known(found: object, kind: inspect.Type) -> object:
    """Return a value without the fields that its type does not have."""
    if isinstance(kind, inspect.UnionType):
        return _known_of(found, kind.types)
    if isinstance(kind, inspect.StructType):
        return _known_fields(found, kind)
    if isinstance(kind, inspect.ListType | inspect.VarTupleType) and isinstance(found, list):
        return [_known(each, kind.item_type) for each in cast("list[object]", found)]
    return found


def _known_of(found: object, kinds: tuple[inspect.Type, ...]) -> object:
    """Return a value of one of several types: of those here, one at most has fields or items."""
    for kind in kinds:
        if isinstance(kind, inspect.StructType | inspect.ListType | inspect.VarTupleType):
            return _known(found, kind)
    return found


def _known_fields(found: object, kind: inspect.StructType) -> object:
    if kind.array_like:
        return cast("list[object]", found)[: len(kind.fields)] if isinstance(found, list) else found
    if not isinstance(found, dict):
        return found
    table = cast("dict[str, Any]", found)
    kept = {
        each.encode_name: _known(table[each.encode_name], each.type)
        for each in kind.fields
        if each.encode_name in table
    }
    tag = kind.tag_field
    return kept if tag is None or tag not in table else {tag: table[tag], **kept}
