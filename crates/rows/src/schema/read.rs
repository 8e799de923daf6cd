//! Asks SQLite for the schema that it understood.

use super::copied_texts;
use super::evaluation;
use super::run::{ExecutedSchema, sqlite_failed};
use super::{
    Column, FileSettings, ForeignKey, Generated, Index, IndexColumn, IndexOrigin, RTree, Schema, SchemaObject, Table,
};
use crate::sqlite::without_views;
use crate::{Affinity, Result, quoted_name};
use litepress_rtree::{CoordinateKind, Layout};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OptionalExtension, Row};
use std::collections::HashMap;

pub(super) fn schema(text: &str, origin: &str, ran: &ExecutedSchema) -> Result<Schema> {
    read(text, origin, ran).map_err(|error| sqlite_failed(&error))
}

fn read(text: &str, origin: &str, ran: &ExecutedSchema) -> rusqlite::Result<Schema> {
    let sqlite = &ran.sqlite;
    prepare_for_byte_code(sqlite)?;
    let objects =
        all(sqlite, "SELECT type, name, tbl_name, rootpage, sql FROM sqlite_schema ORDER BY rowid", [], |row| {
            Ok(SchemaObject {
                kind: row.get(0)?,
                name: row.get(1)?,
                is_shadow: ran.shadows.contains(&row.get::<_, String>(2)?),
                table: row.get(2)?,
                has_btree: row.get::<_, Option<i64>>(3)?.unwrap_or(0) > 0,
                sql: row.get(4)?,
            })
        })?;
    let is_user_table = |object: &&SchemaObject| {
        object.kind == "table" && !object.name.starts_with("sqlite_") && !ran.shadows.contains(&object.name)
    };
    let read = |is_wanted: &dyn Fn(&&SchemaObject) -> bool| {
        let names = objects.iter().filter(is_wanted).map(|object| &object.name);
        names.map(|name| table(ran, text, name)).collect::<rusqlite::Result<Vec<_>>>()
    };
    let mut tables = read(&is_user_table)?;
    let shadow_tables = read(&|object| object.kind == "table" && ran.shadows.contains(&object.name))?;
    let positions = super::positions(&tables);
    describe_full_texts(ran, &objects, &mut tables, &shadow_tables);
    let pragma = |name: &str| sqlite.query_row(&format!("PRAGMA {name}"), [], |row| row.get::<_, i64>(0));
    let settings = FileSettings {
        page_size: ran.page_size,
        user_version: i32::try_from(pragma("user_version")?).unwrap_or_default(),
        application_id: i32::try_from(pragma("application_id")?).unwrap_or_default(),
        wal: ran.wal,
        schema_cookie: u32::try_from(pragma("schema_version")?).unwrap_or(1),
    };
    Ok(Schema { text: text.to_owned(), origin: origin.to_owned(), tables, shadow_tables, objects, settings, positions })
}

/// Describes the full-text tables.
fn describe_full_texts(ran: &ExecutedSchema, objects: &[SchemaObject], tables: &mut [Table], shadow_tables: &[Table]) {
    for position in 0..tables.len() {
        let table = &tables[position];
        let Some(probed) = ran.full_texts.get(&table.name) else { continue };
        let sql = objects.iter().find(|object| object.name == table.name && object.kind == "table");
        let sql = sql.and_then(|object| object.sql.as_deref()).unwrap_or_default();
        let find = |name: &str| tables.iter().chain(shadow_tables).find(|table| table.name == name).cloned();
        let mut full_text = probed.describe(table, sql, &ran.shadows, find);
        let find = |name: &str| tables.iter().find(|table| table.name.eq_ignore_ascii_case(name)).cloned();
        if let Some(content) = copied_texts::content(&full_text, table, objects, find) {
            full_text.content = content;
        }
        tables[position].full_text = Some(Box::new(full_text));
    }
}

