//! What types the columns of a file can have, from all of their values: no type that changes one.
//!
//! Every value belongs to one `Kind`, and of each kind a [`Finding`] keeps how often it came and where it came first.
//! Both can be merged in any order, so workers look at different pieces of a file and the result does not depend on who
//! looked at what. What the type is, and why, follows from the kinds alone (decision.rs).
//!
//! A text is a number only where SQLite writes that very text for the number, whichever of its versions is asked
//! (number.rs).

mod decision;
mod number;
mod survey;

pub use decision::Decision;
pub(crate) use decision::STRICT_TYPES;
pub use survey::survey;

use crate::reader::Field;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

/// What is known of the columns of a file, or of a part of it.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// Records looked at. Whoever shows their values adds them.
    pub records: u64,
    columns: Vec<Finding>,
    /// Positions by name, for columns that have names.
    positions: HashMap<String, usize>,
    /// Names of files by their number, where several were looked at.
    files: BTreeMap<u32, PathBuf>,
}

/// What is known of the values of one column.
#[derive(Clone, Debug)]
pub struct Finding {
    /// Name in the file; empty in a part of a file whose records do not name their columns.
    pub name: String,
    /// Bytes of all texts, numbers and nested values together.
    pub bytes: u64,
    /// Bytes of the longest of them.
    pub longest: usize,
    /// By [`Kind`].
    tallies: [Tally; Kind::COUNT],
    decimals: Decimals,
    /// How many of the values are JSON numbers and not texts.
    json_numbers: u64,
    /// Position among the columns of the part of the file in which it came first.
    order: usize,
}

