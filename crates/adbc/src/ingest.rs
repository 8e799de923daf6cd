//! An ingest by SQLite, within a transaction that has changes: litepress prints the rows beside the database, and SQLite copies
//! them. Tables that are new get whole trees, and rows of others are inserted one by one.

use crate::error::{Result, failed, no_such_table, of_press, of_sqlite, table_exists};
use crate::press::{self, Rows};
use crate::sqlite::Sqlite;
use adbc_core::error::{Error, Status};
use litepress::engine::Draft;
use litepress::named_options::NamedOptions;
use litepress::{Conflict, ErrorKind};
use litepress_rows::quoted_name;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::path::Path;

/// The fate of a table that exists, or does not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// The table must be new.
    #[default]
    Create,
    /// The table must exist.
    Append,
    /// The table is dropped if it exists.
    Replace,
    /// The table is made if it does not exist.
    CreateAppend,
}

/// The table of an ingest.
#[derive(Clone, Debug)]
pub struct IngestTarget {
    pub table: String,
    /// The attached database: `main`, `temp`.
    pub catalog: String,
    pub mode: Mode,
}

/// The step that follows from the mode and from what is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Create,
    Replace,
    Append,
}

impl IngestTarget {
    /// Returns the name with that of its database.
    pub fn qualified(&self) -> String {
        format!("{}.{}", quoted_name(&self.catalog), quoted_name(&self.table))
    }

    /// Decides about the step.
    pub fn step(&self, exists: bool) -> Result<Step> {
        match (self.mode, exists) {
            (Mode::Create, true) => {
                let advice = "set adbc.ingest.mode to append, replace or create_append";
                let message = format!("the table {} exists: choose another name, or {advice}", self.table);
                Err(table_exists(message))
            }
            (Mode::Append, false) => {
                let advice = "set adbc.ingest.mode to create or create_append";
                Err(no_such_table(format!("there is no table {}: {advice}", self.table)))
            }
            (Mode::Append | Mode::CreateAppend, true) => Ok(Step::Append),
            (Mode::Replace, true) => Ok(Step::Replace),
            (Mode::Create | Mode::Replace | Mode::CreateAppend, false) => Ok(Step::Create),
        }
    }

    /// Returns whether the table exists.
    ///
    /// # Errors
    /// A view of its name, which takes no rows; a catalog that is not attached.
    pub fn exists(&self, connection: &Connection) -> Result<bool> {
        let master = format!("{}.sqlite_schema", quoted_name(&self.catalog));
        let sql = format!("SELECT type FROM {master} WHERE type IN ('table', 'view') AND lower(name) = lower(?1)");
        let mut select = connection.prepare(&sql).map_err(|error| of_sqlite(&error))?;
        let kinds = select.query_map([&self.table], |row| row.get::<_, String>(0));
        let kinds: rusqlite::Result<Vec<String>> = kinds.and_then(Iterator::collect);
        match kinds.map_err(|error| of_sqlite(&error))?.first().map(String::as_str) {
            Some("view") => {
                let message = format!("{} is a view and takes no rows", self.table);
                Err(failed(Status::InvalidArguments, message))
            }
            kind => Ok(kind.is_some()),
        }
    }

    /// Returns the definition of a table with these columns of the target, without constraints.
    pub fn plain_table(&self, connection: &Connection, columns: &[String]) -> Result<String> {
        let sql = "SELECT name, type FROM temp.pragma_table_xinfo(?1, ?2) WHERE hidden IN (0, 2, 3)";
        let mut select = connection.prepare(sql).map_err(|error| of_sqlite(&error))?;
        let known = select.query_map([&self.table, &self.catalog], |row| Ok((row.get(0)?, row.get(1)?)));
        let known: rusqlite::Result<Vec<(String, String)>> = known.and_then(Iterator::collect);
        let known = known.map_err(|error| of_sqlite(&error))?;
        let mut definitions = Vec::new();
        for column in columns {
            let Some((_, declared)) = known.iter().find(|(name, _)| name.eq_ignore_ascii_case(column)) else {
                let names: Vec<&str> = known.iter().map(|(name, _)| name.as_str()).collect();
                let advice = format!("it has {}; add columns with litepress.add_columns=\"true\"", names.join(", "));
                let message = format!("the table {} has no column {column}: {advice}", self.table);
                return Err(failed(Status::InvalidArguments, message));
            };
            definitions.push(format!("{} {declared}", quoted_name(column)));
        }
        Ok(format!("CREATE TABLE {} ({})", quoted_name(&self.table), definitions.join(", ")))
    }
}

/// Rows that litepress has printed beside the database, for SQLite to copy.
pub struct StagedRows {
    pub draft: Draft,
    pub rows: u64,
    pub columns: Vec<String>,
}

