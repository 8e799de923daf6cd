//! NULL in some of the rows.

use super::choice::threshold;
use super::{Arguments, Distinct, Generator, Kinds, Progression, count};
use crate::random::{CellRandom, Fraction};
use litepress_rows::{CellBlock, Result};
use std::ops::Range;

/// The purpose of the flags' random numbers in [`CellRandom::fork`].
const FLAGS: u64 = 1;

/// `null(p, inner)`. The flags have random numbers of their own and `inner` has the column's: rows that are not
/// NULL hold what they would hold without `null`.
#[derive(Debug)]
struct Null {
    share: f64,
    inner: Box<dyn Generator>,
}

pub(super) fn null(arguments: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    Ok(Box::new(Null { share: arguments.share("p")?, inner: arguments.generator("inner")? }))
}

impl Generator for Null {
    fn fill(&self, random: &CellRandom, rows: Range<u64>, out: &mut CellBlock) {
        let len = count(&rows);
        let first_row = rows.start;
        self.inner.fill(random, rows, out);
        let below = threshold(self.share);
        let is_null = |bits: &mut Fraction| u64::from(bits.take_u32()) < below;
        let nulls = out.nulls_mut();
        let nested = !nulls.is_empty();
        nulls.resize(len, false);
        // Nulls within nulls draw from another fork, or the flags of both would agree.
        let flags = random.fork(FLAGS + u64::from(nested));
        if nested {
            let inner = nulls.clone();
            flags.fill_shared(first_row, nulls, is_null);
            nulls.iter_mut().zip(inner).for_each(|(null, inner)| *null |= inner);
        } else {
            flags.fill_shared(first_row, nulls, is_null);
        }
    }

    fn kinds(&self) -> Kinds {
        self.inner.kinds()
    }

    fn distinct(&self) -> Distinct {
        match self.inner.distinct() {
            Distinct::Ascending { rows } if self.share > 0.0 => Distinct::Unique { rows },
            distinct => distinct,
        }
    }

    fn null_share(&self) -> f64 {
        1.0 - (1.0 - self.share) * (1.0 - self.inner.null_share())
    }

    fn progression(&self) -> Option<Progression> {
        if self.share == 0.0 { self.inner.progression() } else { None }
    }
}
