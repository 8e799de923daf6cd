"""Record batches of the rows of SQLite, in the types that were written."""

from __future__ import annotations

import datetime
import decimal
import json
import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from .._errors import DataError
from ._batches import decode_schema

if TYPE_CHECKING:
    from ._reading import Shards

_ROWS = 65_536
"""Rows of a batch."""


def schema_of(shards: Shards, columns: Sequence[str] | None = None) -> Any:
    """Returns the schema of pyarrow for columns of a set, by default all: as written, or by the declared types."""
    import pyarrow  # type: ignore[import-untyped, unused-ignore]

    encoded = shards.manifest.origin.get("arrow_schema")
    whole = decode_schema(encoded) if encoded else _declared(shards)
    if columns is None:
        return whole
    missing = [name for name in columns if name not in whole.names]
    if missing:
        message = f"the set of shards has no column {missing[0]}"
        raise DataError(message, table=shards.manifest.table, column=missing[0], advice=f"name some of {', '.join(whole.names)}")
    return pyarrow.schema([whole.field(name) for name in columns])


def _declared(shards: Shards) -> Any:
    """Returns a schema by SQLite's affinities."""
    import pyarrow

    name = shards.manifest.table.replace('"', '""')
    with shards.connect(shards.shards[0]) as database:
        columns = database.execute(f'PRAGMA table_xinfo("{name}")').fetchall()

    def kind(declared: str) -> Any:
        word = declared.upper()
        if "INT" in word:
            return pyarrow.int64()
        if any(part in word for part in ("CHAR", "CLOB", "TEXT")):
            return pyarrow.string()
        if "BLOB" in word:
            return pyarrow.binary()
        if any(part in word for part in ("REAL", "FLOA", "DOUB")):
            return pyarrow.float64()
        return pyarrow.string()

    return pyarrow.schema([pyarrow.field(row[1], kind(row[2] or "")) for row in columns])


def read_batches(cursor: sqlite3.Cursor, schema: Any) -> Iterator[Any]:
    """Yields the rows of a query as record batches of a schema."""
    import pyarrow

    while rows := cursor.fetchmany(_ROWS):
        if not schema.names:
            yield pyarrow.RecordBatch.from_struct_array(pyarrow.array([{}] * len(rows), pyarrow.struct([])))
            continue
        columns = [to_array(values, field) for values, field in zip(zip(*rows), schema)]
        yield pyarrow.RecordBatch.from_arrays(columns, schema=schema)


def to_array(values: Sequence[Any], field: Any) -> Any:
    """Returns values of SQLite as an array of the field's type."""
    import pyarrow

    try:
        return _converted(pyarrow, values, field.type)
    except (pyarrow.ArrowException, ValueError, TypeError, ArithmeticError, KeyError) as error:
        message = f"a value of the column {field.name} is no {field.type}: {error}"
        raise DataError(message, column=field.name, advice="read it without a schema, or with another type") from error


def _converted(pyarrow: Any, values: Sequence[Any], kind: Any) -> Any:
    types = pyarrow.types
    if types.is_dictionary(kind):
        return _converted(pyarrow, values, kind.value_type).dictionary_encode().cast(kind)
    if types.is_boolean(kind):
        return pyarrow.array(values, pyarrow.int8()).cast(kind)
    if types.is_integer(kind) or types.is_floating(kind):
        return pyarrow.array(values, kind)
    if types.is_time(kind):
        return pyarrow.array([None if value is None else _ticks(value, kind) for value in values], kind)
    if types.is_date(kind) or types.is_timestamp(kind):
        return pyarrow.array(values, pyarrow.string()).cast(kind)
    if types.is_duration(kind):
        return pyarrow.array(values, pyarrow.int64()).cast(pyarrow.duration("us")).cast(kind)
    if types.is_decimal(kind):
        return pyarrow.array([_decimal(value, kind.scale) for value in values], kind)
    if types.is_nested(kind):
        read = reader_of(pyarrow, kind)
        return pyarrow.array([None if value is None else read(json.loads(value, parse_float=decimal.Decimal)) for value in values], kind)
    return pyarrow.array(values, kind)


def _decimal(value: Any, scale: int) -> decimal.Decimal | None:
    if value is None:
        return None
    exact = decimal.Decimal(repr(value) if isinstance(value, float) else value)
    with decimal.localcontext() as context:
        context.prec = 80
        return exact.quantize(decimal.Decimal(1).scaleb(-scale))


def reader_of(pyarrow: Any, kind: Any) -> Callable[[Any], Any]:
    """Returns a function that makes a value of JSON a Python value for an Arrow type."""
    return lambda value: None if value is None else _from_json(pyarrow, value, kind)


def _from_json(pyarrow: Any, value: Any, kind: Any) -> Any:
    types = pyarrow.types
    if types.is_struct(kind):
        return {field.name: reader_of(pyarrow, field.type)(value.get(field.name)) for field in kind}
    if types.is_map(kind):
        key, item = reader_of(pyarrow, kind.key_type), reader_of(pyarrow, kind.item_type)
        if isinstance(value, dict):
            return [(key(_key_of_json(pyarrow, name, kind.key_type)), item(one)) for name, one in value.items()]
        return [(key(one["key"]), item(one["value"])) if isinstance(one, dict) else (key(one[0]), item(one[1])) for one in value]
    if types.is_nested(kind):
        return [reader_of(pyarrow, kind.value_type)(one) for one in value]
    if types.is_decimal(kind):
        return _decimal(value, kind.scale)
    if types.is_date(kind):
        return datetime.date.fromisoformat(value)
    if types.is_timestamp(kind):
        return pyarrow.scalar(value).cast(kind).as_py()
    if types.is_time(kind) or types.is_duration(kind):
        return _ticks(value, kind)
    if types.is_binary(kind) or types.is_large_binary(kind):
        return bytes.fromhex(value)
    return float(value) if types.is_floating(kind) else value


def _key_of_json(pyarrow: Any, name: str, kind: Any) -> Any:
    """Returns a key of a JSON object as the value that its text stands for."""
    types = pyarrow.types
    is_json = types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_nested(kind)
    # NaN and the infinities are words, in a key as in a value.
    if types.is_floating(kind):
        return float(name)
    return json.loads(name, parse_float=decimal.Decimal) if is_json else name


_TICKS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
"""Ticks of a second by their unit in Arrow."""
_TIME = re.compile(r"(?P<H>\d\d):(?P<M>\d\d):(?P<S>\d\d(\.\d+)?)")
_DURATION = re.compile(r"PT((?P<H>-?\d+)H)?((?P<M>-?\d+)M)?((?P<S>-?\d+(\.\d+)?)S)?")


def _ticks(text: Any, kind: Any) -> int:
    """Returns a time of day (``12:30:00.5``) or a duration of ISO 8601 (``PT1.5S``) in the unit of an Arrow type."""
    found = (_TIME.fullmatch(text) or _DURATION.fullmatch(text)) if isinstance(text, str) else None
    if found is None:
        raise ValueError(f"{text!r}")
    seconds = int(found["H"] or 0) * 3600 + int(found["M"] or 0) * 60 + decimal.Decimal(found["S"] or 0)
    ticks = seconds * _TICKS[kind.unit]
    if ticks != int(ticks):
        raise ValueError(f"{text!r} is finer than {kind.unit}")
    return int(ticks)
