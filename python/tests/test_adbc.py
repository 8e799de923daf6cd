"""The ADBC driver: ingests of pandas, polars, DuckDB and pyarrow, transactions, SQL, and what adbc_driver_sqlite answers."""

from __future__ import annotations

import datetime as dt
import decimal
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import adbc_driver_litepress
import adbc_driver_litepress.dbapi as dbapi
import adbc_driver_manager.dbapi
import adbc_driver_sqlite.dbapi
import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from conftest import queried

COLUMNS = {"id": [1, 2, 3], "name": ["Ada", None, "Grace"], "score": [0.5, 2.0, None]}
ROWS = [(1, "Ada", 0.5), (2, None, 2.0), (3, "Grace", None)]
TABLE = pa.table(COLUMNS)


def connected(db: Path | str | None, **options: str) -> Any:
    """Returns a connection with options of litepress, which closes itself."""
    return dbapi.connect(db, {f"litepress.{name}": value for name, value in options.items()})


def way(connection: Any) -> str:
    return connection.adbc_connection.get_option("litepress.way")


def ingested(db: Path, data: Any, name: str = "t", mode: str = "create", **options: str) -> int:
    """Ingests data in a transaction and returns the number of rows."""
    with connected(db, **options) as connection, connection.cursor() as cursor:
        rows = cursor.adbc_ingest(name, data, mode=mode)
        connection.commit()
    assert queried(db, "PRAGMA integrity_check") == [("ok",)]
    return rows


def test_a_new_database_appears_with_the_commit(db: Path) -> None:
    with connected(db) as connection, connection.cursor() as cursor:
        assert cursor.adbc_ingest("t", TABLE) == 3
        assert not db.exists()
        cursor.execute("SELECT * FROM t ORDER BY id")
        assert cursor.fetchall() == ROWS
        connection.commit()
        assert way(connection) == "print"
        assert queried(db, "SELECT * FROM t") == ROWS
        cursor.execute("SELECT count(*) FROM t")
        assert cursor.fetchone() == (3,)


def test_autocommit_publishes_each_ingest(db: Path) -> None:
    with dbapi.connect(db, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.adbc_ingest("t", TABLE)
        assert queried(db, "SELECT * FROM t") == ROWS
        cursor.adbc_ingest("u", TABLE)
        assert way(connection) == "copy"
        cursor.adbc_ingest("t", TABLE, mode="append")
        assert queried(db, "SELECT count(*) FROM t UNION ALL SELECT count(*) FROM u") == [(6,), (3,)]


@pytest.mark.parametrize("ends", ["rollback", "close", "error"])
def test_nothing_is_left_without_a_commit(db: Path, ends: str) -> None:
    connection = connected(db)
    with connection.cursor() as cursor:
        cursor.adbc_ingest("t", TABLE)
        cursor.execute("CREATE INDEX i ON t (name)")
        if ends == "error":
            with pytest.raises(dbapi.Error):
                cursor.adbc_ingest("t", TABLE)
    if ends == "rollback":
        connection.rollback()
    connection.close()
    assert list(db.parent.iterdir()) == []


def test_a_rollback_leaves_what_was_there(db: Path) -> None:
    ingested(db, TABLE)
    before = db.read_bytes()
    with connected(db) as connection, connection.cursor() as cursor:
        cursor.adbc_ingest("t", TABLE, mode="append")
        connection.rollback()
        cursor.adbc_ingest("t", TABLE, mode="replace")
        connection.rollback()
        cursor.execute("DELETE FROM t")
        cursor.adbc_ingest("t", TABLE, mode="append")
        connection.rollback()
    assert db.read_bytes() == before


def test_several_tables_and_an_index_are_one_file(db: Path) -> None:
    with connected(db) as connection, connection.cursor() as cursor:
        cursor.adbc_ingest("a", TABLE)
        cursor.adbc_ingest("b", TABLE)
        cursor.execute("CREATE INDEX by_name ON b (name)")
        cursor.adbc_ingest("b", TABLE, mode="append")
        assert not db.exists()
        connection.commit()
    assert queried(db, "SELECT count(*) FROM a UNION ALL SELECT count(*) FROM b") == [(3,), (6,)]
    assert queried(db, "SELECT name FROM sqlite_schema ORDER BY name") == [("a",), ("b",), ("by_name",)]
    assert queried(db, "PRAGMA integrity_check") == [("ok",)]


def test_definitions_before_the_rows_decide(db: Path) -> None:
    """Clients that cannot set options define the table by SQL: the rows are printed into it."""
    with connected(db) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, score REAL, more TEXT DEFAULT 'x')")
        cursor.execute("CREATE INDEX by_name ON t (name)")
        cursor.adbc_ingest("t", TABLE, mode="append")
        assert way(connection) == "print"
        connection.commit()
    assert queried(db, "SELECT * FROM t") == [(*row, "x") for row in ROWS]
    assert queried(db, "PRAGMA integrity_check") == [("ok",)]


