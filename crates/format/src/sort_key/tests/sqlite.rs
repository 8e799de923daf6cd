//! Compares with SQLite: encodings sort as its ORDER BY does, and entries are those of its indexes.

use super::*;
use crate::cell::Cell;
use crate::page::{PageReader, PageSize};
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ToSql};
use std::path::PathBuf;
use std::{env, fs, process};

/// Texts go in as blobs and are cast, because they need not be UTF-8.
impl ToSql for OwnedValue {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Int(int) => ValueRef::Integer(*int),
            Self::Real(real) => ValueRef::Real(*real),
            Self::Text(bytes) | Self::Blob(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

impl OwnedValue {
    fn placeholder(&self) -> &'static str {
        if matches!(self, Self::Text(_)) { "CAST(? AS TEXT)" } else { "?" }
    }
}

fn order_by(column: &str, part: KeyPart) -> String {
    let collation = match part.collation {
        Collation::Binary => "BINARY",
        Collation::NoCase | Collation::NoCaseOf(_) => "NOCASE",
        Collation::RTrim | Collation::RTrimOf(_) => "RTRIM",
    };
    format!("{column} COLLATE {collation} {}", if part.descending { "DESC" } else { "ASC" })
}

fn insert(connection: &Connection, table: &str, row: &[OwnedValue]) {
    let placeholders: Vec<&str> = row.iter().map(OwnedValue::placeholder).collect();
    let sql = format!("INSERT INTO {table} VALUES ({})", placeholders.join(", "));
    connection.prepare_cached(&sql).unwrap().execute(rusqlite::params_from_iter(row)).unwrap();
}

/// Returns the rank of every row in SQLite's order; rows that compare as equal share one.
fn ranks(rows: &[Vec<OwnedValue>], parts: &[KeyPart]) -> Vec<i64> {
    let connection = Connection::open_in_memory().unwrap();
    let names: Vec<String> = (0..parts.len()).map(|column| format!("c{column}")).collect();
    connection.execute_batch(&format!("CREATE TABLE t({}); BEGIN", names.join(", "))).unwrap();
    rows.iter().for_each(|row| insert(&connection, "t", row));
    let terms: Vec<String> = names.iter().zip(parts).map(|(name, part)| order_by(name, *part)).collect();
    let sql = format!("SELECT rowid, dense_rank() OVER (ORDER BY {}) FROM t ORDER BY rowid", terms.join(", "));
    let mut statement = connection.prepare(&sql).unwrap();
    statement.query_map((), |row| row.get(1)).unwrap().map(Result::unwrap).collect()
}

/// Checks that all pairs of rows compare as in SQLite.
fn check_order(rows: &[Vec<OwnedValue>], parts: &[KeyPart]) {
    let key_of = |row: &Vec<OwnedValue>| {
        let mut key = Vec::new();
        for (value, part) in row.iter().zip(parts) {
            push(&value.get(), *part, &mut key);
        }
        key
    };
    let mut sorted: Vec<(i64, Vec<u8>, &Vec<OwnedValue>)> =
        ranks(rows, parts).into_iter().zip(rows).map(|(rank, row)| (rank, key_of(row), row)).collect();
    sorted.sort_by_key(|(rank, ..)| *rank);
    for pair in sorted.windows(2) {
        // Adjacent pairs are enough: both orders are transitive.
        assert_eq!(pair[0].1.cmp(&pair[1].1), pair[0].0.cmp(&pair[1].0), "{parts:?}: {pair:?}");
    }
}

#[test]
fn one_column_sorts_as_in_sqlite() {
    let rows: Vec<Vec<OwnedValue>> = edge_values().into_iter().map(|value| vec![value.into()]).collect();
    every_part().for_each(|part| check_order(&rows, &[part]));
}

#[test]
fn two_columns_sort_as_in_sqlite() {
    let firsts: Vec<Value<'_>> = edge_values().into_iter().filter(|value| !matches!(value, Value::Real(_))).collect();
    let seconds =
        [Value::Null, Value::Int(-1), Value::Real(0.5), Value::Text(b""), Value::Text(b"B "), Value::Blob(b"\0")];
    let rows: Vec<Vec<OwnedValue>> = firsts
        .iter()
        .step_by(3)
        .flat_map(|first| seconds.iter().map(|second| vec![(*first).into(), (*second).into()]))
        .collect();
    for first in every_part() {
        every_part().for_each(|second| check_order(&rows, &[first, second]));
    }
}

proptest! {
    #[test]
    fn any_values_sort_as_in_sqlite(
        rows in proptest::collection::vec(proptest::collection::vec(any_value(), 2), 0..30),
        first in 0..6_usize,
        second in 0..6_usize,
    ) {
        let parts: Vec<KeyPart> = every_part().collect();
        check_order(&rows, &[parts[first], parts[second]]);
    }
}

/// A database file that is deleted after the test.
struct TempFile(PathBuf);

impl TempFile {
    fn new(name: &str) -> Self {
        let path = env::temp_dir().join(format!("litepress-order-{name}-{}.db", process::id()));
        let file = Self(path);
        file.remove();
        file
    }

    fn remove(&self) {
        // The file may not exist.
        let _ = fs::remove_file(&self.0);
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        self.remove();
    }
}

/// Returns the entries of an index that is one leaf page.
fn index_records(file: &TempFile, page_size: usize, root: usize) -> Vec<Vec<u8>> {
    let bytes = fs::read(&file.0).unwrap();
    let page = &bytes[(root - 1) * page_size..][..page_size];
    let cells = PageReader::new(page, 0, page_size).unwrap();
    let record = |cell: Result<Cell<'_>, _>| match cell.unwrap() {
        Cell::IndexLeaf { local, overflow: None, .. } => local.to_vec(),
        other => panic!("{other:?}"),
    };
    cells.cells().map(record).collect()
}

