//! A distribution in ascending order: row r of n has the quantile r / n.

use super::histogram::{Bounds, weighted_bounds};
use super::{Arguments, Cardinality, EXACT, Generator, Kinds, NUMBER_BYTES};
use crate::random::{CellRandom, Rows};
use litepress_rows::{CellBlock, Result};

/// `ascending(bound: weight, ..., bound)`
#[derive(Debug)]
struct Ascending {
    /// Number of rows that the whole distribution is spread over.
    rows: u64,
    bounds: Vec<f64>,
    /// Sums of the weights before each bound.
    below: Vec<f64>,
    is_whole: bool,
}

pub(super) fn ascending(arguments: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    let (bounds, weights) = weighted_bounds(arguments)?;
    let mut sum = 0.0;
    let mut below = vec![0.0];
    below.extend(weights.iter().map(|weight| {
        sum += weight;
        sum
    }));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive; the conversion saturates")]
    let of_weights = sum.ceil() as u64;
    let (bounds, is_whole): (Vec<f64>, bool) = match bounds {
        Bounds::Whole(bounds) => (bounds.into_iter().map(|bound| bound as f64).collect(), true),
        Bounds::Real(bounds) => (bounds, false),
    };
    if let Some(at) = bounds.iter().position(|bound| is_whole && bound.abs() > EXACT) {
        return Err(arguments.error_at_pair(at, "a bound of ascending is within 2^53"));
    }
    if let Some(at) = bounds.windows(2).position(|pair| pair[0] >= pair[1]) {
        return Err(arguments.error_at_pair(at + 1, "a bound is above the one before it"));
    }
    let rows = arguments.rows().unwrap_or(of_weights).max(1);
    Ok(Box::new(Ascending { rows, bounds, below, is_whole }))
}

impl Ascending {
    /// Returns the number below which this share of the distribution is.
    fn quantile(&self, share: f64) -> f64 {
        let weight = share * self.below[self.below.len() - 1];
        let bin = self.below.partition_point(|below| *below <= weight).clamp(1, self.below.len() - 1) - 1;
        let within = (weight - self.below[bin]) / (self.below[bin + 1] - self.below[bin]);
        let (low, high) = (self.bounds[bin], self.bounds[bin + 1]);
        (low + within.clamp(0.0, 1.0) * (high - low)).min(high.next_down())
    }

    fn of_row(&self, random: &CellRandom, row: u64) -> f64 {
        let jitter = (random.u64(row) >> 12) as f64 / 4_503_599_627_370_496.0;
        self.quantile(((row as f64 + jitter) / self.rows as f64).min(1.0))
    }
}

impl Generator for Ascending {
    fn fill(&self, random: &CellRandom, rows: &Rows<'_>, out: &mut CellBlock) {
        if self.is_whole {
            #[expect(clippy::cast_possible_truncation, reason = "within 2^53")]
            rows.append_to(out.ints(), |row| self.of_row(random, row).floor() as i64);
        } else {
            rows.append_to(out.reals(), |row| self.of_row(random, row));
        }
    }

    fn kinds(&self) -> Kinds {
        if self.is_whole { Kinds::INT } else { Kinds::REAL }
    }

    fn longest_bytes(&self) -> u64 {
        NUMBER_BYTES
    }

    fn cardinality(&self) -> Cardinality {
        Cardinality::Among { values: u64::MAX }
    }
}

#[cfg(test)]
mod tests {
    use super::super::catalogue;
    use super::*;

    /// Returns the numbers of the first rows.
    fn numbers(text: &str, rows: u64) -> Vec<f64> {
        let generator = catalogue::build_text(text, "test").expect(text);
        let mut out = CellBlock::default();
        let blocks = (0..rows).step_by(1000).flat_map(|start| {
            generator.fill(&CellRandom::new(3, "t", "c"), &(start..start + 1000).into(), &mut out);
            let number = |row: usize| match out.value(row) {
                litepress_format::value::Value::Int(int) => int as f64,
                litepress_format::value::Value::Real(real) => real,
                other => panic!("{other:?} is no number"),
            };
            (0..1000).map(number).collect::<Vec<f64>>()
        });
        blocks.collect()
    }

    #[test]
    fn numbers_ascend_and_keep_their_shares() {
        for text in ["ascending(0: 1000, 10: 3000, 100)", "ascending(0.0: 1000, 10: 3000, 100)"] {
            let numbers = numbers(text, 4000);
            assert!(numbers.is_sorted(), "{text}");
            assert_eq!(numbers.partition_point(|number| *number < 10.0), 1000, "{text}");
            assert!(numbers[0] < 1.0 && numbers[3999] >= 99.0 && numbers[3999] < 100.0, "{text}");
        }
    }

    #[test]
    fn mistakes_are_errors() {
        for text in ["ascending(1)", "ascending(1: 2)", "ascending(3: 2, 1)", "ascending(1: 0, 2)"] {
            assert!(catalogue::build_text(text, "test").is_err(), "{text}");
        }
    }
}
