//! Databases in the form of real programs: `tests/programs/*.sql`, and rows for all of their tables.
//!
//! A line `-- value: TABLE.COLUMN = EXPRESSION` gives the value of a column in row `n`; others follow from types, keys and references.
//! Rows come at the line `-- rows`: statements behind it run on tables that have rows, so that columns are added late and
//! triggers have not fired for old rows.

use crate::oracle::{integer, texts};
use litepress_rows::quoted_name;
use rusqlite::Connection;
use std::collections::HashMap;
use std::fs;
use std::path::Path;

/// A program's database.
pub struct Program {
    /// Name of its file.
    pub name: String,
    /// Statements in front of the rows.
    before: String,
    /// Statements behind them.
    after: String,
    /// Expressions of columns, by `TABLE.COLUMN`.
    values: HashMap<String, String>,
}

/// A column of a table that gets rows.
struct Column {
    name: String,
    declared: String,
    not_null: bool,
    /// Whether it is part of a key or of an index without repeated values.
    is_key: bool,
}

impl Program {
    /// Reads all programs, in the order of their names.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/programs");
        let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
        let mut programs: Vec<Self> = files.map(|file| Self::read(&file)).collect();
        programs.sort_by(|one, other| one.name.cmp(&other.name));
        programs
    }

    fn read(file: &Path) -> Self {
        let text = fs::read_to_string(file).unwrap();
        let (before, after) = text.split_once("\n-- rows\n").unwrap_or((&text, ""));
        let values = text.lines().filter_map(|line| line.strip_prefix("-- value: ")?.split_once(" = "));
        Self {
            name: file.file_stem().unwrap().to_string_lossy().into_owned(),
            before: before.to_owned(),
            after: after.to_owned(),
            values: values.map(|(column, value)| (column.to_owned(), value.to_owned())).collect(),
        }
    }

    /// Makes its database with rows of these numbers; `count` in each step, from `first` on.
    pub fn make(&self, path: &Path, settings: &str, steps: &[u32], count: u32) {
        let sqlite = open(path);
        let run = |sql: &str| sqlite.execute_batch(sql).unwrap_or_else(|error| panic!("{}: {error}", self.name));
        run(&format!("PRAGMA synchronous = OFF; {settings}"));
        run(&self.before);
        run("BEGIN");
        for table in tables(&sqlite) {
            for &first in steps {
                let (columns, values) = self.row(&sqlite, &table, |_| false);
                let numbers = numbers(first, count);
                run(&format!("INSERT INTO {}({columns}) SELECT {values} FROM {numbers}", quoted_name(&table)));
            }
        }
        run("COMMIT");
        run(&self.after);
    }

    /// Returns the tables that get rows.
    #[must_use]
    pub fn tables(&self, database: &Path) -> Vec<String> {
        tables(&open(database))
    }

    /// Makes a database at `path` with rows of these numbers for one table of `database`. With `changes`, columns that are
    /// no keys have other values than [`make`](Self::make) gives them.
    pub fn make_rows(&self, database: &Path, table: &str, path: &Path, first: u32, count: u32, changes: bool) {
        let sqlite = open(database);
        let (columns, values) = self.row(&sqlite, table, |column| changes && !column.is_key);
        let attach = format!("ATTACH {} AS new; PRAGMA new.synchronous = OFF", literal(&path.to_string_lossy()));
        sqlite.execute_batch(&attach).unwrap();
        let (table, numbers) = (quoted_name(table), numbers(first, count));
        let names: Vec<String> = columns.split(", ").map(str::to_owned).collect();
        let make = format!(
            "CREATE TABLE new.{table}({}); INSERT INTO new.{table} SELECT {values} FROM {numbers}",
            names.join(", ")
        );
        sqlite.execute_batch(&make).unwrap_or_else(|error| panic!("{}: {error}: {make}", self.name));
    }

    /// Returns the names of columns, and an expression for each. Some columns have the values of a later row.
    fn row(&self, sqlite: &Connection, table: &str, is_later: impl Fn(&Column) -> bool) -> (String, String) {
        let columns = columns(sqlite, table);
        let value = |(position, column): (usize, &Column)| {
            let value = self.value(sqlite, table, column, position);
            if is_later(column) { with_number(&value, "(n + 5000)") } else { value }
        };
        let values: Vec<String> = columns.iter().enumerate().map(value).collect();
        let names: Vec<String> = columns.iter().map(|column| quoted_name(&column.name)).collect();
        (names.join(", "), values.join(", "))
    }

    /// Returns the value of a column in row `n`.
    fn value(&self, sqlite: &Connection, table: &str, column: &Column, position: usize) -> String {
        let Column { name, declared, not_null, is_key } = column;
        if let Some(value) = self.values.get(&format!("{table}.{name}")) {
            return value.clone();
        }
        if let Some((parent, of_parent)) = parent_of(sqlite, table, name) {
            let columns = columns(sqlite, &parent);
            let find = |column: &&Column| of_parent.as_ref().is_none_or(|name| column.name.eq_ignore_ascii_case(name));
            if let Some(column) = columns.iter().find(find).filter(|_| parent != table) {
                // Another row of the same step: 7 and the number of rows have no common divisor.
                return with_number(&self.value(sqlite, &parent, column, 0), "m");
            }
        }
        let declared = declared.to_ascii_uppercase();
        let has = |words: &[&str]| words.iter().any(|word| declared.contains(word));
        let value = if has(&["BOOL", "BIT"]) {
            "n % 2".to_owned()
        } else if has(&["DATE", "TIME"]) {
            "datetime(1700000000 + n * 60, 'unixepoch')".to_owned()
        } else if has(&["INT"]) {
            "n".to_owned()
        } else if has(&["REAL", "FLOA", "DOUB", "DEC"]) {
            "n * 0.25".to_owned()
        } else if has(&["BLOB"]) {
            format!("CAST({} || n AS BLOB)", literal(&format!("{name} ")))
        } else {
            format!("{} || n", literal(&format!("{name} ")))
        };
        if *not_null || *is_key { value } else { format!("CASE WHEN (n + {position}) % 6 > 0 THEN {value} END") }
    }
}

