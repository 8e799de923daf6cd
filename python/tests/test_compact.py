"""``compact``."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import litepress
import pytest

from conftest import queried


def backwards(one: str, other: str) -> int:
    return (other > one) - (other < one)


def made(path: Path, script: str) -> Path:
    with closing(sqlite3.connect(path)) as database:
        database.create_collation("backwards", backwards)
        database.executescript(script)
        database.commit()
    return path


def test_a_database_is_compacted(tmp_path: Path) -> None:
    script = """CREATE TABLE t(a, b); CREATE INDEX i ON t(a); CREATE TABLE u(c);
        INSERT INTO t SELECT value, hex(zeroblob(50)) FROM json_each('[' || replace(hex(zeroblob(999)), '00', '1,') || '2]');
        DELETE FROM t WHERE rowid % 4 > 0"""
    path, copy = made(tmp_path / "t.db", script), tmp_path / "copy.db"
    rows = queried(path, "SELECT rowid, * FROM t")
    told: list[litepress.Progress] = []
    summary = litepress.compact(path, copy, only="t", drop_index=["i"], page_size=1024, verify="full", progress=told.append)
    assert (summary.path, summary.rows, summary.tables) == (str(copy), len(rows), {"t": len(rows)})
    assert summary.details["bytes_before"] == path.stat().st_size and summary.bytes == copy.stat().st_size
    assert queried(copy, "SELECT name FROM sqlite_schema") == [("t",)]
    assert queried(copy, "SELECT rowid, * FROM t") == rows
    before = path.stat().st_size
    summary = litepress.compact(path)
    assert summary.path == str(path) and path.stat().st_size < before
    assert queried(path, "SELECT rowid, * FROM t") == rows
    with pytest.raises(litepress.TargetExistsError):
        litepress.compact(path, copy)
    assert litepress.compact(path, copy, if_exists="overwrite").tables == {"t": len(rows), "u": 0}


def test_collations_that_litepress_does_not_know(tmp_path: Path) -> None:
    """The order of entries is that of the collation, so they cannot be sorted anew."""
    script = """CREATE TABLE t(a TEXT COLLATE backwards, b); CREATE INDEX i ON t(a, b);
        CREATE TABLE k(a TEXT COLLATE backwards PRIMARY KEY) WITHOUT ROWID;
        WITH n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 5000) INSERT INTO t SELECT n, n FROM n;
        INSERT INTO k SELECT a || 'x' FROM t"""
    path = made(tmp_path / "t.db", script)
    litepress.compact(path, page_size=512)
    with closing(sqlite3.connect(path)) as database:
        database.create_collation("backwards", backwards)
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert database.execute("SELECT count(*) FROM t WHERE a = '77'").fetchone() == (1,)
        assert [a for (a,) in database.execute("SELECT a FROM k")] == sorted((f"{n}x" for n in range(1, 5001)), reverse=True)


def test_mistakes_are_told(tmp_path: Path) -> None:
    path = made(tmp_path / "t.db", "PRAGMA user_version = 1")
    page = bytearray(path.read_bytes())
    # 16 reserved bytes: the cells of page 1 begin in front of them.
    page[20], page[105:107] = 16, (4080).to_bytes(2, "big")
    path.write_bytes(page)
    made(path, "CREATE TABLE t(a UNIQUE)")
    with pytest.raises(litepress.UnsupportedError, match="allow_incomplete=True"):
        litepress.compact(path)
    with pytest.raises(litepress.UsageError, match='only="u"'):
        litepress.compact(path, only="u", allow_incomplete=True)
    with pytest.raises(ValueError, match="if_exists"):
        litepress.compact(path, tmp_path / "copy.db", if_exists="replace")  # type: ignore[arg-type]
    with closing(sqlite3.connect(path)) as database:
        database.execute("BEGIN IMMEDIATE")
        with pytest.raises(litepress.TargetError):
            litepress.compact(path, allow_incomplete=True)
