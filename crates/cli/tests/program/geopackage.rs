//! GeoPackages by `litepress load --geometry`.

use crate::Room;
use std::process::Command;

const WKT: &str = "id;name;area\n\
    1;one;POLYGON ((0 0, 4 0, 4 3, 0 0))\n\
    2;none;\n\
    5;empty;POLYGON EMPTY\n\
    7;two;MULTIPOLYGON (((10 -2, 12 -2, 12 0, 10 -2)))\n\
    9;high;LINESTRING Z (1 1 9, 2 2 8)\n";

/// Asserts that SQLite and, where it is installed, GDAL accept the file.
fn assert_sound(room: &Room, file: &str, layer: &str, features: u64) {
    assert_eq!(room.query(file, "PRAGMA integrity_check"), "ok");
    assert_eq!(room.query(file, "PRAGMA foreign_key_check"), "");
    assert_eq!(
        room.query(
            file,
            "SELECT printf('%x %d', application_id, user_version) FROM pragma_application_id, pragma_user_version"
        ),
        "47504b47 10400"
    );
    let rtree = room.query(file, "SELECT name FROM sqlite_schema WHERE sql LIKE 'CREATE VIRTUAL%'");
    assert_eq!(room.query(file, &format!("SELECT rtreecheck('{rtree}')")), "ok");
    let Ok(output) = Command::new("ogrinfo").args(["-ro", "-so", file, layer]).current_dir(room.path("")).output()
    else {
        println!("skipped: there is no ogrinfo to read {file} with");
        return;
    };
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains(&format!("Feature Count: {features}")), "{output:?}");
    assert!(output.stderr.is_empty(), "{output:?}");
}

#[test]
fn wkt_becomes_a_layer() {
    let room = Room::new();
    room.write("parcels.csv", WKT);
    room.done("load p.gpkg parcels.csv --geometry area --crs EPSG:25832 --null-value= --primary-key id --index name --progress none");
    assert_sound(&room, "p.gpkg", "parcels", 5);
    assert_eq!(
        room.query("p.gpkg", "SELECT group_concat(id || ' ' || name, ', ' ORDER BY id) FROM parcels"),
        "1 one, 2 none, 5 empty, 7 two, 9 high"
    );
    // Byte order, envelope or emptiness in the flags; the number of the system.
    assert_eq!(
        room.query(
            "p.gpkg",
            "SELECT group_concat(iif(area IS NULL, 'NULL', hex(substr(area, 1, 8))), ' ') FROM parcels"
        ),
        "47500003E8640000 NULL 47500011E8640000 47500003E8640000 47500003E8640000"
    );
    assert_eq!(room.query("p.gpkg", "SELECT group_concat(id || ':' || minx || ' ' || maxx || ' ' || miny || ' ' || maxy, ', ') FROM (SELECT * FROM rtree_parcels_area ORDER BY id)"),
        "1:0.0 4.0 0.0 3.0, 7:10.0 12.0 -2.0 0.0, 9:1.0 2.0 1.0 2.0");
    assert_eq!(room.query("p.gpkg", "SELECT table_name || ' ' || data_type || ' ' || min_x || ' ' || min_y || ' ' || max_x || ' ' || max_y || ' ' || srs_id FROM gpkg_contents"),
        "parcels features 0.0 -2.0 12.0 3.0 25832");
    assert_eq!(room.query("p.gpkg", "SELECT column_name || ' ' || geometry_type_name || ' ' || srs_id || ' ' || z || ' ' || m FROM gpkg_geometry_columns"),
        "area GEOMETRY 25832 2 0");
    assert_eq!(
        room.query("p.gpkg", "SELECT group_concat(srs_id || ' ' || organization) FROM gpkg_spatial_ref_sys"),
        "-1 NONE,0 NONE,4326 EPSG,25832 EPSG"
    );
    assert_eq!(
        room.query("p.gpkg", "SELECT extension_name || ' ' || scope FROM gpkg_extensions"),
        "gpkg_rtree_index write-only"
    );
    assert_eq!(room.query("p.gpkg", "SELECT feature_count FROM gpkg_ogr_contents"), "5");
    assert_eq!(room.query("p.gpkg", "SELECT count(*) FROM sqlite_schema WHERE type = 'trigger'"), "9");
    assert_eq!(
        room.query(
            "p.gpkg",
            "SELECT name FROM sqlite_schema WHERE type = 'index' AND sql NOT NULL AND tbl_name = 'parcels'"
        )
        .lines()
        .count(),
        1
    );
    // A row that goes takes its box along.
    room.sqlite("p.gpkg").execute_batch("DELETE FROM parcels WHERE id = 7").unwrap();
    assert_eq!(room.query("p.gpkg", "SELECT group_concat(id) FROM rtree_parcels_area"), "1,9");
    assert_eq!(room.query("p.gpkg", "SELECT feature_count FROM gpkg_ogr_contents"), "4");
}

