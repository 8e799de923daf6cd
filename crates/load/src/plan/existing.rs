//! Plans a load into a database that exists: its tables take rows as they are, and tables that it lacks are defined.

use super::content::Content;
use super::groups::{Found, Group};
use super::{LoadRequest, NeededKeys, PlannedFile, PlannedTable};
use crate::database_copy::DatabaseCopy;
use crate::options::Format;
use crate::schema::{self, LACKS_COLUMNS, NewTable, Origin};
use crate::source::ColumnSource;
use litepress_rows::cells::OwnedValue;
use litepress_rows::schema::{Index, SchemaAdditions};
use litepress_rows::{Column, Conflict, Error, ErrorKind, OptionName, Result, Schema, Table, message};
use std::collections::HashMap;

/// A database that exists, whose tables get rows.
#[derive(Clone, Debug)]
pub struct Existing {
    /// Its schema.
    pub schema: Schema,
    /// Columns that a table lacks are added to it.
    pub add_columns: bool,
}

/// The schema of a database with everything that is added to it.
pub(super) struct Extended {
    pub schema: Schema,
    pub found: Vec<Found>,
    pub additions: SchemaAdditions,
}

impl PlannedTable {
    /// Returns for each file whether it is a database whose table stores rows as `target` does: its records can be taken as they are.
    pub(super) fn are_stored_alike(&self, target: &Table) -> Vec<bool> {
        // Shards have the same statements.
        let mut known: HashMap<&str, bool> = HashMap::new();
        let is_alike = |file| match file {
            &PlannedFile { content: Content::Table { ref table, .. }, .. } => {
                *known.entry(&table.sql).or_insert_with(|| is_stored_alike(&table.sql, target))
            }
            _ => false,
        };
        self.files.iter().map(is_alike).collect()
    }
}

/// Returns whether the table of this statement stores rows as `target` does.
fn is_stored_alike(sql: &str, target: &Table) -> bool {
    let Ok(schema) = Schema::from_sql(sql, &target.name) else { return false };
    let [source] = &schema.tables[..] else { return false };
    let stores_alike = |(source, target): (&Column, &Column)| {
        // Records that are older than a column mean the DEFAULT of their table.
        source.name == target.name
            && source.affinity == target.affinity
            && source.default == target.default
            && source.declared_type.eq_ignore_ascii_case(&target.declared_type)
    };
    source.columns.len() == target.columns.len()
        && source.strict == target.strict
        && source.without_rowid == target.without_rowid
        && source.rowid_alias == target.rowid_alias
        && source.stored_columns() == target.stored_columns()
        && source.columns.iter().zip(&target.columns).all(stores_alike)
}

impl LoadRequest {
    /// Marks the groups whose table exists: they take its definition instead of that of a copied table. Fails if a group has
    /// the name of a view.
    pub(super) fn match_existing(&self, groups: &mut [Group]) -> Result<()> {
        let Some(existing) = &self.existing else { return Ok(()) };
        for group in groups {
            if existing.schema.sql_of("view", &group.name).is_some() {
                let error = Error::new(ErrorKind::Usage, format!("{} is a view and takes no rows", group.name));
                let error = group.contents[0].in_file(error);
                return Err(error.advise(message!["name a table with ", OptionName::Table.alone()]));
            }
            if existing.schema.position(&group.name).is_some() {
                group.copied = None;
            }
        }
        Ok(())
    }

