//! Arrays as tables.

use crate::room::{failure, memory, rows, rows_of, try_rows};
use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow_ipc::writer::{FileWriter, StreamWriter};
use std::sync::Arc;

fn batch() -> RecordBatch {
    let columns: [(&str, ArrayRef); 2] = [
        ("id", Arc::new(Int64Array::from(vec![Some(1), None, Some(3)]))),
        ("name", Arc::new(StringArray::from(vec!["a", "b", "c"]))),
    ];
    RecordBatch::try_from_iter(columns).expect("it works")
}

fn stream(batches: &[RecordBatch]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = StreamWriter::try_new(&mut bytes, &batch().schema()).expect("it works");
    batches.iter().for_each(|batch| writer.write(batch).expect("it works"));
    writer.finish().expect("it works");
    drop(writer);
    bytes
}

#[test]
fn json_arrays_are_columns() {
    let sqlite = memory();
    let sql = "SELECT rowid, c1, c2, typeof(c2) FROM litepress_array('[3, 1, 2]', '[\"a\", null, 2.5]')";
    assert_eq!(rows(&sqlite, sql), ["1 3 'a' 'text'", "2 1 NULL 'null'", "3 2 2.5 'real'"]);
    assert_eq!(rows(&sqlite, "SELECT 2 IN litepress_array('[1, 2]'), 3 IN litepress_array('[1, 2]')"), ["1 0"]);
    assert_eq!(rows(&sqlite, "SELECT * FROM litepress_array('[]')"), [""; 0]);
    let joined = "SELECT x.c1, y.c1 FROM litepress_array('[1, 2]') x, litepress_array('[2, 3]') y WHERE x.c1 = y.c1";
    assert_eq!(rows(&sqlite, joined), ["2 2"]);
}

#[test]
fn a_created_table_names_the_columns() {
    let sqlite = memory();
    sqlite
        .execute_batch(
            "CREATE VIRTUAL TABLE temp.users USING litepress_array(id INTEGER, \"full name\" TEXT, score REAL)",
        )
        .unwrap();
    sqlite.execute_batch("CREATE TABLE t (id INTEGER PRIMARY KEY, name, score)").unwrap();
    let numbers = |numbers: [i64; 3]| numbers.map(i64::to_ne_bytes).concat();
    let doubles = [0.5f64, -1.0, 2.0].map(f64::to_ne_bytes).concat();
    let parameters = rusqlite::params![numbers([7, -5, 6]), "[\"a\", \"b\", null]", doubles];
    sqlite.execute("INSERT INTO t SELECT * FROM users(?1, ?2, ?3)", parameters).unwrap();
    assert_eq!(rows(&sqlite, "SELECT * FROM t"), ["-5 'b' -1.0", "6 NULL 2.0", "7 'a' 0.5"]);
    assert!(failure(&sqlite, "SELECT * FROM users('[1]')").contains("have 1 columns, and the table 3"));
    assert!(failure(&sqlite, "CREATE VIRTUAL TABLE temp.x USING litepress_array").contains("no column is named"));
    assert!(
        failure(&sqlite, "CREATE VIRTUAL TABLE temp.x USING litepress_array('[1]')")
            .contains("not the name of a column")
    );
}

#[test]
fn arrow_data_are_columns() {
    let sqlite = memory();
    let mut file = Vec::new();
    let mut writer = FileWriter::try_new(&mut file, &batch().schema()).unwrap();
    writer.write(&batch()).unwrap();
    writer.finish().unwrap();
    drop(writer);
    for bytes in [file, stream(&[batch()])] {
        let found = rows_of(&sqlite, "SELECT c1, c2, c3 FROM litepress_array(?1, '[7, 8, 9]')", [bytes]);
        assert_eq!(found, ["1 'a' 7", "NULL 'b' 8", "3 'c' 9"]);
    }
    let many = stream(&[batch(), batch().slice(0, 0), batch()]);
    assert_eq!(rows_of(&sqlite, "SELECT count(*), sum(c1) FROM litepress_array(?1)", [many]), ["6 8"]);
}

#[test]
fn wrong_arrays_are_refused() {
    let sqlite = memory();
    for (sql, part) in [
        ("SELECT * FROM litepress_array", "no array is given"),
        ("SELECT * FROM litepress_array(5)", "argument 1: it is a number"),
        ("SELECT * FROM litepress_array('[1]', NULL)", "argument 2: it is NULL, or a pointer of another type"),
        ("SELECT * FROM litepress_array('{}')", "not an array"),
        ("SELECT * FROM litepress_array('[1')", "not JSON"),
        ("SELECT * FROM litepress_array('[1, 2]', '[1]')", "argument 2 has 1 rows, and argument 1 has more"),
        ("SELECT * FROM litepress_array('[1]', '[1, 2]')", "argument 1 has 1 rows, and argument 2 has more"),
        ("SELECT c2 FROM litepress_array('[1]')", "no column c2"),
        ("SELECT * FROM litepress_array(x'0102')", "no Arrow IPC data"),
        ("SELECT * FROM litepress_array(x'ffffffff00')", "cannot be read"),
    ] {
        let message = failure(&sqlite, sql);
        assert!(message.contains(part), "{sql}: {message}");
    }
    let mut damaged = stream(&[batch()]);
    damaged.truncate(damaged.len() / 2);
    assert!(try_rows(&sqlite, "SELECT * FROM litepress_array(?1)", [damaged]).is_err());
}
