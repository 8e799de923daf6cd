"""Inserts rows in memory into SQLite: runs an engine of `python_child.py` with the clock of the benchmark suite.

    python frames.py ENGINE TARGET SOURCE.csv [CHECK]

Neither the sync of the file, which the suite measures separately, nor the imports of the engines are timed.
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
