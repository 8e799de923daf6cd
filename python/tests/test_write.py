"""`write`, `to_bytes` and `connect`: their databases, their refusals, and the files that they leave behind."""

from __future__ import annotations

import _thread
import gc
import os
import pickle
import sqlite3
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import litepress
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from conftest import queried

USER = "CREATE TABLE user (id INTEGER PRIMARY KEY, area TEXT NOT NULL, age INT CHECK (age < 200));"


def test_tables_have_names_keys_indexes_and_types(db: Path) -> None:
    summary = litepress.write(
        db,
        {
            "user": [{"id": 1, "area": "x", "code": 7}, {"id": 2, "area": "y", "code": 8}],
            "visit": [{"user": 2, "page": "a"}],
        },
        primary_key={"user": "id", "visit": ("user", "page")},
        without_rowid=True,
        indexes={"user": ["area", ("code", "area")]},
        unique={"user": [("area",)]},
        types={"user.code": "TEXT"},
        not_null=["page"],
        foreign_keys={"visit.user": "user.id"},
        analyze=True,
        verify="full",
    )
    assert summary.tables == {"user": 2, "visit": 1} and summary.rows == 3 and summary.path == str(db)
    assert summary.bytes == db.stat().st_size == summary.pages * 4096
    assert queried(db, "SELECT * FROM user") == [(1, "x", "7"), (2, "y", "8")]
    assert queried(db, "SELECT name, pk FROM pragma_table_info('visit')") == [("user", 1), ("page", 2)]
    assert queried(db, "SELECT wr FROM pragma_table_list('user')") == [(1,)]
    assert len(queried(db, "SELECT * FROM pragma_index_list('user')")) == 4
    assert queried(db, "SELECT \"table\", \"to\" FROM pragma_foreign_key_list('visit')") == [("user", "id")]
    assert queried(db, "SELECT count(*) > 0 FROM sqlite_stat1") == [(1,)]


def test_a_bare_value_is_the_only_table(tmp_path: Path) -> None:
    litepress.write(tmp_path / "user.db", pa.table({"id": [1]}))
    assert queried(tmp_path / "user.db", "SELECT id FROM user") == [(1,)]
    litepress.write(tmp_path / "other.db", [(1, "x", 30)], schema=USER)
    assert queried(tmp_path / "other.db", "SELECT * FROM user") == [(1, "x", 30)]
    with pytest.raises(ValueError, match="which one"):
        litepress.write(tmp_path / "no.db", [(1,)], schema="CREATE TABLE a (b); CREATE TABLE c (d)")
    with pytest.raises(ValueError, match="name"):
        litepress.to_bytes([{"a": 1}])


def test_a_schema_is_sql_or_a_file(tmp_path: Path, db: Path) -> None:
    file = tmp_path / "user.sql"
    file.write_text(USER)
    for schema in (USER, file):
        litepress.write(db, [{"id": 5, "area": "x"}], schema=schema, if_exists="overwrite")
        assert queried(db, "SELECT * FROM user") == [(5, "x", None)]


def test_a_key_that_the_data_do_not_have_is_counted(db: Path) -> None:
    schema = "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b DEFAULT 'gone')"
    for data in ([{"a": "x"}, {"a": "y"}], {"a": ["x", "y"]}, pa.table({"a": ["x", "y"]})):
        litepress.write(db, {"t": data}, schema=schema, if_exists="overwrite")
        assert queried(db, "SELECT * FROM t") == [(1, "x", "gone"), (2, "y", "gone")]


