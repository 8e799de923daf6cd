//! The annotations of foreign keys, chosen so that parents have the same numbers of children as in the source.
//!
//! | statistics | annotation |
//! |---|---|
//! | the foreign key is a key of its table | `once` |
//! | two foreign keys make a key | `once` for one of which each parent has one row; inferred if both are even; else `per_parent(...)` for the less even one, `distinct_in(...)` for the other |
//! | a foreign key and a number from 0 or 1 on make a key | `per_parent(...)`, `number_in(...)` for the number |
//! | the children of each parent are consecutive | `per_parent(...)` |
//! | all parents have n or n + 1 children | `in_turn` |
//! | the numbers of children are those of random references | `uniform` |
//! | only a sample of the parents was counted, and the numbers follow Zipf's law | `zipf(s)` |
//! | other numbers | `deal(0: 71, 1: 148, ...)` |
//!
//! `deal(...)` and `per_parent(deal(...))` reproduce the numbers of children, including parents without any. At twice
//! the scale twice as many parents have each number, whereas by Zipf's law the first parent would have twice as many
//! children. With `per_parent` the table's number of rows follows and is left out of the recipe.

use crate::annotation_text::with_nulls;
use crate::child_counts::ChildCounts;
use crate::column_stats::{ColumnStats, Order, Run, Step};
use crate::datetime::Times;
use crate::histogram::Number;
use crate::read::TableStats;
use crate::references::{ForeignKey, ReferenceStats};
use litepress_gen::infer::{self, quoted};
use litepress_rows::schema::{Schema, Table};

/// The annotation of a column of a foreign key, with its reason; `None` if it is left to inference.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ReferenceAnnotation {
    pub column: usize,
    pub generator: Option<String>,
    pub because: String,
}

/// The pattern of a foreign key.
#[derive(Clone, Debug, PartialEq)]
enum Pattern {
    /// Left to inference: the schema has an annotation, or the plan derives it from a key.
    Inferred(&'static str),
    Once,
    PerParent,
    /// Distinct in the column of this name.
    DistinctIn(String),
    InTurn(u64),
    Exact,
    Zipf(f64),
    Uniform,
}

/// The planner of all foreign keys.
pub(crate) struct ReferencePlanner<'a> {
    schema: &'a Schema,
    stats: &'a [Option<TableStats>],
    /// Tables that stay as large as they are.
    pub fixed: Vec<bool>,
    /// For each table, the table that its number of rows follows from.
    pub row_sources: Vec<Option<usize>>,
}

/// The planner of one table's foreign keys.
struct TablePlanner<'c, 'a> {
    database: &'c mut ReferencePlanner<'a>,
    position: usize,
    table: &'a Table,
    stats: &'a TableStats,
    counts: Vec<ChildCounts>,
    patterns: Vec<Option<Pattern>>,
    /// Columns that count the rows of a parent: the number, the foreign key's column, and the first number.
    numbers: Vec<(usize, usize, i64)>,
}

impl<'a> ReferencePlanner<'a> {
    pub fn new(schema: &'a Schema, stats: &'a [Option<TableStats>]) -> Self {
        let fixed = (0..schema.tables.len()).map(|table| is_lookup(schema, stats, table)).collect();
        Self { schema, stats, fixed, row_sources: vec![None; schema.tables.len()] }
    }

    /// Returns the number of rows of a table.
    fn row_count(&self, table: usize) -> u64 {
        self.stats[table].as_ref().map_or(0, |stats| stats.rows)
    }

    /// Plans the columns of a table's foreign keys. `annotated` columns have annotations in the schema;
    /// `has_children` tells that one of these is `per_parent`.
    pub fn table(&mut self, position: usize, annotated: &[usize], has_children: bool) -> Vec<ReferenceAnnotation> {
        let (schema, all) = (self.schema, self.stats);
        let Some(stats) = &all[position] else { return Vec::new() };
        let keys = stats.foreign_keys.iter();
        let counts = keys.map(|(key, of)| ChildCounts::new(of, self.row_count(key.parent))).collect();
        let patterns = vec![None; stats.foreign_keys.len()];
        if has_children {
            self.row_sources[position] = Some(position);
        }
        let table = &schema.tables[position];
        let mut planner =
            TablePlanner { database: self, position, table, stats, counts, patterns, numbers: Vec::new() };
        planner.decide_obvious(annotated);
        planner.decide_in_keys(annotated);
        planner.decide_clustered();
        planner.decide_rest();
        // Without parents, keys are values like any other.
        let rows = |key: usize| planner.database.row_count(stats.foreign_keys[key].0.parent);
        let has_parents = |&key: &usize| rows(key) > 0 || planner.counts[key].children == 0;
        (0..stats.foreign_keys.len())
            .filter(has_parents)
            .flat_map(|key| planner.annotations(key))
            .chain(planner.number_annotations())
            .collect()
    }
}

