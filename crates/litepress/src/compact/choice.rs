//! The objects that the copy of a database has.

use super::needs::Definitions;
use super::options::CompactOptions;
use super::source::{Object, SourceDatabase};
use crate::{Error, ErrorKind, Result};
use litepress_format::header::TextEncoding;
use litepress_format::record;
use litepress_format::text;
use litepress_format::value::Value;
use litepress_rows::schema::{Trigger, missing_objects};
use litepress_rows::sqlite::without_views;
use litepress_rows::{OptionName, message};
use std::collections::{HashMap, HashSet};

/// The table in which SQLite keeps the largest rowid of AUTOINCREMENT tables. Its first column is a table.
const SEQUENCE: &str = "sqlite_sequence";
/// Begin of the names of tables with statistics. Their first columns are a table and an index.
const STATISTICS: &str = "sqlite_stat";

/// The objects that the copy has.
pub(super) struct Choice {
    /// Whether an object is copied, by its position among the objects of the database.
    kept: Vec<bool>,
    /// Objects that the copy should have and cannot.
    pub left_out: Vec<String>,
    /// Names of tables and indexes that are not copied, in lower case.
    absent: HashSet<String>,
    /// Names of tables, in lower case, whose statistics are not copied.
    changed: HashSet<String>,
}

impl Choice {
    /// Chooses as the options say.
    ///
    /// # Errors
    /// If the options name an object that does not exist, or an index that belongs to a constraint.
    pub fn new(source: &SourceDatabase, options: &CompactOptions) -> Result<Self> {
        let dropped = dropped_indexes(source, &options.drop_indexes)?;
        let only = only(source, &options.only)?;
        let is_kept = |object: &Object| {
            let (name, table) = (object.name.to_ascii_lowercase(), object.table.to_ascii_lowercase());
            let is_dropped = object.kind == "index" && dropped.contains(&name);
            let is_of_choice = only.as_ref().is_none_or(|only| only.contains(&table) || table.starts_with("sqlite_"));
            is_of_choice && !is_dropped
        };
        let kept: Vec<bool> = source.objects.iter().map(is_kept).collect();
        let absent = |(object, kept): (&Object, &bool)| {
            let has_rows = matches!(object.kind.as_str(), "table" | "index" | "view");
            (!kept && has_rows).then(|| object.name.to_ascii_lowercase())
        };
        let absent = source.objects.iter().zip(&kept).filter_map(absent).collect();
        let mut choice = Self { kept, left_out: Vec::new(), absent, changed: HashSet::new() };
        if only.is_some() {
            choice.leave_out_triggers(source);
            choice.list_missing(source)?;
        }
        Ok(choice)
    }

