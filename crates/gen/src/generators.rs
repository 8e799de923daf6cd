//! Generators: one small type for each, one file for each family, one table of all ([`catalogue`]).
//!
//! # To add a generator
//! Write its type and its `build` function in the file of its family, one entry in [`catalogue`], and its golden
//! values in `generators/tests.rs`. Look-up, argument checks, error messages and documentation follow from the entry.
//! The tests over the catalogue check the rest of the contract of [`Generator`].
//!
//! # Speed
//! `fill` is called once for a block of rows and is a loop over plain slices. In the loop there is no call through a
//! pointer, no allocation and, where possible, no branch. A buffer beside the cells, for example for a line of text,
//! may be allocated once a block.

pub mod catalogue;

mod alias;
mod arguments;
mod ascending;
mod blobs;
mod browsers;
mod check_digits;
mod choice;
mod digits;
mod distributions;
mod entry;
mod events;
mod functions;
mod geometry;
mod goods;
mod histogram;
mod lists;
mod locales;
mod nested;
mod nulls;
mod numbers;
mod people;
pub mod phrases;
mod places;
mod pool;
mod prices;
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
pub(crate) use browsers::browser_at;
pub(crate) use functions::pow;
pub(crate) use goods::{product_of, worth_of};
pub(crate) use nulls::fill_flags;
pub(crate) use phrases::cut_words;
pub use places::{Country, countries};
pub(crate) use places::{append_place, field as place_field, is_coordinate, place_of};
pub(crate) use shuffle::Permutation;
pub(crate) use zipf::Zipf;

use crate::random::{CellRandom, CellStream, Rows};
use litepress_rows::CellBlock;
use std::cmp::Reverse;
use std::fmt::Debug;

/// The form of values in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InJson {
    /// Numbers, and texts in quotes.
    Value,
    /// Texts that are JSON already.
    Json,
    /// 0 and 1 are `false` and `true`.
    Truth,
}

/// Computes the value of every row of a column.
///
/// The value of a row depends on the generator's arguments, the column's [`CellRandom`] and the row's number alone:
/// not on the block, the thread or the time.
pub(crate) trait Generator: Debug + Send + Sync {
    /// Fills `out` with the values of these rows, which are counted from 0; at most
    /// [`BLOCK_ROWS`](litepress_rows::cells::BLOCK_ROWS) of them.
    fn fill(&self, random: &CellRandom, rows: &Rows<'_>, out: &mut CellBlock);

    /// Returns the possible kinds of values, without NULL.
    fn kinds(&self) -> Kinds;

    /// Returns the bytes of the longest value: the memory that a cell may take, in rows that become NULL too.
    fn longest_bytes(&self) -> u64;

    /// Returns the number of distinct values.
    fn cardinality(&self) -> Cardinality;

    /// Returns the share of rows that are NULL, 0 to 1.
    fn null_share(&self) -> f64 {
        0.0
    }

    /// Returns the number of nested `null`.
    fn null_levels(&self) -> u64 {
        0
    }

    /// Returns what the values are in `object` and `array`.
    fn in_json(&self) -> InJson {
        InJson::Value
    }

    /// Returns a generator of the same texts that differ in each of so many rows, if there is one.
    fn distinct(&self, _rows: u64) -> Option<Box<dyn Generator>> {
        None
    }

    /// Returns the cycle of the values, if they repeat by row number. Several such columns may make a key.
    fn cycle(&self) -> Option<Cycle> {
        None
    }
}

/// Properties of a column's values that are known before any is generated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ValueProperties {
    /// The kinds of values that are certain, without NULL.
    pub kinds: Kinds,
    /// Bytes of the longest value.
    pub longest_bytes: u64,
    /// The number of distinct values.
    pub cardinality: Cardinality,
    /// The share of rows that are NULL, as far as it is known.
    pub null_share: f64,
    /// The cycle of the values, if they repeat by row number.
    pub cycle: Option<Cycle>,
}

impl ValueProperties {
    /// Collects the properties that a generator reports.
    pub fn of(generator: &dyn Generator) -> Self {
        Self {
            kinds: generator.kinds(),
            longest_bytes: generator.longest_bytes(),
            cardinality: generator.cardinality(),
            null_share: generator.null_share(),
            cycle: generator.cycle(),
        }
    }
}

/// The values `start + n * step`, for `n` from 0 to the number of rows less one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ArithmeticSequence {
    /// The first value.
    pub start: i64,
    /// The difference between consecutive values; not 0.
    pub step: i64,
}

/// A repeating sequence: row `n`, counted from 0, has value number `n / each % values`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cycle {
    /// The number of consecutive rows with the same value; not 0.
    pub each: u64,
    /// The number of values after which they begin anew; not 0.
    pub values: u64,
}

/// Returns whether no two of the first `rows` rows have the same value in all of these columns.
///
/// If each column's `each` is the product of the `values` of the faster ones, the columns are the digits of the row
/// number. Their combinations then distinguish that many consecutive rows, the period. A slower column need only
/// distinguish one period from the next.
pub(crate) fn distinguish_rows(cycles: &mut [Cycle], rows: u64) -> bool {
    cycles.sort_unstable_by_key(|cycle| (cycle.each, Reverse(cycle.values)));
    let mut period = 1_u64;
    for Cycle { each, values } in cycles {
        if *each <= period && each.saturating_mul(*values) >= rows {
            return true;
        }
        if *each == period {
            period = period.saturating_mul(*values);
        }
    }
    period >= rows
}

/// The number of distinct values of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cardinality {
    /// Every row has a distinct value, larger than that of the row before.
    Ascending {
        /// The number of rows that it has values for.
        rows: u64,
    },
    /// Every row has a distinct value, in no order.
    Unique {
        /// The number of rows that it has values for.
        rows: u64,
    },
    /// Rows draw independently from at most this many values (`u64::MAX`: that many or more).
    Among {
        /// Number of values.
        values: u64,
    },
}

impl Cardinality {
    /// Returns whether no two rows have the same value.
    pub fn is_unique(self) -> bool {
        !matches!(self, Self::Among { .. })
    }

    /// Returns an upper bound of the number of distinct values.
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
    /// No kind: a column of NULLs.
    pub const NONE: Self = Self(0);
    /// Integers.
    pub const INT: Self = Self(1);
    /// Doubles.
    pub const REAL: Self = Self(2);
    /// Texts that a column with numeric affinity converts to integers: `007`.
    pub const DIGITS: Self = Self(4);
    /// Other texts.
    pub const TEXT: Self = Self(8);
    /// Byte strings.
    pub const BLOB: Self = Self(16);
    /// All kinds.
    pub const ANY: Self = Self(31);

    /// Returns the union of both sets.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns whether this is a subset of `others`.
    pub fn within(self, others: Self) -> bool {
        self.0 & !others.0 == 0
    }

    /// Lists the kinds: `integers and texts`.
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

/// 2^53: up to here every integer is a double.
pub(crate) const EXACT: f64 = 9_007_199_254_740_992.0;

/// Bytes of a number in a block.
const NUMBER_BYTES: u64 = 8;

/// Converts a length or index.
#[inline]
fn size(len: u64) -> usize {
    usize::try_from(len).expect("a size within memory")
}

/// A range of lengths of texts and blobs, both ends included.
#[derive(Clone, Copy, Debug)]
struct LengthRange {
    min: u64,
    max: u64,
}

impl LengthRange {
    /// Draws a length from a uniform distribution.
    #[inline]
    fn draw(self, stream: &mut CellStream) -> usize {
        size(self.min + stream.below(self.max - self.min + 1))
    }
}
