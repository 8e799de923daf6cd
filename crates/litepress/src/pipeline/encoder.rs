//! The rows of one table on their way to the engine: batches become records, records become parts.

use crate::{Conflict, Error, ErrorKind, Options, Result};
use litepress_engine::{PartRows, check_update};
use litepress_load::reader::{FileColumn, Piece, Reader};
use litepress_load::schema::{ColumnMapping, Naming, matching};
use litepress_load::source::{BatchEncoder, ColumnSource};
use litepress_rows::source::PART_BYTES;
use litepress_rows::{RecordChunk, RowidOrder, Table};
use std::collections::VecDeque;

/// Size at which a part ends: one more chunk might exceed what the engine writes at once.
const FULL_BYTES: usize = PART_BYTES - 2 * RecordChunk::TARGET_BYTES;

/// Encodes the rows of one table.
///
/// Memory: the part that is being filled, about 4 MiB, and the whole parts until they are
/// [sent](super::Pipeline::send_parts).
#[derive(Debug)]
pub struct TableEncoder {
    table: Table,
    options: Options,
    rows: u64,
    /// Texts of them that were cut at a NUL.
    cut_texts: u64,
    /// The largest INTEGER PRIMARY KEY so far: rows that have none get the next one.
    largest_rowid: Option<i64>,
    /// Encodes batches with these sources of columns.
    batch_encoder: Option<(Vec<ColumnSource>, BatchEncoder)>,
    /// Columns that all rows so far lack.
    missing: Option<Vec<usize>>,
    chunk: RecordChunk,
    part: PartRows,
    /// Whole parts, in their order.
    pub(super) whole: VecDeque<PartRows>,
}

impl TableEncoder {
    pub(super) fn new(table: &Table, options: &Options) -> Self {
        Self {
            table: table.clone(),
            options: options.clone(),
            rows: 0,
            cut_texts: 0,
            // AUTOINCREMENT begins with 1, whatever is there.
            largest_rowid: table.autoincrement.then_some(0),
            batch_encoder: None,
            missing: None,
            chunk: RecordChunk::new(),
            part: PartRows::default(),
            whole: VecDeque::new(),
        }
    }

    /// Returns the table.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// Returns the columns that the rows lack.
    pub(super) fn missing(&self) -> &[usize] {
        self.missing.as_deref().unwrap_or_default()
    }

    /// Returns the number of encoded rows.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Returns the number of texts in numeric columns that were cut at a NUL, as SQLite does: only the number before it is
    /// stored.
    pub fn cut_texts(&self) -> u64 {
        self.cut_texts
    }

    /// Returns the known order of the rowids: if no column holds them, rows are numbered.
    pub(super) fn rowid_order(&self) -> RowidOrder {
        if self.table.rowid_alias.is_none() { RowidOrder::Ascending } else { RowidOrder::Unknown }
    }

    /// Finds the column of the table for each field by its name, and returns the source of every ordinary column for
    /// batches with one block per field.
    ///
    /// # Errors
    /// All fields and columns that do not match, in one error; rows that are to update others, without a key for that.
    pub fn column_sources(&self, fields: &[FileColumn]) -> Result<Vec<ColumnSource>> {
        let mapping = self.mapping(fields)?;
        let of_fields = |source: ColumnSource| match source {
            ColumnSource::File(at) => ColumnSource::File(mapping.projected[at].field.unwrap_or(at)),
            other => other,
        };
        Ok(mapping.column_sources.iter().cloned().map(of_fields).collect())
    }

    /// Tells a reader which of its columns the table takes, and returns the source of every ordinary column.
    ///
    /// # Errors
    /// As [`column_sources`](Self::column_sources); a column that the reader cannot give in the form of the table.
    pub fn supplies_of_reader(&self, reader: &mut dyn Reader) -> Result<Vec<ColumnSource>> {
        let mapping = self.mapping(reader.columns())?;
        reader.project(&mapping.projected)?;
        Ok(mapping.column_sources)
    }

    /// Maps fields to columns. An update without a key is found out here, before the rows are taken: the engine would notice
    /// only when all rows are given, and they would be lost.
    fn mapping(&self, fields: &[FileColumn]) -> Result<ColumnMapping> {
        let mapping = matching(&self.table, fields, Naming::Given, &[], None).map_err(Error::all_of)?;
        check_update(&self.table, &self.options, &mapping.missing)?;
        Ok(mapping)
    }

