//! Chooses the type of a column by the kinds of its values.
//!
//! | All values are | Type | In a STRICT table |
//! |---|---|---|
//! | none, NULL, empty fields | TEXT | TEXT |
//! | 64-bit integers | INTEGER | INTEGER |
//! | numbers of which a double keeps all digits; decimals with zeros at their end all have as many decimals (12.50) | REAL | REAL |
//! | these, and 64-bit integers that no double equals | NUMERIC | TEXT |
//! | JSON true and false | INTEGER | INTEGER |
//! | JSON numbers of any size | REAL or NUMERIC | REAL or ANY |
//! | JSON numbers, and strings, true, false, arrays, objects or numbers beyond the largest double | none | ANY |
//! | anything else | TEXT | TEXT |
//!
//! [`Numbers`] chooses another rule for the numbers of text files.

use super::inferred_column::{Caveat, EVERYTHING};
use super::{ColumnStats, FileStats, Kind, KindCount, number};
use litepress_rows::{counted, grouped, quote};

/// The rule for columns of numbers in text files (`--numbers`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Numbers {
    /// The text of each number must come back byte for byte, or the column is TEXT.
    Exact,
    /// The digits of each number must come back, or the column is TEXT.
    #[default]
    Digits,
    /// Numbers are rounded to the nearest double if it does not keep their digits.
    Lenient,
}

/// A type that inference can choose.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Chosen {
    Integer,
    Boolean,
    /// Doubles whose texts come back.
    Real,
    /// Doubles whose texts come back with this number of decimals.
    Fixed(u8),
    /// Doubles whose digits come back.
    Digits,
    /// Integers and doubles whose texts come back.
    Numeric,
    /// Integers and doubles whose digits come back.
    LongNumeric,
    /// Both numbers and other values.
    Any,
    Text,
}

/// A chosen type with its reason.
pub(super) struct Choice {
    pub chosen: Chosen,
    pub reason: String,
    pub caveat: Option<Caveat>,
}

/// The kinds of whole numbers without a point.
const INTEGERS: [Kind; 4] = [Kind::Integer, Kind::LongInteger, Kind::BigRound, Kind::BigInteger];

/// The kinds of decimals that come back with a known number of decimals.
const DECIMALS: [Kind; 4] = [Kind::Fraction, Kind::Whole, Kind::Fixed, Kind::Padded];

impl From<(Chosen, String)> for Choice {
    fn from((chosen, reason): (Chosen, String)) -> Self {
        Self { chosen, reason, caveat: None }
    }
}

impl FileStats {
    pub(super) fn choose(&self, finding: &ColumnStats, strict: bool, numbers: Numbers) -> Choice {
        let [strings, booleans, nested] = [Kind::String, Kind::Boolean, Kind::Nested].map(|kind| finding.count(kind));
        let values = finding.values();
        let written = values - strings - booleans - nested;
        if values == 0 {
            let empties = finding.empties() > 0;
            return (Chosen::Text, if empties { "all fields are empty" } else { "there is no value" }.to_owned())
                .into();
        }
        if booleans == values {
            return (Chosen::Boolean, all(finding, "is true or false", "are true or false")).into();
        }
        if strings == values {
            return (Chosen::Text, all(finding, "is a string", "are strings")).into();
        }
        let is_json = finding.json_numbers + finding.count(Kind::Infinite) == written && !finding.has(Kind::Other);
        let beyond = finding.count(Kind::Beyond);
        if is_json && finding.json_numbers > beyond && strings + booleans + nested + beyond > 0 {
            return self.choose_any(finding);
        }
        if booleans > 0 {
            let place = self.place(finding.tally(Kind::Boolean));
            return (Chosen::Text, format!("{place} is true or false, and others are not")).into();
        }
        if nested > 0 {
            let place = self.place(finding.tally(Kind::Nested));
            return (Chosen::Text, format!("{place} is an array or object, kept as JSON")).into();
        }
        if strings > 0 {
            let reason = if finding.json_numbers == written {
                self.why_text(finding, Numbers::Digits)
            } else {
                format!("{} is a string", self.place(finding.tally(Kind::String)))
            };
            return (Chosen::Text, reason).into();
        }
        if beyond > 0 {
            return (Chosen::Text, self.why_text(finding, numbers)).into();
        }
        if is_json { self.choose_json_number(finding, strict) } else { self.choose_number(finding, strict, numbers) }
    }

