"""Rows for databases that exist."""

from __future__ import annotations

import ast
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import MappingProxyType
from typing import Any

import litepress
import pytest

USERS = """CREATE TABLE user (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, age INT DEFAULT 7);
INSERT INTO user VALUES (1, 'Ada', 36); CREATE TABLE other (a)"""


@pytest.fixture
def db(tmp_path: Path) -> Path:
    path = tmp_path / "app.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(USERS)
    return path


def rows(path: Path, sql: str = "SELECT * FROM user") -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(sql).fetchall()


def test_write_adds_rows(db: Path) -> None:
    """`if_exists="append"`, which every user of pandas knows, was refused."""
    summary = litepress.write(db, {"user": [{"name": "Eve"}, {"name": "Ida"}], "new": {"x": [1, 2]}}, if_exists="append")
    assert summary.tables == {"user": 2, "new": 2}
    assert rows(db) == [(1, "Ada", 36), (2, "Eve", 7), (3, "Ida", 7)]
    assert rows(db, "SELECT * FROM new") == [(1,), (2,)]
    told = {table["name"]: (table["added"], table["is_new"], table["route"]) for table in summary.details["append"]["tables"]}
    assert told == {"user": (2, False, "sql"), "new": (2, True, "sql")}
    litepress.write(db, {"user": [(9, "Kim", 5)]}, if_exists="append")
    assert rows(db)[-1] == (9, "Kim", 5)


def test_a_file_that_is_absent_is_made(tmp_path: Path) -> None:
    path = tmp_path / "new.db"
    for expected in ([(1,)], [(1,), (2,)]):
        litepress.write(path, {"t": [(len(expected),)]}, columns="a", if_exists="append")
        assert rows(path, "SELECT a FROM t") == expected


def test_rows_are_updated(db: Path) -> None:
    summary = litepress.write(db, {"user": [{"id": 1, "name": "Eva"}, {"id": 2, "name": "Ida"}]}, if_exists="append", on_conflict="update")
    assert rows(db) == [(1, "Eva", 36), (2, "Ida", 7)]
    table = summary.details["append"]["tables"][0]
    assert (table["added"], table["updated"], table["ignored"]) == (1, 1, 0)
    litepress.write(
        db, {"user": [{"name": "Ida", "age": 5}]}, if_exists="append", on_conflict="update", key="name", update_columns=["age"]
    )
    assert rows(db) == [(1, "Eva", 36), (2, "Ida", 5)]


def test_errors_leave_the_database_as_it_was(db: Path) -> None:
    with pytest.raises(litepress.ConstraintError, match="UNIQUE") as raised:
        litepress.write(db, {"other": [(1,)], "user": [(5, "Eve", 1), (6, "Ada", 2)]}, if_exists="append")
    assert (raised.value.record, raised.value.table) == (2, "user")
    assert 'on_conflict="ignore"' in str(raised.value.advice)
    with pytest.raises(litepress.SchemaError, match="the table lacks columns of the data: nom") as lacks:
        litepress.write(db, {"user": {"nom": ["Eve"]}}, if_exists="append")
    assert "add_columns=True" in str(lacks.value)
    with pytest.raises(litepress.TargetExistsError) as exists:
        litepress.write(db, {"user": [{"id": 5, "name": "Eve"}]})
    assert 'if_exists="append"' in str(exists.value.advice)

    def broken() -> Any:
        yield (7, "Kim", 1)
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        litepress.write(db, {"user": broken()}, if_exists="append")
    assert rows(db) == [(1, "Ada", 36)]
    assert rows(db, "SELECT * FROM other") == []
    with pytest.raises(ValueError, match="if_exists"):
        litepress.generate(db, "user", 5, if_exists="append")  # type: ignore[arg-type]


def test_a_transaction_of_this_program_is_respected(db: Path) -> None:
    with closing(sqlite3.connect(db)) as connection:
        connection.execute("INSERT INTO other VALUES (1)")
        with pytest.raises(litepress.TargetError, match="this program itself has a lock"):
            litepress.write(db, {"user": [(5, "Eve", 1)]}, if_exists="append")
        connection.commit()
    litepress.write(db, {"user": [(5, "Eve", 1)]}, if_exists="append", busy_timeout=0.1)
    assert len(rows(db)) == 2


def test_columns_are_added_and_rows_deleted(db: Path) -> None:
    litepress.write(db, {"user": [{"name": "Eve", "size": 1.5}]}, if_exists="append", add_columns=True, truncate=True)
    assert rows(db) == [(1, "Eve", 7, 1.5)]
    assert rows(db, "SELECT type FROM pragma_table_info('user') WHERE name = 'size'") == [("REAL",)]


