//! Ranks by Zipf's law, for `zipf(n, s)` and `ref(..., zipf(s))`.
//!
//! Rejection-inversion (Hörmann and Derflinger, *ACM TOMACS* 6, 1996): a point under the curve `x^-s` is found by
//! inverting the curve's integral, and rounded to a rank. It is rejected if it is above the rank's step, less than
//! once in ten times. There is no table: a billion ranks cost what ten do. Any exponent above 0 works, 1 too; near 1
//! the integral is a series.

use super::distributions::between;
use super::functions::{exp, ln, pow, round};
use super::{Arguments, Cardinality, Generator, Kinds, NUMBER_BYTES};
use crate::random::{CellRandom, CellStream, Rows};
use litepress_rows::{CellBlock, Result};

/// Ranks from 1 on; rank k has a probability in proportion to `k^-s`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Zipf {
    ranks: u64,
    s: f64,
    /// The integral at both ends; the lower one is reduced by the step of rank 1.
    lowest: f64,
    highest: f64,
    /// Ranks at most this far above their point are accepted without a further test.
    sure: f64,
}

/// Returns the argument `s`, above 0 and at most 100.
pub(crate) fn exponent(arguments: &Arguments<'_>) -> Result<f64> {
    let s = arguments.positive("s")?;
    if s > 100.0 {
        return Err(arguments.error_at("s", "argument 's' of zipf is above 0, 100 at most"));
    }
    Ok(s)
}

pub(super) fn zipf(arguments: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    Ok(Box::new(Zipf::new(arguments.int_within("n", 1, 1 << 52)?, exponent(arguments)?)))
}

impl Zipf {
    /// Makes a distribution of `ranks`, at least 1, with an exponent above 0.
    pub(crate) fn new(ranks: u64, s: f64) -> Self {
        let ranks = ranks.max(1);
        let mut zipf = Self { ranks, s, lowest: 0.0, highest: 0.0, sure: 0.0 };
        zipf.lowest = zipf.integral(1.5) - 1.0;
        zipf.highest = zipf.integral(ranks as f64 + 0.5);
        zipf.sure = 2.0 - zipf.inverse(zipf.integral(2.5) - pow(2.0, -s));
        zipf
    }

    /// Draws a rank.
    #[inline(always)]
    pub(crate) fn draw(&self, stream: &mut CellStream) -> u64 {
        loop {
            let integral = self.highest + between(stream.u64()) * (self.lowest - self.highest);
            let x = self.inverse(integral);
            let rank = round(x).clamp(1.0, self.ranks as f64);
            if rank - x <= self.sure || integral >= self.integral(rank + 0.5) - pow(rank, -self.s) {
                #[expect(clippy::cast_possible_truncation, reason = "1 to the number of ranks")]
                #[expect(clippy::cast_sign_loss, reason = "1 to the number of ranks")]
                return (rank as u64).min(self.ranks);
            }
        }
    }

    /// Draws a rank among another number of ranks, at least 1.
    pub(crate) fn draw_among(&self, ranks: u64, stream: &mut CellStream) -> u64 {
        Self { ranks, highest: self.integral(ranks as f64 + 0.5), ..*self }.draw(stream)
    }

    /// Returns the integral of `x^-s` from 1 to `x`: `(x^(1-s) - 1) / (1-s)`.
    #[inline(always)]
    fn integral(&self, x: f64) -> f64 {
        let ln_x = ln(x);
        let t = (1.0 - self.s) * ln_x;
        let quotient = if t.abs() < 1e-4 {
            1.0 + t / 2.0 * (1.0 + t / 3.0 * (1.0 + t / 4.0 * (1.0 + t / 5.0)))
        } else {
            (exp(t) - 1.0) / t
        };
        quotient * ln_x
    }

    /// Returns the `x` of an integral.
    #[inline(always)]
    fn inverse(&self, integral: f64) -> f64 {
        let t = ((1.0 - self.s) * integral).max(f64::EPSILON - 1.0);
        let quotient = if t.abs() < 1e-4 {
            1.0 - t * (1.0 / 2.0 - t * (1.0 / 3.0 - t * (1.0 / 4.0 - t / 5.0)))
        } else {
            ln(1.0 + t) / t
        };
        exp(quotient * integral)
    }
}

impl Generator for Zipf {
    fn fill(&self, random: &CellRandom, rows: &Rows<'_>, out: &mut CellBlock) {
        rows.append_to(out.ints(), |row| self.draw(&mut random.stream(row)).cast_signed());
    }

    fn kinds(&self) -> Kinds {
        Kinds::INT
    }

    fn longest_bytes(&self) -> u64 {
        NUMBER_BYTES
    }

    fn cardinality(&self) -> Cardinality {
        Cardinality::Among { values: self.ranks }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_come_with_their_weights() {
        for (exponent, ranks) in [(0.3, 50), (0.8, 50), (1.0, 50), (1.2, 20), (2.5, 50), (5.0, 3), (1.0, 1), (0.01, 7)]
        {
            let zipf = Zipf::new(ranks, exponent);
            let random = CellRandom::new(1, "zipf", "test");
            let mut counts = vec![0_f64; usize::try_from(ranks).expect("few")];
            const DRAWS: u64 = 200_000;
            (0..DRAWS)
                .for_each(|row| counts[usize::try_from(zipf.draw(&mut random.stream(row)) - 1).expect("few")] += 1.0);
            let weights: Vec<f64> = (1..=ranks).map(|rank| (rank as f64).powf(-exponent)).collect();
            let sum: f64 = weights.iter().sum();
            for (count, weight) in counts.iter().zip(&weights) {
                let expected = DRAWS as f64 * weight / sum;
                assert!(
                    (count - expected).abs() < 6.0 * expected.sqrt() + 2.0,
                    "zipf {exponent} of {ranks}: {counts:?}"
                );
            }
        }
    }

    #[test]
    fn the_largest_tables() {
        for exponent in [0.1, 0.99, 1.0, 1.01, 3.0] {
            let zipf = Zipf::new(i64::MAX.unsigned_abs(), exponent);
            let random = CellRandom::new(1, "zipf", "test");
            assert!((0..1000).all(|row| (1..=i64::MAX.unsigned_abs()).contains(&zipf.draw(&mut random.stream(row)))));
            assert!((0..100).all(|row| zipf.draw_among(1 + row, &mut random.stream(row)) <= 1 + row));
        }
    }
}
