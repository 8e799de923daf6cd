"""One database at the end: tasks write parts, and the commit stitches them."""

from __future__ import annotations

import sqlite3
import tempfile
import uuid
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import _litepress
from .._errors import UsageError
from .._multipart import HEADER_BYTES, refuse_verify
from .._stitch import stitch
from ._facts import Facts, facts_of, primary_key_of
from ._keys import key_order
from ._manifest import Manifest, Shard
from ._stores import ObjectStore, Store

if TYPE_CHECKING:
    from ._job import Job

OF_THE_DATABASE = ("analyze", "verify")
"""Options of the database, which parts do not have."""


def check_options(given: dict[str, Any], url: str, store: Store, old: Manifest | None) -> None:
    """Refuses what a set of one database cannot have. ``given`` are the arguments of ``begin``, ``old`` is a set to append to."""
    if given["one_file_per"]:
        raise UsageError("one_file and one_file_per exclude each other", advice="choose one of them")
    if old is not None:
        advice = 'use if_exists="overwrite", or shards without one_file'
        raise UsageError(f"{url} is a set of shards: a set of one file cannot be appended to", advice=advice)
    if isinstance(store, ObjectStore):
        refuse_verify(given["verify"])


def facts_of_part(path: Path, table: str) -> Facts:
    """Reads the facts of a part from its directory. The name of the file and the rows are left open."""
    with path.open("rb") as part, tempfile.NamedTemporaryFile(prefix="litepress-part-", suffix=".db") as file:
        start, end = _litepress.part_directory(part.read(HEADER_BYTES))
        part.seek(start)
        file.write(part.read(end - start))
        file.flush()
        with closing(sqlite3.connect(file.name)) as directory:
            schema = tuple(sql for (sql,) in directory.execute("SELECT sql FROM object ORDER BY rowid"))
            runs = "SELECT min(first_rowid), max(last_rowid) FROM run JOIN tree ON tree.rowid = run.tree WHERE tree.name = ?"
            smallest, largest = directory.execute(runs, (table,)).fetchone()
            ((page_size,),) = directory.execute("SELECT page_size FROM part")
    primary_key, is_rowid = _key_of(schema, table)
    size = path.stat().st_size
    ends = ((smallest,), (largest,)) if is_rowid and smallest is not None else (None, None)
    # A part has checksums of its own, which the stitcher compares.
    return Facts(Shard("", 0, size, size // page_size, None, *ends), schema, primary_key)


def _key_of(schema: tuple[str, ...], table: str) -> tuple[tuple[str, ...], bool]:
    """Returns the primary key of a table, and whether it is the rowid."""
    with closing(sqlite3.connect(":memory:")) as database:
        for sql in schema:
            database.execute(sql)
        key = primary_key_of(database, table)
        # Only a key that is the rowid has no index.
        index = database.execute("SELECT 1 FROM pragma_index_list(?) WHERE origin = 'pk'", (table,)).fetchone()
        return key, bool(key) and index is None


def stitch_parts(job: Job, store: Store, parts: list[Shard]) -> Shard:
    """Makes one database of the parts in a store. They stay."""
    file = f"{job.generation}/one-{uuid.uuid4().hex[:12]}.db"
    options = {name: job.options[name] for name in (*OF_THE_DATABASE, "sync", "temp_dir") if name in job.options}
    if isinstance(store, ObjectStore) and store.copies_pieces:
        names = [store.name(part.file) for part in parts]
        made = stitch(store.name(file), names, storage_options=job.storage_options, **options)
        keys = [(part.smallest, part.largest) for part in parts if part.smallest is not None and part.largest is not None]
        smallest = min((key for key, _ in keys), key=key_order, default=None)
        largest = max((key for _, key in keys), key=key_order, default=None)
        # The store copied the pages: no machine has read all bytes of the database.
        return Shard(file, made.rows, made.bytes, made.pages, None, smallest, largest)
    with ExitStack() as open_parts, store.new_file(file) as path:
        made = stitch(path, [open_parts.enter_context(store.local(part.file)) for part in parts], **options)
        return replace(facts_of(path, job.table).shard, file=file, rows=made.rows)
