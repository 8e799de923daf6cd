"""``load`` with ``geometry=``: GeoPackages of GeoParquet, GeoArrow and CSV, as GDAL reads them."""

from __future__ import annotations

import json
import sqlite3
import struct
from contextlib import closing
from pathlib import Path
from typing import Any

import litepress
import pyarrow
import pyarrow.feather
import pyarrow.parquet
import pytest

POINTS = [(1.5, 2.0), (-3.25, 41.0), (120.0, -33.5)]


def wkb(x: float, y: float) -> bytes:
    return struct.pack("<BIdd", 1, 1, x, y)


def square(x: float, y: float, side: float) -> bytes:
    ring = [(x, y), (x + side, y), (x + side, y + side), (x, y + side), (x, y)]
    return struct.pack("<BIII", 1, 3, 1, 5) + b"".join(struct.pack("<dd", *position) for position in ring)


def geoparquet(path: Path, geometries: list[bytes | None], crs: Any) -> Path:
    """Writes a GeoParquet file. `crs` is the metadata's; `...` leaves it out."""
    column: dict[str, Any] = {"encoding": "WKB", "geometry_types": []}
    if crs is not ...:
        column["crs"] = crs
    geo = {"version": "1.1.0", "primary_column": "geom", "columns": {"geom": column}}
    table = pyarrow.table({"name": [f"n{row}" for row in range(len(geometries))], "geom": pyarrow.array(geometries, pyarrow.binary())})
    pyarrow.parquet.write_table(table.replace_schema_metadata({"geo": json.dumps(geo)}), path)
    return path


def rows(path: Path, sql: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(path)) as database:
        return database.execute(sql).fetchall()


@pytest.mark.parametrize(
    ("crs", "srs_id"),
    [(..., 4326), (None, -1), ({"id": {"authority": "EPSG", "code": 25832}}, 25832), ({"id": {"authority": "OGC", "code": "CRS84"}}, 4326)],
)
def test_geoparquet_names_its_reference_system(tmp_path: Path, crs: Any, srs_id: int) -> None:
    source = geoparquet(tmp_path / "places.parquet", [wkb(*point) for point in POINTS], crs)
    target = tmp_path / "places.gpkg"
    assert litepress.load(target, source, geometry="geom").tables == {"places": 3}
    assert rows(target, "SELECT srs_id, min_x, min_y, max_x, max_y FROM gpkg_contents") == [(srs_id, -3.25, -33.5, 120.0, 41.0)]
    assert rows(target, "SELECT id, minx, miny FROM rtree_places_geom ORDER BY id") == [(row, x, y) for row, (x, y) in enumerate(POINTS, 1)]


def test_geoarrow_names_its_reference_system(tmp_path: Path) -> None:
    metadata = {"ARROW:extension:name": "geoarrow.wkb", "ARROW:extension:metadata": json.dumps({"crs": "EPSG:3857"})}
    field = pyarrow.field("geom", pyarrow.binary(), metadata=metadata)
    table = pyarrow.Table.from_arrays([pyarrow.array([wkb(1.0, 2.0)])], schema=pyarrow.schema([field]))
    pyarrow.feather.write_feather(table, tmp_path / "places.arrow", compression="uncompressed")
    litepress.load(tmp_path / "places.gpkg", tmp_path / "places.arrow", geometry="geom")
    assert rows(tmp_path / "places.gpkg", "SELECT srs_id FROM gpkg_geometry_columns") == [(3857,)]


def test_two_columns_of_coordinates(tmp_path: Path) -> None:
    source = tmp_path / "places.csv"
    source.write_text("lon,lat\n1.5,2\n,\n")
    litepress.load(tmp_path / "places.gpkg", source, geometry=("lon", "lat"), crs="EPSG:4326", null_value="")
    assert rows(tmp_path / "places.gpkg", "SELECT fid, lon, geom IS NULL FROM places") == [(1, 1.5, 0), (2, None, 1)]
    with pytest.raises(litepress.Error, match="geometry="):
        litepress.load(tmp_path / "other.gpkg", source, crs="EPSG:4326")


