#!/usr/bin/env python3
"""Measures objects that SQLite evaluates row by row: partial and expression indexes, stored columns, CHECK constraints.

Each index is made in three ways: by `litepress index` on a database without it; together with the rows, as the time that it adds
to `litepress generate`; and by SQLite's CREATE INDEX, with the best of some settings. The table with a stored column and a CHECK is
generated, and inserted by SQLite, 50 rows a statement, from rows in memory; it is also loaded from a database with the same rows,
whose reading SQLite's time excludes. Nothing is synced. Each result is checked before its time counts.

The last figures tell what evaluation costs beyond SQLite's own work, in CPU time: an index on an expression less an index on a column
with such values, over a SELECT of the same expression by one connection.

    bench/objects.py --rows 5m --repeat 3
"""

import argparse
import itertools
import json
import pathlib
import shutil

from measure import ROOT, gen, keep, number, reading, remove, repeat, report, run, scratch, spread, TARGET

COLUMNS = """    id INTEGER PRIMARY KEY, -- gen: sequence
    a INTEGER NOT NULL, -- gen: int(0, 999999)
    name TEXT NOT NULL, -- gen: full_name
    body TEXT NOT NULL{more}
"""
TABLE = "CREATE TABLE event (\n" + COLUMNS.format(more=" -- gen: json") + ");\n"
STORED = "CREATE TABLE event (\n" + COLUMNS.format(
    more=""", -- gen: json
    l TEXT AS (lower(name)) STORED,
    CHECK (a >= 0 AND length(name) > 2)"""
) + ");\n"
INDEXES = {
    "partial": "CREATE INDEX i ON event (a) WHERE a % 10 = 0",
    "partial by a comparison": "CREATE INDEX i ON event (a) WHERE a < 100000",
    "lower(name)": "CREATE INDEX i ON event (lower(name))",
    "json_extract": "CREATE INDEX i ON event (json_extract(body, '$.number'))",
}
PLAIN = {"lower(name)": "name", "json_extract": "a"}
"""A column with as large values as each expression."""
EXPRESSIONS = {"lower(name)": "lower(name)", "json_extract": "json_extract(body, '$.number')"}


def verify(path, rows):
    """Runs litepress check, and has SQLite compare a tenth of the rows with the entries of all indexes."""
    run([TARGET / "litepress", "check", path, "--progress", "none", "--json"])
    with reading(path) as database:
        found = database.execute("SELECT count(*) FROM event NOT INDEXED").fetchone()[0]
        if found != rows:
            raise SystemExit(f"{path}: {found} rows, not {rows}")
        for name, sql in INDEXES.items():
            if database.execute("SELECT 1 FROM sqlite_schema WHERE sql = ?", [sql]).fetchone() and "partial" in name:
                predicate, sums = sql.split(" WHERE ")[1], "SELECT count(*), sum(a) FROM event"
                by_index = database.execute(f"{sums} INDEXED BY i WHERE {predicate}").fetchone()
                by_rows = database.execute(f"{sums} NOT INDEXED WHERE {predicate}").fetchone()
                if by_index != by_rows:
                    raise SystemExit(f"{path}: {by_index} by the index, {by_rows} by the rows")


def objects(*arguments):
    """Runs SQLite's side."""
    result = run([TARGET / "objects", *arguments])
    return result | json.loads(result.pop("output"))


