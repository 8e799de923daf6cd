#!/usr/bin/env python3
"""Measures a Spark job that writes shards, against a job whose tasks only drain their batches.

With --journey, also what follows: another job reads the shards, `litepress merge` makes one database of them, the same rows become a
database for each of 1,000 tenants, and Ray and Dask write the same rows. Rows and sums are compared, and SQLite checks the one database.

Run it with the environment of `make test-cluster`, after `pip install ./python` there has built the package for release:

    target/cluster-venv/bin/python bench/cluster.py --rows 10m --shards 16
"""

import argparse
import os
import pathlib
import sqlite3
import subprocess
import sys
import time

import numpy
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


def journey(spark, frame, folder, options):
    """Does what users do with the shards of a job, and checks each outcome."""
    rows = options.rows
    sum_of_ages = rows // 3 * 30 + [0, 5, 15][rows % 3]
    path, one, tenants = folder / "user", folder / "one.db", folder / "tenants"

    def read():
        found = spark.read.format("litepress").load(str(path)).agg(f.count("*"), f.sum("age")).first()
        expect("read", tuple(found), (rows, sum_of_ages))

    def split():
        named = frame.withColumn("tenant", (f.col("id") * 1000 / rows).cast("long"))
        named = named.repartition(options.shards, "tenant").sortWithinPartitions("tenant", "id")
        named.write.format("litepress").mode("overwrite").option("table", "user").option("oneFilePer", "tenant").save(str(tenants))

    results = {"read": timed(read), "merge": timed(lambda: subprocess.run(["litepress", "merge", one, path, "--quiet"], check=True))}
    with sqlite3.connect(one) as database:
        expect("merge", database.execute("SELECT count(*), sum(age) FROM user").fetchone(), (rows, sum_of_ages))
        expect("merge", database.execute("PRAGMA integrity_check").fetchone(), ("ok",))
    results["1,000 tenants"] = timed(split)
    made = shards.open(tenants)
    expect("tenants", (made.rows, len(made.shards)), (rows, 1000))
    return results


def expect(name, found, expected):
    """Ends the run if an outcome is not the expected one."""
    if found != expected:
        raise SystemExit(f"{name}: {found} instead of {expected}")


def users(ids):
    """Returns the columns of the users with these numbers."""
    return {"id": ids, "area": numpy.char.zfill((ids % 999983).astype(str), 6), "age": ids % 3 * 5 + 5, "active": ids % 2}


def other_engines(folder, options):
    """Writes the same rows with Ray and with Dask, with the index, and without litepress for comparison."""
    import dask.dataframe
    import litepress.dask
    import litepress.ray
    import pandas
    import ray

    def expect_rows(path):
        made = shards.open(path)
        expect(path, (made.rows, bool(made.check())), (options.rows, True))

    given = {"table": "user", "primary_key": "id", "indexes": ["area"]}
    ray.init(num_cpus=options.cores, include_dashboard=False, logging_level="ERROR")
    ray.data.DataContext.get_current().enable_progress_bars = False
    dataset = ray.data.range(options.rows, override_num_blocks=options.shards).map_batches(lambda batch: users(batch["id"]))
    results = {"Ray, rows alone": timed(lambda: expect("Ray", sum(batch["id"].size for batch in dataset.iter_batches()), options.rows))}
    results["Ray"] = timed(lambda: dataset.write_datasink(litepress.ray.Datasink(str(folder / "ray"), **given)))
    expect_rows(folder / "ray")
    ray.shutdown()

    step = -(-options.rows // options.shards)
    starts = range(0, options.rows, step)
    frame = dask.dataframe.from_map(lambda start: pandas.DataFrame(users(numpy.arange(start, min(start + step, options.rows)))), starts)
    results["Dask, rows alone"] = timed(lambda: expect("Dask", len(frame), options.rows))
    results["Dask"] = timed(lambda: litepress.dask.to_litepress(frame, str(folder / "dask"), **given))
    expect_rows(folder / "dask")
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=number, default=number("10m"))
    parser.add_argument("--shards", type=int, default=16)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--journey", action="store_true", help="also read, merge and split the shards, and write with Ray and Dask")
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
        more = journey(spark, frame, folder, options) if options.journey else {}
        spark.stop()
        if options.journey:
            more |= other_engines(folder, options)
    figures = {f"{name}, times drain": spread([one[name]["seconds"] / one["drain"]["seconds"] for one in rounds]) for name in rounds[0] if name != "drain"}
    for name in rounds[0]:
        print(f"{name:22} {min(one[name]['seconds'] for one in rounds):8.2f} s")
    for name, result in more.items():
        print(f"{name:22} {result['seconds']:8.2f} s")
    for name, figure in figures.items():
        print(f"{name:32} {figure['median']:8.2f}   [{figure['min']:.2f} .. {figure['max']:.2f}]")
    keep(options.results, {"rows": options.rows, "shards": options.shards, "cores": options.cores, "figures": figures, "rounds": rounds, "journey": more})


if __name__ == "__main__":
    main()
