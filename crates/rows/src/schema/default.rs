//! Classifies DEFAULTs: does the value differ by run, row or connection?

use crate::sync::{Mutex, lock};
use rusqlite::ffi::SQLITE_DETERMINISTIC;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::{Connection, Result};
use std::sync::Arc;

/// Functions whose value depends on earlier inserts of their connection.
const OF_CONNECTION: [&str; 3] = ["changes", "last_insert_rowid", "total_changes"];

/// Functions that return the time, which may be the same for all rows of a run. (SQLite counts `date('now')` as deterministic.)
const OF_RUN: [&str; 3] = ["current_date", "current_time", "current_timestamp"];

/// The lifetime of a DEFAULT's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DefaultKind {
    /// All rows of a run have the same value, even if it is the time.
    Constant,
    /// Every row has its own value: `randomblob(16)`.
    PerRow,
    /// The value depends on the rows that SQLite inserted before: it calls this function.
    OfConnection(String),
}

impl DefaultKind {
    /// Returns the kind of a DEFAULT, given as in [`Column::default`](super::Column::default). A DEFAULT that SQLite cannot
    /// evaluate counts as constant: evaluating it gives the error.
    ///
    /// # Errors
    /// If no database can be opened in memory.
    pub fn of(expression: &str) -> Result<Self> {
        // Most are literals. Functions without parentheses, such as CURRENT_TIMESTAMP, return the time.
        if !expression.contains('(') {
            return Ok(Self::Constant);
        }
        let mut sqlite = Connection::open_in_memory()?;
        let functions = functions_of(&mut sqlite, expression)?;
        if let Some(function) = functions.iter().find(|function| OF_CONNECTION.contains(&function.as_str())) {
            return Ok(Self::OfConnection(function.clone()));
        }
        for function in functions.iter().filter(|function| !OF_RUN.contains(&function.as_str())) {
            if !is_deterministic(&sqlite, function)? {
                return Ok(Self::PerRow);
            }
        }
        Ok(Self::Constant)
    }
}

/// Returns the functions that an expression calls, as reported to SQLite's authorizer. Empty if it is not an expression.
fn functions_of(sqlite: &mut Connection, expression: &str) -> Result<Vec<String>> {
    let called = Arc::new(Mutex::new(Vec::new()));
    let seen = called.clone();
    sqlite.authorizer(Some(move |context: AuthContext<'_>| {
        if let AuthAction::Function { function_name } = context.action {
            lock(&seen).push(function_name.to_ascii_lowercase());
        }
        Authorization::Allow
    }))?;
    let is_expression = sqlite.prepare(&format!("SELECT ({expression}\n)")).is_ok();
    sqlite.authorizer(None::<fn(AuthContext<'_>) -> Authorization>)?;
    let called = std::mem::take(&mut *lock(&called));
    Ok(if is_expression { called } else { Vec::new() })
}

/// Returns whether SQLite declares that the value of a function depends only on its arguments.
fn is_deterministic(sqlite: &Connection, function: &str) -> Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM temp.pragma_function_list WHERE name = ?1 COLLATE NOCASE AND flags & ?2)";
    sqlite.query_row(sql, (function, SQLITE_DETERMINISTIC), |row| row.get(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sqlite_tells_how_long_a_default_holds() {
        use DefaultKind::{Constant, PerRow};
        for (expression, kind) in [
            ("5", Constant),
            ("'random()'", Constant),
            ("yes", Constant),
            ("\"quoted\"", Constant),
            ("nosuch(1)", Constant),
            ("lower(hex(x'00ff'))", Constant),
            ("CURRENT_TIMESTAMP", Constant),
            ("datetime('now', '+1 day')", Constant),
            ("strftime('%s')", Constant),
            ("date(CURRENT_TIMESTAMP)", Constant),
            ("iif(1 LIKE '1', json('[]'), round(1.5))", Constant),
            ("random()", PerRow),
            ("RANDOM() -- dice", PerRow),
            ("lower(hex(randomblob(8)))", PerRow),
            ("CASE WHEN 1 THEN abs(random() % 100) END", PerRow),
            ("datetime('now') || hex(randomblob(2))", PerRow),
            ("last_insert_rowid() + 1", DefaultKind::OfConnection("last_insert_rowid".to_owned())),
            ("random() + Changes()", DefaultKind::OfConnection("changes".to_owned())),
            ("total_changes()", DefaultKind::OfConnection("total_changes".to_owned())),
        ] {
            assert_eq!(DefaultKind::of(expression), Ok(kind), "{expression}");
        }
    }
}
