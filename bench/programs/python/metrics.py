"""Inserts dicts in memory into SQLite: with the standard library, and with litepress.

    python metrics.py METHOD TARGET ROWS [CHECK]
"""

import json
import pathlib
import sqlite3
import sys
import time

sys.path.append(str(pathlib.Path(__file__).parents[2]))
import data

SCHEMA = "CREATE TABLE metrics (name VARCHAR NOT NULL, value FLOAT NOT NULL)"
UNSAFE = ("synchronous = OFF", "journal_mode = OFF")


def executemany(path, rows, settings=()):
    database = sqlite3.connect(path)
    for setting in settings:
        database.execute(f"PRAGMA {setting}")
    database.execute(SCHEMA)
    with database:
        database.executemany("INSERT INTO metrics VALUES (:name, :value)", rows)
    return database


def unsafe_executemany(path, rows):
    return executemany(path, rows, UNSAFE)


def write(path, rows):
    litepress.write(path, {"metrics": rows}, schema=SCHEMA)


def extend(path, rows):
    with litepress.create(path, SCHEMA) as database:
        database["metrics"].extend(rows)


def append(path, rows):
    """Inserts row by row, like a simulator that makes one row after another."""
    with litepress.create(path, SCHEMA) as database:
        metrics = database["metrics"]
        for row in rows:
            metrics.append(row)


def connect(_, rows):
    return litepress.connect({"metrics": rows}, schema=SCHEMA)


STANDARD = {"executemany": executemany, "unsafe-executemany": unsafe_executemany}
LITEPRESS = {"write": write, "extend": extend, "append": append, "connect": connect}

method, path, rows = sys.argv[1], sys.argv[2], int(sys.argv[3])
if method in LITEPRESS:
    import litepress
run = (STANDARD | LITEPRESS)[method]
rows = [{"name": name, "value": value} for name, value in data.metrics(rows)]
started = time.perf_counter()
database = run(path, rows)
if database and path != ":memory:":
    database.close()
result = {"seconds": time.perf_counter() - started}
if len(sys.argv) > 4:
    result["check"] = database.execute(sys.argv[4]).fetchone()
print(json.dumps(result))
