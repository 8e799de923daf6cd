//! Files that match their tables, and files that do not.

use super::*;
use crate::reader::FileColumnKind;
use litepress_rows::message::Flags;
use litepress_rows::{Affinity, Schema};
use rusqlite::Connection;
use rusqlite::types::Value;

fn fields(names: &[&str]) -> Vec<FileColumn> {
    names.iter().map(|name| FileColumn { name: (*name).to_owned(), kind: FileColumnKind::Text }).collect()
}

fn map_columns(sql: &str, names: &[&str], naming: Naming, map: &[(&str, &str)]) -> Result<ColumnMapping, Vec<String>> {
    let schema = Schema::from_sql(sql, "<test>").unwrap();
    let map: Vec<_> = map.iter().map(|(from, to)| ((*from).to_owned(), (*to).to_owned())).collect();
    let mapping = matching(&schema.tables[0], &fields(names), naming, &map, None);
    mapping.map_err(|mistakes| mistakes.iter().map(|mistake| mistake.in_words(&Flags)).collect())
}

fn projected(mapping: &ColumnMapping) -> Vec<(Option<usize>, &str, Affinity)> {
    mapping.projected.iter().map(|projected| (projected.field, projected.name.as_str(), projected.affinity)).collect()
}

const USER: &str = "CREATE TABLE user (id INTEGER PRIMARY KEY, area TEXT, age INT NOT NULL DEFAULT 7, seen, \
                    len AS (length(area)))";

#[test]
fn columns_meet_by_name() {
    let mapping = map_columns(USER, &["AGE", "Area", "id"], Naming::Header, &[]).unwrap();
    let expected =
        [(Some(2), "id", Affinity::Integer), (Some(1), "Area", Affinity::Text), (Some(0), "AGE", Affinity::Integer)];
    assert_eq!(projected(&mapping), expected);
    let null = ColumnSource::Constant(OwnedValue::Null);
    assert_eq!(
        mapping.column_sources,
        [ColumnSource::File(0), ColumnSource::File(1), ColumnSource::File(2), null.clone()]
    );
    let by_key = map_columns(USER, &["area"], Naming::Records, &[]).unwrap();
    assert_eq!(projected(&by_key), [(None, "area", Affinity::Text)]);
    assert_eq!(
        by_key.column_sources,
        [ColumnSource::RowNumber, ColumnSource::File(0), ColumnSource::Constant(OwnedValue::Int(7)), null]
    );
}

#[test]
fn columns_are_mapped_and_left_out() {
    let map = [("Vorwahl", "area"), ("x", ""), ("id", "")];
    let mapping = map_columns(USER, &["Vorwahl", "x", "id"], Naming::Header, &map).unwrap();
    assert_eq!(projected(&mapping), [(Some(0), "Vorwahl", Affinity::Text)]);
    assert_eq!(mapping.column_sources[..2], [ColumnSource::RowNumber, ColumnSource::File(0)]);
}

#[test]
fn columns_without_names_meet_by_position() {
    let mapping = map_columns(USER, &["c1", "c2", "c3", "c4"], Naming::Position, &[]).unwrap();
    assert_eq!(
        mapping.column_sources,
        [ColumnSource::File(0), ColumnSource::File(1), ColumnSource::File(2), ColumnSource::File(3)]
    );
    let mapping = map_columns(USER, &["c1", "c2", "c3", "c4"], Naming::Position, &[("c1", "seen")]).unwrap();
    assert_eq!(
        projected(&mapping).iter().map(|projected| projected.0).collect::<Vec<_>>(),
        [Some(1), Some(2), Some(3), Some(0)]
    );
    let mistake = "table user: the file has 2 columns without names, and the table 4; name the file's with --columns; the \
                   table has id, area, age, seen";
    assert_eq!(map_columns(USER, &["c1", "c2"], Naming::Position, &[]).unwrap_err(), [mistake]);
}

