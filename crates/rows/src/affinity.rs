//! Column affinity: the conversion of a value before SQLite stores it (datatype3.html, section 3).

mod plain;

use litepress_format::value::Value;
use std::borrow::Cow;
use std::ops::Range;

/// The affinity of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Affinity {
    /// Converts to numbers if lossless, preferably to integers.
    Integer,
    /// Converts numbers to texts.
    Text,
    /// Keeps any value (also called NONE).
    Blob,
    /// Converts to doubles. Integral ones are stored as integers and read back as doubles.
    Real,
    /// Converts like Integer. The two differ only in CAST.
    Numeric,
}

impl Affinity {
    /// Returns the affinity of a declared type, by the five rules of datatype3.html section 3.1 in their order.
    pub fn of_declared_type(declared: &str) -> Self {
        let declared = declared.to_ascii_uppercase();
        let has = |part: &str| declared.contains(part);
        if has("INT") {
            Self::Integer
        } else if has("CHAR") || has("CLOB") || has("TEXT") {
            Self::Text
        } else if has("BLOB") || declared.is_empty() {
            Self::Blob
        } else if has("REAL") || has("FLOA") || has("DOUB") {
            Self::Real
        } else {
            Self::Numeric
        }
    }

    /// Returns the affinity of a column of a STRICT table. ANY keeps any value.
    pub fn of_strict_type(declared: &str) -> Self {
        if declared.eq_ignore_ascii_case("ANY") { Self::Blob } else { Self::of_declared_type(declared) }
    }
}

/// Converts `value` to the value that the column stores. Integral doubles of a REAL column stay doubles here; the record
/// stores them as integers ([`real_as_integer`]).
pub fn apply(value: Value<'_>, affinity: Affinity) -> Value<'_> {
    match (affinity, value) {
        (_, Value::Real(real)) if real.is_nan() => Value::Null,
        (Affinity::Integer | Affinity::Numeric, Value::Real(real)) => prefer_integer(real),
        (Affinity::Real, Value::Int(int)) => Value::Real(int as f64),
        (Affinity::Integer | Affinity::Numeric, Value::Text(text)) => number_from_text(text).unwrap_or(value),
        (Affinity::Real, Value::Text(text)) => match number_from_text(text) {
            Some(Value::Int(int)) => Value::Real(int as f64),
            Some(number) => number,
            None => value,
        },
        _ => value,
    }
}

/// Returns the text that a TEXT column stores for a number. `None` for other values.
///
/// The bundled SQLite writes doubles, because the number of digits differs between its versions.
pub fn text_of_number(value: Value<'_>) -> Option<Cow<'static, str>> {
    match value {
        Value::Int(int) => Some(Cow::Owned(int.to_string())),
        Value::Real(real) => Some(Cow::Owned(text_of_real(real))),
        _ => None,
    }
}

/// Returns the integer that represents `real` in the record of a REAL column, if it is integral and fits 48 bits.
#[inline]
pub fn real_as_integer(real: f64) -> Option<i64> {
    const LIMIT: f64 = 140_737_488_355_328.0; // 2^47
    #[expect(clippy::cast_possible_truncation, reason = "checked by the comparison that follows")]
    let int = real as i64;
    (int as f64 == real && (-LIMIT..LIMIT).contains(&real)).then_some(int)
}

/// Converts a double that equals an integer strictly inside the 64-bit range to that integer.
#[inline]
fn prefer_integer(real: f64) -> Value<'static> {
    #[expect(clippy::cast_possible_truncation, reason = "the cast saturates, and both ends are excluded")]
    let int = real as i64;
    if int as f64 == real && int > i64::MIN && int < i64::MAX { Value::Int(int) } else { Value::Real(real) }
}

/// Applies INTEGER, NUMERIC or REAL affinity to the text at `span` of `data`, like [`apply`]. `None` if it is not a number, or
/// holds a NUL.
#[inline]
pub(crate) fn apply_to_number(data: &[u8], span: Range<usize>, affinity: Affinity) -> Option<Value<'static>> {
    match plain::number(data, span.clone()) {
        Some(number) => Some(convert_plain_number(number, affinity)),
        None => apply_to_long_number(&data[span], affinity),
    }
}

#[inline(never)]
fn apply_to_long_number(text: &[u8], affinity: Affinity) -> Option<Value<'static>> {
    if text.is_empty() || plain::is_no_number(text) || text.contains(&0) {
        return None;
    }
    match (number_from_any_text(text)?, affinity) {
        (Value::Int(int), Affinity::Real) => Some(Value::Real(int as f64)),
        (number, _) => Some(number),
    }
}

