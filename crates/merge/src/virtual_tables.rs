//! The content of virtual tables: their own module gets the rows of all shards, by SQL.
//!
//! ```text
//! FTS5, FTS4, FTS3 with their own texts           rows are inserted with their rowids, and indexed; FTS5 with the locales of
//!                                                 texts, FTS4 with the languages of rows
//! the same over the texts of a table              'rebuild' indexes the merged table
//! the same without texts (content='')             refused: the texts are nowhere
//! R-Tree, Geopoly                                 rows are inserted with their ids
//! ```

use crate::survey::Survey;
use litepress_rows::{Error, ErrorKind, OptionName, Result, Table, message, quoted_name, schema};
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, params_from_iter};

/// The way in which a virtual table gets its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// Rows of the shards, with their rowids under this name.
    Rows(Option<&'static str>),
    /// The module reads the merged table.
    Rebuild,
}

/// A virtual table.
#[derive(Clone, Debug)]
pub(crate) struct VirtualTable {
    pub name: String,
    pub content: Content,
    /// The columns that rows are given for.
    columns: Vec<String>,
    /// The positions of those of its columns whose texts may have a locale (`locale=1` of FTS5).
    with_locale: Vec<usize>,
    /// It is a full-text table of FTS5, whose settings are in a table.
    has_config: bool,
}

impl VirtualTable {
    /// Decides about a virtual table by its statement.
    ///
    /// # Errors
    /// If the module is unknown, or the table does not keep the texts that it was made of.
    pub fn new(table: &Table, sql: &str) -> Result<Self> {
        let statement = schema::VirtualTable::of_statement(sql);
        let module = statement.as_ref().map_or("", |statement| statement.module.as_str());
        let mut columns: Vec<String> = table.ordinary_columns().map(|at| table.columns[at].name.clone()).collect();
        let with_locale = with_locale(table, columns.len());
        if matches!(module, "fts4" | "fts3") {
            columns.extend(language_column(table));
        }
        let refused = |why: String| {
            let error = Error::new(ErrorKind::Unsupported, why).in_table(&table.name);
            Err(error.advise(message![
                "leave it out with ",
                OptionName::SkipTable.word(table.name.clone()),
                ", and make it again afterwards"
            ]))
        };
        let content = match module {
            "fts5" | "fts4" | "fts3" => match statement.as_ref().and_then(schema::VirtualTable::content) {
                None => Content::Rows(Some(if module == "fts5" { "rowid" } else { "docid" })),
                Some("") => {
                    return refused(
                        "the full-text index does not have the texts it was made of (content='')".to_owned(),
                    );
                }
                Some(_) => Content::Rebuild,
            },
            "rtree" | "rtree_i32" => Content::Rows(None),
            "geopoly" => Content::Rows(Some("rowid")),
            other => return refused(format!("virtual tables of the module {other} cannot be merged")),
        };
        Ok(Self { name: table.name.clone(), content, columns, with_locale, has_config: module == "fts5" })
    }

    /// Fills the table in the merged database. Returns the number of rows that were inserted.
    pub fn fill(&self, target: &Connection, surveys: &[Survey]) -> Result<u64> {
        let name = quoted_name(&self.name);
        let failed = |error: rusqlite::Error| {
            let message = format!("SQLite cannot fill the virtual table: {error}");
            Error::new(ErrorKind::Constraint, message).in_table(&self.name).caused_by(error)
        };
        self.configure(target, surveys)?;
        match self.content {
            // FTS5 is indexed with the database.
            Content::Rebuild if self.has_config => Ok(0),
            Content::Rebuild => {
                target.execute_batch(&format!("INSERT INTO {name}({name}) VALUES ('rebuild')")).map_err(failed)?;
                Ok(0)
            }
            Content::Rows(rowid) => {
                let transaction = target.unchecked_transaction().map_err(failed)?;
                let rows = surveys.iter().map(|survey| self.insert(target, survey, rowid)).sum::<Result<u64>>()?;
                transaction.commit().map_err(failed)?;
                Ok(rows)
            }
        }
    }

