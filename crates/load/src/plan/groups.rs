//! Groups files by table.

use super::LoadRequest;
use super::content::Content;
use crate::database_copy::{CopiedTable, DatabaseCopy};
use crate::infer::InferredColumn;
use crate::input::Input;
use crate::options::Format;
use crate::reader::FileColumn;
use crate::spreadsheet::{self, Sheet};
use crate::sqlite;
use litepress_rows::{Error, ErrorKind, OptionName, Result, Schema, message};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The files of one table whose definition is not known yet.
pub(super) struct Group {
    /// Name of the table.
    pub name: String,
    pub contents: Vec<Content>,
    /// The database table that it copies.
    pub copied: Option<CopiedTable>,
}

/// The result of scanning the files of a table.
#[derive(Default)]
pub(super) struct Found {
    pub decisions: Vec<InferredColumn>,
    pub records: Option<u64>,
    /// Columns of each file.
    pub fields: Vec<Vec<FileColumn>>,
    /// Maximum number of digits of each decimal column whose values allow a number type, by name in the files.
    pub most_digits: HashMap<String, u8>,
    /// Columns at the end of CSV files that have neither a name in the header nor a value.
    pub empty: Vec<String>,
    /// The error of the first bad record.
    pub first_bad: Option<Error>,
}

impl Group {
    /// Returns the group of a table of a database.
    fn of_database(input: &Input, copied: CopiedTable) -> Self {
        let CopiedTable { database, table, .. } = &copied;
        let (name, database, table) = (table.name.clone(), database.clone(), table.clone());
        Self { name, contents: vec![Content::Table { input: input.clone(), database, table }], copied: Some(copied) }
    }

    /// Returns whether the group copies the table of this name.
    pub(super) fn is_copy_of(&self, name: &str) -> bool {
        self.copied.is_some() && self.name.eq_ignore_ascii_case(name)
    }

    /// Returns whether the caller gave the data. A group never mixes given data and files.
    pub(super) fn is_given(&self) -> bool {
        self.contents.iter().all(|content| content.input().is_none())
    }

    /// Returns the columns and record counts that are known without reading. Empty for files.
    pub(super) fn known(&mut self) -> Found {
        let known: Option<Vec<_>> = self.contents.iter_mut().map(Content::known).collect();
        let Some(known) = known else { return Found::default() };
        let (fields, records): (_, Vec<Option<u64>>) = known.into_iter().unzip();
        Found { fields, records: records.into_iter().sum(), ..Found::default() }
    }
}

/// The groups of all tables, indexed by lower-case name: databases with thousands of tables are common.
#[derive(Default)]
pub(super) struct Groups {
    pub groups: Vec<Group>,
    positions: HashMap<String, usize>,
}

impl Groups {
    /// Fails if `group` is a file, and another file is to become a table of the same name. Files may be added to a table that is copied from a database.
    fn refuse_second_file(&self, group: &Group) -> Result<()> {
        let Some(&position) = self.positions.get(&group.name.to_ascii_lowercase()) else { return Ok(()) };
        let file = |content: &Content| match content {
            Content::File(input) | Content::Sheet { input, .. } => Some(input.name.clone()),
            Content::Table { .. } | Content::Given(_) => None,
        };
        let known = self.groups[position].contents.iter().find_map(file);
        let (Some(known), Some(name)) = (known, group.contents.iter().find_map(file)) else { return Ok(()) };
        let message = format!("this file and {} would both become table {}", known.display(), group.name);
        let one = OptionName::Table.word(group.name.clone());
        Err(Error::new(ErrorKind::Usage, message).in_file(&name).advise(message![
            "load all files into one table with ",
            one,
            ", or rename one of them"
        ]))
    }

    /// Adds a group, or appends its contents to the group of the same name.
    pub(super) fn add(&mut self, group: Group) {
        let position = *self.positions.entry(group.name.to_ascii_lowercase()).or_insert(self.groups.len());
        match self.groups.get_mut(position) {
            Some(known) => known.contents.extend(group.contents),
            None => self.groups.push(group),
        }
    }

    /// Adds the shadow tables of the virtual tables that are copied.
    fn add_shadows(&mut self, copy: &mut DatabaseCopy) {
        let contributors = self.positions.iter().map(|(name, &at)| (name.clone(), self.groups[at].contents.len()));
        for (input, copied) in copy.choose(&contributors.collect()) {
            self.add(Group::of_database(&input, copied));
        }
    }
}

impl LoadRequest {
    /// Groups the files by table.
    pub(super) fn group(&self, copy: &mut DatabaseCopy) -> Result<Vec<Group>> {
        if let Some(name) = self.table.as_deref().filter(|name| name.trim().is_empty()) {
            let error = Error::new(ErrorKind::Usage, format!("'{name}' is not the name of a table"));
            return Err(error.advise(message!["say another one with ", OptionName::Table.alone()]));
        }
        let mut groups = Groups::default();
        for input in self.inputs.iter().filter(|input| !self.leaves_out(input)) {
            for group in self.groups_of(input, copy)? {
                if self.table.is_none() && self.schema.is_none() {
                    groups.refuse_second_file(&group)?;
                }
                groups.add(group);
            }
        }
        if self.keep.is_some() {
            self.keep_others(&mut groups, copy)?;
        } else if self.existing.is_some() {
            self.match_existing(&mut groups.groups)?;
        } else {
            groups.add_shadows(copy);
        }
        Ok(groups.groups)
    }

