//! The shadow tables of a full-text table, and what SQLite writes to them before there are rows.

use crate::progress::Progress;
use crate::sqlite::Failures;
use crate::{Error, ErrorKind, Result};
use litepress_format::record::write_record;
use litepress_format::value::Value;
use litepress_fts5::{STRUCTURE_ID, Structure};
use litepress_rows::schema::FullText;
use litepress_rows::sqlite_value::from_sqlite;
use litepress_rows::{RecordChunk, Schema, Table, quoted_name};
use rusqlite::Connection;

/// The tables in which a full-text table keeps its data.
pub(super) struct ShadowTables<'s> {
    pub data: &'s Table,
    pub index: &'s Table,
    pub content: Option<&'s Table>,
    pub docsize: Option<&'s Table>,
    pub config: &'s Table,
    /// Whether rows and segments know from which flush they come (`contentless_delete=1`).
    pub has_origins: bool,
    name: &'s str,
    /// The table as SQLite makes it, in memory.
    empty: Connection,
    progress: &'s Progress,
}

impl<'s> ShadowTables<'s> {
    /// Finds the shadow tables of `table`.
    pub fn new(schema: &'s Schema, table: &'s Table, full_text: &FullText, progress: &'s Progress) -> Result<Self> {
        let find = |suffix: &str| schema.shadow_table(&format!("{}_{suffix}", table.name));
        let (Some(data), Some(index), Some(config)) = (find("data"), find("idx"), find("config")) else {
            let message = "the full-text table lacks tables for its index";
            return Err(Error::new(ErrorKind::Schema, message).in_table(&table.name));
        };
        let (content, docsize) = (find("content"), find("docsize"));
        let has_origins = docsize.is_some_and(|docsize| docsize.column("origin").is_some());
        let empty = Connection::open_in_memory().and_then(|empty| {
            empty.execute(&full_text.sql, [])?;
            full_text.settings.iter().try_for_each(|setting| empty.execute(setting, []).map(drop))?;
            Ok(empty)
        });
        let empty =
            empty.map_err(|error| Failures::of(progress).explain(&error, ErrorKind::Schema).in_table(&table.name))?;
        Ok(Self { data, index, content, docsize, config, has_origins, name: &table.name, empty, progress })
    }

    /// Returns the structure record of a table without rows.
    pub fn initial_structure(&self) -> Result<Structure> {
        let sql = format!("SELECT block FROM {} WHERE id = {STRUCTURE_ID}", quoted_name(&self.data.name));
        let record: rusqlite::Result<Vec<u8>> = self.empty.query_row(&sql, [], |row| row.get(0));
        let record = record.map_err(|error| self.failed(&error))?;
        Structure::decode(&record)
            .map_err(|error| Error::new(ErrorKind::Schema, format!("the structure of an index: {error}")))
    }

    /// Returns the rows of `%_data` of a table without rows.
    pub fn initial_data(&self) -> Result<RecordChunk> {
        self.rows(&format!("SELECT id, NULL, block FROM {} ORDER BY id", quoted_name(&self.data.name)))
    }

    /// Returns the rows of `%_config`.
    pub fn configuration(&self) -> Result<RecordChunk> {
        self.rows(&format!("SELECT 0, k, v FROM {} ORDER BY k", quoted_name(&self.config.name)))
    }

    /// Returns rows as records: the first value is the rowid.
    fn rows(&self, sql: &str) -> Result<RecordChunk> {
        let read = || {
            let (mut chunk, mut record) = (RecordChunk::new(), Vec::new());
            let mut statement = self.empty.prepare(sql)?;
            let columns = statement.column_count();
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let values: Vec<Value<'_>> =
                    (1..columns).map(|column| row.get_ref(column).map(from_sqlite)).collect::<rusqlite::Result<_>>()?;
                record.clear();
                write_record(&values, &mut record);
                chunk.push(row.get(0)?, &record);
            }
            Ok(chunk)
        };
        read().map_err(|error: rusqlite::Error| self.failed(&error))
    }

    fn failed(&self, error: &rusqlite::Error) -> Error {
        Failures::of(self.progress).explain(error, ErrorKind::Schema).in_table(self.name)
    }
}
