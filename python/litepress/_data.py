"""The user's data as the extension gets them: Arrow, rows or columns.

``_describe.py`` decides between them. :func:`look` examines the first row of a table and decides the access to the values of all
its rows.
"""

from __future__ import annotations

import collections.abc
import dataclasses
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, Union

SCALARS = (str, bytes, bytearray, int, float, complex)


class SupportsArrowStream(Protocol):
    """Data with the Arrow PyCapsule interface: tables, frames and readers."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


class SupportsArrowArray(Protocol):
    """Record batches with the Arrow PyCapsule interface."""

    def __arrow_c_array__(self, requested_schema: object | None = None) -> object: ...


Data = Union[SupportsArrowStream, SupportsArrowArray, Mapping[str, Any], Iterable[Any]]
"""The data of a table: something that speaks Arrow, columns by name, or an iterable of rows or of record batches."""
Tables = Union[Mapping[str, Any], Data]
"""Data by the names of their tables, or the data of a single table."""


@dataclass
class Failure:
    """The exception that an iterator raised while a stream of Arrow took its batches."""

    error: BaseException | None = None


@dataclass(frozen=True)
class Arrow:
    """Something with the Arrow PyCapsule interface, whose columns have names."""

    data: Any
    is_in_memory: bool = False
    """All batches exist: no query or file has to be read for them."""
    untyped: tuple[str, ...] = ()
    """Columns without a type, whose values are all NULL."""
    failure: Failure = field(default_factory=Failure)
    index: tuple[str, ...] = ()
    """Columns that are the index of a frame, which has no name of its own."""


@dataclass(frozen=True)
class Rows:
    """An iterable of rows."""

    data: Iterable[Any]
    names: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Columns:
    """Columns of one length."""

    names: tuple[str, ...]
    columns: tuple[Column, ...]
    length: int
    index: tuple[str, ...] = ()
    """Columns that are the index of a frame, which has no name of its own."""


@dataclass(frozen=True)
class Column:
    """A column whose values are read a block at a time.

    ``kind`` is the form of the values that ``read(start, stop)`` returns:

    =============  ===================================================================================
    ``values``     a list of Python objects
    ``int``        bytes: signed integers of ``size`` bytes; ``uint`` unsigned, ``real`` floats
    ``date``       bytes: days since 1970, 64 bits
    ``time``       bytes: counts of ``unit`` since 1970, 64 bits
    ``span``       bytes: durations as counts of ``unit``, 64 bits
    ``arrow``      nothing: ``data`` are the values, an array or a stream of arrays that speaks Arrow
    =============  ===================================================================================

    ``nulls(start, stop)`` returns one byte a row, 1 if the value is NULL.
    """

    kind: str
    origin: str
    read: Callable[[int, int], Any] | None = None
    size: int = 8
    unit: str = ""
    is_swapped: bool = False
    is_instant: bool = False
    """Times are of a time zone, counted in UTC."""
    declared: str = ""
    """The type to declare if all values are NULL."""
    nulls: Callable[[int, int], bytes] | None = None
    data: Any = None


class Refused(Exception):
    """Data that cannot be stored. :func:`describe` adds the table."""

    def __init__(self, message: str, column: str | None = None, advice: str | None = None, value: str | None = None) -> None:
        super().__init__(message)
        self.message, self.column, self.advice, self.value = message, column, advice, value


@dataclass(frozen=True)
class Wishes:
    """Arguments of the user that decide how data are read."""

    names: tuple[str, ...] | None = None
    """Names of the columns, from ``columns=``."""
    adapters: Mapping[type, Callable[[Any], Any]] = field(default_factory=dict)
    index: bool | None = None
    """Whether the index of a pandas frame becomes a column; by default if it has a name or is no ``RangeIndex``."""

    def adapts(self, *kinds: type) -> bool:
        """Returns whether there is an adapter for values of one of these types."""
        return any(issubclass(kind, adapted) for kind in kinds for adapted in self.adapters if isinstance(adapted, type))


def speaks_arrow(data: Any) -> bool:
    """Returns whether an object has the Arrow PyCapsule interface."""
    return hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__")


# Rows


def look(row: Any) -> tuple[str, tuple[str, ...] | None, bool]:
    """Returns the access to a row's values, the names that they have in the row, and whether its type fixes these names.

    The access is ``sequence`` (by position), ``mapping`` (by key) or ``attributes``. The names are ``None`` for plain
    sequences and for mappings, whose keys may differ from row to row.
    """
    if isinstance(row, sqlite3.Row):
        return "sequence", tuple(row.keys()), False
    names = getattr(getattr(row, "dtype", None), "names", None)
    if names:
        return "sequence", tuple(names), True
    if isinstance(row, Mapping):
        return "mapping", None, True
    if is_sequence(row):
        fields = getattr(row, "_fields", None)
        if isinstance(fields, tuple) and fields and all(isinstance(field, str) for field in fields):
            return "sequence", fields, True
        return "sequence", None, True
    if hasattr(row, "keys") and hasattr(row, "__getitem__"):
        return "mapping", None, True
    fields, is_settled = (None, True) if isinstance(row, type) else _fields(row)
    if not fields:
        raise TypeError(
            f"a row is a tuple, list, dict or an object with attributes, not {type(row).__name__}; "
            "columns go into a dict of their own: {'table': {'column': [...]}}"
        )
    return "attributes", tuple(fields), is_settled


def is_sequence(row: Any) -> bool:
    """Returns whether the values of a row have positions."""
    if isinstance(row, (str, bytes, bytearray, memoryview)):
        return False
    return isinstance(row, (tuple, list, collections.abc.Sequence, sqlite3.Row)) or hasattr(row, "__array_interface__")


def _fields(row: Any) -> tuple[Iterable[str], bool]:
    """Returns the fields of an object, and whether its type declares them.

    Dataclasses, attrs, pydantic and msgspec declare their fields. Other objects have slots and attributes.
    """
    kind = type(row)
    if dataclasses.is_dataclass(kind):
        return [field.name for field in dataclasses.fields(kind)], True
    if isinstance(model := getattr(kind, "model_fields", None), Mapping) and _allows_extra_fields(kind):
        # The fields beyond those that the class declares differ from row to row.
        return [*model, *(getattr(row, "model_extra", None) or {})], False
    for declared in ("__attrs_attrs__", "model_fields", "__fields__", "__struct_fields__"):
        fields = getattr(kind, declared, None)
        if isinstance(fields, Mapping):
            return list(fields), True
        if isinstance(fields, tuple) and fields:
            return [str(getattr(field, "name", field)) for field in fields], True
    if kind.__module__ == "builtins":
        return [], True
    names = [name for base in reversed(kind.__mro__) for name in _slots(base)]
    names += getattr(row, "__dict__", {})
    own = [name for name in dict.fromkeys(names) if not name.startswith("_") and hasattr(row, name)]
    return own, not hasattr(row, "__dict__")


def _allows_extra_fields(kind: type) -> bool:
    """Returns whether objects of a class of pydantic keep fields that the class does not declare."""
    config = getattr(kind, "model_config", None)
    return isinstance(config, Mapping) and config.get("extra") == "allow"


def _slots(kind: type) -> Iterable[str]:
    slots = kind.__dict__.get("__slots__", ())
    return (slots,) if isinstance(slots, str) else slots