pub(super) fn all<T>(
    sqlite: &Connection,
    sql: &str,
    parameters: impl rusqlite::Params,
    read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<Vec<T>> {
    sqlite.prepare_cached(sql)?.query_map(parameters, read)?.collect()
}

fn table(ran: &ExecutedSchema, text: &str, name: &str) -> rusqlite::Result<Table> {
    let sqlite = &ran.sqlite;
    let table = table_of(sqlite, &ran.kinds, name)?.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
    let (has_check, has_conflict_clause) = match byte_code(sqlite, &table, "INSERT") {
        _ if table.is_virtual => (false, false),
        Ok(plain) => {
            // If OR ABORT changes the code, the table's own policy differs. ABORT, FAIL and ROLLBACK differ only in an operand.
            let aborts = byte_code(sqlite, &table, "INSERT OR ABORT")?;
            (plain.iter().any(fails_check), opcodes(&plain) != opcodes(&aborts))
        }
        // An insert may not compile though the table does: a DEFAULT may call a missing function. Then the words count
        // wherever they are.
        Err(_) => {
            let span = ran.spans.get(name);
            let mentions = |word| span.is_none_or(|span| text[span.clone()].to_ascii_uppercase().contains(word));
            (mentions("CHECK"), mentions("CONFLICT"))
        }
    };
    let span = ran.spans.get(name).cloned().unwrap_or(0..0);
    let last_sequence = if table.autoincrement { last_sequence(sqlite, name)? } else { None };
    let rtree = if table.is_virtual { rtree(ran, &table)? } else { None };
    with_evaluation(sqlite, Table { span, last_sequence, has_check, has_conflict_clause, rtree, ..table })
}

/// Adds the texts that SQLite evaluates to a table: those of its CHECK constraints, if it is known to have some.
///
/// # Errors
/// If SQLite cannot read the schema.
pub fn with_evaluation(sqlite: &Connection, mut table: Table) -> rusqlite::Result<Table> {
    evaluation::add(sqlite, &mut table)?;
    Ok(table)
}

/// Returns the tree of an R-Tree table. Asks SQLite for the length of its root, which tells the dimensions. Returns `None` for
/// other tables, and if its pages are too small to tell.
fn rtree(ran: &ExecutedSchema, table: &Table) -> rusqlite::Result<Option<RTree>> {
    let kind = match ran.modules.get(&table.name).map(String::as_str) {
        Some("rtree") => CoordinateKind::Real32,
        Some("rtree_i32") => CoordinateKind::Int32,
        _ => return Ok(None),
    };
    let page_bytes: usize = ran.sqlite.query_row("PRAGMA page_size", [], |row| row.get(0))?;
    let root = format!("SELECT length(data) FROM {} WHERE nodeno = 1", quoted_name(&format!("{}_node", table.name)));
    let columns = "SELECT count(*) FROM temp.pragma_table_info(?1 || '_rowid')";
    let node_bytes: Option<usize> = ran.sqlite.query_row(&root, [], |row| row.get(0)).optional()?;
    let columns: usize = ran.sqlite.query_row(columns, [&table.name], |row| row.get(0))?;
    let layout = node_bytes.and_then(|node_bytes| Layout::of_node_bytes(node_bytes, page_bytes, kind));
    let tree = layout.zip(columns.checked_sub(2)).map(|(layout, auxiliary)| RTree { layout, auxiliary });
    Ok(tree.filter(|tree| 1 + tree.layout.coordinates() + tree.auxiliary == table.columns.len()))
}

/// Returns the number of a table in `sqlite_sequence`, which AUTOINCREMENT tables have once they had a row.
///
/// # Errors
/// If SQLite cannot read `sqlite_sequence`.
pub fn last_sequence(sqlite: &Connection, table: &str) -> rusqlite::Result<Option<i64>> {
    if !sqlite.table_exists(Some("main"), "sqlite_sequence")? {
        return Ok(None);
    }
    // SQLite goes by the first row, if a program has added another one.
    let sql = "SELECT CASE WHEN typeof(seq) = 'integer' THEN seq END FROM main.sqlite_sequence WHERE name = ? ORDER BY rowid LIMIT 1";
    Ok(sqlite.query_row(sql, [table], |row| row.get(0)).optional()?.flatten())
}

/// The kind of each table of an open database. SQLite scans all tables to report it, so it is asked once.
#[derive(Debug)]
pub struct TableKinds(HashMap<String, Kind>);

#[derive(Debug)]
struct Kind {
    /// `table`, `view`, `shadow` or `virtual`.
    name: String,
    without_rowid: bool,
    strict: bool,
}

impl TableKinds {
    /// Reads the kinds from SQLite. Leaves out tables whose names are not UTF-8.
    ///
    /// # Errors
    /// If SQLite cannot read the schema.
    pub fn read(sqlite: &Connection) -> rusqlite::Result<Self> {
        let sql = "SELECT name, type, wr, strict FROM temp.pragma_table_list WHERE schema = 'main'";
        let kinds = without_views(sqlite, || {
            all(sqlite, sql, [], |row| {
                // SQL that is UTF-8 cannot name a table whose name is not.
                let Ok(table) = row.get_ref(0)?.as_str() else { return Ok(None) };
                let kind = Kind { name: row.get(1)?, without_rowid: row.get(2)?, strict: row.get(3)? };
                Ok(Some((table.to_owned(), kind)))
            })
        })?;
        Ok(Self(kinds.into_iter().flatten().collect()))
    }

    /// Returns the names of the virtual tables.
    pub fn virtual_tables(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter(|(_, kind)| kind.name == "virtual").map(|(name, _)| name.as_str())
    }

    /// Returns whether a table of this name is virtual.
    pub fn is_virtual(&self, name: &str) -> bool {
        self.0.get(name).is_some_and(|kind| kind.name == "virtual")
    }

    /// Returns whether a table of this name is WITHOUT ROWID.
    pub fn is_without_rowid(&self, name: &str) -> bool {
        self.0.get(name).is_some_and(|kind| kind.without_rowid)
    }

    /// Returns whether a virtual table keeps its data in this table.
    pub fn is_shadow(&self, name: &str) -> bool {
        self.0.get(name).is_some_and(|kind| kind.name == "shadow")
    }

    /// Returns whether a table of this name exists and is neither virtual nor a shadow table.
    pub fn is_ordinary(&self, name: &str) -> bool {
        self.0.get(name).is_some_and(|kind| kind.name == "table")
    }
}

/// Returns the table of this name, in the schema's spelling, from any open database in any encoding. `None` if there is none.
///
/// Leaves `span`, `last_sequence`, `has_check`, `has_conflict_clause` and [`evaluation`](Table::evaluation) empty, which need a
/// schema that was just run.
///
/// # Errors
/// If SQLite cannot read the table's definition. In a corrupt schema, other tables may still be readable.
pub fn table_of(sqlite: &Connection, kinds: &TableKinds, name: &str) -> rusqlite::Result<Option<Table>> {
    let Some(&Kind { name: ref kind, without_rowid, strict }) = kinds.0.get(name) else { return Ok(None) };
    let is_virtual = kind == "virtual";
    let mut columns = columns(sqlite, name, strict)?;
    let indexes = indexes(sqlite, name)?;
    let rowid_alias = if without_rowid || is_virtual { None } else { rowid_alias(&columns, &indexes) };
    for (position, column) in columns.iter_mut().enumerate() {
        column.unique = rowid_alias == Some(position)
            || indexes.iter().any(|index| index.unique && !index.partial && index.is_on_just(position));
    }
    let autoincrement = match rowid_alias {
        Some(alias) => {
            let (.., autoincrement) = sqlite.column_metadata(Some("main"), name, columns[alias].name.as_str())?;
            autoincrement
        }
        None => false,
    };
    let foreign_keys = foreign_keys(sqlite, name)?;
    Ok(Some(Table {
        name: name.to_owned(),
        span: 0..0,
        columns,
        rowid_alias,
        without_rowid,
        strict,
        autoincrement,
        last_sequence: None,
        is_virtual,
        full_text: None,
        indexes,
        foreign_keys,
        has_check: false,
        has_conflict_clause: false,
        has_mixed_rowids: false,
        evaluation: None,
        rtree: None,
    }))
}

/// Returns whether the table's CREATE statement has a CHECK constraint. Runs it in memory, because SQLite ignores these
/// constraints in a database that is opened read-only.
pub fn has_check(create_sql: &str, table: &Table) -> bool {
    let is_mentioned = create_sql.to_ascii_uppercase().contains("CHECK");
    let code = || {
        let sqlite = Connection::open_in_memory()?;
        prepare_for_byte_code(&sqlite)?;
        sqlite.execute(create_sql, [])?;
        byte_code(&sqlite, table, "INSERT")
    };
    // An insert may not compile though the table does: then the word counts wherever it is.
    is_mentioned && !table.is_virtual && code().map_or(true, |code| code.iter().any(fails_check))
}

/// Turns off foreign keys and triggers. SQLite accepts a foreign key whose parent is missing, but could not compile an insert.
/// And a trigger's byte code would include the CHECK constraints of other tables.
pub(super) fn prepare_for_byte_code(sqlite: &Connection) -> rusqlite::Result<()> {
    sqlite.execute_batch("PRAGMA foreign_keys = OFF")?;
    sqlite.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false).map(drop)
}