impl TablePlanner<'_, '_> {
    fn key(&self, key: usize) -> (&ForeignKey, &ReferenceStats) {
        let (key, stats) = &self.stats.foreign_keys[key];
        (key, stats)
    }

    /// Returns the foreign keys without a pattern.
    fn undecided(&self) -> impl Iterator<Item = usize> {
        (0..self.patterns.len()).filter(|&key| self.patterns[key].is_none())
    }

    /// Decides foreign keys that leave no choice.
    fn decide_obvious(&mut self, annotated: &[usize]) {
        for key in 0..self.patterns.len() {
            let (foreign, _) = self.key(key);
            let is_key = foreign.columns.iter().any(|&column| infer::is_key_alone(self.table, column));
            self.patterns[key] = if foreign.columns.iter().any(|column| annotated.contains(column)) {
                Some(Pattern::Inferred("the schema has an annotation"))
            } else if self.stats.rows == 0 || self.counts[key].children == 0 {
                Some(Pattern::Inferred("no row refers to one"))
            } else if self.database.row_count(foreign.parent) == 0 {
                // The number of rows must not follow from missing parents either.
                Some(Pattern::Inferred("there are no parents"))
            } else if is_key {
                Some(Pattern::Once)
            } else {
                (foreign.parent == self.position).then_some(Pattern::Uniform)
            };
        }
    }

    /// Decides foreign keys within keys of several columns.
    fn decide_in_keys(&mut self, annotated: &[usize]) {
        let keys: Vec<Vec<usize>> = infer::unique_keys(self.table).filter(|key| key.len() > 1).collect();
        for columns in keys {
            let mut parts: Vec<usize> = self.undecided().collect();
            parts.retain(|&key| self.key(key).0.columns.iter().all(|column| columns.contains(column)));
            let covered: usize = parts.iter().map(|&key| self.key(key).0.columns.len()).sum();
            let rest: Vec<usize> = columns.iter().copied().filter(|column| !self.is_in(&parts, *column)).collect();
            match (&parts[..], &rest[..]) {
                (&[one, other], []) if covered == columns.len() => self.decide_pair(one, other),
                ([_, _, ..], []) => {
                    for part in parts {
                        self.patterns[part] = Some(Pattern::Inferred("in a key of foreign keys"));
                    }
                }
                (&[key], &[number]) if !annotated.contains(&number) && self.may_have_children(key) => {
                    if let Some(first) = self.first_number(key, number) {
                        self.numbers.push((number, self.key(key).0.columns[0], first));
                        self.use_per_parent(key);
                    }
                }
                _ => {}
            }
        }
    }

    /// Returns whether a column belongs to one of these foreign keys.
    fn is_in(&self, keys: &[usize], column: usize) -> bool {
        keys.iter().any(|&key| self.key(key).0.columns.contains(&column))
    }

    /// Returns the first number of a column if it numbers the children of each parent: from 0 or 1 on, up to their
    /// largest number.
    fn first_number(&self, key: usize, column: usize) -> Option<i64> {
        let place = self.table.ordinary_columns().position(|ordinary| ordinary == column)?;
        let (stats, most) = (&self.stats.columns[place], i64::try_from(self.counts[key].most()).ok()?);
        let is_free = !infer::is_key_alone(self.table, column)
            && self.table.foreign_keys.iter().all(|foreign| !foreign.columns.contains(&column));
        let counts = stats.ints == self.stats.rows && stats.largest_int.checked_sub(stats.least_int) == Some(most - 1);
        (is_free && counts && matches!(stats.least_int, 0 | 1)).then_some(stats.least_int)
    }

