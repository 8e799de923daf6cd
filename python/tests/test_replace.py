"""``if_exists``: what becomes of a database that exists."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

import litepress

APP = """
CREATE TABLE users (id INTEGER PRIMARY KEY, name); INSERT INTO users VALUES (1, 'Ada'), (2, 'Blaise');
CREATE TABLE items (id, price); INSERT INTO items VALUES (1, 2.5);
CREATE INDEX items_price ON items (price);
CREATE VIEW v AS SELECT name FROM users;
CREATE VIRTUAL TABLE f USING fts5 (a); INSERT INTO f VALUES ('some words');
PRAGMA user_version = 7;
"""


def app(path: Path) -> Path:
    connection = sqlite3.connect(path)
    connection.executescript(APP)
    connection.close()
    return path


def query(path: Path, sql: str) -> list[tuple[object, ...]]:
    connection = sqlite3.connect(path)
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


def test_replace_is_about_tables_and_overwrite_about_the_file(tmp_path: Path) -> None:
    """``write(..., if_exists="replace")`` dropped every other table, without a word."""
    db = app(tmp_path / "app.db")
    items = [{"id": 1, "price": 9.5}, {"id": 2, "price": 8.5}]
    with pytest.raises(litepress.TargetExistsError, match=r"holds table users \(2 rows\).*overwrite"):
        litepress.write(db, {"items": items})
    summary = litepress.write(db, {"items": items}, if_exists="replace", verify="full")
    assert summary.details["dropped"] == ["index items_price of items"]
    assert query(db, "SELECT * FROM items") == [(1, 9.5), (2, 8.5)]
    assert query(db, "SELECT * FROM v") == [("Ada",), ("Blaise",)]
    assert query(db, "SELECT a FROM f WHERE f MATCH 'words'") == [("some words",)]
    assert query(db, "PRAGMA user_version") == [(7,)]
    schema = "CREATE TABLE more (id INTEGER PRIMARY KEY)"
    litepress.write(db, {"more": [(5,)]}, schema=schema, if_exists="replace", verify="full")
    assert query(db, "SELECT (SELECT max(id) FROM more), (SELECT count(*) FROM items)") == [(5, 2)]
    csv = tmp_path / "items.csv"
    csv.write_text("id\n7\n")
    litepress.load(db, csv, if_exists="replace", verify="full")
    assert query(db, "SELECT (SELECT max(id) FROM items), (SELECT count(*) FROM users)") == [(7, 2)]
    summary = litepress.write(db, {"items": items}, if_exists="overwrite")
    assert sorted(summary.details["dropped"]) == ["table more (1 row)", "table users (2 rows)", "view v", "virtual table f"]
    fresh = tmp_path / "fresh.db"
    litepress.write(fresh, {"items": items}, if_exists="replace")
    assert query(fresh, "SELECT count(*) FROM items") == [(2,)]


def test_what_cannot_be_kept_is_an_error(tmp_path: Path) -> None:
    db = app(tmp_path / "app.db")
    before = db.read_bytes()
    with pytest.raises(litepress.UnsupportedError, match="view v of .*its name is taken"):
        litepress.write(db, {"v": [{"a": 1}]}, if_exists="replace")
    with pytest.raises(ValueError, match="if_exists=.replace. replaces tables"):
        litepress.create(db, "CREATE TABLE t (a)", if_exists="replace")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="'add' is not one of"):
        litepress.write(db, {"t": [{"a": 1}]}, if_exists="add")  # type: ignore[arg-type]
    assert db.read_bytes() == before


def test_values_that_a_type_changes_and_unchecked_keys_are_told(tmp_path: Path) -> None:
    """``types={"code": "STRING"}`` stored 7 for ``"007"``, without a word."""
    rows = [{"code": "007"}, {"code": "1.10"}]
    summary = litepress.write(tmp_path / "a.db", {"t": rows}, types={"code": "DATE"})
    (note,) = summary.details["notes"]
    assert "2 texts changed ('007' to 7 in record 1, '1.10' to 1.1 in record 2)" in note
    assert note.endswith('keep them with types={"code": "TEXT"}')
    summary = litepress.write(tmp_path / "b.db", {"t": rows}, types={"code": "str"})
    assert summary.details["notes"] == []
    assert query(tmp_path / "b.db", "SELECT min(code) FROM t") == [("007",)]
    schema = "CREATE TABLE p (id INTEGER PRIMARY KEY); CREATE TABLE c (p REFERENCES p, q REFERENCES nowhere)"
    summary = litepress.write(tmp_path / "c.db", {"p": [(1,)], "c": [(9, 9)]}, schema=schema)
    assert summary.details["notes"] == [
        "c.q references nowhere, and there is no such table",
        'foreign keys are not checked: c.p -> p; check them with verify="full"',
    ]
