//! Values for the parameters of a statement, from Arrow batches: the forms are those in which tables would store them.

use crate::cursor::Cursor;
use crate::error::{Result, failed, of_press};
use adbc_core::error::Status;
use arrow_array::{RecordBatch, RecordBatchIterator, RecordBatchReader};
use arrow_schema::{ArrowError, Field, Schema};
use litepress_load::arrow;
use litepress_load::options::ReadOptions;
use litepress_load::reader::{Batch, Piece, Reader};
use rusqlite::types::ValueRef;
use std::sync::Arc;

/// Rows of values for the parameters of a statement.
pub struct Parameters {
    reader: Box<dyn Reader>,
    piece: Option<Box<dyn Piece>>,
    batch: Batch,
    /// Row of the batch that comes next.
    next: usize,
    /// Number of rows so far.
    rows: u64,
    /// For each column the parameter that it is for, counted from 1.
    targets: Vec<usize>,
    names: Vec<String>,
}

impl Parameters {
    /// Begins to read a stream of rows. `None` if it has no columns.
    pub fn new(stream: Box<dyn RecordBatchReader + Send>, cursor: &Cursor, by_name: bool) -> Result<Option<Self>> {
        let names: Vec<String> = stream.schema().fields().iter().map(|field| field.name().clone()).collect();
        let expected = cursor.parameters();
        if names.len() != expected {
            let message = format!("the query has {expected} parameters, and {} columns are bound", names.len());
            return Err(failed(Status::InvalidState, message));
        }
        if names.is_empty() {
            return Ok(None);
        }
        let targets = if by_name { targets(&names, cursor)? } else { (1..=expected).collect() };
        let reader = arrow::batches(numbered(stream), &ReadOptions::default()).map_err(|error| of_press(&error))?;
        Ok(Some(Self { reader, piece: None, batch: Batch::default(), next: 0, rows: 0, targets, names }))
    }

    /// Binds the values of the next row. Returns `false` behind the last one.
    pub fn bind_next(&mut self, cursor: &mut Cursor) -> Result<bool> {
        if !self.has_row()? {
            return Ok(false);
        }
        let row = self.next;
        self.next += 1;
        self.rows += 1;
        if let Some(bad) = self.batch.bad.iter().find(|bad| bad.row == row) {
            let column = bad.error.place().column.as_deref().and_then(|column| column.parse::<usize>().ok());
            let name = column.and_then(|column| self.names.get(column - 1)).map_or("", String::as_str);
            let message = format!("parameter {name} of row {}: {}", self.rows, bad.error.message());
            return Err(failed(Status::InvalidData, message));
        }
        for (block, target) in self.batch.blocks.iter().zip(&self.targets) {
            cursor.bind(*target, of_value(block.value(row)))?;
        }
        Ok(true)
    }

    /// Reads on if the batch is over.
    fn has_row(&mut self) -> Result<bool> {
        while self.next == self.batch.rows {
            self.next = 0;
            if let Some(piece) = &mut self.piece {
                piece.read(&mut self.batch).map_err(|error| of_press(&error))?;
                if self.batch.rows > 0 {
                    continue;
                }
            }
            self.batch.rows = 0;
            self.piece = self.reader.next_piece().map_err(|error| of_press(&error))?;
            if self.piece.is_none() {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

fn of_value(value: litepress_format::value::Value<'_>) -> ValueRef<'_> {
    match value {
        litepress_format::value::Value::Null => ValueRef::Null,
        litepress_format::value::Value::Int(int) => ValueRef::Integer(int),
        litepress_format::value::Value::Real(real) => ValueRef::Real(real),
        litepress_format::value::Value::Text(text) => ValueRef::Text(text),
        litepress_format::value::Value::Blob(blob) => ValueRef::Blob(blob),
    }
}

/// Finds the parameter of each column by its name, with or without its prefix.
fn targets(names: &[String], cursor: &Cursor) -> Result<Vec<usize>> {
    let parameters: Vec<Option<String>> = (1..=names.len()).map(|number| cursor.parameter_name(number)).collect();
    let is_called = |parameter: &Option<String>, name: &str| {
        let parameter = parameter.as_deref().unwrap_or_default();
        parameter == name || parameter.get(1..) == Some(name)
    };
    let find = |name: &String| {
        let found = parameters.iter().position(|parameter| is_called(parameter, name));
        let known: Vec<&str> = parameters.iter().flatten().map(String::as_str).collect();
        let message = || format!("no parameter is called {name}: the query has {}", known.join(", "));
        found.map(|at| at + 1).ok_or_else(|| failed(Status::InvalidState, message()))
    };
    names.iter().map(find).collect()
}

/// Gives columns numbers as names: parameters may have one name, or none.
fn numbered(stream: Box<dyn RecordBatchReader + Send>) -> Box<dyn RecordBatchReader + Send> {
    let schema = stream.schema();
    let rename = |(number, field): (usize, &Arc<Field>)| field.as_ref().clone().with_name(number.to_string());
    let fields: Vec<Field> = (1..).zip(schema.fields()).map(rename).collect();
    let schema = Arc::new(Schema::new(fields));
    let renamed = schema.clone();
    let batches = stream.map(move |batch| -> std::result::Result<RecordBatch, ArrowError> {
        let batch = batch?;
        RecordBatch::try_new(renamed.clone(), batch.columns().to_vec())
    });
    Box::new(RecordBatchIterator::new(batches, schema))
}
