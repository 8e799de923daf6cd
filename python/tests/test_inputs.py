"""Runs each case through every kind of input: the stored values must not depend on the kind."""

from __future__ import annotations

import dataclasses
import datetime as dt
import decimal
import sqlite3
import types
import typing
import uuid
from collections import namedtuple
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import litepress
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from conftest import queried


@dataclasses.dataclass(frozen=True)
class Case:
    """Columns of Python values, and the rows that SQLite must read."""

    columns: dict[str, list[Any]]
    types: dict[str, pa.DataType]
    stored: list[tuple[Any, ...]] | None = None
    """The expected rows if they differ from the values."""

    @property
    def names(self) -> list[str]:
        return list(self.columns)

    @property
    def rows(self) -> list[tuple[Any, ...]]:
        return list(zip(*self.columns.values()))

    def table(self) -> pa.Table:
        arrays = [pa.array(values, self.types[name]) for name, values in self.columns.items()]
        return pa.table(arrays, names=self.names)

    def expected(self) -> list[tuple[Any, ...]]:
        return self.rows if self.stored is None else self.stored


def plain(**columns: tuple[pa.DataType, list[Any]]) -> Case:
    return Case({name: values for name, (_, values) in columns.items()}, {name: of for name, (of, _) in columns.items()})


MANY = 3000
UTC = dt.timezone.utc
CASES = {
    "numbers": plain(i=(pa.int64(), [1, -2, 2**63 - 1, -(2**63)]), r=(pa.float64(), [0.5, -0.0, 1e300, 5e-324])),
    "small integers": plain(i=(pa.int8(), [1, -128, 127]), u=(pa.uint32(), [0, 1, 2**32 - 1])),
    "texts": plain(t=(pa.string(), ["", "a", "zwölf Boxkämpfer", "\N{PILE OF POO}", "nul \0 within", "x" * 5000])),
    "bytes": plain(b=(pa.binary(), [b"", b"\0\xff", b"x" * 5000])),
    "nulls": plain(i=(pa.int64(), [None, 1, None]), t=(pa.string(), ["a", None, None]), b=(pa.binary(), [None, b"", None])),
    "nothing but nulls": plain(n=(pa.null(), [None, None]), i=(pa.int64(), [1, 2])),
    "truth": Case({"b": [True, False, None]}, {"b": pa.bool_()}, [(1,), (0,), (None,)]),
    "not a number": Case({"r": [1.5, float("nan")]}, {"r": pa.float64()}, [(1.5,), (None,)]),
    "infinity": plain(r=(pa.float64(), [float("inf"), float("-inf")])),
    "days and times": Case(
        {
            "d": [dt.date(2026, 2, 28), dt.date(1, 1, 1), None],
            "t": [dt.time(23, 59, 59, 999999), dt.time(0), None],
            "s": [dt.datetime(2026, 2, 28, 12, 0, 0, 5), dt.datetime(1969, 12, 31, 23, 59, 59), None],
            "z": [dt.datetime(2026, 2, 28, 12, tzinfo=UTC), dt.datetime(2000, 1, 1, tzinfo=UTC), None],
        },
        {"d": pa.date32(), "t": pa.time64("us"), "s": pa.timestamp("us"), "z": pa.timestamp("us", "UTC")},
        [
            ("2026-02-28", "23:59:59.999999", "2026-02-28 12:00:00.000005", "2026-02-28 12:00:00+00:00"),
            ("0001-01-01", "00:00:00", "1969-12-31 23:59:59", "2000-01-01 00:00:00+00:00"),
            (None, None, None, None),
        ],
    ),
    "spans of time": Case({"d": [dt.timedelta(days=1, microseconds=5)]}, {"d": pa.duration("us")}, [(86_400_000_005,)]),
    "money": Case(
        {"m": [decimal.Decimal("12.50"), decimal.Decimal("-0.01"), None]},
        {"m": pa.decimal128(10, 2)},
        [(12.5,), (-0.01,), (None,)],
    ),
    "lists and structs": Case(
        {"l": [[1, 2], [], None], "s": [{"a": 1, "b": "ö"}, {"a": None, "b": ""}, None]},
        {"l": pa.list_(pa.int64()), "s": pa.struct({"a": pa.int64(), "b": pa.string()})},
        [("[1,2]", '{"a":1,"b":"ö"}'), ("[]", '{"a":null,"b":""}'), (None, None)],
    ),
    "odd names": plain(**{'a "quoted" name': (pa.int64(), [1]), "select": (pa.int64(), [2]), "ü": (pa.int64(), [3])}),
    "many rows": plain(
        i=(pa.int64(), list(range(MANY))),
        t=(pa.string(), [None if i % 7 == 0 else f"text {i}" for i in range(MANY)]),
        r=(pa.float64(), [i / 8 for i in range(MANY)]),
    ),
    "one row": plain(i=(pa.int64(), [7])),
}


def as_objects(case: Case) -> Iterator[Any]:
    if not all(name.isidentifier() and name not in ("select",) for name in case.names):
        pytest.skip("attributes have plain names")
    return (types.SimpleNamespace(**dict(zip(case.names, row))) for row in case.rows)