def test_options_make_keys_and_indexes(db: Path) -> None:
    ingested(db, TABLE, primary_key="id", indexes="name; score, name", strict="true", page_size="8192", not_null="id")
    ((sql,),) = queried(db, "SELECT sql FROM sqlite_schema WHERE name = 't'")
    assert "PRIMARY KEY" in sql and "STRICT" in sql
    assert queried(db, "SELECT count(*) FROM sqlite_schema WHERE type = 'index'") == [(2,)]
    assert queried(db, "PRAGMA page_size") == [(8192,)]


def test_a_statement_has_options_of_its_own(db: Path) -> None:
    with connected(db) as connection, connection.cursor() as cursor:
        cursor.adbc_statement.set_options(**{"litepress.primary_key": "id", "litepress.without_rowid": "true"})
        cursor.adbc_ingest("t", TABLE)
        assert cursor.adbc_statement.get_option("litepress.way") == "print"
        connection.commit()
    assert "WITHOUT ROWID" in queried(db, "SELECT sql FROM sqlite_schema")[0][0]


@pytest.mark.parametrize(("name", "value"), [("primary_ky", "id"), ("overwrite", "true"), ("strict", "yes"), ("page_size", "3")])
def test_wrong_options_are_refused(db: Path, name: str, value: str) -> None:
    with pytest.raises(dbapi.Error, match=name):
        connected(db, **{name: value})


def test_modes_look_at_what_is_there(db: Path) -> None:
    with pytest.raises(dbapi.Error, match="there is no table t"):
        ingested(db, TABLE, mode="append")
    ingested(db, TABLE, mode="create_append")
    ingested(db, TABLE, mode="create_append")
    assert queried(db, "SELECT count(*) FROM t") == [(6,)]
    with pytest.raises(dbapi.Error, match="the table t exists"):
        ingested(db, TABLE)
    ingested(db, TABLE, mode="replace")
    ingested(db, TABLE, name="u", mode="replace")
    assert queried(db, "SELECT count(*) FROM t UNION ALL SELECT count(*) FROM u") == [(3,), (3,)]


def test_replace_and_create_keep_indexes_of_options(db: Path) -> None:
    ingested(db, TABLE)
    ingested(db, TABLE, mode="replace", primary_key="id", indexes="name")
    ingested(db, TABLE, name="u", unique="name")
    assert queried(db, "SELECT * FROM t") == ROWS and queried(db, "SELECT * FROM u") == ROWS
    assert queried(db, "SELECT count(*) FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL") == [(1,)]


def test_an_append_waits_for_the_commit_and_goes_as_pages(db: Path) -> None:
    many = pa.table({"id": range(100_000), "name": ["x"] * 100_000, "score": [1.0] * 100_000})
    ingested(db, many, primary_key="id")
    later = pa.table({"id": range(100_000, 150_000), "name": ["y"] * 50_000, "score": [2.0] * 50_000})
    with connected(db) as connection, connection.cursor() as cursor:
        cursor.adbc_ingest("t", later, mode="append")
        assert way(connection) == "wait"
        assert queried(db, "SELECT count(*) FROM t") == [(100_000,)]
        connection.commit()
        assert way(connection) == "pages"
    assert queried(db, "SELECT count(*), sum(id), max(name) FROM t") == [(150_000, 149_999 * 75_000, "y")]
    assert queried(db, "PRAGMA integrity_check") == [("ok",)]


def test_rows_that_wait_are_seen_by_the_sql_behind_them(db: Path) -> None:
    ingested(db, TABLE)
    with connected(db) as connection, connection.cursor() as cursor:
        cursor.adbc_ingest("t", TABLE, mode="append")
        cursor.execute("UPDATE t SET name = 'new' WHERE name IS NULL")
        cursor.execute("SELECT count(*), count(name) FROM t")
        assert cursor.fetchone() == (6, 6)
        assert way(connection) == "insert"
        connection.commit()
    assert queried(db, "SELECT count(*), count(name) FROM t") == [(6, 6)]


def test_sql_before_an_ingest_is_in_its_transaction(db: Path) -> None:
    ingested(db, TABLE, primary_key="id")
    with connected(db) as connection, connection.cursor() as cursor:
        cursor.execute("DELETE FROM t")
        cursor.adbc_ingest("t", TABLE, mode="append")
        cursor.execute("DROP TABLE t")
        cursor.adbc_ingest("t", TABLE.slice(0, 1))
        connection.commit()
    assert queried(db, "SELECT * FROM t") == ROWS[:1]
    assert queried(db, "PRAGMA integrity_check") == [("ok",)]


def test_more_new_tables_than_sqlite_attaches(db: Path) -> None:
    ingested(db, TABLE)
    with connected(db) as connection, connection.cursor() as cursor:
        for number in range(12):
            cursor.adbc_ingest(f"t{number}", TABLE)
        connection.commit()
    assert queried(db, "SELECT count(*) FROM sqlite_schema") == [(13,)]


