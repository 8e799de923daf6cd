"""Open files, URLs and files of fsspec as files of `load` and `plan`."""

from __future__ import annotations

import errno
import gzip
import http.server
import io
import sqlite3
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import fsspec
import litepress
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

from conftest import queried

CSV = b"id,name\n1,Ada\n2,Grace\n"
ROWS = [(1, "Ada"), (2, "Grace")]


def parquet() -> bytes:
    file = io.BytesIO()
    pyarrow.parquet.write_table(pa.table({"id": [1, 2], "name": ["Ada", "Grace"]}), file)
    return file.getvalue()


class OneByOne:
    """A file that can only be read, a few bytes at a time."""

    name = "slow.csv"

    def __init__(self, data: bytes) -> None:
        self._file = io.BytesIO(data)

    def read(self, size: int = -1) -> bytes:
        return self._file.read(min(size, 3))


@pytest.mark.parametrize(
    "file",
    [
        io.BytesIO(CSV),
        io.StringIO(CSV.decode()),
        io.BytesIO(gzip.compress(CSV)),
        gzip.GzipFile(fileobj=io.BytesIO(gzip.compress(CSV))),
        io.BytesIO(parquet()),
        OneByOne(CSV),
        [io.BytesIO(CSV[:-8]), io.BytesIO(b"id,name\n2,Grace\n")],
    ],
    ids=lambda file: type(file).__name__,
)
def test_open_files_are_loaded(file: Any, db: Path) -> None:
    """A BytesIO was taken for a list of its lines: `each of files must be a path, not bytes`."""
    summary = litepress.load(db, file, table="t")
    assert summary.rows == 2 and queried(db, "SELECT id, name FROM t") == ROWS


def test_an_open_file_is_read_from_where_it_is_and_stays_open(db: Path, tmp_path: Path) -> None:
    file = io.BytesIO(b"a comment\n" + CSV)
    file.readline()
    assert litepress.plan(file, table="t")["tables"][0]["name"] == "t"
    litepress.load(db, file, table="t")
    assert queried(db, "SELECT id, name FROM t") == ROWS and not file.closed
    path = tmp_path / "people.csv"
    path.write_bytes(CSV)
    for mode in ("rb", "r"):
        with open(path, mode) as opened:
            litepress.load(db, opened, if_exists="overwrite")
            assert not opened.closed
        assert queried(db, "SELECT id, name FROM people") == ROWS
    with open(path, "rb") as opened:
        opened.readline()
        litepress.load(db, opened, header=False, columns=["id", "name"], if_exists="overwrite")
    assert queried(db, "SELECT id, name FROM people") == ROWS


def test_names_of_open_files_stand_in_errors(db: Path) -> None:
    file = io.BytesIO(b"id,name\n1,Ada\n2\n")
    file.name = "s3://bucket/people.csv"
    with pytest.raises(litepress.DataError) as caught:
        litepress.load(db, file)
    assert caught.value.file == "s3://bucket/people.csv" and str(caught.value).startswith("s3://bucket/people.csv:3")
    with pytest.raises(litepress.DataError) as caught:
        litepress.load(db, io.BytesIO(b"a,b\n1\n"), table="t")
    assert caught.value.file == "<open file 1>" and caught.value.record == 1
    with pytest.raises(ValueError, match="table="):
        litepress.load(db, io.BytesIO(CSV))
    litepress.load(db, io.BytesIO(CSV), schema="CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT)")
    assert queried(db, "SELECT * FROM person") == ROWS
    with pytest.raises(ValueError, match="encoding="):
        litepress.load(db, io.StringIO("a\n1\n"), table="t", encoding="latin1", if_exists="overwrite")


def test_what_is_no_file_is_refused(db: Path) -> None:
    """`load(path, frame)` iterated over the columns: `a: cannot open`."""
    for wrong in (pd.DataFrame({"a": [1]}), pa.table({"a": [1]})):
        with pytest.raises(TypeError, match=r"write\(\)"):
            litepress.load(db, wrong)  # type: ignore[arg-type]
    for nothing in (b"bytes", [b"bytes"], 5, [5], {"a": 1}, []):
        with pytest.raises((TypeError, ValueError), match="files"):
            litepress.load(db, nothing)  # type: ignore[arg-type, list-item]


