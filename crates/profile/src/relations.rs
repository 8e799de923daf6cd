//! Relations between the columns of a table, and to those of its parents, found in a sample of rows.
//!
//! | relation | what is measured | found from |
//! |---|---|---|
//! | a ascends with the rows | rank correlation with the rowid (Spearman) | 0.99 |
//! | b is not before a, or not below it | share of the rows | 0.999, where the ranges overlap |
//! | b follows from a | share of rows with the most frequent b of their a | 0.995 (0.97 of a foreign key), unless that is chance |
//! | b is a column of the row that a refers to | share of the rows | 0.99 |
//! | a and b go together, numbers | rank correlation | 0.3 |
//! | b depends on a, few values | mutual information as a share of the smaller entropy | 0.1 |
//!
//! All measures are 0 to 1 (or -1 to 1), and none depends on the names of values. So the look-alike, which has other
//! texts, can be measured too. Of the last two kinds, the strongest that make a tree are kept (Chow and Liu, 1968): each column
//! then depends on one other at most.

use crate::datetime::Times;
use crate::describe::KEPT;
use crate::read::TableStats;
use crate::row_sample::{Cell, SampledRow};
use litepress_rows::schema::Table;
use std::collections::HashMap;

/// Least number of rows that show a relation.
const ENOUGH: usize = 20;
/// Most columns that are compared with one another, and most distinct numbers and texts of a column that count as few. More numbers
/// go into ranges.
const COLUMNS: usize = 64;
const FEW_NUMBERS: usize = 250;
const FEW_TEXTS: usize = KEPT;
/// Bins of numbers, and of values beyond the most frequent ones, for mutual information.
const BINS: usize = 10;

/// The kind of a relation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    /// The column ascends with the rows.
    Ascends,
    /// The column is not below the other.
    NotBelow(usize),
    /// The column follows from the other.
    FollowsFrom(usize),
    /// The column is this column of the row that a foreign key refers to: the position of the key, and that of the
    /// column among the ordinary ones of the parent.
    OfParent { key: usize, of: usize },
    /// The numbers of both columns are correlated.
    Correlates(usize),
    /// The column's shares differ by the values of the other.
    DependsOn(usize),
}

/// A relation of a column. Columns are positions among the ordinary ones.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Relation {
    pub column: usize,
    pub kind: Kind,
}

/// A sample of rows by columns.
pub(crate) struct SampleView<'a> {
    pub rows: &'a [SampledRow],
    pub columns: Vec<ColumnView>,
    stats: &'a TableStats,
    /// Whether rows have rowids, so that their order means something.
    has_rowids: bool,
}

/// The sampled values of a column.
#[derive(Default)]
pub(crate) struct ColumnView {
    /// Numbers, or times in seconds; empty if the column has others.
    pub numbers: Vec<Option<f64>>,
    /// The times, if texts are times.
    pub times: Option<Times>,
    /// Numbers of few values; empty if there are too many.
    pub groups: Vec<Option<usize>>,
    /// The values of these numbers.
    pub values: Vec<Cell>,
    /// Numbers of the values: those of `groups`, or of all keys of a foreign key.
    pub ids: Vec<Option<usize>>,
    /// Whether every value is a key of its row.
    is_key: bool,
    /// Whether the column belongs to a foreign key.
    is_reference: bool,
}

impl<'a> SampleView<'a> {
    pub fn new(table: &Table, stats: &'a TableStats) -> Self {
        let rows = &stats.sampled_rows[..];
        let columns = table.ordinary_columns().take(COLUMNS).enumerate().map(|(place, column)| {
            let is_key = litepress_gen::infer::is_key_alone(table, column);
            let is_reference = table.foreign_keys.iter().any(|key| key.columns.contains(&column));
            ColumnView::new(rows.iter().map(|row| &row.cells[place]), is_key, is_reference)
        });
        Self { rows, columns: columns.collect(), stats, has_rowids: !table.without_rowid }
    }

    /// Returns the rows in which both columns have numbers, as pairs.
    pub fn pairs(&self, one: usize, other: usize) -> Vec<(f64, f64)> {
        let both = self.columns[one].numbers.iter().zip(&self.columns[other].numbers);
        both.filter_map(|(one, other)| Some(((*one)?, (*other)?))).collect()
    }

