//! Plans an index: which columns of a record its entries have, in which order.

use super::column_locator::{ColumnLocator, ColumnRef};
use crate::evaluate::can_evaluate;
use crate::sort::bad_item;
use crate::{Error, ErrorKind, Result};
use litepress_format::header::TextEncoding;
use litepress_format::record;
use litepress_format::sort_key::{self, Collation, IndexEntryLayout, KeyPart};
use litepress_format::text;
use litepress_format::value::Value;
use litepress_rows::Table;
use litepress_rows::schema::{Generated, Index, IndexColumn};

/// An index whose entries can be extracted from the table's records.
#[derive(Clone, Debug)]
pub(crate) struct IndexPlan {
    pub name: String,
    table: String,
    pub(super) unique: bool,
    /// Names of the key columns, or their expressions.
    pub(super) names: Vec<String>,
    pub(super) columns: Vec<ColumnRef>,
    pub(super) layout: IndexEntryLayout,
    pub(super) has_rowid: bool,
    /// Whether the columns are the first ones of a record, in its order, and the rowid follows them.
    pub(super) are_leading: bool,
    /// The index, if its entries are extracted from records that SQLite evaluates: those of its own columns.
    evaluated: Option<Box<Index>>,
    /// The encoding of texts.
    encoding: TextEncoding,
}

impl IndexPlan {
    /// Plans `index`. `Err` says why its entries cannot be extracted from records.
    pub fn new(table: &Table, index: &Index) -> Result<Self, String> {
        if index.partial {
            return Err("it is partial".to_owned());
        }
        let all = || index.columns.iter().chain(&index.appended);
        let columns = all().map(|column| column_ref(table, column)).collect::<Result<Vec<_>, _>>()?;
        let parts = all().map(key_part).collect::<Result<_, _>>()?;
        let layout = if table.without_rowid {
            IndexEntryLayout::without_rowid(parts, index.columns.len())
        } else {
            IndexEntryLayout::with_rowid(parts)
        };
        let (has_rowid, name_of) = (!table.without_rowid, |position: usize| table.columns[position].name.clone());
        Ok(Self {
            name: index.name.clone(),
            table: table.name.clone(),
            unique: index.unique,
            names: index.columns.iter().filter_map(|column| column.column.map(name_of)).collect(),
            are_leading: has_rowid && columns.iter().zip(0..).all(|(column, field)| *column == ColumnRef::Field(field)),
            columns,
            layout,
            has_rowid,
            evaluated: None,
            encoding: TextEncoding::Utf8,
        })
    }

    /// Plans an index whose entries SQLite [evaluates](crate::evaluate). `Err` says why SQLite must make it.
    pub fn evaluated(table: &Table, index: &Index) -> Result<Self, String> {
        let from_records = match Self::new(table, index) {
            Ok(plan) => return Ok(plan),
            Err(why) => why,
        };
        let texts = index.evaluated.as_ref().filter(|_| can_evaluate(table)).ok_or(from_records)?;
        let parts = index.columns.iter().chain(&index.appended).map(key_part).collect::<Result<Vec<_>, _>>()?;
        let columns: Vec<ColumnRef> = (0..parts.len()).map(ColumnRef::Field).collect();
        let layout = if table.without_rowid {
            IndexEntryLayout::without_rowid(parts, index.columns.len())
        } else {
            IndexEntryLayout::with_rowid(parts)
        };
        Ok(Self {
            name: index.name.clone(),
            table: table.name.clone(),
            unique: index.unique,
            names: texts.names.clone(),
            columns,
            layout,
            has_rowid: !table.without_rowid,
            are_leading: !table.without_rowid,
            evaluated: Some(Box::new(index.clone())),
            encoding: TextEncoding::Utf8,
        })
    }

    /// Returns the index if SQLite evaluates its entries.
    pub fn evaluated_index(&self) -> Option<&Index> {
        self.evaluated.as_deref()
    }

    /// Returns the encoding of texts in records.
    pub fn encoding(&self) -> TextEncoding {
        self.encoding
    }

    /// Returns the plan for records whose texts have this encoding.
    pub fn in_encoding(mut self, encoding: TextEncoding) -> Self {
        self.layout.set_encoding(encoding);
        Self { encoding, ..self }
    }

    /// Plans the extraction of the same entries from records of the index itself, whose last field is the rowid.
    pub fn of_entries(&self) -> Self {
        let columns: Vec<ColumnRef> = (0..self.columns.len()).map(ColumnRef::Field).collect();
        Self { columns, are_leading: self.has_rowid, evaluated: None, ..self.clone() }
    }

