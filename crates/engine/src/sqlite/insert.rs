//! Has SQLite insert rows.
//!
//! Each batch of rows is one execution of a prepared INSERT. A batch that fails is rolled back as a whole and repeated
//! row by row, so that the error can name the row.

use super::SqliteSession;
use super::failure::message;
use super::upsert::upsert_clause;
use crate::options::Options;
use crate::refusals::telling_policy;
use crate::{Conflict, Error, ErrorKind, Result};
use litepress_format::record::RecordReader;
use litepress_format::value::Value;
use litepress_rows::schema::{DefaultKind, Generated};
use litepress_rows::{Affinity, NullPolicy, Part, RecordChunk, Source, Table, quote, quoted_name, sqlite_value};
use rusqlite::Statement;
use std::ops::Range;

/// Number of rows that a statement inserts. More rows do not take less time each.
const ROWS_PER_BATCH: usize = 50;

/// SQLite's default limit for the parameters of a statement (SQLITE_MAX_VARIABLE_NUMBER).
const MAX_PARAMETERS: usize = 32_766;

/// Inserts all rows of `source` into the empty table. Returns the number of rows that the table then has.
pub(super) fn insert(session: &SqliteSession, table: &Table, source: &dyn Source, options: &Options) -> Result<u64> {
    let conflict = options.on_conflict;
    let failed = |error: rusqlite::Error| session.failures().explain(&error, ErrorKind::Schema).in_table(&table.name);
    let transaction = session.connection.unchecked_transaction().map_err(failed)?;
    let mut inserter = Inserter::new(session, table, source, conflict, options)?;
    let mut chunk = RecordChunk::new();
    while let Some(mut part) = source.next_part()? {
        while next_chunk(session, part.as_mut(), &mut chunk)? {
            inserter.add(&chunk, None)?;
        }
    }
    let inserted = inserter.changed;
    drop(inserter);
    transaction.commit().map_err(failed)?;
    // SQLite's count includes rows that were replaced later.
    if !table.can_drop_rows(conflict) || table.is_virtual {
        return Ok(inserted);
    }
    let count = format!("SELECT count(*) FROM {}", quoted_name(&table.name));
    session.connection.query_row(&count, [], |row| row.get(0)).map_err(failed)
}

/// Takes the next rows of a part. Returns `false` if there are none.
fn next_chunk(session: &SqliteSession, part: &mut dyn Part, chunk: &mut RecordChunk) -> Result<bool> {
    session.options.progress.go_on()?;
    chunk.clear();
    part.fill(chunk)?;
    Ok(!chunk.is_empty())
}

/// Takes the error of a row that SQLite refuses. An error of its own ends the run.
pub(super) type Refuse<'r> = &'r mut dyn FnMut(Error) -> Result<()>;

/// Passes the rows of `source` that SQLite refuses to `refuse`, and inserts the others into the empty table.
pub(super) fn find_refused(
    session: &SqliteSession,
    table: &Table,
    source: &dyn Source,
    options: &Options,
    refuse: Refuse<'_>,
) -> Result<()> {
    let conflict = telling_policy(options.on_conflict);
    let failed = |error: rusqlite::Error| session.failures().explain(&error, ErrorKind::Schema).in_table(&table.name);
    let _transaction = session.connection.unchecked_transaction().map_err(failed)?;
    let mut inserter = Inserter::new(session, table, source, conflict, options)?;
    let mut chunk = RecordChunk::new();
    while let Some(mut part) = source.next_part()? {
        while next_chunk(session, part.as_mut(), &mut chunk)? {
            inserter.add(&chunk, Some(&mut *refuse))?;
        }
    }
    Ok(())
}

/// The number of rows that were inserted into a table.
pub(crate) struct Inserted {
    /// Number of rows of the source.
    pub given: u64,
    /// Number of rows that were inserted or updated.
    pub changed: u64,
}

/// Inserts all rows of `source` into a table with rows, within the transaction of the session. With `refuse`, rows that SQLite
/// refuses go there. `one_by_one` makes each row a statement: SQLite then undoes a refused row alone, whatever its triggers and
/// ON CONFLICT clauses do.
pub(super) fn insert_live(
    session: &SqliteSession,
    table: &Table,
    source: &dyn Source,
    conflict: Conflict,
    options: &Options,
    one_by_one: bool,
    mut refuse: Option<Refuse<'_>>,
) -> Result<Inserted> {
    let mut inserter = Inserter::new(session, table, source, conflict, options)?;
    if one_by_one {
        inserter.batch_rows = usize::MAX;
    }
    let mut chunk = RecordChunk::new();
    while let Some(mut part) = source.next_part()? {
        while next_chunk(session, part.as_mut(), &mut chunk)? {
            match &mut refuse {
                None => inserter.add(&chunk, None)?,
                Some(refuse) => inserter.add(&chunk, Some(&mut **refuse))?,
            }
        }
    }
    Ok(Inserted { given: inserter.given, changed: inserter.changed })
}

