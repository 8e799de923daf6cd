//! Recognizes files of GeoJSON (RFC 7946, RFC 8142) by their beginnings.
//!
//! ```text
//! {"type": "FeatureCollection", "features": [{"type": "Feature", ...}, ...]}     a collection
//! {"type": "Feature", "properties": {...}, "geometry": {...}}                    a feature a line, or an array of them
//! ```
//!
//! Members have no order: `type` may stand behind all coordinates of a country.

use super::features::{CRS, GEOMETRY, PROPERTIES, TYPE};
use super::frame::is_gap;
use crate::input::{Input, Notes};
use crate::options::{Features, Format, JsonOptions, ReadOptions};
use jiter::{Jiter, JiterResult, Peek};
use std::collections::BTreeSet;
use std::io::Read;
use std::sync::Arc;

/// The member with the features of a collection.
const FEATURES: &str = "features";

/// Number of bytes that are looked at first. The next look is at four times as many.
const FIRST_BYTES: usize = 64 << 10;

/// Number of bytes that are looked at if no feature ends before.
const MOST_BYTES: usize = 16 << 20;

/// Returns how these files are read as features. Returns `None` if not all of them are GeoJSON of the same form. Nothing of a pipe is
/// lost. `has_crs` says that the caller knows the reference system.
pub fn options_of_features(inputs: &[Input], options: &ReadOptions, has_crs: bool) -> Option<JsonOptions> {
    let read = ReadOptions { bytes_read: Arc::default(), notes: Notes::default(), ..options.clone() };
    let beginnings: Vec<Beginning> = inputs.iter().map(|input| Beginning::of(input, &read)).collect::<Option<_>>()?;
    let is_collection = beginnings.first()?.is_collection;
    if beginnings.iter().any(|beginning| !beginning.is_geojson || beginning.is_collection != is_collection) {
        return None;
    }
    let members: BTreeSet<String> = beginnings.into_iter().flat_map(|beginning| beginning.members).collect();
    Some(JsonOptions {
        path: if is_collection { vec![FEATURES.to_owned()] } else { Vec::new() },
        flatten: true,
        features: Some(Features { members: members.into_iter().collect(), has_crs }),
        ..options.json.clone()
    })
}

/// What the beginning of a file tells.
#[derive(Debug, Default)]
struct Beginning {
    is_geojson: bool,
    is_collection: bool,
    /// Names of the members that features have, but for those that all have.
    members: BTreeSet<String>,
    /// Number of records that were read to their end.
    records: usize,
}

impl Beginning {
    /// Reads the beginning of a file. Returns `None` if it is not JSON. Errors are left to the load.
    fn of(input: &Input, options: &ReadOptions) -> Option<Self> {
        if input.format != Format::Json {
            return None;
        }
        let mut text = input.beginning(MOST_BYTES as u64).ok()?.text(options).ok()?;
        let (mut bytes, mut most) = (Vec::new(), FIRST_BYTES);
        loop {
            let read = (&mut text).take((most - bytes.len()) as u64).read_to_end(&mut bytes);
            let found = Self::of_text(&bytes);
            let is_end = read.is_err() || bytes.len() < most || most >= MOST_BYTES;
            if found.records > 0 || is_end {
                return Some(found);
            }
            most *= 4;
        }
    }

    /// Reads text that may be cut off.
    fn of_text(mut text: &[u8]) -> Self {
        let mut found = Self::default();
        loop {
            let gap = text.iter().take_while(|&&byte| is_gap(byte)).count();
            text = &text[gap..];
            let mut json = Jiter::new(text);
            let read = match text.first() {
                Some(b'[') => found.read_array(&mut json),
                Some(b'{') => found.read_object(&mut json, true),
                _ => return found,
            };
            if read.is_err() {
                return found;
            }
            text = &text[json.current_index()..];
        }
    }

    fn read_array(&mut self, json: &mut Jiter<'_>) -> JiterResult<()> {
        let mut item = json.next_array()?;
        while let Some(first) = item {
            if first == Peek::Object {
                self.read_object(json, false)?;
            } else {
                json.known_skip(first)?;
            }
            item = json.array_step()?;
        }
        Ok(())
    }

    /// Reads a feature, or a collection, which is within no other value.
    fn read_object(&mut self, json: &mut Jiter<'_>, may_be_collection: bool) -> JiterResult<()> {
        let is_first = self.records == 0;
        let (mut members, mut is_collection) = (BTreeSet::new(), false);
        let mut next = json.next_object()?.map(str::to_owned);
        while let Some(name) = next {
            match (&*name, json.peek()?) {
                (FEATURES, Peek::Array) if may_be_collection => {
                    is_collection = true;
                    self.is_collection |= is_first;
                    self.read_array(json)?;
                }
                (TYPE, Peek::String) => {
                    let kind = json.known_str()?;
                    let of_collection = may_be_collection && kind == "FeatureCollection";
                    self.is_geojson |= is_first && (of_collection || kind == "Feature");
                    self.is_collection |= is_first && of_collection;
                    is_collection |= of_collection;
                }
                (_, first) => {
                    json.known_skip(first)?;
                    members.insert(name);
                }
            }
            next = json.next_key()?.map(str::to_owned);
        }
        self.records += 1;
        if !is_collection {
            let usual = [TYPE, PROPERTIES, GEOMETRY, CRS];
            self.members.extend(members.into_iter().filter(|name| !usual.contains(&name.as_str())));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn beginning(text: &str) -> (bool, bool, String) {
        let found = Beginning::of_text(text.as_bytes());
        let members: Vec<String> = found.members.into_iter().collect();
        (found.is_geojson, found.is_collection, members.join(","))
    }

    #[test]
    fn members_have_no_order() {
        let feature = r#"{"geometry": {"type": "Point", "coordinates": [1, 2]}, "id": 1, "type": "Feature"}"#;
        let collection = format!(r#"{{"features": [{feature}, {feature}], "name": "n", "type": "FeatureCollection"}}"#);
        assert_eq!(beginning(&collection), (true, true, "id".to_owned()));
        assert_eq!(beginning(&format!("{feature}\n{feature}")), (true, false, "id".to_owned()));
        assert_eq!(beginning(&format!("\x1e{feature}\n\x1e{feature}")), (true, false, "id".to_owned()));
        assert_eq!(beginning(&format!("[{feature},{feature}]")), (true, false, "id".to_owned()));
        let (text, _) = collection.split_at(collection.find("name").expect("a name"));
        assert_eq!(beginning(text), (true, true, "id".to_owned()));
        assert_eq!(beginning(r#"{"type": "FeatureCollection", "id": 1, "features": []}"#), (true, true, String::new()));
    }

    #[test]
    fn rows_are_no_features() {
        for text in [
            "",
            "1",
            "[1, 2",
            r#"{"geometry": {"type": "Point", "coordinates": [1, 2]}}"#,
            r#"{"type": "Topology", "objects": {}}"#,
            r#"{"a": {"type": "Feature"}}"#,
            r#"{"a": 1} {"type": "Feature"}"#,
            r#"{"features": [{"attributes": {}, "geometry": {"x": 1, "y": 2}}]}"#,
        ] {
            assert!(!beginning(text).0, "{text}");
        }
    }
}
