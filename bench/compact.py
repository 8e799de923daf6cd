#!/usr/bin/env python3
"""Measures `litepress compact` against SQLite's VACUUM and VACUUM INTO.

A table with two indexes loses a tenth of its rows, all over the table. Every round copies the database by VACUUM INTO and by
`litepress compact`, then compacts copies of it in place by VACUUM and by `litepress compact`, each followed by a sync. Before a time
counts, the rows and the entries of both indexes are counted and summed. VACUUM runs with its default page cache and with one of 64
MiB, and the better time counts: one of 1 GiB is slower, because memory that is touched first takes longer than what it saves.

    bench/compact.py --rows 10m --repeat 3
"""

import argparse
import os
import pathlib
import shutil
import sys

from measure import ROOT, TARGET, gen, keep, keep_best, number, reading, remove, repeat, report, run, scratch, spread

SCHEMA = """CREATE TABLE event (
    id INTEGER PRIMARY KEY, -- gen: sequence
    area TEXT, -- gen: digits(6)
    age INTEGER, -- gen: int(0, 100)
    note TEXT -- gen: hex(80)
);
CREATE INDEX event_area ON event (area);
CREATE INDEX event_age ON event (age, area);
"""
SQLITE = """
import os, sqlite3, sys
database = sqlite3.connect(sys.argv[2], isolation_level=None)
database.execute(f"PRAGMA cache_size = {sys.argv[1]}")
if len(sys.argv) > 3:
    database.execute("VACUUM INTO ?", [sys.argv[3]])
else:
    database.execute("VACUUM")
database.close()
with open(sys.argv[-1], "rb+") as file:
    os.fsync(file.fileno())
"""
CACHES = [-2000, -65536]
"""Sizes of SQLite's page cache, in KiB: its default, and a larger one."""


def made(folder, rows):
    """Makes the database, deletes a tenth of its rows and returns its path."""
    path, sql = folder / "source.db", folder / "schema.sql"
    sql.write_text(SCHEMA)
    gen(path, [sql, "--rows", f"event={rows}"])
    delete = "import sqlite3, sys; d = sqlite3.connect(sys.argv[1]); d.execute('PRAGMA cache_size = -1048576'); " \
        "d.execute('PRAGMA synchronous = OFF'); d.execute('DELETE FROM event WHERE id * 7 % 10 = 3'); d.commit()"
    run([sys.executable, "-c", delete, path])
    return path


def counted(path):
    """Returns what both indexes and the table have."""
    sums = ("count(*), sum(id)", "count(*), sum(area)", "count(*), sum(age)")
    with reading(path) as database:
        return [
            database.execute(f"SELECT {what} FROM event {by}").fetchone()
            for what, by in zip(sums, ("NOT INDEXED", "INDEXED BY event_area", "INDEXED BY event_age"))
        ]


def one_round(folder, source, expected):
    """Runs every engine once, and checks its file."""
    results = {}
    target = folder / "target.db"
    litepress = [TARGET / "litepress", "compact", "--quiet"]

    def finish(name, result):
        result.pop("output")
        result["bytes"] = target.stat().st_size
        if counted(target) != expected:
            raise SystemExit(f"{name}: other rows or entries")
        run([TARGET / "litepress", "check", target, "--progress", "none", "--json"])
        keep_best(results, name, result)
        remove(target)

    vacuum = [[sys.executable, "-c", SQLITE, cache] for cache in CACHES]
    os.sync()
    for command in vacuum:
        finish("VACUUM INTO", run([*command, source, target]))
    finish("litepress compact, a copy", run([*litepress, source, target]))
    for name, command in (*(("VACUUM", one) for one in vacuum), ("litepress compact", litepress)):
        shutil.copyfile(source, target)
        os.sync()
        finish(name, run([*command, target]))
    return results


def ratios(rounds):
    """Returns ratios within each round, so that drift of the machine cancels."""
    def times(competitor, ours):
        return spread([one[competitor]["seconds"] / one[ours]["seconds"] for one in rounds])

    copies = [one["litepress compact, a copy"] for one in rounds]
    return {
        "a copy, times VACUUM INTO": times("VACUUM INTO", "litepress compact, a copy"),
        "in place, times VACUUM": times("VACUUM", "litepress compact"),
        "a copy, MB/s written": spread([one["bytes"] / one["seconds"] / 1e6 for one in copies]),
        "a copy, CPU of VACUUM INTO / ours": spread(
            [one["VACUUM INTO"]["cpu_seconds"] / one["litepress compact, a copy"]["cpu_seconds"] for one in rounds]
        ),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=number, default=number("10m"))
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--dir", type=pathlib.Path, default=ROOT / "target")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "bench" / "results" / "compact.jsonl")
    options = parser.parse_args()
    with scratch(options.dir) as folder:
        source = made(folder, options.rows)
        size, expected = source.stat().st_size, counted(source)
        rounds = repeat(options.repeat, lambda: one_round(folder, source, expected))
        figures = ratios(rounds)
        print(f"\n{options.rows:,} rows before the DELETE, {size:,} bytes")
        report(rounds, figures)
        keep(options.results, {"rows": options.rows, "source_bytes": size, "figures": figures, "rounds": rounds})


if __name__ == "__main__":
    main()