    /// Returns the rows in which both columns have few values, as pairs.
    fn grouped(&self, one: usize, other: usize) -> Vec<(usize, usize)> {
        let both = self.columns[one].ids.iter().zip(&self.columns[other].ids);
        both.filter_map(|(one, other)| Some(((*one)?, (*other)?))).collect()
    }

    /// Measures a relation; `None` if this database has too few values for it.
    pub fn measure(&self, relation: &Relation) -> Option<f64> {
        let column = relation.column;
        match relation.kind {
            Kind::Ascends => {
                let numbered = (0..).map(f64::from).zip(&self.columns.get(column)?.numbers);
                rank_correlation(&numbered.filter_map(|(row, number)| Some((row, (*number)?))).collect::<Vec<_>>())
            }
            Kind::NotBelow(other) => {
                let pairs = self.pairs(other, column);
                let ordered = pairs.iter().filter(|(one, other)| one <= other).count();
                (!pairs.is_empty()).then(|| ordered as f64 / pairs.len() as f64)
            }
            Kind::FollowsFrom(other) => determined(&self.grouped(other, column)).map(|(share, _)| share),
            Kind::OfParent { key, of } => {
                let parents = self.stats.parents.get(key)?;
                let pairs = self.rows.iter().zip(parents).filter_map(|(row, parent)| {
                    Some((&row.cells[column], parent.as_ref()?.get(of)?))
                        .filter(|(one, other)| !one.is_null() || !other.is_null())
                });
                let (mut all, mut equal) = (0_u32, 0_u32);
                pairs.for_each(|(one, other)| (all, equal) = (all + 1, equal + u32::from(one == other)));
                (all > 0).then(|| f64::from(equal) / f64::from(all))
            }
            Kind::Correlates(other) => rank_correlation(&self.pairs(other, column)),
            Kind::DependsOn(other) => {
                let of_pair = |one, other| self.names_beside(one, other).or_else(|| self.binned(one));
                let (one, other) = of_pair(other, column).zip(of_pair(column, other))?;
                Some(information(&one, &other).map_or(0.0, |found| found.share))
            }
        }
    }

    /// Returns the columns as numbers of bins, NULL being one, for mutual information.
    pub fn binned(&self, column: usize) -> Option<Vec<usize>> {
        let view = self.columns.get(column)?;
        if !view.groups.is_empty() {
            let mut counts = vec![0_u32; view.values.len()];
            view.groups.iter().flatten().for_each(|&group| counts[group] += 1);
            let mut order: Vec<usize> = (0..counts.len()).collect();
            order.sort_by_key(|&group| std::cmp::Reverse(counts[group]));
            let mut bins = vec![BINS; counts.len()];
            order.iter().take(BINS).enumerate().for_each(|(bin, &group)| bins[group] = bin);
            return Some(view.groups.iter().map(|group| group.map_or(BINS + 1, |group| bins[group])).collect());
        }
        if view.numbers.is_empty() {
            return None;
        }
        let mut sorted: Vec<f64> = view.numbers.iter().flatten().copied().collect();
        sorted.sort_unstable_by(f64::total_cmp);
        let bounds: Vec<f64> = (1..BINS).map(|bin| sorted[bin * sorted.len() / BINS]).collect();
        let bin = |number: f64| bounds.partition_point(|bound| *bound <= number);
        Some(view.numbers.iter().map(|number| number.map_or(BINS + 1, bin)).collect())
    }

    /// Returns a column of names as numbers of bins, one for each, for mutual information with a form of address or another column of
    /// few values.
    fn names_beside(&self, column: usize, other: usize) -> Option<Vec<usize>> {
        const FEW: usize = 4;
        let (of, other) = (self.columns.get(column)?, self.columns.get(other)?);
        let are_names = (2..=FEW).contains(&other.values.len()) && of.numbers.is_empty() && !of.groups.is_empty();
        are_names.then(|| of.groups.iter().map(|group| group.unwrap_or(of.values.len())).collect())
    }