    /// Decides two foreign keys that make a key.
    fn decide_pair(&mut self, one: usize, other: usize) {
        if [one, other].iter().all(|&key| self.counts[key].is_even()) {
            // Inference takes both in turn.
            for part in [one, other] {
                self.patterns[part] = Some(Pattern::Inferred("in a key of foreign keys"));
            }
            return;
        }
        // A parent of one row at most makes the key of two unique alone.
        let is_once = |&key: &usize| {
            let (foreign, stats) = self.key(key);
            self.counts[key].most() == 1 && stats.nulls == 0 && !self.database.fixed[foreign.parent]
        };
        if let Some(key) = [one, other].into_iter().find(is_once) {
            self.patterns[key] = Some(Pattern::Once);
            return;
        }
        let uneven = |key: usize| self.counts[key].shared * self.counts[key].all as f64;
        // The rows of an order stand together, and those of a product do not.
        let is_first = match [one, other].map(|key| self.is_clustered(key) && self.counts[key].most() > 1) {
            [true, false] => true,
            [false, true] => false,
            _ => uneven(one) >= uneven(other),
        };
        let (first, second) = if is_first { (one, other) } else { (other, one) };
        let fits = |key: usize, other: usize| {
            self.counts[key].most() <= self.counts[other].all && self.key(other).1.nulls == 0
        };
        let is_pair = [(first, second), (second, first)]
            .into_iter()
            .find(|&(key, other)| self.may_have_children(key) && fits(key, other));
        let Some((key, other)) = is_pair else {
            for part in [one, other] {
                self.patterns[part] = Some(Pattern::Inferred("in a key of foreign keys"));
            }
            return;
        };
        let name = self.table.columns[self.key(key).0.columns[0]].name.clone();
        self.use_per_parent(key);
        self.patterns[other] = Some(Pattern::DistinctIn(name));
    }

    /// Decides the foreign key whose children are closest to consecutive rows.
    fn decide_clustered(&mut self) {
        let range_boundaries = self.range_boundaries();
        let gap_share = |key: &usize| {
            let (stats, counts) = (self.key(*key).1, &self.counts[*key]);
            let gaps = stats.changes.saturating_sub(counts.with_children() + range_boundaries);
            // In thousandths.
            let share = 1000 * gaps / counts.with_children().max(1);
            (counts.most() > 1 && share < 333).then_some(share)
        };
        let best = self
            .undecided()
            .filter(|key| self.may_have_children(*key) && gap_share(key).is_some())
            .min_by_key(gap_share);
        if let Some(key) = best {
            self.use_per_parent(key);
        }
    }

    /// Decides all others.
    fn decide_rest(&mut self) {
        const NEAR: f64 = 0.05;
        for key in self.undecided().collect::<Vec<_>>() {
            let (counts, is_sampled) = (&self.counts[key], self.key(key).1.children.weight() > 1);
            let exponent = counts.exponent();
            self.patterns[key] = Some(if counts.is_even() {
                Pattern::InTurn(if self.is_clustered(key) { counts.most() } else { 1 })
            } else if exponent < 0.1 && counts.distance(0.0) < NEAR {
                Pattern::Uniform
            } else if is_sampled && exponent > 0.0 && counts.distance(exponent) < NEAR {
                Pattern::Zipf(exponent)
            } else {
                Pattern::Exact
            });
        }
    }

    /// Returns whether the children of each parent are consecutive rows.
    fn is_clustered(&self, key: usize) -> bool {
        let counts = &self.counts[key];
        self.key(key).1.changes <= counts.with_children() + self.range_boundaries() + counts.slack
    }

    /// Returns the number of boundaries between ranges, at which the rows of one parent may be divided.
    fn range_boundaries(&self) -> u64 {
        self.stats.ranges.saturating_sub(1)
    }

    /// Returns whether the number of rows can follow from the parents of this key: it follows from no others yet, and
    /// there is no cycle.
    fn may_have_children(&self, key: usize) -> bool {
        let (foreign, stats) = self.key(key);
        let row_sources = &self.database.row_sources;
        let ancestors =
            std::iter::successors(Some(foreign.parent), |&table| row_sources[table].filter(|&of| of != table));
        row_sources[self.position].is_none()
            && stats.nulls == 0
            && !self.database.fixed[foreign.parent]
            && ancestors.take(row_sources.len() + 1).all(|of| of != self.position)
    }

