//! Infers the types of a file's columns from all of their values, so that no type changes a value.
//!
//! Every value belongs to one `Kind`. A [`ColumnStats`] keeps the count of each kind, and its first value. Statistics can be merged in
//! any order. So workers scan different pieces of a file, and the result does not depend on their number. The type of a column
//! and its reason follow from the kinds alone (inferred_column.rs).
//!
//! A text is a number if a double or a 64-bit integer keeps all of its digits (number.rs). [`Numbers`] chooses stricter and laxer
//! rules.

mod choice;
mod inferred_column;
mod number;
mod scan;
mod words;

pub use choice::Numbers;
pub(crate) use inferred_column::STRICT_TYPES;
pub use inferred_column::{Caveat, InferredColumn};
pub(crate) use number::{SURE_DIGITS, is_rounded};
pub use scan::scan_types;
pub use words::NumberWords;
pub(crate) use words::{Conversion, Meaning};

use crate::reader::FileColumn;
use litepress_rows::{Error, ErrorKind, OptionName, Result, message};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The most names of columns that are looked at: SQLite's limit of columns in any build (`SQLITE_MAX_COLUMN` is 32767 at most).
pub(crate) const MOST_NAMES: usize = 32_767;

/// Statistics of the columns of a file, or of a part of it.
#[derive(Clone, Debug, Default)]
pub struct FileStats {
    /// Number of records scanned. The caller of `observe` adds them.
    pub records: u64,
    columns: Vec<ColumnStats>,
    /// Positions by name, if columns have names.
    positions: HashMap<String, usize>,
    /// Words in columns of numbers.
    words: Arc<NumberWords>,
    /// Names of files by their number, if several were scanned.
    files: BTreeMap<u32, PathBuf>,
    /// The first bad record and its error.
    first_bad: Option<(u64, Arc<Error>)>,
}

/// Statistics of one column's values.
#[derive(Clone, Debug)]
pub struct ColumnStats {
    /// Name in the file. Empty in a part of a file whose records do not name their columns.
    pub name: String,
    /// Total size of all texts, numbers and nested values in bytes.
    pub bytes: u64,
    /// Size of the longest of them in bytes.
    pub longest: usize,
    /// Count and first value of each [`Kind`].
    kind_counts: [KindCount; Kind::COUNT],
    decimals: Decimals,
    /// Number of values that are JSON numbers and not texts.
    json_numbers: u64,
    /// Position of the column in the part of the file that has it first.
    order: usize,
}