    /// Returns the positions of the objects that are copied, with them.
    pub fn objects<'s>(&self, source: &'s SourceDatabase) -> impl Iterator<Item = &'s Object> {
        source.objects.iter().zip(&self.kept).filter(|(_, kept)| **kept).map(|(object, _)| object)
    }

    /// Returns the names of the tables and views that are copied.
    pub fn names(&self, source: &SourceDatabase) -> Vec<String> {
        let is_listed = |object: &&Object| matches!(object.kind.as_str(), "table" | "view");
        self.objects(source).filter(is_listed).map(|object| object.name.clone()).collect()
    }

    /// Returns whether some rows of a table are about objects that are not copied.
    pub fn filters(&self, table: &str) -> bool {
        let is_about_absent = !self.absent.is_empty() && (is_sequence(table) || is_statistics(table));
        is_about_absent || !self.changed.is_empty() && is_statistics(table)
    }

    /// Returns whether a row of such a table is about objects that are copied.
    pub fn keeps_row(&self, encoding: TextEncoding, table: &str, row: &[u8]) -> bool {
        let Ok(values) = record::decode(row) else { return true };
        let columns = if is_statistics(table) { 2 } else { 1 };
        let is_absent = |value: &Value<'_>| match value {
            Value::Text(name) => {
                let name = text::to_utf8(name, encoding).to_ascii_lowercase();
                self.absent.contains(&name) || is_statistics(table) && self.changed.contains(&name)
            }
            _ => false,
        };
        !values.iter().take(columns).any(is_absent)
    }

    /// Leaves out the statistics of a table whose trees change.
    pub fn drop_statistics(&mut self, source: &SourceDatabase, table: &str) {
        self.changed.insert(table.to_ascii_lowercase());
        if source.objects.iter().any(|object| object.kind == "table" && is_statistics(&object.name)) {
            self.left_out.push(format!("statistics of {table} (ANALYZE makes them)"));
        }
    }

    /// Leaves out triggers that cannot run without the objects that are not copied.
    fn leave_out_triggers(&mut self, source: &SourceDatabase) {
        let (mut text, mut triggers) = (String::new(), Vec::new());
        let kinds = table_kinds(source);
        let is_virtual = |object: &&Object| object.kind == "table" && object.tree.is_none();
        // Their virtual tables make them.
        let shadows: HashSet<String> = self
            .objects(source)
            .filter(is_virtual)
            .flat_map(|table| shadow_tables(source, &kinds, &table.name))
            .collect();
        for kind in ["table", "view"] {
            let is_written = |object: &&Object| {
                let name = object.name.to_ascii_lowercase();
                object.kind == kind && !name.starts_with("sqlite_") && !shadows.contains(&name)
            };
            for sql in self.objects(source).filter(is_written).filter_map(|object| object.sql.as_ref()) {
                text += &format!("{sql}\n;\n");
            }
        }
        for (position, object) in source.objects.iter().enumerate() {
            if let ("trigger", true, Some(sql)) = (object.kind.as_str(), self.kept[position], &object.sql) {
                triggers.push((position, Trigger { name: &object.name, table: &object.table, sql }));
            }
        }
        let given: Vec<Trigger<'_>> = triggers.iter().map(|(_, trigger)| *trigger).collect();
        // A schema that SQLite cannot run here says nothing about its triggers.
        let Ok(missing) = missing_objects(&text, "<schema of the copy>", &given, &self.absent) else { return };
        for ((position, trigger), missing) in triggers.iter().zip(missing) {
            if let Some(needed) = missing {
                self.kept[*position] = false;
                self.left_out.push(format!("trigger {} (needs {needed})", trigger.name));
            }
        }
    }

    /// Lists views, and tables that foreign keys, views and full-text tables of the copy need.
    fn list_missing(&mut self, source: &SourceDatabase) -> Result<()> {
        for (object, kept) in source.objects.iter().zip(&self.kept) {
            if object.kind == "view" && !kept {
                self.left_out.push(format!("view {}", object.name));
            }
        }
        let mut missing = Vec::new();
        for object in self.objects(source).filter(|object| object.kind == "table") {
            let sql = "SELECT DISTINCT \"table\" FROM temp.pragma_foreign_key_list(?1)";
            let parents = source.moment.connection().prepare(sql).and_then(|mut statement| {
                statement.query_map([&object.name], |row| row.get::<_, String>(0))?.collect::<Result<Vec<_>, _>>()
            });
            for parent in parents.unwrap_or_default() {
                if self.absent.contains(&parent.to_ascii_lowercase()) {
                    missing.push(format!("table {parent} (a foreign key of {} references it)", object.name));
                }
            }
        }
        missing.extend(Definitions::of(source).missing(self)?);
        self.left_out.append(&mut missing);
        Ok(())
    }
}

fn is_sequence(table: &str) -> bool {
    table.eq_ignore_ascii_case(SEQUENCE)
}

fn is_statistics(table: &str) -> bool {
    table.to_ascii_lowercase().starts_with(STATISTICS)
}