    /// Finds the relations of all columns, each column's first the one that counts most.
    pub fn relations(&self) -> Vec<Relation> {
        let mut found = Vec::new();
        if self.rows.len() < ENOUGH {
            return found;
        }
        for column in 0..self.columns.len() {
            self.of_parents(column, &mut found);
            self.ascending(column, &mut found);
            self.ordered(column, &mut found);
        }
        self.determined(&mut found);
        self.tree(&mut found);
        found
    }

    fn of_parents(&self, column: usize, found: &mut Vec<Relation>) {
        const SAME: f64 = 0.99;
        if self.columns[column].is_key || self.columns[column].is_reference {
            return;
        }
        for (key, parents) in self.stats.parents.iter().enumerate() {
            let columns = parents.iter().flatten().next().map_or(0, |parent| parent.len());
            for of in 0..columns {
                let relation = Relation { column, kind: Kind::OfParent { key, of } };
                // A constant is equal to everything that is the same constant.
                let mut values = parents.iter().flatten().map(|parent| &parent[of]).filter(|value| !value.is_null());
                let first = values.next();
                let varies = values.clone().any(|value| Some(value) != first);
                let is_enough = parents.iter().flatten().take(ENOUGH).count() == ENOUGH;
                let is_value = matches!(first, Some(Cell::Text(_) | Cell::Number(_)));
                if varies && is_value && is_enough && self.measure(&relation).is_some_and(|share| share >= SAME) {
                    found.push(relation);
                }
            }
        }
    }

    fn ascending(&self, column: usize, found: &mut Vec<Relation>) {
        const ASCENDS: f64 = 0.99;
        let relation = Relation { column, kind: Kind::Ascends };
        let view = &self.columns[column];
        if self.has_rowids
            && !view.is_key
            && !view.is_reference
            && self.measure(&relation).is_some_and(|rank| rank >= ASCENDS)
        {
            found.push(relation);
        }
    }

    /// Finds the closest column that is never above this one, if independent columns would be so at times.
    fn ordered(&self, column: usize, found: &mut Vec<Relation>) {
        const ORDERED: f64 = 0.999;
        const FOLLOWS: f64 = 0.5;
        let view = &self.columns[column];
        if view.numbers.is_empty() || view.is_key || view.is_reference {
            return;
        }
        let mut closest: Option<(f64, usize)> = None;
        for (other, of) in self.columns.iter().enumerate() {
            if other == column || of.is_key || of.is_reference || of.times.is_some() != view.times.is_some() {
                continue;
            }
            let pairs = self.pairs(other, column);
            let ordered = pairs.iter().filter(|(one, other)| one <= other).count();
            if pairs.len() < ENOUGH || (ordered as f64) < ORDERED * pairs.len() as f64 {
                continue;
            }
            // Rows are made of this column and a difference that knows nothing of it. A cost that is three times a weight is
            // correlated with it instead.
            let differences: Vec<(f64, f64)> = pairs.iter().map(|(one, other)| (*one, other - one)).collect();
            if of.times.is_none() && rank_correlation(&differences).is_some_and(|rank| rank.abs() > FOLLOWS) {
                continue;
            }
            let spread = |mut numbers: Vec<f64>| {
                numbers.sort_unstable_by(f64::total_cmp);
                numbers[numbers.len() * 9 / 10] - numbers[numbers.len() / 10]
            };
            let most = pairs.iter().map(|pair| pair.0).fold(f64::MIN, f64::max);
            let least = pairs.iter().map(|pair| pair.1).fold(f64::MAX, f64::min);
            let apart = spread(pairs.iter().map(|pair| pair.1 - pair.0).collect());
            let own = spread(pairs.iter().map(|pair| pair.1).collect());
            let differs = pairs.iter().any(|pair| pair.0 != pair.1);
            if most > least && differs && apart < 0.8 * own && closest.is_none_or(|(least, _)| apart < least) {
                closest = Some((apart, other));
            }
        }
        let Some((_, other)) = closest else { return };
        let is_known = found.iter().any(|known| known.column == other && known.kind == Kind::NotBelow(column));
        if !is_known {
            found.push(Relation { column, kind: Kind::NotBelow(other) });
        }
    }

