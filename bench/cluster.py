#!/usr/bin/env python3
"""Measures a Spark job that writes shards, against a job whose tasks only drain their batches.

Run it with the environment of `make test-cluster`, after `pip install ./python` there has built the package for release:

    target/cluster-venv/bin/python bench/cluster.py --rows 10m --shards 16
"""

import argparse
import os
import pathlib
import sys
import time

from litepress import shards
from measure import ROOT, keep, number, scratch, spread
from pyspark.sql import SparkSession
from pyspark.sql import functions as f
from pyspark.sql.datasource import DataSource, DataSourceArrowWriter, WriterCommitMessage


class Drained(WriterCommitMessage):
    """The message of a task that wrote nothing."""


class DrainWriter(DataSourceArrowWriter):
    """A writer that reads its rows, and nothing else."""

    def write(self, iterator):
        for _ in iterator:
            pass
        return Drained()

    def commit(self, messages):
        pass

    def abort(self, messages):
        pass


class Drain(DataSource):
    """The data source `drain`."""

    @classmethod
    def name(cls):
        return "drain"

    def writer(self, schema, overwrite):
        return DrainWriter()


def session(cores):
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYTHONPATH"] = os.pathsep.join([str(pathlib.Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    builder = SparkSession.builder.master(f"local[{cores}]").config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false").config("spark.driver.memory", "2g")
    return builder.config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1").getOrCreate()


def timed(action):
    started = time.perf_counter()
    action()
    return {"seconds": time.perf_counter() - started}


def one_round(frame, folder, options):
    """Runs each writer once."""
    results = {"drain": timed(lambda: frame.write.format("drain").mode("append").save("nowhere"))}
    parquet, plain, path = folder / "user.parquet", folder / "plain", folder / "user"
    results["parquet"] = timed(lambda: frame.write.mode("overwrite").parquet(str(parquet)))
    writer = frame.write.format("litepress").mode("overwrite").option("table", "user").option("primaryKey", "id")
    results["litepress"] = timed(lambda: writer.save(str(plain)))
    results["litepress, an index"] = timed(lambda: writer.option("indexes", "area").save(str(path)))
    for place in (plain, path):
        made = shards.open(place)
        if made.rows != options.rows or len(made.shards) != options.shards:
            raise SystemExit(f"{place}: {made.rows} rows in {len(made.shards)} shards")
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=number, default=number("10m"))
    parser.add_argument("--shards", type=int, default=16)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--dir", type=pathlib.Path, default=ROOT / "target")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "bench" / "results" / "cluster.jsonl")
    options = parser.parse_args()
    spark = session(options.cores)
    spark.dataSource.register(Drain)
    with scratch(options.dir) as folder:
        frame = spark.range(0, options.rows, numPartitions=options.shards).select(
            "id", f.format_string("%06d", f.col("id") % 999983).alias("area"), (f.col("id") % 3 * 5 + 5).alias("age"), (f.col("id") % 2).alias("active")
        )
        # The first job starts Python and compiles Java.
        frame.limit(1000).write.format("drain").mode("append").save("nowhere")
        rounds = [one_round(frame, folder, options) for _ in range(options.repeat)]
    spark.stop()
    figures = {f"{name}, times drain": spread([one[name]["seconds"] / one["drain"]["seconds"] for one in rounds]) for name in rounds[0] if name != "drain"}
    for name in rounds[0]:
        print(f"{name:22} {min(one[name]['seconds'] for one in rounds):8.2f} s")
    for name, figure in figures.items():
        print(f"{name:32} {figure['median']:8.2f}   [{figure['min']:.2f} .. {figure['max']:.2f}]")
    keep(options.results, {"rows": options.rows, "shards": options.shards, "cores": options.cores, "figures": figures, "rounds": rounds})


if __name__ == "__main__":
    main()
