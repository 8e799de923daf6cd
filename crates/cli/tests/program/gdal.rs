//! GDAL reads, compares and changes GeoPackages: `ogrinfo` and `ogr2ogr`, where they are installed.

use crate::Room;
use std::collections::BTreeMap;
use std::process::Command;

/// Harmless warnings: GDAL before 3.7 says the first of every GeoPackage of version 1.4, and the second of a table without geometries.
const HARMLESS: [&str; 2] = ["may only be partially supported", "No SRS set on layer"];

/// Runs a program of GDAL in the folder. Returns its output, or `None`, aloud, if it is not installed.
pub fn gdal(room: &Room, program: &str, arguments: &[&str]) -> Option<String> {
    let Ok(output) = Command::new(program).args(arguments).current_dir(room.path("")).output() else {
        println!("skipped: there is no {program} (Debian has it in gdal-bin)");
        return None;
    };
    let errors = String::from_utf8_lossy(&output.stderr);
    let is_harmless = |line: &str| line.is_empty() || HARMLESS.iter().any(|harmless| line.contains(harmless));
    let errors: Vec<&str> = errors.lines().filter(|line| !is_harmless(line)).collect();
    assert!(output.status.success() && errors.is_empty(), "{program} {arguments:?}: {output:?}");
    Some(String::from_utf8(output.stdout).expect("UTF-8"))
}

/// Returns the features of a layer as GDAL reads them, one JSON text a line.
fn features(room: &Room, file: &str, layer: &str) -> Option<Vec<serde_json::Value>> {
    let text = gdal(room, "ogr2ogr", &["-f", "GeoJSONSeq", "/vsistdout/", file, layer])?;
    Some(text.lines().map(crate::json).collect())
}

