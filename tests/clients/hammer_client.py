"""A client of the hammer in tests/src/hammer.rs with Python's SQLite: `hammer_client.py hammer-client ROLE NAME FOLDER DATABASE`.

It does what the clients in Rust do (tests/src/hammer/clients.rs), and writes the same files.
"""

import random
import sqlite3
import sys
import time
from pathlib import Path

BATCH_ROWS = 400
MAX_PAUSE = 0.02


def write(connection, name, number):
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("INSERT INTO added (client, number, filler) VALUES (?, ?, hex(randomblob(100)))", (name, number))
    connection.execute("UPDATE account SET amount = amount + ? WHERE id = 2", (number,))
    connection.execute("UPDATE account SET amount = amount - ? WHERE id = 3", (number,))
    connection.execute("COMMIT")


def read(connection):
    connection.execute("BEGIN")
    total, rows, entries, batches, added, added_entries = connection.execute(
        "SELECT (SELECT sum(amount) FROM account), (SELECT count(*) FROM event NOT INDEXED),"
        " (SELECT count(*) FROM event INDEXED BY event_batch WHERE batch >= 0),"
        " (SELECT count(*) FROM (SELECT 1 FROM event GROUP BY batch)),"
        " (SELECT count(*) FROM added NOT INDEXED),"
        " (SELECT count(*) FROM added INDEXED BY added_client WHERE client > '')"
    ).fetchone()
    assert (total, rows, rows, added) == (0, entries, batches * BATCH_ROWS, added_entries), (
        total, rows, entries, batches, added, added_entries,
    )  # fmt: skip
    connection.execute("COMMIT")


def connect_and_work(role, name, database, number, log):
    """Opens the database, does some work and closes it. Returns the number of the next row."""
    connection = sqlite3.connect(f"{Path(database).as_uri()}?mode=rw", uri=True, timeout=5, isolation_level=None)
    try:
        for _ in range(random.randint(1, 4)):
            if role == "writer":
                write(connection, name, number)
                print(name, number, file=log, flush=True)
                number += 1
            else:
                read(connection)
            time.sleep(random.uniform(0, 0.002))
    finally:
        connection.close()
    return number


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
                if not (isinstance(error, sqlite3.OperationalError) and "locked" in str(error)):
                    (folder / f"{name}.bad").write_text(repr(error))
                    raise
                tolerated += 1
            time.sleep(random.uniform(0, MAX_PAUSE))
    (folder / f"{name}.end").write_text(f"{others} {tolerated}")


main()
