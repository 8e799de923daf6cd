//! The type of a column, and the reason for it. choice.rs has the rules.
//!
//! Empty fields beside numbers are NULL, since no other text is in the column to be confused with. In TEXT columns they are
//! empty texts.

use super::choice::{Choice, Chosen, Numbers};
use super::{ColumnStats, FileStats, Kind, ScannedValue, number};
use crate::reader::{FileColumn, FileColumnKind};
use litepress_rows::{Affinity, Message, OptionName, counted, grouped, message};
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
    /// The warning of the summary beside the reason.
    pub caveat: Option<Caveat>,
    /// The kinds that the type keeps: one bit for each [`Kind`].
    kept: u32,
}

/// A warning about a column of numbers, for the summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Caveat {
    /// The column is TEXT, because a double does not keep all digits of some of its numbers.
    KeptAsText {
        /// Number of these numbers.
        count: u64,
        /// The first one: `'0.1234567890123456789' in record 3`.
        first: String,
    },
    /// Numbers beyond the largest double stay texts, beside other numbers.
    BeyondRange {
        /// Number of these numbers.
        count: u64,
        /// The first one.
        first: String,
    },
    /// Numbers of the column are rounded to the nearest double.
    Rounded {
        /// Number of these numbers.
        count: u64,
        /// The first one.
        first: String,
    },
}

impl FileStats {
    /// Returns the types of `fields`, or of the columns that the records name if `fields` is empty. For a `strict` table, chooses
    /// only types of STRICT tables. If the scan was limited to `sampled` records, the reasons state their number. `numbers` gives
    /// the rule for the numbers of a column.
    pub fn decide(
        &self,
        fields: &[FileColumn],
        strict: bool,
        sampled: Option<u64>,
        numbers: &dyn Fn(&str) -> Numbers,
    ) -> Vec<InferredColumn> {
        let text = |finding: &ColumnStats| {
            let mut decision = self.decide_by_values(finding, strict, numbers(&finding.name));
            if sampled.is_some() {
                decision.reason = decision.reason.and(format!(" (of the first {} records)", grouped(self.records)));
            }
            decision
        };
        if fields.is_empty() {
            return self.columns().into_iter().map(text).collect();
        }
        let decide = |(position, field): (usize, &FileColumn)| match &field.kind {
            FileColumnKind::Typed { declared_type, reason, not_null } => {
                InferredColumn::of_typed(&field.name, declared_type, reason, *not_null, strict)
            }
            FileColumnKind::Text => {
                let unnamed = || self.columns.get(position).filter(|column| column.name.is_empty());
                let finding = self.of(&field.name).or_else(unnamed).cloned();
                let finding = finding.unwrap_or_else(|| ColumnStats::new(String::new(), position));
                text(&ColumnStats { name: field.name.clone(), ..finding })
            }
        };
        fields.iter().enumerate().map(decide).collect()
    }

    fn decide_by_values(&self, finding: &ColumnStats, strict: bool, numbers: Numbers) -> InferredColumn {
        let Choice { chosen, mut reason, caveat } = self.choose(finding, strict, numbers);
        let is_number = !matches!(chosen, Chosen::Text | Chosen::Any);
        if is_number && finding.has(Kind::Missing) {
            let (count, first) = (finding.count(Kind::Missing), self.place(finding.tally(Kind::Missing)));
            let verb = if count == 1 { "becomes" } else { "become" };
            reason = format!("{reason}; {} {verb} NULL, {first}", counted(count, "word"));
        }
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
            kept: chosen.kept(finding, numbers),
            caveat,
        }
    }
}

/// The kinds that TEXT columns keep: all, since they store the text of any value.
pub(super) const EVERYTHING: u32 = u32::MAX;

impl InferredColumn {
    /// Returns a column whose type the file itself declares.
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
            caveat: None,
            kept: EVERYTHING,
        }
    }

    /// Returns a column with a type that is declared elsewhere.
    #[must_use]
    pub fn declared(name: &str, declared_type: &str, reason: &str, strict: bool) -> Self {
        Self::of_typed(name, declared_type, &reason.into(), false, strict)
    }

    /// Returns a column of texts that no file has.
    pub(crate) fn of_text(name: &str, reason: Message) -> Self {
        Self::of_typed(name, "TEXT", &reason, false, false)
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
            caveat: None,
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
            ScannedValue::Text(text) => number::classify(text),
            ScannedValue::Number(text) => number::classify_json(text),
            ScannedValue::String(_) => (Kind::String, 0),
            ScannedValue::Boolean(_) => (Kind::Boolean, 0),
            ScannedValue::Nested(_) => (Kind::Nested, 0),
        };
        let has = |kind: Kind| self.kept & (1 << kind as u8) != 0;
        let number = decimals & !number::SPACED;
        has(kind)
            && (number == decimals || has(Kind::Spaced))
            && (number == 0 || self.decimals.is_none_or(|all| all == number))
    }
}

impl InferredColumn {
    /// Returns whether numbers are rounded to the nearest double.
    pub(crate) fn rounds(&self) -> bool {
        matches!(self.caveat, Some(Caveat::Rounded { .. }))
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
