"""Arrow data of other libraries: values, mistakes in capsules, and that each capsule is taken only once."""

from __future__ import annotations

import ctypes
import datetime as dt
import decimal
import gc
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import litepress
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from conftest import queried

COLUMNS = {"id": [1, 2, 3], "name": ["Ada", None, "Grace"], "score": [0.5, 2.0, None]}
ROWS = [(1, "Ada", 0.5), (2, None, 2.0), (3, "Grace", None)]


def written(db: Path, data: Any, **arguments: Any) -> list[tuple[Any, ...]]:
    """Returns the rows that SQLite reads from a database of these data."""
    litepress.write(db, {"t": data}, if_exists="overwrite", **arguments)
    assert queried(db, "PRAGMA integrity_check") == [("ok",)]
    return queried(db, "SELECT * FROM t ORDER BY rowid")


def reader_of(*batches: pa.RecordBatch) -> pa.RecordBatchReader:
    return pa.RecordBatchReader.from_batches(batches[0].schema, iter(batches))


class OnlyArray:
    """A table that has only ``__arrow_c_array__``."""

    def __init__(self, data: Any) -> None:
        self.data = data

    def __arrow_c_array__(self, requested_schema: object = None) -> Any:
        return self.data.__arrow_c_array__(requested_schema)


class OnlyStream:
    """A table that has only ``__arrow_c_stream__``."""

    def __init__(self, data: Any) -> None:
        self.data = data

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        return self.data.__arrow_c_stream__(requested_schema)


SOURCES: dict[str, Callable[[], Any]] = {
    "pyarrow.Table": lambda: pa.table(COLUMNS),
    "pyarrow.RecordBatch": lambda: pa.record_batch(COLUMNS),
    "pyarrow.RecordBatchReader": lambda: reader_of(pa.record_batch(COLUMNS)),
    "pyarrow.StructArray": lambda: pa.record_batch(COLUMNS).to_struct_array(),
    "array only": lambda: OnlyArray(pa.record_batch(COLUMNS)),
    "stream only": lambda: OnlyStream(pa.table(COLUMNS)),
    "polars.DataFrame": lambda: pl.DataFrame(COLUMNS),
    "polars.Series of structs": lambda: pl.DataFrame(COLUMNS).to_struct("t"),
    "pandas.DataFrame": lambda: pd.DataFrame(COLUMNS).astype({"id": "int64"}),
    "duckdb relation": lambda: duckdb.sql(
        "SELECT * FROM (VALUES (1, 'Ada', 0.5::DOUBLE), (2, NULL, 2.0), (3, 'Grace', NULL)) AS t(id, name, score)"
    ),
}


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_every_library_gives_the_same_rows(db: Path, source: Callable[[], Any]) -> None:
    assert written(db, source()) == ROWS


def test_streams_are_cut_as_they_come(db: Path) -> None:
    whole = pa.record_batch({"n": list(range(10_000)), "t": [f"row {n}" for n in range(10_000)]})
    cuts = [0, 0, 1, 1, 2, 777, 1024, 1025, 5000, 10_000, 10_000]
    batches = [whole.slice(start, stop - start) for start, stop in zip(cuts, cuts[1:])]
    expected = [(n, f"row {n}") for n in range(10_000)]
    assert written(db, reader_of(*batches)) == expected
    assert written(db, pa.Table.from_batches(batches)) == expected


@pytest.mark.parametrize("start", [0, 1, 7, 8, 9, 63, 64, 65, 99])
def test_slices_begin_where_they_begin(db: Path, start: int) -> None:
    values = [None if n % 3 == 0 else n for n in range(100)]
    table = pa.record_batch(
        {
            "i": pa.array(values, pa.int32()),
            "b": pa.array([None if v is None else v % 2 == 0 for v in values], pa.bool_()),
            "s": pa.array([None if v is None else f"row {v}" for v in values]),
            "v": pa.array([None if v is None else f"a text beyond 12 bytes {v}" for v in values], pa.string_view()),
            "l": pa.array([None if v is None else [str(v), None] for v in values]),
            "d": pa.array([None if v is None else f"word {v % 5}" for v in values]).dictionary_encode(),
            "x": pa.array([None if v is None else {"a": v} for v in values]),
            "f": pa.array([None if v is None else b"%03d" % v for v in values], pa.binary(3)),
        }
    )
    expected = [
        (None,) * 8
        if v is None
        else (
            v,
            int(v % 2 == 0),
            f"row {v}",
            f"a text beyond 12 bytes {v}",
            f'["{v}",null]',
            f"word {v % 5}",
            f'{{"a":{v}}}',
            b"%03d" % v,
        )
        for v in values
    ]
    assert written(db, table.slice(start)) == expected[start:]
    assert written(db, table.slice(start, 1)) == expected[start : start + 1]
    assert written(db, table.slice(start).to_struct_array()) == expected[start:]
    assert written(db, pl.from_arrow(table.drop_columns(["f"])).slice(start)) == [row[:7] for row in expected[start:]]


