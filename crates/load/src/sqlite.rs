//! Tables of another SQLite database.
//!
//! Values come as they are stored: integers, reals, texts, blobs and NULL, of any kind in any column. Rows come in the order of
//! their rowid, those of WITHOUT ROWID tables in the order of their key. A rowid that no column names is not kept: it may change
//! whenever SQLite vacuums a table. Generated columns are left out, and so are views and virtual tables.
//!
//! **All tables are of one moment.** The first connection holds a read transaction from [`Database::open`] on; every table is
//! stepped through by a connection of its own, in a thread of its own, and a connection that saw a commit of somebody else
//! between (`PRAGMA data_version`) is an error. In a database without WAL nobody can commit meanwhile at all.

use crate::input::Input;
use crate::options::{InvalidUtf8, ReadOptions};
use crate::reader::{BadRecord, Batch, Field, FieldKind, Piece, Reader, Wanted};
use litepress_rows::cells::{BLOCK_ROWS, OwnedValue};
use litepress_rows::schema::last_sequence;
use litepress_rows::{CellBlock, Cells, Error, ErrorKind, Result, quoted_name};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// How many bytes of values a piece has, where no row has more.
const PIECE_BYTES: usize = 4 << 20;
/// How many bytes of values a block has, where no row has more.
const BLOCK_BYTES: usize = 1 << 20;
/// Pieces read ahead of those who take them.
const PIECES_AHEAD: usize = 2;

/// A table, and the DDL that belongs to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// Its name.
    pub name: String,
    /// Its CREATE TABLE.
    pub sql: String,
    /// Its CREATE INDEX and CREATE TRIGGER, in the order in which they were made.
    pub objects: Vec<String>,
}

/// A database that is read, as it is at this moment.
#[derive(Debug)]
pub struct Database {
    name: PathBuf,
    /// Holds a read transaction: nobody can overwrite what it has seen.
    first: Connection,
    /// Is in no transaction: it sees whether somebody else has committed.
    watcher: Connection,
    version: i64,
    tables: Vec<Table>,
    /// Views and virtual tables, which are not read.
    others: Vec<String>,
}

/// The tables of a database, without those of SQLite itself, virtual tables and what belongs to those.
///
/// # Errors
/// As [`Database::open`].
pub fn tables(input: &Input) -> Result<Vec<Table>> {
    Ok(Database::open(input)?.tables)
}

impl Database {
    /// Opens a database for reading; nothing is changed, and a database in use may be read.
    ///
    /// # Errors
    /// A file that cannot be opened, is no database, or is encrypted.
    pub fn open(input: &Input) -> Result<Self> {
        // Opened first for the sake of its message: SQLite does not say why it cannot open a file.
        drop(input.file()?);
        let name = input.name.clone();
        let failed = |error| failure(&name, error);
        let watcher = connect(&name)?;
        loop {
            let version = data_version(&watcher).map_err(failed)?;
            let first = connect(&name)?;
            first.execute_batch("BEGIN").map_err(failed)?;
            let tables = read_tables(&first).map_err(failed)?;
            let others = read_others(&first).map_err(failed)?;
            if data_version(&watcher).map_err(failed)? == version {
                return Ok(Self { name, first, watcher, version, tables, others });
            }
        }
    }

    /// The tables, in the order in which they were made.
    pub fn tables(&self) -> &[Table] {
        &self.tables
    }

    /// The views and virtual tables, which are not read: `view v`.
    pub fn others(&self) -> &[String] {
        &self.others
    }

