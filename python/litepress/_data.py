"""Recognition of the user's data: Arrow, rows or columns.

:func:`describe` decides between them and takes at most the first row. :func:`look` examines the first row of a table and decides
the access to the values of all its rows. ``_frames.py`` knows the frames of pandas, polars, DuckDB and pyarrow.
"""

from __future__ import annotations

import array
import collections.abc
import dataclasses
import datetime
import itertools
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, Union

from ._errors import DataError, Error

_SCALARS = (str, bytes, bytearray, int, float, complex)
_ADVICE = "pass an iterable of rows (tuples, dicts, objects), columns {'name': values}, or something that speaks Arrow"


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


def describe(
    data: Any,
    names: Sequence[str] | None = None,
    *,
    table: str | None = None,
    adapters: Mapping[type, Callable[[Any], Any]] | None = None,
    index: bool | None = None,
) -> Arrow | Rows | Columns:
    """Describes the data of a table. ``names`` are the columns' names, if the caller gives them.

    Raises ``TypeError`` for objects that are no data of a table, ``ValueError`` for columns that do not fit together, and
    ``DataError`` for data that cannot be stored.
    """
    from . import _frames

    wishes = Wishes(_checked_names(names), adapters or {}, index)
    try:
        _refuse_what_is_no_table(data)
        described = _frames.describe(data, wishes)
        if described is None:
            described = _of_python(data, wishes)
    except Refused as refused:
        raise _error(refused, table) from refused.__cause__
    if isinstance(described, Columns):
        _refuse_bad_names(described.names, table)
    return described


def refuse_index(described: Arrow | Rows | Columns, table: str, columns: Sequence[str] | None) -> None:
    """Refuses a frame whose index has no name and no column in the given table."""
    known = {name.lower() for name in columns or ()}
    lacking = [] if columns is None or isinstance(described, Rows) else [name for name in described.index if name not in known]
    if lacking:
        message = f"the table has no column {lacking[0]!r} for the index of the frame"
        raise _error(Refused(message, None, "leave the index out with index=False, or name it like a column"), table)


def _error(refused: Refused, table: str | None) -> Error:
    place = ".".join(name for name in (table, refused.column) if name is not None)
    if place and (table is None or refused.column is None):
        place = f"{'table' if refused.column is None else 'column'} {place}"
    headline = f"{place}: {refused.message}" if place else refused.message
    return DataError(
        headline + ("" if refused.value is None else f" (value {refused.value})"),
        table=table, column=refused.column, advice=refused.advice, value=refused.value,
    )  # fmt: skip


def _refuse_bad_names(names: Sequence[str], table: str | None) -> None:
    """Refuses names that SQLite cannot keep."""
    for at, name in enumerate(names):
        if not name:
            raise _error(Refused(f"column {at + 1} of the data has an empty name", None, "give it a name"), table)
        if "\0" in name:
            shown = name.replace("\0", "\\0")
            raise _error(Refused(f"the name '{shown}' of a column holds a NUL character", None, "rename it"), table)


def _of_python(data: Any, wishes: Wishes) -> Rows | Columns:
    """Describes NumPy arrays, mappings and iterables."""
    if is_numpy_array(data):
        return _numpy_columns(data, wishes)
    if isinstance(data, Mapping):
        if data and all(value is None or isinstance(value, _SCALARS) for value in data.values()):
            raise TypeError(f"a dict of single values is one row and no table: pass a list of rows, [{{...}}]; or {_ADVICE}")
        return columns_of(data.items(), wishes)
    if type(data).__name__ == "LazyFrame":
        raise TypeError("a LazyFrame has no rows yet: pass .collect() of it")
    if not isinstance(data, collections.abc.Iterable) and not hasattr(type(data), "__getitem__"):
        raise TypeError(f"{type(data).__name__} is no data of a table: {_ADVICE}")
    names = wishes.names or _names_of_cursor(data)
    first, data = _first_and_rest(data)
    if speaks_arrow(first):
        from . import _frames

        return _frames.of_batches(data, wishes)
    return Rows(data, names)


def speaks_arrow(data: Any) -> bool:
    """Returns whether an object has the Arrow PyCapsule interface."""
    return hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__")


def _names_of_cursor(data: Any) -> tuple[str, ...] | None:
    """Returns the names of the columns of a DB-API cursor that has run a query."""
    described = getattr(data, "description", None)
    if not described or not hasattr(data, "fetchmany"):
        return None
    return tuple(str(column[0]) for column in described)


def _first_and_rest(data: Any) -> tuple[Any, Any]:
    """Returns the first item of an iterable, or ``None``, and the data with this item still in it."""
    if isinstance(data, (list, tuple)):
        return (data[0] if data else None), data
    if not isinstance(data, Iterator):
        return None, data
    for first in data:
        return first, itertools.chain([first], data)
    return None, iter(())


def _checked_names(names: Sequence[str] | None) -> tuple[str, ...] | None:
    if names is None:
        return None
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"names of columns are str, not {type(name).__name__}: {name!r}")
    if not names:
        raise ValueError("columns= names no column")
    return tuple(names)


