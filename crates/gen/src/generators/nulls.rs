//! NULL in a share of the rows.

use super::alias::threshold;
use super::{Arguments, Cardinality, Generator, InJson, Kinds};
use crate::random::{CellRandom, Fraction, Rows};
use litepress_rows::cells::OwnedValue;
use litepress_rows::{CellBlock, Result};
use std::sync::Arc;

/// Returns the purpose of the flags' random numbers in [`CellRandom::fork`], by the number of nested `null`: flags of
/// two levels must not agree. From the third level on they are disjoint from the purposes of `shuffle`.
fn flags(levels: u64) -> u64 {
    match levels {
        0 | 1 => 1 + levels,
        _ => 1000 + levels,
    }
}

/// Sets one flag for each of these rows, so that this share of all is set.
pub(crate) fn fill_flags(share: f64, levels: u64, random: &CellRandom, rows: &Rows<'_>, out: &mut Vec<bool>) {
    let below = threshold(share);
    out.clear();
    out.resize(rows.len(), false);
    let take = |bits: &mut Fraction| u64::from(bits.take_u32()) < below;
    random.fork(flags(levels)).fill_shared(rows, out, take);
}

/// `null(p, inner)`. The flags have random numbers of their own, and `inner` has the column's: rows that are not NULL
/// hold the same values as without `null`.
#[derive(Debug)]
struct Null {
    share: f64,
    inner: Box<dyn Generator>,
    /// The list that a block of NULLs picks from.
    null: Arc<[OwnedValue]>,
}

pub(super) fn null(arguments: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    Ok(Box::new(Null {
        share: arguments.share("p")?,
        inner: arguments.generator("inner")?,
        null: [OwnedValue::Null].into(),
    }))
}

impl Generator for Null {
    fn fill(&self, random: &CellRandom, rows: &Rows<'_>, out: &mut CellBlock) {
        let mut nulls = std::mem::take(out.nulls_mut());
        fill_flags(self.share, self.inner.null_levels(), random, rows, &mut nulls);
        if nulls.iter().all(|&null| null) {
            // Skips values that will not be used, because they may be very large.
            out.picks(&self.null).resize(nulls.len(), 0);
            return;
        }
        self.inner.fill(random, rows, out);
        nulls.iter_mut().zip(out.nulls()).for_each(|(null, inner)| *null |= inner);
        *out.nulls_mut() = nulls;
    }

    fn kinds(&self) -> Kinds {
        self.inner.kinds()
    }

    fn longest_bytes(&self) -> u64 {
        self.inner.longest_bytes()
    }

    fn cardinality(&self) -> Cardinality {
        match self.inner.cardinality() {
            Cardinality::Ascending { rows } if self.share > 0.0 => Cardinality::Unique { rows },
            cardinality => cardinality,
        }
    }

    fn null_share(&self) -> f64 {
        1.0 - (1.0 - self.share) * (1.0 - self.inner.null_share())
    }

    fn null_levels(&self) -> u64 {
        self.inner.null_levels() + 1
    }

    fn in_json(&self) -> InJson {
        self.inner.in_json()
    }
}
