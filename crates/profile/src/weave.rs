//! Relations between columns, as annotations: each column follows from one other column at most.
//!
//! | relation | annotation |
//! |---|---|
//! | a column of the row that a foreign key refers to | `CustomerId.City` |
//! | ascends with the rows | `date_add('2009-01-01', ascending(...), 'days')` |
//! | not below another column | `date_add(OrderDate, histogram(...), 'days')`, `least + histogram(...)` |
//! | follows from another column | `CASE WHEN City IN ('Rome', 'Milan') THEN 'Italy' ... END` |
//! | follows from a foreign key | `same_in(AlbumId, choice(...))` |
//! | depends on another column | `CASE WHEN Milliseconds < 200000 THEN histogram(...) ... END` |
//!
//! A relation changes the annotation of a column that had its own: that stays in [`ColumnProfile::alone`], for the case that the
//! plan rejects the new one.

use crate::annotation_text::{quoted, with_nulls};
use crate::column_stats::ColumnStats;
use crate::describe::{Model, is_told, numbers};
use crate::histogram::{Number, Precision, real_histogram, whole_histogram};
use crate::read::TableStats;
use crate::relations::{Kind, Relation, SampleView};
use crate::row_sample::Cell;
use crate::{ColumnProfile, references::ForeignKey};
use litepress_gen::infer;
use litepress_rows::schema::{Schema, Table};
use std::collections::BTreeMap;

/// Most characters of an annotation.
const LONGEST: usize = 40_000;

/// The weaver of a table's relations.
pub(crate) struct Weaver<'a> {
    pub schema: &'a Schema,
    pub table: &'a Table,
    pub stats: &'a TableStats,
    pub view: &'a SampleView<'a>,
    pub models: Vec<Model>,
    pub precision: Precision,
}

