"""The writer: rows that arrive while the program runs, and every way in which it can end."""

from __future__ import annotations

import dataclasses
import gc
import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Literal, NamedTuple

import litepress
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from conftest import queried

METRICS = "CREATE TABLE metrics(name TEXT NOT NULL, value REAL NOT NULL)"
TWO = "CREATE TABLE a(id INTEGER PRIMARY KEY, t TEXT); CREATE TABLE b(x INT NOT NULL, y)"


def checked(db: Path | bytes) -> None:
    assert queried(db, "PRAGMA integrity_check") == [("ok",)]


def test_rows_one_by_one_and_many_at_once(db: Path) -> None:
    with litepress.create(db, METRICS) as writer:
        metrics = writer["metrics"]
        metrics.append(("foo", 1.0))
        metrics.append(["bar", 2])
        metrics.extend([("x", 0.5), ("y", 1.5)])
        metrics.extend({"name": ["c", "d"], "value": np.array([3.0, 4.0])})
        assert len(metrics) == 6
        assert not db.exists()
    assert queried(db, "SELECT rowid, * FROM metrics") == [
        (1, "foo", 1.0),
        (2, "bar", 2.0),
        (3, "x", 0.5),
        (4, "y", 1.5),
        (5, "c", 3.0),
        (6, "d", 4.0),
    ]
    assert writer.summary is not None
    assert (writer.summary.rows, writer.summary.tables, writer.summary.path) == (6, {"metrics": 6}, str(db))
    checked(db)


@dataclasses.dataclass
class Metric:
    name: str
    value: float


class Named(NamedTuple):
    value: float
    name: str


def test_rows_of_every_kind_beside_one_another(db: Path) -> None:
    with litepress.create(db, METRICS) as writer:
        metrics = writer["METRICS"]
        metrics.append({"value": 1.0, "name": "dict"})
        metrics.append(("tuple", 2.0))
        metrics.append(Metric("dataclass", 3.0))
        metrics.append(Named(4.0, "namedtuple"))
        metrics.append({"name": "dict again", "value": 5.0})
        metrics.extend(iter([Metric("iterator", 6.0)]))
        metrics.extend(pa.table({"value": [7.0], "name": ["arrow"]}))
        metrics.extend(pl.DataFrame({"name": ["polars"], "value": [8.0]}))
        metrics.extend(pd.DataFrame({"name": ["pandas"], "value": [9.0]}))
        metrics.extend([])
        metrics.extend(pa.table({"value": pa.array([], pa.float64()), "name": pa.array([], pa.string())}))
    names = ["dict", "tuple", "dataclass", "namedtuple", "dict again", "iterator", "arrow", "polars", "pandas"]
    assert queried(db, "SELECT * FROM metrics") == [(name, float(at)) for at, name in enumerate(names, 1)]


def test_a_row_that_changes_afterwards_is_stored_as_it_was(db: Path) -> None:
    row: list[Any] = ["x", 0.0]
    with litepress.create(db, METRICS) as writer:
        for number in range(3000):
            row[1] = number
            writer["metrics"].append(row)
    assert queried(db, "SELECT count(DISTINCT value) FROM metrics") == [(3000,)]


def test_tables_by_turns(db: Path) -> None:
    rows = 300_000
    with litepress.create(db, TWO, threads=2) as writer:
        a, b = writer["a"], writer["b"]
        for start in range(0, rows, 10_000):
            numbers = list(range(start, start + 10_000))
            b.extend([(n, f"y{n}") for n in numbers])
            a.extend(pa.table({"t": [f"a text that is not short: {n}" for n in numbers]}))
        assert (len(a), len(b)) == (rows, rows)
    checked(db)
    assert queried(db, "SELECT count(*), min(id), max(id), count(DISTINCT t) FROM a") == [(rows, 1, rows, rows)]
    assert queried(db, "SELECT count(*), sum(x), count(DISTINCT y) FROM b") == [(rows, sum(range(rows)), rows)]
    assert queried(db, f"SELECT y FROM b WHERE rowid = {rows}") == [(f"y{rows - 1}",)]


