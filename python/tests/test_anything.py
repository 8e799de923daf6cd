"""Whatever a program gives: any value, shape, argument or order of calls ends in a database, or in an exception that says why.

A panic of the extension is no ``Exception`` and a crash ends pytest: neither is caught here. ``LITEPRESS_FUZZ=100`` takes a
hundred times as many cases.
"""

from __future__ import annotations

import ctypes
import datetime
import decimal
import inspect
import math
import os
import pathlib
import sqlite3
import tempfile
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import litepress
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conftest import queried

TIMES = int(os.environ.get("LITEPRESS_FUZZ", "1"))
CASES = settings(
    max_examples=60 * TIMES,
    deadline=None,
    derandomize=TIMES == 1,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)


class Boom(Exception):
    """What the methods of an odd object raise."""


# An OverflowError is Python's own, of an int that does not fit.
ANSWERS = (litepress.Error, TypeError, ValueError, OverflowError, Boom)

NUMBERS = st.one_of(
    st.integers(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(),
    st.decimals(),
    st.fractions(),
    st.complex_numbers(),
    st.booleans(),
)
TIMES_AND_DAYS = st.one_of(
    st.dates(),
    st.datetimes(timezones=st.one_of(st.none(), st.just(datetime.timezone.utc))),
    st.times(),
    st.timedeltas(),
    st.builds(np.datetime64, st.integers(-(2**62), 2**62), st.sampled_from(["ns", "us", "s", "D", "M", "Y"])),
    st.builds(np.timedelta64, st.integers(-(2**62), 2**62), st.sampled_from(["ns", "us", "s", "D"])),
)
# Lone surrogates and NUL characters are among them.
TEXTS = st.one_of(st.text(st.characters(), max_size=20), st.sampled_from(["\0", "\ud800", "a\0b", "x" * 5000, "1", "1e5", ""]))
ATOMS = st.one_of(
    st.none(), NUMBERS, TIMES_AND_DAYS, TEXTS, st.binary(max_size=20), st.uuids(), st.just(object()), st.just(int), st.just(...)
)


def nested(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Returns containers of the values, some of which are odd ones."""
    lists = st.lists(values, max_size=4)
    return st.one_of(
        lists,
        lists.map(tuple),
        lists.map(iter),
        lists.map(generator),
        st.dictionaries(TEXTS, values, max_size=4),
        st.dictionaries(st.integers(), values, max_size=2),
        lists.map(array),
        st.builds(odd, st.dictionaries(st.sampled_from(METHODS), st.one_of(values, st.just(Boom)), min_size=1, max_size=4)),
    )


def generator(items: list[Any]) -> Iterator[Any]:
    yield from items


def array(items: list[Any]) -> Any:
    """Returns a column of objects, without a look at them."""
    made = np.empty(len(items), dtype=object)
    for at, item in enumerate(items):
        made[at] = item
    return made


METHODS = [
    "__iter__", "__next__", "__len__", "__getitem__", "__contains__", "__bool__", "__index__", "__int__", "__float__",
    "__str__", "__repr__", "__hash__", "__eq__", "__fspath__", "__array__", "__dataframe__", "__arrow_c_stream__",
    "__arrow_c_array__", "__arrow_c_schema__", "__getattr__", "keys", "items", "values", "dtype", "columns", "shape",
    "isoformat", "_fields", "model_fields",
]  # fmt: skip


def odd(answers: dict[str, Any]) -> Any:
    """Returns an object whose methods answer, or raise, what is given."""

    def method(answer: Any) -> Callable[..., Any]:
        def call(*_: Any, **__: Any) -> Any:
            if answer is Boom:
                raise Boom("by a method")
            return answer

        return call

    methods = {name: method(answer) for name, answer in answers.items()}
    # Hypothesis shows by it what failed.
    return type("Odd", (), {**methods, "_repr_pretty_": lambda _, printer, __: printer.text(f"odd({answers})")})()


ANYTHING = st.recursive(ATOMS, nested, max_leaves=12)
COLUMN_NAMES = st.one_of(st.sampled_from(["a", "b", "A", "rowid", "select", "ä", "a b", 'a"b', ""]), TEXTS)
ROWS = st.one_of(
    st.lists(st.one_of(st.tuples(ANYTHING, ANYTHING), st.dictionaries(COLUMN_NAMES, ANYTHING, max_size=3), ANYTHING), max_size=6),
    st.dictionaries(COLUMN_NAMES, st.lists(ANYTHING, max_size=4), max_size=4),
    ANYTHING,
)


def is_whole(path: pathlib.Path | bytes) -> None:
    """Fails if SQLite finds a fault in a database."""
    assert queried(path, "PRAGMA integrity_check") == [("ok",)]


@CASES
@given(ROWS, st.one_of(st.none(), st.just(["a", "b"]), st.lists(COLUMN_NAMES, max_size=3)))
def test_any_data(data: Any, columns: Any) -> None:
    try:
        made = litepress.to_bytes({"t": data}, columns=columns)
    except ANSWERS:
        return
    is_whole(made)


@CASES
@given(st.lists(st.tuples(NUMBERS, TIMES_AND_DAYS, TEXTS, st.binary(max_size=20), st.uuids()), min_size=1, max_size=6))
def test_values_are_stored_as_documented_or_refused(rows: list[tuple[Any, ...]]) -> None:
    """The table of values in ``_adapt.py`` is the judge."""
    try:
        made = litepress.to_bytes({"t": rows}, schema="CREATE TABLE t (number, time, text TEXT, bytes BLOB, id)")
    except ANSWERS as error:
        assert any(may_be_refused(value) for row in rows for value in row), error
        return
    for row, stored in zip(rows, queried(made, "SELECT * FROM t ORDER BY rowid")):
        assert stored[2:] == (row[2], row[3], str(row[4]))
        assert stored[0] == stored_number(row[0]) and isinstance(stored[0], type(stored_number(row[0])))
        assert stored[1] is None or isinstance(stored[1], (str, int))
        if type(row[1]) is datetime.date:
            assert stored[1] == row[1].isoformat()


def stored_number(value: Any) -> Any:
    if isinstance(value, decimal.Decimal):
        return None if value.is_nan() else float(value) if value.is_infinite() else format(value, "f")
    if isinstance(value, bool):
        return int(value)
    return None if isinstance(value, float) and math.isnan(value) else value


def may_be_refused(value: Any) -> bool:
    """Returns whether the table refuses a value, or its library may do so."""
    if isinstance(value, str):
        return any(0xD800 <= ord(letter) < 0xE000 for letter in value)
    if isinstance(value, int):
        return not -(2**63) <= value < 2**63
    return not isinstance(value, (float, bytes, uuid.UUID, datetime.date))


@CASES
@given(TEXTS.filter(lambda text: "\ud800" not in text), st.lists(st.tuples(ATOMS, ATOMS), max_size=3))
def test_any_schema(text: str, rows: Any) -> None:
    for schema in (text, f"CREATE TABLE t (a {text}, b)", f"CREATE TABLE t (a, b CHECK ({text}))", f"CREATE TABLE t (a, b); {text}"):
        try:
            made = litepress.to_bytes({"t": rows}, schema=schema)
        except ANSWERS:
            continue
        is_whole(made)


FUNCTIONS = [
    litepress.write, litepress.to_bytes, litepress.connect, litepress.load, litepress.generate, litepress.plan, litepress.profile,
    litepress.compare, litepress.check, litepress.index, litepress.reindex, litepress.merge, litepress.stitch, litepress.compact,
    litepress.create,
]  # fmt: skip


@CASES
@given(st.data())
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_any_arguments(function: Callable[..., Any], data: st.DataObject) -> None:
    """One or two arguments are anything, the others as they should be."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "in.csv").write_text("a,b\n1,x\n2,y\n")
        with closing(sqlite3.connect(folder / "in.db")) as database:
            database.executescript("CREATE TABLE t (a, b); INSERT INTO t VALUES (1, 'x'), (2, 'y'); CREATE INDEX ta ON t (a)")
        usual = {
            "path": folder / ("in.db" if function in EXISTING else "out.db"),
            "tables": {"t": [(1, "x")]},
            "files": [folder / "in.csv"],
            "databases": [folder / "in.db"],
            "parts": [folder / "in.db"],
            "other": folder / "in.db",
            "source": folder / "in.csv",
            "schema": "CREATE TABLE t (a INTEGER, b TEXT)",
            "rows": 10,
            "indexes": ["CREATE INDEX more ON t (b)"],
            "temp_dir": folder,
        }
        named = {name: usual[name] for name in inspect.signature(function).parameters if name in usual}
        known = [name for name in inspect.signature(function).parameters if name not in NOT_DRAWN]
        chosen = data.draw(st.lists(st.sampled_from(known), max_size=2, unique=True)) if known else []
        named |= {name: data.draw(st.one_of(WORDS, ANYTHING), label=name) for name in chosen}
        before = os.getcwd()
        # Relative paths may be among the arguments.
        os.chdir(folder)
        try:
            made = function(**named)
            if isinstance(made, litepress.Writer):
                made.abort()
            elif isinstance(made, sqlite3.Connection):
                made.close()
        except ANSWERS:
            pass
        finally:
            os.chdir(before)
        left = [path.name for path in folder.rglob("*") if ".litepress" in path.name]
        assert left == []


EXISTING = (litepress.index, litepress.reindex, litepress.compact, litepress.check, litepress.profile, litepress.compare)
# A path may be any on the machine, and a function of progress writes where it wants.
NOT_DRAWN = ("path", "progress", "factory", "arguments", "html", "copy", "into", "rejects", "temp_dir")
WORDS = st.sampled_from(["a", "b", "t", "fail", "replace", "append", "ignore", "full", "off", 0, 1, -1, 512, "64MiB", True, ("a", "b"), {}])


@CASES
@given(st.lists(st.tuples(st.sampled_from(["append", "extend", "len", "close", "abort", "within"]), ROWS), max_size=8))
def test_any_order_of_calls_of_a_writer(calls: list[tuple[str, Any]]) -> None:
    writer = litepress.create(None, "CREATE TABLE t (a, b)")

    def within(data: Any) -> Iterator[Any]:
        """Uses the writer whose caller takes these rows."""
        yield (1, 2)
        writer["t"].append((3, 4))
        yield data
        writer.close()
        yield (5, 6)

    for call, data in calls:
        try:
            if call == "append":
                writer["t"].append(data)
            elif call == "extend":
                writer["t"].extend(data)
            elif call == "within":
                writer["t"].extend(within(data))
            elif call == "len":
                assert len(writer["t"]) >= 0
            elif call == "close":
                writer.close()
                is_whole(writer.to_bytes())
            else:
                writer.abort()
        # A writer in use by the rows that it takes says so by a RuntimeError.
        except (*ANSWERS, RuntimeError):
            pass
    writer.abort()


def test_arrays_without_capsules() -> None:
    """An empty tuple was an IndexError that named nothing."""
    for answer in ((), (1,), (1, 2, 3), None, "ab"):
        with pytest.raises(TypeError, match="capsule"):
            litepress.to_bytes({"t": odd({"__arrow_c_array__": answer})})


@pytest.mark.parametrize("name", [b"arrow_array_stream", b"arrow_array", b"arrow_schema", b"other"])
def test_capsules_that_hold_nothing(name: bytes) -> None:
    """Structures of zeros are released ones: whoever gives them has nothing."""
    memory = ctypes.create_string_buffer(512)
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    capsule = new(ctypes.addressof(memory), name, None)
    for answers in ({"__arrow_c_stream__": capsule}, {"__arrow_c_array__": (capsule, capsule)}, {"__arrow_c_array__": capsule}):
        with pytest.raises(ANSWERS):
            litepress.to_bytes({"t": odd(answers)})
        with pytest.raises(ANSWERS):
            litepress.to_bytes({"t": {"a": odd(answers)}})
