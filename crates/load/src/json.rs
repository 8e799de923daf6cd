//! Reads JSON objects as a stream: one per line (NDJSON), one after another with any white space between and within them, in a
//! top-level array, or in an array within other objects.
//!
//! ```text
//! text --path.rs--> records --frame.rs--> pieces of whole records --record.rs--> values by key --columns.rs--> blocks of cells
//!                                                                                             `-----------------> scan
//! ```
//!
//! record.rs knows the keys and their places, features.rs those of GeoJSON, feature_files.rs its files, value.rs parses the values, and utf8.rs handles texts that are not UTF-8. The
//! beginning decides about the layout (layout.rs). The grammar is RFC 8259; [`JsonOptions::nan`] adds NaN and Infinity.
//!
//! Values are stored as follows:
//!
//! | JSON                                    | column of TEXT affinity  | other columns                 |
//! |-----------------------------------------|--------------------------|-------------------------------|
//! | string                                  | text, escapes decoded    | text, escapes decoded         |
//! | integer of 64 bits                      | text as it is written    | integer                       |
//! | other number                            | text as it is written    | nearest double; beyond: error |
//! | `true`, `false`                         | text `true`, `false`     | 1, 0                          |
//! | array, object                           | text as it is written    | text as it is written         |
//! | `null`, missing key, [nulls](ReadOptions::nulls) | NULL            | NULL                          |
//!
//! A key matches the column of the same name, or else one that differs only in the case of ASCII letters. A record is bad if
//! it is not an object, repeats a key, nests deeper than [`MAX_DEPTH`], or contains half a surrogate pair or invalid UTF-8
//! (unless [`InvalidUtf8`] allows it).

mod columns;
mod fault;
mod feature_files;
mod features;
mod frame;
mod layout;
mod path;
mod record;
#[cfg(test)]
mod tests;
mod utf8;
mod value;

pub(crate) use columns::Columns;
pub use feature_files::options_of_features;
pub(crate) use features::CRS_OF_FEATURES;
pub use frame::MAX_RECORD_TEXT_BYTES;
pub use value::MAX_DEPTH;
pub(crate) use value::{Item, Sink};

use crate::framing::{FramedReader, PIECE_BYTES, Position, Text};
use crate::infer::{FileStats, ScannedValue};
use crate::input::{Input, read_failed};
#[cfg(doc)]
use crate::options::JsonOptions;
use crate::options::{InvalidUtf8, ReadOptions};
use crate::reader::{BadRecord, Batch, FileColumn, Piece, ProjectedColumn, Reader};
use fault::{Fault, Mistake};
use frame::{JsonFraming, Layout, PlaceCounter, Records, Span, is_space, place_in};
use layout::layout_of;
use litepress_format::value::Value;
use litepress_rows::cells::BLOCK_ROWS;
use litepress_rows::{Affinity, Error, ErrorKind, Result, quote};
use record::{IGNORED, RecordParser, Targets};
use std::borrow::Cow;
use std::cell::Cell;
use std::io::{Cursor, Read};
use std::path::Path;
use std::sync::Arc;
use utf8::replace_invalid;
use value::Rules;

/// Size at which a batch ends, in bytes of its records' text.
const BATCH_BYTES: usize = 2 << 20;

/// Maximum number of values in a batch. A record may name a few of thousands of columns, and the others are NULL.
const BATCH_VALUES: usize = 1 << 16;

/// Opens a JSON file.
///
/// # Errors
/// If the file cannot be opened or read.
pub fn open(input: &Input, options: &ReadOptions) -> Result<Box<dyn Reader>> {
    Ok(Box::new(JsonReader::new(input.text(options)?, &input.name, options)?))
}

/// A reader of JSON records.
pub struct JsonReader {
    framed: FramedReader<JsonFraming>,
    layout: Layout,
    /// Line of the next piece's start, and number of characters before it in that line.
    next: (u64, u64),
    wants: Projection,
    /// No option sets the size of pieces.
    has_usual_pieces: bool,
    /// The name of the reference system in front of the features of GeoJSON.
    crs: Option<String>,
}

