//! The annotations of foreign keys, chosen so that parents have the same numbers of children as in the source.
//!
//! | statistics | annotation |
//! |---|---|
//! | the foreign key is a key of its table | `once` |
//! | two foreign keys make a key | inferred if both are even; else `per_parent(...)` for the less even one, `distinct_in(...)` for the other |
//! | a foreign key and a number from 0 or 1 on make a key | `per_parent(...)`, `number_in(...)` for the number |
//! | the children of each parent are consecutive | `per_parent(...)` |
//! | all parents have n or n + 1 children | `in_turn` |
//! | the numbers of children are those of random references | `uniform` |
//! | only a sample of the parents was counted, and the numbers follow Zipf's law | `zipf(s)` |
//! | other numbers | `deal(0: 71, 1: 148, ...)` |
//!
//! `deal(...)` and `per_parent(deal(...))` reproduce the numbers of children, including parents without any. At twice
//! the scale twice as many parents have each number, whereas by Zipf's law the first parent would have twice as many
//! children. With `per_parent` the table's number of rows follows and is left out of the plan.

use super::read::{RANGES, SMALL, TableStats};
use super::references::{ForeignKey, ReferenceStats};
use crate::infer::{self, quoted};
use litepress_rows::schema::{Schema, Table};
use std::collections::BTreeMap;

/// The annotation of a column of a foreign key, with its reason; `None` if it is left to inference.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Said {
    pub column: usize,
    pub generator: Option<String>,
    pub because: String,
}

/// The pattern of a foreign key.
#[derive(Clone, Debug, PartialEq)]
enum Draw {
    /// Left to inference: the schema has an annotation, or the plan derives it from a key.
    Inferred(&'static str),
    Once,
    Children,
    /// Distinct in the column of this name.
    DistinctIn(String),
    InTurn(u64),
    Dealt,
    Zipf(f64),
    Uniform,
}

/// The numbers of children of a foreign key's parents.
pub(super) struct Spread {
    /// Number of parents for each number of children.
    pub parents: BTreeMap<u64, u64>,
    children: u64,
    /// Parents, including those without children.
    pub all: u64,
    /// Probability that two random children have the same parent.
    shared: f64,
    /// Uncertainty of the number of parents with children, which is an estimate if only a sample was counted.
    slack: u64,
}

/// The planner of all foreign keys.
pub(super) struct Choice<'a> {
    schema: &'a Schema,
    stats: &'a [Option<TableStats>],
    /// For each table, the table that its number of rows follows from.
    pub follows: Vec<Option<usize>>,
}

/// The planner of one table's foreign keys.
struct Chooser<'c, 'a> {
    choice: &'c mut Choice<'a>,
    position: usize,
    table: &'a Table,
    stats: &'a TableStats,
    spreads: Vec<Spread>,
    draws: Vec<Option<Draw>>,
    /// Columns that count the rows of a parent: the number, the foreign key's column, and the first number.
    numbers: Vec<(usize, usize, i64)>,
}

impl<'a> Choice<'a> {
    pub fn new(schema: &'a Schema, stats: &'a [Option<TableStats>]) -> Self {
        Self { schema, stats, follows: vec![None; schema.tables.len()] }
    }

    fn rows_of(&self, table: usize) -> u64 {
        self.stats[table].as_ref().map_or(0, |stats| stats.rows)
    }

    /// Plans the columns of a table's foreign keys. `annotated` columns have annotations in the schema;
    /// `has_children` tells that one of these is `per_parent`.
    pub fn table(&mut self, position: usize, annotated: &[usize], has_children: bool) -> Vec<Said> {
        let (schema, all) = (self.schema, self.stats);
        let Some(stats) = &all[position] else { return Vec::new() };
        let keys = stats.foreign_keys.iter();
        let spreads = keys.map(|(key, of)| Spread::new(of, self.rows_of(key.parent))).collect();
        let draws = vec![None; stats.foreign_keys.len()];
        if has_children {
            self.follows[position] = Some(position);
        }
        let table = &schema.tables[position];
        let mut chooser = Chooser { choice: self, position, table, stats, spreads, draws, numbers: Vec::new() };
        chooser.settle_alone(annotated);
        chooser.settle_keys(annotated);
        chooser.settle_clustered();
        chooser.settle_rest();
        // Without parents, keys are values like any other.
        let rows = |key: usize| chooser.choice.rows_of(stats.foreign_keys[key].0.parent);
        let has_parents = |&key: &usize| rows(key) > 0 || chooser.spreads[key].children == 0;
        (0..stats.foreign_keys.len())
            .filter(has_parents)
            .flat_map(|key| chooser.said(key))
            .chain(chooser.said_numbers())
            .collect()
    }
}

