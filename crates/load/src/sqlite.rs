//! Reads tables of another SQLite database.
//!
//! Values keep their storage class: integer, real, text, blob or NULL in any column. Rows come in rowid order, or in key order
//! from WITHOUT ROWID tables. A rowid that no column holds is kept on request. Generated columns are left out. The content of a
//! virtual table is that of its shadow tables.
//!
//! **All tables are read from one snapshot.** They are read one after another through one connection, which holds a read
//! transaction from [`Database::open`] on ([`Moment`]). In WAL mode, later commits of others are not seen; without it, writers
//! wait. Each table is stepped through by a thread that ends before its reader does. For a table with the same definition, all
//! threads read records from pages (records.rs), which are those of the same moment.
//!
//! Of more than 8 databases, none stays open: each is released once its tables are known, and
//! opened again when its turn comes (database_file.rs).

mod catalogue;
mod database_file;
mod piece;
mod read_bytes;
mod records;

pub use catalogue::{Extra, ExtraKind, Object, Table};

use crate::input::Input;
use crate::options::{InvalidUtf8, ReadOptions};
use crate::reader::{FileColumn, Piece, ProjectedColumn, Reader};
use catalogue::Catalogue;
use database_file::DatabaseFile;
use litepress_format::header::WAL_VERSION;
use litepress_rows::sqlite::lossy_text;
use litepress_rows::{Error, ErrorKind, Result, quoted_name};
use litepress_scan::Moment;
use piece::{PieceBuilder, TablePiece};
use read_bytes::ReadBytes;
use records::{Layout, RecordScan};
use rusqlite::Connection;
use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

/// Number of databases that stay open from the plan to the end. Each takes three files, and three more for each thread that
/// reads it.
pub(crate) const MOST_KEPT: usize = 8;
/// Target size of a piece in bytes of values. A single row may exceed it.
const PIECE_BYTES: usize = 4 << 20;
/// Target size of a block in bytes of values. A single row may exceed it.
const BLOCK_BYTES: usize = 1 << 20;
/// Number of pieces that are read ahead.
const PIECES_AHEAD: usize = 2;

/// A snapshot of a database that is being read.
#[derive(Debug)]
pub struct Database {
    file: Arc<DatabaseFile>,
    /// Size of the file, if known.
    bytes: Option<u64>,
    tables: Vec<Arc<Table>>,
    shadows: Vec<Arc<Table>>,
    /// All of these tables, by name.
    by_name: HashMap<String, Arc<Table>>,
    extras: Vec<Extra>,
    statistics: Vec<String>,
    settings: Settings,
}

/// Settings that belong to the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Bytes of a page.
    pub page_size: u32,
    /// The database is in WAL mode.
    pub is_wal: bool,
    /// `PRAGMA auto_vacuum`
    pub auto_vacuum: u8,
    /// Texts are UTF-8.
    pub is_utf8: bool,
    /// `PRAGMA user_version`
    pub user_version: i32,
    /// `PRAGMA application_id`
    pub application_id: i32,
}

/// Returns the tables of a database, without SQLite's own tables, virtual tables and shadow tables.
///
/// # Errors
/// As [`Database::open`].
pub fn tables(input: &Input) -> Result<Vec<Arc<Table>>> {
    Ok(Database::open(input)?.tables)
}

impl Database {
    /// Opens a database for reading. Nothing is changed, and others may use the database meanwhile.
    ///
    /// # Errors
    /// If the file cannot be opened, is not a database, is encrypted, or needs recovery by SQLite first.
    pub fn open(input: &Input) -> Result<Self> {
        if input.path().is_none() {
            // Only a file with a name can be a database; this error says what to do.
            drop(input.file()?);
        }
        let (file, moment) = DatabaseFile::open(&input.name)?;
        let catalogue = Catalogue::read(&moment.connection());
        let Catalogue { tables, shadows, extras, statistics, mut settings } =
            catalogue.map_err(|error| moment.failure(error))?;
        // A file that is read without locks has another PRAGMA journal_mode.
        settings.is_wal |= moment.snapshot().is_some_and(|snapshot| snapshot.header().read_version == WAL_VERSION);
        moment.check_unchanged()?;
        let by_name = tables.iter().chain(&shadows).map(|table| (table.name.clone(), table.clone())).collect();
        Ok(Self { file: Arc::new(file), bytes: input.bytes, tables, shadows, by_name, extras, statistics, settings })
    }

