"""Ray Data: each write task makes a SQLite database, and the driver publishes them as one set of shards.

    >>> import litepress.ray  # doctest: +SKIP
    >>> dataset.write_datasink(litepress.ray.Datasink("/data/user", primary_key="id"))  # doctest: +SKIP
    >>> litepress.ray.read("/data/user")  # doctest: +SKIP

Needs ``ray[data]``. litepress must be installed on all machines, and all of them must see the folder. A set is a folder of
:mod:`litepress.shards`, which any other program can read, too.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from . import shards
from ._errors import UsageError
from .shards._job import unbegun

try:
    import ray.data  # type: ignore[import-not-found, import-untyped, unused-ignore]
    from ray.data.block import BlockAccessor, BlockMetadata  # type: ignore[import-not-found, import-untyped, unused-ignore]
    from ray.data.datasource import Datasource as _Datasource  # type: ignore[import-not-found, import-untyped, unused-ignore]
    from ray.data.datasource import ReadTask  # type: ignore[import-not-found, import-untyped, unused-ignore]
except ImportError as error:
    raise ImportError("litepress.ray needs Ray Data: pip install 'ray[data]' pyarrow") from error

__all__ = ["Datasink", "Datasource", "read"]


class Datasink(ray.data.Datasink):  # type: ignore[misc, unused-ignore]
    """A sink for :meth:`ray.data.Dataset.write_datasink`.

    Ray runs a task again if its worker dies. Each attempt has files of its own, and those of one attempt count.
    """

    def __init__(self, path: str | os.PathLike[str], *, min_rows_per_file: int | None = None, **options: Any) -> None:
        """Make a sink. ``options`` are those of :func:`litepress.shards.begin`.

        ``min_rows_per_file`` asks Ray for tasks of at least that many rows, so for fewer databases.
        """
        self.job, self._store = unbegun(os.fspath(path), **options)
        self._min_rows = min_rows_per_file
        self.shards: shards.Shards | None = None
        """The set, once it is published."""

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_store": None, "shards": None}

    def on_write_start(self, schema: Any = None) -> None:
        """Make the folder of the job."""
        self._schema = schema
        self._store.begin(self.job.generation)

    def write(self, blocks: Iterable[Any], ctx: Any) -> shards.Part:
        """Write the rows of a task as a database."""
        tables = (BlockAccessor.for_block(block).to_arrow() for block in blocks)
        return self.job.write(ctx.task_idx, (batch for table in tables if table.num_rows for batch in table.to_batches()))

    def on_write_complete(self, write_result: Any) -> None:
        """Publish the databases of all tasks."""
        parts = [part for part in write_result.write_returns if part is not None]
        if all(part.schema is None for part in parts):
            parts = [self._without_rows()]
        try:
            self.shards = self.job.commit(parts)
        except BaseException:
            self.job.abort()
            raise

    def _without_rows(self) -> shards.Part:
        """Makes a part of the columns: no task had a row."""
        schema = getattr(self._schema, "base_schema", self._schema)
        if not hasattr(schema, "empty_table"):
            raise UsageError("the dataset has neither rows nor columns", table=self.job.table, advice="give it a schema, or write rows")
        return self.job.write(0, schema.empty_table())

    def on_write_failed(self, error: Exception) -> None:
        """Remove the files of the job. The set stays as it was."""
        self.job.abort()

    @property
    def min_rows_per_write(self) -> int | None:
        """The rows that a task should have at least."""
        return self._min_rows

    def get_name(self) -> str:
        """Return the name that Ray shows."""
        return "litepress"


class Datasource(_Datasource):  # type: ignore[misc, unused-ignore]
    """A source for :func:`ray.data.read_datasource`: a read task for one or more shards."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        columns: Sequence[str] | None = None,
        where: str | None = None,
        parameters: Sequence[Any] = (),
        storage_options: dict[str, Any] | None = None,
    ) -> None:
        """Open a set of shards. The parameters are those of :func:`read`."""
        self._shards = shards.open(path, storage_options=storage_options)
        self._schema = self._shards.schema(columns)
        self._where = where
        self._parameters = tuple(parameters)

    def estimate_inmemory_data_size(self) -> int:
        """Return the size of the databases."""
        return sum(shard.bytes for shard in self._shards.shards)

    def get_read_tasks(self, parallelism: int, per_task_row_limit: int | None = None, data_context: Any = None) -> list[Any]:
        """Return up to ``parallelism`` tasks."""
        filled = [shard for shard in self._shards.shards if shard.rows] or list(self._shards.shards)
        count = max(1, min(parallelism, len(filled)))
        bounds = [number * len(filled) // count for number in range(count + 1)]
        return [self._task(filled[start:end], per_task_row_limit) for start, end in zip(bounds, bounds[1:])]

    def _task(self, group: list[shards.Shard], limit: int | None) -> Any:
        rows = sum(shard.rows for shard in group) if self._where is None else None
        parts = [self._shards.of_shard(shard) for shard in group]
        names = [name for part in parts for name in part.files]
        facts = BlockMetadata(num_rows=rows, size_bytes=sum(shard.bytes for shard in group), input_files=names, exec_stats=None)
        return ReadTask(_reader(parts, self._schema, self._where, self._parameters), facts, schema=self._schema, per_task_row_limit=limit)


def _reader(parts: list[shards.Shards], schema: Any, where: str | None, parameters: tuple[Any, ...]) -> Callable[[], Iterator[Any]]:
    """Returns a function that reads shards as tables of pyarrow."""

    def read_all() -> Iterator[Any]:
        import pyarrow  # type: ignore[import-untyped, unused-ignore]

        some = False
        for part in parts:
            for batch in part.batches(where=where, parameters=parameters, schema=schema):
                some = True
                yield pyarrow.Table.from_batches([batch], schema=schema)
        if not some:
            yield schema.empty_table()

    return read_all


def read(
    path: str | os.PathLike[str],
    *,
    columns: Sequence[str] | None = None,
    where: str | None = None,
    parameters: Sequence[Any] = (),
    storage_options: dict[str, Any] | None = None,
    **options: Any,
) -> Any:
    """Read a set of shards as a dataset of Ray, in the types that the rows were written with.

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
    options
        As of :func:`ray.data.read_datasource`: ``concurrency``, ``override_num_blocks``, ``ray_remote_args``.
    """
    source = Datasource(path, columns=columns, where=where, parameters=parameters, storage_options=storage_options)
    return ray.data.read_datasource(source, **options)
