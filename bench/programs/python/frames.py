"""Rows that a Python program has in memory, into SQLite: a contender of `python_child.py` by the ladder's clock.

    python frames.py CONTENDER TARGET SOURCE.csv [CHECK]

What is left to the operating system is not timed: the ladder shows it apart. Nor is what the rivals import.
"""

import contextlib
import json
import pathlib
import sqlite3
import sys
import time

import adbc_driver_manager.dbapi
import adbc_driver_sqlite.dbapi

sys.path.append(str(pathlib.Path(__file__).parents[2]))
from python_child import CONTENDERS

contender, path, source = sys.argv[1:4]
prepare, run = CONTENDERS[contender]
data, run = prepare(source), run()
started = time.perf_counter()
made = run(path, data)
result = {"seconds": time.perf_counter() - started}
if isinstance(made, sqlite3.Connection):
    with contextlib.closing(made):
        result["check"] = made.execute(sys.argv[4]).fetchone()
print(json.dumps(result))