    /// Finds columns of few values that follow from another one.
    fn determined(&self, found: &mut Vec<Relation>) {
        const FOLLOWS: f64 = 0.995;
        const FOLLOWS_KEY: f64 = 0.97;
        const CHANCE: f64 = 0.01;
        for column in 0..self.columns.len() {
            let view = &self.columns[column];
            if view.groups.is_empty() || view.values.len() < 2 || view.is_key {
                continue;
            }
            let from = |other: &usize| {
                let of = &self.columns[*other];
                let values = of.ids.iter().flatten().max().map_or(0, |most| most + 1);
                if *other == column || of.is_key || values <= view.values.len() {
                    return None;
                }
                let pairs = self.grouped(*other, column);
                // What is NULL says nothing.
                if pairs.len() * 20 < view.ids.iter().flatten().count() * 19 {
                    return None;
                }
                let (share, repeats) = determined(&pairs)?;
                let mut counts = vec![0_u32; view.values.len()];
                pairs.iter().for_each(|pair| counts[pair.1] += 1);
                let alike: f64 = counts.iter().map(|count| (f64::from(*count) / pairs.len() as f64).powi(2)).sum();
                let is_chance = alike.powf(repeats as f64) > CHANCE;
                let least = if of.is_reference { FOLLOWS_KEY } else { FOLLOWS };
                (share >= least && !is_chance).then_some((values, *other))
            };
            // The coarsest column says it in the fewest words.
            if let Some((_, other)) = (0..self.columns.len()).filter_map(|other| from(&other)).min() {
                found.push(Relation { column, kind: Kind::FollowsFrom(other) });
            }
        }
    }

    /// Finds the strongest dependencies that make a tree.
    fn tree(&self, found: &mut Vec<Relation>) {
        const CORRELATED: f64 = 0.3;
        const SHARE: f64 = 0.1;
        // Rows of large tables have no meaning beyond their relations.
        const MOST_KEYS: usize = 30;
        let bins: Vec<Option<Vec<usize>>> = (0..self.columns.len())
            .map(|column| {
                let view = &self.columns[column];
                let varies = view.values.len() != 1;
                let is_to_many = view.is_reference && !(2..=MOST_KEYS).contains(&view.values.len());
                if view.is_key || is_to_many || !varies { None } else { self.binned(column) }
            })
            .collect();
        let ranks: Vec<Vec<f64>> = self.columns.iter().map(|view| centred_ranks(&view.numbers)).collect();
        let mut edges: Vec<(f64, usize, usize, Kind)> = Vec::new();
        for column in 0..bins.len() {
            for other in 0..column {
                let (Some(one), Some(two)) = (&bins[other], &bins[column]) else { continue };
                let names = [self.names_beside(other, column), self.names_beside(column, other)];
                let [one, two] = [names[0].as_ref().unwrap_or(one), names[1].as_ref().unwrap_or(two)];
                let Some(Information { share, bits, .. }) = information(one, two) else { continue };
                let is_continuous = |at: usize| self.columns[at].groups.is_empty();
                let kind = match is_continuous(column) && is_continuous(other) {
                    true if cosine(&ranks[other], &ranks[column]).abs() < CORRELATED => continue,
                    true => Kind::Correlates(other),
                    false if share >= SHARE => Kind::DependsOn(other),
                    false => continue,
                };
                edges.push((bits, other, column, kind));
            }
        }
        edges.sort_by(|one, other| other.0.total_cmp(&one.0));
        let mut trees: Vec<usize> = (0..bins.len()).collect();
        for (_, other, column, kind) in edges {
            if trees[other] != trees[column] {
                let (old, new) = (trees[column], trees[other]);
                trees.iter_mut().filter(|tree| **tree == old).for_each(|tree| *tree = new);
                found.push(Relation { column, kind });
            }
        }
    }
}

