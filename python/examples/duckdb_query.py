"""The result of a DuckDB query becomes a SQLite table, batch by batch: it may be larger than the memory."""

import sqlite3
import sys
from pathlib import Path

import duckdb
import litepress


def main(folder: Path) -> None:
    query = """
        SELECT range AS id, range % 7 AS weekday, hash(range) % 1000 / 10.0 AS score
        FROM range(200000) WHERE range % 3 = 0
    """
    with duckdb.connect() as duck:
        summary = litepress.write(
            folder / "scores.db", {"score": duck.sql(query)}, primary_key="id", indexes=["weekday"], if_exists="overwrite"
        )
    print(f"{summary.rows:,} rows in {summary.seconds:.2f} s")
    database = sqlite3.connect(folder / "scores.db")
    for row in database.execute("SELECT weekday, count(*), max(score) FROM score GROUP BY weekday"):
        print(*row)
    database.close()


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
