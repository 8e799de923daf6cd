"""Dask: each partition becomes a SQLite database, and all of them are published as one set of shards.

    >>> import litepress.dask  # doctest: +SKIP
    >>> litepress.dask.to_litepress(frame, "/data/user", primary_key="id")  # doctest: +SKIP
    >>> litepress.dask.read("/data/user")  # doctest: +SKIP

Needs ``dask[dataframe]`` and pyarrow. litepress must be installed on all workers, and all of them must see the folder. A set is a folder of
:mod:`litepress.shards`, which any other program can read, too.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from . import shards

try:
    import dask  # type: ignore[import-not-found, import-untyped, unused-ignore]
    import dask.dataframe  # type: ignore[import-not-found, import-untyped, unused-ignore]
except ImportError as error:
    raise ImportError("litepress.dask needs Dask: pip install 'dask[dataframe]' pyarrow") from error

__all__ = ["read", "to_litepress"]


def to_litepress(frame: Any, path: str | os.PathLike[str], *, index: bool | None = None, compute: bool = True, **options: Any) -> Any:
    """Write each partition of a dask DataFrame as a database, and publish them as one set of shards.

    Dask runs a task again if its worker dies. Each attempt has files of its own, and those of one attempt count.

    Parameters
    ----------
    frame
        The dask DataFrame.
    path
        A folder that all workers share, or a URL for fsspec.
    index
        Whether the index becomes columns; by default if it has a name.
    compute
        ``False`` returns a delayed object. Its ``compute()`` writes and publishes the set, once.
    options
        As of :func:`litepress.shards.begin`: ``table``, ``primary_key``, ``indexes``, ``one_file_per``, ``if_exists``, ...

    Returns
    -------
    litepress.shards.Shards
        The set, or a delayed object.
    """
    if not isinstance(frame, dask.dataframe.DataFrame):
        raise TypeError(f"frame: a dask DataFrame is needed, not {type(frame).__name__}")
    meta = _table(frame._meta, index)
    job = shards.begin(path, **options)
    write = dask.delayed(_write, pure=False)
    parts = [write(job, number, partition, index) for number, partition in enumerate(frame.to_delayed())]
    if not compute:
        return dask.delayed(_publish, pure=False)(job, parts, meta)
    try:
        return _publish(job, list(dask.compute(*parts)), meta)
    except BaseException:
        job.abort()
        raise


def _table(frame: Any, index: bool | None) -> Any:
    """Returns the rows of a pandas frame as a table of pyarrow, with its index as columns if that is wanted."""
    import pyarrow  # type: ignore[import-untyped, unused-ignore]

    keeps = any(name is not None for name in frame.index.names) if index is None else index
    return pyarrow.Table.from_pandas(frame.reset_index(drop=not keeps), preserve_index=False)


def _write(job: shards.Job, number: int, frame: Any, index: bool | None) -> shards.Part:
    # A partition without rows need not know the types of its columns.
    return job.write(number, _table(frame, index) if len(frame) else [])


def _publish(job: shards.Job, parts: list[shards.Part], meta: Any) -> shards.Shards:
    if all(part.schema is None for part in parts):
        parts = [job.write(0, meta)]
    return job.commit(parts)


def read(
    path: str | os.PathLike[str],
    *,
    columns: Sequence[str] | None = None,
    where: str | None = None,
    parameters: Sequence[Any] = (),
    storage_options: dict[str, Any] | None = None,
) -> Any:
    """Read a set of shards as a dask DataFrame with a partition for each shard.

    Columns have Arrow types of pandas (``int64[pyarrow]``), as the rows were written, and texts are Dask's strings: a NULL does not
    change the type of a column.

    Parameters
    ----------
    path
        The folder, or a URL for fsspec.
    columns
        The columns to read; by default all.
    where, parameters
        A condition of SQL that SQLite applies in each shard, with ``?`` for ``parameters``.
    storage_options
        For fsspec.
    """
    opened = shards.open(path, storage_options=storage_options)
    schema = opened.schema(columns)
    parts = [opened.of_shard(shard) for shard in opened.shards]
    meta = _pandas(schema.empty_table())
    return dask.dataframe.from_map(_read, parts, schema=schema, where=where, parameters=tuple(parameters), meta=meta)


def _read(part: shards.Shards, schema: Any, where: str | None, parameters: tuple[Any, ...]) -> Any:
    import pyarrow  # type: ignore[import-untyped, unused-ignore]

    return _pandas(pyarrow.Table.from_batches(part.batches(where=where, parameters=parameters, schema=schema), schema=schema))


def _pandas(table: Any) -> Any:
    import pandas

    return table.to_pandas(types_mapper=pandas.ArrowDtype)
