//! The origins of a table's records: files, tables of databases, sheets, readers of the caller.

use crate::input::Input;
use crate::options::{Format, ReadOptions};
use crate::reader::{FileColumn, Reader};
use crate::schema::Naming;
use crate::spreadsheet::{Sheet, SheetReader};
use crate::{arrow, csv, json, sqlite};
use litepress_rows::sync::{Mutex, ignore_poison, lock};
use litepress_rows::{Error, ErrorKind, Result};
use std::sync::Arc;

/// The origin of a table's records.
pub(super) enum Content {
    /// A file that is not a database.
    File(Input),
    /// A table of a database.
    Table {
        /// The database file.
        input: Input,
        database: Arc<sqlite::Database>,
        table: Arc<sqlite::Table>,
    },
    /// A sheet of a workbook.
    Sheet {
        /// The workbook.
        input: Input,
        sheet: Arc<Sheet>,
    },
    /// A reader from the caller, until it is taken.
    Given(Mutex<Option<Box<dyn Reader>>>),
}

impl Content {
    pub(super) fn open(&self, read: &ReadOptions) -> Result<Box<dyn Reader>> {
        let input = match self {
            Self::File(input) => input,
            Self::Table { database, table, .. } => return database.reader(&table.name, read),
            Self::Sheet { sheet, .. } => return Ok(Box::new(SheetReader::new(sheet.clone(), read))),
            Self::Given(reader) => {
                let reader = lock(reader).take();
                return reader.ok_or_else(|| Error::new(ErrorKind::Usage, "these data can be read only once"));
            }
        };
        match input.format {
            Format::Csv => csv::open(input, read),
            Format::Json => json::open(input, read),
            Format::Parquet | Format::Arrow | Format::FlatGeobuf => arrow::open(input, read),
            Format::Sqlite | Format::Spreadsheet => unreachable!("these are opened table by table"),
        }
    }

    /// Returns the file, if there is one.
    pub(super) fn input(&self) -> Option<&Input> {
        match self {
            Self::File(input) | Self::Table { input, .. } | Self::Sheet { input, .. } => Some(input),
            Self::Given(_) => None,
        }
    }

    pub(super) fn can_be_read_twice(&self) -> bool {
        self.input().is_some_and(Input::can_be_read_twice)
    }

    pub(super) fn naming(&self, read: &ReadOptions, reader: &dyn Reader) -> Naming {
        let header_line = reader.text_format().and_then(|format| format.header_line);
        match self.input().map(|input| input.format) {
            None => Naming::Given,
            Some(Format::Json) => Naming::Records,
            Some(Format::Csv) if header_line.is_none() && read.dialect.columns.is_none() => Naming::Position,
            Some(Format::Spreadsheet) if read.dialect.header == Some(false) && read.dialect.columns.is_none() => {
                Naming::Position
            }
            Some(_) => Naming::Header,
        }
    }

    /// Returns the columns and the number of records of a given reader. `None` for files.
    pub(super) fn known(&mut self) -> Option<(Vec<FileColumn>, Option<u64>)> {
        let Self::Given(reader) = self else { return None };
        let reader = ignore_poison(reader.get_mut()).as_ref()?;
        Some((reader.columns().to_vec(), reader.records()))
    }

    /// Adds the file to an error that names none.
    pub(super) fn in_file(&self, error: Error) -> Error {
        match self.input() {
            Some(input) if error.place().file.is_none() => error.in_file(&input.name),
            _ => error,
        }
    }
}