def one_round(folder, rows):
    """Runs every engine once."""
    results = {}
    sql, path, plain = folder / "schema.sql", folder / "made.db", folder / "plain.db"

    def generated(name, schema, path):
        sql.write_text(schema)
        results[name] = gen(path, [sql, "--rows", f"event={rows}", "--sync", "off"])
        verify(path, rows)

    generated("litepress, rows", TABLE, plain)
    for name, index in INDEXES.items():
        generated(f"litepress, rows and {name}", TABLE + index + ";", path)
        remove(path)
        copy = lambda: shutil.copyfile(plain, path)
        copy()
        results[f"litepress index, {name}"] = run([TARGET / "litepress", "index", path, index, "--sync", "off", "--quiet"])
        del results[f"litepress index, {name}"]["output"]
        verify(path, rows)
        tried = []
        for cache, threads in itertools.product([2000, 250_000], [0, 2]):
            copy()
            tried.append(objects("index", path, cache, threads, index))
        results[f"sqlite, {name}"] = min(tried, key=lambda one: one["sqlite_seconds"])
        remove(path)
        if name in PLAIN:
            copy()
            plain_index = f"CREATE INDEX i ON event ({PLAIN[name]})"
            results[f"litepress index, {PLAIN[name]}"] = run(
                [TARGET / "litepress", "index", path, plain_index, "--sync", "off", "--quiet"]
            )
            del results[f"litepress index, {PLAIN[name]}"]["output"]
            remove(path)
            select = f"SELECT rowid, {EXPRESSIONS[name]} FROM event NOT INDEXED"
            results[f"sqlite evaluates {name}"] = objects("evaluate", plain, select)
    generated("litepress, stored column and CHECK", STORED, path)
    remove(path)
    sql.write_text(STORED)
    load = [TARGET / "litepress", "load", path, plain, "--schema", sql, "--sync", "off", "--overwrite", "--quiet"]
    results["litepress load, stored column and CHECK"] = run(load)
    del results["litepress load, stored column and CHECK"]["output"]
    verify(path, rows)
    remove(path)
    statement = "\n".join(line.split("--")[0] for line in STORED.splitlines())
    results["sqlite, stored column and CHECK"] = objects("insert", path, statement, plain, "SELECT * FROM event")
    verify(path, rows)
    remove(path)
    remove(plain)
    return results


def ratios(rounds):
    """Returns ratios within each round, so that drift of the machine cancels."""
    figures = {}
    for name in INDEXES:
        theirs = [one[f"sqlite, {name}"]["sqlite_seconds"] for one in rounds]
        alone = [one[f"litepress index, {name}"]["seconds"] for one in rounds]
        figures[f"{name}, litepress index, times CREATE INDEX"] = spread([a / b for a, b in zip(theirs, alone)])
        added = [one[f"litepress, rows and {name}"]["seconds"] - one["litepress, rows"]["seconds"] for one in rounds]
        # Noise may make rows and index as fast as the rows alone.
        figures[f"{name}, with the rows, times CREATE INDEX"] = spread(
            [a / max(b, 0.001) for a, b in zip(theirs, added)]
        )
        cpu = [
            (one[f"litepress index, {name}"]["cpu_seconds"]) / one[f"sqlite, {name}"]["cpu_seconds"] for one in rounds
        ]
        figures[f"{name}, litepress index, CPU of CREATE INDEX"] = spread(cpu)
    name = "stored column and CHECK"
    for how in ("litepress", "litepress load"):
        figures[f"{name}, {how}, times 50-row INSERTs"] = spread(
            [one[f"sqlite, {name}"]["sqlite_seconds"] / one[f"{how}, {name}"]["seconds"] for one in rounds]
        )
    cpu = lambda one, name: one[name]["cpu_seconds"]
    for name, column in PLAIN.items():
        lane = [cpu(one, f"litepress index, {name}") - cpu(one, f"litepress index, {column}") for one in rounds]
        own = [cpu(one, f"sqlite evaluates {name}") for one in rounds]
        figures[f"{name}, CPU of evaluation, of SQLite's own"] = spread([a / b for a, b in zip(lane, own)])
    return figures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=number, default=number("1m"))
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--dir", type=pathlib.Path, default=ROOT / "target")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "bench" / "results" / "objects.jsonl")
    options = parser.parse_args()
    with scratch(options.dir) as folder:
        rounds = repeat(options.repeat, lambda: one_round(folder, options.rows))
    figures = ratios(rounds)
    print(f"\n{options.rows:,} rows")
    report(rounds, figures)
    keep(options.results, {"rows": options.rows, "figures": figures, "rounds": rounds})


if __name__ == "__main__":
    main()