/// A value in a scan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ScannedValue<'a> {
    /// NULL: JSON null, or a field that `--null-value` declares as NULL.
    Null,
    /// Text that may be of another type: a field of a CSV file, possibly empty.
    Text(&'a [u8]),
    /// A JSON string without quotes and escapes. It is always text.
    String(&'a [u8]),
    /// A JSON number in its original spelling.
    Number(&'a [u8]),
    /// JSON true or false.
    Boolean(bool),
    /// A JSON array or object in its original spelling.
    Nested(&'a [u8]),
}

/// The kind of a value for the choice of types. Numbers are classified by SQLite's spelling of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Kind {
    Null,
    /// An empty field.
    Empty,
    /// A word for a number that is missing.
    Missing,
    /// A word for infinity.
    Infinite,
    /// A 64-bit integer that a double keeps, too: `0`, `-17`.
    Integer,
    /// A 64-bit integer that no double equals: `9007199254740993`.
    LongInteger,
    /// SQLite's spelling of a double that is not whole: `1.5`.
    Fraction,
    /// SQLite's spelling of a double that is whole: `5.0`.
    Whole,
    /// A decimal that `printf('%.5f')` gives back, but not every SQLite by itself: `0.00017`.
    Fixed,
    /// A decimal with zeros at its end, which `printf('%.2f')` gives back: `12.50`.
    Padded,
    /// A number in another spelling, all of whose digits a double keeps: `1e5`, `.5`, `0.30000000000000004`.
    Respelled,
    /// A number with digits that a double does not keep: `0.12345678901234567890`.
    Lossy,
    /// An integer beyond 64 bits, all of whose digits a double keeps: `1` and 22 zeros.
    BigRound,
    /// Another integer beyond 64 bits.
    BigInteger,
    /// A JSON number beyond the largest double: `1e400`.
    Beyond,
    /// A text that is not a number, or one in a spelling that means more: `007`, `+1`.
    Other,
    /// A JSON string.
    String,
    Boolean,
    Nested,
    /// A number with spaces around it. The value also counts as its own kind.
    Spaced,
}

impl Kind {
    const COUNT: usize = Self::Spaced as usize + 1;

    /// The kinds of nonempty texts and of JSON numbers.
    const WRITTEN: [Self; 13] = [
        Self::Infinite,
        Self::Integer,
        Self::LongInteger,
        Self::Fraction,
        Self::Whole,
        Self::Fixed,
        Self::Padded,
        Self::Respelled,
        Self::Lossy,
        Self::BigRound,
        Self::BigInteger,
        Self::Beyond,
        Self::Other,
    ];
}

/// The count of a kind, and its first value.
#[derive(Clone, Debug)]
struct KindCount {
    count: u64,
    first: At,
    /// The first value, cut after [`SHOWN`] bytes.
    text: Box<[u8]>,
}

/// A record of a file. The order is that of reading; `NOWHERE` is last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct At {
    file: u32,
    record: u64,
}

impl At {
    const NOWHERE: Self = Self { file: u32::MAX, record: u64::MAX };
}

/// Number of bytes of a value that are kept for messages.
const SHOWN: usize = 64;

/// Numbers of decimals as `(first record, decimals)`: the first one, and the first one that differs from it.
#[derive(Clone, Copy, Debug)]
struct Decimals {
    first: (At, u8),
    second: (At, u8),
    /// The largest number.
    most: u8,
    /// Some decimal is negative.
    has_minus: bool,
}

impl FileStats {
    /// Creates statistics in which these words are numbers.
    pub fn with_words(words: Arc<NumberWords>) -> Self {
        Self { words, ..Self::default() }
    }

    /// Adds a value of the column at this position, in the record of this number. Creates missing columns. A column that a record
    /// lacks may be omitted: it is NULL.
    pub fn observe(&mut self, column: usize, value: ScannedValue<'_>, record: u64) {
        if column >= self.columns.len() {
            self.grow(column);
        }
        self.columns[column].observe(value, record, &self.words);
    }

    /// Adds texts of the column at this position, in records that follow one another. Much faster than a call for each.
    pub fn observe_texts<'t>(&mut self, column: usize, texts: impl Iterator<Item = Cow<'t, [u8]>>, first_record: u64) {
        if column >= self.columns.len() {
            self.grow(column);
        }
        let (column, words) = (&mut self.columns[column], &*self.words);
        for (text, record) in texts.zip(first_record..) {
            column.observe(ScannedValue::Text(&text), record, words);
        }
    }

    /// Notes that the record of this number is bad. Keeps the error of the first one only.
    pub fn see_bad(&mut self, record: u64, error: impl FnOnce() -> Error) {
        if self.first_bad.as_ref().is_none_or(|(first, _)| record < *first) {
            self.first_bad = Some((record, Arc::new(error().in_record(record))));
        }
    }

    /// Returns the error of the first bad record, which explains why no record has a column.
    pub fn take_first_bad(&mut self) -> Option<Error> {
        self.first_bad.take().and_then(|(_, error)| Arc::into_inner(error))
    }

    /// Returns the position of the column of this name. Appends the column if it is new.
    pub fn column(&mut self, name: &str) -> usize {
        if let Some(&position) = self.positions.get(name) {
            return position;
        }
        let position = self.columns.len();
        self.columns.push(ColumnStats::new(name.to_owned(), position));
        self.positions.insert(name.to_owned(), position);
        position
    }

    #[cold]
    fn grow(&mut self, column: usize) {
        for position in self.columns.len()..=column {
            self.columns.push(ColumnStats::new(String::new(), position));
        }
    }

    /// Returns the columns, in the order in which the records name them.
    pub fn columns(&self) -> Vec<&ColumnStats> {
        let mut columns: Vec<&ColumnStats> = self.columns.iter().collect();
        columns.sort_by_key(|column| (column.first(), column.order, &column.name));
        columns
    }

    /// Returns the finding of a column of the file.
    pub fn of(&self, name: &str) -> Option<&ColumnStats> {
        self.positions.get(name).map(|&position| &self.columns[position])
    }

    /// Sets the names of columns that the records do not name, in order, so that findings of different files can be merged.
    pub fn name_columns(&mut self, fields: &[FileColumn]) {
        if let Some(last) = fields.len().checked_sub(1)
            && last >= self.columns.len()
        {
            self.grow(last);
        }
        for (position, (column, field)) in self.columns.iter_mut().zip(fields).enumerate() {
            column.name.clone_from(&field.name);
            self.positions.entry(field.name.clone()).or_insert(position);
        }
    }

    /// Sets the number and name of the file, counted from 0, for reasons. Call it after all values of the file are added.
    pub fn in_file(&mut self, number: u32, name: &Path) {
        self.files = BTreeMap::from([(number, name.to_owned())]);
        for column in &mut self.columns {
            let kind_counts = column.kind_counts.iter_mut().map(|tally| &mut tally.first);
            let all = kind_counts.chain([&mut column.decimals.first.0, &mut column.decimals.second.0]);
            all.filter(|at| **at != At::NOWHERE).for_each(|at| at.file = number);
        }
    }

    /// Adds the findings of one column to those of another one.
    pub fn join(&mut self, from: &str, into: &str) {
        let Some(from) = self.of(from).cloned() else { return };
        let position = self.column(into);
        self.columns[position].merge(&from);
    }

    /// Fails if no table has so many columns: the names would take memory only to be refused at the end.
    fn refuse_too_many_columns(&self) -> Result<()> {
        if self.columns.len() <= MOST_NAMES {
            return Ok(());
        }
        let message = format!("the records have more than {MOST_NAMES} names, and a table has 2000 columns at most");
        let advice = message!["are names values here? Name the columns: ", OptionName::Schema.word("FILE.sql")];
        Err(Error::new(ErrorKind::Data, message).advise(advice))
    }

    /// Merges the findings of another part. Columns are matched by name, or by position if they have none. The order of merges does
    /// not matter.
    pub fn merge(&mut self, other: Self) {
        self.records += other.records;
        self.files.extend(other.files);
        if let Some((record, error)) = other.first_bad {
            let known = self.first_bad.take();
            self.first_bad = Some(known.filter(|(first, _)| *first <= record).unwrap_or((record, error)));
        }
        for (position, column) in other.columns.into_iter().enumerate() {
            if column.name.is_empty() {
                if position >= self.columns.len() {
                    self.grow(position);
                }
                self.columns[position].merge(&column);
            } else {
                let position = self.column(&column.name);
                self.columns[position].merge(&column);
            }
        }
    }
}

