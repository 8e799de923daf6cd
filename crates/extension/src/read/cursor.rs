//! A cursor over the rows of files.

use super::Shared;
use super::columns::{ColumnRole, Filter, PlanText, RightSide};
use crate::interruption::PATIENCE;
use crate::sqlite::{Failure, HostValue, Output, Plan, TableCursor};
use litepress::rows::cells::OwnedValue;
use litepress::rows::{Affinity, affinity};
use litepress::{Comparison, Error, ErrorKind, FileScan, FileTable, RowFilter, ScanStep};
use litepress_format::record::{self, RecordReader};
use litepress_format::sort_key::{self, Collation};
use litepress_format::value::Value;
use std::fmt::Write;
use std::ops::Range;
use std::sync::Arc;

/// A cursor.
pub struct ReadCursor {
    shared: Arc<Shared>,
    rows: Rows,
    /// Values of the row: serial types and places in its record. Empty until a value is asked for.
    fields: Vec<(u64, Range<usize>)>,
    /// Names of all columns of the files.
    names: Vec<String>,
    /// For each column of the files, its place in a record.
    places: Vec<Option<usize>>,
    /// Columns that hold doubles. Records keep whole ones as integers.
    are_reals: Vec<bool>,
    arguments: Vec<OwnedValue>,
}

/// The rows that are left.
enum Rows {
    Over,
    /// Rows of which only the number is wanted: the current one, and the last one.
    Counted(u64, u64),
    /// Rows of a scan, and the current one of its chunk.
    Scanned(Box<FileScan>, usize),
}

impl ReadCursor {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self {
            shared,
            rows: Rows::Over,
            fields: Vec::new(),
            names: Vec::new(),
            places: Vec::new(),
            are_reals: Vec::new(),
            arguments: Vec::new(),
        }
    }

    /// Begins to read the columns of a plan.
    fn start(&mut self, plan: &PlanText, table: &FileTable, right_sides: &[HostValue<'_>]) -> Result<(), Failure> {
        let count = self.names.len();
        let mut columns = plan.columns.clone().unwrap_or_else(|| (0..count).collect());
        columns.extend(plan.filters.iter().map(|filter| filter.column));
        columns.sort_unstable();
        columns.dedup();
        columns.retain(|column| *column < count);
        self.places = vec![None; count];
        columns.iter().enumerate().for_each(|(place, &column)| self.places[column] = Some(place));
        if let (true, Some(records)) = (columns.is_empty(), table.stated_records()) {
            self.rows = if records > 0 { Rows::Counted(1, records) } else { Rows::Over };
            return Ok(());
        }
        let mut filters = Vec::new();
        for (filter, value) in plan.filters.iter().zip(right_sides) {
            self.add_row_filters(*filter, *value, &mut filters)?;
        }
        self.rows = Rows::Scanned(Box::new(table.scan(&columns, &filters)?), 0);
        self.next_chunk()
    }

    /// Adds conditions that readers can check, and that keep every row that SQLite keeps.
    fn add_row_filters(
        &self,
        filter: Filter,
        value: HostValue<'_>,
        filters: &mut Vec<RowFilter>,
    ) -> Result<(), Failure> {
        let Some(Some(place)) = self.places.get(filter.column) else { return Ok(()) };
        let mut add = |comparison, value| filters.push(RowFilter { column: *place, comparison, value });
        if filter.right == RightSide::List {
            if let Some((least, most)) = bounds(value)? {
                add(Comparison::GreaterOrEqual, least);
                add(Comparison::LessOrEqual, most);
            }
            return Ok(());
        }
        let value = value.to_owned_value();
        // SQLite makes numbers of texts before it compares them, if one of the sides is a column of numbers.
        let is_text = matches!(self.shared.columns.affinity(filter.column), Affinity::Text | Affinity::Blob);
        let may_be_number = match &value {
            OwnedValue::Text(text) => !is_text || filter.right == RightSide::Unknown && is_numeric(text),
            _ => false,
        };
        if !may_be_number {
            add(filter.comparison, value);
        }
        Ok(())
    }

    /// Waits for the next rows.
    fn next_chunk(&mut self) -> Result<(), Failure> {
        let Rows::Scanned(scan, row) = &mut self.rows else { return Ok(()) };
        loop {
            match scan.poll(PATIENCE) {
                Ok(ScanStep::Rows) => {
                    *row = 0;
                    return Ok(());
                }
                Ok(ScanStep::Waiting) if self.shared.host.is_interrupted() => {
                    self.rows = Rows::Over;
                    return Err(Error::new(ErrorKind::Interrupted, "interrupted").into());
                }
                Ok(ScanStep::Waiting) => {}
                Ok(ScanStep::End) => {
                    self.rows = Rows::Over;
                    return Ok(());
                }
                Err(error) => {
                    self.rows = Rows::Over;
                    return Err(error.into());
                }
            }
        }
    }

    /// Finds the values of the row in its record.
    fn find_fields(&mut self) {
        let Rows::Scanned(scan, row) = &self.rows else { return };
        let Ok(mut reader) = RecordReader::new(scan.chunk().record(*row)) else { return };
        while let Ok(Some(field)) = reader.next_field() {
            self.fields.push((field.serial, field.body));
        }
    }

    /// Returns a column of the row.
    #[inline]
    fn value(&mut self, column: usize) -> Result<Value<'_>, Failure> {
        if self.fields.is_empty() {
            self.find_fields();
        }
        let Some(place) = self.places.get(column) else {
            let message = format!("there is no column c{}: the files have {}", column + 1, self.places.len());
            return Err(Failure::new(message));
        };
        let field = place.and_then(|place| self.fields.get(place));
        let (Rows::Scanned(scan, row), Some((serial, body))) = (&self.rows, field) else { return Ok(Value::Null) };
        let value = record::read_body(*serial, &scan.chunk().record(*row)[body.clone()]);
        Ok(match value.unwrap_or(Value::Null) {
            Value::Int(int) if self.are_reals[column] => Value::Real(int as f64),
            value => value,
        })
    }

    /// Returns the row as a JSON object.
    fn row_as_json(&mut self) -> Result<String, Failure> {
        let mut json = "{".to_owned();
        for column in 0..self.names.len() {
            let mut text = if column > 0 { ",".to_owned() } else { String::new() };
            push_string(&self.names[column], &mut text);
            text.push(':');
            push_value(self.value(column)?, &mut text);
            json.push_str(&text);
        }
        Ok(json + "}")
    }
}

