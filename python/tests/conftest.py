"""Fixtures of all tests: a target path, queries through the standard library's sqlite3, and a check for leftover files."""

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
    """Returns the rows of a query on a database, given as a file or as bytes."""
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
    """The path of a test's database."""
    return tmp_path / "made.db"


@pytest.fixture(autouse=True, scope="session")
def ctrl_c_is_heard_by_the_tests() -> None:
    """Restores Python's SIGINT handler: a shell's background jobs ignore the signal, and a test then filled the disk."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def nothing_is_left_behind(tmp_path: Path) -> Any:
    """Fails a test that leaves a temporary file of litepress beside its databases."""
    yield
    left = [path.name for path in tmp_path.rglob("*") if ".litepress" in path.name or path.name.endswith(".tmp")]
    assert left == []
