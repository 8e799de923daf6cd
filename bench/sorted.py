#!/usr/bin/env python3
"""Measures sorted trees: indexes, WITHOUT ROWID tables and shuffled keys, against SQLite at its best.

SQLite's best settings are searched first, with a tenth of the rows: sizes of the page cache, threads of its sorter,
temporary files in memory. Every round then runs all engines one after another, and checks each result before its time
counts. SQLite's times exclude syncs and the choice of the rows' order; those of litepress are the whole run.

    bench/sorted.py --rows 10m --spill-rows 100m --keyed-rows 20m --repeat 3
    bench/sorted.py --billion        also one billion rows with an index
"""

import argparse
import itertools
import pathlib
import sys

from measure import ROOT, gen, insert, keep, number, reading, remove, repeat, report, run, scratch, spread, TARGET

USER = """CREATE TABLE user (
    id INTEGER not null primary key, -- gen: {ids}
    area CHAR(6), -- gen: digits(6)
    age INTEGER not null, -- gen: choice(5, 10, 15)
    active INTEGER not null -- gen: bool
);
"""
INDEX = "CREATE INDEX user_area ON user (area);\n"
KEYED = """CREATE TABLE keyed (
    a INTEGER NOT NULL, -- gen: int(0, 999)
    b INTEGER NOT NULL, -- gen: shuffle
    c INTEGER NOT NULL, -- gen: int(0, 999)
    note TEXT NOT NULL, -- gen: hex(40)
    PRIMARY KEY (a, b, c)
) WITHOUT ROWID;
"""
SCHEMAS = {
    "user": USER.format(ids="sequence"),
    "indexed": USER.format(ids="sequence") + INDEX,
    "shuffled": USER.format(ids="shuffle"),
    "keyed": KEYED,
}


def verify(path, table, rows, index=None):
    """Runs litepress check, and has SQLite count the rows of the table and of its index."""
    run([TARGET / "litepress", "check", path, "--progress", "none", "--json"])
    with reading(path) as database:
        by = [""] + ([f"INDEXED BY {index}"] if index else [])
        counts = [database.execute(f"SELECT count(*) FROM {table} {one}").fetchone()[0] for one in by]
        if index:
            plan = database.execute(f"EXPLAIN QUERY PLAN SELECT * FROM {table} WHERE area = '123456'").fetchall()
            assert index in plan[0][3], plan
    if counts != [rows] * len(by):
        raise SystemExit(f"{path}: {counts} rows, not {rows}")


def best_settings(folder, rows):
    """Returns the fastest of SQLite's settings for CREATE INDEX, and the times of all."""
    path = folder / "tune.db"
    caches = ["", "index-cache=250000"]
    threads = ["sorter-threads=0", "sorter-threads=2"]
    memory = ["", "sort-in-memory"]
    tried = {}
    for settings in itertools.product(caches, threads, memory):
        settings = [one for one in settings if one]
        tried[" ".join(settings)] = insert(path, [rows, "index", *settings])["index_seconds"]
    path.unlink()
    return min(tried, key=tried.get).split(), tried


def one_round(folder, options, best):
    """Runs every engine once."""
    results = {}

    def press(name, schema, rows, table, index=None, arguments=()):
        path = folder / "press.db"
        sql = folder / f"{schema}.sql"
        sql.write_text(SCHEMAS[schema])
        results[name] = gen(path, [sql, "--rows", f"{table}={rows}", *arguments])
        verify(path, table, rows, index)
        remove(path)

    def sqlite(name, rows, table, arguments):
        path = folder / "insert.db"
        results[name] = insert(path, [rows, *arguments])
        verify(path, table, rows, "user_area" if "index" in arguments else None)
        remove(path)

    rows, spill, keyed = options.rows, options.spill_rows, options.keyed_rows
    press("litepress", "user", rows, "user")
    press("litepress, index", "indexed", rows, "user", "user_area")
    sqlite("sqlite, index", rows, "user", ["index", *best])
    press("litepress, index, 512 MiB", "indexed", spill, "user", "user_area", ["--memory", "512MiB"])
    sqlite("sqlite, index, as many rows", spill, "user", ["index", *best])
    press("litepress, WITHOUT ROWID, shuffled", "keyed", keyed, "keyed")
    sqlite("sqlite, WITHOUT ROWID, sorted", keyed, "keyed", ["sorted-keyed"])
    sqlite("sqlite, WITHOUT ROWID, shuffled", keyed, "keyed", ["keyed"])
    press("litepress, shuffled ids", "shuffled", rows, "user")
    sqlite("sqlite, shuffled ids", rows, "user", ["shuffled-user"])
    return results


