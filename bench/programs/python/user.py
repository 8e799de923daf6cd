"""Fills SQLite with rows of `user` as a Python script does, under CPython or PyPy.

    user.py METHOD TARGET ROWS [CHECK]

A method names how the database is opened and how rows are inserted; or it makes the same rows without inserting them
(`busy`). ../../README.md describes the output.
"""

import json
import random
import sqlite3
import sys
import time

PRAGMAS = """
PRAGMA journal_mode = OFF;
PRAGMA synchronous = 0;
PRAGMA cache_size = 1000000;
PRAGMA locking_mode = EXCLUSIVE;
PRAGMA temp_store = MEMORY;
"""
TABLE = "CREATE TABLE user (id INTEGER not null primary key, area CHAR(6), age INTEGER not null, active INTEGER not null)"
INSERT = "INSERT INTO user VALUES (NULL, ?, ?, ?)"
BATCH = 100_000


def row():
    """Makes a row with the calls that first come to mind."""
    return f"{random.randrange(1_000_000):06}", random.choice((5, 10, 15)), random.getrandbits(1)


def list_of_rows(size):
    return [row() for _ in range(size)]


def cheap_list_of_rows(size):
    """Makes a row with one random number and without calls of Python functions."""
    numbers = random.choices(range(6_000_000), k=size)
    return [("%06d" % (number // 6), number % 3 * 5 + 5, number % 6 // 3) for number in numbers]


def batches(rows):
    """Yields the number of rows of each batch."""
    return [min(BATCH, rows - first) for first in range(0, rows, BATCH)]


def with_defaults(target):
    """Python begins a transaction before the first row."""
    return sqlite3.connect(target)


def with_autocommit(target):
    """Commits each row as its own transaction, in a batch, too."""
    database = sqlite3.connect(target, isolation_level=None)
    database.execute("PRAGMA journal_mode = WAL")
    return database


def with_pragmas(target):
    database = sqlite3.connect(target)
    database.executescript(PRAGMAS)
    return database


def row_by_row(database, rows):
    for _ in range(rows):
        database.execute(INSERT, row())
    database.commit()


def batched(database, rows, make=list_of_rows):
    for size in batches(rows):
        database.executemany(INSERT, make(size))
        database.commit()


def batched_cheap(database, rows):
    batched(database, rows, cheap_list_of_rows)


def busy(rows):
    for _ in range(rows):
        row()


def busy_batched(rows):
    for size in batches(rows):
        list_of_rows(size)


FILLING = {
    "row-by-row": (with_defaults, row_by_row),
    "batched": (with_defaults, batched),
    "autocommit-row-by-row": (with_autocommit, row_by_row),
    "autocommit-batched": (with_autocommit, batched),
    "pragmas-row-by-row": (with_pragmas, row_by_row),
    "pragmas-batched": (with_pragmas, batched),
    "pragmas-batched-cheap": (with_pragmas, batched_cheap),
}
BUSY = {"busy-row-by-row": busy, "busy-batched": busy_batched}
USAGE = f"usage: user.py {'|'.join([*FILLING, *BUSY])} TARGET ROWS [CHECK]"


def fill(method, target, rows, check):
    """Times everything from opening to closing; a database in memory is queried before it is closed."""
    connect, insert = FILLING[method]
    started = time.perf_counter()
    database = connect(target)
    database.execute(TABLE)
    insert(database, rows)
    if target != ":memory:":
        database.close()
        return {"seconds": time.perf_counter() - started}
    seconds = time.perf_counter() - started
    return {"seconds": seconds, "check": database.execute(check).fetchone() if check else None}


def main(method="", target="", rows="", check=None, *rest):
    if method not in {**FILLING, **BUSY} or not rows.isdecimal() or rest:
        raise SystemExit(USAGE)
    rows = int(rows)
    if method in FILLING:
        return fill(method, target, rows, check)
    started = time.perf_counter()
    BUSY[method](rows)
    return {"seconds": time.perf_counter() - started}


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
