//! Picks from a list: the encoder encodes each value once, and rows hold indexes.

use super::alias::{AliasTable, threshold};
use super::template::{self, Node};
use super::{Arguments, Cardinality, EXACT, Generator, InJson, Kinds, NUMBER_BYTES, Permutation};
use crate::random::{CellRandom, Fraction, Rows};
use litepress_rows::cells::OwnedValue;
use litepress_rows::{CellBlock, Result};
use std::sync::Arc;

/// A list of values with a method of picking from it.
#[derive(Debug)]
pub(super) struct ListPick {
    values: Arc<[OwnedValue]>,
    method: Method,
    null_share: f64,
    in_json: InJson,
}

#[derive(Debug)]
enum Method {
    Always,
    Evenly,
    /// The second value if 32 random bits are below this, else the first; 2^32 is always.
    Below(u64),
    /// A choice by weights.
    Alias(AliasTable),
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
    let used = weighted.into_iter().filter(|(_, weight)| *weight > 0.0);
    let (values, weights): (Vec<_>, Vec<_>) = used.unzip();
    Ok(Box::new(ListPick::by_weight(values, &weights)))
}

/// `deal(v: n, ...)`: a deck of cards with each value n times, which is shuffled anew when all cards are dealt.
#[derive(Debug)]
struct Deal {
    values: Arc<[OwnedValue]>,
    /// For each value, the position after its last card.
    ends: Vec<u64>,
}

/// The purpose of the decks' orders in [`CellRandom::fork`]; each deck forks its own from that.
const DECKS: u64 = 66;

pub(super) fn deal(arguments: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    const MOST: u64 = 1 << 40;
    let (mut values, mut ends, mut end) = (Vec::new(), Vec::new(), 0_u64);
    for (index, pair) in arguments.pairs()?.into_iter().enumerate() {
        let cards = pair.weight.unwrap_or(1.0);
        if cards.fract() != 0.0 || cards > MOST as f64 {
            return Err(arguments.error_at_pair(index, "a value is dealt a whole number of times"));
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "whole, and neither negative nor large"
        )]
        let cards = cards as u64;
        if cards > 0 {
            end += cards;
            values.push(pair.value);
            ends.push(end);
        }
    }
    match values.is_empty() {
        true => Err(arguments.error_here("deal has nothing to deal")),
        false => Ok(Box::new(Deal { values: values.into(), ends })),
    }
}

impl Generator for Deal {
    fn fill(&self, random: &CellRandom, rows: &Rows<'_>, out: &mut CellBlock) {
        let (picks, mut places, mut all) = (out.picks(&self.values), Vec::new(), Vec::new());
        rows.append_to(&mut all, |row| row);
        let (decks, cards) = (random.fork(DECKS), self.ends.last().copied().unwrap_or(1));
        for of_deck in all.chunk_by(|one, next| one / cards == next / cards) {
            places.clear();
            places.extend(of_deck.iter().map(|row| row % cards));
            Permutation::new(cards, &decks.fork(of_deck[0] / cards)).apply(&mut places);
            let value = |&place: &u64| narrow(self.ends.partition_point(|&end| end <= place) as u64);
            picks.extend(places.iter().map(value));
        }
    }

    fn kinds(&self) -> Kinds {
        self.values.iter().map(kind_of).fold(Kinds::NONE, Kinds::union)
    }

    fn longest_bytes(&self) -> u64 {
        self.values.iter().map(bytes_of).max().unwrap_or(0)
    }

    fn cardinality(&self) -> Cardinality {
        Cardinality::Among { values: self.values.len() as u64 }
    }

    fn null_share(&self) -> f64 {
        let first = |value: usize| if value == 0 { 0 } else { self.ends[value - 1] };
        let nulls = (0..self.values.len()).filter(|&value| self.values[value] == OwnedValue::Null);
        let cards: u64 = nulls.map(|value| self.ends[value] - first(value)).sum();
        cards as f64 / self.ends.last().copied().unwrap_or(1) as f64
    }
}

pub(super) fn constant(arguments: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    Ok(Box::new(ListPick::evenly(vec![arguments.value("v")?])))
}

pub(super) fn bool(arguments: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    let method = Method::Below(threshold(arguments.share("p")?));
    let values = [OwnedValue::Int(0), OwnedValue::Int(1)].into();
    Ok(Box::new(ListPick { values, method, null_share: 0.0, in_json: InJson::Truth }))
}

/// Builds `sparse(p, value, rest)`.
pub(super) fn sparse(arguments: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    let share = arguments.share("p")?;
    let values = [arguments.value("rest")?, arguments.value("value")?];
    let shares = [1.0 - share, share];
    let nulls = values.iter().zip(shares).filter(|(value, _)| **value == OwnedValue::Null);
    let null_share = nulls.map(|(_, share)| share).sum();
    let method = Method::Below(threshold(share));
    Ok(Box::new(ListPick { values: values.into(), method, null_share, in_json: InJson::Value }))
}

