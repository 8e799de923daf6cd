"""The competitors of `litepress load` and `litepress generate`: one function each, with its fastest settings.

A competitor loads a file into a new database, or generates rows, and returns the result of `measure.run`. The newest
packages are installed from PyPI into a virtualenv; kennytm's dbgen comes from crates.io. DuckDB's extension is a
package, too, so that no other server is needed. The `sqlite3` program is the one of the machine.
"""

import contextlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys

from measure import ROOT, run

ENVIRONMENT = ROOT / "target" / "bench-venv"
PYTHON = ENVIRONMENT / "bin" / "python"
TPCHGEN = ENVIRONMENT / "bin" / "tpchgen-cli"
DBGEN_PROJECT = ROOT / "target" / "dbgen"
DBGEN = DBGEN_PROJECT / "target" / "release" / "dbgen"
DBGEN_VERSION = "0.8.0"
PACKAGES = [
    "adbc-driver-sqlite",
    "duckdb",
    "duckdb-extension-sqlite-scanner",
    "faker",
    "isal",
    "pyarrow",
    "sqlite-utils",
    "tpchgen-cli",
]

# The packages and programs that a competitor needs; a competitor without an entry is part of this repository.
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

# Reading while inserting is as fast as reading everything first. The journal is cheap because no page is written twice.
ADBC = """
import json, sys
import adbc_driver_sqlite.dbapi, pyarrow.csv
path, source, table, types = sys.argv[1:]
convert = pyarrow.csv.ConvertOptions(column_types=json.loads(types))
with adbc_driver_sqlite.dbapi.connect(f"file:{path}") as connection, connection.cursor() as cursor:
    cursor.adbc_ingest(table, pyarrow.csv.open_csv(source, convert_options=convert), mode="create")
    connection.commit()
"""

# Its command `insert` with `--nl` or `--csv`, but without journal and syncs, which the command cannot turn off: it commits
# every batch and would measure the disk. Larger batches are cut to the number of parameters that it binds at most.
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

# The published dbgen does not enable all features of rand and chrono that it uses, so that `cargo install` fails. This
# package enables them. Its program is the same as dbgen's own, except for the exit status.
DBGEN_PACKAGE = f"""
[package]
name = "dbgen-program"
version = "0.0.0"
edition = "2021"

[[bin]]
name = "dbgen"
path = "main.rs"

[dependencies]
chrono = {{ version = "0.4", features = ["clock"] }}
dbgen = "={DBGEN_VERSION}"
rand = {{ version = "0.8", features = ["std"] }}
structopt = "0.3"

[workspace]
"""

DBGEN_PROGRAM = """
use dbgen::{cli, span::Registry};
use structopt::StructOpt;

fn main() {
    let mut registry = Registry::default();
    if let Err(error) = cli::run(cli::Args::from_args(), &mut registry) {
        eprintln!("{}", registry.describe(&error));
        std::process::exit(1);
    }
}
"""

