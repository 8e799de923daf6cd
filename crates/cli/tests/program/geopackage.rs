//! GeoPackages by `litepress load --geometry`.

use crate::gdal::gdal;
use crate::{LITEPRESS, Room};

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
    room.done(&format!("check {file} --progress none"));
    if let Some(text) = gdal(room, "ogrinfo", &["-ro", "-so", file, layer]) {
        assert!(text.contains(&format!("Feature Count: {features}")), "{text}");
    }
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
        let told = room.done(&format!("load {target} {file} --geometry geometry --progress none"));
        // The summary named the columns that the reader makes of features: type, properties_name, geometry_coordinates.
        assert!(told.contains("geometry GEOMETRY, name TEXT, size INTEGER") && !told.contains("properties_"), "{told}");
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

/// Runs a script in the room's folder, and asserts success.
fn shell(room: &Room, script: &str) {
    let status = std::process::Command::new("sh").args(["-c", script]).current_dir(room.path("")).status();
    assert!(status.expect("a shell").success(), "{script}");
}

/// Compressed features were not known as such, and the beginning of a pipe was lost as they were looked for.
#[test]
fn features_may_be_compressed_and_come_from_a_pipe() {
    let room = Room::new();
    let feature =
        r#"{"type": "Feature", "properties": {"a": 1}, "geometry": {"type": "Point", "coordinates": [1, 2]}}"#;
    room.write("f.geojson", format!(r#"{{"type": "FeatureCollection", "features": [{feature}]}}"#));
    room.write("rows.ndjson", "{\"id\": 1, \"at\": \"POINT (1 2)\"}\n{\"id\": 2, \"at\": \"POINT (3 4)\"}\n");
    shell(&room, "gzip f.geojson");
    room.done("load f.gpkg f.geojson.gz --geometry geometry --progress none");
    assert_eq!(room.query("f.gpkg", "SELECT a, hex(geometry) LIKE '4750%' FROM f"), "1|1");
    shell(
        &room,
        &format!("cat rows.ndjson | {LITEPRESS} load r.gpkg /dev/stdin --table r --geometry at --crs 4326 -q"),
    );
    assert_eq!(room.query("r.gpkg", "SELECT group_concat(id) FROM r"), "1,2");
}

/// A file was known by the words in its first 64 KB, and not at all in a folder, an archive, a pattern of paths or a pipe:
/// `--geometry geometry` then said that there is no such column.
#[test]
fn features_are_known_wherever_they_stand() {
    let room = Room::new();
    // Keys in alphabetical order, and a first feature of more than 64 KB.
    let ring: Vec<String> = (0..9000).map(|x| format!("[{x}.5, {}]", x % 7)).chain(["[0.5, 0]".to_owned()]).collect();
    let polygon = format!(r#"{{"coordinates": [[{}]], "type": "Polygon"}}"#, ring.join(", "));
    let feature = |id: u32| {
        format!(r#"{{"geometry": {polygon}, "id": {id}, "properties": {{"a": {id}, "id": "x"}}, "type": "Feature"}}"#)
    };
    let (one, two) = (feature(1), feature(2));
    std::fs::create_dir(room.path("g")).expect("a folder");
    room.write("g/f.geojson", format!(r#"{{"features": [{one}, {two}], "type": "FeatureCollection"}}"#));
    room.write("lines.ndjson", format!("{one}\n{two}\n"));
    room.write("sequence.json", format!("\x1e{one}\n\x1e{two}\n"));
    room.write("array.json", format!("[{one},\n{two}]"));
    let columns = "SELECT group_concat(name || ' ' || type, ', ') FROM pragma_table_info('f')";
    for input in [
        "g/f.geojson",
        "g",
        "'g/*.geojson'",
        "lines.ndjson",
        "sequence.json",
        "array.json",
        "- < g/f.geojson",
        "- < lines.ndjson",
    ] {
        shell(&room, &format!("{LITEPRESS} load f.gpkg {input} --table f --geometry geometry --overwrite -q"));
        assert_eq!(
            room.query("f.gpkg", columns),
            "fid INTEGER, geometry POLYGON, id INTEGER, a INTEGER, properties_id TEXT",
            "{input}"
        );
        assert_sound(&room, "f.gpkg", "f", 2);
    }
}

/// One in six coordinates of GeoJSON became the double beside the nearest one, by a parser that does not round as it should.
#[test]
fn coordinates_of_geojson_are_the_nearest_doubles() {
    let room = Room::new();
    let points: Vec<(f64, f64)> =
        (0..500_u32).map(|row| (f64::from(row).sqrt() * 8.0 - 90.0, f64::from(row).ln_1p() * 7.0)).collect();
    let geometry = |(x, y): &(f64, f64)| format!(r#"{{"type": "Point", "coordinates": [{x}, {y}]}}"#);
    let feature =
        |point: &(f64, f64)| format!(r#"{{"type": "Feature", "properties": null, "geometry": {}}}"#, geometry(point));
    let lines = |line: &dyn Fn(&(f64, f64)) -> String| points.iter().map(line).collect::<Vec<_>>();
    room.write("features.ndjson", lines(&feature).join("\n"));
    let all = lines(&feature).join(",");
    room.write("all.geojson", format!(r#"{{"type": "FeatureCollection", "features": [{all}]}}"#));
    room.write(
        "rows.ndjson",
        lines(&|point: &(f64, f64)| format!(r#"{{"geometry": {}}}"#, geometry(point))).join("\n"),
    );
    let hex = |(x, y): &(f64, f64)| [x, y].map(|part| format!("{:016X}", part.to_bits().swap_bytes())).concat();
    let expected: Vec<String> = points.iter().map(hex).collect();
    for (file, layer) in [("features.ndjson", "features"), ("all.geojson", "all"), ("rows.ndjson", "rows")] {
        room.done(&format!("load {layer}.gpkg {file} --geometry geometry --progress none"));
        let sql = format!("SELECT hex(substr(geometry, -16)) FROM \"{layer}\" ORDER BY fid");
        let sqlite = room.sqlite(&format!("{layer}.gpkg"));
        let mut query = sqlite.prepare(&sql).unwrap();
        let found: Vec<String> = query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        assert!(found == expected, "{file}");
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

/// A layer said GEOMETRY of parcels that were polygons all, and programs offered no tools for polygons.
#[test]
fn the_type_that_all_geometries_have_is_declared() {
    let room = Room::new();
    for (name, shapes, expected) in [
        ("lines", &["LINESTRING (0 0, 1 1)", "LINESTRING EMPTY"][..], "LINESTRING 0 0"),
        ("high", &["POLYGON Z ((0 0 1, 1 1 1, 1 0 1, 0 0 1))"; 2], "POLYGON 1 0"),
        ("some", &["MULTIPOINT Z ((0 0 1))", "MULTIPOINT M ((0 0 1))", "MULTIPOINT ((0 0))"], "MULTIPOINT 2 2"),
        ("mixed", &["POLYGON ((0 0, 1 1, 1 0, 0 0))", "MULTIPOLYGON (((0 0, 1 1, 1 0, 0 0)))"], "GEOMETRY 0 0"),
        ("none", &["", ""], "GEOMETRY 0 0"),
    ] {
        room.write(&format!("{name}.csv"), format!("id;shape\n0;\n1;{}\n", shapes.join("\n1;")));
        let target = format!("{name}.gpkg");
        room.done(&format!("load {target} {name}.csv --geometry shape --null-value= --progress none"));
        let told = room.query(&target, "SELECT geometry_type_name || ' ' || z || ' ' || m FROM gpkg_geometry_columns");
        assert_eq!(told, expected, "{name}");
        let declared =
            room.query(&target, &format!("SELECT type FROM pragma_table_info('{name}') WHERE name = 'shape'"));
        assert_eq!(declared, expected.split(' ').next().unwrap(), "{name}");
        assert_sound(&room, &target, name, 1 + shapes.len() as u64);
    }
    // A circular string, which is of an extension: (0 0, 1 1, 2 0).
    let mut curve = String::from("010800000003000000");
    for number in [0.0_f64, 0.0, 1.0, 1.0, 2.0, 0.0] {
        curve += &number.to_bits().swap_bytes().to_be_bytes().map(|byte| format!("{byte:02x}")).concat();
    }
    room.write("curves.csv", format!("id,shape\n1,{curve}\n"));
    room.done("load curves.gpkg curves.csv --geometry shape --progress none");
    assert_eq!(
        room.query("curves.gpkg", "SELECT group_concat(extension_name || ' ' || scope, ', ') FROM gpkg_extensions"),
        "gpkg_rtree_index write-only, gpkg_geom_CIRCULARSTRING read-write"
    );
    assert_sound(&room, "curves.gpkg", "curves", 1);
}

/// One wrong geometry among many failed the load of everything.
/// One bad coordinate made texts of its column, and the first record was blamed for a good value.
#[test]
fn a_wrong_coordinate_is_told_and_no_other() {
    let room = Room::new();
    for (bad, why) in [
        ("1e400", "the value is no coordinate: it is beyond the largest double (value '1e400')"),
        ("3,5", "the value is no coordinate: it is not a number (value '3,5')"),
        ("nan", "the value is no coordinate: it is not a number (value 'nan')"),
    ] {
        room.write("xy.csv", format!("id;x;y\n1;1.5;2.5\n2;3;{bad}\n3;;1\n"));
        let load = "load xy.gpkg xy.csv --geometry x,y --overwrite --progress none";
        let ended = room.run(load);
        assert!(
            ended.code == Some(1) && ended.err.contains(&format!("xy.csv:3:1: xy.y: record 2: {why}")),
            "{ended:?}"
        );
        room.done(&format!("{load} --on-error null"));
        assert_eq!(
            room.query("xy.gpkg", "SELECT group_concat(hex(substr(geom, -8))), group_concat(y) FROM xy"),
            format!("0000000000000440,,|2.5,{bad},1")
        );
    }
}

#[test]
fn wrong_geometries_are_rejected() {
    let room = Room::new();
    let rows: String = (1..=9000)
        .map(|row| match row {
            // More than one part: rejects stand in the order of the records.
            4000 | 8999 => format!("{row}|wrong|POINT (here)\n"),
            4500 => format!("{row}|wrong|SRID=25833;POINT (1 1)\n"),
            5000 => format!("4999|twice|POINT ({row} 1)\n"),
            _ => format!("{row}|right|POINT ({row} 1)\n"),
        })
        .collect();
    room.write("places.csv", format!("id|name|shape\n{rows}"));
    let load = "places.csv --geometry shape --crs 25832 --primary-key id --delimiter | --progress none";
    let out = room.done(&format!("load p.gpkg {load} --on-error reject --rejects wrong.csv"));
    assert!(out.contains("8,996"), "{out}");
    assert_sound(&room, "p.gpkg", "places", 8996);
    let rejects = std::fs::read_to_string(room.path("wrong.csv")).unwrap();
    let lines: Vec<&str> = rejects.lines().collect();
    assert_eq!(lines.len(), 5, "{rejects}");
    assert!(
        lines[1].starts_with("places.csv,places,4000,4001,shape,'POINT (here)',") && lines[1].contains("no WKT"),
        "{rejects}"
    );
    assert!(lines[2].contains(",4500,4501,shape,") && lines[2].contains("the geometry is in EPSG:25833"), "{rejects}");
    assert!(lines[3].contains(",5000,5001,") && lines[3].contains("UNIQUE"), "{rejects}");
    assert!(lines[4].contains(",8999,9000,shape,") && lines[4].ends_with("8999|wrong|POINT (here)"), "{rejects}");
    let ended = room.run(&format!("load q.gpkg {load} --on-error reject --max-rejects 1"));
    assert!(ended.code == Some(1) && ended.err.contains("more than 1 wrong record"), "{ended:?}");
    assert!(ended.err.contains("record 4,500") || ended.err.contains("record 4500"), "{ended:?}");
    // NULL in place of the geometries alone: the second row of a key stays an error.
    room.write("places.csv", format!("id|name|shape\n{}", rows.replace("4999|twice", "5000|once")));
    let out = room.done(&format!("load n.gpkg {load} --on-error null"));
    assert!(out.contains("9,000"), "{out}");
    assert_sound(&room, "n.gpkg", "places", 9000);
    assert_eq!(room.query("n.gpkg", "SELECT group_concat(id) FROM places WHERE shape IS NULL"), "4000,4500,8999");
    assert_eq!(room.query("n.gpkg", "SELECT count(*) FROM rtree_places_shape"), "8997");
    // The first error has its line.
    let ended = room.run(&format!("load e.gpkg {load}"));
    assert!(ended.err.contains("places.csv:4001:1: places.shape: record 4000: "), "{ended:?}");
    assert!(ended.err.contains("--on-error reject, or store NULL with --on-error null"), "{ended:?}");
    let plan = room.run(&format!("plan e.gpkg {load}"));
    assert!((plan.out + &plan.err).contains("3 "), "a plan counts them");
    assert_eq!(room.files(), ["n.gpkg", "p.gpkg", "places.csv", "wrong.csv"]);
}

/// What followed a geometry was dropped without a word: two points became one. Valid texts were refused: heights without a Z, empty
/// parts, curves, and the hexadecimal digits of a geometry from another GeoPackage.
#[test]
fn a_text_is_one_whole_geometry() {
    let room = Room::new();
    for (text, rest) in [
        ("POINT (1 2) junk", "'junk'"),
        ("POINT (1 2), POINT (3 4)", "', POINT (3 4)'"),
        ("POINT (1 2)(3 4)", "'(3 4)'"),
        ("POINT EMPTY (1 2)", "'(1 2)'"),
    ] {
        room.write("w.csv", format!("n;g\n1;POINT (9 9)\n2;{text}\n"));
        let ended = room.run("load w.gpkg w.csv --geometry g --crs 4326 --progress none");
        let why =
            format!("w.csv:3:1: w.g: record 2: the value is no geometry: it is no WKT: {rest} follows the geometry");
        assert!(ended.code == Some(1) && ended.err.contains(&why), "{ended:?}");
    }
    room.write(
        "w.csv",
        "n;g\n1;POINT (1 2 3)\n2;POINT Z EMPTY\n3;MULTIPOINT (EMPTY, 2 2 2)\n4;CIRCULARSTRING (0 0 1, 1 1 1, 2 0 1)\n\
         5;47500001E610000001E9030000000000000000F03F00000000000000400000000000000840\n",
    );
    room.done("load w.gpkg w.csv --geometry g --crs 4326 --progress none");
    assert_sound(&room, "w.gpkg", "w", 5);
    let types = "SELECT group_concat(hex(substr(g, iif(hex(substr(g, 4, 1)) IN ('03'), 41, 9), 5)), ' ') FROM w";
    assert_eq!(room.query("w.gpkg", types), "01E9030000 01E9030000 01EC030000 01F0030000 01E9030000");
    assert_eq!(room.query("w.gpkg", "SELECT z || ' ' || m FROM gpkg_geometry_columns"), "1 0");
}

#[test]
fn undefined_reference_systems_are_told() {
    let room = Room::new();
    room.write("places.csv", "x,y\n1,2\n");
    for (options, note) in
        [("--crs 25832", "no file defines EPSG:25832"), ("", "nothing tells the reference system of the geometries")]
    {
        let out = room.run(&format!("load p.gpkg places.csv --geometry x,y {options} --overwrite --progress none"));
        assert!((out.out + &out.err).contains(note), "{options}");
    }
    let out = room.run("load p.gpkg places.csv --geometry x,y --crs 4326 --overwrite --progress none");
    assert!(!(out.out + &out.err).contains("reference system"));
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

/// Rows for a GeoPackage that exists failed with "no such function: ST_IsEmpty", and nothing said what helps.
#[test]
fn rows_that_need_functions_of_a_gis_program_are_explained() {
    let room = Room::new();
    room.write("a.csv", WKT);
    room.done("load a.gpkg a.csv --geometry area --crs EPSG:25832 --null-value= --primary-key id --progress none");
    room.write("a.csv", "id;name\n100;more\n");
    let ended = room.run("load a.gpkg a.csv --append --progress none");
    assert!(ended.code == Some(1) && ended.err.contains("no such function: ST_"), "{ended:?}");
    assert!(
        ended.err.contains("help: triggers of a GeoPackage") && ended.err.contains("without --append"),
        "{ended:?}"
    );
}

/// `load a.gpkg b.gpkg --replace-tables` replaced the list of layers by that of the other file: layer a was in the file, and no program
/// saw it. A layer whose table was replaced by another one kept its extent, its boxes and its triggers, and GDAL failed.
#[test]
fn tables_of_a_geopackage_are_not_replaced() {
    let room = Room::new();
    for name in ["a", "b"] {
        room.write(&format!("{name}.csv"), WKT);
        room.done(&format!("load {name}.gpkg {name}.csv --geometry area --crs 25832 --null-value= --progress none"));
    }
    room.sqlite("a.gpkg")
        .execute_batch(
            "CREATE TABLE list (x); INSERT INTO list VALUES (1); CREATE TABLE own (x);
             INSERT INTO gpkg_contents (table_name, data_type) VALUES ('List', 'attributes')",
        )
        .unwrap();
    room.write("new.csv", "x\n7\n");
    let before = std::fs::read(room.path("a.gpkg")).unwrap();
    for (files, why) in [
        ("b.gpkg", "gpkg_spatial_ref_sys describes the tables of a GeoPackage"),
        ("new.csv --table A", "a is a layer of a GeoPackage"),
        ("new.csv --table list", "list is a layer of a GeoPackage"),
        ("new.csv --table gpkg_extensions", "gpkg_extensions describes the tables of a GeoPackage"),
    ] {
        for command in ["load", "plan"] {
            let ended = room.run(&format!("{command} a.gpkg {files} --replace-tables"));
            let is_told = ended.err.contains(why) && ended.err.contains("help: make a new file");
            assert!(ended.code == Some(1) && is_told, "{files}: {ended:?}");
        }
    }
    assert!(std::fs::read(room.path("a.gpkg")).unwrap() == before);
    // The advice works.
    room.done("load a.gpkg new.csv --table list --append --truncate --progress none");
    assert_eq!(room.query("a.gpkg", "SELECT group_concat(x) FROM list"), "7");
    // Tables that the GeoPackage does not list, and files as a whole, are replaced as before.
    room.done("load a.gpkg new.csv --table own --replace-tables --progress none");
    assert_eq!(room.query("a.gpkg", "SELECT group_concat(x) FROM own"), "7");
    assert_sound(&room, "a.gpkg", "a", 5);
    room.done("load a.gpkg b.gpkg --overwrite --progress none");
    assert_sound(&room, "a.gpkg", "b", 5);
}

/// Returns a collection of one point with these members in front of its features and behind them.
fn collection(front: &str, behind: &str) -> String {
    let feature = r#"{"type":"Feature","properties":{"a":1},"geometry":{"type":"Point","coordinates":[5,6]}}"#;
    format!("{{\"type\":\"FeatureCollection\",{front}\"features\":[{feature}]{behind}}}")
}

fn crs_member(name: &str) -> String {
    format!(r#""crs": {{"type": "name", "properties": {{"name": "{name}"}}}}"#)
}

/// GDAL writes a member `crs` for every system other than WGS 84. The coordinates were stored as WGS 84 without a word.
#[test]
fn the_reference_system_of_geojson_is_kept() {
    let room = Room::new();
    let write = |front: &str, behind: &str| {
        let member = |name: &str| if name.is_empty() { String::new() } else { crs_member(name) };
        let (front, behind) = (member(front), member(behind));
        let (comma, other) = (if front.is_empty() { "" } else { "," }, if behind.is_empty() { "" } else { "," });
        room.write("f.geojson", collection(&(front + comma), &(other.to_owned() + &behind)));
    };
    let load = "load f.gpkg f.geojson --geometry geometry --overwrite --progress none";
    for (front, behind, options, expected) in [
        ("urn:ogc:def:crs:EPSG::25832", "", "", "25832"),
        ("EPSG:25832", "urn:ogc:def:crs:EPSG::25832", "", "25832"),
        ("urn:ogc:def:crs:OGC:1.3:CRS84", "", "", "4326"),
        ("", "EPSG:4326", "", "4326"),
        ("", "", "", "4326"),
        ("", "urn:ogc:def:crs:EPSG::25832", "--crs 25832", "25832"),
        ("a system of mine", "", "--crs 25832", "25832"),
    ] {
        write(front, behind);
        room.done(&format!("{load} {options}"));
        assert_eq!(room.query("f.gpkg", "SELECT srs_id FROM gpkg_contents"), expected, "{front} {behind}");
        assert_sound(&room, "f.gpkg", "f", 1);
    }
    for (front, behind, why) in [
        (
            "urn:ogc:def:crs:ESRI::102100",
            "",
            "names no known coordinate reference system: urn:ogc:def:crs:ESRI::102100",
        ),
        ("", "EPSG:25832", "behind the features says EPSG:25832, and their coordinates were taken for EPSG:4326"),
        (
            "EPSG:3857",
            "EPSG:25832",
            "behind the features says EPSG:25832, and their coordinates were taken for EPSG:3857",
        ),
    ] {
        write(front, behind);
        for command in [load, "plan f.gpkg f.geojson --geometry geometry"] {
            let ended = room.run(command);
            let is_told = ended.err.contains(why) && ended.err.contains("--crs EPSG:NUMBER");
            assert!(ended.code == Some(1) && is_told && ended.err.contains("f.geojson"), "{ended:?}");
        }
    }
}

/// `--crs` over a file that says another system was taken without a word. Two systems in one table were told by their definitions, 3 kB.
#[test]
fn other_reference_systems_of_files_are_told() {
    let room = Room::new();
    let wkt = "PROJCS[\\\"Gauss\\\",GEOGCS[\\\"DHDN\\\"],UNIT[\\\"metre\\\",1]]";
    for (name, crs) in [("a", "urn:ogc:def:crs:EPSG::25832"), ("b", "EPSG:25832"), ("c", "EPSG:3857"), ("d", wkt)] {
        room.write(&format!("{name}.geojson"), collection(&(crs_member(crs) + ","), ""));
    }
    let note = "a: the file says that its geometries are in EPSG:25832; --crs EPSG:4326 was taken";
    for (crs, is_other) in [("EPSG:4326", true), ("25832", false)] {
        let load = format!("load a.gpkg a.geojson --geometry geometry --crs {crs} --overwrite --progress none");
        let ended = room.run(&load);
        assert_eq!((ended.out + &ended.err).contains(note), is_other, "{crs}");
    }
    room.write("e.geojson", collection("", ""));
    room.write("f.geojson", collection(&(crs_member("urn:ogc:def:crs:OGC:1.3:CRS84") + ","), ""));
    // Two names of one system are no difference.
    room.done("load v.gpkg e.geojson f.geojson --table t --geometry geometry --progress none");
    room.done("load t.gpkg a.geojson b.geojson --table t --geometry geometry --progress none");
    for (file, name) in [("c", "EPSG:3857"), ("d", "Gauss"), ("e", "EPSG:4326")] {
        let ended =
            room.run(&format!("load u.gpkg a.geojson {file}.geojson --table t --geometry geometry --progress none"));
        let why =
            format!("in another coordinate reference system ({name}) than those of the files before (EPSG:25832)");
        assert!(ended.code == Some(1) && ended.err.contains(&why), "{ended:?}");
    }
}

/// The column of a property is `a`, and options knew only `properties_a`, or nothing: `--index a` failed with "no such column".
#[test]
fn options_name_properties_as_the_table_does() {
    let room = Room::new();
    let feature = |id: u32| {
        format!(
            r#"{{"type":"Feature","id":"n{id}","properties":{{"a":{id},"id":{id},"type":"x"}},"geometry":{{"type":"Point","coordinates":[{id},6]}}}}"#
        )
    };
    let features = [1, 2, 3].map(feature).join(",");
    room.write("f.geojson", format!(r#"{{"type":"FeatureCollection","features":[{features}]}}"#));
    let columns = "SELECT group_concat(name || ' ' || type || ' ' || pk, ', ') FROM pragma_table_info('f')";
    let usual = "fid INTEGER 1, geometry POINT 0, id TEXT 0, a INTEGER 0, properties_id INTEGER 0, type TEXT 0";
    for (options, expected) in [
        ("", usual),
        ("--index a --unique a --not-null a", usual),
        ("--index properties_id", usual),
        ("--type a=TEXT --select a,geometry", "fid INTEGER 1, geometry POINT 0, a TEXT 0"),
        ("--primary-key a --select geometry,a", "geometry POINT 0, a INTEGER 1"),
        ("--map a=z --select a,geometry --index z", "fid INTEGER 1, geometry POINT 0, z INTEGER 0"),
    ] {
        room.done(&format!("load f.gpkg f.geojson --geometry geometry {options} --overwrite --progress none"));
        assert_eq!(room.query("f.gpkg", columns), expected, "{options}");
        assert_sound(&room, "f.gpkg", "f", 3);
    }
    room.done("load f.gpkg f.geojson --geometry shape --map geometry=shape --overwrite --progress none");
    assert_eq!(room.query("f.gpkg", "SELECT max_x || ' ' || srs_id FROM gpkg_contents"), "3.0 4326");
    let ended = room.run("load f.gpkg f.geojson --geometry geometry --index b --overwrite");
    assert!(ended.code != Some(0) && !ended.err.contains("properties_a"), "{ended:?}");
}
