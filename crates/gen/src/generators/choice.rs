//! Picks from a list: the encoder makes each value's bytes once, and rows only say which.

use super::{Arguments, Distinct, Generator, Kinds, NUMBER_BYTES, count, size};
use crate::random::{CellRandom, Fraction};
use litepress_rows::cells::OwnedValue;
use litepress_rows::{CellBlock, Result};
use std::ops::Range;
use std::sync::Arc;

/// A list to pick from, and how.
#[derive(Debug)]
pub(super) struct Pick {
    values: Arc<[OwnedValue]>,
    how: How,
    null_share: f64,
}

#[derive(Debug)]
enum How {
    Always,
    Evenly,
    /// The second value where 32 random bits are below this, else the first; 2^32 is always.
    Below(u64),
    /// By weights: Walker's alias table, one column a value.
    Alias(Vec<AliasColumn>),
}

/// An even share of all rows, divided between a value and one other.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct AliasColumn {
    /// 32 random bits below this pick the column's own value; 2^32 is always.
    own: u64,
    /// The column's own value and the other one.
    picks: [u32; 2],
}

pub(super) fn choice(arguments: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    let weighted = arguments.weighted_values()?;
    if weighted.is_empty() {
        return Err(arguments.error_here("choice has nothing to choose from"));
    }
    let sum: f64 = weighted.iter().map(|(_, weight)| weight).sum();
    if sum == 0.0 {
        return Err(arguments.error_here("all weights are 0"));
    }
    if !sum.is_finite() {
        return Err(arguments.error_here("the weights are too large together"));
    }
    let chosen = weighted.into_iter().filter(|(_, weight)| *weight > 0.0);
    let (values, weights): (Vec<_>, Vec<_>) = chosen.unzip();
    Ok(Box::new(Pick::by_weight(values, &weights)))
}

pub(super) fn constant(arguments: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    Ok(Box::new(Pick::evenly(vec![arguments.value("v")?])))
}

pub(super) fn bool(arguments: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    let how = How::Below(threshold(arguments.share("p")?));
    let values = [OwnedValue::Int(0), OwnedValue::Int(1)].into();
    Ok(Box::new(Pick { values, how, null_share: 0.0 }))
}

/// The number of 32-bit words that make this share of all of them.
pub(super) fn threshold(share: f64) -> u64 {
    #[expect(clippy::cast_possible_truncation, reason = "0 to 2^32")]
    #[expect(clippy::cast_sign_loss, reason = "a share is not negative")]
    let words = (share * 4_294_967_296.0).round() as u64;
    words
}

impl Pick {
    /// Each of `values` as often as the others.
    pub(super) fn evenly(values: Vec<OwnedValue>) -> Self {
        let weights = vec![1.0; values.len()];
        Self::by_weight(values, &weights)
    }

    fn by_weight(values: Vec<OwnedValue>, weights: &[f64]) -> Self {
        let nulls = values.iter().zip(weights).filter(|(value, _)| **value == OwnedValue::Null);
        let null_share = nulls.map(|(_, weight)| weight).sum::<f64>() / weights.iter().sum::<f64>();
        let how = match weights {
            [_] => How::Always,
            _ if weights.windows(2).all(|pair| pair[0] == pair[1]) => How::Evenly,
            _ => How::Alias(alias_table(weights)),
        };
        Self { values: values.into(), how, null_share }
    }
}

/// Fills columns of even width from the weights: one that is lighter than the mean is filled up from one that is
/// heavier, until all are full (Vose's order, which is stable).
fn alias_table(weights: &[f64]) -> Vec<AliasColumn> {
    let mean = weights.iter().sum::<f64>() / weights.len() as f64;
    let mut left: Vec<f64> = weights.iter().map(|weight| weight / mean).collect();
    let mut table: Vec<AliasColumn> =
        (0..).take(weights.len()).map(|own| AliasColumn { own: 1 << 32, picks: [own; 2] }).collect();
    let (mut light, mut heavy): (Vec<usize>, Vec<usize>) = (0..weights.len()).partition(|&value| left[value] < 1.0);
    while let (Some(own), Some(&other)) = (light.pop(), heavy.last()) {
        let picks = [table[own].picks[0], table[other].picks[0]];
        table[own] = AliasColumn { own: threshold(left[own]), picks };
        left[other] -= 1.0 - left[own];
        if left[other] < 1.0 {
            heavy.pop();
            light.push(other);
        }
    }
    table
}

impl Generator for Pick {
    fn fill(&self, random: &CellRandom, rows: Range<u64>, out: &mut CellBlock) {
        let picks = out.picks(&self.values);
        picks.resize(count(&rows), 0);
        let values = self.values.len() as u64;
        match &self.how {
            How::Always => {}
            How::Evenly => random.fill_below(rows.start, picks, values, narrow),
            How::Below(share) => {
                random.fill_shared(rows.start, picks, |bits| u32::from(u64::from(bits.take_u32()) < *share));
            }
            How::Alias(table) => random.fill_u64(rows.start, picks, |word| {
                let mut bits = Fraction(word);
                let column = &table[size(bits.take(values))];
                // Two loads and no branch: it would be mispredicted again and again.
                column.picks[usize::from(u64::from(bits.take_u32()) >= column.own)]
            }),
        }
    }

    fn kinds(&self) -> Kinds {
        self.values.iter().map(kind_of).fold(Kinds::NONE, Kinds::and)
    }

    fn longest_bytes(&self) -> u64 {
        self.values.iter().map(bytes_of).max().unwrap_or(0)
    }

    fn distinct(&self) -> Distinct {
        Distinct::Among { values: self.values.len() as u64 }
    }

    fn null_share(&self) -> f64 {
        self.null_share
    }
}

#[inline(always)]
fn narrow(value: u64) -> u32 {
    (value & 0xFFFF_FFFF) as u32
}

fn bytes_of(value: &OwnedValue) -> u64 {
    match value {
        OwnedValue::Null => 0,
        OwnedValue::Int(_) | OwnedValue::Real(_) => NUMBER_BYTES,
        OwnedValue::Text(text) => text.len() as u64,
        OwnedValue::Blob(blob) => blob.len() as u64,
    }
}

fn kind_of(value: &OwnedValue) -> Kinds {
    match value {
        OwnedValue::Null => Kinds::NONE,
        OwnedValue::Int(_) => Kinds::INT,
        OwnedValue::Real(_) => Kinds::REAL,
        OwnedValue::Text(text) if text.parse::<i64>().is_ok() => Kinds::DIGITS,
        OwnedValue::Text(_) => Kinds::TEXT,
        OwnedValue::Blob(_) => Kinds::BLOB,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alias_tables_keep_the_weights() {
        for weights in [vec![3.0, 1.0], vec![1.0, 2.0, 3.0, 4.0], vec![0.001, 1000.0, 5.0], vec![1.0, 1.0, 1.5]] {
            let table = alias_table(&weights);
            let mut shares = vec![0.0; weights.len()];
            for (value, column) in table.iter().enumerate() {
                let own = column.own as f64 / 4_294_967_296.0;
                shares[value] += own / weights.len() as f64;
                shares[column.picks[1] as usize] += (1.0 - own) / weights.len() as f64;
            }
            let sum: f64 = weights.iter().sum();
            for (share, weight) in shares.iter().zip(&weights) {
                assert!((share - weight / sum).abs() < 1e-8, "{weights:?} became {shares:?}");
            }
        }
    }

    #[test]
    fn thresholds() {
        assert_eq!([0.0, 0.5, 1.0].map(threshold), [0, 1 << 31, 1 << 32]);
    }
}