impl Weaver<'_> {
    /// Changes the annotations of columns that have relations. Dependencies of a tree point away from the columns that are settled
    /// by other relations.
    pub fn weave(mut self, columns: &mut [ColumnProfile]) {
        let mut follows: Vec<Option<usize>> = vec![None; columns.len()];
        let is_of_tree = |relation: &Relation| matches!(relation.kind, Kind::Correlates(_) | Kind::DependsOn(_));
        let (mut edges, others): (Vec<_>, Vec<_>) = self.view.relations().into_iter().partition(is_of_tree);
        let mut is_settled: Vec<bool> = (0..columns.len()).map(|column| !self.can_depend(column, columns)).collect();
        let (of_parents, others): (Vec<_>, Vec<_>) =
            others.into_iter().partition(|relation| matches!(relation.kind, Kind::OfParent { .. }));
        for relation in of_parents {
            self.apply(&relation, columns, &mut follows, &mut is_settled);
        }
        self.agree(columns, &mut follows);
        (0..columns.len()).for_each(|column| is_settled[column] |= columns[column].alone.is_some());
        for relation in others {
            self.apply(&relation, columns, &mut follows, &mut is_settled);
        }
        while !edges.is_empty() {
            let ends = |relation: &Relation| (relation.column, other_of(relation.kind).unwrap_or(relation.column));
            let is_next = |relation: &Relation| {
                let (one, other) = ends(relation);
                is_settled[one] != is_settled[other]
            };
            let Some(next) = edges.iter().position(is_next) else {
                // The root of another tree.
                let (one, other) = ends(&edges[0]);
                if is_settled[one] {
                    edges.remove(0);
                } else {
                    is_settled[other] = true;
                }
                continue;
            };
            let relation = edges.remove(next);
            let relation = if is_settled[relation.column] { reversed(&relation) } else { relation };
            let is_applied = self.apply(&relation, columns, &mut follows, &mut is_settled);
            // There are too many names for the title to depend on the name, but the name can depend on the title.
            let other_way = reversed(&relation);
            if !is_applied && self.can_depend(other_way.column, columns) {
                is_settled[relation.column] |= self.apply(&other_way, columns, &mut follows, &mut is_settled);
            }
        }
    }

    /// Returns whether the annotation of a column can depend on another column of the row.
    fn can_depend(&self, column: usize, columns: &[ColumnProfile]) -> bool {
        columns[column].generator.is_some()
            && (self.is_of_lookup(column, columns)
                || matches!(self.models[column], Model::Numbers | Model::FewNumbers | Model::Texts(_)))
    }

    /// Gives a column the annotation of a relation, unless it has another one's. Returns whether it did.
    fn apply(
        &mut self,
        relation: &Relation,
        columns: &mut [ColumnProfile],
        follows: &mut [Option<usize>],
        is_settled: &mut [bool],
    ) -> bool {
        let Relation { column, kind } = *relation;
        let other = other_of(kind);
        let is_circle = std::iter::successors(other, |&of| follows[of]).any(|of| of == column);
        if columns[column].alone.is_some() || is_circle || columns[column].generator.is_none() {
            return false;
        }
        let found = self.annotation(column, kind, columns).filter(|(generator, _)| generator.len() <= LONGEST);
        let Some((generator, because)) = found else { return false };
        let of = &mut columns[column];
        let alone = of.generator.replace(generator);
        of.alone = alone.map(|alone| (alone, std::mem::replace(&mut of.because, because)));
        (follows[column], is_settled[column]) = (other, true);
        if matches!(kind, Kind::OfParent { .. }) && matches!(self.models[column], Model::Texts(_)) {
            // Its names are those of the parent.
            self.models[column] = Model::Fixed;
        }
        true
    }

    pub(crate) fn name(&self, place: usize) -> String {
        let column = self.table.ordinary_columns().nth(place).expect("an ordinary column");
        infer::quoted(&self.table.columns[column].name)
    }

    pub(crate) fn stats(&self, place: usize) -> &ColumnStats {
        &self.stats.columns[place]
    }

    /// Returns the foreign key that a column belongs to.
    fn foreign_key(&self, place: usize) -> Option<&ForeignKey> {
        let column = self.table.ordinary_columns().nth(place)?;
        self.stats.foreign_keys.iter().map(|(key, _)| key).find(|key| key.columns.contains(&column))
    }

    /// Returns whether a column has the keys of a table of a constant size, as numbers.
    fn is_of_lookup(&self, place: usize, columns: &[ColumnProfile]) -> bool {
        let alone = || columns[place].alone.as_ref().map(|(alone, _)| alone);
        let generator = alone().or(columns[place].generator.as_ref());
        self.foreign_key(place).is_some() && generator.is_some_and(|generator| generator.contains("choice("))
    }

    fn is_reference(&self, place: usize, columns: &[ColumnProfile]) -> bool {
        self.foreign_key(place).is_some()
            && columns[place].generator.as_ref().is_some_and(|generator| generator.contains("ref("))
    }

    /// Returns the annotation of a column that has this relation, with its reason.
    fn annotation(&self, column: usize, kind: Kind, columns: &[ColumnProfile]) -> Option<(String, String)> {
        let is_free = self.foreign_key(column).is_none() || self.is_of_lookup(column, columns);
        if !is_free {
            return None;
        }
        let given = |rows: &[usize]| self.given(column, rows, columns);
        match kind {
            Kind::OfParent { key, of } => self.of_parent(key, of, columns),
            Kind::Ascends => self.ascending(column),
            Kind::NotBelow(other) => self.not_below(column, other),
            Kind::FollowsFrom(other) if self.is_reference(other, columns) => self.same_in(column, other, columns),
            Kind::FollowsFrom(other) => {
                let because = format!("follows from {}", self.name(other));
                Some((self.by_groups(other, 1, columns, &given)?, because))
            }
            Kind::Correlates(other) | Kind::DependsOn(other) => {
                let is_continuous = matches!(self.models[other], Model::Numbers);
                let annotation = match is_continuous {
                    true => self.by_ranges(column, other, columns)?,
                    false => self.by_groups(other, 20, columns, &given)?,
                };
                Some((annotation, format!("depends on {}", self.name(other))))
            }
        }
    }

    fn of_parent(&self, key: usize, of: usize, columns: &[ColumnProfile]) -> Option<(String, String)> {
        let (foreign, _) = self.stats.foreign_keys.get(key)?;
        let by = self.table.ordinary_columns().position(|column| foreign.columns == [column])?;
        let parent = &self.schema.tables[foreign.parent];
        let column = parent.ordinary_columns().nth(of)?;
        let target = infer::quoted(&parent.columns[column].name);
        let because = format!("the {target} of that row of {}", parent.name);
        self.is_reference(by, columns).then(|| (format!("{}.{target}", self.name(by)), because))
    }

    fn ascending(&self, column: usize) -> Option<(String, String)> {
        let stats = self.stats(column);
        let generator = match self.models[column] {
            Model::Numbers | Model::FewNumbers => {
                let (histogram, _) = numbers(stats, self.precision);
                histogram.contains("histogram(").then(|| histogram.replacen("histogram(", "ascending(", 1))?
            }
            Model::Times => self.view.columns[column].times.as_ref()?.ascending(self.precision),
            _ => return None,
        };
        let generator = with_nulls(generator, stats.nulls, stats.nulls + stats.values());
        Some((generator, "ascending with the rows, with this distribution".to_owned()))
    }

    fn not_below(&self, column: usize, other: usize) -> Option<(String, String)> {
        let precision = Precision { bins: 24, ..self.precision };
        let differences = self.view.pairs(other, column).into_iter().map(|(one, other)| other - one);
        let differences: Vec<f64> = differences.collect();
        let ends = |all: &[f64]| all.iter().fold((f64::MAX, f64::MIN), |ends, &at| (ends.0.min(at), ends.1.max(at)));
        let name = self.name(other);
        let generator = match (&self.models[column], &self.models[other]) {
            (Model::Times, Model::Times) => {
                let (own, start) =
                    (self.view.columns[column].times.as_ref()?, self.view.columns[other].times.as_ref()?);
                if start.unit.0 < own.unit.0 || !own.is_as_long_as(start) {
                    return None;
                }
                let unit = own.unit.0 as f64;
                let units: Vec<f64> = differences.iter().map(|seconds| (seconds / unit).round()).collect();
                own.after(&name, &whole(units, precision))
            }
            (Model::Numbers | Model::FewNumbers, Model::Numbers | Model::FewNumbers) => {
                match differences.iter().all(|number| number.fract() == 0.0) {
                    true => format!("{name} + {}", whole(differences, precision)),
                    false => {
                        let (least, largest) = ends(&differences);
                        format!("round({name} + {}, 6)", real_histogram(differences, least, largest, precision).0)
                    }
                }
            }
            _ => return None,
        };
        let rows = self.view.rows.iter().filter(|row| !row.cells[other].is_null());
        let (mut all, mut nulls) = (0, 0);
        rows.for_each(|row| (all, nulls) = (all + 1, nulls + u64::from(row.cells[column].is_null())));
        let alone = self.view.rows.iter().filter(|row| row.cells[other].is_null() && !row.cells[column].is_null());
        // Values beside NULL would be lost.
        (alone.count() * 100 <= self.view.rows.len())
            .then(|| (with_nulls(generator, nulls, all), format!("never before or below {name}, by as much")))
    }

    /// Returns a distribution for each value of another column, or each group of values with the same one. Values of fewer rows
    /// than `least` share one.
    pub(crate) fn by_groups(
        &self,
        other: usize,
        least: usize,
        columns: &[ColumnProfile],
        given: &dyn Fn(&[usize]) -> Option<String>,
    ) -> Option<String> {
        const BRANCHES: usize = 24;
        let of = &self.view.columns[other];
        if of.groups.is_empty() {
            return None;
        }
        let mut rows: Vec<Vec<usize>> = vec![Vec::new(); of.values.len()];
        let mut rest: Vec<usize> = Vec::new();
        for (row, group) in of.groups.iter().enumerate() {
            group.map_or(&mut rest, |group| &mut rows[group]).push(row);
        }
        let mut branches: BTreeMap<String, (Vec<String>, usize)> = BTreeMap::new();
        for (group, rows) in rows.into_iter().enumerate() {
            let literal = self.literal(other, &of.values[group], columns)?;
            match given(&rows).filter(|_| rows.len() >= least && literal.is_some()) {
                Some(given) => {
                    let branch = branches.entry(given).or_default();
                    branch.0.extend(literal);
                    branch.1 += rows.len();
                }
                None => rest.extend(rows),
            }
        }
        let name = self.name(other);
        let mut branches: Vec<(String, Vec<String>, usize)> =
            branches.into_iter().map(|(given, (values, rows))| (given, values, rows)).collect();
        branches.sort_by_key(|(_, _, rows)| std::cmp::Reverse(*rows));
        let otherwise = match rest.is_empty() {
            true if branches.len() > 1 => branches.remove(0).0,
            true => return None,
            false => given(&rest).or_else(|| branches.first().map(|branch| branch.0.clone()))?,
        };
        if branches.is_empty() || (least > 1 && branches.len() > BRANCHES) {
            return None;
        }
        let is_single = branches.iter().all(|(_, values, _)| values.len() == 1);
        let mut annotation = if is_single { format!("CASE {name}") } else { "CASE".to_owned() };
        for (given, values, _) in branches {
            annotation += &match &values[..] {
                [value] if is_single => format!(" WHEN {value} THEN {given}"),
                [value] => format!(" WHEN {name} = {value} THEN {given}"),
                values => format!(" WHEN {name} IN ({}) THEN {given}", values.join(", ")),
            };
        }
        Some(format!("{annotation} ELSE {otherwise} END"))
    }

    /// Returns a distribution for each range of another column's numbers.
    fn by_ranges(&self, column: usize, other: usize, columns: &[ColumnProfile]) -> Option<String> {
        const RANGES: usize = 10;
        const IN_A_RANGE: usize = 30;
        if self.foreign_key(other).is_some() {
            return None;
        }
        let numbers = &self.view.columns[other].numbers;
        let mut rows: Vec<(f64, usize)> =
            numbers.iter().enumerate().filter_map(|(row, number)| Some(((*number)?, row))).collect();
        rows.sort_unstable_by(|one, other| one.0.total_cmp(&other.0));
        let ranges = RANGES.min(rows.len() / IN_A_RANGE);
        if ranges < 2 {
            return None;
        }
        let mut bounds: Vec<f64> = Vec::new();
        for range in 1..ranges {
            let bound = rows[range * rows.len() / ranges].0;
            let before = bounds.last().copied().unwrap_or(rows[0].0);
            let bound = if self.precision.is_exact { bound } else { f64::roundest(bound.towards(before, 0.25), bound) };
            if bound > before {
                bounds.push(bound);
            }
        }
        let name = self.name(other);
        let unknown: Vec<usize> = (0..numbers.len()).filter(|&row| numbers[row].is_none()).collect();
        let given = |rows: &[usize]| self.along(column, other, rows).or_else(|| self.given(column, rows, columns));
        let mut annotation = "CASE".to_owned();
        if let Some(given) = self.given(column, &unknown, columns) {
            annotation += &format!(" WHEN {name} IS NULL THEN {given}");
        }
        let mut start = 0;
        for bound in bounds {
            let end = rows.partition_point(|(number, _)| *number < bound);
            let of: Vec<usize> = rows[start..end].iter().map(|(_, row)| *row).collect();
            annotation += &format!(" WHEN {name} < {} THEN {}", shown(bound), given(&of)?);
            start = end;
        }
        let of: Vec<usize> = rows[start..].iter().map(|(_, row)| *row).collect();
        Some(format!("{annotation} ELSE {} END", given(&of)?))
    }

    /// Returns the literal of a value of a column in the recipe. The outer `None` stands for a column whose values are not known,
    /// the inner one for a value that is not told.
    #[expect(clippy::option_option, reason = "the two mean different things")]
    fn literal(&self, column: usize, value: &Cell, columns: &[ColumnProfile]) -> Option<Option<String>> {
        match (&self.models[column], value) {
            (Model::Texts(names), Cell::Text(text)) => Some(names.get(text).map(|name| quoted(name))),
            (Model::FewNumbers, Cell::Number(number)) => {
                Some(is_told(self.stats(column), *number, self.precision.is_exact).then(|| shown(*number)))
            }
            (Model::Fixed, Cell::Number(number)) if self.is_of_lookup(column, columns) => Some(Some(shown(*number))),
            _ => None,
        }
    }

    /// Returns the annotation for the values of a column in these sampled rows; `None` if they are too few.
    pub(crate) fn given(&self, column: usize, rows: &[usize], columns: &[ColumnProfile]) -> Option<String> {
        /// Numbers that a histogram needs.
        const ENOUGH: usize = 10;
        let precision = Precision { bins: 10, ..self.precision };
        let cells = || rows.iter().map(|&row| &self.view.rows[row].cells[column]);
        let nulls = cells().filter(|cell| cell.is_null()).count();
        if rows.is_empty() {
            return None;
        }
        if nulls == rows.len() {
            return Some("NULL".to_owned());
        }
        let generator = match &self.models[column] {
            Model::Numbers => {
                let numbers: Vec<f64> = cells()
                    .filter_map(|cell| if let Cell::Number(number) = cell { Some(*number) } else { None })
                    .filter(|number| number.is_finite())
                    .collect();
                if numbers.len() < ENOUGH {
                    return None;
                }
                if self.stats(column).reals == 0 {
                    whole(numbers, precision)
                } else {
                    let least = numbers.iter().copied().fold(f64::MAX, f64::min);
                    let largest = numbers.iter().copied().fold(f64::MIN, f64::max);
                    real_histogram(numbers, least, largest, precision).0
                }
            }
            _ => {
                let mut counts: BTreeMap<String, u64> = BTreeMap::new();
                for cell in cells().filter(|cell| !cell.is_null()) {
                    if let Some(literal) = self.literal(column, cell, columns)? {
                        *counts.entry(literal).or_default() += 1;
                    }
                }
                match counts.len() {
                    0 => return None,
                    1 if nulls == 0 => return counts.into_keys().next(),
                    _ => {
                        let mut counts: Vec<(String, u64)> = counts.into_iter().collect();
                        counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
                        let values: Vec<String> = counts.iter().map(|(value, of)| format!("{value}: {of}")).collect();
                        format!("choice({})", values.join(", "))
                    }
                }
            }
        };
        Some(with_nulls(generator, nulls as u64, rows.len() as u64))
    }
}

