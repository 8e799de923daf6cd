//! Reference systems as files give them: a name, PROJJSON, or well-known text.

use crate::{Srs, projjson};
use serde_json::Value;

/// Keywords of well-known text of the first version (OGC 01-009).
const FIRST_WKT: [&str; 6] = ["GEOGCS", "PROJCS", "GEOCCS", "COMPD_CS", "VERT_CS", "LOCAL_CS"];

/// Keywords of the second version (ISO 19162).
const SECOND_WKT: [&str; 13] = [
    "GEOGCRS",
    "GEOGRAPHICCRS",
    "GEODCRS",
    "GEODETICCRS",
    "PROJCRS",
    "PROJECTEDCRS",
    "COMPOUNDCRS",
    "BOUNDCRS",
    "VERTCRS",
    "VERTICALCRS",
    "ENGCRS",
    "ENGINEERINGCRS",
    "DERIVEDPROJCRS",
];

/// A reference system as a file gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Crs {
    /// The system of the EPSG register, if it is one.
    pub srs: Option<Srs>,
    /// The name, if the file defines the system.
    pub name: Option<String>,
    /// The definition, if the file has one that GeoPackage can hold.
    pub definition: Option<Definition>,
}

/// The definition of a reference system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Definition {
    /// Well-known text of the first version (OGC 01-009), which GeoPackage wants.
    Wkt1(String),
    /// Well-known text of the second version (ISO 19162), for which GeoPackage has an extension.
    Wkt2(String),
}

impl Crs {
    /// Returns a system that is known by its number alone.
    #[must_use]
    pub const fn of_number(srs: Srs) -> Self {
        Self { srs: Some(srs), name: None, definition: None }
    }

    /// Reads a name that [`Srs::parse`] knows, PROJJSON, or well-known text. Other texts give a system without number and
    /// definition.
    #[must_use]
    pub fn of_text(text: &str) -> Self {
        if let Ok(srs) = Srs::parse(text) {
            return Self::of_number(srs);
        }
        match serde_json::from_str(text) {
            Ok(json) => Self::of_json(&json),
            Err(_) => Self::of_wkt(text.trim()),
        }
    }

    /// Returns a short name of a system for messages: its number, its name, or the beginning of `text`, which [`of_text`](Self::of_text)
    /// has read.
    #[must_use]
    pub fn short_name(&self, text: &str) -> String {
        const SHOWN: usize = 80;
        let named = self.srs.map(|srs| srs.to_string()).or_else(|| self.name.clone());
        let name = named.unwrap_or_else(|| text.trim().to_owned());
        match name.char_indices().nth(SHOWN) {
            Some((end, _)) => format!("{}...", &name[..end]),
            None => name,
        }
    }

    fn of_json(json: &Value) -> Self {
        Self {
            srs: Srs::of_json(json),
            name: json.get("name").and_then(Value::as_str).map(str::to_owned),
            definition: projjson::to_wkt(json).map(Definition::Wkt2),
        }
    }

    fn of_wkt(text: &str) -> Self {
        let keyword = text.split(['[', '(']).next().unwrap_or_default().trim().to_ascii_uppercase();
        let definition = if FIRST_WKT.contains(&&*keyword) {
            Definition::Wkt1(text.to_owned())
        } else if SECOND_WKT.contains(&&*keyword) {
            Definition::Wkt2(text.to_owned())
        } else {
            return Self { srs: None, name: None, definition: None };
        };
        let name = text.split('"').nth(1).map(str::to_owned);
        Self { srs: number_of_wkt(text), name, definition: Some(definition) }
    }
}

/// Returns the system that the last `ID` or `AUTHORITY` of a text names, if it belongs to the whole.
fn number_of_wkt(text: &str) -> Option<Srs> {
    let upper = text.to_ascii_uppercase();
    let start = ["AUTHORITY[", "ID["].into_iter().filter_map(|word| Some(upper.rfind(word)? + word.len())).max()?;
    let (id, rest) = upper[start..].split_once(']')?;
    // Further brackets would close an inner element.
    if rest.trim() != "]" {
        return None;
    }
    let (authority, code) = id.split_once(',')?;
    let unquoted = |text: &str| text.trim().trim_matches('"').to_owned();
    Srs::parse(&format!("{}:{}", unquoted(authority), unquoted(code))).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_texts_are_read() {
        assert_eq!(Crs::of_text("EPSG:25832"), Crs::of_number(Srs::epsg(25_832)));
        assert_eq!(Crs::of_text("the moon"), Crs { srs: None, name: None, definition: None });
        let first =
            r#"PROJCS["Gauss",GEOGCS["DHDN",AUTHORITY["EPSG","4314"]],UNIT["metre",1],AUTHORITY["EPSG","31467"]]"#;
        let read = Crs::of_text(first);
        assert_eq!((read.srs, read.name.as_deref()), (Some(Srs::epsg(31_467)), Some("Gauss")));
        assert_eq!(read.definition, Some(Definition::Wkt1(first.to_owned())));
        // The number of a part is not that of the whole.
        let own = r#"PROJCRS["mine",BASEGEOGCRS["WGS 84",ID["EPSG",4326]]]"#;
        let read = Crs::of_text(own);
        assert_eq!((read.srs, read.definition), (None, Some(Definition::Wkt2(own.to_owned()))));
    }

    /// An error about two systems showed their definitions, some 3 kB.
    #[test]
    fn systems_have_short_names() {
        let short = |text: &str| Crs::of_text(text).short_name(text);
        assert_eq!(short("urn:ogc:def:crs:EPSG::25832"), "EPSG:25832");
        assert_eq!(short(r#"{"id": {"authority": "EPSG", "code": 3857}, "name": "Mercator"}"#), "EPSG:3857");
        assert_eq!(short(r#"{"id": {"authority": "ESRI", "code": 54009}, "name": "Mollweide"}"#), "Mollweide");
        assert_eq!(short(r#"PROJCS["Gauss",UNIT["metre",1]]"#), "Gauss");
        assert_eq!(short("the moon"), "the moon");
        assert_eq!(short(&"ä".repeat(100)), "ä".repeat(80) + "...");
    }

    #[test]
    fn projjson_is_read() {
        let json = r#"{"type": "GeographicCRS", "name": "mine", "datum": {"name": "D", "ellipsoid": {"name": "E", "radius": 6371000}},
            "coordinate_system": {"subtype": "ellipsoidal", "axis": [
                {"name": "Longitude", "abbreviation": "lon", "direction": "east", "unit": "degree"},
                {"name": "Latitude", "abbreviation": "lat", "direction": "north", "unit": "degree"}]}}"#;
        let read = Crs::of_text(json);
        assert_eq!((read.srs, read.name.as_deref()), (None, Some("mine")));
        assert!(matches!(&read.definition, Some(Definition::Wkt2(text)) if text.starts_with("GEOGCRS[\"mine\",")));
        let named = Crs::of_text(r#"{"id": {"authority": "EPSG", "code": 3857}}"#);
        assert_eq!(named, Crs::of_number(Srs::epsg(3857)));
    }
}