    /// Chooses no type for JSON numbers beside other values.
    fn choose_any(&self, finding: &ColumnStats) -> Choice {
        let others = [
            (Kind::String, "a string"),
            (Kind::Nested, "an array or object"),
            (Kind::Boolean, "true or false (1 or 0)"),
            (Kind::Beyond, "beyond the largest double"),
        ];
        let others = others.map(|(kind, what)| (finding.tally(kind), what));
        let [first, rest @ ..] = others;
        let (tally, what) =
            rest.into_iter().fold(first, |one, other| if other.0.first < one.0.first { other } else { one });
        let number = finding.first_number().map_or_else(String::new, |tally| self.place(tally));
        let reason = format!("{} is {what} and {number} a number, and each is kept as it is", self.place(tally));
        Choice { caveat: self.rounded(finding).or_else(|| self.beyond(finding)), ..(Chosen::Any, reason).into() }
    }

    fn beyond(&self, finding: &ColumnStats) -> Option<Caveat> {
        let tally = finding.tally(Kind::Beyond);
        (tally.count > 0).then(|| Caveat::BeyondRange { count: tally.count, first: self.place(tally) })
    }

    /// Chooses a type for JSON numbers, which are numbers whatever their digits.
    fn choose_json_number(&self, finding: &ColumnStats, strict: bool) -> Choice {
        let has_long = finding.has(Kind::LongInteger);
        let is_small =
            [Kind::LongInteger, Kind::BigRound, Kind::BigInteger, Kind::Lossy].iter().all(|&kind| !finding.has(kind));
        if is_small || finding.only(&[Kind::Integer, Kind::LongInteger]) {
            return self.choose_number(finding, strict, Numbers::Digits).or_digits(finding);
        }
        let caveat = self.rounded(finding);
        if !has_long && (strict || !finding.only(&INTEGERS)) {
            let reason = all(finding, "is a number", "are numbers");
            return Choice { caveat, ..(Chosen::Digits, reason).into() };
        }
        let chosen = if strict { Chosen::Any } else { Chosen::LongNumeric };
        Choice { caveat, ..(chosen, all(finding, "is a number", "are numbers, and some are long integers")).into() }
    }

    fn choose_number(&self, finding: &ColumnStats, strict: bool, numbers: Numbers) -> Choice {
        if numbers == Numbers::Exact && finding.has(Kind::Spaced) {
            return (Chosen::Text, self.why_text(finding, numbers)).into();
        }
        if finding.only(&[Kind::Integer, Kind::LongInteger]) {
            return (Chosen::Integer, all(finding, "is a whole number", "are whole numbers")).into();
        }
        if finding.only(&[Kind::Fraction, Kind::Whole]) {
            let (one, more) =
                ("is a decimal that reads back as it is written", "are decimals that read back as they are written");
            return (Chosen::Real, all(finding, one, more)).into();
        }
        if finding.only(&DECIMALS)
            && (numbers == Numbers::Exact || finding.has(Kind::Padded))
            && let Some(decimals) = finding.decimals.only()
        {
            let have = counted(decimals.into(), "decimal");
            return (Chosen::Fixed(decimals), all(finding, &format!("has {have}"), &format!("have {have}"))).into();
        }
        if numbers != Numbers::Exact || finding.has(Kind::Infinite) {
            return self.choose_double(finding, strict, numbers);
        }
        if finding.only(&[Kind::Integer, Kind::LongInteger, Kind::Fraction]) {
            if strict {
                let reason = "are whole numbers or decimals, and a STRICT table has no type that keeps both as written";
                return (Chosen::Text, format!("the {} values {reason}", grouped(finding.values()))).into();
            }
            let reason = "are whole numbers or decimals that read back as they are written";
            return (Chosen::Numeric, format!("all {} values {reason}", grouped(finding.values()))).into();
        }
        (Chosen::Text, self.why_text(finding, numbers)).into()
    }

