//! Ranks by Zipf's law, and the logarithms that it takes.
//!
//! Rejection-inversion of Hörmann and Derflinger (*Rejection-inversion to generate variates from monotone discrete
//! distributions*, 1996): a real number is drawn below a curve that covers the weights, whose integral can be undone, and
//! the nearest rank is taken where the number lies below its weight. Hardly a tenth of the draws is in vain, however many
//! ranks there are, and nothing is stored.
//!
//! `ln` and `exp` are computed here, of additions and multiplications alone: those of the machine's library differ in
//! their last bit from one machine to the next, and so would rows.

use crate::random::Draws;

/// Ranks from 1 on, of which rank n comes with a weight of 1/n^s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Zipf {
    exponent: f64,
    ranks: u64,
    /// The integral up to rank 1 less its weight, and up to the last rank.
    first: f64,
    last: f64,
    /// A number so little below its rank is taken without a look at the weight.
    near: f64,
}

impl Zipf {
    /// For so many ranks, 1 at least, and an exponent above 0.
    pub(crate) fn new(ranks: u64, exponent: f64) -> Self {
        let mut zipf = Self { exponent, ranks: ranks.max(1), first: 0.0, last: 0.0, near: 0.0 };
        zipf.first = zipf.integral(1.5) - 1.0;
        zipf.last = zipf.integral(zipf.ranks as f64 + 0.5);
        zipf.near = 2.0 - zipf.undo(zipf.integral(2.5) - zipf.weight(2.0));
        zipf
    }

    /// A rank.
    pub(crate) fn draw(&self, draws: &mut Draws) -> u64 {
        loop {
            let share = (draws.u64() >> 11) as f64 / crate::generators::EXACT;
            let area = self.last + share * (self.first - self.last);
            let number = self.undo(area);
            let rank = (number + 0.5).floor().clamp(1.0, self.ranks as f64);
            if rank - number <= self.near || area >= self.integral(rank + 0.5) - self.weight(rank) {
                #[expect(clippy::cast_possible_truncation, reason = "1 to the number of ranks")]
                #[expect(clippy::cast_sign_loss, reason = "1 to the number of ranks")]
                return (rank as u64).clamp(1, self.ranks);
            }
        }
    }

    /// A rank among so many, whatever number this was made for.
    pub(crate) fn draw_among(&self, ranks: u64, draws: &mut Draws) -> u64 {
        let last = self.integral(ranks as f64 + 0.5);
        Self { ranks, last, ..*self }.draw(draws)
    }

    fn weight(&self, rank: f64) -> f64 {
        exp(-self.exponent * ln(rank))
    }

    /// (x^(1-s) - 1) / (1 - s), which is ln(x) where s is 1.
    fn integral(&self, x: f64) -> f64 {
        let log = ln(x);
        log * share_of_exponential((1.0 - self.exponent) * log)
    }

    fn undo(&self, area: f64) -> f64 {
        let turned = (area * (1.0 - self.exponent)).max(-1.0);
        exp(area * share_of_logarithm(turned))
    }
}

/// (e^x - 1) / x
fn share_of_exponential(x: f64) -> f64 {
    if x.abs() > 1e-5 { (exp(x) - 1.0) / x } else { 1.0 + x / 2.0 * (1.0 + x / 3.0) }
}

/// ln(1 + x) / x
fn share_of_logarithm(x: f64) -> f64 {
    if x.abs() > 1e-5 { ln(1.0 + x) / x } else { 1.0 - x / 2.0 + x * x / 3.0 }
}

/// `base` to the power of `exponent`; `base` is not negative.
pub(super) fn power(base: f64, exponent: f64) -> f64 {
    if base == 0.0 { 0.0 } else { exp(exponent * ln(base)) }
}

const LN_2_HIGH: f64 = 0.693_147_180_369_123_8;
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;

/// The natural logarithm of a number above 0; of others a large negative number.
fn ln(x: f64) -> f64 {
    const EXPONENT_BITS: u64 = 0x7FF;
    if x < f64::MIN_POSITIVE {
        return -745.0;
    }
    let bits = x.to_bits();
    let mut power = (bits >> 52 & EXPONENT_BITS).cast_signed() - 1023;
    let mut mantissa = f64::from_bits(bits & !(EXPONENT_BITS << 52) | 1023 << 52);
    if mantissa > std::f64::consts::SQRT_2 {
        (mantissa, power) = (mantissa / 2.0, power + 1);
    }
    // ln(m) = 2 artanh((m - 1) / (m + 1))
    let t = (mantissa - 1.0) / (mantissa + 1.0);
    let square = t * t;
    let series = (0..12_u32).rev().fold(0.0, |sum, n| sum * square + 1.0 / f64::from(2 * n + 1));
    let power = power as f64;
    power * LN_2_HIGH + (2.0 * t * series + power * LN_2_LOW)
}

/// e to the power of x.
fn exp(x: f64) -> f64 {
    if x > 709.0 {
        return f64::MAX;
    }
    if x < -708.0 {
        return 0.0;
    }
    let power = (x * std::f64::consts::LOG2_E).round();
    let rest = x - power * LN_2_HIGH - power * LN_2_LOW;
    let series = (1..15_u32).rev().fold(1.0, |sum, n| 1.0 + sum * rest / f64::from(n));
    #[expect(clippy::cast_possible_truncation, reason = "-1022 to 1023")]
    #[expect(clippy::cast_sign_loss, reason = "the exponent of a normal number")]
    let scale = f64::from_bits(((power as i64 + 1023) as u64) << 52);
    series * scale
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::CellRandom;

    #[test]
    fn logarithms_are_those_of_the_library() {
        for n in 1..20_000_i32 {
            for x in [f64::from(n) / 777.0, f64::from(n) * 1e7, 1.0 / f64::from(n)] {
                assert!((ln(x) - x.ln()).abs() <= 4e-16 * x.ln().abs().max(1.0), "ln {x}");
            }
            let x = f64::from(n - 10_000) / 15.0;
            assert!((exp(x) / x.exp() - 1.0).abs() < 3e-15 || x.exp() < 1e-300, "exp {x}");
        }
    }

    #[test]
    fn ranks_come_with_their_weights() {
        for (exponent, ranks) in [(0.3, 50), (0.8, 50), (1.0, 50), (1.2, 20), (2.5, 50), (5.0, 3), (1.0, 1), (0.01, 7)]
        {
            let zipf = Zipf::new(ranks, exponent);
            let random = CellRandom::new(1, "zipf", "test");
            let mut counts = vec![0_f64; usize::try_from(ranks).expect("few")];
            const DRAWS: u64 = 200_000;
            (0..DRAWS)
                .for_each(|row| counts[usize::try_from(zipf.draw(&mut random.draws(row)) - 1).expect("few")] += 1.0);
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
            assert!((0..1000).all(|row| (1..=i64::MAX.unsigned_abs()).contains(&zipf.draw(&mut random.draws(row)))));
            assert!((0..100).all(|row| zipf.draw_among(1 + row, &mut random.draws(row)) <= 1 + row));
        }
    }
}