def _refuse_what_is_no_table(data: Any) -> None:
    if data is None or isinstance(data, _SCALARS):
        raise TypeError(f"{type(data).__name__} is no data of a table: {_ADVICE}")
    if isinstance(data, (os.PathLike, type)):
        advice = "litepress.load() reads files" if isinstance(data, os.PathLike) else _ADVICE
        raise TypeError(f"{data!r} is no data of a table: {advice}")
    if isinstance(data, (collections.abc.AsyncIterable, collections.abc.Coroutine)):
        raise TypeError(
            f"{type(data).__name__} is asynchronous, and rows are taken in the calling thread: collect them first, "
            "[row async for row in rows], or append them to litepress.create()"
        )


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


# Columns


def columns_of(items: Iterable[tuple[Any, Any]], wishes: Wishes) -> Columns:
    """Describes columns by their names and values."""
    pairs = list(items)
    given = wishes.names
    for name, _ in pairs:
        if not isinstance(name, str):
            raise TypeError(f"names of columns are str, not {type(name).__name__}: {name!r}")
    if given is not None:
        by_name = dict(pairs)
        missing = [name for name in given if name not in by_name]
        if missing:
            raise ValueError(f"the data have no column {missing[0]!r}: they have {', '.join(map(repr, by_name))}")
        pairs = [(name, by_name[name]) for name in given]
    if not pairs:
        raise ValueError("the data have no columns: a table has at least one")
    described = [(name, *_column(name, values, wishes)) for name, values in pairs]
    first, _, length = described[0]
    for name, _, other in described:
        if other != length:
            raise ValueError(f"columns of different lengths: {first!r} has {length} values, and {name!r} has {other}")
    return Columns(tuple(name for name, _, _ in described), tuple(column for _, column, _ in described), length)


def _column(name: str, values: Any, wishes: Wishes) -> tuple[Column, int]:
    """Returns a column and its length."""
    if values is None or isinstance(values, _SCALARS):
        raise TypeError(f"column {name!r} is one {type(values).__name__}: pass a sequence of values")
    if isinstance(values, Mapping) or isinstance(values, collections.abc.Set):
        raise TypeError(f"column {name!r} is a {type(values).__name__}, which has no order of values: pass a sequence")
    from . import _frames

    series = _frames.series_column(name, values, wishes)
    if series is not None:
        return series, len(values)
    if is_numpy_array(values):
        return numpy_column(name, values, wishes), len(values)
    if isinstance(values, array.array) and values.typecode in "uw":
        return Column("values", "array of characters", lambda start, stop: values[start:stop].tolist()), len(values)
    if isinstance(values, (array.array, memoryview)):
        return _buffer_column(name, memoryview(values), wishes), len(values)
    if isinstance(values, (list, tuple, range)):
        return values_column(values, type(values).__name__), len(values)
    if not isinstance(values, collections.abc.Iterable):
        raise TypeError(f"column {name!r} is {type(values).__name__}: pass a sequence of values")
    listed = list(values)
    return values_column(listed, type(values).__name__), len(listed)


def values_column(values: Sequence[Any], origin: str, declared: str = "") -> Column:
    """Describes a column of Python values."""
    return Column("values", origin, lambda start, stop: list(values[start:stop]), declared=declared)


def _buffer_column(name: str, view: memoryview, wishes: Wishes) -> Column:
    """Describes a buffer of numbers."""
    if view.ndim != 1:
        raise ValueError(f"column {name!r} has {view.ndim} dimensions: a column has one")
    order, code = ("@", view.format) if len(view.format) == 1 else (view.format[0], view.format[1:])
    kind = next((kind for kind, codes in _CODES.items() if len(code) == 1 and code in codes), None)
    origin = f"buffer of {view.format!r}"
    if kind is None:
        raise TypeError(f"column {name!r} is a {origin}, which has no form in SQLite: convert it first")
    if wishes.adapts(float if kind == "real" else bool if code == "?" else int):
        return values_column(view.tolist(), origin)
    is_swapped = order in (">", "!")
    return Column(
        kind, origin, lambda start, stop: view[start:stop].tobytes(), size=view.itemsize, is_swapped=is_swapped
    )


_CODES = {"int": "bhilqn", "uint": "BHILQN?", "real": "fd"}


def is_numpy_array(data: Any) -> bool:
    """Returns whether this is an array of NumPy, or looks like one."""
    return hasattr(data, "__array_interface__") and hasattr(data, "dtype") and hasattr(data, "ndim")


