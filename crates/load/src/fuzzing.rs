//! Entries of the fuzz targets (`fuzz/`): properties that hold for any bytes given to a reader. The test suite also runs them,
//! over mutations of small files ([`tests`]).
//!
//! Each entry panics if a property fails. Pieces of any size give the same rows and errors. Errors name the file and blame its
//! content. No content makes a reader panic or use unbounded memory.

#[cfg(test)]
mod tests;
mod workbook;

pub use workbook::workbook;

use crate::input::Input;
use crate::options::{Dialect, Format, InvalidUtf8, Ragged, ReadOptions, StrayQuotes};
use crate::reader::{Batch, ProjectedColumn, Reader};
use crate::{arrow, csv, json, sqlite};
use litepress_format::value::Value;
use litepress_rows::{Affinity, Error, ErrorKind, RecordChunk, Result, Schema};
use std::io::{Cursor, Read};
use std::path::Path;

/// Maximum number of rows to read: a file of some kilobytes can claim any number.
const MOST_ROWS: usize = 100_000;
/// Maximum number of bytes of text to decompress.
const MOST_TEXT_BYTES: u64 = 16 << 20;

/// The whole output of a reader.
#[derive(Debug, Default, PartialEq)]
struct Outcome {
    /// Line and raw bytes of each row, and its values or its error.
    rows: Vec<(Option<u64>, Option<Vec<u8>>, String)>,
    /// The error that ended the file.
    error: Option<String>,
}

/// Splits off the first bytes of an input as options, so that the fuzzer chooses them. The rest is the file.
fn take<const N: usize>(data: &[u8]) -> ([u8; N], &[u8]) {
    data.split_first_chunk().map_or(([0; N], data), |(first, rest)| (*first, rest))
}

/// Checks CSV: pieces of any size give the same rows and errors. The option bytes are the dialect and the size of pieces.
pub fn csv_split(data: &[u8]) {
    let ([choice, piece_bytes], file) = take(data);
    let options = ReadOptions {
        format: Some(Format::Csv),
        dialect: Dialect {
            delimiter: [None, Some(","), Some(", "), Some(";")][usize::from(choice & 3)].map(str::to_owned),
            escape: (choice & 4 != 0).then_some(b'\\'),
            ragged: [Ragged::Error, Ragged::Pad, Ragged::Reject, Ragged::Fit][usize::from(choice >> 3 & 3)],
            header: (choice & 0x20 != 0).then_some(true),
            stray_quotes: if choice >> 3 & 3 == 3 { StrayQuotes::Text } else { StrayQuotes::Error },
            ..Dialect::default()
        },
        invalid_utf8: invalid_utf8(choice >> 6),
        ..ReadOptions::default()
    };
    same_in_pieces(&options, piece_bytes, &|options| csv::open(&input(file, options)?, options));
}

/// Checks JSON: pieces of any size give the same rows and errors, and a line is valid if and only if `serde_json` accepts it.
pub fn json(data: &[u8]) {
    let ([choice, piece_bytes], file) = take(data);
    let invalid_utf8 = invalid_utf8(choice);
    let options = ReadOptions { format: Some(Format::Json), invalid_utf8, ..ReadOptions::default() };
    let outcome = same_in_pieces(&options, piece_bytes, &|options| {
        let mut reader = json::open(&input(file, options)?, options)?;
        let projected = |(name, affinity)| ProjectedColumn::new(None, name, affinity);
        reader.project(&[("a", Affinity::Text), ("b", Affinity::Blob), ("id", Affinity::Integer)].map(projected))?;
        Ok(reader)
    });
    if invalid_utf8 == InvalidUtf8::Error {
        outcome.rows.iter().for_each(agrees_with_serde);
    }
}

/// Checks that both parsers reject the same input, except for known differences.
fn agrees_with_serde((_, raw, values): &(Option<u64>, Option<Vec<u8>>, String)) {
    let raw = raw.as_deref().expect("JSON is text");
    let other = serde_json::from_slice::<serde_json::Value>(raw);
    let own_reasons = ["twice", "within one another", "beyond the range", "expected an object", "object or array"];
    match (values.strip_prefix("bad "), other) {
        (None, Err(error))
            if !["recursion limit", "out of range"].iter().any(|why| error.to_string().contains(why)) =>
        {
            panic!("{:?} is taken, and serde_json says: {error}", String::from_utf8_lossy(raw));
        }
        (Some(why), Ok(_)) if !own_reasons.iter().any(|own| why.contains(own)) => {
            panic!("{:?} is JSON, and it is refused: {why}", String::from_utf8_lossy(raw));
        }
        _ => {}
    }
}

