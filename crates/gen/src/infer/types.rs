//! Types of columns, and inference by the type alone.

use super::{Inference, inferred, maps};
use litepress_rows::Affinity;
use litepress_rows::schema::Column;

/// The class of values that a column holds, as far as inference distinguishes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TypeClass {
    Int,
    Real,
    /// Integers or reals.
    Numeric,
    Text,
    Blob,
    /// No declared type, or ANY.
    Any,
}

/// The properties of a column that inference uses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ColumnTraits<'a> {
    pub declared: &'a str,
    pub class: TypeClass,
    /// Maximum length of a text in characters, as declared: CHAR(6).
    pub longest: Option<u64>,
}

impl<'a> ColumnTraits<'a> {
    pub(crate) fn new(column: &'a Column) -> Self {
        let declared = column.declared_type.as_str();
        let class = match column.affinity {
            _ if maps::is_geometry(declared) => TypeClass::Blob,
            Affinity::Integer => TypeClass::Int,
            Affinity::Real => TypeClass::Real,
            Affinity::Numeric if is_of_texts(declared) => TypeClass::Text,
            Affinity::Numeric => TypeClass::Numeric,
            Affinity::Text => TypeClass::Text,
            Affinity::Blob if declared.is_empty() => class_of_default(column),
            Affinity::Blob if declared.eq_ignore_ascii_case("any") => TypeClass::Any,
            Affinity::Blob => TypeClass::Blob,
        };
        let longest = if class == TypeClass::Text { type_arguments(declared).first().copied() } else { None };
        Self { declared, class, longest }
    }

    pub(crate) fn is_number(&self) -> bool {
        matches!(self.class, TypeClass::Int | TypeClass::Real | TypeClass::Numeric)
    }

    /// Returns whether texts of `len` characters fit the declared length.
    pub(super) fn takes_len(&self, len: u64) -> bool {
        self.longest.is_none_or(|longest| len <= longest)
    }
}

/// Returns the class of a column without a declared type: that of its DEFAULT.
fn class_of_default(column: &Column) -> TypeClass {
    let default = column.default.as_deref().map_or("", str::trim);
    match default.bytes().next() {
        Some(b'\'' | b'"') => TypeClass::Text,
        Some(_) if default.parse::<i64>().is_ok() => TypeClass::Int,
        _ => TypeClass::Any,
    }
}

/// Returns whether a declared type is one of texts, for which SQLite has numeric affinity.
pub(super) fn is_of_texts(declared: &str) -> bool {
    declared.eq_ignore_ascii_case("string") || is_guid(declared)
}

fn is_guid(declared: &str) -> bool {
    ["guid", "uuid", "uniqueidentifier"].iter().any(|name| declared.eq_ignore_ascii_case(name))
}

/// Returns whether a column refers to rows by texts or by numbers that the other one can hold.
pub(crate) fn fits_key(column: &Column, key: &Column) -> bool {
    let class = |column| ColumnTraits::new(column).class;
    column.affinity == key.affinity || class(column) == TypeClass::Text && class(key) == TypeClass::Text
}

/// Infers by the declared type: TIME, JSON, DECIMAL(p, s), for which SQLite has no affinity. BOOLEAN and times are
/// inferred with the rest of their row.
pub(super) fn by_declared_type(traits: &ColumnTraits<'_>) -> Option<Inference> {
    let because = || format!("declared {}", traits.declared);
    let declared = traits.declared.to_ascii_uppercase();
    let base = declared.split('(').next().unwrap_or_default().trim();
    match base {
        _ if is_guid(base) => Some(inferred("uuid", because())),
        "TIME" | "TIME WITHOUT TIME ZONE" => Some(inferred("time_of_day", because())),
        "JSON" | "JSONB" => Some(inferred("json", because())),
        "DECIMAL" | "NUMERIC" | "NUMBER" => decimal(traits).map(|text| inferred(text, because())),
        "TINYINT" => Some(inferred("int(0, 127)", because())),
        "SMALLINT" | "INT2" => Some(inferred("int(0, 999)", because())),
        _ => None,
    }
}

/// Infers numbers with the declared digits and decimals, but below a thousand.
fn decimal(traits: &ColumnTraits<'_>) -> Option<String> {
    let (precision, scale) = match type_arguments(traits.declared)[..] {
        [precision] => (precision, 0),
        [precision, scale] => (precision, scale),
        _ => return None,
    };
    let limit = 10_u64.pow(u32::try_from(precision.saturating_sub(scale).min(6)).unwrap_or(6));
    match scale {
        0 => Some(format!("int(0, {})", limit - 1)),
        1..=12 => Some(format!("real(0, {}, {scale})", limit.min(1000))),
        _ => None,
    }
}

pub(super) fn by_affinity(traits: &ColumnTraits<'_>) -> Inference {
    const USUAL: u64 = 32;
    match traits.class {
        TypeClass::Int => inferred("int(0, 999_999)", "an integer column"),
        TypeClass::Real => inferred("real(0, 1000, 3)", "a REAL column"),
        TypeClass::Numeric => inferred("int(0, 999_999)", "a numeric column"),
        TypeClass::Any => inferred("int(0, 999_999)", "a column without type"),
        TypeClass::Blob => inferred("blob(8, 32)", "a BLOB column"),
        TypeClass::Text => match traits.longest.unwrap_or(USUAL) {
            0 => inferred("constant('')", "a text column"),
            longest @ 1..=4 => inferred(format!("regex('[A-Z]{{{longest}}}')"), "a text column"),
            longest => inferred(format!("phrase('{{words}}', {})", longest.min(USUAL)), "a text column"),
        },
    }
}

/// Returns the numbers in parentheses of a declared type: 10 and 2 of DECIMAL(10, 2).
fn type_arguments(declared: &str) -> Vec<u64> {
    let inner = declared.split_once('(').and_then(|(_, rest)| rest.split_once(')')).map_or("", |(inner, _)| inner);
    inner.split(',').map_while(|number| number.trim().parse().ok()).collect()
}
