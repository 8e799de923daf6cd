"""A client of the race in tests/src/race.rs with Python's SQLite: `race_client.py client ROLE NAME FOLDER DATABASE`.

It does what the clients in Rust do (tests/src/race/clients.rs), and writes the same files.
"""

import random
import sqlite3
import sys
import time
from pathlib import Path

FIXED_ROWS = 500
MAX_PAUSE = 0.15
CHECKPOINTS = ("PASSIVE", "FULL", "RESTART", "TRUNCATE")


def write(connection, name, number):
    connection.execute("BEGIN IMMEDIATE")
    (generation,) = connection.execute("SELECT number FROM generation").fetchone()
    sql = "INSERT INTO added(client, number, generation, filler) VALUES (?, ?, ?, hex(randomblob(200)))"
    connection.execute(sql, (name, number, generation))
    connection.execute("COMMIT")
    return generation


def read(connection):
    connection.execute("BEGIN")
    seen = connection.execute(
        "SELECT (SELECT count(*) FROM fixed WHERE length(a) = 60),"
        " (SELECT count(*) FROM fixed INDEXED BY fixed_a WHERE a > ''),"
        " (SELECT count(*) FROM added WHERE generation IS NOT (SELECT number FROM generation))"
    ).fetchone()
    assert seen == (FIXED_ROWS, FIXED_ROWS, 0), f"rows, entries, rows of another generation: {seen}"
    connection.execute("COMMIT")


def connect_and_work(role, name, database, number, log):
    """Opens the database, waits a moment, does some work and closes it. Returns the number of the next row."""
    uri = f"{Path(database).as_uri()}?mode=rw"
    connection = sqlite3.connect(uri, uri=True, timeout=5, isolation_level=None)
    try:
        time.sleep(random.uniform(0, 0.002))
        for _ in range(random.randint(1, 3)):
            if role == "writer":
                generation = write(connection, name, number)
                print(generation, name, number, file=log, flush=True)
                number += 1
            elif role == "reader":
                read(connection)
            else:
                connection.execute(f"PRAGMA wal_checkpoint({random.choice(CHECKPOINTS)})").fetchone()
    finally:
        connection.close()
    return number


def is_tolerated(error):
    """Tells whether a client may get this error: a lock, or a database that was replaced after it was opened."""
    return isinstance(error, sqlite3.OperationalError) and any(
        text in str(error) for text in ("database is locked", "database table is locked", "readonly database")
    )


def main():
    _, role, name, folder, database = sys.argv[1:]
    folder = Path(folder)
    number = others = tolerated = 0
    with (folder / f"{name}.log").open("w") as log:
        while not (folder / "stop").exists():
            try:
                number = connect_and_work(role, name, database, number, log)
                others += role != "writer"
            except (sqlite3.Error, AssertionError) as error:
                if not is_tolerated(error):
                    (folder / f"{name}.bad").write_text(repr(error))
                    raise
                tolerated += 1
            time.sleep(random.uniform(0, MAX_PAUSE))
    (folder / f"{name}.end").write_text(f"{others} {tolerated}")


main()
