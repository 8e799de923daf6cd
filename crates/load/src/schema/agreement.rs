//! Holds the options that define tables against a table that exists, or that is copied from a database. It keeps its definition, so an
//! option that says anything else would have no effect.

use super::ddl::{self, FtsContent, full_text};
use super::pattern::{Columns, fits, is_name, no_column, refuse_idle, value_of};
use super::{NewTable, TableOptions, type_of_word};
use litepress_rows::schema::{Index, VirtualTable};
use litepress_rows::{Error, ErrorKind, Hint, Message, OptionName, Schema, Table, message};

/// The origin of a table's definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The database that gets the rows.
    Target,
    /// A database that is read.
    Source {
        /// The same options define other tables, too.
        beside_new: bool,
    },
}

/// Returns an error for each option that says what a table of the schema is not. Options for columns of other tables are none of its
/// business.
pub(crate) fn disagreements(schema: &Schema, table: &Table, options: &TableOptions, origin: Origin) -> Vec<Error> {
    let agreement = Agreement { schema, table, origin, errors: Vec::new() };
    agreement.of(options)
}

/// Returns an error for each option that names columns that none of these tables has.
pub(crate) fn idle_options(tables: &[&Table], options: &TableOptions) -> Vec<Error> {
    let known = columns_of(tables);
    let mut errors = refuse_idle(OptionName::Type, &options.types, &known);
    errors.extend(refuse_idle(OptionName::Numbers, &options.numbers, &known));
    let mut refuse = |option: OptionName, names: &[String]| {
        if has_all(&known, names) {
            return;
        }
        let unknown = names.iter().find(|name| !has_all(&known, std::slice::from_ref(*name)));
        errors.push(match unknown {
            Some(name) => no_column(&option.alone().given(), name, &known),
            None => {
                let given = option.names(names.iter().map(String::as_str)).given();
                Error::new(ErrorKind::Usage, message![given, ": no table has all of these columns"])
            }
        });
    };
    for (option, lists) in options.lists() {
        lists.iter().for_each(|names| refuse(option, names));
    }
    options.not_null.iter().for_each(|name| refuse(OptionName::NotNull, std::slice::from_ref(name)));
    options.foreign_keys.iter().for_each(|(child, _)| refuse(OptionName::ForeignKey, std::slice::from_ref(child)));
    errors
}

/// Returns the options without those that name columns of copied tables alone.
pub(crate) fn options_of_new(options: &TableOptions, copied: &[&Table], new: &[NewTable]) -> TableOptions {
    let copied = columns_of(copied);
    let new = ddl::columns_of(new);
    let is_for_new = |names: &[String]| has_all(&new, names) || !has_all(&copied, names);
    let has_fitting = |tables: &[Columns<'_>], pattern: &str| {
        tables.iter().any(|(table, columns)| columns.iter().any(|column| fits(pattern, table, column)))
    };
    let given = options;
    let mut options = given.clone();
    for lists in [&mut options.primary_key, &mut options.unique, &mut options.indexes, &mut options.full_text] {
        lists.retain(|names| is_for_new(names));
    }
    if options.full_text.is_empty() && !given.full_text.is_empty() {
        (options.tokenizer, options.text_content) = (None, None);
    }
    options.not_null.retain(|name| is_for_new(std::slice::from_ref(name)));
    options.foreign_keys.retain(|(child, _)| is_for_new(std::slice::from_ref(child)));
    options.types.retain(|(pattern, _)| has_fitting(&new, pattern) || !has_fitting(&copied, pattern));
    options
}

fn columns_of<'t>(tables: &[&'t Table]) -> Vec<Columns<'t>> {
    let names = tables.iter().map(|table| table.columns.iter().map(|column| column.name.as_str()).collect());
    tables.iter().map(|table| table.name.as_str()).zip(names).collect()
}

/// Returns whether one of the tables has all of these columns.
fn has_all(tables: &[Columns<'_>], names: &[String]) -> bool {
    let has = |(table, columns): &Columns<'_>, name: &String| columns.iter().any(|column| is_name(name, table, column));
    tables.iter().any(|table| names.iter().all(|name| has(table, name)))
}

impl TableOptions {
    /// Returns the options that are lists of columns.
    fn lists(&self) -> [(OptionName, &Vec<Vec<String>>); 4] {
        [
            (OptionName::PrimaryKey, &self.primary_key),
            (OptionName::Unique, &self.unique),
            (OptionName::Index, &self.indexes),
            (OptionName::Fts, &self.full_text),
        ]
    }
}

struct Agreement<'t> {
    schema: &'t Schema,
    table: &'t Table,
    origin: Origin,
    errors: Vec<Error>,
}

