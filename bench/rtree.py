#!/usr/bin/env python3
"""Measures the R-Trees of `litepress load` against SQLite's own inserts, and both trees by window queries.

The boxes lie in a table of a database: 70 % of them in one cluster, as the things of the world do. SQLite inserts them by
INSERT ... SELECT, in one transaction, without a journal and without syncs. The times of litepress are the whole run, sync
included. Every round asks both trees for the rows of the same windows. An older SQLite rounds coordinates further outwards than
litepress, which follows the newest: its tree may find a few more rows at the edges of windows, and no others.

    bench/rtree.py --rows 3m --repeat 3
"""

import argparse
import contextlib
import pathlib
import random
import sqlite3
import sys
import time

from measure import ROOT, TARGET, keep, number, reading, remove, repeat, report, run, scratch, spread

SCHEMA = "CREATE VIRTUAL TABLE boxes USING rtree(id, minx, maxx, miny, maxy);\n"
BY_SQLITE = """
import sqlite3, sys
target, source = sys.argv[1:]
database = sqlite3.connect(target, isolation_level=None)
for pragma in ("journal_mode = OFF", "synchronous = OFF", "locking_mode = EXCLUSIVE", "cache_size = -1000000"):
    database.execute("PRAGMA " + pragma)
database.execute("ATTACH ? AS source", [source])
database.execute("CREATE VIRTUAL TABLE boxes USING rtree(id, minx, maxx, miny, maxy)")
database.execute("BEGIN")
database.execute("INSERT INTO boxes SELECT * FROM source.boxes")
database.execute("COMMIT")
database.close()
"""
WINDOW = "SELECT id FROM boxes WHERE maxx >= ? AND minx <= ? AND maxy >= ? AND miny <= ?"
NODES = "SELECT count(*), sum(length(data)) FROM boxes_node"


def make_boxes(path, rows):
    """Makes the table of boxes."""
    chance = random.Random(1)

    def boxes():
        for row in range(rows):
            x, y = chance.uniform(-180, 180), chance.uniform(-90, 90)
            if chance.random() < 0.7:
                x, y = x * 0.05 + 10, y * 0.05 + 50
            yield row + 1, x, x + chance.uniform(0, 0.01), y, y + chance.uniform(0, 0.01)

    with contextlib.closing(sqlite3.connect(path)) as database, database:
        database.execute("PRAGMA synchronous = OFF")
        database.execute("CREATE TABLE boxes (id INTEGER PRIMARY KEY, minx REAL, maxx REAL, miny REAL, maxy REAL)")
        database.executemany("INSERT INTO boxes VALUES (?, ?, ?, ?, ?)", boxes())


def ask(path, windows):
    """Checks a tree and asks it for the rows of windows. Returns its nodes, the time of a window, and what was found."""
    chance, found = random.Random(999), []
    with reading(path) as database:
        if database.execute("SELECT rtreecheck('boxes')").fetchone() != ("ok",):
            raise SystemExit(f"{path}: rtreecheck is not content")
        nodes, node_bytes = database.execute(NODES).fetchone()
        corners = [(chance.uniform(1, 19), chance.uniform(45.5, 54.5)) for _ in range(windows)]
        started = time.perf_counter()
        for x, y in corners:
            found.append(set(database.execute(WINDOW, (x, x + 0.05, y, y + 0.05))))
        seconds = time.perf_counter() - started
    return {"nodes": nodes, "node_bytes": node_bytes, "window_seconds": seconds / windows}, found


def one_round(folder, options):
    """Runs both engines once."""
    source, schema = folder / "source.db", folder / "boxes.sql"
    results, found = {}, {}
    load = [TARGET / "litepress", "load", folder / "litepress.db", source, "--schema", schema, "--progress", "none", "--json"]
    insert = [sys.executable, "-c", BY_SQLITE, folder / "sqlite.db", source]
    for name, command in (("litepress", load), ("sqlite", insert)):
        result = run(command)
        del result["output"]
        path = folder / f"{name}.db"
        asked, found[name] = ask(path, options.windows)
        results[name] = result | asked | {"bytes": path.stat().st_size}
    surplus = sum(len(theirs - ours) for ours, theirs in zip(found["litepress"], found["sqlite"]))
    missing = sum(len(ours - theirs) for ours, theirs in zip(found["litepress"], found["sqlite"]))
    if missing or surplus * 1000 > sum(map(len, found["sqlite"])):
        raise SystemExit(f"the trees have different rows: {surplus} are in SQLite's alone, {missing} in that of litepress")
    for name in found:
        remove(folder / f"{name}.db")
    return results


def ratios(rounds):
    """Returns the ratios of each round."""
    def of(figure):
        return spread([one["sqlite"][figure] / one["litepress"][figure] for one in rounds])

    return {
        "times SQLite's inserts": of("seconds"),
        "SQLite's bytes of nodes, times litepress'": of("node_bytes"),
        "SQLite's time of a window, times litepress'": of("window_seconds"),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=number, default=number("3m"))
    parser.add_argument("--windows", type=number, default=3000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--dir", type=pathlib.Path, default=ROOT / "target")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "bench" / "results" / "rtree.jsonl")
    options = parser.parse_args()
    with scratch(options.dir) as folder:
        make_boxes(folder / "source.db", options.rows)
        (folder / "boxes.sql").write_text(SCHEMA)
        rounds = repeat(options.repeat, lambda: one_round(folder, options))
        figures = ratios(rounds)
        print(f"\n{options.rows:,} boxes")
        report(rounds, figures)
        keep(options.results, {"rows": options.rows, "windows": options.windows, "figures": figures, "rounds": rounds})


if __name__ == "__main__":
    main()
