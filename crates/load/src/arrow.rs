//! Reads Parquet files, Arrow IPC files and streams, FlatGeobuf files, and Arrow record batches in memory.
//!
//! ```text
//! parquet.rs   row groups, cut into ranges of rows    --+
//! ipc.rs       record batches, by their positions     --+-->  Arrays  --convert.rs-->  CellBlock
//! flatgeobuf.rs features, made arrays of               --+
//! batches.rs   record batches in memory               --+        form.rs: the meaning of a column and its stored form
//! array_column.rs   one column of arrays in memory    --+        scalar.rs, calendar.rs: one value as text or JSON
//!                                                          narrow.rs: whether wide decimals are numbers
//!                                                          weight.rs: how many rows are a block
//! ```
//!
//! Every type has a default form in which its column is stored. `--store-as COLUMN=FORM` chooses another one. The default loses
//! nothing:
//!
//! | type | stored as | other forms |
//! |---|---|---|
//! | boolean | INTEGER 0, 1 | `text` (`true`) |
//! | integers of up to 64 bits | INTEGER | `real`, `text` |
//! | unsigned 64-bit integers | INTEGER; a value from 2^63 on makes its record wrong | `text`, `real` |
//! | half floats, floats, doubles | REAL, widened exactly; NaN becomes NULL, since SQLite has none | `text` (the shortest that reads back), `integer` (whole numbers only) |
//! | decimals without fraction, up to 18 digits | INTEGER | `text`, `real` |
//! | decimals of up to 15 digits: money | REAL, the nearest double, which keeps 15 digits | `text` (`12.50`), `integer` (whole numbers only) |
//! | decimals of more digits | as one of the two before if all values allow it, else TEXT with all digits | `real` (the nearest double), `integer` |
//! | dates | TEXT `YYYY-MM-DD` | `integer` (as in the file: days, or milliseconds), `unixepoch`, `julianday` |
//! | timestamps without time zone | TEXT `YYYY-MM-DD HH:MM:SS`, `.ffffff` behind it if the second is not whole, nine digits if the microsecond is not | `integer` (as in the file), `unixepoch` (whole seconds only), `real` (seconds), `julianday` |
//! | timestamps with time zone | the same in UTC with `+00:00` behind: `2024-05-17 08:30:00+00:00` | the same |
//! | INT96 timestamps | as timestamps of nanoseconds, of any year | the same |
//! | times of day | TEXT `HH:MM:SS`, with a fraction as timestamps | `integer` (as in the file), `real` (seconds) |
//! | durations | INTEGER, microseconds; others make their record wrong | `integer` (as in the file), `real` (seconds), `text` (`PT1.5S`) |
//! | intervals | TEXT `P1Y2M3DT4H5M6.5S` | `integer` (months) where the file has months only |
//! | texts, in all layouts; JSON | TEXT | `blob` |
//! | byte strings, in all layouts | BLOB | `text` (UTF-8), `hex` |
//! | Parquet ENUM | TEXT | `blob`, `hex` |
//! | UUID | TEXT of 36 characters | `blob`, `hex` |
//! | lists, structs, maps, unions | TEXT: JSON, in which byte strings are hexadecimal digits, and dates, times and NaN are strings | |
//! | dictionaries, runs | as their values | as their values |
//! | null | NULL, in a column without a type | |
//!
//! A moment has one text, whatever its unit, and such texts sort by time. SQLite's date functions read all of these dates and
//! times. They read the years 0 to 9999 only, so another year makes its record wrong; in JSON it has a sign. A TEXT column of a
//! given schema stores decimals and unsigned integers with all their digits. A record is bad if it has an INT96 timestamp within
//! a list or struct outside of the years 1677 to 2262.
//!
//! [`InvalidUtf8`](crate::options::InvalidUtf8) decides about texts that are not UTF-8. Within a list or struct it applies to
//! the whole JSON text. Schemas may be nested 64 levels deep.

