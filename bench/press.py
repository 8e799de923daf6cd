#!/usr/bin/env python3
"""Measures litepress with the challenge's table against the disk's own speed and against the best INSERT program.

Every round runs all engines one after another, so that drift of the machine affects all of them. A result is checked
(rows, sums, litepress check) before its time counts. Prints medians with minimum and maximum, and the ratios; appends
one JSON line to results/press.jsonl.

    bench/press.py --rows 1b --insert-rows 100m --repeat 3 --dir /disk/to/measure
"""

import argparse
import pathlib
import shutil

from measure import ROOT, check, dd, gen, insert, keep, number, reading, remove, repeat, report, scratch, spread

BYTES_PER_ROW = 20


def verify(path, rows):
    """Compares counts and sums, as SQLite computes them, with those of the right rows."""
    with reading(path) as database:
        query = "SELECT count(*), min(id), max(id), count(distinct age), sum(age), sum(active), max(length(area)) FROM user"
        count, least, most, ages, age_sum, active_sum, area = database.execute(query).fetchone()
    right = (count, least, most, ages, area) == (rows, 1, rows, 3, 6)
    # Six standard deviations of a mean: 4.1 of an age, 0.5 of a flag, divided by the square root of the rows.
    deviation = 6 / rows**0.5
    right = right and abs(age_sum / rows - 10) < 4.1 * deviation and abs(active_sum / rows - 0.5) < 0.5 * deviation
    if not right:
        raise SystemExit(f"{path}: wrong rows: {count, least, most, ages, age_sum, active_sum, area}")


def one_round(folder, options):
    """Runs every engine once."""
    results = {}
    total = options.rows * BYTES_PER_ROW
    path = folder / "press.db"
    user = ["--preset", "user", "--rows"]
    results["raw write, 1 writer"] = dd(folder, total, 1)
    results["raw write, 2 writers"] = dd(folder, total, 2)
    results["litepress"] = gen(path, [*user, options.rows])
    verify(path, options.rows)
    remove(path)
    results["litepress, pages dropped"] = gen(None, [*user, options.rows])
    results["litepress, insert size"] = gen(path, [*user, options.insert_rows])
    verify(path, options.insert_rows)
    results["check"] = check(path)
    remove(path)
    results["insert"] = insert(path, [options.insert_rows])
    verify(path, options.insert_rows)
    remove(path)
    return results


def ratios(rounds, options):
    """Returns ratios within each round, so that drift of the machine cancels."""
    def ceiling(one):
        raw = [one["raw write, 1 writer"], one["raw write, 2 writers"]]
        return max(result["bytes"] / result["seconds"] for result in raw)

    def of(one, name, key="seconds"):
        return one[name][key]

    return {
        "litepress time / raw write time": spread(
            [of(r, "litepress") / (of(r, "litepress", "bytes") / ceiling(r)) for r in rounds]
        ),
        "insert time / litepress time": spread(
            [of(r, "insert", "sqlite_seconds") / of(r, "litepress, insert size") for r in rounds]
        ),
        "rows/s, pages dropped": spread([options.rows / of(r, "litepress, pages dropped") for r in rounds]),
        "check bytes/s": spread([of(r, "check", "bytes") / of(r, "check") for r in rounds]),
        "raw write bytes/s": spread([ceiling(r) for r in rounds]),
        "litepress peak memory, bytes": spread([of(r, "litepress", "peak_memory_bytes") for r in rounds]),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=number, default=number("100m"))
    parser.add_argument("--insert-rows", type=number, default=number("10m"))
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--dir", type=pathlib.Path, default=ROOT / "target")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "bench" / "results" / "press.jsonl")
    options = parser.parse_args()
    with scratch(options.dir) as folder:
        needed = 2 * options.rows * BYTES_PER_ROW
        free = shutil.disk_usage(folder).free
        if free < needed:
            raise SystemExit(f"{folder} has {free:,} bytes free; {options.rows:,} rows need {needed:,}")
        rounds = repeat(options.repeat, lambda: one_round(folder, options))
    figures = ratios(rounds, options)
    print(f"\n{options.rows:,} rows (insert and check: {options.insert_rows:,}), {len(rounds)} rounds")
    report(rounds, figures)
    keep(options.results, {"rows": options.rows, "insert_rows": options.insert_rows, "figures": figures, "rounds": rounds})


if __name__ == "__main__":
    main()
