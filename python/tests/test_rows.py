"""Rows and columns of every shape: names, types and refusals."""

from __future__ import annotations

import array
import asyncio
import collections
import dataclasses
import random
import re
import sqlite3
import types
from collections.abc import Iterator
from contextlib import closing
from typing import Any, NamedTuple

import litepress
import numpy as np
import pandas as pd
import pytest

from conftest import queried

ROWS_OF_FIRST_PIECE = 140_000


def made(data: Any, **options: Any) -> tuple[dict[str, str], list[tuple[Any, ...]]]:
    """Returns the declared types and the rows of a table of these data."""
    with closing(litepress.connect({"t": data}, **options)) as database:
        columns = database.execute("SELECT name, type FROM pragma_table_info('t')").fetchall()
        return dict(columns), database.execute("SELECT * FROM t ORDER BY rowid").fetchall()


def refused(data: Any, **options: Any) -> litepress.DataError:
    with pytest.raises(litepress.DataError) as caught:
        litepress.connect({"t": data}, **options)
    return caught.value


class Point(NamedTuple):
    x: int
    y: str


@dataclasses.dataclass
class Record:
    x: int
    y: str = "default"


@dataclasses.dataclass(slots=True)
class Slotted:
    x: int
    y: str


class Plain:
    def __init__(self, x: int, y: str) -> None:
        self.x, self.y, self._hidden = x, y, object()


class Slots:
    __slots__ = ("x", "y")

    def __init__(self, x: int, y: str) -> None:
        self.x, self.y = x, y