fn owned(value: ValueRef<'_>) -> OwnedValue {
    match value {
        ValueRef::Null => OwnedValue::Null,
        ValueRef::Integer(int) => OwnedValue::Int(int),
        ValueRef::Real(real) => OwnedValue::Real(real),
        ValueRef::Text(text) => OwnedValue::Text(text.to_vec()),
        ValueRef::Blob(blob) => OwnedValue::Blob(blob.to_vec()),
    }
}

/// Stores a value as a REAL column does: a real that is an integer of 48 bits becomes that integer. A query turns it
/// back.
#[expect(clippy::cast_possible_truncation, reason = "48 bits fit")]
fn stored_as_real(value: OwnedValue) -> OwnedValue {
    const BITS_48: std::ops::Range<f64> = -140_737_488_355_328.0..140_737_488_355_328.0;
    match value {
        OwnedValue::Real(real) if real.fract() == 0.0 && BITS_48.contains(&real) => OwnedValue::Int(real as i64),
        other => other,
    }
}

/// Returns the records of the sorted items of these rows.
fn written_records(connection: &Connection, columns: &str, layout: &IndexEntryLayout, has_rowid: bool) -> Vec<Vec<u8>> {
    let mut statement = connection.prepare(&format!("SELECT {columns} FROM t")).unwrap();
    let b_type: String =
        connection.query_row("SELECT type FROM pragma_table_info('t') WHERE name = 'b'", (), |row| row.get(0)).unwrap();
    let mut rows = statement.query(()).unwrap();
    let mut items = Vec::new();
    while let Some(row) = rows.next().unwrap() {
        let mut values: Vec<OwnedValue> =
            (0..layout.parts().len()).map(|column| owned(row.get_ref(column).unwrap())).collect();
        if b_type == "REAL" && values.len() == 2 {
            values[1] = stored_as_real(values[1].clone());
        }
        let rowid = has_rowid.then(|| row.get(layout.parts().len()).unwrap());
        let mut item = Vec::new();
        layout.push_item(values.iter().map(OwnedValue::get), rowid, &mut item);
        items.push(item);
    }
    items.sort();
    let record = |item: &Vec<u8>| {
        let mut record = Vec::new();
        layout.write_record(item, &mut record).unwrap();
        record
    };
    items.iter().map(record).collect()
}

/// Rows for an index that SQLite builds: edge values in a column without affinity, and in one with the affinity that
/// converts some of them.
fn filled(file: &TempFile, table: &str) -> Connection {
    let connection = Connection::open(&file.0).unwrap();
    connection.execute_batch(&format!("PRAGMA page_size = 65536; CREATE TABLE t{table}; BEGIN")).unwrap();
    let values = edge_values();
    for (number, value) in values.iter().enumerate() {
        let id = (number * 7_919 % values.len()) as i64 - 100;
        let other = values[number * 31 % values.len()];
        insert(&connection, "t", &[OwnedValue::Int(id * id * id), (*value).into(), other.into()]);
    }
    connection.execute_batch("COMMIT").unwrap();
    connection
}

fn check_index(file: &TempFile, connection: &Connection, parts: &[KeyPart], tail: &str, layout: &IndexEntryLayout) {
    let page_size = PageSize::new(65536).unwrap().bytes();
    let terms: Vec<String> = ["a", "b"].iter().zip(parts).map(|(name, part)| order_by(name, *part)).collect();
    connection.execute_batch(&format!("CREATE INDEX i ON t({})", terms.join(", "))).unwrap();
    let root =
        connection.query_row("SELECT rootpage FROM sqlite_schema WHERE name = 'i'", (), |row| row.get(0)).unwrap();
    let expected = index_records(file, page_size, root);
    let columns = format!("{}, {tail}", ["a", "b"][..parts.len()].join(", "));
    let written = written_records(connection, &columns, layout, tail == "rowid");
    assert!(expected.len() > 500 && expected.len() == written.len());
    for (expected, written) in expected.iter().zip(&written) {
        assert_eq!(written, expected, "{:?} {:?}", record::decode(written), record::decode(expected));
    }
    connection.execute_batch("DROP INDEX i").unwrap();
}

#[test]
fn entries_are_those_of_sqlites_indexes() {
    for affinity in ["", "REAL", "NUMERIC", "TEXT"] {
        let file = TempFile::new(&format!("rowid-{affinity}"));
        let connection = filled(&file, &format!("(id INTEGER PRIMARY KEY, a, b {affinity})"));
        for first in every_part() {
            check_index(&file, &connection, &[first], "rowid", &IndexEntryLayout::with_rowid(vec![first]));
            for second in every_part() {
                let parts = vec![first, second];
                check_index(&file, &connection, &parts, "rowid", &IndexEntryLayout::with_rowid(parts.clone()));
            }
        }
    }
}

#[test]
fn entries_of_without_rowid_tables_are_those_of_sqlites_indexes() {
    let file = TempFile::new("without-rowid");
    let connection = filled(&file, "(id INTEGER PRIMARY KEY DESC, a, b) WITHOUT ROWID");
    let primary_key = KeyPart { collation: Collation::Binary, descending: true };
    for first in every_part() {
        for second in every_part() {
            let layout = IndexEntryLayout::without_rowid(vec![first, second, primary_key], 2);
            check_index(&file, &connection, &[first, second], "id", &layout);
        }
    }
}
