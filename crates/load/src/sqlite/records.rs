//! Reads a table's records from its pages, for a table with the same definition.
//!
//! Records go to the new table as they are stored: nothing is decoded, and every core reads. A record gets a closer look only if
//! it holds text that is not UTF-8 or that SQLite may take for a number, is older than a column that was added later, or breaks a rule that
//! SQLite keeps. Such records are decoded, together with some neighbours, and take the way of all other rows.

use super::piece::{push_row, settle};
use super::read_bytes::ReadBytes;
use super::{BLOCK_BYTES, Table};
use crate::options::InvalidUtf8;
use crate::reader::{Batch, Piece};
use litepress_format::record::{self, RecordReader};
use litepress_format::value::Value;
use litepress_format::varint;
use litepress_rows::schema::{Generated, value_in_older_rows};
use litepress_rows::sqlite_value::to_sqlite;
use litepress_rows::{Affinity, Error, ErrorKind, Part, RecordChunk, Result};
use litepress_scan::{IndexScan, Moment, ScanPart, TableScan};
use memchr::memchr;
use rusqlite::types::{Value as OwnedValue, ValueRef};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// A reader of the records of a table.
pub(super) struct RecordScan {
    tree: Tree,
    layout: Arc<Layout>,
    bytes: Arc<ReadBytes>,
    /// Number of records that were handed out.
    pub records: u64,
    /// Declared last: the readers of pages are closed before the database.
    pub moment: Arc<Moment>,
}

enum Tree {
    Table(TableScan),
    WithoutRowid(IndexScan),
}

/// The columns of a table as its records have them.
pub(super) struct Layout {
    /// The name of the file in errors.
    file: PathBuf,
    table: String,
    /// The columns in the order of a record.
    columns: Vec<Column>,
    /// The names of the columns, by block of a batch.
    names: Vec<String>,
    /// Block of the INTEGER PRIMARY KEY.
    pub rowid_alias: Option<usize>,
    without_rowid: bool,
    /// Rowids that no column holds are kept.
    keeps_rowids: bool,
    invalid_utf8: InvalidUtf8,
}

struct Column {
    /// Its block of a batch.
    block: usize,
    refuses_null: bool,
    affinity: Affinity,
    default: Option<String>,
    /// Its value in records that end before it. `None` if it cannot be known.
    value_of_old: OnceLock<Option<OwnedValue>>,
}

impl Layout {
    /// Returns the columns of a table's records, if all are stored and the order of the blocks is that of `definition`.
    pub fn of(
        (file, table): (&Path, &Table),
        definition: &litepress_rows::Table,
        keeps_rowids: bool,
        invalid_utf8: InvalidUtf8,
    ) -> Option<Self> {
        let names: Vec<String> = table.fields.iter().map(|field| field.name.clone()).collect();
        let is_stored = |column: &litepress_rows::Column| column.generated == Generated::No;
        let is_same = names.iter().eq(definition.columns.iter().map(|column| &column.name));
        if !is_same || definition.is_virtual || !definition.columns.iter().all(is_stored) {
            return None;
        }
        let column = |position: usize| {
            let column = &definition.columns[position];
            let refuses_null = column.not_null && definition.rowid_alias != Some(position);
            let (affinity, default) = (column.affinity, column.default.clone());
            Column { block: position, refuses_null, affinity, default, value_of_old: OnceLock::new() }
        };
        Some(Self {
            file: file.to_owned(),
            table: table.name.clone(),
            columns: definition.stored_columns().into_iter().map(column).collect(),
            names,
            rowid_alias: definition.rowid_alias,
            without_rowid: definition.without_rowid,
            keeps_rowids,
            invalid_utf8,
        })
    }
}

impl RecordScan {
    /// Begins at the root page of a table. Returns `None` if pages cannot be read at this moment.
    pub fn begin(
        moment: &Arc<Moment>,
        (layout, read): (&Arc<Layout>, &Arc<ReadBytes>),
        root: u32,
    ) -> Result<Option<Self>> {
        let Some(snapshot) = moment.snapshot() else { return Ok(None) };
        let tree = match layout.without_rowid {
            true => IndexScan::new(snapshot, root, &layout.table).map(Tree::WithoutRowid),
            false => TableScan::new(snapshot, root, &layout.table).map(Tree::Table),
        };
        let tree = tree.map_err(|error| error.in_file(&layout.file))?;
        Ok(Some(Self { tree, layout: layout.clone(), bytes: read.clone(), records: 0, moment: moment.clone() }))
    }