impl ColumnView {
    fn new<'c>(cells: impl Iterator<Item = &'c Cell> + Clone, is_key: bool, is_reference: bool) -> Self {
        let values = cells.clone().filter(|cell| !cell.is_null()).count();
        let number = |cell: &Cell| match cell {
            Cell::Number(number) if number.is_finite() => Some(*number),
            _ => None,
        };
        let mut numbers: Vec<Option<f64>> = cells.clone().map(number).collect();
        let mut times = None;
        if numbers.iter().flatten().count() * 20 < values * 19 || values == 0 {
            numbers.clear();
            let texts: Option<Vec<Box<str>>> = cells
                .clone()
                .filter(|cell| !cell.is_null())
                .map(|cell| if let Cell::Text(text) = cell { Some(text.clone()) } else { None })
                .collect();
            times = texts.filter(|texts| !texts.is_empty()).and_then(|texts| Times::of(&texts));
            if let Some(times) = &times {
                let second = |cell: &Cell| if let Cell::Text(text) = cell { times.second(text) } else { None };
                numbers = cells.clone().map(second).collect();
            }
        }
        let few = if numbers.is_empty() { FEW_TEXTS } else { FEW_NUMBERS };
        let (groups, values) = if times.is_some() { (Vec::new(), Vec::new()) } else { grouped(cells.clone(), few) };
        let ids = match groups.is_empty() && is_reference {
            true => grouped(cells, usize::MAX).0,
            false => groups.clone(),
        };
        Self { numbers, times, groups, values, ids, is_key, is_reference }
    }
}

/// Numbers the distinct values if they are few, and if most come several times.
fn grouped<'c>(cells: impl Iterator<Item = &'c Cell>, most: usize) -> (Vec<Option<usize>>, Vec<Cell>) {
    let mut known: HashMap<(u64, &str), usize> = HashMap::new();
    let (mut groups, mut values) = (Vec::new(), Vec::new());
    for cell in cells {
        let key = match cell {
            Cell::Null => {
                groups.push(None);
                continue;
            }
            Cell::Number(number) => (number.to_bits(), ""),
            Cell::Text(text) => (0, &**text),
            Cell::Blob => return (Vec::new(), Vec::new()),
        };
        let next = known.len();
        let group = *known.entry(key).or_insert(next);
        if group == next {
            values.push(cell.clone());
        }
        if values.len() > most {
            return (Vec::new(), Vec::new());
        }
        groups.push(Some(group));
    }
    let filled = groups.iter().flatten().count();
    if 10 * values.len() > 9 * filled { (Vec::new(), Vec::new()) } else { (groups, values) }
}

/// Returns the share of rows with the most frequent second value of their first one, and the number of rows beyond the
/// first of each first value.
fn determined(pairs: &[(usize, usize)]) -> Option<(f64, usize)> {
    // Numbers of sampled values are small, and one number is sorted faster than two.
    let mut sorted: Vec<u64> = pairs.iter().map(|pair| ((pair.0 as u64) << 32) | pair.1 as u64).collect();
    sorted.sort_unstable();
    let (mut values, mut most) = (0, 0);
    for of_value in sorted.chunk_by(|one, other| one >> 32 == other >> 32) {
        values += 1;
        most += of_value.chunk_by(|one, other| one == other).map(<[_]>::len).max().unwrap_or_default();
    }
    (!pairs.is_empty()).then(|| (most as f64 / pairs.len() as f64, pairs.len() - values))
}

/// Returns Spearman's rank correlation; `None` if there are too few pairs, or one side is constant.
fn rank_correlation(pairs: &[(f64, f64)]) -> Option<f64> {
    if pairs.len() < ENOUGH {
        return None;
    }
    let one = ranks(pairs.iter().map(|pair| pair.0).collect());
    let other = ranks(pairs.iter().map(|pair| pair.1).collect());
    let [one, other] = [one, other].map(|ranks| centred(&ranks));
    let varies = [&one, &other].iter().all(|ranks| ranks.iter().any(|rank| *rank != 0.0));
    varies.then(|| cosine(&one, &other))
}

/// Returns the ranks less their mean.
fn centred(ranks: &[f64]) -> Vec<f64> {
    let mean = (ranks.len() as f64 - 1.0) / 2.0;
    ranks.iter().map(|rank| rank - mean).collect()
}

/// Returns the ranks of numbers less their mean; 0 where there is none.
fn centred_ranks(numbers: &[Option<f64>]) -> Vec<f64> {
    let mut ranked = centred(&ranks(numbers.iter().flatten().copied().collect())).into_iter();
    numbers.iter().map(|number| number.and_then(|_| ranked.next()).unwrap_or(0.0)).collect()
}

