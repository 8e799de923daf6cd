"""A client of the hammer in tests/src/hammer.rs with Python's SQLite: it does what the clients in Rust do."""

import random
import time

import client_loop

BATCH_ROWS = 400


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


def work(connection, role, name, number, log):
    """Does some work. Returns the number of the next row."""
    for _ in range(random.randint(1, 4)):
        if role == "writer":
            write(connection, name, number)
            print(name, number, file=log, flush=True)
            number += 1
        else:
            read(connection)
        time.sleep(random.uniform(0, 0.002))
    return number


client_loop.run(work, ["locked", "busy"], 0.02)