    /// Gives a foreign key `per_parent`, so that the table's number of rows follows from the parent's.
    fn use_per_parent(&mut self, key: usize) {
        self.database.row_sources[self.position] = Some(self.key(key).0.parent);
        self.patterns[key] = Some(Pattern::PerParent);
    }

    /// Returns the annotation of a foreign key that refers to a table of a constant size: the shares of its keys, if they
    /// are consecutive numbers there.
    fn of_lookup(&self, key: usize) -> Option<ReferenceAnnotation> {
        let (foreign, references) = self.key(key);
        let (&[column], &[parent_column]) = (&foreign.columns[..], &foreign.parent_columns[..]) else { return None };
        let place = |table: &Table, column: usize| table.ordinary_columns().position(|ordinary| ordinary == column);
        let parent = &self.database.schema.tables[foreign.parent];
        let of_parent = self.database.stats[foreign.parent].as_ref()?;
        let keys = &of_parent.columns[place(parent, parent_column)?];
        let own = &self.stats.columns[place(self.table, column)?];
        let Order::Ascending(Run { first, last, step: Some(Step::Same(step)) }) = keys.order() else { return None };
        let is_key = |value: i64| (first..=last).contains(&value) && (value - first) % step == 0;
        let counts = own.int_counts.0.as_ref().filter(|counts| counts.keys().all(|&value| is_key(value)))?;
        let is_free = matches!(
            self.patterns[key],
            Some(Pattern::Exact | Pattern::Uniform | Pattern::Zipf(_) | Pattern::InTurn(_))
        );
        let is_told = self.database.fixed[foreign.parent] && own.ints == own.values() && of_parent.rows >= 3;
        if !is_free || !is_told || first != first.vague() || counts.is_empty() {
            return None;
        }
        let mut counts: Vec<(i64, u64)> = counts.iter().map(|(value, count)| (*value, *count)).collect();
        counts.sort_unstable();
        let values: Vec<String> = counts.iter().map(|(value, count)| format!("{value}: {count}")).collect();
        let generator = with_nulls(format!("choice({})", values.join(", ")), references.nulls, self.stats.rows);
        let because =
            format!("refers to {}({}), which stays as it is", parent.name, parent.columns[parent_column].name);
        Some(ReferenceAnnotation { column, generator: Some(generator), because })
    }

    /// Returns the annotations of a foreign key's columns. The first column that is NOT NULL, or else the first of
    /// all, carries the distribution.
    fn annotations(&self, key: usize) -> Vec<ReferenceAnnotation> {
        let (foreign, stats) = self.key(key);
        let (counts, rows) = (&self.counts[key], self.stats.rows);
        let pattern = self.patterns[key].as_ref().expect("all foreign keys are decided");
        if let Some(found) = self.of_lookup(key) {
            return vec![found];
        }
        let parent = &self.database.schema.tables[foreign.parent];
        let names: Vec<&str> =
            foreign.parent_columns.iter().map(|&column| parent.columns[column].name.as_str()).collect();
        let target = format!("refers to {}({})", parent.name, names.join(", "));
        if let Pattern::Inferred(why) = pattern {
            let annotation =
                |&column: &usize| ReferenceAnnotation { column, generator: None, because: format!("{target}: {why}") };
            return foreign.columns.iter().map(annotation).collect();
        }
        let takes_null = |column: usize| !self.table.columns[column].not_null && self.table.rowid_alias != Some(column);
        // The first row of a table that refers to itself has no parent in any case.
        let (nulls, rows) = match foreign.parent == self.position {
            true => (stats.nulls.saturating_sub(1), rows - 1),
            false => (stats.nulls, rows),
        };
        let leader = foreign.columns.iter().position(|&column| !takes_null(column));
        let leading = leader.unwrap_or(0);
        let annotation = |(place, &column): (usize, &usize)| {
            let to = format!("{}.{}", quoted(&parent.name), quoted(names[place]));
            let distribution = if place == leading { self.distribution(pattern, counts) } else { String::new() };
            let reference = match leader {
                // NULL in the leading column would be NULL in all.
                Some(leading) if takes_null(column) => {
                    format!("{}.{}", quoted(&self.table.columns[foreign.columns[leading]].name), quoted(names[place]))
                }
                _ => format!("ref({to}{distribution})"),
            };
            let has_nulls = takes_null(column) && (place == leading || leader.is_some());
            let generator = if has_nulls { with_nulls(reference, nulls, rows) } else { reference };
            ReferenceAnnotation {
                column,
                generator: Some(generator),
                because: format!("{target}: {}", reason(counts, pattern)),
            }
        };
        foreign.columns.iter().enumerate().map(annotation).collect()
    }