    /// Returns whether a file is left out because it is empty, and nothing names its columns.
    pub(super) fn leaves_out(&self, input: &Input) -> bool {
        input.bytes == Some(0) && self.read.leaves_out_empty && self.read.dialect.columns.is_none()
    }

    fn groups_of(&self, input: &Input, copy: &mut DatabaseCopy) -> Result<Vec<Group>> {
        match input.format {
            Format::Sqlite => return self.groups_of_database(input, copy),
            Format::Spreadsheet => return self.groups_of_workbook(input),
            Format::Csv | Format::Json | Format::Parquet | Format::Arrow | Format::FlatGeobuf => {}
        }
        let Some(name) = self.table.clone().or_else(|| self.only_table()).or_else(|| input.table_name()) else {
            let error = Error::new(ErrorKind::Usage, "the table needs a name").in_file(&input.name);
            return Err(error.advise(message!["name it with ", OptionName::Table.alone()]));
        };
        Ok(vec![Group { name, contents: vec![Content::File(input.clone())], copied: None }])
    }

    /// Returns a group for each sheet. A sheet that has no sibling is named after its workbook.
    fn groups_of_workbook(&self, input: &Input) -> Result<Vec<Group>> {
        let sheets = spreadsheet::open_sheets(input, &self.sheets, &self.read)?;
        let group = |sheet: Sheet| {
            let of_workbook = || input.table_name().filter(|_| sheet.place == input.name);
            let name = self.table.clone().or_else(|| self.only_table()).or_else(of_workbook);
            let name = name.unwrap_or_else(|| sheet.name.clone());
            let input = input.part(sheet.place.clone());
            Group { name, contents: vec![Content::Sheet { input, sheet: Arc::new(sheet) }], copied: None }
        };
        Ok(sheets.into_iter().map(group).collect())
    }

    /// Returns a group for each table of a database, or for the requested table only.
    fn groups_of_database(&self, input: &Input, copy: &mut DatabaseCopy) -> Result<Vec<Group>> {
        let database = Arc::new(sqlite::Database::open(input)?);
        if self.inputs.iter().filter(|input| input.format == Format::Sqlite).count() > sqlite::MOST_KEPT {
            database.release();
        }
        let is_wanted = |name: &str| self.table.as_ref().is_none_or(|table| table.eq_ignore_ascii_case(name));
        let tables: Vec<Arc<sqlite::Table>> =
            database.tables().iter().filter(|table| is_wanted(&table.name)).cloned().collect();
        if let (true, Some(table)) = (tables.is_empty(), &self.table) {
            let names: Vec<&str> = database.tables().iter().map(|table| table.name.as_str()).collect();
            let error = Error::new(ErrorKind::Usage, format!("the database has no table {table}"));
            return Err(error.in_file(&input.name).advise(format!("it has {}", names.join(", "))));
        }
        // A schema says which other objects there are.
        if self.table.is_none() && self.schema.is_none() {
            copy.add(input, &database);
        }
        let copied = |table| CopiedTable { database: database.clone(), table, is_shadow: false };
        Ok(tables.into_iter().map(|table| Group::of_database(input, copied(table))).collect())
    }

    /// Returns the name of the schema's table if it has only one.
    fn only_table(&self) -> Option<String> {
        let (text, origin) = self.schema.as_ref()?;
        let schema = Schema::from_sql(text, origin).ok()?;
        if let [table] = &schema.tables[..] { Some(table.name.clone()) } else { None }
    }

    /// Adds everything of the database to keep, except the tables that the request defines.
    pub(super) fn keep_others(&self, groups: &mut Groups, copy: &mut DatabaseCopy) -> Result<()> {
        let Some(input) = &self.keep else { return Ok(()) };
        let database = Arc::new(sqlite::Database::open(input)?);
        copy.add(input, &database);
        let mut replaced: HashSet<String> = groups.positions.keys().cloned().collect();
        if let Some((text, origin)) = &self.schema {
            let schema = Schema::from_sql(text, origin)?;
            replaced.extend(schema.objects.iter().map(|object| object.name.to_ascii_lowercase()));
        }
        for table in database.tables() {
            if replaced.contains(&table.name.to_ascii_lowercase()) {
                copy.replaced_tables.push(table.clone());
            } else {
                let (database, table) = (database.clone(), table.clone());
                groups.add(Group::of_database(input, CopiedTable { database, table, is_shadow: false }));
            }
        }
        copy.refuse_replaced_layers(&database)?;
        copy.replaced = replaced;
        groups.add_shadows(copy);
        Ok(())
    }

    /// Returns whether the rows are those of a table that is kept as it is.
    pub(super) fn keeps(&self, content: &Content) -> bool {
        let (Content::Table { input, .. }, Some(keep)) = (content, &self.keep) else { return false };
        input.name == keep.name
    }

    /// Copies inputs that can be read only once.
    pub(super) fn spool(&self, groups: &mut [Group], go_on: &(dyn Fn() -> Result<()> + Sync)) -> Result<()> {
        for content in groups.iter_mut().flat_map(|group| &mut group.contents) {
            if let Content::File(input) = content {
                input.spool(&self.temp_dir, &|| go_on())?;
            }
        }
        Ok(())
    }
}