    /// Finds out which tables and columns the database lacks, and defines them. Sorts the groups: those whose tables exist come
    /// first.
    pub(super) fn extend(
        &self,
        existing: &Existing,
        groups: &mut Vec<Group>,
        copy: &mut DatabaseCopy,
        go_on: &(dyn Fn() -> Result<()> + Sync),
    ) -> Result<Extended> {
        copy.note_uncopied(&existing.schema);
        let exists = |group: &Group| existing.schema.position(&group.name).is_some();
        groups.sort_by_key(|group| !exists(group));
        let count = groups.iter().filter(|group| exists(group)).count();
        let tables = groups[..count].iter().filter_map(|group| existing.schema.table(&group.name));
        let disagreements = |table| schema::disagreements(&existing.schema, table, &self.options, Origin::Target);
        let mut mistakes: Vec<Error> = tables.flat_map(disagreements).collect();
        mistakes.extend(schema::unused_full_text_options(&self.options));
        if !mistakes.is_empty() {
            return Err(Error::all_of(mistakes));
        }
        let mut schema = existing.schema.clone();
        let mut additions = SchemaAdditions::default();
        if self.reads_twice || self.schema.is_some() {
            self.spool(groups, go_on)?;
        }
        let mut found = Vec::new();
        for group in &mut groups[..count] {
            let position = schema.position(&group.name).expect("it exists");
            let of_group = self.look_for_columns(group, &mut schema.tables[position], existing.add_columns, go_on)?;
            additions
                .columns
                .extend(of_group.1.into_iter().map(|column| (schema.tables[position].name.clone(), column)));
            found.push(of_group.0);
        }
        let mut new = groups.split_off(count);
        if new.is_empty() && self.schema.is_none() {
            let idle = schema::idle_options(&schema.tables.iter().collect::<Vec<_>>(), &self.options);
            if !idle.is_empty() {
                return Err(Error::all_of(idle));
            }
        }
        let defined = match &self.schema {
            Some((text, origin)) => {
                let defined = Schema::from_sql(text, origin)?;
                note_other_definitions(&existing.schema, &defined, copy);
                found.extend(new.iter_mut().map(Group::known));
                Some(defined)
            }
            None if new.is_empty() => None,
            None => {
                // The settings and views of copied databases stay with them.
                let (defined, of_new) = self.define(&mut new, &mut DatabaseCopy::default(), go_on)?;
                found.extend(of_new);
                Some(defined)
            }
        };
        groups.append(&mut new);
        additions.objects = defined.map(|defined| schema.add(&defined)).unwrap_or_default();
        Ok(Extended { schema, found, additions })
    }

    /// Looks at the files of a table that exists, as far as their columns must be known. Adds the columns that the table lacks to
    /// `table` if that is wanted, and returns them.
    fn look_for_columns(
        &self,
        group: &mut Group,
        table: &mut Table,
        adds: bool,
        go_on: &(dyn Fn() -> Result<()> + Sync),
    ) -> Result<(Found, Vec<Column>)> {
        let is_json = |group: &Group| {
            let formats = group.contents.iter().filter_map(|content| content.input().map(|input| input.format));
            formats.into_iter().any(|format| format == Format::Json)
        };
        // An update must know the columns that no record has.
        if !(adds || self.conflict == Conflict::Update && is_json(group)) {
            return Ok((group.known(), Vec::new()));
        }
        let mut request = self.clone();
        request.options.strict = table.strict;
        let mut found = request.infer_types(group, go_on)?;
        self.rename(&mut found.decisions);
        found.decisions.retain(|decision| table.column(&decision.name).is_none() && !decision.name.is_empty());
        if !adds {
            found.decisions.clear();
        }
        let (mut added, mut mistakes) = ([NewTable { name: table.name.clone(), columns: found.decisions }], Vec::new());
        schema::declare_types(&mut added, &request.options, &mut mistakes);
        let [NewTable { columns, .. }] = added;
        found.decisions = columns;
        if !mistakes.is_empty() {
            return Err(Error::all_of(mistakes));
        }
        let columns =
            found.decisions.iter().map(|decision| Column::plain(&decision.name, &decision.declared_type, table.strict));
        let mut columns: Vec<Column> = columns.collect();
        if let Some(name) = self.source_column.as_deref().filter(|name| adds && table.column(name).is_none()) {
            columns.push(Column::plain(name, "TEXT", table.strict));
        }
        table.columns.extend(columns.iter().cloned());
        Ok((found, columns))
    }

