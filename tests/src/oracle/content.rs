//! Compares two databases: every cell, every row of the schema, every PRAGMA that describes the file.

use super::texts;
use litepress_rows::quoted_name;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Statement};

/// PRAGMAs of the whole file.
const FILE_PRAGMAS: [&str; 7] =
    ["page_size", "encoding", "user_version", "application_id", "schema_version", "auto_vacuum", "journal_mode"];

/// PRAGMAs of one table.
const TABLE_PRAGMAS: [&str; 3] = ["table_xinfo", "index_list", "foreign_key_list"];

/// Asserts that both have the same content: settings of the file, schema, and every cell of every table and view.
///
/// Root pages may differ, but an object without one in one database has none in the other.
pub fn assert_same_database(ours: &Connection, theirs: &Connection, what: &str) {
    let same = |sql: &str| assert_same_rows(ours, theirs, sql, what);
    for pragma in FILE_PRAGMAS {
        same(&format!("PRAGMA {pragma}"));
    }
    assert_same_schema(ours, theirs, what);
    same("SELECT schema, name, type, ncol, wr, strict FROM pragma_table_list WHERE schema = 'main' ORDER BY name");
    for table in texts(theirs, "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')") {
        for pragma in TABLE_PRAGMAS {
            same(&format!("PRAGMA {pragma}({})", quoted_name(&table)));
        }
    }
    for index in texts(theirs, "SELECT name FROM sqlite_schema WHERE type = 'index'") {
        same(&format!("PRAGMA index_xinfo({})", quoted_name(&index)));
    }
    assert_same_content(ours, theirs, what);
}

/// Asserts that `sqlite_schema` has the same rows in the same order, by the same rowids.
pub fn assert_same_schema(ours: &Connection, theirs: &Connection, what: &str) {
    let sql = "SELECT rowid, type, name, tbl_name, coalesce(rootpage, 0) > 0, typeof(sql), sql FROM sqlite_schema ORDER BY rowid";
    assert_same_rows(ours, theirs, sql, what);
}

/// Asserts that every cell of every table and view is equal.
pub fn assert_same_content(ours: &Connection, theirs: &Connection, what: &str) {
    for table in texts(theirs, "SELECT name FROM sqlite_schema WHERE type = 'table'") {
        let Some(rowid) = rowid_name(theirs, &table) else {
            // In the order of the table's own tree.
            let sql = format!("SELECT * FROM {} NOT INDEXED", quoted_name(&table));
            assert_same_rows(ours, theirs, &sql, what);
            continue;
        };
        let from = format!("FROM {} NOT INDEXED ORDER BY {rowid}", quoted_name(&table));
        // A separate query: the columns alone may be as many as a query can have.
        assert_same_rows(ours, theirs, &format!("SELECT {rowid} {from}"), what);
        assert_same_rows(ours, theirs, &format!("SELECT * {from}"), what);
    }
    for view in texts(theirs, "SELECT name FROM sqlite_schema WHERE type = 'view'") {
        assert_same_rows(ours, theirs, &format!("SELECT * FROM {}", quoted_name(&view)), what);
    }
}

/// Returns a name of the rowid that no column hides, or `None` for a WITHOUT ROWID table.
fn rowid_name(sqlite: &Connection, table: &str) -> Option<&'static str> {
    let table = table.replace('\'', "''");
    if super::integer(sqlite, &format!("SELECT count(*) FROM pragma_table_list('{table}') WHERE wr")) > 0 {
        return None;
    }
    let columns = texts(sqlite, &format!("SELECT lower(name) FROM pragma_table_xinfo('{table}')"));
    let free = |name: &&str| !columns.iter().any(|column| column == name);
    Some(["rowid", "_rowid_", "oid"].into_iter().find(free).expect("a name for the rowid"))
}

/// Asserts that a query gives the same rows in both: storage class and every bit of the value, which is stricter than
/// `typeof` and `quote`.
pub fn assert_same_rows(ours: &Connection, theirs: &Connection, sql: &str, what: &str) {
    let failed = |error| panic!("{what}: {sql}: {error}");
    let (mut ours, mut theirs) = (ours.prepare(sql).unwrap_or_else(failed), theirs.prepare(sql).unwrap_or_else(failed));
    assert_same_results(&mut ours, &mut theirs, &format!("{what}: {sql}"));
}

fn assert_same_results(ours: &mut Statement<'_>, theirs: &mut Statement<'_>, what: &str) {
    let columns = theirs.column_count();
    assert_eq!(ours.column_count(), columns, "{what}: columns");
    let (mut ours, mut theirs) = (ours.query([]).unwrap(), theirs.query([]).unwrap());
    for row in 1.. {
        let (our_row, their_row) = match (ours.next().unwrap(), theirs.next().unwrap()) {
            (None, None) => return,
            (Some(our_row), Some(their_row)) => (our_row, their_row),
            (ours, theirs) => panic!("{what}: row {row}: ours {}, SQLite's {}", ours.is_some(), theirs.is_some()),
        };
        for column in 0..columns {
            let (our_cell, their_cell) = (our_row.get_ref(column).unwrap(), their_row.get_ref(column).unwrap());
            let same = match (our_cell, their_cell) {
                (ValueRef::Real(our_real), ValueRef::Real(their_real)) => our_real.to_bits() == their_real.to_bits(),
                (our_cell, their_cell) => our_cell == their_cell,
            };
            assert!(same, "{what}: row {row}, column {column}: ours {}, SQLite's {}", show(our_cell), show(their_cell));
        }
    }
}

fn show(cell: ValueRef<'_>) -> String {
    let mut shown = format!("{cell:?}");
    if let Some((end, _)) = shown.char_indices().nth(300) {
        shown.truncate(end);
    }
    shown
}
