"""Recognition of the user's data: Arrow, rows or columns.

:func:`describe` decides between them without taking a row. :func:`look` examines the first row of a table and decides the
access to the values of all its rows.
"""

from __future__ import annotations

import array
import collections.abc
import dataclasses
import importlib.util
import os
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_SCALARS = (str, bytes, bytearray, int, float, complex)
_ADVICE = "pass an iterable of rows (tuples, dicts, objects), columns {'name': values}, or something that speaks Arrow"


@dataclass(frozen=True)
class Arrow:
    """Something with the Arrow PyCapsule interface, whose columns have names."""

    data: Any


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


@dataclass(frozen=True)
class Column:
    """A column whose values are read a block at a time.

    ``kind`` is the form of the values that ``read(start, stop)`` returns:

    =============  ===================================================================================
    ``values``     a list of Python objects
    ``int``        bytes: signed integers of ``size`` bytes; ``uint`` unsigned, ``real`` floats
    ``date``       bytes: days since 1970, 64 bits
    ``time``       bytes: counts of ``unit`` since 1970, 64 bits
    ``span``       bytes: integers of 64 bits
    =============  ===================================================================================

    ``nulls(start, stop)`` returns one byte a row, 1 if the value is NULL.
    """

    kind: str
    origin: str
    read: Callable[[int, int], Any]
    size: int = 8
    unit: str = ""
    is_swapped: bool = False
    nulls: Callable[[int, int], bytes] | None = None


def describe(data: Any, names: Sequence[str] | None = None) -> Arrow | Rows | Columns:
    """Describes the data of a table. ``names`` are the columns' names, if the caller gives them.

    Raises ``TypeError`` for objects that are no data of a table, ``ValueError`` for columns that do not fit together.
    """
    given = _checked_names(names)
    _refuse_what_is_no_table(data)
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
        if _is_pandas_frame(data) and importlib.util.find_spec("pyarrow") is None:
            return _pandas_columns(data, given)
        if given is not None:
            raise ValueError("columns= names the columns of rows that have no names, and Arrow data have names: rename them there")
        return Arrow(_without_index(data) if _is_pandas_frame(data) else _of_polars(data))
    if _is_pandas_frame(data):
        return _pandas_columns(data, given)
    if _is_numpy_array(data):
        return _numpy_columns(data, given)
    if isinstance(data, Mapping):
        if data and all(value is None or isinstance(value, _SCALARS) for value in data.values()):
            raise TypeError(f"a dict of single values is one row and no table: pass a list of rows, [{{...}}]; or {_ADVICE}")
        return _columns(data.items(), given)
    if type(data).__name__ == "LazyFrame":
        raise TypeError("a LazyFrame has no rows yet: pass .collect() of it")
    if not isinstance(data, collections.abc.Iterable) and not hasattr(type(data), "__getitem__"):
        raise TypeError(f"{type(data).__name__} is not data of a table: {_ADVICE}")
    return Rows(data, given)


def _of_polars(data: Any) -> Any:
    """Repairs a polars frame for export; returns other data unchanged.

    polars gives columns of type Null a buffer, which Arrow forbids: they are cast. Its columns of type Object hold
    addresses: they are refused.
    """
    if type(data).__module__.partition(".")[0] != "polars" or not hasattr(data, "schema"):
        return data
    kinds = {name: str(kind) for name, kind in data.schema.items()}
    for name, kind in kinds.items():
        if kind == "Object":
            raise TypeError(f"column {name!r} is one of Python objects: turn them into values of a type that polars knows")
    nulls = [name for name, kind in kinds.items() if kind == "Null"]
    if not nulls:
        return data
    import polars

    return data.with_columns(polars.col(name).cast(polars.Binary) for name in nulls)


def _without_index(data: Any) -> Any:
    """Returns a pandas frame whose index became a column if it has a name, and is dropped if not, whatever its values are."""
    if any(name is not None for name in data.index.names):
        return data.reset_index()
    return data if type(data.index).__name__ == "RangeIndex" else data.reset_index(drop=True)


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
        raise TypeError(f"{type(data).__name__} is not data of a table: {_ADVICE}")
    if isinstance(data, (os.PathLike, type)):
        advice = "litepress.load() reads files" if isinstance(data, os.PathLike) else _ADVICE
        raise TypeError(f"{data!r} is not data of a table: {advice}")
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


def _slots(kind: type) -> Iterable[str]:
    slots = kind.__dict__.get("__slots__", ())
    return (slots,) if isinstance(slots, str) else slots


# Columns


def _columns(items: Iterable[tuple[Any, Any]], given: tuple[str, ...] | None) -> Columns:
    pairs = list(items)
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
    described = [(name, *_column(name, values)) for name, values in pairs]
    first, _, length = described[0]
    for name, _, other in described:
        if other != length:
            raise ValueError(f"columns of different lengths: {first!r} has {length} values, and {name!r} has {other}")
    return Columns(tuple(name for name, _, _ in described), tuple(column for _, column, _ in described), length)