mod array_column;
mod batches;
pub mod calendar;
mod convert;
mod flatgeobuf;
mod form;
mod geometry;
mod ipc;
mod narrow;
mod parquet;
mod scalar;
mod texts;
mod weight;

pub use array_column::ArrayColumn;
pub use batches::{BatchFacts, batches, batches_with, reads_ahead};
pub use form::declared_type_of_form;

use crate::input::Input;
use crate::options::{Format, ReadOptions};
use crate::reader::{DecimalRange, FileColumn, FileColumnKind, ProjectedColumn, Reader};
use crate::schema::distinct;
use arrow_schema::{FieldRef, Fields};
use convert::Column;
use form::SemanticType;
use litepress_rows::files::{FileExt, retry};
use litepress_rows::{Affinity, Error, ErrorKind, Result};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Target size of a piece in bytes of records. A single record may exceed it.
const PIECE_BYTES: usize = 8 << 20;

/// Opens a Parquet file, an Arrow IPC file or stream, or a FlatGeobuf file.
///
/// # Errors
/// If the file cannot be opened, is encrypted, or breaks the rules of its format: [`ErrorKind::Data`] with the file's name.
pub fn open(input: &Input, options: &ReadOptions) -> Result<Box<dyn Reader>> {
    let file = Positioned::new(input)?;
    match input.format {
        Format::Parquet => Ok(Box::new(parquet::ParquetReader::new(file, options)?)),
        Format::FlatGeobuf => Ok(Box::new(flatgeobuf::FlatGeobufReader::new(file, options)?)),
        _ => Ok(Box::new(ipc::IpcReader::new(file, options)?)),
    }
}

/// A file that several workers read by position at the same time.
#[derive(Clone, Debug)]
struct Positioned {
    file: Arc<File>,
    name: Arc<PathBuf>,
    len: u64,
}

impl Positioned {
    fn new(input: &Input) -> Result<Self> {
        let file = input.file()?;
        let len = file.metadata().map_err(|error| Error::io("read", &input.name, error))?.len();
        Ok(Self { file: Arc::new(file), name: Arc::new(input.name.clone()), len })
    }

    fn name(&self) -> &Path {
        &self.name
    }

    /// Returns bytes of the file. A range beyond its end is an error before any memory is allocated.
    fn read(&self, start: u64, len: usize) -> std::io::Result<Vec<u8>> {
        if start.checked_add(len as u64).is_none_or(|end| end > self.len) {
            let kind = std::io::ErrorKind::UnexpectedEof;
            return Err(std::io::Error::new(
                kind,
                format!("the file ends before byte {}", start.saturating_add(len as u64)),
            ));
        }
        let mut bytes = vec![0; len];
        self.file.read_exact_at(&mut bytes, start)?;
        Ok(bytes)
    }

    /// Returns an error about the file's content.
    fn damaged(&self, what: impl std::fmt::Display) -> Error {
        Error::new(ErrorKind::Data, what.to_string()).in_file(self.name())
    }
}

/// A stream of the file from some position on.
#[derive(Debug)]
struct PositionedRead {
    file: Arc<File>,
    at: u64,
}

impl Read for PositionedRead {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = retry(|| self.file.read_at(buffer, self.at))?;
        self.at += read as u64;
        Ok(read)
    }
}

/// Returns the fields with distinct names, and notes the changes.
fn with_distinct_names(fields: &Fields, file: &Positioned, options: &ReadOptions) -> Vec<FieldRef> {
    let names = fields.iter().map(|field| field.name().clone()).collect();
    let (names, notes) =
        distinct(names, |position| format!("column{}", position + 1), |position| (position + 1).to_string());
    notes.into_iter().for_each(|note| options.notes.add(format!("{}: {note}", file.name().display())));
    let named = |(field, name): (&FieldRef, String)| {
        if *field.name() == name { field.clone() } else { Arc::new(field.as_ref().clone().with_name(name)) }
    };
    fields.iter().zip(names).map(named).collect()
}

