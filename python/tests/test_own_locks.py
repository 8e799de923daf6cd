"""Locks of this process on databases: what the package reads or writes must not end them."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import fsspec
import litepress
import pytest

from conftest import queried

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc tells the locks")


@pytest.fixture(params=["delete", "wal"])
def locked(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    """A database in a folder of its own, in which this process has an open transaction."""
    folder = tmp_path / "data"
    folder.mkdir()
    path = folder / "a.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(f"PRAGMA journal_mode = {request.param}")
        connection.execute("CREATE TABLE t (a)")
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT INTO t VALUES ('mine')")
        yield path
        connection.execute("COMMIT")
        assert connection.execute("SELECT a FROM t").fetchall() == [("mine",)]


def is_locked(path: Path) -> bool:
    """Returns whether another process finds the database locked."""
    program = "import sqlite3, sys; sqlite3.connect(sys.argv[1], timeout=0).execute('INSERT INTO t VALUES (0)')"
    ran = subprocess.run([sys.executable, "-c", program, path], capture_output=True, text=True)
    return "database is locked" in ran.stderr


Act = Callable[[Path, Path], Any]
OUT = "CREATE TABLE t (a)"
ACTS: dict[str, Act] = {
    "load of a folder": lambda path, out: litepress.load(out, path.parent),
    "load of a pattern": lambda path, out: litepress.load(out, str(path.parent / "*.db")),
    "load of all files": lambda path, out: litepress.load(out, str(path.parent / "*")),
    "load of a URL": lambda path, out: litepress.load(out, path.as_uri()),
    "load of a URL with a pattern": lambda path, out: litepress.load(out, f"file://{path.parent}/*.db"),
    "load of a file of fsspec": lambda path, out: litepress.load(out, fsspec.open(str(path))),
    "load of a compressed file of fsspec": lambda path, out: litepress.load(out, fsspec.open(str(path), compression="gzip")),
    "plan of a folder": lambda path, out: litepress.plan(path.parent),
    "merge of a folder": lambda path, out: litepress.merge(out, path.parent),
    "merge of a pattern": lambda path, out: litepress.merge(out, str(path.parent / "*")),
    "plan of a merge": lambda path, out: litepress.plan(str(path.parent), out, merge=True),
    "check of a folder": lambda path, out: litepress.check(path.parent),
    "schema": lambda path, out: litepress.write(out, {"t": [(1,)]}, schema=path),
    "schema of a writer": lambda path, out: litepress.create(out, path),
    "recipe": lambda path, out: litepress.generate(out, recipe=path),
    "rejects": lambda path, out: litepress.load(out, csv(out), rejects=path),
    "page": lambda path, out: litepress.check(csv(out), html=path, if_exists="overwrite"),
    "split": lambda path, out: litepress.load(path.parent, csv(out), split_by="a", if_exists="overwrite"),
}


def csv(out: Path) -> Path:
    file = out.with_suffix(".csv")
    file.write_text("a\n1\n")
    return file


@pytest.mark.parametrize("act", ACTS.values(), ids=ACTS.keys())
def test_a_locked_database_stays_locked(locked: Path, db: Path, act: Act) -> None:
    """The file was opened and closed, which ended the lock: another program wrote, and the open transaction was lost at its COMMIT."""
    with pytest.raises(litepress.TargetError, match="this program itself has a lock on the database"):
        act(locked, db)
    assert is_locked(locked) and not db.exists()


def test_an_own_lock_does_not_hinder_other_files(locked: Path, db: Path) -> None:
    others = db.with_name("others")
    others.mkdir()
    for name in ("b.db", "c.db"):
        litepress.write(others / name, {"t": [(name,)]}, schema=OUT)
    litepress.load(db, others)
    assert queried(db, "SELECT count(*) FROM t") == [(2,)]
    litepress.merge(db, str(others / "*"), if_exists="overwrite")
    os.link(others / "b.db", others / "b2.db")
    litepress.check(others / "b2.db")
    assert is_locked(locked)


def test_a_url_of_a_local_file_is_a_path(db: Path, tmp_path: Path) -> None:
    """Rows in the log of a database in WAL mode were missing in silence: a copy of the file was read, without what is beside it."""
    source = tmp_path / "a b.db"
    program = """import os, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA journal_mode = wal")
connection.execute("CREATE TABLE t (a)")
connection.execute("PRAGMA wal_checkpoint(truncate)")
connection.execute("INSERT INTO t VALUES (1)")
os._exit(0)"""
    subprocess.run([sys.executable, "-c", program, source], check=True)
    assert source.with_name("a b.db-wal").stat().st_size > 0
    for file in (source.as_uri(), f"file://{source}", f"file://localhost{source}", f"local://{source}", fsspec.open(f"file://{source}")):
        summary = litepress.load(db, file, if_exists="overwrite")
        assert summary.rows == 1 and queried(db, "SELECT a FROM t") == [(1,)]
