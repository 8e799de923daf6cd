#!/usr/bin/env python3
"""Measures a GeoPackage of polygons: `litepress load --geometry` against `ogr2ogr` with its defaults.

The polygons are buildings with four to twelve corners, most of them in some towns, as CSV with WKT, and as newline-delimited GeoJSON.
GDAL builds its R-Tree by itself, too. Both files must have the same features and extents, and both R-Trees find the same features
in windows. The times are whole runs; that of litepress includes a sync. Without ogr2ogr (Debian: gdal-bin) the bench says so and
ends.

    bench/geo.py --rows 2m --repeat 3
"""

import argparse
import json
import math
import os
import pathlib
import random
import shutil
import sys

from measure import ROOT, TARGET, keep, number, reading, remove, repeat, report, run, scratch, spread

TOWNS = 40
FORMATS = ("csv", "ndjson")
WINDOWS = 200
LAYER = "building"
WINDOW = "SELECT id FROM {tree} WHERE maxx >= ? AND minx <= ? AND maxy >= ? AND miny <= ?"


def polygons(rows):
    """Yields names, heights and corners. The last corner is the first."""
    chance = random.Random(1)
    towns = [(chance.uniform(300_000, 900_000), chance.uniform(5_300_000, 6_000_000)) for _ in range(TOWNS)]
    for row in range(rows):
        x, y = chance.choice(towns)
        x, y = x + chance.gauss(0, 8000), y + chance.gauss(0, 8000)
        corners, radius = chance.randrange(4, 13), chance.uniform(4, 25)
        turn = chance.uniform(0, math.tau)
        angles = [turn + math.tau * corner / corners for corner in range(corners)]
        ring = [(round(x + radius * math.cos(angle), 3), round(y + radius * math.sin(angle), 3)) for angle in angles]
        yield f"house {row}", row % 300 / 10, [*ring, ring[0]]


def make_files(folder, rows):
    """Writes the same polygons in every format."""
    paths = {kind: folder / f"{LAYER}.{kind}" for kind in FORMATS}
    with open(paths["csv"], "w", encoding="utf-8") as csv, open(paths["ndjson"], "w", encoding="utf-8") as lines:
        csv.write("name,height,WKT\n")
        for name, height, ring in polygons(rows):
            wkt = ", ".join(f"{x} {y}" for x, y in ring)
            csv.write(f'{name},{height},"POLYGON (({wkt}))"\n')
            properties = {"name": name, "height": height}
            geometry = {"type": "Polygon", "coordinates": [ring]}
            lines.write(json.dumps({"type": "Feature", "properties": properties, "geometry": geometry}) + "\n")
    return paths


def commands(folder, kind, source):
    """Returns the commands of both programs. Coordinates are metres of UTM zone 32 in both formats."""
    ours, theirs = folder / "litepress.gpkg", folder / "gdal.gpkg"
    geometry = {"csv": "WKT", "ndjson": "geometry"}[kind]
    load = [TARGET / "litepress", "load", ours, source, "--geometry", geometry, "--crs", "EPSG:25832", "--progress", "none", "--json"]
    # The driver is named because GDAL tells formats by their names; types are looked for, as litepress does.
    opened = {"csv": f"{source}", "ndjson": f"GeoJSONSeq:{source}"}[kind]
    # By default it would keep the text of the geometries beside them: the files would differ.
    options = ["-oo", "AUTODETECT_TYPE=YES", "-oo", "KEEP_GEOM_COLUMNS=NO"] if kind == "csv" else []
    return {
        "litepress": (ours, load),
        "ogr2ogr": (theirs, ["ogr2ogr", "-f", "GPKG", theirs, opened, "-nln", LAYER, "-a_srs", "EPSG:25832", *options]),
    }


def look(path):
    """Returns number and extent of the features, and what windows find by the R-Tree."""
    chance = random.Random(7)
    with reading(path) as database:
        ((column,),) = database.execute("SELECT column_name FROM gpkg_geometry_columns").fetchall()
        tree = f'"rtree_{LAYER}_{column}"'
        if database.execute("SELECT rtreecheck(?)", [tree.strip('"')]).fetchone() != ("ok",):
            raise SystemExit(f"{path}: rtreecheck is not content")
        count, heights, total = database.execute(f"SELECT count(*), sum(height), sum(length(name)) FROM {LAYER}").fetchone()
        extent = database.execute("SELECT min_x, min_y, max_x, max_y FROM gpkg_contents").fetchone()
        found = []
        for _ in range(WINDOWS):
            x, y = chance.uniform(300_000, 900_000), chance.uniform(5_300_000, 6_000_000)
            found.append(set(database.execute(WINDOW.format(tree=tree), (x, x + 5000, y, y + 5000))))
    return (count, round(heights, 3), total, tuple(round(edge, 3) for edge in extent)), found


def verify(kind, rows, facts, found):
    """Compares both files. GDAL rounds boxes further outwards: it may find a few more features at the edges of windows."""
    if facts["litepress"] != facts["ogr2ogr"] or facts["litepress"][0] != rows:
        raise SystemExit(f"{kind}: the files differ: {facts}")
    missing = sum(len(theirs - ours) for ours, theirs in zip(found["litepress"], found["ogr2ogr"]))
    surplus = sum(len(ours - theirs) for ours, theirs in zip(found["litepress"], found["ogr2ogr"]))
    if missing * 1000 > rows or surplus:
        raise SystemExit(f"{kind}: windows find other features: {missing} are missing, {surplus} are too many")


def one_round(folder, sources, options):
    results = {}
    for kind, source in sources.items():
        facts, found = {}, {}
        for engine, (path, command) in commands(folder, kind, source).items():
            # GDAL would write a time of its own.
            result = run(command, env=os.environ | {"OGR_CURRENT_DATE": "2026-01-01T00:00:00Z"})
            del result["output"]
            facts[engine], found[engine] = look(path)
            results[f"{engine}, {kind}"] = result | {"bytes": path.stat().st_size}
        verify(kind, options.rows, facts, found)
        for path, _ in commands(folder, kind, source).values():
            remove(path)
    return results


def ratios(rounds):
    """Returns the ratios of each round."""
    return {
        f"{kind}, times ogr2ogr": spread([one[f"ogr2ogr, {kind}"]["seconds"] / one[f"litepress, {kind}"]["seconds"] for one in rounds])
        for kind in FORMATS
    } | {
        "GDAL's bytes, times litepress'": spread([one["ogr2ogr, csv"]["bytes"] / one["litepress, csv"]["bytes"] for one in rounds]),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=number, default=number("200k"))
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--dir", type=pathlib.Path, default=ROOT / "target")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "bench" / "results" / "geo.jsonl")
    options = parser.parse_args()
    if not shutil.which("ogr2ogr"):
        print("skipped: there is no ogr2ogr to compare with (Debian has it in gdal-bin)", file=sys.stderr)
        return
    version = run(["ogr2ogr", "--version"])["output"].strip()
    with scratch(options.dir) as folder:
        sources = make_files(folder, options.rows)
        rounds = repeat(options.repeat, lambda: one_round(folder, sources, options))
    figures = ratios(rounds)
    print(f"\n{options.rows:,} polygons, {version}")
    report(rounds, figures)
    keep(options.results, {"rows": options.rows, "gdal": version, "figures": figures, "rounds": rounds})


if __name__ == "__main__":
    main()
