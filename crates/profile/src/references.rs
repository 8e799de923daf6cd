//! References between tables: which foreign keys a recipe can follow, and the statistics of each.
//!
//! For every foreign key the rows of each parent are counted; for many parents, those of a random sample of them
//! (`KeyCounts`). `fan_out.rs` chooses the annotations from these counts.

use crate::sketch::{KeyCounts, hash_bytes, hash_int};
use litepress_format::value::Value;
use litepress_gen::infer::{self, Reference};
use litepress_gen::is_generated;
use litepress_rows::schema::{Generated, Schema, Table};

/// A foreign key whose columns belong to no other one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ForeignKey {
    /// Its columns, by position.
    pub columns: Vec<usize>,
    /// The parent table, and the columns there.
    pub parent: usize,
    pub parent_columns: Vec<usize>,
}

/// Returns the foreign keys of a table that a recipe can follow.
pub(crate) fn foreign_keys(schema: &Schema, table: &Table) -> Vec<ForeignKey> {
    let mut found: Vec<(usize, ForeignKey)> = Vec::new();
    for column in table.ordinary_columns() {
        let Reference::Single(parent) = infer::reference(schema, table, column) else { continue };
        let known = found.iter_mut().find(|(key, _)| *key == parent.key);
        match known {
            Some((_, key)) => {
                key.columns.push(column);
                key.parent_columns.push(parent.column);
            }
            None => {
                let (columns, parent_columns) = (vec![column], vec![parent.column]);
                found.push((parent.key, ForeignKey { columns, parent: parent.table, parent_columns }));
            }
        }
    }
    let is_followed = |(key, of): &(usize, ForeignKey)| {
        let parent = &schema.tables[of.parent];
        let is_ordinary = |&column: &usize| parent.columns[column].generated == Generated::No;
        of.columns.len() == table.foreign_keys[*key].columns.len()
            && of.parent_columns.iter().all(is_ordinary)
            && is_generated(schema, parent)
    };
    found.retain(is_followed);
    found.into_iter().map(|(_, key)| key).collect()
}

/// Statistics of a foreign key. They can be merged in any order.
#[derive(Debug)]
pub(crate) struct ReferenceStats {
    /// Rows without a parent.
    pub nulls: u64,
    /// Rows of each parent.
    pub children: KeyCounts,
    /// Number of rows with another parent than the row before.
    pub changes: u64,
    last: Option<u64>,
}

impl ReferenceStats {
    pub fn new() -> Self {
        Self { nulls: 0, children: KeyCounts::new(), changes: 0, last: None }
    }

    /// Adds a row with these values in the foreign key's columns.
    pub fn add<'v>(&mut self, mut values: impl Iterator<Item = Value<'v>>) {
        let hash = values.try_fold(0, |hash, value| Some(hash_int(hash ^ value_hash(value)?)));
        let Some(hash) = hash else {
            self.nulls += 1;
            return;
        };
        self.children.add(hash, 1);
        self.changes += u64::from(self.last.replace(hash) != Some(hash));
    }

    /// Ends a range of rows; the next one may be anywhere in the table.
    pub fn end_range(&mut self) {
        self.last = None;
    }

    pub fn merge(&mut self, other: Self) {
        self.nulls += other.nulls;
        self.children.merge(other.children);
        self.changes += other.changes;
    }
}

/// Hashes a value; `None` for NULL. Integers hash alike as INTEGER and REAL.
fn value_hash(value: Value<'_>) -> Option<u64> {
    match value {
        Value::Null => None,
        Value::Int(int) => Some(hash_int((int as f64).to_bits() ^ int.cast_unsigned())),
        Value::Real(real) => {
            #[expect(clippy::cast_possible_truncation, reason = "only integral values must hash like integers")]
            let int = real as i64;
            Some(hash_int(real.to_bits() ^ int.cast_unsigned()))
        }
        Value::Text(bytes) | Value::Blob(bytes) => Some(hash_bytes(bytes)),
    }
}
