"""Iterables of frames and record batches whose schemas differ."""

from __future__ import annotations

import datetime as dt
import decimal
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import litepress
import pandas as pd
import pyarrow as pa
import pytest

DAY = dt.date(2024, 1, 1)
NOON = dt.datetime(2024, 1, 1, 12)


def stored(batches: Any, **options: Any) -> list[Any]:
    """Returns the values of the column `a`."""
    with closing(litepress.connect({"t": batches}, **options)) as database:
        return [value for (value,) in database.execute("SELECT a FROM t ORDER BY rowid")]


def array(value: Any, kind: pa.DataType | None) -> pa.Table:
    return pa.table({"a": pa.array([value], kind)})


@pytest.mark.parametrize(
    ("first", "kind", "second", "other"),
    [
        (1, pa.int64(), "007", pa.string()),
        (True, pa.bool_(), 5, pa.int64()),
        (1, pa.int64(), True, pa.bool_()),
        ({"x": 1}, None, {"x": 1, "y": 2}, None),
        ({"x": 1.5}, None, {"x": 1}, None),
        ([1.5], None, [1], None),
        (DAY, pa.date32(), NOON, pa.timestamp("us")),
        (NOON, pa.timestamp("us"), DAY, pa.date32()),
        (NOON, pa.timestamp("us"), NOON, pa.timestamp("us", "UTC")),
        (1.5, pa.float32(), 0.1, pa.float64()),
        (1.5, pa.float64(), "12345678901234567890", pa.string()),
        ("a", pa.string(), b"a", pa.binary()),
        (1, pa.int64(), 1.0, pa.float64()),
        (None, pa.null(), 1, pa.int64()),
        (decimal.Decimal("1.50"), pa.decimal128(6, 4), decimal.Decimal("1.5"), pa.decimal128(6, 1)),
        # Such types fit, and these values do not.
        (1, pa.int8(), 1000, pa.int64()),
        (1.5, pa.float64(), 2**53 + 1, pa.int64()),
        (NOON, pa.timestamp("s"), NOON.replace(microsecond=1), pa.timestamp("us")),
    ],
    ids=str,
)
def test_a_batch_of_another_type_is_refused(first: Any, kind: pa.DataType, second: Any, other: pa.DataType) -> None:
    """Values of later batches changed to the type of the first one in silence: "007" was stored as "7", and a time of day was lost."""
    batches = [array(first, kind), array(first, kind), array(second, other)]
    kinds = (batches[2].schema[0].type, batches[0].schema[0].type)
    for data in (batches, iter(batches)):
        with pytest.raises(litepress.DataError) as refused:
            stored(data, schema="CREATE TABLE t (a TEXT)")
        message = "t.a: batch 3 has values of type {}, and the first batch {}".format(*kinds)
        assert str(refused.value.message).startswith(message), refused.value.message
        assert (refused.value.table, refused.value.column) == ("t", "a")
        assert "one schema" in str(refused.value.advice)


@pytest.mark.parametrize(
    ("first", "kind", "second", "other"),
    [
        (1, pa.int64(), 2, pa.int8()),
        (1, pa.int8(), 2, pa.uint64()),
        (1, pa.int64(), None, pa.null()),
        (1.5, pa.float64(), 0.25, pa.float32()),
        (1.5, pa.float64(), 2, pa.int64()),
        ("a", pa.string(), "b", pa.large_string()),
        ("a", pa.large_string(), "b", pa.dictionary(pa.int8(), pa.string())),
        ("a", pa.dictionary(pa.int8(), pa.string()), "b", pa.dictionary(pa.int32(), pa.large_string())),
        (b"a", pa.binary(), b"b", pa.binary(1)),
        (NOON, pa.timestamp("ns"), NOON, pa.timestamp("s")),
        (DAY, pa.date32(), DAY, pa.date64()),
        ([1], pa.list_(pa.int64()), [2], pa.large_list(pa.int8())),
        ({"x": 1}, pa.struct({"x": pa.int64()}), {"x": 2}, pa.struct({"x": pa.int8()})),
        (decimal.Decimal("1.50"), pa.decimal128(12, 2), decimal.Decimal("2.50"), pa.decimal128(6, 2)),
    ],
    ids=str,
)
def test_a_batch_of_another_type_keeps_its_values(first: Any, kind: pa.DataType, second: Any, other: pa.DataType) -> None:
    batches = [array(first, kind), array(second, other)]
    alone = stored([batches[0]]) + stored([batches[1]])
    assert stored(batches) == alone


def test_a_batch_with_other_columns_is_refused() -> None:
    one, two = pa.table({"a": [1], "b": [2]}), pa.table({"b": [4], "a": [3]})
    assert stored([one, two]) == [1, 3]
    for other, message in ((one.select(["a"]), "t.b: batch 2 lacks"), (one.append_column("c", [[5]]), "t.c: batch 2 has")):
        with pytest.raises(litepress.DataError, match=message):
            stored([one, other])
    strict = pa.table({"a": [1]}, schema=pa.schema([pa.field("a", pa.int64(), nullable=False)]))
    with pytest.raises(litepress.DataError, match="t.a: batch 2 has NULL"):
        stored([strict, pa.table({"a": [None, 1]})])


def test_a_batch_that_cannot_be_cast_is_an_error_of_data() -> None:
    """The exception was a GeneratorExit without a text, from `write` and from `extend`."""

    def frames() -> Iterator[pd.DataFrame]:
        for values in ([1], [1.5]):
            yield pd.DataFrame({"a": values})

    with pytest.raises(litepress.DataError, match="batch 2 has values of type double, and the first batch int64"):
        stored(frames())
    with pytest.raises(litepress.DataError, match="batch 2 has values of type double"):
        stored(frames(), adapters={int: str})
    with pytest.raises(litepress.DataError, match="t.a: batch 2 has"), litepress.create(None, "CREATE TABLE t (a INTEGER)") as writer:
        writer["t"].extend(frames())


def test_a_failure_of_the_database_is_told() -> None:
    """Batches are not read to the end if a row is wrong: the error of that row must not get lost."""
    batches = (pa.table({"a": [1] * 100_000}) for _ in range(50))
    with pytest.raises(litepress.ConstraintError, match="UNIQUE"):
        stored(batches, schema="CREATE TABLE t (a INTEGER PRIMARY KEY)")