class Mapped(collections.abc.Mapping):  # type: ignore[type-arg]
    def __init__(self, **values: Any) -> None:
        self._values = values

    def __getitem__(self, key: str) -> Any:
        return self._values[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


PAIRS = [(1, "a"), (2, "b")]


def sqlite_rows() -> list[sqlite3.Row]:
    with closing(sqlite3.connect(":memory:")) as database:
        database.row_factory = sqlite3.Row
        return database.execute("SELECT 1 AS x, 'a' AS y UNION ALL SELECT 2, 'b'").fetchall()


NAMED = {
    "dicts": [dict(x=x, y=y) for x, y in PAIRS],
    "mappings": [Mapped(x=x, y=y) for x, y in PAIRS],
    "ordered dicts": [collections.OrderedDict(x=x, y=y) for x, y in PAIRS],
    "named tuples": [Point(x, y) for x, y in PAIRS],
    "dataclasses": [Record(x, y) for x, y in PAIRS],
    "dataclasses with slots": [Slotted(x, y) for x, y in PAIRS],
    "objects": [Plain(x, y) for x, y in PAIRS],
    "objects with slots": [Slots(x, y) for x, y in PAIRS],
    "namespaces": [types.SimpleNamespace(x=x, y=y) for x, y in PAIRS],
    "rows of sqlite3": sqlite_rows(),
    "columns": {"x": [1, 2], "y": ["a", "b"]},
    "tuples of columns": {"x": range(1, 3), "y": ("a", "b")},
    "generators of columns": {"x": (x for x, _ in PAIRS), "y": collections.deque("ab")},
    "arrays": {"x": np.array([1, 2], "i2"), "y": np.array(["a", "b"])},
    "a structured array": np.array(PAIRS, [("x", "i4"), ("y", "U3")]),
    "a record array": np.array(PAIRS, [("x", "i4"), ("y", "U3")]).view(np.recarray),
}


@pytest.mark.parametrize("shape", NAMED)
def test_named_values_name_the_columns(shape: str) -> None:
    data = NAMED[shape]
    options = [{}, {"schema": "CREATE TABLE t (x INTEGER, y TEXT)"}]
    for option in options[: 1 if "generators" in shape else 2]:
        assert made(data, **option) == ({"x": "INTEGER", "y": "TEXT"}, PAIRS)


@pytest.mark.parametrize(
    "data",
    [PAIRS, [list(pair) for pair in PAIRS], iter(PAIRS), (pair for pair in PAIRS), tuple(PAIRS), [np.array(pair, object) for pair in PAIRS]],
)
def test_rows_by_position_are_given_names(data: Any) -> None:
    assert made(data, columns=["a", "b"]) == ({"a": "INTEGER", "b": "TEXT"}, PAIRS)


def test_rows_by_position_need_names() -> None:
    for data in (PAIRS, [], np.zeros((2, 2))):
        with pytest.raises(ValueError, match=r"columns=.*schema"):
            litepress.connect({"t": data})
    schema = "CREATE TABLE t (a INTEGER, twice AS (a * 2), b TEXT)"
    assert made(PAIRS, schema=schema)[1] == [(1, 2, "a"), (2, 4, "b")]


def test_an_array_of_two_dimensions_has_columns_by_position() -> None:
    whole = np.arange(6).reshape(3, 2)
    assert made(whole, columns=["a", "b"]) == ({"a": "INTEGER", "b": "INTEGER"}, [(0, 1), (2, 3), (4, 5)])
    assert made(whole.T, schema="CREATE TABLE t (a, b, c)")[1] == [(0, 2, 4), (1, 3, 5)]
    with pytest.raises(ValueError, match="2 columns"):
        litepress.connect({"t": whole}, columns=["a"])
    with pytest.raises(ValueError, match="2 columns"):
        litepress.connect({"t": whole}, schema="CREATE TABLE t (a)")


@pytest.mark.parametrize("data", [None, "text", b"bytes", 5, 1.5, {"a": 1, "b": "x"}, object(), Point, range])
def test_what_is_no_table_is_refused(data: Any) -> None:
    with pytest.raises(TypeError, match="pass"):
        litepress.connect({"t": data})


@pytest.mark.parametrize("row", ["text", b"bytes", 5, None, {1, 2}, object()])
def test_what_is_no_row_is_refused(row: Any) -> None:
    with pytest.raises(TypeError, match="row"):
        litepress.connect({"t": [row]}, columns=["a"])
    error = refused([(1,), row], columns=["a"])
    assert (error.table, error.record) == ("t", 2)


def test_asynchronous_data_are_refused() -> None:
    async def rows() -> Any:
        yield (1,)

    async def row() -> None:
        await asyncio.sleep(0)

    with pytest.raises(TypeError, match="async for"):
        litepress.connect({"t": rows()}, columns=["a"])
    coroutine = row()
    with pytest.raises(TypeError, match="async"):
        litepress.connect({"t": coroutine}, columns=["a"])
    coroutine.close()


def test_rows_of_another_length_are_refused() -> None:
    for wrong in [(1,), (1, 2, 3), [1], ()]:
        error = refused([(1, 2), wrong], columns=["a", "b"])
        assert error.record == 2 and f"{len(wrong)} value" in str(error) and "2 columns" in str(error)


def test_rows_of_another_shape_are_refused() -> None:
    assert "mapping" in str(refused([{"a": 1}, (1,)]))
    assert "sequence" in str(refused([(1,), {"a": 1}], columns=["a"]))
    error = refused([Record(1, "a"), Mapped()])
    assert (error.record, error.column) == (2, "x")


def test_keys_appear_within_the_first_rows() -> None:
    rows = [{"a": 1}] * 2000 + [{"b": "x", "a": 2}, {}, {"c": None}]
    columns, stored = made(rows)
    assert columns == {"a": "INTEGER", "b": "TEXT", "c": ""}
    assert stored == [(1, None, None)] * 2000 + [(2, "x", None), (None, None, None), (None, None, None)]


def test_keys_that_appear_later_are_refused() -> None:
    rows = [{"a": 1}] * ROWS_OF_FIRST_PIECE + [{"a": 1, "late": 2}]
    error = refused(rows)
    assert error.record == ROWS_OF_FIRST_PIECE + 1 and "'late'" in str(error) and "columns=" in str(error)
    assert made(rows, columns=["a", "late"])[1][-1] == (1, 2)
    assert made(rows, schema="CREATE TABLE t (a, late)")[1][-1] == (1, 2)


def test_unknown_keys_are_refused() -> None:
    for options in ({"columns": ["a"]}, {"schema": "CREATE TABLE t (a, twice AS (a * 2))"}):
        for name in ("b", "twice"):
            error = refused([{"a": 1}, {"a": 1, name: 2}], **options)
            assert error.record == 2 and f"'{name}'" in str(error)
    assert "5" in str(refused([{5: 1}]))


def test_columns_that_rows_leave_out_are_numbered_or_have_their_default() -> None:
    schema = "CREATE TABLE t (id INTEGER PRIMARY KEY, d DEFAULT 'new', a, b)"
    assert made([{"A": 1}, {"A": 2}], schema=schema)[1] == [(1, "new", 1, None), (2, "new", 2, None)]
    assert made([{"a": 1, "id": 7}, {"a": 2, "id": 9}], schema=schema)[1] == [(7, "new", 1, None), (9, "new", 2, None)]
    rows = [{"a": 1}] * ROWS_OF_FIRST_PIECE + [{"a": 1, "id": 10**9}]
    error = refused(rows, schema=schema)
    assert error.record == ROWS_OF_FIRST_PIECE + 1 and "'id'" in str(error)


@pytest.mark.parametrize(
    ("values", "declared"),
    [
        ([1, 2**62, None], "INTEGER"),
        ([True, 2], "INTEGER"),
        ([1, 0.5], "REAL"),
        ([1.5, None], "REAL"),
        ([2**53 + 1, 0.5], ""),
        ([True, 0.5], ""),
        (["a", None], "TEXT"),
        ([b"a"], "BLOB"),
        ([1, "a"], ""),
        (["a", b"a"], ""),
        ([None, None], ""),
        ([], ""),
    ],
)
def test_types_follow_from_values(values: list[Any], declared: str) -> None:
    for data in ([(value,) for value in values], {"a": values}, {"a": np.array([*values, ...], object)[:-1]}):
        columns, stored = made(data, columns=["a"])
        assert columns == {"a": declared}
        assert stored == [(value,) for value in values]
        assert [type(value) for (value,) in stored] == [int if type(value) is bool else float if declared == "REAL" and value is not None else type(value) for value in values]


@pytest.mark.parametrize(
    ("first", "later"),
    [(1, 0.5), (1, 1.0), (1, "007"), (1, "x"), (0.5, 2**53 + 1), (0.5, "1"), ("x", 5), ("x", b"x"), (b"x", "x"), (0.5, True)],
)
def test_values_that_a_type_of_the_first_rows_would_change_are_refused(first: Any, later: Any) -> None:
    values = [first] * ROWS_OF_FIRST_PIECE + [None, later]
    for data in ([(value,) for value in values], {"a": values}):
        error = refused(data, columns=["a"])
        assert (error.table, error.column, error.record) == ("t", "a", len(values))
        assert error.value == repr(later) and "schema" in str(error)
    assert made([(value,) for value in values], schema="CREATE TABLE t (a)")[1][-1] == (later,)


@pytest.mark.parametrize(("first", "later"), [(1, True), (1, 2**63 - 1), (0.5, 5), (0.5, float("nan")), (None, "x"), (None, 1)])
def test_values_that_a_type_keeps_are_taken_later(first: Any, later: Any) -> None:
    values = [(first,)] * ROWS_OF_FIRST_PIECE + [(later,)]
    assert made(values, columns=["a"])[1][-1] == (None if later != later else later,)


def test_an_iterator_is_taken_once_and_its_exceptions_come_through() -> None:
    taken: list[int] = []

    def rows(count: int) -> Iterator[tuple[int]]:
        for number in range(count):
            taken.append(number)
            yield (number,)
        raise LookupError("the end")

    with pytest.raises(LookupError, match="the end"):
        litepress.connect({"t": rows(5000)}, columns=["a"])
    assert taken == list(range(5000))


def test_random_rows_are_stored_as_they_are() -> None:
    """Kinds mix at every place of a block; long texts end pieces early."""
    for seed in range(30):
        chance = random.Random(seed)
        makers = [
            lambda: None,
            lambda: chance.choice([0, -1, 2**63 - 1, -(2**63), chance.getrandbits(40)]),
            lambda: chance.choice([0.5, -1e300, 5e-324, float("inf"), chance.random()]),
            lambda: chance.choice(["", "ä\0b", "007", "x" * chance.randrange(3000)]),
            lambda: chance.choice([b"", b"\0\xff", bytes(chance.randrange(3000))]),
        ]
        width = chance.randrange(1, 6)
        choices = [chance.choices(makers, k=chance.randrange(1, 6)) for _ in range(width)]
        count = chance.choice([1, 1023, 1024, 1025, 3000])
        rows = [tuple(chance.choice(choice)() for choice in choices) for _ in range(count)]
        names = [f"c{at}" for at in range(width)]
        schema = f"CREATE TABLE t ({', '.join(names)})"
        expected = rows
        for data in (
            iter(rows),
            [dict(zip(names, row)) for row in rows],
            [{name: value for name, value in zip(names, row) if value is not None} for row in rows],
            dict(zip(names, map(list, zip(*rows)))),
        ):
            stored = made(data, schema=schema)[1]
            assert stored == expected
            assert [list(map(type, row)) for row in stored] == [list(map(type, row)) for row in expected]
        assert made(rows, columns=names)[1] == expected


# Columns


def test_columns_of_different_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="'a' has 2 values, and 'b' has 3"):
        litepress.connect({"t": {"a": [1, 2], "b": np.arange(3)}})


