//! Numbers by tables of weights: histograms and the Poisson distribution.

use super::alias::AliasTable;
use super::arguments::Pair;
use super::{Arguments, Cardinality, EXACT, Generator, Kinds, NUMBER_BYTES};
use crate::random::{CellRandom, Fraction, Rows};
use litepress_rows::cells::OwnedValue;
use litepress_rows::{CellBlock, Error, Result};

/// `histogram(bound: weight, ..., bound)`: a bin by weight, and a uniform number within the bin.
#[derive(Debug)]
struct Histogram<B> {
    table: AliasTable,
    bins: Vec<B>,
}

/// The integers of `low` to `low + width`, the end excluded.
#[derive(Clone, Copy, Debug)]
struct IntBin {
    low: i64,
    width: u64,
}

#[derive(Clone, Copy, Debug)]
struct RealBin {
    low: f64,
    width: f64,
    /// The largest double below the end.
    largest: f64,
}

/// The bounds of bins: integers if all are.
pub(super) enum Bounds {
    Whole(Vec<i64>),
    Real(Vec<f64>),
}

/// Reads `bound: weight, ..., bound`. Returns the bounds and the weights, whose sum is above 0.
pub(super) fn weighted_bounds(arguments: &Arguments<'_>) -> Result<(Bounds, Vec<f64>)> {
    let pairs = arguments.pairs()?;
    let Some((last, rest)) = pairs.split_last().filter(|(_, rest)| !rest.is_empty()) else {
        return Err(arguments.error_here("a histogram has two bounds at least"));
    };
    if last.weight.is_some() {
        return Err(arguments.error_at_pair(pairs.len() - 1, "the last bound ends the last bin and has no weight"));
    }
    if let Some(bin) = rest.iter().position(|pair| pair.weight.is_none()) {
        return Err(arguments.error_at_pair(bin, "every bound but the last has the weight of the bin that it begins"));
    }
    let weights: Vec<f64> = rest.iter().map(|pair| pair.weight.unwrap_or(0.0)).collect();
    let sum: f64 = weights.iter().sum();
    if sum == 0.0 || !sum.is_finite() {
        return Err(arguments.error_here(if sum == 0.0 { "all weights are 0" } else { "the weights are too large" }));
    }
    let whole: Option<Vec<i64>> = pairs.iter().map(whole_bound).collect();
    let bounds = match whole {
        Some(bounds) => Bounds::Whole(bounds),
        None => Bounds::Real(real_bounds(arguments, &pairs)?),
    };
    Ok((bounds, weights))
}

pub(super) fn histogram(arguments: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    let (bounds, weights) = weighted_bounds(arguments)?;
    match bounds {
        Bounds::Whole(bounds) => {
            let bins = bins(arguments, &bounds, |low, high| IntBin { low, width: high.abs_diff(low) })?;
            Ok(Box::new(Histogram::new(bins, &weights)))
        }
        Bounds::Real(bounds) => {
            let bin = |low: f64, high: f64| RealBin { low, width: high - low, largest: high.next_down() };
            Ok(Box::new(Histogram::new(bins(arguments, &bounds, bin)?, &weights)))
        }
    }
}

fn whole_bound(pair: &Pair) -> Option<i64> {
    match pair.value {
        OwnedValue::Int(int) => Some(int),
        _ => None,
    }
}

fn real_bounds(arguments: &Arguments<'_>, pairs: &[Pair]) -> Result<Vec<f64>> {
    let bound = |(index, pair): (usize, &Pair)| match pair.value {
        OwnedValue::Int(int) => Ok(int as f64),
        OwnedValue::Real(real) if real.abs() < f64::MAX / 2.0 => Ok(real),
        _ => Err(arguments.error_at_pair(index, "a bound of a histogram is a number")),
    };
    pairs.iter().enumerate().map(bound).collect()
}

/// Makes the bins between ascending bounds.
fn bins<T: Copy + PartialOrd, B>(arguments: &Arguments<'_>, bounds: &[T], bin: impl Fn(T, T) -> B) -> Result<Vec<B>> {
    let rejected = |index| -> Error { arguments.error_at_pair(index, "a bound is above the one before it") };
    let pairs = bounds.windows(2).enumerate();
    pairs.map(|(at, two)| if two[0] < two[1] { Ok(bin(two[0], two[1])) } else { Err(rejected(at + 1)) }).collect()
}