/// Returns the cosine of two vectors: the correlation, if the means are 0.
fn cosine(one: &[f64], other: &[f64]) -> f64 {
    let product = |one: &[f64], other: &[f64]| -> f64 { one.iter().zip(other).map(|(one, other)| one * other).sum() };
    product(one, other) / (product(one, one) * product(other, other)).sqrt().max(f64::MIN_POSITIVE)
}

/// Returns the ranks of numbers; equal ones share their mean rank.
fn ranks(numbers: Vec<f64>) -> Vec<f64> {
    let mut order: Vec<usize> = (0..numbers.len()).collect();
    order.sort_unstable_by(|&one, &other| numbers[one].total_cmp(&numbers[other]));
    let mut ranks = vec![0.0; numbers.len()];
    let mut at = 0;
    for equal in order.chunk_by(|&one, &other| numbers[one] == numbers[other]) {
        let rank = at as f64 + (equal.len() as f64 - 1.0) / 2.0;
        equal.iter().for_each(|&number| ranks[number] = rank);
        at += equal.len();
    }
    ranks
}

/// The mutual information of two columns.
pub(crate) struct Information {
    /// In nats, corrected for chance.
    bits: f64,
    /// As a share of the smaller entropy.
    pub share: f64,
}

/// Computes the mutual information of two columns of bins (with the correction of Miller and Madow); `None` if it may be chance.
pub(crate) fn information(one: &[usize], other: &[usize]) -> Option<Information> {
    const SURELY: f64 = 2.0;
    let [rows, size] = [one, other].map(|bins| bins.iter().max().map_or(0, |most| most + 1));
    let mut both = vec![0.0; rows * size];
    one.iter().zip(other).for_each(|(&one, &other)| both[one * size + other] += 1.0);
    let all = one.len() as f64;
    let sums: [Vec<f64>; 2] = [
        (0..rows).map(|at| both[at * size..(at + 1) * size].iter().sum()).collect(),
        (0..size).map(|at| both.iter().skip(at).step_by(size).sum()).collect(),
    ];
    let entropy = |counts: &[f64]| -> f64 {
        counts.iter().filter(|count| **count > 0.0).map(|count| -count / all * (count / all).ln()).sum()
    };
    let [of_one, of_other] = [entropy(&sums[0]), entropy(&sums[1])];
    let bins = |counts: &[f64]| counts.iter().filter(|count| **count > 0.0).count() as f64 - 1.0;
    let chance = bins(&sums[0]) * bins(&sums[1]) / (2.0 * all);
    let raw = of_one + of_other - entropy(&both);
    let least = of_one.min(of_other);
    (least > 0.0 && raw > SURELY * chance)
        .then(|| Information { bits: raw - chance, share: ((raw - chance) / least).clamp(0.0, 1.0) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn correlations_of_ranks() {
        let pairs: Vec<(f64, f64)> = (0..100).map(|n| (f64::from(n), f64::from(n * n))).collect();
        assert_eq!(rank_correlation(&pairs), Some(1.0));
        let falling: Vec<(f64, f64)> = pairs.iter().map(|(one, other)| (*one, -other)).collect();
        assert_eq!(rank_correlation(&falling), Some(-1.0));
        let any: Vec<(f64, f64)> =
            (0..1000).map(|n| (f64::from(n * 7919 % 997), f64::from(n * 104_729 % 991))).collect();
        assert!(rank_correlation(&any).expect("enough").abs() < 0.1);
        assert_eq!(rank_correlation(&[(1.0, 2.0); 100]), None);
        assert_eq!(ranks(vec![5.0, 1.0, 5.0]), [1.5, 0.0, 1.5]);
    }

    #[test]
    fn information_is_no_chance() {
        let one: Vec<usize> = (0..2000).map(|n| n * 7919 % 997 % BINS).collect();
        let other: Vec<usize> = (0..2000).map(|n| n * 104_729 % 991 % BINS).collect();
        assert!(information(&one, &other).is_none_or(|found| found.share < 0.05));
        assert!(information(&one, &one).is_some_and(|found| found.share > 0.95));
    }
}