    /// Adds to the error of columns that a table lacks that they can be added to it.
    pub(super) fn offer_columns(&self, table: &Table, error: Error) -> Error {
        if self.existing.is_none() || !error.message().starts_with(LACKS_COLUMNS) {
            return error;
        }
        let (map, leave_out) = (OptionName::Map.pair("FILE_COLUMN", "COLUMN"), OptionName::Map.pair("FILE_COLUMN", ""));
        let has: Vec<&str> = table.ordinary_columns().map(|column| table.columns[column].name.as_str()).collect();
        let add = message!["add them to the table with ", OptionName::AddColumns.alone()];
        let has = format!("; the table has {}", has.join(", "));
        if self.inputs.is_empty() {
            return error.advise(message![add, has]);
        }
        error.advise(message![add, ", say where they go: ", map, ", or leave them out: ", leave_out, has])
    }

    /// Fails if rows are to be updated by files with different columns: a row would lose the values that its file lacks. Columns that no
    /// update changes may differ, unless they belong to a key.
    pub(super) fn refuse_different_columns(&self, table: &Table, files: &[PlannedFile]) -> Result<()> {
        if self.conflict != Conflict::Update {
            return Ok(());
        }
        let is_of_key = |column: usize| {
            let mut uniques = table.indexes.iter().filter(|index| index.unique);
            let has = |index: &Index| index.columns.iter().any(|of_index| of_index.column == Some(column));
            table.rowid_alias == Some(column) || uniques.any(has)
        };
        // Nobody says of data in memory which columns an update needs.
        let is_needed = |column: usize| self.inputs.is_empty() || self.needed_keys.has(&table.columns[column].name);
        let mut different = table.ordinary_columns().filter(|column| differs(files, *column));
        let Some(column) = different.find(|&column| is_of_key(column) || is_needed(column)) else { return Ok(()) };
        let (name, advice) = (&table.columns[column].name, "load files with different columns one after another");
        let wrong = |message: String| Error::new(ErrorKind::Usage, message).in_table(&table.name);
        if is_of_key(column) {
            let error = wrong(format!("only some of the files have the column {name}, which belongs to a key"));
            return Err(error.advise(advice));
        }
        let error =
            wrong(format!("only some of the files have the column {name}, and an update would lose its values"));
        if self.inputs.is_empty() {
            return Err(error.advise(advice));
        }
        let null = OptionName::AbsentAsNull.alone();
        Err(error.advise(message![advice, ", or take the column for NULL where a file lacks it (", null, ")"]))
    }

    /// Makes the columns NULL that only some of the files have, if rows are updated and what is absent is NULL. A DEFAULT would replace
    /// the values of rows that exist.
    pub(super) fn null_different_columns(&self, table: &Table, files: &mut [PlannedFile]) {
        if self.conflict != Conflict::Update || self.needed_keys != NeededKeys::None {
            return;
        }
        let columns = table.ordinary_columns().enumerate();
        let different: Vec<_> = columns.filter(|(_, column)| differs(files, *column)).collect();
        for (at, column) in different {
            for file in files.iter_mut().filter(|file| file.mapping.missing.contains(&column)) {
                file.mapping.column_sources[at] = ColumnSource::Constant(OwnedValue::Null);
            }
        }
    }
}

/// Returns whether only some of the files have the column.
fn differs(files: &[PlannedFile], column: usize) -> bool {
    let lacking = files.iter().filter(|file| file.mapping.missing.contains(&column)).count();
    lacking > 0 && lacking < files.len()
}

/// Notes the tables that exist with another definition than a schema gives them.
fn note_other_definitions(existing: &Schema, defined: &Schema, copy: &mut DatabaseCopy) {
    for table in &defined.tables {
        let (Some(one), Some(other)) = (existing.sql_of("table", &table.name), defined.sql_of("table", &table.name))
        else {
            continue;
        };
        if one != other {
            let name = &table.name;
            let note =
                format!("the table {name} exists with another definition than the schema gives it, and keeps it");
            copy.notes.push(note.into());
        }
    }
}
