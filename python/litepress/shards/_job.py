"""Jobs: many processes write databases, and one publishes the manifest that names them.

The rules that make commits exact:

1. Each call of :meth:`Job.write` makes a file with a name of its own. Attempts of one task never meet.
2. A file counts only if the manifest names it. The manifest names the files of the parts that :meth:`Job.commit` gets.
3. Files that no manifest names are removed by the next commit.
"""

from __future__ import annotations

import contextlib
import inspect
import os
import re
import shutil
import socket
import tempfile
import uuid
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from .._errors import DataError, FileError, TargetError, TargetExistsError, UsageError
from .._files import load
from .._options import Columns, IfDatabaseExists, Lists, Pairs, SchemaLike, Sync, Verify, checked_path, schema_text, suggests, text
from .._write import write
from ._batches import prepare, runs_of_values
from ._facts import facts_of
from ._keys import order, show_value
from ._manifest import NAME, Manifest, Shard, partitioning_of, refuse_overlap
from ._one_file import OF_THE_DATABASE, check_options, facts_of_part, stitch_parts
from ._reading import Shards
from ._stores import Folder, Store, store_at, sync_files


@dataclass(frozen=True)
class Part:
    """The databases that one call of :meth:`Job.write` made. It can be pickled."""

    job: str
    """The job."""
    number: int
    """The number of the part."""
    rows: int
    """Rows of all databases."""
    shards: tuple[Shard, ...] = ()
    """The databases: none if there were no rows."""
    schema: tuple[str, ...] | None = None
    """The CREATE statements; ``None`` if the part had no columns either."""
    primary_key: tuple[str, ...] = ()
    """The columns of the primary key."""
    arrow_schema: str | None = None
    """The schema of Arrow batches, in base64."""
    host: str = ""
    """The machine that wrote the part."""


@suggests
def begin(
    path: str | os.PathLike[str],
    *,
    table: str | None = None,
    schema: SchemaLike | None = None,
    columns: Columns | None = None,
    primary_key: Columns | None = None,
    without_rowid: bool = False,
    strict: bool = False,
    types: Pairs | None = None,
    not_null: Columns | None = None,
    indexes: Lists | None = None,
    unique: Lists | None = None,
    store_as: Pairs | None = None,
    one_file_per: str | None = None,
    one_file: bool = False,
    if_exists: IfDatabaseExists = "fail",
    page_size: int | None = None,
    threads: int = 1,
    memory: int | str = "512MiB",
    temp_dir: str | os.PathLike[str] | None = None,
    analyze: bool = False,
    sync: Sync = "full",
    verify: Verify = "none",
    storage_options: dict[str, Any] | None = None,
    origin: dict[str, Any] | None = None,
) -> Job:
    """Begin to write a set of shards. Nothing changes for readers before :meth:`Job.commit`.

    Parameters
    ----------
    path
        A folder that all machines share, or a URL for fsspec such as ``s3://bucket/user``.
    table
        The table of every shard; by default it is called like the folder.
    schema, columns, primary_key, without_rowid, strict, types, not_null, indexes, unique, store_as
        As of :func:`litepress.write`. Index names and constraints hold within a shard.
    one_file_per
        A column whose values get a database each. The rows of a value must be together, in one part.
    one_file
        Make one database of all rows: tasks write parts, and :meth:`Job.commit` stitches them (:func:`litepress.stitch`), in S3 by copies
        of the store. The rowids of two parts must not overlap: give ranges of an INTEGER PRIMARY KEY to tasks, or use ``without_rowid``.
    if_exists
        ``"fail"`` if there is a set; ``"append"`` adds shards, with keys or values that the set lacks; ``"overwrite"`` replaces it.
    page_size, temp_dir, analyze, sync, verify
        As of :func:`litepress.write`.
    threads, memory
        For each part that is written; by default 1 and ``"512MiB"``, because engines run a task on each core.
    storage_options
        For fsspec: ``{"endpoint_url": ...}``. They are part of the job and of its pickle.
    origin
        Facts that the manifest keeps for readers, as JSON.

    Raises
    ------
    TargetExistsError
        There is a set of shards, and ``if_exists`` is ``"fail"``.
    """
    job, store = _prepared(dict(locals()))
    store.begin(job.generation)
    return job


