"""``index`` and ``reindex``: indexes of a database that exists."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from . import _litepress, _notebook
from ._options import PathLike, Sync, checked_path, flag, number, refuse_own_lock, suggests, text
from ._progress import ProgressCallback, ProgressFunction


@dataclass(frozen=True)
class IndexSummary:
    """The result of :func:`index` and :func:`reindex`."""

    path: str
    """The database."""
    indexes: dict[str, str]
    """The indexes that were made, and their tables."""
    existing: list[str]
    """Indexes after IF NOT EXISTS that exist already."""
    seconds: float
    """Duration of the call."""
    locked_seconds: float
    """The time during which other programs could not write."""
    details: dict[str, Any] = field(repr=False)
    """The whole report, as ``litepress index --json`` prints it: entries of each index, and why SQLite made some."""

    def _repr_html_(self) -> str:
        """Returns what a notebook shows."""
        times = f"{_notebook.duration(self.seconds)}; others could not write for {_notebook.duration(self.locked_seconds)}"
        return _notebook.page(
            _notebook.heading(f"{len(self.indexes):,} indexes in {self.path}", times),
            _notebook.table(("index", "table"), self.indexes.items(), "Indexes"),
            _notebook.table(("index",), ((name,) for name in self.existing), "Existed already"),
        )


@suggests
def index(
    path: PathLike,
    *statements: str,
    threads: int | None = None,
    memory: int | str | None = None,
    temp_dir: PathLike | None = None,
    busy_timeout: float | None = None,
    through_wal: bool = False,
    sync: Sync = "full",
    progress: bool | ProgressFunction = False,
) -> IndexSummary:
    """Make indexes in a database that exists: all of them, or none.

    Each table is read once for all of its indexes. Other programs may use the database meanwhile; in WAL mode they may also write
    until the new pages are written.

    Parameters
    ----------
    path
        The database. This program must not have a lock on it.
    statements
        CREATE INDEX statements.
    busy_timeout
        The longest wait for the lock of another program, in seconds; by default 10.
    through_wal
        Whether all pages go through the WAL, for programs that copy it elsewhere. Always so if a sign of one is found.
    threads, memory, temp_dir, sync, progress
        As of :func:`write`.

    Raises
    ------
    SchemaError
        SQLite refuses a statement.
    ConstraintError
        Two rows have the same key of a unique index.
    TargetError
        Another program keeps the database locked, or this one does.
    FileError, CorruptError
        The database cannot be read or written, or a page of it breaks a rule of the file format.
    """
    if not statements:
        raise TypeError("index() needs at least one CREATE INDEX statement")
    return _run(path, statements, False, threads, memory, temp_dir, busy_timeout, through_wal, sync, progress)


@suggests
def reindex(
    path: PathLike,
    *names: str,
    threads: int | None = None,
    memory: int | str | None = None,
    temp_dir: PathLike | None = None,
    busy_timeout: float | None = None,
    through_wal: bool = False,
    sync: Sync = "full",
    progress: bool | ProgressFunction = False,
) -> IndexSummary:
    """Make indexes of a database once more.

    Parameters
    ----------
    path
        The database. This program must not have a lock on it.
    names
        Indexes, or tables for all of their indexes; by default all of the database.
    threads, memory, temp_dir, busy_timeout, through_wal, sync, progress
        As of :func:`index`.

    Raises
    ------
    UsageError
        There is no table or index of a name.
    TargetError, FileError, CorruptError
        As of :func:`index`.
    """
    return _run(path, names, True, threads, memory, temp_dir, busy_timeout, through_wal, sync, progress)


def _run(
    path: PathLike,
    texts: tuple[str, ...],
    again: bool,
    threads: int | None,
    memory: int | str | None,
    temp_dir: PathLike | None,
    busy_timeout: float | None,
    through_wal: bool,
    sync: Sync,
    progress: bool | ProgressFunction,
) -> IndexSummary:
    arguments = {
        "threads": number("threads", threads),
        "memory": memory,
        "temp_dir": None if temp_dir is None else checked_path(temp_dir),
        "busy_timeout": busy_timeout,
        "through_wal": flag("through_wal", through_wal),
        "sync": sync,
    }
    with ProgressCallback(progress) as callback:
        database = checked_path(path)
        refuse_own_lock(database)
        given = [text("statements" if not again else "names", one) for one in texts]
        details = json.loads(_litepress.index(database, given, again, arguments, callback.call))
    return IndexSummary(
        path=details["path"],
        indexes={made["name"]: made["table"] for made in details["indexes"]},
        existing=details["existing"],
        seconds=details["seconds"],
        locked_seconds=details["locked_seconds"],
        details=details,
    )
