"""The tables and files that `litepress load` is measured with: made when absent, kept between runs.

Beside the files of a table is a reference database with the same rows, which no measured engine has made: `user` comes
from `litepress generate`, which has its own tests, and `lineitem` is read by Python's csv module. Every result is compared
with that database.
"""

import contextlib
import csv
import dataclasses
import gzip
import pathlib
import random
import shutil
import sqlite3
import tempfile

from measure import BLOCK, gen, reading, run

COMPRESSION = 6  # gzip's default


@dataclasses.dataclass(frozen=True)
class Table:
    """A table as SQL, and aggregates that identify its contents."""

    name: str
    columns: dict
    facts: str
    key: tuple = ()
    without_rowid: bool = False
    indexes: tuple = ()

    def create(self):
        columns = [f"{name} {declared}" for name, declared in self.columns.items()]
        columns += [f"PRIMARY KEY ({', '.join(self.key)})"] if self.key else []
        return f"CREATE TABLE {self.name} ({', '.join(columns)})" + " WITHOUT ROWID" * self.without_rowid

    def create_indexes(self):
        return [
            f"CREATE INDEX {'_'.join([self.name, *columns])} ON {self.name} ({', '.join(columns)})"
            for columns in self.indexes
        ]

    def schema(self):
        return ";\n".join([self.create(), *self.create_indexes()]) + ";\n"

    def header(self):
        return ",".join(self.columns)


USER = Table(
    "user",
    {"id": "INTEGER NOT NULL", "area": "CHAR(6)", "age": "INTEGER NOT NULL", "active": "INTEGER NOT NULL"},
    "count(*), sum(id), sum(age), sum(active), sum(CAST(area AS INTEGER)), min(area), max(area), min(typeof(area))",
    key=("id",),
)
# Money is summed in cents, because sums of doubles depend on the order of additions.
LINEITEM = Table(
    "lineitem",
    {f"l_{name}": "INTEGER NOT NULL" for name in ("orderkey", "partkey", "suppkey", "linenumber")}
    | {f"l_{name}": "REAL NOT NULL" for name in ("quantity", "extendedprice", "discount", "tax")}
    | {f"l_{name}": "TEXT NOT NULL" for name in ("returnflag", "linestatus", "shipdate", "commitdate", "receiptdate")}
    | {f"l_{name}": "TEXT NOT NULL" for name in ("shipinstruct", "shipmode", "comment")},
    "count(*), sum(l_orderkey), sum(l_partkey * l_linenumber), sum(l_suppkey), sum(l_quantity), "
    "sum(CAST(round(l_extendedprice * 100) AS INTEGER)), sum(CAST(round((l_discount + l_tax) * 100) AS INTEGER)), "
    "min(typeof(l_quantity)), min(typeof(l_commitdate)), min(l_shipdate), max(l_receiptdate), "
    "sum(length(l_shipmode)), sum(length(l_comment))",
)
KEYED_LINEITEM = dataclasses.replace(
    LINEITEM,
    key=("l_orderkey", "l_linenumber"),
    without_rowid=True,
    indexes=(("l_shipdate",), ("l_partkey", "l_suppkey")),
)

# A row of `user` as a line of text, made by SQLite.
USER_LINES = {
    ".csv": "SELECT id || ',' || area || ',' || age || ',' || active || char(10) FROM user",
    ".ndjson": """SELECT '{"id":' || id || ',"area":"' || area || '","age":' || age || ',"active":' || active || '}'
        || char(10) FROM user""",
}


METRICS = ("foo", "bar", "baz", "bad", "bleg")


def metrics(count):
    """Yields the names and values that Ruby gives with `Random.new(42)`, `sample` and `rand`.

    Ruby and Python share the Mersenne Twister (MT19937) and seed it differently."""
    state = [42]
    for index in range(1, 624):
        state.append((1812433253 * (state[-1] ^ (state[-1] >> 30)) + index) & 0xFFFFFFFF)
    made = random.Random()
    made.setstate((3, (*state, 624), None))
    for _ in range(count):
        while (choice := made.getrandbits(32) & 7) >= len(METRICS):
            pass
        yield METRICS[choice], made.random()


def facts(path, table):
    """Returns the aggregates of a table, as SQLite computes them."""
    with reading(path) as database:
        return database.execute(f"SELECT {table.facts} FROM {table.name}").fetchone()


def made(path, make):
    """Returns the path, and makes the file if it is absent: under another name first, so that a partial file is never used."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(path.name + ".part")
        part.unlink(missing_ok=True)
        make(part)
        part.rename(path)
    return path


def user_database(folder, rows):
    return made(folder / f"user-{rows}.db", lambda part: gen(part, ["--preset", "user", "--rows", rows]))


def user_text(folder, rows, suffix):
    """Makes `user` as .csv with a header, or as .ndjson."""

    def make(part):
        with reading(user_database(folder, rows)) as database, open(part, "w", encoding="ascii") as file:
            file.write(USER.header() + "\n" if suffix == ".csv" else "")
            file.writelines(line for (line,) in database.execute(USER_LINES[suffix]))

    return made(folder / f"user-{rows}{suffix}", make)


def user_gz(folder, rows):
    def make(part):
        with open(user_text(folder, rows, ".csv"), "rb") as source, gzip.open(part, "wb", COMPRESSION) as file:
            shutil.copyfileobj(source, file, BLOCK)

    return made(folder / f"user-{rows}.csv.gz", make)


def lineitem(folder, scale, suffix, tpchgen):
    """Makes `lineitem` as .csv with a header, or as .parquet, with the program `tpchgen`."""

    def make(part):
        with tempfile.TemporaryDirectory(dir=folder) as made_in:
            command = [tpchgen, suffix[1:], "--scale-factor", scale, "--tables", "lineitem", "--quiet"]
            run([*command, "--output-dir", made_in])
            pathlib.Path(made_in, f"lineitem{suffix}").rename(part)

    return made(folder / f"lineitem-{scale:g}{suffix}", make)


def lineitem_database(folder, scale, tpchgen):
    def make(part):
        source = lineitem(folder, scale, ".csv", tpchgen)
        with contextlib.closing(sqlite3.connect(part)) as database, open(source, newline="", encoding="ascii") as file:
            database.execute(LINEITEM.create())
            rows = csv.reader(file)
            next(rows)
            values = ", ".join("?" for _ in LINEITEM.columns)
            database.executemany(f"INSERT INTO {LINEITEM.name} VALUES ({values})", rows)
            database.commit()

    return made(folder / f"lineitem-{scale:g}.db", make)
