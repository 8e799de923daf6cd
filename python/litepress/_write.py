"""``write``, ``to_bytes`` and ``connect``: databases of data that are complete."""

from __future__ import annotations

import os
import sqlite3
import string
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from . import _litepress
from ._data import Arrow, Refused, Tables
from ._describe import as_data_error, describe, refuse_index
from ._options import (
    Columns,
    FtsContent,
    IfTableExists,
    Lists,
    OnConflict,
    Pairs,
    SchemaLike,
    Sync,
    Verify,
    checked_adapters,
    expanded,
    making_options,
    optional_flag,
    pairs,
    pick_options,
    refuse_own_lock,
    schema_text,
    suggests,
    table_options,
)
from ._progress import ProgressCallback, ProgressFunction
from ._result import Summary

#: Names are equal to SQLite if they differ only in the case of ASCII letters.
_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)

Adapters = Mapping[type, Callable[[Any], Any]]


@suggests
def write(
    path: str | os.PathLike[str],
    tables: Tables,
    *,
    schema: SchemaLike | None = None,
    columns: Columns | None = None,
    primary_key: Columns | None = None,
    without_rowid: bool = False,
    strict: bool = False,
    types: Pairs | None = None,
    not_null: Columns | None = None,
    indexes: Lists | None = None,
    fts: Columns | None = None,
    fts_content: FtsContent | None = None,
    fts_tokenizer: str | None = None,
    unique: Lists | None = None,
    foreign_keys: Pairs | None = None,
    store_as: Pairs | None = None,
    adapters: Adapters | None = None,
    index: bool | None = None,
    if_exists: IfTableExists = "fail",
    on_conflict: OnConflict = "abort",
    key: str | Sequence[str] | None = None,
    update_columns: str | Sequence[str] | None = None,
    truncate: bool = False,
    add_columns: bool = False,
    enforce_foreign_keys: bool = False,
    through_wal: bool = False,
    busy_timeout: float | None = None,
    page_size: int | None = None,
    threads: int | None = None,
    memory: int | str | None = None,
    temp_dir: str | os.PathLike[str] | None = None,
    analyze: bool = False,
    part: bool = False,
    sync: Sync = "full",
    verify: Verify = "none",
    progress: bool | ProgressFunction = False,
) -> Summary:
    """Make a SQLite database of tables: a file that is whole, or absent.

    ``tables`` maps names to data. The data of a single table need no name: the table is called like the schema's only
    table, or like the file. Data are

    * anything with the Arrow PyCapsule interface: tables, frames and readers of pyarrow, polars, pandas, DuckDB, ADBC;
      batches are read one after another and never copied whole;
    * an iterable of such tables, frames or batches. All have the columns of the first; their types may differ if that changes
      no value (``int8`` and ``int64``), and others are refused;
    * any iterable of rows: tuples, lists, dicts, dataclasses, named tuples, objects with attributes. It is read once, in
      the calling thread, a piece at a time;
    * columns: a mapping of names to sequences of one length, NumPy arrays among them, or a structured array.

    ``help(litepress)`` lists the stored form of each Python type. No value changes in silence. The index of a pandas frame
    becomes the first column if it has a name or is no ``RangeIndex``. Each DuckDB connection can supply one relation at a time.

    Without a ``schema`` each table has the columns of its data. Arrow's types decide the types of its columns, the values of
    the first rows those of others.

    With a schema (CREATE statements, or a path to a file of them) columns are matched by name, tuples by position, and
    values are stored as SQLite would store them:

    * A column that no row has gets its DEFAULT, evaluated for every row if it calls ``random()`` or the like. An INTEGER
      PRIMARY KEY is numbered.
    * A key that only some dicts lack is NULL in these rows.
    * A numeric column cuts a text that is a number, a NUL character and more at that character, and stores the number, as
      SQLite does. ``details["cut_texts"]`` of the summary counts such texts.

    Parameters
    ----------
    path
        The file to make.
    tables
        The data, by table.
    schema
        ``CREATE`` statements for all tables: SQLite reads them, so all that it knows is allowed.
    columns
        Names of the columns of rows that have none: ``["id", "name"]``, or by table.
    primary_key
        Column or columns of the key: ``"id"``, ``("a", "b")``, or by table: ``{"user": "id"}``.
    without_rowid, strict
        The tables are WITHOUT ROWID, or STRICT.
    types
        Declared types in place of those that were found: ``{"code": "TEXT"}``, ``{"user.code": "TEXT"}``.
    not_null
        Columns that take no NULL.
    indexes, unique
        Lists of columns and tuples of columns: ``["area", ("age", "active")]``, or by table.
    fts, fts_content, fts_tokenizer
        Columns of a full-text index: ``("subject", "body")``, or by table. It is a table ``mails_fts`` of FTS5 over the table
        ``mails``, with triggers that keep it up to date. The texts are in the table, or copied into the index: ``"own"``. And its
        tokenizer: ``"porter"``, ``"trigram"``.
    foreign_keys
        ``{"order.customer": "customer.id"}``
    store_as
        Other forms for columns of Arrow data: ``{"created": "unixepoch"}``, ``{"big": "text"}``.
    adapters
        Functions for values of a type, which return what can be stored: ``{Point: str}``. They hold for the values of typed
        columns, too, which are then read as Python objects.
    index
        Whether the index of pandas frames becomes a column, called ``index`` if it has no name. By default a ``RangeIndex``
        without a name does not.
    if_exists
        ``"fail"``; ``"append"`` adds the rows to these tables in one transaction, makes those that the file lacks, and keeps
        everything else, while other programs have it open; ``"replace"`` replaces these tables and keeps everything else in the file, as in pandas; ``"overwrite"``
        replaces the whole file. The old file stays until the new one takes its place.
    on_conflict
        Rows with the same key: ``"abort"`` fails, ``"ignore"`` keeps the first, ``"replace"`` the last, and ``"update"`` gives the
        values of the columns that the data have to the row with the key (upsert). Other columns keep their values. Dicts that
        update rows have the same keys: others are refused, because NULL would take the place of a value.
    key, update_columns
        Columns of the unique key that decides which row is updated, by default the primary key; and the columns that change, by
        default all that the data have.
    truncate, add_columns, enforce_foreign_keys, through_wal, busy_timeout
        For ``if_exists="append"``: delete the rows of these tables before; add columns that a table lacks; enforce foreign keys,
        which SQLite does only on request; write all pages through the WAL, for programs that copy it; seconds to wait for the lock of another program, by default 10.
    page_size
        Bytes of a page: a power of two from 512 to 65536.
    threads
        Number of threads that build pages; by default one a core.
    memory
        Bytes to work in, or ``"512MiB"``; by default a quarter of the machine's or the container's.
    temp_dir
        Folder for temporary files of sorts that exceed the memory; by default that of ``path``.
    analyze
        Whether SQLite's planner gets statistics, as from ``ANALYZE``.
    part
        Whether to write a part of a database, for :func:`stitch`, instead of a database.
    sync
        ``"full"``: the file survives a power cut once this returns. ``"off"``: the system decides when to write.
    verify
        ``"quick"`` or ``"full"`` checks the file before it gets its name.
    progress
        ``True`` for a line on standard error, or a function that is called with a :class:`Progress`.

    Returns
    -------
    Summary
        Rows, bytes, seconds and more.

    Raises
    ------
    TypeError, ValueError
        Arguments that are wrong by themselves, and data of no known shape.
    DataError, ConstraintError
        A value that cannot be stored, a row that violates a constraint: with ``table``, ``record``, ``column``, ``value``.
    TargetExistsError, FileError
        The file exists, or cannot be written.

    After any exception, also one of your own iterators, ``path`` is as it was. Ctrl-C leaves it so too, unless it came just
    after the complete database, whole and synced, got its name.
    """
    given = locals()
    file = Path(expanded(path))
    report, _ = _build(file, given)
    return Summary.of(report, file)