/// The same file on one core and on three; the time of the last change is told.
#[test]
fn coordinates_become_points() {
    let room = Room::new();
    let rows: String = (0..30_000)
        .map(|row| format!("{},{},p{row}\n", f64::from(row % 700) / 4.0 - 80.0, f64::from(row % 350) / 4.0))
        .collect();
    room.write("places.csv", format!("lon,lat,name\n{rows}"));
    let mut files = Vec::new();
    for threads in [1, 3] {
        let command = format!(
            "load {threads}.gpkg places.csv --geometry lon,lat --crs OGC:CRS84 --threads {threads} --progress none"
        );
        let ended: crate::Ended =
            room.command(&command).env("SOURCE_DATE_EPOCH", "1700000000").output().unwrap().into();
        assert!(ended.code == Some(0) && ended.out.contains("30,000"), "{ended:?}");
        files.push(std::fs::read(room.path(format!("{threads}.gpkg"))).unwrap());
    }
    assert!(files[0] == files[1], "other bytes on three threads");
    assert_sound(&room, "1.gpkg", "places", 30_000);
    assert_eq!(
        room.query(
            "1.gpkg",
            "SELECT count(*) FROM rtree_places_geom WHERE minx >= 0 AND maxx <= 1 AND miny >= 0 AND maxy <= 100"
        ),
        room.query("1.gpkg", "SELECT count(*) FROM places WHERE lon BETWEEN 0 AND 1")
    );
    assert_eq!(
        room.query("1.gpkg", "SELECT fid || ' ' || hex(geom) || ' ' || name FROM places WHERE fid = 2"),
        "2 47500001E610000001010000000000000000F053C0000000000000D03F p1"
    );
    assert_eq!(room.query("1.gpkg", "SELECT last_change FROM gpkg_contents"), "2023-11-14T22:13:20.000Z");
    assert_eq!(room.query("1.gpkg", "SELECT geometry_type_name FROM gpkg_geometry_columns"), "POINT");
    assert_eq!(room.query("1.gpkg", "SELECT seq FROM sqlite_sequence"), "30000");
}

#[test]
fn features_of_geojson_become_rows() {
    let room = Room::new();
    let features = [
        r#"{"type": "Feature", "properties": {"name": "one", "size": 3}, "geometry": {"type": "Point", "coordinates": [1.5, 2]}}"#,
        r#"{"type": "Feature", "properties": {"name": "two", "size": null}, "geometry": {"type": "Polygon", "coordinates": [[[0,0],[4,0],[4,3],[0,0]]]}}"#,
        r#"{"type": "Feature", "properties": {"name": "three", "size": 5}, "geometry": null}"#,
        r#"{"type": "Feature", "properties": {"name": "four", "size": 6}, "geometry": {"type": "GeometryCollection", "geometries": [{"type": "Point", "coordinates": [9, 9]}]}}"#,
    ];
    room.write(
        "all.geojson",
        format!(
            "{{\"type\": \"FeatureCollection\", \"name\": \"all\", \"features\": [\n{}\n]}}\n",
            features.join(",\n")
        ),
    );
    room.write("lines.ndjson", features.join("\n") + "\n");
    for (file, layer) in [("all.geojson", "all"), ("lines.ndjson", "lines")] {
        let target = format!("{layer}.gpkg");
        room.done(&format!("load {target} {file} --geometry geometry --progress none"));
        assert_sound(&room, &target, layer, 4);
        let columns = format!("SELECT group_concat(name || ' ' || type, ', ') FROM pragma_table_info('{layer}')");
        assert_eq!(room.query(&target, &columns), "fid INTEGER, geometry GEOMETRY, name TEXT, size INTEGER");
        assert_eq!(
            room.query(
                &target,
                &format!(
                    "SELECT group_concat(name || ' ' || coalesce(length(geometry), 'NULL'), ', ') FROM \"{layer}\""
                )
            ),
            "one 29, two 117, three NULL, four 70"
        );
        assert_eq!(
            room.query(&target, "SELECT srs_id || ' ' || max_x || ' ' || max_y FROM gpkg_contents"),
            "4326 9.0 9.0"
        );
    }
}