fn columns(sqlite: &Connection, table: &str, strict: bool) -> rusqlite::Result<Vec<Column>> {
    let sql = "SELECT name, type, \"notnull\", dflt_value, pk, hidden FROM temp.pragma_table_xinfo(?) ORDER BY cid";
    all(sqlite, sql, [table], |row| {
        let declared_type: String = row.get(1)?;
        let affinity = if strict { Affinity::of_strict_type } else { Affinity::of_declared_type };
        Ok(Column {
            name: row.get(0)?,
            affinity: affinity(&declared_type),
            declared_type,
            not_null: row.get(2)?,
            default: row.get(3)?,
            key_position: row.get::<_, usize>(4)?.checked_sub(1),
            unique: false,
            generated: match row.get(5)? {
                0 => Generated::No,
                2 => Generated::Virtual,
                3 => Generated::Stored,
                _ => Generated::Hidden,
            },
        })
    })
}

/// Returns the primary key of a rowid table, if it has no index: then it is the rowid itself.
fn rowid_alias(columns: &[Column], indexes: &[Index]) -> Option<usize> {
    let has_key_index = indexes.iter().any(|index| index.origin == IndexOrigin::PrimaryKey);
    columns.iter().position(|column| column.key_position.is_some()).filter(|_| !has_key_index)
}