#[test]
fn defaults_are_what_sqlite_stores() {
    let sql = "CREATE TABLE t (x, a DEFAULT 'it''s', b DEFAULT -5, c DEFAULT 1.5, d DEFAULT x'00FF', e DEFAULT (1 + 2), \
               f DEFAULT yes, g DEFAULT TRUE, h DEFAULT NULL, i DEFAULT \"quoted\", j DEFAULT (length('abc')), \
               k DEFAULT +7, l DEFAULT 9223372036854775807)";
    let column_sources = map_columns(sql, &["x"], Naming::Header, &[]).unwrap().column_sources;
    let sqlite = Connection::open_in_memory().unwrap();
    sqlite.execute_batch(&format!("{sql}; INSERT INTO t (x) VALUES (NULL)")).unwrap();
    for (position, source) in column_sources.iter().enumerate().skip(1) {
        let stored: Value = sqlite.query_row("SELECT * FROM t", [], |row| row.get(position)).unwrap();
        let stored = match stored {
            Value::Null => OwnedValue::Null,
            Value::Integer(int) => OwnedValue::Int(int),
            Value::Real(real) => OwnedValue::Real(real),
            Value::Text(text) => OwnedValue::Text(text),
            Value::Blob(blob) => OwnedValue::Blob(blob),
        };
        assert_eq!(*source, ColumnSource::Constant(stored), "column {position}");
    }
    let now = map_columns("CREATE TABLE t (x, a DEFAULT CURRENT_TIMESTAMP)", &["x"], Naming::Header, &[]).unwrap();
    assert!(matches!(&now.column_sources[1], ColumnSource::Constant(OwnedValue::Text(time)) if time.len() == 19));
}

/// A DEFAULT of random bytes was evaluated once a load: all rows of a table had the same UUID.
#[test]
fn defaults_that_differ_by_row_are_evaluated_for_every_row() {
    let sql = "CREATE TABLE t (x, a NOT NULL DEFAULT (lower(hex(randomblob(8)))), b DEFAULT (abs(random())))";
    let column_sources = map_columns(sql, &["x"], Naming::Header, &[]).unwrap().column_sources;
    let each_row = |column: &str, expression: &str| {
        let (table, column, expression) = ("t".to_owned(), column.to_owned(), expression.to_owned());
        ColumnSource::EachRow(RowDefault { table, column, expression })
    };
    let expected = [ColumnSource::File(0), each_row("a", "lower(hex(randomblob(8)))"), each_row("b", "abs(random())")];
    assert_eq!(column_sources, expected);
    let sql = "CREATE TABLE t (x, a DEFAULT (1 + last_insert_rowid()))";
    let expected = "t.a: the file lacks this column, and its default calls last_insert_rowid(), which follows from the rows \
                    that one connection has inserted before; give values for the column, or change its DEFAULT";
    assert_eq!(map_columns(sql, &["x"], Naming::Header, &[]).unwrap_err(), [expected]);
}

#[test]
fn every_mismatch_is_told_at_once() {
    let sql = "CREATE TABLE t (a, b NOT NULL, c NOT NULL DEFAULT NULL, d AS (a), PRIMARY KEY (a)) WITHOUT ROWID";
    let map = [("x", "b2"), ("y", "c"), ("nobody", "b")];
    let expected = [
        "table t: --map x=b2: the table has no column b2; it has a, b, c",
        "table t: --map nobody=b: the file has no column nobody; it has x, y, z, d, C, u",
        "table t: the table lacks columns of the file: z, u; say where they go: --map 'z=COLUMN', or leave them out: --map \
         'z='; the table has a, b, c",
        "t.d: this column is computed and takes no values; leave the file's out: --map 'd='",
        "t.a: the file lacks this column, which may not be NULL, and it has no default; say which column of the file it \
         is: --map 'FILE_COLUMN=a'",
        "t.b: the file lacks this column, which may not be NULL, and it has no default; say which column of the file it \
         is: --map 'FILE_COLUMN=b'",
        "t.c: two columns of the file go here: y and C; leave one out: --map 'C='",
    ];
    assert_eq!(map_columns(sql, &["x", "y", "z", "d", "C", "u"], Naming::Header, &map).unwrap_err(), expected);
    let null = map_columns("CREATE TABLE t (a, c NOT NULL DEFAULT NULL)", &["a"], Naming::Header, &[]).unwrap_err();
    assert!(null[0].contains("its default is NULL"), "{null:?}");
    let missing = map_columns("CREATE TABLE t (a, c DEFAULT (nosuch(1)))", &["a"], Naming::Header, &[]).unwrap_err();
    assert!(missing[0].contains("t.c: ") && missing[0].contains("unknown function: nosuch()"), "{missing:?}");
    // The error about a key without a name ended with a colon.
    let unnamed = map_columns("CREATE TABLE t (a)", &["a", ""], Naming::Records, &[]).unwrap_err();
    assert!(unnamed[0].starts_with("table t: the table lacks columns of the file: \"\"; "), "{unnamed:?}");
    let twice = map_columns("CREATE TABLE t (a)", &["a"], Naming::Header, &[("a", "a"), ("A", "a")]).unwrap_err();
    assert_eq!(twice, ["table t: --map A=a: this column is mapped twice"]);
}
