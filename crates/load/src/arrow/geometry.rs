//! The coordinate reference systems of columns: in the metadata of a GeoParquet file, or of a GeoArrow field.

use arrow_schema::Field;
use arrow_schema::extension::{EXTENSION_TYPE_METADATA_KEY, EXTENSION_TYPE_NAME_KEY};
use serde_json::Value;

/// The prefix of GeoArrow's extension types.
const GEOARROW: &str = "geoarrow.";

/// The system of a GeoParquet column that names none.
const DEFAULT: &str = "OGC:CRS84";

/// Returns the system of a column by the text of the file's `geo` metadata.
pub(super) fn of_geoparquet(metadata: &str, column: &str) -> Option<String> {
    let metadata: Value = serde_json::from_str(metadata).ok()?;
    let column = metadata.get("columns")?.get(column)?;
    column.get("crs").map_or_else(|| Some(DEFAULT.to_owned()), name)
}

/// Returns the system of a field of a GeoArrow type.
pub(super) fn of_field(field: &Field) -> Option<String> {
    field.metadata().get(EXTENSION_TYPE_NAME_KEY).filter(|name| name.starts_with(GEOARROW))?;
    let metadata: Value = serde_json::from_str(field.metadata().get(EXTENSION_TYPE_METADATA_KEY)?).ok()?;
    metadata.get("crs").and_then(name)
}

/// Returns the name of a system, or its PROJJSON; `None` if it is unknown.
fn name(crs: &Value) -> Option<String> {
    match crs {
        Value::Null => None,
        Value::String(name) => Some(name.clone()),
        other => Some(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_schema::DataType;
    use std::collections::HashMap;

    #[test]
    fn metadata_name_the_system_of_a_column() {
        let geo = r#"{"columns": {"a": {"encoding": "WKB"}, "b": {"crs": null}, "c": {"crs": {"id": {"authority": "EPSG", "code": 3857}}}}}"#;
        assert_eq!(of_geoparquet(geo, "a").as_deref(), Some("OGC:CRS84"));
        assert_eq!(of_geoparquet(geo, "b"), None);
        assert_eq!(of_geoparquet(geo, "c").as_deref(), Some(r#"{"id":{"authority":"EPSG","code":3857}}"#));
        assert_eq!((of_geoparquet(geo, "d"), of_geoparquet("?", "a")), (None, None));
        let field = |name: &str, metadata: &str| {
            let pairs = [(EXTENSION_TYPE_NAME_KEY, name), (EXTENSION_TYPE_METADATA_KEY, metadata)];
            let pairs: HashMap<String, String> = pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).into();
            Field::new("geom", DataType::Binary, true).with_metadata(pairs)
        };
        assert_eq!(of_field(&field("geoarrow.wkb", r#"{"crs": "EPSG:25832"}"#)).as_deref(), Some("EPSG:25832"));
        assert_eq!(of_field(&field("geoarrow.wkb", "{}")), None);
        assert_eq!(of_field(&field("arrow.uuid", r#"{"crs": "EPSG:25832"}"#)), None);
    }
}