@pytest.mark.parametrize("values", ["text", b"bytes", {1, 2}, {"x": 1}])
def test_what_is_no_column_is_refused(values: Any) -> None:
    with pytest.raises(TypeError, match="column 'a'"):
        litepress.connect({"t": {"a": values, "b": [1, 2]}})


def test_columns_without_names_or_values() -> None:
    with pytest.raises(ValueError, match="no columns"):
        litepress.connect({"t": {}})
    assert made({"a": [], "b": np.array([], "f4")}) == ({"a": "", "b": "REAL"}, [])
    with pytest.raises(TypeError, match="names"):
        litepress.connect({"t": {1: [1]}})
    assert made({"a": [1], "b": [2]}, columns=["b"]) == ({"b": "INTEGER"}, [(2,)])
    with pytest.raises(ValueError, match="'c'"):
        litepress.connect({"t": {"a": [1]}}, columns=["c"])


NUMBERS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "?"]


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("dtype", NUMBERS)
def test_arrays_of_numbers(dtype: str, order: str) -> None:
    chance = np.random.default_rng(5)
    size = 2500
    if dtype[0] in "iu":
        info = np.iinfo(dtype)
        values = chance.integers(info.min, min(info.max, 2**63 - 1), size, dtype, endpoint=True)
        values[:2] = info.min, min(info.max, 2**63 - 1)
    else:
        values = chance.standard_normal(size).astype(dtype)
    values = values.astype(np.dtype(dtype).newbyteorder(order))
    table = np.zeros((size, 3), values.dtype)
    table[:, 1] = values
    strided = table[:, 1]
    masked = np.ma.array(values, mask=np.arange(size) % 3 == 0)
    for array_, expected in [
        (values, values.tolist()),
        (values[::-1], values[::-1].tolist()),
        (values[1::7], values[1::7].tolist()),
        (strided, values.tolist()),
        (masked, [None if at % 3 == 0 else value for at, value in enumerate(values.tolist())]),
    ]:
        columns, stored = made({"a": array_})
        assert columns == {"a": "REAL" if dtype[0] == "f" else "INTEGER"}
        assert stored == [(value,) for value in expected]
    if dtype != "f2":
        assert made({"a": memoryview(values)[::-3]})[1] == [(value,) for value in values[::-3].tolist()]