impl TableCursor for ReadCursor {
    fn filter(&mut self, plan: &Plan<'_>) -> Result<(), Failure> {
        self.rows = Rows::Over;
        self.fields.clear();
        let text = PlanText::of(plan.text).ok_or_else(|| Failure::new("the plan of the query is damaged"))?;
        let (arguments, right_sides) = plan.values.split_at(text.arguments.min(plan.values.len()));
        let texts = arguments.iter().enumerate().map(|(number, value)| {
            value.text(&format!("argument {} of litepress_read", number + 1)).map(str::to_owned)
        });
        let texts: Vec<String> = texts.collect::<Result<_, _>>()?;
        self.arguments = texts.iter().cloned().map(OwnedValue::Text).collect();
        let table = self.shared.table(&texts)?;
        (self.names, self.are_reals) = table
            .columns()
            .map(|(name, kind)| (name.to_owned(), Affinity::of_declared_type(kind) == Affinity::Real))
            .unzip();
        self.start(&text, &table, right_sides)
    }

    #[inline]
    fn next(&mut self) -> Result<(), Failure> {
        self.fields.clear();
        match &mut self.rows {
            Rows::Over => Ok(()),
            Rows::Counted(row, last) if row == last => {
                self.rows = Rows::Over;
                Ok(())
            }
            Rows::Counted(row, _) => {
                *row += 1;
                Ok(())
            }
            Rows::Scanned(scan, row) => {
                *row += 1;
                if *row < scan.chunk().len() { Ok(()) } else { self.next_chunk() }
            }
        }
    }