impl StagedRows {
    /// Prints the rows of a new table, with its indexes.
    pub fn new_table(place: &Path, rows: Rows, options: &NamedOptions) -> Result<Self> {
        let columns = rows.columns();
        let mut scratch = press::for_scratch(options);
        scratch.build.on_conflict = options.build.on_conflict;
        scratch.tables = options.tables.clone();
        let (rows, draft) = press::print(place, rows, None, &scratch).map_err(|error| of_press(&error))?;
        Ok(Self { draft, rows, columns })
    }

    /// Prints rows for a table that exists.
    pub fn rows_only(place: &Path, rows: Rows, definition: String, options: &NamedOptions) -> Result<Self> {
        let columns = rows.columns();
        let scratch = press::for_scratch(options);
        let (rows, draft) = press::print(place, rows, Some(definition), &scratch).map_err(|error| of_press(&error))?;
        Ok(Self { draft, rows, columns })
    }

    /// Opens the printed database.
    fn open(&self) -> Result<Connection> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let path = litepress_rows::sqlite::plain_name(self.draft.path());
        Connection::open_with_flags(path, flags).map_err(|error| of_sqlite(&error))
    }
}

/// Runs `work` so that all of it or nothing is done, within a transaction or as one.
pub fn atomically<T>(sqlite: &Sqlite, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let (begin, end, undo) = if sqlite.is_autocommit() {
        ("BEGIN IMMEDIATE", "COMMIT", "ROLLBACK")
    } else {
        let undo = "ROLLBACK TO litepress_ingest; RELEASE litepress_ingest";
        ("SAVEPOINT litepress_ingest", "RELEASE litepress_ingest", undo)
    };
    sqlite.run(begin)?;
    let done = work().and_then(|done| sqlite.run(end).map(|()| done));
    if done.is_err() && !sqlite.is_autocommit() {
        // The first error counts.
        let _ = sqlite.run(undo);
    }
    done
}

/// Makes a printed table with its indexes.
pub fn define(sqlite: &Sqlite, target: &IngestTarget, step: Step, printed: &StagedRows) -> Result<()> {
    let definitions = {
        let scratch = printed.open()?;
        let select = scratch.prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid");
        let mut select = select.map_err(|error| of_sqlite(&error))?;
        let found = select.query_map([], |row| row.get::<_, String>(0));
        let found: rusqlite::Result<Vec<String>> = found.and_then(Iterator::collect);
        found.map_err(|error| of_sqlite(&error))?
    };
    if step == Step::Replace {
        drop_table(sqlite, target)?;
    }
    definitions.iter().try_for_each(|definition| sqlite.run(&in_catalog(definition, &target.catalog)))
}

/// Drops a table that gets a successor. Rows of other tables stay: the enforcement of foreign keys would delete them by their actions.
fn drop_table(sqlite: &Sqlite, target: &IngestTarget) -> Result<()> {
    let is_enforced = sqlite.enforces_foreign_keys()?;
    sqlite.enforce_foreign_keys(false)?;
    let dropped = sqlite.run(&format!("DROP TABLE {}", target.qualified()));
    sqlite.enforce_foreign_keys(is_enforced)?;
    dropped
}

/// Copies the trees of a printed table. `scratch` is the name of the attached database that has it.
pub fn copy_trees(sqlite: &Sqlite, target: &IngestTarget, scratch: &str) -> Result<()> {
    // SQLite copies whole trees if both tables and their indexes are alike, and the new one is empty (xferOptimization).
    let table = quoted_name(&target.table);
    sqlite.run(&format!("INSERT INTO {} SELECT * FROM {}.{table}", target.qualified(), quoted_name(scratch)))
}

/// Names the database in a definition, which SQLite keeps without it.
fn in_catalog(definition: &str, catalog: &str) -> String {
    let starts = ["CREATE TABLE ", "CREATE UNIQUE INDEX ", "CREATE INDEX "];
    let start = starts.into_iter().find(|start| definition.starts_with(start)).unwrap_or_default();
    format!("{start}{}.{}", quoted_name(catalog), &definition[start.len()..])
}

