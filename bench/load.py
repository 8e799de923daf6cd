#!/usr/bin/env python3
"""Measures `litepress load`: CSV, gzip, NDJSON and Parquet into SQLite, against the loaders that people use.

Every round runs all engines one after another, from files in the page cache to a synced database, and checks each
result (rows and sums against data made another way, keys, indexes, litepress check) before its time counts. Prints
medians and the ratios beside their targets; appends one JSON line to results/load.jsonl. Installs missing competitors
from PyPI first.

    bench/load.py --rows 10m --scale 1 --repeat 3
    bench/load.py --large                      also a CSV of 10 GB in 512 MiB of memory, once
    bench/load.py --only litepress             one loader alone: no ratios
"""

import argparse
import dataclasses
import json
import os
import pathlib
import shutil
import statistics
import sys
import time
import typing

import data
import competitors
from measure import BLOCK, ROOT, TARGET, keep, number, reading, remove, repeat, report, run, scratch, spread

# The scale factor of TPC-H at which lineitem is 10 GB as CSV.
LARGE_SCALE = 13.2
LARGE_MEMORY = "512MiB"
LARGE_PEAK = 640 << 20

# Case, competitor, and the minimum ratio of its time to that of litepress.
TARGETS = [
    ("user CSV", "sqlite3 .import", 12),
    ("user CSV", "DuckDB", 6),
    ("user CSV", "ADBC", None),
    ("user CSV.gz", "inflate alone", None),
    ("user NDJSON", "sqlite-utils", 15),
    ("user NDJSON", "DuckDB", 5),
    ("lineitem CSV, keys", "sqlite3 .import", 10),
    ("lineitem CSV", "DuckDB", 6),
    ("lineitem Parquet", "DuckDB", 5),
]


@dataclasses.dataclass(frozen=True)
class Engine:
    """A loader with its source: `load(path, source, table)` makes a database; `truth` is one with the same rows."""

    loader: str
    case: str
    load: typing.Callable
    source: pathlib.Path
    table: data.Table
    truth: pathlib.Path
    # The rows of the other engines' files, divided by those of its source: a slow loader gets a sample.
    scaled_by: float = 1

    @property
    def name(self):
        return f"{self.loader}, {self.case}"

    def run(self, path):
        result = timed(self.load, path, self.source, self.table)
        facts = data.facts(self.truth, self.table)
        verify(path, self.table, facts[0], facts)
        remove(path)
        return result | ({"scaled_by": self.scaled_by} if self.scaled_by != 1 else {})


@dataclasses.dataclass(frozen=True)
class Ceiling:
    """The lower bound of any loader of a compressed file on one core."""

    source: pathlib.Path
    loader: str = "inflate alone"
    name: str = "inflate alone, user CSV.gz"

    def run(self, _):
        warm(self.source)
        return competitors.inflate(self.source)


def litepress(path, source, table, arguments=()):
    """Runs `litepress load`, and returns its summary instead of its output."""
    schema = path.with_suffix(".sql")
    schema.write_text(table.schema())
    command = [TARGET / "litepress", "load", path, source, "--table", table.name, "--schema", schema, *arguments]
    result = run([*command, "--progress", "none", "--json"])
    result["summary"] = json.loads(result.pop("output"))
    result["summary"].pop("file", None)
    return result


def user_engines(options):
    """Returns the engines that load `user`."""
    folder, rows, sample = options.data, options.rows, options.sample_rows
    csv, ndjson = (data.user_text(folder, rows, suffix) for suffix in (".csv", ".ndjson"))
    gz, few = data.user_gz(folder, rows), data.user_text(folder, sample, ".ndjson")
    truth, few_truth = (data.user_database(folder, count) for count in (rows, sample))
    keyless = dataclasses.replace(data.USER, key=())
    return [
        Engine("sqlite3 .import", "user CSV", competitors.sqlite3_import, csv, data.USER, truth),
        Engine("litepress", "user CSV", litepress, csv, data.USER, truth),
        Engine("DuckDB", "user CSV", competitors.duckdb_csv, csv, keyless, truth),
        Engine("ADBC", "user CSV", competitors.adbc, csv, keyless, truth),
        Engine("litepress", "user CSV.gz", litepress, gz, data.USER, truth),
        Ceiling(gz),
        Engine("sqlite-utils", "user NDJSON", competitors.sqlite_utils, few, data.USER, few_truth, rows / sample),
        Engine("litepress", "user NDJSON", litepress, ndjson, data.USER, truth),
        Engine("DuckDB", "user NDJSON", competitors.duckdb_ndjson, ndjson, keyless, truth),
    ]


