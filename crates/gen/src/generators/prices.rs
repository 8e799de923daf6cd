//! Prices: from the cheap to the dear in equal ratios, with the ends that shops like.

use super::functions::{exp, ln, round};
use super::{Arguments, Cardinality, Generator, Kinds, NUMBER_BYTES};
use crate::random::{CellRandom, Fraction, Rows};
use litepress_rows::{CellBlock, Result};

/// `price(lo, hi)`
#[derive(Debug)]
struct Price {
    low: f64,
    high: f64,
}

pub(super) fn price(arguments: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    let (low, high) = (arguments.positive("lo")?, arguments.positive("hi")?);
    if low > high || high > 1e9 {
        return Err(arguments.error_at("lo", format!("'lo' is above 'hi', or 'hi' above 1000000000: {low}, {high}")));
    }
    Ok(Box::new(Price { low, high }))
}

/// Cents of a price, and their frequencies of 100.
const ENDS: [(u64, f64); 6] = [(58, 99.0), (16, 95.0), (10, 50.0), (8, 0.0), (4, 49.0), (4, 90.0)];

impl Price {
    fn of(&self, word: u64) -> f64 {
        let mut bits = Fraction(word);
        let mut pick = bits.take(100);
        let share = bits.take(1 << 40) as f64 / (1_u64 << 40) as f64;
        let value = exp(ln(self.low) + share * (ln(self.high) - ln(self.low)));
        let mut cents = 0.0;
        for (weight, end) in ENDS {
            cents = end;
            if pick < weight {
                break;
            }
            pick -= weight;
        }
        // Above a hundred, prices are whole tens less a bit.
        let whole = if value >= 200.0 { 10.0 * round(value / 10.0) - 1.0 } else { round(value - 0.5) };
        let price = (100.0 * whole + cents) / 100.0;
        if price < self.low || price > self.high {
            round(value * 100.0).clamp(self.low * 100.0, self.high * 100.0) / 100.0
        } else {
            price
        }
    }
}

impl Generator for Price {
    fn fill(&self, random: &CellRandom, rows: &Rows<'_>, out: &mut CellBlock) {
        rows.append_to(out.reals(), |row| self.of(random.u64(row)));
    }

    fn kinds(&self) -> Kinds {
        Kinds::REAL
    }

    fn longest_bytes(&self) -> u64 {
        NUMBER_BYTES
    }

    fn cardinality(&self) -> Cardinality {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive, and below 10^11")]
        let values = ((self.high - self.low) * 100.0) as u64 + 1;
        Cardinality::Among { values }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_end_as_those_of_shops() {
        let (price, random) = (Price { low: 2.0, high: 500.0 }, CellRandom::new(1, "t", "c"));
        let prices: Vec<f64> = (0..10_000).map(|row| price.of(random.u64(row))).collect();
        let share = |is: &dyn Fn(f64) -> bool| prices.iter().filter(|&&price| is(price)).count() as f64 / 1e4;
        let ends = |price: f64, cents: f64| ((price * 100.0).round() % 100.0) == cents;
        assert!((0.54..0.62).contains(&share(&|price| ends(price, 99.0))));
        assert!((0.14..0.19).contains(&share(&|price| ends(price, 95.0))));
        assert!(prices.iter().all(|price| (2.0..=500.0).contains(price)));
        // Half of all prices are below the geometric mean.
        assert!((0.47..0.53).contains(&share(&|price| price < 31.62)));
        assert_eq!([0, 1, 2, 3].map(|row| price.of(random.u64(row))), [29.99, 41.99, 10.99, 8.99]);
    }
}
