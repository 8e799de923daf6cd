//! The schema of a database that exists, and what is added to it.

use super::read::{
    TableKinds, all, byte_code, fails_check, last_sequence, opcodes, prepare_for_byte_code, table_of, with_evaluation,
};
use super::{Column, FileSettings, Generated, Schema, SchemaObject, Table, positions};
use crate::Affinity;
use rusqlite::{Connection, ErrorCode};

/// Objects that are added to a database that exists.
#[derive(Clone, Debug, Default)]
pub struct SchemaAdditions {
    /// Columns of tables that exist, with the names of the tables.
    pub columns: Vec<(String, Column)>,
    /// New tables, indexes and triggers, in the order of their creation.
    pub objects: Vec<SchemaObject>,
}

impl SchemaAdditions {
    /// Returns whether nothing is added.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty() && self.objects.is_empty()
    }

    /// Returns whether a table of this name is new.
    pub fn makes_table(&self, name: &str) -> bool {
        self.objects.iter().any(|object| object.kind == "table" && object.name == name)
    }
}

impl Schema {
    /// Reads the schema of an open database. Tables that this SQLite cannot read, such as those of unknown modules, are left
    /// out. The connection does not run triggers and does not enforce foreign keys afterwards.
    ///
    /// # Errors
    /// If SQLite cannot read the schema.
    pub fn of_database(sqlite: &Connection, origin: &str) -> rusqlite::Result<Self> {
        prepare_for_byte_code(sqlite)?;
        let kinds = TableKinds::read(sqlite)?;
        let sql = "SELECT type, name, tbl_name, rootpage, sql FROM sqlite_schema ORDER BY rowid";
        let objects = all(sqlite, sql, [], |row| {
            let table: String = row.get(2)?;
            Ok(SchemaObject {
                kind: row.get(0)?,
                name: row.get(1)?,
                is_shadow: kinds.is_shadow(&table),
                has_btree: row.get::<_, Option<i64>>(3)?.unwrap_or(0) > 0,
                table,
                sql: row.get(4)?,
            })
        })?;
        let is_wanted = |object: &&SchemaObject| object.kind == "table" && !object.name.starts_with("sqlite_");
        let (mut tables, mut shadow_tables) = (Vec::new(), Vec::new());
        for object in objects.iter().filter(is_wanted) {
            let table = match table_of(sqlite, &kinds, &object.name) {
                Ok(Some(table)) => with_rules(sqlite, table)?,
                Err(error) if !is_about_schema(&error) => return Err(error),
                Ok(None) | Err(_) => continue,
            };
            if object.is_shadow { shadow_tables.push(table) } else { tables.push(table) }
        }
        let pragma = |name: &str| sqlite.query_row(&format!("PRAGMA {name}"), [], |row| row.get::<_, i64>(0));
        let settings = FileSettings {
            page_size: u32::try_from(pragma("page_size")?).ok(),
            user_version: i32::try_from(pragma("user_version")?).unwrap_or_default(),
            application_id: i32::try_from(pragma("application_id")?).unwrap_or_default(),
            wal: sqlite.query_row("PRAGMA journal_mode", [], |row| row.get::<_, String>(0))? == "wal",
            schema_cookie: u32::try_from(pragma("schema_version")?).unwrap_or_default(),
        };
        let (text, origin, positions) = (String::new(), origin.to_owned(), positions(&tables));
        Ok(Self { text, origin, tables, objects, settings, shadow_tables, positions })
    }

