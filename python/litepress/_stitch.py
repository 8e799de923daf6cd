"""``stitch``: parts that were printed elsewhere become one database."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from . import _litepress
from ._errors import UsageError
from ._options import IfExists, PathLike, Sync, Verify, checked_path, making_options, pick_options, suggests
from ._progress import ProgressCallback, ProgressFunction
from ._result import Summary


@suggests
def stitch(
    path: PathLike,
    parts: PathLike | Iterable[PathLike],
    *,
    if_exists: IfExists = "fail",
    threads: int | None = None,
    memory: int | str | None = None,
    temp_dir: PathLike | None = None,
    analyze: bool = False,
    sync: Sync = "full",
    verify: Verify = "none",
    storage_options: dict[str, Any] | None = None,
    progress: bool | ProgressFunction = False,
) -> Summary:
    """Make one database of parts, which ``part=True`` makes with :func:`write`, :func:`load`, :func:`generate` or :func:`merge`.

    Pages of the parts are copied as they are: they get numbers, and interior pages above them. Entries of indexes are merged.

    Parameters
    ----------
    path
        The file to make, or an object in an S3 store: ``"s3://bucket/one.db"``. The store then copies the pages by itself, and only
        directories, index entries and rows with overflow pages are downloaded.
    parts
        Parts of one schema, in any order. They are only read. For an object in a store they lie in the same store.
    temp_dir
        Folder for temporary files; for an object in a store also for its pages that are not copied.
    storage_options
        For ``s3fs``, with a path in a store: ``{"endpoint_url": ...}``.
    if_exists, threads, memory, analyze, sync, verify, progress
        As of :func:`write`. An object in a store cannot be verified here.

    Returns
    -------
    Summary
        For an object in a store, ``details["store"]`` has the bytes that were copied, uploaded and downloaded.

    Raises
    ------
    SchemaError
        Two parts have different schemas.
    ConstraintError
        Rowids of two parts overlap, or rows have the same key.
    CorruptError, DataError
        A file is damaged, cut off, or no part.

    After any exception, also Ctrl-C, ``path`` is as it was.
    """
    given = dict(locals())
    names = [parts] if isinstance(parts, (str, os.PathLike)) else list(parts)
    making = pick_options(making_options, given)
    target = checked_path(path)
    in_store = ["://" in os.fsdecode(os.fspath(name)) for name in (target, *names)]
    with ProgressCallback(progress) as callback:
        if not any(in_store):
            return Summary.of(_litepress.stitch(target, [checked_path(name) for name in names], making, False, callback.call), target)
        if not all(in_store):
            raise UsageError("the database and its parts must all be files, or all be objects of one store", advice="copy the parts first")
        from ._multipart import stitch_in_store

        urls = [os.fsdecode(os.fspath(name)) for name in names]
        return stitch_in_store(os.fsdecode(os.fspath(target)), urls, making, storage_options or {}, callback.call)
