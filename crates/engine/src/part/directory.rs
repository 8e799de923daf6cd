//! The directory of a part: a SQLite database at its end, which every SQLite can read once it is cut out.

use super::run::damaged;
use super::{StoredItems, StoredRun, VERSION};
use crate::{Error, ErrorKind, Result};
use litepress_format::page::PageSize;
use litepress_rows::Schema;
use litepress_rows::schema::{FileSettings, SchemaObject};
use rusqlite::{Connection, MAIN_DB, Row, params};

const TABLES: &str = "
CREATE TABLE part (version INTEGER NOT NULL, page_size INTEGER NOT NULL, user_version INTEGER NOT NULL,
  application_id INTEGER NOT NULL, schema_cookie INTEGER NOT NULL, wal INTEGER NOT NULL);
CREATE TABLE object (sql TEXT NOT NULL);
CREATE TABLE tree (name TEXT NOT NULL, rows INTEGER NOT NULL, last_sequence INTEGER);
CREATE TABLE run (tree INTEGER NOT NULL, first_page INTEGER NOT NULL, pages INTEGER NOT NULL, crc32 INTEGER NOT NULL,
  rows INTEGER NOT NULL, first_rowid INTEGER NOT NULL, last_rowid INTEGER NOT NULL, payload_bytes INTEGER NOT NULL,
  leaves BLOB NOT NULL, pointers BLOB NOT NULL);
CREATE TABLE items (tree INTEGER NOT NULL, idx TEXT, first_page INTEGER NOT NULL, bytes INTEGER NOT NULL,
  crc32 INTEGER NOT NULL, items INTEGER NOT NULL, item_bytes INTEGER NOT NULL);
";

/// The contents of a part.
#[derive(Clone, Debug)]
pub(crate) struct Directory {
    pub page_size: PageSize,
    pub settings: FileSettings,
    /// The statements of all objects, in the order of their creation.
    pub statements: Vec<String>,
    pub tables: Vec<StoredTable>,
}

/// The rows of a table in a part.
#[derive(Clone, Debug, Default)]
pub(crate) struct StoredTable {
    pub name: String,
    pub rows: u64,
    /// The largest rowid that an AUTOINCREMENT table must not assign again, if it is not that of a row.
    pub last_sequence: Option<i64>,
    /// Leaf pages of a rowid table.
    pub runs: Vec<StoredRun>,
    /// Sort items of indexes, and of the rows of a WITHOUT ROWID table.
    pub items: Vec<StoredItems>,
}

impl Directory {
    pub fn new(schema: &Schema, page_size: PageSize, tables: Vec<StoredTable>) -> Self {
        let is_own = |object: &&SchemaObject| !object.name.starts_with("sqlite_");
        let statements = schema.objects.iter().filter(is_own).filter_map(|object| object.sql.clone()).collect();
        Self { page_size, settings: schema.settings, statements, tables }
    }

