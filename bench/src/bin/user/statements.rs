//! Rows go into one transaction, by statements of one or more rows.

use crate::Outcome;
use crate::row::{RandomRows, Row};
use rusqlite::{Statement, Transaction, params};
use std::fmt::Write as _;

/// SQLite is handed the text of the statement for each row, and compiles it.
pub fn row_by_row(transaction: &Transaction<'_>, rows: u64) -> Outcome<()> {
    let mut random = RandomRows::new();
    for _ in 0..rows {
        let row = random.row();
        transaction.execute("INSERT INTO user VALUES (NULL, ?, ?, ?)", params![row.area(), row.age, row.active])?;
    }
    Ok(())
}

/// A statement for so many rows, compiled once.
pub fn prepared<const ROWS: usize>(transaction: &Transaction<'_>, rows: u64) -> Outcome<()> {
    let mut inserter = Inserter::new(transaction, ROWS, None)?;
    let mut random = RandomRows::new();
    for size in batches(rows, ROWS) {
        inserter.insert((0..size).map(|_| random.row()))?;
    }
    Ok(())
}

/// Statements for so many rows without parameters, compiled each.
pub fn text<const ROWS: usize>(transaction: &Transaction<'_>, rows: u64) -> Outcome<()> {
    let mut random = RandomRows::new();
    for size in batches(rows, ROWS) {
        transaction.execute_batch(&text_of(&mut random, size))?;
    }
    Ok(())
}

/// How many rows each batch has.
pub fn batches(rows: u64, size: usize) -> impl Iterator<Item = usize> {
    (0..rows).step_by(size).map(move |first| usize::try_from(rows - first).map_or(size, |left| left.min(size)))
}

/// A statement with all its values in its text.
pub fn text_of(random: &mut RandomRows, rows: usize) -> String {
    let mut text = "INSERT INTO user VALUES".to_owned();
    for place in 0..rows {
        let row = random.row();
        let gap = if place == 0 { "" } else { "," };
        let _ = write!(text, "{gap} (NULL, '{}', {}, {})", row.area(), row.age, row.active);
    }
    text
}

/// A prepared statement for so many rows, and another one for a rest.
pub struct Inserter<'a> {
    transaction: &'a Transaction<'a>,
    statement: Statement<'a>,
    rows: usize,
    /// SQLite counts where there is none.
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