def test_a_default_may_be_another_in_every_row(db: Path) -> None:
    """A DEFAULT of random bytes was evaluated once: all rows had the same key, and the run failed."""
    for rule in ("", " WITHOUT ROWID", " STRICT"):
        schema = f"CREATE TABLE t (u TEXT PRIMARY KEY DEFAULT (hex(randomblob(8))), a INT){rule}; CREATE INDEX i ON t (a, u)"
        for data in ([{"a": 1}] * 500, {"a": [1] * 500}, pa.table({"a": [1] * 500})):
            litepress.write(db, {"t": data}, schema=schema, if_exists="overwrite", verify="full")
            assert queried(db, "SELECT count(DISTINCT u), min(length(u)) FROM t") == [(500, 16)]
    with pytest.raises(litepress.SchemaError, match=r"its default calls last_insert_rowid\(\)"):
        litepress.to_bytes({"t": {"a": [1]}}, schema="CREATE TABLE t (a, b DEFAULT (last_insert_rowid()))")


def test_numbers_in_front_of_a_nul_are_counted(db: Path) -> None:
    """A numeric column kept such a text, which SQLite calls a fault of the file, or cut it without a word."""
    for column in ("n NUMERIC", "n NUMERIC, g AS (1) STORED"):
        schema, data = f"CREATE TABLE t ({column})", {"t": {"n": ["5\x006", "7\0", "7", "x\0"]}}
        summary = litepress.write(db, data, schema=schema, if_exists="overwrite", verify="full")
        assert summary.details["cut_texts"] == 2
        assert [value for (value,) in queried(db, "SELECT n FROM t")] == [5, 7, 7, "x\0"]
        with pytest.warns(UserWarning, match="cut 2 texts in numeric columns at a NUL"):
            litepress.to_bytes(data, schema=schema)
        with litepress.create(db, schema, if_exists="overwrite") as writer:
            writer["t"].append(("5\x006",))
            writer["t"].extend(pa.table({"n": ["7\0", "7"]}))
        assert writer.summary is not None and writer.summary.details["cut_texts"] == 2
        assert queried(db, "SELECT n FROM t") == [(5,), (7,), (7,)]


def test_columns_of_a_schema_are_matched_by_name(db: Path) -> None:
    litepress.write(db, {"user": pa.table({"age": [3], "id": [9], "AREA": ["x"]})}, schema=USER)
    assert queried(db, "SELECT * FROM user") == [(9, "x", 3)]
    for data in ({"id": [1], "area": ["x"], "colour": ["red"]}, [{"id": 1, "area": "x", "colour": "red"}]):
        with pytest.raises(litepress.Error, match="colour"):
            litepress.write(db, {"user": data}, schema=USER, if_exists="overwrite")


@pytest.mark.parametrize(
    ("data", "fields"),
    [
        ([(1, "x", 3), (2, None, 4)], {"record": 2, "column": "area", "constraint": "NOT NULL"}),
        ([(1, "x", 3), (1, "y", 4)], {"constraint": "UNIQUE"}),
        ([(1, "x", 3), (2, "y", 400)], {"constraint": "CHECK"}),
        ([(1, "x", 3), ("two", "y", 4)], {"record": 2, "column": "id"}),
        ([(1, "x", 3), (2, "y", 2**63)], {"record": 2, "column": "age"}),
        ([(1, "x", 3), (2, "y", object())], {"record": 2, "column": "age"}),
        ([(1, "x", 3), (2, "y")], {"record": 2}),
        (pa.table({"id": [1, 2], "area": ["x", None]}), {"record": 2, "column": "area", "constraint": "NOT NULL"}),
        ({"id": [1, 2], "area": ["x", "\ud800"]}, {"record": 2, "column": "area"}),
    ],
)
def test_a_wrong_row_is_named_and_nothing_is_lost(data: Any, fields: dict[str, Any], db: Path) -> None:
    db.write_bytes(litepress.to_bytes({"old": {"a": [1]}}))
    before = db.read_bytes()
    with pytest.raises(litepress.DataError) as caught:
        litepress.write(db, {"user": data}, schema=USER, if_exists="overwrite")
    error = caught.value
    assert error.table == "user" and error.file is None
    assert {name: getattr(error, name) for name in fields} == fields
    assert db.read_bytes() == before
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy), copy.record) == (type(error), str(error), error.record)


