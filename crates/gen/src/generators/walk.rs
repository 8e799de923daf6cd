//! A random walk whose position at any row is computed alone: Lévy's construction of Brownian motion.
//!
//! ```text
//! 0 ----------- 256 ----------- 512 ------------------------------ 1024 ...    ends, each from the one before it
//!                                |               768                |          the middle between two known points
//!                                |       640      |       896       |          and so on, down to every row
//! ```
//!
//! The midpoint between two known points of a walk is normally distributed around their mean. Each row is the
//! midpoint of one pair only, so its word is its noise. A lone row costs the descent to its chunk; a chunk of rows
//! costs one descent, and a draw a row.

use super::functions::{normal_quantile, round};
use super::numbers::units;
use super::{Arguments, Cardinality, EXACT, Generator, Kinds, NUMBER_BYTES, size};
use crate::random::{CellRandom, Rows};
use litepress_rows::cells::OwnedValue;
use litepress_rows::{CellBlock, Result};

/// Rows that are computed together.
const CHUNK: u64 = 256;
const CHUNK_LEN: usize = 256;
const _: () = assert!(CHUNK == CHUNK_LEN as u64);

/// Rows after which the walk begins anew.
const ROWS: u64 = 1 << 62;

/// `walk(start, step)`
#[derive(Debug)]
struct Walk {
    start: f64,
    step: f64,
    low: f64,
    high: f64,
    /// A power of ten; 0 for all digits.
    divisor: f64,
    whole: bool,
}

pub(super) fn walk(arguments: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    let (start, step) = (arguments.real("start")?, arguments.positive("step")?);
    let low = arguments.optional_real("min")?.unwrap_or(f64::NEG_INFINITY);
    let high = arguments.optional_real("max")?.unwrap_or(f64::INFINITY);
    if low >= high {
        return Err(arguments.error_at("min", format!("'min' is not below 'max': {low} >= {high}")));
    }
    if !(low..=high).contains(&start) {
        return Err(arguments.error_at("start", "'start' is not within 'min' and 'max'"));
    }
    let is_int = |name| Ok::<_, litepress_rows::Error>(matches!(arguments.value(name)?, OwnedValue::Int(_)));
    let decimals = match arguments.optional_int("decimals")? {
        Some(_) => Some(arguments.int_within("decimals", 0, 15)?),
        None => (is_int("start")? && is_int("step")?).then_some(0),
    };
    #[expect(clippy::cast_possible_truncation, reason = "15 at most")]
    let divisor = decimals.map_or(0.0, |decimals| 10_f64.powi(decimals as i32));
    if divisor != 0.0 && units(low.max(-1e15 / divisor), divisor) / divisor > high {
        return Err(arguments.error_at("min", "no number with these decimals lies between 'min' and 'max'"));
    }
    Ok(Box::new(Walk { start, step, low, high, divisor, whole: decimals == Some(0) }))
}

/// Returns the noise of a point, a standard normal number.
#[inline(always)]
fn noise(random: &CellRandom, point: u64) -> f64 {
    normal_quantile(((random.u64(point) >> 12) as f64 + 0.5) / 4_503_599_627_370_496.0)
}

/// Returns the positions at both ends of the chunk that begins at `start`, a multiple of [`CHUNK`].
fn ends(random: &CellRandom, start: u64) -> [f64; 2] {
    let first = (CHUNK as f64).sqrt() * noise(random, CHUNK);
    if start == 0 {
        return [0.0, first];
    }
    // Doubles the ends until the chunk is between two of them.
    let (mut low, mut at_low) = (CHUNK, first);
    let (mut high, mut at_high) = (2 * low, at_low + (low as f64).sqrt() * noise(random, 2 * low));
    while high <= start {
        (low, at_low) = (high, at_high);
        high = 2 * low;
        at_high = at_low + (low as f64).sqrt() * noise(random, high);
    }
    while high - low > CHUNK {
        let middle = low + (high - low) / 2;
        let at_middle = (at_low + at_high) / 2.0 + ((high - low) as f64).sqrt() / 2.0 * noise(random, middle);
        if middle <= start {
            (low, at_low) = (middle, at_middle);
        } else {
            (high, at_high) = (middle, at_middle);
        }
    }
    [at_low, at_high]
}