def test_what_a_file_raises_comes_through_and_leaves_nothing(db: Path, tmp_path: Path) -> None:
    class Fails(OneByOne):
        def read(self, size: int = -1) -> bytes:
            raise RuntimeError("not today")

    class Broken(OneByOne):
        def read(self, size: int = -1) -> bytes:
            raise OSError(errno.EIO, "input/output error")

    folder = tmp_path / "temporary"
    folder.mkdir()
    with pytest.raises(RuntimeError, match="not today"):
        litepress.load(db, Fails(CSV), temp_dir=folder)
    with pytest.raises(litepress.FileError, match="slow.csv: cannot read") as caught:
        litepress.load(db, Broken(CSV), temp_dir=folder)
    assert (caught.value.errno, caught.value.file) == (errno.EIO, "slow.csv")
    litepress.load(db, OneByOne(CSV), temp_dir=folder)
    assert list(folder.iterdir()) == [] and queried(db, "SELECT id, name FROM slow") == ROWS


def test_urls_are_what_fsspec_opens(db: Path) -> None:
    files = fsspec.filesystem("memory")
    files.pipe({"/logs/a.csv": CSV, "/logs/b.csv": b"id,name\n3,Mary\n", "/one.parquet": parquet()})
    try:
        summary = litepress.load(db, "memory://one.parquet")
        assert summary.tables == {"one": 2}
        litepress.load(db, "memory://logs/*.csv", table="log", if_exists="overwrite")
        assert queried(db, "SELECT id FROM log") == [(1,), (2,), (3,)]
        for opened in (lambda: fsspec.open("memory://logs/a.csv"), lambda: files.open("/logs/a.csv")):
            litepress.load(db, opened(), table="a", if_exists="overwrite")
            assert queried(db, "SELECT id, name FROM a") == ROWS
        with pytest.raises(litepress.FileError, match="memory://none.csv") as caught:
            litepress.load(db, "memory://none.csv", if_exists="overwrite")
        assert caught.value.file == "memory://none.csv"
        with pytest.raises(litepress.FileError, match="no file matches"):
            litepress.load(db, "memory://none/*.csv", if_exists="overwrite")
        assert litepress.plan("memory://logs/a.csv")["tables"][0]["name"] == "a"
    finally:
        files.rm("/", recursive=True)


@pytest.fixture
def server() -> Iterator[str]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200 if "people" in self.path else 404)
            self.end_headers()
            self.wfile.write(CSV)

        def log_message(self, *_: object) -> None:
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()
        thread.join()


def test_files_of_the_web_need_nothing_else(db: Path, server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)
    litepress.load(db, f"{server}/people.csv?version=2")
    assert queried(db, "SELECT id, name FROM people") == ROWS
    with pytest.raises(litepress.FileError, match="404"):
        litepress.load(db, f"{server}/none.csv", if_exists="overwrite")
    with pytest.raises(litepress.UsageError, match="pip install fsspec"):
        litepress.load(db, "s3://bucket/none.csv", if_exists="overwrite")


def database_in_wal_mode(folder: Path) -> tuple[bytes, bytes]:
    """Returns the bytes of a database and of its log, which has the second row."""
    path = folder / "wal.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = wal")
        connection.execute("CREATE TABLE t (a)")
        connection.execute("INSERT INTO t VALUES (1)")
        connection.execute("PRAGMA wal_checkpoint(truncate)")
        connection.execute("INSERT INTO t VALUES (2)")
        return path.read_bytes(), path.with_name("wal.db-wal").read_bytes()


def test_a_copy_of_a_database_may_lack_its_log(db: Path, tmp_path: Path) -> None:
    """Rows that were only in the log of a database in WAL mode were missing in silence."""
    main, log = database_in_wal_mode(tmp_path)
    files = fsspec.filesystem("memory")
    files.pipe({"/open.db": main, "/open.db-wal": log, "/closed.db": main, "/empty.db": main, "/empty.db-wal": b""})
    try:
        opens = (lambda: "memory://open.db", lambda: fsspec.open("memory://open.db"), lambda: files.open("/open.db"))
        for opened in opens:
            with pytest.raises(litepress.DataError, match="the database is in WAL mode, and rows in the log") as caught:
                litepress.load(db, opened(), table="t")
            assert "wal_checkpoint" in str(caught.value.advice) and not db.exists()
            assert "open" in str(caught.value.file)
        for name in ("closed", "empty"):
            summary = litepress.load(db, f"memory://{name}.db", if_exists="overwrite")
            assert summary.rows == 1 and not any("WAL" in note for note in summary.details["notes"])
    finally:
        files.rm("/", recursive=True)
    summary = litepress.load(db, io.BytesIO(main), table="t", if_exists="overwrite")
    assert summary.rows == 1 and any("is in WAL mode" in note for note in summary.details["notes"])
    plan = litepress.plan(io.BytesIO(main), table="t")
    assert any("is in WAL mode" in note for note in plan["notes"])