/// Checks Parquet: pieces of any size give the same rows, and refused files are reported as damaged.
pub fn parquet(data: &[u8]) {
    columnar(data, Format::Parquet);
}

/// Checks Arrow IPC, file or stream, in the same way as [`parquet`].
pub fn arrow_ipc(data: &[u8]) {
    columnar(data, Format::Arrow);
}

/// Checks FlatGeobuf in the same way as [`parquet`].
pub fn flatgeobuf(data: &[u8]) {
    columnar(data, Format::FlatGeobuf);
}

fn columnar(data: &[u8], format: Format) {
    let ([choice, piece_bytes], file) = take(data);
    let options = ReadOptions { format: Some(format), invalid_utf8: invalid_utf8(choice), ..ReadOptions::default() };
    same_in_pieces(&options, piece_bytes, &|options| {
        let reader = arrow::open(&spooled(file, options)?, options)?;
        // Damaged values are reported once more when they are read.
        let _ = reader.decimal_ranges(&|| Ok(()));
        Ok(reader)
    });
}

/// Checks compressed and encoded text: small reads give the same text, and text of other encodings becomes UTF-8.
pub fn encoded(data: &[u8]) {
    const LABELS: [&str; 6] = ["utf-16le", "windows-1252", "shift_jis", "gb18030", "utf-16be", "iso-2022-jp"];
    let ([choice, step], file) = take(data);
    let encoding = LABELS.get(usize::from(choice & 7)).map(|label| (*label).to_owned());
    let is_utf8 = encoding.is_some() && choice & 0xc0 == 0x40;
    let options = ReadOptions {
        format: Some(Format::Csv),
        encoding,
        invalid_utf8: invalid_utf8(choice >> 6),
        ..ReadOptions::default()
    };
    let text = |step: usize| {
        let stream = Steps { bytes: Cursor::new(file.to_vec()), step };
        let read = || {
            let input = Input::from_stream(Path::new(NAME), Box::new(stream), &options)?;
            let (mut text, mut bytes) = (Vec::new(), input.text(&options)?.take(MOST_TEXT_BYTES));
            let read = bytes.read_to_end(&mut text).map_err(|error| crate::input::read_failed(&input.name, error));
            Ok((text, read.err().as_ref().map(checked)))
        };
        read().unwrap_or_else(|error| (Vec::new(), Some(checked(&error))))
    };
    let (whole, stepped) = (text(usize::MAX), text(usize::from(step) + 1));
    assert_eq!(whole.1.is_some(), stepped.1.is_some(), "{whole:?} and in steps {stepped:?}");
    // The amount of text before an error may differ.
    assert!(whole.1.is_some() || whole.0 == stepped.0, "a text differs when it is read in steps of {step}");
    assert!(!is_utf8 || whole.1.is_some() || std::str::from_utf8(&whole.0).is_ok(), "decoded text is no UTF-8");
}

/// Checks a database: all tables are read or refused.
pub fn sqlite(data: &[u8]) {
    let ([choice], file) = take(data);
    let options =
        ReadOptions { format: Some(Format::Sqlite), invalid_utf8: invalid_utf8(choice), ..ReadOptions::default() };
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let path = folder.path().join("fuzz.db");
    std::fs::write(&path, file).expect("room for a temporary file");
    let read = || -> Result<()> {
        let database = sqlite::Database::open(&Input::from_path(&path, &options)?)?;
        for table in database.tables().iter().take(20) {
            drop(read_all(database.reader(&table.name, &options)));
            read_records(&database, table, &options)?;
        }
        Ok(())
    };
    if let Err(error) = read() {
        assert!(error.place().file.is_some(), "an error without the name of its file: {error}");
    }
}

/// Reads a table's records as they are stored, and the others as batches.
fn read_records(database: &sqlite::Database, table: &sqlite::Table, options: &ReadOptions) -> Result<()> {
    let Ok(schema) = Schema::from_sql(&table.sql, NAME) else { return Ok(()) };
    let mut reader = database.reader(&table.name, options)?;
    reader.keep_rowids();
    if schema.tables.len() != 1 || !reader.give_records(&schema.tables[0])? {
        return Ok(());
    }
    let (mut chunk, mut batch) = (RecordChunk::new(), Batch::default());
    while let Some(mut piece) = reader.next_piece()? {
        let mut rows = 0;
        loop {
            chunk.clear();
            rows += piece.read_records(&mut chunk)?;
            if chunk.is_empty() {
                piece.read(&mut batch)?;
                rows += batch.rows;
                if batch.rows == 0 {
                    break;
                }
            }
        }
        assert_eq!(rows as u64, piece.records(), "rows of a piece");
    }
    Ok(())
}