def test_conflicts_are_settled(db: Path) -> None:
    rows = [(1, "first", 1), (2, "x", 1), (1, "last", 2)]
    for how, expected in (("ignore", "first"), ("replace", "last")):
        litepress.write(db, {"user": rows}, schema=USER, on_conflict=how, if_exists="overwrite")
        assert queried(db, "SELECT area FROM user WHERE id = 1") == [(expected,)]
    with pytest.raises(litepress.ConstraintError, match="on_conflict"):
        litepress.write(db, {"user": rows}, schema=USER, if_exists="overwrite")


def test_the_target_is_not_replaced_unasked(db: Path, tmp_path: Path) -> None:
    litepress.write(db, {"t": {"a": [1]}})
    with pytest.raises(FileExistsError) as caught:
        litepress.write(db, {"t": {"a": [2]}})
    assert isinstance(caught.value, litepress.TargetExistsError) and "if_exists" in str(caught.value)
    assert queried(db, "SELECT a FROM t") == [(1,)]
    with pytest.raises(OSError):
        litepress.write(tmp_path / "no" / "such" / "folder.db", {"t": {"a": [1]}})


@pytest.mark.parametrize(
    "data", [None, 7, "text", b"bytes", {"a": 1}, {"a": [1], "b": [1, 2]}, [1, 2], [(1, 2)], object(), {}, [[]]]
)
def test_what_is_no_data_is_refused(data: Any, db: Path) -> None:
    with pytest.raises((TypeError, ValueError)):
        litepress.write(db, {"t": data})
    assert not db.exists()


@pytest.mark.parametrize(
    "wrong",
    [
        {"nonsense": 1},
        {"if_exists": "maybe"},
        {"on_conflict": "pray"},
        {"sync": True},
        {"threads": 0},
        {"threads": "many"},
        {"page_size": 1000},
        {"memory": "1 potato"},
        {"memory": 5},
        {"primary_key": 5},
        {"primary_key": "nobody"},
        {"indexes": ["nobody"]},
        {"types": {"a": "TEXT)"}},
        {"types": ["a"]},
        {"schema": "CREATE TABEL t (a)"},
        {"schema": 5},
        {"progress": "yes"},
        {"adapters": {"int": str}},
        {"strict": "no"},
    ],
)
def test_wrong_arguments_are_refused_as_python_does(wrong: dict[str, Any], db: Path) -> None:
    with pytest.raises((TypeError, ValueError)) as caught:
        litepress.write(db, {"t": {"a": [1]}}, **wrong)
    assert "--" not in str(caught.value)
    assert not db.exists()


def test_no_rows_make_an_empty_table(db: Path) -> None:
    empty = pa.table({"a": pa.array([], pa.int64()), "b": pa.array([], pa.string())})
    for data in (empty, {"a": [], "b": []}, {"a": np.array([], "i8"), "b": []}):
        litepress.write(db, {"t": data}, if_exists="overwrite")
        assert queried(db, "SELECT name FROM pragma_table_info('t')") == [("a",), ("b",)]
        assert queried(db, "SELECT count(*) FROM t") == [(0,)]
    litepress.write(db, {"t": iter([])}, schema="CREATE TABLE t (a)", if_exists="overwrite")
    litepress.write(db, {"t": []}, columns=["a"], if_exists="overwrite")
    assert queried(db, "SELECT count(*) FROM t") == [(0,)]
    for nothing in (pa.table({}), []):
        with pytest.raises((ValueError, litepress.Error), match="column"):
            litepress.write(db, {"t": nothing}, if_exists="overwrite")


def test_names_that_occur_twice_are_refused(db: Path) -> None:
    twice = pa.table([pa.array([1]), pa.array([2])], names=["a", "A"])
    same = pa.table([pa.array([1]), pa.array([2])], names=["a", "a"])
    for data in (twice, same, {"a": [1], "A": [2]}, [{"a": 1, "A": 2}]):
        with pytest.raises(ValueError, match="two columns|one name"):
            litepress.write(db, {"t": data})


