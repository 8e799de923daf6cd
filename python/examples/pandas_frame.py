"""A pandas frame becomes a table with a primary key, an index and types that keep every value."""

import sqlite3
import sys
from pathlib import Path

import litepress
import pandas as pd


def main(folder: Path) -> None:
    orders = pd.DataFrame(
        {
            "id": range(1, 1001),
            "customer": [f"customer {number % 50:02}" for number in range(1000)],
            "placed": pd.date_range("2026-01-01", periods=1000, freq="h"),
            "total": [number * 1.25 for number in range(1000)],
        }
    )
    summary = litepress.write(
        folder / "orders.db",
        {"orders": orders},
        primary_key="id",
        indexes=["customer", ("placed", "total")],
        if_exists="overwrite",
    )
    print(f"{summary.rows:,} rows in {summary.bytes:,} bytes")
    database = sqlite3.connect(folder / "orders.db")
    query = "SELECT customer, sum(total) AS spent FROM orders GROUP BY customer ORDER BY spent DESC LIMIT 3"
    print(pd.read_sql(query, database))
    database.close()


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
