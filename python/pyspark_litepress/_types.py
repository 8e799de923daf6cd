"""Types of Spark, and how SQLite stores their values: `docs/clusters.md` has the table."""

from __future__ import annotations

from typing import Any

import pyspark.sql.types as spark
from litepress import DataError
from litepress.shards import Shards
from pyspark.sql.pandas.types import from_arrow_type
from pyspark.sql.types import DataType, StructField, StructType

_ADVICE = {
    "YearMonthIntervalType": "convert it to months: extract(YEAR FROM c) * 12 + extract(MONTH FROM c)",
    "CalendarIntervalType": "convert it to a day-time interval, or to a text",
    "VariantType": "convert it to JSON with to_json(c)",
    "GeometryType": "convert it to WKB with ST_AsBinary(c)",
    "GeographyType": "convert it to WKB with ST_AsBinary(c)",
}
"""Types without a form that is read back unchanged, and what to write instead."""


def check_storable(schema: StructType) -> None:
    """Refuses columns whose values SQLite could not give back."""
    seen: dict[str, str] = {}
    for field in schema.fields:
        other = seen.setdefault(field.name.lower(), field.name)
        if other is not field.name:
            message = f"the columns {other} and {field.name} have one name for SQLite"
            raise DataError(message, column=field.name, advice="rename one of them: df.withColumnRenamed(...)")
        found = _unstorable(field.dataType)
        if found is not None:
            advice = _ADVICE.get(type(found).__name__, "convert it to another type before it is written")
            raise DataError(
                f"the column {field.name} has the type {field.dataType.simpleString()}: {found.simpleString()} has no form in SQLite that is read back unchanged",
                column=field.name,
                advice=advice,
            )


_STORABLE = (
    spark.BooleanType, spark.ByteType, spark.ShortType, spark.IntegerType, spark.LongType, spark.FloatType, spark.DoubleType,
    spark.DecimalType, spark.StringType, spark.CharType, spark.VarcharType, spark.BinaryType, spark.DateType, spark.TimestampType,
    spark.TimestampNTZType, spark.DayTimeIntervalType, spark.NullType,
)  # fmt: skip


def _unstorable(kind: DataType) -> DataType | None:
    """Returns the type within a type that cannot be stored, or ``None``."""
    if isinstance(kind, spark.ArrayType):
        return _unstorable(kind.elementType)
    if isinstance(kind, spark.MapType):
        return _unstorable(kind.keyType) or _unstorable(kind.valueType)
    if isinstance(kind, StructType):
        if len(set(kind.fieldNames())) < len(kind.fields):
            return kind
        return next((found for field in kind.fields if (found := _unstorable(field.dataType)) is not None), None)
    # Spark 4.0 has no type for times of day.
    is_storable = isinstance(kind, _STORABLE) or type(kind).__name__ == "TimeType"
    return None if is_storable else kind


def long_decimals(schema: StructType) -> list[str]:
    """Returns the columns of decimals that fit no number of SQLite: they are texts with all digits."""
    return [field.name for field in schema.fields if isinstance(field.dataType, spark.DecimalType) and not _fits_number(field.dataType)]


def _fits_number(kind: spark.DecimalType) -> bool:
    """Returns whether each value of a decimal type is a number of SQLite without loss."""
    return kind.precision <= (15 if kind.scale > 0 else 18)


def schema_of(shards: Shards) -> StructType:
    """Returns the schema of a set: as Spark wrote it, or from the types of Arrow or SQLite."""
    written = shards.manifest.origin.get("spark_schema")
    if written is not None:
        return StructType.fromJson(written)
    return StructType([StructField(field.name, _of_arrow(field), True) for field in shards.schema()])


def _of_arrow(field: Any) -> DataType:
    """Returns Spark's type for a column of Arrow: for unsigned integers the next wider one."""
    import pyarrow as pa

    wider: list[tuple[Any, DataType]] = [
        (pa.uint8(), spark.ShortType()),
        (pa.uint16(), spark.IntegerType()),
        (pa.uint32(), spark.LongType()),
        (pa.uint64(), spark.DecimalType(20, 0)),
        (pa.float16(), spark.FloatType()),
        (pa.date64(), spark.DateType()),
        (pa.string_view(), spark.StringType()),
        (pa.binary_view(), spark.BinaryType()),
    ]
    for kind, found in wider:
        if field.type == kind:
            return found
    try:
        return from_arrow_type(field.type)
    except Exception as error:
        message = f"the column {field.name} has the type {field.type} of Arrow, which Spark does not have"
        raise DataError(message, column=field.name, advice='name the columns to read: .option("columns", "a, b"), or give a schema: .schema(...)') from error