    /// Adds the tables and objects of another schema that this one lacks. Returns the added objects.
    pub fn add(&mut self, other: &Self) -> Vec<SchemaObject> {
        let has = |object: &SchemaObject| {
            let is_it = |known: &SchemaObject| {
                known.name.eq_ignore_ascii_case(&object.name) && (known.kind == "trigger") == (object.kind == "trigger")
            };
            self.objects.iter().any(is_it)
        };
        let is_new_table = |name: &str| self.position(name).is_none();
        let is_new = |object: &&SchemaObject| !has(object) && (object.sql.is_some() || is_new_table(&object.table));
        let added: Vec<SchemaObject> = other.objects.iter().filter(is_new).cloned().collect();
        let tables: Vec<Table> = other.tables.iter().filter(|table| is_new_table(&table.name)).cloned().collect();
        self.tables.extend(tables);
        self.objects.extend(added.iter().cloned());
        self.positions = positions(&self.tables);
        added.into_iter().filter(|object| object.sql.is_some() && !object.is_shadow).collect()
    }

    /// Takes over what another program has done to the database since its schema was read: `now` is the schema that it has. The
    /// tables at these positions may have other indexes and triggers, and other tables may be anything. `additions` are what this
    /// schema has beside that of the database.
    ///
    /// # Errors
    /// The name of a table that has another definition now.
    pub fn follow(
        &mut self,
        now: Self,
        additions: &SchemaAdditions,
        tables: impl IntoIterator<Item = usize>,
    ) -> std::result::Result<(), String> {
        for position in tables {
            let name = self.tables[position].name.clone();
            let before = self.sql_of("table", &name).filter(|_| !additions.makes_table(&name));
            if before != now.sql_of("table", &name) {
                return Err(name);
            }
            let table = &mut self.tables[position];
            let has_new_columns = additions.columns.iter().any(|(of, _)| of.eq_ignore_ascii_case(&table.name));
            if let Some(now) = now.table(&table.name).filter(|_| !has_new_columns) {
                table.clone_from(now);
            }
        }
        (self.objects, self.settings) = (now.objects, now.settings);
        self.objects.extend(additions.objects.iter().cloned());
        Ok(())
    }

    /// Returns the statement of the object of this kind and name, as `sqlite_schema` has it.
    pub fn sql_of(&self, kind: &str, name: &str) -> Option<&str> {
        let is_it = |object: &&SchemaObject| object.kind == kind && object.name.eq_ignore_ascii_case(name);
        self.objects.iter().find(is_it)?.sql.as_deref()
    }

    /// Returns the indexes of the table, in the order of their creation.
    pub fn indexes_of(&self, table: &str) -> impl Iterator<Item = &SchemaObject> {
        self.objects_of("index", table)
    }

    /// Returns whether the table has a trigger.
    pub fn has_trigger(&self, table: &str) -> bool {
        self.objects_of("trigger", table).next().is_some()
    }

    pub(super) fn objects_of(&self, kind: &str, table: &str) -> impl Iterator<Item = &SchemaObject> {
        self.objects.iter().filter(move |object| object.kind == kind && object.table.eq_ignore_ascii_case(table))
    }
}

impl Column {
    /// Makes a column without any rule.
    #[must_use]
    pub fn plain(name: &str, declared_type: &str, strict: bool) -> Self {
        let affinity = if strict { Affinity::of_strict_type } else { Affinity::of_declared_type };
        Self {
            name: name.to_owned(),
            declared_type: declared_type.to_owned(),
            affinity: affinity(declared_type),
            not_null: false,
            key_position: None,
            unique: false,
            default: None,
            generated: Generated::No,
        }
    }
}

/// Returns whether SQLite cannot read a definition. Any other error, such as one of memory, says nothing about the table: without it,
/// its rows would be for a new one.
fn is_about_schema(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), None | Some(ErrorCode::Unknown | ErrorCode::DatabaseCorrupt))
}

