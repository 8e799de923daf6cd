"""The stored form of values of each type, in rows and in columns, and refusals."""

from __future__ import annotations

import array
import collections
import datetime as dt
import decimal
import enum
import json
import pathlib
import random
import re
import uuid
from contextlib import closing
from pathlib import Path
from typing import Any

import litepress
import numpy as np
import pandas as pd
import pytest

from conftest import queried

PLUS_TWO = dt.timezone(dt.timedelta(hours=2))


class Name(str):
    def __str__(self) -> str:
        return "not what it is"


class Whole(int):
    def __int__(self) -> int:
        return 7


class Color(enum.Enum):
    RED = "red"
    PRICE = decimal.Decimal("1.50")


class Level(enum.IntEnum):
    HIGH = 3


class Opaque:
    def __repr__(self) -> str:
        return "<opaque>"


D = decimal.Decimal
#: value, stored value, declared type
VALUES: list[tuple[Any, Any, str]] = [
    (True, 1, "INTEGER"),
    (-5, -5, "INTEGER"),
    (-(2**63), -(2**63), "INTEGER"),
    (0.1, 0.1, "REAL"),
    (float("-inf"), float("-inf"), "REAL"),
    (float("nan"), None, ""),
    ("", "", "TEXT"),
    ("\N{PILE OF POO}\0", "\N{PILE OF POO}\0", "TEXT"),
    (b"\xff\0", b"\xff\0", "BLOB"),
    (bytearray(b"x"), b"x", "BLOB"),
    (memoryview(b"abcd")[::-2], b"db", "BLOB"),
    (array.array("h", [1, 2]), array.array("h", [1, 2]).tobytes(), "BLOB"),
    (np.arange(3, dtype="f4"), np.arange(3, dtype="f4").tobytes(), "BLOB"),
    (Name("name"), "name", "TEXT"),
    (Whole(3), 3, "INTEGER"),
    (Color.RED, "red", "TEXT"),
    (Color.PRICE, 1.5, "REAL"),
    (Level.HIGH, 3, "INTEGER"),
    (dt.datetime(2024, 2, 29, 1, 2, 3), "2024-02-29 01:02:03", "TEXT"),
    (dt.datetime(1, 1, 1, microsecond=5), "0001-01-01 00:00:00.000005", "TEXT"),
    (dt.datetime(2024, 1, 1, 1, tzinfo=PLUS_TWO), "2023-12-31 23:00:00+00:00", "TEXT"),
    (dt.date(999, 1, 2), "0999-01-02", "TEXT"),
    (dt.time(1, 2, 3, 4), "01:02:03.000004", "TEXT"),
    (dt.timedelta(days=-1, microseconds=1), -86_399_999_999, "INTEGER"),
    (dt.timedelta.max, 86_399_999_999_999_999_999, ""),
    (D("12.50"), 12.5, "REAL"),
    (D("-0.01"), -0.01, "REAL"),
    (D("1E+5"), 100_000.0, "REAL"),
    (D("1234567890.12345"), 1234567890.12345, "REAL"),
    (D("1234567890.123456"), "1234567890.123456", "TEXT"),
    (D("1E+400"), "1E+400", "TEXT"),
    (D("1E-400"), "1E-400", "TEXT"),
    (D("NaN"), None, ""),
    (D("Infinity"), float("inf"), "REAL"),
    (uuid.UUID(int=5), "00000000-0000-0000-0000-000000000005", "TEXT"),
    (pathlib.PurePosixPath("/a/ö"), "/a/ö", "TEXT"),
    (collections.UserString("u"), "u", "TEXT"),
    ([1, "ö", None, True, 0.5], '[1,"ö",null,true,0.5]', "TEXT"),
    ((), "[]", "TEXT"),
    ({"a": [D("1.10"), dt.date(2024, 1, 1)], 5: b"\xab"}, '{"a":[1.10,"2024-01-01"],"5":"AB"}', "TEXT"),
    ([float("nan"), float("inf"), -0.0], '["NaN","inf",-0.0]', "TEXT"),
    ([2**70], "[1180591620717411303424]", "TEXT"),
    (collections.deque([Color.RED, Name("n")]), '["red","n"]', "TEXT"),
    (range(3), "[0,1,2]", "TEXT"),
    ([np.int8(1), np.array([1.5])], "[1,[1.5]]", "TEXT"),
    ({D("1.5"): 1, None: 2, (1, 2): 3}, '{"1.5":1,"null":2,"[1,2]":3}', "TEXT"),
    (np.bool_(True), 1, "INTEGER"),
    (np.int8(-1), -1, "INTEGER"),
    (np.uint64(2**63 - 1), 2**63 - 1, "INTEGER"),
    (np.float32(0.1), 0.10000000149011612, "REAL"),
    (np.float16(0.5), 0.5, "REAL"),
    (np.float64("nan"), None, ""),
    (np.str_("s"), "s", "TEXT"),
    (np.bytes_(b"s"), b"s", "BLOB"),
    (np.array(["a", None], object), '["a",null]', "TEXT"),
    (np.datetime64("2024-01-01T00:00:00.000000001"), "2024-01-01 00:00:00.000000001", "TEXT"),
    (np.timedelta64(-3, "s"), -3_000_000, "INTEGER"),
    (np.timedelta64(1, "D"), 86_400_000_000, "INTEGER"),
    (pd.Period("2024-01", "M"), "2024-01", "TEXT"),
    (pd.Interval(0, 1), "(0, 1]", "TEXT"),
    (np.datetime64("2024-01-01T00:00:00.5", "ms"), "2024-01-01 00:00:00.500000", "TEXT"),
    (np.datetime64("2024-01-01T00:00:00", "ns"), "2024-01-01 00:00:00", "TEXT"),
    (pd.NA, None, ""),
    (pd.NaT, None, ""),
    (pd.Timestamp("2024-01-01"), "2024-01-01 00:00:00", "TEXT"),
    (pd.Timestamp("2024-01-01 00:00:00.000000001", tz="UTC"), "2024-01-01 00:00:00.000000001+00:00", "TEXT"),
    (pd.Timedelta("1s"), 1_000_000, "INTEGER"),
]
STORABLE = [value for value in VALUES if not (isinstance(value[1], int) and value[1] >= 2**63)]

