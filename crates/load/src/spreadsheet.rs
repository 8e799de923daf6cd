//! Reads the sheets of workbooks: Excel (`.xlsx`, `.xlsm`, `.xlsb`, `.xls`) and OpenDocument (`.ods`).
//!
//! ```text
//! workbook.rs   cells of a sheet, by calamine
//! limits.rs     what a workbook may hold
//! ods.rs        the cells that an .ods unfolds to, and those with errors
//! xls.rs        the cells that an .xls spans, before it is read
//! cells.rs      cells by column
//! moments.rs    dates, times and durations as text
//! ```
//!
//! The first row that has a value is the header, unless the dialect says otherwise. Columns without
//! any value, and rows behind the last value, are left out. Values are stored as follows:
//!
//! | cell                                 | value                                                                   |
//! |--------------------------------------|-------------------------------------------------------------------------|
//! | number                               | number                                                                  |
//! | text                                 | text; an empty one is NULL                                              |
//! | date, date with time                 | text `2024-03-01`, `2024-03-01 12:30:00`, alike in a column             |
//! | time, duration                       | text `12:30:00`, `36:00:00`                                             |
//! | TRUE, FALSE                          | 1, 0, or `true`, `false` in a column of TEXT affinity                   |
//! | error (`#N/A`), empty cell           | NULL; errors are counted in a note                                      |
//!
//! All cells of a sheet are held in memory.

mod cells;
mod limits;
mod moments;
mod ods;
#[cfg(test)]
mod tests;
mod workbook;
mod xls;

pub use cells::Sheet;
pub use workbook::open_sheets;

use crate::infer::{FileStats, ScannedValue};
use crate::json::{Columns, Item, Sink};
use crate::options::ReadOptions;
use crate::reader::{Batch, FileColumn, FileColumnKind, Piece, ProjectedColumn, Reader};
use cells::Kind;
use litepress_rows::{Affinity, Error, ErrorKind, Result};
use std::sync::Arc;

/// Number of rows of a piece.
const PIECE_ROWS: usize = 1 << 14;

/// Size at which a batch ends, in bytes of its texts.
const BATCH_BYTES: usize = 2 << 20;

/// Maximum number of values in a batch.
const BATCH_VALUES: usize = 1 << 16;

/// A reader of a sheet's rows.
pub struct SheetReader {
    sheet: Arc<Sheet>,
    columns: Vec<FileColumn>,
    read_options: Arc<SheetReadOptions>,
    /// Number of rows that were handed out.
    done: usize,
}

/// The columns to read, and what is NULL in them.
struct SheetReadOptions {
    wanted: Vec<usize>,
    affinities: Vec<Affinity>,
    nulls: Vec<String>,
}

impl SheetReader {
    /// Creates a reader of all columns.
    pub fn new(sheet: Arc<Sheet>, options: &ReadOptions) -> Self {
        let field = |name: &String| FileColumn { name: name.clone(), kind: FileColumnKind::Text };
        let columns: Vec<FileColumn> = sheet.names().iter().map(field).collect();
        let (wanted, affinities) = ((0..columns.len()).collect(), vec![Affinity::Blob; columns.len()]);
        let read_options = Arc::new(SheetReadOptions { wanted, affinities, nulls: options.nulls.clone() });
        Self { sheet, columns, read_options, done: 0 }
    }
}

impl Reader for SheetReader {
    fn columns(&self) -> &[FileColumn] {
        &self.columns
    }

    fn project(&mut self, columns: &[ProjectedColumn]) -> Result<()> {
        let mut wanted = Vec::new();
        for column in columns {
            let refuse = |message: &str| Err(Error::new(ErrorKind::Usage, message).in_column(&column.name));
            match column.field {
                Some(field) if field < self.columns.len() && column.form.is_none() => wanted.push(field),
                Some(field) if field < self.columns.len() => return refuse("a column of a sheet has one form only"),
                _ => return refuse("the sheet has no such column"),
            }
        }
        let affinities = columns.iter().map(|column| column.affinity).collect();
        self.read_options = Arc::new(SheetReadOptions { wanted, affinities, nulls: self.read_options.nulls.clone() });
        Ok(())
    }

