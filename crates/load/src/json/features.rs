//! Features of GeoJSON (RFC 7946): members of `properties` become columns of their own names, and `geometry` stays one value.
//!
//! ```text
//! {"type": "Feature", "id": 7, "properties": {"a": 1, "id": 2}, "geometry": {"type": ...}}
//!                      id                      a       properties_id     geometry
//! ```
//!
//! GeoJSON of 2008 has a member `crs` beside the features, which GDAL still writes for systems other than WGS 84. It mostly stands in
//! front of the features. One behind them comes too late, and is an error if it names another system.

use litepress_geo::Crs;
use litepress_rows::{Error, ErrorKind, OptionName, message};
use memchr::memmem;
use serde_json::Value;

/// The member with the columns.
pub(super) const PROPERTIES: &str = "properties";

/// The member that stays one value.
pub(super) const GEOMETRY: &str = "geometry";

/// The member that says that this is a feature.
pub(super) const TYPE: &str = "type";

/// The member with the coordinate reference system.
pub(super) const CRS: &str = "crs";

/// Bytes of a reference system that are read.
pub(super) const MOST_CRS_BYTES: usize = 1 << 16;

/// Bytes behind the features in which a reference system is looked for.
const MOST_TAIL_BYTES: usize = 16 << 20;

/// The system of features if nothing names one.
pub const CRS_OF_FEATURES: &str = "OGC:CRS84";

/// Returns the name of the system that a `crs` member has, or the member itself if it has none.
pub(super) fn crs_name(member: &[u8]) -> String {
    let json: Option<Value> = serde_json::from_slice(member).ok();
    let is_name = |json: &&Value| json.get(TYPE).and_then(Value::as_str) == Some("name");
    let name = json.as_ref().filter(is_name).and_then(|json| json.get(PROPERTIES)?.get("name")?.as_str());
    name.map_or_else(|| String::from_utf8_lossy(member).into_owned(), str::to_owned)
}

/// The text behind the features, up to a limit.
#[derive(Debug, Default)]
pub(super) struct Tail(Vec<u8>);

impl Tail {
    pub fn push(&mut self, text: &[u8]) {
        let room = (MOST_TAIL_BYTES + 1).saturating_sub(self.0.len());
        self.0.extend_from_slice(&text[..text.len().min(room)]);
    }

    /// Fails if the text has a `crs` member that says another system than `taken`, which the members in front of the features say, or
    /// may have one beyond the limit.
    pub fn refuse_other_crs(&self, taken: Option<&str>) -> Result<(), Error> {
        let error = |message: String| {
            let advice = message!["name the system with ", OptionName::Crs.word("EPSG:NUMBER")];
            Err(Error::new(ErrorKind::Data, message).advise(advice))
        };
        if self.0.len() > MOST_TAIL_BYTES {
            return error(format!(
                "more than {MOST_TAIL_BYTES} bytes follow the features, and may name their reference system"
            ));
        }
        // The text goes on behind a value of the object around the features.
        let object = [&b"{\"\":0"[..], &self.0].concat();
        let members: Value = match serde_json::from_slice(&object) {
            Ok(members) => members,
            Err(_) if memmem::find(&self.0, b"\"crs\"").is_none() => return Ok(()),
            Err(why) => {
                return error(format!(
                    "the text behind the features cannot be read ({why}), and may name their reference system"
                ));
            }
        };
        let Some(member) = members.get(CRS) else { return Ok(()) };
        let (found, taken) = (crs_name(member.to_string().as_bytes()), taken.unwrap_or(CRS_OF_FEATURES));
        let [of_found, of_taken] = [&*found, taken].map(Crs::of_text);
        if found == taken || of_found.srs.is_some() && of_found.srs == of_taken.srs {
            return Ok(());
        }
        let (found, taken) = (of_found.short_name(&found), of_taken.short_name(taken));
        error(format!(
            "the member \"crs\" behind the features says {found}, and their coordinates were taken for {taken}"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_has_a_name() {
        let named = r#"{"type": "name", "properties": {"name": "urn:ogc:def:crs:EPSG::25832"}}"#;
        assert_eq!(crs_name(named.as_bytes()), "urn:ogc:def:crs:EPSG::25832");
        for other in ["null", r#"{"type":"link","properties":{"href":"x"}}"#, r#"{"type":"name"}"#, "{"] {
            assert_eq!(crs_name(other.as_bytes()), other);
        }
    }

    #[test]
    fn a_system_behind_the_features_is_compared() {
        let check = |text: &str, taken| {
            let mut tail = Tail::default();
            text.bytes().for_each(|byte| tail.push(&[byte]));
            tail.refuse_other_crs(taken).map_err(|error| error.message().to_owned())
        };
        let named =
            |name: &str| format!(r#", "crs": {{"type": "name", "properties": {{"name": "{name}"}}}}, "a": [1]}}"#);
        assert_eq!(check("}", None), Ok(()));
        assert_eq!(check(&named("urn:ogc:def:crs:OGC:1.3:CRS84"), None), Ok(()));
        assert_eq!(check(&named("EPSG:25832"), Some("urn:ogc:def:crs:EPSG::25832")), Ok(()));
        let why =
            "the member \"crs\" behind the features says EPSG:25832, and their coordinates were taken for EPSG:4326";
        assert_eq!(check(&named("EPSG:25832"), None).unwrap_err(), why);
        assert!(check(&named("the moon"), None).unwrap_err().contains("says the moon"));
    }
}
