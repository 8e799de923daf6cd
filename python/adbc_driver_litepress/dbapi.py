"""The DBAPI of :mod:`adbc_driver_manager` with the driver of litepress."""

from __future__ import annotations

import os
from collections.abc import Mapping

import adbc_driver_litepress
import adbc_driver_manager
from adbc_driver_manager.dbapi import (
    BINARY,
    DATETIME,
    NUMBER,
    ROWID,
    STRING,
    Connection,
    Cursor,
    DatabaseError,
    DataError,
    Date,
    DateFromTicks,
    Error,
    IntegrityError,
    InterfaceError,
    InternalError,
    NotSupportedError,
    OperationalError,
    ProgrammingError,
    Time,
    TimeFromTicks,
    Timestamp,
    TimestampFromTicks,
    Warning,
    apilevel,
    threadsafety,
)

__all__ = [
    "BINARY",
    "DATETIME",
    "NUMBER",
    "ROWID",
    "STRING",
    "Connection",
    "Cursor",
    "DataError",
    "DatabaseError",
    "Date",
    "DateFromTicks",
    "Error",
    "IntegrityError",
    "InterfaceError",
    "InternalError",
    "NotSupportedError",
    "OperationalError",
    "ProgrammingError",
    "Time",
    "TimeFromTicks",
    "Timestamp",
    "TimestampFromTicks",
    "Warning",
    "apilevel",
    "connect",
    "paramstyle",
    "threadsafety",
]

paramstyle = "qmark"


def connect(
    uri: str | os.PathLike[str] | None = None,
    db_kwargs: Mapping[str, str] | None = None,
    conn_kwargs: Mapping[str, str] | None = None,
    *,
    autocommit: bool = False,
) -> Connection:
    """Connect to a SQLite database.

    ``uri`` is a path, which need not exist yet, or a URI: ``litepress:///x.db``. Without it the database is in memory. ``db_kwargs``
    are options: ``{"litepress.primary_key": "id", "litepress.indexes": "area; age, active"}``.
    """
    database = connection = None
    try:
        database = adbc_driver_litepress.connect(None if uri is None else os.fspath(uri), db_kwargs)
        connection = adbc_driver_manager.AdbcConnection(database, **dict(conn_kwargs or {}))
        return Connection(database, connection, autocommit=autocommit)
    except Exception:
        if connection is not None:
            connection.close()
        if database is not None:
            database.close()
        raise
