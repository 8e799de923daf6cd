"""A client of the race in tests/src/race.rs with Python's SQLite: it does what the clients in Rust do."""

import random
import time

import client_loop

FIXED_ROWS = 500
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


def work(connection, role, name, number, log):
    """Waits a moment and does some work. Returns the number of the next row."""
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
    return number


# A lock, or a database that was replaced after it was opened.
client_loop.run(work, ["locked", "readonly database"], 0.15)
