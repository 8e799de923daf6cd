//! How rows refer to rows of other tables: which foreign keys there are, and what is remembered of each.
//!
//! Of every foreign key the rows of each parent are counted, of all parents while they are few, else of a random sample of
//! them (`KeyCounts`). `fan_out.rs` chooses from that how the plan refers to the parents.

use super::sketch::{KeyCounts, hash_bytes, hash_int};
use crate::infer::{self, Reference};
use crate::tables::is_invented;
use litepress_rows::schema::{Generated, Schema, Table};
use rusqlite::types::ValueRef;

/// A foreign key whose columns refer to nothing else.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ForeignKey {
    /// Its columns, by position.
    pub columns: Vec<usize>,
    /// The table that it refers to, and the columns there.
    pub parent: usize,
    pub parent_columns: Vec<usize>,
}

/// The foreign keys of a table that a plan can follow.
pub(super) fn foreign_keys(schema: &Schema, table: &Table) -> Vec<ForeignKey> {
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
            && is_invented(schema, parent)
    };
    found.retain(is_followed);
    found.into_iter().map(|(_, key)| key).collect()
}

/// What is remembered of the rows of a foreign key; merged in any order.
#[derive(Debug)]
pub(super) struct ReferenceStats {
    /// Rows that refer to nothing.
    pub nulls: u64,
    /// Rows of each parent.
    pub children: KeyCounts,
    /// How many times a row refers to another parent than the row before it.
    pub changes: u64,
    last: Option<u64>,
}

impl ReferenceStats {
    pub fn new() -> Self {
        Self { nulls: 0, children: KeyCounts::new(), changes: 0, last: None }
    }

    /// Adds a row that refers to these values.
    pub fn add<'v>(&mut self, mut values: impl Iterator<Item = ValueRef<'v>>) {
        let hash = values.try_fold(0, |hash, value| Some(hash_int(hash ^ value_hash(value)?)));
        let Some(hash) = hash else {
            self.nulls += 1;
            return;
        };
        self.children.add(hash, 1);
        self.changes += u64::from(self.last.replace(hash) != Some(hash));
    }

    /// A range of rows ends: what comes next may lie anywhere.
    pub fn end_range(&mut self) {
        self.last = None;
    }

    pub fn merge(&mut self, other: Self) {
        self.nulls += other.nulls;
        self.children.merge(other.children);
        self.changes += other.changes;
    }
}

/// `None` of NULL. Whole numbers hash alike as integers and reals.
fn value_hash(value: ValueRef<'_>) -> Option<u64> {
    match value {
        ValueRef::Null => None,
        ValueRef::Integer(int) => Some(hash_int((int as f64).to_bits() ^ int.cast_unsigned())),
        ValueRef::Real(real) => {
            #[expect(clippy::cast_possible_truncation, reason = "of a real that is no whole number anything will do")]
            let int = real as i64;
            Some(hash_int(real.to_bits() ^ int.cast_unsigned()))
        }
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(hash_bytes(bytes)),
    }
}
