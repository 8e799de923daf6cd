//! GeoJSON files: features with properties and a geometry, read as JSON whose objects become columns.
//!
//! ```text
//! {"type": "FeatureCollection", "features": [                        RFC 7946
//!   {"type": "Feature", "properties": {"a": 1}, "geometry": {...}},  or such a feature a line
//! ```

use super::layer::GeometryOrigin;
use crate::{FileFormat, LoadOptions};
use litepress_rows::Table;
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;

/// Bytes that tell a GeoJSON file.
const HEAD_BYTES: u64 = 64 << 10;

/// The prefix of columns of properties.
const PROPERTIES: &str = "properties_";

/// Returns options with which GeoJSON files are read as features. Returns `None` if the files are others, or no geometries are
/// wanted.
pub(crate) fn adapted(options: &LoadOptions, files: &[PathBuf]) -> Option<LoadOptions> {
    options.geometry.as_ref()?;
    let is_json = matches!(options.format, None | Some(FileFormat::Json | FileFormat::Ndjson));
    if !is_json || options.json_path.is_some() || options.flatten {
        return None;
    }
    let heads: Vec<String> = files.iter().map(head).collect::<Option<_>>()?;
    let adapted = options.clone().flatten(true);
    if !heads.is_empty() && heads.iter().all(|head| head.contains("\"FeatureCollection\"")) {
        return Some(adapted.json_path("features"));
    }
    let is_feature =
        |head: &String| head.starts_with('{') && head.contains("\"Feature\"") && head.contains("\"geometry\"");
    (!heads.is_empty() && heads.iter().all(is_feature)).then_some(adapted)
}

/// Returns the beginning of a file as text.
fn head(file: &PathBuf) -> Option<String> {
    let mut bytes = Vec::new();
    File::open(file).ok()?.take(HEAD_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).trim_start_matches('\u{feff}').trim_start().to_owned())
}

/// Returns the columns of a geometry whose keys became columns.
pub(super) fn flattened(table: &Table, geometry: &str) -> Option<GeometryOrigin> {
    let column = |key: &str| table.column(&format!("{geometry}_{key}"));
    let (kind, coordinates, geometries) = (column("type")?, column("coordinates"), column("geometries"));
    let whole = table.column(geometry);
    (coordinates.is_some() || geometries.is_some()).then_some(GeometryOrigin::Flattened {
        kind,
        coordinates,
        geometries,
        whole,
    })
}

/// Returns the name that a column of features has in a layer: properties lose their prefix, if nothing else has the name.
/// Returns `None` for columns that are the feature's frame.
pub(super) fn property(table: &Table, position: usize, geometry: &str) -> Option<String> {
    let name = &table.columns[position].name;
    let lower = name.to_ascii_lowercase();
    if lower == "type"
        || lower == geometry.to_ascii_lowercase()
        || lower.starts_with(&format!("{}_", geometry.to_ascii_lowercase()))
    {
        return None;
    }
    let Some(short) = name.strip_prefix(PROPERTIES).filter(|short| !short.is_empty()) else {
        return Some(name.clone());
    };
    let is_taken = short.eq_ignore_ascii_case(geometry)
        || table.column(short).is_some_and(|taken| !table.columns[taken].name.eq_ignore_ascii_case("type"));
    Some(if is_taken { name.clone() } else { short.to_owned() })
}
