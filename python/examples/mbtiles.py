"""Tiles of a map, as a stream of Arrow batches, become an MBTiles file in which equal images are stored once."""

from __future__ import annotations

import hashlib
import sqlite3
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import litepress
import pyarrow as pa

# The view is what readers ask; 1297105496 is "MPBX" in ASCII.
SCHEMA = """
PRAGMA application_id = 1297105496;
CREATE TABLE images (tile_id INTEGER PRIMARY KEY, tile_data BLOB NOT NULL);
CREATE TABLE map (
  zoom_level INTEGER NOT NULL, tile_column INTEGER NOT NULL, tile_row INTEGER NOT NULL, tile_id INTEGER NOT NULL,
  PRIMARY KEY (zoom_level, tile_column, tile_row)) WITHOUT ROWID;
CREATE TABLE metadata (name TEXT PRIMARY KEY, value TEXT);
CREATE VIEW tiles AS SELECT zoom_level, tile_column, tile_row, tile_data FROM map JOIN images USING (tile_id);
"""


class Images:
    """Numbers images: equal ones have one number."""

    def __init__(self) -> None:
        self.numbers: dict[bytes, int] = {}

    def add(self, images: Iterable[bytes]) -> tuple[list[int], dict[int, bytes]]:
        """Returns the number of each image, and the new images by their numbers."""
        numbers, new = [], {}
        for image in images:
            digest = hashlib.blake2b(image, digest_size=16).digest()
            number = self.numbers.get(digest)
            if number is None:
                number = self.numbers[digest] = len(self.numbers) + 1
                new[number] = image
            numbers.append(number)
        return numbers, new


def write(path: Path, batches: Iterable[Any], metadata: dict[str, str]) -> None:
    """Writes batches with the columns zoom_level, tile_column, tile_row and tile_data."""
    images = Images()
    with litepress.create(path, SCHEMA, if_exists="overwrite") as file:
        for batch in batches:
            numbers, new = images.add(batch.column("tile_data").to_pylist())
            # The table that gets rows first is built while they come; the others are small.
            file["images"].extend({"tile_id": list(new), "tile_data": list(new.values())})
            place = {name: batch.column(name) for name in ("zoom_level", "tile_column", "tile_row")}
            file["map"].extend(pa.record_batch({**place, "tile_id": pa.array(numbers, pa.int64())}))
        file["metadata"].extend(metadata.items())


def pyramid(zooms: int) -> Iterator[Any]:
    """Yields the tiles of a world with one continent, a batch for each level. Its seas are all alike."""
    for zoom in range(zooms):
        width = 2**zoom
        places = [(column, row) for column in range(width) for row in range(width)]
        land = [(column - width / 3) ** 2 + (row - width / 2) ** 2 < (width / 5) ** 2 for column, row in places]
        data = [f"land {zoom} {place}".encode() if is_land else b"sea" for place, is_land in zip(places, land)]
        columns, rows = zip(*places)
        names = ["zoom_level", "tile_column", "tile_row", "tile_data"]
        yield pa.record_batch([pa.array(values) for values in ([zoom] * len(data), columns, rows, data)], names=names)


def main(folder: Path, zooms: int = 8) -> None:
    path = folder / "world.mbtiles"
    write(path, pyramid(zooms), {"name": "world", "format": "pbf", "minzoom": "0", "maxzoom": str(zooms - 1)})
    database = sqlite3.connect(path)
    for what, query in {
        "tiles": "SELECT count(*), sum(length(tile_data)) FROM tiles",
        "images": "SELECT count(*), sum(length(tile_data)) FROM images",
    }.items():
        count, size = database.execute(query).fetchone()
        print(f"{count:,} {what}, {size:,} bytes")
    database.close()


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