def mixed(target: Path, **arguments: Any) -> bytes:
    with litepress.create(target, TWO + "; CREATE INDEX i ON a(t)", if_exists="overwrite", **arguments) as writer:
        for start in range(0, 400_000, 50_000):
            text = "x" * 60
            writer["b"].extend({"x": range(start, start + 50_000), "y": [text] * 50_000})
            writer["a"].extend((n, f"{text}{n}") for n in range(start + 50_000, start, -1))
            writer["b"].append((start, None))
    return target.read_bytes()


def test_memory_threads_and_spills_do_not_show(db: Path) -> None:
    plenty = mixed(db, memory="1GiB", threads=2)
    assert plenty == mixed(db, memory="64MiB", threads=1)
    checked(db)


def test_an_exception_leaves_nothing(db: Path) -> None:
    for kind in [ValueError, KeyboardInterrupt, GeneratorExit, SystemExit]:
        with pytest.raises(kind), litepress.create(db, METRICS) as writer:
            writer["metrics"].extend([("x", float(n)) for n in range(200_000)])
            raise kind
        assert list(db.parent.iterdir()) == []
        with pytest.raises(ValueError, match="given up: it was aborted"):
            writer["metrics"].append(("x", 1.0))


def test_an_old_file_stays_until_the_new_one_is_whole(db: Path) -> None:
    with litepress.create(db, METRICS) as writer:
        writer["metrics"].append(("old", 1.0))
    with pytest.raises(litepress.TargetExistsError):
        litepress.create(db, METRICS)
    with pytest.raises(RuntimeError), litepress.create(db, METRICS, if_exists="overwrite") as writer:
        writer["metrics"].append(("new", 1.0))
        raise RuntimeError
    assert queried(db, "SELECT name FROM metrics") == [("old",)]
    with litepress.create(db, METRICS, if_exists="overwrite") as writer:
        writer["metrics"].append(("new", 1.0))
        assert queried(db, "SELECT name FROM metrics") == [("old",)]
    assert queried(db, "SELECT name FROM metrics") == [("new",)]


def test_closing_and_aborting(db: Path) -> None:
    writer = litepress.create(db, METRICS)
    writer["metrics"].append(("x", 1.0))
    assert writer.summary is None
    summary = writer.close()
    assert writer.close() is summary is writer.summary
    writer.abort()
    assert db.exists()
    for use in [lambda: writer["metrics"].append(("x", 1.0)), lambda: len(writer["metrics"])]:
        with pytest.raises(ValueError, match="the writer is closed"):
            use()
    with pytest.raises(ValueError, match="the writer is closed"):
        writer["metrics"].extend([("x", 1.0)])
    with litepress.create(db, METRICS, if_exists="overwrite") as aborted:
        aborted.abort()
        aborted.abort()
    with pytest.raises(ValueError, match="given up"):
        aborted.close()
    assert "given up" in repr(aborted) and "published" in repr(writer)
    assert queried(db, "SELECT count(*) FROM metrics") == [(1,)]


def test_tables_by_name(db: Path) -> None:
    with litepress.create(db, TWO) as writer:
        assert writer.tables == list(writer) == ["a", "b"]
        assert writer["A"].name == "a" and "B" in writer and "c" not in writer and 1 not in writer
        with pytest.raises(KeyError, match="no table 'c': the schema has a, b"):
            writer["c"]
        with pytest.raises(TypeError, match="litepress.create"):
            litepress.Writer()
        with pytest.raises(TypeError, match="from its writer"):
            litepress.TableWriter()
        assert bool(writer["a"]) and len(writer["a"]) == 0


def test_a_database_in_memory() -> None:
    for path in [None, ":memory:"]:
        with litepress.create(path, METRICS) as writer:
            writer["metrics"].extend([("x", float(n)) for n in range(100_000)])
            with pytest.raises(ValueError, match="close the writer first"):
                writer.to_bytes()
        assert queried(writer.to_bytes(), "SELECT count(*), sum(value) FROM metrics") == [(100_000, 4999950000.0)]
        assert writer.summary is not None and writer.summary.path is None


def test_the_bytes_of_a_file_are_in_the_file(db: Path) -> None:
    with litepress.create(db, METRICS) as writer:
        pass
    with pytest.raises(ValueError, match="the database is a file"):
        writer.to_bytes()
    checked(db)
    assert queried(db, "SELECT * FROM metrics") == []


