"""The rivals of `litepress load`, one function each, with the settings that were fastest for it.

A rival loads a file into a new database, and gives what `measure.run` gives. Packages come from PyPI into a virtualenv
of their own, the newest of their day. DuckDB's extension is a package, too: no other network is wanted. The `sqlite3`
program is the machine's.
"""

import contextlib
import json
import shutil
import sqlite3
import subprocess
import sys

from measure import ROOT, run

ENVIRONMENT = ROOT / "target" / "bench-venv"
PYTHON = ENVIRONMENT / "bin" / "python"
TPCHGEN = ENVIRONMENT / "bin" / "tpchgen-cli"
PACKAGES = [
    "adbc-driver-sqlite",
    "duckdb",
    "duckdb-extension-sqlite-scanner",
    "isal",
    "pyarrow",
    "sqlite-utils",
    "tpchgen-cli",
]

# What a rival wants to be there; others are part of this repository.
NEEDS = {
    "sqlite3 .import": ["sqlite3"],
    "DuckDB": ["duckdb", "duckdb-extension-sqlite-scanner"],
    "ADBC": ["adbc-driver-sqlite", "pyarrow"],
    "sqlite-utils": ["sqlite-utils"],
    "inflate alone": ["isal"],
}

VERSIONS = """
import importlib.metadata, json, sys
found = {}
for package in sys.argv[1:]:
    try:
        found[package] = importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        pass
print(json.dumps(found))
"""

DUCKDB = """
import pathlib, sys
import duckdb, duckdb_extension_sqlite_scanner
path, statement = sys.argv[1:]
[folder] = duckdb_extension_sqlite_scanner.__path__
[extension] = pathlib.Path(folder).glob("extensions/*/sqlite_scanner.duckdb_extension")
duckdb.execute(f"LOAD '{extension}'")
duckdb.execute(f"ATTACH '{path}' AS out (TYPE sqlite, JOURNAL_MODE 'OFF')")
duckdb.execute(statement)
"""

# Reading in pieces beside the inserts is as fast as reading all before them, and the journal is cheap where no page
# is written twice.
ADBC = """
import json, sys
import adbc_driver_sqlite.dbapi, pyarrow.csv
path, source, table, types = sys.argv[1:]
convert = pyarrow.csv.ConvertOptions(column_types=json.loads(types))
with adbc_driver_sqlite.dbapi.connect(f"file:{path}") as connection, connection.cursor() as cursor:
    cursor.adbc_ingest(table, pyarrow.csv.open_csv(source, convert_options=convert), mode="create")
    connection.commit()
"""

# What its command `insert` does with `--nl` or `--csv`, but without a journal and syncs, which that cannot do without: it
# commits every batch, so that a busy disk would be measured. A larger batch is cut to what it binds at most.
SQLITE_UTILS = """
import csv, json, sys
import sqlite_utils
path, source, table = sys.argv[1:]
database = sqlite_utils.Database(path)
for setting in ("journal_mode = off", "synchronous = off"):
    database.execute(f"PRAGMA {setting}").fetchall()
with open(source, encoding="utf-8", newline="") as file:
    rows = csv.DictReader(file) if source.endswith(".csv") else map(json.loads, file)
    database[table].insert_all(rows, batch_size=1000)
database.close()
"""

INFLATE = """
import sys
from isal import isal_zlib
with open(sys.argv[1], "rb") as file:
    inflater = isal_zlib.decompressobj(31)
    while piece := file.read(1 << 20):
        inflater.decompress(piece)
assert inflater.eof
"""


def install():
    """Brings the packages that are not there yet."""
    if not PYTHON.exists():
        subprocess.run([sys.executable, "-m", "venv", ENVIRONMENT], check=True)
    missing = [package for package in PACKAGES if package not in versions()]
    if missing:
        subprocess.run([PYTHON, "-m", "pip", "install", "--quiet", *missing], check=True)
    if not shutil.which("sqlite3"):
        raise SystemExit("the program sqlite3 is not installed: Debian's package of that name has it")


def versions(packages=PACKAGES, python=PYTHON):
    """What is there of the rivals, and which versions."""
    found = {}
    if python.exists():
        found = json.loads(run([python, "-c", VERSIONS, *packages])["output"])
    if shutil.which("sqlite3"):
        found["sqlite3"] = run(["sqlite3", "--version"])["output"].split()[0]
    return found


def sqlite3_import(path, source, table):
    settings = ["journal_mode=off", "synchronous=off", "cache_size=-1000000", "threads=2"]
    return run(
        ["sqlite3", "-bail", path]
        + [f"PRAGMA {setting}" for setting in settings]
        + [table.create(), f".import --csv --skip 1 '{source}' {table.name}"]
        + table.create_indexes()
    )


def duckdb(path, query, table):
    """Into a table without keys: into one with a key, made before, it takes longer."""
    return run([PYTHON, "-c", DUCKDB, path, f"CREATE TABLE out.{table.name} AS {query}"])


def typed(table, integer, real, text):
    """The columns of a table, with another program's names of the types."""
    types = {"INTEGER": integer, "REAL": real}
    return {name: types.get(declared.split()[0], text) for name, declared in table.columns.items()}


def duckdb_csv(path, source, table):
    columns = typed(table, "BIGINT", "DOUBLE", "VARCHAR")
    return duckdb(path, f"SELECT * FROM read_csv('{source}', header = true, columns = {columns})", table)


def duckdb_ndjson(path, source, table):
    columns = typed(table, "BIGINT", "DOUBLE", "VARCHAR")
    return duckdb(path, f"SELECT * FROM read_ndjson('{source}', columns = {columns})", table)


def duckdb_parquet(path, source, table):
    """With casts: it would write decimals as text, and take longer."""
    columns = typed(table, "BIGINT", "DOUBLE", "VARCHAR")
    casts = ", ".join(f"{name}::{to} AS {name}" for name, to in columns.items())
    return duckdb(path, f"SELECT {casts} FROM read_parquet('{source}')", table)


def adbc(path, source, table):
    types = json.dumps(typed(table, "int64", "float64", "string"))
    return run([PYTHON, "-c", ADBC, path, source, table.name, types])


def sqlite_utils(path, source, table):
    """Into a table made before, as that is no slower than one that it makes itself."""
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.execute(table.create())
    return run([PYTHON, "-c", SQLITE_UTILS, path, source, table.name])


def inflate(source):
    """The least that reading a .gz takes one core: ISA-L, which inflates faster than zlib, gzip and zlib-ng."""
    return run([PYTHON, "-c", INFLATE, source])
