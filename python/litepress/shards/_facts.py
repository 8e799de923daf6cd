"""Facts of a database for the manifest: schema, keys, checksum."""

from __future__ import annotations

import sqlite3
import urllib.parse
import zlib
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ._keys import Key
from ._manifest import Shard


@dataclass(frozen=True)
class Facts:
    """Facts of a database that was just made."""

    shard: Shard
    schema: tuple[str, ...]
    primary_key: tuple[str, ...]


def facts_of(path: Path, table: str, column: str | None = None, *, counts_rows: bool = False) -> Facts:
    """Reads the facts of a database. ``column`` has one value in all rows. The name of the file is left open, and the rows unless they are counted."""
    with closing(connect(path)) as database:
        schema = schema_of(database)
        primary_key = primary_key_of(database, table)
        smallest, largest = key_range(database, table, primary_key)
        found = database.execute(f"SELECT {quoted(column)} FROM {quoted(table)} LIMIT 1").fetchone() if column else None
        ((pages,),) = database.execute("PRAGMA page_count")
        ((rows,),) = database.execute(f"SELECT count(*) FROM {quoted(table)}") if counts_rows else ((0,),)
    size, checksum = checksum_of(path)
    shard = Shard("", rows, size, pages, checksum, smallest, largest, found[0] if found else None)
    return Facts(shard, schema, primary_key)


def schema_of(database: sqlite3.Connection) -> tuple[str, ...]:
    """Returns the CREATE statements of a database, without those of SQLite's own tables: a shard without rows has no statistics."""
    select = r"SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY rowid"
    return tuple(sql for (sql,) in database.execute(select))


def connect(path: Path) -> sqlite3.Connection:
    """Opens a database that nobody changes, for reading."""
    return sqlite3.connect(f"file:{urllib.parse.quote(str(path))}?mode=ro&immutable=1", uri=True, check_same_thread=False)


def quoted(name: str | None) -> str:
    """Returns a name as SQL writes it."""
    return '"' + (name or "").replace('"', '""') + '"'


def primary_key_of(database: sqlite3.Connection, table: str) -> tuple[str, ...]:
    """Returns the columns of a table's primary key."""
    columns = [(row[5], row[1]) for row in database.execute(f"PRAGMA table_xinfo({quoted(table)})") if row[5]]
    return tuple(name for _, name in sorted(columns))


def key_range(database: sqlite3.Connection, table: str, key: tuple[str, ...]) -> tuple[Key | None, Key | None]:
    """Returns the smallest and the largest key; ``None`` if there is none, or if SQLite does not compare its bytes."""
    if not key or not _is_binary(database, table):
        return None, None

    def end(direction: str) -> Any:
        order = ", ".join(f"{quoted(name)} {direction}" for name in key)
        columns = ", ".join(quoted(name) for name in key)
        return database.execute(f"SELECT {columns} FROM {quoted(table)} ORDER BY {order} LIMIT 1").fetchone()

    return end("ASC"), end("DESC")


def _is_binary(database: sqlite3.Connection, table: str) -> bool:
    """Returns whether the collation BINARY orders a table's primary key."""
    for _, index, _, origin, _ in database.execute(f"PRAGMA index_list({quoted(table)})").fetchall():
        if origin == "pk":
            return all(row[4] == "BINARY" for row in database.execute(f"PRAGMA index_xinfo({quoted(index)})") if row[5])
    return True


def checksum_of(path: Path) -> tuple[int, str]:
    """Returns the bytes of a file, and its checksum."""
    size = checksum = 0
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            size += len(block)
            checksum = zlib.crc32(block, checksum)
    return size, f"crc32:{checksum:08x}"