def test_defaults_and_numbers_take_the_place_of_what_is_not_given(db: Path) -> None:
    schema = "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT DEFAULT 'none', b)"
    with litepress.create(db, schema) as writer:
        table = writer["t"]
        table.append({"b": 1})
        table.append({"b": 2, "a": "some"})
        table.extend(pa.table({"b": [3]}))
        table.append({"id": 10, "a": None})
        table.append((11, "x", b"y"))
    assert queried(db, "SELECT * FROM t") == [
        (1, "none", 1),
        (2, "some", 2),
        (3, "none", 3),
        (10, None, None),
        (11, "x", b"y"),
    ]


def test_a_default_may_be_another_in_every_row(db: Path) -> None:
    """A DEFAULT of random bytes was evaluated once for all rows that were converted together."""
    with litepress.create(db, "CREATE TABLE t(u TEXT PRIMARY KEY DEFAULT (hex(randomblob(8))), b) WITHOUT ROWID") as writer:
        table = writer["t"]
        for number in range(300):
            table.append({"b": number})
            if number % 100 == 0:
                table.append({"b": number, "u": f"own {number}"})
        table.extend(pa.table({"b": range(300)}))
        table.extend({"b": range(300)})
    assert queried(db, "SELECT count(DISTINCT u), count(CASE WHEN length(u) = 16 THEN 1 END) FROM t") == [(903, 900)]
    checked(db)


def test_a_row_that_is_refused_is_not_there(db: Path) -> None:
    with litepress.create(db, METRICS) as writer:
        metrics = writer["metrics"]
        metrics.append(("x", 1.0))
        for row in [("x",), ("x", 1.0, 2), {"name": "x", "other": 1}, ("x", object()), 5, "xy", None]:
            with pytest.raises((litepress.DataError, TypeError)):
                metrics.append(row)
            assert len(metrics) == 1
        with pytest.raises(litepress.SchemaError, match="lacks columns of the data: other"):
            metrics.extend(pa.table({"name": ["x"], "value": [1.0], "other": [1]}))
        with pytest.raises(TypeError, match="not data of a table"):
            metrics.extend(5)
        metrics.append(("y", 2.0))
    assert queried(db, "SELECT * FROM metrics") == [("x", 1.0), ("y", 2.0)]


def test_errors_count_the_rows_of_the_table(db: Path) -> None:
    with litepress.create(db, METRICS) as writer:
        writer["metrics"].extend([("x", 1.0)] * 5)
        writer["metrics"].extend(pa.table({"name": ["x"] * 5, "value": [1.0] * 5}))
        with pytest.raises(litepress.DataError) as caught:
            writer["metrics"].append(("x", object()))
        assert (caught.value.table, caught.value.column, caught.value.record) == ("metrics", "value", 11)


def test_an_iterator_that_raises_leaves_the_rows_before(db: Path) -> None:
    def rows() -> Iterator[tuple[str, float]]:
        yield "a", 1.0
        yield "b", 2.0
        raise LookupError("no more")

    with litepress.create(db, METRICS) as writer:
        with pytest.raises(LookupError, match="no more"):
            writer["metrics"].extend(rows())
        assert len(writer["metrics"]) == 2
        writer["metrics"].append(("c", 3.0))
    assert queried(db, "SELECT name FROM metrics") == [("a",), ("b",), ("c",)]


@pytest.mark.parametrize("rows", [1, 5000, 300_000])
def test_rows_that_break_a_rule_are_the_end_of_the_writer(db: Path, rows: int) -> None:
    with pytest.raises(litepress.ConstraintError) as caught, litepress.create(db, METRICS) as writer:
        writer["metrics"].extend(("x", 1.0) for _ in range(rows))
        writer["metrics"].append(("x", None))
        writer["metrics"].extend(("x", 1.0) for _ in range(rows))
    error = caught.value
    assert (error.table, error.column, error.record) == ("metrics", "value", rows + 1)
    assert (error.constraint, error.file) == ("NOT NULL", None)
    with pytest.raises(ValueError, match="given up: .*NOT NULL"):
        writer.close()
    assert list(db.parent.iterdir()) == []


def test_an_error_that_is_caught_within_the_block_is_not_forgotten_at_its_end(db: Path) -> None:
    with pytest.raises(ValueError, match="given up"), litepress.create(db, METRICS) as writer:
        try:
            writer["metrics"].extend(pa.table({"name": ["x"], "value": pa.array([None], pa.float64())}))
        except litepress.ConstraintError:
            pass
    assert not db.exists()


