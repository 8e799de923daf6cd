//! Copies databases: the DDL of their tables, views and virtual tables, and the list of what is not copied.
//!
//! A virtual table is copied as an entry of the schema and its shadow tables, row by row: its module finds its data unchanged.

mod geopackage;
mod losses;

use crate::input::Input;
use crate::sqlite::{Database, Extra, ExtraKind, Object, Settings, Table};
use litepress_rows::schema::{Trigger, VirtualTable, missing_objects};
use litepress_rows::{Message, Result, Schema};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The name of inferred schemas in errors.
pub(crate) const ORIGIN: &str = "<inferred schema>";

/// The databases of a run, and the objects that are copied beside their tables.
#[derive(Default)]
pub(crate) struct DatabaseCopy {
    databases: Vec<(Input, Arc<Database>)>,
    /// The views, the virtual tables and the triggers of views that are copied.
    extras: Vec<(Arc<Database>, Extra)>,
    /// The objects that are not copied: `view v of shop.db`.
    pub left_out: Vec<String>,
    /// Notes about objects that the copy has in another form.
    pub notes: Vec<Message>,
    /// Names of replaced tables, in lower case.
    pub replaced: HashSet<String>,
    /// The tables that are replaced.
    pub replaced_tables: Vec<Arc<Table>>,
}

/// A table that is defined as in its database.
pub(crate) struct CopiedTable {
    pub database: Arc<Database>,
    pub table: Arc<Table>,
    /// It belongs to a virtual table, which defines it.
    pub is_shadow: bool,
}

/// The number of inputs of each table, by lower-case name.
pub(crate) type Contributors = HashMap<String, usize>;

impl DatabaseCopy {
    /// Adds a database whose objects are all copied.
    pub fn add(&mut self, input: &Input, database: &Arc<Database>) {
        self.databases.push((input.clone(), database.clone()));
    }

    /// Lists the virtual tables of databases whose rows go to a database that exists, and notes their views: only tables are copied.
    pub fn note_uncopied(&mut self, target: &Schema) {
        for (_, database) in &self.databases {
            let file = database.name().display();
            let loses_rows =
                |extra: &&Extra| extra.kind == ExtraKind::VirtualTable && !is_index_of_target(extra, target);
            let (lost, others): (Vec<&Extra>, Vec<&Extra>) = database.extras().iter().partition(loses_rows);
            self.left_out.extend(lost.iter().map(|extra| format!("{} {} of {file}", extra.kind.name(), extra.name)));
            let others: Vec<String> =
                others.iter().map(|extra| format!("{} {}", extra.kind.name(), extra.name)).collect();
            if !others.is_empty() {
                let others = others.join(", ");
                self.notes.push(format!("only the tables of {file} are copied, without {others}").into());
            }
        }
    }

    /// Fails if a replaced table is one that the rest of a GeoPackage describes.
    pub fn refuse_replaced_layers(&self, database: &Database) -> Result<()> {
        geopackage::refuse_layers(database, &self.replaced_tables)
    }

    /// Lists what the replaced tables had that the new schema lacks: `index i of t`.
    pub fn losses(&self, new: &Schema) -> Vec<String> {
        self.replaced_tables.iter().flat_map(|table| losses::losses(table, new)).collect()
    }

    /// Returns whether a database has statistics for the planner.
    pub fn has_statistics(&self) -> bool {
        self.databases.iter().any(|(_, database)| database.statistics().iter().any(|table| table == "sqlite_stat1"))
    }

    /// Decides which views and virtual tables are copied. Returns the shadow tables, which are read like other tables.
    pub fn choose(&mut self, contributors: &Contributors) -> Vec<(Input, CopiedTable)> {
        let mut taken: HashSet<String> = contributors.keys().chain(&self.replaced).cloned().collect();
        let mut shadows = Vec::new();
        for (input, database) in self.databases.clone() {
            for extra in database.extras() {
                let name = extra.name.to_ascii_lowercase();
                let is_known = self.extras.iter().any(|(_, known)| known == extra);
                if is_known && extra.kind != ExtraKind::VirtualTable {
                    continue;
                }
                let refused = match extra.kind {
                    _ if !taken.insert(format!("{}{name}", namespace(extra.kind))) => {
                        Some("its name is taken".to_owned())
                    }
                    ExtraKind::VirtualTable => match self.shadows_of(&database, extra, contributors) {
                        Ok(tables) => {
                            let copied = |table| CopiedTable { database: database.clone(), table, is_shadow: true };
                            shadows.extend(tables.into_iter().map(|table| (input.clone(), copied(table))));
                            None
                        }
                        Err(why) => Some(why),
                    },
                    ExtraKind::View | ExtraKind::Trigger => None,
                };
                match refused {
                    None => self.extras.push((database.clone(), extra.clone())),
                    Some(why) => {
                        let (kind, file) = (extra.kind.name(), database.name().display());
                        self.left_out.push(format!("{kind} {} of {file} ({why})", extra.name));
                    }
                }
            }
        }
        shadows
    }

