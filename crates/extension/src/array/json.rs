//! A column of values from a JSON array.

use crate::sqlite::Failure;
use litepress::Json;
use litepress::rows::cells::OwnedValue;

/// Returns the elements of a JSON array as `json_each` does: true is 1, and an array or an object is its text.
///
/// # Errors
/// If the text is no JSON array.
pub fn column_of_json(text: &[u8]) -> Result<Vec<OwnedValue>, Failure> {
    let text = std::str::from_utf8(text).map_err(|_| Failure::new("the text is not UTF-8"))?;
    let json: Json = text.parse().map_err(|error| Failure::new(format!("the text is not JSON: {error}")))?;
    let Json::Array(elements) = json else {
        return Err(Failure::new("the JSON is not an array: [1, 2, 3]"));
    };
    Ok(elements.into_iter().map(value_of).collect())
}

fn value_of(element: Json) -> OwnedValue {
    match element {
        Json::Null => OwnedValue::Null,
        Json::Bool(bool) => OwnedValue::Int(bool.into()),
        Json::Number(number) => match number.as_i64() {
            Some(int) => OwnedValue::Int(int),
            None => OwnedValue::Real(number.as_f64().unwrap_or(f64::INFINITY)),
        },
        Json::String(text) => OwnedValue::Text(text),
        nested => OwnedValue::Text(nested.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_become_values() {
        let text = br#"[1, -2.5, "a\u00e9", null, true, [1, 2], {"a": "b"}, 9223372036854775808]"#;
        let expected = [
            OwnedValue::Int(1),
            OwnedValue::Real(-2.5),
            OwnedValue::Text("a\u{e9}".to_owned()),
            OwnedValue::Null,
            OwnedValue::Int(1),
            OwnedValue::Text("[1,2]".to_owned()),
            OwnedValue::Text("{\"a\":\"b\"}".to_owned()),
            OwnedValue::Real(9_223_372_036_854_775_808.0),
        ];
        assert_eq!(column_of_json(text).unwrap(), expected);
        for wrong in [&b"1"[..], b"{}", b"", b"[1", b"\xff"] {
            assert!(column_of_json(wrong).is_err());
        }
    }
}
