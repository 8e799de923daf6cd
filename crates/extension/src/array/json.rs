//! A column of values from a JSON array.

use crate::sqlite::Failure;
use litepress::rows::cells::OwnedValue;
use serde_json::value::RawValue;

/// Returns the elements of a JSON array as `json_each` does: true is 1, and an array or an object is its text.
///
/// # Errors
/// If the text is no JSON array.
pub fn column_of_json(text: &[u8]) -> Result<Vec<OwnedValue>, Failure> {
    let text = std::str::from_utf8(text).map_err(|_| Failure::new("the text is not UTF-8"))?;
    let elements: Vec<&RawValue> = serde_json::from_str(text).map_err(|error| failure(&error))?;
    elements.into_iter().map(|element| value_of(element.get()).map_err(|error| failure(&error))).collect()
}

fn failure(error: &serde_json::Error) -> Failure {
    if error.is_data() {
        return Failure::new("the JSON is not an array: [1, 2, 3]");
    }
    Failure::new(format!("the text is not JSON: {error}"))
}

fn value_of(element: &str) -> serde_json::Result<OwnedValue> {
    Ok(match element.as_bytes()[0] {
        b'n' => OwnedValue::Null,
        b't' => OwnedValue::Int(1),
        b'f' => OwnedValue::Int(0),
        b'"' => OwnedValue::Text(serde_json::from_str(element)?),
        b'[' | b'{' => OwnedValue::Text(without_spaces(element)),
        _ => element.parse().map_or_else(
            |_| OwnedValue::Real(element.parse().expect("numbers of JSON are numbers of Rust")),
            OwnedValue::Int,
        ),
    })
}

/// Removes white space outside of strings.
fn without_spaces(json: &str) -> String {
    let (mut is_string, mut is_escaped) = (false, false);
    let is_kept = |character: &char| {
        is_string ^= *character == '"' && !is_escaped;
        is_escaped = *character == '\\' && !is_escaped;
        is_string || !character.is_ascii_whitespace()
    };
    json.chars().filter(is_kept).collect()
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

    /// The parser that was used first read one in six doubles as its neighbour, refused infinity as SQLite writes it, and sorted the keys
    /// of objects.
    #[test]
    fn elements_are_those_of_json_each() {
        let sqlite = rusqlite::Connection::open_in_memory().unwrap();
        let text = concat!(
            r#"[123456789.12345679, 13.377704123456789, -0, -0.0, 1E+2, 9.0e+999, -1e999, 9223372036854775808, 5e-324, "#,
            r#"{ "b" : [ 1.10, "x \" y" ],"a":2, "a": 3}, "\u00e9\ud83d\ude00", [[ ]], ["\\\\", " "], true, false, null]"#
        );
        let mut query = sqlite.prepare("SELECT value FROM json_each(?1)").unwrap();
        let expected = query.query_map([text], |row| row.get::<_, rusqlite::types::Value>(0)).unwrap();
        let found = column_of_json(text.as_bytes()).unwrap().into_iter().map(|value| match value {
            OwnedValue::Null => rusqlite::types::Value::Null,
            OwnedValue::Int(int) => int.into(),
            OwnedValue::Real(real) => real.into(),
            OwnedValue::Text(text) => text.into(),
            OwnedValue::Blob(blob) => blob.into(),
        });
        assert_eq!(found.collect::<Vec<_>>(), expected.collect::<Result<Vec<_>, _>>().unwrap());
    }
}
