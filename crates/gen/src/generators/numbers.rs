//! Integers and real numbers.

use super::{Arguments, ArithmeticSequence, Cardinality, Cycle, EXACT, Generator, Kinds, NUMBER_BYTES};
use crate::random::{CellRandom, Rows};
use litepress_rows::{CellBlock, Result};

/// `sequence(start, step)`
#[derive(Debug)]
struct Sequence(ArithmeticSequence);

pub(super) fn sequence(arguments: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    let progression = ArithmeticSequence { start: arguments.int("start")?, step: arguments.int("step")? };
    if progression.step == 0 {
        return Err(arguments.error_at("step", "argument 'step' of sequence is not 0"));
    }
    Ok(Box::new(Sequence(progression)))
}

impl Generator for Sequence {
    fn fill(&self, _: &CellRandom, rows: &Rows<'_>, out: &mut CellBlock) {
        let ArithmeticSequence { start, step } = self.0;
        rows.append_to(out.ints(), |row| start.wrapping_add(row.cast_signed().wrapping_mul(step)));
    }

    fn kinds(&self) -> Kinds {
        Kinds::INT
    }

    fn longest_bytes(&self) -> u64 {
        NUMBER_BYTES
    }

    fn cardinality(&self) -> Cardinality {
        let ArithmeticSequence { start, step } = self.0;
        let last = if step > 0 { i64::MAX } else { i64::MIN };
        let rows = (last.abs_diff(start) / step.unsigned_abs()).saturating_add(1);
        if step > 0 { Cardinality::Ascending { rows } } else { Cardinality::Unique { rows } }
    }
}

/// `repeat(lo, hi, each, step)`: `lo + n * step`, where `n` grows by one every `each` rows and begins anew after
/// `hi`.
#[derive(Debug)]
struct Repeat {
    low: i64,
    step: u64,
    cycle: Cycle,
}

pub(super) fn repeat(arguments: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    let (low, high) = arguments.int_range("lo", "hi")?;
    let step = arguments.int_within("step", 1, i64::MAX.unsigned_abs())?;
    let each = arguments.int_within("each", 1, i64::MAX.unsigned_abs())?;
    // 2^64 values saturate to one less, which no row number reaches.
    let values = (high.abs_diff(low) / step).saturating_add(1);
    Ok(Box::new(Repeat { low, step, cycle: Cycle { each, values } }))
}

impl Generator for Repeat {
    fn fill(&self, _: &CellRandom, rows: &Rows<'_>, out: &mut CellBlock) {
        let Self { low, step, cycle: Cycle { each, values } } = *self;
        let ints = out.ints();
        let value = |n: u64| low.wrapping_add(n.wrapping_mul(step).cast_signed());
        let Rows::Range(range) = rows else {
            rows.append_to(ints, |row| value(row / each % values));
            return;
        };
        // Counting is faster than two divisions a row.
        let (mut n, mut times) = (range.start / each % values, range.start % each);
        rows.append_to(ints, |_| {
            let this = value(n);
            times += 1;
            if times == each {
                times = 0;
                n += 1;
            }
            if n == values {
                n = 0;
            }
            this
        });
    }

    fn kinds(&self) -> Kinds {
        Kinds::INT
    }

    fn longest_bytes(&self) -> u64 {
        NUMBER_BYTES
    }

    fn cardinality(&self) -> Cardinality {
        Cardinality::Among { values: self.cycle.values }
    }

    fn cycle(&self) -> Option<Cycle> {
        Some(self.cycle)
    }
}

/// `int(lo, hi, step)`: `lo + n * step`, `n` below `count`; 0 stands for 2^64.
#[derive(Debug)]
struct Int {
    low: i64,
    step: u64,
    count: u64,
}

pub(super) fn int(arguments: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    let (low, high) = arguments.int_range("lo", "hi")?;
    let step = arguments.int_within("step", 1, i64::MAX.unsigned_abs())?;
    let count = (high.abs_diff(low) / step).wrapping_add(1);
    Ok(Box::new(Int { low, step, count }))
}

impl Generator for Int {
    fn fill(&self, random: &CellRandom, rows: &Rows<'_>, out: &mut CellBlock) {
        let Self { low, step, count: values } = *self;
        let ints = out.ints();
        ints.resize(rows.len(), 0);
        let value = |n: u64| low.wrapping_add(n.wrapping_mul(step).cast_signed());
        match (values, step) {
            (0, _) => random.fill_u64(rows, ints, value),
            (_, 1) => random.fill_below(rows, ints, values, |n| low.wrapping_add(n.cast_signed())),
            _ => random.fill_below(rows, ints, values, value),
        }
    }

