//! Decides the type of a column, and gives the reason.
//!
//! | All values are | Type | In a STRICT table |
//! |---|---|---|
//! | none, NULL, empty fields | TEXT | TEXT |
//! | 64-bit integers | INTEGER | INTEGER |
//! | decimals in SQLite's spelling | REAL | REAL |
//! | decimals with the same number of digits after the point (12.50) | REAL | REAL |
//! | 64-bit integers, and decimals in SQLite's spelling that are not whole | NUMERIC | TEXT |
//! | JSON true and false | INTEGER | INTEGER |
//! | JSON numbers in SQLite's spelling, and strings | none | ANY |
//! | anything else | TEXT | TEXT |
//!
//! Empty fields beside numbers are NULL, since no other text is in the column to be confused with. In TEXT columns they are
//! empty texts.

use super::{ColumnStats, FileStats, Kind, KindCount, ScannedValue, number};
use crate::reader::{Field, FieldKind};
use litepress_rows::{Affinity, Message, OptionName, counted, grouped, message, quote};
use std::fmt;

/// The type of a column and the reason for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InferredColumn {
    /// Name of the column in the file.
    pub name: String,
    /// The type to declare. Empty for no type.
    pub declared_type: String,
    /// The file declares that the column has no NULL.
    pub not_null: bool,
    /// Empty fields are NULL.
    pub empty_is_null: bool,
    /// The number of decimals of all values, if `printf` with this number gives back the texts but SQLite's own spelling does not.
    pub decimals: Option<u8>,
    /// Why: `all 1,000 values are whole numbers`.
    pub reason: Message,
    /// What the type keeps: a bit by [`Kind`].
    kept: u16,
}

/// A type that inference can choose.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Chosen {
    Integer,
    Boolean,
    Real,
    Fixed(u8),
    Numeric,
    /// Both numbers and strings, unchanged.
    Any,
    Text,
}

impl FileStats {
    /// Returns the types of `fields`, or of the columns that the records name if `fields` is empty. For a `strict` table, chooses
    /// only types of STRICT tables. If the scan was limited to `sampled` records, the reasons state their number.
    pub fn decide(&self, fields: &[Field], strict: bool, sampled: Option<u64>) -> Vec<InferredColumn> {
        let text = |finding: &ColumnStats| {
            let mut decision = self.decide_by_values(finding, strict);
            if sampled.is_some() {
                decision.reason = decision.reason.and(format!(" (of the first {} records)", grouped(self.records)));
            }
            decision
        };
        if fields.is_empty() {
            return self.columns().into_iter().map(text).collect();
        }
        let decide = |(position, field): (usize, &Field)| match &field.kind {
            FieldKind::Typed { declared_type, reason, not_null } => {
                InferredColumn::of_typed(&field.name, declared_type, reason, *not_null, strict)
            }
            FieldKind::Text => {
                let unnamed = || self.columns.get(position).filter(|column| column.name.is_empty());
                let finding = self.of(&field.name).or_else(unnamed).cloned();
                let finding = finding.unwrap_or_else(|| ColumnStats::new(String::new(), position));
                text(&ColumnStats { name: field.name.clone(), ..finding })
            }
        };
        fields.iter().enumerate().map(decide).collect()
    }

    fn decide_by_values(&self, finding: &ColumnStats, strict: bool) -> InferredColumn {
        let (chosen, mut reason) = self.choose(finding, strict);
        let is_number = !matches!(chosen, Chosen::Text | Chosen::Any);
        if is_number && finding.empties() > 0 {
            let verb = if finding.empties() == 1 { "becomes" } else { "become" };
            reason = format!("{reason}; {} {verb} NULL", counted(finding.empties(), "empty field"));
        }
        InferredColumn {
            name: finding.name.clone(),
            declared_type: chosen.declared_type(strict).to_owned(),
            not_null: false,
            empty_is_null: is_number,
            decimals: if let Chosen::Fixed(decimals) = chosen { Some(decimals) } else { None },
            reason: reason.into(),
            kept: chosen.kept(),
        }
    }

