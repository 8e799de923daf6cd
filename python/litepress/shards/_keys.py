"""Values of SQLite in JSON, and their order."""

from __future__ import annotations

import math
from typing import Any, Union

Value = Union[None, int, float, str, bytes]
Key = tuple[Value, ...]
"""The values of the columns of a primary key."""


def to_json(value: Value) -> Any:
    """Returns a value as JSON: integers without a point, reals with one, blobs and infinities as objects."""
    if isinstance(value, bytes):
        return {"blob": value.hex()}
    if isinstance(value, float) and math.isinf(value):
        return {"real": "Inf" if value > 0 else "-Inf"}
    return value


def from_json(value: Any) -> Value:
    """Returns the value that :func:`to_json` wrote."""
    if isinstance(value, dict):
        return bytes.fromhex(value["blob"]) if "blob" in value else float(value["real"])
    stored: Value = value
    return stored


def order(value: Any) -> tuple[int, Any]:
    """Returns an object that compares as SQLite orders the value with the collation BINARY: NULL, numbers, texts, blobs."""
    if value is None:
        return 0, 0
    if isinstance(value, (int, float)):
        return 1, value
    if isinstance(value, str):
        # Code points compare as UTF-8 does, UTF-16 does not: Python compares code points.
        return 2, value
    return 3, bytes(value)


def key_order(key: Key) -> tuple[tuple[int, Any], ...]:
    """Returns an object that compares as SQLite orders the keys."""
    return tuple(order(value) for value in key)


def show(key: Key) -> str:
    """Returns a key for a message, as SQL writes it."""
    shown = ", ".join(show_value(value) for value in key)
    return shown if len(key) == 1 else f"({shown})"


def show_value(value: Value) -> str:
    """Returns a value for a message, as SQL writes it, cut if it is long."""
    if value is None:
        return "NULL"
    if isinstance(value, bytes):
        return f"x'{value[:20].hex()}'"
    if isinstance(value, str):
        text = value if len(value) <= 60 else value[:60] + "..."
        return "'" + text.replace("'", "''") + "'"
    return repr(value)
