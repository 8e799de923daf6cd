//! CREATE statements for tables that are defined from files.

pub(super) mod full_text;

pub use full_text::FtsContent;

use super::agreement::words;
use super::listed;
use super::name::in_sql;
use super::pattern::{Columns, no_column, refuse_idle, value_of};
use crate::infer::{InferredColumn, Numbers};
use litepress_rows::{Error, ErrorKind, Hint, Message, OptionName, Schema, message};
use std::collections::HashSet;
use std::fmt::Write;

/// A table to create for one or several files.
#[derive(Clone, Debug)]
pub struct NewTable {
    /// Its name.
    pub name: String,
    /// Its columns, with the reasons for their types.
    pub columns: Vec<InferredColumn>,
}

/// Options for new tables. `COLUMN` names that column of every table that has it; `TABLE.COLUMN` names one column. As in
/// SQLite, names are equal if they differ only in the case of ASCII letters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TableOptions {
    /// `--primary-key C,..`: at most one list per table.
    pub primary_key: Vec<Vec<String>>,
    /// `--without-rowid`
    pub without_rowid: bool,
    /// `--strict`
    pub strict: bool,
    /// `--type C=T`: types that replace the inferred ones. `*` in a name stands for any characters.
    pub types: Vec<(String, String)>,
    /// `--numbers C=RULE`: rules for columns of numbers. `*` alone stands for all columns.
    pub numbers: Vec<(String, Numbers)>,
    /// `--not-null C,..`
    pub not_null: Vec<String>,
    /// `--index C,..`: one list per index.
    pub indexes: Vec<Vec<String>>,
    /// `--fts C,..`: the columns of a full-text index; at most one list per table.
    pub full_text: Vec<Vec<String>>,
    /// `--fts-content`: the place of the texts of full-text indexes.
    pub text_content: Option<FtsContent>,
    /// `--fts-tokenizer`: the tokenizer of full-text indexes, as FTS5 has it: `porter`, `unicode61 remove_diacritics 2`.
    pub tokenizer: Option<String>,
    /// `--unique C,..`: one list per constraint.
    pub unique: Vec<Vec<String>>,
    /// `--foreign-key C=T.C`
    pub foreign_keys: Vec<(String, String)>,
}

/// Returns the statements that create the tables and their indexes, in the style of `.schema`. Types in the options replace
/// those in `tables`.
///
/// # Errors
/// Lists every mistake in the options: unknown columns (with the known ones), types that SQLite or STRICT tables do not
/// know, two primary keys of one table, and foreign keys to columns that are not unique. Also lists columns and tables
/// whose names are equal to SQLite.
pub fn create(tables: &mut [NewTable], options: &TableOptions) -> Result<String, Vec<Error>> {
    let mut mistakes = Vec::new();
    same_names(tables, &mut mistakes);
    set_types(tables, options, &mut mistakes);
    let drafts = drafts(tables, options, &mut mistakes);
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    let mut sql = String::new();
    for draft in &drafts {
        draft.write_table(options, &mut sql);
    }
    write_indexes(&drafts, &mut sql);
    full_text::write_tables(&drafts, options, &mut sql);
    Ok(sql)
}

/// A table with its constraints. Columns are given by position.
struct Draft<'a> {
    table: &'a NewTable,
    primary_key: Vec<usize>,
    not_null: Vec<bool>,
    unique: Vec<Vec<usize>>,
    indexes: Vec<Vec<usize>>,
    /// The columns of its full-text index.
    full_text: Vec<usize>,
    /// The table and column that each column refers to.
    references: Vec<Vec<(String, String)>>,
}

/// The position of a table and of a column in it.
type Place = (usize, usize);

fn usage(message: impl Into<Message>) -> Error {
    Error::new(ErrorKind::Usage, message)
}

fn same_names(tables: &[NewTable], mistakes: &mut Vec<Error>) {
    let mut known = HashSet::new();
    for table in tables {
        if !known.insert(table.name.to_ascii_lowercase()) {
            let error = usage(format!("two tables would be named {}, which are one name to SQLite", table.name));
            mistakes.push(error.advise(message![
                "say with ",
                OptionName::Table.alone(),
                " that both files go into one, or load them one by one"
            ]));
        }
        let mut columns = HashSet::new();
        for column in &table.columns {
            if !columns.insert(column.name.to_ascii_lowercase()) {
                let same = table.columns.iter().filter(|other| other.name.eq_ignore_ascii_case(&column.name));
                let names = listed(same.map(|column| column.name.as_str()));
                let message = format!("column names differ only in case, which is one name to SQLite: {names}");
                let (rename, leave_out) =
                    (OptionName::Map.pair(&column.name, "NEW_NAME"), OptionName::Map.pair(&column.name, ""));
                mistakes.push(usage(message).in_table(&table.name).advise(message![
                    "rename one: ",
                    rename,
                    ", or leave it out: ",
                    leave_out
                ]));
            }
        }
    }
}