    /// Returns the next piece, or `None` at the end. It has read its leaves: one thread after another reads them faster than
    /// several decode them.
    pub fn next_piece(&mut self) -> Result<Option<RecordPiece>> {
        let part = match &self.tree {
            Tree::Table(scan) => scan.next_scan_part(),
            Tree::WithoutRowid(scan) => scan.next_scan_part(),
        };
        let in_file = |error: Error| error.in_file(&self.layout.file);
        let Some(mut part) = part.map_err(in_file)? else { return Ok(None) };
        let rows = part.count().map_err(in_file)?;
        let leaf_bytes = part.leaf_bytes() as u64;
        self.bytes.add(leaf_bytes);
        let first_record = self.records + 1;
        self.records += rows;
        let (layout, waiting) = (self.layout.clone(), RecordChunk::new());
        Ok(Some(RecordPiece {
            part,
            layout,
            bytes: self.bytes.clone(),
            first_record,
            rows,
            read: 0,
            counted: leaf_bytes,
            seen: 0,
            waiting,
            next: 0,
            _moment: self.moment.clone(),
        }))
    }
}

impl Layout {
    /// Returns whether the table stores the record as it is.
    fn takes(&self, record: &[u8]) -> bool {
        let Some((header_len, mut at)) = varint::read(record) else { return false };
        let Some(header) = usize::try_from(header_len).ok().and_then(|len| record.get(..len)) else { return false };
        let mut body = header.len();
        for column in &self.columns {
            let Some((serial, len)) = header.get(at..).and_then(varint::read) else { return false };
            at += len;
            let Some(len) = record::body_len(serial).and_then(|len| usize::try_from(len).ok()) else { return false };
            let Some(value) = body.checked_add(len).and_then(|end| record.get(body..end)) else { return false };
            let is_wrong = match serial {
                0 => column.refuses_null,
                7 => is_nan(value),
                _ => serial >= 13 && serial % 2 == 1 && (!is_utf8(value) || column.may_cut(value)),
            };
            if is_wrong {
                return false;
            }
            body += len;
        }
        at == header.len() && body == record.len()
    }

    /// Decodes a record and appends its row to a batch. Returns the approximate size of its values.
    fn decode(&self, rowid: i64, record: &[u8], batch: &mut Batch) -> Result<usize> {
        let corrupt = |what: &str| {
            let message = format!("the record with rowid {rowid} cannot be read: {what}");
            let error = Error::new(ErrorKind::Corrupt, message).in_file(&self.file).in_table(&self.table);
            error.advise("sqlite3's .recover saves what can be read")
        };
        let mut values: Vec<ValueRef<'_>> = vec![ValueRef::Null; self.columns.len()];
        let mut reader = RecordReader::new(record).map_err(|error| corrupt(&error.to_string()))?;
        for column in &self.columns {
            values[column.block] = match reader.next().transpose().map_err(|error| corrupt(&error.to_string()))? {
                Some(value) => value_ref(value),
                None => column.value_of_old().ok_or_else(|| corrupt("it lacks columns that have no such DEFAULT"))?,
            };
        }
        if let Some(block) = self.rowid_alias {
            values[block] = ValueRef::Integer(rowid);
        } else if self.keeps_rowids && !self.without_rowid {
            batch.rowids.push(rowid);
        }
        let pushed = push_row(batch, &self.names, self.invalid_utf8, |block| Ok(values[block]));
        Ok(pushed.expect("no value fails"))
    }
}

impl Column {
    /// Returns whether SQLite may take a text up to a NUL for a number. Old releases stored such texts as they are.
    fn may_cut(&self, text: &[u8]) -> bool {
        matches!(self.affinity, Affinity::Integer | Affinity::Real | Affinity::Numeric) && memchr(0, text).is_some()
    }

    /// Returns the value in records that end before the column.
    fn value_of_old(&self) -> Option<ValueRef<'_>> {
        let value = self.value_of_old.get_or_init(|| match &self.default {
            Some(default) => value_in_older_rows(default, self.affinity),
            None => Some(OwnedValue::Null),
        });
        value.as_ref().map(ValueRef::from)
    }
}