def test_gdal_reads_the_layers(tmp_path: Path) -> None:
    """GDAL finds the same features, by their number and by a window, which it asks the R-Tree for."""
    pyogrio = pytest.importorskip("pyogrio")
    squares: list[bytes | None] = [square(float(row % 100), float(row // 100), 0.5) for row in range(5000)]
    squares[7] = None
    source = geoparquet(tmp_path / "squares.parquet", squares, {"id": {"authority": "EPSG", "code": 25832}})
    target = tmp_path / "squares.gpkg"
    litepress.load(target, source, geometry="geom", threads=2)
    info = pyogrio.read_info(target)
    assert (info["features"], info["crs"], info["fid_column"], info["geometry_name"]) == (5000, "EPSG:25832", "fid", "geom")
    assert tuple(info["total_bounds"]) == (0.0, 0.0, 99.5, 49.5)
    _, fids, geometries, (names,) = pyogrio.raw.read(target, return_fids=True)
    assert list(fids) == list(range(1, 5001)) and list(geometries) == squares
    assert list(names) == [f"n{row}" for row in range(5000)]
    window = (10.25, 10.25, 12.25, 11.25)
    _, fids, _, _ = pyogrio.raw.read(target, return_fids=True, bbox=window)
    assert sorted(fids) == [row + 1 for row in range(5000) if 10 <= row % 100 <= 12 and 10 <= row // 100 <= 11]
    assert pyogrio.list_layers(target).tolist() == [["squares", "Polygon"]]


def own_system() -> dict[str, Any]:
    """A transverse Mercator of no register, as PROJJSON."""

    def axis(name: str, direction: str, unit: str) -> dict[str, str]:
        return {"name": name, "abbreviation": name[0], "direction": direction, "unit": unit}

    def parameter(name: str, value: float, unit: str) -> dict[str, Any]:
        return {"name": name, "value": value, "unit": unit}

    degrees = [axis("Latitude", "north", "degree"), axis("Longitude", "east", "degree")]
    ellipsoid = {"name": "GRS 1980", "semi_major_axis": 6378137, "inverse_flattening": 298.257222101}
    base = {
        "type": "GeographicCRS",
        "name": "ETRS89",
        "datum": {"type": "GeodeticReferenceFrame", "name": "European Terrestrial Reference System 1989", "ellipsoid": ellipsoid},
        "coordinate_system": {"subtype": "ellipsoidal", "axis": degrees},
    }
    parameters = [
        parameter("Latitude of natural origin", 0, "degree"),
        parameter("Longitude of natural origin", 9.5, "degree"),
        parameter("Scale factor at natural origin", 0.9996, "unity"),
        parameter("False easting", 500000, "metre"),
        parameter("False northing", 0, "metre"),
    ]
    return {
        "type": "ProjectedCRS",
        "name": "our own grid",
        "base_crs": base,
        "conversion": {"name": "our grid", "method": {"name": "Transverse Mercator"}, "parameters": parameters},
        "coordinate_system": {"subtype": "Cartesian", "axis": [axis("Easting", "east", "metre"), axis("Northing", "north", "metre")]},
    }


def test_a_system_without_number_keeps_its_definition(tmp_path: Path) -> None:
    """It was stored as undefined, and maps lay in the sea."""
    pyogrio = pytest.importorskip("pyogrio")
    source = geoparquet(tmp_path / "places.parquet", [wkb(500000.0, 5.5e6)], own_system())
    target = tmp_path / "places.gpkg"
    litepress.load(target, source, geometry="geom")
    crs = pyogrio.read_info(target)["crs"]
    for part in ["our own grid", "Transverse", "9.5", "0.9996", "500000"]:
        assert part in crs, crs
    query = "SELECT srs_id, organization, definition, definition_12_063 LIKE 'PROJCRS[%' FROM gpkg_spatial_ref_sys WHERE srs_id > 4326"
    assert rows(target, query) == [(100000, "NONE", "undefined", 1)]
    assert rows(target, "SELECT count(*) FROM gpkg_extensions WHERE extension_name = 'gpkg_crs_wkt'") == [(1,)]


def test_wrong_geometries_are_rejected(tmp_path: Path) -> None:
    source = geoparquet(tmp_path / "places.parquet", [wkb(1.0, 2.0), b"what", None, wkb(3.0, 4.0)], ...)
    with pytest.raises(litepress.Error, match=r"record 2: .* on_error=") as failed:
        litepress.load(tmp_path / "places.gpkg", source, geometry="geom")
    assert (failed.value.record, failed.value.column) == (2, "geom")
    summary = litepress.load(tmp_path / "places.gpkg", source, geometry="geom", on_error="reject")
    assert (summary.rows, summary.details["rejected"]) == (3, 1)
    litepress.load(tmp_path / "places.gpkg", source, geometry="geom", on_error="null", if_exists="overwrite")
    assert rows(tmp_path / "places.gpkg", "SELECT count(*), count(geom) FROM places") == [(4, 2)]