impl Chooser<'_, '_> {
    fn key(&self, key: usize) -> (&ForeignKey, &ReferenceStats) {
        let (key, stats) = &self.stats.foreign_keys[key];
        (key, stats)
    }

    fn open(&self) -> impl Iterator<Item = usize> {
        (0..self.draws.len()).filter(|&key| self.draws[key].is_none())
    }

    /// Decides foreign keys that leave no choice.
    fn settle_alone(&mut self, annotated: &[usize]) {
        for key in 0..self.draws.len() {
            let (foreign, _) = self.key(key);
            let is_key = foreign.columns.iter().any(|&column| infer::is_key_alone(self.table, column));
            self.draws[key] = if foreign.columns.iter().any(|column| annotated.contains(column)) {
                Some(Draw::Inferred("an annotation of the schema says it"))
            } else if self.stats.rows == 0 || self.spreads[key].children == 0 {
                Some(Draw::Inferred("no row refers to one"))
            } else if self.choice.rows_of(foreign.parent) == 0 {
                // The number of rows must not follow from missing parents either.
                Some(Draw::Inferred("there are no parents"))
            } else if is_key {
                Some(Draw::Once)
            } else {
                (foreign.parent == self.position).then_some(Draw::Uniform)
            };
        }
    }

    /// Decides foreign keys within keys of several columns.
    fn settle_keys(&mut self, annotated: &[usize]) {
        let keys: Vec<Vec<usize>> = infer::unique_keys(self.table).filter(|key| key.len() > 1).collect();
        for columns in keys {
            let mut parts: Vec<usize> = self.open().collect();
            parts.retain(|&key| self.key(key).0.columns.iter().all(|column| columns.contains(column)));
            let covered: usize = parts.iter().map(|&key| self.key(key).0.columns.len()).sum();
            let rest: Vec<usize> = columns.iter().copied().filter(|column| !self.is_in(&parts, *column)).collect();
            match (&parts[..], &rest[..]) {
                (&[one, other], []) if covered == columns.len() => self.settle_pair(one, other),
                ([_, _, ..], []) => {
                    for part in parts {
                        self.draws[part] = Some(Draw::Inferred("in a key of foreign keys"));
                    }
                }
                (&[key], &[number]) if !annotated.contains(&number) && self.may_have_children(key) => {
                    if let Some(first) = self.first_number(key, number) {
                        self.numbers.push((number, self.key(key).0.columns[0], first));
                        self.give_children(key);
                    }
                }
                _ => {}
            }
        }
    }

    fn is_in(&self, keys: &[usize], column: usize) -> bool {
        keys.iter().any(|&key| self.key(key).0.columns.contains(&column))
    }

    /// Returns the first number of a column if it numbers the children of each parent: from 0 or 1 on, up to their
    /// largest number.
    fn first_number(&self, key: usize, column: usize) -> Option<i64> {
        let place = self.table.ordinary_columns().position(|ordinary| ordinary == column)?;
        let (stats, most) = (&self.stats.columns[place], i64::try_from(self.spreads[key].most()).ok()?);
        let is_free = !infer::is_key_alone(self.table, column)
            && self.table.foreign_keys.iter().all(|foreign| !foreign.columns.contains(&column));
        let counts = stats.ints == self.stats.rows && stats.largest_int.checked_sub(stats.least_int) == Some(most - 1);
        (is_free && counts && matches!(stats.least_int, 0 | 1)).then_some(stats.least_int)
    }

