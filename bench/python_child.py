"""Runs one engine of python.py: reads the rows into memory, makes a database, prints the time.

    python_child.py ENGINE PATH SOURCE.csv

The clock covers the wait of a program: from rows in memory to a synced file, or to an open connection.
"""

import contextlib
import json
import os
import resource
import sqlite3
import sys
import time

COLUMNS = ["id", "area", "age", "active"]
UNSAFE = ("journal_mode = off", "synchronous = off", "locking_mode = exclusive", "cache_size = -1000000")
KEYED = "CREATE TABLE user (id INTEGER PRIMARY KEY NOT NULL, area CHAR(6), age INTEGER NOT NULL, active INTEGER NOT NULL)"


def table(source):
    """Reads the rows as a pyarrow table."""
    import pyarrow.csv

    types = pyarrow.csv.ConvertOptions(column_types=dict.fromkeys(COLUMNS, "int64") | {"area": "string"})
    return pyarrow.csv.read_csv(source, convert_options=types)


def polars_frame(source):
    import polars

    return polars.from_arrow(table(source))


def pandas_frame(source):
    return table(source).to_pandas()


def columns(source):
    """Reads the rows as one list for each column."""
    return [column.to_pylist() for column in table(source).columns]


def tuples(lists):
    """Returns an iterator of almost no cost."""
    return zip(*lists)


def dicts(lists):
    return ({"id": id, "area": area, "age": age, "active": active} for id, area, age, active in zip(*lists))


def litepress(rows, **named):
    """Returns a call of `litepress.write` with the key, which not all competitors can set."""
    import litepress

    def press(path, data):
        litepress.write(path, {"user": rows(data)}, primary_key="id", **named)

    return press


def adbc(path, data):
    import adbc_driver_sqlite.dbapi

    with adbc_driver_sqlite.dbapi.connect(f"file:{path}") as connection, connection.cursor() as cursor:
        cursor.adbc_ingest("user", data, mode="create")
        connection.commit()


def polars_adbc(path, data):
    data.write_database("user", f"sqlite:///{path}", engine="adbc", if_table_exists="replace")


def pandas_to_sql(path, data):
    with contextlib.closing(unsafe(path)) as database:
        data.to_sql("user", database, index=False, chunksize=100_000)
        database.commit()


def unsafe(path):
    """Opens a connection with the fastest settings, which risk the file."""
    database = sqlite3.connect(path)
    for setting in UNSAFE:
        database.execute(f"PRAGMA {setting}").fetchall()
    return database


def executemany(path, rows, values="?, ?, ?, ?"):
    database = unsafe(path)
    database.execute(KEYED)
    database.executemany(f"INSERT INTO user VALUES ({values})", rows)
    database.commit()
    return database


def insert_tuples(path, lists):
    executemany(path, tuples(lists)).close()


def insert_dicts(path, lists):
    executemany(path, dicts(lists), ":id, :area, :age, :active").close()


def in_memory(rows):
    """Returns a call that makes a database in memory and connects to it."""
    import litepress

    return lambda _, data: litepress.connect({"user": rows(data)}, primary_key="id")


def insert_in_memory(_, lists):
    return executemany(":memory:", tuples(lists))


def exhaust(rows):
    """Returns a loop over the rows alone, without a database."""

    def run(_, lists):
        for _ in rows(lists):
            pass

    return run


def same(data):
    return data


# For each engine: the form of the rows in memory, and the call that is timed.
ENGINES = {
    "litepress, pyarrow": (table, lambda: litepress(same)),
    "ADBC, pyarrow": (table, lambda: adbc),
    "litepress, polars": (polars_frame, lambda: litepress(same)),
    "polars with ADBC, polars": (polars_frame, lambda: polars_adbc),
    "litepress, pandas": (pandas_frame, lambda: litepress(same)),
    "to_sql, pandas": (pandas_frame, lambda: pandas_to_sql),
    "litepress, tuples": (columns, lambda: litepress(tuples, columns=COLUMNS)),
    "executemany, tuples": (columns, lambda: insert_tuples),
    "rows alone, tuples": (columns, lambda: exhaust(tuples)),
    "litepress, dicts": (columns, lambda: litepress(dicts)),
    "executemany, dicts": (columns, lambda: insert_dicts),
    "rows alone, dicts": (columns, lambda: exhaust(dicts)),
    "litepress, in memory": (table, lambda: in_memory(same)),
    "executemany, in memory": (columns, lambda: insert_in_memory),
}


def spent():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def main():
    engine, path, source = sys.argv[1:]
    prepare, run = ENGINES[engine]
    data, run = prepare(source), run()
    before, cpu = time.perf_counter(), spent()
    made = run(path, data)
    if os.path.exists(path):
        with open(path, "rb") as file:
            os.fsync(file)
    result = {"seconds": time.perf_counter() - before, "cpu_seconds": spent() - cpu}
    if isinstance(made, sqlite3.Connection):
        # Copies the database into the file, which the caller verifies.
        with contextlib.closing(made), contextlib.closing(sqlite3.connect(path)) as file:
            made.backup(file)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