/// Finds out whether the table has CHECK constraints and ON CONFLICT clauses, and its number in `sqlite_sequence`.
fn with_rules(sqlite: &Connection, table: Table) -> rusqlite::Result<Table> {
    let last_sequence = if table.autoincrement { last_sequence(sqlite, &table.name)? } else { None };
    let (has_check, has_conflict_clause) = match byte_code(sqlite, &table, "INSERT") {
        _ if table.is_virtual => (false, false),
        Ok(plain) => {
            let aborts = byte_code(sqlite, &table, "INSERT OR ABORT")?;
            (plain.iter().any(fails_check), opcodes(&plain) != opcodes(&aborts))
        }
        // An insert that does not compile, because a function is missing, may have any rule.
        Err(_) => (true, true),
    };
    with_evaluation(sqlite, Table { last_sequence, has_check, has_conflict_clause, ..table })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicI64, Ordering};

    #[test]
    fn a_database_tells_what_its_schema_text_tells() {
        let sql =
            "CREATE TABLE p (id INTEGER PRIMARY KEY AUTOINCREMENT, a TEXT UNIQUE ON CONFLICT REPLACE, b CHECK (b > 0));
                   CREATE TABLE k (a, b, PRIMARY KEY (b, a)) WITHOUT ROWID; CREATE INDEX i ON p (b);
                   CREATE VIRTUAL TABLE f USING fts5 (x); CREATE TRIGGER tr AFTER INSERT ON k BEGIN SELECT 1; END;";
        let sqlite = Connection::open_in_memory().unwrap();
        sqlite.execute_batch(sql).unwrap();
        let (found, told) = (Schema::of_database(&sqlite, "x").unwrap(), Schema::from_sql(sql, "x").unwrap());
        assert_eq!(found.objects, told.objects);
        for (found, told) in found.tables.iter().zip(&told.tables) {
            // Only the text of a schema tells of full-text tables.
            assert_eq!(format!("{found:?}"), format!("{:?}", Table { span: 0..0, full_text: None, ..told.clone() }));
        }
        assert_eq!(found.tables.len(), 3);
        assert!(found.has_trigger("K") && !found.has_trigger("p"));
    }

    /// `load --on-conflict update` said "the table has no PRIMARY KEY" of a table that has one: SQLite had no memory for its columns,
    /// and the table was left out as if it could not be read.
    #[test]
    fn no_table_is_left_out_because_reading_failed() {
        let mut sqlite = Connection::open_in_memory().unwrap();
        sqlite.execute_batch("CREATE TABLE a (x PRIMARY KEY, y UNIQUE); CREATE TABLE b (x REFERENCES a)").unwrap();
        let mut failed = 0;
        for instructions in 0.. {
            let left = Arc::new(AtomicI64::new(instructions));
            let counter = left.clone();
            sqlite.progress_handler(1, Some(move || counter.fetch_sub(1, Ordering::Relaxed) == 0)).unwrap();
            match Schema::of_database(&sqlite, "x") {
                Err(error) => {
                    assert_eq!(error.sqlite_error_code(), Some(ErrorCode::OperationInterrupted));
                    failed += 1;
                }
                Ok(schema) => {
                    assert_eq!(schema.tables.len(), 2, "interrupted after {instructions} instructions");
                    if left.load(Ordering::Relaxed) >= 0 {
                        break;
                    }
                }
            }
        }
        assert!(failed > 100, "{failed} interrupted runs");
    }

    #[test]
    fn what_a_schema_lacks_is_added() {
        let mut schema = Schema::from_sql("CREATE TABLE a (x UNIQUE); CREATE INDEX i ON a (x);", "x").unwrap();
        let other =
            "CREATE TABLE A (y, z); CREATE INDEX j ON a (y); CREATE TABLE b (x PRIMARY KEY); CREATE INDEX I ON b (x)";
        let added = schema.add(&Schema::from_sql(other, "y").unwrap());
        let names: Vec<&str> = added.iter().map(|object| object.name.as_str()).collect();
        assert_eq!(names, ["j", "b"]);
        assert_eq!(
            (schema.tables.len(), schema.position("B"), schema.table("a").unwrap().columns.len()),
            (2, Some(1), 1)
        );
        assert_eq!(schema.sql_of("table", "B"), Some("CREATE TABLE b (x PRIMARY KEY)"));
    }
}