struct Inserter<'s> {
    session: &'s SqliteSession,
    table: &'s Table,
    /// Positions of the table's ordinary columns in the order of a record's values.
    columns: Vec<usize>,
    batch_rows: usize,
    batch: Statement<'s>,
    single: Statement<'s>,
    /// Number of rows that SQLite was given.
    given: u64,
    /// Number of rows that SQLite has inserted or updated. SQLite does not tell how many others they replaced.
    changed: u64,
}

impl<'s> Inserter<'s> {
    /// Prepares statements for the rows of `source`.
    ///
    /// # Errors
    /// If SQLite refuses the statements, or the table has no key to update rows by.
    fn new(
        session: &'s SqliteSession,
        table: &'s Table,
        source: &dyn Source,
        conflict: Conflict,
        options: &Options,
    ) -> Result<Self> {
        let clause = match conflict {
            Conflict::Update => upsert_clause(table, options, &source.missing_columns())?,
            Conflict::Abort | Conflict::Ignore | Conflict::Replace => String::new(),
        };
        let failed = |error| session.failures().explain(&error, ErrorKind::Schema).in_table(&table.name);
        Self::with_clause(session, table, conflict, &clause).map_err(failed)
    }

    fn with_clause(
        session: &'s SqliteSession,
        table: &'s Table,
        conflict: Conflict,
        clause: &str,
    ) -> rusqlite::Result<Self> {
        let is_ordinary = |position: &usize| table.columns[*position].generated == Generated::No;
        let columns: Vec<usize> = table.stored_columns().into_iter().filter(is_ordinary).collect();
        let batch_rows = (MAX_PARAMETERS / columns.len().max(1)).clamp(1, most_rows(table, conflict)?);
        let prepare = |rows| session.connection.prepare(&(insert_sql(table, &columns, conflict, rows) + clause));
        let (batch, single) = (prepare(batch_rows)?, prepare(1)?);
        Ok(Self { session, table, columns, batch_rows, batch, single, given: 0, changed: 0 })
    }

    /// Inserts the rows of a chunk. Without `refuse`, a row that SQLite refuses is an error.
    fn add(&mut self, chunk: &RecordChunk, mut refuse: Option<Refuse<'_>>) -> Result<()> {
        let mut next = 0;
        self.given += chunk.len() as u64;
        while chunk.len() - next >= self.batch_rows {
            let rows = next..next + self.batch_rows;
            if let Err(error) = self.add_batch(chunk, next) {
                match &mut refuse {
                    _ if self.session.connection.is_autocommit() => return Err(self.rolled_back(&error)),
                    None => return Err(self.blame(chunk, next, &error)),
                    Some(refuse) => self.add_each(chunk, rows, Some(&mut **refuse))?,
                }
            }
            next += self.batch_rows;
        }
        self.add_each(chunk, next..chunk.len(), refuse)
    }

    fn add_each(&mut self, chunk: &RecordChunk, rows: Range<usize>, mut refuse: Option<Refuse<'_>>) -> Result<()> {
        for row in rows {
            let Err(error) = self.add_single(chunk, row) else { continue };
            if self.session.connection.is_autocommit() {
                return Err(self.rolled_back(&error).in_record(chunk.first_record() + row as u64));
            }
            let error = self.refused(chunk, row, &error);
            match &mut refuse {
                Some(refuse) if matches!(error.kind(), ErrorKind::Constraint | ErrorKind::Limit) => refuse(error)?,
                _ => return Err(error),
            }
        }
        Ok(())
    }

    fn add_batch(&mut self, chunk: &RecordChunk, first: usize) -> rusqlite::Result<()> {
        for row in 0..self.batch_rows {
            let parameter = 1 + row * self.columns.len();
            bind(&mut self.batch, parameter, &self.columns, self.table, chunk, first + row)?;
        }
        self.changed += self.batch.raw_execute()? as u64;
        Ok(())
    }

    fn add_single(&mut self, chunk: &RecordChunk, row: usize) -> rusqlite::Result<()> {
        bind(&mut self.single, 1, &self.columns, self.table, chunk, row)?;
        self.changed += self.single.raw_execute()? as u64;
        Ok(())
    }

    /// Returns the error of a row whose failure has ended the transaction, as `ON CONFLICT ROLLBACK` does: nothing may be inserted
    /// after it.
    fn rolled_back(&self, error: &rusqlite::Error) -> Error {
        let explained = self.session.failures().explain(error, ErrorKind::Constraint).in_table(&self.table.name);
        let message = format!("{}, and has rolled back the transaction", explained.message());
        Error::new(explained.kind(), message).in_table(&self.table.name)
    }