# The columns of `people` in dbgen's language: values picked from lists and joined.
DBGEN_TEMPLATE = """
{{ @first := ARRAY['Ada', 'Bruno', 'Clara', 'David', 'Elena', 'Felix', 'Greta', 'Hugo', 'Ida', 'Jonas', 'Lea', 'Nora'] }}
{{ @last := ARRAY['Adler', 'Becker', 'Costa', 'Diaz', 'Engel', 'Fischer', 'Garcia', 'Haas', 'Ito', 'Khan', 'Lopez', 'Rao'] }}
{{ @lower := ARRAY['ada', 'bruno', 'clara', 'david', 'elena', 'felix', 'greta', 'hugo', 'ida', 'jonas', 'lea', 'nora'] }}
{{ @domain := ARRAY['com', 'net', 'org'] }}
{{ @street := ARRAY['Oak', 'Maple', 'River', 'Hill', 'Lake', 'Park', 'Station', 'Church', 'Mill', 'Garden'] }}
{{ @city := ARRAY['Accra', 'Berlin', 'Cairo', 'Delhi', 'Geneva', 'Hanoi', 'Lima', 'Oslo', 'Quito', 'Tokyo', 'Vienna'] }}
{{ @word := ARRAY['amber', 'basil', 'candle', 'desert', 'ember', 'forest', 'ginger', 'harbor', 'ivory', 'juniper'] }}
CREATE TABLE people (
  id INTEGER {{ rownum }},
  name TEXT {{ @first[rand.range_inclusive(1, 12)] || ' ' || @last[rand.range_inclusive(1, 12)] }},
  email TEXT {{ @lower[rand.range_inclusive(1, 12)] || rownum || '@example.' || @domain[rand.range_inclusive(1, 3)] }},
  street TEXT {{ rand.range_inclusive(1, 250) || ' ' || @street[rand.range_inclusive(1, 10)] || ' Street' }},
  city TEXT {{ @city[rand.range_inclusive(1, 11)] }},
  age INTEGER {{ rand.range_inclusive(18, 99) }},
  balance REAL {{ rand.range(0, 500000) / 100.0 }},
  born DATE {{ substring((TIMESTAMP '1940-01-01 00:00:00' + INTERVAL rand.range(0, 24472) DAY) || '' FOR 10) }},
  plan TEXT {{ CASE WHEN rand.bool(0.7) THEN 'free' WHEN rand.bool(0.83) THEN 'basic' ELSE 'pro' END }},
  note TEXT {{ @word[rand.range_inclusive(1, 10)] || ' ' || @word[rand.range_inclusive(1, 10)] || ' ' ||
    @word[rand.range_inclusive(1, 10)] || ' ' || @word[rand.range_inclusive(1, 10)] || ' ' ||
    @word[rand.range_inclusive(1, 10)] || ' ' || @word[rand.range_inclusive(1, 10)] || ' ' ||
    @word[rand.range_inclusive(1, 10)] }}
);
"""

# Makes `people` with Faker: its providers, and one transaction of executemany.
FAKER = """
import collections, datetime, sqlite3, sys
from faker import Faker
path, create, rows = sys.argv[1], sys.argv[2], int(sys.argv[3])
Faker.seed(42)
fake = Faker()
plans = collections.OrderedDict([("free", 0.7), ("basic", 0.25), ("pro", 0.05)])
born = datetime.date(1940, 1, 1), datetime.date(2006, 12, 31)
people = (
    (
        number,
        fake.name(),
        fake.email(),
        fake.street_address(),
        fake.city(),
        fake.random_int(18, 99),
        fake.pyfloat(min_value=0, max_value=5000, right_digits=2),
        fake.date_between(*born).isoformat(),
        fake.random_element(plans),
        fake.sentence(nb_words=7),
    )
    for number in range(1, rows + 1)
)
database = sqlite3.connect(path)
database.execute("PRAGMA journal_mode = off")
database.execute("PRAGMA synchronous = off")
database.execute(create)
database.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", people)
database.commit()
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


def install(packages=PACKAGES):
    """Installs those of the packages that are missing."""
    if not PYTHON.exists():
        subprocess.run([sys.executable, "-m", "venv", ENVIRONMENT], check=True)
    missing = [package for package in packages if package not in versions(packages)]
    if missing:
        subprocess.run([PYTHON, "-m", "pip", "install", "--quiet", *missing], check=True)
    if not shutil.which("sqlite3"):
        raise SystemExit("the program sqlite3 is not installed: Debian's package of that name has it")


def install_dbgen():
    """Builds kennytm's dbgen."""
    if not DBGEN.exists():
        DBGEN_PROJECT.mkdir(parents=True, exist_ok=True)
        (DBGEN_PROJECT / "Cargo.toml").write_text(DBGEN_PACKAGE)
        (DBGEN_PROJECT / "main.rs").write_text(DBGEN_PROGRAM)
        command = ["cargo", "build", "--release", "--quiet", "--manifest-path", DBGEN_PROJECT / "Cargo.toml"]
        subprocess.run([*command, "--target-dir", DBGEN_PROJECT / "target"], check=True)