@pytest.mark.parametrize("code", "bBhHiIlLqQfd")
def test_buffers_of_numbers(code: str) -> None:
    values = array.array(code, [0, 1, 127])
    assert made({"a": values, "b": memoryview(values)[::-1]})[1] == [(0, 127), (1, 1), (127, 0)]


def test_unsigned_integers_beyond_64_bits_are_refused() -> None:
    values = np.arange(3000, dtype="u8")
    values[2000] = 2**63
    for data in ({"a": values}, {"a": array.array("Q", values.tolist())}, [(value,) for value in values.tolist()]):
        error = refused(data, columns=["a"])
        assert (error.column, error.record, error.value) == ("a", 2001, str(2**63))
    masked = np.ma.array(values, mask=values == 2**63)
    assert made({"a": masked})[1][2000] == (None,)


@pytest.mark.parametrize("dtype", ["c8", "c16", "g", "V3"])
def test_arrays_without_a_form_are_refused(dtype: str) -> None:
    error = refused({"a": np.zeros(2, dtype)})
    assert (error.table, error.column) == ("t", "a")


def test_arrays_of_two_dimensions_are_no_columns() -> None:
    with pytest.raises(ValueError, match="column 'a' has 2 dimensions"):
        litepress.connect({"t": {"a": np.zeros((2, 2))}})


@pytest.mark.parametrize(
    ("unit", "text"),
    [
        ("Y", "1969-01-01"),
        ("M", "1969-12-01"),
        ("W", "1969-12-25"),
        ("D", "1969-12-31"),
        ("h", "1969-12-31 23:00:00"),
        ("m", "1969-12-31 23:59:00"),
        ("s", "1969-12-31 23:59:59"),
        ("ms", "1969-12-31 23:59:59.999000"),
        ("us", "1969-12-31 23:59:59.999999"),
        ("ns", "1969-12-31 23:59:59.999999999"),
        ("25s", "1969-12-31 23:59:35"),
    ],
)
def test_moments_of_numpy(unit: str, text: str) -> None:
    values = np.array([-1, "NaT"], f"M8[{unit}]" if unit[0] != "2" else "M8[25s]")
    for array_ in (values, values.astype(values.dtype.newbyteorder(">")), values[::-1][::-1]):
        assert made({"a": array_}) == ({"a": "TEXT"}, [(text,), (None,)])
    # One by one, too.
    assert made([(value,) for value in values], columns=["a"]) == ({"a": "TEXT"}, [(text,), (None,)])