@pytest.mark.parametrize("rows", [10, 300_000])
def test_keys_that_come_twice(db: Path, rows: int) -> None:
    schema = "CREATE TABLE t(k TEXT UNIQUE, v)"
    data = [(f"key {n}", n) for n in range(rows)] + [("key 5", "again")]
    with pytest.raises(litepress.ConstraintError, match='on_conflict="ignore"') as caught:
        with litepress.create(db, schema) as writer:
            writer["t"].extend(data)
    assert (caught.value.table, caught.value.constraint) == ("t", "UNIQUE")
    assert list(db.parent.iterdir()) == []
    for policy, kept in [("ignore", 5), ("replace", "again")]:
        with litepress.create(db, schema, on_conflict=policy, if_exists="overwrite") as writer:
            writer["t"].extend(data)
        assert queried(db, "SELECT v FROM t WHERE k = 'key 5'") == [(kept,)]
        assert queried(db, "SELECT count(*) FROM t") == [(rows,)]


NUMBERED = [
    "id INTEGER PRIMARY KEY, a TEXT NOT NULL, b TEXT",
    "id INTEGER PRIMARY KEY, a TEXT, b TEXT UNIQUE",
    "id INTEGER PRIMARY KEY AUTOINCREMENT, a TEXT NOT NULL, b TEXT",
    "a TEXT, b TEXT, id INTEGER PRIMARY KEY AUTOINCREMENT",
]


def some_without_key(on_conflict: str, columns: str) -> Iterator[dict[str, int | str | None]]:
    """Yields rows of which every seventh has a key. With ``on_conflict="ignore"`` every fifth breaks a constraint."""
    for number in range(400):
        is_ignored = on_conflict == "ignore" and number % 5 == 1
        row: dict[str, int | str | None] = {"a": f"a{number}", "b": f"b{number}"}
        if is_ignored and "NOT NULL" in columns:
            row["a"] = None
        elif is_ignored:
            row["b"] = f"b{number - 1}"
        if number % 7 == 3:
            row["id"] = -number if number < 20 else 3 * number
        yield row


@pytest.mark.parametrize("columns", NUMBERED)
@pytest.mark.parametrize("on_conflict", ["abort", "ignore", "replace"])
def test_rows_without_their_key_get_the_next_one(
    db: Path, columns: str, on_conflict: Literal["abort", "ignore", "replace"]
) -> None:
    """They were numbered by their position: with keys that other rows had, and with gaps for rows that were ignored."""
    schema = f"CREATE TABLE t({columns})"
    rows = list(some_without_key(on_conflict, columns))
    with closing(sqlite3.connect(":memory:")) as sqlite:
        sqlite.execute(schema)
        for row in rows:
            places = ", ".join("?" * len(row))
            sqlite.execute(f"INSERT OR {on_conflict} INTO t({', '.join(row)}) VALUES ({places})", list(row.values()))
        expected = sqlite.execute("SELECT id, a, b FROM t ORDER BY id").fetchall()
    # With a table that is written first, the rows of this one wait in memory or a temporary file.
    for first in ["", "CREATE TABLE first(x);"]:
        with litepress.create(db, first + schema, on_conflict=on_conflict, if_exists="overwrite") as writer:
            for row in rows:
                writer["t"].append(row)
            if first:
                writer["first"].extend({"x": range(1000)})
        assert queried(db, "SELECT id, a, b FROM t ORDER BY id") == expected
        checked(db)


def test_rowids_that_ascend_and_that_do_not(db: Path) -> None:
    schema = "CREATE TABLE t(id INTEGER PRIMARY KEY, v)"
    ids = [*range(1, 200_001), *range(400_000, 200_000, -1)]
    with litepress.create(db, schema) as writer:
        writer["t"].extend({"id": ids, "v": ids})
    checked(db)
    assert queried(db, "SELECT count(*), sum(id = v) FROM t") == [(400_000, 400_000)]
    with pytest.raises(litepress.ConstraintError):
        with litepress.create(db, schema, if_exists="overwrite") as writer:
            writer["t"].extend({"id": [*ids, 7], "v": [*ids, 7]})