def as_dataclasses(case: Case) -> Iterator[Any]:
    if not all(name.isidentifier() for name in case.names):
        pytest.skip("attributes have plain names")
    row_type = dataclasses.make_dataclass("Row", case.names)
    return (row_type(*row) for row in case.rows)


def as_named_tuples(case: Case) -> Iterator[Any]:
    if not all(name.isidentifier() for name in case.names):
        pytest.skip("named tuples have plain names")
    return map(namedtuple("Row", case.names)._make, case.rows)  # type: ignore[misc]


def as_sqlite_rows(case: Case) -> Any:
    if case.stored is not None:
        pytest.skip("SQLite's rows hold what SQLite stores")
    database = sqlite3.connect(":memory:")
    database.row_factory = sqlite3.Row
    columns = ", ".join('"' + name.replace('"', '""') + '"' for name in case.names)
    database.execute(f"CREATE TABLE t ({columns})")
    database.executemany(f"INSERT INTO t VALUES ({', '.join('?' * len(case.names))})", case.rows)
    rows = database.execute("SELECT * FROM t ORDER BY rowid").fetchall()
    database.close()
    return rows


def as_sliced(case: Case) -> pa.Table:
    """Chunks with offsets: each is a slice of something longer."""
    table = case.table()
    padded = pa.concat_tables([table.slice(0, 1), table, table.slice(0, 1)]).combine_chunks()
    whole = padded.slice(1, table.num_rows)
    return pa.concat_tables([whole.slice(at, 1) for at in range(min(3, table.num_rows))] + [whole.slice(3)])


def as_numpy(case: Case) -> dict[str, Any]:
    arrays = {}
    for name, values in case.columns.items():
        of = case.types[name]
        is_plain = None not in values and (pa.types.is_integer(of) or pa.types.is_floating(of) or of == pa.bool_())
        arrays[name] = np.array(values, of.to_pandas_dtype()) if is_plain else np.array([*values, ...], object)[:-1]
    return arrays


def as_pandas(case: Case) -> pd.DataFrame:
    return case.table().to_pandas(types_mapper=pd.ArrowDtype)


def as_polars(case: Case) -> pl.DataFrame:
    return typing.cast(pl.DataFrame, pl.from_arrow(case.table()))


def as_duckdb(case: Case) -> Any:
    if pa.duration("us") in case.types.values():
        pytest.skip("intervals of DuckDB have months, days and times, and are text")
    if any(of == pa.null() for of in case.types.values()) or "nul \0 within" in case.columns.get("t", []):
        pytest.skip("DuckDB has another type of it")
    return duckdb.connect().from_arrow(case.table())


KINDS: dict[str, Callable[[Case], Any]] = {
    "tuples": lambda case: iter(case.rows),
    "lists": lambda case: [list(row) for row in case.rows],
    "dicts": lambda case: (dict(zip(case.names, row)) for row in case.rows),
    "dataclasses": as_dataclasses,
    "named tuples": as_named_tuples,
    "objects": as_objects,
    "rows of sqlite3": as_sqlite_rows,
    "columns": lambda case: case.columns,
    "NumPy": as_numpy,
    "pyarrow": Case.table,
    "a record batch": lambda case: case.table().combine_chunks().to_batches()[0],
    "slices": as_sliced,
    "batches": lambda case: pa.RecordBatchReader.from_batches(case.table().schema, case.table().to_batches(2)),
    "polars": as_polars,
    "pandas": as_pandas,
    "DuckDB": as_duckdb,
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("has_schema", [False, True])
def test_every_kind_of_input_stores_the_same(case: str, kind: str, has_schema: bool, db: Path) -> None:
    one = CASES[case]
    quoted = ['"' + name.replace('"', '""') + '"' for name in one.names]
    # BLOB affinity: values are stored as they come.
    schema = f"CREATE TABLE made ({' BLOB, '.join(quoted)} BLOB)" if has_schema else None
    columns = one.names if kind in ("tuples", "lists") and not has_schema else None
    if has_schema and case == "money":
        pytest.skip("what a decimal becomes hangs on the column's affinity")
    litepress.write(db, {"made": KINDS[kind](one)}, schema=schema, columns=columns)
    names = ", ".join(quoted)
    stored = queried(db, f"SELECT {names}, {', '.join(f'typeof({name})' for name in quoted)} FROM made ORDER BY rowid")
    assert [row[: len(quoted)] for row in stored] == one.expected()
    for row, expected in zip(stored, one.expected()):
        kinds = {int: "integer", float: "real", str: "text", bytes: "blob", type(None): "null"}
        assert list(row[len(quoted) :]) == [kinds[type(value)] for value in expected]
    assert litepress.check(db, full=True).ok


def test_a_uuid_is_text_in_each_kind(db: Path) -> None:
    ids = [uuid.UUID(int=number) for number in (0, 2**128 - 1)]
    extension = pa.array([value.bytes for value in ids], pa.uuid())
    for data in ([(value,) for value in ids], {"id": ids}, pa.table({"id": extension})):
        columns = ["id"] if isinstance(data, list) else None
        litepress.write(db, {"made": data}, columns=columns, if_exists="overwrite")
        assert queried(db, "SELECT id FROM made") == [(str(value),) for value in ids]