/// The options for reading records.
#[derive(Clone, Default)]
struct Projection {
    names: Arc<[String]>,
    /// Keys to ignore. `None` ignores all keys without a column.
    ignored: Option<Arc<[String]>>,
    affinities: Arc<[Affinity]>,
    /// Columns whose keys every record needs.
    needed: Arc<[usize]>,
    rules: Rules,
}

impl JsonReader {
    /// Creates a reader of `stream`, which is UTF-8 text without byte-order mark. `name` is its name in errors. Reads up to the
    /// first character that is not white space.
    ///
    /// # Errors
    /// Any error of the stream.
    pub fn new(stream: Box<dyn Read + Send>, name: &Path, options: &ReadOptions) -> Result<Self> {
        let path = &options.json.path;
        let begun = if path.is_empty() { begin(stream, name)? } else { path::enter(stream, name, path)? };
        let OpenArray { first, line, characters, read, crs, stream } = begun;
        let layout = match first {
            Some(b'[') => Layout::Array,
            _ if !path.is_empty() => Layout::Stream,
            _ => layout_of(&read, options.json.layout),
        };
        let start = Position { record: 1, line };
        let stream = Box::new(Cursor::new(read).chain(stream));
        let piece_bytes = options.piece_bytes.unwrap_or(PIECE_BYTES);
        let rules = Rules {
            nulls: options.nulls.clone().into(),
            invalid_utf8: options.invalid_utf8,
            flatten: options.json.flatten,
            features: options.json.features.clone().map(Arc::new),
            nan: options.json.nan,
            words: options.words.clone(),
        };
        let mut framing = JsonFraming::within(layout, path.len());
        if options.json.features.as_ref().is_some_and(|features| !features.has_crs) {
            framing.keep_tail();
        }
        let framed = FramedReader::new(stream, name, framing, start, piece_bytes);
        Ok(Self {
            framed,
            layout,
            next: (line, characters),
            wants: Projection { rules, ..Projection::default() },
            has_usual_pieces: options.piece_bytes.is_none(),
            crs: crs.filter(|_| options.json.features.is_some()),
        })
    }

    fn piece(&mut self, text: Text) -> JsonPiece {
        let (line, column) = self.next;
        self.next = match self.layout {
            // Pieces of lines end at line ends.
            Layout::Lines => (line, 0),
            Layout::Array | Layout::Stream => match place_in(&text.bytes) {
                (0, characters) => (line, column + characters),
                (lines, characters) => (line + lines, characters),
            },
        };
        JsonPiece {
            layout: self.layout,
            records: Records::new(self.layout, text.start.line),
            text,
            column,
            read: 0,
            wants: self.wants.clone(),
            parser: None,
            columns: Columns::new(&self.wants.affinities),
            rows: Vec::new(),
            last_error: Cell::default(),
        }
    }

    /// Fails if the file ends within the objects around its records.
    fn refuse_cut_off(&self) -> Result<()> {
        if !self.framed.framing().is_cut_off() {
            return Ok(());
        }
        let (line, characters) = self.next;
        let error = Error::new(ErrorKind::Data, "the file ends within the object that holds the records");
        Err(error.at(line, characters + 1).advise("the file may be cut off"))
    }

    /// Fails if a reference system behind the features of GeoJSON comes too late.
    fn refuse_late_crs(&self) -> Result<()> {
        let Some(tail) = self.framed.framing().tail() else { return Ok(()) };
        let (line, characters) = self.next;
        tail.refuse_other_crs(self.crs.as_deref()).map_err(|error| error.at(line, characters + 1))
    }

    /// Converts a character that the framing counted from the start of a piece to one counted from the start of its line.
    fn place(&self, error: Error) -> Error {
        match (error.place().line, error.place().character) {
            (Some(line), Some(character)) if line == self.next.0 => error.at(line, character + self.next.1),
            _ => error,
        }
    }
}