def unbegun(path: str, **options: Any) -> tuple[Job, Store]:
    """Makes a job that :func:`begin` would make, without a folder for its files."""
    known = {name: parameter.default for name, parameter in inspect.signature(begin).parameters.items()}
    return _prepared({**known, **options, "path": path})


def published(path: str, storage_options: dict[str, Any] | None) -> Manifest | None:
    """Returns the manifest of a set, or ``None`` if there is no set."""
    return _published(store_at(path, storage_options))


def _prepared(given: dict[str, Any]) -> tuple[Job, Store]:
    """Makes a job of the arguments of :func:`begin`, without a folder for its files."""
    place = given.pop("path")
    if_exists_word = text("if_exists", given.pop("if_exists"))
    if if_exists_word not in ("fail", "append", "overwrite"):
        raise ValueError(f"if_exists: {if_exists_word!r} is none of 'fail', 'append', 'overwrite'")
    url = _absolute(checked_path(place))
    store = store_at(url, given["storage_options"])
    old = _published(store)
    if given["one_file"]:
        check_options(given, url, store, old if if_exists_word == "append" else None)
    if old is not None and if_exists_word == "fail":
        file = store.name(NAME)
        raise TargetExistsError(f"{url} is a set of shards", file=file, advice='if_exists="overwrite" replaces it, "append" adds to it')
    return _job(url, if_exists_word, old, given), store


def _job(url: str, if_exists: str, old: Manifest | None, given: dict[str, Any]) -> Job:
    """Makes a job of the arguments of :func:`begin`."""
    if if_exists == "append" and old is not None:
        given["table"] = given["table"] or old.table
        given["one_file_per"] = given["one_file_per"] or old.column
        if (given["table"], given["one_file_per"]) != (old.table, old.column):
            per = "" if old.column is None else f", one file per {old.column}"
            raise UsageError(f"the set of shards has the table {old.table}{per}", table=old.table, advice='append the same, or use if_exists="overwrite"')
        key = list(old.primary_key) or None
        given["primary_key"] = given["primary_key"] or (key if given["schema"] is None else None)
    if given["schema"] is not None:
        given["schema"] = schema_text(given["schema"])[0]
    if given["temp_dir"] is not None:
        given["temp_dir"] = os.fspath(given["temp_dir"])
    return Job(
        path=url,
        id=uuid.uuid4().hex,
        table=given.pop("table") or _folder_name(url),
        one_file_per=given.pop("one_file_per"),
        one_file=given.pop("one_file"),
        is_append=if_exists == "append",
        base=None if old is None else old.job,
        storage_options=given.pop("storage_options"),
        origin=given.pop("origin") or {},
        options={name: value for name, value in given.items() if value is not None},
    )


def _absolute(path: Any) -> str:
    """Returns a path that means the same in every process."""
    whole = os.fsdecode(path)
    return whole if "://" in whole or whole.startswith("file:") else os.path.abspath(whole)


def _folder_name(url: str) -> str:
    return url.rstrip("/").rpartition("/")[2] or "data"


def _published(store: Store) -> Manifest | None:
    found = store.manifest()
    return None if found is None else Manifest.from_json(found, store.name(NAME))