def versions(packages=PACKAGES, python=PYTHON):
    """Returns the versions of the competitors that are installed."""
    found = {}
    if os.path.exists(python):
        found = json.loads(run([python, "-c", VERSIONS, *packages])["output"])
    if shutil.which("sqlite3"):
        found["sqlite3"] = run(["sqlite3", "--version"])["output"].split()[0]
    if DBGEN.exists():
        found["dbgen"] = DBGEN_VERSION
    return found


def sqlite3_import(path, source, table):
    return sqlite3_imports(path, [table.create()], {table.name: [source]}, table.create_indexes(), skip=1)


def sqlite3_imports(path, tables, sources, indexes, skip=0):
    """Imports files into typed tables; `tables` and `indexes` are CREATE statements, `sources` the files of each table."""
    settings = ["journal_mode=off", "synchronous=off", "cache_size=-1000000", "threads=2"]
    imports = [f".import --csv --skip {skip} '{file}' {table}" for table, files in sources.items() for file in files]
    return run(["sqlite3", "-bail", path, *(f"PRAGMA {one}" for one in settings), *tables, *imports, *indexes])


def dbgen(folder, rows):
    """Writes CSV without headers, one file for each core."""
    folder.mkdir()
    template = folder.with_suffix(".template")
    template.write_text(DBGEN_TEMPLATE)
    sizes = ["--total-count", rows, "--rows-per-file", -(-rows // os.cpu_count()), "--rows-count", 1000]
    return run([DBGEN, "--template", template, "--out-dir", folder, *sizes, "--format", "csv", "--no-schemas", "--quiet"])


def faker(path, create, rows):
    return run([PYTHON, "-c", FAKER, path, create, rows])


def duckdb(path, query, table):
    """Fills a table without keys: a table with a key takes DuckDB longer."""
    return run([PYTHON, "-c", DUCKDB, path, f"CREATE TABLE out.{table.name} AS {query}"])


def typed(table, integer, real, text):
    """Returns the columns of a table with the type names of another program."""
    types = {"INTEGER": integer, "REAL": real}
    return {name: types.get(declared.split()[0], text) for name, declared in table.columns.items()}


def duckdb_csv(path, source, table):
    columns = typed(table, "BIGINT", "DOUBLE", "VARCHAR")
    return duckdb(path, f"SELECT * FROM read_csv('{source}', header = true, columns = {columns})", table)


def duckdb_ndjson(path, source, table):
    columns = typed(table, "BIGINT", "DOUBLE", "VARCHAR")
    return duckdb(path, f"SELECT * FROM read_ndjson('{source}', columns = {columns})", table)


def duckdb_parquet(path, source, table):
    """Loads with casts: without them DuckDB writes decimals as text, and takes longer."""
    columns = typed(table, "BIGINT", "DOUBLE", "VARCHAR")
    casts = ", ".join(f"{name}::{to} AS {name}" for name, to in columns.items())
    return duckdb(path, f"SELECT {casts} FROM read_parquet('{source}')", table)


def adbc(path, source, table):
    types = json.dumps(typed(table, "int64", "float64", "string"))
    return run([PYTHON, "-c", ADBC, path, source, table.name, types])


def sqlite_utils(path, source, table):
    """Fills a table that exists: that is no slower than to let sqlite-utils create it."""
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.execute(table.create())
    return run([PYTHON, "-c", SQLITE_UTILS, path, source, table.name])


def inflate(source):
    """Inflates a .gz on one core with ISA-L, which is faster than zlib, gzip and zlib-ng: the lower bound of any loader."""
    return run([PYTHON, "-c", INFLATE, source])