    /// Chooses a type for numbers whose texts need not come back.
    fn choose_double(&self, finding: &ColumnStats, strict: bool, numbers: Numbers) -> Choice {
        let is_lenient = numbers == Numbers::Lenient;
        let text = |caveat| Choice { caveat, ..(Chosen::Text, self.why_text(finding, numbers)).into() };
        // Integers beyond 64 bits are names, unless decimals beside them show that they are measured.
        if finding.has(Kind::Other) || finding.only(&INTEGERS) || finding.has_versions() {
            return text(None);
        }
        if !is_lenient && (finding.has(Kind::Lossy) || finding.has(Kind::BigInteger)) {
            let (count, first) = self.lost(finding);
            return text(Some(Caveat::KeptAsText { count, first }));
        }
        let caveat = self.rounded(finding);
        if finding.has(Kind::LongInteger) && !(strict && is_lenient) {
            if strict {
                let place = self.place(finding.tally(Kind::LongInteger));
                let reason = format!("{place} is an integer that no double keeps, and others are decimals");
                return (Chosen::Text, reason).into();
            }
            let more = "are whole numbers, or decimals of which a double keeps all digits";
            return Choice { caveat, ..(Chosen::LongNumeric, all(finding, "is a number", more)).into() };
        }
        let reason = if caveat.is_some() {
            all(finding, "is a number", "are numbers")
        } else {
            let (one, more) =
                ("is a number of which a double keeps all digits", "are numbers of which a double keeps all digits");
            all(finding, one, more)
        };
        Choice { caveat, ..(Chosen::Digits, reason).into() }
    }

    /// Returns the count of numbers that a double rounds, and the first of them.
    fn lost(&self, finding: &ColumnStats) -> (u64, String) {
        let [lossy, big] = [Kind::Lossy, Kind::BigInteger].map(|kind| finding.tally(kind));
        let first = if lossy.first <= big.first { lossy } else { big };
        (lossy.count + big.count, self.place(first))
    }

    fn rounded(&self, finding: &ColumnStats) -> Option<Caveat> {
        let (count, first) = self.lost(finding);
        (count > 0).then_some(Caveat::Rounded { count, first })
    }

    /// Describes the value that no numeric type keeps.
    fn why_text(&self, finding: &ColumnStats, numbers: Numbers) -> String {
        let tally = |kind| finding.tally(kind);
        let why = |kind: Kind, why: String| format!("{} {why}", self.place(tally(kind)));
        if finding.has(Kind::Other) {
            return why(Kind::Other, number::why_not(&tally(Kind::Other).text));
        }
        if finding.has(Kind::Beyond) {
            return why(Kind::Beyond, "is beyond the largest double".to_owned());
        }
        if finding.has(Kind::Spaced) && numbers == Numbers::Exact {
            return why(Kind::Spaced, "has spaces around it".to_owned());
        }
        if let Some(big) = [Kind::BigInteger, Kind::BigRound].into_iter().find(|&kind| finding.has(kind)) {
            return why(big, "does not fit 64 bits".to_owned());
        }
        if finding.has(Kind::Lossy) && numbers != Numbers::Exact {
            return why(Kind::Lossy, "has more digits than its double keeps".to_owned());
        }
        if finding.has(Kind::Padded) && numbers != Numbers::Exact {
            return why(Kind::Padded, "ends with a zero, and not all numbers have as many decimals".to_owned());
        }
        let not_written = [Kind::Respelled, Kind::Lossy, Kind::Padded, Kind::Fixed];
        let first = not_written.into_iter().filter(|&kind| finding.has(kind)).min_by_key(|&kind| tally(kind).first);
        if let Some(kind) = first {
            return why(kind, number::why_not_written(&tally(kind).text));
        }
        // Integers beside doubles that are whole.
        let [integer, double] = [Kind::Integer, Kind::Whole].map(|kind| self.place(tally(kind)));
        format!("{integer} is written as a whole number and {double} as a decimal, which no type for numbers keeps")
    }