/// Inserts printed rows one by one into a table that exists. Returns the number of rows that it took.
pub fn insert_rows(
    sqlite: &Sqlite,
    target: &IngestTarget,
    printed: &StagedRows,
    options: &NamedOptions,
) -> Result<u64> {
    let connection = sqlite.lock();
    if options.append.truncate {
        let sql = format!("DELETE FROM {}", target.qualified());
        connection.execute_batch(&sql).map_err(|error| of_sqlite(&error))?;
    }
    let sql = insert_sql(&connection, target, &printed.columns, options)?;
    let mut insert = connection.prepare(&sql).map_err(|error| of_sqlite(&error))?;
    let scratch = printed.open()?;
    let select = format!("SELECT * FROM main.{}", quoted_name(&target.table));
    let mut select = scratch.prepare(&select).map_err(|error| of_sqlite(&error))?;
    let mut rows = select.query([]).map_err(|error| of_sqlite(&error))?;
    let (mut record, mut changed) = (0, 0);
    while let Some(row) = rows.next().map_err(|error| of_sqlite(&error))? {
        record += 1;
        let inserted = (|| {
            for column in 0..printed.columns.len() {
                insert.raw_bind_parameter(column + 1, ToSqlOutput::Borrowed(row.get_ref(column)?))?;
            }
            insert.raw_execute()
        })();
        match inserted {
            Ok(rows) => changed += rows as u64,
            Err(error) => {
                let value = |name: &str| {
                    let column = printed.columns.iter().position(|column| column.eq_ignore_ascii_case(name))?;
                    row.get_ref(column).ok().map(shown)
                };
                return Err(refused(&error, target, record, &value));
            }
        }
        if record % 1024 == 0 {
            options.build.progress.go_on().map_err(|error| of_press(&error))?;
        }
    }
    Ok(changed)
}

/// Returns a value as SQLite would quote it.
fn shown(value: ValueRef<'_>) -> String {
    use litepress_format::value::Value;
    let value = match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(int) => Value::Int(int),
        ValueRef::Real(real) => Value::Real(real),
        ValueRef::Text(text) => Value::Text(text),
        ValueRef::Blob(blob) => Value::Blob(blob),
    };
    litepress_rows::quote(&value)
}

/// Returns the error of a row that SQLite refused.
fn refused(
    error: &rusqlite::Error,
    target: &IngestTarget,
    record: u64,
    value: &dyn Fn(&str) -> Option<String>,
) -> Error {
    if error.sqlite_error_code() != Some(ErrorCode::ConstraintViolation) {
        return of_sqlite(error);
    }
    let message = error.to_string();
    let mut press =
        litepress::Error::new(ErrorKind::Constraint, message.clone()).in_table(&target.table).in_record(record);
    // UNIQUE constraint failed: t.id, t.kind
    let blamed = message.rsplit_once(": ").map_or("", |(_, columns)| columns).split(", ").next().unwrap_or_default();
    let column = blamed.strip_prefix(&target.table).and_then(|rest| rest.strip_prefix('.'));
    if let Some(column) = column {
        press = press.in_column(column);
        if let Some(value) = value(column) {
            press = press.with_value(value);
        }
    }
    Error { vendor_code: error.sqlite_error().map_or(0, |error| error.extended_code), ..of_press(&press) }
}

/// Returns the INSERT for these columns, under the policy for conflicts.
fn insert_sql(
    connection: &Connection,
    target: &IngestTarget,
    columns: &[String],
    options: &NamedOptions,
) -> Result<String> {
    let verb = match options.build.on_conflict {
        Conflict::Ignore => "INSERT OR IGNORE",
        Conflict::Replace => "INSERT OR REPLACE",
        Conflict::Abort | Conflict::Update => "INSERT",
    };
    let names: Vec<String> = columns.iter().map(|column| quoted_name(column)).collect();
    let places = vec!["?"; names.len()].join(", ");
    let mut sql = format!("{verb} INTO {} ({}) VALUES ({places})", target.qualified(), names.join(", "));
    if options.build.on_conflict == Conflict::Update {
        sql += &upsert_clause(connection, target, columns, options)?;
    }
    Ok(sql)
}

fn upsert_clause(
    connection: &Connection,
    target: &IngestTarget,
    columns: &[String],
    options: &NamedOptions,
) -> Result<String> {
    let mut key = options.build.key.clone();
    if key.is_empty() {
        let sql = "SELECT name FROM temp.pragma_table_info(?1, ?2) WHERE pk > 0 ORDER BY pk";
        let mut select = connection.prepare(sql).map_err(|error| of_sqlite(&error))?;
        let found = select.query_map([&target.table, &target.catalog], |row| row.get(0));
        key = found.and_then(Iterator::collect).map_err(|error| of_sqlite(&error))?;
    }
    if key.is_empty() {
        let message = format!("the table {} has no primary key to update rows by: name a unique key", target.table);
        return Err(failed(Status::InvalidArguments, message + " with litepress.key"));
    }
    let is_in = |names: &[String], name: &str| names.iter().any(|other| other.eq_ignore_ascii_case(name));
    let changes: Vec<&String> = match &options.build.update_columns[..] {
        [] => columns.iter().filter(|column| !is_in(&key, column)).collect(),
        given => given.iter().collect(),
    };
    let set: Vec<String> = changes.iter().map(|column| format!("{0} = excluded.{0}", quoted_name(column))).collect();
    let key: Vec<String> = key.iter().map(|column| quoted_name(column)).collect();
    let action = if set.is_empty() { "NOTHING".to_owned() } else { format!("UPDATE SET {}", set.join(", ")) };
    Ok(format!(" ON CONFLICT ({}) DO {action}", key.join(", ")))
}