impl ColumnStats {
    /// Returns whether one of the first `limit` records of the file has the column.
    pub fn is_within(&self, limit: Option<u64>) -> bool {
        limit.is_none_or(|limit| self.first().record <= limit)
    }

    fn new(name: String, order: usize) -> Self {
        let tally = KindCount { count: 0, first: At::NOWHERE, text: Box::default() };
        let none = (At::NOWHERE, 0);
        let decimals = Decimals { first: none, second: none, most: 0, has_minus: false };
        let kind_counts = std::array::from_fn(|_| tally.clone());
        Self { name, bytes: 0, longest: 0, kind_counts, decimals, json_numbers: 0, order }
    }

    #[inline]
    fn observe(&mut self, value: ScannedValue<'_>, record: u64, words: &NumberWords) {
        let (kind, decimals, text) = match value {
            ScannedValue::Null => (Kind::Null, 0, &b""[..]),
            ScannedValue::Text(b"") => (Kind::Empty, 0, &b""[..]),
            ScannedValue::Text(text) => {
                let (kind, decimals) = self.kind_of_text(text, record, words);
                (kind, decimals, text)
            }
            ScannedValue::Number(text) if words.has(text) => (Kind::Missing, 0, text),
            ScannedValue::Number(text) => {
                self.json_numbers += 1;
                let (kind, decimals) = number::classify_json(text);
                (kind, decimals, text)
            }
            ScannedValue::String(text) if words.is_empty() => (Kind::String, 0, text),
            ScannedValue::String(text) => match words.meaning(text) {
                Some(Meaning::Missing) => (Kind::Missing, 0, text),
                Some(Meaning::Infinite(_)) => (Kind::Infinite, 0, text),
                None => (Kind::String, 0, text),
            },
            ScannedValue::Boolean(value) => (Kind::Boolean, 0, if value { &b"true"[..] } else { &b"false"[..] }),
            ScannedValue::Nested(text) => (Kind::Nested, 0, text),
        };
        self.bytes += text.len() as u64;
        self.longest = self.longest.max(text.len());
        self.count_in(kind, text, record);
        if decimals != 0 {
            self.observe_decimals(decimals, text, record);
        }
    }

    #[inline]
    fn observe_decimals(&mut self, decimals: u8, text: &[u8], record: u64) {
        let number = decimals & !number::SPACED;
        if number != 0 {
            self.decimals.observe(number, record);
            self.decimals.has_minus |= text[0] == b'-';
        }
        if number != decimals {
            self.count_in(Kind::Spaced, text, record);
        }
    }