    /// Returns the annotations of columns that number rows.
    fn number_annotations(&self) -> impl Iterator<Item = ReferenceAnnotation> {
        self.numbers.iter().map(|&(column, by, first)| {
            let by = quoted(&self.table.columns[by].name);
            let generator = if first == 1 { format!("number_in({by})") } else { format!("number_in({by}) - 1") };
            ReferenceAnnotation {
                column,
                generator: Some(generator),
                because: format!("it counts the rows of each {by}"),
            }
        })
    }

    /// Returns the distribution argument of `ref`, with a comma before it.
    fn distribution(&self, pattern: &Pattern, counts: &ChildCounts) -> String {
        match pattern {
            Pattern::Once => ", once".to_owned(),
            Pattern::PerParent if counts.parents.len() == 1 => format!(", per_parent({})", counts.most()),
            Pattern::PerParent => format!(", per_parent({})", counts.deal()),
            Pattern::Exact => format!(", {}", counts.deal()),
            Pattern::DistinctIn(column) => format!(", distinct_in({})", quoted(column)),
            Pattern::InTurn(1) => ", in_turn".to_owned(),
            Pattern::InTurn(each) => format!(", in_turn({each})"),
            Pattern::Zipf(exponent) => format!(", zipf({exponent})"),
            Pattern::Uniform | Pattern::Inferred(_) => String::new(),
        }
    }
}

/// Returns whether a table is a list of a few things that others refer to, such as genres or countries: it stays as large as
/// it is. It has few columns and no foreign key, no dates, addresses or names of persons, and three times as many rows refer to it.
fn is_lookup(schema: &Schema, stats: &[Option<TableStats>], position: usize) -> bool {
    const ROWS: u64 = 250;
    const COLUMNS: usize = 5;
    const CHILDREN: u64 = 3;
    let (table, Some(of)) = (&schema.tables[position], &stats[position]) else { return false };
    let is_small = (1..=ROWS).contains(&of.rows) && of.columns.len() <= COLUMNS && table.foreign_keys.is_empty();
    if !is_small || table.ordinary_columns().any(|column| is_of_a_person(schema, position, column)) {
        return false;
    }
    let is_of_a_row = |column: &ColumnStats| {
        let texts = column.text_sample.clone().values();
        Times::of(&texts).is_some() || (!texts.is_empty() && texts.iter().all(|text| text.contains('@')))
    };
    let mut is_referred_to = false;
    for (child, stats) in stats.iter().enumerate() {
        let Some(stats) = stats else { continue };
        for (key, references) in stats.foreign_keys.iter().filter(|(key, _)| key.parent == position) {
            let rows = stats.rows - references.nulls;
            let table = &schema.tables[child];
            // A partner in a join table grows with it.
            let is_partner =
                |columns: Vec<usize>| columns.len() > 1 && columns.iter().any(|of| key.columns.contains(of));
            if infer::unique_keys(table).any(is_partner) {
                return false;
            }
            is_referred_to |= rows >= CHILDREN * of.rows;
        }
    }
    is_referred_to && !of.columns.iter().any(is_of_a_row)
}

/// Returns whether the names of a table and its column say that it holds names of persons.
fn is_of_a_person(schema: &Schema, table: usize, column: usize) -> bool {
    const NAMES: [&str; 4] = ["{first", "{last}", "{person}", "{handle}"];
    let text = infer::text_by_name(schema, table, column, false);
    text.is_some_and(|text| NAMES.iter().any(|name| text.contains(name)))
}

/// Describes the numbers of children and the pattern.
fn reason(counts: &ChildCounts, pattern: &Pattern) -> String {
    let (least, most) = (counts.least(), counts.most());
    let each = match least == most {
        true => format!("{most} rows each"),
        false => format!("{least} to {most} rows each, {:.1} on average", counts.children as f64 / counts.all as f64),
    };
    match pattern {
        Pattern::PerParent => format!("{each}; consecutive rows, so that the number of rows follows"),
        Pattern::Zipf(_) => format!("{each}, by Zipf's law"),
        _ => each,
    }
}