/// Returns the positions at all rows of the chunk that begins at `start`.
fn chunk(random: &CellRandom, start: u64) -> [f64; CHUNK_LEN + 1] {
    let mut points = [0.0; CHUNK_LEN + 1];
    [points[0], points[CHUNK_LEN]] = ends(random, start);
    let mut width = CHUNK_LEN;
    while width > 1 {
        let deviation = (width as f64).sqrt() / 2.0;
        for low in (0..CHUNK_LEN).step_by(width) {
            let middle = low + width / 2;
            let around = (points[low] + points[low + width]) / 2.0;
            points[middle] = around + deviation * noise(random, start + middle as u64);
        }
        width /= 2;
    }
    points
}

impl Walk {
    /// Reflects a position at the bounds.
    #[inline(always)]
    fn reflect(&self, x: f64) -> f64 {
        let Self { low, high, .. } = *self;
        let x = match (low.is_finite(), high.is_finite()) {
            (false, false) => x,
            (true, false) => low + (x - low).abs(),
            (false, true) => high - (high - x).abs(),
            (true, true) => {
                let period = 2.0 * (high - low);
                low + (x - low - period * round((x - low) / period)).abs()
            }
        };
        x.clamp(low, high)
    }

    #[inline(always)]
    fn value(&self, position: f64) -> f64 {
        let x = self.reflect(self.start + self.step * position);
        if self.divisor == 0.0 {
            return x;
        }
        let unit = round(x * self.divisor);
        let inwards = if unit > self.high * self.divisor {
            unit - 1.0
        } else if unit < self.low * self.divisor {
            unit + 1.0
        } else {
            unit
        };
        inwards / self.divisor
    }
}

impl Generator for Walk {
    fn fill(&self, random: &CellRandom, rows: &Rows<'_>, out: &mut CellBlock) {
        let mut values = Vec::with_capacity(rows.len());
        let (mut start, mut points) = (u64::MAX, [0.0; CHUNK_LEN + 1]);
        rows.append_to(&mut values, |row| {
            let (place, within) = (row % ROWS, row % CHUNK);
            if place - within != start {
                start = place - within;
                points = chunk(random, start);
            }
            self.value(points[size(within)])
        });
        if self.whole {
            #[expect(clippy::cast_possible_truncation, reason = "the conversion saturates")]
            out.ints().extend(values.into_iter().map(|value| value as i64));
        } else {
            out.reals().extend(values);
        }
    }

    fn kinds(&self) -> Kinds {
        if self.whole { Kinds::INT } else { Kinds::REAL }
    }

    fn longest_bytes(&self) -> u64 {
        NUMBER_BYTES
    }

    fn cardinality(&self) -> Cardinality {
        let values = (self.high - self.low) * self.divisor + 1.0;
        #[expect(clippy::cast_possible_truncation, reason = "below 2^53")]
        #[expect(clippy::cast_sign_loss, reason = "the upper bound is above the lower one")]
        let values = if self.divisor > 0.0 && values < EXACT { values as u64 } else { u64::MAX };
        Cardinality::Among { values }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Differences of rows at a distance are normal, with the square root of the distance as their deviation.
    #[test]
    fn steps_are_normal_and_independent_at_every_distance() {
        let random = CellRandom::new(5, "t", "walk");
        let points: Vec<f64> = (0..400).flat_map(|n| chunk(&random, n * CHUNK)[..CHUNK_LEN].to_vec()).collect();
        assert_eq!(points[0].to_bits(), 0);
        for distance in [1, 2, 3, 16, 100, 256] {
            let steps: Vec<f64> = (0..points.len() / distance - 1)
                .map(|n| (points[(n + 1) * distance] - points[n * distance]) / (distance as f64).sqrt())
                .collect();
            let n = steps.len() as f64;
            let mean = steps.iter().sum::<f64>() / n;
            let variance = steps.iter().map(|step| step * step).sum::<f64>() / n;
            let next = steps.windows(2).map(|two| two[0] * two[1]).sum::<f64>() / n;
            // Four standard deviations of a mean of n, and of the variance of n.
            assert!(mean.abs() < 4.0 / n.sqrt() && next.abs() < 4.0 / n.sqrt(), "{distance}: {mean} {next}");
            assert!((variance - 1.0).abs() < 4.0 * (2.0 / n).sqrt(), "{distance}: variance {variance}");
        }
    }

    #[test]
    fn chunks_join() {
        let random = CellRandom::new(6, "t", "walk");
        for start in [0, CHUNK, 2 * CHUNK, 3 * CHUNK, 1 << 20, (1 << 40) - CHUNK, ROWS - 2 * CHUNK] {
            assert_eq!(ends(&random, start)[1].to_bits(), ends(&random, start + CHUNK)[0].to_bits(), "{start}");
        }
    }
}
