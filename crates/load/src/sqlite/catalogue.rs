//! Lists a database's tables, and the objects that are not copied with them.

use super::Settings;
use crate::reader::{FileColumn, FileColumnKind};
use litepress_rows::sqlite::{lossy_text, refuse_shared_roots, without_views};
use rusqlite::Connection;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A table, and the DDL that belongs to it.
#[derive(Debug)]
pub struct Table {
    /// Its name.
    pub name: String,
    /// Its CREATE TABLE statement.
    pub sql: String,
    /// The root page of its tree.
    pub(super) root_page: u32,
    /// Its indexes and triggers, in the order of their creation.
    pub objects: Vec<Object>,
    /// The stored columns, without generated ones.
    pub(crate) fields: Vec<FileColumn>,
    /// The entry of `sqlite_sequence`, if it is an AUTOINCREMENT table that ever had a row.
    pub(super) last_sequence: Option<i64>,
    /// A name of the rowid, if no column holds the rowid's values.
    pub(crate) hidden_rowid: Option<&'static str>,
    /// Its rows were read, and their rowids were not 1, 2, 3 and so on.
    pub(super) is_renumbered: AtomicBool,
}

/// An index or a trigger of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// Its name.
    pub name: String,
    /// Its CREATE statement.
    pub sql: String,
    /// It is a trigger.
    pub is_trigger: bool,
}

/// An object that belongs to no table: a view, a virtual table, or a trigger of a view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extra {
    /// Its kind.
    pub kind: ExtraKind,
    /// Its name.
    pub name: String,
    /// The view of a trigger; else its own name.
    pub table: String,
    /// Its CREATE statement.
    pub sql: String,
}

/// The kind of an [`Extra`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExtraKind {
    /// A view.
    View,
    /// A virtual table.
    VirtualTable,
    /// A trigger of a view.
    Trigger,
}

impl ExtraKind {
    /// Returns its name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::View => "view",
            Self::VirtualTable => "virtual table",
            Self::Trigger => "trigger",
        }
    }
}

impl Table {
    /// Returns whether the copy gives its rows new rowids. Valid once the rows are read. Rows of a table that is not the first
    /// to be read (`is_first`) are not numbered from 1, so they always get new rowids, unless a column holds these.
    pub fn is_renumbered(&self, is_first: bool) -> bool {
        self.is_renumbered.load(Ordering::Relaxed) || self.hidden_rowid.is_some() && !is_first
    }
}

/// The content of `sqlite_schema`, by kind of object.
pub(super) struct Catalogue {
    pub tables: Vec<Arc<Table>>,
    /// Shadow tables, in which virtual tables keep their data.
    pub shadows: Vec<Arc<Table>>,
    pub extras: Vec<Extra>,
    /// Tables with statistics for the planner.
    pub statistics: Vec<String>,
    pub settings: Settings,
}

/// A row of `sqlite_schema`.
struct SchemaRow {
    kind: String,
    name: String,
    table: String,
    root_page: u32,
    sql: Option<String>,
}

/// The kind of a table (`table`, `view`, `virtual` or `shadow`), and whether it is WITHOUT ROWID.
type Kinds = HashMap<String, (String, bool)>;

impl Catalogue {
    /// Reads the schema, in time linear in its objects: no query searches the objects of one table.
    pub fn read(connection: &Connection) -> rusqlite::Result<Self> {
        let kinds = read_kinds(connection)?;
        let rows = read_rows(connection)?;
        refuse_shared_roots(rows.iter().map(|row| (row.name.as_str(), row.root_page)))?;
        let sequences = read_sequences(connection, &rows)?;
        let extras = extras(&kinds, &rows);
        let statistics = rows.iter().filter(|row| row.kind == "table" && row.name.starts_with("sqlite_stat"));
        let statistics = statistics.map(|row| row.name.clone()).collect();
        let kind_of = |name: &str| kinds.get(name).map(|(kind, _)| kind.as_str());
        let is_table =
            |row: &SchemaRow| row.kind == "table" && kind_of(&row.name) == Some("table") && !is_internal(&row.name);
        let mut objects: HashMap<String, Vec<Object>> = HashMap::new();
        let (mut tables, mut shadows) = (Vec::new(), Vec::new());
        for row in rows {
            let Some(sql) = row.sql.clone() else { continue };
            if is_table(&row) {
                tables.push((row.name, row.root_page, sql));
            } else if row.kind == "table" && kind_of(&row.name) == Some("shadow") {
                shadows.push((row.name, row.root_page, sql));
            } else if row.kind == "index" || row.kind == "trigger" {
                // A trigger stores its table's name in the spelling of its own statement.
                let of_table = objects.entry(row.table.to_ascii_lowercase()).or_default();
                of_table.push(Object { name: row.name, sql, is_trigger: row.kind == "trigger" });
            }
        }
        let table = |(name, root_page, sql): (String, u32, String)| {
            let objects = objects.remove(&name.to_ascii_lowercase()).unwrap_or_default();
            let (fields, hidden_rowid) = read_columns(connection, &name, kinds[&name].1)?;
            let last_sequence = sequences.get(&name).copied().flatten();
            let is_renumbered = AtomicBool::new(false);
            Ok(Arc::new(Table { name, sql, root_page, objects, fields, last_sequence, hidden_rowid, is_renumbered }))
        };
        let mut table = table;
        let tables = tables.into_iter().map(&mut table).collect::<rusqlite::Result<_>>()?;
        let shadows = shadows.into_iter().map(&mut table).collect::<rusqlite::Result<_>>()?;
        Ok(Self { tables, shadows, extras, statistics, settings: read_settings(connection)? })
    }
}

