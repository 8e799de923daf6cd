//! What fills a column: one small type a generator, one file a family, one table of them all ([`catalogue`]).
//!
//! # To add a generator
//! Write its type and its `build` function in the file of its family, one entry in [`catalogue`], its golden values
//! in `generators/tests.rs`. Look-up, argument checks, error messages and documentation follow from the entry; the
//! tests over the catalogue check the rest of the contract of [`Generator`].
//!
//! # Speed
//! `fill` is called once for a block of rows and is a loop over plain slices: for a cell no call through a pointer, no
//! allocation and, as far as it goes, no branch. What a block needs beside its cells, a line of text say, may be
//! allocated once a block.

pub mod catalogue;

mod alias;
mod arguments;
mod blobs;
mod choice;
mod digits;
mod distributions;
mod events;
mod functions;
mod histogram;
mod lists;
mod locales;
mod nested;
mod nulls;
mod numbers;
mod people;
mod regex;
pub(crate) mod relations;
mod shuffle;
mod template;
mod text;
mod time;
mod unique;
mod walk;
mod wordlist;
mod words;
mod zipf;

#[cfg(test)]
mod tests;

use arguments::Arguments;
pub(crate) use arguments::number;
pub(crate) use functions::pow;
pub(crate) use nulls::fill_flags;
pub(crate) use shuffle::Scattered;
pub(crate) use time::{END, date_text, time_text};
pub(crate) use zipf::Zipf;

use crate::random::{CellRandom, Draws, Rows};
use litepress_rows::CellBlock;
use std::cmp::Reverse;
use std::fmt::Debug;

/// Gives every row of a column its value.
///
/// The value of a row depends on the generator's arguments, on the column's [`CellRandom`] and on the row's number,
/// and on nothing else: not on the block it is made in, the thread or the time.
pub(crate) trait Generator: Debug + Send + Sync {
    /// Fills `out` with the values of these rows, which are counted from 0; at most
    /// [`BLOCK_ROWS`](litepress_rows::cells::BLOCK_ROWS) of them.
    fn fill(&self, random: &CellRandom, rows: &Rows<'_>, out: &mut CellBlock);

    /// What kinds of values come, NULL apart.
    fn kinds(&self) -> Kinds;

    /// Bytes of the longest value: what a cell may take of memory, in rows that become NULL too.
    fn longest_bytes(&self) -> u64;

    /// How many different values come.
    fn distinct(&self) -> Distinct;

    /// The share of rows that is NULL, 0 to 1.
    fn null_share(&self) -> f64 {
        0.0
    }

    /// How many times NULLs are strewn over the values, one over the other.
    fn null_levels(&self) -> u64 {
        0
    }

    /// Whether the texts are JSON: within JSON they stand as they are, without quotes.
    fn is_json(&self) -> bool {
        false
    }

    /// How the values repeat, where they do so by the row number: several such columns may make a key.
    fn cycle(&self) -> Option<Cycle> {
        None
    }
}

/// What is known of a column before any of its values is made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Facts {
    /// The kinds of values that are sure to come, NULL apart.
    pub kinds: Kinds,
    /// Bytes of the longest value.
    pub longest_bytes: u64,
    /// How many different values come.
    pub distinct: Distinct,
    /// The share of rows that is NULL, as far as it is known.
    pub null_share: f64,
    /// How the values repeat, where they do so by the row number.
    pub cycle: Option<Cycle>,
}

impl Facts {
    /// What a generator says of itself.
    pub fn of(generator: &dyn Generator) -> Self {
        Self {
            kinds: generator.kinds(),
            longest_bytes: generator.longest_bytes(),
            distinct: generator.distinct(),
            null_share: generator.null_share(),
            cycle: generator.cycle(),
        }
    }
}

/// The values `start + n * step`, for `n` from 0 to the number of rows less one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Progression {
    /// The first of them.
    pub start: i64,
    /// From one to the next; not 0.
    pub step: i64,
}

