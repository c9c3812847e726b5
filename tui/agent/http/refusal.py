"""What a server says of a request that it refuses. Light to import: the prober keeps it in memory."""

from __future__ import annotations

import json

from tui.agent.mask import mask_text

TYPE_CHECKING = False  # as in channel.py
if TYPE_CHECKING:
    from typing import Any, cast
else:

    def cast(kind, value):
        return value


DETAIL_CHARACTERS = 200


def fields(value: Any) -> dict[str, Any]:
    """Return an object's fields, none for what is no object."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def items(value: Any) -> list[Any]:
    """Return a list's items, none for what is no list."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def plain(text: str) -> str:
    """Return a text from a server's JSON without lone surrogates, which no other JSON reader takes."""
    return text.encode("utf-8", "replace").decode("utf-8")


def brief(text: str) -> str:
    """Return the beginning of what a server said, without secrets: it may repeat the key it was given."""
    # Masked before it is cut: half a secret is not known for one.
    return plain(mask_text(text[: 8 * DETAIL_CHARACTERS])[:DETAIL_CHARACTERS])


def fault_words(found: Any, text: bytes) -> str:
    """Return the message of a decoded error, whichever of its common shapes it has, else its text."""
    error: Any = fields(found).get("error") or found
    words: Any = fields(error).get("message", error)
    return words if isinstance(words, str) else text.decode("utf-8", "replace")


def error_words(body: bytes) -> str:
    """Return what the body of a refusal says, in at most 200 characters."""
    try:
        found = json.loads(body.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        found = None
    return brief(fault_words(found, body).strip())
