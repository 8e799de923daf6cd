"""Runs a common tool that fills SQLite, and times the whole process, as a user in a shell waits for it.

    python tools.py METHOD TARGET INPUT

INPUT is a CSV file with the rows of `user`, or their number if the program generates them.
"""

import dataclasses
import json
import pathlib
import sys

BENCH = pathlib.Path(__file__).parents[2]
sys.path.append(str(BENCH))
import data
import load
import measure
import competitors

KEYLESS = dataclasses.replace(data.USER, key=())


def sql(name):
    """Runs a script with SQLite's own program, and passes the number of rows."""
    script = BENCH / "programs" / "sql" / name

    def fill(path, rows):
        return measure.run(["sqlite3", "-bail", "-cmd", f".parameter set :rows {rows}", path, f".read '{script}'"])

    return fill


METHODS = {
    "sqlite3-import": lambda path, source: competitors.sqlite3_import(path, source, data.USER),
    "sqlite-utils": lambda path, source: competitors.sqlite_utils(path, source, data.USER),
    "duckdb": lambda path, source: competitors.duckdb_csv(path, source, KEYLESS),
    "adbc": lambda path, source: competitors.adbc(path, source, KEYLESS),
    "litepress-load": lambda path, source: load.litepress(path, source, data.USER),
    "generate-series": sql("generate_series.sql"),
    "recursive": sql("recursive.sql"),
}

if __name__ == "__main__":
    method, target, given = sys.argv[1:]
    print(json.dumps({"seconds": METHODS[method](pathlib.Path(target), given)["seconds"]}))