/// Applies INTEGER, NUMERIC or REAL affinity to the text at `span` of `data`, like [`apply`]. `None` if it is not a
/// [plain](plain) number.
#[inline]
pub(crate) fn apply_to_plain_number(data: &[u8], span: Range<usize>, affinity: Affinity) -> Option<Value<'static>> {
    Some(convert_plain_number(plain::number(data, span)?, affinity))
}

#[inline]
fn convert_plain_number(number: Value<'static>, affinity: Affinity) -> Value<'static> {
    match (affinity, number) {
        (Affinity::Real, Value::Int(int)) => Value::Real(int as f64),
        (Affinity::Integer | Affinity::Numeric, Value::Real(real)) => prefer_integer(real),
        _ => number,
    }
}

/// Returns whether a quick check shows that a text is not a number to any affinity.
#[inline]
pub(crate) fn is_plainly_no_number(text: &[u8]) -> bool {
    plain::is_no_number(text)
}

/// Parses a text as a number: a well-formed literal, possibly with white space around it.
fn number_from_text(text: &[u8]) -> Option<Value<'static>> {
    match plain::number(text, 0..text.len()) {
        Some(Value::Real(real)) => Some(prefer_integer(real)),
        Some(int) => Some(int),
        None if plain::is_no_number(text) => None,
        None => number_from_any_text(text),
    }
}

/// Parses any text as a number. SQLite 3.54 reads a text up to its first NUL and ignores the rest; older versions do not
/// take a text with a NUL for a number.
fn number_from_any_text(text: &[u8]) -> Option<Value<'static>> {
    let end = text.iter().position(|&byte| byte == 0);
    let literal = std::str::from_utf8(&text[..end.unwrap_or(text.len())]).ok()?.trim_matches(is_sqlite_space);
    let shape = literal_shape(literal.as_bytes())?;
    match literal.parse::<i64>() {
        // SQLite reads a long integer exactly by another function, which looks at the whole text and refuses the NUL.
        Ok(int) if matches!(shape, Shape::Integer) && end.is_none() => Some(Value::Int(int)),
        _ => Some(prefer_integer(real_of_literal(literal)?)),
    }
}

/// Returns whether a numeric column stores only a part of a text: the number before a NUL.
pub(crate) fn is_cut(text: Value<'_>, stored: Value<'_>) -> bool {
    matches!((text, stored), (Value::Text(text), Value::Int(_) | Value::Real(_)) if text.contains(&0))
}

/// Returns the double nearest to the digits that SQLite 3.54 reads of a literal. Digits after those that fill 64 bits (about
/// the first 19) count as zeros, so that a tie that only they would break is rounded to even.
fn real_of_literal(literal: &str) -> Option<f64> {
    const FULL: u64 = (u64::MAX - 9) / 10;
    /// Number of digits that SQLite always reads.
    const READ_DIGITS: usize = 18;
    if literal.len() <= READ_DIGITS {
        return literal.parse().ok();
    }
    let (mantissa, exponent) = literal.split_once(['e', 'E']).unwrap_or((literal, ""));
    let (mut digits, mut power, mut step) = (0_u64, 0_i64, 0);
    let mut has_more = false;
    for byte in mantissa.bytes() {
        match byte {
            b'0'..=b'9' if digits < FULL => (digits, power) = (digits * 10 + u64::from(byte - b'0'), power - step),
            b'0'..=b'9' => (has_more, power) = (has_more || byte != b'0', power + 1 - step),
            b'.' => step = 1,
            _ => {}
        }
    }
    if !has_more {
        return literal.parse().ok();
    }
    // SQLite takes an exponent of more than five digits for 10,000; the digits before it cannot make a difference then.
    let size = exponent
        .bytes()
        .filter(u8::is_ascii_digit)
        .fold(0, |size, digit| if size < 10_000 { size * 10 + i64::from(digit - b'0') } else { 10_000 });
    power += if exponent.starts_with('-') { -size } else { size };
    let real: f64 = format!("{digits}e{power}").parse().ok()?;
    Some(if literal.starts_with('-') { -real } else { real })
}

fn is_sqlite_space(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\n' | '\u{b}' | '\u{c}' | '\r')
}

enum Shape {
    Integer,
    Decimal,
}

