"""The entry of Spark: options, schema, readers and writers of a set of shards."""

from __future__ import annotations

from litepress import shards
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamWriter, DataSourceWriter
from pyspark.sql.types import StructType

from ._options import Options
from ._reading import ShardsReader
from ._types import schema_of
from ._writing import ShardsStreamWriter, ShardsWriter


class DefaultSource(DataSource):
    """A folder of SQLite databases, or a place of an object store."""

    @classmethod
    def name(cls) -> str:
        return "litepress"

    def _open(self) -> tuple[Options, shards.Shards]:
        options = Options.of(self.options, writes=False)
        return options, shards.open(options.path, storage_options=options.storage_options)

    def schema(self) -> StructType:
        options, found = self._open()
        whole = schema_of(found)
        return whole if options.columns is None else StructType([whole[name] for name in options.columns_of(whole)])

    def reader(self, schema: StructType) -> DataSourceReader:
        options, found = self._open()
        return ShardsReader(found, schema, options.where)

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:
        return ShardsWriter(Options.of(self.options, writes=True), schema, overwrite)

    def streamWriter(self, schema: StructType, overwrite: bool) -> DataSourceStreamWriter:
        return ShardsStreamWriter(Options.of(self.options, writes=True), schema, overwrite)