    /// Returns the shadow tables of a virtual table, or why it cannot be copied.
    fn shadows_of(
        &self,
        database: &Database,
        extra: &Extra,
        contributors: &Contributors,
    ) -> Result<Vec<Arc<Table>>, String> {
        let is_merged =
            |table: &Arc<Table>| contributors.get(&table.name.to_ascii_lowercase()).is_some_and(|inputs| *inputs > 1);
        if database.tables().iter().any(is_merged) {
            return Err("rows of other files join those of its database".to_owned());
        }
        // Its arguments may name a table, such as one with the texts of a full-text index.
        let words = extra.sql.to_ascii_lowercase();
        let mut words = words.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
        if let Some(table) = words.find(|word| self.replaced.contains(*word)) {
            return Err(format!("it names {table}, which is replaced"));
        }
        let mut sql = String::new();
        database.tables().iter().for_each(|table| add_statement(&mut sql, &table.sql));
        add_statement(&mut sql, &extra.sql);
        let made = Schema::from_sql(&sql, ORIGIN).map_err(|error| error.message().to_owned())?;
        let by_name: HashMap<String, &Arc<Table>> =
            database.shadows().iter().map(|table| (table.name.to_ascii_lowercase(), table)).collect();
        let mut found = Vec::new();
        for shadow in &made.shadow_tables {
            let columns = shadow.ordinary_columns().map(|position| &shadow.columns[position].name);
            match by_name.get(&shadow.name.to_ascii_lowercase()) {
                Some(table) if table.fields.iter().map(|field| &field.name).eq(columns) => found.push((*table).clone()),
                Some(_) => return Err(format!("its table {} has other columns here", shadow.name)),
                None => return Err(format!("it lacks its table {}", shadow.name)),
            }
        }
        let prefix = format!("{}_", extra.name.to_ascii_lowercase());
        let is_other = |name: &&String| {
            name.starts_with(&prefix) && made.shadow_tables.iter().all(|table| !table.name.eq_ignore_ascii_case(name))
        };
        match by_name.keys().find(is_other) {
            // It may belong to a virtual table with a longer name.
            Some(name) if !self.belongs_to_another(database, extra, name) => {
                Err(format!("its table {name} is unknown here"))
            }
            _ => Ok(found),
        }
    }

    /// Returns whether a shadow table may belong to another virtual table, whose name begins with that of `extra`.
    fn belongs_to_another(&self, database: &Database, extra: &Extra, shadow: &str) -> bool {
        let others = database.extras().iter().filter(|other| other.kind == ExtraKind::VirtualTable && *other != extra);
        let mut prefixes = others.map(|other| format!("{}_", other.name.to_ascii_lowercase()));
        prefixes.any(|prefix| prefix.len() > extra.name.len() + 1 && shadow.starts_with(&prefix))
    }

    /// Returns PRAGMAs for the settings that all databases have in common, and lists the others.
    pub fn settings(&mut self) -> String {
        let settings: Vec<Settings> = self.databases.iter().map(|(_, database)| database.settings()).collect();
        let Some(first) = settings.first() else { return String::new() };
        let mut sql = String::new();
        let page_size = Some(first.page_size).filter(|bytes| settings.iter().all(|other| other.page_size == *bytes));
        if let Some(bytes) = page_size.filter(|bytes| *bytes != DEFAULT_PAGE_BYTES) {
            add_statement(&mut sql, &format!("PRAGMA page_size = {bytes}"));
        }
        if settings.iter().all(|other| other.is_wal) {
            add_statement(&mut sql, "PRAGMA journal_mode = WAL");
        }
        let of_programs = |settings: &Settings| (settings.user_version, settings.application_id);
        let is_common = settings.iter().all(|other| of_programs(other) == of_programs(first));
        if is_common {
            pragmas(*first).iter().for_each(|pragma| add_statement(&mut sql, pragma));
        }
        for (_, database) in &self.databases {
            let (name, settings) = (database.name().display(), database.settings());
            if !is_common {
                self.left_out.extend(pragmas(settings).iter().map(|pragma| format!("{pragma} of {name}")));
            }
            if settings.auto_vacuum != 0 {
                self.left_out.push(format!("PRAGMA auto_vacuum = {} of {name}", settings.auto_vacuum));
            }
            if !settings.is_utf8 {
                self.notes.push(format!("the texts of {name} are UTF-16 there, and UTF-8 here").into());
            }
            let samples: Vec<&str> =
                database.statistics().iter().map(String::as_str).filter(|name| *name != "sqlite_stat1").collect();
            if !samples.is_empty() {
                let samples = samples.join(", ");
                self.notes.push(format!("{samples} of {name} is not copied: ANALYZE makes it again").into());
            }
        }
        sql
    }