    /// Encodes all rows of a piece.
    ///
    /// # Errors
    /// A row that cannot be read or that breaks a rule of the table. The rows of the piece are lost then.
    pub fn encode(&mut self, piece: &mut dyn Piece, column_sources: &[ColumnSource]) -> Result<()> {
        self.know_missing(column_sources)?;
        let mut batch_encoder = match self.batch_encoder.take() {
            Some((known, batch_encoder)) if known == column_sources => batch_encoder,
            _ => BatchEncoder::new(&self.table, self.options.on_conflict, column_sources.to_vec()),
        };
        let done = self.encode_with(&mut batch_encoder, piece);
        self.batch_encoder = Some((column_sources.to_vec(), batch_encoder));
        done
    }

    /// Notes the columns that the rows lack. Fails if rows are updated and lack other columns than those before: an update would
    /// lose values.
    fn know_missing(&mut self, column_sources: &[ColumnSource]) -> Result<()> {
        let columns = self.table.ordinary_columns().zip(column_sources);
        let missing: Vec<usize> =
            columns.filter(|(_, source)| !matches!(source, ColumnSource::File(_))).map(|(column, _)| column).collect();
        let is_other = self.missing.as_ref().is_some_and(|known| *known != missing);
        if is_other && self.options.on_conflict == Conflict::Update {
            let message = "rows that update others have values for other columns than the rows before them";
            let error = Error::new(ErrorKind::Usage, message).in_table(&self.table.name);
            return Err(error.advise("add rows with different columns one writer after another"));
        }
        self.missing = Some(missing);
        Ok(())
    }

    fn encode_with(&mut self, batch_encoder: &mut BatchEncoder, piece: &mut dyn Piece) -> Result<()> {
        loop {
            piece.read(&mut batch_encoder.batch).map_err(|error| error.in_table(&self.table.name))?;
            let rows = batch_encoder.batch.rows as u64;
            if rows == 0 {
                return Ok(());
            }
            let first_record = self.rows + 1;
            if let Some(bad) = batch_encoder.batch.bad.drain(..).next() {
                return Err(bad.error.in_table(&self.table.name).in_record(first_record + bad.row as u64));
            }
            let known = self.chunk.len();
            batch_encoder.encode(first_record, &mut self.chunk)?;
            self.cut_texts += batch_encoder.take_cut_texts();
            self.number(known, batch_encoder.numbers_rows())?;
            self.rows += rows;
            if self.chunk.is_full() {
                self.end_chunk();
            }
        }
    }

    /// Numbers the encoded rows from `known` on, if they have no INTEGER PRIMARY KEY: as SQLite does, from the largest one
    /// on, without a gap for rows that were left out.
    fn number(&mut self, known: usize, is_automatic: bool) -> Result<()> {
        if self.table.rowid_alias.is_none() {
            return Ok(());
        }
        if is_automatic && self.chunk.len() > known {
            let last_step = (self.chunk.len() - known) as i64;
            let before = self.largest_rowid.unwrap_or(0);
            if before.checked_add(last_step).is_none() {
                let message = format!("no INTEGER PRIMARY KEY is left for the row: the largest so far is {before}");
                let error = Error::new(ErrorKind::Limit, message).in_table(&self.table.name);
                return Err(error.advise("give all rows keys"));
            }
            self.chunk.renumber(known, before + 1);
        }
        self.largest_rowid = self.largest_rowid.max(self.chunk.rowids()[known..].iter().copied().max());
        Ok(())
    }

    /// Ends the last part.
    pub(super) fn end(&mut self) {
        self.end_chunk();
        self.end_part();
    }

    fn end_chunk(&mut self) {
        if self.chunk.is_empty() {
            return;
        }
        self.part.push(std::mem::take(&mut self.chunk));
        if self.part.bytes() >= FULL_BYTES {
            self.end_part();
        }
    }

    fn end_part(&mut self) {
        let part = std::mem::take(&mut self.part);
        if !part.is_empty() {
            self.whole.push_back(part);
        }
    }
}
