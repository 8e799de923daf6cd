"""Filters of Spark as conditions of SQL, if SQLite finds exactly the same rows."""

from __future__ import annotations

import datetime
import decimal
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pyspark.sql.datasource as source
import pyspark.sql.types as spark
from litepress.shards import Shard
from litepress.shards._facts import quoted
from litepress.shards._keys import order
from pyspark.sql.types import DataType, StructType

from ._types import fits_number

_COMPARISONS: dict[type[source.Filter], str] = {
    source.EqualTo: "=",
    source.EqualNullSafe: "IS",
    source.GreaterThan: ">",
    source.GreaterThanOrEqual: ">=",
    source.LessThan: "<",
    source.LessThanOrEqual: "<=",
}
_MOST_VALUES = 500
"""Values of an IN that are pushed down: old versions of SQLite take 999 parameters."""


@dataclass(frozen=True)
class Condition:
    """A condition of SQL, and the comparison that it is, if it is one."""

    sql: str
    parameters: tuple[Any, ...] = ()
    column: str | None = None
    operator: str = ""

    def may_hold(self, shard: Shard, key: str | None, value_column: str | None) -> bool:
        """Returns whether a shard can have rows for which the condition is true, by the facts of the manifest."""
        if self.column is None:
            return True
        if self.column == value_column:
            smallest = largest = shard.value
        elif self.column == key and shard.smallest is not None and shard.largest is not None:
            smallest, largest = shard.smallest[0], shard.largest[0]
        else:
            return True
        low, high = order(smallest), order(largest)
        tests: dict[str, Callable[[Any], bool]] = {
            "=": lambda value: low <= value <= high,
            "IN": lambda value: low <= value <= high,
            ">": lambda value: high > value,
            ">=": lambda value: high >= value,
            "<": lambda value: low < value,
            "<=": lambda value: low <= value,
        }
        return any(tests[self.operator](order(value)) for value in self.parameters)


def condition_of(one: source.Filter, schema: StructType, is_typed: bool) -> Condition | None:
    """Returns the condition for a filter; ``None`` if Spark must apply it.

    ``is_typed`` says that Spark wrote the rows: the stored form of each type is known.
    """
    if isinstance(one, source.Not):
        inner = condition_of(one.child, schema, is_typed)
        return None if inner is None else Condition(f"NOT ({inner.sql})", inner.parameters)
    attribute = getattr(one, "attribute", ())
    if len(attribute) != 1 or attribute[0] not in schema.fieldNames():
        return None
    name = attribute[0]
    column = quoted(name)
    if isinstance(one, source.IsNull):
        return Condition(f"{column} IS NULL")
    if isinstance(one, source.IsNotNull):
        return Condition(f"{column} IS NOT NULL")
    if not is_typed:
        return None
    kind = schema[name].dataType
    # Schemas of other programs may have other collations.
    expression = f"{column} COLLATE BINARY" if isinstance(kind, spark.StringType) else column
    if type(one) in _COMPARISONS:
        operator = _COMPARISONS[type(one)]
        value = _stored(getattr(one, "value", None), kind)
        if value is None:
            return None
        is_comparison = operator != "IS"
        return Condition(f"{expression} {operator} ?", (value,), name if is_comparison else None, operator)
    if isinstance(one, source.In):
        return _one_of(one, name, expression, kind)
    return _text_condition(one, column, kind)


def _one_of(one: source.In, name: str, expression: str, kind: DataType) -> Condition | None:
    """Returns the condition for a list of values."""
    values = [_stored(value, kind) for value in one.value]
    if not values or any(value is None for value in values) or len(values) > _MOST_VALUES:
        return None
    return Condition(f"{expression} IN ({', '.join('?' * len(values))})", tuple(values), name, "IN")


def _text_condition(one: source.Filter, column: str, kind: DataType) -> Condition | None:
    """Returns the condition for a part of a text. SQLite's functions of text end at NUL, those of blobs do not."""
    text = getattr(one, "value", None)
    if not _is_plain_text(kind) or not isinstance(text, str) or not text:
        return None
    part = text.encode()
    blob = f"CAST({column} AS BLOB)"
    if isinstance(one, source.StringStartsWith):
        # The first comparison lets SQLite use an index.
        return Condition(f"({column} COLLATE BINARY >= ? AND substr({blob}, 1, {len(part)}) = ?)", (text, part))
    if isinstance(one, source.StringEndsWith):
        return Condition(f"substr({blob}, -{len(part)}) = ?", (part,))
    if isinstance(one, source.StringContains):
        return Condition(f"instr({blob}, ?) > 0", (part,))
    return None


def _is_plain_text(kind: DataType) -> bool:
    """Returns whether Spark compares the texts by their bytes."""
    return bool(kind == spark.StringType())


def _stored(value: Any, kind: DataType) -> Any:
    """Returns a literal in the form that the column is stored in; ``None`` if there is no exact one."""
    if isinstance(kind, spark.BooleanType):
        return int(value) if isinstance(value, bool) else None
    if isinstance(kind, (spark.ByteType, spark.ShortType, spark.IntegerType, spark.LongType)):
        is_whole = isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63
        return value if is_whole else None
    if isinstance(kind, (spark.FloatType, spark.DoubleType)):
        return value if isinstance(value, float) and not math.isnan(value) else None
    if _is_plain_text(kind):
        return value if isinstance(value, str) else None
    if isinstance(kind, spark.BinaryType):
        return bytes(value) if isinstance(value, (bytes, bytearray)) else None
    if isinstance(kind, spark.DecimalType):
        return _stored_decimal(value, kind)
    return _stored_moment(value, kind)


def _stored_decimal(value: Any, kind: spark.DecimalType) -> Any:
    if isinstance(value, int) and not isinstance(value, bool):
        value = decimal.Decimal(value)
    if not isinstance(value, decimal.Decimal) or not value.is_finite() or not fits_number(kind):
        return None
    if kind.scale == 0:
        return int(value) if value == int(value) and abs(value) < 10**18 else None
    # Decimals of 15 digits and their nearest doubles have one order.
    return float(value) if len(value.as_tuple().digits) <= 15 else None


def _stored_moment(value: Any, kind: DataType) -> Any:
    """Returns a date or a timestamp as text, whose order is that of time."""
    is_moment = isinstance(value, datetime.datetime)
    if isinstance(kind, spark.DateType):
        return value.isoformat() if isinstance(value, datetime.date) and not is_moment else None
    if not is_moment:
        return None
    if isinstance(kind, spark.TimestampNTZType):
        return value.isoformat(sep=" ") if value.tzinfo is None else None
    if isinstance(kind, spark.TimestampType) and value.tzinfo is not None:
        try:
            return value.astimezone(datetime.timezone.utc).isoformat(sep=" ")
        except OverflowError:
            return None
    return None