    fn choose(&self, finding: &ColumnStats, strict: bool) -> (Chosen, String) {
        let [strings, booleans, nested] = [Kind::String, Kind::Boolean, Kind::Nested].map(|kind| finding.count(kind));
        let values = finding.values();
        let written = values - strings - booleans - nested;
        let all = |one: &str, more: &str| match values {
            1 => format!("the only value {one}"),
            _ => format!("all {} values {more}", grouped(values)),
        };
        if values == 0 {
            let empties = finding.empties() > 0;
            return (Chosen::Text, if empties { "all fields are empty" } else { "there is no value" }.to_owned());
        }
        if booleans == values {
            return (Chosen::Boolean, all("is true or false", "are true or false"));
        }
        if strings == values {
            return (Chosen::Text, all("is a string", "are strings"));
        }
        if nested > 0 {
            let place = self.place(finding.tally(Kind::Nested));
            return (Chosen::Text, format!("{place} is an array or object, kept as JSON"));
        }
        if booleans > 0 {
            let place = self.place(finding.tally(Kind::Boolean));
            return (Chosen::Text, format!("{place} is true or false, and others are not"));
        }
        if strings == 0 {
            return self.choose_number(finding, strict, all);
        }
        if finding.json_numbers == written && !finding.has(Kind::Other) && !finding.has(Kind::Padded) {
            let place = self.place(finding.tally(Kind::String));
            let number = finding.first_number().map_or_else(String::new, |tally| self.place(tally));
            return (Chosen::Any, format!("{place} is a string and {number} a number, and each is kept as it is"));
        }
        if finding.json_numbers < written {
            return (Chosen::Text, format!("{} is a string", self.place(finding.tally(Kind::String))));
        }
        (Chosen::Text, self.why_text(finding))
    }

    fn choose_number(
        &self,
        finding: &ColumnStats,
        strict: bool,
        all: impl Fn(&str, &str) -> String,
    ) -> (Chosen, String) {
        let only = |kinds: &[Kind]| Kind::WRITTEN.iter().all(|kind| kinds.contains(kind) || !finding.has(*kind));
        if only(&[Kind::Integer]) {
            return (Chosen::Integer, all("is a whole number", "are whole numbers"));
        }
        if only(&[Kind::Fraction, Kind::Whole]) {
            return (
                Chosen::Real,
                all("is a decimal that reads back as it is written", "are decimals that read back as they are written"),
            );
        }
        if only(&[Kind::Fraction, Kind::Whole, Kind::Padded])
            && let Some(decimals) = finding.decimals.only()
        {
            let have = counted(decimals.into(), "decimal");
            return (Chosen::Fixed(decimals), all(&format!("has {have}"), &format!("have {have}")));
        }
        if only(&[Kind::Integer, Kind::Fraction]) {
            if strict {
                let reason = "are whole numbers or decimals, and a STRICT table has no type that keeps both as written";
                return (Chosen::Text, format!("the {} values {reason}", grouped(finding.values())));
            }
            let reason = "are whole numbers or decimals that read back as they are written";
            return (Chosen::Numeric, format!("all {} values {reason}", grouped(finding.values())));
        }
        (Chosen::Text, self.why_text(finding))
    }

    /// Describes the value that no numeric type keeps.
    fn why_text(&self, finding: &ColumnStats) -> String {
        let [other, padded] = [Kind::Other, Kind::Padded].map(|kind| finding.tally(kind));
        if other.count > 0 {
            return format!("{} {}", self.place(other), number::why_not(&other.text));
        }
        if padded.count > 0 {
            return format!("{} {}", self.place(padded), number::why_not_padded(&padded.text));
        }
        // Integers beside doubles that are whole.
        let [integer, double] = [Kind::Integer, Kind::Whole].map(|kind| self.place(finding.tally(kind)));
        format!("{integer} is written as a whole number and {double} as a decimal, which no type for numbers keeps")
    }

    /// Returns `'007' in record 12`.
    fn place(&self, tally: &KindCount) -> String {
        let value = quote(&litepress_format::value::Value::Text(&tally.text));
        let file = match self.files.get(&tally.first.file).filter(|_| self.files.len() > 1) {
            Some(file) => format!(" of {}", file.display()),
            None => String::new(),
        };
        format!("{value} in record {}{file}", grouped(tally.first.record))
    }
}