fn read_settings(connection: &Connection) -> rusqlite::Result<Settings> {
    let number = |name: &str| connection.query_row(&format!("PRAGMA {name}"), [], |row| row.get(0));
    let word = |name: &str| connection.query_row(&format!("PRAGMA {name}"), [], |row| row.get::<_, String>(0));
    Ok(Settings {
        page_size: connection.query_row("PRAGMA page_size", [], |row| row.get(0))?,
        is_wal: word("journal_mode")?.eq_ignore_ascii_case("wal"),
        auto_vacuum: connection.query_row("PRAGMA auto_vacuum", [], |row| row.get(0))?,
        is_utf8: word("encoding")?.eq_ignore_ascii_case("UTF-8"),
        user_version: number("user_version")?,
        application_id: number("application_id")?,
    })
}

/// Returns whether SQLite reserves the name for itself.
fn is_internal(name: &str) -> bool {
    name.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("sqlite_"))
}

fn read_kinds(connection: &Connection) -> rusqlite::Result<Kinds> {
    let sql = "SELECT name, type, wr FROM temp.pragma_table_list WHERE schema = 'main'";
    without_views(connection, || {
        connection.prepare(sql)?.query_map([], |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))))?.collect()
    })
}

fn read_rows(connection: &Connection) -> rusqlite::Result<Vec<SchemaRow>> {
    let mut rows =
        connection.prepare("SELECT type, name, tbl_name, rootpage, sql FROM sqlite_schema ORDER BY rowid")?;
    let rows = rows.query_map([], |row| {
        // Damaged schemas contain NULLs, and SQLite skips them.
        let text = |column| Ok::<_, rusqlite::Error>(row.get::<_, Option<String>>(column)?.unwrap_or_default());
        Ok(SchemaRow {
            kind: text(0)?,
            name: text(1)?,
            table: text(2)?,
            root_page: row.get(3).unwrap_or(0),
            sql: row.get(4)?,
        })
    })?;
    rows.collect()
}

/// Returns the views, the virtual tables and the triggers of views.
fn extras(kinds: &Kinds, rows: &[SchemaRow]) -> Vec<Extra> {
    let views: HashSet<String> =
        kinds.iter().filter(|(_, (kind, _))| kind == "view").map(|(name, _)| name.to_ascii_lowercase()).collect();
    let extra = |row: &SchemaRow| {
        let kind = match (row.kind.as_str(), kinds.get(&row.name).map(|(kind, _)| kind.as_str())) {
            ("view", _) => ExtraKind::View,
            ("table", Some("virtual")) => ExtraKind::VirtualTable,
            ("trigger", _) if views.contains(&row.table.to_ascii_lowercase()) => ExtraKind::Trigger,
            _ => return None,
        };
        Some(Extra { kind, name: row.name.clone(), table: row.table.clone(), sql: row.sql.clone()? })
    };
    rows.iter().filter_map(extra).collect()
}

/// Returns the entries of `sqlite_sequence` by table name.
fn read_sequences(connection: &Connection, rows: &[SchemaRow]) -> rusqlite::Result<HashMap<String, Option<i64>>> {
    if !rows.iter().any(|row| row.name == "sqlite_sequence") {
        return Ok(HashMap::new());
    }
    let sql = "SELECT name, max(CASE WHEN typeof(seq) = 'integer' THEN seq END) FROM sqlite_sequence \
               WHERE typeof(name) = 'text' GROUP BY name";
    connection.prepare(sql)?.query_map([], |row| Ok((lossy_text(row, 0)?, row.get(1)?)))?.collect()
}

/// Returns the stored columns, and a name of the rowid if no column holds it.
fn read_columns(
    connection: &Connection,
    table: &str,
    without_rowid: bool,
) -> rusqlite::Result<(Vec<FileColumn>, Option<&'static str>)> {
    let sql = "SELECT name, type, \"notnull\", hidden, pk FROM temp.pragma_table_xinfo(?) ORDER BY cid";
    let mut columns = connection.prepare_cached(sql)?;
    let mut columns = columns.query([table])?;
    let (mut fields, mut names, mut has_key) = (Vec::new(), Vec::new(), false);
    while let Some(row) = columns.next()? {
        let name: String = row.get(0)?;
        has_key |= row.get::<_, i64>(4)? > 0;
        names.push(name.to_ascii_lowercase());
        if row.get::<_, i64>(3)? != 0 {
            continue;
        }
        let declared_type: String = row.get(1)?;
        let reason = match declared_type.as_str() {
            "" => "the database declares no type".to_owned(),
            declared => format!("the database declares {declared}"),
        };
        fields.push(FileColumn {
            name,
            kind: FileColumnKind::Typed { declared_type, reason: reason.into(), not_null: row.get(2)? },
        });
    }
    // In a rowid table, a primary key without an index is the rowid.
    let is_hidden = !without_rowid && (!has_key || has_key_index(connection, table)?);
    let free_name = || ["rowid", "_rowid_", "oid"].into_iter().find(|name| !names.iter().any(|column| column == name));
    Ok((fields, if is_hidden { free_name() } else { None }))
}

fn has_key_index(connection: &Connection, table: &str) -> rusqlite::Result<bool> {
    connection.prepare_cached("SELECT 1 FROM temp.pragma_index_list(?) WHERE origin = 'pk'")?.exists([table])
}