def lineitem_engines(options):
    """Returns the engines that load `lineitem`."""
    of_scale = options.data, options.scale
    csv, parquet = (data.lineitem(*of_scale, suffix, competitors.TPCHGEN) for suffix in (".csv", ".parquet"))
    truth = data.lineitem_database(*of_scale, competitors.TPCHGEN)
    keyed, keyless = data.KEYED_LINEITEM, data.LINEITEM
    return [
        Engine("sqlite3 .import", "lineitem CSV, keys", competitors.sqlite3_import, csv, keyed, truth),
        Engine("litepress", "lineitem CSV, keys", litepress, csv, keyed, truth),
        Engine("DuckDB", "lineitem CSV", competitors.duckdb_csv, csv, keyless, truth),
        Engine("litepress", "lineitem CSV", litepress, csv, keyless, truth),
        Engine("DuckDB", "lineitem Parquet", competitors.duckdb_parquet, parquet, keyless, truth),
        Engine("litepress", "lineitem Parquet", litepress, parquet, keyless, truth),
    ]


def warm(source):
    """Reads a file into the page cache."""
    with open(source, "rb") as file:
        while file.read(BLOCK):
            pass


def timed(load, path, source, table):
    """Runs a loader, and adds an fsync to its time: engines run with synchronous = off leave it out."""
    warm(source)
    result = load(path, source, table)
    result.pop("output", None)
    started = time.perf_counter()
    with open(path, "rb") as file:
        os.fsync(file)
    result["seconds"] += time.perf_counter() - started
    result["bytes"] = path.stat().st_size
    return result


def verify(path, table, rows, facts=None):
    """Runs litepress check, and has SQLite compare key, rows and indexes; `facts` are those of the right rows."""
    run([TARGET / "litepress", "check", path, "--progress", "none", "--json"])
    with reading(path) as database:
        key = database.execute("SELECT name FROM pragma_table_info(?) WHERE pk ORDER BY pk", [table.name]).fetchall()
        if [column for (column,) in key] != list(table.key):
            raise SystemExit(f"{path}: the key of {table.name} is {key}, not {table.key}")
        indexes = database.execute("SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL").fetchall()
        by = [""] + [f'INDEXED BY "{index}"' for (index,) in indexes]
        counts = [database.execute(f"SELECT count(*) FROM {table.name} {one}").fetchone()[0] for one in by]
    if counts != [rows] * (1 + len(table.indexes)):
        raise SystemExit(f"{path}: {counts} rows in {table.name} and its indexes, not {rows}")
    if facts and data.facts(path, table) != facts:
        raise SystemExit(f"{path}: {data.facts(path, table)} in {table.name}, not {facts}")


def one_round(folder, engines):
    """Runs every engine once."""
    path, results = folder / "loaded.db", {}
    for one in engines:
        print(one.name, file=sys.stderr)
        results[one.name] = one.run(path)
    return results


def seconds(result):
    return result["seconds"] * result.get("scaled_by", 1)


def ratios(rounds):
    """Returns ratios within each round, so that drift of the machine cancels."""
    return {
        f"{case}, times {competitor}": spread(
            [seconds(one[f"{competitor}, {case}"]) / seconds(one[f"litepress, {case}"]) for one in rounds]
        )
        for case, competitor, _ in TARGETS
        if {f"{competitor}, {case}", f"litepress, {case}"} <= rounds[0].keys()
    }