@pytest.mark.parametrize("there", ["new", "create", "append", "append, with changes"])
def test_a_broken_key_names_table_and_record(db: Path, there: str) -> None:
    twice = pa.table({"id": [1, 2, 1], "name": ["a", "b", "c"]})
    if there != "new":
        ingested(db, TABLE, name="other")
        if there != "create":
            ingested(db, pa.table({"id": [5], "name": ["e"]}), primary_key="id")
    connection = connected(db, primary_key="id")
    with closing(connection), connection.cursor() as cursor:
        if there.endswith("changes"):
            cursor.execute("DELETE FROM other")
        with pytest.raises(dbapi.IntegrityError) as caught:
            cursor.adbc_ingest("t", twice, mode="append" if "append" in there else "create")
            connection.commit()
        connection.rollback()
    text = str(caught.value)
    assert "UNIQUE constraint failed: t.id" in text
    assert dict(caught.value.details)[b"litepress.record"] == b"3", text
    if there == "new":
        assert list(db.parent.iterdir()) == []
    elif "append" in there:
        assert queried(db, "SELECT * FROM t") == [(5, "e")]


def test_conflicts_follow_the_policy(db: Path) -> None:
    first = pa.table({"id": [1, 2], "name": ["a", "b"]})
    second = pa.table({"id": [2, 3], "name": ["B", "C"]})
    for policy, expected in [("ignore", "b"), ("replace", "B"), ("update", "B")]:
        for changes in (False, True):
            db.unlink(missing_ok=True)
            ingested(db, first, primary_key="id")
            with connected(db, on_conflict=policy) as connection, connection.cursor() as cursor:
                if changes:
                    cursor.execute("CREATE TABLE other (a)")
                cursor.adbc_ingest("t", second, mode="append")
                connection.commit()
            assert queried(db, "SELECT * FROM t ORDER BY id") == [(1, "a"), (2, expected), (3, "C")], (policy, changes)


TYPES = {
    "bool": pa.array([True, None], pa.bool_()),
    "int8": pa.array([-1, None], pa.int8()),
    "uint64": pa.array([1, None], pa.uint64()),
    "half": pa.array([0.5, None], pa.float16()),
    "double": pa.array([0.1, None], pa.float64()),
    "text": pa.array(["é", None], pa.string()),
    "large text": pa.array(["é", None], pa.large_string()),
    "text view": pa.array(["é", None], pa.string_view()),
    "blob": pa.array([b"\0\1", None], pa.binary()),
    "date": pa.array([dt.date(2024, 5, 17), None], pa.date32()),
    "dictionary": pa.array(["a", None], pa.string()).dictionary_encode(),
}


@pytest.mark.parametrize("kind", TYPES)
def test_values_are_those_of_the_sqlite_driver(tmp_path: Path, kind: str) -> None:
    data = pa.table({"a": TYPES[kind]})
    answers = []
    for module, name in ((dbapi, "ours.db"), (adbc_driver_sqlite.dbapi, "theirs.db")):
        with module.connect(str(tmp_path / name)) as connection, connection.cursor() as cursor:
            cursor.adbc_ingest("t", data)
            connection.commit()
            cursor.execute("SELECT * FROM t")
            answers.append(cursor.fetch_arrow_table())
    assert answers[0].to_pylist() == answers[1].to_pylist()
    assert answers[0].schema == answers[1].schema
    stored = "SELECT typeof(a), a FROM t"
    assert queried(tmp_path / "ours.db", stored) == queried(tmp_path / "theirs.db", stored)


def test_values_that_the_sqlite_driver_refuses(db: Path) -> None:
    moment = dt.datetime(2024, 5, 17, 8, 30, tzinfo=dt.timezone.utc)
    data = pa.table(
        {
            "decimal": pa.array([decimal.Decimal("12.50")], pa.decimal128(10, 2)),
            "moment": pa.array([moment], pa.timestamp("us", "UTC")),
            "list": pa.array([[1, 2]], pa.list_(pa.int64())),
            "struct": pa.array([{"a": 1}], pa.struct([("a", pa.int64())])),
        }
    )
    ingested(db, data)
    assert queried(db, "SELECT * FROM t") == [(12.5, "2024-05-17 08:30:00+00:00", "[1,2]", '{"a":1}')]


