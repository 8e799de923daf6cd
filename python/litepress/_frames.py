"""Frames of pandas, polars, DuckDB and pyarrow as data of a table.

Arrow has one type for a column, and so has a frame, except for its columns of objects: their values are stored as the same values
in rows are. Columns with a type go by Arrow, without a Python object. A column whose values have an adapter is read as objects.
None of these packages is imported unless the user's data are theirs.
"""

from __future__ import annotations

import datetime
import decimal
import importlib.util
import itertools
import re
import uuid
from collections.abc import Callable, Iterable
from typing import Any

from ._batches import record_batches
from ._columns import is_numpy_array, numpy_column, values_column
from ._data import Arrow, Column, Columns, Failure, Refused, Wishes, speaks_arrow

_FROM_ARROW = (
    type(None), bool, int, float, str, bytes, list, dict, decimal.Decimal, uuid.UUID,
    datetime.date, datetime.datetime, datetime.time, datetime.timedelta,
)  # fmt: skip
"""Types of the Python values that Arrow's values become."""


def describe(data: Any, wishes: Wishes) -> Arrow | Columns | None:
    """Describes a frame, or anything that speaks Arrow. Returns ``None`` for other data."""
    if _is_pandas_frame(data):
        return _pandas(_named_by_itself(data, wishes), wishes)
    if not speaks_arrow(data):
        return None
    _named_by_itself(data, wishes)
    _refuse_nul(data)
    package = _package(data)
    if package == "polars" and hasattr(data, "get_columns"):
        return _polars(data, wishes)
    if package == "duckdb" and hasattr(data, "project") and hasattr(data, "types"):
        data = _of_duckdb(data)
    return _arrow(data, wishes)


def series_column(name: str, values: Any, wishes: Wishes) -> Column | None:
    """Describes a column that is a series of pandas or polars, or an array of pyarrow. Returns ``None`` for other values."""
    if is_numpy_array(values) or not hasattr(values, "to_numpy"):
        return None
    package = _package(values)
    if package == "pandas":
        return _pandas_column(name, values.to_series() if hasattr(values, "to_series") else values, wishes)
    if package == "polars":
        return _polars_column(name, values, wishes)
    if package == "pyarrow" and hasattr(values, "to_pylist"):
        return _pyarrow_column(values, wishes)
    dtype = getattr(values, "dtype", None)
    if type(dtype).__module__.partition(".")[0] == "numpy":
        return numpy_column(name, values.to_numpy(), wishes)
    return values_column(list(values), type(values).__name__)


def of_batches(data: Iterable[Any], wishes: Wishes) -> Arrow | Columns:
    """Describes an iterable of frames or record batches of one schema. It is taken lazily, as a stream."""
    pyarrow = _pyarrow()
    if pyarrow is None:
        raise Refused("an iterable of Arrow data is read with pyarrow", None, "install pyarrow, or pass one table")
    _named_by_itself(data, wishes)
    failure = Failure()
    batches = record_batches(pyarrow, data, failure)
    first = next(batches)
    _refuse_nul(first)
    whole = itertools.chain([first], batches)
    try:
        described = _arrow(pyarrow.RecordBatchReader.from_batches(first.schema, whole), wishes)
    except pyarrow.ArrowException:
        # Adapters have all batches read here.
        if failure.error is not None:
            raise failure.error from None
        raise
    return Arrow(described.data, described.is_in_memory, described.untyped, failure) if isinstance(described, Arrow) else described


def _package(data: Any) -> str:
    """Returns the package that an object's type is from."""
    package: str = type(data).__module__.partition(".")[0]
    return package.lstrip("_")


def _pyarrow() -> Any:
    """Returns pyarrow, or ``None`` if it is not installed."""
    if importlib.util.find_spec("pyarrow") is None:
        return None
    import pyarrow  # type: ignore[import-untyped, unused-ignore]

    return pyarrow


def _named_by_itself(data: Any, wishes: Wishes) -> Any:
    if wishes.names is not None:
        raise ValueError("columns= names the columns of rows that have no names, and these data have names: rename them there")
    return data


def _refuse_nul(data: Any) -> None:
    """Refuses names that Arrow would cut at a NUL character, in silence."""
    names = getattr(getattr(data, "schema", None), "names", None) or getattr(data, "columns", None)
    if callable(names):
        names = list(names())
    for name in names if isinstance(names, (list, tuple)) else ():
        if isinstance(name, str) and "\0" in name:
            shown = name.replace("\0", "\\0")
            raise Refused(f"the name '{shown}' of a column holds a NUL character", None, "rename it")


# Arrow


