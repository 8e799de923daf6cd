//! Numbers of statistical distributions.
//!
//! A distribution with a closed inverse takes one word a cell and is one formula ([`Law`]). The others are drawn by
//! rejection, from further words of the same cell: a few at most, without tables or state. Bounds truncate: a value
//! outside is drawn anew, and if the range is in a tail, it is drawn from the truncated distribution ([`truncated`]).

mod truncated;

use super::functions::{exp, ln, normal_quantile, pow, round};
use super::numbers::units;
use super::{Arguments, Cardinality, EXACT, Generator, Kinds, NUMBER_BYTES};
use crate::random::{CellRandom, CellStream, Rows};
use litepress_rows::{CellBlock, Result};
use std::fmt::Debug;

/// Number of redraws of a value outside the bounds, before it is drawn from the truncated distribution.
const RETRIES: usize = 32;

/// A distribution.
trait Law: Debug + Send + Sync {
    /// Draws a number.
    fn draw(&self, stream: &mut CellStream) -> f64;

    /// Draws a number of the distribution truncated to `low..=high`, which holds a part of the support.
    fn draw_within(&self, stream: &mut CellStream, low: f64, high: f64) -> f64;

    /// Returns the least and the largest value.
    fn support(&self) -> (f64, f64) {
        (f64::MIN, f64::MAX)
    }
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
    let (least, largest) = law.support();
    if high < least || low > largest {
        let name = if high < least { "max" } else { "min" };
        let message = format!("no value lies between 'min' and 'max': the distribution has {least} to {largest}");
        return Err(arguments.error_at(name, message.replace(&format!(" to {}", f64::MAX), " and more")));
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
        for _ in 0..=RETRIES {
            let value = self.law.draw(stream);
            if (self.low..=self.high).contains(&value) {
                return value;
            }
        }
        self.law.draw_within(stream, self.low, self.high).clamp(self.low, self.high)
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

    #[cold]
    fn draw_within(&self, stream: &mut CellStream, low: f64, high: f64) -> f64 {
        self.mean + self.sd * truncated::normal(stream, (low - self.mean) / self.sd, (high - self.mean) / self.sd)
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

    #[cold]
    fn draw_within(&self, stream: &mut CellStream, low: f64, high: f64) -> f64 {
        let least = if low > f64::MIN_POSITIVE { ln(low) } else { f64::MIN };
        exp(self.0.draw_within(stream, least, ln(high)))
    }

    fn support(&self) -> (f64, f64) {
        (f64::MIN_POSITIVE, f64::MAX)
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

    /// Inverts: beyond a bound the distribution begins anew.
    #[cold]
    fn draw_within(&self, stream: &mut CellStream, low: f64, high: f64) -> f64 {
        let low = low.max(0.0);
        let beyond = exp(-(high - low) / self.mean);
        low - ln(1.0 - between(stream.u64()) * (1.0 - beyond)) * self.mean
    }

    fn support(&self) -> (f64, f64) {
        (0.0, f64::MAX)
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

    /// Inverts: beyond a bound the distribution is one of that scale.
    #[cold]
    fn draw_within(&self, stream: &mut CellStream, low: f64, high: f64) -> f64 {
        let low = low.max(self.scale);
        let beyond = pow(low / high, -1.0 / self.power);
        low * pow(1.0 - between(stream.u64()) * (1.0 - beyond), self.power)
    }

    fn support(&self) -> (f64, f64) {
        (self.scale, f64::MAX)
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
    shapes: (f64, f64),
}

pub(super) fn beta(arguments: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    let shape = |name| {
        let shape = arguments.positive(name)?;
        if (0.1..=1e6).contains(&shape) {
            Ok(shape)
        } else {
            Err(arguments.error_at(name, format!("argument '{name}' of beta is 0.1 to 1000000")))
        }
    };
    let (a, b) = (shape("a")?, shape("b")?);
    let law = Beta { a: Gamma::new(a), b: Gamma::new(b), shapes: (a, b) };
    bounded(arguments, law)
}

impl Law for Beta {
    #[inline(always)]
    fn draw(&self, stream: &mut CellStream) -> f64 {
        let (a, b) = (self.a.draw(stream), self.b.draw(stream));
        a / (a + b)
    }

    #[cold]
    fn draw_within(&self, stream: &mut CellStream, low: f64, high: f64) -> f64 {
        truncated::beta(between(stream.u64()), self.shapes, low.max(0.0), high.min(1.0))
    }

    fn support(&self) -> (f64, f64) {
        (0.0, 1.0)
    }
}