/// Returns the kind of a column whose decimals are numbers by their range, and their largest number of digits. `None` if they are
/// not.
pub(crate) fn number_column(range: &DecimalRange, not_null: bool) -> Option<(FileColumnKind, u8)> {
    let precision = narrow::most_digits(range)?;
    let meaning = SemanticType::Decimal { precision, scale: range.scale };
    let reason = meaning.reason(&format!("{}, by its values", range.origin));
    let declared_type = meaning.declared_type().to_owned();
    Some((FileColumnKind::Typed { declared_type, reason, not_null }, precision))
}

/// Returns an empty range for each column of decimals that are stored as texts, by position.
fn wide_decimals(types: &[(FieldRef, SemanticType)], origin: impl Fn(usize) -> String) -> Vec<(usize, DecimalRange)> {
    let range = |(position, (field, meaning)): (usize, &(FieldRef, SemanticType))| match meaning {
        SemanticType::Decimal { scale, .. } if batches::reads_ahead(field.data_type()) => {
            Some((position, DecimalRange { scale: *scale, origin: origin(position), ..DecimalRange::default() }))
        }
        _ => None,
    };
    types.iter().enumerate().filter_map(range).collect()
}

/// Describes a column of a file for table definitions. `origin` is the file's name of its type.
fn describe(field: &FieldRef, meaning: SemanticType, origin: &str) -> FileColumn {
    let name = field.name().clone();
    // NaN becomes NULL.
    let not_null = !field.is_nullable() && !matches!(meaning, SemanticType::Float | SemanticType::Null);
    let declared_type = meaning.declared_type().to_owned();
    FileColumn { name, kind: FileColumnKind::Typed { declared_type, reason: meaning.reason(origin), not_null } }
}

/// Returns all columns, as arguments of [`Reader::project`].
fn all_columns(fields: &[FileColumn]) -> Vec<ProjectedColumn> {
    let projected = |(index, field): (usize, &FileColumn)| {
        let affinity = match &field.kind {
            FileColumnKind::Typed { declared_type, .. } => Affinity::of_declared_type(declared_type),
            FileColumnKind::Text => Affinity::Text,
        };
        ProjectedColumn::new(Some(index), &field.name, affinity)
    };
    fields.iter().enumerate().map(projected).collect()
}

/// Returns the positions of requested columns in the file, and their conversions.
fn plan_columns(
    projected: &[ProjectedColumn],
    fields: &[FileColumn],
    types: &[(FieldRef, SemanticType)],
    options: &ReadOptions,
) -> Result<(Vec<usize>, Vec<Column>)> {
    projected.iter().map(|projected| plan_column(projected, fields, types, options)).collect()
}

/// Returns a requested column's position in the file, and its conversion.
fn plan_column(
    projected: &ProjectedColumn,
    fields: &[FileColumn],
    types: &[(FieldRef, SemanticType)],
    options: &ReadOptions,
) -> Result<(usize, Column)> {
    let position = projected.field.or_else(|| fields.iter().position(|field| field.name == projected.name));
    let Some(position) = position.filter(|position| *position < fields.len()) else {
        return Err(Error::new(ErrorKind::Usage, "the file has no such column").in_column(&projected.name));
    };
    let (field, meaning) = &types[position];
    let name = &fields[position].name;
    let meaning = match (meaning, projected.most_digits) {
        (SemanticType::Decimal { scale, .. }, Some(precision)) => SemanticType::Decimal { precision, scale: *scale },
        (meaning, _) => *meaning,
    };
    let form = meaning.form(projected.form.as_deref(), projected.affinity, name)?;
    let field = Arc::new(field.as_ref().clone().with_name(name));
    Ok((position, Column::new(field, meaning, form, options.invalid_utf8)))
}