    /// Inserts the rows of a shard. Returns their number.
    fn insert(&self, target: &Connection, survey: &Survey, rowid: Option<&str>) -> Result<u64> {
        if !survey.catalogue.objects.iter().any(|object| object.name.eq_ignore_ascii_case(&self.name)) {
            return Ok(0);
        }
        let [select, insert] = self.statements(rowid);
        let shard = survey.open()?;
        let read = || -> rusqlite::Result<Result<u64>> {
            let mut inserted = 0;
            let connection = shard.connection();
            let mut rows = connection.prepare(&select)?;
            let count = rows.column_count();
            let mut rows = rows.query([])?;
            let mut insert = target.prepare_cached(&insert)?;
            while let Some(row) = rows.next()? {
                let values: Vec<Value> = (0..count).map(|at| row.get(at)).collect::<rusqlite::Result<_>>()?;
                let id = values.first().cloned();
                if let Err(error) = insert.execute(params_from_iter(values)) {
                    return Ok(Err(self.conflict(error, id)));
                }
                inserted += 1;
            }
            Ok(Ok(inserted))
        };
        let inserted = read().map_err(|error| shard.failure(error).in_table(&self.name))?;
        inserted.map_err(|error| error.in_file(&survey.name))
    }

    /// Returns the statement that reads the rows of a shard, and the one that inserts a row. Locales follow the columns.
    fn statements(&self, rowid: Option<&str>) -> [String; 2] {
        let name = quoted_name(&self.name);
        let names = self.columns.iter().map(|column| quoted_name(column));
        let columns: Vec<String> = rowid.map(str::to_owned).into_iter().chain(names).collect();
        let mut marks: Vec<String> = (1..=columns.len()).map(|number| format!("?{number}")).collect();
        let mut read = columns.clone();
        for &at in &self.with_locale {
            read.push(format!("fts5_get_locale({name}, {at})"));
            let (text, locale) = (at + 1 + usize::from(rowid.is_some()), read.len());
            // The function would make a text of a number.
            marks[text - 1] =
                format!("CASE WHEN ?{locale} IS NULL THEN ?{text} ELSE fts5_locale(?{locale}, ?{text}) END");
        }
        let select = format!("SELECT {} FROM main.{name}", read.join(", "));
        [select, format!("INSERT INTO {name}({}) VALUES ({})", columns.join(", "), marks.join(", "))]
    }

    /// Returns the error of a row whose id is taken.
    fn conflict(&self, error: rusqlite::Error, id: Option<Value>) -> Error {
        let message = format!("SQLite refuses a row of the virtual table: {error}");
        let named = Error::new(ErrorKind::Constraint, message).in_table(&self.name).caused_by(error);
        let named = match id {
            Some(Value::Integer(id)) => named.with_value(id.to_string()),
            _ => named,
        };
        named.advise(message![
            "an earlier database may have a row with this id: leave the table out with ",
            OptionName::SkipTable.word(self.name.clone()),
            ", and make it again afterwards"
        ])
    }

    /// Takes over the settings of an FTS5 table from the first shard that has it.
    fn configure(&self, target: &Connection, surveys: &[Survey]) -> Result<()> {
        if !self.has_config {
            return Ok(());
        }
        let (name, config) = (quoted_name(&self.name), quoted_name(&format!("{}_config", self.name)));
        let has_it = |survey: &&Survey| {
            survey.catalogue.objects.iter().any(|object| object.name.eq_ignore_ascii_case(&self.name))
        };
        let Some(survey) = surveys.iter().find(has_it) else { return Ok(()) };
        let shard = survey.open()?;
        let read = || -> rusqlite::Result<()> {
            let connection = shard.connection();
            let sql = format!("SELECT k, v FROM main.{config} WHERE k <> 'version'");
            let mut settings = connection.prepare(&sql)?;
            let mut settings = settings.query([])?;
            while let Some(row) = settings.next()? {
                let (key, value): (Value, Value) = (row.get(0)?, row.get(1)?);
                let sql = format!("INSERT INTO {name}({name}, rank) VALUES (?1, ?2)");
                target.execute(&sql, [key, value]).optional()?;
            }
            Ok(())
        };
        read().map_err(|error| shard.failure(error).in_table(&self.name))
    }
}

/// Returns the positions of the columns for whose locales the table `%_content` of an FTS5 table has a column.
fn with_locale(table: &Table, columns: usize) -> Vec<usize> {
    let content = table.full_text.as_deref().map_or(&[][..], |full_text| &full_text.content_columns);
    (0..columns).filter(|at| content.iter().any(|name| *name == format!("l{at}"))).collect()
}

/// Returns the column with the language of rows, which is the last one of each FTS4 table: it is hidden. Without the option
/// `languageid`, all rows have 0.
fn language_column(table: &Table) -> Option<String> {
    let last = table.columns.last().filter(|column| column.generated == schema::Generated::Hidden)?;
    Some(last.name.clone())
}
