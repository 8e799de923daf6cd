//! The rules for the values of a b-tree's records: what each field may hold, and what is legal but unusual.

use super::class;
use litepress_format::header::TextEncoding;
use litepress_format::text;
use litepress_format::value::Value;
use litepress_rows::{Affinity, affinity};
use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};

/// The rule for one field of the records of a b-tree.
#[derive(Debug)]
pub(crate) struct FieldRule {
    /// Classes that need no second look.
    pub(crate) quick: u8,
    /// Classes that are allowed.
    pub(crate) accepts: u8,
    /// The affinity that decides about texts that look like numbers, and about doubles that are integers. `None`
    /// allows all of them.
    pub(crate) affinity: Option<Affinity>,
    /// `table.column`, for messages.
    pub(crate) name: String,
    /// The message for a value of a class that is refused, except for NULL.
    pub(crate) refusal: String,
    /// Whether a record may end before this field.
    pub(crate) may_be_missing: bool,
    /// Legal but unusual values that were seen.
    pub(crate) warnings: Warnings,
}

/// Flags for values that SQLite stores only on odd occasions. They become notes, not faults.
#[derive(Debug, Default)]
pub(crate) struct Warnings {
    whole_double: AtomicBool,
    ill_formed_text: AtomicBool,
    number_before_nul: AtomicBool,
    early_small_int: AtomicBool,
}

impl Warnings {
    /// Sets a flag that all threads share. Only the first call writes.
    fn mark(flag: &AtomicBool) {
        if !flag.load(Ordering::Relaxed) {
            flag.store(true, Ordering::Relaxed);
        }
    }
}

impl FieldRule {
    /// Creates a rule that accepts `accepts`. Only texts and doubles get a second look.
    pub(crate) fn new(name: String, accepts: u8, affinity: Option<Affinity>, refusal: String) -> Self {
        let quick = accepts & !(class::TEXT | class::REAL);
        Self { quick, accepts, affinity, name, refusal, may_be_missing: true, warnings: Warnings::default() }
    }

    /// Creates the rule for a field that repeats a table's value, which is checked in the table.
    pub(crate) fn copy(name: String, accepts: u8) -> Self {
        Self { quick: accepts, may_be_missing: false, ..Self::new(name, accepts, None, "unexpected value in".into()) }
    }

    /// Describes a value of a class that is not accepted.
    #[cold]
    fn refuse(&self, class: u8) -> String {
        match class {
            class::NULL => format!("NULL value in {}", self.name),
            class::RESERVED => format!("serial type 10 or 11 in {}", self.name),
            _ => format!("{} {}", self.refusal, self.name),
        }
    }