    #[inline]
    fn count_in(&mut self, kind: Kind, text: &[u8], record: u64) {
        let tally = &mut self.kind_counts[kind as usize];
        tally.count += 1;
        if record < tally.first.record {
            tally.begin(record, text);
        }
    }

    #[inline]
    fn kind_of_text(&self, text: &[u8], record: u64, words: &NumberWords) -> (Kind, u8) {
        if words.is_empty() {
            return self.kind_of(text, record);
        }
        match words.meaning(text) {
            Some(Meaning::Missing) => (Kind::Missing, 0),
            Some(Meaning::Infinite(_)) => (Kind::Infinite, 0),
            None => self.kind_of(text, record),
        }
    }

    /// Classifies a nonempty text. Texts after the first one that is not a number need no classification: it makes the column
    /// TEXT.
    #[inline]
    fn kind_of(&self, text: &[u8], record: u64) -> (Kind, u8) {
        if record >= self.kind_counts[Kind::Other as usize].first.record {
            return (Kind::Other, 0);
        }
        number::classify(text)
    }

    fn tally(&self, kind: Kind) -> &KindCount {
        &self.kind_counts[kind as usize]
    }

    fn count(&self, kind: Kind) -> u64 {
        self.tally(kind).count
    }

    fn has(&self, kind: Kind) -> bool {
        self.count(kind) > 0
    }

    /// Returns the number of values that are neither NULL, nor empty fields, nor words for a number that is missing.
    pub fn values(&self) -> u64 {
        let none = [Kind::Null, Kind::Empty, Kind::Missing, Kind::Spaced].map(|kind| self.count(kind));
        self.kind_counts.iter().map(|tally| tally.count).sum::<u64>() - none.iter().sum::<u64>()
    }

    /// Returns the number of empty fields. Empty JSON strings do not count.
    pub fn empties(&self) -> u64 {
        self.count(Kind::Empty)
    }

    /// Returns the number of records, of `records` in all, that have no value.
    pub fn nulls(&self, records: u64) -> u64 {
        records.saturating_sub(self.values() + self.empties()).max(self.count(Kind::Null))
    }

    fn first(&self) -> At {
        self.kind_counts.iter().map(|tally| tally.first).min().unwrap_or(At::NOWHERE)
    }

    /// Returns the tally of the kind of text or JSON number that came first, if a double is near it.
    fn first_number(&self) -> Option<&KindCount> {
        let kinds = Kind::WRITTEN.iter().filter(|kind| **kind != Kind::Beyond);
        kinds.map(|&kind| self.tally(kind)).min_by_key(|tally| tally.first)
    }

    fn merge(&mut self, other: &Self) {
        if (other.first(), other.order) < (self.first(), self.order) || self.first() == At::NOWHERE {
            self.order = other.order;
        }
        for (tally, theirs) in self.kind_counts.iter_mut().zip(&other.kind_counts) {
            tally.merge(theirs);
        }
        self.decimals.most = self.decimals.most.max(other.decimals.most);
        self.decimals.has_minus |= other.decimals.has_minus;
        self.decimals.add(other.decimals.first);
        self.decimals.add(other.decimals.second);
        self.json_numbers += other.json_numbers;
        self.bytes += other.bytes;
        self.longest = self.longest.max(other.longest);
    }
}

impl KindCount {
    #[cold]
    fn begin(&mut self, record: u64, text: &[u8]) {
        self.first = At { file: 0, record };
        self.text = text[..text.len().min(SHOWN + 1)].into();
    }

    fn merge(&mut self, other: &Self) {
        self.count += other.count;
        if other.first < self.first {
            self.first = other.first;
            self.text.clone_from(&other.text);
        }
    }
}

impl Decimals {
    #[inline]
    fn observe(&mut self, decimals: u8, record: u64) {
        if decimals != self.first.1 || record < self.first.0.record {
            self.add((At { file: 0, record }, decimals));
        }
    }

    fn add(&mut self, (at, decimals): (At, u8)) {
        if at == At::NOWHERE {
            return;
        }
        self.most = self.most.max(decimals);
        if decimals == self.first.1 {
            self.first.0 = self.first.0.min(at);
        } else if at < self.first.0 {
            self.second = self.first;
            self.first = (at, decimals);
        } else if at < self.second.0 {
            self.second = (at, decimals);
        }
    }

    /// Returns the number of decimals if all values have the same.
    fn only(&self) -> Option<u8> {
        (self.first.0 != At::NOWHERE && self.second.0 == At::NOWHERE).then_some(self.first.1)
    }
}

#[cfg(test)]
mod tests;