fn set_types(tables: &mut [NewTable], options: &TableOptions, mistakes: &mut Vec<Error>) {
    declare_types(tables, options, mistakes);
    let known = columns_of(tables);
    mistakes.extend(refuse_idle(OptionName::Type, &options.types, &known));
    mistakes.extend(refuse_idle(OptionName::Numbers, &options.numbers, &known));
}

/// Gives columns the types that the options say. Adds types that SQLite does not know to `mistakes`.
pub(crate) fn declare_types(tables: &mut [NewTable], options: &TableOptions, mistakes: &mut Vec<Error>) {
    for (name, declared) in &options.types {
        if let Some(mistake) = type_mistake(type_of_word(declared.trim()), options.strict) {
            mistakes.push(mistake.in_column(name));
        }
    }
    for table in tables.iter_mut() {
        for column in &mut table.columns {
            if let Some(declared) = value_of(&options.types, &table.name, &column.name) {
                *column = column.overridden(type_of_word(declared.trim()), options.strict, OptionName::Type);
            }
        }
    }
}

/// Returns the type for a word: `str`, `string` and the like mean TEXT to users of pandas, DuckDB, polars and Arrow. SQLite would
/// take them for numbers (NUMERIC affinity).
pub(super) fn type_of_word(word: &str) -> &str {
    const TEXTS: [&str; 6] = ["str", "string", "utf8", "large_string", "large_utf8", "object"];
    if TEXTS.iter().any(|text| text.eq_ignore_ascii_case(word)) { "TEXT" } else { word }
}

/// Returns an error if SQLite does not accept this as a type, or accepts it as more than a type.
fn type_mistake(declared: &str, strict: bool) -> Option<Error> {
    let sql = format!("CREATE TABLE t (c {declared}\n){}", if strict { " STRICT" } else { "" });
    let is_type = |schema: &Schema| {
        let [table] = &schema.tables[..] else { return false };
        let [column] = &table.columns[..] else { return false };
        schema.objects.len() == 1 && words(&column.declared_type) == words(declared)
    };
    if Schema::from_sql(&sql, "<type>").is_ok_and(|schema| is_type(&schema)) {
        return None;
    }
    let error = usage(message![OptionName::Type.alone().given(), format!(": '{declared}' is not a type")]);
    Some(if strict {
        error.advise(format!("STRICT tables know {}", listed(crate::infer::STRICT_TYPES.into_iter())))
    } else {
        error.advise(
            "write a name such as INTEGER, REAL, TEXT, BLOB or DECIMAL(10,2); constraints have options of their own",
        )
    })
}

/// The columns that a name means.
fn places(tables: &[NewTable], option: &Hint, name: &str) -> Result<Vec<Place>, Error> {
    let position =
        |table: &NewTable, name: &str| table.columns.iter().position(|column| column.name.eq_ignore_ascii_case(name));
    let in_all = tables.iter().enumerate().filter_map(|(at, table)| Some((at, position(table, name)?)));
    let places: Vec<Place> = in_all.collect();
    if !places.is_empty() {
        return Ok(places);
    }
    // Names may contain dots, so each dot may be the separator.
    for (dot, _) in name.match_indices('.') {
        let (table_name, column) = (&name[..dot], &name[dot + 1..]);
        let table = tables.iter().position(|table| table.name.eq_ignore_ascii_case(table_name));
        if let Some(place) = table.and_then(|table| Some((table, position(&tables[table], column)?))) {
            return Ok(vec![place]);
        }
    }
    Err(no_column(option, name, &columns_of(tables)))
}

/// Returns the names of the tables and of their columns.
pub(super) fn columns_of(tables: &[NewTable]) -> Vec<Columns<'_>> {
    let names = tables.iter().map(|table| table.columns.iter().map(|column| column.name.as_str()).collect());
    tables.iter().map(|table| table.name.as_str()).zip(names).collect()
}