def test_odd_data(db: Path) -> None:
    with pytest.raises(dbapi.Error, match="no column"):
        ingested(db, pa.table({}))
    assert not db.exists()
    name = """it's "a" [table]"""
    ingested(db, pa.table({'a "b" c': [1], "select": ["x"]}), name=name)
    ingested(db, pa.table({'a "b" c': [2], "select": ["y"]}), name=name, mode="append")
    ingested(db, TABLE.slice(0, 0), name="empty")
    ingested(db, TABLE.slice(0, 0), name="empty", mode="append")
    quoted = '"' + name.replace('"', '""') + '"'
    assert queried(db, f"SELECT * FROM {quoted}") == [(1, "x"), (2, "y")]
    assert queried(db, "SELECT count(*) FROM empty") == [(0,)]
    with pytest.raises(dbapi.Error, match="uint64|9223372036854775808|2\\^63|64"):
        ingested(db, pa.table({"a": pa.array([2**63], pa.uint64())}), name="big")


def test_a_stream_is_not_collected(db: Path) -> None:
    seen: list[int] = []

    def batches() -> Iterator[pa.RecordBatch]:
        for number in range(64):
            seen.append(number)
            yield pa.record_batch({"a": range(number * 1000, number * 1000 + 1000)})

    reader = pa.RecordBatchReader.from_batches(pa.schema([("a", pa.int64())]), batches())
    assert ingested(db, reader) == 64_000
    assert len(seen) == 64 and queried(db, "SELECT count(*), sum(a) FROM t") == [(64_000, 63_999 * 32_000)]


def test_a_stream_that_fails_leaves_nothing(db: Path) -> None:
    def batches() -> Iterator[pa.RecordBatch]:
        yield pa.record_batch({"a": [1]})
        raise ValueError("the source is gone")

    reader = pa.RecordBatchReader.from_batches(pa.schema([("a", pa.int64())]), batches())
    with pytest.raises(dbapi.Error, match="the source is gone"):
        ingested(db, reader)
    assert list(db.parent.iterdir()) == []


def test_polars_by_uri_and_by_connection(db: Path) -> None:
    frame = pl.DataFrame(COLUMNS)
    uri = f"litepress:///{db}"
    assert frame.write_database("t", uri, engine="adbc") == 3
    assert queried(db, "SELECT typeof(id), typeof(name) FROM t LIMIT 1") == [("integer", "text")]
    with pytest.raises(dbapi.Error, match="exists"):
        frame.write_database("t", uri, engine="adbc")
    frame.write_database("t", uri, engine="adbc", if_table_exists="append")
    frame.write_database("u", uri, engine="adbc", if_table_exists="append")
    frame.write_database("main.t", uri, engine="adbc", if_table_exists="replace")
    assert queried(db, "SELECT * FROM t") == ROWS and queried(db, "SELECT * FROM u") == ROWS
    with connected(db, primary_key="id") as connection:
        frame.write_database("v", connection, engine="adbc")
        assert pl.read_database("SELECT * FROM v", connection).equals(frame)
    assert pl.read_database_uri("SELECT * FROM t", uri, engine="adbc").equals(frame)


@pytest.mark.parametrize("if_exists", ["fail", "replace", "append"])
def test_pandas(db: Path, if_exists: str) -> None:
    frame = pd.DataFrame({"id": [1, 2, 3], "name": ["Ada", None, "Grace"], "score": [0.5, 2.0, None]})
    with connected(db) as connection:
        assert frame.to_sql("t", connection, index=False) == 3
        assert queried(db, "SELECT * FROM t") == ROWS
        if if_exists == "fail":
            with pytest.raises(ValueError, match="exists"):
                frame.to_sql("t", connection, index=False)
            connection.rollback()
        else:
            frame.to_sql("t", connection, index=False, if_exists=if_exists)
        expected = ROWS * 2 if if_exists == "append" else ROWS
        assert queried(db, "SELECT * FROM t") == expected
        assert len(pd.read_sql("SELECT * FROM t", connection)) == len(expected)


def test_duckdb_hands_over_a_reader(db: Path) -> None:
    with closing(duckdb.connect()) as source:
        relation = source.sql("SELECT range AS id, 'name ' || range AS name FROM range(50000)")
        reader = relation.to_arrow_reader() if hasattr(relation, "to_arrow_reader") else relation.fetch_arrow_reader()
        assert ingested(db, reader, primary_key="id") == 50_000
    assert queried(db, "SELECT max(id), max(name) FROM t") == [(49_999, "name 9999")]


SQL = [
    "SELECT 1 AS a, 2.5 AS b, 'x' AS c, x'00ff' AS d, NULL AS e",
    "SELECT * FROM (VALUES (1), (2.5), (NULL))",
    "SELECT * FROM (VALUES (1), ('a'), (2.5))",
    "SELECT 1 WHERE 0",
    "SELECT value FROM generate_series(1, 5000)",
    "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) SELECT i, i * 0.5 AS half FROM n",
]


