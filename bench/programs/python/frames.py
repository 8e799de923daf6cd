"""Rows that a Python program has in memory, into SQLite: an engine of `python_child.py` by the benchmark suite's clock.

    python frames.py ENGINE TARGET SOURCE.csv [CHECK]

What is left to the operating system is not timed: the benchmark suite shows it apart. Nor is what the competitors import.
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
from python_child import ENGINES

engine, path, source = sys.argv[1:4]
prepare, run = ENGINES[engine]
data, run = prepare(source), run()
started = time.perf_counter()
made = run(path, data)
result = {"seconds": time.perf_counter() - started}
if isinstance(made, sqlite3.Connection):
    with contextlib.closing(made):
        result["check"] = made.execute(sys.argv[4]).fetchone()
print(json.dumps(result))