/// A value as a survey sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Seen<'a> {
    /// NULL: JSON null, or a field that `--null` says is one.
    Null,
    /// Text that may mean something else: a field of a CSV file, empty ones too.
    Text(&'a [u8]),
    /// A JSON string without its quotes and escapes: text, whatever it looks like.
    String(&'a [u8]),
    /// A JSON number as it is written.
    Number(&'a [u8]),
    /// JSON true or false.
    Boolean(bool),
    /// A JSON array or object as it is written.
    Nested(&'a [u8]),
}

/// What a value is, as far as types are concerned. The kinds of numbers are how SQLite would write them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Kind {
    Null,
    /// An empty field.
    Empty,
    /// A whole number of 64 bits: `0`, `-17`.
    Integer,
    /// As SQLite writes the double, and not a whole number: `1.5`.
    Fraction,
    /// As SQLite writes the double, which is a whole number: `5.0`.
    Whole,
    /// Not as every SQLite writes the double, but `printf('%.2f')` gives it back: `12.50`.
    Padded,
    /// No number, or one that is written otherwise.
    Other,
    /// A JSON string.
    String,
    Boolean,
    Nested,
}

impl Kind {
    const COUNT: usize = Self::Nested as usize + 1;

    /// The kinds of a text or a JSON number that is not empty.
    const WRITTEN: [Self; 5] = [Self::Integer, Self::Fraction, Self::Whole, Self::Padded, Self::Other];
}

/// How often a kind came, and where first.
#[derive(Clone, Debug)]
struct Tally {
    count: u64,
    first: At,
    /// The first value, cut behind [`SHOWN`] bytes.
    text: Box<[u8]>,
}

/// A record of a file, in the order in which they are read. Where there is none it is behind all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct At {
    file: u32,
    record: u64,
}

impl At {
    const NOWHERE: Self = Self { file: u32::MAX, record: u64::MAX };
}

/// How much of a value is kept to be shown. No text that is longer is a number that a column could keep.
const SHOWN: usize = 64;

/// Numbers of decimals that came, `(where first, decimals)`: the one that came first, and the first one that is another.
#[derive(Clone, Copy, Debug)]
struct Decimals {
    first: (At, u8),
    second: (At, u8),
}

impl Findings {
    /// Adds a value of the column at this position, in the record of this number. Columns are made as they come. A column
    /// that a record lacks need not be shown: it is NULL.
    pub fn see(&mut self, column: usize, value: Seen<'_>, record: u64) {
        if column >= self.columns.len() {
            self.grow(column);
        }
        self.columns[column].see(value, record);
    }

    /// The position of the column of this name, which is new at the end where there is none yet.
    pub fn column(&mut self, name: &str) -> usize {
        if let Some(&position) = self.positions.get(name) {
            return position;
        }
        let position = self.columns.len();
        self.columns.push(Finding::new(name.to_owned(), position));
        self.positions.insert(name.to_owned(), position);
        position
    }

    #[cold]
    fn grow(&mut self, column: usize) {
        for position in self.columns.len()..=column {
            self.columns.push(Finding::new(String::new(), position));
        }
    }

    /// The columns, in the order in which the records name them.
    pub fn columns(&self) -> Vec<&Finding> {
        let mut columns: Vec<&Finding> = self.columns.iter().collect();
        columns.sort_by_key(|column| (column.first(), column.order, &column.name));
        columns
    }

    /// The finding of a column of the file.
    pub fn of(&self, name: &str) -> Option<&Finding> {
        self.positions.get(name).map(|&position| &self.columns[position])
    }

    /// Says the names of columns that the records do not name, in their order: so findings of different files meet.
    pub fn name_columns(&mut self, fields: &[Field]) {
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

    /// Says which of several files this was, counted from 0, once all of it has been seen: reasons name it.
    pub fn in_file(&mut self, number: u32, name: &Path) {
        self.files = BTreeMap::from([(number, name.to_owned())]);
        for column in &mut self.columns {
            let tallies = column.tallies.iter_mut().map(|tally| &mut tally.first);
            let all = tallies.chain([&mut column.decimals.first.0, &mut column.decimals.second.0]);
            all.filter(|at| **at != At::NOWHERE).for_each(|at| at.file = number);
        }
    }

    /// Adds what is known of another part: columns meet by name, those without one by position. The order in which parts
    /// are added does not matter.
    pub fn merge(&mut self, other: Self) {
        self.records += other.records;
        self.files.extend(other.files);
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

impl Finding {
    fn new(name: String, order: usize) -> Self {
        let tally = Tally { count: 0, first: At::NOWHERE, text: Box::default() };
        let decimals = Decimals { first: (At::NOWHERE, 0), second: (At::NOWHERE, 0) };
        let tallies = std::array::from_fn(|_| tally.clone());
        Self { name, bytes: 0, longest: 0, tallies, decimals, json_numbers: 0, order }
    }

    #[inline]
    fn see(&mut self, value: Seen<'_>, record: u64) {
        let (kind, decimals, text) = match value {
            Seen::Null => (Kind::Null, 0, &b""[..]),
            Seen::Text(b"") => (Kind::Empty, 0, &b""[..]),
            Seen::Text(text) => {
                let (kind, decimals) = self.kind_of(text, record);
                (kind, decimals, text)
            }
            Seen::Number(text) => {
                self.json_numbers += 1;
                let (kind, decimals) = self.kind_of(text, record);
                (kind, decimals, text)
            }
            Seen::String(text) => (Kind::String, 0, text),
            Seen::Boolean(value) => (Kind::Boolean, 0, if value { &b"true"[..] } else { &b"false"[..] }),
            Seen::Nested(text) => (Kind::Nested, 0, text),
        };
        self.bytes += text.len() as u64;
        self.longest = self.longest.max(text.len());
        let tally = &mut self.tallies[kind as usize];
        tally.count += 1;
        if record < tally.first.record {
            tally.begin(record, text);
        }
        if decimals != 0 {
            self.decimals.see(decimals, record);
        }
    }

    /// What a text that is not empty is. Behind the first that is no number, the others need not be looked at: that one
    /// makes the column TEXT.
    #[inline]
    fn kind_of(&self, text: &[u8], record: u64) -> (Kind, u8) {
        if record >= self.tallies[Kind::Other as usize].first.record {
            return (Kind::Other, 0);
        }
        number::classify(text)
    }

    fn tally(&self, kind: Kind) -> &Tally {
        &self.tallies[kind as usize]
    }

    fn count(&self, kind: Kind) -> u64 {
        self.tally(kind).count
    }

    fn has(&self, kind: Kind) -> bool {
        self.count(kind) > 0
    }

    /// How many values there are that are neither NULL nor empty fields.
    pub fn values(&self) -> u64 {
        self.tallies.iter().map(|tally| tally.count).sum::<u64>() - self.count(Kind::Null) - self.count(Kind::Empty)
    }

    /// How many fields are empty: there is a text, and nothing in it. Of JSON strings none.
    pub fn empties(&self) -> u64 {
        self.count(Kind::Empty)
    }

    /// How many of so many records have no value.
    pub fn nulls(&self, records: u64) -> u64 {
        records.saturating_sub(self.values() + self.empties()).max(self.count(Kind::Null))
    }

    fn first(&self) -> At {
        self.tallies.iter().map(|tally| tally.first).min().unwrap_or(At::NOWHERE)
    }

    /// The tally of the kind of text or JSON number that came first.
    fn first_number(&self) -> Option<&Tally> {
        Kind::WRITTEN.iter().map(|&kind| self.tally(kind)).min_by_key(|tally| tally.first)
    }

    fn merge(&mut self, other: &Self) {
        if (other.first(), other.order) < (self.first(), self.order) || self.first() == At::NOWHERE {
            self.order = other.order;
        }
        for (tally, theirs) in self.tallies.iter_mut().zip(&other.tallies) {
            tally.merge(theirs);
        }
        self.decimals.add(other.decimals.first);
        self.decimals.add(other.decimals.second);
        self.json_numbers += other.json_numbers;
        self.bytes += other.bytes;
        self.longest = self.longest.max(other.longest);
    }
}

impl Tally {
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
    fn see(&mut self, decimals: u8, record: u64) {
        if decimals != self.first.1 || record < self.first.0.record {
            self.add((At { file: 0, record }, decimals));
        }
    }

    fn add(&mut self, (at, decimals): (At, u8)) {
        if at == At::NOWHERE {
            return;
        }
        if decimals == self.first.1 {
            self.first.0 = self.first.0.min(at);
        } else if at < self.first.0 {
            self.second = self.first;
            self.first = (at, decimals);
        } else if at < self.second.0 {
            self.second = (at, decimals);
        }
    }

    /// The one number of decimals that all have.
    fn only(&self) -> Option<u8> {
        (self.first.0 != At::NOWHERE && self.second.0 == At::NOWHERE).then_some(self.first.1)
    }
}

#[cfg(test)]
mod tests;