def test_huge_values(db: Path) -> None:
    text, blob = "ä" * 40_000_000, bytes(range(256)) * 100_000
    for data in ([(text, blob)], {"a": [text], "b": [blob]}, pa.table({"a": [text], "b": [blob]})):
        columns = ["a", "b"] if isinstance(data, list) else None
        litepress.write(db, {"t": data}, columns=columns, if_exists="overwrite")
        assert queried(db, "SELECT a, b FROM t") == [(text, blob)]


def test_what_a_generator_raises_comes_through(db: Path) -> None:
    class Mine(Exception):
        pass

    def rows(count: int) -> Iterator[tuple[int, str]]:
        yield from ((number, "text") for number in range(count))
        raise Mine("enough")

    for count in (0, 10, 500_000):
        with pytest.raises(Mine, match="enough"):
            litepress.write(db, {"t": rows(count)}, columns=["a", "b"])
        assert not db.exists()


def test_rows_are_taken_in_the_calling_thread_and_one_piece_at_a_time(db: Path) -> None:
    threads = set()

    def rows() -> Iterator[tuple[int, str]]:
        for number in range(300_000):
            threads.add(threading.get_ident())
            yield number, "some text"

    litepress.write(db, {"t": rows()}, columns=["a", "b"])
    assert threads == {threading.get_ident()}


@pytest.mark.parametrize("is_arrow", [False, True])
def test_ctrl_c_is_heard(is_arrow: bool, db: Path) -> None:
    def rows() -> Iterator[tuple[int, str]]:
        number = 0
        while True:
            yield number, "text"
            number += 1

    schema = pa.schema({"a": pa.int64()})
    batch = pa.record_batch({"a": range(1000)})

    def batches() -> Iterator[pa.RecordBatch]:
        while True:
            yield batch

    data = pa.RecordBatchReader.from_batches(schema, batches()) if is_arrow else rows()
    timer = threading.Timer(0.5, _thread.interrupt_main)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        litepress.write(db, {"t": data}, columns=None if is_arrow else ["a", "b"])
    timer.join()
    assert not db.exists()