impl<B: Copy> Histogram<B> {
    /// Makes the table of bins with a weight above 0.
    fn new(bins: Vec<B>, weights: &[f64]) -> Self {
        let some = bins.into_iter().zip(weights).filter(|(_, weight)| **weight > 0.0);
        let (bins, weights): (Vec<B>, Vec<f64>) = some.unzip();
        Self { table: AliasTable::new(&weights), bins }
    }

    /// Sets each row to a number that `make` draws from its bin.
    #[inline(always)]
    fn fill<T>(&self, random: &CellRandom, rows: &Rows<'_>, out: &mut Vec<T>, make: impl Fn(B, u64) -> T) {
        rows.append_to(out, |row| {
            let mut stream = random.stream(row);
            let bin = self.bins[self.table.pick(&mut Fraction(stream.u64())) as usize];
            make(bin, stream.u64())
        });
    }
}

impl Generator for Histogram<IntBin> {
    fn fill(&self, random: &CellRandom, rows: &Rows<'_>, out: &mut CellBlock) {
        let number = |bin: IntBin, word| bin.low.wrapping_add(Fraction(word).take(bin.width).cast_signed());
        Histogram::fill(self, random, rows, out.ints(), number);
    }

    fn kinds(&self) -> Kinds {
        Kinds::INT
    }

    fn longest_bytes(&self) -> u64 {
        NUMBER_BYTES
    }

    fn cardinality(&self) -> Cardinality {
        Cardinality::Among { values: self.bins.iter().fold(0, |sum: u64, bin| sum.saturating_add(bin.width)) }
    }
}

impl Generator for Histogram<RealBin> {
    fn fill(&self, random: &CellRandom, rows: &Rows<'_>, out: &mut CellBlock) {
        Histogram::fill(self, random, rows, out.reals(), |bin: RealBin, word| {
            let share = (word >> 11).cast_signed() as f64 / EXACT;
            (bin.low + share * bin.width).min(bin.largest)
        });
    }

    fn kinds(&self) -> Kinds {
        Kinds::REAL
    }

    fn longest_bytes(&self) -> u64 {
        NUMBER_BYTES
    }

    fn cardinality(&self) -> Cardinality {
        Cardinality::Among { values: (self.bins.len() as u64).saturating_mul(1 << 53) }
    }
}

/// `poisson(mean)`: the numbers with a noticeable probability, by their weights. There are about 20 times the square
/// root of the mean.
#[derive(Debug)]
struct Poisson {
    first: i64,
    values: u64,
    table: AliasTable,
}

/// Probability, relative to the most frequent number, below which a number is left out.
const NEVER: f64 = 1e-16;

pub(super) fn poisson(arguments: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    let mean = arguments.positive("mean")?;
    if mean > 1e6 {
        return Err(arguments.error_at("mean", "argument 'mean' of poisson is 1000000 at most"));
    }
    // Walks down and up from the most frequent number, because each weight is a simple multiple of its neighbour's.
    let mode = mean.floor();
    let below = std::iter::successors(Some((mode, 1.0)), |&(k, weight)| Some((k - 1.0, weight * k / mean)));
    let above = std::iter::successors(Some((mode, 1.0)), |&(k, weight)| Some((k + 1.0, weight * mean / (k + 1.0))));
    let mut weights: Vec<f64> = below.map(|(_, weight)| weight).take_while(|&weight| weight > NEVER).collect();
    #[expect(clippy::cast_possible_truncation, reason = "a million at most")]
    let first = mode as i64 + 1 - i64::try_from(weights.len()).unwrap_or(0);
    weights.reverse();
    weights.extend(above.map(|(_, weight)| weight).skip(1).take_while(|&weight| weight > NEVER));
    Ok(Box::new(Poisson { first, values: weights.len() as u64, table: AliasTable::new(&weights) }))
}

impl Generator for Poisson {
    fn fill(&self, random: &CellRandom, rows: &Rows<'_>, out: &mut CellBlock) {
        let ints = out.ints();
        ints.resize(rows.len(), 0);
        random.fill_u64(rows, ints, |word| self.first + i64::from(self.table.pick(&mut Fraction(word))));
    }

    fn kinds(&self) -> Kinds {
        Kinds::INT
    }

    fn longest_bytes(&self) -> u64 {
        NUMBER_BYTES
    }

    fn cardinality(&self) -> Cardinality {
        Cardinality::Among { values: self.values }
    }
}