REFUSED: list[tuple[Any, str]] = [
    (2**63, "64 bits"),
    (-(2**63) - 1, "64 bits"),
    (np.uint64(2**63), "64 bits"),
    (dt.timedelta.max, "64 bits"),
    ("\ud800", "surrogate"),
    (["\udfff"], "surrogate"),
    (pathlib.PurePosixPath("\udcff"), "surrogate"),
    ({1, 2}, "set"),
    (frozenset(), "frozenset"),
    (Opaque(), "Opaque"),
    ([Opaque()], "Opaque"),
    (1j, "complex"),
    (np.complex64(1j), "complex64"),
    (np.longdouble(1), "longdouble"),
    (dt.time(1, tzinfo=PLUS_TWO), "time zone"),
    (dt.datetime(1, 1, 1, tzinfo=PLUS_TWO), "years"),
    (pd.Timedelta("1ns"), "microseconds"),
    (np.datetime64(1, "ps"), "digits"),
    (np.datetime64("12000-01-01", "s"), "years 0 to 9999"),
    (np.datetime64("-0001-01-01", "D"), "years 0 to 9999"),
    (np.timedelta64(1, "ns"), "microseconds"),
    (np.timedelta64(1, "M"), "months"),
    (len, "builtin_function_or_method"),
]


def made(data: Any, **options: Any) -> tuple[str, list[Any]]:
    """Returns the declared type and the values of the only column."""
    with closing(litepress.connect({"t": data}, **options)) as database:
        ((declared,),) = database.execute("SELECT type FROM pragma_table_info('t')").fetchall()
        return declared, [value for (value,) in database.execute("SELECT * FROM t ORDER BY rowid")]


def shapes(value: Any) -> list[Any]:
    """Returns the value as data of rows, and as data of columns."""
    return [[(value,)], [{"a": value}], {"a": [value, None]}]


@pytest.mark.parametrize("case", STORABLE, ids=lambda case: re.sub(" at 0x.*", "", repr(case[0]))[:40])
def test_values_are_stored_as_documented(case: tuple[Any, Any, str]) -> None:
    value, stored, declared = case
    for data in shapes(value):
        type_, values = made(data, columns=["a"])
        assert (type_, values[0]) == (declared, stored)
        assert type(values[0]) is type(stored)


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: ascii(case[0])[:40])
def test_values_without_a_form_are_refused(case: tuple[Any, str]) -> None:
    value, part = case
    for data in shapes(value):
        with pytest.raises(litepress.DataError, match=part) as caught:
            litepress.connect({"t": data}, columns=["a"])
        error = caught.value
        assert (error.table, error.column, error.record) == ("t", "a", 1)
        assert error.value is not None and error.value[:30] == repr(value)[:30]


def test_what_has_no_form_is_told_of_adapters() -> None:
    with pytest.raises(litepress.DataError, match=r"adapters=\{Opaque: function\}"):
        litepress.connect({"t": {"a": [Opaque()]}})


def test_what_holds_itself_is_refused() -> None:
    endless: list[Any] = [D(1)]
    endless.append(endless)
    with pytest.raises(litepress.DataError, match="nested"):
        litepress.connect({"t": {"a": [endless]}})