def compare(rounds, figures):
    """Prints the time of litepress beside that of each competitor."""

    def median(name):
        return statistics.median(seconds(one[name]) for one in rounds)

    print(f"{'loaded':20}{'competitor':18}{'ours s':>9}{'other s':>9}{'ratio':>8}   {'of all rounds':18}{'target':>7}")
    for case, competitor, target in TARGETS:
        figure = figures.get(f"{case}, times {competitor}")
        if figure:
            times = f"{median(f'litepress, {case}'):9.2f}{median(f'{competitor}, {case}'):9.2f}"
            bounds = f"[{figure['min']:.2f} .. {figure['max']:.2f}]"
            print(f"{case:20}{competitor:18}{times}{figure['median']:8.2f}   {bounds:18}{target or '-':>7}")


def lines(source):
    with open(source, "rb") as file:
        return sum(block.count(b"\n") for block in iter(lambda: file.read(BLOCK), b""))


def large(folder):
    """Loads a CSV of 10 GB, which is not kept, with keys and indexes in little memory."""
    needed = 40 << 30
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise SystemExit(f"{free:,} bytes of disk are free: a CSV of 10 GB, its database and the sorts want {needed:,}")
    source = data.lineitem(folder, LARGE_SCALE, ".csv", competitors.TPCHGEN)
    path, table = folder / "loaded.db", data.KEYED_LINEITEM
    result = timed(lambda *loaded: litepress(*loaded, ["--memory", LARGE_MEMORY]), path, source, table)
    verify(path, table, lines(source) - 1)
    return result | {"csv_bytes": source.stat().st_size}


def keep_large(folder, options):
    name = f"litepress, 10 GB CSV, {LARGE_MEMORY}"
    result = large(folder)
    figures = {"peak memory, bytes": spread([result["peak_memory_bytes"]])}
    print("\nlineitem with keys and indexes from a CSV of 10 GB")
    report([{name: result}], figures | {"at most": spread([LARGE_PEAK])})
    keep(options.results, {"scale": LARGE_SCALE, "figures": figures, "rounds": [{name: result}]})


def chosen(options, found):
    """Returns the engines to run, and prints those whose packages are missing."""
    engines = user_engines(options)
    if "tpchgen-cli" in found:
        engines += lineitem_engines(options)
    else:
        print("skipped: lineitem, which tpchgen-cli makes", file=sys.stderr)
    runnable = []
    for one in engines:
        missing = [need for need in competitors.NEEDS.get(one.loader, []) if need not in found]
        if missing:
            print(f"skipped: {one.name}, for want of {', '.join(missing)}", file=sys.stderr)
        elif not options.only or one.loader in options.only:
            runnable.append(one)
    return runnable


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=number, default=number("1m"), help="of user")
    parser.add_argument("--sample-rows", type=number, default=number("500k"), help="of user, for sqlite-utils")
    parser.add_argument("--scale", type=float, default=0.1, help="of TPC-H: 1 is 6 million rows of lineitem")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--only", action="append", metavar="LOADER", help="may be repeated")
    parser.add_argument("--skip-missing", action="store_true", help="leave out competitors that are not installed")
    parser.add_argument("--dir", type=pathlib.Path, default=ROOT / "target")
    parser.add_argument("--data", type=pathlib.Path, default=ROOT / "target" / "bench-data", help="where the files lie")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "bench" / "results" / "load.jsonl")
    options = parser.parse_args()
    options.sample_rows = min(options.sample_rows, options.rows)
    return options


def main():
    options = arguments()
    if not options.skip_missing:
        competitors.install()
    versions = competitors.versions()
    engines = chosen(options, versions)
    with scratch(options.dir) as folder:
        rounds = repeat(options.repeat, lambda: one_round(folder, engines))
        figures = ratios(rounds)
        print(f"\n{options.rows:,} rows of user, lineitem of scale {options.scale:g}")
        print(f"sqlite-utils loads {options.sample_rows:,} rows; its time is scaled to all where it is compared")
        report(rounds, {})
        compare(rounds, figures)
        sizes = {"rows": options.rows, "sample_rows": options.sample_rows, "scale": options.scale}
        keep(options.results, sizes | {"versions": versions, "figures": figures, "rounds": rounds})
        if options.large:
            keep_large(folder, options)


if __name__ == "__main__":
    main()