fn indexes(sqlite: &Connection, table: &str) -> rusqlite::Result<Vec<Index>> {
    // index_list gives the newest index number 0.
    let sql = "SELECT name, \"unique\", origin, partial FROM temp.pragma_index_list(?) ORDER BY seq DESC";
    let mut indexes = all(sqlite, sql, [table], |row| {
        Ok(Index {
            name: row.get(0)?,
            unique: row.get(1)?,
            origin: match row.get::<_, String>(2)?.as_str() {
                "u" => IndexOrigin::Unique,
                "pk" => IndexOrigin::PrimaryKey,
                _ => IndexOrigin::Create,
            },
            partial: row.get(3)?,
            columns: Vec::new(),
            appended: Vec::new(),
            evaluated: None,
        })
    })?;
    for index in &mut indexes {
        let sql =
            "SELECT cid, \"desc\", coll, key FROM temp.pragma_index_xinfo(?) WHERE key OR cid >= 0 ORDER BY seqno";
        let columns = all(sqlite, sql, [&index.name], |row| {
            let column = IndexColumn {
                column: usize::try_from(row.get::<_, i64>(0)?).ok(),
                descending: row.get(1)?,
                collation: row.get::<_, Option<String>>(2)?.unwrap_or_else(|| "BINARY".to_owned()),
            };
            Ok((column, row.get::<_, bool>(3)?))
        })?;
        let (key, appended): (Vec<_>, Vec<_>) = columns.into_iter().partition(|(_, is_key)| *is_key);
        index.columns = key.into_iter().map(|(column, _)| column).collect();
        index.appended = appended.into_iter().map(|(column, _)| column).collect();
    }
    Ok(indexes)
}