def ratios(rounds):
    """Returns ratios within each round, so that drift of the machine cancels."""
    def times(competitor, ours):
        return spread([one[competitor]["sqlite_seconds"] / one[ours]["seconds"] for one in rounds])

    def index_part(one):
        ours = one["litepress, index"]["seconds"] - one["litepress"]["seconds"]
        return one["sqlite, index"]["index_seconds"] / ours

    peaks = [one["litepress, index, 512 MiB"]["peak_memory_bytes"] for one in rounds]
    return {
        "with an index, times SQLite": times("sqlite, index", "litepress, index"),
        "the index alone, times SQLite": spread([index_part(one) for one in rounds]),
        "spilling, times SQLite": times("sqlite, index, as many rows", "litepress, index, 512 MiB"),
        "spilling, peak memory, bytes": spread(peaks),
        "WITHOUT ROWID, times SQLite shuffled": times(
            "sqlite, WITHOUT ROWID, shuffled", "litepress, WITHOUT ROWID, shuffled"
        ),
        "WITHOUT ROWID, times SQLite sorted": times(
            "sqlite, WITHOUT ROWID, sorted", "litepress, WITHOUT ROWID, shuffled"
        ),
        "shuffled ids, times SQLite": times("sqlite, shuffled ids", "litepress, shuffled ids"),
    }


def billion(folder, turn):
    """Generates the challenge's table without and with an index, in alternating order, with the default memory budget.

    Each runs twice: the check before it fills the memory with its file, which some hosts free slowly.
    """
    results = {}
    for schema in ("user", "indexed") if turn % 2 == 0 else ("indexed", "user"):
        path = folder / "press.db"
        sql = folder / f"{schema}.sql"
        sql.write_text(SCHEMAS[schema])
        results[f"litepress, 1b, {schema}, first run"] = gen(path, [sql, "--rows", "user=1b"])
        remove(path)
        results[f"litepress, 1b, {schema}"] = gen(path, [sql, "--rows", "user=1b"])
        verify(path, "user", 10**9, "user_area" if schema == "indexed" else None)
        remove(path)
    return results


def billion_ratios(rounds):
    """Returns the ratios of the times of each round."""
    def ratios(run):
        times = [[one[f"litepress, 1b, {schema}{run}"]["seconds"] for schema in ("indexed", "user")] for one in rounds]
        return spread([indexed / user for indexed, user in times])

    return {
        "1b, with an index / without": ratios(""),
        "1b, with an index / without, first runs": ratios(", first run"),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=number, default=number("1m"))
    parser.add_argument("--spill-rows", type=number, default=number("10m"))
    parser.add_argument("--keyed-rows", type=number, default=number("1m"))
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--billion", action="store_true")
    parser.add_argument("--dir", type=pathlib.Path, default=ROOT / "target")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "bench" / "results" / "sorted.jsonl")
    options = parser.parse_args()
    with scratch(options.dir) as folder:
        best, tried = best_settings(folder, max(options.rows // 10, 1000))
        print("SQLite's best for CREATE INDEX:", " ".join(best) or "its defaults", file=sys.stderr)
        rounds = repeat(options.repeat, lambda: one_round(folder, options, best))
        figures = ratios(rounds)
        print(f"\n{options.rows:,} rows; spilling {options.spill_rows:,}; WITHOUT ROWID {options.keyed_rows:,}")
        report(rounds, figures)
        sizes = {"rows": options.rows, "spill_rows": options.spill_rows, "keyed_rows": options.keyed_rows}
        keep(options.results, sizes | {"sqlite_settings": tried, "best": best, "figures": figures, "rounds": rounds})
        if options.billion:
            print("\none billion rows", flush=True)
            turns = itertools.count()
            rounds = repeat(options.repeat, lambda: billion(folder, next(turns)))
            figures = billion_ratios(rounds)
            report(rounds, figures)
            keep(options.results, {"rows": 10**9, "figures": figures, "rounds": rounds})


if __name__ == "__main__":
    main()
