"""``index`` and ``reindex``."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import litepress
import pytest

from conftest import queried


def made(path: Path, mode: str) -> Path:
    with closing(sqlite3.connect(path)) as database:
        database.execute(f"PRAGMA journal_mode = {mode}")
        database.executescript("CREATE TABLE t (id INTEGER PRIMARY KEY, a, b TEXT); CREATE INDEX t_b ON t (b)")
        database.executemany("INSERT INTO t (a, b) VALUES (?, ?)", ((i % 50, f"text {i}") for i in range(3000)))
        database.commit()
    return path


@pytest.mark.parametrize("mode", ["wal", "delete"])
def test_indexes_of_a_database_that_exists(tmp_path: Path, mode: str) -> None:
    path = made(tmp_path / "t.db", mode)
    told: list[litepress.Progress] = []
    statements = ["CREATE INDEX t_a ON t (a, id DESC)", "CREATE INDEX IF NOT EXISTS t_b ON t (b)", "CREATE INDEX t_p ON t (a) WHERE a > 4"]
    summary = litepress.index(path, *statements, threads=2, memory="64MiB", busy_timeout=1.5, progress=told.append)
    assert (summary.indexes, summary.existing) == ({"t_a": "t", "t_p": "t"}, ["t_b"])
    made_as = [(index["entries"], index["route"]) for index in summary.details["indexes"]]
    assert made_as == [(3000, "pages"), (2700, "pages")]
    assert queried(path, "SELECT count(*) FROM t INDEXED BY t_a WHERE a = 7") == [(60,)]
    assert litepress.check(path, full=True)
    assert set(litepress.reindex(path).indexes) == {"t_a", "t_b", "t_p"}
    assert set(litepress.reindex(path, "t_b", through_wal=True, sync="off").indexes) == {"t_b"}
    assert litepress.check(path, full=True)


def test_mistakes_change_nothing(tmp_path: Path) -> None:
    path = made(tmp_path / "t.db", "delete")
    before = path.read_bytes()
    with pytest.raises(litepress.ConstraintError, match="UNIQUE constraint failed: t.a"):
        litepress.index(path, "CREATE UNIQUE INDEX u ON t (a)")
    with pytest.raises(litepress.SchemaError, match="no such column"):
        litepress.index(path, "CREATE INDEX u ON t (absent)")
    with pytest.raises(litepress.UsageError, match="no table or index absent"):
        litepress.reindex(path, "absent")
    with pytest.raises(TypeError):
        litepress.index(path)
    assert path.read_bytes() == before
    with closing(sqlite3.connect(path)) as database:
        database.execute("BEGIN IMMEDIATE")
        with pytest.raises(litepress.TargetError, match="this program itself has a lock"):
            litepress.index(path, "CREATE INDEX u ON t (a)")


def test_other_processes_read_meanwhile(tmp_path: Path) -> None:
    path = made(tmp_path / "t.db", "wal")
    with litepress.create(tmp_path / "other.db", "CREATE TABLE x (a)"):
        pass
    worker = threading.Thread(target=litepress.index, args=(path, "CREATE INDEX t_a ON t (a)"))
    worker.start()
    worker.join()
    assert queried(path, "SELECT count(*) FROM t INDEXED BY t_a WHERE a >= 0") == [(3000,)]