    /// Decides two foreign keys that make a key.
    fn settle_pair(&mut self, one: usize, other: usize) {
        if [one, other].iter().all(|&key| self.spreads[key].is_even()) {
            // Inference takes both in turn.
            for part in [one, other] {
                self.draws[part] = Some(Draw::Inferred("in a key of foreign keys"));
            }
            return;
        }
        let uneven = |key: usize| self.spreads[key].shared * self.spreads[key].all as f64;
        let (first, second) = if uneven(one) >= uneven(other) { (one, other) } else { (other, one) };
        let fits = |key: usize, other: usize| {
            self.spreads[key].most() <= self.spreads[other].all && self.key(other).1.nulls == 0
        };
        let is_pair = [(first, second), (second, first)]
            .into_iter()
            .find(|&(key, other)| self.may_have_children(key) && fits(key, other));
        let Some((key, other)) = is_pair else {
            for part in [one, other] {
                self.draws[part] = Some(Draw::Inferred("in a key of foreign keys"));
            }
            return;
        };
        let name = self.table.columns[self.key(key).0.columns[0]].name.clone();
        self.give_children(key);
        self.draws[other] = Some(Draw::DistinctIn(name));
    }

    /// Decides the foreign key whose children are closest to consecutive rows.
    fn settle_clustered(&mut self) {
        let cuts = self.cuts();
        let together = |key: &usize| {
            let (stats, spread) = (self.key(*key).1, &self.spreads[*key]);
            let gaps = stats.changes.saturating_sub(spread.with_children() + cuts);
            // In thousandths.
            let share = 1000 * gaps / spread.with_children().max(1);
            (spread.most() > 1 && share < 333).then_some(share)
        };
        let best =
            self.open().filter(|key| self.may_have_children(*key) && together(key).is_some()).min_by_key(together);
        if let Some(key) = best {
            self.give_children(key);
        }
    }

    /// Decides all others.
    fn settle_rest(&mut self) {
        const NEAR: f64 = 0.05;
        for key in self.open().collect::<Vec<_>>() {
            let (spread, is_sampled) = (&self.spreads[key], self.key(key).1.children.weight() > 1);
            let exponent = spread.exponent();
            self.draws[key] = Some(if spread.is_even() {
                Draw::InTurn(if self.is_together(key) { spread.most() } else { 1 })
            } else if exponent < 0.1 && spread.distance(0.0) < NEAR {
                Draw::Uniform
            } else if is_sampled && exponent > 0.0 && spread.distance(exponent) < NEAR {
                Draw::Zipf(exponent)
            } else {
                Draw::Dealt
            });
        }
    }

    fn is_together(&self, key: usize) -> bool {
        let spread = &self.spreads[key];
        self.key(key).1.changes <= spread.with_children() + self.cuts() + spread.slack
    }

    /// Returns the number of boundaries between ranges, at which the rows of one parent may be divided.
    fn cuts(&self) -> u64 {
        if self.stats.rows < SMALL { 0 } else { RANGES }
    }

    /// Returns whether the number of rows can follow from the parents of this key: it follows from no others yet, and
    /// there is no cycle.
    fn may_have_children(&self, key: usize) -> bool {
        let (foreign, stats) = self.key(key);
        let follows = &self.choice.follows;
        let line = std::iter::successors(Some(foreign.parent), |&table| follows[table].filter(|&of| of != table));
        follows[self.position].is_none()
            && stats.nulls == 0
            && line.take(follows.len() + 1).all(|of| of != self.position)
    }

    fn give_children(&mut self, key: usize) {
        self.choice.follows[self.position] = Some(self.key(key).0.parent);
        self.draws[key] = Some(Draw::Children);
    }