/// Opens a database. If it has the collation that only its program knows, this is a copy with one of SQLite's.
#[must_use]
pub fn open_as_judge(path: &Path) -> Connection {
    let sqlite = open(path);
    if integer(&sqlite, "SELECT count(*) FROM sqlite_schema WHERE sql LIKE '%unicase%'") == 0 {
        return sqlite;
    }
    let copy = path.with_extension("judged");
    fs::copy(path, &copy).unwrap();
    let sqlite = open(&copy);
    let replace = "UPDATE sqlite_schema SET sql = replace(sql, 'COLLATE unicase', 'COLLATE NOCASE')";
    sqlite.execute_batch(&format!("PRAGMA writable_schema = ON; {replace}; PRAGMA writable_schema = RESET")).unwrap();
    sqlite
}

fn open(path: &Path) -> Connection {
    let sqlite = Connection::open(path).unwrap();
    sqlite.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
    sqlite
}

fn tables(sqlite: &Connection) -> Vec<String> {
    texts(
        sqlite,
        "SELECT s.name FROM sqlite_schema s JOIN pragma_table_list l ON l.name = s.name AND l.schema = 'main'
         WHERE s.type = 'table' AND l.type = 'table' AND s.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY s.rowid",
    )
}

fn columns(sqlite: &Connection, table: &str) -> Vec<Column> {
    let sql = "SELECT name, type, \"notnull\", pk > 0 OR name IN (
                   SELECT ifnull(i.name, '') FROM pragma_index_list(?1) l, pragma_index_info(l.name) i WHERE l.\"unique\")
               FROM pragma_table_xinfo(?1) WHERE hidden = 0";
    let mut select = sqlite.prepare(sql).unwrap();
    let columns = select.query_map([table], |row| {
        Ok(Column { name: row.get(0)?, declared: row.get(1)?, not_null: row.get(2)?, is_key: row.get(3)? })
    });
    columns.unwrap().map(Result::unwrap).collect()
}

/// Returns the parent of a foreign key of one column, and the column there, if it is named.
fn parent_of(sqlite: &Connection, table: &str, column: &str) -> Option<(String, Option<String>)> {
    let sql = "SELECT \"table\", \"to\" FROM pragma_foreign_key_list(?1) WHERE \"from\" = ?2 COLLATE NOCASE";
    let mut select = sqlite.prepare(sql).unwrap();
    let mut found = select.query_map([table, column], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    found.next().map(Result::unwrap)
}

/// Returns a table of numbers `n`, and of `m`, the same numbers in another order.
fn numbers(first: u32, count: u32) -> String {
    let last = first + count - 1;
    format!(
        "(WITH RECURSIVE number(n) AS (SELECT {first} UNION ALL SELECT n + 1 FROM number WHERE n < {last})
          SELECT n, {first} + n * 7 % {count} AS m FROM number)"
    )
}

/// Puts another number in the place of `n`.
fn with_number(value: &str, number: &str) -> String {
    let mut parts: Vec<String> = value.split('\'').map(str::to_owned).collect();
    // Every second part is a text.
    for part in parts.iter_mut().step_by(2) {
        let words: Vec<&str> =
            part.split_inclusive(|letter: char| !letter.is_alphanumeric() && letter != '_').collect();
        let replace = |word: &&str| {
            let name = word.trim_end_matches(|letter: char| !letter.is_alphanumeric() && letter != '_');
            if name == "n" { format!("{number}{}", &word[1..]) } else { (*word).to_owned() }
        };
        *part = words.iter().map(replace).collect();
    }
    parts.join("'")
}

fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}