/// Row `n`, counted from 0, holds value number `n / each % values`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cycle {
    /// So many rows hold the same value, one after another; not 0.
    pub each: u64,
    /// After so many values they begin anew; not 0.
    pub values: u64,
}

/// Whether no two of the first `rows` rows have the same value in all of these columns.
///
/// Columns of which each counts what the faster one carries (`each` is the product of the faster ones' values) are the
/// digits of the row number: they tell apart as many rows one after another as they have combinations. A slower
/// column need then only tell such stretches apart.
pub(crate) fn tell_rows_apart(cycles: &mut [Cycle], rows: u64) -> bool {
    cycles.sort_unstable_by_key(|cycle| (cycle.each, Reverse(cycle.values)));
    let mut stretch = 1_u64;
    for Cycle { each, values } in cycles {
        if *each <= stretch && each.saturating_mul(*values) >= rows {
            return true;
        }
        if *each == stretch {
            stretch = stretch.saturating_mul(*values);
        }
    }
    stretch >= rows
}

/// How many different values a generator gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Distinct {
    /// Every row has a value of its own, larger than that of the row before; it has no value for further rows.
    Ascending {
        /// How many rows it has values for.
        rows: u64,
    },
    /// Every row has a value of its own, in no order; it has no value for further rows.
    Unique {
        /// How many rows it has values for.
        rows: u64,
    },
    /// Rows draw from among this many values at most, independently (`u64::MAX`: that many or more).
    Among {
        /// Number of values.
        values: u64,
    },
}

impl Distinct {
    /// Whether no two rows have the same value.
    pub fn is_unique(self) -> bool {
        !matches!(self, Self::Among { .. })
    }

    /// Different values at most.
    pub fn at_most(self) -> u64 {
        match self {
            Self::Ascending { rows } | Self::Unique { rows } => rows,
            Self::Among { values } => values,
        }
    }
}

/// A set of kinds of values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Kinds(u8);

impl Kinds {
    /// None at all: a column of NULLs.
    pub const NONE: Self = Self(0);
    /// Integers.
    pub const INT: Self = Self(1);
    /// Doubles.
    pub const REAL: Self = Self(2);
    /// Texts that a column with numeric affinity makes integers of: `007`.
    pub const DIGITS: Self = Self(4);
    /// Other texts.
    pub const TEXT: Self = Self(8);
    /// Byte strings.
    pub const BLOB: Self = Self(16);
    /// Whatever can be stored.
    pub const ANY: Self = Self(31);

    /// The kinds of both.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether all these kinds are among `others`.
    pub fn within(self, others: Self) -> bool {
        self.0 & !others.0 == 0
    }

    /// The kinds in words: `integers and texts`.
    pub fn in_words(self) -> String {
        let named = [
            (Self::INT, "integers"),
            (Self::REAL, "real numbers"),
            (Self::DIGITS, "texts of digits"),
            (Self::TEXT, "texts"),
            (Self::BLOB, "blobs"),
        ];
        let names: Vec<&str> = named.iter().filter(|(kind, _)| kind.within(self)).map(|&(_, name)| name).collect();
        if names.is_empty() { "only NULL".to_owned() } else { names.join(" and ") }
    }
}

/// Up to this, 2^53, every whole number is a double.
pub(crate) const EXACT: f64 = 9_007_199_254_740_992.0;

/// Bytes of a number in a block.
const NUMBER_BYTES: u64 = 8;

/// A length or index.
#[inline]
fn size(len: u64) -> usize {
    usize::try_from(len).expect("what a block holds fits into memory")
}

/// Lengths of texts and blobs, both ends included.
#[derive(Clone, Copy, Debug)]
struct Lengths {
    min: u64,
    max: u64,
}

impl Lengths {
    /// One of them, all as often as one another.
    #[inline]
    fn draw(self, draws: &mut Draws) -> usize {
        size(self.min + draws.below(self.max - self.min + 1))
    }
}
