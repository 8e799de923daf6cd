//! Reads CSV, TSV and similar formats.
//!
//! A record is a line of fields between delimiters. A quote at the beginning of a field opens a quoted field. Within it,
//! delimiters and line ends are text, and a quote is doubled. Elsewhere a quote is text. Lines end with LF or CRLF, or with CR if
//! none ends with LF. These rules and the resulting values are those of sqlite3's `.import`.
//!
//! Unlike `.import`, text after a closing quote, a quote that is never closed and a wrong number of fields are errors of the
//! record. Blank lines are skipped, except in files with a single column: there they are empty fields.
//!
//! ```text
//! head.rs          the beginning: lines to skip, dialect, header     sniff.rs     the dialect, by trial
//! names.rs         names of columns                                  field_kind.rs looks of fields, for guesses
//! framing.rs       ends of records, found by one worker at a time    syntax.rs    rules shared by all of them
//! field_spans.rs   positions of fields, found in parallel            loose.rs     records of loose dialects, made regular
//! field_cells.rs   fields become cells, column by column             convert.rs   numbers and words of other forms
//! header.rs        is the first record a header?                    date_format.rs dates of other forms
//! ```

mod convert;
mod date_format;
#[cfg(test)]
mod dialect_tests;
mod field_cells;
mod field_kind;
mod field_spans;
mod framing;
mod head;
mod header;
mod loose;
mod names;
mod sniff;
mod syntax;
#[cfg(test)]
mod tests;

pub(crate) use head::HEADER_HAS;

use crate::framing::{FramedReader, PIECE_BYTES, Position};
use crate::input::Input;
use crate::options::ReadOptions;
use crate::reader::{FileColumn, FileColumnKind, Piece, ProjectedColumn, Reader, TextFormat};
use convert::Conversion;
use field_cells::{CsvPiece, CsvReadOptions};
use framing::Records;
use head::Head;
use litepress_rows::{Affinity, Error, ErrorKind, OptionName, Result, message};
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

/// Opens a CSV file: detects its delimiter and reads its header.
///
/// # Errors
/// If the file cannot be read, the header does not name the columns, or the dialect contradicts itself.
pub fn open(input: &Input, options: &ReadOptions) -> Result<Box<dyn Reader>> {
    Ok(Box::new(CsvReader::new(input.text(options)?, &input.name, options)?))
}

/// A reader of CSV from a stream.
pub struct CsvReader {
    framed: FramedReader<Records>,
    columns: Vec<FileColumn>,
    read_options: Arc<CsvReadOptions>,
    format: TextFormat,
}

impl CsvReader {
    /// Reads `stream`, which is UTF-8 without byte-order mark. `name` is its name in errors.
    ///
    /// # Errors
    /// As [`open`].
    pub fn new(mut stream: Box<dyn Read + Send>, name: &Path, options: &ReadOptions) -> Result<Self> {
        options.values.check()?;
        let head = Head::read(&mut stream, name, options)?;
        let (header, repeated_header) = (head.header, options.dialect.repeated_header);
        let read_options = CsvReadOptions {
            conversions: head.names.iter().map(|name| options.values.conversion(name)).collect(),
            projected: (0..head.names.len()).collect(),
            empty_is_null: vec![false; head.names.len()],
            names: head.names,
            nulls: options.nulls.iter().map(|null| null.clone().into_bytes()).collect(),
            invalid_utf8: options.invalid_utf8,
            encoding: options.encoding.clone(),
            ragged: options.dialect.ragged,
            skips_empty: options.dialect.skips_empty,
            syntax: Arc::new(head.syntax),
        };
        let field = |name: &String| FileColumn { name: name.clone(), kind: FileColumnKind::Text };
        let stream = Box::new(std::io::Cursor::new(head.rest).chain(stream));
        let start = Position { record: 1, line: head.line };
        let piece_bytes = options.piece_bytes.unwrap_or(PIECE_BYTES);
        let records = Records { syntax: read_options.syntax.clone(), header, repeated_header, has_records: false };
        Ok(Self {
            framed: FramedReader::new(stream, name, records, start, piece_bytes),
            columns: read_options.names.iter().map(field).collect(),
            read_options: Arc::new(read_options),
            format: head.format,
        })
    }
}

impl Reader for CsvReader {
    fn columns(&self) -> &[FileColumn] {
        &self.columns
    }

    fn project(&mut self, columns: &[ProjectedColumn]) -> Result<()> {
        let mut conversions = self.read_options.conversions.clone();
        let position = |projected: &ProjectedColumn| {
            let refuse = |message: &str| Error::new(ErrorKind::Usage, message).in_column(&projected.name);
            let field = projected.field.filter(|&field| field < self.columns.len());
            let Some(field) = field else { return Err(refuse("the file has no such column")) };
            match (projected.form.as_deref(), &mut conversions[field]) {
                (None | Some("text"), _) => Ok(field),
                (Some("unixepoch"), Some(Conversion::Date(format))) => {
                    format.is_unixepoch = true;
                    Ok(field)
                }
                (Some(_), Some(Conversion::Date(_))) => {
                    Err(refuse("dates of a CSV file have the forms text and unixepoch"))
                }
                (Some(_), _) => {
                    let error = refuse("a column of a CSV file has one form only: its text");
                    Err(error.advise(message!["say that it holds dates with ", OptionName::DateFormat.alone()]))
                }
            }
        };
        let projected = columns.iter().map(position).collect::<Result<Vec<_>>>()?;
        let empty_is_null = columns.iter().map(|projected| projected.empty_is_null).collect();
        for projected in columns {
            // Texts are kept where the column is not one of numbers.
            let is_text = matches!(projected.affinity, Affinity::Text | Affinity::Blob);
            if let Some(conversion @ Some(Conversion::Values(_))) =
                projected.field.and_then(|field| conversions.get_mut(field))
                && is_text
            {
                *conversion = None;
            }
        }
        self.read_options = Arc::new(CsvReadOptions {
            projected,
            empty_is_null,
            conversions,
            ..CsvReadOptions::clone(&self.read_options)
        });
        Ok(())
    }

    fn text_format(&self) -> Option<&TextFormat> {
        Some(&self.format)
    }

    fn next_piece(&mut self) -> Result<Option<Box<dyn Piece>>> {
        let Some(text) = self.framed.next_text()? else { return Ok(None) };
        Ok(Some(Box::new(CsvPiece::new(text, self.read_options.clone()))))
    }
}

/// Returns the name of a column without one: `c1`, `c2` and so on.
fn name_by_position(position: usize) -> String {
    format!("c{}", position + 1)
}