    /// Returns the annotations of a foreign key's columns. The first column that is NOT NULL, or else the first of
    /// all, carries the distribution.
    fn said(&self, key: usize) -> Vec<Said> {
        let (foreign, stats) = self.key(key);
        let (spread, rows) = (&self.spreads[key], self.stats.rows);
        let draw = self.draws[key].as_ref().expect("all are settled");
        let parent = &self.choice.schema.tables[foreign.parent];
        let names: Vec<&str> =
            foreign.parent_columns.iter().map(|&column| parent.columns[column].name.as_str()).collect();
        let refers = format!("refers to {}({})", parent.name, names.join(", "));
        if let Draw::Inferred(why) = draw {
            let said = |&column: &usize| Said { column, generator: None, because: format!("{refers}: {why}") };
            return foreign.columns.iter().map(said).collect();
        }
        let takes_null = |column: usize| !self.table.columns[column].not_null && self.table.rowid_alias != Some(column);
        // The first row of a table that refers to itself has no parent in any case.
        let (nulls, rows) = match foreign.parent == self.position {
            true => (stats.nulls.saturating_sub(1), rows - 1),
            false => (stats.nulls, rows),
        };
        let leader = foreign.columns.iter().position(|&column| !takes_null(column));
        let lead = leader.unwrap_or(0);
        let said = |(place, &column): (usize, &usize)| {
            let to = format!("{}.{}", quoted(&parent.name), quoted(names[place]));
            let distribution = if place == lead { self.distribution(draw, spread) } else { String::new() };
            let refer = match leader {
                // NULL in the leading column would be NULL in all.
                Some(lead) if takes_null(column) => {
                    format!("{}.{}", quoted(&self.table.columns[foreign.columns[lead]].name), quoted(names[place]))
                }
                _ => format!("ref({to}{distribution})"),
            };
            let has_nulls = takes_null(column) && (place == lead || leader.is_some());
            let generator = if has_nulls { super::describe::with_nulls(refer, nulls, rows) } else { refer };
            Said { column, generator: Some(generator), because: format!("{refers}: {}", spread.because(draw)) }
        };
        foreign.columns.iter().enumerate().map(said).collect()
    }

    /// Returns the annotations of columns that number rows.
    fn said_numbers(&self) -> impl Iterator<Item = Said> {
        self.numbers.iter().map(|&(column, by, first)| {
            let by = quoted(&self.table.columns[by].name);
            let generator = if first == 1 { format!("number_in({by})") } else { format!("number_in({by}) - 1") };
            Said { column, generator: Some(generator), because: format!("it counts the rows of each {by}") }
        })
    }

    fn distribution(&self, draw: &Draw, spread: &Spread) -> String {
        match draw {
            Draw::Once => ", once".to_owned(),
            Draw::Children if spread.parents.len() == 1 => format!(", per_parent({})", spread.most()),
            Draw::Children => format!(", per_parent({})", spread.deal()),
            Draw::Dealt => format!(", {}", spread.deal()),
            Draw::DistinctIn(column) => format!(", distinct_in({})", quoted(column)),
            Draw::InTurn(1) => ", in_turn".to_owned(),
            Draw::InTurn(each) => format!(", in_turn({each})"),
            Draw::Zipf(exponent) => format!(", zipf({exponent})"),
            Draw::Uniform | Draw::Inferred(_) => String::new(),
        }
    }
}

impl Spread {
    /// Evaluates the counts of a foreign key; the parents' table has this number of rows.
    pub fn new(stats: &ReferenceStats, rows: u64) -> Self {
        let weight = stats.children.weight();
        let (mut parents, mut pairs) = (BTreeMap::new(), 0.0);
        let mut children = 0;
        for count in stats.children.rows() {
            *parents.entry(count).or_default() += weight;
            children += count * weight;
            pairs += (count as f64) * (count - 1) as f64 * weight as f64;
        }
        let with_children: u64 = parents.values().sum();
        // Three standard deviations of the number that a sample stands for.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a fraction of a number of rows")]
        let slack = (3.0 * (rows as f64 * (weight - 1) as f64).sqrt()) as u64;
        let childless = rows.saturating_sub(with_children);
        if childless > slack {
            parents.insert(0, childless);
        }
        let all = parents.values().sum();
        let shared = pairs / ((children as f64) * (children as f64 - 1.0)).max(1.0);
        Self { parents, children, all, shared, slack }
    }

    fn least(&self) -> u64 {
        self.parents.keys().next().copied().unwrap_or(0)
    }

    pub fn most(&self) -> u64 {
        self.parents.keys().next_back().copied().unwrap_or(0)
    }

    /// Returns whether all parents have n or n + 1 children.
    fn is_even(&self) -> bool {
        self.most() - self.least() <= 1 && self.children >= self.all
    }

    fn with_children(&self) -> u64 {
        self.all - self.parents.get(&0).copied().unwrap_or(0)
    }

    fn because(&self, draw: &Draw) -> String {
        let (least, most) = (self.least(), self.most());
        let each = match least == most {
            true => format!("{most} rows each"),
            false => format!("{least} to {most} rows each, {:.1} in the mean", self.children as f64 / self.all as f64),
        };
        match draw {
            Draw::Children => format!("{each}; they stand together, and their number follows"),
            Draw::Zipf(_) => format!("{each}, by Zipf's law"),
            _ => each,
        }
    }