    fn next_piece(&mut self) -> Result<Option<Box<dyn Piece>>> {
        let first = self.done;
        self.done = self.sheet.rows().min(first + PIECE_ROWS);
        if first == self.done {
            return Ok(None);
        }
        let (sheet, read_options) = (self.sheet.clone(), self.read_options.clone());
        Ok(Some(Box::new(SheetPiece { sheet, read_options, first, next: first, end: self.done, batch_start: first })))
    }

    fn records(&self) -> Option<u64> {
        Some(self.sheet.rows() as u64)
    }
}

/// Consecutive rows of a sheet.
struct SheetPiece {
    sheet: Arc<Sheet>,
    read_options: Arc<SheetReadOptions>,
    first: usize,
    /// The next row to read.
    next: usize,
    end: usize,
    /// First row of the last batch.
    batch_start: usize,
}

impl SheetReadOptions {
    fn is_null(&self, text: &[u8]) -> bool {
        self.nulls.iter().any(|null| null.as_bytes() == text)
    }

    fn item<'t>(&self, kind: Kind, text: &'t [u8]) -> Item<'t> {
        match kind {
            Kind::Number => {
                let int = std::str::from_utf8(text).ok().and_then(|number| number.parse().ok());
                int.map_or(Item::Number(text), |int| Item::Int(int, text))
            }
            Kind::Text if self.is_null(text) => Item::Null,
            Kind::Text => Item::Text(text),
            Kind::True => Item::Boolean(true),
            Kind::False => Item::Boolean(false),
        }
    }
}

impl Piece for SheetPiece {
    fn first_record(&self) -> u64 {
        self.first as u64 + 1
    }

    fn records(&self) -> u64 {
        (self.end - self.first) as u64
    }

    fn read(&mut self, batch: &mut Batch) -> Result<()> {
        let read_options = self.read_options.clone();
        batch.clear(read_options.wanted.len());
        let mut columns = Columns::new(&read_options.affinities);
        columns.begin(&mut batch.blocks);
        let most_rows = (BATCH_VALUES / read_options.wanted.len().max(1)).clamp(1, batch.most_rows());
        let mut cursors: Vec<usize> =
            read_options.wanted.iter().map(|&column| self.sheet.cells_before(column, self.next)).collect();
        let mut bytes = 0;
        self.batch_start = self.next;
        while self.next < self.end && batch.rows < most_rows && bytes < BATCH_BYTES {
            for (target, (&column, cursor)) in read_options.wanted.iter().zip(&mut cursors).enumerate() {
                if let Some((kind, text)) = self.sheet.cell(column, *cursor, self.next) {
                    *cursor += 1;
                    bytes += text.len();
                    columns.take(target, read_options.item(kind, text)).expect("a number of a sheet is a double");
                }
            }
            columns.end_row(batch.rows, false);
            batch.rows += 1;
            self.next += 1;
        }
        columns.finish(batch);
        Ok(())
    }

    fn scan_types(&mut self, findings: &mut FileStats) -> Result<()> {
        for column in 0..self.sheet.names().len() {
            let mut cursor = self.sheet.cells_before(column, self.next);
            while let Some((row, kind, text)) = self.sheet.cell_at(column, cursor).filter(|(row, ..)| *row < self.end) {
                cursor += 1;
                let seen = match kind {
                    Kind::Number => ScannedValue::Number(text),
                    Kind::Text if self.read_options.is_null(text) => ScannedValue::Null,
                    Kind::Text => ScannedValue::String(text),
                    Kind::True => ScannedValue::Boolean(true),
                    Kind::False => ScannedValue::Boolean(false),
                };
                findings.observe(column, seen, row as u64 + 1);
            }
        }
        findings.records += (self.end - self.next) as u64;
        self.next = self.end;
        Ok(())
    }

    fn line(&self, row: usize) -> Option<u64> {
        Some(self.sheet.line_of(self.batch_start + row))
    }
}