    /// A reader of a table. Take those of all tables before somebody writes into the database: later it is an error.
    ///
    /// # Errors
    /// A table that there is not; a database that was changed since it was opened.
    pub fn reader(&self, table: &str, options: &ReadOptions) -> Result<Box<dyn Reader>> {
        let failed = |error| failure(&self.name, error);
        let known = self.tables.iter().find(|known| known.name == table);
        let known = known.ok_or_else(|| {
            Error::new(ErrorKind::Usage, format!("there is no table {}", quoted_name(table))).in_file(&self.name)
        })?;
        let fields = read_fields(&self.first, &known.name).map_err(failed)?;
        let connection = connect(&self.name)?;
        connection.execute_batch("BEGIN; SELECT 1 FROM sqlite_schema").map_err(failed)?;
        if data_version(&self.watcher).map_err(failed)? != self.version {
            return Err(Error::new(ErrorKind::Data, "the database was changed while it was read")
                .in_file(&self.name)
                .advise("load it again, or a copy of it that nobody writes into (VACUUM INTO makes one)"));
        }
        let last_sequence = last_sequence(&self.first, &known.name).map_err(failed)?;
        let positions = (0..fields.len()).collect();
        let table = known.name.clone();
        let options = options.clone();
        let start = Start { name: self.name.clone(), connection, table };
        Ok(Box::new(TableReader { start: Some(start), fields, positions, options, pieces: None, last_sequence }))
    }
}

fn connect(name: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(name, flags).map_err(|error| failure(name, error))?;
    // A writer may hold its lock for a moment.
    connection.busy_timeout(std::time::Duration::from_secs(10)).map_err(|error| failure(name, error))?;
    Ok(connection)
}

fn failure(name: &Path, error: rusqlite::Error) -> Error {
    let advice = match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::NotADatabase) => Some("the file is no SQLite database, or it is encrypted"),
        Some(rusqlite::ErrorCode::DatabaseBusy) => Some("somebody writes into the database: try again later"),
        Some(rusqlite::ErrorCode::DatabaseCorrupt) => Some("sqlite3's .recover saves what can be read"),
        _ => None,
    };
    let failed =
        Error::new(ErrorKind::Data, format!("the database cannot be read: {error}")).in_file(name).caused_by(error);
    match advice {
        Some(advice) => failed.advise(advice),
        None => failed,
    }
}

fn data_version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("PRAGMA data_version", [], |row| row.get(0))
}

