//! What becomes of rows that their table does not take.

use crate::Table;

/// What becomes of a row that breaks a UNIQUE, PRIMARY KEY or NOT NULL constraint: SQLite's `INSERT OR ...`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Conflict {
    /// The run fails.
    #[default]
    Abort,
    /// The row is left out: of rows with one key the first stays.
    Ignore,
    /// The row takes the place of those that it conflicts with: the last stays.
    Replace,
}

/// What becomes of a row that has NULL in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NullRule {
    /// The column takes NULL.
    Take,
    /// The run fails.
    Refuse,
    /// The row is left out.
    LeaveOut,
    /// What only SQLite does: it must insert the row itself.
    AskSqlite,
}

impl Table {
    /// What becomes of a row that has NULL in the column at this position.
    pub fn null_rule(&self, position: usize, conflict: Conflict) -> NullRule {
        let column = &self.columns[position];
        match conflict {
            _ if !column.not_null => NullRule::Take,
            _ if self.rowid_alias == Some(position) => NullRule::Refuse,
            Conflict::Abort if self.has_conflict_clause => NullRule::AskSqlite,
            // The number of a row that is left out counts.
            Conflict::Ignore if self.autoincrement => NullRule::AskSqlite,
            Conflict::Ignore => NullRule::LeaveOut,
            // The DEFAULT takes its place.
            Conflict::Replace if column.default.is_some() => NullRule::AskSqlite,
            Conflict::Abort | Conflict::Replace => NullRule::Refuse,
        }
    }

    /// Ordinary columns of which NULL has this consequence.
    pub fn columns_where_null(&self, rule: NullRule, conflict: Conflict) -> impl Iterator<Item = usize> + '_ {
        self.ordinary_columns().filter(move |&position| self.null_rule(position, conflict) == rule)
    }

    /// Whether rows may be left out or replaced, instead of an error.
    pub fn may_lose_rows(&self, conflict: Conflict) -> bool {
        conflict != Conflict::Abort || self.has_conflict_clause
    }
}