/// A copy of a GeoPackage keeps its R-Tree and its triggers, and is read as the first one is.
#[test]
fn a_geopackage_is_copied() {
    let room = Room::new();
    room.write("parcels.csv", WKT);
    room.done("load p.gpkg parcels.csv --geometry area --crs 25832 --null-value= --progress none");
    room.done("load copy.gpkg p.gpkg --progress none");
    assert_sound(&room, "copy.gpkg", "parcels", 5);
    for sql in [
        "SELECT group_concat(hex(area)) FROM parcels",
        "SELECT group_concat(id || minx) FROM rtree_parcels_area",
        "SELECT group_concat(sql, ';') FROM (SELECT sql FROM sqlite_schema ORDER BY name)",
        "SELECT min_x || max_y || last_change FROM gpkg_contents",
    ] {
        assert_eq!(room.query("copy.gpkg", sql), room.query("p.gpkg", sql), "{sql}");
    }
    let ended = room.run("load other.gpkg p.gpkg --geometry area --progress none");
    assert!(ended.code == Some(1) && ended.err.contains("layers are copied with their R-Trees"), "{ended:?}");
}

#[test]
fn wrong_geometries_are_told() {
    let room = Room::new();
    room.write("parcels.csv", WKT.replace("MULTIPOLYGON (((10", "MULTIPOLYGON (((ten"));
    let load = "load p.gpkg parcels.csv --null-value= --progress none";
    let ended = room.run(&format!("{load} --geometry area"));
    assert!(
        ended.err.contains("parcels.csv")
            && ended.err.contains("parcels.area: record 4")
            && ended.err.contains("no WKT"),
        "{ended:?}"
    );
    room.write(
        "parcels.csv",
        WKT.replace("2;none;", "2;none;SRID=4326;POINT (1 1)").replace(';', "\t").replace("SRID=4326\t", "SRID=4326;"),
    );
    let ended = room.run(&format!("{load} --geometry area --crs 25832"));
    assert!(ended.err.contains("the geometry is in EPSG:4326, and the layer in EPSG:25832"), "{ended:?}");
    for (options, why) in [
        ("--geometry shape", "has no column shape"),
        ("--geometry id,y", "has no column y"),
        ("--crs 4326", "--crs has no effect"),
        ("--geometry area --crs Gauss", "'Gauss' names no coordinate reference system"),
        ("--geometry area --strict", "--strict does not go with --geometry"),
        ("--geometry area --on-conflict ignore --primary-key id", "--on-conflict does not go with --geometry"),
        ("--geometry area --primary-key name", "not one column of integers"),
    ] {
        let ended = room.run(&format!("{load} {options}"));
        assert!(ended.code != Some(0) && ended.err.contains(why), "{options}: {ended:?}");
    }
    assert_eq!(room.files(), ["parcels.csv"]);
}

#[test]
fn a_plan_shows_the_layers() {
    let room = Room::new();
    room.write("parcels.csv", WKT);
    let plan = room.done("plan p.gpkg parcels.csv --geometry area --null-value=");
    assert!(plan.contains("rtree_parcels_area") && plan.contains("gpkg_contents"), "{plan}");
    assert!(!plan.contains("by SQLite"), "{plan}");
}
