#!/usr/bin/env python3
"""Measures MBTiles files: tiles as Arrow batches, with equal images stored once, against SQLite's inserts of the same rows.

The program of litepress is python/examples/mbtiles.py. SQLite inserts in one transaction, without a journal and syncs but for one
at the end. Tiles are in memory before the clock starts; both files must hold the same tiles.

    bench/mbtiles.py --tiles 200k --repeat 3
"""

import argparse
import json
import pathlib

import competitors
from measure import ROOT, keep, number, reading, remove, repeat, report, run, scratch, spread
from python import install

CHILD = pathlib.Path(__file__).with_name("mbtiles_child.py")
ENGINES = ("litepress", "sqlite", "parts")
SAME = """SELECT count(*), sum(length(tile_data)), sum(tile_column * 7 + tile_row * length(tile_data)), min(tile_data), max(tile_data)
FROM tiles"""


def one_round(folder, options):
    """Runs every engine once, and compares the files."""
    results, found = {}, {}
    for engine in ENGINES:
        path = folder / f"{engine}.mbtiles"
        result = run([options.python or competitors.PYTHON, CHILD, engine, path, options.tiles])
        result |= json.loads(result.pop("output"))
        if path.exists():
            with reading(path) as database:
                found[engine] = database.execute(SAME).fetchone()
                (verdict,) = database.execute("PRAGMA integrity_check").fetchone()
            if verdict != "ok" or found[engine][0] != options.tiles:
                raise SystemExit(f"{engine}: {verdict}, {found[engine][0]} tiles")
            result["bytes"] = path.stat().st_size
            remove(path)
        results[engine] = result
    if found["litepress"] != found["sqlite"]:
        raise SystemExit("the files hold different tiles")
    return results


def ratios(rounds):
    """Returns ratios within each round. The second is of what is left of both times without the search for equal images."""
    def beyond(one, engine):
        return max(one[engine]["seconds"] - one["parts"]["seconds"], 1e-3)

    return {
        "times SQLite's inserts": spread([one["sqlite"]["seconds"] / one["litepress"]["seconds"] for one in rounds]),
        "the same without hashing": spread([beyond(one, "sqlite") / beyond(one, "litepress") for one in rounds]),
        "SQLite's bytes, times litepress'": spread([one["sqlite"]["bytes"] / one["litepress"]["bytes"] for one in rounds]),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tiles", type=number, default=number("100k"))
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--python", type=pathlib.Path, help="an interpreter that has litepress and pyarrow: nothing is installed")
    parser.add_argument("--dir", type=pathlib.Path, default=ROOT / "target")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "bench" / "results" / "mbtiles.jsonl")
    options = parser.parse_args()
    if not options.python:
        install()
    with scratch(options.dir) as folder:
        rounds = repeat(options.repeat, lambda: one_round(folder, options))
    figures = ratios(rounds)
    print(f"\n{options.tiles:,} tiles")
    report(rounds, figures)
    keep(options.results, {"tiles": options.tiles, "figures": figures, "rounds": rounds})


if __name__ == "__main__":
    main()