/// Matches `[+-] digits [. digits] [e [+-] digits]` with at least one digit before the exponent.
fn literal_shape(literal: &[u8]) -> Option<Shape> {
    let digits = |from: usize| literal[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let sign = |from: usize| usize::from(matches!(literal.get(from), Some(b'+' | b'-')));
    let start = sign(0);
    let whole = digits(start);
    let mut at = start + whole;
    let mut shape = Shape::Integer;
    let mut fraction = 0;
    if literal.get(at) == Some(&b'.') {
        fraction = digits(at + 1);
        at += 1 + fraction;
        shape = Shape::Decimal;
    }
    if whole + fraction == 0 {
        return None;
    }
    if matches!(literal.get(at), Some(b'e' | b'E')) {
        let exponent_start = at + 1 + sign(at + 1);
        let exponent = digits(exponent_start);
        if exponent == 0 {
            return None;
        }
        at = exponent_start + exponent;
        shape = Shape::Decimal;
    }
    (at == literal.len()).then_some(shape)
}

fn text_of_real(real: f64) -> String {
    thread_local! {
        static SQLITE: rusqlite::Connection =
            rusqlite::Connection::open_in_memory().expect("SQLite opens a database in memory");
    }
    SQLITE.with(|sqlite| {
        let mut cast = sqlite.prepare_cached("SELECT CAST(? AS TEXT)").expect("a constant statement");
        cast.query_row([real], |row| row.get(0)).expect("a double has a text")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn declared_types_have_the_affinity_that_sqlite_documents() {
        for (declared, affinity) in [
            ("INT", Affinity::Integer),
            ("FLOATING POINT", Affinity::Integer),
            ("CHARINT", Affinity::Integer),
            ("VARCHAR(255)", Affinity::Text),
            ("clob", Affinity::Text),
            ("", Affinity::Blob),
            ("blob", Affinity::Blob),
            ("DOUBLE PRECISION", Affinity::Real),
            ("float", Affinity::Real),
            ("DECIMAL(10,5)", Affinity::Numeric),
            ("BOOLEAN", Affinity::Numeric),
            ("ANY", Affinity::Numeric),
        ] {
            assert_eq!(Affinity::of_declared_type(declared), affinity, "{declared}");
        }
        assert_eq!(Affinity::of_strict_type("any"), Affinity::Blob);
    }

    /// Texts that look like numbers, and texts that do not.
    const TEXTS: &[&str] = &[
        "12",
        " 12 ",
        "12\n",
        "+12",
        "-12",
        "5.",
        ".5",
        ".",
        "1e3",
        "1e",
        "1e+",
        "007",
        "12.0",
        "1e18",
        "-0.0",
        "-0",
        "0x10",
        "1_000",
        "12abc",
        "",
        " ",
        "inf",
        "nan",
        "true",
        "\u{a0}12",
        "１２",
        "9223372036854775807",
        "9223372036854775808",
        "-9223372036854775808",
        "-9223372036854775809",
        "1e400",
        "-1e400",
        "1e-400",
        "9007199254740993",
        // Stored as texts by our pages and as numbers by SQLite's INSERT: integrity_check called the file unsound.
        "5\x006",
        "7\0",
        "\x005",
        "5 \0",
        " 5\0 ",
        "5 \x006",
        "5e\0",
        "5e+\x003",
        "1.5\0x",
        "5e1\0",
        "5x\0",
        "-\x005",
        " \x005",
        ".\x005",
        "5.\0\u{e9}",
        "007\0",
        "1e400\0",
        "2251799813685249\0",
        "9007199254740993\0",
        "9223372036854775807\0",
        "-9223372036854775808\0",
        "99999999999999999999\0",
        "2020-01-01\0",
        // Loaded as the nearest double of all their digits, some of which SQLite ignores: one unit in the last place off the double
        // that it stores.
        "2200000000000.2922364",
        "-3500000000000000.2500001",
        "35000000000000002500001e-7",
        "18446744073709551609.5",
        "000000000000000000000000.00000000000000000000000012345678901234567890123",
        "1e99999",
        "1e-1000000",
        "0.1e1000000",
        "140737488355328",
        "140737488355327",
        "-140737488355328",
        "-140737488355329",
        "1.5e3",
        "1 2",
        "+",
        "-",
        "e5",
        "12e0",
        "0.1",
        "123456789012345678901234567890",
        "\u{c}7\u{b}",
        "1E5",
        "1.e5",
        ".e5",
        "0.30000000000000004",
        "-12345.678901234567e-22",
        "000000000000000000000001.5",
        "123456789012345678900000",
    ];

    /// Checks every text and double that has surprised a loader: SQLite and litepress must store the same value.
    #[test]
    fn values_are_converted_as_sqlite_converts_them() {
        let reals = [
            0.0,
            -0.0,
            5.0,
            5.5,
            1e15,
            1e16,
            1e18,
            9.3e18,
            -9.3e18,
            f64::INFINITY,
            f64::NAN,
            140_737_488_355_328.0,
            1e-7,
        ];
        let ints = [0, 1, -1, i64::MAX, i64::MIN, (1 << 53) + 1, 1 << 47];
        let values = TEXTS
            .iter()
            .map(|text| Value::Text(text.as_bytes()))
            .chain(reals.iter().map(|&real| Value::Real(real)))
            .chain(ints.iter().map(|&int| Value::Int(int)));
        let sqlite = rusqlite::Connection::open_in_memory().unwrap();
        sqlite.execute_batch("CREATE TABLE t(i INTEGER, n NUMERIC, r REAL, b BLOB, s TEXT)").unwrap();
        for value in values {
            let bound = match value {
                Value::Text(text) => rusqlite::types::Value::Text(String::from_utf8(text.to_vec()).unwrap()),
                Value::Real(real) => rusqlite::types::Value::Real(real),
                Value::Int(int) => rusqlite::types::Value::Integer(int),
                _ => unreachable!("the cases hold texts and numbers"),
            };
            sqlite.execute("DELETE FROM t", []).unwrap();
            sqlite.execute("INSERT INTO t VALUES (?1, ?1, ?1, ?1, ?1)", [bound]).unwrap();
            let affinities =
                [Affinity::Integer, Affinity::Numeric, Affinity::Real, Affinity::Blob, Affinity::Text].into_iter();
            for (column, affinity) in affinities.enumerate() {
                let stored: rusqlite::types::Value =
                    sqlite.query_row("SELECT * FROM t", [], |row| row.get(column)).unwrap();
                let ours = apply(value, affinity);
                let text = (affinity == Affinity::Text).then(|| text_of_number(ours)).flatten();
                let ours = text.as_ref().map_or(ours, |text| Value::Text(text.as_bytes()));
                assert_eq!(describe(ours), describe_sqlite(&stored), "{value:?} as {affinity:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn literals_are_the_doubles_that_sqlite_reads(literal in "-?[0-9]{1,25}(\\.[0-9]{0,25})?(e[+-]?[0-9]{1,3})?") {
            let sqlite = rusqlite::Connection::open_in_memory().unwrap();
            let theirs: f64 = sqlite.query_row("SELECT CAST(? AS REAL)", [&literal], |row| row.get(0)).unwrap();
            prop_assert_eq!(real_of_literal(&literal).unwrap().to_bits(), theirs.to_bits());
        }

        /// The fast parser agrees with the exact one, whatever text surrounds the number.
        #[test]
        fn plain_numbers_are_numbers(
            text in prop_oneof![
                "-?[0-9]{0,19}",
                "-?[0-9]{0,9}\\.[0-9]{0,9}",
                "-?[0-9]{0,17}\\.?[0-9]{0,17}",
                "[-+0-9.:/eE x]{0,10}",
                "[ \t\n]?[-+]?[0-9]{0,3}\\.?[0-9]{0,3}([eE][-+]?[0-9]{0,2})?[ \u{b}\u{c}\r]?\0?[0-9x]{0,2}",
                "\\PC{0,9}",
            ],
            before in "[0-9.]{0,3}",
            behind in "[0-9.]{0,9}",
        ) {
            let data = format!("{before}{text}{behind}");
            let span = before.len()..before.len() + text.len();
            let exact = number_from_any_text(text.as_bytes());
            let affinities = [Affinity::Integer, Affinity::Numeric, Affinity::Real];
            for affinity in affinities {
                let plain = apply_to_plain_number(data.as_bytes(), span.clone(), affinity);
                let any = apply_to_number(data.as_bytes(), span.clone(), affinity);
                let slow = Some(apply(Value::Text(text.as_bytes()), affinity));
                prop_assert_eq!(any, slow.filter(|slow| !matches!(slow, Value::Text(_)) && !text.contains('\0')));
                let exact = match exact {
                    Some(Value::Int(int)) if affinity == Affinity::Real => Some(Value::Real(int as f64)),
                    exact => exact,
                };
                prop_assert!(plain.is_none() || plain == exact, "{:?} as {:?}: {:?}, {:?}", text, affinity, plain, exact);
            }
            prop_assert!(!plain::is_no_number(text.as_bytes()) || exact.is_none(), "{:?}", text);
            let is_plain = text.len() < 9 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'.'));
            prop_assert!(!is_plain || plain::number(data.as_bytes(), span).is_some() == exact.is_some());
        }
    }

    fn describe(value: Value<'_>) -> String {
        match value {
            Value::Null => "null".into(),
            Value::Int(int) => format!("int {int}"),
            // SQLite reads -0.0 of a REAL column back as 0.0: it was stored as the integer 0.
            Value::Real(real) => format!("real {:?}", real + 0.0),
            Value::Text(text) => format!("text {:?}", String::from_utf8_lossy(text)),
            Value::Blob(_) => "blob".into(),
        }
    }

    fn describe_sqlite(value: &rusqlite::types::Value) -> String {
        match value {
            rusqlite::types::Value::Null => describe(Value::Null),
            rusqlite::types::Value::Integer(int) => describe(Value::Int(*int)),
            rusqlite::types::Value::Real(real) => describe(Value::Real(*real)),
            rusqlite::types::Value::Text(text) => describe(Value::Text(text.as_bytes())),
            rusqlite::types::Value::Blob(blob) => describe(Value::Blob(blob)),
        }
    }
}
