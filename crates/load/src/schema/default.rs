//! Evaluates the DEFAULT of a column that the file lacks.

use litepress_rows::cells::OwnedValue;
use litepress_rows::{CellBlock, Error, ErrorKind, Result};
use rusqlite::Connection;
use rusqlite::types::Value;

/// A DEFAULT whose value differs by row: `randomblob(16)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowDefault {
    /// The table's name.
    pub table: String,
    /// The column's name.
    pub column: String,
    /// The DEFAULT's expression as SQLite returns it.
    pub expression: String,
}

impl RowDefault {
    /// Fills `block` with one value per row.
    ///
    /// # Errors
    /// If SQLite cannot evaluate the DEFAULT. Names the first such row, numbered from `first_record` on.
    pub(crate) fn fill(&self, block: &mut CellBlock, first_record: u64, rows: usize) -> Result<()> {
        thread_local! {
            static SQLITE: Connection = Connection::open_in_memory().expect("SQLite opens a database in memory");
        }
        SQLITE.with(|sqlite| {
            let values = block.values();
            let select = sqlite.prepare_cached(&format!("SELECT ({}\n)", self.expression));
            let mut select = select.map_err(|error| self.failed(&error, first_record))?;
            for record in (first_record..).take(rows) {
                let value = select.query_row([], |row| row.get(0)).map(owned);
                values.push(value.map_err(|error| self.failed(&error, record))?);
            }
            Ok(())
        })
    }

    fn failed(&self, error: &rusqlite::Error, record: u64) -> Error {
        let message = format!("SQLite cannot evaluate the default {}: {error}", self.expression);
        let error = Error::new(ErrorKind::Data, message).advise("give values for the column, or change its DEFAULT");
        error.in_table(&self.table).in_column(&self.column).in_record(record)
    }
}

/// Evaluates a DEFAULT. SQLite returns an expression without its parentheses, so they are added. It returns a bare word
/// that is a text without quotes (`DEFAULT yes`), so the expression is also tried without parentheses.
pub(super) fn constant(expression: &str) -> rusqlite::Result<OwnedValue> {
    let evaluate = |default: &str| -> rusqlite::Result<Value> {
        let sqlite = Connection::open_in_memory()?;
        sqlite.execute_batch(&format!("CREATE TABLE t (c DEFAULT {default}\n); INSERT INTO t DEFAULT VALUES"))?;
        sqlite.query_row("SELECT c FROM t", [], |row| row.get(0))
    };
    let value = evaluate(&format!("({expression}\n)")).or_else(|error| evaluate(expression).map_err(|_| error));
    value.map(owned)
}

fn owned(value: Value) -> OwnedValue {
    match value {
        Value::Null => OwnedValue::Null,
        Value::Integer(int) => OwnedValue::Int(int),
        Value::Real(real) => OwnedValue::Real(real),
        Value::Text(text) => OwnedValue::Text(text),
        Value::Blob(blob) => OwnedValue::Blob(blob),
    }
}