def test_adapters_come_first() -> None:
    class Child(Opaque):
        pass

    adapters: dict[type, Any] = {Opaque: lambda value: D("2.50"), bool: lambda value: "yes" if value else "no", dt.date: dt.date.toordinal}
    data = [(Child(),), (Opaque(),)]
    assert made(data, columns=["a"], adapters=adapters) == ("REAL", [2.5, 2.5])
    assert made({"a": [True, False, None]}, adapters=adapters) == ("TEXT", ["yes", "no", None])
    # Subclasses too: a datetime is a date.
    assert made([(dt.date(1, 1, 2),), (dt.datetime(1, 1, 3),)], columns=["a"], adapters=adapters) == ("INTEGER", [2, 3])


def test_adapters_of_plain_types() -> None:
    assert made({"a": [1, "x", 0.5]}, adapters={int: str, str: str.upper, float: lambda value: None})[1] == ["1", "X", None]
    assert made({"a": [1, None]}, adapters={object: lambda value: "all"})[1] == ["all", "all"]


def test_what_adapters_raise_comes_through() -> None:
    def fails(value: Any) -> Any:
        raise LookupError("no such thing")

    with pytest.raises(LookupError, match="no such thing"):
        litepress.connect({"t": {"a": [Opaque()]}}, adapters={Opaque: fails})
    with pytest.raises(litepress.DataError, match="Opaque"):
        litepress.connect({"t": {"a": [Opaque()]}}, adapters={Opaque: lambda value: value})
    with pytest.raises(TypeError, match="adapters"):
        litepress.connect({"t": {"a": [1]}}, adapters={"int": str})


def test_decimals_stay_exact() -> None:
    """In a column of decimals each is what it was: a double of all its digits, or its text."""
    chance = random.Random(7)
    for _ in range(50):
        digits, places = chance.randrange(1, 20), chance.randrange(12)
        values = [D(chance.randrange(-(10**digits), 10**digits)).scaleb(-places) for _ in range(50)]
        declared, stored = made({"a": values})
        assert declared == ("REAL" if all(isinstance(value, float) for value in stored) else "TEXT")
        for value, back in zip(values, stored):
            assert (D(f"{back:.15g}") if isinstance(back, float) else D(back)) == value


def test_decimals_beside_other_values() -> None:
    assert made({"a": [D("1.5"), 2, 0.5]}) == ("REAL", [1.5, 2.0, 0.5])
    assert made({"a": [D("1.5"), "x"]}) == ("TEXT", ["1.5", "x"])
    assert made({"a": [D("1.0000000000000000001"), 2]}) == ("", ["1.0000000000000000001", 2])
    assert made([(D("1.50"),)], schema="CREATE TABLE t (a TEXT)")[1] == ["1.50"]
    assert made([(D("1.50"),)], schema="CREATE TABLE t (a NUMERIC)")[1] == [1.5]


def test_json_reads_back() -> None:
    chance = random.Random(3)

    def nested(depth: int) -> Any:
        kind = chance.randrange(8 if depth else 6)
        plain = [None, True, chance.randrange(-(2**60), 2**60), chance.random(), "ä\"\\\n\x01\N{PILE OF POO}", ""]
        if kind < 6:
            return plain[kind]
        items = [nested(depth - 1) for _ in range(chance.randrange(4))]
        return items if kind == 6 else {f"k{at}": item for at, item in enumerate(items)}

    values = [[nested(4)] for _ in range(300)]
    assert [json.loads(text) for text in made({"a": values})[1]] == values


def test_a_masked_value_is_null(db: Path) -> None:
    """`numpy.ma.masked` ended with `AttributeError: attributes of masked are not writeable`, and a masked array stored its fill value."""
    masked = np.ma.array([1, 2], mask=[False, True])
    for data in ([{"a": 1}, {"a": np.ma.masked}], {"a": [1, np.ma.masked]}, {"a": masked}):
        litepress.write(db, {"t": data}, if_exists="overwrite")
        assert queried(db, "SELECT a FROM t") == [(1,), (None,)]
    litepress.write(db, {"t": [{"a": [1, np.ma.masked]}, {"a": {"x": masked}}]}, if_exists="overwrite")
    assert queried(db, "SELECT a FROM t") == [("[1,null]",), ('{"x":[1,null]}',)]
    with pytest.raises(litepress.DataError, match="t.a: record 2: an array with masked values") as caught:
        litepress.write(db, {"t": [{"a": np.ma.array([1])}, {"a": masked}]}, if_exists="overwrite")
    assert "filled()" in str(caught.value.advice)