@suggests
def to_bytes(
    tables: Tables,
    *,
    schema: SchemaLike | None = None,
    columns: Columns | None = None,
    primary_key: Columns | None = None,
    without_rowid: bool = False,
    strict: bool = False,
    types: Pairs | None = None,
    not_null: Columns | None = None,
    indexes: Lists | None = None,
    fts: Columns | None = None,
    fts_content: FtsContent | None = None,
    fts_tokenizer: str | None = None,
    unique: Lists | None = None,
    foreign_keys: Pairs | None = None,
    store_as: Pairs | None = None,
    adapters: Adapters | None = None,
    index: bool | None = None,
    on_conflict: OnConflict = "abort",
    page_size: int | None = None,
    threads: int | None = None,
    memory: int | str | None = None,
    temp_dir: str | os.PathLike[str] | None = None,
    analyze: bool = False,
    progress: bool | ProgressFunction = False,
) -> bytes:
    """Make a SQLite database in memory: the bytes that its file would have.

    ``sqlite3.Connection.deserialize`` takes them, and so does ``Path.write_bytes``. Arguments are those of :func:`write`;
    data that are not in a mapping need a ``schema`` of one table, which names it.
    """
    given = locals()
    report, data = _build(None, given)
    cut_texts = Summary.of(report, None).details["cut_texts"]
    if cut_texts:
        message = f"cut {cut_texts} texts in numeric columns at a NUL character, as SQLite does: declare the columns TEXT"
        warnings.warn(message, stacklevel=3)
    assert data is not None, "a database without a path is bytes"
    return data