def test_tables_that_sqlite_fills_come_after_those_that_litepress_writes(db: Path) -> None:
    schema = (
        "CREATE VIRTUAL TABLE docs USING fts5(body); CREATE TABLE plain(a, b);"
        "CREATE TABLE made(a, b AS (a + 1) STORED)"
    )
    with litepress.create(db, schema) as writer:
        writer["docs"].extend([(f"some words {n}",) for n in range(20_000)])
        writer["made"].extend({"a": range(1000)})
        writer["plain"].extend({"a": range(200_000), "b": ["x" * 30] * 200_000})
    checked(db)
    assert queried(db, "SELECT count(*) FROM docs WHERE docs MATCH 'words'") == [(20_000,)]
    assert queried(db, "SELECT sum(b) FROM made") == [(sum(range(1, 1001)),)]
    with litepress.create(db, "CREATE TABLE made(a, b AS (a + 1) STORED)", if_exists="overwrite") as writer:
        writer["made"].extend({"a": range(1_000_000)})
    assert queried(db, "SELECT count(*), max(b) FROM made") == [(1_000_000, 1_000_000)]


def test_other_kinds_of_tables(db: Path) -> None:
    schema = (
        "CREATE TABLE w(k TEXT PRIMARY KEY, v) WITHOUT ROWID; CREATE TABLE s(i INT, a ANY) STRICT;"
        "CREATE TABLE n(id INTEGER PRIMARY KEY AUTOINCREMENT, v); CREATE INDEX by_v ON n(v)"
    )
    with litepress.create(db, schema, analyze=True, verify="full", page_size=1024) as writer:
        writer["w"].extend([(f"{n:06}", n) for n in reversed(range(50_000))])
        writer["s"].extend([(1, "x"), (2, 3)])
        writer["n"].extend({"v": range(1000)})
    checked(db)
    assert queried(db, "SELECT count(*) FROM w") == [(50_000,)]
    assert queried(db, "SELECT seq FROM sqlite_sequence") == [(1000,)]
    with pytest.raises(litepress.ConstraintError, match="2"), litepress.create(db, schema, if_exists="overwrite") as writer:
        writer["s"].extend([(1, "x"), ("no integer", 3)])
    checked(db)


def test_arguments_that_are_wrong(db: Path) -> None:
    for wrong in [{"page_size": 1000}, {"threads": 0}, {"memory": "1MiB"}, {"sync": "half"}, {"if_exists": "add"}]:
        with pytest.raises(ValueError):
            litepress.create(db, METRICS, **wrong)
    with pytest.raises(litepress.SchemaError):
        litepress.create(db, "CREATE TABLE t(")
    with pytest.raises(litepress.FileError):
        litepress.create(db.parent / "no" / "folder.db", METRICS)
    with pytest.raises(litepress.Error):
        with litepress.create(db, METRICS, temp_dir=db.parent / "no", memory="64MiB") as writer:
            writer["metrics"].append(("x", 1.0))
            writer["metrics"].extend(pa.table({"name": ["x" * 1000] * 1000, "value": [1.0] * 1000}))
            raise litepress.Error
    assert not db.exists()


def test_adapters_see_what_is_not_known(db: Path) -> None:
    class Point:
        def __init__(self, x: int, y: int) -> None:
            self.x, self.y = x, y

    adapters = {Point: lambda point: f"{point.x};{point.y}"}
    with litepress.create(db, "CREATE TABLE t(p)", adapters=adapters) as writer:
        writer["t"].append((Point(1, 2),))
        writer["t"].extend([{"p": Point(3, 4)}])
        writer["t"].extend({"p": [Point(5, 6)]})
    assert queried(db, "SELECT p FROM t") == [("1;2",), ("3;4",), ("5;6",)]


def test_a_writer_that_is_forgotten_gives_up_and_says_so(db: Path) -> None:
    for rows in [1, 300_000]:
        writer = litepress.create(db, METRICS)
        writer["metrics"].extend(("x", 1.0) for _ in range(rows))
        with pytest.warns(ResourceWarning, match="neither closed nor aborted"):
            del writer
            gc.collect()
        assert list(db.parent.iterdir()) == []


def test_a_program_that_ends_leaves_nothing(db: Path) -> None:
    program = f"""
        import litepress
        writer = litepress.create({str(db)!r}, {METRICS!r})
        writer["metrics"].extend(("x", 1.0) for _ in range(300_000))
    """
    run = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, timeout=60)
    assert run.returncode == 0, run.stderr
    assert list(db.parent.iterdir()) == []