    fn kinds(&self) -> Kinds {
        Kinds::INT
    }

    fn longest_bytes(&self) -> u64 {
        NUMBER_BYTES
    }

    fn cardinality(&self) -> Cardinality {
        Cardinality::Among { values: self.count.wrapping_sub(1).saturating_add(1) }
    }
}

/// `real(lo, hi)`
#[derive(Debug)]
struct Real {
    low: f64,
    width: f64,
    /// The largest double below `hi`: rounding must not reach `hi`.
    largest: f64,
}

/// `real(lo, hi, decimals)`: integers of `first..first + count`, divided by a power of ten. One correctly rounded
/// division gives the double nearest to the decimal number.
#[derive(Debug)]
struct Decimal {
    first: i64,
    count: u64,
    divisor: f64,
}

pub(super) fn real(arguments: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    let (low, high) = (arguments.real("lo")?, arguments.real("hi")?);
    if low >= high {
        return Err(arguments.error_at("lo", format!("'lo' is not below 'hi': {low} >= {high}")));
    }
    let width = high - low;
    if !width.is_finite() {
        return Err(arguments.error_at("lo", "the range of 'lo' to 'hi' is too wide"));
    }
    match arguments.optional_int("decimals")? {
        None => Ok(Box::new(Real { low, width, largest: high.next_down() })),
        Some(_) => decimal(arguments, low, high),
    }
}

fn decimal(arguments: &Arguments<'_>, low: f64, high: f64) -> Result<Box<dyn Generator>> {
    let decimals = arguments.int_within("decimals", 0, 15)?;
    #[expect(clippy::cast_possible_truncation, reason = "15 at most")]
    let divisor = 10_f64.powi(decimals as i32);
    let (first, end) = (units(low, divisor), units(high, divisor));
    if first.abs() > EXACT || end.abs() > EXACT {
        let message = format!("{decimals} decimals of 'lo' to 'hi' are more digits than a real number holds");
        return Err(arguments.error_at("decimals", message).advise("give fewer decimals"));
    }
    if first >= end {
        let message = format!("no number of {decimals} decimals lies between 'lo' and 'hi'");
        return Err(arguments.error_at("decimals", message));
    }
    #[expect(clippy::cast_possible_truncation, reason = "whole numbers within 2^53")]
    let (first, end) = (first as i64, end as i64);
    Ok(Box::new(Decimal { first, count: end.abs_diff(first), divisor }))
}

/// Returns the smallest integer number of units (hundredths if `divisor` is 100) that is not below `bound`.
pub(super) fn units(bound: f64, divisor: f64) -> f64 {
    let nearest = (bound * divisor).round();
    if nearest / divisor >= bound { nearest } else { nearest + 1.0 }
}

impl Generator for Real {
    fn fill(&self, random: &CellRandom, rows: &Rows<'_>, out: &mut CellBlock) {
        let Self { low, width, largest } = *self;
        let reals = out.reals();
        reals.resize(rows.len(), 0.0);
        random.fill_u64(rows, reals, |word| {
            let share = (word >> 11).cast_signed() as f64 / EXACT;
            (low + share * width).min(largest)
        });
    }

    fn kinds(&self) -> Kinds {
        Kinds::REAL
    }

    fn longest_bytes(&self) -> u64 {
        NUMBER_BYTES
    }

    fn cardinality(&self) -> Cardinality {
        Cardinality::Among { values: 1 << 53 }
    }
}

impl Generator for Decimal {
    fn fill(&self, random: &CellRandom, rows: &Rows<'_>, out: &mut CellBlock) {
        let Self { first, count: values, divisor } = *self;
        let reals = out.reals();
        reals.resize(rows.len(), 0.0);
        random.fill_below(rows, reals, values, |n| (first + n.cast_signed()) as f64 / divisor);
    }

    fn kinds(&self) -> Kinds {
        Kinds::REAL
    }

    fn longest_bytes(&self) -> u64 {
        NUMBER_BYTES
    }

    fn cardinality(&self) -> Cardinality {
        Cardinality::Among { values: self.count }
    }
}
