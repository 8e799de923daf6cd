//! Numbers of statistical distributions.
//!
//! A distribution with a closed inverse takes one word a cell and is one formula ([`Law`]). The others are drawn by
//! rejection, from further words of the same cell: a few at most, without tables or state.

use super::functions::{exp, ln, normal_quantile, pow, round};
use super::numbers::units;
use super::{Arguments, Cardinality, EXACT, Generator, Kinds, NUMBER_BYTES};
use crate::random::{CellRandom, CellStream, Rows};
use litepress_rows::{CellBlock, Result};
use std::fmt::Debug;

/// Number of redraws of a value outside the bounds, before it is clamped.
const RETRIES: usize = 32;

/// A distribution.
trait Law: Debug + Send + Sync {
    /// Draws a number.
    fn draw(&self, stream: &mut CellStream) -> f64;
}

/// Maps a word to a number above 0 and below 1.
#[inline(always)]
pub(super) fn between(word: u64) -> f64 {
    ((word >> 12) as f64 + 0.5) / 4_503_599_627_370_496.0
}

/// A distribution with bounds and decimals.
#[derive(Debug)]
struct Bounded<L> {
    law: L,
    low: f64,
    high: f64,
    /// Rounding to decimals; `None` for all digits.
    decimals: Option<Decimals>,
    /// Whether values are stored as integers.
    whole: bool,
}

#[derive(Clone, Copy, Debug)]
struct Decimals {
    divisor: f64,
    first: f64,
    last: f64,
}

/// Adds the arguments `min`, `max` and `decimals` of the call to `law`.
fn bounded<L: Law + 'static>(arguments: &Arguments<'_>, law: L) -> Result<Box<dyn Generator>> {
    let low = arguments.optional_real("min")?.unwrap_or(f64::MIN);
    let high = arguments.optional_real("max")?.unwrap_or(f64::MAX);
    if low > high {
        return Err(arguments.error_at("min", format!("'min' is above 'max': {low} > {high}")));
    }
    let decimals = match arguments.optional_int("decimals")? {
        None => None,
        Some(_) => Some(decimals(arguments, low, high)?),
    };
    let whole = decimals.is_some_and(|decimals| decimals.divisor == 1.0);
    Ok(Box::new(Bounded { law, low, high, decimals, whole }))
}

fn decimals(arguments: &Arguments<'_>, low: f64, high: f64) -> Result<Decimals> {
    let places = arguments.int_within("decimals", 0, 15)?;
    #[expect(clippy::cast_possible_truncation, reason = "15 at most")]
    let divisor = 10_f64.powi(places as i32);
    let first = units(low.max(-EXACT / divisor), divisor).max(-EXACT);
    let last = -units((-high).max(-EXACT / divisor), divisor).max(-EXACT);
    if first > last {
        let message = format!("no number of {places} decimals lies between 'min' and 'max'");
        return Err(arguments.error_at("decimals", message));
    }
    Ok(Decimals { divisor, first, last })
}

impl<L: Law> Bounded<L> {
    #[inline(always)]
    fn value(&self, stream: &mut CellStream) -> f64 {
        let mut value = self.law.draw(stream);
        for _ in 0..RETRIES {
            if (self.low..=self.high).contains(&value) {
                break;
            }
            value = self.law.draw(stream);
        }
        value.clamp(self.low, self.high)
    }
}

impl Decimals {
    #[inline(always)]
    fn units_of(self, value: f64) -> f64 {
        round(value * self.divisor).clamp(self.first, self.last)
    }
}

impl<L: Law> Generator for Bounded<L> {
    fn fill(&self, random: &CellRandom, rows: &Rows<'_>, out: &mut CellBlock) {
        let number = |row| self.value(&mut random.stream(row));
        match self.decimals {
            None => rows.append_to(out.reals(), number),
            #[expect(clippy::cast_possible_truncation, reason = "whole numbers within 2^53")]
            Some(decimals) if self.whole => rows.append_to(out.ints(), |row| decimals.units_of(number(row)) as i64),
            Some(decimals) => rows.append_to(out.reals(), |row| decimals.units_of(number(row)) / decimals.divisor),
        }
    }

    fn kinds(&self) -> Kinds {
        if self.whole { Kinds::INT } else { Kinds::REAL }
    }

    fn longest_bytes(&self) -> u64 {
        NUMBER_BYTES
    }

