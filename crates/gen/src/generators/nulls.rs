//! NULL in some of the rows.

use super::choice::threshold;
use super::{Arguments, Distinct, Generator, Kinds, Progression, count};
use crate::random::{CellRandom, Fraction};
use litepress_rows::cells::OwnedValue;
use litepress_rows::{CellBlock, Result};
use std::ops::Range;
use std::sync::Arc;

/// The purpose of the flags' random numbers in [`CellRandom::fork`].
const FLAGS: u64 = 1;

/// `null(p, inner)`. The flags have random numbers of their own and `inner` has the column's: rows that are not
/// NULL hold what they would hold without `null`.
#[derive(Debug)]
struct Null {
    share: f64,
    inner: Box<dyn Generator>,
    /// Whether `inner` is a `null` too. It draws its flags from another fork then, or the flags of both would agree.
    is_outer: bool,
    /// What a block without any value picks from.
    null: Arc<[OwnedValue]>,
}

pub(super) fn null(arguments: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    Ok(Box::new(Null {
        share: arguments.share("p")?,
        inner: arguments.generator("inner")?,
        is_outer: arguments.is_call_of("inner", "null"),
        null: [OwnedValue::Null].into(),
    }))
}

impl Generator for Null {
    fn fill(&self, random: &CellRandom, rows: Range<u64>, out: &mut CellBlock) {
        let below = threshold(self.share);
        let mut nulls = std::mem::take(out.nulls_mut());
        nulls.clear();
        nulls.resize(count(&rows), false);
        random
            .fork(FLAGS + u64::from(self.is_outer))
            .fill_shared(rows.start, &mut nulls, |bits: &mut Fraction| u64::from(bits.take_u32()) < below);
        if nulls.iter().all(|&null| null) {
            // Values that nobody sees may be giants.
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

    fn distinct(&self) -> Distinct {
        match self.inner.distinct() {
            Distinct::Ascending { rows } if self.share > 0.0 => Distinct::Unique { rows },
            distinct => distinct,
        }
    }

    fn null_share(&self) -> f64 {
        1.0 - (1.0 - self.share) * (1.0 - self.inner.null_share())
    }

    fn progression(&self, rows: u64) -> Option<Progression> {
        if self.share == 0.0 { self.inner.progression(rows) } else { None }
    }
}