def test_load_adds_files(db: Path, tmp_path: Path) -> None:
    file = tmp_path / "user.csv"
    file.write_text("name,age\nEve,1\nAda,2\n")
    litepress.load(db, file, if_exists="append", on_conflict="ignore")
    assert rows(db) == [(1, "Ada", 36), (2, "Eve", 1)]
    plan = litepress.plan(file, db, if_exists="append", on_conflict="update", key="name")
    assert plan["append"][0]["table"] == "user"
    litepress.load(db, file, if_exists="append", on_conflict="update", key="name")
    assert rows(db) == [(1, "Ada", 2), (2, "Eve", 1)]


def test_create_adds_rows_as_they_come(db: Path) -> None:
    """All rows of the block come in at its end: other programs can write until then."""
    with litepress.create(db, if_exists="append", on_conflict="update") as writer:
        assert "user" in writer and "other" in writer
        writer["user"].append((1, "Eva", 5))
        with closing(sqlite3.connect(db)) as connection:
            connection.execute("INSERT INTO user VALUES (2, 'Tim', 1)")
            connection.commit()
        writer["user"].append((2, "Tom", 6))
        assert rows(db) == [(1, "Ada", 36), (2, "Tim", 1)]
    assert writer.summary is not None and writer.summary.tables["user"] == 2
    assert rows(db) == [(1, "Eva", 5), (2, "Tom", 6)]
    with litepress.create(db, "CREATE TABLE fresh (a)", if_exists="append") as writer:
        writer["fresh"].append((1,))
    assert rows(db, "SELECT * FROM fresh") == [(1,)]
    with pytest.raises(TypeError, match="needs a schema"):
        litepress.create(db)
    with pytest.raises(litepress.UsageError, match="does not exist"):
        litepress.create(db.with_name("absent.db"), if_exists="append")


PEOPLE = "CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT, age INT); INSERT INTO person VALUES (1, 'Ada', 36), (2, 'Bob', 40)"


def added(path: Path, people: list[Any], way: str) -> None:
    """Adds rows to a database in one of the ways to do so. Rows with the same key are updated."""
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(f"DROP TABLE IF EXISTS person; {PEOPLE}")
    if way == "write":
        litepress.write(path, {"person": people}, if_exists="append", on_conflict="update")
        return
    with litepress.create(path, if_exists="append", on_conflict="update") as writer:
        if way == "extend":
            writer["person"].extend(people)
        else:
            for row in people:
                writer["person"].append(row)


@pytest.mark.parametrize("way", ["write", "append", "extend"])
def test_an_update_leaves_columns_that_dicts_lack(db: Path, way: str) -> None:
    """`{"id": 1, "age": 37}` made the name of the row NULL, as every column without a DEFAULT that the dicts lacked."""
    for kind in (dict, MappingProxyType):
        added(db, [kind({"id": 1, "age": 37}), kind({"age": 5, "id": 3})], way)
        assert rows(db, "SELECT * FROM person") == [(1, "Ada", 37), (2, "Bob", 40), (3, None, 5)]
    added(db, [{"id": 1, "age": None, "name": "Eva"}], way)
    assert rows(db, "SELECT * FROM person") == [(1, "Eva", None), (2, "Bob", 40)]


@pytest.mark.parametrize("way", ["write", "append", "extend"])
@pytest.mark.parametrize("other", [{"id": 2}, {"id": 2, "name": "Rob"}, {"id": 2, "age": 1, "name": "Rob"}])
def test_an_update_refuses_dicts_with_different_keys(db: Path, way: str, other: dict[str, Any]) -> None:
    """One dict with a name made the names of all rows NULL that the other dicts updated."""
    with pytest.raises(litepress.Error, match="which the rows before it|other columns than the rows before"):
        added(db, [{"id": 1, "age": 37}, other], way)
    assert rows(db, "SELECT * FROM person") == [(1, "Ada", 36), (2, "Bob", 40)]


def test_a_writer_refuses_a_dict_with_other_keys_and_stays_open(db: Path) -> None:
    added(db, [], "write")
    with litepress.create(db, if_exists="append", on_conflict="update") as writer:
        people = writer["person"]
        with pytest.raises(litepress.DataError):
            people.append({"id": 2, "name": b"\xff".decode("utf-8", "surrogateescape")})
        people.append({"id": 1, "age": 37})
        for other in ({"id": 2}, {"id": 2, "name": "Rob"}, {"id": 2, "age": 1, "name": "Rob"}):
            with pytest.raises(litepress.DataError, match="record 2: the row (lacks 'age'|has 'name'), which the rows before it") as refused:
                people.append(other)
            assert refused.value.record == 2
        people.append({"AGE": 41, "ID": 2})
    assert rows(db, "SELECT * FROM person") == [(1, "Ada", 37), (2, "Bob", 41)]


