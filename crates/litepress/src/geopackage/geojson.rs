//! GeoJSON files: features with properties and a geometry, read as JSON whose properties become columns.
//!
//! ```text
//! {"type": "FeatureCollection", "features": [                        RFC 7946
//!   {"type": "Feature", "properties": {"a": 1}, "geometry": {...}},  or such a feature a line
//! ```

use super::layer::GeometryOrigin;
use crate::LoadOptions;
use litepress_load::input::Input;
use litepress_load::json;
use litepress_load::options::{JsonOptions, ReadOptions};
use litepress_rows::Table;

/// The prefix of columns of properties.
const PROPERTIES: &str = "properties_";

/// Returns how the files are read if they are GeoJSON and geometries are wanted. Returns `None` if not, or if other options say how
/// they become rows.
pub(crate) fn options_of_features(options: &LoadOptions, inputs: &[Input], read: &ReadOptions) -> Option<JsonOptions> {
    if options.geometry.is_none() || options.json_path.is_some() || options.flatten {
        return None;
    }
    json::options_of_features(inputs, read, options.crs.is_some())
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