def _column(name: str, values: Any) -> tuple[Column, int]:
    """Returns a column and its length."""
    if values is None or isinstance(values, _SCALARS):
        raise TypeError(f"column {name!r} is one {type(values).__name__}: pass a sequence of values")
    if isinstance(values, Mapping) or isinstance(values, collections.abc.Set):
        raise TypeError(f"column {name!r} is a {type(values).__name__}, which has no order of values: pass a sequence")
    if hasattr(values, "to_numpy") and not _is_numpy_array(values):
        values = _of_series(values)
    if _is_numpy_array(values):
        return _numpy_column(name, values), len(values)
    if isinstance(values, array.array) and values.typecode in "uw":
        return Column("values", "array of characters", lambda start, stop: values[start:stop].tolist()), len(values)
    if isinstance(values, (array.array, memoryview)):
        return _buffer_column(name, memoryview(values)), len(values)
    if isinstance(values, list):
        return Column("values", "list", lambda start, stop: values[start:stop]), len(values)
    if isinstance(values, (tuple, range)):
        return Column("values", type(values).__name__, lambda start, stop: list(values[start:stop])), len(values)
    if not isinstance(values, collections.abc.Iterable):
        raise TypeError(f"column {name!r} is {type(values).__name__}: pass a sequence of values")
    listed = list(values)
    return Column("values", type(values).__name__, lambda start, stop: listed[start:stop]), len(listed)


def _of_series(values: Any) -> Any:
    """Returns the values of a frame's column: a NumPy array if its type is one of NumPy's, else Python values."""
    if hasattr(values, "to_pylist"):
        return values.to_pylist()
    kind = getattr(values, "dtype", None)
    is_plain = type(kind).__module__.partition(".")[0] == "numpy"
    return values.to_numpy() if is_plain else list(values)


def _buffer_column(name: str, view: memoryview) -> Column:
    """Describes a buffer of numbers."""
    if view.ndim != 1:
        raise ValueError(f"column {name!r} has {view.ndim} dimensions: a column has one")
    order, code = ("@", view.format) if len(view.format) == 1 else (view.format[0], view.format[1:])
    kind = next((kind for kind, codes in _CODES.items() if len(code) == 1 and code in codes), None)
    origin = f"buffer of {view.format!r}"
    if kind is None:
        raise TypeError(f"column {name!r} is a {origin}, which has no form in SQLite: convert it first")
    is_swapped = order in (">", "!")
    return Column(
        kind, origin, lambda start, stop: view[start:stop].tobytes(), size=view.itemsize, is_swapped=is_swapped
    )


_CODES = {"int": "bhilqn", "uint": "BHILQN?", "real": "fd"}


def _is_numpy_array(data: Any) -> bool:
    return hasattr(data, "__array_interface__") and hasattr(data, "dtype") and hasattr(data, "ndim")


def _numpy_columns(data: Any, given: tuple[str, ...] | None) -> Columns | Rows:
    """Returns the columns of a structured or two-dimensional array; an array of objects is one of rows."""
    if data.dtype.names and data.ndim == 1:
        if given is not None and len(given) == len(data.dtype.names) and not set(given) <= set(data.dtype.names):
            return _columns(((name, data[field]) for name, field in zip(given, data.dtype.names)), None)
        return _columns(((name, data[name]) for name in data.dtype.names), given)
    if data.ndim == 1 and data.dtype.kind == "O":
        return Rows(data, given)
    if data.ndim != 2:
        raise ValueError(f"an array of {data.ndim} dimension(s) is no table: pass one of 2, or columns {{'name': array}}")
    if given is None:
        # A schema may name the columns: they are then matched by position.
        return Columns((), tuple(_numpy_column(str(at + 1), data[:, at]) for at in range(data.shape[1])), len(data))
    if len(given) != data.shape[1]:
        raise ValueError(f"the array has {data.shape[1]} columns, and columns= names {len(given)}")
    return _columns(((name, data[:, at]) for at, name in enumerate(given)), None)


def _numpy_column(name: str, values: Any) -> Column:
    kind, origin = values.dtype.kind, f"NumPy {values.dtype.name}"
    if values.ndim != 1:
        raise ValueError(f"column {name!r} has {values.ndim} dimensions: a column has one")
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
        return _numpy_times(name, plain, origin, nulls)
    if kind in "OUST":
        return Column("values", origin, lambda start, stop: values[start:stop].tolist())
    raise TypeError(f"column {name!r} is {origin}, which has no form in SQLite: convert it first")


_NUMPY_KINDS = {"b": "uint", "u": "uint", "i": "int", "f": "real"}


def _numpy_times(name: str, values: Any, origin: str, nulls: Callable[[int, int], bytes] | None) -> Column:
    """Describes a column of moments or spans. Moments in weeks, months and years become days, in hours and minutes seconds."""
    import numpy

    unit, count = numpy.datetime_data(values.dtype)
    kind = {"m": "span"}.get(values.dtype.kind, "date" if unit in ("Y", "M", "W", "D") else "time")
    if kind == "time" and unit not in ("h", "m", "s", "ms", "us", "ns"):
        raise TypeError(f"column {name!r} is {origin}: convert it to datetime64[ns], whose 9 digits are all that is stored")
    finer = {"Y": "D", "M": "D", "W": "D", "h": "s", "m": "s"}.get(unit, unit)
    target = values.dtype.newbyteorder("=") if kind == "span" else f"datetime64[{finer}]"
    return Column(
        kind, origin, lambda start, stop: values[start:stop].astype(target).tobytes(), unit=finer, nulls=nulls
    )


# pandas without pyarrow


def _is_pandas_frame(data: Any) -> bool:
    return type(data).__name__ == "DataFrame" and hasattr(data, "iloc") and hasattr(data, "index")


def _pandas_columns(frame: Any, given: tuple[str, ...] | None) -> Columns:
    """Returns the columns of a frame, and its index if that has a name."""
    frame = _without_index(frame)
    items = [(_pandas_name(name), frame.iloc[:, at]) for at, name in enumerate(frame.columns)]
    twice = next((name for at, (name, _) in enumerate(items) if name in [other for other, _ in items[:at]]), None)
    if twice is not None:
        raise ValueError(f"two columns are called {twice!r}")
    return _columns(items, given)


def _pandas_name(name: Any) -> str:
    return name if isinstance(name, str) else str(name)