/// Returns a relation from the other column's side.
fn reversed(relation: &Relation) -> Relation {
    let column = other_of(relation.kind).unwrap_or(relation.column);
    let kind = match relation.kind {
        Kind::Correlates(_) => Kind::Correlates(relation.column),
        _ => Kind::DependsOn(relation.column),
    };
    Relation { column, kind }
}

/// Returns the other column of a relation.
fn other_of(kind: Kind) -> Option<usize> {
    match kind {
        Kind::Ascends | Kind::OfParent { .. } => None,
        Kind::NotBelow(of) | Kind::FollowsFrom(of) | Kind::Correlates(of) | Kind::DependsOn(of) => Some(of),
    }
}

/// Returns the histogram of whole numbers.
pub(crate) fn whole(numbers: Vec<f64>, precision: Precision) -> String {
    #[expect(clippy::cast_possible_truncation, reason = "saturates")]
    let end = |fold: fn(f64, f64) -> f64, from: f64| numbers.iter().copied().fold(from, fold) as i64;
    let (least, largest) = (end(f64::min, f64::MAX), end(f64::max, f64::MIN));
    let histogram = whole_histogram(numbers, least, largest, precision).0;
    if histogram.ends_with(')') { histogram } else { format!("({histogram})") }
}

/// Formats a number as a literal: integers without a decimal point.
fn shown(number: f64) -> String {
    #[expect(clippy::cast_possible_truncation, reason = "whole and small")]
    if number.fract() == 0.0 && number.abs() < 1e15 { (number as i64).to_string() } else { format!("{number:?}") }
}