    #[inline]
    fn is_over(&self) -> bool {
        matches!(self.rows, Rows::Over)
    }

    fn column(&mut self, column: usize, output: &mut Output<'_>) -> Result<(), Failure> {
        match self.shared.columns.role(column) {
            ColumnRole::Value(column) => output.set(self.value(column)?),
            ColumnRole::Argument(number) => {
                output.set(self.arguments.get(number).map_or(Value::Null, OwnedValue::as_value));
            }
            ColumnRole::Row => output.set(Value::Text(self.row_as_json()?.as_bytes())),
        }
        Ok(())
    }

    fn rowid(&self) -> i64 {
        match &self.rows {
            Rows::Over => 0,
            Rows::Counted(row, _) => row.cast_signed(),
            Rows::Scanned(scan, row) => scan.chunk().rowids()[*row],
        }
    }
}

/// Returns whether a column of numbers makes a number of a text.
fn is_numeric(text: &str) -> bool {
    !matches!(affinity::apply(Value::Text(text.as_bytes()), Affinity::Numeric), Value::Text(_))
}

/// Returns the least and the greatest value of an IN. `None` if there is none, or if they are of several kinds.
fn bounds(list: HostValue<'_>) -> Result<Option<(OwnedValue, OwnedValue)>, Failure> {
    let mut bounds: Option<(OwnedValue, OwnedValue)> = None;
    let mut is_mixed = false;
    list.for_each_of_list(&mut |value| {
        let value = value.to_owned_value();
        if value == OwnedValue::Null || is_mixed {
            return;
        }
        let Some((least, most)) = &mut bounds else {
            bounds = Some((value.clone(), value));
            return;
        };
        is_mixed = kind(least) != kind(&value);
        let order = |other: &OwnedValue| sort_key::compare(&value.as_value(), &other.as_value(), Collation::Binary);
        if order(least).is_lt() {
            *least = value;
        } else if order(most).is_gt() {
            *most = value;
        }
    })?;
    Ok(bounds.filter(|_| !is_mixed))
}

/// Returns a number for each kind of values that are compared with one another.
fn kind(value: &OwnedValue) -> u8 {
    match value {
        OwnedValue::Null => 0,
        OwnedValue::Int(_) | OwnedValue::Real(_) => 1,
        OwnedValue::Text(_) => 2,
        OwnedValue::Blob(_) => 3,
    }
}

/// Appends a value as JSON. A blob becomes hexadecimal digits, infinity a number that SQLite reads as such.
fn push_value(value: Value<'_>, json: &mut String) {
    let _ = match value {
        Value::Null => json.write_str("null"),
        Value::Int(int) => write!(json, "{int}"),
        Value::Real(real) if real.is_infinite() => json.write_str(if real > 0.0 { "9e999" } else { "-9e999" }),
        Value::Real(real) => write!(json, "{real:?}"),
        Value::Text(text) => {
            push_string(&String::from_utf8_lossy(text), json);
            Ok(())
        }
        Value::Blob(blob) => {
            json.push('"');
            let done = blob.iter().try_for_each(|byte| write!(json, "{byte:02X}"));
            json.push('"');
            done
        }
    };
}

fn push_string(text: &str, json: &mut String) {
    json.push('"');
    for character in text.chars() {
        let _ = match character {
            '"' => json.write_str("\\\""),
            '\\' => json.write_str("\\\\"),
            '\n' => json.write_str("\\n"),
            control if control < ' ' => write!(json, "\\u{:04x}", control as u32),
            other => json.write_char(other),
        };
    }
    json.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_as_json() {
        let mut json = String::new();
        for value in [
            Value::Text("\"a\\\n\u{1}é".as_bytes()),
            Value::Real(1.0),
            Value::Real(1e300),
            Value::Real(f64::NEG_INFINITY),
            Value::Blob(&[0, 255]),
            Value::Null,
        ] {
            push_value(value, &mut json);
            json.push(' ');
        }
        assert_eq!(json, r#""\"a\\\n\u0001é" 1.0 1e300 -9e999 "00FF" null "#);
    }
}