@dataclass(frozen=True)
class Job:
    """A set of shards that is being written. It can be pickled, and be used in any process."""

    path: str
    """The folder, or the URL."""
    id: str
    """A name that no other job has."""
    table: str
    """The table of every shard."""
    one_file_per: str | None
    """The column whose values get a database each."""
    one_file: bool
    """Whether the commit makes one database of all parts."""
    is_append: bool
    """Whether the shards that are there stay."""
    base: str | None
    """The job of the manifest that was there when this job began."""
    storage_options: dict[str, Any] | None = field(default=None, repr=False, hash=False)
    origin: dict[str, Any] = field(default_factory=dict, repr=False, hash=False)
    options: dict[str, Any] = field(default_factory=dict, hash=False)
    """Arguments of :func:`litepress.write`."""

    @property
    def generation(self) -> str:
        """The folder of the files of this job."""
        return f"v-{self.id}"

    def write(self, number: int, batches: Any) -> Part:
        """Write the rows of a part, in any process on any machine.

        ``number`` is the number of the task or partition. Several attempts of a task pass the same number: :meth:`commit` takes the
        part of one of them. ``batches`` are rows, frames or record batches as for :func:`litepress.write`. They are read once, a
        batch at a time. A part without rows makes no file.
        """
        if number < 0:
            raise ValueError(f"number: {number} is negative")
        data, arrow_schema = prepare(batches, self.options)
        if data is None:
            return Part(self.id, number, 0, host=socket.gethostname())
        made = self._by_value(number, data) if self.one_file_per else self._one(number, data)
        return replace(made, arrow_schema=arrow_schema)

    def _one(self, number: int, data: Any) -> Part:
        ending = "part" if self.one_file else "db"
        file = f"{self.generation}/part-{number:05d}-{uuid.uuid4().hex[:12]}.{ending}"
        options = self._arguments()
        if self.one_file:
            options = {name: value for name, value in options.items() if name not in OF_THE_DATABASE}
        with store_at(self.path, self.storage_options).new_file(file) as path:
            rows = write(path, {self.table: data}, part=self.one_file, **options).rows
            facts = (facts_of_part if self.one_file else facts_of)(path, self.table)
            if not rows:
                path.unlink()
        shards = (replace(facts.shard, file=file, rows=rows),) if rows else ()
        return Part(self.id, number, rows, shards, facts.schema, facts.primary_key, host=socket.gethostname())

    def _by_value(self, number: int, data: Any) -> Part:
        """Writes a database for each value of the column ``one_file_per``.

        All come from one run: a run for each would take ten times as long as the pages of a small database.
        """
        assert self.one_file_per is not None
        store = store_at(self.path, self.storage_options)
        # One sync at the end is enough for all files.
        options = {name: value for name, value in self._arguments().items() if name not in ("sync", "columns")}
        part = Part(self.id, number, 0, host=socket.gethostname())
        shards: list[Shard] = []
        paths: list[Path] = []
        with tempfile.TemporaryDirectory(prefix=".split-", dir=store.room(self.generation)) as room:
            rows, databases = Path(room) / "rows.arrow", Path(room) / "databases"
            if not self._spool(data, rows):
                return part
            load(databases, rows, table=self.table, split_by=self.one_file_per, nan="null", sync="off", **options)
            for made in sorted(databases.iterdir()):
                facts = facts_of(made, self.table, self.one_file_per, counts_rows=True)
                file = f"{self.generation}/{_safe(facts.shard.value)}-{uuid.uuid4().hex[:12]}.db"
                with store.new_file(file) as path:
                    shutil.move(made, path)
                shards.append(replace(facts.shard, file=file))
                paths.append(path)
                part = replace(part, rows=part.rows + facts.shard.rows, schema=facts.schema, primary_key=facts.primary_key)
        if self.options.get("sync", "full") == "full" and isinstance(store, Folder):
            sync_files(paths)
        return replace(part, shards=tuple(shards))

    def _spool(self, data: Any, file: Path) -> bool:
        """Writes rows to a file of Arrow. Returns whether there are any. Refuses rows of one value that do not follow one another."""
        import pyarrow  # type: ignore[import-untyped, unused-ignore]

        assert self.one_file_per is not None
        seen: set[Any] = set()
        writer = None
        try:
            for value, run in runs_of_values(data, self.one_file_per):
                if value in seen:
                    raise self._scattered(value, "do not follow one another")
                seen.add(value)
                for batch in run:
                    writer = writer or pyarrow.ipc.new_file(file, batch.schema)
                    writer.write_batch(batch)
        finally:
            if writer is not None:
                writer.close()
        return writer is not None

    def _arguments(self) -> dict[str, Any]:
        return {**self.options, "if_exists": "fail"}

    def _scattered(self, value: Any, where: str) -> DataError:
        return DataError(
            f"the rows with {self.one_file_per} = {show_value(value)} {where}",
            table=self.table,
            column=self.one_file_per,
            value=show_value(value),
            advice=f"bring the rows of each value into one task and sort them by {self.one_file_per} there; in Spark: "
            f'repartition("{self.one_file_per}").sortWithinPartitions("{self.one_file_per}")',
        )

    def commit(self, parts: Iterable[Part | None], *, origin: dict[str, Any] | None = None) -> Shards:
        """Publish a manifest of these parts: readers see the new set from then on. Remove the files that it does not name.

        ``parts`` has one part for each number. Parts that are ``None`` are left out. ``origin`` adds facts for readers.
        A job that is committed already is left as it is, so a commit may be repeated. After an exception the old set is untouched;
        call :meth:`abort` then.

        Raises
        ------
        DataError
            The parts do not fit together: other columns, keys or values in two of them.
        TargetError
            Another job has published meanwhile.
        """
        store = store_at(self.path, self.storage_options)
        with store.lock():
            old = _published(store)
            if old is None or old.job != self.id:
                self._publish(store, old, [part for part in parts if part is not None], origin or {})
        return Shards.of(self.path, self.storage_options)

    def _publish(self, store: Store, old: Manifest | None, parts: list[Part], origin: dict[str, Any]) -> None:
        if (None if old is None else old.job) != self.base:
            raise TargetError(
                "another job has published shards since this one began",
                file=store.name(NAME),
                advice="write the rows again; let one job at a time write to a folder",
            )
        manifest = self._manifest(store, old, sorted(parts, key=lambda part: part.number), origin)
        store.sync(self.generation)
        store.publish(manifest.to_json(), self.id)
        # Readers have the new set now. A failure from here on must not undo it: the next commit removes what is left.
        with contextlib.suppress(Exception):
            _remove_others(store, manifest)

    def _manifest(self, store: Store, old: Manifest | None, parts: list[Part], origin: dict[str, Any]) -> Manifest:
        self._check_numbers(parts)
        kept = old if self.is_append else None
        schema, primary_key = self._common_schema(parts, kept)
        new = [shard for part in parts for shard in part.shards]
        self._check_files(store, parts)
        self._check_values(parts)
        if kept is not None:
            refuse_overlap(kept, new)
        if new and self.one_file:
            new = [stitch_parts(self, store, new)]
        if not new and kept is None:
            new = [self._empty(store, schema)]
        shards = [*(kept.shards if kept else ()), *new]
        shards = [shard for shard in shards if shard.rows] or shards[:1]
        partitioning, ordered = partitioning_of(shards, self.one_file_per)
        arrow = next((part.arrow_schema for part in parts if part.arrow_schema), None)
        facts = {**(kept.origin if kept else {}), **({"arrow_schema": arrow} if arrow else {}), **self.origin, **origin}
        generation = 1 if old is None else old.generation + 1
        return Manifest(self.id, generation, self.table, schema, primary_key, partitioning, self.one_file_per, tuple(ordered), facts)

    def _check_numbers(self, parts: list[Part]) -> None:
        for part in parts:
            if part.job != self.id:
                raise UsageError(f"part {part.number} is of another job", table=self.table, advice="commit the parts that this job wrote")
        for left, right in zip(parts, parts[1:]):
            if left.number == right.number:
                raise UsageError(f"part {left.number} comes twice", table=self.table, advice="pass the part of one attempt of each task")

    def _common_schema(self, parts: list[Part], kept: Manifest | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Returns the schema and the primary key of all parts. Refuses parts that differ."""
        name, schema, key = ("the set", kept.schema, kept.primary_key) if kept else ("", None, ())
        for part in parts:
            if part.schema is None:
                continue
            if schema is None:
                name, schema, key = f"part {part.number}", part.schema, part.primary_key
            if part.schema != schema:
                ours = next((sql for sql in part.schema if sql not in schema), "fewer tables or indexes")
                theirs = next((sql for sql in schema if sql not in part.schema), "fewer tables or indexes")
                raise DataError(
                    f"part {part.number} has another schema than {name}: {ours}; {theirs}",
                    table=self.table,
                    advice="give all columns a type: pass Arrow batches of one schema, or schema= or types=",
                )
        if schema is None and "schema" not in self.options:
            raise DataError("no part has a row or a column", table=self.table, advice="pass batches with a schema, or schema=")
        return schema or (), key

    def _check_files(self, store: Store, parts: list[Part]) -> None:
        sizes = store.sizes(self.generation)
        for part in parts:
            for shard in part.shards:
                if sizes.get(shard.file) != shard.bytes:
                    found = "is absent" if shard.file not in sizes else f"has {sizes[shard.file]} bytes instead of {shard.bytes}"
                    raise FileError(
                        f"{store.name(shard.file)}: the file of part {part.number} {found} on {socket.gethostname()}; {part.host} wrote it",
                        file=store.name(shard.file),
                        advice="write to a folder that all machines share, or to an object store",
                    )

    def _check_values(self, parts: list[Part]) -> None:
        """Refuses a value that has rows in two parts."""
        if self.one_file_per is None:
            return
        seen: dict[Any, int] = {}
        for part in parts:
            for shard in part.shards:
                other = seen.setdefault(order(shard.value), part.number)
                if other != part.number:
                    raise self._scattered(shard.value, f"are in two parts, {other} and {part.number}")

    def _empty(self, store: Store, schema: tuple[str, ...]) -> Shard:
        """Makes a shard without rows, so that readers find the columns."""
        file = f"{self.generation}/empty-{uuid.uuid4().hex[:12]}.db"
        options = {name: value for name, value in self.options.items() if name in _WITH_A_SCHEMA}
        with store.new_file(file) as path:
            sql = self.options.get("schema") or ";\n".join(schema)
            write(path, {self.table: []}, schema=sql, **options)
            return replace(facts_of(path, self.table).shard, file=file)

    def abort(self) -> None:
        """Remove all files of this job. The set that is there stays. A job that is committed is left as it is."""
        store = store_at(self.path, self.storage_options)
        old = _published(store)
        if old is not None and any(shard.file.startswith(f"{self.generation}/") for shard in old.shards):
            return
        store.remove([file for file in store.files() if file.startswith(f"{self.generation}/") or file == f"{NAME}.{self.id}"])
        store.end(self.generation)


    def remove_orphans(self) -> None:
        """Remove all files that the manifest does not name. REQUIRES: no other job is running, as for a commit."""
        store = store_at(self.path, self.storage_options)
        with store.lock():
            _remove_others(store, _published(store))


def _remove_others(store: Store, manifest: Manifest | None) -> None:
    """Removes the files of jobs that a manifest does not name."""
    named = {shard.file for shard in manifest.shards} if manifest else set()
    store.remove([file for file in store.files() if file not in named])


_WITH_A_SCHEMA = ("page_size", "threads", "memory", "temp_dir", "sync", "verify")
"""Options that go with a schema that is complete."""


def _safe(value: Any) -> str:
    """Returns the front of a file's name: readable, short, and safe on every file system."""
    shown = "NULL" if value is None else value.hex() if isinstance(value, bytes) else str(value)
    return "is-" + (re.sub(r"[^A-Za-z0-9_=+-]+", "_", shown).strip("_") or "empty")[:60]