def test_the_refusal_of_other_keys_names_the_row(db: Path) -> None:
    with pytest.raises(litepress.DataError, match="record 3: the row lacks 'age', which the rows before it have") as lacks:
        added(db, [{"id": 1, "age": 37}, {"ID": 2, "age": 5}, {"id": 3}], "write")
    assert (lacks.value.table, lacks.value.record) == ("person", 3)
    assert "with None for NULL" in str(lacks.value.advice)
    with pytest.raises(litepress.DataError, match="record 2: the row has 'name', which the rows before it lack"):
        added(db, [{"id": 1, "age": 37}, {"id": 3, "age": 2, "name": "Kim"}], "write")


def others_rows(path: Path) -> list[tuple[Any, ...]]:
    """Returns the rows of `other` as another process sees them."""
    program = "import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute('SELECT * FROM other').fetchall())"
    ran = subprocess.run([sys.executable, "-c", program, path], capture_output=True, text=True, check=True)
    return [tuple(row) for row in ast.literal_eval(ran.stdout)]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc tells the locks")
@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_close_waits_for_the_end_of_a_transaction_of_this_program(db: Path, mode: str) -> None:
    """`close` did not look for locks: its rows, or those of an open transaction of `sqlite3`, got lost, and both ended with success."""
    with closing(sqlite3.connect(db)) as connection:
        connection.execute(f"PRAGMA journal_mode = {mode}")
    writer = litepress.create(db, if_exists="append")
    writer["other"].append(("litepress",))
    with closing(sqlite3.connect(db, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT INTO other VALUES ('sqlite3')")
        for _ in range(2):
            with pytest.raises(litepress.TargetError, match="this program itself has a lock on the database") as locked:
                writer.close()
        assert "close the writer again: it has kept the rows" in str(locked.value.advice)
        assert writer.summary is None and "open" in repr(writer)
        writer["other"].append(("more",))
        connection.execute("COMMIT")
    assert others_rows(db) == [("sqlite3",)]
    assert writer.close().tables["other"] == 2
    assert others_rows(db) == [("sqlite3",), ("litepress",), ("more",)]
    assert litepress.check(db).ok


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc tells the locks")
def test_a_block_that_cannot_end_keeps_its_rows(db: Path) -> None:
    with closing(sqlite3.connect(db)) as connection:
        with pytest.raises(litepress.TargetError, match="has a lock"), litepress.create(db, if_exists="append") as writer:
            writer["other"].append(("litepress",))
            connection.execute("INSERT INTO other VALUES ('sqlite3')")
        connection.rollback()
    writer.close()
    assert others_rows(db) == [("litepress",)]
    writer = litepress.create(db, if_exists="append")
    with closing(sqlite3.connect(db)) as connection:
        connection.execute("INSERT INTO other VALUES ('sqlite3')")
        with pytest.raises(litepress.TargetError):
            writer.close()
        writer.abort()
        with pytest.raises(ValueError, match="given up"):
            writer.close()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc tells the locks")
@pytest.mark.parametrize("mode", ["delete", "wal"])
@pytest.mark.parametrize("begins_at", [0, 4_000])
def test_a_transaction_that_begins_while_rows_are_made_is_respected(db: Path, mode: str, begins_at: int) -> None:
    """`write` looked for locks before it asked for rows, and not again: a transaction of the generator got lost."""
    with closing(sqlite3.connect(db)) as connection:
        connection.execute(f"PRAGMA journal_mode = {mode}")
    opened = []

    def made() -> Iterator[tuple[str]]:
        for number in range(5_000):
            if number == begins_at:
                opened.append(sqlite3.connect(db, isolation_level=None))
                opened[0].execute("BEGIN IMMEDIATE")
                opened[0].execute("INSERT INTO other VALUES ('sqlite3')")
            yield (str(number) * 500,)

    with pytest.raises(litepress.TargetError, match="this program itself has a lock on the database"):
        litepress.write(db, {"other": made()}, if_exists="append")
    opened[0].execute("COMMIT")
    opened[0].close()
    assert others_rows(db) == [("sqlite3",)]
    litepress.write(db, {"other": [("litepress",)]}, if_exists="append")
    assert others_rows(db) == [("sqlite3",), ("litepress",)]
