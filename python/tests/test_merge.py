"""``litepress.merge``."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import litepress
import pytest

from conftest import queried


def shards(folder: Path) -> list[Path]:
    """Makes three databases with rows of the same ids."""
    paths = []
    for number in range(3):
        path = folder / f"{number}.db"
        with closing(sqlite3.connect(path)) as database:
            database.executescript(
                f"""CREATE TABLE user (id INTEGER PRIMARY KEY, name TEXT);
                CREATE TABLE entry (owner INTEGER REFERENCES user, what TEXT);
                CREATE INDEX by_owner ON entry (owner);
                INSERT INTO user VALUES (1, 'Ada {number}'), (2, 'Bo {number}');
                INSERT INTO entry VALUES (2, 'of Bo {number}');"""
            )
        paths.append(path)
    return paths


def test_rows_of_all_databases_with_new_rowids(tmp_path: Path) -> None:
    target = tmp_path / "all.sqlite"
    summary = litepress.merge(target, shards(tmp_path), rowids="renumber", source_column="shard", verify="full")
    assert (summary.rows, summary.tables, summary.details["databases"]) == (9, {"user": 6, "entry": 3}, 3)
    found = queried(target, "SELECT name, what, entry.shard FROM entry JOIN user ON owner = id ORDER BY 1")
    assert found == [(f"Bo {number}", f"of Bo {number}", str(tmp_path / f"{number}.db")) for number in range(3)]
    with pytest.raises(litepress.TargetExistsError, match="if_exists"):
        litepress.merge(target, tmp_path / "0.db")
    litepress.merge(target, tmp_path / "0.db", if_exists="overwrite")
    assert queried(target, "SELECT count(*) FROM user") == [(2,)]


def test_conflicts_and_wrong_arguments(tmp_path: Path) -> None:
    target, databases = tmp_path / "all.sqlite", shards(tmp_path)
    with pytest.raises(litepress.ConstraintError, match="have the same key") as conflict:
        litepress.merge(target, databases)
    assert conflict.value.table == "user" and 'rowids={"user": "renumber"}' in str(conflict.value)
    litepress.merge(target, str(tmp_path / "*.db"), on_conflict="replace", skip_tables="entry")
    assert queried(target, "SELECT name FROM user") == [("Ada 2",), ("Bo 2",)]
    target.unlink()
    litepress.merge(target, databases, rowids={"user": "renumber"})
    for wrong, error in [
        ({"rowids": "never"}, ValueError),
        ({"rowids": {"user": "never"}}, ValueError),
        ({"rowids": {"nobody": "keep"}}, litepress.UsageError),
        ({"union": 1}, TypeError),
        ({"skip_tables": 7}, TypeError),
        ({"if_exists": "append"}, ValueError),
    ]:
        with pytest.raises(error):
            litepress.merge(tmp_path / "no.db", databases, **wrong)  # type: ignore[arg-type]
    assert not (tmp_path / "no.db").exists()


def test_the_plan_tells_what_a_merge_would_do(tmp_path: Path) -> None:
    """A merge had to run to its end to show whether it works."""
    databases = shards(tmp_path)
    plan = litepress.plan(databases, tmp_path / "all.sqlite", merge=True)
    assert plan["databases"] == 3 and plan["mismatches"]["is_fatal"]
    assert 'rowids={"user": "renumber"}' not in str(plan["mismatches"]["first"][0]["reason"])
    assert "have the same key" in plan["mismatches"]["first"][0]["reason"]
    plan = litepress.plan(tmp_path, merge=True, rowids="renumber", source_column="shard")
    assert not plan["mismatches"]["is_fatal"]
    assert {table["name"]: (table["rows"], table["rowids"]) for table in plan["tables"]} == {
        "user": (6, "renumbered"),
        "entry": (3, "renumbered"),
    }
    with pytest.raises(TypeError, match="no argument 'table'"):
        litepress.plan(databases, merge=True, table="user")
    with pytest.raises(TypeError, match="no argument 'union'"):
        litepress.plan(databases, union=True)
    assert not (tmp_path / "all.sqlite").exists()