@pytest.mark.parametrize("sql", SQL)
def test_queries_answer_as_the_sqlite_driver(sql: str) -> None:
    tables = []
    for module in (dbapi, adbc_driver_sqlite.dbapi):
        with module.connect() as connection, connection.cursor() as cursor:
            try:
                cursor.execute(sql)
                tables.append(cursor.fetch_arrow_table())
            except module.Error:
                # generate_series is not in every SQLite.
                pytest.skip(f"{module.__name__} cannot run it")
    if "2.5" in sql and "'a'" in sql:
        # The SQLite driver writes 2.500000e+00.
        assert tables[0].column(0).to_pylist() == ["1", "a", "2.5"]
        return
    assert tables[0].to_pylist() == tables[1].to_pylist() and tables[0].schema == tables[1].schema


def test_integers_are_never_rounded(db: Path) -> None:
    """The SQLite driver shows 2^53 + 1 as a double."""
    with connected(db) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT * FROM (VALUES (9007199254740993), (0.5))")
        assert [row[0] for row in cursor.fetchall()] == ["9007199254740993", "0.5"]


def test_parameters(db: Path) -> None:
    with connected(db) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, day TEXT)")
        cursor.executemany("INSERT INTO t VALUES (?, ?, ?)", [(1, "a", dt.date(2024, 5, 17)), (2, None, None)])
        cursor.execute("SELECT * FROM t WHERE id = ?", (1,))
        assert cursor.fetchall() == [(1, "a", "2024-05-17")]
        # A query runs once for each bound row.
        cursor.execute("SELECT id, name FROM t WHERE id >= ? ORDER BY id", pa.record_batch({"least": [1, 2]}))
        assert cursor.fetchall() == [(1, "a"), (2, None), (2, None)]
        with pytest.raises(dbapi.Error, match="2 parameters, and 1"):
            cursor.execute("SELECT ?, ?", (1,))
        with pytest.raises(dbapi.Error, match="more than one statement"):
            cursor.execute("SELECT 1; SELECT 2")
        connection.commit()
    with dbapi.connect(db, autocommit=True) as connection, connection.cursor() as cursor:
        with pytest.raises(dbapi.IntegrityError, match="UNIQUE"):
            cursor.executemany("INSERT INTO t (id) VALUES (?)", [(3,), (1,)])
        cursor.adbc_statement.set_options(**{"adbc.sqlite.statement.bind_by_name": "true"})
        cursor.execute("SELECT :b - :a", pa.record_batch({"a": [1], "b": [10]}))
        assert cursor.fetchall() == [(9,)]
    # All rows of a batch, or none.
    assert queried(db, "SELECT count(*) FROM t") == [(2,)]


def test_parameters_of_a_dict_are_found_by_their_names(db: Path) -> None:
    """Driver managers set adbc.statement.bind_by_name for a dict, and the driver knew the name of the SQLite driver only."""
    with connected(db) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT :b - :a", {":a": 1, ":b": 10})
        assert cursor.fetchall() == [(9,)]
        cursor.execute("SELECT ? - ?", (10, 1))
        assert cursor.fetchall() == [(9,)]
        for name in ("adbc.statement.bind_by_name", "adbc.sqlite.statement.bind_by_name"):
            assert cursor.adbc_statement.get_option(name) == "false"


def test_results_are_streams(db: Path) -> None:
    """Another statement runs while a result is read."""
    ingested(db, pa.table({"a": range(100_000)}))
    with connected(db) as connection, connection.cursor() as cursor, connection.cursor() as other:
        cursor.execute("SELECT a FROM t ORDER BY a")
        reader = cursor.fetch_record_batch()
        assert reader.read_next_batch().num_rows == 1024
        other.execute("CREATE TABLE u (a)")
        other.adbc_ingest("v", TABLE)
        assert sum(batch.num_rows for batch in reader) == 100_000 - 1024
        connection.commit()
    assert queried(db, "SELECT count(*) FROM v") == [(3,)]


def test_a_later_value_of_another_kind_is_told(db: Path) -> None:
    with connected(db) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TABLE t (a)")
        cursor.adbc_ingest("t", pa.table({"a": range(5000)}), mode="append")
        cursor.execute("INSERT INTO t VALUES ('odd')")
        cursor.execute("SELECT a FROM t")
        with pytest.raises(Exception, match="row 5001 has a text in column a"):
            cursor.fetchall()
        cursor.execute("SELECT CAST(a AS TEXT) FROM t")
        assert cursor.fetchall()[-1] == ("odd",)


def objects(module: Any, path: Path, **filters: Any) -> Any:
    with module.connect(str(path)) as connection:
        return connection.adbc_get_objects(**filters).read_all().to_pylist()


def without(found: Any, *names: str) -> Any:
    """Removes what the SQLite driver does not tell, or tells wrongly."""
    for catalog in found:
        for schema in catalog["catalog_db_schemas"] or []:
            for table in schema["db_schema_tables"] or []:
                for column in table["table_columns"] or []:
                    for name in names:
                        column.pop(name)
    return found


