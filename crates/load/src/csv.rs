//! Reads CSV, TSV and similar formats.
//!
//! A record is a line of fields between delimiters. A quote at the beginning of a field opens a quoted field. Within it,
//! delimiters and line ends are text, and a quote is doubled. Elsewhere a quote is text. Lines end with LF or CRLF; a single CR
//! is text. These rules and the resulting values are those of sqlite3's `.import`.
//!
//! Unlike `.import`, text after a closing quote and a wrong number of fields are errors of the record, and a quote that is
//! never closed is an error of the file. Blank lines are skipped, except in files with a single column: there they are empty
//! fields.
//!
//! ```text
//! head.rs        the first record: delimiter and column names
//! framing.rs     ends of records, found by one worker at a time     syntax.rs    rules shared by all of them
//! rows.rs        positions of fields, found in parallel
//! piece.rs       fields become cells, column by column
//! ```

mod framing;
mod head;
mod piece;
mod rows;
mod syntax;
#[cfg(test)]
mod tests;

use crate::framing::{FramedReader, PIECE_BYTES, Position};
use crate::input::Input;
use crate::options::ReadOptions;
use crate::reader::{Field, FieldKind, Piece, ProjectedColumn, Reader};
use framing::Records;
use head::Head;
use litepress_rows::{Error, ErrorKind, Result};
use piece::{CsvPiece, Task};
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
    columns: Vec<Field>,
    task: Arc<Task>,
}

impl CsvReader {
    /// Reads `stream`, which is UTF-8 without byte-order mark. `name` is its name in errors.
    ///
    /// # Errors
    /// As [`open`].
    pub fn new(mut stream: Box<dyn Read + Send>, name: &Path, options: &ReadOptions) -> Result<Self> {
        let head = Head::read(&mut stream, name, options)?;
        let task = Task {
            projected: (0..head.names.len()).collect(),
            empty_is_null: vec![false; head.names.len()],
            names: head.names,
            nulls: options.nulls.iter().map(|null| null.clone().into_bytes()).collect(),
            invalid_utf8: options.invalid_utf8,
            ragged: options.dialect.ragged,
            syntax: Arc::new(head.syntax),
        };
        let field = |name: &String| Field { name: name.clone(), kind: FieldKind::Text };
        let stream = Box::new(std::io::Cursor::new(head.rest).chain(stream));
        let start = Position { record: 1, line: head.line };
        let piece_bytes = options.piece_bytes.unwrap_or(PIECE_BYTES);
        Ok(Self {
            framed: FramedReader::new(stream, name, Records(task.syntax.clone()), start, piece_bytes),
            columns: task.names.iter().map(field).collect(),
            task: Arc::new(task),
        })
    }
}

impl Reader for CsvReader {
    fn columns(&self) -> &[Field] {
        &self.columns
    }

    fn project(&mut self, columns: &[ProjectedColumn]) -> Result<()> {
        let position = |projected: &ProjectedColumn| {
            let refuse = |message: &str| Err(Error::new(ErrorKind::Usage, message).in_column(&projected.name));
            match projected.field {
                Some(field) if field < self.columns.len() && projected.form.is_none() => Ok(field),
                Some(field) if field < self.columns.len() => {
                    refuse("a column of a CSV file has one form only: its text")
                }
                _ => refuse("the file has no such column"),
            }
        };
        let projected = columns.iter().map(position).collect::<Result<_>>()?;
        let empty_is_null = columns.iter().map(|projected| projected.empty_is_null).collect();
        self.task = Arc::new(Task { projected, empty_is_null, ..Task::clone(&self.task) });
        Ok(())
    }

    fn next_piece(&mut self) -> Result<Option<Box<dyn Piece>>> {
        let Some(text) = self.framed.next_text()? else { return Ok(None) };
        Ok(Some(Box::new(CsvPiece::new(text, self.task.clone()))))
    }
}

/// Returns the name of a column without one: `c1`, `c2` and so on.
fn name_by_position(position: usize) -> String {
    format!("c{}", position + 1)
}
