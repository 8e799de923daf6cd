//! Policies for rows that their table does not accept.

use crate::Table;

/// The policy for a row that breaks a UNIQUE, PRIMARY KEY or NOT NULL constraint: SQLite's `INSERT OR ...`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Conflict {
    /// Fails the run.
    #[default]
    Abort,
    /// Leaves the row out: of rows with one key, the first stays.
    Ignore,
    /// Replaces the rows that the row conflicts with: the last stays.
    Replace,
    /// Updates the row with the same key (upsert): SQLite's `ON CONFLICT DO UPDATE`. Conflicts with other keys fail the run.
    Update,
}

/// The treatment of NULL in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NullPolicy {
    /// The column accepts NULL.
    Take,
    /// The run fails.
    Refuse,
    /// The row is left out.
    LeaveOut,
    /// Only SQLite can decide: it must insert the row itself.
    AskSqlite,
}

impl Table {
    /// Returns the treatment of NULL in the column at this position.
    pub fn null_rule(&self, position: usize, conflict: Conflict) -> NullPolicy {
        let column = &self.columns[position];
        match conflict {
            _ if !column.not_null => NullPolicy::Take,
            _ if self.rowid_alias == Some(position) => NullPolicy::Refuse,
            Conflict::Abort | Conflict::Update if self.has_conflict_clause => NullPolicy::AskSqlite,
            // The rowid of a row that is left out still counts.
            Conflict::Ignore if self.autoincrement => NullPolicy::AskSqlite,
            Conflict::Ignore => NullPolicy::LeaveOut,
            // The DEFAULT replaces NULL.
            Conflict::Replace if column.default.is_some() => NullPolicy::AskSqlite,
            Conflict::Abort | Conflict::Replace | Conflict::Update => NullPolicy::Refuse,
        }
    }

    /// Returns the ordinary columns whose NULL is treated by `rule`.
    pub fn columns_where_null(&self, rule: NullPolicy, conflict: Conflict) -> impl Iterator<Item = usize> + '_ {
        self.ordinary_columns().filter(move |&position| self.null_rule(position, conflict) == rule)
    }

    /// Returns whether rows may be left out or replaced instead of failing.
    pub fn can_drop_rows(&self, conflict: Conflict) -> bool {
        conflict != Conflict::Abort || self.has_conflict_clause
    }
}
