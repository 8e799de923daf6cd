"""Sets of shards that are complete: find a key, read rows, check files."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from .._check import check as check_database
from .._errors import Error, FileError
from .._options import suggests
from ._facts import checksum_of, connect, key_range, quoted, schema_of
from ._keys import key_order, order, show
from ._manifest import NAME, Manifest, Shard
from ._stores import store_at


@dataclass(frozen=True)
class Finding:
    """A difference between the manifest and its files."""

    file: str
    """The file."""
    what: str
    """Description of the difference."""

    def __str__(self) -> str:
        return f"{self.file}: {self.what}"


@dataclass(frozen=True)
class ShardsReport:
    """The result of :meth:`Shards.check`, true if every shard is as the manifest says."""

    ok: bool
    """Whether nothing was found."""
    findings: list[Finding]
    """Differences between manifest and files, and faults of databases."""
    orphans: list[str]
    """Files that the manifest does not name: a job is running, or was killed. The next commit removes them. They are no findings."""
    shards: int
    """Number of shards that were read."""
    rows: int
    """Rows that were counted."""

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        return "ok" if self.ok else "\n".join(str(finding) for finding in self.findings)


@suggests
def open_shards(path: str | os.PathLike[str], *, storage_options: dict[str, Any] | None = None) -> Shards:
    """Open a set of shards: read its manifest. What is published later does not change the result.

    Raises
    ------
    FileError
        There is no set of shards.
    """
    return Shards.of(os.fsdecode(path), storage_options)


@dataclass(frozen=True)
class Shards:
    """A set of shards as one manifest names it. It can be pickled."""

    path: str
    """The folder, or the URL."""
    manifest: Manifest
    """The manifest."""
    storage_options: dict[str, Any] | None = None

    @classmethod
    def of(cls, path: str, storage_options: dict[str, Any] | None) -> Shards:
        """Reads the manifest of a folder."""
        store = store_at(path, storage_options)
        found = store.manifest()
        if found is None:
            file = store.name(NAME)
            raise FileError(f"{path}: there is no set of shards", file=file, advice="name the folder that a job of litepress.shards committed")
        return cls(path, Manifest.from_json(found, store.name(NAME)), storage_options)

    @property
    def shards(self) -> tuple[Shard, ...]:
        """The databases."""
        return self.manifest.shards

    @property
    def rows(self) -> int:
        """Rows of all shards."""
        return self.manifest.rows

    @property
    def files(self) -> list[str]:
        """The whole names of the databases."""
        store = store_at(self.path, self.storage_options)
        return [store.name(shard.file) for shard in self.shards]

    def shard_of(self, key: Any) -> Shard | None:
        """Return the shard that can have a primary key (a tuple if it has several columns), or the value of ``one_file_per``.

        Returns ``None`` if no shard can have it.
        """
        return self.manifest.shard_of(key)

    @contextlib.contextmanager
    def connect(self, shard: Shard) -> Iterator[sqlite3.Connection]:
        """Open a shard for reading. Shards of object stores are downloaded for that."""
        store = store_at(self.path, self.storage_options)
        with contextlib.ExitStack() as stack:
            try:
                database = stack.enter_context(contextlib.closing(connect(stack.enter_context(store.local(shard.file)))))
                # SQLite reads nothing of a file before the first statement.
                database.execute("PRAGMA schema_version").fetchone()
            except (FileNotFoundError, sqlite3.OperationalError) as error:
                name = store.name(shard.file)
                message = f"{name}: the shard is gone, or cannot be opened: {error}"
                raise FileError(message, file=name, advice="if the set was replaced meanwhile, open it again") from None
            yield database

    def read(self, columns: Sequence[str] | None = None, where: str | None = None, parameters: Sequence[Any] = ()) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of all shards, in the order of the manifest.

        ``where`` is a condition of SQL with ``?`` for ``parameters``.
        """
        for shard in self.shards:
            with self.connect(shard) as database:
                yield from database.execute(self.query(columns, where), parameters)

    def of_shard(self, shard: Shard) -> Shards:
        """Return the set as if it had no other shard."""
        return replace(self, manifest=replace(self.manifest, shards=(shard,)))

    def schema(self, columns: Sequence[str] | None = None) -> Any:
        """Return the schema of pyarrow of the rows, or of some columns: as they were written, else by the declared types."""
        from ._arrow import schema_of

        return schema_of(self, columns)

    def query(self, columns: Sequence[str] | None = None, where: str | None = None) -> str:
        """Return a SELECT of the table."""
        chosen = "*" if columns is None else ", ".join(quoted(name) for name in columns) or "NULL"
        return f"SELECT {chosen} FROM {quoted(self.manifest.table)}" + (f" WHERE {where}" if where else "")

    def batches(
        self, columns: Sequence[str] | None = None, where: str | None = None, parameters: Sequence[Any] = (), *, schema: Any = None
    ) -> Iterator[Any]:
        """Yield record batches of pyarrow of all shards, in the types that the rows were written with.

        ``schema`` names other columns and types. Needs pyarrow.
        """
        from ._arrow import read_batches

        target = self.schema(columns) if schema is None else schema
        for shard in self.shards:
            with self.connect(shard) as database:
                yield from read_batches(database.execute(self.query(target.names, where), parameters), target)

    def check(self, *, full: bool = False, threads: int | None = None) -> ShardsReport:
        """Check every file against the manifest, and every page: bytes, checksum, schema, rows, keys, values.

        ``full`` asks SQLite, too: ``integrity_check``. ``threads`` is the number of shards at a time; by default one a core.
        """
        store = store_at(self.path, self.storage_options)
        with ThreadPoolExecutor(threads or os.cpu_count() or 1) as pool:
            results = list(pool.map(lambda shard: self._check_one(shard, full), self.shards))
        findings = [Finding(shard.file, what) for shard, (_, found) in zip(self.shards, results) for what in found]
        if self.manifest.partitioning == "range":
            findings += _overlaps(self.shards)
        named = {shard.file for shard in self.shards}
        orphans = [file for file in store.files() if file not in named]
        return ShardsReport(not findings, findings, orphans, len(self.shards), sum(rows for rows, _ in results))

    def _check_one(self, shard: Shard, full: bool) -> tuple[int, list[str]]:
        """Returns the rows of a shard, and its differences."""
        store = store_at(self.path, self.storage_options)
        try:
            with store.local(shard.file) as path:
                if not path.exists():
                    raise FileNotFoundError(path)
                return self._check_file(shard, path, full)
        except FileNotFoundError:
            return 0, ["the file is absent"]
        except (OSError, Error, sqlite3.Error) as error:
            return 0, [f"the file cannot be read: {error}"]

    def _check_file(self, shard: Shard, path: Path, full: bool) -> tuple[int, list[str]]:
        size, checksum = checksum_of(path)
        found: list[str] = []
        _compare(found, "bytes", size, shard.bytes)
        if shard.checksum is not None:
            _compare(found, "the checksum", checksum, shard.checksum)
        report = check_database(path, full=full, threads=1)
        if not report.ok:
            return 0, [*found, *str(report).splitlines()]
        manifest = self.manifest
        with contextlib.closing(connect(path)) as database:
            _compare(found, "the schema", schema_of(database), manifest.schema)
            ((rows,),) = database.execute(f"SELECT count(*) FROM {quoted(manifest.table)}")
            _compare(found, "rows", rows, shard.rows)
            if shard.smallest is not None:
                ends = key_range(database, manifest.table, manifest.primary_key)
                for name, there, told in zip(("smallest", "largest"), ends, (shard.smallest, shard.largest)):
                    _compare(found, f"the {name} key", there, told, show)
            if manifest.column is not None and rows:
                name = quoted(manifest.column)
                ends = database.execute(f"SELECT min({name}), max({name}), count({name}) FROM {quoted(manifest.table)}").fetchone()
                whole = ends[2] == (0 if shard.value is None else rows)
                if not whole or order(ends[0]) != order(shard.value) or order(ends[1]) != order(shard.value):
                    found.append(f"rows have other values of {manifest.column} than {show((shard.value,))}")
        return rows, found


def _compare(found: list[str], name: str, there: Any, told: Any, shown: Callable[[Any], str] = str) -> None:
    if there != told:
        found.append(f"{name}: {shown(there)}, and {shown(told)} in the manifest" if there is not None else f"{name} is missing")


def _overlaps(shards: Sequence[Shard]) -> list[Finding]:
    """Finds shards whose keys do not lie above those of the shard before."""
    return [
        Finding(right.file, f"its keys from {show(right.smallest)} on overlap those of {left.file}, up to {show(left.largest)}")
        for left, right in zip(shards, shards[1:])
        if left.largest is not None and right.smallest is not None and key_order(left.largest) >= key_order(right.smallest)
    ]
