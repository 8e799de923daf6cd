"""Frames of pandas, polars and DuckDB: values of columns of objects, indexes, decimals, and what Arrow has no form for."""

from __future__ import annotations

import datetime as dt
import decimal
import enum
import json
import pathlib
import random
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import duckdb
import litepress
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

D = decimal.Decimal
UTC = dt.timezone.utc
PLUS_TWO = dt.timezone(dt.timedelta(hours=2))
Made = tuple[list[tuple[str, str]], list[tuple[Any, ...]]]


def made(data: Any, **options: Any) -> Made:
    """Returns names and types of the columns, and the rows."""
    with closing(litepress.connect({"t": data}, **options)) as database:
        columns = database.execute("SELECT name, type FROM pragma_table_info('t')").fetchall()
        return columns, database.execute("SELECT * FROM t ORDER BY rowid").fetchall()


def outcome(make: Callable[[], Made]) -> Any:
    """Returns what is made, or the error with its place."""
    try:
        return make()
    except litepress.Error as error:
        return type(error), error.table, error.column, error.record, error.value, error.message.partition(": record")[2]


@pytest.fixture(params=["with pyarrow", "without pyarrow"])
def pyarrow_or_not(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "without pyarrow":
        monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    return str(request.param)


class Color(enum.Enum):
    RED = "red"


class Point:
    def __repr__(self) -> str:
        return "Point"


#: Values of one column of objects that pyarrow took for values of one type.
OBJECTS: list[list[Any]] = [
    [dt.date(2020, 1, 2), dt.datetime(2020, 1, 1, 5, 6, 7)],
    [dt.datetime(2020, 1, 1, 5, 6, 7), dt.date(2020, 1, 2)],
    [pd.Timestamp("2020-01-01 00:00:00.123456789")],
    [pd.Timestamp.max, None],
    [[pd.Timestamp("2020-01-01 00:00:00.123456789")]],
    [pd.Timedelta(5, "ns")],
    [pd.Timedelta(5, "us"), dt.timedelta(days=1)],
    [dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 1, tzinfo=PLUS_TWO)],
    [dt.datetime(2020, 1, 1, tzinfo=PLUS_TWO), dt.datetime(2020, 1, 1)],
    [dt.time(1, tzinfo=UTC)],
    [b"x", "y"],
    ["y", b"x"],
    [{"a": 1}, {"b": 2}],
    [{"b": 1, "a": 2}, {"a": 1, "b": None}],
    [[1, 2.5]],
    [[1.0, float("nan")]],
    [{1, 2}],
    [np.array([1, 2])],
    [np.array(["a", None], object)],
    [1, "a", None],
    [1, 2.5, True],
    [True, None, False],
    [2**64],
    [2**63 - 1, -1],
    [2**62, 0.5],
    [1j],
    ["\ud800"],
    [pathlib.PurePosixPath("/a")],
    [Color.RED],
    [range(3)],
    [pd.Period("2020-01", "M")],
    [{"a": [D("1.10"), {"b": dt.date(2020, 1, 1)}]}],
    [D("1.50"), D("2")],
    [D("1E+3")],
    [D("12345678901234567890.5")],
    [uuid.UUID(int=1)],
    [None, None],
    [float("nan"), pd.NA, pd.NaT, None],
    [Point()],
    ["", "a", None],
]


@pytest.mark.parametrize("values", OBJECTS, ids=lambda values: ascii(values)[:40])
def test_a_column_of_objects_stores_what_rows_store(values: list[Any], pyarrow_or_not: str) -> None:
    """pyarrow guessed one type for a column of objects: a datetime beside a date lost its time of day, `{"b": 2}` beside
    `{"a": 1}` got a key, nanoseconds were cut, and what it could not guess was refused by its exceptions, without a column."""
    series = pd.Series(values, dtype=object)
    rows = outcome(lambda: made([(value,) for value in values], columns=["a"]))
    assert outcome(lambda: made(pd.DataFrame({"a": series}))) == rows
    assert outcome(lambda: made({"a": series})) == rows
    # A typed column beside it changes nothing.
    beside = outcome(lambda: made(pd.DataFrame({"a": series, "n": np.arange(len(values))})))
    if isinstance(rows[0], list):
        assert beside == (rows[0] + [("n", "INTEGER")], [(*row, at) for at, row in enumerate(rows[1])])
    else:
        assert beside == rows


