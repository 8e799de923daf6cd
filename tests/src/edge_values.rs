//! Types and values at the edges of SQLite's rules: extremes, numbers in texts, odd characters.

use litepress_rows::cells::OwnedValue;
use proptest::prelude::*;
use proptest::sample::select;

/// Declared types: every affinity, by every rule.
pub const TYPES: [&str; 18] = [
    "",
    "INT",
    "INTEGER",
    "BIGINT UNSIGNED",
    "FLOATING POINT",
    "TEXT",
    "VARCHAR(10)",
    "CLOB",
    "BLOB",
    "REAL",
    "FLOAT",
    "DOUBLE PRECISION",
    "NUMERIC",
    "DECIMAL(10,5)",
    "BOOLEAN",
    "DATE",
    "ANY",
    "\"odd type\"",
];

/// Types of STRICT tables.
pub const STRICT_TYPES: [&str; 6] = ["INT", "INTEGER", "REAL", "TEXT", "BLOB", "ANY"];

/// Texts: numbers, almost numbers, with NULs, equal under some collation.
pub const TEXTS: [&str; 53] = [
    "",
    " ",
    "12",
    " 12 ",
    "12\n",
    "\t-7",
    "+12",
    "5.",
    ".5",
    ".",
    "1e3",
    "1e",
    "1e400",
    "-0.0",
    "0x10",
    "1_000",
    "12abc",
    "12\0",
    "1.5 \0x",
    "inf",
    "nan",
    "true",
    "\u{a0}12",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "-9223372036854775809",
    "5.0",
    "0.1",
    "1e18",
    "123456789012345678901234567890",
    "a\0b",
    "\0",
    "Ünïcödé 😀",
    "'quoted'",
    "a",
    "A",
    "a ",
    "A  ",
    "abc",
    "ABC",
    "aBc   ",
    "ab_",
    "AB[",
    "ab\0x",
    "AB\0y",
    "\u{1}",
    "a\u{1}",
    "a\u{1}\0",
    "É",
    "é",
    "zzzzzzzzzzzzzzzzz",
];

/// Integers at the bounds of their widths and of the integers that a double represents.
pub const INTS: [i64; 19] = [
    0,
    1,
    -1,
    2,
    127,
    128,
    -128,
    -129,
    32_767,
    8_388_608,
    1 << 31,
    1 << 47,
    (1 << 53) - 1,
    1 << 53,
    (1 << 53) + 1,
    i64::MAX,
    i64::MIN,
    i64::MAX - 1,
    -(1 << 53) - 1,
];

/// Doubles that are integers, almost integers, or not numbers.
pub const REALS: [f64; 22] = [
    0.0,
    -0.0,
    5.0,
    -5.0,
    0.1,
    1e15,
    1e16,
    1e18,
    9.3e18,
    -9_223_372_036_854_775_808.0,
    9_223_372_036_854_775_807.0,
    140_737_488_355_328.0,
    -140_737_488_355_328.0,
    9_007_199_254_740_993.0,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
    5e-324,
    1.0,
    2.5,
    9_007_199_254_740_991.0,
    -9_007_199_254_740_992.0,
];

/// Returns any value, edge values more often than others.
pub fn any_value() -> impl Strategy<Value = OwnedValue> {
    prop_oneof![
        2 => Just(OwnedValue::Null),
        3 => select(&INTS[..]).prop_map(OwnedValue::Int),
        2 => any::<i64>().prop_map(OwnedValue::Int),
        3 => select(&REALS[..]).prop_map(OwnedValue::Real),
        2 => any::<f64>().prop_map(OwnedValue::Real),
        1 => any::<i32>().prop_map(|int| OwnedValue::Real(int.into())),
        4 => select(&TEXTS[..]).prop_map(|text| OwnedValue::Text(text.to_owned())),
        2 => "\\PC{0,40}".prop_map(OwnedValue::Text),
        // Beyond 19 digits SQLite 3.54.1 itself is sometimes one place off the nearest double.
        2 => "[ +-]?[0-9]{0,12}[.]?[0-9]{0,5}(e[+-]?[0-9]{1,3})?[ ]?".prop_map(OwnedValue::Text),
        2 => prop::collection::vec(any::<u8>(), 0..60).prop_map(OwnedValue::Blob),
        1 => (0_usize..9000).prop_map(|len| OwnedValue::Text("long ".repeat(len / 5))),
        1 => (0_usize..9000, any::<u8>()).prop_map(|(len, byte)| OwnedValue::Blob(vec![byte; len])),
    ]
}

/// Returns a short value for a key that is often equal to another one by some rule.
pub fn any_key() -> impl Strategy<Value = OwnedValue> {
    prop_oneof![
        1 => Just(OwnedValue::Null),
        3 => select(&INTS[..]).prop_map(OwnedValue::Int),
        3 => select(&REALS[..]).prop_map(OwnedValue::Real),
        4 => select(&TEXTS[..]).prop_map(|text| OwnedValue::Text(text.to_owned())),
        2 => select(&TEXTS[..]).prop_map(|text| OwnedValue::Blob(text.into())),
        2 => "[aAbB\u{1} ]{0,3}[ ]{0,2}".prop_map(OwnedValue::Text),
        1 => prop::collection::vec(0_u8..3, 0..20).prop_map(OwnedValue::Blob),
        2 => (0_i64..12).prop_map(OwnedValue::Int),
    ]
}