@pytest.mark.parametrize("depth", ["all", "catalogs", "db_schemas", "tables", "columns"])
def test_objects_are_those_of_the_sqlite_driver(db: Path, depth: str) -> None:
    with closing(sqlite3.connect(db)) as database:
        database.executescript(
            """CREATE TABLE parent (a INTEGER, b TEXT DEFAULT 'x', PRIMARY KEY (b, a));
               CREATE TABLE child (id INTEGER PRIMARY KEY, pa INTEGER, pb TEXT, FOREIGN KEY (pb, pa) REFERENCES parent (b, a));
               CREATE VIEW v AS SELECT * FROM child;"""
        )
    # It takes every column for one that may be NULL; it does not tell generated columns.
    odd = ("xdbc_nullable", "xdbc_is_nullable", "xdbc_is_generatedcolumn")
    for filters in ({}, {"table_name_filter": "c%"}, {"column_name_filter": "p_"}, {"table_types_filter": ["view"]}):
        ours, theirs = (objects(module, db, depth=depth, **filters) for module in (dbapi, adbc_driver_sqlite.dbapi))
        for schemas in (catalog["catalog_db_schemas"] or [] for catalog in theirs):
            for schema in schemas:
                # The SQLite driver lists indexes, too.
                tables = schema["db_schema_tables"]
                if tables:
                    schema["db_schema_tables"] = [one for one in tables if one["table_type"] != "index"]
        assert without(ours, *odd) == without(theirs, *odd), filters


def test_metadata(db: Path) -> None:
    with connected(db) as connection:
        info = connection.adbc_get_info()
        assert info["vendor_name"] == "SQLite" and info["driver_name"] == "ADBC litepress Driver"
        assert connection.adbc_get_table_types() == ["table", "view"]
        assert connection.adbc_current_catalog == "main"
        assert objects(dbapi, db)[0]["catalog_name"] == "main"
        with pytest.raises(dbapi.Error, match="there is no table t"):
            connection.adbc_get_table_schema("t")
    # A look at a file that does not exist makes none.
    assert not db.exists()
    ingested(db, TABLE.slice(0, 0))
    with connected(db) as connection:
        schema = connection.adbc_get_table_schema("t")
        assert schema == pa.schema([("id", pa.int64()), ("name", pa.string()), ("score", pa.float64())])
        with connection.cursor() as cursor:
            cursor.adbc_prepare("SELECT id FROM t WHERE id = ? AND name = :name")
            assert cursor.adbc_execute_schema("SELECT id, name FROM t").names == ["id", "name"]


def test_memory_is_shared_by_the_connections_of_a_database() -> None:
    with connected(None) as connection, connection.cursor() as cursor:
        cursor.adbc_ingest("t", TABLE)
        cursor.adbc_ingest("t", TABLE, mode="append")
        connection.commit()
        with connection.adbc_clone() as other, other.cursor() as reader:
            reader.execute("SELECT count(*) FROM t")
            assert reader.fetchone() == (6,)


def test_temporary_tables(db: Path) -> None:
    with connected(db) as connection, connection.cursor() as cursor:
        cursor.adbc_ingest("t", TABLE, temporary=True)
        cursor.adbc_ingest("other", TABLE)
        connection.commit()
        cursor.execute("SELECT count(*) FROM temp.t JOIN main.other USING (id)")
        assert cursor.fetchone() == (3,)
        cursor.adbc_ingest("t", TABLE, mode="append", temporary=True)
        connection.rollback()
        cursor.execute("SELECT count(*) FROM temp.t")
        assert cursor.fetchone() == (3,)
    assert queried(db, "SELECT name FROM sqlite_schema") == [("other",)]
    with connected(db) as connection, connection.cursor() as cursor:
        cursor.adbc_ingest("t", TABLE, temporary=True)
        cursor.execute("SELECT count(*) FROM temp.t")
        assert cursor.fetchone() == (3,)
        connection.commit()
    assert queried(db, "SELECT name FROM sqlite_schema") == [("other",)]


def test_somebody_takes_the_name_meanwhile(db: Path) -> None:
    with connected(db) as connection, connection.cursor() as cursor:
        cursor.adbc_ingest("t", TABLE)
        with closing(sqlite3.connect(db)) as other:
            other.execute("CREATE TABLE theirs (a)")
        with pytest.raises(dbapi.Error, match="exists|taken|meanwhile"):
            connection.commit()
    assert queried(db, "SELECT name FROM sqlite_schema") == [("theirs",)]


def test_a_file_that_is_no_database(db: Path) -> None:
    db.write_text("no database, but a text of some length" * 20)
    with pytest.raises(dbapi.Error, match="not a database"):
        connected(db)
    with pytest.raises(dbapi.Error, match="there is no file"):
        connected(f"file:{db}.other?mode=ro")


def test_read_only(db: Path) -> None:
    ingested(db, TABLE)
    with connected(f"file:{db}?mode=ro") as connection, connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM t")
        assert cursor.fetchone() == (3,)
        with pytest.raises(dbapi.Error, match="read only"):
            cursor.adbc_ingest("t", TABLE, mode="append")


