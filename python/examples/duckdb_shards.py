"""A query of DuckDB becomes a set of shards, a range of keys each: databases for many readers, written one after another or by many processes."""

import sys
from pathlib import Path

import duckdb
from litepress import shards

SHARDS, ROWS = 4, 100_000


def main(folder: Path) -> None:
    job = shards.begin(folder / "scores", table="score", primary_key="id", indexes=["weekday"], if_exists="overwrite")
    parts = []
    with duckdb.connect() as duck:
        for number in range(SHARDS):
            first, last = number * ROWS, (number + 1) * ROWS
            query = f"SELECT range AS id, range % 7 AS weekday, sqrt(range) AS score FROM range({first}, {last})"
            parts.append(job.write(number, duck.sql(query)))
    made = job.commit(parts)
    print(f"{made.manifest.rows:,} rows in {len(made.shards)} shards")
    print(made.shard_of(250_000).file.rpartition("/")[2][:10], *made.read(["score"], "id = ?", [250_000]))


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