    /// Closes the database, so that it can be replaced. Readers that are open end. Until it is replaced, it can be read again.
    pub fn close(&self) {
        self.file.close();
    }

    /// Closes the database until a table is read. It must not be changed meanwhile.
    pub(crate) fn release(&self) {
        self.file.release();
    }

    /// Returns the name of the file in errors.
    pub fn name(&self) -> &Path {
        self.file.name()
    }

    /// Returns the tables in the order of their creation.
    pub fn tables(&self) -> &[Arc<Table>] {
        &self.tables
    }

    /// Returns the views, the virtual tables and the triggers of views, in the order of their creation.
    pub fn extras(&self) -> &[Extra] {
        &self.extras
    }

    /// Returns the shadow tables, in which virtual tables keep their data.
    pub fn shadows(&self) -> &[Arc<Table>] {
        &self.shadows
    }

    /// Returns the names of the tables with statistics for the planner.
    pub fn statistics(&self) -> &[String] {
        &self.statistics
    }

    /// Returns the settings of the file.
    pub fn settings(&self) -> Settings {
        self.settings
    }

    /// Returns the texts of a column of a small table.
    ///
    /// # Errors
    /// If the table cannot be read.
    pub(crate) fn texts(&self, table: &str, column: &str) -> Result<Vec<String>> {
        let moment = self.file.moment()?;
        let texts = texts(&moment.connection(), &quoted_name(table), &quoted_name(column));
        texts.map_err(|error| moment.failure(error))
    }

    /// Returns a reader of a table. Tables are read one after another: call this only after the previous reader has returned its
    /// last piece or was dropped.
    ///
    /// # Errors
    /// If the table does not exist.
    pub fn reader(&self, table: &str, options: &ReadOptions) -> Result<Box<dyn Reader>> {
        let Some(table) = self.by_name.get(table).cloned() else {
            let message = format!("there is no table {}", quoted_name(table));
            return Err(Error::new(ErrorKind::Usage, message).in_file(self.name()));
        };
        let positions = (0..table.fields.len()).collect();
        // The share of one of several tables is not known.
        let most = self.bytes.filter(|_| self.by_name.len() == 1);
        Ok(Box::new(TableReader {
            file: self.file.clone(),
            is_utf8: self.settings.is_utf8,
            table,
            positions,
            keeps_rowids: false,
            options: options.clone(),
            read: Arc::new(ReadBytes::new(options.bytes_read.clone(), most)),
            layout: None,
            stage: Stage::Unread,
        }))
    }
}

fn texts(connection: &Connection, table: &str, column: &str) -> rusqlite::Result<Vec<String>> {
    let mut query = connection.prepare(&format!("SELECT {column} FROM {table} WHERE typeof({column}) = 'text'"))?;
    query.query_map([], |row| lossy_text(row, 0))?.collect()
}

/// A reader of one table.
struct TableReader {
    file: Arc<DatabaseFile>,
    is_utf8: bool,
    table: Arc<Table>,
    positions: Vec<usize>,
    keeps_rowids: bool,
    options: ReadOptions,
    read: Arc<ReadBytes>,
    /// The columns of its records, if these are read as they are stored.
    layout: Option<Arc<Layout>>,
    stage: Stage,
}

/// The progress of a reader.
enum Stage {
    Unread,
    /// Records are read as they are stored.
    Records(Box<RecordScan>),
    PieceReader(Stepper),
    Ended,
}

/// A thread that steps through a table. Dropping it joins the thread, so that the connection is free.
struct Stepper {
    /// `None` while it is dropped: the thread ends when its channel is closed.
    pieces: Option<Receiver<Result<Option<TablePiece>>>>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Stepper {
    fn drop(&mut self) {
        self.pieces = None;
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was reported by its missing piece.
            let _ = thread.join();
        }
    }
}

impl Reader for TableReader {
    fn last_sequence(&self) -> Option<i64> {
        self.table.last_sequence
    }

    fn keep_rowids(&mut self) {
        self.keeps_rowids = true;
    }

    fn columns(&self) -> &[FileColumn] {
        &self.table.fields
    }