fn read_tables(connection: &Connection) -> rusqlite::Result<Vec<Table>> {
    let names = "SELECT s.name, s.sql FROM sqlite_schema s JOIN pragma_table_list l ON l.schema = 'main' AND l.name = s.name \
                 WHERE s.type = 'table' AND l.type = 'table' AND s.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY s.rowid";
    let objects = "SELECT sql FROM sqlite_schema WHERE tbl_name = ? AND type IN ('index', 'trigger') AND sql IS NOT NULL \
                   ORDER BY rowid";
    let mut names = connection.prepare(names)?;
    let mut objects = connection.prepare(objects)?;
    let named = names.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    named
        .map(|named| {
            let (name, sql): (String, String) = named?;
            let objects = objects.query_map([&name], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
            Ok(Table { name, sql, objects })
        })
        .collect()
}

fn read_others(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let sql = "SELECT iif(type = 'virtual', 'virtual table', type) || ' ' || name FROM pragma_table_list \
               WHERE schema = 'main' AND type IN ('view', 'virtual') ORDER BY name";
    connection.prepare(sql)?.query_map([], |row| row.get(0))?.collect()
}

/// The columns that are stored: generated ones are not among them.
fn read_fields(connection: &Connection, table: &str) -> rusqlite::Result<Vec<Field>> {
    let sql = "SELECT name, type, \"notnull\" FROM pragma_table_xinfo(?) WHERE hidden = 0 ORDER BY cid";
    let mut columns = connection.prepare(sql)?;
    let fields = columns.query_map([table], |row| {
        let declared_type: String = row.get(1)?;
        let reason = match declared_type.as_str() {
            "" => "the database declares no type".to_owned(),
            declared => format!("the database declares {declared}"),
        };
        Ok(Field { name: row.get(0)?, kind: FieldKind::Typed { declared_type, reason, not_null: row.get(2)? } })
    })?;
    fields.collect()
}

/// What the thread that steps through a table begins with.
struct Start {
    name: PathBuf,
    connection: Connection,
    table: String,
}

/// A table of a database.
struct TableReader {
    /// Taken when the first piece is asked for.
    start: Option<Start>,
    fields: Vec<Field>,
    positions: Vec<usize>,
    options: ReadOptions,
    pieces: Option<Receiver<Result<Option<TablePiece>>>>,
    last_sequence: Option<i64>,
}

impl Reader for TableReader {
    fn last_sequence(&self) -> Option<i64> {
        self.last_sequence
    }

    fn columns(&self) -> &[Field] {
        &self.fields
    }

    fn want(&mut self, columns: &[Wanted]) -> Result<()> {
        let position = |wanted: &Wanted| {
            if wanted.form.is_some() {
                let why = "values of a SQLite database are taken as they are: they have no other form";
                return Err(Error::new(ErrorKind::Usage, why).in_column(&wanted.name));
            }
            let position = wanted.field.or_else(|| self.fields.iter().position(|field| field.name == wanted.name));
            position
                .filter(|position| *position < self.fields.len())
                .ok_or_else(|| Error::new(ErrorKind::Usage, "the table has no such column").in_column(&wanted.name))
        };
        self.positions = columns.iter().map(position).collect::<Result<_>>()?;
        Ok(())
    }

    fn next_piece(&mut self) -> Result<Option<Box<dyn Piece>>> {
        if let Some(start) = self.start.take() {
            let (send, receive) = sync_channel(PIECES_AHEAD);
            let names = self.positions.iter().map(|&position| self.fields[position].name.clone()).collect();
            let stepping = Stepping {
                names,
                invalid_utf8: self.options.invalid_utf8,
                piece_bytes: self.options.piece_bytes.unwrap_or(PIECE_BYTES),
                bytes_read: self.options.bytes_read.clone(),
            };
            std::thread::spawn(move || step_through(&start, &stepping, &send));
            self.pieces = Some(receive);
        }
        let Some(pieces) = &self.pieces else { return Ok(None) };
        // The end is said: a thread that hangs up without it has failed.
        let piece = pieces.recv().expect("the thread that reads the table says how it ended");
        if !matches!(piece, Ok(Some(_))) {
            self.pieces = None;
        }
        Ok(piece?.map(|piece| Box::new(piece) as Box<dyn Piece>))
    }
}

/// How a table is read.
struct Stepping {
    names: Vec<String>,
    invalid_utf8: InvalidUtf8,
    piece_bytes: usize,
    /// SQLite does not tell which pages it reads: what the values take, about, stands for them.
    bytes_read: Arc<AtomicU64>,
}

fn step_through(start: &Start, stepping: &Stepping, send: &SyncSender<Result<Option<TablePiece>>>) {
    if let Err(error) = send_pieces(start, stepping, send) {
        // Nobody listens any more where the reader was dropped.
        let _ = send.send(Err(failure(&start.name, error).in_table(&start.table)));
    }
}

fn send_pieces(
    start: &Start,
    stepping: &Stepping,
    send: &SyncSender<Result<Option<TablePiece>>>,
) -> rusqlite::Result<()> {
    // A table without any column that is wanted still has rows.
    let columns: Vec<String> = stepping.names.iter().map(|name| quoted_name(name)).collect();
    let columns = if columns.is_empty() { "NULL".to_owned() } else { columns.join(", ") };
    // NOT INDEXED: an index that covers the columns would give the rows in its own order.
    let sql = format!("SELECT {columns} FROM main.{} NOT INDEXED", quoted_name(&start.table));
    let mut statement = start.connection.prepare(&sql)?;
    let mut rows = statement.query([])?;
    let mut first_record = 1;
    let mut piece = PieceBuilder::new(stepping, first_record);
    while let Some(row) = rows.next()? {
        piece.push(row)?;
        if piece.bytes >= stepping.piece_bytes {
            stepping.bytes_read.fetch_add(piece.stored_bytes, Ordering::Relaxed);
            let done = std::mem::replace(&mut piece, PieceBuilder::new(stepping, 0)).finish();
            first_record += done.rows;
            piece.first_record = first_record;
            if send.send(Ok(Some(done))).is_err() {
                return Ok(());
            }
        }
    }
    stepping.bytes_read.fetch_add(piece.stored_bytes, Ordering::Relaxed);
    let last = piece.finish();
    // Where nobody listens any more, nobody misses the end.
    let _ = if last.rows > 0 { send.send(Ok(Some(last))) } else { Ok(()) };
    let _ = send.send(Ok(None));
    Ok(())
}

/// Rows on their way into a piece.
struct PieceBuilder<'a> {
    stepping: &'a Stepping,
    first_record: u64,
    batches: Vec<Batch>,
    bytes: usize,
    /// What the rows take in the database, about.
    stored_bytes: u64,
    block_bytes: usize,
}

