//! How a plan refers to parents so that they have as many children as they had.
//!
//! | what was counted | what the plan says |
//! |---|---|
//! | the foreign key is a key of its table | `once` |
//! | two foreign keys make a key | as inferred where both are spread evenly; else `per_parent(...)` for the one that is spread less evenly, `distinct_in(...)` for the other |
//! | a foreign key and a number from 0 or 1 on make a key | `per_parent(...)`, `number_in(...)` for the number |
//! | the children of each parent stand together | `per_parent(...)` |
//! | all parents have as many children, or one more | `in_turn` |
//! | parents have as many children as by chance | `uniform` |
//! | only a sample of the parents was counted, and Zipf's law gives such numbers | `zipf(s)` |
//! | any others | `deal(0: 71, 1: 148, ...)` |
//!
//! `deal(...)` and `per_parent(deal(...))` give the same numbers of children again, those of parents without any too. At
//! twice the scale twice as many parents have each, where by Zipf's law the first one would have twice as many. Rows follow
//! from `per_parent`, so that the table's number of rows is not said.

use super::read::{RANGES, SMALL, TableStats};
use super::references::{ForeignKey, ReferenceStats};
use crate::infer::{self, quoted};
use litepress_rows::schema::{Schema, Table};
use std::collections::BTreeMap;

/// What a plan says of a column of a foreign key, and why; `None` where it is inferred.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Said {
    pub column: usize,
    pub generator: Option<String>,
    pub because: String,
}

/// The distribution of a foreign key.
#[derive(Clone, Debug, PartialEq)]
enum Draw {
    /// An annotation in the schema says it, or a key of foreign keys that the plan counts through.
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

/// The numbers of children.
pub(super) struct Spread {
    /// How many parents have so many.
    pub parents: BTreeMap<u64, u64>,
    children: u64,
    /// Parents, those without children too.
    pub all: u64,
    /// Of all pairs of children the share that has one parent.
    shared: f64,
    /// How far the number of parents with children may be off: it is estimated where only a sample was counted.
    slack: u64,
}

/// What is chosen for the foreign keys of all tables.
pub(super) struct Choice<'a> {
    schema: &'a Schema,
    stats: &'a [Option<TableStats>],
    /// For each table the one that its number of rows follows from.
    pub follows: Vec<Option<usize>>,
}

/// One table while it is looked at.
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

    /// What the plan says of the columns of a table's foreign keys. `annotated` columns have annotations in the schema;
    /// `has_children` says that one of them has `per_parent`.
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
        // Where the parents are missing, keys are values like any other.
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

    /// Foreign keys that leave nothing to choose.
    fn settle_alone(&mut self, annotated: &[usize]) {
        for key in 0..self.draws.len() {
            let (foreign, _) = self.key(key);
            let is_key = foreign.columns.iter().any(|&column| infer::is_key_alone(self.table, column));
            self.draws[key] = if foreign.columns.iter().any(|column| annotated.contains(column)) {
                Some(Draw::Inferred("an annotation of the schema says it"))
            } else if self.stats.rows == 0 || self.spreads[key].children == 0 {
                Some(Draw::Inferred("no row refers to one"))
            } else if self.choice.rows_of(foreign.parent) == 0 {
                // Nor may the number of rows follow from parents that are missing.
                Some(Draw::Inferred("there are no parents"))
            } else if is_key {
                Some(Draw::Once)
            } else {
                (foreign.parent == self.position).then_some(Draw::Uniform)
            };
        }
    }

    /// Foreign keys within keys of several columns.
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

    /// Where a column begins to count, if it counts the children of each parent: from 0 or 1 on, up to the most that one has.
    fn first_number(&self, key: usize, column: usize) -> Option<i64> {
        let place = self.table.ordinary_columns().position(|ordinary| ordinary == column)?;
        let (stats, most) = (&self.stats.columns[place], i64::try_from(self.spreads[key].most()).ok()?);
        let is_free = !infer::is_key_alone(self.table, column)
            && self.table.foreign_keys.iter().all(|foreign| !foreign.columns.contains(&column));
        let counts = stats.ints == self.stats.rows && stats.largest_int.checked_sub(stats.least_int) == Some(most - 1);
        (is_free && counts && matches!(stats.least_int, 0 | 1)).then_some(stats.least_int)
    }

    /// Two foreign keys that make a key.
    fn settle_pair(&mut self, one: usize, other: usize) {
        if [one, other].iter().all(|&key| self.spreads[key].is_even()) {
            // Both in turn, as it is inferred.
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

    /// Foreign keys whose rows stand together: those of the fewest gaps first.
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

    /// All others.
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

    /// Where a table is read in ranges, rows of one parent may lie in two.
    fn cuts(&self) -> u64 {
        if self.stats.rows < SMALL { 0 } else { RANGES }
    }

    /// Whether rows may follow from the parents of this key: from no others yet, and not in a circle.
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

    /// What is said of the columns of a foreign key. The first one that takes no NULL, or the first of all, says which
    /// rows are referred to.
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
        // The first row of a table that refers to itself refers to nothing anyhow.
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
                // NULL in the column that leads would be NULL in all.
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

    /// What is said of columns that count.
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
    /// The parents' table has so many rows.
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
        // Three standard deviations of how many a sample stands for.
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

    /// Whether all parents have as many children, or one more.
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

    /// The exponent of Zipf's law under which two children share a parent as often; 0 where that is by chance.
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

    /// How far the numbers of children are from those under Zipf's law, as shares of parents (Kolmogorov and Smirnov).
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
        // A few dozen numbers of children show the distance.
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

    /// `deal(...)` of these numbers of children. Where there are very many, some that are next to one another become
    /// two: with as many parents and as many children.
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

/// The sum of 1/n^s for the ranks up to `ranks`.
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

/// The share of Poisson numbers around `mean` that are `count` at most.
fn at_most(mean: f64, count: u64) -> f64 {
    const LARGE: f64 = 50.0;
    if mean > LARGE {
        // The normal distribution, by the logistic one.
        let deviations = (count as f64 + 0.5 - mean) / mean.sqrt();
        return 1.0 / (1.0 + (-1.702 * deviations).exp());
    }
    let terms =
        std::iter::successors(Some((1.0, (-mean).exp())), |&(next, term)| Some((next + 1.0, term * mean / next)));
    terms.map(|(_, term)| term).take(usize::try_from(count.min(500) + 1).unwrap_or(500)).sum()
}