const NAME: &str = "fuzzed";

fn invalid_utf8(choice: u8) -> InvalidUtf8 {
    [InvalidUtf8::Error, InvalidUtf8::Replace, InvalidUtf8::Blob, InvalidUtf8::Error][usize::from(choice & 3)]
}

fn input(file: &[u8], options: &ReadOptions) -> Result<Input> {
    Input::from_stream(Path::new(NAME), Box::new(Cursor::new(file.to_vec())), options)
}

/// Returns a spooled input, for readers that seek.
fn spooled(file: &[u8], options: &ReadOptions) -> Result<Input> {
    let mut input = input(file, options)?;
    input.spool(&std::env::temp_dir(), &|| Ok(()))?;
    Ok(input)
}

/// A stream that returns at most `step` bytes at a time.
struct Steps {
    bytes: Cursor<Vec<u8>>,
    step: usize,
}

impl Read for Steps {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let most = buffer.len().min(self.step);
        self.bytes.read(&mut buffer[..most])
    }
}

/// Reads a file as one piece and in small ones. With large pieces, an error that ends the file may come earlier, since its whole
/// piece is lost; with small ones too, if a row group has other rows than it says.
fn same_in_pieces(
    options: &ReadOptions,
    piece_bytes: u8,
    open: &dyn Fn(&ReadOptions) -> Result<Box<dyn Reader>>,
) -> Outcome {
    let is_text = matches!(options.format, Some(Format::Csv | Format::Json));
    // Each piece of a columnar file searches its pages anew, so tiny pieces would take too long.
    let unit = if is_text { 1 } else { 256 };
    let small = ReadOptions { piece_bytes: Some(unit * (usize::from(piece_bytes) + 1)), ..options.clone() };
    let (whole, pieces) = (read_all(open(options)), read_all(open(&small)));
    let rows = whole.rows.len().min(pieces.rows.len());
    assert!(whole.rows[..rows] == pieces.rows[..rows], "{whole:#?}\nin pieces:\n{pieces:#?}");
    if whole.error.is_none() {
        assert_eq!(whole, pieces);
    } else if is_text {
        assert!(whole.error == pieces.error && rows == whole.rows.len(), "{whole:#?}\nin pieces:\n{pieces:#?}");
    } else {
        assert!(pieces.error.is_some(), "{whole:#?}\nin pieces:\n{pieces:#?}");
    }
    whole
}

fn read_all(reader: Result<Box<dyn Reader>>) -> Outcome {
    let mut outcome = Outcome::default();
    let ended = reader.and_then(|mut reader| read_rows(&mut *reader, &mut outcome));
    outcome.error = ended.err().as_ref().map(checked);
    outcome
}

fn read_rows(reader: &mut dyn Reader, outcome: &mut Outcome) -> Result<()> {
    let mut batch = Batch::default();
    let mut first = 1;
    while let Some(mut piece) = reader.next_piece()? {
        assert_eq!(piece.first_record(), first);
        first += piece.records();
        let mut given = 0;
        loop {
            piece.read(&mut batch)?;
            if batch.rows == 0 {
                break;
            }
            given += batch.rows as u64;
            for row in 0..batch.rows {
                outcome.rows.push((piece.line(row), piece.raw(row).map(|raw| raw.into_owned()), shown(&batch, row)));
            }
            if outcome.rows.len() > MOST_ROWS {
                return Ok(());
            }
        }
        assert_eq!(given, piece.records(), "a piece has as many rows as it says");
    }
    Ok(())
}

fn shown(batch: &Batch, row: usize) -> String {
    let bad = batch.bad.iter().find(|bad| bad.row == row);
    let mut shown = bad.map_or_else(String::new, |bad| format!("bad {}", bad.error));
    for block in &batch.blocks {
        let value = block.value(row);
        assert!(bad.is_none() || value == Value::Null, "cells of a bad row are NULL");
        if let Value::Text(text) = value {
            std::str::from_utf8(text).expect("texts are UTF-8");
        }
        shown.push_str(&format!("|{value:?}"));
    }
    shown
}

/// Returns the text of an error that ends a file. The error must name the file and blame its content.
fn checked(error: &Error) -> String {
    assert!(error.place().file.is_some(), "an error without the name of its file: {error}");
    assert_ne!(error.kind(), ErrorKind::Io, "an error of the system: {error}");
    error.to_string()
}