def typed_frames() -> Iterator[tuple[str, pd.DataFrame]]:
    times = pd.DatetimeIndex([pd.Timestamp("2024-01-01"), pd.NaT, pd.Timestamp("2024-01-01 00:00:00.000000001")])
    yield "numbers", pd.DataFrame({"i": [1, 2, 3], "u": np.array([1, 2, 3], "u2"), "f": [0.5, np.nan, 1], "b": [True, False, True]})
    yield "halves", pd.DataFrame({"h": np.array([0.1, 0.5], "f2"), "s": np.array([0.1, 0.5], "f4")})
    yield "texts", pd.DataFrame({"s": pd.Series(["a", None, ""], dtype="str"), "n": pd.Series([None, None, None], dtype="string")})
    yield "times", pd.DataFrame({"t": times, "z": times.tz_localize("Europe/Berlin"), "n": pd.to_datetime([None] * 3)})
    for unit in ("s", "ms", "us", "ns"):
        moments = pd.Series(pd.to_datetime(["2024-01-01 00:00:00", "2024-02-01 12:34:56", None])).astype(f"datetime64[{unit}]")
        spans = pd.Series(pd.to_timedelta(["1s", "-2 days", None])).astype(f"timedelta64[{unit}]")
        yield f"units {unit}", pd.DataFrame({"t": moments, "z": moments.dt.tz_localize("UTC"), "d": spans})
    yield "masked", pd.DataFrame(
        {"i": pd.array([1, None], "Int64"), "u": pd.array([None, 2], "UInt8"), "b": pd.array([True, None], "boolean"),
         "f": pd.array([None, 0.5], "Float64"), "n": pd.array([None, None], "Int32")}
    )  # fmt: skip
    yield "categories", pd.DataFrame(
        {"s": pd.Categorical(["x", None, "y"]), "i": pd.Categorical([3, 1, None]), "f": pd.Categorical([0.5, None, 0.25]),
         "n": pd.Categorical([None, None, None], ["x"]), "t": pd.Categorical(times)}
    )  # fmt: skip
    yield "periods", pd.DataFrame(
        {"m": pd.PeriodIndex(["2024-01", None], freq="M"), "d": pd.PeriodIndex(["2024-01-01", "2024-05-17"], freq="D"),
         "q": pd.PeriodIndex(["2024Q1", "2024Q3"], freq="Q"), "w": pd.PeriodIndex(["2024-01-01", "2024-01-09"], freq="W")}
    )  # fmt: skip
    yield "intervals", pd.DataFrame({"i": pd.cut([1, 5, 9], 2), "j": pd.arrays.IntervalArray.from_tuples([(0, 1), (1, 2), None])})
    yield "sparse", pd.DataFrame({"s": pd.arrays.SparseArray([0, 0, 5]), "f": pd.arrays.SparseArray([np.nan, 0.5, np.nan])})
    yield "names", pd.DataFrame([[1, 2]], columns=[5, ("a", "b")])
    yield "levels", pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", "x"), ("a", "y")]))
    yield "no rows", pd.DataFrame({"i": pd.Series([], dtype="int64"), "s": pd.Series([], dtype="str"), "t": times[:0]})
    yield "wrong times", pd.DataFrame({"t": np.array(["2024-01-01", "12000-01-01"], "M8[s]")})
    yield "parts of microseconds", pd.DataFrame({"d": np.array([1000, 1001], "m8[ns]")})


FRAMES = dict(typed_frames())