def test_types_have_their_forms(db: Path) -> None:
    table = pa.table(
        {
            "date": pa.array([dt.date(2024, 5, 17)]),
            "naive": pa.array([dt.datetime(2024, 5, 17, 8, 30)], pa.timestamp("ms")),
            "zoned": pa.array([dt.datetime(2024, 5, 17, 8, 30)], pa.timestamp("s", "Europe/Berlin")),
            "time": pa.array([dt.time(8, 30)], pa.time64("us")),
            "money": pa.array([decimal.Decimal("12.50")], pa.decimal128(10, 2)),
            "long": pa.array([decimal.Decimal("12345678901234567890.50")], pa.decimal128(30, 2)),
            "uuid": pa.array([uuid.UUID(int=1).bytes], pa.uuid()),
            "none": pa.nulls(1),
            "large": pa.array(["x"], pa.large_string()),
            "run": pa.RunEndEncodedArray.from_arrays([1], ["r"]),
            "map": pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int32())),
            "list": pa.array([["a"]], pa.list_(pa.string(), 1)),
            "view": pa.array([["a", "b"]], pa.list_view(pa.string())),
            "cat": pa.array(["c"]).dictionary_encode(),
        }
    )
    assert written(db, table) == [
        (
            "2024-05-17",
            "2024-05-17 08:30:00",
            "2024-05-17 08:30:00+00:00",
            "08:30:00",
            12.5,
            "12345678901234567890.50",
            "00000000-0000-0000-0000-000000000001",
            None,
            "x",
            "r",
            '{"k":1}',
            '["a"]',
            '["a","b"]',
            "c",
        )
    ]


def test_a_schema_names_the_columns_in_any_order(db: Path) -> None:
    schema = "CREATE TABLE t (score REAL, name TEXT DEFAULT 'x', id INTEGER PRIMARY KEY)"
    assert written(db, pa.table(COLUMNS), schema=schema) == [(s, n, i) for i, n, s in ROWS]
    assert written(db, pa.table({"SCORE": [1, 2]}), schema=schema) == [(1.0, "x", 1), (2.0, "x", 2)]
    with pytest.raises(litepress.SchemaError, match="the table lacks columns of the data: other"):
        written(db, pa.table({"other": [1]}), schema=schema)


def test_no_rows_and_no_columns(db: Path) -> None:
    assert written(db, pa.table(COLUMNS).slice(0, 0)) == []
    assert [row[1:3] for row in queried(db, "PRAGMA table_info(t)")] == [
        ("id", "INTEGER"),
        ("name", "TEXT"),
        ("score", "REAL"),
    ]
    with pytest.raises(litepress.DataError, match="the data have no column"):
        written(db, pa.table({}))
    with pytest.raises(litepress.DataError, match="two columns of the data have this name"):
        written(db, pa.Table.from_arrays([pa.array([1]), pa.array([2])], ["a", "a"]))


@pytest.mark.parametrize("data", [pa.array([1, 2]), pa.chunked_array([[1, 2]]), pl.Series("n", [1, 2])])
def test_one_array_is_no_table(db: Path, data: Any) -> None:
    with pytest.raises(TypeError, match="one array of Int64, and no table: pass a table"):
        litepress.write(db, {"t": data})
    assert not db.exists()


def test_a_schema_alone_has_no_rows(db: Path) -> None:
    with pytest.raises(TypeError):
        litepress.write(db, {"t": pa.schema([("a", pa.int32())])})


def test_rows_that_are_null_as_a_whole_are_refused(db: Path) -> None:
    structs = pa.array([{"a": 1}, None, {"a": 3}])
    with pytest.raises((ValueError, litepress.DataError), match="row 2 of the batch is null as a whole"):
        litepress.write(db, {"t": structs})
    with pytest.raises(litepress.DataError, match="row 2 of the batch is null as a whole"):
        litepress.write(db, {"t": pa.chunked_array([structs])})