    /// Takes a second look at a value whose class is not in `quick`.
    pub(super) fn check_value(&self, class: u8, body: &[u8], encoding: TextEncoding) -> Result<(), String> {
        if self.accepts & class == 0 {
            return Err(self.refuse(class));
        }
        match class {
            class::REAL => self.check_real(body),
            class::TEXT => self.check_text(body, encoding),
            // These get a second look only in a database of an earlier schema format.
            class::SMALL_INT => {
                Warnings::mark(&self.warnings.early_small_int);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn check_real(&self, body: &[u8]) -> Result<(), String> {
        let Some(bytes) = body.first_chunk() else { return Ok(()) };
        let real = f64::from_be_bytes(*bytes);
        if real.is_nan() {
            return Err(format!("NaN stored in {}, where SQLite stores NULL", self.name));
        }
        match self.affinity {
            Some(Affinity::Integer | Affinity::Numeric)
                if matches!(affinity::apply(Value::Real(real), Affinity::Integer), Value::Int(_)) =>
            {
                Err(format!("{real:?} is stored as a double in {}, where SQLite stores an integer", self.name))
            }
            Some(Affinity::Real) if affinity::real_as_integer(real).is_some() => {
                Warnings::mark(&self.warnings.whole_double);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    #[inline]
    fn check_text(&self, body: &[u8], encoding: TextEncoding) -> Result<(), String> {
        if !text::is_valid(body, encoding) {
            Warnings::mark(&self.warnings.ill_formed_text);
        }
        if !self.is_numeric() || !is_number(body, encoding) {
            return Ok(());
        }
        if to_utf8(body, encoding).contains(&0) {
            Warnings::mark(&self.warnings.number_before_nul);
            return Ok(());
        }
        Err(format!("TEXT value in {}, whose affinity makes a number of it", self.name))
    }

    /// Returns whether the column would turn texts into numbers.
    fn is_numeric(&self) -> bool {
        matches!(self.affinity, Some(Affinity::Integer | Affinity::Numeric | Affinity::Real))
    }
}

/// Returns whether a numeric column would have turned this text into a number.
fn is_number(body: &[u8], encoding: TextEncoding) -> bool {
    let text = to_utf8(body, encoding);
    // Most texts are not numbers, and the first character of most of these shows it.
    let could_be = text.iter().find(|byte| !matches!(byte, b' ' | b'\t'..=b'\r'));
    could_be.is_some_and(|first| matches!(first, b'0'..=b'9' | b'+' | b'-' | b'.'))
        && !matches!(affinity::apply(Value::Text(&text), Affinity::Integer), Value::Text(_))
}

fn to_utf8(body: &[u8], encoding: TextEncoding) -> Cow<'_, [u8]> {
    match encoding {
        TextEncoding::Utf8 => Cow::Borrowed(body),
        _ => Cow::Owned(text::to_utf8(body, encoding).into_bytes()),
    }
}

/// The part of a field's rule that the fast path needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct QuickRule {
    /// As [`FieldRule::quick`].
    pub(super) quick: u8,
    /// TEXT if ASCII needs no second look; REAL if a double with a fraction needs none.
    plain: u8,
}

impl QuickRule {
    /// Returns whether a value needs no second look although its class is not in `quick`.
    #[inline]
    pub(super) fn is_plain(self, class: u8, body: Option<&[u8]>) -> bool {
        match body {
            Some(text) if self.plain & class & class::TEXT != 0 => is_ascii(text),
            Some(real) if self.plain & class & class::REAL != 0 => {
                real.first_chunk().is_some_and(|real| has_fraction(f64::from_be_bytes(*real)))
            }
            _ => false,
        }
    }
}

/// Returns whether no byte has its high bit set. It does not branch per byte, because most texts are short.
#[inline]
fn is_ascii(text: &[u8]) -> bool {
    const HIGH_BITS: u64 = 0x8080_8080_8080_8080;
    let (words, rest) = text.as_chunks();
    let bits = words.iter().fold(0, |bits, word| bits | u64::from_be_bytes(*word));
    // At most seven bytes, read as two halves that overlap.
    let rest = match (rest.first_chunk(), rest.last_chunk()) {
        (Some(first), Some(last)) => u64::from(u32::from_be_bytes(*first) | u32::from_be_bytes(*last)),
        _ => rest.iter().fold(0, |bits, byte| bits | u64::from(*byte)),
    };
    (bits | rest) & HIGH_BITS == 0
}

/// Returns whether a double lies between two integers: it is not NaN, and no column would store it as an integer.
/// Returns `false` for large doubles, which get a second look.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the whole part of a double that is small enough")]
fn has_fraction(real: f64) -> bool {
    const NO_FRACTION_FROM: f64 = 4_503_599_627_370_496.0; // 2^52
    real.abs() < NO_FRACTION_FROM && (real as i64) as f64 != real
}

/// The rules of all records of one b-tree.
#[derive(Debug)]
pub(crate) struct RecordRules {
    /// The rules of all fields, in storage order; `None` if the columns are unknown.
    fields: Option<Vec<FieldRule>>,
    /// The rules for the fast path; empty if the columns are unknown.
    pub(super) quick: Vec<QuickRule>,
    /// The rule for every field of a b-tree whose columns are unknown.
    unknown: FieldRule,
    pub(super) encoding: TextEncoding,
}

impl RecordRules {
    pub(crate) fn new(mut fields: Option<Vec<FieldRule>>, encoding: TextEncoding, schema_format: u32) -> Self {
        let mut unknown = FieldRule::new("a column".into(), class::ANY, None, String::new());
        if schema_format < 4 {
            for rule in fields.iter_mut().flatten().chain([&mut unknown]) {
                rule.quick &= !class::SMALL_INT;
            }
        }
        let quick = |rule: &FieldRule| QuickRule {
            quick: rule.quick,
            plain: rule.accepts
                & match encoding {
                    TextEncoding::Utf8 if !rule.is_numeric() => class::TEXT | class::REAL,
                    _ => class::REAL,
                },
        };
        let quick = fields.iter().flatten().map(quick).collect();
        Self { fields, quick, unknown, encoding }
    }

    /// Returns what is legal but unusual in the records, one sentence each.
    pub(crate) fn warnings(&self) -> impl Iterator<Item = String> {
        let encoding = text::name(self.encoding);
        self.fields.iter().flatten().chain([&self.unknown]).flat_map(move |rule| {
            let FieldRule { name, warnings, .. } = rule;
            let sayings = [
                (&warnings.whole_double, format!("{name} holds whole numbers as doubles of 8 bytes")),
                (&warnings.ill_formed_text, format!("{name} holds text that is not valid {encoding}")),
                (
                    &warnings.number_before_nul,
                    format!(
                        "{name} holds text with a number before a NUL, which older versions of SQLite keep as text"
                    ),
                ),
                (
                    &warnings.early_small_int,
                    format!("{name} holds the serial types 8 or 9, which schema formats before 4 do not have"),
                ),
            ];
            sayings.into_iter().filter(|(seen, _)| seen.load(Ordering::Relaxed)).map(|(_, saying)| saying)
        })
    }

    /// Returns the number of fields that have a rule.
    pub(crate) fn columns(&self) -> usize {
        self.quick.len()
    }

    pub(super) fn rule(&self, index: usize) -> Option<&FieldRule> {
        match &self.fields {
            Some(fields) => fields.get(index),
            None => Some(&self.unknown),
        }
    }

    /// Checks that a record may end after `fields` fields.
    pub(super) fn check_missing(&self, fields: usize) -> Result<(), String> {
        let missing = self.fields.iter().flat_map(|rules| rules.iter().skip(fields));
        match missing.into_iter().find(|rule| !rule.may_be_missing) {
            Some(rule) => Err(format!("the record ends before {}", rule.name)),
            None => Ok(()),
        }
    }
}