def test_another_sqlite_deletes_the_wal(db: Path) -> None:
    """Python's sqlite3 takes itself for the last user when it closes: commits of the driver went to a WAL without a name, and both lost rows."""
    with closing(sqlite3.connect(db)) as first:
        first.executescript("PRAGMA journal_mode = WAL; CREATE TABLE t (id)")

    def python_inserts(row: int) -> None:
        with closing(sqlite3.connect(db, isolation_level=None)) as other:
            other.execute("INSERT INTO t VALUES (?)", (row,))

    rows = "SELECT group_concat(id) FROM (SELECT id FROM t ORDER BY id)"
    with connected(db) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TEMP TABLE kept AS SELECT 7 AS a")
        connection.commit()
        for row in range(1, 9, 4):
            python_inserts(row)
            cursor.execute("INSERT INTO t SELECT ? FROM kept", (row + 1,))
            connection.commit()
            python_inserts(row + 2)
            cursor.adbc_ingest("t", pa.table({"id": [row + 3]}), mode="append")
            connection.commit()
            cursor.execute(rows)
            expected = ",".join(map(str, range(1, row + 4)))
            assert cursor.fetchone() == (expected,)
            assert queried_elsewhere(db, rows) == expected
            connection.commit()
        # In the middle of a transaction it is too late.
        cursor.execute("INSERT INTO t VALUES (100)")
        with closing(sqlite3.connect(db)) as other:
            other.execute(rows).fetchall()
        with pytest.raises(dbapi.Error, match="deleted the WAL"):
            connection.commit()
        connection.rollback()
        cursor.execute("INSERT INTO t SELECT a + 2 FROM kept")
        connection.commit()
        assert queried_elsewhere(db, rows) == "1,2,3,4,5,6,7,8,9"


def test_a_connection_that_was_left_open_is_closed_later(db: Path) -> None:
    """The driver leaves its connection to a WAL open if another SQLite uses it. Its rest made the next connection fail, or write to no file."""
    with closing(sqlite3.connect(db)) as first:
        first.executescript("PRAGMA journal_mode = WAL; CREATE TABLE t (id)")
    connection = connected(db)
    with connection.cursor() as cursor:
        cursor.execute("SELECT * FROM t")
    with closing(sqlite3.connect(db, isolation_level=None)) as other:
        other.execute("INSERT INTO t VALUES (1)")
        connection.close()
        other.execute("INSERT INTO t VALUES (2)")
    for row in (3, 4):
        with connected(db) as connection, connection.cursor() as cursor:
            cursor.execute("INSERT INTO t VALUES (?)", (row,))
            connection.commit()
        assert queried_elsewhere(db, "SELECT group_concat(id) FROM t") == ",".join(map(str, range(1, row + 1)))


FORKS = ["new", "new with SQL", "waiting", "written", "reading"]


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.parametrize("state", FORKS)
def test_a_forked_process_leaves_the_connection_alone(db: Path, state: str) -> None:
    """A child that closed its copy of a connection removed the draft of its parent, or took its transaction back in the file."""
    if not state.startswith("new"):
        ingested(db, TABLE)
    connection = connected(db)
    cursor = connection.cursor()
    if state == "written":
        cursor.execute("PRAGMA cache_size = 1")
        cursor.adbc_ingest("big", pa.table({"id": range(50_000)}))
    elif state == "reading":
        cursor.execute("SELECT a.id FROM t a, t b, t c, t d, t e, t f, t g, t h")
        reader = cursor.fetch_record_batch()
        assert reader.read_next_batch().num_rows == 1024
    else:
        cursor.adbc_ingest("t", TABLE, mode="append" if state == "waiting" else "create")
    if state == "new with SQL":
        cursor.execute("UPDATE t SET id = id + 10")
    child = os.fork()
    if child == 0:
        status = 1
        try:
            for use in (connection.commit, connection.rollback, lambda: connection.cursor().execute("SELECT 1")):
                with pytest.raises(dbapi.Error, match="forked"):
                    use()
            cursor.close()
            connection.close()
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    if state == "reading":
        assert sum(batch.num_rows for batch in reader) == 3**8 - 1024
        reader.close()
    connection.commit()
    cursor.close()
    connection.close()
    table, expected = ("big", 49_999 * 25_000) if state == "written" else ("t", {"new with SQL": 36, "waiting": 12}.get(state, 6))
    assert queried(db, f"SELECT sum(id) FROM {table}") == [(expected,)]
    assert queried(db, "PRAGMA integrity_check") == [("ok",)]


def queried_elsewhere(db: Path, sql: str) -> str:
    """Returns the first value of a query, as another process sees it."""
    script = "import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute(sys.argv[2]).fetchone()[0])"
    return subprocess.run([sys.executable, "-c", script, db, sql], check=True, capture_output=True, text=True).stdout.strip()


