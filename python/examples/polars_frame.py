"""A polars frame, and one that is put together lazily, become two tables that refer to each other."""

import sqlite3
import sys
from pathlib import Path

import litepress
import polars as pl


def main(folder: Path) -> None:
    sensors = pl.DataFrame({"id": [1, 2, 3], "place": ["roof", "cellar", "garden"]})
    readings = (
        pl.LazyFrame({"at": range(3000)})
        .with_columns(sensor=pl.col("at") % 3 + 1, celsius=(pl.col("at") % 240) / 10)
        .filter(pl.col("celsius") > 1)
        .collect()
    )
    litepress.write(
        folder / "sensors.db",
        {"sensor": sensors, "reading": readings},
        primary_key={"sensor": "id", "reading": ("sensor", "at")},
        foreign_keys={"reading.sensor": "sensor.id"},
        if_exists="overwrite",
    )
    database = sqlite3.connect(folder / "sensors.db")
    query = "SELECT place, max(celsius) FROM sensor JOIN reading ON sensor.id = reading.sensor GROUP BY place"
    for place, celsius in database.execute(query):
        print(f"{place:8} {celsius:.1f}")
    database.close()


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
