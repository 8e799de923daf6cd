"""``create``: a writer for programs that produce rows while they run."""

from __future__ import annotations

import atexit
import os
import warnings
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn

from . import _litepress
from ._data import Rows, is_sequence
from ._describe import describe, refuse_index
from ._options import (
    IfDatabaseExists,
    OnConflict,
    SchemaLike,
    Sync,
    Verify,
    checked_adapters,
    expanded,
    making_options,
    optional_flag,
    pick_options,
    refuse_own_lock,
    schema_text,
    suggests,
)
from ._result import Summary
from ._write import raise_failure

Adapters = Mapping[type, Callable[[Any], Any]]


@suggests
def create(
    path: str | os.PathLike[str] | None,
    schema: SchemaLike | None = None,
    *,
    if_exists: IfDatabaseExists = "fail",
    page_size: int | None = None,
    threads: int | None = None,
    memory: int | str | None = None,
    temp_dir: str | os.PathLike[str] | None = None,
    analyze: bool = False,
    sync: Sync = "full",
    verify: Verify = "none",
    on_conflict: OnConflict = "abort",
    key: str | Sequence[str] | None = None,
    update_columns: str | Sequence[str] | None = None,
    truncate: bool = False,
    enforce_foreign_keys: bool = False,
    through_wal: bool = False,
    busy_timeout: float | None = None,
    adapters: Adapters | None = None,
) -> Writer:
    """Begin a SQLite database whose rows arrive while the program runs.

        with litepress.create("metrics.db", "CREATE TABLE metrics(name TEXT NOT NULL, value REAL NOT NULL)") as db:
            metrics = db["metrics"]
            metrics.append(("load", 0.5))
            metrics.extend({"name": names, "value": array})

    The file gets its name when the block ends. If an exception ends the block, no file is made and an old one stays as it was.

    Any table takes rows at any time. The first table to get some mebibytes of rows is written while the program runs.
    Rows of the others wait in a part of ``memory``, then in a temporary file, and are written at the end.

    Parameters
    ----------
    path
        The file to make; ``None`` or ``":memory:"`` for a database in memory, which :meth:`Writer.to_bytes` returns.
    schema
        ``CREATE`` statements for all tables, or a path to a file of them. With ``if_exists="append"`` the tables that the file has
        stay as they are, and a file that exists needs no schema.
    if_exists
        ``"fail"``; ``"append"`` adds all rows in one transaction when the block ends, and holds no lock before; ``"overwrite"``
        replaces the whole file.
    key, update_columns, truncate, enforce_foreign_keys, through_wal, busy_timeout, page_size, threads, memory, temp_dir, analyze, sync, verify, on_conflict, adapters
        As for :func:`write`.
    """
    making = pick_options(making_options, locals())
    if schema is None and if_exists != "append":
        raise TypeError("create() needs a schema, except with if_exists=\"append\"")
    file = None if path is None or path == ":memory:" else Path(expanded(path))
    if file is not None:
        refuse_own_lock(file)
    checked = checked_adapters(adapters)
    return Writer._of(_litepress.Writer(file, None if schema is None else schema_text(schema), making, checked), checked, file)