impl Agreement<'_> {
    fn of(mut self, options: &TableOptions) -> Vec<Error> {
        let (schema, table) = (self.schema, self.table);
        // These name no table, so they are for the new ones if there are some.
        let is_for_others = self.origin == Origin::Source { beside_new: true };
        self.hold(options.strict && !is_for_others, OptionName::Strict.alone(), || table.strict);
        self.hold(options.without_rowid && !is_for_others, OptionName::WithoutRowid.alone(), || table.without_rowid);
        for column in &table.columns {
            let Some(declared) = value_of(&options.types, &table.name, &column.name) else { continue };
            let is_type = || words(type_of_word(declared.trim())) == words(&column.declared_type);
            self.hold(true, OptionName::Type.pair(&column.name, declared), is_type);
        }
        for name in &options.not_null {
            let columns = self.columns(std::slice::from_ref(name));
            let is_not_null = |at: &usize| table.columns[*at].not_null || table.rowid_alias == Some(*at);
            self.hold(columns.is_some(), OptionName::NotNull.word(name.clone()), || {
                columns.iter().flatten().all(is_not_null)
            });
        }
        for (option, lists) in options.lists() {
            for names in lists {
                let columns = self.columns(names);
                let given = option.names(names.iter().map(String::as_str));
                self.hold(columns.is_some(), given, || {
                    columns.is_some_and(|columns| match option {
                        OptionName::Fts => has_full_text_index(schema, table, &columns),
                        _ => has_key(table, option, &columns),
                    })
                });
            }
        }
        if options.full_text.iter().any(|names| self.columns(names).is_some()) {
            self.hold_full_text(options);
        }
        for (child, parent) in &options.foreign_keys {
            let columns = self.columns(std::slice::from_ref(child));
            let refers = || table.foreign_keys.iter().any(|key| Some(&key.columns) == columns.as_ref());
            self.hold(columns.is_some(), OptionName::ForeignKey.pair(child, parent), refers);
        }
        self.errors
    }

    /// Adds an error if the full-text index of the table has another tokenizer, or its texts elsewhere.
    fn hold_full_text(&mut self, options: &TableOptions) {
        let name = full_text::table_name(&self.table.name);
        let Some(index) = self.schema.sql_of("table", &name).and_then(VirtualTable::of_statement) else { return };
        if let Some(tokenizer) = &options.tokenizer {
            let of_index = index.tokenizer().unwrap_or("unicode61");
            let is_so = || of_index.split_whitespace().eq(tokenizer.split_whitespace());
            self.hold(true, OptionName::FtsTokenizer.word(tokenizer.clone()), is_so);
        }
        if let Some(content) = options.text_content {
            let table = &self.table.name;
            self.hold(true, OptionName::FtsContent.alone(), || match content {
                FtsContent::Table => index.content().is_some_and(|of| of.eq_ignore_ascii_case(table)),
                FtsContent::Own => index.content().is_none(),
            });
        }
    }

    /// Adds an error if an option is given for the table, and the table is not as it says.
    fn hold(&mut self, is_given: bool, option: Hint, is_so: impl FnOnce() -> bool) {
        if is_given && !is_so() {
            let why = match self.origin {
                Origin::Target => " has no effect: the table exists, and is defined otherwise",
                Origin::Source { .. } => " has no effect: the table is copied with the definition that it has",
            };
            let error = Error::new(ErrorKind::Usage, message![option.given(), why]).in_table(&self.table.name);
            self.errors.push(error.advise(self.advice()));
        }
    }

    fn advice(&self) -> Message {
        let Origin::Source { beside_new } = self.origin else {
            return "leave it out, or change the table first, by CREATE INDEX, ALTER TABLE or CREATE VIRTUAL TABLE"
                .into();
        };
        let other = if beside_new { ", write TABLE.COLUMN for a column of another table" } else { "" };
        let schema = OptionName::Schema.word("FILE.sql");
        message![
            "leave it out",
            other,
            ", define the table with ",
            schema,
            ", or add indexes to the copy afterwards (litepress index)"
        ]
    }

    /// Returns the positions of columns, if the table has all of them.
    fn columns(&self, names: &[String]) -> Option<Vec<usize>> {
        let Table { name: table, columns, .. } = self.table;
        let position = |name: &String| columns.iter().position(|column| is_name(name, table, &column.name));
        names.iter().map(position).collect()
    }
}

/// Returns whether a table has this primary key, a unique key of these columns, or an index that begins with them.
fn has_key(table: &Table, option: OptionName, columns: &[usize]) -> bool {
    let wanted: Vec<Option<usize>> = columns.iter().map(|&at| Some(at)).collect();
    let columns_of =
        |index: &Index| -> Vec<Option<usize>> { index.columns.iter().map(|column| column.column).collect() };
    let mut key: Vec<(usize, usize)> =
        table.columns.iter().enumerate().filter_map(|(at, column)| Some((column.key_position?, at))).collect();
    key.sort_unstable();
    let is_primary = key.iter().map(|(_, at)| at).eq(columns);
    let is_rowid = is_primary && table.rowid_alias.is_some();
    let mut indexes = table.indexes.iter().filter(|index| !index.partial);
    match option {
        OptionName::PrimaryKey => is_primary,
        OptionName::Unique => {
            let is_same = |of: &[Option<usize>]| of.len() == wanted.len() && of.iter().all(|at| wanted.contains(at));
            is_primary || indexes.any(|index| index.unique && is_same(&columns_of(index)))
        }
        _ => is_rowid || indexes.any(|index| columns_of(index).starts_with(&wanted)),
    }
}

/// Returns whether the schema has the full-text table that the option would make, and it has these columns of a table.
fn has_full_text_index(schema: &Schema, table: &Table, columns: &[usize]) -> bool {
    let index = schema.table(&full_text::table_name(&table.name)).filter(|index| index.is_virtual);
    index.is_some_and(|index| columns.iter().all(|&at| index.column(&table.columns[at].name).is_some()))
}

/// Returns a type as words: SQLite keeps its spaces, and returns types of STRICT tables in capitals.
pub(super) fn words(declared: &str) -> String {
    declared.to_ascii_uppercase().split_whitespace().collect::<Vec<&str>>().join(" ")
}