def test_two_writers_at_once(db: Path) -> None:
    other = db.with_name("other.db")
    with litepress.create(db, METRICS) as one, litepress.create(other, METRICS) as two:
        for start in range(0, 200_000, 1000):
            one["metrics"].extend(("one", float(n)) for n in range(start, start + 1000))
            two["metrics"].extend(("two", float(n)) for n in range(start, start + 1000))
    for path, name in [(db, "one"), (other, "two")]:
        assert queried(path, "SELECT DISTINCT name, count(*) FROM metrics") == [(name, 200_000)]


def test_two_threads_one_writer(db: Path) -> None:
    with litepress.create(db, TWO) as writer:

        def fill(name: str) -> None:
            for n in range(20_000):
                writer["b"].append((n, name))
            writer["b"].extend((n, name) for n in range(20_000))
            writer["a"].extend(pa.table({"t": [name] * 20_000}))

        threads = [threading.Thread(target=fill, args=(f"thread {n}",)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    checked(db)
    assert queried(db, "SELECT y, count(*), sum(x) FROM b GROUP BY y ORDER BY y") == [
        (f"thread {n}", 40_000, 2 * sum(range(20_000))) for n in range(4)
    ]
    assert queried(db, "SELECT count(*) FROM a") == [(80_000,)]


def test_a_source_that_uses_the_writer_which_reads_it(db: Path) -> None:
    with litepress.create(db, METRICS) as writer:

        def rows() -> Iterator[tuple[str, float]]:
            yield "x", 1.0
            writer["metrics"].append(("y", 2.0))

        with pytest.raises(RuntimeError, match="append when it is done"):
            writer["metrics"].extend(rows())
        assert len(writer["metrics"]) == 1
    assert queried(db, "SELECT * FROM metrics") == [("x", 1.0)]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.parametrize("rows", [1, 300_000])
def test_a_forked_process_leaves_the_writer_alone(db: Path, rows: int) -> None:
    with litepress.create(db, METRICS) as writer:
        metrics = writer["metrics"]
        metrics.extend(("x", 1.0) for _ in range(rows))
        child = os.fork()
        if child == 0:
            status = 1
            try:
                refused = 0
                for use in [lambda: metrics.append(("y", 1.0)), lambda: len(metrics), writer.close, writer.abort]:
                    try:
                        use()
                    except RuntimeError:
                        refused += 1
                del metrics, writer, use
                gc.collect()
                status = 0 if refused == 4 else 2
            finally:
                os._exit(status)
        deadline = time.monotonic() + 30
        while (ended := os.waitpid(child, os.WNOHANG)) == (0, 0) and time.monotonic() < deadline:
            time.sleep(0.01)
        if ended == (0, 0):
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        assert ended[1] == 0
        metrics.append(("z", 2.0))
    assert queried(db, "SELECT count(*) FROM metrics") == [(rows + 1,)]


def test_ctrl_c_is_heard_while_rows_are_taken(db: Path) -> None:
    program = f"""
        import itertools, litepress, os, signal, threading
        threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        try:
            with litepress.create({str(db)!r}, {METRICS!r}) as writer:
                writer["metrics"].extend(itertools.repeat(("x", 1.0)))
        except KeyboardInterrupt:
            print("heard")
    """
    run = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, timeout=60, text=True)
    assert run.stdout == "heard\n", run.stderr
    assert list(db.parent.iterdir()) == []


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc")
def test_a_thousand_databases_leave_no_memory_behind(db: Path) -> None:
    class Value:
        pass

    value = Value()
    row = ("x", 1.0)
    kept = weakref.ref(value)

    def make(times: int) -> None:
        for _ in range(times):
            with litepress.create(db, METRICS, if_exists="overwrite", sync="off", adapters={Value: lambda _: 1.0}) as writer:
                writer["metrics"].append(row)
                writer["metrics"].append(("y", value))
                writer["metrics"].extend([row, row])

    make(200)
    gc.collect()
    before, references = resident_bytes(), sys.getrefcount(row)
    make(1000)
    gc.collect()
    assert sys.getrefcount(row) == references
    assert resident_bytes() - before < 16 << 20
    assert threading.active_count() == 1
    del value
    gc.collect()
    assert kept() is None
