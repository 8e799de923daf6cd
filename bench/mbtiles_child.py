"""Runs one engine of mbtiles.py: makes tiles in memory, writes them to an MBTiles file, prints the time.

    mbtiles_child.py litepress|sqlite|parts PATH TILES

Both engines find equal images alike, in Python. `parts` does only that: it is the share that neither can save. The clock stops
once the file is synced.
"""

import contextlib
import importlib.util
import json
import os
import pathlib
import random
import sqlite3
import sys
import time

import pyarrow

EXAMPLE = pathlib.Path(__file__).resolve().parent.parent / "python" / "examples" / "mbtiles.py"
UNSAFE = ("journal_mode = off", "synchronous = off", "locking_mode = exclusive", "cache_size = -1000000")
ZOOM = 14
BATCH = 4096
SEAS = 4
"""Kinds of tiles that come again and again: six of ten."""


def load_example():
    """Returns the module of the example, which is what a user would copy."""
    specification = importlib.util.spec_from_file_location("example", EXAMPLE)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def batches(tiles):
    """Makes tiles in the order of their places, as renderers do: 2 to 14 kB of bytes that do not compress."""
    chance = random.Random(1)
    seas = [chance.randbytes(800 + 50 * sea) for sea in range(SEAS)]
    names = ["zoom_level", "tile_column", "tile_row", "tile_data"]
    made = []
    for start in range(0, tiles, BATCH):
        numbers = range(start, min(start + BATCH, tiles))
        images = [
            chance.choice(seas) if chance.random() < 0.6 else chance.randbytes(chance.randrange(2000, 14000)) for _ in numbers
        ]
        columns = [[ZOOM] * len(numbers), [number // 2**ZOOM for number in numbers], [number % 2**ZOOM for number in numbers], images]
        made.append(pyarrow.record_batch([pyarrow.array(column) for column in columns], names=names))
    return made


def by_litepress(example, path, tiles):
    example.write(path, tiles, {"name": "bench"})


def by_sqlite(example, path, tiles):
    images = example.Images()
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as database:
        for pragma in UNSAFE:
            database.execute("PRAGMA " + pragma)
        database.executescript(example.SCHEMA)
        database.execute("BEGIN")
        for batch in tiles:
            numbers, new = images.add(batch.column("tile_data").to_pylist())
            database.executemany("INSERT INTO images VALUES (?, ?)", new.items())
            place = [batch.column(name).to_pylist() for name in ("zoom_level", "tile_column", "tile_row")]
            database.executemany("INSERT INTO map VALUES (?, ?, ?, ?)", zip(*place, numbers))
        database.execute("INSERT INTO metadata VALUES ('name', 'bench')")
        database.execute("COMMIT")
    with open(path, "rb") as file:
        os.fsync(file.fileno())


def parts(example, _path, tiles):
    images = example.Images()
    for batch in tiles:
        images.add(batch.column("tile_data").to_pylist())


def main():
    engine, path, tiles = sys.argv[1], pathlib.Path(sys.argv[2]), batches(int(sys.argv[3]))
    example = load_example()
    run = {"litepress": by_litepress, "sqlite": by_sqlite, "parts": parts}[engine]
    started = time.perf_counter()
    run(example, path, tiles)
    print(json.dumps({"seconds": time.perf_counter() - started}))


if __name__ == "__main__":
    main()