impl<'a> PieceBuilder<'a> {
    fn new(stepping: &'a Stepping, first_record: u64) -> Self {
        Self { stepping, first_record, batches: Vec::new(), bytes: 0, stored_bytes: 0, block_bytes: 0 }
    }

    fn push(&mut self, row: &rusqlite::Row<'_>) -> rusqlite::Result<()> {
        let is_full = self.batches.last().is_none_or(|batch| batch.rows == BLOCK_ROWS);
        if is_full || self.block_bytes >= BLOCK_BYTES {
            let mut batch = Batch::default();
            batch.clear(self.stepping.names.len());
            self.batches.push(batch);
            self.block_bytes = 0;
        }
        let batch = self.batches.last_mut().expect("one was made above");
        let mut bytes = 0;
        for (column, block) in batch.blocks.iter_mut().enumerate() {
            let value = row.get_ref(column)?;
            bytes += 8;
            let text = match value {
                ValueRef::Text(text) => {
                    bytes += text.len();
                    text
                }
                ValueRef::Blob(blob) => {
                    bytes += blob.len();
                    &[]
                }
                _ => &[],
            };
            if text.is_ascii() || std::str::from_utf8(text).is_ok() {
                push_value(block, batch.rows, value);
            } else {
                let name = &self.stepping.names[column];
                batch.bad.extend(push_invalid(block, batch.rows, text, name, self.stepping.invalid_utf8));
            }
        }
        batch.rows += 1;
        // A number takes three bytes and its type in the mean; the row a pointer, a length and a rowid.
        const ROW_BYTES: usize = 8;
        self.stored_bytes += (ROW_BYTES + bytes - 4 * batch.blocks.len()) as u64;
        self.bytes += bytes;
        self.block_bytes += bytes;
        Ok(())
    }

    fn finish(mut self) -> TablePiece {
        for batch in &mut self.batches {
            settle(batch);
        }
        let rows = self.batches.iter().map(|batch| batch.rows as u64).sum();
        TablePiece { first_record: self.first_record, rows, batches: self.batches.into_iter() }
    }
}

/// Text that is no UTF-8, by what the options say of it.
fn push_invalid(block: &mut CellBlock, row: usize, text: &[u8], name: &str, option: InvalidUtf8) -> Option<BadRecord> {
    match option {
        InvalidUtf8::Error => {
            push_value(block, row, ValueRef::Null);
            let error = Error::new(ErrorKind::Data, "the text is no UTF-8")
                .in_column(name)
                .with_value(format!("'{}'", String::from_utf8_lossy(&text[..text.len().min(60)])))
                .advise("choose what becomes of such text with --invalid-utf8");
            return Some(BadRecord { row, error, is_left_out: false });
        }
        InvalidUtf8::Replace => push_value(block, row, ValueRef::Text(String::from_utf8_lossy(text).as_bytes())),
        InvalidUtf8::Blob => push_value(block, row, ValueRef::Blob(text)),
    }
    None
}

