//! FlatGeobuf, written by the `flatgeobuf` crate.

use crate::rows::{read, read_bytes, read_forms};
use flatgeobuf::{ColumnType, FgbCrs, FgbWriter, FgbWriterOptions, GeometryType};
use geozero::geojson::GeoJson;
use geozero::{ColumnValue, PropertyProcessor};
use litepress_load::input::Input;
use litepress_load::options::{Format, ReadOptions};
use litepress_load::plan::{LoadPlan, LoadRequest};

/// Returns a file of points, whose properties are of every type. Every fifth feature has none.
fn points(count: u32, has_index: bool) -> Vec<u8> {
    let crs = FgbCrs { code: 25_832, ..FgbCrs::default() };
    let options = FgbWriterOptions { write_index: has_index, crs, ..FgbWriterOptions::default() };
    let mut writer = FgbWriter::create_with_options("points", GeometryType::Point, options).unwrap();
    for (name, kind) in [
        ("number", ColumnType::Int),
        ("large", ColumnType::ULong),
        ("is_even", ColumnType::Bool),
        ("half", ColumnType::Float),
        ("third", ColumnType::Double),
        ("name", ColumnType::String),
        ("more", ColumnType::Json),
        ("at", ColumnType::DateTime),
        ("bytes", ColumnType::Binary),
        ("Name", ColumnType::Byte),
    ] {
        writer.add_column(name, kind, |_, _| {});
    }
    for number in 0..count {
        let text = format!(r#"{{"type": "Point", "coordinates": [{number}, 2]}}"#);
        let added = writer.add_feature_geom(GeoJson(&text), |feature| {
            if number % 5 == 4 {
                return;
            }
            let name = format!("n{number}");
            let signed = i32::try_from(number).unwrap();
            for (at, value) in [
                ColumnValue::Int(-signed),
                ColumnValue::ULong(number.into()),
                ColumnValue::Bool(number % 2 == 0),
                ColumnValue::Float(0.5),
                ColumnValue::Double(f64::from(number) / 4.0),
                ColumnValue::String(&name),
                ColumnValue::Json("{\"a\": [1]}"),
                ColumnValue::DateTime("2024-05-17T08:30:00Z"),
                ColumnValue::Binary(b"\x01\xff"),
                ColumnValue::Byte(-7),
            ]
            .iter()
            .enumerate()
            {
                feature.property(at, "", value).unwrap();
            }
        });
        added.unwrap();
    }
    let mut bytes = Vec::new();
    writer.write(&mut bytes).unwrap();
    bytes
}

/// A column of geometries that `--map` renames lost the reference system of its file.
#[test]
fn a_renamed_column_keeps_its_reference_system() {
    let file = tempfile::Builder::new().suffix(".fgb").tempfile().unwrap();
    std::fs::write(file.path(), points(3, false)).unwrap();
    let read = ReadOptions::default();
    let request = LoadRequest {
        inputs: Input::from_arguments(&[file.path().to_owned()], &read).unwrap(),
        map: vec![("geometry".to_owned(), "shape".to_owned()), ("Name".to_owned(), String::new())],
        threads: 1,
        read,
        ..LoadRequest::default()
    };
    let plan = LoadPlan::new(request, &|| Ok(())).unwrap();
    let crs = |column: &str| plan.crs(&plan.tables[0], column).unwrap();
    assert_eq!(crs("Shape").as_deref(), Some("EPSG:25832"));
    assert_eq!((crs("number"), crs("geometry")), (None, None));
}

#[test]
fn properties_of_every_type_become_columns() {
    let table = read(&points(6, false), Format::FlatGeobuf).unwrap();
    let expected = [
        "geometry BLOB (FlatGeobuf geometry)",
        "number INTEGER (FlatGeobuf Int)",
        "large INTEGER (FlatGeobuf ULong)",
        "is_even INTEGER (FlatGeobuf Bool)",
        "half REAL (FlatGeobuf Float)",
        "third REAL (FlatGeobuf Double)",
        "name TEXT (FlatGeobuf String)",
        "more TEXT (FlatGeobuf Json)",
        "at TEXT (FlatGeobuf DateTime)",
        "bytes BLOB (FlatGeobuf Binary)",
        "Name_2 INTEGER (FlatGeobuf Byte)",
    ];
    let types: Vec<&str> = table.columns.iter().filter_map(|column| column.split(':').next()).collect();
    assert_eq!(types, expected.map(|expected| expected.trim_end_matches(')')));
    let expected = [
        "blob 010100000000000000000008400000000000000040",
        "int -3",
        "int 3",
        "int 0",
        "real 0.5",
        "real 0.75",
        "text n3",
        "text {\"a\": [1]}",
        "text 2024-05-17T08:30:00Z",
        "blob 01ff",
        "int -7",
    ];
    assert_eq!(table.rows[3], expected);
    assert!(table.rows[4][0].starts_with("blob 01") && table.rows[4][1..].iter().all(|value| value == "null"));
}

/// Features are the same in pieces of every size, with and without an index in front of them.
#[test]
fn features_are_the_same_in_pieces() {
    let whole = read(&points(700, false), Format::FlatGeobuf).unwrap();
    assert_eq!(whole.rows.len(), 700);
    for piece_bytes in [1, 300, 5000, 1 << 20] {
        let options = ReadOptions { piece_bytes: Some(piece_bytes), ..ReadOptions::default() };
        let pieces = read_forms(&points(700, false), Format::FlatGeobuf, &options, &[]).unwrap();
        assert_eq!(pieces.rows, whole.rows, "{piece_bytes}");
    }
    let mut indexed = read(&points(700, true), Format::FlatGeobuf).unwrap().rows;
    let mut rows = whole.rows;
    indexed.sort();
    rows.sort();
    assert_eq!(indexed, rows);
}

#[test]
fn damaged_files_are_told() {
    let sound = points(50, true);
    let whole = points(50, false);
    // The features begin behind mark and header.
    let mut ends = vec![8];
    while *ends.last().unwrap() < whole.len() {
        let end = *ends.last().unwrap();
        let [a, b, c, d] = *whole[end..].first_chunk().unwrap();
        ends.push(end + 4 + (usize::from(a) | usize::from(b) << 8 | usize::from(c) << 16 | usize::from(d) << 24));
    }
    assert_eq!(ends.len(), 52);
    for (bytes, why) in [
        (&whole[..ends[31]], "the file says that it has 50 features, and it ends after 30"),
        (&sound[..sound.len() - 3], "the file ends before byte"),
        (&sound[..600], "the file ends"),
        (&sound[..9], "the file ends before byte 12"),
        (b"fgb\x09fgb\x01 and more", "no FlatGeobuf of version 3"),
    ] {
        let error = read_bytes(bytes, Format::FlatGeobuf).map(|table| table.rows.len()).unwrap_err().to_string();
        assert!(error.contains(why), "{why}: {error}");
    }
}