    /// Makes the sort item and the record of a row's entry.
    pub fn entry(&self, record: &[u8], rowid: i64, item: &mut Vec<u8>, entry: &mut Vec<u8>) -> Result<()> {
        item.clear();
        entry.clear();
        let mut locator = ColumnLocator::default();
        let values = locator.values(&self.columns, record, rowid)?;
        self.layout.push_item(values, self.has_rowid.then_some(rowid), item);
        self.layout.write_record(item, entry).map_err(|error| bad_item(&error))
    }

    /// Appends the sort item of a row's entry. REQUIRES: a worker passes the same `locator` for all rows.
    pub fn push_item(&self, locator: &mut ColumnLocator, record: &[u8], rowid: i64, item: &mut Vec<u8>) -> Result<()> {
        let values = locator.values(&self.columns, record, rowid)?;
        self.layout.push_item(values, self.has_rowid.then_some(rowid), item);
        Ok(())
    }

    /// Returns whether two items have the same unique key, and are of rows with different primary keys.
    pub fn is_claimed_by_another(&self, one: &[u8], other: &[u8]) -> Result<bool> {
        let key = self.layout.unique_key(other).map_err(|error| bad_item(&error))?;
        if key.has_null || one.get(..key.len) != Some(&other[..key.len]) {
            return Ok(false);
        }
        let (one, other) = (&one[key.len..], &other[key.len..]);
        if !self.has_rowid {
            return Ok(one != other);
        }
        let rowid = |rest| sort_key::read_rowid(rest).map(|(rowid, _)| rowid).map_err(|error| bad_item(&error));
        Ok(rowid(one)? != rowid(other)?)
    }

    /// Returns the error of two entries with one key.
    pub(super) fn not_unique(&self, first: &[u8], second: &[u8]) -> Error {
        let (values, first_row) = self.describe(first);
        let (_, second_row) = self.describe(second);
        let rows = if self.has_rowid { "rowid" } else { "primary key" };
        let message = format!(
            "UNIQUE constraint failed: {}: the rows with {rows} {first_row} and {second_row} have the same key",
            self.full_names()
        );
        Error::new(ErrorKind::Constraint, message).in_table(&self.table).with_value(values)
    }

    /// Returns the names of the key columns, qualified by the table.
    fn full_names(&self) -> String {
        match &self.evaluated {
            Some(index) if index.columns.iter().any(|column| column.column.is_none()) => {
                format!("index '{}'", self.name)
            }
            _ => full_names(&self.table, &self.names),
        }
    }

    /// Returns the key of an item in SQL syntax, and the identity of its row: the rowid, or the primary key's other
    /// columns.
    fn describe(&self, item: &[u8]) -> (String, String) {
        let mut record = Vec::new();
        let written = self.layout.write_record(item, &mut record);
        let values = written.and_then(|()| record::decode(&record)).unwrap_or_default();
        let quote = |value: &Value<'_>| match value {
            Value::Text(text) => litepress_rows::quote(&text::to_utf8(text, self.encoding).as_str().into()),
            other => litepress_rows::quote(other),
        };
        let quoted: Vec<String> = values.iter().map(quote).collect();
        let (key, row) = quoted.split_at(self.names.len().min(quoted.len()));
        (key.join(", "), row.join(", "))
    }
}

/// Returns column names, qualified by their table.
pub(crate) fn full_names(table: &str, names: &[String]) -> String {
    names.iter().map(|name| format!("{table}.{name}")).collect::<Vec<_>>().join(", ")
}

/// Returns the source of a key column. `Err` says why records do not have its value.
pub(crate) fn column_ref(table: &Table, column: &IndexColumn) -> Result<ColumnRef, String> {
    let Some(position) = column.column else { return Err("it has an expression".to_owned()) };
    if table.rowid_alias == Some(position) {
        return Ok(ColumnRef::Rowid);
    }
    let computed = || format!("its column {} is computed", table.columns[position].name);
    let field = table.stored_columns().iter().position(|&stored| stored == position);
    field.map(ColumnRef::Field).ok_or_else(computed)
}

/// Returns the source of an ordinary column in the rows of a source, whose records lack computed columns.
pub(crate) fn given_column(table: &Table, position: usize) -> ColumnRef {
    if table.rowid_alias == Some(position) {
        return ColumnRef::Rowid;
    }
    let is_given = |column: &usize| table.columns[*column].generated == Generated::No;
    let mut given = table.stored_columns().into_iter().filter(is_given);
    ColumnRef::Field(given.position(|column| column == position).expect("an ordinary column"))
}

/// Returns the sort order of a key column. `Err` says why the engine cannot order it.
pub(crate) fn key_part(column: &IndexColumn) -> Result<KeyPart, String> {
    let unknown = || format!("its collation {} is not one of SQLite's own", column.collation);
    let collation = Collation::from_name(&column.collation).ok_or_else(unknown)?;
    Ok(KeyPart { collation, descending: column.descending })
}
