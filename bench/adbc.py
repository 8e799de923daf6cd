#!/usr/bin/env python3
"""Measures `adbc_ingest`: the driver of litepress against adbc_driver_sqlite, the same Arrow table in memory through both.

Every engine runs in a separate interpreter, and is timed from the table in memory to the commit. Every database is checked
before its time counts: litepress check, and rows and sums against data made another way. Prints medians and ratios beside their
targets; appends one JSON line to results/adbc.jsonl. Installs missing packages from PyPI first.

    bench/adbc.py --rows 10m --repeat 3
"""

import argparse
import dataclasses
import importlib
import json
import pathlib
import resource
import statistics
import subprocess
import sys
import time

import competitors
import data
from load import verify
from measure import ROOT, gen, keep, number, remove, repeat, report, run, scratch, spread

PACKAGES = ["adbc-driver-manager", "adbc-driver-sqlite", "pyarrow"]
DRIVERS = {"litepress": "adbc_driver_litepress", "SQLite driver": "adbc_driver_sqlite"}
ROWS_OF_SCALE_1 = 6_001_215
USER = dataclasses.replace(data.USER, key=())
LINEITEM = dataclasses.replace(data.LINEITEM, key=())
INDEX = {"litepress.primary_key": "id", "litepress.indexes": "area"}
# Case, table, options of litepress, and the minimum ratio of the SQLite driver's time to that of litepress.
CASES = {
    "user": (USER, {}, 8),
    "lineitem": (LINEITEM, {}, 5),
    "user, append": (USER, {}, None),
    "user, second table": (USER, {}, None),
    "user, key and index": (dataclasses.replace(data.USER, indexes=(("area",),)), INDEX, None),
}


def lineitem_database(folder, rows):
    """Makes `lineitem` with about as many rows, by litepress itself."""

    def make(part):
        gen(part, ["--preset", "tpch", "--scale", f"{rows / ROWS_OF_SCALE_1:.6f}"])

    return data.made(folder / f"tpch-{rows}.db", make)


def source_of(table, folder, rows):
    return data.user_database(folder, rows) if table.name == "user" else lineitem_database(folder, rows)


def child(driver, case, path, source):
    """Reads the table into memory, ingests it, and prints the times. The second half of `append` is what counts."""
    import adbc_driver_sqlite.dbapi

    table, options, _ = CASES[case]
    with adbc_driver_sqlite.dbapi.connect(f"file:{source}") as connection, connection.cursor() as cursor:
        cursor.adbc_statement.set_options(**{"adbc.sqlite.query.batch_rows": "65536"})
        cursor.execute(f"SELECT * FROM {table.name}")
        rows = cursor.fetch_arrow_table()
    dbapi = importlib.import_module(DRIVERS[driver] + ".dbapi")
    ours = driver == "litepress"

    def ingest(name, part, mode="create"):
        with dbapi.connect(str(path), *[options] * ours) as connection, connection.cursor() as cursor:
            cursor.adbc_ingest(name, part, mode=mode)
            if options and not ours:
                cursor.execute(f"CREATE UNIQUE INDEX by_id ON {name} (id)")
                cursor.execute(f"CREATE INDEX by_area ON {name} (area)")
            connection.commit()

    half = rows.num_rows // 2
    if case == "user, append":
        ingest(table.name, rows.slice(0, half))
    elif case == "user, second table":
        ingest("other", rows.slice(0, half))
    used, started = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
    if case == "user, append":
        ingest(table.name, rows.slice(half), "append")
    else:
        ingest(table.name, rows)
    seconds, now = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_SELF)
    cpu = now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime
    print(json.dumps({"seconds": seconds, "cpu_seconds": cpu}))


def one_round(folder, options):
    results = {}
    for case, (table, extra, _) in CASES.items():
        if options.only and case not in options.only:
            continue
        source = source_of(table, options.data, options.rows)
        facts = data.facts(source, table)
        for driver in DRIVERS:
            print(f"{driver}, {case}", file=sys.stderr)
            path = folder / "made.db"
            python = options.python or competitors.PYTHON
            result = run([python, __file__, "--child", driver, case, path, source])
            result |= json.loads(result.pop("output"))
            # The SQLite driver cannot make a key: an index stands in for it.
            verify(path, table if driver == "litepress" or not extra else with_index(table), facts[0], facts)
            result["bytes"] = path.stat().st_size
            remove(path)
            results[f"{driver}, {case}"] = result
    return results


def with_index(table):
    return dataclasses.replace(table, key=(), indexes=(*table.indexes, table.key))


def ratios(rounds):
    """Returns ratios within each round, so that drift of the machine cancels."""
    return {
        f"{case}, times the SQLite driver": spread(
            [one[f"SQLite driver, {case}"]["seconds"] / one[f"litepress, {case}"]["seconds"] for one in rounds]
        )
        for case in CASES
        if f"litepress, {case}" in rounds[0]
    }


def compare(rounds, figures):
    def median(name):
        return statistics.median(one[name]["seconds"] for one in rounds)

    print(f"{'case':22}{'ours s':>9}{'theirs s':>10}{'ratio':>8}   {'of all rounds':18}{'target':>7}")
    for case, (_, _, target) in CASES.items():
        figure = figures.get(f"{case}, times the SQLite driver")
        if figure:
            times = f"{median(f'litepress, {case}'):9.2f}{median(f'SQLite driver, {case}'):10.2f}"
            bounds = f"[{figure['min']:.2f} .. {figure['max']:.2f}]"
            print(f"{case:22}{times}{figure['median']:8.2f}   {bounds:18}{target or '':>7}")


def install():
    """Installs the competitor, and the package built from this checkout."""
    competitors.install()
    found = competitors.versions(PACKAGES)
    missing = [package for package in PACKAGES if package not in found]
    subprocess.run([competitors.PYTHON, "-m", "pip", "install", "--quiet", *missing, ROOT / "python"], check=True)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=number, default=number("1m"))
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--only", action="append", metavar="CASE", help="may be repeated")
    parser.add_argument("--python", type=pathlib.Path, help="an interpreter that has all that is wanted: nothing is installed")
    parser.add_argument("--dir", type=pathlib.Path, default=ROOT / "target")
    parser.add_argument("--data", type=pathlib.Path, default=ROOT / "target" / "bench-data", help="where the files lie")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "bench" / "results" / "adbc.jsonl")
    return parser.parse_args()


def main():
    if sys.argv[1:2] == ["--child"]:
        return child(*sys.argv[2:])
    options = arguments()
    if not options.python:
        install()
    with scratch(options.dir) as folder:
        rounds = repeat(options.repeat, lambda: one_round(folder, options))
    figures = ratios(rounds)
    print(f"\nabout {options.rows:,} rows of user and lineitem")
    report(rounds, {})
    compare(rounds, figures)
    versions = competitors.versions(PACKAGES, options.python or competitors.PYTHON)
    keep(options.results, {"rows": options.rows, "versions": versions, "figures": figures, "rounds": rounds})


if __name__ == "__main__":
    main()