def _arrow(data: Any, wishes: Wishes) -> Arrow | Columns:
    """Describes Arrow data of any library."""
    pyarrow = _pyarrow()
    is_in_memory = _package(data) in ("pyarrow", "polars") and hasattr(data, "__len__")
    if not wishes.adapts(*_FROM_ARROW) and not _has_extension(data):
        return Arrow(data, is_in_memory)
    if pyarrow is None:
        raise Refused("adapters= needs pyarrow to see these data as Python values", None, "install pyarrow, or pass rows")
    reader = pyarrow.RecordBatchReader.from_stream(data) if hasattr(data, "__arrow_c_stream__") else pyarrow.table(data).to_reader()
    is_adapted = any(wishes.adapts(*_python_types(pyarrow, field.type)) for field in reader.schema)
    if not is_adapted and not _has_extension(reader):
        return Arrow(reader, is_in_memory)
    table = reader.read_all()
    columns = tuple(_pyarrow_column(column, wishes) for column in table.columns)
    return Columns(tuple(table.column_names), columns, table.num_rows)


_OF_PANDAS = ("pandas.period", "pandas.interval")
"""Extension types whose stored numbers mean nothing without pandas."""


def _has_extension(data: Any) -> bool:
    """Returns whether a table of pyarrow has columns that only pandas can read. Refuses those that only DuckDB can read."""
    schema = getattr(data, "schema", None) if _package(data) == "pyarrow" else None
    names = []
    for field in schema if schema is not None else ():
        name = getattr(field.type, "extension_name", None)
        if name == "arrow.opaque" and getattr(field.type, "vendor_name", None) == "DuckDB":
            raise Refused(f"the column has DuckDB's own bytes of a {field.type.type_name}", field.name, "cast it to VARCHAR in the query")
        names.append(name)
    return any(name in _OF_PANDAS for name in names)


def _pyarrow_column(values: Any, wishes: Wishes) -> Column:
    """Describes an array or a chunked array of pyarrow."""
    import pyarrow  # type: ignore[import-untyped, unused-ignore]

    origin = f"Arrow {values.type}"
    if getattr(values.type, "extension_name", None) in _OF_PANDAS:
        return values_column(list(values.to_pandas()), origin, "TEXT")
    if not wishes.adapts(*_python_types(pyarrow, values.type)):
        return Column("arrow", origin, data=values)
    return Column("values", origin, lambda start, stop: values.slice(start, stop - start).to_pylist())


def _python_types(pyarrow: Any, data_type: Any) -> tuple[type, ...]:
    """Returns the types of the Python values of an Arrow type."""
    types = pyarrow.types
    if isinstance(data_type, pyarrow.BaseExtensionType):
        return (uuid.UUID,) if data_type.extension_name == "arrow.uuid" else _python_types(pyarrow, data_type.storage_type)
    if types.is_dictionary(data_type) or types.is_run_end_encoded(data_type):
        return _python_types(pyarrow, data_type.value_type)
    tests: list[tuple[Callable[[Any], bool], type]] = [
        (types.is_null, type(None)),
        (types.is_boolean, bool),
        (types.is_integer, int),
        (types.is_floating, float),
        (types.is_decimal, decimal.Decimal),
        (types.is_date, datetime.date),
        (types.is_timestamp, datetime.datetime),
        (types.is_time, datetime.time),
        (types.is_duration, datetime.timedelta),
        (types.is_struct, dict),
        (lambda one: types.is_nested(one) and not types.is_struct(one), list),
        (lambda one: types.is_string(one) or types.is_large_string(one) or types.is_string_view(one), str),
    ]
    return (next((kind for test, kind in tests if test(data_type)), bytes),)


# polars


def _polars(frame: Any, wishes: Wishes) -> Arrow | Columns:
    """Describes a polars frame. Columns of type Object hold addresses for Arrow: they are read as Python values."""
    import polars

    columns = frame.get_columns()
    if any(column.dtype == polars.Object or wishes.adapts(*_polars_types(column.dtype)) for column in columns):
        described = tuple(_polars_column(column.name, column, wishes) for column in columns)
        return Columns(tuple(frame.columns), described, frame.height)
    untyped = tuple(column.name for column in columns if column.dtype == polars.Null)
    exported = [_exportable(column) for column in columns]
    if any(new is not old for new, old in zip(exported, columns)):
        frame = frame.with_columns(exported)
    return Arrow(frame, is_in_memory=True, untyped=untyped)


def _polars_types(dtype: Any) -> tuple[type, ...]:
    """Returns the type of the Python values of a type of polars."""
    try:
        return (dtype.to_python(),)
    except (AttributeError, NotImplementedError):
        return ()