    fn project(&mut self, columns: &[ProjectedColumn]) -> Result<()> {
        let position = |projected: &ProjectedColumn| {
            if projected.form.is_some() {
                let why = "values of a SQLite database are taken as they are: they have no other form";
                return Err(Error::new(ErrorKind::Usage, why).in_column(&projected.name));
            }
            let position =
                projected.field.or_else(|| self.table.fields.iter().position(|field| field.name == projected.name));
            position
                .filter(|position| *position < self.table.fields.len())
                .ok_or_else(|| Error::new(ErrorKind::Usage, "the table has no such column").in_column(&projected.name))
        };
        self.positions = columns.iter().map(position).collect::<Result<_>>()?;
        Ok(())
    }

    fn give_records(&mut self, table: &litepress_rows::Table) -> Result<bool> {
        let is_whole = self.positions.iter().copied().eq(0..self.table.fields.len());
        if is_whole && self.is_utf8 {
            let layout =
                Layout::of((self.file.name(), &self.table), table, self.keeps_rowids, self.options.invalid_utf8);
            self.layout = layout.map(Arc::new);
        }
        Ok(self.layout.is_some())
    }

    fn rowid_range(&self) -> Result<Option<RangeInclusive<i64>>> {
        let Some(alias) = self.layout.as_ref().and_then(|layout| layout.rowid_alias) else { return Ok(None) };
        let moment = self.file.moment()?;
        let range = rowid_range(&moment.connection(), &self.table.name, &quoted_name(&self.table.fields[alias].name));
        range.map(Some).map_err(|error| moment.failure(error))
    }

    fn next_piece(&mut self) -> Result<Option<Box<dyn Piece>>> {
        if let Stage::Records(scan) = &mut self.stage {
            let piece = scan.next_piece()?;
            if piece.is_none() {
                let (moment, records) = (scan.moment.clone(), scan.records);
                self.stage = Stage::Ended;
                moment.check_unchanged()?;
                self.read.complete();
                self.note_rowids(&moment, records)?;
            }
            return Ok(piece.map(|piece| Box::new(piece) as Box<dyn Piece>));
        }
        if let Stage::Unread = self.stage {
            self.stage = self.begin()?;
            return self.next_piece();
        }
        let Stage::PieceReader(Stepper { pieces: Some(pieces), .. }) = &self.stage else { return Ok(None) };
        // The thread always sends its end; one that hangs up without it has panicked.
        let piece = pieces.recv().expect("the thread that reads the table says how it ended");
        if !matches!(piece, Ok(Some(_))) {
            self.stage = Stage::Ended;
        }
        Ok(piece?.map(|piece| Box::new(piece) as Box<dyn Piece>))
    }
}

impl TableReader {
    /// Opens the database if it is closed, and begins with the first record.
    fn begin(&self) -> Result<Stage> {
        let moment = self.file.moment()?;
        if let Some(layout) = &self.layout
            && let Some(scan) = RecordScan::begin(&moment, (layout, &self.read), self.table.root_page)?
        {
            return Ok(Stage::Records(Box::new(scan)));
        }
        Ok(Stage::PieceReader(self.step(moment)))
    }