/// Asserts that GDAL finds the boxes of all geometries of a layer in its R-Tree.
fn assert_boxes(room: &Room, file: &str, layer: &str, key: &str, geometry: &str) {
    let wrong = format!(
        "SELECT count(*) AS wrong FROM \"{layer}\" AS f LEFT JOIN \"rtree_{layer}_{geometry}\" AS r ON r.id = f.\"{key}\"
         WHERE (f.\"{geometry}\" IS NULL OR ST_IsEmpty(f.\"{geometry}\")) = (r.id IS NOT NULL)
         OR NOT (r.minx <= ST_MinX(f.\"{geometry}\") AND r.maxx >= ST_MaxX(f.\"{geometry}\")
         AND r.miny <= ST_MinY(f.\"{geometry}\") AND r.maxy >= ST_MaxY(f.\"{geometry}\"))"
    );
    let Some(text) = gdal(room, "ogrinfo", &["-ro", "-q", file, "-sql", &wrong]) else { return };
    assert!(text.contains("wrong (Integer) = 0"), "{file}, {layer}: {text}");
}

#[test]
fn every_layer_has_the_features_and_boxes_of_its_file() {
    let room = Room::new();
    let shapes = [
        ("POINT (3 4)", r#"{"type":"Point","coordinates":[3.0,4.0]}"#),
        ("LINESTRING (1 2, 5 -3)", r#"{"type":"LineString","coordinates":[[1.0,2.0],[5.0,-3.0]]}"#),
        (
            "POLYGON ((0 0, 4 0, 4 3, 0 0), (1 0.5, 2 1, 2 0.5, 1 0.5))",
            r#"{"type":"Polygon","coordinates":[[[0.0,0.0],[4.0,0.0],[4.0,3.0],[0.0,0.0]],[[1.0,0.5],[2.0,1.0],[2.0,0.5],[1.0,0.5]]]}"#,
        ),
        ("MULTIPOINT ((7 8), (9 10))", r#"{"type":"MultiPoint","coordinates":[[7.0,8.0],[9.0,10.0]]}"#),
        ("", "null"),
        (
            "GEOMETRYCOLLECTION (POINT (1 1), LINESTRING (2 2, 3 3))",
            r#"{"type":"GeometryCollection","geometries":[{"type":"Point","coordinates":[1.0,1.0]},{"type":"LineString","coordinates":[[2.0,2.0],[3.0,3.0]]}]}"#,
        ),
    ];
    let rows = shapes.iter().enumerate().map(|(row, (wkt, _))| format!("n{row};{row}.5;{wkt}\n"));
    room.write("shapes.csv", "name;size;geometry\n".to_owned() + &rows.collect::<String>());
    let lines = shapes.iter().enumerate().map(|(row, (_, json))| {
        format!(
            "{{\"type\":\"Feature\",\"properties\":{{\"name\":\"n{row}\",\"size\":{row}.5}},\"geometry\":{json}}}\n"
        )
    });
    room.write("lines.ndjson", lines.collect::<String>());
    for (file, layer) in [("shapes.csv", "shapes"), ("lines.ndjson", "lines")] {
        let target = format!("{layer}.gpkg");
        room.done(&format!("load {target} {file} --geometry geometry --crs 4326 --null-value= --progress none"));
        let Some(found) = features(&room, &target, layer) else { return };
        assert_eq!(found.len(), shapes.len());
        for ((row, feature), (_, geometry)) in found.iter().enumerate().zip(&shapes) {
            assert_eq!(feature["geometry"], crate::json(geometry), "{layer}, {row}");
            assert_eq!(feature["properties"]["name"], format!("n{row}"), "{layer}");
            assert_eq!(feature["properties"]["size"].as_f64(), Some(row as f64 + 0.5), "{layer}");
        }
        assert_boxes(&room, &target, layer, "fid", "geometry");
        let info = gdal(&room, "ogrinfo", &["-ro", "-so", &target, layer]).unwrap();
        assert!(info.contains("Extent: (0.000000, -3.000000) - (9.000000, 10.000000)"), "{info}");
        assert!(info.contains("ID[\"EPSG\",4326]") && info.contains("FID Column = fid"), "{info}");
    }
}

/// Many polygons, in windows that GDAL asks the R-Tree for.
#[test]
fn windows_have_the_features_of_a_scan() {
    let room = Room::new();
    let square = |row: u32| {
        let (x, y) = (f64::from(row * 7919 % 1000) / 4.0, f64::from(row * 104_729 % 997) / 4.0);
        let (right, top) = (x + 0.3, y + 0.7);
        format!("{row};POLYGON (({x} {y}, {right} {y}, {right} {top}, {x} {top}, {x} {y}))\n")
    };
    room.write("parcels.csv", "id;shape\n".to_owned() + &(0..20_000).map(square).collect::<String>());
    room.done("load parcels.gpkg parcels.csv --geometry shape --primary-key id --crs 25832 --progress none");
    assert_boxes(&room, "parcels.gpkg", "parcels", "id", "shape");
    let count = |from: &str, window: &[&str]| {
        let sql = format!("SELECT count(*) AS found FROM {from}");
        let arguments = [&["-ro", "-q", "parcels.gpkg", "-sql", &sql][..], window].concat();
        let text = gdal(&room, "ogrinfo", &arguments)?;
        let found = text.lines().find_map(|line| line.trim().strip_prefix("found (Integer) = ")?.parse::<u32>().ok());
        Some(found.expect(&text))
    };
    for [x, y] in [[10, 10], [100, 30], [200, 240]] {
        let (right, top) = (x + 20, y + 15);
        let scan = format!(
            "parcels WHERE ST_MaxX(shape) >= {x} AND ST_MinX(shape) <= {right} AND ST_MaxY(shape) >= {y} AND ST_MinY(shape) <= {top}"
        );
        let Some(expected) = count(&scan, &[]) else { return };
        let window = [x, y, right, top].map(|edge| edge.to_string());
        let mut arguments = vec!["-ro", "-so", "parcels.gpkg", "parcels", "-spat"];
        arguments.extend(window.iter().map(String::as_str));
        let text = gdal(&room, "ogrinfo", &arguments).unwrap();
        assert!(expected > 50 && text.contains(&format!("Feature Count: {expected}")), "{expected}: {text}");
    }
    assert!(gdal(&room, "ogrinfo", &["-ro", "-so", "parcels.gpkg", "parcels"]).unwrap().contains("Geometry: Polygon"));
}

/// The triggers keep index and number of features while GDAL appends, changes and deletes.
#[test]
fn gdal_changes_a_layer() {
    let room = Room::new();
    room.write("places.csv", "name,x,y\na,1,2\nb,3,4\n");
    room.done("load places.gpkg places.csv --geometry x,y --crs 4326 --progress none");
    room.write(
        "more.geojson",
        r#"{"type": "FeatureCollection", "features": [{"type": "Feature", "properties": {"name": "c"},
            "geometry": {"type": "Point", "coordinates": [50.0, 60.0]}}]}"#,
    );
    let append = ["-append", "places.gpkg", "more.geojson", "-nln", "places"];
    if gdal(&room, "ogr2ogr", &append).is_none() {
        return;
    }
    gdal(&room, "ogrinfo", &["places.gpkg", "-q", "-sql", "DELETE FROM places WHERE name = 'a'"]);
    let info = gdal(&room, "ogrinfo", &["-ro", "-so", "places.gpkg", "places"]).unwrap();
    assert!(
        info.contains("Feature Count: 2") && info.contains("Extent: (1.000000, 2.000000) - (50.000000, 60.000000)"),
        "{info}"
    );
    assert_boxes(&room, "places.gpkg", "places", "fid", "geom");
    assert_eq!(room.query("places.gpkg", "SELECT rtreecheck('rtree_places_geom')"), "ok");
    room.done("check places.gpkg --progress none");
}

/// FlatGeobuf files of GDAL, which puts features in the order of its index, and a reference system into their header.
#[test]
fn flatgeobuf_of_gdal_is_loaded() {
    let room = Room::new();
    let feature = |row: u32| {
        let (x, y) = (row * 7919 % 500, row * 104_729 % 500);
        let (right, top) = (x + 3, y + 2);
        format!(
            r#"{{"type":"Feature","properties":{{"name":"n{row}","size":{row}.5,"n":{row}}},"geometry":{{"type":"Polygon","coordinates":[[[{x},{y}],[{right},{y}],[{right},{top}],[{x},{y}]]]}}}}"#
        )
    };
    let rows: Vec<String> = (0..3000).map(feature).collect();
    room.write("parcels.geojson", format!(r#"{{"type":"FeatureCollection","features":[{}]}}"#, rows.join(",")));
    for (file, options) in [("indexed.fgb", &[][..]), ("plain.fgb", &["-lco", "SPATIAL_INDEX=NO"])] {
        let arguments = [&["-f", "FlatGeobuf", file, "parcels.geojson", "-a_srs", "EPSG:25832"][..], options].concat();
        if gdal(&room, "ogr2ogr", &arguments).is_none() {
            return;
        }
        let layer = file.trim_end_matches(".fgb");
        let target = format!("{layer}.gpkg");
        room.done(&format!("load {target} {file} --geometry geometry --progress none"));
        let info = gdal(&room, "ogrinfo", &["-ro", "-so", &target, layer]).unwrap();
        for part in ["Geometry: Polygon", "Feature Count: 3000", "ID[\"EPSG\",25832]"] {
            assert!(info.contains(part), "{part}: {info}");
        }
        let rows = |file: &str| {
            // GDAL's own SQL returns the geometry of a FlatGeobuf unasked.
            let (columns, table) = if file.ends_with(".fgb") { ("", "parcels") } else { ("geometry, ", layer) };
            let sql = format!("SELECT {columns}name, size, n FROM {table} ORDER BY n");
            let text =
                gdal(&room, "ogr2ogr", &["-f", "CSV", "/vsistdout/", file, "-sql", &sql, "-lco", "GEOMETRY=AS_WKT"]);
            text.unwrap().lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
        };
        let (found, expected) = (rows(&target), rows(file));
        assert!(found == expected, "{file}: {:?}, not {:?}", &found[..3], &expected[..3]);
        assert_boxes(&room, &target, layer, "fid", "geometry");
        let defined = room
            .query(&target, "SELECT definition_12_063 LIKE 'PROJCRS[%' FROM gpkg_spatial_ref_sys WHERE srs_id = 25832");
        assert_eq!(defined, "1", "the file's own definition is kept");
    }
    // Without --geometry a table with WKB.
    room.done("load plain.db plain.fgb --progress none");
    assert_eq!(
        room.query("plain.db", "SELECT count(*), typeof(geometry), count(DISTINCT name) FROM plain"),
        "3000|blob|3000"
    );
}

/// A GeoPackage that GDAL made is copied, with several layers, its R-Trees and triggers, and a table without geometries.
#[test]
fn a_geopackage_of_gdal_is_copied() {
    let room = Room::new();
    let feature = |row: i32| {
        format!(
            r#"{{"type":"Feature","properties":{{"name":"n{row}","n":{row}}},"geometry":{{"type":"LineString","coordinates":[[{row},1.5],[{},7]]}}}}"#,
            row + 3
        )
    };
    let rows: Vec<String> = (0..300).map(feature).collect();
    room.write("roads.geojson", format!(r#"{{"type":"FeatureCollection","features":[{}]}}"#, rows.join(",")));
    room.write("notes.csv", "id,text\n1,one\n2,two\n");
    for arguments in [
        &["-f", "GPKG", "made.gpkg", "roads.geojson"][..],
        &["-update", "made.gpkg", "roads.geojson", "-nln", "other", "-where", "n < 7"],
        &["-update", "made.gpkg", "notes.csv"],
    ] {
        if gdal(&room, "ogr2ogr", arguments).is_none() {
            return;
        }
    }
    room.done("load copy.gpkg made.gpkg --progress none");
    let layers: BTreeMap<&str, u64> = [("roads", 300), ("other", 7), ("notes", 2)].into();
    for (layer, count) in layers {
        let (made, copied) =
            (features(&room, "made.gpkg", layer).unwrap(), features(&room, "copy.gpkg", layer).unwrap());
        assert_eq!(copied.len() as u64, count, "{layer}");
        assert_eq!(copied, made, "{layer}");
        let info = |file| gdal(&room, "ogrinfo", &["-ro", "-so", file, layer]).unwrap().replace(file, "");
        assert_eq!(info("copy.gpkg"), info("made.gpkg"));
    }
    for layer in ["roads", "other"] {
        assert_boxes(&room, "copy.gpkg", layer, "fid", "geom");
        assert_eq!(room.query("copy.gpkg", &format!("SELECT rtreecheck('rtree_{layer}_geom')")), "ok");
    }
    room.done("check copy.gpkg --progress none");
    let triggers = "SELECT count(*), group_concat(sql, ';') FROM (SELECT sql FROM sqlite_schema WHERE type = 'trigger' ORDER BY name)";
    assert_eq!(room.query("copy.gpkg", triggers), room.query("made.gpkg", triggers));
}
