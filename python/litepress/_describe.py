"""Recognition of the user's data: Arrow, rows or columns.

:func:`describe` decides between them and takes at most the first row. ``_frames.py`` knows the frames of pandas, polars, DuckDB and
pyarrow; ``_columns.py`` knows lists, buffers and arrays of NumPy.
"""

from __future__ import annotations

import array
import collections.abc
import dataclasses
import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from . import _frames
from ._columns import buffer_column, is_numpy_array, numpy_column, values_column
from ._data import SCALARS, Arrow, Column, Columns, Refused, Rows, Wishes, speaks_arrow
from ._errors import DataError, Error

_ADVICE = "pass an iterable of rows (tuples, dicts, objects), columns {'name': values}, or something that speaks Arrow"


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
    wishes = Wishes(_checked_names(names), adapters or {}, index)
    try:
        _refuse_what_is_no_table(data)
        described: Arrow | Rows | Columns = _frames.describe(data, wishes) or _of_python(data, wishes)
    except Refused as refused:
        raise as_data_error(refused, table) from refused.__cause__
    if isinstance(described, Columns):
        _refuse_bad_names(described.names, table)
    return described


def refuse_index(described: Arrow | Rows | Columns, table: str, columns: Sequence[str] | None) -> None:
    """Refuses a frame whose index has no name and no column in the given table."""
    known = {name.lower() for name in columns or ()}
    lacking = [] if columns is None or isinstance(described, Rows) else [name for name in described.index if name not in known]
    if lacking:
        message = f"the table has no column {lacking[0]!r} for the index of the frame"
        raise as_data_error(Refused(message, None, "leave the index out with index=False, or name it like a column"), table)


def as_data_error(refused: Refused, table: str | None) -> Error:
    """Returns the exception for data that cannot be stored."""
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
            raise as_data_error(Refused(f"column {at + 1} of the data has an empty name", None, "give it a name"), table)
        if "\0" in name:
            shown = name.replace("\0", "\\0")
            raise as_data_error(Refused(f"the name '{shown}' of a column holds a NUL character", None, "rename it"), table)


def _of_python(data: Any, wishes: Wishes) -> Arrow | Rows | Columns:
    """Describes NumPy arrays, mappings and iterables."""
    if is_numpy_array(data):
        return _numpy_columns(data, wishes)
    if isinstance(data, Mapping):
        if data and all(value is None or isinstance(value, SCALARS) for value in data.values()):
            raise TypeError(f"a dict of single values is one row and no table: pass a list of rows, [{{...}}]; or {_ADVICE}")
        return _columns_of(data.items(), wishes)
    if type(data).__name__ == "LazyFrame":
        raise TypeError("a LazyFrame has no rows yet: pass .collect() of it, or .collect_batches() if it is larger than the memory")
    if not isinstance(data, collections.abc.Iterable) and not hasattr(type(data), "__getitem__"):
        raise TypeError(f"{type(data).__name__} is not data of a table: {_ADVICE}")
    names = wishes.names or _names_of_cursor(data)
    first, data = _first_and_rest(data)
    if speaks_arrow(first):
        return _frames.of_batches(data, wishes)
    return Rows(data, names)


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
    if data is None or isinstance(data, SCALARS):
        raise TypeError(f"{type(data).__name__} is not data of a table: {_ADVICE}")
    if isinstance(data, (os.PathLike, type)):
        advice = "litepress.load() reads files" if isinstance(data, os.PathLike) else _ADVICE
        raise TypeError(f"{data!r} is not data of a table: {advice}")
    if isinstance(data, (collections.abc.AsyncIterable, collections.abc.Coroutine)):
        raise TypeError(
            f"{type(data).__name__} is asynchronous, and rows are taken in the calling thread: collect them first, "
            "[row async for row in rows], or append them to litepress.create()"
        )


def _columns_of(items: Iterable[tuple[Any, Any]], wishes: Wishes) -> Columns:
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
    if values is None or isinstance(values, SCALARS):
        raise TypeError(f"column {name!r} is one {type(values).__name__}: pass a sequence of values")
    if isinstance(values, Mapping) or isinstance(values, collections.abc.Set):
        raise TypeError(f"column {name!r} is a {type(values).__name__}, which has no order of values: pass a sequence")
    series = _frames.series_column(name, values, wishes)
    if series is not None:
        return series, len(values)
    if is_numpy_array(values):
        return numpy_column(name, values, wishes), len(values)
    if isinstance(values, array.array) and values.typecode in "uw":
        return Column("values", "array of characters", lambda start, stop: values[start:stop].tolist()), len(values)
    if isinstance(values, (array.array, memoryview)):
        return buffer_column(name, memoryview(values), wishes), len(values)
    if isinstance(values, (list, tuple, range)):
        return values_column(values, type(values).__name__), len(values)
    if not isinstance(values, collections.abc.Iterable):
        raise TypeError(f"column {name!r} is {type(values).__name__}: pass a sequence of values")
    listed = list(values)
    return values_column(listed, type(values).__name__), len(listed)


def _numpy_columns(data: Any, wishes: Wishes) -> Columns | Rows:
    """Returns the columns of a structured or two-dimensional array; an array of objects is one of rows."""
    given, unnamed = wishes.names, dataclasses.replace(wishes, names=None)
    if data.dtype.names and data.ndim == 1:
        if given is not None and len(given) == len(data.dtype.names) and not set(given) <= set(data.dtype.names):
            return _columns_of(((name, data[field]) for name, field in zip(given, data.dtype.names)), unnamed)
        return _columns_of(((name, data[name]) for name in data.dtype.names), wishes)
    if data.ndim == 1 and data.dtype.kind == "O":
        return Rows(data, given)
    if data.ndim != 2:
        raise ValueError(f"an array of {data.ndim} dimension(s) is no table: pass one of 2, or columns {{'name': array}}")
    if given is None:
        # A schema may name the columns: they are then matched by position.
        return Columns((), tuple(numpy_column(str(at + 1), data[:, at], wishes) for at in range(data.shape[1])), len(data))
    if len(given) != data.shape[1]:
        raise ValueError(f"the array has {data.shape[1]} columns, and columns= names {len(given)}")
    return _columns_of(((name, data[:, at]) for at, name in enumerate(given)), unnamed)
