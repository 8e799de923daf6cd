"""A driver of Spark in a process of its own, which can be killed: `driver.py MASTER FAULT:FOLDER ...` writes a set with each fault."""

from __future__ import annotations

import sys
from pathlib import Path

from faults import FaultySource
from pyspark.sql import SparkSession
from sets import ROWS

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.cores.max": "2",
    "spark.executor.cores": "1",
    "spark.executor.memory": "512m",
    "spark.scheduler.minRegisteredResourcesRatio": "1.0",
    "spark.scheduler.maxRegisteredResourcesWaitingTime": "120s",
    "spark.speculation": "true",
    "spark.speculation.interval": "100ms",
    "spark.speculation.quantile": "0.5",
    "spark.speculation.multiplier": "1.5",
    "spark.speculation.minTaskRuntime": "1s",
}


def main(master: str, *jobs: str) -> None:
    builder = SparkSession.builder.master(master)
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.dataSource.register(FaultySource)
    for job in jobs:
        fault, _, folder = job.partition(":")
        writer = spark.range(ROWS, 2 * ROWS, numPartitions=4).write.format("faulty").mode("overwrite")
        options = {"table": "user", "primaryKey": "id", "fault": fault, "marker": f"{folder}-marker"}
        try:
            writer.options(**options).save(folder)
            ended = "done"
        except Exception as error:
            ended = str(error)
        Path(f"{folder}-ended").write_text(ended)
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
