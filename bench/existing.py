#!/usr/bin/env python3
"""Measures changes of a database that exists, against SQLite's best way: appends, upserts and indexes.

Every round runs all engines one after another, each on a copy of the same database. SQLite inserts 50 rows a statement, prepared, in
one transaction with a big cache; its rows are in memory before the clock starts. litepress reads the same rows from a SQLite file,
and the whole process counts. Journal mode and syncs are the same for both. CREATE INDEX gets the best of some cache settings.
For an append of 1,000 rows, both are whole processes that read a CSV file: the program sqlite3 with .import, and litepress. After
each run the rows and the entries of each index are counted and summed, and must agree with those of SQLite. Cases that end within a
second or two run five times in each round, by turns, and the best time of each engine counts: one alone shows the machine's moods.

    bench/existing.py --rows 20m --new 5m --repeat 3
    bench/existing.py --rows 20m --new 5m --repeat 3 --only append,few
"""

import argparse
import contextlib
import json
import os
import pathlib
import shutil
import sqlite3
import sys

from measure import ROOT, TARGET, dd, gen, keep, keep_best, number, reading, remove, repeat, report, run, scratch, spread, time_of

SCHEMA = """CREATE TABLE user (
    id INTEGER {key}, -- gen: {ids}
    area CHAR(6), -- gen: digits(6)
    age INTEGER not null, -- gen: choice(5, 10, 15)
    active INTEGER not null -- gen: bool
);
"""
INDEX = "CREATE INDEX user_area ON user (area);\n"
FOUR = [
    "CREATE INDEX user_area ON user (area)",
    "CREATE INDEX user_age ON user (age, area)",
    "CREATE INDEX user_active ON user (active, age)",
    "CREATE INDEX user_area_age ON user (area DESC, age)",
]
CACHES = [[], ["cache=250000"], ["cache=250000", "threads=2"]]
FEW = 1000
MODES = ["wal", "delete"]
CASES = ["append", "indexed", "upsert", "few", "index"]
TURNS = 5


