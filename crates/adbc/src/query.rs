//! Runs statements: their results as streams of Arrow batches.

use crate::columns::{ColumnType, Columns};
use crate::cursor::Cursor;
use crate::error::{Result, guarded};
use crate::parameters::Parameters;
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, Field, Schema, SchemaRef};
use rusqlite::types::Value;

/// Number of rows that decide about types, if none is set.
const FIRST_ROWS: usize = 1024;
/// Number of rows of each later batch.
const NEXT_ROWS: usize = 16 * 1024;

/// The result of a statement, batch by batch.
pub struct QueryReader {
    rows: RowsOfQuery,
    columns: Columns,
    schema: SchemaRef,
    first: Option<RecordBatch>,
    batch_rows: usize,
}

/// The rows of a statement, for all rows of its parameters.
struct RowsOfQuery {
    cursor: Cursor,
    parameters: Option<Parameters>,
    /// The parameters are set.
    is_bound: bool,
    is_over: bool,
    /// Number of rows so far.
    count: u64,
}

impl RowsOfQuery {
    fn new(cursor: Cursor, parameters: Option<Parameters>) -> Self {
        Self { cursor, parameters, is_bound: false, is_over: false, count: 0 }
    }

    /// Passes the next row to `look`. Returns `false` behind the last one.
    fn next(&mut self, look: &mut dyn FnMut(u64, &crate::cursor::Row) -> Result<()>) -> Result<bool> {
        while !self.is_over {
            if !self.is_bound {
                self.is_bound = match &mut self.parameters {
                    Some(parameters) => parameters.bind_next(&mut self.cursor)?,
                    None => true,
                };
                self.is_over = !self.is_bound;
                continue;
            }
            let number = self.count + 1;
            if self.cursor.step(&mut |row| look(number, row))? {
                self.count = number;
                return Ok(true);
            }
            self.is_bound = false;
            self.is_over = self.parameters.is_none();
        }
        Ok(false)
    }
}

/// Names and promised types of the columns of a result.
fn described(cursor: &Cursor) -> (Vec<String>, Vec<ColumnType>) {
    let columns = 0..cursor.columns();
    let declared = |column| ColumnType::of_declared(cursor.declared_type(column).as_deref());
    (columns.clone().map(|column| cursor.column_name(column)).collect(), columns.map(declared).collect())
}

/// Returns the schema that a statement promises, without running it.
pub fn promised_schema(cursor: &Cursor) -> SchemaRef {
    let (names, types) = described(cursor);
    Columns::new(names, &types).schema()
}

/// Returns the names of the parameters of a statement. SQLite gives them no types.
pub fn parameter_schema(cursor: &Cursor) -> Schema {
    let name = |number: usize| cursor.parameter_name(number).unwrap_or_else(|| (number - 1).to_string());
    let field = |number| Field::new(name(number), arrow_schema::DataType::Null, true);
    Schema::new((1..=cursor.parameters()).map(field).collect::<Vec<Field>>())
}

impl QueryReader {
    /// Runs a statement up to its first batch.
    pub fn new(cursor: Cursor, parameters: Option<Parameters>, batch_rows: Option<usize>) -> Result<Self> {
        let (names, declared) = described(&cursor);
        let mut rows = RowsOfQuery::new(cursor, parameters);
        let mut values: Vec<Vec<Value>> = declared.iter().map(|_| Vec::new()).collect();
        let mut count = 0;
        while count < batch_rows.unwrap_or(FIRST_ROWS) {
            let is_row = rows.next(&mut |_, row| {
                for (column, values) in values.iter_mut().enumerate() {
                    values.push(owned(row.value(column)));
                }
                Ok(())
            })?;
            if !is_row {
                break;
            }
            count += 1;
        }
        let mut columns = Columns::of_first(names, &values, &declared, count)?;
        let schema = columns.schema();
        let first = if count > 0 { Some(columns.batch(&schema)?) } else { None };
        Ok(Self { rows, columns, schema, first, batch_rows: batch_rows.unwrap_or(NEXT_ROWS) })
    }

    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        if let Some(first) = self.first.take() {
            return Ok(Some(first));
        }
        if self.rows.cursor.sqlite().is_forked() {
            return Err(crate::error::of_fork());
        }
        let width = self.schema.fields().len();
        while self.columns.rows() < self.batch_rows {
            let columns = &mut self.columns;
            let is_row = self.rows.next(&mut |number, row| {
                (0..width).try_for_each(|column| columns.push(column, number, row.value(column)))
            })?;
            if !is_row {
                break;
            }
            self.columns.end_row();
        }
        if self.columns.rows() == 0 { Ok(None) } else { self.columns.batch(&self.schema).map(Some) }
    }
}

fn owned(value: rusqlite::types::ValueRef<'_>) -> Value {
    use rusqlite::types::ValueRef;
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(int) => Value::Integer(int),
        ValueRef::Real(real) => Value::Real(real),
        // A text that is not UTF-8 is shown as bytes.
        ValueRef::Text(text) => match std::str::from_utf8(text) {
            Ok(text) => Value::Text(text.to_owned()),
            Err(_) => Value::Blob(text.to_vec()),
        },
        ValueRef::Blob(blob) => Value::Blob(blob.to_vec()),
    }
}

impl Iterator for QueryReader {
    type Item = std::result::Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = guarded(|| self.next_batch()).map_err(|error| {
            self.rows.is_over = true;
            ArrowError::ExternalError(Box::new(error))
        });
        batch.transpose()
    }
}

impl RecordBatchReader for QueryReader {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}

/// Runs a statement to its end, once for each row of its parameters. Returns the number of rows changed, or of rows in the
/// result.
pub fn run(mut cursor: Cursor, parameters: Option<Parameters>) -> Result<i64> {
    let (has_result, reads) = (cursor.columns() > 0, cursor.is_readonly());
    let sqlite = cursor.sqlite().clone();
    let mut rows: u64 = 0;
    let Some(mut parameters) = parameters else {
        while cursor.step(&mut |_| Ok(()))? {
            rows += 1;
        }
        let changed = if has_result || reads { rows } else { sqlite.lock().changes() };
        return Ok(i64::try_from(changed).unwrap_or(i64::MAX));
    };
    // All rows or none.
    let is_own = sqlite.is_autocommit() && !reads;
    if is_own {
        sqlite.run("BEGIN")?;
    }
    let done = (|| {
        while parameters.bind_next(&mut cursor)? {
            while cursor.step(&mut |_| Ok(()))? {
                rows += 1;
            }
            if !has_result && !reads {
                rows += sqlite.lock().changes();
            }
        }
        if is_own { sqlite.run("COMMIT") } else { Ok(()) }
    })();
    if is_own && done.is_err() && !sqlite.is_autocommit() {
        sqlite.run("ROLLBACK")?;
    }
    done.map(|()| i64::try_from(rows).unwrap_or(i64::MAX))
}