    /// Returns `'007' in record 12`.
    pub(super) fn place(&self, tally: &KindCount) -> String {
        let value = quote(&litepress_format::value::Value::Text(&tally.text));
        let file = match self.files.get(&tally.first.file).filter(|_| self.files.len() > 1) {
            Some(file) => format!(" of {}", file.display()),
            None => String::new(),
        };
        format!("{value} in record {}{file}", grouped(tally.first.record))
    }
}

impl Choice {
    /// Replaces TEXT by REAL for numbers that cannot be anything else.
    fn or_digits(self, finding: &ColumnStats) -> Self {
        if self.chosen != Chosen::Text {
            return self;
        }
        (Chosen::Digits, all(finding, "is a number", "are numbers")).into()
    }
}

impl ColumnStats {
    /// Returns whether all texts and JSON numbers are of these kinds.
    fn only(&self, kinds: &[Kind]) -> bool {
        Kind::WRITTEN.iter().all(|kind| kinds.contains(kind) || !self.has(*kind))
    }

    /// Returns whether the decimals may be versions (1.9, 1.10): some end with a zero, not all have as many decimals, and none is
    /// negative or as long as measurements are.
    fn has_versions(&self) -> bool {
        const MOST_DECIMALS: u8 = 3;
        let is_measured = [Kind::Fixed, Kind::Respelled, Kind::Lossy].iter().any(|&kind| self.has(kind))
            || self.decimals.most > MOST_DECIMALS
            || self.decimals.has_minus;
        let has_same_decimals = self.decimals.only().is_some() && !self.has(Kind::Integer);
        self.has(Kind::Padded) && !has_same_decimals && !is_measured
    }
}

impl Chosen {
    pub fn declared_type(self, strict: bool) -> &'static str {
        match self {
            Self::Integer | Self::Boolean => "INTEGER",
            Self::Real | Self::Fixed(_) | Self::Digits => "REAL",
            Self::Numeric | Self::LongNumeric => "NUMERIC",
            Self::Any if strict => "ANY",
            Self::Any => "",
            Self::Text => "TEXT",
        }
    }

    /// Returns the kinds of values that the column keeps by this rule, one bit each.
    pub fn kept(self, finding: &ColumnStats, numbers: Numbers) -> u32 {
        let mut kinds = vec![Kind::Null, Kind::Empty, Kind::Missing];
        let digits = [Kind::Infinite, Kind::Integer, Kind::Fraction, Kind::Whole, Kind::Fixed, Kind::Respelled];
        match self {
            Self::Text => return EVERYTHING,
            Self::Integer => kinds.extend([Kind::Integer, Kind::LongInteger]),
            Self::Boolean => kinds.push(Kind::Boolean),
            Self::Fixed(_) => kinds.extend(DECIMALS),
            Self::Real if numbers == Numbers::Exact => kinds.extend([Kind::Fraction, Kind::Whole]),
            Self::Numeric => kinds.extend([Kind::Integer, Kind::LongInteger, Kind::Fraction]),
            Self::Real | Self::Digits => kinds.extend(digits),
            Self::LongNumeric => kinds.extend(digits.into_iter().chain([Kind::LongInteger])),
            Self::Any => {
                let others = [Kind::LongInteger, Kind::String, Kind::Nested, Kind::Boolean, Kind::Beyond];
                kinds.extend(digits.into_iter().chain(others));
            }
        }
        if numbers != Numbers::Exact {
            kinds.push(Kind::Spaced);
        }
        // A sample decides about zeros at the end of decimals, and about rounding.
        let seen = [Kind::Padded, Kind::BigRound, Kind::BigInteger, Kind::Lossy];
        kinds.extend(seen.into_iter().filter(|&kind| finding.has(kind)));
        kinds.iter().fold(0, |bits, &kind| bits | 1 << kind as u8)
    }
}

/// Returns `all 1,000 values are numbers`, or `the only value is a number`.
fn all(finding: &ColumnStats, one: &str, more: &str) -> String {
    match finding.values() {
        1 => format!("the only value {one}"),
        values => format!("all {} values {more}", grouped(values)),
    }
}
