//! Inserts rows in one transaction, with statements of one or more rows.

use crate::Outcome;
use crate::row::{RandomRows, Row};
use rusqlite::{Statement, Transaction, params};
use std::fmt::Write as _;

/// Compiles the statement again for each row.
pub fn row_by_row(transaction: &Transaction<'_>, rows: u64) -> Outcome<()> {
    let mut random = RandomRows::new();
    for _ in 0..rows {
        let row = random.row();
        transaction.execute("INSERT INTO user VALUES (NULL, ?, ?, ?)", params![row.area(), row.age, row.active])?;
    }
    Ok(())
}

/// Compiles a statement of `ROWS` rows once.
pub fn prepared<const ROWS: usize>(transaction: &Transaction<'_>, rows: u64) -> Outcome<()> {
    let mut inserter = Inserter::new(transaction, ROWS, None)?;
    let mut random = RandomRows::new();
    for size in batches(rows, ROWS) {
        inserter.insert((0..size).map(|_| random.row()))?;
    }
    Ok(())
}

/// Compiles a new statement without parameters for each `ROWS` rows.
pub fn text<const ROWS: usize>(transaction: &Transaction<'_>, rows: u64) -> Outcome<()> {
    let mut random = RandomRows::new();
    for size in batches(rows, ROWS) {
        transaction.execute_batch(&text_of(&mut random, size))?;
    }
    Ok(())
}

/// Returns the number of rows of each batch.
pub fn batches(rows: u64, size: usize) -> impl Iterator<Item = usize> {
    (0..rows).step_by(size).map(move |first| usize::try_from(rows - first).map_or(size, |left| left.min(size)))
}

/// Writes a statement with all values in its text.
pub fn text_of(random: &mut RandomRows, rows: usize) -> String {
    let mut text = "INSERT INTO user VALUES".to_owned();
    for place in 0..rows {
        let row = random.row();
        let gap = if place == 0 { "" } else { "," };
        let _ = write!(text, "{gap} (NULL, '{}', {}, {})", row.area(), row.age, row.active);
    }
    text
}

/// A prepared statement of `rows` rows; a remainder gets another statement.
pub struct Inserter<'a> {
    transaction: &'a Transaction<'a>,
    statement: Statement<'a>,
    rows: usize,
    /// The id of the next row, or `None` if SQLite numbers the rows.
    next_id: Option<i64>,
}

impl<'a> Inserter<'a> {
    pub fn new(transaction: &'a Transaction<'a>, rows: usize, first_id: Option<i64>) -> Outcome<Self> {
        let statement = prepare(transaction, rows, first_id.is_some())?;
        Ok(Self { transaction, statement, rows, next_id: first_id })
    }

    pub fn insert(&mut self, rows: impl ExactSizeIterator<Item = Row>) -> Outcome<()> {
        if rows.len() == self.rows {
            return execute(&mut self.statement, &mut self.next_id, rows);
        }
        let mut statement = prepare(self.transaction, rows.len(), self.next_id.is_some())?;
        execute(&mut statement, &mut self.next_id, rows)
    }
}

fn prepare<'a>(transaction: &'a Transaction<'a>, rows: usize, with_id: bool) -> Outcome<Statement<'a>> {
    let row = if with_id { "(?, ?, ?, ?)" } else { "(NULL, ?, ?, ?)" };
    Ok(transaction.prepare(&format!("INSERT INTO user VALUES {}", vec![row; rows].join(", ")))?)
}

fn execute(statement: &mut Statement<'_>, next_id: &mut Option<i64>, rows: impl Iterator<Item = Row>) -> Outcome<()> {
    let mut bound = 0;
    for row in rows {
        if let Some(id) = next_id {
            bound += 1;
            statement.raw_bind_parameter(bound, *id)?;
            *id += 1;
        }
        statement.raw_bind_parameter(bound + 1, row.area())?;
        statement.raw_bind_parameter(bound + 2, row.age)?;
        statement.raw_bind_parameter(bound + 3, row.active)?;
        bound += 3;
    }
    statement.raw_execute()?;
    Ok(())
}