impl Chosen {
    fn declared_type(self, strict: bool) -> &'static str {
        match self {
            Self::Integer | Self::Boolean => "INTEGER",
            Self::Real | Self::Fixed(_) => "REAL",
            Self::Numeric => "NUMERIC",
            Self::Any if strict => "ANY",
            Self::Any => "",
            Self::Text => "TEXT",
        }
    }

    fn kept(self) -> u16 {
        let kinds: &[Kind] = match self {
            Self::Integer => &[Kind::Integer],
            Self::Boolean => &[Kind::Boolean],
            Self::Real => &[Kind::Fraction, Kind::Whole],
            Self::Fixed(_) => &[Kind::Fraction, Kind::Whole, Kind::Padded],
            Self::Numeric => &[Kind::Integer, Kind::Fraction],
            Self::Any => &[Kind::String, Kind::Integer, Kind::Fraction, Kind::Whole],
            Self::Text => return EVERYTHING,
        };
        kinds.iter().fold(1 << Kind::Null as u8 | 1 << Kind::Empty as u8, |bits, &kind| bits | 1 << kind as u8)
    }
}

/// The kinds that TEXT columns keep: all, since they store the text of any value.
const EVERYTHING: u16 = u16::MAX;

impl InferredColumn {
    /// A column whose type the file itself says.
    fn of_typed(name: &str, declared: &str, reason: &Message, not_null: bool, strict: bool) -> Self {
        let (declared_type, reason) = match strict_type(declared).filter(|_| strict) {
            Some(other) => (other, message![reason, format!("; STRICT tables have no type {declared}")]),
            None => (declared, reason.clone()),
        };
        Self {
            name: name.to_owned(),
            declared_type: declared_type.to_owned(),
            not_null,
            empty_is_null: false,
            decimals: None,
            reason,
            kept: EVERYTHING,
        }
    }

    /// Replaces the type by one that the user chose with `option`. Empty fields become NULL if it is a numeric type.
    #[must_use]
    pub fn overridden(&self, declared_type: &str, strict: bool, option: OptionName) -> Self {
        let affinity = if strict { Affinity::of_strict_type } else { Affinity::of_declared_type };
        let is_number = matches!(affinity(declared_type), Affinity::Integer | Affinity::Real | Affinity::Numeric);
        Self {
            declared_type: declared_type.to_owned(),
            empty_is_null: is_number,
            decimals: None,
            reason: message![option.alone(), " says so"],
            kept: EVERYTHING,
            ..self.clone()
        }
    }

    /// Returns whether the user chose the type.
    pub fn is_given(&self) -> bool {
        self.kept == EVERYTHING
    }

    /// Returns whether the value round-trips through this type. Needed only for values that inference did not scan: `007` in a
    /// column that is INTEGER after the first thousand records. A type that was given and not inferred accepts every value, as
    /// SQLite stores it.
    #[inline]
    pub fn accepts(&self, value: ScannedValue<'_>) -> bool {
        if self.kept == EVERYTHING {
            return true;
        }
        let (kind, decimals) = match value {
            ScannedValue::Null => (Kind::Null, 0),
            ScannedValue::Text(b"") => (Kind::Empty, 0),
            ScannedValue::Text(text) | ScannedValue::Number(text) => number::classify(text),
            ScannedValue::String(_) => (Kind::String, 0),
            ScannedValue::Boolean(_) => (Kind::Boolean, 0),
            ScannedValue::Nested(_) => (Kind::Nested, 0),
        };
        self.kept & (1 << kind as u8) != 0 && (decimals == 0 || self.decimals.is_none_or(|all| all == decimals))
    }
}

impl fmt::Display for InferredColumn {
    /// Writes `INTEGER: all 1,000 values are whole numbers`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let declared = if self.declared_type.is_empty() { "no type" } else { &self.declared_type };
        write!(f, "{declared}: {}", self.reason)
    }
}

/// The types of STRICT tables.
pub(crate) const STRICT_TYPES: [&str; 6] = ["INT", "INTEGER", "REAL", "TEXT", "BLOB", "ANY"];

/// Returns the type that a STRICT table uses in place of one that it does not support.
fn strict_type(declared: &str) -> Option<&'static str> {
    if STRICT_TYPES.iter().any(|strict| strict.eq_ignore_ascii_case(declared)) {
        return None;
    }
    Some(match Affinity::of_declared_type(declared) {
        Affinity::Integer => "INTEGER",
        Affinity::Real => "REAL",
        Affinity::Text => "TEXT",
        Affinity::Blob if !declared.is_empty() => "BLOB",
        Affinity::Blob | Affinity::Numeric => "ANY",
    })
}
