"""The data source ``litepress`` of Spark 4: each task writes a SQLite database, the driver publishes them as one set.

    >>> df.write.format("litepress").mode("overwrite").option("primaryKey", "id").save("/data/user")  # doctest: +SKIP
    >>> spark.read.format("litepress").load("/data/user")  # doctest: +SKIP

Spark finds :class:`DefaultSource` by the name of this package: nothing is registered. The package must be installed on
the driver and on all executors. A set is a folder of ``litepress.shards``, which any other program can read, too.
"""

from ._source import DefaultSource

__all__ = ["DefaultSource"]
