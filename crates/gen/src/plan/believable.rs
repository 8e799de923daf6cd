//! Schemas of real programs without one annotation: SQLite accepts the rows, and queries find nothing absurd in them.

use super::schemas::{insert, number};
use super::*;
use rusqlite::Connection;
use std::path::{Path, PathBuf};

/// Rows of every table.
const ROWS: u64 = 400;

fn read(file: &Path) -> String {
    std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

fn files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("a file").path()).collect();
    files.sort();
    files
}

fn make(sql: &str, rows: u64) -> Connection {
    let schema = Schema::from_sql(sql, "test.sql").unwrap_or_else(|error| panic!("{error}\n{sql}"));
    let request = Request { rows: vec![(None, rows)], ..Request::default() };
    let plan = GenPlan::new(&schema, &request).unwrap_or_else(|error| panic!("{error}\n{sql}"));
    insert(sql, &plan).unwrap_or_else(|error| panic!("{error}"))
}

fn database(name: &str) -> Connection {
    make(&read(&Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/schemas/{name}.sql"))), ROWS)
}

#[test]
fn look() {
    let Ok(name) = std::env::var("LOOK") else { return };
    let mut sql = String::new();
    for file in files("tests/schemas").into_iter().chain(files("../../tests/programs")) {
        if file.file_stem().is_some_and(|stem| stem.to_str() == Some(&name)) {
            sql = of_program(&read(&file));
        }
    }
    let rows: u64 = std::env::var("ROWS").map_or(300, |rows| rows.parse().unwrap());
    let schema = Schema::from_sql(&sql, "test.sql").unwrap();
    let request = Request { rows: vec![(None, rows)], ..Request::default() };
    let plan = GenPlan::new(&schema, &request).unwrap_or_else(|error| panic!("{error}"));
    if std::env::var("PLAN").is_ok() {
        for table in plan.tables() {
            for column in &table.columns {
                println!("{}.{}: {}   [{}]", table.name, column.name, column.expression, column.provenance);
            }
        }
    }
    let sqlite = insert(&sql, &plan).unwrap_or_else(|error| panic!("{error}"));
    for table in plan.tables() {
        println!("== {} ({})", table.name, table.columns.iter().map(|column| column.name.as_str()).collect::<Vec<_>>().join(", "));
        let mut statement = sqlite.prepare(&format!("SELECT * FROM \"{}\" WHERE rowid % {} = 7 LIMIT 8", table.name, rows / 10)).or_else(|_| sqlite.prepare(&format!("SELECT * FROM \"{}\" LIMIT 8", table.name))).unwrap();
        let count = statement.column_count();
        let mut found = statement.query([]).unwrap();
        while let Some(row) = found.next().unwrap() {
            let cells: Vec<String> = (0..count).map(|at| match row.get_ref(at).unwrap() {
                rusqlite::types::ValueRef::Null => "-".to_owned(),
                rusqlite::types::ValueRef::Integer(int) => int.to_string(),
                rusqlite::types::ValueRef::Real(real) => real.to_string(),
                rusqlite::types::ValueRef::Text(text) => String::from_utf8_lossy(text).chars().take(40).collect(),
                rusqlite::types::ValueRef::Blob(blob) => format!("x{}", blob.len()),
            }).collect();
            println!("{}", cells.join(" | "));
        }
    }
}

/// Returns the schema of a program's file in `tests/programs`: the part before the rows, without settings.
fn of_program(text: &str) -> String {
    let before = text.split("\n-- rows").next().unwrap_or_default();
    before.lines().filter(|line| !line.starts_with("PRAGMA")).collect::<Vec<_>>().join("\n")
}

#[test]
fn schemas_of_programs_are_filled_without_annotations() {
    let mut failed = Vec::new();
    for file in files("tests/schemas").into_iter().chain(files("../../tests/programs")) {
        let sql = of_program(&read(&file));
        let made = || -> std::result::Result<(), String> {
            let schema = Schema::from_sql(&sql, "test.sql").map_err(|error| error.to_string())?;
            let request = Request { rows: vec![(None, 150)], ..Request::default() };
            let plan = GenPlan::new(&schema, &request).map_err(|error| error.to_string())?;
            insert(&sql, &plan).map(drop)
        };
        if let Err(error) = made() {
            failed.push(format!("{}: {error}", file.display()));
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

/// A query that counts, with the least and the largest result.
type Judge = (&'static str, &'static str, std::ops::RangeInclusive<i64>);