/// `steps(v: rows, ..., v)`: each value for a number of consecutive rows, the last one for the rest.
#[derive(Debug)]
struct Steps {
    values: Arc<[OwnedValue]>,
    /// For each value, the first row after its rows.
    ends: Vec<u64>,
}

pub(super) fn steps(arguments: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    let pairs = arguments.pairs()?;
    let mut ends = Vec::new();
    let mut end = 0_u64;
    for (index, pair) in pairs.iter().enumerate() {
        end = match pair.weight {
            #[expect(clippy::cast_possible_truncation, reason = "within 2^53")]
            #[expect(clippy::cast_sign_loss, reason = "a weight is not negative")]
            Some(rows) if (1.0..=EXACT).contains(&rows) && rows.fract() == 0.0 => end.saturating_add(rows as u64),
            Some(_) => return Err(arguments.error_at_pair(index, "a step has a whole number of rows, 1 at least")),
            None if index + 1 == pairs.len() => u64::MAX,
            None => return Err(arguments.error_at_pair(index, "every step but the last needs a number of rows")),
        };
        ends.push(end);
    }
    let Some(last) = ends.last_mut() else {
        return Err(arguments.error_here("steps has no value"));
    };
    *last = u64::MAX;
    Ok(Box::new(Steps { values: pairs.into_iter().map(|pair| pair.value).collect(), ends }))
}

impl Generator for Steps {
    fn fill(&self, _: &CellRandom, rows: &Rows<'_>, out: &mut CellBlock) {
        let picks = out.picks(&self.values);
        let mut step = 0;
        rows.append_to(picks, |row| {
            let is_in_step = row < self.ends[step] && (step == 0 || row >= self.ends[step - 1]);
            if !is_in_step {
                step = self.ends.partition_point(|&end| end <= row);
            }
            narrow(step as u64)
        });
    }

    fn kinds(&self) -> Kinds {
        self.values.iter().map(kind_of).fold(Kinds::NONE, Kinds::union)
    }

    fn longest_bytes(&self) -> u64 {
        self.values.iter().map(bytes_of).max().unwrap_or(0)
    }

    fn cardinality(&self) -> Cardinality {
        Cardinality::Among { values: self.values.len() as u64 }
    }

    /// Returns 1 if any step is NULL: it may be the last one, and so that of almost all rows.
    fn null_share(&self) -> f64 {
        if self.values.contains(&OwnedValue::Null) { 1.0 } else { 0.0 }
    }
}

impl ListPick {
    /// Picks each of `values` with the same probability.
    pub(super) fn evenly(values: Vec<OwnedValue>) -> Self {
        let weights = vec![1.0; values.len()];
        Self::by_weight(values, &weights)
    }

    pub(super) fn by_weight(values: Vec<OwnedValue>, weights: &[f64]) -> Self {
        let nulls = values.iter().zip(weights).filter(|(value, _)| **value == OwnedValue::Null);
        let null_share = nulls.map(|(_, weight)| weight).sum::<f64>() / weights.iter().sum::<f64>();
        let method = match weights {
            [_] => Method::Always,
            _ if weights.windows(2).all(|pair| pair[0] == pair[1]) => Method::Evenly,
            _ => Method::Alias(AliasTable::new(weights)),
        };
        Self { values: values.into(), method, null_share, in_json: InJson::Value }
    }
}

impl Generator for ListPick {
    fn fill(&self, random: &CellRandom, rows: &Rows<'_>, out: &mut CellBlock) {
        let picks = out.picks(&self.values);
        picks.resize(rows.len(), 0);
        let values = self.values.len() as u64;
        match &self.method {
            Method::Always => {}
            Method::Evenly => random.fill_below(rows, picks, values, narrow),
            Method::Below(share) => {
                random.fill_shared(rows, picks, |bits| u32::from(u64::from(bits.take_u32()) < *share));
            }
            Method::Alias(table) => random.fill_u64(rows, picks, |word| table.pick(&mut Fraction(word))),
        }
    }

    fn kinds(&self) -> Kinds {
        self.values.iter().map(kind_of).fold(Kinds::NONE, Kinds::union)
    }

    fn longest_bytes(&self) -> u64 {
        self.values.iter().map(bytes_of).max().unwrap_or(0)
    }

    fn cardinality(&self) -> Cardinality {
        Cardinality::Among { values: self.values.len() as u64 }
    }

    fn null_share(&self) -> f64 {
        self.null_share
    }

    fn in_json(&self) -> InJson {
        self.in_json
    }

    fn distinct(&self, rows: u64) -> Option<Box<dyn Generator>> {
        let text = |value: &OwnedValue| match value {
            OwnedValue::Text(text) => Some(text.clone()),
            _ => None,
        };
        let texts: Vec<String> = self.values.iter().map(text).collect::<Option<_>>()?;
        Some(template::distinct(&Node::one_of(&texts), rows))
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
