#!/usr/bin/env python3
"""Measures `litepress check` against SQLite's integrity_check and quick_check.

The database is a table `user` with an index on area and one on (area, age, active), and the same table without an index. Every round
runs litepress with one thread, with all cores, with --sample and with a picture of the pages, then both checks of SQLite, each as a whole process with the file in
the page cache. Before a time counts, the verdict must be "ok", and for a copy with one changed entry of an index it must not be; a
sample and quick_check need not see that.

    bench/check.py --rows 20m --repeat 3
"""

import argparse
import json
import pathlib
import sys

from measure import ROOT, TARGET, gen, keep, number, reading, repeat, report, run, scratch, spread

TABLE = """CREATE TABLE user (
    id INTEGER NOT NULL PRIMARY KEY, -- gen: sequence
    area CHAR(6), -- gen: digits(6)
    age INTEGER NOT NULL, -- gen: choice(5, 10, 15)
    active INTEGER NOT NULL -- gen: bool
);
"""
INDEXES = """CREATE INDEX user_area ON user (area);
CREATE INDEX user_all ON user (area, age, active);
"""
SQLITE = """
import sqlite3, sys
database = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
print(database.execute(f"PRAGMA {sys.argv[2]}").fetchone()[0])
"""
EXACT = ["litepress check, one thread", "litepress check", "integrity_check"]


def engines():
    litepress = lambda *options: lambda path: [TARGET / "litepress", "check", path, "--progress", "none", "--json", *options]
    sqlite = lambda pragma: lambda path: [sys.executable, "-c", SQLITE, path, pragma]
    return {
        "litepress check, one thread": litepress("--threads", "1"),
        "litepress check": litepress(),
        "litepress check --sample": litepress("--sample"),
        "litepress check --html": lambda path: [*litepress("--overwrite")(path), "--html", path.with_suffix(".html")],
        "integrity_check": sqlite("integrity_check"),
        "quick_check": sqlite("quick_check"),
    }


def is_ok(output):
    return json.loads(output)["ok"] if output.startswith("{") else output.strip() == "ok"


def damaged(folder):
    """Makes a small database with an entry of another row, and returns its path."""
    path = made(folder, "damaged", 1000, INDEXES)
    with reading(path) as database:
        root = database.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'user_area'").fetchone()[0]
        size = database.execute("PRAGMA page_size").fetchone()[0]
    content = bytearray(path.read_bytes())
    content[root * size - 1] ^= 1  # The last byte of an entry, and so of its rowid.
    path.write_bytes(content)
    return path


def made(folder, name, rows, indexes):
    path, sql = folder / f"{name}.db", folder / f"{name}.sql"
    sql.write_text(TABLE + indexes)
    gen(path, [sql, "--rows", f"user={rows}"])
    return path


def one_round(paths):
    results = {}
    for name, command in engines().items():
        for of, path in paths.items():
            result = run(command(path))
            if not is_ok(result.pop("output")):
                raise SystemExit(f"{name}: {path} is not ok")
            results[f"{name}, {of}"] = result
    return results


def ratios(rounds, rows):
    def cpu(engine, of):
        return [one[f"{engine}, {of}"]["cpu_seconds"] for one in rounds]

    figures = {}
    for of in ("indexed", "plain"):
        ours = cpu("litepress check, one thread", of)
        figures[f"{of}: CPU of integrity_check / ours"] = spread(
            [theirs / own for theirs, own in zip(cpu("integrity_check", of), ours)]
        )
        figures[f"{of}: CPU of quick_check / ours"] = spread([theirs / own for theirs, own in zip(cpu("quick_check", of), ours)])
        trees = 3 if of == "indexed" else 1
        figures[f"{of}: our CPU, ns a row or entry"] = spread([own / rows / trees * 1e9 for own in ours])
        wall = lambda engine: [one[f"{engine}, {of}"]["seconds"] for one in rounds]
        pictures = zip(wall("litepress check --html"), wall("litepress check"))
        figures[f"{of}: time with the picture of the pages / without"] = spread([html / plain for html, plain in pictures])
    return figures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=number, default=number("20m"))
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--dir", type=pathlib.Path, default=ROOT / "target")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "bench" / "results" / "check.jsonl")
    options = parser.parse_args()
    with scratch(options.dir) as folder:
        wrong = damaged(folder)
        for name in EXACT:
            # `litepress check` ends with status 1 here, which is no failure.
            command = [sys.executable, "-c", "import subprocess, sys; subprocess.run(sys.argv[1:])", *engines()[name](wrong)]
            if is_ok(run(command)["output"]):
                raise SystemExit(f"{name} does not find a wrong entry")
        paths = {
            "indexed": made(folder, "indexed", options.rows, INDEXES),
            "plain": made(folder, "plain", options.rows, ""),
        }
        sizes = {of: path.stat().st_size for of, path in paths.items()}
        rounds = repeat(options.repeat, lambda: one_round(paths))
        figures = ratios(rounds, options.rows)
        print(f"\n{options.rows:,} rows, {sizes['indexed']:,} bytes with both indexes")
        report(rounds, figures)
        keep(options.results, {"rows": options.rows, "bytes": sizes, "figures": figures, "rounds": rounds})


if __name__ == "__main__":
    main()
