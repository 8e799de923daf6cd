//! A sample of whole rows, in which relations between columns are looked for, and the parents of its rows.

use crate::column_stats::beginning;
use crate::references::ForeignKey;
use litepress_format::value::Value;
use litepress_gen::infer;
use litepress_rows::quoted_name;
use litepress_rows::schema::{Schema, Table};
use rusqlite::Connection;
use rusqlite::types::ValueRef;

/// Number of sampled rows of a table, and of these whose parents are looked up.
pub(crate) const SAMPLED_ROWS: usize = 4096;
const WITH_PARENTS: usize = 1000;
/// Characters that are kept of a text.
const CHARACTERS: usize = 64;

/// A value of a sampled row.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell {
    Null,
    Number(f64),
    Text(Box<str>),
    Blob,
}

impl Cell {
    fn of(value: Value<'_>) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Int(int) => Self::Number(int as f64),
            Value::Real(real) => Self::Number(real),
            Value::Text(text) => Self::text(text),
            Value::Blob(_) => Self::Blob,
        }
    }

    fn text(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        Self::Text(beginning(&text, CHARACTERS).into())
    }

    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }
}

/// A sampled row.
#[derive(Clone, Debug)]
pub(crate) struct SampledRow {
    /// The rowid, or a number without meaning.
    pub rowid: i64,
    /// The values of the ordinary columns.
    pub cells: Box<[Cell]>,
}

impl SampledRow {
    pub fn new(rowid: i64, values: &[Value<'_>]) -> Self {
        Self { rowid, cells: values.iter().map(|&value| Cell::of(value)).collect() }
    }
}

/// The rows that the first rows of a sample refer to; `None` for rows without a parent.
pub(crate) type Parents = Vec<Option<Box<[Cell]>>>;

/// Looks up the parents of sampled rows. `place` is the foreign key's column among the ordinary ones of `table`; a key of
/// several columns has no parents here, and neither has one without an index.
pub(crate) fn parents(
    connection: &Connection,
    schema: &Schema,
    key: &ForeignKey,
    place: usize,
    rows: &[SampledRow],
) -> rusqlite::Result<Parents> {
    let parent = &schema.tables[key.parent];
    let ([_], &[column]) = (&key.columns[..], &key.parent_columns[..]) else { return Ok(Vec::new()) };
    if !infer::is_key_alone(parent, column) {
        return Ok(Vec::new());
    }
    let mut select = connection.prepare(&select(parent, column))?;
    let columns = parent.ordinary_columns().count();
    let parent_of = |row: &SampledRow| -> rusqlite::Result<Option<Box<[Cell]>>> {
        let mut found = match &row.cells[place] {
            #[expect(clippy::cast_possible_truncation, reason = "whole and within 2^53")]
            Cell::Number(number) if number.fract() == 0.0 && number.abs() < 9e15 => select.query([*number as i64])?,
            Cell::Number(number) => select.query([number])?,
            Cell::Text(text) if text.len() < CHARACTERS => select.query([&**text])?,
            _ => return Ok(None),
        };
        let Some(row) = found.next()? else { return Ok(None) };
        let cell = |at: usize| {
            Ok(match row.get_ref(at)? {
                ValueRef::Null => Cell::Null,
                ValueRef::Integer(int) => Cell::Number(int as f64),
                ValueRef::Real(real) => Cell::Number(real),
                ValueRef::Text(text) => Cell::text(text),
                ValueRef::Blob(_) => Cell::Blob,
            })
        };
        (0..columns).map(cell).collect::<rusqlite::Result<_>>().map(Some)
    };
    rows.iter().take(WITH_PARENTS).map(parent_of).collect()
}

fn select(parent: &Table, key: usize) -> String {
    let name = |column: usize| quoted_name(&parent.columns[column].name);
    let columns: Vec<String> = parent.ordinary_columns().map(name).collect();
    format!("SELECT {} FROM main.{} WHERE {} = ?1 LIMIT 1", columns.join(", "), quoted_name(&parent.name), name(key))
}
