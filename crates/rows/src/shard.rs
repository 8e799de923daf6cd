//! Shards: the same table divided between several databases.

use std::ops::Range;

/// One of N databases that together hold the rows of a plan. Each has one range of consecutive rows of every table; the
/// lengths of the ranges differ by at most one row.
///
/// A shard's rows are the same as in the whole database, including rowids, keys and references.
///
/// ```
/// use litepress_rows::Shard;
///
/// let shards: Vec<_> = (1..=3).filter_map(|number| Shard::new(number, 3)).collect();
/// let ranges: Vec<_> = shards.iter().map(|shard| shard.row_range(10)).collect();
/// assert_eq!(ranges, [0..3, 3..6, 6..10]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    number: u64,
    of: u64,
}

impl Shard {
    /// The whole database as its only shard.
    pub const WHOLE: Self = Self { number: 1, of: 1 };

    /// Returns shard `number` of `of`, counted from 1, or `None` if there is no such shard.
    pub fn new(number: u64, of: u64) -> Option<Self> {
        (1..=of).contains(&number).then_some(Self { number, of })
    }

    /// Returns the number of shards.
    pub fn of(self) -> u64 {
        self.of
    }

    /// Returns this shard's range of `rows` rows, counted from 0.
    pub fn row_range(self, rows: u64) -> Range<u64> {
        let cut = |number: u64| {
            let before = u128::from(rows) * u128::from(number) / u128::from(self.of);
            u64::try_from(before).expect("at most `rows`")
        };
        cut(self.number - 1)..cut(self.number)
    }
}