def _polars_column(name: str, series: Any, wishes: Wishes) -> Column:
    import polars

    origin = f"polars {series.dtype}"
    if series.dtype == polars.Null:
        return Column("values", origin, lambda start, stop: [None] * (stop - start))
    if series.dtype == polars.Object or wishes.adapts(*_polars_types(series.dtype)):
        return Column("values", origin, lambda start, stop: series[start:stop].to_list())
    return Column("arrow", origin, data=_exportable(series))


def _exportable(series: Any) -> Any:
    """Returns a series in a type that Arrow has. polars gives columns of type Null a buffer, which Arrow forbids."""
    import polars

    target = _arrow_type(series.dtype)
    if target == series.dtype:
        return series
    try:
        return series.cast(target)
    except polars.exceptions.PolarsError as error:
        if series.dtype in (polars.Int128, polars.UInt128):
            return series.cast(polars.String)
        raise Refused(f"a column of {series.dtype} has no form in Arrow: {error}", series.name, "convert it first") from error


def _arrow_type(dtype: Any) -> Any:
    """Returns the type as which a type of polars is exported."""
    import polars

    wide = {getattr(polars, name) for name in ("Int128", "UInt128") if hasattr(polars, name)}
    if dtype == polars.Null:
        return polars.Boolean
    if dtype in wide:
        return polars.Decimal(38, 0)
    if isinstance(dtype, polars.List):
        return polars.List(_arrow_type(dtype.inner))
    if isinstance(dtype, polars.Array):
        return polars.Array(_arrow_type(dtype.inner), dtype.size)
    if isinstance(dtype, polars.Struct):
        return polars.Struct([polars.Field(field.name, _arrow_type(field.dtype)) for field in dtype.fields])
    return dtype


# DuckDB

_AS_TEXT = re.compile(r"\b(BIT|BIGNUM|VARINT|TIME WITH TIME ZONE|VARIANT)\b")
"""Types of which Arrow gets bytes of DuckDB's own, or less than the value: a time of day without its zone."""


def _of_duckdb(relation: Any) -> Any:
    """Returns a relation whose columns all have a type that Arrow knows."""
    selected = []
    for name, kind in zip(relation.columns, map(str, relation.types)):
        quoted = '"' + name.replace('"', '""') + '"'
        # Arrow's decimals cut integers of 128 bits without a sign. DuckDB refuses those that one with a sign cannot hold.
        target = kind if kind.startswith("ENUM") else _AS_TEXT.sub("VARCHAR", kind).replace("UHUGEINT", "HUGEINT")
        selected.append(quoted if target == kind else f"CAST({quoted} AS {target}) AS {quoted}")
    is_same = all(one.startswith('"') for one in selected)
    return relation if is_same else relation.project(", ".join(selected))


# pandas


def _is_pandas_frame(data: Any) -> bool:
    return type(data).__name__ == "DataFrame" and hasattr(data, "iloc") and hasattr(data, "index")


def _pandas(frame: Any, wishes: Wishes) -> Arrow | Columns:
    """Describes a pandas frame, with its index. Columns of objects are read as Python values."""
    frame, index = _with_index(frame, wishes.index)
    series = [frame.iloc[:, at] for at in range(frame.shape[1])]
    if not series:
        raise ValueError("the data have no columns: a table has at least one")
    names = tuple(frame.columns)
    pyarrow = _pyarrow()
    if pyarrow is not None and all(names) and all(_goes_by_arrow(one, wishes) for one in series) and "\0" not in "".join(names):
        try:
            return Arrow(pyarrow.Table.from_pandas(frame, preserve_index=False), is_in_memory=True, index=index)
        except (pyarrow.ArrowException, ValueError, TypeError, OverflowError):
            # Such as lone surrogates: read as Python values, the one that is wrong is named.
            pass
    columns = tuple(_pandas_column(name, one, wishes) for name, one in zip(names, series))
    return Columns(names, columns, len(frame), index)


def _with_index(frame: Any, index: bool | None) -> tuple[Any, tuple[str, ...]]:
    """Returns a frame whose columns have names that are texts, and whose index is the first columns if it is wanted.

    Also returns the names of those of these columns that have none in the frame.
    """
    names = [name if isinstance(name, str) else str(name) for name in frame.columns]
    labels = frame.index
    is_named = any(name is not None for name in labels.names)
    if index is None:
        index = is_named or type(labels).__name__ != "RangeIndex"
    levels = labels.nlevels if index else 0
    plain = "index" if labels.nlevels == 1 and "index" not in names else None
    added = [str(name) if name is not None else plain or f"level_{at}" for at, name in enumerate(labels.names)][:levels]
    for at, name in enumerate(added + names):
        if name in (added + names)[:at]:
            advice = "rename the index, or leave it out with index=False" if name in added else "rename one of them"
            raise Refused("two columns of the data have this name", name, advice)
    if type(labels).__name__ != "RangeIndex" or is_named:
        frame = frame.reset_index(drop=True)
    if names != list(frame.columns):
        frame = frame.set_axis(names, axis=1)
    elif added:
        frame = frame.copy(deep=False)
    for at, name in enumerate(added):
        frame.insert(at, name, labels.get_level_values(at).array)
    return frame, tuple(name for name, label in zip(added, labels.names) if label is None)