@pytest.mark.parametrize("name", FRAMES)
def test_a_frame_makes_the_same_database_with_and_without_pyarrow(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """36 of 126 columns were stored otherwise, refused or without a type where pyarrow was not installed."""
    frame = FRAMES[name]
    objects = frame.assign(o=pd.Series([None] * len(frame), dtype=object)) if frame.columns.nlevels == 1 else frame
    with_pyarrow = [outcome(lambda: made(one)) for one in (frame, objects, {str(key): frame[key] for key in frame})]
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    without = [outcome(lambda: made(one)) for one in (frame, objects, {str(key): frame[key] for key in frame})]
    assert without == with_pyarrow


def test_periods_are_texts_that_come_back(pyarrow_or_not: str) -> None:
    """`2024-01` was stored as 648, the months since 1970."""
    columns, rows = made(FRAMES["periods"])
    assert columns == [(name, "TEXT") for name in "mdqw"]
    assert rows == [("2024-01", "2024-01-01", "2024Q1", "2024-01-01/2024-01-07"), (None, "2024-05-17", "2024Q3", "2024-01-08/2024-01-14")]
    for column, freq in enumerate(["M", "D", "Q", "W"]):
        back = [None if row[column] is None else pd.Period(row[column], freq) for row in rows]
        assert [value for value in back if value is not None] == list(FRAMES["periods"].iloc[:, column].dropna())


def test_an_index_that_is_no_range_is_a_column(pyarrow_or_not: str) -> None:
    """Dates in an index without a name were dropped, without a word: only the values were stored."""
    days = pd.date_range("2024-01-01", periods=2)
    frame = pd.DataFrame({"v": [1, 2]}, index=days)
    stored = [("2024-01-01 00:00:00", 1), ("2024-01-02 00:00:00", 2)]
    assert made(frame) == ([("index", "TEXT"), ("v", "INTEGER")], stored)
    assert made(frame.rename_axis("day"))[0][0] == ("day", "TEXT")
    assert made(frame, index=False) == ([("v", "INTEGER")], [(1,), (2,)])
    plain = pd.DataFrame({"v": [1, 2]})
    assert made(plain)[0] == [("v", "INTEGER")]
    assert made(plain, index=True) == ([("index", "INTEGER"), ("v", "INTEGER")], [(0, 1), (1, 2)])
    assert made(plain.rename_axis("id"))[0] == [("id", "INTEGER"), ("v", "INTEGER")]
    several = frame.set_index(pd.MultiIndex.from_tuples([("a", 1), ("b", 2)], names=[None, "n"]))
    assert made(several) == ([("level_0", "TEXT"), ("n", "INTEGER"), ("v", "INTEGER")], [("a", 1, 1), ("b", 2, 2)])
    assert made(frame.assign(index=0))[0][0] == ("level_0", "TEXT")
    assert made(pd.DataFrame({"v": [1]}, index=pd.Index(["x"], dtype=object)))[1] == [("x", 1)]
    # The user's frame stays as it was.
    assert list(frame.columns) == ["v"] and frame.index.equals(days)


def test_an_index_with_the_name_of_a_column_is_refused() -> None:
    frame = pd.DataFrame({"a": [1, 2]}, index=pd.Index([5, 6], name="a"))
    with pytest.raises(litepress.DataError, match="two columns") as caught:
        made(frame)
    assert (caught.value.table, caught.value.column) == ("t", "a") and "index=False" in str(caught.value)
    with pytest.raises(litepress.DataError, match="two columns") as caught:
        made(pd.DataFrame([[1, 2]], columns=["a", "a"]))
    assert (caught.value.table, caught.value.column) == ("t", "a")


def test_an_index_that_a_given_table_lacks_is_an_error_that_names_the_option() -> None:
    frame = pd.DataFrame({"v": [1, 2, 3]})
    kept = frame.sort_values("v").iloc[[1, 2, 0]].iloc[:2]
    with pytest.raises(litepress.Error, match="index=False"):
        made(kept, schema="CREATE TABLE t (v INTEGER)")
    assert made(kept, schema="CREATE TABLE t (v INTEGER)", index=False)[1] == [(2,), (3,)]
    with litepress.create(None, "CREATE TABLE t (v INTEGER)") as writer:
        with pytest.raises(litepress.Error, match="index=False"):
            writer["t"].extend(kept)
        writer["t"].extend(kept, index=False)
        assert len(writer["t"]) == 2


def test_adapters_hold_for_frames_and_arrow_data() -> None:
    """`adapters=` was ignored for pandas and Arrow data, without a word: 1.10 became the double 1.1."""
    moment, price = dt.datetime(2024, 1, 1), D("1.10")
    adapters: dict[type, Any] = {D: str, dt.datetime: lambda value: int(value.replace(tzinfo=UTC).timestamp())}
    table = pa.table({"m": pa.array([price], pa.decimal128(9, 2)), "t": pa.array([moment], pa.timestamp("us")), "n": [7]})
    expected = [("1.10", 1_704_067_200, 7)]
    reader = pa.RecordBatchReader.from_batches(table.schema, table.to_batches())
    for data in (
        [{"m": price, "t": moment, "n": 7}],
        {"m": [price], "t": np.array([moment], "M8[us]"), "n": [7]},
        pd.DataFrame({"m": pd.Series([price], dtype=object), "t": [moment], "n": [7]}),
        pd.DataFrame({"m": pd.Series([price], dtype=pd.ArrowDtype(pa.decimal128(9, 2))), "t": pd.Series([moment]).astype("M8[s]"), "n": [7]}),
        table,
        reader,
        pl.DataFrame({"m": [price], "t": [moment], "n": [7]}),
        duckdb.sql("SELECT 1.10::DECIMAL(9, 2) AS m, TIMESTAMP '2024-01-01' AS t, 7 AS n"),
        {"m": table["m"], "t": pl.Series([moment]), "n": pd.Series([7])},
    ):
        assert made(data, adapters=adapters)[1] == expected, type(data)
    points = pd.DataFrame({"p": [Point(), None]})
    assert made(points, adapters={Point: repr})[1] == [("Point",), (None,)]
    numbers = {"i": np.array([1, 2], "i2"), "b": np.array([True, False]), "f": np.array([0.5, 1])}
    odd: dict[type, Any] = {int: lambda value: value + 10, bool: lambda value: "yes" if value else "no"}
    assert made(numbers, adapters=odd)[1] == [(11, "yes", 0.5), (12, "no", 1.0)]
    assert made(pd.DataFrame(numbers), adapters=odd)[1] == [(11, "yes", 0.5), (12, "no", 1.0)]
    with litepress.create(None, "CREATE TABLE t (m, t, n)", adapters=adapters) as writer:
        writer["t"].extend(table)
        writer["t"].extend(pl.DataFrame(table))
    assert writer.summary is not None and writer.summary.rows == 2


def test_an_adapter_that_cannot_be_called_for_arrow_data_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    relation = duckdb.sql("SELECT 1.10::DECIMAL(9, 2) AS m")
    with pytest.raises(litepress.DataError, match="pyarrow"):
        made(relation, adapters={D: str})
    assert made(relation, adapters={Point: repr})[1] == [(1.1,)]


def test_sums_and_decimals_are_numbers_if_their_values_are() -> None:
    """DuckDB declares sums as decimal(38, 0), and polars each decimal with 38 digits. They became texts: 10 sorted before 9."""
    relation = duckdb.sql("SELECT range AS k, sum(range) OVER (ORDER BY range) AS s, (range / 8)::DECIMAL(38, 3) AS d FROM range(12)")
    columns, rows = made(relation)
    assert columns == [("k", "INTEGER"), ("s", "INTEGER"), ("d", "REAL")]
    assert rows == [(k, k * (k + 1) // 2, k / 8) for k in range(12)]
    frame = pl.DataFrame({"a": [D("9.50"), D("10.00"), None]})
    assert made(frame) == ([("a", "REAL")], [(9.5,), (10.0,), (None,)])
    most = 2**63 - 1
    assert made(pa.table({"a": pa.array([D(most), D(-most)], pa.decimal128(38, 0))})) == ([("a", "INTEGER")], [(most,), (-most,)])
    for value in (D(2**63), D(10) ** 20):
        wide = pa.table({"a": pa.array([D(1), value], pa.decimal128(38, 0))})
        assert made(wide) == ([("a", "TEXT")], [("1",), (str(value),)])
    assert made(pa.table({"a": pa.array([D("1.0000000000000001")], pa.decimal128(38, 16))}))[0] == [("a", "TEXT")]
    # The table's own type goes first, and so does the form that is asked for.
    assert made(frame, schema="CREATE TABLE t (a TEXT)")[1] == [("9.50",), ("10.00",), (None,)]
    assert made(frame, store_as={"a": "text"})[1] == [("9.50",), ("10.00",), (None,)]


def test_a_stream_that_breaks_the_promise_of_its_first_rows_is_an_error() -> None:
    schema = pa.schema({"a": pa.decimal128(38, 0)})

    def batches() -> Iterator[pa.RecordBatch]:
        yield pa.record_batch([pa.array([D(1)] * (1 << 20), pa.decimal128(38, 0))], schema=schema)
        yield pa.record_batch([pa.array([D(10) ** 30], pa.decimal128(38, 0))], schema=schema)

    with pytest.raises(litepress.DataError) as caught:
        made(pa.RecordBatchReader.from_batches(schema, batches()))
    error = caught.value
    assert (error.table, error.column, error.record, error.value) == ("t", "a", (1 << 20) + 1, str(10**30))
    assert "store_as" in str(error)
    # In memory all values are looked at.
    assert made(pa.Table.from_batches(batches()))[0] == [("a", "TEXT")]


def test_a_moment_has_one_text_whatever_its_source() -> None:
    """One moment had four texts, by the unit of its column: joins and UNIQUE found nothing."""
    for moment, text in (
        (dt.datetime(2020, 1, 1), "2020-01-01 00:00:00"),
        (dt.datetime(2020, 1, 1, 12, 0, 0, 500_000), "2020-01-01 12:00:00.500000"),
    ):
        sources: list[Any] = [[(moment,)], {"a": [moment]}, pl.DataFrame({"a": [moment]}), duckdb.sql(f"SELECT TIMESTAMP '{moment}' AS a")]
        for unit in ("s", "ms", "us", "ns")[1 if moment.microsecond else 0 :]:
            sources += [
                pa.table({"a": pa.array([moment], pa.timestamp(unit))}),
                {"a": np.array([moment], f"M8[{unit}]")},
                [(np.datetime64(moment, unit),)],
                pd.DataFrame({"a": np.array([moment], f"M8[{unit}]")}),
            ]
        sources.append([(pd.Timestamp(moment),)])
        for source in sources:
            assert made(source, columns=["a"] if isinstance(source, list) else None)[1] == [(text,)], source
        zoned: list[Any] = [[(moment.replace(tzinfo=UTC),)], pl.DataFrame({"a": [moment.replace(tzinfo=UTC)]})]
        zoned += [pa.table({"a": pa.array([moment], pa.timestamp(unit, "Europe/Berlin"))}) for unit in ("ms", "us", "ns")]
        zoned.append(pd.DataFrame({"a": [pd.Timestamp(moment, tz="UTC").tz_convert("Asia/Tokyo")]}))
        for source in zoned:
            assert made(source, columns=["a"] if isinstance(source, list) else None)[1] == [(text + "+00:00",)], source
    at = dt.time(1, 2, 3, 4)
    for source in ([{"a": at}], pl.DataFrame({"a": [at]}), pa.table({"a": pa.array([at], pa.time64("ns"))})):
        assert made(source)[1] == [("01:02:03.000004",)]


def test_texts_of_moments_sort_by_time_and_are_read_back() -> None:
    chance = random.Random(5)
    start = dt.datetime(2024, 1, 1, tzinfo=UTC)
    moments = [start + dt.timedelta(microseconds=chance.choice([0, 1, 500_000, 999_999]) + 1_000_000 * second) for second in range(50)]
    with closing(litepress.connect({"t": {"at": moments, "n": range(50)}})) as database:
        assert [n for (n,) in database.execute("SELECT n FROM t ORDER BY at")] == list(range(50))
        assert [dt.datetime.fromisoformat(text) for (text,) in database.execute("SELECT at FROM t")] == moments
        assert database.execute("SELECT count(*) FROM t WHERE strftime('%s', at) = '1704067200'").fetchone() == (1,)


def test_a_duration_is_microseconds_in_every_source() -> None:
    span = dt.timedelta(seconds=1, milliseconds=500)
    sources: list[Any] = [[(span,)], pl.DataFrame({"a": [span]}), [(pd.Timedelta(span),)], pd.DataFrame({"a": [pd.Timedelta(span)]})]
    sources += [pa.table({"a": pa.array([span], pa.duration(unit))}) for unit in ("ms", "us", "ns")]
    for source in sources:
        assert made(source, columns=["a"] if isinstance(source, list) else None) == ([("a", "INTEGER")], [(1_500_000,)])
    with pytest.raises(litepress.DataError, match="microseconds") as caught:
        made(pa.table({"a": pa.array([0, 5], pa.duration("ns"))}))
    assert (caught.value.table, caught.value.column, caught.value.record, caught.value.value) == ("t", "a", 2, "5")
    assert made(pa.table({"a": pa.array([5], pa.duration("ns"))}), store_as={"a": "text"})[1] == [("PT0.000000005S",)]


def test_times_that_sqlite_cannot_read_are_refused() -> None:
    """DuckDB's `infinity` became `+5881580-07-11`, which no date function of SQLite reads."""
    for source in (
        duckdb.sql("SELECT * FROM (VALUES (DATE '2024-01-01'), ('infinity')) AS v(a)"),
        pa.table({"a": pa.array([0, 2**62], pa.timestamp("s"))}),
        pd.DataFrame({"a": np.array(["2024-01-01", "12000-01-01"], "M8[s]")}),
    ):
        with pytest.raises(litepress.DataError, match="years 0 to 9999") as caught:
            made(source)
        assert (caught.value.table, caught.value.column, caught.value.record) == ("t", "a", 2)
    assert made(pa.table({"a": pa.array([2**62], pa.timestamp("s"))}), store_as={"a": "integer"})[1] == [(2**62,)]


@pytest.mark.parametrize("dtype", [pl.List(pl.Null), pl.Array(pl.Null, 1), pl.Struct({"x": pl.Null})])
def test_nulls_within_lists_of_polars_are_nulls(dtype: Any) -> None:
    """A list of nothing but nulls failed with polars' `Null doesn't expect buffer at index 0`."""
    value: Any = {"x": None} if isinstance(dtype, pl.Struct) else [None]
    frame = pl.DataFrame({"a": [value]}, schema={"a": dtype})
    assert made(frame)[1] == [(json.dumps(value, separators=(",", ":")),)]


def test_integers_of_128_bits_of_polars_are_numbers_where_they_fit() -> None:
    """polars exports them in a form of its own, and failed with the name of that form."""
    wide = [getattr(pl, name) for name in ("Int128", "UInt128") if hasattr(pl, name)]
    for dtype in wide:
        assert made(pl.DataFrame({"a": [1, None]}, schema={"a": dtype})) == ([("a", "INTEGER")], [(1,), (None,)])
        assert made(pl.DataFrame({"a": [[1]]}, schema={"a": pl.List(dtype)}))[1] == [("[1]",)]
        assert made(pl.DataFrame({"a": [2**100]}, schema={"a": dtype})) == ([("a", "TEXT")], [(str(2**100),)])
        assert made(pl.DataFrame({"a": [2**127 - 1]}, schema={"a": dtype})) == ([("a", "TEXT")], [(str(2**127 - 1),)])


def test_a_column_of_nothing_but_null_has_no_type() -> None:
    """It was BLOB from polars, TEXT from pyarrow and pandas, and had no type from rows."""
    for data in (
        [{"a": None}],
        {"a": [None]},
        pl.DataFrame({"a": [None]}),
        pl.DataFrame({"a": pl.Series([None], dtype=pl.Object)}),
        pa.table({"a": pa.nulls(1)}),
        pd.DataFrame({"a": [None]}),
        duckdb.from_arrow(pa.table({"a": pa.nulls(1)})) if False else pa.table({"a": pa.nulls(1)}),
    ):
        assert made(data) == ([("a", "")], [(None,)])


def test_types_of_duckdb_without_one_of_arrow_are_texts() -> None:
    """A BIT was stored as DuckDB's own bytes, a TIMETZ lost its zone, and 2^128 - 1 became -1."""
    relation = duckdb.sql("SELECT '10101'::BIT AS b, ['1'::BIT] AS l, '01:00:00+02'::TIMETZ AS z, 12345::BIGNUM AS n, 5::UHUGEINT AS u")
    assert made(relation) == (
        [("b", "TEXT"), ("l", "TEXT"), ("z", "TEXT"), ("n", "TEXT"), ("u", "INTEGER")],
        [("10101", '["1"]', "01:00:00+02", "12345", 5)],
    )
    with pytest.raises(litepress.DataError):
        made(duckdb.sql("SELECT 340282366920938463463374607431768211455::UHUGEINT AS u"))


def test_extension_types_are_stored_by_their_meaning() -> None:
    """Periods in a table of pyarrow became months since 1970, and a BIGNUM the bytes that DuckDB has for it."""
    frame = pd.DataFrame({"p": pd.period_range("2020-01", periods=2, freq="M"), "n": [1, 2]})
    table = pa.Table.from_pandas(frame)
    for data in (table, table.to_reader(), {"p": table["p"], "n": table["n"]}):
        assert made(data) == ([("p", "TEXT"), ("n", "INTEGER")], [("2020-01", 1), ("2020-02", 2)])
    with pytest.raises(litepress.DataError, match="VARCHAR") as caught:
        made(duckdb.sql("SELECT 12345::BIGNUM AS n").to_arrow_table())
    assert (caught.value.table, caught.value.column) == ("t", "n")


def test_errors_of_libraries_are_errors_of_the_package() -> None:
    """The exceptions of pyarrow, polars and DuckDB came through, with neither table nor column."""
    connection = duckdb.connect()
    relation = connection.sql("SELECT error('not today') AS a")
    with pytest.raises(litepress.DataError, match="not today") as caught:
        made(relation)
    assert caught.value.table == "t"


def test_record_batches_come_from_any_iterable() -> None:
    """A list of record batches was refused as rows of an unknown shape."""
    batches = [pa.record_batch({"a": [number, number + 1]}) for number in (1, 3)]
    expected = ([("a", "INTEGER")], [(1,), (2,), (3,), (4,)])
    for data in (batches, tuple(batches), iter(batches), (batch for batch in batches), [pa.table(batch) for batch in batches],
                 pl.DataFrame({"a": [1, 2, 3, 4]}).iter_slices(2)):  # fmt: skip
        assert made(data) == expected
    with litepress.create(None, "CREATE TABLE t (a INTEGER)") as writer:
        writer["t"].extend(iter(batches))
        assert len(writer["t"]) == 4

    class Mine(Exception):
        pass

    def fails() -> Iterator[pa.RecordBatch]:
        yield batches[0]
        raise Mine("enough")

    with pytest.raises(Mine, match="enough"):
        made(fails())


@pytest.mark.parametrize(
    ("data", "part"),
    [
        ({"": [1]}, "empty name"),
        (pa.table({"": [1]}), "empty name"),
        (pl.DataFrame({"": [1]}), "empty name"),
        (pd.DataFrame({"": [1]}), "empty name"),
        (pd.DataFrame({"": [1], "o": [object()]}), "empty name"),
        ({"a\0b": [1]}, "NUL"),
        (pa.table({"a\0b": [1]}), "NUL"),
        (pl.DataFrame({"a\0b": [1]}), "NUL"),
        (pd.DataFrame({"a\0b": [1]}), "NUL"),
        ([{"": 1}], "empty name"),
        ([{"a\0b": 1}], "NUL"),
    ],
    ids=lambda value: ascii(value)[:30],
)
def test_names_that_cannot_be_kept_are_refused(data: Any, part: str) -> None:
    """Arrow's empty name became `column1`, and `a\\0b` became `a`, in silence."""
    with pytest.raises(litepress.DataError, match=part) as caught:
        made(data)
    assert caught.value.table == "t"