/// The tables that have all columns of a list, with the positions of these columns.
fn lists(tables: &[NewTable], option: OptionName, names: &[String]) -> Result<Vec<(usize, Vec<usize>)>, Vec<Error>> {
    let (mut all, mut mistakes) = (Vec::new(), Vec::new());
    for name in names {
        match places(tables, &option.alone().given(), name) {
            Ok(places) => all.push(places),
            Err(mistake) => mistakes.push(mistake),
        }
    }
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    let of_table = |table: usize| -> Option<Vec<usize>> {
        let column = |places: &Vec<Place>| places.iter().find(|place| place.0 == table).map(|place| place.1);
        all.iter().map(column).collect()
    };
    let found: Vec<(usize, Vec<usize>)> =
        (0..tables.len()).filter_map(|table| Some((table, of_table(table)?))).collect();
    let given = || option.names(names.iter().map(String::as_str)).given();
    if found.is_empty() || names.is_empty() {
        return Err(vec![usage(message![given(), ": no table has all of these columns"])]);
    }
    for (_, columns) in &found {
        if columns.iter().collect::<HashSet<_>>().len() < columns.len() {
            return Err(vec![usage(message![given(), ": a column is named twice"])]);
        }
    }
    Ok(found)
}

fn drafts<'a>(tables: &'a [NewTable], options: &TableOptions, mistakes: &mut Vec<Error>) -> Vec<Draft<'a>> {
    let draft = |table: &'a NewTable| Draft {
        table,
        primary_key: Vec::new(),
        not_null: table.columns.iter().map(|column| column.not_null).collect(),
        unique: Vec::new(),
        indexes: Vec::new(),
        full_text: Vec::new(),
        references: vec![Vec::new(); table.columns.len()],
    };
    let mut drafts: Vec<Draft<'a>> = tables.iter().map(draft).collect();
    let mut each = |option: OptionName, given: &[Vec<String>], add: &mut dyn FnMut(&mut Draft<'a>, Vec<usize>)| {
        for names in given {
            match lists(tables, option, names) {
                Ok(found) => found.into_iter().for_each(|(table, columns)| add(&mut drafts[table], columns)),
                Err(wrong) => mistakes.extend(wrong),
            }
        }
    };
    let mut twice = Vec::new();
    each(OptionName::PrimaryKey, &options.primary_key, &mut |draft, columns| {
        if !draft.primary_key.is_empty() && draft.primary_key != columns {
            let error =
                usage(message![OptionName::PrimaryKey.alone().given(), " is given twice"]).in_table(&draft.table.name);
            twice.push(
                error.advise(message![
                    "a key of several columns is one list: ",
                    OptionName::PrimaryKey.names(["A", "B"])
                ]),
            );
        }
        draft.primary_key = columns;
    });
    each(OptionName::Unique, &options.unique, &mut |draft, columns| push_new(&mut draft.unique, columns));
    each(OptionName::Index, &options.indexes, &mut |draft, columns| push_new(&mut draft.indexes, columns));
    each(OptionName::Fts, &options.full_text, &mut |draft, columns| draft.full_text.extend(columns));
    let not_null: Vec<Vec<String>> = options.not_null.iter().map(|name| vec![name.clone()]).collect();
    each(OptionName::NotNull, &not_null, &mut |draft, columns| draft.not_null[columns[0]] = true);
    mistakes.extend(twice);
    refer(tables, options, &mut drafts, mistakes);
    full_text::refuse(&mut drafts, options, mistakes);
    for draft in drafts.iter().filter(|draft| options.without_rowid && draft.primary_key.is_empty()) {
        let error = usage("a table WITHOUT ROWID needs a primary key".to_owned()).in_table(&draft.table.name);
        mistakes.push(error.advise(message!["say which columns it has: ", OptionName::PrimaryKey.names(["A", "B"])]));
    }
    drafts
}

fn push_new(lists: &mut Vec<Vec<usize>>, columns: Vec<usize>) {
    if !lists.contains(&columns) {
        lists.push(columns);
    }
}