@suggests
def connect(
    tables: Tables,
    *,
    schema: SchemaLike | None = None,
    columns: Columns | None = None,
    primary_key: Columns | None = None,
    without_rowid: bool = False,
    strict: bool = False,
    types: Pairs | None = None,
    not_null: Columns | None = None,
    indexes: Lists | None = None,
    fts: Columns | None = None,
    fts_content: FtsContent | None = None,
    fts_tokenizer: str | None = None,
    unique: Lists | None = None,
    foreign_keys: Pairs | None = None,
    store_as: Pairs | None = None,
    adapters: Adapters | None = None,
    index: bool | None = None,
    on_conflict: OnConflict = "abort",
    page_size: int | None = None,
    threads: int | None = None,
    memory: int | str | None = None,
    temp_dir: str | os.PathLike[str] | None = None,
    analyze: bool = False,
    progress: bool | ProgressFunction = False,
    check_same_thread: bool = True,
    detect_types: int = 0,
    isolation_level: Literal["DEFERRED", "IMMEDIATE", "EXCLUSIVE"] | None = "DEFERRED",
    cached_statements: int = 128,
    factory: type[sqlite3.Connection] | None = None,
    autocommit: bool | None = None,
) -> sqlite3.Connection:
    """Make a SQLite database in memory, and connect to it with the standard library's ``sqlite3``.

    Arguments are those of :func:`to_bytes`, and of ``sqlite3.connect``: ``check_same_thread=False`` for the test client of a web
    framework, which asks from another thread. ``autocommit`` needs Python 3.12. The database is the connection's own: it may be
    changed, and is gone when the connection is closed.
    """
    given = locals()
    options = {name: given.pop(name) for name in _OF_SQLITE3}
    if options["factory"] is None:
        del options["factory"]
    if options["autocommit"] is None:
        del options["autocommit"]
    elif sys.version_info < (3, 12):
        raise TypeError("autocommit= needs Python 3.12")
    # An option that sqlite3 refuses fails before any work is done.
    connection: sqlite3.Connection = sqlite3.connect(":memory:", **options)
    try:
        _fill(connection, to_bytes(**given))
    except BaseException:
        connection.close()
        raise
    return connection


_OF_SQLITE3 = ("check_same_thread", "detect_types", "isolation_level", "cached_statements", "factory", "autocommit")