    /// Finds the row that made the batch at `first` fail. Returns its error.
    fn blame(&mut self, chunk: &RecordChunk, first: usize, error: &rusqlite::Error) -> Error {
        let failures = self.session.failures();
        let explained = failures.explain(error, ErrorKind::Constraint).in_table(&self.table.name);
        if explained.kind() != ErrorKind::Constraint && explained.kind() != ErrorKind::Limit {
            return explained;
        }
        for row in first..first + self.batch_rows {
            if let Err(error) = self.add_single(chunk, row) {
                return self.refused(chunk, row, &error);
            }
        }
        explained
    }

    /// Returns the error of a row that SQLite refused.
    fn refused(&self, chunk: &RecordChunk, row: usize, error: &rusqlite::Error) -> Error {
        let record = chunk.first_record() + row as u64;
        let explained = self.session.failures().explain(error, ErrorKind::Constraint);
        let explained = explained.in_table(&self.table.name).in_record(record);
        let Some(field) = self.columns.iter().position(|&column| is_blamed(&message(error), self.table, column)) else {
            return explained;
        };
        let column = self.columns[field];
        let value = value_of(self.table, column, chunk, row, values_of(chunk, row).nth(field));
        explained.in_column(&self.table.columns[column].name).with_value(quote(&value))
    }
}

/// Returns how many rows a statement may insert: one, if a DEFAULT that stands in for NULL may call `changes()`, which
/// counts the rows of the statement before.
fn most_rows(table: &Table, conflict: Conflict) -> rusqlite::Result<usize> {
    for column in table.columns_where_null(NullPolicy::AskSqlite, conflict) {
        let kind = table.columns[column].default.as_deref().map(DefaultKind::of).transpose()?;
        if matches!(kind, Some(DefaultKind::OfConnection(_))) {
            return Ok(1);
        }
    }
    Ok(ROWS_PER_BATCH)
}

/// Returns whether SQLite's message ends with the name of this column: `NOT NULL constraint failed: t.a`.
fn is_blamed(message: &str, table: &Table, column: usize) -> bool {
    let name = format!("{}.{}", table.name, table.columns[column].name);
    message.strip_suffix(&name).is_some_and(|before| before.ends_with(": ") || before.ends_with(" column "))
}

fn insert_sql(table: &Table, columns: &[usize], conflict: Conflict, rows: usize) -> String {
    let verb = match conflict {
        // A plain INSERT lets the ON CONFLICT clauses of the table decide.
        Conflict::Abort | Conflict::Update => "INSERT",
        Conflict::Ignore => "INSERT OR IGNORE",
        Conflict::Replace => "INSERT OR REPLACE",
    };
    let names: Vec<String> = columns.iter().map(|&column| quoted_name(&table.columns[column].name)).collect();
    let row = format!("({})", vec!["?"; columns.len()].join(","));
    format!("{verb} INTO {} ({}) VALUES {}", quoted_name(&table.name), names.join(","), vec![row; rows].join(","))
}

/// Binds the values of one row from `parameter` on.
fn bind(
    statement: &mut Statement<'_>,
    parameter: usize,
    columns: &[usize],
    table: &Table,
    chunk: &RecordChunk,
    row: usize,
) -> rusqlite::Result<()> {
    let mut values = values_of(chunk, row);
    for (parameter, &column) in (parameter..).zip(columns) {
        let value = value_of(table, column, chunk, row, values.next());
        statement.raw_bind_parameter(parameter, sqlite_value::parameter(value))?;
    }
    assert!(values.next().is_none(), "a record has values of the ordinary columns only");
    Ok(())
}

fn values_of(chunk: &RecordChunk, row: usize) -> impl Iterator<Item = Value<'_>> {
    const WELL_FORMED: &str = "records of a chunk are well-formed";
    RecordReader::new(chunk.record(row)).expect(WELL_FORMED).map(|value| value.expect(WELL_FORMED))
}

/// Returns the value of a column in a row. `recorded` is the value in the record.
fn value_of<'c>(
    table: &Table,
    column: usize,
    chunk: &RecordChunk,
    row: usize,
    recorded: Option<Value<'c>>,
) -> Value<'c> {
    match recorded.expect("a record has a value for each ordinary column") {
        _ if table.rowid_alias == Some(column) && chunk.is_automatic(row) => Value::Null,
        _ if table.rowid_alias == Some(column) => Value::Int(chunk.rowids()[row]),
        // A record holds the integral values of a REAL column as integers.
        Value::Int(int) if table.columns[column].affinity == Affinity::Real => Value::Real(int as f64),
        value => value,
    }
}