impl Index {
    fn is_on_just(&self, position: usize) -> bool {
        matches!(self.columns.as_slice(), [only] if only.column == Some(position))
    }
}

fn foreign_keys(sqlite: &Connection, table: &str) -> rusqlite::Result<Vec<ForeignKey>> {
    let sql = "SELECT f.id, f.\"table\", x.cid, f.\"to\" FROM temp.pragma_foreign_key_list(?1) AS f \
               JOIN temp.pragma_table_xinfo(?1) AS x ON x.name = f.\"from\" COLLATE NOCASE ORDER BY f.id DESC, f.seq";
    let parts: Vec<(i64, String, usize, Option<String>)> =
        all(sqlite, sql, [table], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?;
    // foreign_key_list gives the last key number 0; the parts of a key share its number.
    let keys = parts.chunk_by(|one, next| one.0 == next.0).map(|key| ForeignKey {
        columns: key.iter().map(|part| part.2).collect(),
        parent: key[0].1.clone(),
        parent_columns: key.iter().filter_map(|part| part.3.clone()).collect(),
    });
    Ok(keys.collect())
}

/// An opcode and its first operand.
pub(super) type Instruction = (String, i64);

/// Returns the byte code of SQLite for inserting a row, which shows the table's constraints and their consequences.
pub(super) fn byte_code(sqlite: &Connection, table: &Table, verb: &str) -> rusqlite::Result<Vec<Instruction>> {
    let columns: Vec<String> =
        table.ordinary_columns().map(|column| quoted_name(&table.columns[column].name)).collect();
    // Insert a parameter: SQLite might know of a constant that it breaks no constraint.
    let (names, values) = (columns.join(","), vec!["?1"; columns.len()].join(","));
    let explain = format!("EXPLAIN {verb} INTO {} ({names}) VALUES ({values})", quoted_name(&table.name));
    sqlite.prepare(&explain)?.query_map([None::<i64>], |row| Ok((row.get(1)?, row.get(2)?)))?.collect()
}

/// Returns the byte code of SQLite for inserting a row, each instruction with all of its operands. That which begins the
/// transaction is left out: it counts changes of the schema.
pub(super) fn opcodes_with_operands(sqlite: &Connection, table: &Table) -> rusqlite::Result<Vec<String>> {
    let columns: Vec<String> =
        table.ordinary_columns().map(|column| quoted_name(&table.columns[column].name)).collect();
    let (names, values) = (columns.join(","), vec!["?1"; columns.len()].join(","));
    let explain = format!("EXPLAIN INSERT INTO {} ({names}) VALUES ({values})", quoted_name(&table.name));
    let instruction =
        |row: &Row<'_>| (0..7).map(|at| Ok(format!("{:?}", row.get::<_, rusqlite::types::Value>(at)?))).collect();
    let code: Vec<Vec<String>> =
        sqlite.prepare(&explain)?.query_map([None::<i64>], instruction)?.collect::<rusqlite::Result<_>>()?;
    Ok(code.into_iter().filter(|one| !one[1].contains("Transaction")).map(|one| one.join(" ")).collect())
}

/// Returns the opcodes without their operands.
pub(super) fn opcodes(code: &[Instruction]) -> Vec<&str> {
    code.iter().map(|(opcode, _)| opcode.as_str()).collect()
}

/// Returns whether the instruction ends a row that breaks a CHECK constraint.
pub(super) fn fails_check((opcode, operand): &Instruction) -> bool {
    const SQLITE_CONSTRAINT_CHECK: i64 = 275;
    opcode == "Halt" && *operand == SQLITE_CONSTRAINT_CHECK
}
