#!/usr/bin/env python3
"""Measures the Python package: frames, rows and columns in memory into SQLite, against what Python programs use.

Every engine runs in a separate interpreter, and is timed from rows in memory to a synced file (or an open connection to
a database in memory). Every result is checked before its time counts: rows and sums against data made another way, the
key, litepress check. The time of the interpreter for the rows alone is measured, too. Prints medians and ratios beside
their targets; appends one JSON line to results/python.jsonl. Installs missing competitors from PyPI first.

    bench/python.py --rows 10m --tuples 5m --repeat 3
"""

import argparse
import dataclasses
import json
import pathlib
import statistics
import subprocess
import sys

import data
import competitors
from load import verify
from measure import ROOT, keep, number, remove, repeat, report, run, scratch, spread

CHILD = pathlib.Path(__file__).with_name("python_child.py")
PACKAGES = ["adbc-driver-manager", "adbc-driver-sqlite", "numpy", "pandas", "polars", "pyarrow"]

# Case, competitor, and the minimum ratio of its time to that of litepress.
TARGETS = [
    ("pyarrow", "ADBC", 8),
    ("polars", "polars with ADBC", 8),
    ("pandas", "to_sql", 12),
    ("tuples", "executemany", 3),
    ("dicts", "executemany", 3),
    ("in memory", "executemany", 8),
]
ROW_BY_ROW = ("tuples", "dicts")
KEYLESS = ("ADBC", "polars with ADBC", "to_sql")


@dataclasses.dataclass(frozen=True)
class Engine:
    """An engine of python_child.py."""

    maker: str
    case: str
    rows: int
    python: pathlib.Path

    @property
    def name(self):
        return f"{self.maker}, {self.case}"

    def run(self, path, folder):
        source, truth = data.user_text(folder, self.rows, ".csv"), data.user_database(folder, self.rows)
        result = run([self.python, CHILD, self.name, path, source])
        result |= json.loads(result.pop("output"))
        if self.maker != "rows alone":
            table = dataclasses.replace(data.USER, key=()) if self.maker in KEYLESS else data.USER
            facts = data.facts(truth, table)
            verify(path, table, facts[0], facts)
            result["bytes"] = path.stat().st_size
            remove(path)
        return result


def engines(options):
    """Yields all engines: in each case the competitor, then litepress."""
    for case, competitor, _ in TARGETS:
        makers = [competitor, "litepress"] + ["rows alone"] * (case in ROW_BY_ROW)
        rows = options.tuples if case in ROW_BY_ROW else options.rows
        yield from (Engine(maker, case, rows, options.python or competitors.PYTHON) for maker in makers)


def one_round(folder, options):
    results = {}
    for one in engines(options):
        if not options.only or one.case in options.only:
            print(one.name, file=sys.stderr)
            results[one.name] = one.run(folder / "made.db", options.data)
    return results


def ratios(rounds):
    """Returns ratios within each round, so that drift of the machine cancels."""
    return {
        f"{case}, times {competitor}": spread(
            [one[f"{competitor}, {case}"]["seconds"] / one[f"litepress, {case}"]["seconds"] for one in rounds]
        )
        for case, competitor, _ in TARGETS
        if f"litepress, {case}" in rounds[0]
    }


def compare(rounds, figures):
    """Prints the time of litepress beside that of each competitor."""

    def median(name):
        return statistics.median(one[name]["seconds"] for one in rounds)

    print(f"{'rows':12}{'competitor':18}{'ours s':>9}{'other s':>9}{'rows alone':>12}{'ratio':>8}   {'of all rounds':18}{'target':>7}")
    for case, competitor, target in TARGETS:
        figure = figures.get(f"{case}, times {competitor}")
        if figure:
            times = f"{median(f'litepress, {case}'):9.2f}{median(f'{competitor}, {case}'):9.2f}"
            alone = f"{median(f'rows alone, {case}'):12.2f}" if case in ROW_BY_ROW else " " * 12
            bounds = f"[{figure['min']:.2f} .. {figure['max']:.2f}]"
            print(f"{case:12}{competitor:18}{times}{alone}{figure['median']:8.2f}   {bounds:18}{target:>7}")


def install():
    """Installs the competitors, and the package built from this checkout."""
    competitors.install()
    found = competitors.versions(PACKAGES)
    missing = [package for package in PACKAGES if package not in found]
    subprocess.run([competitors.PYTHON, "-m", "pip", "install", "--quiet", *missing, ROOT / "python"], check=True)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=number, default=number("1m"), help="of frames, and of databases in memory")
    parser.add_argument("--tuples", type=number, default=number("500k"), help="rows that come one by one")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--only", action="append", metavar="CASE", help="may be repeated")
    parser.add_argument("--python", type=pathlib.Path, help="an interpreter that has all that is wanted: nothing is installed")
    parser.add_argument("--dir", type=pathlib.Path, default=ROOT / "target")
    parser.add_argument("--data", type=pathlib.Path, default=ROOT / "target" / "bench-data", help="where the files lie")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "bench" / "results" / "python.jsonl")
    return parser.parse_args()


def main():
    options = arguments()
    if not options.python:
        install()
    with scratch(options.dir) as folder:
        rounds = repeat(options.repeat, lambda: one_round(folder, options))
    figures = ratios(rounds)
    print(f"\n{options.rows:,} rows of user in frames, {options.tuples:,} one by one")
    report(rounds, {})
    compare(rounds, figures)
    sizes = {"rows": options.rows, "tuples": options.tuples}
    versions = competitors.versions(PACKAGES, options.python or competitors.PYTHON)
    keep(options.results, sizes | {"versions": versions, "figures": figures, "rounds": rounds})


if __name__ == "__main__":
    main()
