"""The loop of a client with Python's SQLite: `CLIENT.py WORD ROLE NAME FOLDER DATABASE`.

It does what the clients in Rust do (tests/src/clients.rs), and writes the same files.
"""

import random
import sqlite3
import sys
import time
from pathlib import Path


def run(work, tolerated, longest_pause):
    """Works until the trial ends.

    `work(connection, role, name, number, log)` returns the number of the client's next row. A locked database, and errors with one of
    the words in `tolerated`, are counted; any other error ends the client.
    """
    _, _, role, name, folder, database = sys.argv
    folder = Path(folder)
    number = others = errors = 0
    with (folder / f"{name}.log").open("w") as log:
        while not (folder / "stop").exists():
            try:
                connection = sqlite3.connect(f"{Path(database).as_uri()}?mode=rw", uri=True, timeout=5, isolation_level=None)
                try:
                    number = work(connection, role, name, number, log)
                finally:
                    connection.close()
                others += role != "writer"
            except (sqlite3.Error, AssertionError) as error:
                is_tolerated = isinstance(error, sqlite3.OperationalError) and any(word in str(error) for word in tolerated)
                if not is_tolerated:
                    (folder / f"{name}.bad").write_text(repr(error))
                    raise
                errors += 1
            time.sleep(random.uniform(0, longest_pause))
    (folder / f"{name}.end").write_text(f"{others} {errors}")