    /// Returns the exponent of Zipf's law with the same probability that two children share a parent; 0 means random
    /// references.
    fn exponent(&self) -> f64 {
        const MOST: f64 = 8.0;
        let shared = |exponent: f64| harmonic(self.all, 2.0 * exponent) / harmonic(self.all, exponent).powi(2);
        let (mut low, mut high) = (0.0, MOST);
        for _ in 0..40 {
            let middle = (low + high) / 2.0;
            if shared(middle) < self.shared { low = middle } else { high = middle }
        }
        (low * 100.0_f64).round() / 100.0
    }

    /// Returns the distance of the numbers of children from those by Zipf's law, over all parents (Kolmogorov and
    /// Smirnov).
    fn distance(&self, exponent: f64) -> f64 {
        const RANKS: u64 = 1000;
        let ranks = self.all.min(RANKS);
        let sum = harmonic(self.all, exponent);
        let mean = |rank: u64| {
            let rank = (rank as f64 + 0.5) * self.all as f64 / ranks as f64 + 0.5;
            self.children as f64 * rank.powf(-exponent) / sum
        };
        let means: Vec<f64> = (0..ranks).map(mean).collect();
        let (mut below, mut largest) = (0, 0.0_f64);
        // A few dozen numbers of children suffice.
        let step = self.parents.len().div_ceil(50);
        for (place, (&count, &parents)) in self.parents.iter().enumerate() {
            below += parents;
            if place % step == 0 {
                let expected = means.iter().map(|&mean| at_most(mean, count)).sum::<f64>() / ranks as f64;
                largest = largest.max((expected - below as f64 / self.all as f64).abs());
            }
        }
        largest
    }

    /// Returns `deal(...)` of these numbers of children. Very many distinct numbers are merged in groups of
    /// neighbours, each replaced by two numbers with the same sums of parents and children.
    fn deal(&self) -> String {
        const GROUPS: usize = 32;
        let counts: Vec<(u64, u64)> = self.parents.iter().map(|(&count, &parents)| (count, parents)).collect();
        let mut dealt: BTreeMap<u64, u64> = BTreeMap::new();
        let group = if counts.len() <= 2 * GROUPS { 1 } else { counts.len().div_ceil(GROUPS) };
        for group in counts.chunks(group) {
            let parents: u64 = group.iter().map(|(_, parents)| parents).sum();
            let children: u64 = group.iter().map(|(count, parents)| count * parents).sum();
            let (each, more) = (children / parents, children % parents);
            *dealt.entry(each).or_default() += parents - more;
            *dealt.entry(each + 1).or_default() += more;
        }
        let dealt: Vec<String> = dealt
            .into_iter()
            .filter(|(_, parents)| *parents > 0)
            .map(|(count, parents)| format!("{count}: {parents}"))
            .collect();
        format!("deal({})", dealt.join(", "))
    }
}

/// Returns the sum of 1/n^s for the ranks up to `ranks`, the tail approximated by an integral.
fn harmonic(ranks: u64, exponent: f64) -> f64 {
    const SUMMED: u64 = 1000;
    let summed: f64 = (1..=ranks.min(SUMMED)).map(|rank| (rank as f64).powf(-exponent)).sum();
    let integral = |rank: f64| match (1.0 - exponent).abs() < 1e-9 {
        true => rank.ln(),
        false => rank.powf(1.0 - exponent) / (1.0 - exponent),
    };
    let rest = integral(ranks.max(SUMMED) as f64 + 0.5) - integral(SUMMED as f64 + 0.5);
    summed + rest
}

/// Returns the probability that a Poisson number with this mean is at most `count`.
fn at_most(mean: f64, count: u64) -> f64 {
    const LARGE: f64 = 50.0;
    if mean > LARGE {
        // The normal distribution, approximated by the logistic one.
        let deviations = (count as f64 + 0.5 - mean) / mean.sqrt();
        return 1.0 / (1.0 + (-1.702 * deviations).exp());
    }
    let terms =
        std::iter::successors(Some((1.0, (-mean).exp())), |&(next, term)| Some((next + 1.0, term * mean / next)));
    terms.map(|(_, term)| term).take(usize::try_from(count.min(500) + 1).unwrap_or(500)).sum()
}