def _goes_by_arrow(series: Any, wishes: Wishes) -> bool:
    return _has_arrow_type(series.dtype) and not _is_adapted(series, wishes)


def _has_arrow_type(dtype: Any) -> bool:
    """Returns whether all values of a type of pandas have one type of Arrow, and come back from it."""
    if type(dtype).__module__.partition(".")[0] == "numpy":
        return dtype.kind in "biufmM" and dtype.itemsize <= 8
    kind = type(dtype).__name__
    if kind == "CategoricalDtype":
        return dtype.categories is not None and _has_arrow_type(dtype.categories.dtype)
    return kind in ("StringDtype", "ArrowDtype", "DatetimeTZDtype") or hasattr(dtype, "numpy_dtype")


def _is_adapted(series: Any, wishes: Wishes) -> bool:
    """Returns whether there is an adapter for the values of a column with a type."""
    if not wishes.adapters:
        return False
    present = series.dropna()
    kinds = {type(value) for value in present.iloc[:1]}
    if getattr(series.dtype, "type", None) is not None and isinstance(series.dtype.type, type):
        kinds.add(series.dtype.type)
    return wishes.adapts(*kinds)


def _pandas_column(name: str, series: Any, wishes: Wishes) -> Column:
    """Describes a column of a pandas frame."""
    dtype, origin = series.dtype, f"pandas {series.dtype}"
    kind = type(dtype).__name__
    if _is_adapted(series, wishes):
        return values_column(list(series), origin)
    if _pyarrow() is not None and _has_arrow_type(dtype):
        column = _by_pyarrow(series, origin)
        if column is not None:
            return column
    if type(dtype).__module__.partition(".")[0] == "numpy":
        if dtype.kind in "biufmM" and dtype.itemsize <= 8:
            return numpy_column(name, series.to_numpy(), wishes)
        values = series.to_numpy()
        return Column("values", origin, lambda start, stop: values[start:stop].tolist() if dtype.kind == "O" else list(values[start:stop]))
    if kind == "DatetimeTZDtype":
        utc = series.dt.tz_convert("UTC").dt.tz_localize(None)
        return numpy_column(name, utc.to_numpy(), wishes, is_instant=True)
    if kind == "CategoricalDtype":
        return _category(name, series, wishes)
    if kind == "SparseDtype":
        return _pandas_column(name, series.sparse.to_dense(), wishes)
    if hasattr(dtype, "numpy_dtype"):
        return _masked(name, series, wishes)
    return values_column(list(series), origin, "TEXT" if kind in ("StringDtype", "PeriodDtype", "IntervalDtype") else "")


def _by_pyarrow(series: Any, origin: str) -> Column | None:
    """Describes a column with a type by its Arrow array; ``None`` if a value has no form there."""
    import pyarrow  # type: ignore[import-untyped, unused-ignore]

    try:
        return Column("arrow", origin, data=pyarrow.Array.from_pandas(series))
    except (pyarrow.ArrowException, ValueError, TypeError, OverflowError):
        return None


def _masked(name: str, series: Any, wishes: Wishes) -> Column:
    """Describes a column of numbers with a mask for those that are missing."""
    import numpy

    mask = series.isna().to_numpy()
    values = series.to_numpy(dtype=series.dtype.numpy_dtype, na_value=0)
    return numpy_column(name, numpy.ma.array(values, mask=mask), wishes)


def _category(name: str, series: Any, wishes: Wishes) -> Column:
    """Describes a column of categories: each value is looked up by its code."""
    categories = list(series.cat.categories)
    codes = series.cat.codes.to_numpy()
    column = _pandas_column(name, series.cat.categories.to_series(), wishes)
    declared = {"int": "INTEGER", "uint": "INTEGER", "real": "REAL", "date": "TEXT", "time": "TEXT", "span": "INTEGER"}
    read = lambda start, stop: [categories[code] if code >= 0 else None for code in codes[start:stop].tolist()]  # noqa: E731
    return Column("values", f"pandas {series.dtype}", read, declared=declared.get(column.kind, column.declared))
