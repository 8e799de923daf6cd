"""Rows of a part: record batches, frames or rows, looked at before they are stored."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from .._data import speaks_arrow
from .._errors import DataError


def prepare(batches: Any, options: dict[str, Any]) -> tuple[Any, str | None]:
    """Returns data for ``litepress.write``, and the schema of Arrow batches in base64. The data are ``None`` if there is no batch."""
    if speaks_arrow(batches) or isinstance(batches, Mapping) or _is_pandas_frame(batches):
        return _with_schema(batches, batches, options)
    iterator = iter(batches)
    first = next(iterator, None)
    if first is None:
        return None, None
    return _with_schema(itertools.chain([first], iterator), first, options)


def _is_pandas_frame(data: Any) -> bool:
    return type(data).__module__.partition(".")[0] == "pandas"


def _with_schema(data: Any, first: Any, options: dict[str, Any]) -> tuple[Any, str | None]:
    if not speaks_arrow(first):
        return data, None
    try:
        import pyarrow  # type: ignore[import-untyped, unused-ignore]
    except ImportError:
        return data, None
    schema = getattr(first, "schema", None)
    if not isinstance(schema, pyarrow.Schema):
        return data, None
    return _with_texts(pyarrow, data, schema, options), encode_schema(schema)


def encode_schema(schema: Any) -> str:
    """Returns a schema of pyarrow as the manifest keeps it."""
    import base64

    return base64.b64encode(schema.remove_metadata().serialize().to_pybytes()).decode()


def decode_schema(encoded: str) -> Any:
    """Returns the schema of pyarrow that the manifest keeps."""
    import base64

    import pyarrow

    return pyarrow.ipc.read_schema(pyarrow.py_buffer(base64.b64decode(encoded)))


def _with_texts(pyarrow: Any, data: Any, schema: Any, options: dict[str, Any]) -> Any:
    """Makes texts of decimals that fit no number of SQLite: the values of a part must not decide the type of its column."""
    chosen = options.get("store_as") or {}
    long = [number for number, one in enumerate(schema) if _is_long_decimal(pyarrow, one.type) and one.name not in chosen]
    if not long or "schema" in options:
        return data
    target = schema
    for number in long:
        target = target.set(number, schema.field(number).with_type(pyarrow.string()))
    batches = (batch.cast(target) for batch in record_batches(data))
    return pyarrow.RecordBatchReader.from_batches(target, batches)


def _is_long_decimal(pyarrow: Any, kind: Any) -> bool:
    return bool(pyarrow.types.is_decimal(kind)) and kind.precision > (15 if kind.scale > 0 else 18)


def record_batches(data: Any) -> Iterator[Any]:
    """Yields the record batches of Arrow data, or of an iterable of Arrow data."""
    import pyarrow

    if hasattr(data, "__arrow_c_stream__"):
        yield from pyarrow.RecordBatchReader.from_stream(data)
    elif hasattr(data, "__arrow_c_array__"):
        yield pyarrow.record_batch(data)
    else:
        for item in data:
            yield from pyarrow.table(item).to_batches()


def runs_of_values(data: Any, column: str) -> Iterator[tuple[Any, Iterable[Any]]]:
    """Yields the batches of each run of rows that have one value in a column. A run must be read before the next one."""
    if not speaks_arrow(data):
        iterator = iter(data)
        first = next(iterator, None)
        if first is None:
            return
        if not speaks_arrow(first):
            raise TypeError(f"one_file_per takes Arrow batches, not {type(first).__name__}")
        data = itertools.chain([first], iterator)
    runs = (run for batch in record_batches(data) for run in _runs(batch, column))
    for value, group in itertools.groupby(runs, key=lambda run: run[0]):
        yield value, (batch for _, batch in group)


def _runs(batch: Any, column: str) -> Iterator[tuple[Any, Any]]:
    import pyarrow
    import pyarrow.compute  # type: ignore[import-untyped, unused-ignore]

    if column not in batch.schema.names:
        names = ", ".join(batch.schema.names)
        raise DataError(f"the column {column} of one_file_per is absent: the rows have {names}", column=column, advice="name one of these")
    values = batch.column(column)
    try:
        encoded = pyarrow.compute.run_end_encode(values)
    except (pyarrow.ArrowNotImplementedError, pyarrow.ArrowInvalid):
        message = f"the column {column} of one_file_per has the type {values.type}, which has no order"
        raise DataError(message, column=column, advice="name a column of numbers, texts, dates or bytes") from None
    start = 0
    for end, value in zip(encoded.run_ends.to_pylist(), encoded.values.to_pylist()):
        yield value, batch.slice(start, end - start)
        start = end