/// A stream whose beginning was read.
struct OpenArray {
    /// The first byte that is not white space.
    first: Option<u8>,
    /// Number of its line.
    line: u64,
    /// Number of characters in front of `read` in that line.
    characters: u64,
    /// Bytes read, from the first one on.
    read: Vec<u8>,
    /// The name of a reference system in front of the records.
    crs: Option<String>,
    stream: Box<dyn Read + Send>,
}

/// Reads up to the first character that is not white space. White space is not kept: a file may begin with any amount of it.
fn begin(mut stream: Box<dyn Read + Send>, name: &Path) -> Result<OpenArray> {
    const CHUNK_BYTES: u64 = 1 << 16;
    let (mut line, mut characters, mut read) = (1, 0, Vec::new());
    loop {
        let chunk = (&mut stream).take(CHUNK_BYTES).read_to_end(&mut read);
        let is_end = chunk.map_err(|error| read_failed(name, error))? == 0;
        let blank = read.iter().take_while(|&&byte| is_space(byte)).count();
        let (lines, behind) = place_in(&read[..blank]);
        (line, characters) = if lines == 0 { (line, characters + behind) } else { (line + lines, behind) };
        read.drain(..blank);
        let first = read.first().copied();
        if first.is_some() || is_end {
            return Ok(OpenArray { first, line, characters, read, crs: None, stream });
        }
    }
}

impl Reader for JsonReader {
    fn columns(&self) -> &[FileColumn] {
        &[]
    }

    fn project(&mut self, columns: &[ProjectedColumn]) -> Result<()> {
        for (position, ProjectedColumn { name, form, .. }) in columns.iter().enumerate() {
            let refuse = |message: String| Err(Error::new(ErrorKind::Usage, message).in_column(name));
            if let Some(form) = form {
                return refuse(format!(
                    "JSON has no form {form} to choose: the column's type says what becomes of values"
                ));
            }
            if columns[..position].iter().any(|other| other.name == *name) {
                return refuse("two columns of the table are to hold the values of one key".to_owned());
            }
        }
        self.wants.names = columns.iter().map(|projected| projected.name.clone()).collect();
        if self.has_usual_pieces {
            self.framed.set_piece_bytes(piece_bytes(columns.len()));
        }
        self.wants.affinities = columns.iter().map(|projected| projected.affinity).collect();
        self.wants.needed = (0..columns.len()).filter(|column| columns[*column].is_needed).collect();
        Ok(())
    }

    fn ignore_columns(&mut self, names: &[String]) {
        self.wants.ignored = Some(names.into());
    }

    fn crs(&self, _column: &str) -> Option<String> {
        self.crs.clone()
    }

    fn next_piece(&mut self) -> Result<Option<Box<dyn Piece>>> {
        loop {
            let Some(text) = self.framed.next_text().map_err(|error| self.place(error))? else {
                self.refuse_cut_off()?;
                return self.refuse_late_crs().map(|()| None);
            };
            let piece = self.piece(text);
            if piece.records() > 0 {
                return Ok(Some(Box::new(piece)));
            }
        }
    }
}

/// Consecutive records of a JSON file.
struct JsonPiece {
    layout: Layout,
    text: Text,
    /// Number of characters before the text in its first line.
    column: u64,
    records: Records,
    /// Number of records read.
    read: u64,
    wants: Projection,
    /// Created by the first call, for reading or for a scan.
    parser: Option<RecordParser>,
    columns: Columns,
    /// Positions of the records of the last batch.
    rows: Vec<Span>,
    /// The place of the last error.
    last_error: Cell<PlaceCounter>,
}

impl Piece for JsonPiece {
    fn first_record(&self) -> u64 {
        self.text.start.record
    }

    fn records(&self) -> u64 {
        self.text.records
    }