def test_a_stream_is_taken_once(db: Path) -> None:
    capsule = pa.table(COLUMNS).__arrow_c_stream__()

    class Again:
        def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
            return capsule

    assert written(db, Again()) == ROWS
    with pytest.raises(ValueError, match="taken before"):
        written(db, Again())


def test_what_is_no_capsule_of_the_name_is_refused(db: Path) -> None:
    class Wrong:
        def __init__(self, given: Any) -> None:
            self.given = given

        def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
            return self.given

    for given in [None, 1, pa.schema([]).__arrow_c_schema__()]:
        with pytest.raises(TypeError, match="called arrow_array_stream"):
            litepress.write(db, {"t": Wrong(given)})


def test_capsules_that_nobody_takes_are_released() -> None:
    before = pa.total_allocated_bytes()
    for _ in range(100):
        pa.table({"a": list(range(1000))}).__arrow_c_stream__()
    gc.collect()
    assert pa.total_allocated_bytes() <= before + 100_000


def test_a_producer_that_fails_in_the_middle(db: Path) -> None:
    batch = pa.record_batch({"n": [1, 2, 3]})

    def batches() -> Iterator[pa.RecordBatch]:
        yield batch
        yield batch
        raise RuntimeError("the source ran dry")

    with pytest.raises(litepress.DataError, match="after row 6 cannot be had: .*the source ran dry"):
        litepress.write(db, {"t": pa.RecordBatchReader.from_batches(batch.schema, batches())})
    assert not db.exists()


def test_python_generators_behind_a_stream_run_while_the_engine_waits(db: Path) -> None:
    schema = pa.schema([("n", pa.int64())])

    def batches() -> Iterator[pa.RecordBatch]:
        for start in range(0, 200_000, 10_000):
            yield pa.record_batch({"n": list(range(start, start + 10_000))})

    litepress.write(db, {"t": pa.RecordBatchReader.from_batches(schema, batches())})
    assert queried(db, "SELECT count(*), sum(n) FROM t") == [(200_000, sum(range(200_000)))]


def spoiled(texts: list[str], kind: pa.DataType) -> pa.Array:
    """Returns texts, one with a byte that is not UTF-8: a producer that does not check makes such arrays."""
    array = pa.array(texts, kind)
    for buffer in array.buffers():
        data = b"" if buffer is None else buffer.to_pybytes()
        at = data.find(b"wrong")
        if buffer is not None and at >= 0:
            ctypes.memset(buffer.address + at + 2, 0xFF, 1)
    return array


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()], ids=str)
def test_texts_that_are_no_utf8_are_refused_by_their_row(db: Path, kind: pa.DataType) -> None:
    array = spoiled(["fine", "wrong, and longer than a view holds", "fine again"], kind)
    with pytest.raises(litepress.DataError, match="not UTF-8") as caught:
        litepress.write(db, {"t": pa.table({"c": array})})
    assert (caught.value.table, caught.value.column, caught.value.record) == ("t", "c", 2)


def test_values_that_cannot_be_stored_say_where(db: Path) -> None:
    numbers = pa.array([1, 2**64 - 1], pa.uint64())
    batch = pa.record_batch({"c": numbers})
    with pytest.raises(litepress.DataError) as caught:
        litepress.write(db, {"t": reader_of(batch.slice(0, 1), batch.slice(0, 1), batch)})
    error = caught.value
    assert (error.file, error.table, error.column, error.record) == (None, "t", "c", 4)
    assert error.value == "18446744073709551615"


def test_nothing_of_the_data_stays(db: Path) -> None:
    def once() -> None:
        litepress.write(db, {"t": pa.table({"n": list(range(50_000))})}, if_exists="overwrite")

    once()
    gc.collect()
    before = pa.total_allocated_bytes()
    for _ in range(20):
        once()
    gc.collect()
    assert pa.total_allocated_bytes() <= before + 1_000_000


def test_an_iterable_may_begin_with_an_empty_batch(db: Path, query: Query) -> None:
    """Spark gives a batch without rows for an empty partition: it failed with a TypeError of pyarrow about pandas frames."""
    empty = pa.record_batch({"id": pa.array([], pa.int64())})
    assert litepress.write(db, {"t": iter([empty, pa.record_batch({"id": [1]})])}).rows == 1
    assert query(db, "SELECT * FROM t") == [(1,)]
