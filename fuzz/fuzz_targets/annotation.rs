//! Any annotation of a column is a plan or an error that names its place.
#![no_main]

use litepress_gen::{GenPlan, Request, SetColumn};
use litepress_rows::Schema;

const SCHEMA: &str = "CREATE TABLE p(id INTEGER PRIMARY KEY, x TEXT);
                      CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT, c REAL, p INTEGER REFERENCES p)";

libfuzzer_sys::fuzz_target!(|text: &str| {
    let schema = Schema::from_sql(SCHEMA, "fuzzed").expect("a valid schema");
    let (column, expression) = text.split_at_checked(1).unwrap_or(("b", text));
    let set = SetColumn {
        table: "t".into(),
        column: if ["a", "c", "p"].contains(&column) { column } else { "b" }.into(),
        expression: expression.into(),
        origin: "fuzzed".into(),
    };
    let request = Request { rows: vec![(None, 10)], set: vec![set], ..Request::default() };
    if let Err(error) = GenPlan::new(&schema, &request) {
        assert!(!error.message().is_empty());
    }
});