    fn read(&mut self, batch: &mut Batch) -> Result<()> {
        batch.clear(self.wants.affinities.len());
        self.rows.clear();
        self.columns.begin(&mut batch.blocks);
        let parser = self.parser.take();
        let mut parser = parser
            .unwrap_or_else(|| self.new_parser(Targets::Columns(self.wants.names.clone(), self.wants.ignored.clone())));
        let mut bytes = 0;
        let most_rows = most_rows(self.wants.affinities.len()).min(batch.most_rows());
        while self.rows.len() < most_rows && bytes < BATCH_BYTES && self.read < self.text.records {
            let (row, span) = (self.rows.len(), self.next_record());
            bytes += span.end - span.start;
            self.rows.push(span);
            let record = readable(&self.text.bytes[span.start..span.end], self.wants.rules.invalid_utf8);
            let parsed = parser.parse(&record, &mut self.columns).and_then(|()| self.refuse_absent_key(row));
            self.columns.end_row(row, parsed.is_err());
            if let Err(fault) = parsed {
                let fault = self.worst(fault, &record);
                let error = self.explain(&fault, &record, span);
                batch.bad.push(BadRecord { row, error, is_left_out: false });
            }
        }
        self.parser = Some(parser);
        batch.rows = self.rows.len();
        self.columns.finish(batch);
        Ok(())
    }

    fn scan_types(&mut self, findings: &mut FileStats) -> Result<()> {
        let mut parser = self.new_parser(Targets::Keys);
        let mut observed = ObservedRow::default();
        while self.read < self.text.records {
            let number = self.text.start.record + self.read;
            let span = self.next_record();
            let record = readable(&self.text.bytes[span.start..span.end], self.wants.rules.invalid_utf8);
            observed.clear();
            match parser.parse(&record, &mut observed) {
                Ok(()) => {
                    findings.records += 1;
                    observed.tell(findings, &parser, number);
                }
                Err(fault) => {
                    findings.see_bad(number, || self.explain(&fault.diagnose(&record, self.layout), &record, span))
                }
            }
        }
        Ok(())
    }

    fn line(&self, row: usize) -> Option<u64> {
        Some(self.rows[row].line)
    }

    fn text_bytes(&self) -> (usize, usize) {
        (self.text.bytes.len(), self.records.position())
    }

    fn release(&mut self) {
        let (lines, characters) = place_in(&self.text.bytes[..self.records.position()]);
        self.column = if lines == 0 { self.column + characters } else { characters };
        self.text.bytes = self.text.bytes.split_off(self.records.position());
        self.records.restart();
        self.last_error.take();
    }

    fn raw(&self, row: usize) -> Option<Cow<'_, [u8]>> {
        let Span { start, end, .. } = self.rows[row];
        Some(Cow::Borrowed(&self.text.bytes[start..end]))
    }
}

impl JsonPiece {
    fn new_parser(&self, targets: Targets) -> RecordParser {
        RecordParser::new(targets, self.wants.rules.clone())
    }

    /// Fails if the last record lacks a key that every record needs.
    #[inline]
    fn refuse_absent_key(&self, row: usize) -> Result<(), Fault> {
        match self.wants.needed.iter().find(|column| !self.columns.has_value(**column, row)) {
            Some(column) => Err(Fault::lacks_key(&self.wants.names[*column])),
            None => Ok(()),
        }
    }

    /// Returns the fault to report. An unknown key may be the result of a fault further on: then the record is not JSON at all.
    #[cold]
    fn worst(&self, fault: Fault, record: &[u8]) -> Fault {
        let syntax = || self.new_parser(Targets::Keys).parse(record, &mut ObservedRow::default()).err();
        let other = (fault.mistake == Mistake::UnknownKey).then(syntax).flatten();
        other.unwrap_or(fault).diagnose(record, self.layout)
    }

    fn next_record(&mut self) -> Span {
        self.read += 1;
        self.records.next(&self.text.bytes)
    }

