//! Decides which columns an upsert changes, and whether the rows can be folded by their primary key.

use crate::index::IndexPlan;
use crate::options::Options;
use crate::{Conflict, plan, sqlite};
use litepress_rows::Table;
use litepress_rows::schema::Generated;

/// The treatment of rows with one primary key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RowPolicy {
    /// One of them stays as it is, by the policy for conflicts.
    OneStays,
    /// The first stays, and the later ones change these fields of its record.
    Fields(Vec<usize>),
}

impl RowPolicy {
    /// Decides it for rows that lack the columns at the positions `missing`. `Err` says why SQLite must insert them.
    pub fn of(table: &Table, options: &Options, missing: &[usize]) -> Result<Self, String> {
        if options.on_conflict != Conflict::Update {
            return Ok(Self::OneStays);
        }
        let Ok((key, columns)) = sqlite::updated_by_key(table, options, missing) else {
            return Err("SQLite tells what is wrong with the update".to_owned());
        };
        let by_primary_key = match table.primary_index().filter(|_| table.without_rowid) {
            Some(primary) => {
                let is_of_key = |column: &usize| primary.columns.iter().any(|other| other.column == Some(*column));
                key.len() == primary.columns.len() && key.iter().all(is_of_key)
            }
            None => table.rowid_alias.is_some_and(|alias| key == [alias]),
        };
        if !by_primary_key {
            return Err("another key than the primary key decides which rows are updated".to_owned());
        }
        if columns.iter().any(|column| key.contains(column)) {
            return Err("the update changes the key".to_owned());
        }
        let is_whole = table.ordinary_columns().all(|column| key.contains(&column) || columns.contains(&column));
        if is_whole && !table.without_rowid {
            return Ok(Self::OneStays);
        }
        // The key of a WITHOUT ROWID table keeps its spelling: 'A' if the collation takes 'a' for the same.
        let has_rules = table.has_check
            || table.columns.iter().any(|column| column.generated != Generated::No)
            || plan::own_indexes(table).any(|index| index.unique);
        if has_rules {
            return Err("rows are updated in part, and rules of the table need whole rows".to_owned());
        }
        let stored = table.stored_columns();
        let field = |column: &usize| stored.iter().position(|position| position == column);
        Ok(Self::Fields(columns.iter().filter_map(field).collect()))
    }
}

/// Returns the plans of the unique indexes whose keys could make a row delete another one or fail. `Err` says why SQLite must judge.
pub(super) fn claimed_indexes(table: &Table, conflict: Conflict) -> Result<Vec<IndexPlan>, String> {
    if !matches!(conflict, Conflict::Replace | Conflict::Update) {
        return Ok(Vec::new());
    }
    let unique = plan::own_indexes(table).filter(|index| index.unique);
    let planned: Result<Vec<IndexPlan>, String> = unique.map(|index| IndexPlan::new(table, index)).collect();
    planned.map_err(|why| format!("of a unique key, {why}"))
}