def _numpy_columns(data: Any, wishes: Wishes) -> Columns | Rows:
    """Returns the columns of a structured or two-dimensional array; an array of objects is one of rows."""
    given, unnamed = wishes.names, dataclasses.replace(wishes, names=None)
    if data.dtype.names and data.ndim == 1:
        if given is not None and len(given) == len(data.dtype.names) and not set(given) <= set(data.dtype.names):
            return columns_of(((name, data[field]) for name, field in zip(given, data.dtype.names)), unnamed)
        return columns_of(((name, data[name]) for name in data.dtype.names), wishes)
    if data.ndim == 1 and data.dtype.kind == "O":
        return Rows(data, given)
    if data.ndim != 2:
        raise ValueError(f"an array of {data.ndim} dimension(s) is no table: pass one of 2, or columns {{'name': array}}")
    if given is None:
        # A schema may name the columns: they are then matched by position.
        return Columns((), tuple(numpy_column(str(at + 1), data[:, at], wishes) for at in range(data.shape[1])), len(data))
    if len(given) != data.shape[1]:
        raise ValueError(f"the array has {data.shape[1]} columns, and columns= names {len(given)}")
    return columns_of(((name, data[:, at]) for at, name in enumerate(given)), unnamed)


def numpy_column(name: str, values: Any, wishes: Wishes, *, is_instant: bool = False) -> Column:
    """Describes a column of a NumPy array, which may have a mask."""
    kind, origin = values.dtype.kind, f"NumPy {values.dtype.name}"
    if values.ndim != 1:
        raise ValueError(f"column {name!r} has {values.ndim} dimensions: a column has one")
    adapted = _adapted_numpy_values(values, wishes)
    if adapted is not None:
        return values_column(adapted, origin)
    nulls = None
    plain = values
    if hasattr(values, "mask") and hasattr(values, "filled"):
        import numpy

        plain, mask = values.data, numpy.ma.getmaskarray(values)
        nulls = lambda start, stop: mask[start:stop].tobytes()  # noqa: E731
        if kind == "u":
            # Masked values may be anything, also integers beyond 63 bits, which would be refused.
            plain = values.filled(0)
    if kind in _NUMPY_KINDS and values.dtype.itemsize <= 8:
        if values.dtype.itemsize == 2 and kind == "f":
            return Column("real", origin, lambda start, stop: plain[start:stop].astype("f8").tobytes(), nulls=nulls)
        return Column(
            _NUMPY_KINDS[kind],
            origin,
            lambda start, stop: plain[start:stop].tobytes(),
            size=values.dtype.itemsize,
            is_swapped=not values.dtype.isnative,
            nulls=nulls,
        )
    if kind in "mM":
        return _numpy_times(name, plain, origin, nulls, is_instant)
    if kind in "OUST":
        return Column("values", origin, lambda start, stop: values[start:stop].tolist())
    raise Refused(f"a column of {origin} has no form in SQLite", name, "convert it first")


_PYTHON_TYPES: dict[str, tuple[type, ...]] = {"b": (bool,), "u": (int,), "i": (int,), "f": (float,)}


def _adapted_numpy_values(values: Any, wishes: Wishes) -> list[Any] | None:
    """Returns the values of an array of numbers or times as objects, if there is an adapter for them."""
    if not wishes.adapters or values.dtype.kind not in "buifmMc":
        return None
    if wishes.adapts(values.dtype.type):
        return list(values)
    if wishes.adapts(*_PYTHON_TYPES.get(values.dtype.kind, ())):
        listed: list[Any] = values.tolist()
        return listed
    kinds = {"M": (datetime.datetime, datetime.date), "m": (datetime.timedelta,)}.get(values.dtype.kind, ())
    if not wishes.adapts(*kinds):
        return None
    import numpy

    unit = numpy.datetime_data(values.dtype)[0]
    is_day = unit in ("Y", "M", "W", "D") and values.dtype.kind == "M"
    micro = values.astype(f"{values.dtype.kind}8[{'D' if is_day else 'us'}]")
    is_same = (micro.astype(values.dtype) == values) | numpy.isnat(values)
    if not is_same.all():
        return list(values)
    listed = micro.tolist()
    return listed


_NUMPY_KINDS = {"b": "uint", "u": "uint", "i": "int", "f": "real"}


def _numpy_times(
    name: str, values: Any, origin: str, nulls: Callable[[int, int], bytes] | None, is_instant: bool = False
) -> Column:
    """Describes a column of moments or spans. Moments in weeks, months and years become days, in hours and minutes seconds."""
    import numpy

    unit, _ = numpy.datetime_data(values.dtype)
    if values.dtype.kind == "m":
        if unit not in _SPANS:
            raise Refused(f"durations in {_LONG_UNITS.get(unit, unit)} are no number of microseconds", name, "convert them first")
        target, kind, finer = f"timedelta64[{unit}]", "span", unit
    else:
        kind = "date" if unit in ("Y", "M", "W", "D") else "time"
        if kind == "time" and unit not in ("h", "m", "s", "ms", "us", "ns"):
            raise Refused(f"a column of {origin} has more digits than 9", name, "convert it to datetime64[ns]")
        finer = {"Y": "D", "M": "D", "W": "D", "h": "s", "m": "s"}.get(unit, unit)
        target = f"datetime64[{finer}]"
    read = lambda start, stop: values[start:stop].astype(target).tobytes()  # noqa: E731
    return Column(kind, origin, read, unit=finer, nulls=nulls, is_instant=is_instant)


_SPANS = ("W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as")
_LONG_UNITS = {"Y": "years", "M": "months", "generic": "no unit"}
