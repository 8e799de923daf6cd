//! `litepress_print`: a new database from a query of the host.
//!
//! The host's SQLite runs the query in the thread that called. litepress builds pages of its rows in threads of its own, and the file gets
//! its name when it is complete.

use crate::interruption::PATIENCE;
use crate::open_files::refuse_open;
use crate::options::PrintOptions;
use crate::sqlite::{Failure, Host, HostValue, Kind, Output, Query, StepResult};
use litepress::{Error, ErrorKind, Progress, Row, RowValues, UnsupportedValue, Value, Writer, refuse_special_name};
use litepress_format::value::Value as FormatValue;
use litepress_load::infer::InferredColumn;
use litepress_load::schema::{NewTable, create};
use std::path::Path;
use std::sync::Arc;

/// Rows between two questions whether to stop.
const ROWS_PER_LOOK: u64 = 4096;

/// Writes a new database, and returns the number of its rows: `litepress_print(file, table, query, option, ...)`.
///
/// # Errors
/// Wrong arguments; a query that fails; rows that break a rule of the table. No file is left then.
pub fn print(host: Host, values: &[HostValue<'_>], output: &mut Output<'_>) -> Result<(), Failure> {
    let [file, table, query, options @ ..] = values else {
        return Err(Failure::new(
            "litepress_print takes a file, a table and a query: litepress_print('out.db', 'trips', 'SELECT ...')",
        ));
    };
    let (file, table) = (file.text("the file of litepress_print")?, table.text("the table of litepress_print")?);
    let mut given = PrintOptions::default();
    for option in options {
        given.set(option.text("an option of litepress_print")?)?;
    }
    let path = Path::new(file);
    refuse_special_name(path)
        .map_err(|_| Failure::new("litepress_print writes a database into a file: give it a name, such as 'out.db'"))?;
    refuse_open(path)?;
    let mut query = host.query(query.text("the query of litepress_print")?)?;
    let names = distinct_names(&query);
    let schema = match &given.schema {
        Some(schema) => schema.clone(),
        None => definition(table, &names, &query, &given)?,
    };
    let progress = Arc::new(Progress::default());
    given.build.progress = progress.clone();
    let mut writer = Writer::create_with(path, &schema, given.build)?;
    write(&mut query, &mut writer, table, &names)?;
    drop(query);
    let written = writer.finish_watched(PATIENCE, &mut || {
        if host.is_interrupted() {
            progress.stop();
        }
    })?;
    output.set(FormatValue::Int(written.summary.rows.cast_signed()));
    Ok(())
}

/// Returns names of columns without repetitions, as CREATE TABLE AS makes them: `id`, `id:1`.
fn distinct_names(query: &Query<'_>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for column in 0..query.columns() {
        let name = query.name(column);
        let is_new = |candidate: &String| !names.iter().any(|known| known.eq_ignore_ascii_case(candidate));
        let numbered = (1..).map(|number| format!("{name}:{number}"));
        let found = std::iter::once(name.clone()).chain(numbered).find(is_new);
        names.push(found.expect("there are endless numbers"));
    }
    names
}

/// Returns the statements for a table of the query's columns.
fn definition(table: &str, names: &[String], query: &Query<'_>, given: &PrintOptions) -> Result<String, Failure> {
    let column = |(number, name): (usize, &String)| {
        InferredColumn::declared(name, &query.declared_type(number), "the query's column", given.table.strict)
    };
    let columns = names.iter().enumerate().map(column).collect();
    let mut tables = [NewTable { name: table.to_owned(), columns }];
    Ok(create(&mut tables, &given.table).map_err(Error::all_of)?)
}

/// Writes the rows of the query.
fn write(query: &mut Query<'_>, writer: &mut Writer, table: &str, names: &[String]) -> Result<(), Failure> {
    let columns: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut table = writer.table_columns(table, &columns)?;
    let mut rows: u64 = 0;
    while query.step()? == StepResult::Row {
        rows += 1;
        table.insert(&*query)?;
        if rows.is_multiple_of(ROWS_PER_LOOK) && query.is_interrupted() {
            return Err(Error::new(ErrorKind::Interrupted, "interrupted").into());
        }
    }
    Ok(())
}

impl Row for Query<'_> {
    #[inline]
    fn push_to(&self, row: &mut RowValues<'_>) -> Result<(), UnsupportedValue> {
        for column in 0..self.columns() {
            row.push(match self.kind(column) {
                Kind::Null => Value::Null,
                Kind::Integer => Value::Int(self.int(column)),
                Kind::Real => Value::Real(self.real(column)),
                Kind::Blob => Value::Blob(self.bytes(column)),
                Kind::Text => Value::Text(std::str::from_utf8(self.bytes(column)).map_err(|_| {
                    let shown = String::from_utf8_lossy(self.bytes(column)).into_owned();
                    UnsupportedValue::new(shown, "the text is not UTF-8", "select it as a blob: CAST(column AS BLOB)")
                })?),
            })?;
        }
        Ok(())
    }
}
