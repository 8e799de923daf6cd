"""The ADBC driver of litepress: bulk ingest by the press, SQL by SQLite.

``adbc_driver_litepress.dbapi.connect(path)`` gives a connection that pandas, polars, DuckDB and pyarrow take. polars finds the
driver by its URI, too: ``frame.write_database("t", "litepress:///x.db", engine="adbc")``.
"""

# There is no ``__version__``: polars would take it for a version of ADBC's own drivers, and 0.1 for an old one.

from __future__ import annotations

import enum
from collections.abc import Mapping

import adbc_driver_manager
from litepress import _litepress

__all__ = ["ConnectionOptions", "DatabaseOptions", "StatementOptions", "connect"]


class DatabaseOptions(enum.Enum):
    """Options of a database. Those of statements hold for all of its statements, too."""

    #: Path or URI: ``x.db``, ``litepress:///x.db``, ``file:x.db?mode=ro``.
    URI = "uri"


class ConnectionOptions(enum.Enum):
    """Options of a connection. Those of statements hold for all of its statements, too."""

    #: The way of the last ingest, which a commit may decide: ``print``, ``wait``, ``pages``, ``copy``, ``insert``.
    WAY = "litepress.way"


class StatementOptions(enum.Enum):
    """Options of a statement. Lists have semicolons between them, and names commas: ``area; age, active``."""

    PRIMARY_KEY = "litepress.primary_key"
    WITHOUT_ROWID = "litepress.without_rowid"
    STRICT = "litepress.strict"
    TYPES = "litepress.types"
    STORE_AS = "litepress.store_as"
    NOT_NULL = "litepress.not_null"
    INDEXES = "litepress.indexes"
    UNIQUE = "litepress.unique"
    FOREIGN_KEYS = "litepress.foreign_keys"
    ON_CONFLICT = "litepress.on_conflict"
    KEY = "litepress.key"
    UPDATE_COLUMNS = "litepress.update_columns"
    TRUNCATE = "litepress.truncate"
    ADD_COLUMNS = "litepress.add_columns"
    ENFORCE_FOREIGN_KEYS = "litepress.enforce_foreign_keys"
    THROUGH_WAL = "litepress.through_wal"
    BUSY_TIMEOUT = "litepress.busy_timeout"
    PAGE_SIZE = "litepress.page_size"
    THREADS = "litepress.threads"
    MEMORY = "litepress.memory"
    TEMP_DIR = "litepress.temp_dir"
    ANALYZE = "litepress.analyze"
    SYNC = "litepress.sync"
    VERIFY = "litepress.verify"
    #: The number of rows of a batch.
    BATCH_ROWS = "adbc.sqlite.query.batch_rows"
    #: Whether parameters are found by their names.
    BIND_BY_NAME = "adbc.sqlite.statement.bind_by_name"
    #: The way of the last ingest.
    WAY = "litepress.way"


def connect(uri: str | None = None, db_kwargs: Mapping[str, str] | None = None) -> adbc_driver_manager.AdbcDatabase:
    """Return a low-level database: a file that may not exist yet, or memory."""
    options = dict(db_kwargs or {})
    if uri is not None:
        options["uri"] = uri
    return adbc_driver_manager.AdbcDatabase(driver=driver_path(), entrypoint="AdbcDriverLitepressInit", **options)


def driver_path() -> str:
    """Return the path of the shared library with the driver, which is that of the package ``litepress``."""
    path = _litepress.__file__
    assert path is not None, "an extension module is a file"
    return path