    /// Converts a fault to an error. `record` is the text at `span`, possibly with its invalid bytes replaced.
    #[cold]
    fn explain(&self, fault: &Fault, record: &[u8], span: Span) -> Error {
        let at = fault.at.min(record.len());
        let (lines, mut character) = place_in(&record[..at]);
        if lines == 0 {
            let mut counter = self.last_error.get();
            let (piece_lines, in_front) = counter.place_in(&self.text.bytes, span.start);
            self.last_error.set(counter);
            character += in_front + if piece_lines == 0 { self.column } else { 0 };
        }
        let mut error = Error::new(ErrorKind::Data, fault.message.clone()).at(span.line + lines, character + 1);
        if let Some(key) = &fault.key {
            error = error.in_column(key);
        }
        if let Some(advice) = &fault.advice {
            error = error.advise(advice);
        }
        // Show the value from its beginning, if the fault is near enough to be seen.
        const NEAR_BYTES: usize = 40;
        let from = fault.start.filter(|start| at - start <= NEAR_BYTES).unwrap_or(at);
        let value = &record[from..fault.len.map_or(record.len(), |len| from + len)];
        if value.is_empty() { error } else { error.with_value(shown(value)) }
    }
}

/// Returns the beginning of a value for an error.
fn shown(value: &[u8]) -> String {
    // Longer than an error shows, so that `quote` marks the cut.
    const MOST_BYTES: usize = 256;
    quote(&Value::Text(&value[..value.len().min(MOST_BYTES)]))
}

/// Returns the size of a piece for a table of `columns` columns. A row takes at least one byte per column, even if its record
/// names few of them. So the more columns there are, the smaller are the pieces.
fn piece_bytes(columns: usize) -> usize {
    const USUAL_COLUMNS: usize = 64;
    PIECE_BYTES * USUAL_COLUMNS / columns.max(USUAL_COLUMNS)
}

fn most_rows(columns: usize) -> usize {
    (BATCH_VALUES / columns.max(1)).clamp(1, BLOCK_ROWS)
}

fn readable(record: &[u8], invalid_utf8: InvalidUtf8) -> Cow<'_, [u8]> {
    if invalid_utf8 == InvalidUtf8::Replace { replace_invalid(record) } else { Cow::Borrowed(record) }
}

/// The values of one record for a scan, held back until the record proves valid.
#[derive(Default)]
struct ObservedRow {
    /// Key, kind and end in `text` of each value.
    seen: Vec<(usize, Kind, usize)>,
    text: Vec<u8>,
    /// The column of each key, if known.
    columns: Vec<Option<usize>>,
}

#[derive(Clone, Copy)]
enum Kind {
    Null,
    Boolean(bool),
    Number,
    Text,
    Nested,
}

impl ObservedRow {
    fn clear(&mut self) {
        self.seen.clear();
        self.text.clear();
    }

    fn tell(&mut self, findings: &mut FileStats, parser: &RecordParser, record: u64) {
        let mut start = 0;
        for &(key, kind, end) in &self.seen {
            if self.columns.len() <= key {
                self.columns.resize(key + 1, None);
            }
            let column = *self.columns[key].get_or_insert_with(|| findings.column(parser.key(key)));
            let text = &self.text[start..end];
            let seen = match kind {
                Kind::Null => ScannedValue::Null,
                Kind::Boolean(flag) => ScannedValue::Boolean(flag),
                Kind::Number => ScannedValue::Number(text),
                Kind::Text => ScannedValue::String(text),
                Kind::Nested => ScannedValue::Nested(text),
            };
            findings.observe(column, seen, record);
            start = end;
        }
    }
}

impl Sink for ObservedRow {
    #[inline]
    fn take(&mut self, target: usize, item: Item<'_>) -> Result<(), &'static str> {
        if target == IGNORED {
            return Ok(());
        }
        let (kind, text) = match item {
            Item::Null => (Kind::Null, &[][..]),
            Item::Boolean(flag) => (Kind::Boolean(flag), &[][..]),
            Item::Int(_, text) | Item::Number(text) => (Kind::Number, text),
            Item::Text(text) | Item::Blob(text) | Item::Word(text, _) => (Kind::Text, text),
            Item::Nested(text) => (Kind::Nested, text),
        };
        self.text.extend_from_slice(text);
        self.seen.push((target, kind, self.text.len()));
        Ok(())
    }
}
