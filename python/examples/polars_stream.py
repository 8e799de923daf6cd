"""A lazy query of polars becomes a SQLite table, batch by batch: its result may be larger than the memory."""

import sqlite3
import sys
from pathlib import Path

import litepress
import polars as pl


def main(folder: Path) -> None:
    readings = (
        pl.LazyFrame({"at": range(300_000)})
        .with_columns(sensor=pl.col("at") % 3 + 1, celsius=(pl.col("at") % 240) / 10)
        .filter(pl.col("celsius") > 1)
    )
    summary = litepress.write(
        folder / "readings.db", {"reading": readings.collect_batches(chunk_size=50_000)}, primary_key="at", indexes=["sensor"], if_exists="overwrite"
    )
    print(f"{summary.rows:,} rows in {summary.seconds:.2f} s")
    database = sqlite3.connect(folder / "readings.db")
    for sensor, celsius in database.execute("SELECT sensor, max(celsius) FROM reading GROUP BY sensor"):
        print(sensor, celsius)
    database.close()


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
