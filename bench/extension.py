"""Measures the extension for SQLite against the ways of today: arrays, files, and new databases from queries.

    python3 bench/extension.py --rows 1m --repeat 3

It needs a Python whose sqlite3 can load extensions, and `cargo build --release -p litepress-extension`. Every result is checked before its time
counts. carray is not in Python's SQLite; a pointer cannot be bound there either, so arrays are JSON or blobs here.
"""

import argparse
import array
import json
import os
import pathlib
import sqlite3
import statistics
import sys
import tempfile
import time

BUILT = pathlib.Path(__file__).resolve().parent.parent / "target/release/liblitepress_extension.so"
LIBRARY = pathlib.Path(os.environ.get("LITEPRESS_EXTENSION", BUILT))
"""The library to load. The environment names another one, for a look at a debug build."""


def connect(path=":memory:"):
    """Opens a database with the extension."""
    db = sqlite3.connect(path, isolation_level=None)
    db.enable_load_extension(True)
    db.execute("SELECT load_extension(?)", (str(LIBRARY.with_suffix("")),))
    return db


def of_executemany(db, ids, scores):
    """Inserts by executemany, today's usual way."""
    db.executemany("INSERT INTO t VALUES (?, ?)", zip(ids, scores))


def of_json_each(db, ids, scores):
    """Inserts few rows by two json_each, joined by their keys: each row of one goes through the whole other one."""
    sql = "INSERT INTO t SELECT a.value, b.value FROM json_each(?) a JOIN json_each(?) b ON a.key = b.key"
    db.execute(sql, (json.dumps(list(ids[:2000])), json.dumps(list(scores[:2000]))))


def of_json_arrays(db, ids, scores):
    """Inserts by litepress_array from JSON."""
    sql = "INSERT INTO t SELECT c1, c2 FROM litepress_array(?, ?)"
    db.execute(sql, (json.dumps(list(ids)), json.dumps(list(scores))))


def of_blobs(db, ids, scores):
    """Inserts by litepress_array from blobs of numbers."""
    db.execute("CREATE VIRTUAL TABLE temp.arrays USING litepress_array(id INTEGER, score REAL)")
    db.execute("INSERT INTO t SELECT * FROM arrays(?, ?)", (ids.tobytes(), scores.tobytes()))


def measure_arrays(folder, rows):
    """Yields name, rows and seconds of each way to insert two columns."""
    ids, scores = array.array("q", range(rows)), array.array("d", (row / 4 for row in range(rows)))
    for name, insert in [("executemany", of_executemany), ("json_each", of_json_each),
                         ("litepress_array, JSON", of_json_arrays), ("litepress_array, blobs", of_blobs)]:  # fmt: skip
        path = os.path.join(folder, "arrays.db")
        db = connect(path)
        db.execute("PRAGMA synchronous = OFF")
        db.execute("CREATE TABLE t (id INTEGER, score REAL)")
        db.execute("BEGIN")
        began = time.perf_counter()
        insert(db, ids, scores)
        db.execute("COMMIT")
        seconds = time.perf_counter() - began
        count, total = db.execute("SELECT count(*), sum(id) FROM t").fetchone()
        assert total == count * (count - 1) // 2 and count in (rows, 2000), (name, count)
        db.close()
        os.remove(path)
        yield name, count, seconds


def measure_copies(folder, rows):
    """Yields name, rows and seconds of each way to make a database of a query, and of each way to read a CSV file."""
    source, out = os.path.join(folder, "source.db"), os.path.join(folder, "out.db")
    db = connect(source)
    db.execute("CREATE TABLE user (id INTEGER PRIMARY KEY, area TEXT, age INTEGER, active INTEGER)")
    sql = """WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT ?)
             INSERT INTO user SELECT i, printf('%06d', i * 7919 % 1000000), i % 90, i % 2 FROM n"""
    db.execute(sql, (rows,))
    csv = os.path.join(folder, "user.csv")
    with open(csv, "w") as file:
        file.write("id,area,age,active\n")
        file.writelines("%d,%s,%d,%d\n" % row for row in db.execute("SELECT * FROM user"))
    query = "SELECT * FROM user"

    def create_table_as():
        db.execute("ATTACH ? AS out", (out,))
        db.execute("PRAGMA out.synchronous = OFF")
        db.execute("CREATE TABLE out.user AS SELECT * FROM user")
        db.execute("DETACH out")

    def print_query():
        assert db.execute("SELECT litepress_print(?, 'user', ?, 'primary-key=id')", (out, query)).fetchone() == (rows,)

    def read_csv():
        assert db.execute("SELECT count(c3) FROM litepress_read(?)", (csv,)).fetchone() == (rows,)

    def print_csv():
        text = f"SELECT c1 AS id, c2 AS area, c3 AS age, c4 AS active FROM litepress_read('{csv}')"
        assert db.execute("SELECT litepress_print(?, 'user', ?)", (out, text)).fetchone() == (rows,)

    ways = [("CREATE TABLE AS", create_table_as), ("VACUUM INTO", lambda: db.execute("VACUUM INTO ?", (out,))),
            ("litepress_print", print_query), ("litepress_read, CSV, one column", read_csv),
            ("litepress_print of a CSV file", print_csv)]  # fmt: skip
    for name, way in ways:
        began = time.perf_counter()
        way()
        seconds = time.perf_counter() - began
        if os.path.exists(out):
            with sqlite3.connect(out) as made:
                assert made.execute("SELECT count(*) FROM user").fetchone() == (rows,), name
            os.remove(out)
        yield name, rows, seconds
    db.close()
    os.remove(source)


def count(text):
    """Reads a number of rows: 500k, 10m."""
    return int(float(text.rstrip("km")) * {"k": 1_000, "m": 1_000_000}.get(text[-1], 1))


def main():
    """Measures all ways in rounds, and prints their medians."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=count, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()
    if not hasattr(sqlite3.Connection, "enable_load_extension") or not LIBRARY.exists():
        sys.exit("skipped: this Python cannot load extensions, or the extension is not built")
    times = {}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(arguments.repeat):
            for measure in (measure_arrays, measure_copies):
                for name, rows, seconds in measure(folder, arguments.rows):
                    times.setdefault((name, rows), []).append(seconds)
    for (name, rows), seconds in times.items():
        median = statistics.median(seconds)
        print(f"{name:34} {rows:>12,} rows {median:8.3f} s {rows / median / 1e6:8.2f} M rows/s")


if __name__ == "__main__":
    main()