    /// Returns the bytes of the directory.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        self.write().map_err(|error| {
            let message = format!("the directory of the part cannot be made: {error}");
            Error::new(ErrorKind::Io, message).caused_by(error)
        })
    }

    fn write(&self) -> rusqlite::Result<Vec<u8>> {
        let mut connection = Connection::open_in_memory()?;
        let transaction = connection.transaction()?;
        transaction.execute_batch(TABLES)?;
        let FileSettings { user_version, application_id, schema_cookie, wal, .. } = self.settings;
        let page_bytes = self.page_size.bytes() as i64;
        transaction.execute(
            "INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)",
            params![VERSION, page_bytes, user_version, application_id, schema_cookie, wal],
        )?;
        for sql in &self.statements {
            transaction.execute("INSERT INTO object VALUES (?)", [sql])?;
        }
        for table in &self.tables {
            transaction.execute(
                "INSERT INTO tree VALUES (?, ?, ?)",
                params![table.name, table.rows.cast_signed(), table.last_sequence],
            )?;
            let tree = transaction.last_insert_rowid();
            let mut runs = transaction.prepare("INSERT INTO run VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")?;
            for run in &table.runs {
                let [rows, payload_bytes] = [run.rows, run.payload_bytes].map(u64::cast_signed);
                let (first, last) = (run.first_rowid, run.last_rowid);
                let StoredRun { first_page, pages, checksum, leaves, pointers, .. } = run;
                runs.execute(params![
                    tree,
                    first_page,
                    pages,
                    checksum,
                    rows,
                    first,
                    last,
                    payload_bytes,
                    leaves,
                    pointers
                ])?;
            }
            let mut items = transaction.prepare("INSERT INTO items VALUES (?, ?, ?, ?, ?, ?, ?)")?;
            for StoredItems { index, first_page, bytes, checksum, items: count, item_bytes } in &table.items {
                let [bytes, count, item_bytes] = [*bytes, *count, *item_bytes].map(u64::cast_signed);
                items.execute(params![tree, index, first_page, bytes, checksum, count, item_bytes])?;
            }
        }
        transaction.commit()?;
        Ok(connection.serialize(MAIN_DB)?.to_vec())
    }

    /// Reads the directory from its bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut connection = Connection::open_in_memory().map_err(unreadable)?;
        connection.deserialize_read_exact(MAIN_DB, bytes, bytes.len(), true).map_err(unreadable)?;
        let version: u32 =
            connection.query_row("SELECT version FROM part", [], |row| row.get(0)).map_err(unreadable)?;
        if version != VERSION {
            let message =
                format!("the part has version {version} of the format, and this program knows version {VERSION}");
            return Err(Error::new(ErrorKind::Data, message).advise("print and stitch with one version of litepress"));
        }
        Self::read(&connection)
            .map_err(unreadable)?
            .ok_or_else(|| damaged("the directory names an impossible page size"))
    }

    fn read(connection: &Connection) -> rusqlite::Result<Option<Self>> {
        let mut settings = FileSettings::default();
        let page_bytes: u32 = connection.query_row("SELECT * FROM part", [], |row| {
            settings.user_version = row.get(2)?;
            settings.application_id = row.get(3)?;
            settings.schema_cookie = row.get(4)?;
            settings.wal = row.get(5)?;
            row.get(1)
        })?;
        settings.page_size = Some(page_bytes);
        let Some(page_size) = PageSize::new(page_bytes) else { return Ok(None) };
        let mut objects = connection.prepare("SELECT sql FROM object ORDER BY rowid")?;
        let statements = objects.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
        let mut trees = connection.prepare("SELECT rowid, name, rows, last_sequence FROM tree ORDER BY rowid")?;
        let mut runs = connection.prepare("SELECT * FROM run WHERE tree = ? ORDER BY rowid")?;
        let mut items = connection.prepare("SELECT * FROM items WHERE tree = ? ORDER BY rowid")?;
        let tables = trees.query_map([], |row| {
            let tree: i64 = row.get(0)?;
            Ok(StoredTable {
                name: row.get(1)?,
                rows: row.get(2)?,
                last_sequence: row.get(3)?,
                runs: runs.query_map([tree], run)?.collect::<rusqlite::Result<_>>()?,
                items: items.query_map([tree], stored_items)?.collect::<rusqlite::Result<_>>()?,
            })
        })?;
        let tables = tables.collect::<rusqlite::Result<_>>()?;
        Ok(Some(Self { page_size, settings, statements, tables }))
    }
}

fn run(row: &Row<'_>) -> rusqlite::Result<StoredRun> {
    Ok(StoredRun {
        first_page: row.get(1)?,
        pages: row.get(2)?,
        checksum: row.get(3)?,
        rows: row.get(4)?,
        first_rowid: row.get(5)?,
        last_rowid: row.get(6)?,
        payload_bytes: row.get(7)?,
        leaves: row.get(8)?,
        pointers: row.get(9)?,
    })
}

fn stored_items(row: &Row<'_>) -> rusqlite::Result<StoredItems> {
    Ok(StoredItems {
        index: row.get(1)?,
        first_page: row.get(2)?,
        bytes: row.get(3)?,
        checksum: row.get(4)?,
        items: row.get(5)?,
        item_bytes: row.get(6)?,
    })
}

fn unreadable(error: rusqlite::Error) -> Error {
    damaged(&format!("the directory of the part cannot be read: {error}")).caused_by(error)
}
