//! The likeness of two databases as one number, and the relations of their columns side by side.

use crate::compare::{Comparison, RelationComparison};
use crate::read::TableStats;
use crate::relations::{Kind, Relation, SampleView};
use crate::row_sample::Cell;
use litepress_rows::schema::{Schema, Table};

/// A table of one of the databases, with its relations.
pub(crate) struct Related<'a> {
    pub schema: &'a Schema,
    pub table: &'a Table,
    pub stats: &'a TableStats,
}

/// Compares the relations that the first table has, and the texts of its columns.
pub(crate) fn relations(pair: &[Related<'_>; 2]) -> Vec<RelationComparison> {
    let views = pair.each_ref().map(|side| SampleView::new(side.table, side.stats));
    let mut found: Vec<RelationComparison> = Vec::new();
    for relation in views[0].relations() {
        let Some(one) = views[0].measure(&relation) else { continue };
        let other = pair[1].translated(&relation, &pair[0]).and_then(|relation| views[1].measure(&relation));
        let (text, range) = pair[0].described(&relation);
        let values = [one, other.unwrap_or(0.0)];
        found.push(RelationComparison { text, values, distance: ((values[0] - values[1]).abs() / range).min(1.0) });
    }
    let places: Vec<(usize, String)> = pair[0].names().enumerate().collect();
    for (place, name) in places {
        if views[0].columns.get(place).is_none_or(|view| view.times.is_some()) {
            continue;
        }
        let Some(of_other) = pair[1].names().position(|other| other.eq_ignore_ascii_case(&name)) else { continue };
        found.extend(distinct(pair, [place, of_other], &name));
        found.extend(characters(pair, [place, of_other], &name));
    }
    found
}

/// Compares the numbers of different texts, where texts repeat.
fn distinct(pair: &[Related<'_>; 2], places: [usize; 2], name: &str) -> Option<RelationComparison> {
    let stats = [0, 1].map(|side| &pair[side].stats.columns[places[side]]);
    let repeat = stats[0].distinct().0 * 10 <= stats[0].values() * 9;
    if !repeat || 2 * stats[0].texts <= stats[0].values() {
        return None;
    }
    let values = stats.map(|stats| stats.distinct().0 as f64);
    let distance = 1.0 - values[0].min(values[1]) / values[0].max(values[1]).max(1.0);
    Some(RelationComparison { text: format!("different texts of {name}"), values, distance })
}

/// Compares the shares of capital and small letters, digits, spaces and signs in the texts of a column. The value of the
/// other database is the share that both have in common.
fn characters(pair: &[Related<'_>; 2], places: [usize; 2], name: &str) -> Option<RelationComparison> {
    let shares = [0, 1].map(|side| {
        let rows = &pair[side].stats.sampled_rows;
        let texts = rows.iter().filter_map(|row| match &row.cells[places[side]] {
            Cell::Text(text) => Some(text),
            _ => None,
        });
        let mut counts = [0.0_f64; 5];
        for character in texts.flat_map(|text| text.chars()) {
            let class = match character {
                c if c.is_uppercase() => 0,
                c if c.is_alphabetic() => 1,
                c if c.is_numeric() => 2,
                ' ' => 3,
                _ => 4,
            };
            counts[class] += 1.0;
        }
        let sum: f64 = counts.iter().sum();
        (sum > 0.0).then(|| counts.map(|count| count / sum))
    });
    let [Some(one), Some(other)] = shares else { return None };
    let common: f64 = one.iter().zip(other).map(|(one, other)| one.min(other)).sum();
    let text = format!("kinds of characters of {name}");
    Some(RelationComparison { text, values: [1.0, common], distance: (1.0 - common).clamp(0.0, 1.0) })
}

impl Related<'_> {
    /// Returns the names of the ordinary columns.
    fn names(&self) -> impl Iterator<Item = String> {
        self.table.ordinary_columns().map(|column| self.table.columns[column].name.clone())
    }

    fn name(&self, place: usize) -> String {
        self.names().nth(place).unwrap_or_default()
    }

    fn place(&self, name: &str) -> Option<usize> {
        self.names().position(|other| other.eq_ignore_ascii_case(name))
    }

    /// Returns the table that a foreign key refers to.
    fn parent(&self, key: usize) -> &Table {
        &self.schema.tables[self.stats.foreign_keys[key].0.parent]
    }

    /// Returns the name of the first column of a foreign key.
    fn key_name(&self, key: usize) -> &str {
        &self.table.columns[self.stats.foreign_keys[key].0.columns[0]].name
    }

    /// Returns the relation of the same columns in this database; `None` if it lacks one.
    fn translated(&self, relation: &Relation, of: &Related<'_>) -> Option<Relation> {
        let place = |place: usize| self.place(&of.name(place));
        let kind = match relation.kind {
            Kind::Ascends => Kind::Ascends,
            Kind::NotBelow(other) => Kind::NotBelow(place(other)?),
            Kind::FollowsFrom(other) => Kind::FollowsFrom(place(other)?),
            Kind::Correlates(other) => Kind::Correlates(place(other)?),
            Kind::DependsOn(other) => Kind::DependsOn(place(other)?),
            Kind::OfParent { key, of: column } => {
                let parent = of.parent(key);
                let name = &parent.columns[parent.ordinary_columns().nth(column)?].name;
                let is_same = |&own: &usize| self.key_name(own).eq_ignore_ascii_case(of.key_name(key));
                let own = (0..self.stats.foreign_keys.len()).find(is_same)?;
                let columns = self.parent(own);
                let is_named = |&column: &usize| columns.columns[column].name.eq_ignore_ascii_case(name);
                Kind::OfParent { key: own, of: columns.ordinary_columns().position(|column| is_named(&column))? }
            }
        };
        Some(Relation { column: place(relation.column)?, kind })
    }

    /// Describes a relation, with the range of its values.
    fn described(&self, relation: &Relation) -> (String, f64) {
        let name = self.name(relation.column);
        match relation.kind {
            Kind::Ascends => (format!("{name} ascends with the rows"), 2.0),
            Kind::NotBelow(other) => (format!("{name} is not below {}", self.name(other)), 1.0),
            Kind::FollowsFrom(other) => (format!("{name} follows from {}", self.name(other)), 1.0),
            Kind::Correlates(other) => (format!("rank correlation of {} and {name}", self.name(other)), 2.0),
            Kind::DependsOn(other) => (format!("{name} depends on {}", self.name(other)), 1.0),
            Kind::OfParent { key, of } => {
                let parent = self.parent(key);
                let column = parent.ordinary_columns().nth(of).map(|column| &*parent.columns[column].name);
                let column = column.unwrap_or_default();
                (format!("{name} is {column} of the row of {} in {}", parent.name, self.key_name(key)), 1.0)
            }
        }
    }
}

impl Comparison {
    /// Returns how alike both databases are, from 0 to 1: the mean of the likeness of their columns and of that of their
    /// relations.
    ///
    /// A column's likeness is `(1 - distance) * (1 - difference of the shares of NULL)`, a relation's `1 - distance`.
    pub fn score(&self) -> f64 {
        let parts = [self.columns_score(), self.relations_score()];
        mean(parts.into_iter().flatten()).unwrap_or(1.0)
    }

    /// Returns the mean likeness of the columns; `None` without columns.
    pub fn columns_score(&self) -> Option<f64> {
        let columns = self.tables.iter().flat_map(|table| &table.columns);
        mean(columns.map(|column| (1.0 - column.distance) * (1.0 - (column.nulls[0] - column.nulls[1]).abs())))
    }

    /// Returns the mean likeness of the relations; `None` without relations.
    pub fn relations_score(&self) -> Option<f64> {
        let relations = self.tables.iter().flat_map(|table| &table.relations);
        mean(relations.map(|relation| 1.0 - relation.distance))
    }
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    (count > 0.0).then(|| sum / count)
}