    /// Returns the DDL of the copied tables, `created`, which defines the others, and the DDL of views and virtual tables. Triggers
    /// that cannot run, because an object that they name is not copied, are left out.
    ///
    /// # Errors
    /// Tables that SQLite refuses.
    pub fn definitions(&mut self, tables: &[&CopiedTable], created: &str) -> Result<String> {
        let tables: Vec<&CopiedTable> = tables.iter().copied().filter(|copied| !copied.is_shadow).collect();
        let mut missing = self.missing(&tables, created)?.into_iter();
        let (mut sql, mut left_out) = (String::new(), Vec::new());
        for CopiedTable { database, table, .. } in tables {
            add_statement(&mut sql, &table.sql);
            for object in &table.objects {
                let missing = if object.is_trigger { missing.next().flatten() } else { None };
                match missing {
                    Some(missing) => {
                        let (trigger, file) = (&object.name, database.name().display());
                        left_out.push(format!("trigger {trigger} of {file} (it needs {missing})"));
                    }
                    None => add_statement(&mut sql, &object.sql),
                }
            }
        }
        self.left_out.append(&mut left_out);
        Ok(sql + created + &self.extras_sql())
    }

    /// Returns the DDL of virtual tables, then of views, then of their triggers.
    fn extras_sql(&self) -> String {
        let mut sql = String::new();
        for kind in [ExtraKind::VirtualTable, ExtraKind::View, ExtraKind::Trigger] {
            let extras = self.extras.iter().filter(|(_, extra)| extra.kind == kind);
            extras.for_each(|(_, extra)| add_statement(&mut sql, &extra.sql));
        }
        sql
    }

    /// Returns for each trigger of these tables the object that it lacks in the copy, if it lacks one.
    fn missing(&self, tables: &[&CopiedTable], created: &str) -> Result<Vec<Option<String>>> {
        let of_tables = |is_wanted: fn(&&Object) -> bool| {
            tables.iter().flat_map(move |copied| {
                copied.table.objects.iter().filter(is_wanted).map(|object| (copied.table.name.as_str(), object))
            })
        };
        let triggers = of_tables(|object| object.is_trigger);
        let triggers: Vec<Trigger<'_>> =
            triggers.map(|(table, object)| Trigger { name: &object.name, table, sql: &object.sql }).collect();
        let absent = self.absent(tables);
        if triggers.is_empty() || absent.is_empty() {
            return Ok(vec![None; triggers.len()]);
        }
        missing_objects(&self.definitions_without_triggers(tables, created), ORIGIN, &triggers, &absent)
    }

    /// Returns the DDL of the copied tables and their indexes, `created`, and the DDL of views and virtual tables.
    pub fn definitions_without_triggers(&self, tables: &[&CopiedTable], created: &str) -> String {
        let mut sql = String::new();
        tables.iter().for_each(|copied| add_statement(&mut sql, &copied.table.sql));
        let objects = tables.iter().flat_map(|copied| &copied.table.objects);
        objects.filter(|object| !object.is_trigger).for_each(|index| add_statement(&mut sql, &index.sql));
        sql + created + &self.extras_sql()
    }

    /// Returns the names, in lower case, of objects of the tables' databases that are not copied.
    fn absent(&self, tables: &[&CopiedTable]) -> HashSet<String> {
        let extras = self.extras.iter().map(|(_, extra)| extra.name.as_str());
        let copied: HashSet<String> =
            tables.iter().map(|copied| copied.table.name.as_str()).chain(extras).map(str::to_ascii_lowercase).collect();
        let mut databases: Vec<&Arc<Database>> = tables.iter().map(|copied| &copied.database).collect();
        databases.dedup_by(|one, other| Arc::ptr_eq(one, other));
        let names = databases.into_iter().flat_map(|database| {
            let extras = database.extras().iter().map(|extra| &extra.name);
            extras.chain(database.tables().iter().map(|table| &table.name)).chain(database.statistics())
        });
        let is_there = |name: &String| copied.contains(name) || self.replaced.contains(name);
        names.map(|name| name.to_ascii_lowercase()).filter(|name| !is_there(name)).collect()
    }
}

/// Returns whether a virtual table is a full-text index over a table, and the target has one of its name: it has no rows to lose, and
/// the triggers of the target keep its own up to date.
fn is_index_of_target(extra: &Extra, target: &Schema) -> bool {
    let content = |sql: &str| {
        let content = VirtualTable::of_statement(sql)?.content()?.to_owned();
        (!content.is_empty()).then_some(content)
    };
    let known = target.sql_of("table", &extra.name).and_then(content);
    known.is_some_and(|known| content(&extra.sql).is_some_and(|table| table.eq_ignore_ascii_case(&known)))
}

/// The page size of databases whose schema sets none.
const DEFAULT_PAGE_BYTES: u32 = 4096;

/// Returns a prefix for names that do not clash with those of tables and views: a trigger may have the name of a table.
fn namespace(kind: ExtraKind) -> &'static str {
    if kind == ExtraKind::Trigger { "trigger " } else { "" }
}

/// Returns the PRAGMAs of the fields for programs that are set.
fn pragmas(settings: Settings) -> Vec<String> {
    let Settings { user_version, application_id, .. } = settings;
    let fields = [("user_version", user_version), ("application_id", application_id)];
    fields.iter().filter(|(_, value)| *value != 0).map(|(name, value)| format!("PRAGMA {name} = {value}")).collect()
}

fn add_statement(sql: &mut String, statement: &str) {
    sql.push_str(statement);
    sql.push_str(";\n");
}