def made(folder, options):
    """Makes the databases: without an index and with one; new rows above the old ones, and rows to update, in no order."""
    def one(name, ids, rows, key="not null primary key", index="", arguments=()):
        sql = folder / f"{name}.sql"
        sql.write_text(SCHEMA.format(key=key, ids=ids) + index)
        gen(folder / f"{name}.db", [sql, "--rows", f"user={rows}", *arguments])

    rows, new = options.rows, options.new
    one("plain", "sequence", rows)
    one("indexed", "sequence", rows, index=INDEX)
    one("new", f"sequence({rows + 1})", new)
    shards = max(1, (rows + new) // new)
    one("upserts", f"shuffle(1, {shards * new})", shards * new, key="not null", arguments=["--shard", f"1/{shards}"])
    one("few", f"sequence({rows + 1})", FEW)
    with reading(folder / "few.db") as database:
        lines = [",".join(map(str, row)) for row in database.execute("SELECT id, area, age, active FROM user")]
    (folder / "few.csv").write_text("\n".join(["id,area,age,active", *lines, ""]))


def counted(path):
    """Returns the number of rows and the sums of columns, in the table and in each of its indexes: those columns that they have."""
    with reading(path) as database:
        indexes = [row[0] for row in database.execute("SELECT name FROM sqlite_schema WHERE type = 'index' ORDER BY name")]
        trees = {"NOT INDEXED": ["area", "age", "active"]}
        for name in indexes:
            columns = database.execute("SELECT name FROM pragma_index_info(?)", [name])
            trees[f"INDEXED BY {name}"] = [column[0] for column in columns]
        sums = {by: "".join(f", sum({column})" for column in columns) for by, columns in trees.items()}
        return {by: database.execute(f"SELECT count(*), sum(id){sums[by]} FROM user {by}").fetchone() for by in trees}


class Round:
    """One run of every engine."""

    def __init__(self, folder):
        self.folder, self.results, self.expected = folder, {}, {}

    def run(self, case, engine, base, mode, command):
        """Runs a command on a copy of a database, and compares the outcome with that of the engine before."""
        target = self.folder / "target.db"
        shutil.copyfile(self.folder / f"{base}.db", target)
        with contextlib.closing(sqlite3.connect(target)) as database:
            database.execute(f"PRAGMA journal_mode = {mode}")
        os.sync()
        before = target.stat().st_size
        result = run([part if part != "TARGET" else target for part in command])
        output = result.pop("output")
        if engine == "sqlite":
            result |= json.loads(output)
        result["bytes"] = target.stat().st_size - before
        outcome = counted(target)
        if self.expected.setdefault(case, outcome) != outcome:
            raise SystemExit(f"{case}, {engine}: {outcome}, not {self.expected[case]}")
        if engine == "litepress":
            run([TARGET / "litepress", "check", target, "--progress", "none", "--json"])
        name = f"{engine}, {case}"
        print(f"{name}: {time_of(result):.3f} s", file=sys.stderr)
        keep_best(self.results, name, result)
        remove(target)

    def rows(self, case, base, mode, new, arguments=()):
        """Has both engines add or update the rows of `new`."""
        load = ["--append", "--table", "user", "--progress", "none", "--json"]
        self.run(case, "sqlite", base, mode, [TARGET / "existing", "TARGET", "upsert" if arguments else "append", self.folder / f"{new}.db"])
        self.run(case, "litepress", base, mode, [TARGET / "litepress", "load", "TARGET", self.folder / f"{new}.db", *load, *arguments])

    def few(self, mode):
        """Has both engines add a few rows of a CSV file to a table with an index."""
        case, file = f"append of {FEW:,} rows, {mode}", self.folder / "few.csv"
        self.run(case, "shell", "indexed", mode, ["sqlite3", "TARGET", f".import --csv --skip 1 '{file}' user"])
        self.run(case, "litepress", "indexed", mode, [TARGET / "litepress", "load", "TARGET", file, "--append", "--table", "user", "--quiet"])

    def index(self, case, mode, statements):
        """Has both engines make indexes."""
        for settings in CACHES:
            self.run(case, "sqlite", "plain", mode, [TARGET / "existing", "TARGET", "index", *settings, *statements])
        self.run(case, "litepress", "plain", mode, [TARGET / "litepress", "index", "TARGET", *statements, "--quiet"])


def one_round(folder, only):
    """Runs every engine, and short cases by turns."""
    one = Round(folder)
    for mode in MODES:
        if "append" in only:
            for _ in range(TURNS):
                one.rows(f"append, {mode}", "plain", mode, "new")
        if "indexed" in only:
            one.rows(f"append with an index, {mode}", "indexed", mode, "new")
        if "upsert" in only:
            one.rows(f"upsert, {mode}", "plain", mode, "upserts", ["--on-conflict", "update"])
        if "few" in only and shutil.which("sqlite3"):
            for _ in range(TURNS):
                one.few(mode)
    if "index" in only:
        one.index("an index", "wal", FOUR[:1])
        one.index("four indexes", "wal", FOUR)
    if "append" in only:
        written = one.results[f"litepress, append, {MODES[0]}"]["bytes"]
        one.results["disk, two writers"] = dd(folder, max(written, 1 << 22), 2)
    return one.results


def ratios(rounds):
    """Returns ratios within each round, so that drift of the machine cancels."""
    cases = [name.removeprefix("litepress, ") for name in rounds[0] if name.startswith("litepress, ")]

    def times(one, case):
        ours = one[f"litepress, {case}"]["seconds"]
        theirs = one.get(f"sqlite, {case}") or one[f"shell, {case}"]
        return time_of(theirs) / ours

    figures = {f"{case}, times SQLite": spread([times(one, case) for one in rounds]) for case in cases}
    peaks = [max(one[f"litepress, {case}"]["peak_memory_bytes"] for case in cases) for one in rounds]

    def ceiling(one):
        ours, disk = one[f"litepress, append, {MODES[0]}"], one["disk, two writers"]
        return ours["seconds"] / (ours["bytes"] / (disk["bytes"] / disk["seconds"]))

    if "disk, two writers" in rounds[0]:
        figures["append, times a raw write of its pages"] = spread([ceiling(one) for one in rounds])
    return figures | {"litepress peak memory, bytes": spread(peaks)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=number, default=number("20m"), help="of the database")
    parser.add_argument("--new", type=number, default=number("5m"), help="rows that are added or updated")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--dir", type=pathlib.Path, default=ROOT / "target")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "bench" / "results" / "existing.jsonl")
    parser.add_argument("--only", default=",".join(CASES), help="cases, separated by commas")
    options = parser.parse_args()
    only = options.only.split(",")
    if unknown := set(only) - set(CASES):
        parser.error(f"there is no case {', '.join(sorted(unknown))}")
    with scratch(options.dir) as folder:
        made(folder, options)
        rounds = repeat(options.repeat, lambda: one_round(folder, only))
        figures = ratios(rounds)
        print(f"\n{options.new:,} rows into {options.rows:,}")
        report(rounds, figures)
        keep(options.results, {"rows": options.rows, "new": options.new, "only": only, "figures": figures, "rounds": rounds})


if __name__ == "__main__":
    main()
