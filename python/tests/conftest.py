"""What the tests share: a folder, and looking at databases with the standard library's sqlite3."""

from __future__ import annotations

import signal
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

Rows = list[tuple[Any, ...]]


def queried(path: Path | bytes, sql: str) -> Rows:
    """The rows of a query; the database is a file, or the bytes of one."""
    with closing(sqlite3.connect(":memory:" if isinstance(path, bytes) else path)) as database:
        if isinstance(path, bytes):
            if not hasattr(database, "deserialize"):
                pytest.skip("Python 3.10 has no Connection.deserialize")
            database.deserialize(path)
        return database.execute(sql).fetchall()


@pytest.fixture
def query() -> Callable[[Path | bytes, str], Rows]:
    return queried


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """Where a test's database goes."""
    return tmp_path / "made.db"


@pytest.fixture(autouse=True, scope="session")
def ctrl_c_is_heard_by_the_tests() -> None:
    """A shell that runs them in the background has them ignore it: a test of Ctrl-C then wrote rows until the disk was full."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def nothing_is_left_behind(tmp_path: Path) -> Any:
    """Whatever a test does: no temporary file of ours stays beside its databases."""
    yield
    left = [path.name for path in tmp_path.rglob("*") if ".litepress" in path.name or path.name.endswith(".tmp")]
    assert left == []