def _fill(connection: sqlite3.Connection, data: bytes) -> None:
    """Makes the bytes of a database the content of a new connection in memory."""
    if hasattr(connection, "deserialize"):
        connection.deserialize(data)
        return
    # Before Python 3.11 only a backup of another database can fill one in memory.
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "database.db"
        file.write_bytes(data)
        source = sqlite3.connect(file)
        try:
            source.backup(connection)
        finally:
            source.close()


def _build(path: Path | None, given: dict[str, Any]) -> tuple[str, bytes | None]:
    """Make a database by the arguments of :func:`write`. Return the report as JSON, and the bytes if there is no path."""
    shape, making, columns = pick_options(table_options, given), pick_options(making_options, given), given["columns"]
    text = None if given["schema"] is None else schema_text(given["schema"])
    asked = [name for name, value in shape.items() if value]
    if text is not None and asked:
        raise ValueError(f"{asked[0]}= has no effect: schema= defines the tables; write it into the schema")
    if path is not None:
        _refuse_special(path)
    named = _named(given["tables"], path, text)
    _refuse_twins(named)
    store_as, adapters = pairs("store_as", given["store_as"]), checked_adapters(given["adapters"])
    index = optional_flag("index", given["index"])
    described = [
        (name, describe(data, _names(columns, name), table=name, adapters=adapters, index=index)) for name, data in named.items()
    ]
    if text is not None:
        for name, data in described:
            if getattr(data, "index", ()):
                refuse_index(data, name, _litepress.columns_of(*text, name))
    if path is not None:
        # Iterators have run up to their first row.
        refuse_own_lock(path)
    with ProgressCallback(given["progress"]) as callback:
        try:
            return _litepress.write(path, described, text, shape, store_as, making, adapters, callback.call)
        except Exception:
            raise_failure(described)
            raise


def raise_failure(described: Sequence[tuple[str, Any]]) -> None:
    """Raises the exception of the user's iterator of record batches that made the writing fail, or the refusal of a batch."""
    for name, data in described:
        error = data.failure.error if isinstance(data, Arrow) else None
        if isinstance(error, Refused):
            raise as_data_error(error, name) from error.__cause__
        if error is not None:
            raise error from None


def _refuse_special(path: Path) -> None:
    if str(path) == ":memory:":
        raise ValueError("a database in memory has no path: to_bytes() and connect() make one")
    refuse_own_lock(path)


def _refuse_twins(tables: Mapping[str, Any]) -> None:
    """Refuse two tables of one name, and one iterator for two tables: each would get only some of its rows."""
    names: dict[str, str] = {}
    for name in tables:
        other = names.setdefault(name.translate(_LOWER), name)
        if other != name:
            raise ValueError(f"{other!r} and {name!r} are one name to SQLite")
    once = [id(data) for data in tables.values() if isinstance(data, Iterator)]
    if len(set(once)) < len(once):
        raise ValueError("one iterator is the data of two tables: it can be read only once")


def _named(tables: Any, path: Path | None, schema: tuple[str, str] | None) -> Mapping[str, Any]:
    """Return the data by the names of their tables."""
    if isinstance(tables, Mapping):
        for name in tables:
            if not isinstance(name, str):
                raise TypeError(f"names of tables are str, not {type(name).__name__}: {name!r}")
        return tables
    only = None if schema is None else _litepress.only_table(*schema)
    if only is not None:
        return {only: tables}
    if schema is not None:
        raise ValueError("the schema has not one table: say which one the data are for, {'name': data}")
    if path is None or not path.stem:
        raise ValueError("the table needs a name: pass {'name': data}")
    return {path.stem: tables}


def _names(columns: Columns | None, table: str) -> Sequence[str] | None:
    """Return the names that ``columns=`` gives to the columns of a table."""
    names = columns.get(table) if isinstance(columns, Mapping) else columns
    if names is None:
        return None
    return [names] if isinstance(names, str) else list(names)