@pytest.mark.parametrize("end", ["commit", "rollback", "close"])
def test_the_end_of_a_transaction_leaves_the_wal_of_another_sqlite(db: Path, end: str) -> None:
    """Every commit closed the connection, which deleted the WAL: later commits of Python's sqlite3 went to a file without a name."""
    with closing(sqlite3.connect(db)) as first:
        first.executescript("PRAGMA journal_mode = WAL; CREATE TABLE t (a)")
    connection = connected(db)
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM t")
        assert cursor.fetchone() == (0,)
    with closing(sqlite3.connect(db, isolation_level=None)) as other:
        other.execute("INSERT INTO t VALUES (1)")
        getattr(connection, end)()
        other.execute("INSERT INTO t VALUES (2)")
        assert queried_elsewhere(db, "SELECT group_concat(a) FROM t") == "1,2"
        if end != "close":
            connection.close()


def test_two_connections_take_turns(db: Path) -> None:
    """A handle that is closed would end the locks of the other connection: the rows go by SQLite then, and wait for its end."""
    ingested(db, TABLE)
    with connected(db, busy_timeout="0.1") as one, connected(db, busy_timeout="0.1") as two:
        with one.cursor() as first, two.cursor() as second:
            first.execute("UPDATE t SET name = 'x'")
            with pytest.raises(dbapi.Error, match="locked"):
                second.adbc_ingest("t", TABLE, mode="append")
                two.commit()
            two.rollback()
            one.commit()
            second.adbc_ingest("t", TABLE, mode="append")
            two.commit()
    assert queried(db, "SELECT count(*) FROM t") == [(6,)]


def test_driver_managers_find_the_driver_by_its_name(tmp_path: Path, db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Installed as `make install-adbc` does it, with the library of the package in place of the driver's own."""
    built, manifests = tmp_path / "built", tmp_path / "manifests"
    built.mkdir()
    (built / "libadbc_driver_litepress.so").symlink_to(adbc_driver_litepress.driver_path())
    install = Path(__file__).resolve().parents[2] / "crates" / "adbc" / "install.sh"
    subprocess.run([install, built, tmp_path / "prefix", manifests], check=True)
    monkeypatch.setenv("ADBC_DRIVER_PATH", str(manifests))
    with adbc_driver_manager.dbapi.connect(driver="litepress", db_kwargs={"uri": str(db)}) as connection:
        with connection.cursor() as cursor:
            cursor.adbc_ingest("t", TABLE)
        connection.commit()
    assert queried(db, "SELECT * FROM t") == ROWS


KILLED = """
import sys, time, pyarrow as pa, adbc_driver_litepress.dbapi as dbapi
path, mode, autocommit = sys.argv[1], sys.argv[2], sys.argv[3] == "autocommit"
def batches():
    for number in range(10_000):
        yield pa.record_batch({"a": list(range(number * 1000, number * 1000 + 1000))})
        if number == 200:
            print("ready", flush=True)
        if number > 200:
            time.sleep(0.001)
reader = pa.RecordBatchReader.from_batches(pa.schema([("a", pa.int64())]), batches())
with dbapi.connect(path, autocommit=autocommit) as connection, connection.cursor() as cursor:
    cursor.adbc_ingest("t", reader, mode=mode)
"""


@pytest.mark.parametrize("mode", ["create", "append", "replace"])
@pytest.mark.parametrize("autocommit", ["autocommit", "transaction"])
def test_a_killed_ingest_leaves_what_was_there(db: Path, mode: str, autocommit: str) -> None:
    if mode != "create":
        ingested(db, pa.table({"a": [1, 2]}))
    process = subprocess.Popen([sys.executable, "-c", KILLED, str(db), mode, autocommit], stdout=subprocess.PIPE)
    assert process.stdout is not None and process.stdout.readline() == b"ready\n"
    time.sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
    if mode == "create":
        assert not db.exists()
        ingested(db, TABLE, mode="create")
    else:
        assert queried(db, "SELECT * FROM t") == [(1,), (2,)]
        ingested(db, pa.table({"a": [3]}), mode="append")
    # The next ingest has removed what the killed one left.
    assert [path.name for path in db.parent.iterdir()] == [db.name]


def test_cancel_stops_an_ingest(db: Path) -> None:
    with connected(db) as connection, connection.cursor() as cursor:

        def batches() -> Iterator[pa.RecordBatch]:
            for number in range(1000):
                if number == 10:
                    connection.adbc_cancel() if hasattr(connection, "adbc_cancel") else cursor.adbc_cancel()
                yield pa.record_batch({"a": list(range(100_000))})

        reader = pa.RecordBatchReader.from_batches(pa.schema([("a", pa.int64())]), batches())
        with pytest.raises(adbc_driver_manager.Error, match=r"(?i)cancel|stop"):
            cursor.adbc_ingest("t", reader)
    assert not db.exists()
