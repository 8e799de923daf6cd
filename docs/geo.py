"""Draws docs/geo.svg: the polygons of a GeoPackage, and the boxes of its R-Tree, level by level.

    python3 docs/geo.py [FILE.gpkg] [--litepress PATH]

Nothing is drawn by hand: geometries and nodes are read from the file with the standard library alone. Without a file, the program
makes one of a town's houses.
"""

import argparse
import contextlib
import math
import random
import sqlite3
import struct
import subprocess
import tempfile
from pathlib import Path

HOUSES = 6400
SIZE = 1600
STYLE = """
  .shape { fill: #afb8c1; stroke: none } .leaf { stroke: #0969da; stroke-width: 1.6 } .inner { stroke: #fb8f44; stroke-width: 5 }
  .leaf, .inner { fill: none } text { font: 26px system-ui, sans-serif; fill: #57606a }
  @media (prefers-color-scheme: dark) { .shape { fill: #6e7681 } .leaf { stroke: #4493f8 } text { fill: #9198a1 } }
"""


def town():
    """Yields the houses of a town as WKT: around a market, along streets that lead away from it."""
    chance = random.Random(5)
    for _ in range(HOUSES):
        street = chance.randrange(11)
        away = 60 + 1500 * chance.betavariate(1.1, 2.2)
        angle = math.tau * street / 11 + away * 0.0006 * (-1) ** street
        side = chance.choice([-1, 1]) * (14 + chance.expovariate(1 / 45))
        x, y = away * math.cos(angle) - side * math.sin(angle), away * math.sin(angle) + side * math.cos(angle)
        width, depth = chance.uniform(8, 20), chance.uniform(8, 14)
        along, across = (math.cos(angle), math.sin(angle)), (-math.sin(angle), math.cos(angle))
        corners = [(0, 0), (width, 0), (width, depth), (0, depth), (0, 0)]
        ring = [(x + a * along[0] + b * across[0], y + a * along[1] + b * across[1]) for a, b in corners]
        yield "POLYGON ((" + ", ".join(f"{x:.2f} {y:.2f}" for x, y in ring) + "))"


def make(litepress, folder):
    """Makes the GeoPackage of the town."""
    source, target = folder / "house.csv", folder / "house.gpkg"
    source.write_text("shape\n" + "".join(f'"{wkt}"\n' for wkt in town()), encoding="utf-8")
    subprocess.run([litepress, "load", target, source, "--geometry", "shape", "--crs", "25832"], check=True, capture_output=True)
    return target


def rings(blob):
    """Yields the rings of a polygon or of several, as lists of positions, from GeoPackageBinary."""
    envelope = {0: 0, 1: 32, 2: 48, 3: 48, 4: 64}[blob[3] >> 1 & 7]
    at = 8 + envelope

    def take(form):
        nonlocal at
        values = struct.unpack_from(order + form, blob, at)
        at += struct.calcsize(order + form)
        return values

    def geometry():
        nonlocal order, at
        order = "<" if blob[at] else ">"
        at += 1
        (kind,) = take("I")
        if kind == 3:
            for _ in range(*take("I")):
                (count,) = take("I")
                yield [take("dd") for _ in range(count)]
        elif kind == 6:
            for _ in range(*take("I")):
                yield from geometry()
        else:
            raise SystemExit(f"only polygons are drawn, and this is WKB of type {kind}")

    order = "<"
    yield from geometry()


def boxes(database, tree):
    """Yields the boxes of all nodes with the number of levels below them, from the cells of the nodes above."""

    def walk(number, height):
        (data,) = database.execute(f'SELECT data FROM "{tree}_node" WHERE nodeno = ?', [number]).fetchone()
        (count,) = struct.unpack_from(">H", data, 2)
        for cell in range(count if height else 0):
            child, left, right, low, high = struct.unpack_from(">qffff", data, 4 + 24 * cell)
            yield height - 1, left, right, low, high
            yield from walk(child, height - 1)

    (root,) = database.execute(f'SELECT data FROM "{tree}_node" WHERE nodeno = 1').fetchone()
    yield from walk(1, struct.unpack_from(">H", root)[0])


def picture(path):
    """Yields the lines of the picture."""
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
        table, column = database.execute("SELECT table_name, column_name FROM gpkg_geometry_columns").fetchone()
        left, low, right, high = database.execute("SELECT min_x, min_y, max_x, max_y FROM gpkg_contents").fetchone()
        geometries = [blob for (blob,) in database.execute(f'SELECT "{column}" FROM "{table}" WHERE "{column}" IS NOT NULL')]
        nodes = list(boxes(database, f"rtree_{table}_{column}"))
    scale = SIZE / max(right - left, high - low)
    width, height = round((right - left) * scale), round((high - low) * scale)

    def place(x, y):
        return round((x - left) * scale), round((high - y) * scale)

    box = f"-4 -4 {width + 8} {height + 60}"
    yield f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}" width="{width // 2 + 4}" height="{height // 2 + 30}">'
    yield f"<style>{STYLE}</style>"
    path, last = [], (0, 0)
    for ring in (ring for blob in geometries for ring in rings(blob)):
        points = [place(*position) for position in ring[:-1]]
        # Every position is told by its distance from the one before, and a ring by its distance from the last ring.
        steps = zip([last, *points], points)
        path.append("m" + " ".join(f"{x - x0} {y - y0}" for (x0, y0), (x, y) in steps).replace(" -", "-") + "z")
        last = points[0]
    yield f'<path class="shape" d="{"".join(path)}"/>'
    for below, x0, x1, y0, y1 in sorted(nodes):
        (x, y), (end, bottom) = place(x0, y1), place(x1, y0)
        yield f'<rect class="{"inner" if below else "leaf"}" x="{x}" y="{y}" width="{end - x}" height="{bottom - y}"/>'
    leaves = sum(below == 0 for below, *_ in nodes)
    told = f"{len(geometries):,} polygons, {leaves} leaves of the R-Tree (blue), {len(nodes) - leaves} nodes above them (orange)"
    yield f'<text x="0" y="{height + 44}">{told}</text>'
    yield "</svg>"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=Path, help="a GeoPackage of polygons")
    parser.add_argument("--litepress", default="litepress", help="the program")
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("geo.svg"))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        lines = list(picture(options.file or make(options.litepress, Path(folder))))
    options.out.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