fn refer(tables: &[NewTable], options: &TableOptions, drafts: &mut [Draft<'_>], mistakes: &mut Vec<Error>) {
    for (child, parent) in &options.foreign_keys {
        let option = OptionName::ForeignKey.pair(child, parent).given();
        let to = places(tables, &option, parent).and_then(|places| match places[..] {
            [place] => Ok(place),
            _ => Err(usage(message![option.clone(), format!(": several tables have a column {parent}")])
                .advise("write TABLE.COLUMN")),
        });
        let (from, to) = match (places(tables, &option, child), to) {
            (Ok(from), Ok(to)) => (from, to),
            (from, to) => {
                mistakes.extend(from.err().into_iter().chain(to.err()));
                continue;
            }
        };
        let (table, column) = (&tables[to.0], &tables[to.0].columns[to.1]);
        let parent_draft = &drafts[to.0];
        if parent_draft.primary_key != [to.1] && !parent_draft.unique.contains(&vec![to.1]) {
            let error = usage(message![option, format!(": {}.{} is not unique", table.name, column.name)]);
            let name = format!("{}.{}", table.name, column.name);
            let (key, unique) =
                (OptionName::PrimaryKey.names([name.as_str()]), OptionName::Unique.names([name.as_str()]));
            let advice = message!["add ", key, " or ", unique];
            mistakes.push(error.advise(advice));
        }
        for (table_at, column_at) in from.into_iter().filter(|&from| from != to) {
            let reference = (table.name.clone(), column.name.clone());
            let references = &mut drafts[table_at].references[column_at];
            if !references.contains(&reference) {
                references.push(reference);
            }
        }
    }
}

impl Draft<'_> {
    fn write_table(&self, options: &TableOptions, sql: &mut String) {
        let mut lines: Vec<String> = (0..self.table.columns.len()).map(|column| self.column_line(column)).collect();
        if self.primary_key.len() > 1 {
            lines.push(format!("PRIMARY KEY ({})", self.names(&self.primary_key)));
        }
        let several = self.unique.iter().filter(|columns| columns.len() > 1);
        lines.extend(several.map(|columns| format!("UNIQUE ({})", self.names(columns))));
        let words = [(options.without_rowid, "WITHOUT ROWID"), (options.strict, "STRICT")];
        let words: Vec<&str> = words.iter().filter(|word| word.0).map(|word| word.1).collect();
        let space = if words.is_empty() { "" } else { " " };
        let (name, lines, words) = (in_sql(&self.table.name), lines.join(",\n  "), words.join(", "));
        writeln!(sql, "CREATE TABLE {name} (\n  {lines}\n){space}{words};").expect("a string takes everything");
    }

    /// Returns `name TYPE PRIMARY KEY NOT NULL UNIQUE REFERENCES parent (column)`, without the parts that do not apply.
    fn column_line(&self, column: usize) -> String {
        let decision = &self.table.columns[column];
        let mut line = in_sql(&decision.name).into_owned();
        if !decision.declared_type.is_empty() {
            line = format!("{line} {}", decision.declared_type);
        }
        if self.primary_key == [column] {
            line.push_str(" PRIMARY KEY");
        }
        if self.not_null[column] {
            line.push_str(" NOT NULL");
        }
        if self.unique.contains(&vec![column]) && self.primary_key != [column] {
            line.push_str(" UNIQUE");
        }
        for (table, parent) in &self.references[column] {
            line = format!("{line} REFERENCES {} ({})", in_sql(table), in_sql(parent));
        }
        line
    }

    fn names(&self, columns: &[usize]) -> String {
        let names: Vec<_> = columns.iter().map(|&column| in_sql(&self.table.columns[column].name)).collect();
        names.join(", ")
    }
}

/// Writes CREATE INDEX statements with names that are unique in the database.
fn write_indexes(drafts: &[Draft<'_>], sql: &mut String) {
    let mut taken: HashSet<String> = drafts.iter().map(|draft| draft.table.name.to_ascii_lowercase()).collect();
    for draft in drafts {
        for columns in &draft.indexes {
            let names: Vec<&str> = columns.iter().map(|&at| draft.table.columns[at].name.as_str()).collect();
            let stem = format!("idx_{}_{}", draft.table.name, names.join("_"));
            let numbered = (2..).map(|number| format!("{stem}_{number}"));
            let mut candidates = std::iter::once(stem.clone()).chain(numbered);
            let name = candidates.find(|name| taken.insert(name.to_ascii_lowercase())).unwrap_or_default();
            let (name, table, columns) = (in_sql(&name), in_sql(&draft.table.name), draft.names(columns));
            writeln!(sql, "CREATE INDEX {name} ON {table} ({columns});").expect("a string takes everything");
        }
    }
}

#[cfg(test)]
mod tests;
