"""The reader: a partition for each database, with the columns and filters that SQLite can do exactly."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from litepress.shards import Shard, Shards
from litepress.shards._arrow import read_batches
from pyspark.sql.datasource import DataSourceReader, Filter, InputPartition
from pyspark.sql.types import StructType

from ._filters import Condition, condition_of
from ._types import schema_of

_MOST_PARTITIONS = 1000
"""Partitions of a set: more databases than that share partitions, because a task costs more than a small database."""


class _Pushdown:
    """The method ``pushFilters`` of a reader.

    Spark refuses a reader with such a method unless ``spark.sql.python.filterPushdown.enabled`` is true, and that is false by
    default. It recognizes the method by its function: with the function of the base class, readers work with both settings.
    """

    __func__ = staticmethod(DataSourceReader.pushFilters)

    def __init__(self, reader: ShardsReader) -> None:
        self.reader = reader

    def __call__(self, filters: list[Filter]) -> Iterable[Filter]:
        return self.reader.push(filters)


class ShardsReader(DataSourceReader):
    """A reader of a set as it is when the query is planned."""

    def __init__(self, shards: Shards, schema: StructType) -> None:
        self.shards = shards
        self.schema = schema
        self.conditions: list[Condition] = []
        self.pushFilters = _Pushdown(self)  # type: ignore[method-assign, assignment]

    def __getstate__(self) -> dict[str, Any]:
        # Partitions carry the shards: a set of 20,000 files need not go to each task.
        return {"schema": self.schema, "conditions": self.conditions}

    def push(self, filters: list[Filter]) -> list[Filter]:
        """Takes the filters that SQLite can apply. Returns the others."""
        whole = schema_of(self.shards)
        is_typed = "spark_schema" in self.shards.manifest.origin
        left = []
        for one in filters:
            name = _column_of(one)
            has_type = name in self.schema.fieldNames() and name in whole.fieldNames() and self.schema[name].dataType == whole[name].dataType
            found = condition_of(one, self.schema, is_typed and has_type)
            if found is None:
                left.append(one)
            else:
                self.conditions.append(found)
        return left

    def partitions(self) -> list[InputPartition]:  # type: ignore[override]
        manifest = self.shards.manifest
        key = manifest.primary_key[0] if manifest.primary_key else None

        def is_wanted(shard: Shard) -> bool:
            return all(condition.may_hold(shard, key, manifest.column) for condition in self.conditions)

        wanted = [shard for shard in manifest.shards if shard.rows and is_wanted(shard)]
        count = min(len(wanted), _MOST_PARTITIONS)
        bounds = [number * len(wanted) // count for number in range(count + 1)] if count else []
        groups = [tuple(wanted[start:end]) for start, end in zip(bounds, bounds[1:])]
        return [InputPartition(replace(self.shards, manifest=replace(manifest, shards=group, origin={}))) for group in groups]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        from pyspark.sql.pandas.types import to_arrow_schema

        if partition.value is None:
            return
        part: Shards = partition.value
        schema = to_arrow_schema(self.schema, timezone="UTC")
        where = " AND ".join(condition.sql for condition in self.conditions) or None
        parameters = [value for condition in self.conditions for value in condition.parameters]
        for shard in part.shards:
            with part.connect(shard) as database:
                yield from read_batches(database.execute(part.query(schema.names, where), parameters), schema)


def _column_of(one: Filter) -> str:
    """Returns the column of a filter."""
    child = getattr(one, "child", one)
    attribute = getattr(child, "attribute", ())
    return str(attribute[0]) if attribute else ""