def test_progress_is_told(db: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told: list[litepress.Progress] = []
    litepress.write(db, {"t": {"a": np.arange(100_000)}}, progress=told.append)
    assert told[-1].rows == 100_000
    litepress.write(db, {"t": {"a": [1]}}, progress=True, if_exists="overwrite")
    assert "1 rows" in capsys.readouterr().err

    def fails(_: litepress.Progress) -> None:
        raise RuntimeError("not a good time")

    with pytest.raises(RuntimeError, match="good time"):
        litepress.write(db, {"t": {"a": [1]}}, progress=fails, if_exists="overwrite")


def test_two_at_once(tmp_path: Path) -> None:
    def work(number: int) -> None:
        rows = ((number, f"text {row}") for row in range(50_000))
        litepress.write(tmp_path / f"{number}.db", {"t": rows}, columns=["a", "b"], threads=2)

    workers = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    for number in range(4):
        assert queried(tmp_path / f"{number}.db", "SELECT min(a), max(a), count(*) FROM t") == [(number, number, 50_000)]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_children_of_a_fork_can_write(tmp_path: Path) -> None:
    litepress.write(tmp_path / "parent.db", {"t": {"a": [1]}})
    child = os.fork()
    if child == 0:
        try:
            litepress.write(tmp_path / "child.db", {"t": {"a": np.arange(100_000)}})
            os._exit(0)
        except BaseException:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    assert status == 0
    assert queried(tmp_path / "child.db", "SELECT count(*) FROM t") == [(100_000,)]


def test_bytes_are_the_file(db: Path) -> None:
    tables = {"t": pa.table({"a": range(5000), "b": [str(number) for number in range(5000)]})}
    litepress.write(db, tables, primary_key="a", indexes=["b"])
    data = litepress.to_bytes(tables, primary_key="a", indexes=["b"])
    assert isinstance(data, bytes) and data == db.read_bytes()


def test_connections_are_to_a_database_of_their_own() -> None:
    with closing(litepress.connect({"t": {"a": [3, 1, 2]}}, indexes=["a"])) as database:
        assert database.execute("SELECT a FROM t ORDER BY a").fetchall() == [(1,), (2,), (3,)]
        database.execute("INSERT INTO t VALUES (4)")
        database.commit()
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert isinstance(database, sqlite3.Connection)


def test_threads_and_memory_do_not_show(db: Path) -> None:
    tables = {"t": {"a": np.random.default_rng(1).integers(0, 10**9, 200_000), "b": np.arange(200_000) / 3}}
    made = {litepress.to_bytes(tables, indexes=["a"], threads=threads, memory=memory)
            for threads in (1, 2, 7) for memory in ("64MiB", "1GiB")}
    assert len(made) == 1


def resident() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc tells")
def test_a_thousand_small_databases_leave_nothing() -> None:
    table, rows = pa.table({"a": [1, 2], "b": ["x", None]}), [(object(), 1)]
    row = ("text", 3)

    def once() -> None:
        litepress.to_bytes({"t": table, "u": [row, row], "v": {"a": [1.5, None]}}, columns={"u": ["a", "b"]})
        with pytest.raises(litepress.DataError):
            litepress.to_bytes({"t": rows}, columns=["a", "b"])

    for _ in range(1000):
        once()
    gc.collect()
    before, references, threads = resident(), sys.getrefcount(row), len(os.listdir("/proc/self/task"))
    started = time.monotonic()
    for _ in range(1000):
        once()
    gc.collect()
    assert sys.getrefcount(row) == references
    assert len(os.listdir("/proc/self/task")) <= threads
    assert resident() - before < 16 << 20, f"after {time.monotonic() - started:.1f} s"


def in_time(seconds: float, function: Any) -> Any:
    """Calls a function. Interrupts the main thread, and so fails the test, if it takes longer than ``seconds``."""
    timer = threading.Timer(seconds, _thread.interrupt_main)
    timer.start()
    try:
        return function()
    finally:
        timer.cancel()
        timer.join()


@pytest.mark.parametrize("kind", ["rows", "columns", "arrow beside rows"])
def test_a_failure_ends_the_supply_of_rows(kind: str, db: Path) -> None:
    """The engine had failed, but its full channel still existed: the caller waited forever to send the next piece."""
    count = 1_000_000
    values = [None if number == 10 else number for number in range(count)]
    data: dict[str, Any] = {"t": ((value,) for value in values)}
    if kind == "columns":
        data = {"t": {"a": values}}
    elif kind != "rows":
        data = {"t": pa.table({"a": pa.array([None], pa.int64())}), "u": ((number,) for number in range(count))}
    schema = "CREATE TABLE t (a NOT NULL); CREATE TABLE u (a);"
    with pytest.raises(litepress.ConstraintError, match="NOT NULL"):
        in_time(60, lambda: litepress.write(db, data, schema=schema))
    assert not db.exists()


def test_a_transaction_of_this_program_keeps_its_locks(db: Path) -> None:
    """Opening and closing the file dropped the locks of an open transaction: another program wrote into its middle."""
    litepress.write(db, {"t": {"a": [1]}})
    with closing(sqlite3.connect(db, isolation_level=None)) as database:
        database.execute("BEGIN IMMEDIATE")
        database.execute("INSERT INTO t VALUES (2)")
        for call in (
            lambda: litepress.check(db),
            lambda: litepress.plan(db, table="t"),
            lambda: litepress.load(db.with_name("copy.db"), db),
            lambda: litepress.write(db, {"t": {"a": [1]}}, if_exists="overwrite"),
            lambda: litepress.create(db, "CREATE TABLE t (a)", if_exists="overwrite"),
        ):
            with pytest.raises(litepress.TargetError, match="this program itself"):
                call()
        program = f"import sqlite3; sqlite3.connect({str(db)!r}, timeout=0).execute('INSERT INTO t VALUES (3)')"
        other = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
        assert "database is locked" in other.stderr
        database.execute("COMMIT")
    assert litepress.check(db).ok
    assert queried(db, "SELECT a FROM t") == [(1,), (2,)]


def test_a_progress_function_that_fails_at_the_end_does_not_deny_the_database(
    db: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last call came after the file got its name: an exception there claimed that nothing had happened."""
    calls: list[litepress.Progress] = []
    unraisable: list[Any] = []

    def fails_later(progress: litepress.Progress) -> None:
        calls.append(progress)
        if progress.rows:
            raise RuntimeError("too late")

    monkeypatch.setattr(sys, "unraisablehook", unraisable.append)
    litepress.write(db, {"t": {"a": [1]}}, progress=fails_later)
    assert [str(told.exc_value) for told in unraisable] == ["too late"]
    assert calls[0].rows == 0 and queried(db, "SELECT a FROM t") == [(1,)]


def test_what_a_schema_says_is_not_said_beside_it(db: Path) -> None:
    """Keys, indexes and types beside a schema were ignored in silence."""
    for option in ({"primary_key": "a"}, {"indexes": ["zz"]}, {"strict": True}, {"types": {"a": "TEXT"}}):
        with pytest.raises(ValueError, match="has no effect: schema= defines the tables"):
            litepress.write(db, {"t": {"a": [1]}}, schema="CREATE TABLE t (a)", **option)


def test_the_index_of_a_frame_is_a_column_where_it_has_a_name(db: Path) -> None:
    """`set_index("id")` lost the ids 1, 2, 3, which pandas keeps as a range, and kept 1, 2, 4."""
    for ids in ([1, 2, 3], [1, 2, 4]):
        frame = pd.DataFrame({"id": ids, "a": ["x", "y", "z"]})
        litepress.write(db, {"t": frame.set_index("id")}, if_exists="overwrite")
        assert queried(db, "SELECT id, a FROM t") == list(zip(ids, "xyz"))
        litepress.write(db, {"t": frame.sort_values("a", ascending=False)}, index=False, if_exists="overwrite")
        assert queried(db, "SELECT * FROM t") == list(zip(ids, "xyz"))[::-1]


def test_tables_of_one_name_are_refused(db: Path) -> None:
    """The rows of both went into one table."""
    with pytest.raises(ValueError, match="one name"):
        litepress.write(db, {"User": {"a": [1]}, "user": {"b": [2]}})
    rows = iter([(1,)])
    with pytest.raises(ValueError, match="only once"):
        litepress.write(db, {"t": rows, "u": rows}, columns=["a"])


def test_objects_in_a_polars_frame_are_values(db: Path) -> None:
    """polars exports the addresses of objects: these were stored as blobs."""
    frame = pl.DataFrame({"o": pl.Series([uuid.UUID(int=1), [1]], dtype=pl.Object), "n": [1, None]})
    litepress.write(db, {"t": frame})
    assert queried(db, "SELECT * FROM t") == [(str(uuid.UUID(int=1)), 1), ("[1]", None)]
    with pytest.raises(TypeError, match="collect"):
        litepress.write(db, {"t": pl.LazyFrame({"a": [1]})})


def test_other_forms_of_arrow_data(db: Path) -> None:
    litepress.write(db, {"t": pa.table({"a": pa.array([2**64 - 1], pa.uint64())})}, store_as={"a": "text"})
    assert queried(db, "SELECT a FROM t") == [(str(2**64 - 1),)]