fn value_ref(value: Value<'_>) -> ValueRef<'_> {
    match value {
        // SQLite reads it as NULL.
        Value::Real(real) if real.is_nan() => ValueRef::Null,
        value => to_sqlite(value),
    }
}

fn is_nan(body: &[u8]) -> bool {
    body.first_chunk().is_some_and(|bytes| f64::from_be_bytes(*bytes).is_nan())
}

fn is_utf8(text: &[u8]) -> bool {
    text.is_ascii() || std::str::from_utf8(text).is_ok()
}

/// The records of some leaves.
pub(super) struct RecordPiece {
    part: ScanPart,
    layout: Arc<Layout>,
    bytes: Arc<ReadBytes>,
    first_record: u64,
    rows: u64,
    /// Number of records that were handed out.
    read: u64,
    /// Number of bytes that were counted as read, and that of the records seen.
    counted: u64,
    seen: u64,
    /// Records that follow one that needs a look, from `next` on with that record.
    waiting: RecordChunk,
    next: usize,
    /// Declared last: the readers of pages are closed before the database.
    _moment: Arc<Moment>,
}

impl RecordPiece {
    /// Counts overflow pages as read: the records are longer than the leaves.
    fn count_bytes(&mut self, records: usize) {
        self.seen += records as u64;
        let more = self.seen.saturating_sub(self.counted);
        self.counted += more;
        self.bytes.add(more);
    }

    /// Appends records of the part to a chunk that may have rows.
    fn fill(&mut self, chunk: &mut RecordChunk) -> Result<()> {
        let (known, bytes, first_record) = (chunk.len(), chunk.arena().len(), chunk.first_record());
        self.part.fill(chunk).map_err(|error| error.in_file(&self.layout.file))?;
        chunk.set_first_record(first_record);
        self.count_bytes(chunk.arena().len() - bytes);
        if self.layout.without_rowid {
            // As for all rows without a rowid: their numbers.
            let first = (self.first_record + self.read + self.waiting.len() as u64).cast_signed();
            chunk.renumber(known, first);
        }
        Ok(())
    }

    /// Moves waiting records to `chunk` until one needs a look.
    fn take_waiting(&mut self, chunk: &mut RecordChunk) -> usize {
        let known = chunk.len();
        while self.next < self.waiting.len() && !chunk.is_full() {
            let record = self.waiting.record(self.next);
            if !self.layout.takes(record) {
                break;
            }
            chunk.push(self.waiting.rowids()[self.next], record);
            self.next += 1;
        }
        chunk.len() - known
    }
}

impl Piece for RecordPiece {
    fn first_record(&self) -> u64 {
        self.first_record
    }

    fn records(&self) -> u64 {
        self.rows
    }

    fn read_records(&mut self, chunk: &mut RecordChunk) -> Result<usize> {
        if self.next < self.waiting.len() {
            let taken = self.take_waiting(chunk);
            self.read += taken as u64;
            return Ok(taken);
        }
        self.waiting.clear();
        self.next = 0;
        let known = chunk.len();
        self.fill(chunk)?;
        if let Some(row) = (known..chunk.len()).find(|&row| !self.layout.takes(chunk.record(row))) {
            (row..chunk.len()).for_each(|row| self.waiting.push(chunk.rowids()[row], chunk.record(row)));
            chunk.truncate(row);
        }
        self.read += (chunk.len() - known) as u64;
        Ok(chunk.len() - known)
    }

    fn read(&mut self, batch: &mut Batch) -> Result<()> {
        // Blocks find out anew which kind of values they hold.
        *batch = Batch::default();
        batch.clear(self.layout.names.len());
        if self.next == self.waiting.len() {
            let mut waiting = std::mem::take(&mut self.waiting);
            waiting.clear();
            self.next = 0;
            self.fill(&mut waiting)?;
            self.waiting = waiting;
        }
        let mut bytes = 0;
        while self.next < self.waiting.len() && batch.rows < batch.most_rows() && bytes < BLOCK_BYTES {
            let (rowid, record) = (self.waiting.rowids()[self.next], self.waiting.record(self.next));
            bytes += self.layout.decode(rowid, record, batch)?;
            self.next += 1;
        }
        settle(batch);
        self.read += batch.rows as u64;
        Ok(())
    }
}