@pytest.mark.parametrize(
    ("unit", "microseconds"),
    [("W", 604_800_000_000), ("D", 86_400_000_000), ("h", 3_600_000_000), ("m", 60_000_000), ("25s", 25_000_000), ("us", 1)],
)
def test_a_duration_is_microseconds_whatever_its_unit(unit: str, microseconds: int) -> None:
    """A day and an hour in one list both became 1, and so did a second, a millisecond and a microsecond of a column."""
    spans = np.array([5, "NaT", -1], f"m8[{unit}]")
    stored = [(5 * microseconds,), (None,), (-microseconds,)]
    for data in ({"a": spans}, [(value,) for value in spans]):
        assert made(data, columns=["a"]) == ({"a": "INTEGER"}, stored)


@pytest.mark.parametrize("value", [np.timedelta64(1001, "ns"), np.timedelta64(2**62, "D"), np.timedelta64(1, "Y")])
def test_durations_that_are_no_microseconds_are_refused(value: np.timedelta64) -> None:
    for data in ({"a": np.array([value])}, [(value,)]):
        error = refused(data, columns=["a"])
        assert (error.table, error.column) == ("t", "a") and re.search("microseconds|64 bits", str(error))


@pytest.mark.parametrize("value", [np.datetime64("12000-01-01", "s"), np.datetime64("10000-01-01", "D")])
def test_times_that_sqlite_cannot_read_are_refused(value: np.datetime64) -> None:
    """The year 12000 became `+12000-01-01`, which no date function of SQLite reads."""
    for data in ({"a": np.array([value])}, [(value,)], pd.DataFrame({"a": np.array([value])}) if "s" in str(value.dtype) else {"a": [value]}):
        error = refused(data, columns=["a"] if isinstance(data, list) else None)
        assert (error.table, error.column, error.record) == ("t", "a", 1) and "0 to 9999" in str(error)


def test_texts_and_objects_of_numpy() -> None:
    data = {"u": np.array(["ä", ""]), "s": np.array([b"x", b"\0y"]), "o": np.array([None, [1]], object)}
    assert made(data) == ({"u": "TEXT", "s": "BLOB", "o": "TEXT"}, [("ä", b"x", None), ("", b"\0y", "[1]")])
    masked = np.ma.array(["a", "b"], mask=[True, False])
    assert made({"a": masked})[1] == [(None,), ("b",)]


def test_series_of_pandas_are_columns() -> None:
    data = {
        "i": pd.Series([1, 2], dtype="Int64"),
        "n": pd.Series([None, 2], dtype="Int64"),
        "f": pd.Series([0.5, None]),
        "t": pd.Series(pd.to_datetime(["2024-01-01", None])).astype("datetime64[ms]"),
        "z": pd.Series(pd.to_datetime(["2024-01-01", None], utc=True)),
    }
    times = [("2024-01-01 00:00:00", "2024-01-01 00:00:00+00:00"), (None, None)]
    assert made(data)[1] == [(1, None, 0.5, *times[0]), (2, 2, None, *times[1])]


def test_fields_that_a_pydantic_model_allows_are_columns() -> None:
    """`extra="allow"` keeps fields that the class does not declare: they were left out, without a word."""
    pydantic = pytest.importorskip("pydantic")

    class Model(pydantic.BaseModel):  # type: ignore[name-defined, misc]
        model_config = pydantic.ConfigDict(extra="allow")
        a: int

    assert made([Model(a=1, z=3), Model(a=2, z="x")])[1] == [(1, 3), (2, "x")]
    assert list(made([Model(a=1), Model(a=2)])[0]) == ["a"]
    for rows in ([Model(a=1), Model(a=2, z=3)], [Model(a=1, z=3), Model(a=2)], [Model(a=1, z=3), Model(a=2, y=3)]):
        error = refused(rows)
        assert (error.table, error.record) == ("t", 2)
    with closing(litepress.connect({"t": [Model(a=1, z=3)]}, schema="CREATE TABLE t (z, a)")) as database:
        assert database.execute("SELECT * FROM t").fetchall() == [(3, 1)]


