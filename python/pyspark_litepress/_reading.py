"""The reader: a partition for each database, with the columns and the condition that SQLite applies.

It does not take filters of queries (``pushFilters``). Spark 4.3 keeps the filters of a query with the DataFrame that was read, and the
next query on that DataFrame gets them, too: rows were missing in silence. The option ``where`` belongs to one DataFrame.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from litepress.shards import Shards
from litepress.shards._arrow import read_batches
from pyspark.sql.datasource import DataSourceReader, InputPartition
from pyspark.sql.types import StructType

_MOST_PARTITIONS = 1000
"""Partitions of a set: more databases than that share partitions, because a task costs more than a small database."""


class ShardsReader(DataSourceReader):
    """A reader of a set as it is when the query is planned."""

    def __init__(self, shards: Shards, schema: StructType, where: str | None) -> None:
        self.shards = shards
        self.schema = schema
        self.where = where

    def __getstate__(self) -> dict[str, Any]:
        # Partitions carry the shards: a set of 20,000 files need not go to each task.
        return {"schema": self.schema, "where": self.where}

    def partitions(self) -> list[InputPartition]:
        manifest = self.shards.manifest
        wanted = [shard for shard in manifest.shards if shard.rows]
        count = min(len(wanted), _MOST_PARTITIONS)
        bounds = [number * len(wanted) // count for number in range(count + 1)] if count else []
        groups = [tuple(wanted[start:end]) for start, end in zip(bounds, bounds[1:])]
        return [InputPartition(replace(self.shards, manifest=replace(manifest, shards=group, origin={}))) for group in groups]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        from pyspark.sql.pandas.types import to_arrow_schema

        # Spark makes a partition of its own if there is none.
        if partition.value is None:
            return
        part: Shards = partition.value
        schema = to_arrow_schema(self.schema, timezone="UTC")
        where = None if self.where is None else f"({self.where})"
        for shard in part.shards:
            with part.connect(shard) as database:
                yield from read_batches(database.execute(part.query(schema.names, where)), schema)