class Writer:
    """A database in the making: made by :func:`create`, and published by :meth:`close` or the end of its ``with`` block."""

    _inner: _litepress.Writer
    _adapters: Adapters
    _path: Path | None
    _is_over: bool
    _summary: Summary | None
    _bytes: bytes | None
    _process: int

    def __init__(self) -> None:
        raise TypeError("writers are made by litepress.create()")

    @classmethod
    def _of(cls, inner: _litepress.Writer, adapters: Adapters, path: Path | None) -> Writer:
        writer = object.__new__(cls)
        writer._inner = inner
        writer._adapters = adapters
        writer._path = path
        writer._is_over = False
        writer._summary = None
        writer._bytes = None
        writer._process = os.getpid()
        _open.add(writer)
        return writer

    def __getitem__(self, table: str) -> TableWriter:
        """Return the table of this name. Raise ``KeyError`` if there is none."""
        position = self._inner.position(table) if isinstance(table, str) else None
        if position is None:
            raise KeyError(f"there is no table {table!r}: the schema has {', '.join(self.tables)}")
        return TableWriter._of(self._inner, position, self._adapters)

    def __contains__(self, table: object) -> bool:
        return isinstance(table, str) and self._inner.position(table) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(self.tables)

    @property
    def tables(self) -> list[str]:
        """The names of the tables, in the order of the schema."""
        return self._inner.names

    @property
    def summary(self) -> Summary | None:
        """The summary of the published database; ``None`` before."""
        return self._summary

    def close(self) -> Summary:
        """Complete the database and give it its name. If that fails, nothing is left of it.

        Closing a published writer again returns the same summary.

        A database that exists is not written to while this program has a lock on it by another connection, of ``sqlite3`` for
        instance: another copy of SQLite does not notice that lock. ``TargetError`` tells so, and the writer keeps its rows. Call
        ``close`` again once the transaction has ended; a connection in WAL mode has a lock until it is closed.
        """
        if self._summary is not None:
            return self._summary
        try:
            report, self._bytes = self._inner.close()
        finally:
            if self._process == os.getpid():
                self._is_over = not self._inner.is_open
        self._summary = Summary.of(report, self._path)
        return self._summary

    def abort(self) -> None:
        """Give the database up: nothing is left of it, and an old file stays as it was. A published database stays, too."""
        self._inner.abort()
        self._is_over = True

    def to_bytes(self) -> bytes:
        """Return the bytes of a database in memory, once the writer is closed."""
        if self._summary is None:
            raise ValueError("the database is not complete: close the writer first")
        if self._bytes is None:
            raise ValueError(f"the database is a file: {self._summary.path}")
        return self._bytes

    def __reduce__(self) -> NoReturn:
        raise TypeError("a writer cannot be copied or pickled: its database has one owner")

    def __enter__(self) -> Writer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is not None:
            if self._process == os.getpid():
                self.abort()
        elif not self._was_aborted():
            self.close()

    def _was_aborted(self) -> bool:
        """Return whether the database was given up within the block: its end must not fail for that."""
        return self._is_over and self._summary is None

    def __repr__(self) -> str:
        state = "published" if self._summary is not None else "given up" if self._is_over else "open"
        return f"<litepress.Writer of {', '.join(self.tables)}: {state}>"

    def __del__(self) -> None:
        self._give_up(stacklevel=3)

    def _give_up(self, stacklevel: int) -> None:
        if getattr(self, "_is_over", True) or self._process != os.getpid():
            return
        message = f"{self!r} was neither closed nor aborted: its database is given up"
        try:
            warnings.warn(message, ResourceWarning, stacklevel=stacklevel, source=self)
        finally:
            self.abort()


class TableWriter:
    """A table of a database in the making: ``db["name"]``."""

    __slots__ = ("_adapters", "_append", "_inner", "_position")

    _append: Callable[[object, int], None]
    _inner: _litepress.Writer
    _position: int
    _adapters: Adapters

    def __init__(self) -> None:
        raise TypeError("a table is had from its writer: db['name']")

    @classmethod
    def _of(cls, inner: _litepress.Writer, position: int, adapters: Adapters) -> TableWriter:
        table = object.__new__(cls)
        table._inner = inner
        table._append = inner.append
        table._position = position
        table._adapters = adapters
        return table

    def __reduce__(self) -> NoReturn:
        raise TypeError("the table of a writer cannot be copied or pickled: use db['name'] again")

    @property
    def name(self) -> str:
        """The table's name."""
        return self._inner.names[self._position]

    def append(self, row: Any) -> None:
        """Add a row: a tuple or list of the values of all columns, a dict, a dataclass or another object with attributes.

        A refused row is not added, and the writer stays open. If a row violates a constraint of its table (NOT NULL, the
        types of STRICT tables, UNIQUE), a later call may report it. That gives the database up. With ``on_conflict="update"`` all
        rows of a table have values for the same columns: a dict with other keys is refused.
        """
        self._append(row, self._position)

    def extend(self, data: Any, *, index: bool | None = None) -> None:
        """Add many rows at once: any data that :func:`write` takes. ``index`` is its argument for pandas frames.

        If an iterator raises an exception, the rows before stay, as for ``list.extend``. If columns or Arrow data are
        refused in the middle, some of their rows may stay. A mistake within Arrow data gives the database up.
        """
        described = describe(data, table=self.name, adapters=self._adapters, index=optional_flag("index", index))
        if getattr(described, "index", ()):
            refuse_index(described, self.name, self._inner.columns(self._position))
        try:
            if isinstance(described, Rows):
                names, rows = described.names, described.data
                if names is not None:
                    # Rows of a cursor are matched by name, as those of write() are.
                    rows = (dict(zip(names, row)) if is_sequence(row) else row for row in rows)
                self._inner.extend_rows(rows, self._position)
            else:
                self._inner.extend(described, self._position)
        except Exception:
            raise_failure([(self.name, described)])
            raise

    def __len__(self) -> int:
        """Return the number of rows added so far."""
        return self._inner.rows(self._position)

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"<litepress.TableWriter of {self.name}>"


_open: weakref.WeakSet[Writer] = weakref.WeakSet()


def _give_up_all() -> None:
    """Give up all open writers at the end of the program, so that no unfinished file stays behind."""
    for writer in list(_open):
        writer._give_up(stacklevel=1)


atexit.register(_give_up_all)