def test_cursors_name_their_columns() -> None:
    """The names of a cursor's columns had to be given again, and its values went to a table's columns by position."""
    with closing(sqlite3.connect(":memory:")) as source:
        query = "SELECT 1 AS id, 'Ada' AS name UNION SELECT 2, 'Grace'"
        assert made(source.execute(query)) == ({"id": "INTEGER", "name": "TEXT"}, [(1, "Ada"), (2, "Grace")])
        assert list(made(source.execute(query), columns=["a", "b"])[0]) == ["a", "b"]
        other = "CREATE TABLE t (name TEXT, id INTEGER)"
        assert made(source.execute(query), schema=other)[1] == [("Ada", 1), ("Grace", 2)]
        with litepress.create(None, other) as writer:
            writer["t"].extend(source.execute(query))
        assert queried(writer.to_bytes(), "SELECT * FROM t") == [("Ada", 1), ("Grace", 2)]


def test_frames_of_pandas_need_no_pyarrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    frame = pd.DataFrame({"a": [1, 2], "b": ["x", None]})
    assert made(frame) == ({"a": "INTEGER", "b": "TEXT"}, [(1, "x"), (2, None)])
    assert made(frame.set_index("b"))[1] == [("x", 1), (None, 2)]
    assert list(made(frame.set_axis([5, 6]))[0]) == ["index", "a", "b"]


def test_columns_that_change_while_they_are_read() -> None:
    values = list(range(5000))
    with pytest.raises((IndexError, ValueError)):
        litepress.connect({"t": {"a": values, "b": [Clearing(values)] * 5000}}, adapters={Clearing: lambda it: it.clear()})


class Clearing:
    def __init__(self, values: list[int]) -> None:
        self.values = values

    def clear(self) -> None:
        self.values.clear()


# Rows appended one by one


def test_a_row_that_is_refused_leaves_nothing(tmp_path: Any) -> None:
    file = tmp_path / "made.db"
    with litepress.create(file, schema="CREATE TABLE t (id INTEGER PRIMARY KEY, a, b)") as writer:
        table = writer["t"]
        for row in ({"a": 1}, {"a": 2, "b": "x"}, {"b": None}):
            table.append(row)
            for wrong in ({"a": "text", "id": object()}, {"id": 7, "a": 1, "b": object()}, {"a": "text", "c": 1}, 5):
                with pytest.raises((litepress.DataError, TypeError)):
                    table.append(wrong)
    with closing(sqlite3.connect(file)) as database:
        assert database.execute("SELECT * FROM t").fetchall() == [(1, 1, None), (2, 2, "x"), (3, None, None)]


P = collections.namedtuple("P", "a b")
Q = collections.namedtuple("Q", "b a")


@dataclasses.dataclass
class Short:
    a: int


@dataclasses.dataclass
class Long(Short):
    b: int = 5


@pytest.mark.parametrize(
    "rows",
    [
        [P(1, 2), Q(20, 10)],
        [(1, 2), Q(20, 10)],
        [Q(20, 10), (1, 2)],
        [Short(1), Long(2, 7)],
        [types.SimpleNamespace(a=1), types.SimpleNamespace(a=2, b=7)],
    ],
)
def test_rows_of_other_names_do_not_go_astray(rows: list[Any]) -> None:
    """They were stored by the order of the first row's names, and attributes that only later rows had were lost."""
    with pytest.raises(litepress.DataError, match="and those of the first") as caught:
        litepress.to_bytes({"t": rows}, schema="CREATE TABLE t (a, b)")
    assert caught.value.record == 2


def test_names_of_any_case_fit_a_schema() -> None:
    data = litepress.to_bytes({"t": [{"A": 1}, {"a": 2}, {"A": 3}]}, schema="CREATE TABLE t (a, b)")
    assert queried(data, "SELECT a FROM t") == [(1,), (2,), (3,)]
    with pytest.raises(litepress.DataError):
        litepress.to_bytes({"t": [{"A": 1}, {"A": 1, "a": 2}]}, schema="CREATE TABLE t (a, b)")


def test_an_adapter_may_change_its_row() -> None:
    """A dict that changed while its new keys were looked at was a panic."""

    class Value:
        pass

    row: dict[str, Any] = {"a": 1, "z": Value(), "y": Value()}

    def adapt(_: Value) -> int:
        row.clear()
        row.update({str(number): number for number in range(100)})
        return 5

    data = litepress.to_bytes({"t": [{"a": 1}, row]}, adapters={Value: adapt})
    assert queried(data, "SELECT * FROM t") == [(1, None, None), (1, 5, 5)]