    /// Notes whether rowids that no column holds differ from the record numbers.
    fn note_rowids(&self, moment: &Moment, records: u64) -> Result<()> {
        let renumbered = is_renumbered(&moment.connection(), &self.table, records);
        if renumbered.map_err(|error| moment.failure(error))? {
            self.table.is_renumbered.store(true, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Starts the thread that steps through the table.
    fn step(&self, moment: Arc<Moment>) -> Stepper {
        let (send, receive) = sync_channel(PIECES_AHEAD);
        let stepping = Stepping {
            names: self.positions.iter().map(|&position| self.table.fields[position].name.clone()).collect(),
            rowid: self.table.hidden_rowid.filter(|_| self.keeps_rowids),
            invalid_utf8: self.options.invalid_utf8,
            piece_bytes: self.options.piece_bytes.unwrap_or(PIECE_BYTES),
            read: self.read.clone(),
        };
        let (name, table) = (self.file.name().to_owned(), self.table.clone());
        let refused = send.clone();
        let thread = std::thread::Builder::new().spawn(move || {
            let ended = step_through(&moment, &table, &stepping, &send);
            // Sending fails if the reader was dropped.
            let _ = send.send(match ended {
                Ok(()) => Ok(None),
                Err(error) => Err(error.in_file(&name).in_table(&table.name)),
            });
        });
        let thread = thread.map_err(|error| {
            // The channel has room for it: the thread, which has not begun, sends nothing.
            let _ = refused.try_send(Err(Error::io("start a thread to read", self.file.name(), error)));
        });
        Stepper { pieces: Some(receive), thread: thread.ok() }
    }
}

/// The options for stepping through a table.
struct Stepping {
    names: Vec<String>,
    /// The name of the rowid, if it is read.
    rowid: Option<&'static str>,
    invalid_utf8: InvalidUtf8,
    piece_bytes: usize,
    read: Arc<ReadBytes>,
}

/// Reads the table to its end, or until its reader is dropped.
fn step_through(
    moment: &Moment,
    table: &Table,
    stepping: &Stepping,
    send: &SyncSender<Result<Option<TablePiece>>>,
) -> Result<()> {
    let Some(connection) = moment.free_connection() else {
        let message = "another table of the database is being read: tables are read one after another";
        return Err(Error::new(ErrorKind::Usage, message));
    };
    send_pieces(&connection, table, stepping, send).map_err(|error| moment.failure(error))?;
    moment.check_unchanged()
}

fn send_pieces(
    connection: &Connection,
    table: &Table,
    stepping: &Stepping,
    send: &SyncSender<Result<Option<TablePiece>>>,
) -> rusqlite::Result<()> {
    // A table has rows even if none of its columns is requested.
    let columns: Vec<String> = stepping.names.iter().map(|name| quoted_name(name)).collect();
    let mut columns = if columns.is_empty() { "NULL".to_owned() } else { columns.join(", ") };
    if let Some(rowid) = stepping.rowid {
        columns = format!("{columns}, {rowid}");
    }
    // NOT INDEXED: a covering index would return rows in its own order.
    let sql = format!("SELECT {columns} FROM main.{} NOT INDEXED", quoted_name(&table.name));
    let mut statement = connection.prepare(&sql)?;
    let mut rows = statement.query([])?;
    let mut first_record = 1;
    let mut piece = PieceBuilder::new(stepping, first_record);
    while let Some(row) = rows.next()? {
        piece.push(row)?;
        if piece.bytes >= stepping.piece_bytes {
            stepping.read.add(piece.stored_bytes);
            let done = std::mem::replace(&mut piece, PieceBuilder::new(stepping, 0)).finish();
            first_record += done.rows;
            piece.first_record = first_record;
            if send.send(Ok(Some(done))).is_err() {
                return Ok(());
            }
        }
    }
    stepping.read.add(piece.stored_bytes);
    stepping.read.complete();
    let last = piece.finish();
    let records = first_record - 1 + last.rows;
    if is_renumbered(connection, table, records)? {
        table.is_renumbered.store(true, Ordering::Relaxed);
    }
    if last.rows > 0 {
        // Sending fails if the reader was dropped.
        let _ = send.send(Ok(Some(last)));
    }
    Ok(())
}

/// Returns whether rowids that no column holds differ from the record numbers 1 to `records`.
fn is_renumbered(connection: &Connection, table: &Table, records: u64) -> rusqlite::Result<bool> {
    let Some(rowid) = table.hidden_rowid.filter(|_| records > 0) else { return Ok(false) };
    // Distinct integers have no gap if there are as many as from the first to the last.
    let rowids = rowid_range(connection, &table.name, rowid)?;
    Ok(*rowids.start() != 1 || u64::try_from(*rowids.end()) != Ok(records))
}

/// Returns the smallest and the largest rowid; an empty range without rows. `rowid` is its name in SQL.
fn rowid_range(connection: &Connection, table: &str, rowid: &str) -> rusqlite::Result<RangeInclusive<i64>> {
    let name = quoted_name(table);
    // Each query descends the tree once.
    let sql = format!("SELECT (SELECT min({rowid}) FROM main.{name}), (SELECT max({rowid}) FROM main.{name})");
    let (first, last): (Option<i64>, Option<i64>) =
        connection.query_row(&sql, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(first.unwrap_or(1)..=last.unwrap_or(0))
}
