//! Copies databases: the DDL of their tables, and the list of objects that are not copied.

use crate::sqlite::{Database, Object, Settings, Table};
use litepress_rows::Result;
use litepress_rows::schema::{Trigger, missing_objects};
use std::collections::HashSet;
use std::sync::Arc;

/// The databases of a run, and their objects that are not copied.
#[derive(Default)]
pub(crate) struct DatabaseCopy {
    /// The databases.
    pub databases: Vec<Arc<Database>>,
    /// The objects that are not copied: `view v of shop.db`.
    pub left_out: Vec<String>,
}

/// A table that is defined as in its database.
pub(crate) struct CopiedTable {
    pub database: Arc<Database>,
    pub table: Arc<Table>,
}

impl DatabaseCopy {
    /// Adds a database; its views, virtual tables and the like are left out.
    pub fn add(&mut self, database: &Arc<Database>) {
        let name = database.name().display();
        self.left_out.extend(database.others().iter().map(|other| format!("{} {} of {name}", other.kind, other.name)));
        self.databases.push(database.clone());
    }

    /// Returns PRAGMAs for the fields of the header that all databases have in common, and lists the others.
    pub fn settings(&mut self) -> String {
        let Some(first) = self.databases.first().map(|database| database.settings()) else { return String::new() };
        if self.databases.iter().all(|database| database.settings() == first) {
            return pragmas(first).iter().map(|pragma| format!("{pragma};\n")).collect();
        }
        for database in &self.databases {
            let name = database.name().display();
            let of_database = pragmas(database.settings());
            self.left_out.extend(of_database.iter().map(|pragma| format!("{pragma} of {name}")));
        }
        String::new()
    }

    /// Returns the DDL of the copied tables, and `created`, which defines the others. Triggers that cannot run, because an
    /// object that they name is not copied, are left out.
    ///
    /// # Errors
    /// Tables that SQLite refuses.
    pub fn definitions(&mut self, tables: &[&CopiedTable], created: &str) -> Result<String> {
        let mut missing = missing(tables, created)?.into_iter();
        let mut sql = String::new();
        for CopiedTable { database, table } in tables {
            add_statement(&mut sql, &table.sql);
            for object in &table.objects {
                let missing = if object.is_trigger { missing.next().flatten() } else { None };
                match missing {
                    Some(missing) => {
                        let (trigger, file) = (&object.name, database.name().display());
                        self.left_out.push(format!("trigger {trigger} of {file} (it needs {missing})"));
                    }
                    None => add_statement(&mut sql, &object.sql),
                }
            }
        }
        Ok(sql + created)
    }
}

/// Returns the PRAGMAs of the fields that are set.
fn pragmas(settings: Settings) -> Vec<String> {
    let Settings { user_version, application_id } = settings;
    let fields = [("user_version", user_version), ("application_id", application_id)];
    fields.iter().filter(|(_, value)| *value != 0).map(|(name, value)| format!("PRAGMA {name} = {value}")).collect()
}

fn add_statement(sql: &mut String, statement: &str) {
    sql.push_str(statement);
    sql.push_str(";\n");
}

/// Returns for each trigger of these tables the object that it lacks in the copy, if it lacks one.
fn missing(tables: &[&CopiedTable], created: &str) -> Result<Vec<Option<String>>> {
    let of_tables = |is_wanted: fn(&&Object) -> bool| {
        tables.iter().flat_map(move |copied| {
            copied.table.objects.iter().filter(is_wanted).map(|object| (copied.table.name.as_str(), object))
        })
    };
    let triggers = of_tables(|object| object.is_trigger);
    let triggers: Vec<Trigger<'_>> =
        triggers.map(|(table, object)| Trigger { name: &object.name, table, sql: &object.sql }).collect();
    let absent = absent(tables);
    if triggers.is_empty() || absent.is_empty() {
        return Ok(vec![None; triggers.len()]);
    }
    let mut sql = String::new();
    tables.iter().for_each(|copied| add_statement(&mut sql, &copied.table.sql));
    of_tables(|object| !object.is_trigger).for_each(|(_, index)| add_statement(&mut sql, &index.sql));
    missing_objects(&(sql + created), "<inferred schema>", &triggers, &absent)
}

/// Returns the names, in lower case, of objects of the tables' databases that are not copied.
fn absent(tables: &[&CopiedTable]) -> HashSet<String> {
    let copied: HashSet<String> = tables.iter().map(|copied| copied.table.name.to_ascii_lowercase()).collect();
    let mut databases: Vec<&Arc<Database>> = tables.iter().map(|copied| &copied.database).collect();
    databases.dedup_by(|one, other| Arc::ptr_eq(one, other));
    let names = databases.into_iter().flat_map(|database| {
        let others = database.others().iter().map(|other| &other.name);
        others.chain(database.shadows()).chain(database.tables().iter().map(|table| &table.name))
    });
    names.map(|name| name.to_ascii_lowercase()).filter(|name| !copied.contains(name)).collect()
}
