//! Definitions that SQL has made in a draft: rows can be printed into them, if nothing gets lost by that.

use crate::connection_state::is_bare;
use crate::sqlite::is_utf8;
use litepress::PageSize;
use litepress_rows::quoted_name;
use rusqlite::{Connection, Result};

/// All that a draft without rows holds.
pub struct Definitions {
    /// CREATE statements.
    pub sql: String,
    /// The page size, if it is not the usual one.
    pub page_size: Option<PageSize>,
}

/// An object of the schema.
struct Object {
    kind: String,
    name: String,
    table: String,
    sql: Option<String>,
}

impl Definitions {
    /// Reads the definitions of a draft. `None` if the draft holds more than these, or if SQLite must look at the rows of `table`.
    pub fn of(draft: &Connection, table: &str) -> Result<Option<Self>> {
        if !is_bare(draft)? || !is_utf8(draft)? {
            return Ok(None);
        }
        for setting in ["foreign_keys", "user_version", "application_id", "auto_vacuum"] {
            if number(draft, setting)? != 0 {
                return Ok(None);
            }
        }
        let objects = objects(draft)?;
        for object in &objects {
            if object.needs_sqlite(draft, table)? {
                return Ok(None);
            }
        }
        let page_size = u32::try_from(number(draft, "page_size")?).ok().and_then(PageSize::new);
        let sql: Vec<String> = objects.into_iter().filter_map(|object| object.sql).collect();
        Ok(Some(Self { sql: sql.join(";\n"), page_size: page_size.filter(|size| *size != PageSize::DEFAULT) }))
    }
}

impl Object {
    /// Returns whether a print would lose something of the object, or pass a trigger of `table`.
    fn needs_sqlite(&self, draft: &Connection, table: &str) -> Result<bool> {
        if self.kind == "trigger" {
            return Ok(self.table.eq_ignore_ascii_case(table));
        }
        let is_virtual = self.sql.as_deref().is_some_and(|sql| sql.starts_with("CREATE VIRTUAL"));
        // ANALYZE has made it, and a print makes it only if an option says so.
        let is_statistic = self.name.starts_with("sqlite_stat");
        if is_virtual || is_statistic || self.kind != "table" {
            return Ok(is_virtual || is_statistic);
        }
        let has_rows = format!("SELECT EXISTS (SELECT 1 FROM main.{})", quoted_name(&self.name));
        draft.query_row(&has_rows, [], |row| row.get(0))
    }
}

fn objects(draft: &Connection) -> Result<Vec<Object>> {
    let mut select = draft.prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY rowid")?;
    let objects = select.query_map([], |row| {
        Ok(Object { kind: row.get(0)?, name: row.get(1)?, table: row.get(2)?, sql: row.get(3)? })
    })?;
    objects.collect()
}

fn number(draft: &Connection, pragma: &str) -> Result<i64> {
    draft.query_row(&format!("PRAGMA {pragma}"), [], |row| row.get(0))
}