    fn cardinality(&self) -> Cardinality {
        #[expect(clippy::cast_possible_truncation, reason = "2^54 at most")]
        #[expect(clippy::cast_sign_loss, reason = "the last is not below the first")]
        let values = self.decimals.map_or(1 << 52, |Decimals { first, last, .. }| (last - first) as u64 + 1);
        Cardinality::Among { values: if self.low == self.high { 1 } else { values } }
    }
}

/// `normal(mean, sd)`
#[derive(Debug)]
struct Normal {
    mean: f64,
    sd: f64,
}

pub(super) fn normal(arguments: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    let law = Normal { mean: arguments.real("mean")?, sd: arguments.positive("sd")? };
    bounded(arguments, law)
}

impl Law for Normal {
    #[inline(always)]
    fn draw(&self, stream: &mut CellStream) -> f64 {
        self.mean + self.sd * normal_quantile(between(stream.u64()))
    }
}

/// `lognormal(mu, sigma)`
#[derive(Debug)]
struct LogNormal(Normal);

pub(super) fn lognormal(arguments: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    let law = LogNormal(Normal { mean: arguments.real("mu")?, sd: arguments.positive("sigma")? });
    bounded(arguments, law)
}

impl Law for LogNormal {
    #[inline(always)]
    fn draw(&self, stream: &mut CellStream) -> f64 {
        exp(self.0.draw(stream))
    }
}

/// `exponential(rate)`
#[derive(Debug)]
struct Exponential {
    mean: f64,
}

pub(super) fn exponential(arguments: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    let law = Exponential { mean: 1.0 / arguments.positive("rate")? };
    bounded(arguments, law)
}

impl Law for Exponential {
    #[inline(always)]
    fn draw(&self, stream: &mut CellStream) -> f64 {
        -ln(between(stream.u64())) * self.mean
    }
}

/// `pareto(scale, shape)`
#[derive(Debug)]
struct Pareto {
    scale: f64,
    power: f64,
}

pub(super) fn pareto(arguments: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    let law = Pareto { scale: arguments.positive("scale")?, power: -1.0 / arguments.positive("shape")? };
    bounded(arguments, law)
}

impl Law for Pareto {
    #[inline(always)]
    fn draw(&self, stream: &mut CellStream) -> f64 {
        self.scale * pow(between(stream.u64()), self.power)
    }
}

/// A gamma variable of this shape and scale 1, by squeezed rejection (Marsaglia and Tsang, *ACM TOMS* 26, 2000): at
/// most one of 20 draws is rejected. Shapes below 1 are raised by 1 and corrected by a power.
#[derive(Clone, Copy, Debug)]
struct Gamma {
    d: f64,
    c: f64,
    back: Option<f64>,
}

impl Gamma {
    fn new(shape: f64) -> Self {
        let (raised, back) = if shape < 1.0 { (shape + 1.0, Some(1.0 / shape)) } else { (shape, None) };
        let d = raised - 1.0 / 3.0;
        Self { d, c: 1.0 / (9.0 * d).sqrt(), back }
    }

    #[inline(always)]
    fn draw(self, stream: &mut CellStream) -> f64 {
        let gamma = loop {
            let x = normal_quantile(between(stream.u64()));
            let root = 1.0 + self.c * x;
            if root <= 0.0 {
                continue;
            }
            let v = root * root * root;
            let u = between(stream.u64());
            if u < 1.0 - 0.0331 * x * x * x * x || ln(u) < 0.5 * x * x + self.d * (1.0 - v + ln(v)) {
                break self.d * v;
            }
        };
        self.back.map_or(gamma, |power| gamma * pow(between(stream.u64()), power))
    }
}

/// `beta(a, b)`: the share of the first of two gamma variables in their sum.
#[derive(Debug)]
struct Beta {
    a: Gamma,
    b: Gamma,
}

pub(super) fn beta(arguments: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    let shape = |name| {
        let shape = arguments.positive(name)?;
        if (0.1..=1e6).contains(&shape) {
            Ok(Gamma::new(shape))
        } else {
            Err(arguments.error_at(name, format!("argument '{name}' of beta is 0.1 to 1000000")))
        }
    };
    let law = Beta { a: shape("a")?, b: shape("b")? };
    bounded(arguments, law)
}

impl Law for Beta {
    #[inline(always)]
    fn draw(&self, stream: &mut CellStream) -> f64 {
        let (a, b) = (self.a.draw(stream), self.b.draw(stream));
        a / (a + b)
    }
}
