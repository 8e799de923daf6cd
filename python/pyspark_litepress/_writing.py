"""Writers: a database for each task attempt, and a manifest that the driver publishes.

Spark asks its commit coordinator after :meth:`write` has returned, so the loser of a speculative race leaves a complete file. Its
message never reaches :meth:`commit`, and a file without a message does not count.
"""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pyspark.sql.types as spark
from litepress import DataError, UsageError, shards
from litepress.shards._job import published, unbegun
from litepress.shards._stores import store_at
from pyspark import TaskContext
from pyspark.sql.datasource import DataSourceArrowWriter, DataSourceStreamArrowWriter, WriterCommitMessage
from pyspark.sql.types import StructType

from ._options import TABLE_ARGUMENTS, Options
from ._types import check_storable, long_decimals


@dataclass
class Written(WriterCommitMessage):
    """The message of a task."""

    part: shards.Part
    """The databases of the task."""
    job: shards.Job | None = None
    """The job, if it is a batch of a stream."""
    query: str = ""
    """The stream."""


def _arguments(options: Options, schema: StructType, overwrite: bool) -> dict[str, Any]:
    """Returns the arguments of ``litepress.shards.begin`` for rows of a schema."""
    check_storable(schema)
    arguments = {**options.arguments, "storage_options": options.storage_options}
    old = None if overwrite else published(options.path, options.storage_options)
    written = None if old is None else old.origin.get("spark_schema")
    if written is not None:
        _check_same_columns(schema, StructType.fromJson(written), options.path)
    if old is not None and not TABLE_ARGUMENTS & options.arguments.keys():
        arguments |= {"schema": ";\n".join(old.schema)}
    else:
        arguments |= {"not_null": [field.name for field in schema.fields if not field.nullable] or None}
        arguments |= {"store_as": dict.fromkeys(long_decimals(schema), "text") or None}
    if written is None:
        arguments |= {"origin": {"spark_schema": schema.jsonValue()}}
    return {**arguments, "if_exists": "overwrite" if overwrite else "append"}


def _check_same_columns(new: StructType, old: StructType, path: str) -> None:
    """Refuses to append other columns than the set has."""
    for field in (*old.fields, *new.fields):
        pair = [schema[field.name].dataType.simpleString() if field.name in schema.fieldNames() else None for schema in (old, new)]
        if pair[0] != pair[1]:
            shown = [kind or "absent" for kind in pair]
            raise DataError(
                f"column {field.name}: {shown[0]} in the set of shards {path}, {shown[1]} in the new rows",
                column=field.name,
                advice='append rows with the same columns, or replace the set with .mode("overwrite")',
            )


def _write(job: shards.Job, schema: StructType, is_nan_null: bool, iterator: Iterator[Any]) -> shards.Part:
    """Writes the rows of a task attempt."""
    context = TaskContext.get()
    assert context is not None
    threads = job.options.get("threads", 1)
    job = replace(job, options={**job.options, "threads": max(threads, context.cpus())})
    first = next(iterator, None)
    if first is None:
        # Without rows there is no shard, but the columns must be known if all tasks are like that.
        return replace(job, one_file_per=None).write(context.partitionId(), [_no_rows(schema)])

    batches = itertools.chain([first], iterator)
    return job.write(context.partitionId(), batches if is_nan_null else _without_nan(batches, schema))


def _no_rows(schema: StructType) -> Any:
    import pyarrow
    from pyspark.sql.pandas.types import to_arrow_schema

    return pyarrow.Table.from_batches([], schema=to_arrow_schema(schema, timezone="UTC"))


def _without_nan(batches: Iterator[Any], schema: StructType) -> Iterator[Any]:
    """Refuses NaN: SQLite would store it as NULL."""
    import pyarrow.compute  # type: ignore[import-untyped, unused-ignore]

    numbers = [place for place, field in enumerate(schema.fields) if isinstance(field.dataType, (spark.FloatType, spark.DoubleType))]
    for batch in batches:
        for place in numbers:
            if pyarrow.compute.any(pyarrow.compute.is_nan(batch.column(place))).as_py():
                name = schema.fields[place].name
                message = f"the column {name} has a NaN, which SQLite cannot store"
                raise DataError(message, column=name, value="NaN", advice='option("nan", "null") stores NULL instead')
        yield batch


class ShardsWriter(DataSourceArrowWriter):
    """A writer of one job. Spark makes it once, beside the driver, and pickles it to all tasks."""

    def __init__(self, options: Options, schema: StructType, overwrite: bool) -> None:
        self.schema = schema
        self.is_nan_null = options.is_nan_null
        self.job = shards.begin(options.path, **_arguments(options, schema, overwrite))

    def write(self, iterator: Iterator[Any]) -> Written:
        return Written(_write(self.job, self.schema, self.is_nan_null, iterator))

    def commit(self, messages: list[Any]) -> None:
        self.job.commit([message.part for message in messages])

    def abort(self, messages: list[Any]) -> None:
        # Files of attempts that lost or were killed have no message: the job removes what is in its folder.
        self.job.abort()


class ShardsStreamWriter(DataSourceStreamArrowWriter):
    """A writer of the batches of a stream.

    Spark makes one for each batch, and another one to commit it. So tasks send their job along. The manifest keeps the last batch
    of each query: Spark repeats a batch if the query ended before it had noted the commit.
    """

    def __init__(self, options: Options, schema: StructType, overwrite: bool) -> None:
        self.schema = schema
        self.overwrite = overwrite
        self.is_nan_null = options.is_nan_null
        self.job, _ = unbegun(options.path, **_arguments(options, schema, overwrite))

    def write(self, iterator: Iterator[Any]) -> Written:
        context = TaskContext.get()
        assert context is not None
        query, batch = context.getLocalProperty("sql.streaming.queryId"), context.getLocalProperty("streaming.sql.batchId")
        if query is None or batch is None:
            raise UsageError("Spark does not tell the query and the number of the batch", advice="write with writeStream and a checkpoint")
        # One job for each batch, even if Spark used a writer for two of them.
        job = replace(self.job, id=uuid.uuid5(uuid.UUID(self.job.id), f"{query} {batch}").hex)
        store_at(job.path, job.storage_options).begin(job.generation)
        return Written(_write(job, self.schema, self.is_nan_null, iterator), job, query)

    def commit(self, messages: list[Any], batchId: int) -> None:
        if not messages:
            return
        job, query = messages[0].job, messages[0].query
        current = published(job.path, job.storage_options)
        streams = {} if current is None else current.origin.get("streams", {})
        if streams.get(query, -1) >= batchId:
            job.abort()
            return
        # What was published since the tasks began does not matter: rows are added, or all are replaced.
        job = replace(job, base=None if current is None else current.job)
        job.commit([message.part for message in messages], origin={"streams": {**streams, query: batchId}})

    def abort(self, messages: list[Any], batchId: int) -> None:
        # Tasks that were killed send no message, and only messages tell the job. One job at a time writes to the folder, so files that
        # the manifest does not name are of this batch.
        if any(message is None for message in messages) or not messages:
            self.job.remove_orphans()
        for job in {message.job.id: message.job for message in messages if message is not None}.values():
            job.abort()