/// Returns the indexes that the copy lacks, in lower case.
fn dropped_indexes(source: &SourceDatabase, names: &[String]) -> Result<HashSet<String>> {
    let dropped = |name: &String| {
        let is_it = |object: &&Object| object.kind == "index" && object.name.eq_ignore_ascii_case(name);
        let given = OptionName::DropIndex.word(name.clone()).given();
        let Some(index) = source.objects.iter().find(is_it) else {
            let error = Error::new(ErrorKind::Usage, message![given, ": the database has no such index"]);
            let known = source.objects.iter().filter(|object| object.kind == "index" && object.sql.is_some());
            return Err(error.in_file(&source.path).advise(listed("its indexes", known)));
        };
        if index.sql.is_none() {
            let message =
                message![given, format!(": it belongs to a PRIMARY KEY or UNIQUE constraint of {}", index.table)];
            return Err(Error::new(ErrorKind::Usage, message)
                .in_file(&source.path)
                .advise("keep it: SQLite cannot read the table without it"));
        }
        Ok(name.to_ascii_lowercase())
    };
    names.iter().map(dropped).collect()
}

/// Returns the names of tables and views to keep, with the shadow tables of virtual ones, in lower case; `None` if all are kept.
fn only(source: &SourceDatabase, names: &[String]) -> Result<Option<HashSet<String>>> {
    if names.is_empty() {
        return Ok(None);
    }
    let is_table = |object: &&Object| matches!(object.kind.as_str(), "table" | "view");
    let (mut only, mut kinds) = (HashSet::new(), None);
    for name in names {
        let Some(object) = source.objects.iter().filter(is_table).find(|object| object.name.eq_ignore_ascii_case(name))
        else {
            let given = OptionName::Only.word(name.clone()).given();
            let error = Error::new(ErrorKind::Usage, message![given, ": the database has no such table or view"]);
            let known = source.objects.iter().filter(is_table);
            return Err(error.in_file(&source.path).advise(listed("its tables and views", known)));
        };
        only.insert(name.to_ascii_lowercase());
        if object.kind == "table" && object.tree.is_none() {
            let kinds = kinds.get_or_insert_with(|| table_kinds(source));
            only.extend(shadow_tables(source, kinds, name));
        }
    }
    Ok(Some(only))
}

/// Returns the kind of each table by its name in lower case, as far as SQLite knows it.
pub(super) fn table_kinds(source: &SourceDatabase) -> HashMap<String, String> {
    let connection = source.moment.connection();
    let read = || -> rusqlite::Result<HashMap<String, String>> {
        let mut statement =
            connection.prepare("SELECT lower(name), type FROM temp.pragma_table_list WHERE schema = 'main'")?;
        let kinds = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        kinds.collect()
    };
    without_views(&connection, read).unwrap_or_default()
}

/// Returns the tables in which a virtual table keeps its data, in lower case. If SQLite does not know its module, all tables
/// with its name in front may be such.
fn shadow_tables(source: &SourceDatabase, kinds: &HashMap<String, String>, name: &str) -> Vec<String> {
    let prefix = format!("{}_", name.to_ascii_lowercase());
    let tables = source.objects.iter().filter(|object| object.kind == "table" && object.tree.is_some());
    let named: Vec<String> =
        tables.map(|table| table.name.to_ascii_lowercase()).filter(|table| table.starts_with(&prefix)).collect();
    let is_shadow = |table: &String| kinds.get(table).is_some_and(|kind| kind == "shadow");
    if named.iter().any(is_shadow) { named.into_iter().filter(is_shadow).collect() } else { named }
}

/// Returns an advice that lists names: `its indexes: a, b, and 3 more`.
fn listed<'o>(what: &str, objects: impl Iterator<Item = &'o Object>) -> String {
    const LISTED: usize = 10;
    let names: Vec<&str> = objects.map(|object| object.name.as_str()).collect();
    match names.len() {
        0 => format!("{what}: none"),
        count @ ..=LISTED => format!("{what}: {}", names[..count].join(", ")),
        count => format!("{what}: {}, and {} more", names[..LISTED].join(", "), count - LISTED),
    }
}