/// Appends a value as row `row` of a block that holds one kind of values as long as no other kind comes.
fn push_value(block: &mut CellBlock, row: usize, value: ValueRef<'_>) {
    if !push_same_kind(block.cells_mut(), value) {
        if block.nulls().len() == row && block.nulls().iter().all(|null| *null) {
            // There was nothing but NULL: the kind is not settled yet.
            begin_kind(block, row, value);
        } else {
            let values = (0..row).map(|row| owned_cell(block, row)).collect();
            *block.values() = values;
        }
        assert!(push_same_kind(block.cells_mut(), value), "the block was made for this value");
    }
    let is_null = matches!(value, ValueRef::Null);
    let nulls = block.nulls_mut();
    if is_null || !nulls.is_empty() {
        nulls.resize(row, false);
        nulls.push(is_null);
    }
}

/// Appends a value, or something in the place of NULL; `false` where the cells are of another kind.
fn push_same_kind(cells: &mut Cells, value: ValueRef<'_>) -> bool {
    match (cells, value) {
        (Cells::Int(ints), ValueRef::Integer(int)) => ints.push(int),
        (Cells::Int(ints), ValueRef::Null) => ints.push(0),
        (Cells::Real(reals), ValueRef::Real(real)) => reals.push(real),
        (Cells::Real(reals), ValueRef::Null) => reals.push(0.0),
        (Cells::Text(texts), ValueRef::Text(text)) => texts.push(text),
        (Cells::Blob(blobs), ValueRef::Blob(blob)) => blobs.push(blob),
        (Cells::Text(strings) | Cells::Blob(strings), ValueRef::Null) => strings.push(&[]),
        (Cells::Values(values), value) => values.push(owned(value)),
        _ => return false,
    }
    true
}

/// Makes the block hold this kind of values, `rows` times NULL to begin with.
fn begin_kind(block: &mut CellBlock, rows: usize, value: ValueRef<'_>) {
    match value {
        ValueRef::Null | ValueRef::Integer(_) => block.ints().resize(rows, 0),
        ValueRef::Real(_) => block.reals().resize(rows, 0.0),
        ValueRef::Text(_) => (0..rows).for_each({
            let texts = block.texts();
            |_| texts.push(&[])
        }),
        ValueRef::Blob(_) => (0..rows).for_each({
            let blobs = block.blobs();
            |_| blobs.push(&[])
        }),
    }
    block.nulls_mut().resize(rows, true);
}

fn owned(value: ValueRef<'_>) -> OwnedValue {
    match value {
        ValueRef::Null => OwnedValue::Null,
        ValueRef::Integer(int) => OwnedValue::Int(int),
        ValueRef::Real(real) => OwnedValue::Real(real),
        ValueRef::Text(text) => OwnedValue::Text(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Blob(blob) => OwnedValue::Blob(blob.to_vec()),
    }
}

/// The value of a row that was pushed before.
fn owned_cell(block: &CellBlock, row: usize) -> OwnedValue {
    use litepress_format::value::Value;
    match block.value(row) {
        Value::Null => OwnedValue::Null,
        Value::Int(int) => OwnedValue::Int(int),
        Value::Real(real) => OwnedValue::Real(real),
        Value::Text(text) => OwnedValue::Text(String::from_utf8_lossy(text).into_owned()),
        Value::Blob(blob) => OwnedValue::Blob(blob.to_vec()),
    }
}

/// One entry for each bad row, and its cells NULL.
fn settle(batch: &mut Batch) {
    batch.bad.dedup_by_key(|bad| bad.row);
    for bad in &batch.bad {
        batch.blocks.iter_mut().for_each(|block| block.set_null(bad.row, batch.rows));
    }
}

/// Rows that were read already.
#[derive(Debug)]
struct TablePiece {
    first_record: u64,
    rows: u64,
    batches: std::vec::IntoIter<Batch>,
}

impl Piece for TablePiece {
    fn first_record(&self) -> u64 {
        self.first_record
    }

    fn records(&self) -> u64 {
        self.rows
    }

    fn read(&mut self, batch: &mut Batch) -> Result<()> {
        *batch = self.batches.next().unwrap_or_default();
        Ok(())
    }
}
