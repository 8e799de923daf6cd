//! GeoJSON files: features with properties and a geometry, read as JSON whose properties become columns.
//!
//! ```text
//! {"type": "FeatureCollection", "features": [                        RFC 7946
//!   {"type": "Feature", "properties": {"a": 1}, "geometry": {...}},  or such a feature a line
//! ```

use super::layer::GeometryOrigin;
use crate::{FileFormat, LoadOptions};
use litepress_load::input::Input;
use litepress_load::options::{Features, ReadOptions};
use litepress_rows::Table;
use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};

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
    let read =
        ReadOptions { encoding: options.encoding.clone(), path_guard: options.path_guard, ..ReadOptions::default() };
    let heads: Vec<String> = files.iter().map(|file| head(file, &read)).collect::<Option<_>>()?;
    let mut adapted = options.clone().flatten(true);
    let members = heads.iter().flat_map(|head| members_of_features(head)).collect();
    adapted.features = Some(Features { members, has_crs: options.crs.is_some() });
    if !heads.is_empty() && heads.iter().all(|head| head.contains("\"FeatureCollection\"")) {
        return Some(adapted.json_path("features"));
    }
    let is_feature =
        |head: &String| head.starts_with('{') && head.contains("\"Feature\"") && head.contains("\"geometry\"");
    (!heads.is_empty() && heads.iter().all(is_feature)).then_some(adapted)
}

/// Returns the names of members of the features in the beginning of a file, but for those that every feature has.
fn members_of_features(head: &str) -> BTreeSet<String> {
    let behind_key = head.split_once("\"features\"").map_or(head, |(_, rest)| rest);
    let mut text = behind_key.trim_start_matches(|letter| letter != '{');
    let mut found = BTreeSet::new();
    while text.starts_with('{') {
        text = add_members(text, &mut found).trim_start_matches(|letter: char| letter == ',' || letter.is_whitespace());
    }
    for usual in ["type", "properties", "geometry", "crs"] {
        found.remove(usual);
    }
    found
}

/// Adds the names of the members of the object that `text` begins with. Returns the text behind it. Both end where `text` is cut off.
fn add_members<'t>(text: &'t str, found: &mut BTreeSet<String>) -> &'t str {
    let (mut depth, mut at) = (0_u32, 0);
    let bytes = text.as_bytes();
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            b'"' => {
                let len = string_len(&bytes[at..]);
                let string = &text[at..at + len];
                at += len;
                if depth == 1 && text[at..].trim_start().starts_with(':') {
                    found.extend(serde_json::from_str::<String>(string));
                }
                continue;
            }
            _ => {}
        }
        at += 1;
        if depth == 0 {
            break;
        }
    }
    &text[at..]
}

/// Returns the length of the string that `text` begins with, or that of the text if it is cut off.
fn string_len(text: &[u8]) -> usize {
    let mut at = 1;
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    text.len()
}

/// Returns the beginning of a file as text. Returns `None` for what is no file: it could not be read again.
fn head(file: &Path, options: &ReadOptions) -> Option<String> {
    if !std::fs::metadata(file).ok()?.is_file() {
        return None;
    }
    let text = Input::from_path(file, options).ok()?.text(options).ok()?;
    let mut bytes = Vec::new();
    text.take(HEAD_BYTES).read_to_end(&mut bytes).ok()?;
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
