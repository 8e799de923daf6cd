//! Compares indexes: the stored entries, and the rows that SQLite finds through them.

use super::{assert_same_rows, assert_sqlite_content, integer, open, texts};
use crate::btree::Pages;
use litepress::PageSize;
use litepress_format::record;
use litepress_format::value::Value;
use litepress_rows::quoted_name;
use rusqlite::Connection;

/// Returns names and root pages of the index b-trees of a database: its indexes and its WITHOUT ROWID tables.
#[must_use]
pub fn trees(sqlite: &Connection) -> Vec<(String, u32)> {
    let sql = "SELECT name, rootpage FROM sqlite_schema WHERE type = 'index' OR name IN \
               (SELECT name FROM pragma_table_list WHERE schema = 'main' AND wr AND type = 'table') ORDER BY name";
    let mut statement = sqlite.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    rows.map(Result::unwrap).collect()
}

/// Asserts that every index b-tree has the same records in the same order, and that SQLite finds the same rows through
/// each index with the same plan.
pub fn assert_same_indexes(ours: &mut Connection, theirs: &mut Connection, what: &str) {
    let (our_trees, their_trees) = (trees(ours), trees(theirs));
    if their_trees.is_empty() && our_trees.is_empty() {
        return;
    }
    let (our_bytes, their_bytes) =
        (ours.serialize("main").unwrap().to_vec(), theirs.serialize("main").unwrap().to_vec());
    let (our_pages, their_pages) = (pages(ours, &our_bytes), pages(theirs, &their_bytes));
    assert_eq!(our_trees.len(), their_trees.len(), "{what}: b-trees");
    for ((our_name, our_root), (name, their_root)) in our_trees.iter().zip(&their_trees) {
        assert_eq!(our_name, name, "{what}");
        assert_same_records(our_pages, *our_root, their_pages, *their_root, &format!("{what}: {name}"));
    }
    for index in texts(theirs, "SELECT name FROM sqlite_schema WHERE type = 'index'") {
        for sql in queries(theirs, &index) {
            assert_same_rows(ours, theirs, &format!("EXPLAIN QUERY PLAN {sql}"), what);
            assert_same_rows(ours, theirs, &sql, what);
        }
    }
}

fn pages<'a>(sqlite: &Connection, bytes: &'a [u8]) -> Pages<'a> {
    let page_size = u32::try_from(integer(sqlite, "PRAGMA page_size")).unwrap();
    Pages::new(bytes, PageSize::new(page_size).unwrap())
}

fn assert_same_records(our_pages: Pages<'_>, our_root: u32, their_pages: Pages<'_>, their_root: u32, what: &str) {
    let (ours, theirs) = (our_pages.records(our_root), their_pages.records(their_root));
    let differs = ours.iter().zip(&theirs).position(|(ours, theirs)| !is_same_record(ours, theirs));
    if let Some(at) = differs {
        let show = |record: &[u8]| {
            let record = &record[..record.len().min(300)];
            format!("{:?} = {record:02x?}", record::decode(record))
        };
        panic!("{what}: entry {at}: ours {}, SQLite's {}", show(&ours[at]), show(&theirs[at]));
    }
    assert_eq!(ours.len(), theirs.len(), "{what}: entries");
}

/// Returns whether both records have equal bytes, with one exception: older versions of SQLite store an integer in a
/// REAL column as an integer, newer ones as a double. The queries check that it is read as a double.
fn is_same_record(ours: &[u8], theirs: &[u8]) -> bool {
    let is_same_value = |(ours, theirs): (&Value<'_>, &Value<'_>)| match (ours, theirs) {
        (Value::Real(ours), Value::Real(theirs)) => ours.to_bits() == theirs.to_bits(),
        (Value::Int(int), Value::Real(real)) | (Value::Real(real), Value::Int(int)) => {
            (-(1 << 47)..1 << 47).contains(int) && *int as f64 == *real
        }
        (ours, theirs) => ours == theirs,
    };
    ours == theirs || {
        let (ours, theirs) = (record::decode(ours).unwrap(), record::decode(theirs).unwrap());
        ours.len() == theirs.len() && ours.iter().zip(&theirs).all(is_same_value)
    }
}

/// Returns queries that must use the index: all rows in its order, backwards, and from some row's key on.
fn queries(sqlite: &Connection, index: &str) -> Vec<String> {
    let table = texts(sqlite, &format!("SELECT tbl_name FROM sqlite_schema WHERE name = {}", literal(index)));
    let (name, table) = (&table[0], quoted_name(&table[0]));
    let sql =
        format!("SELECT name, \"desc\", coll FROM pragma_index_xinfo({}) WHERE key ORDER BY seqno", literal(index));
    let mut statement = sqlite.prepare(&sql).unwrap();
    let columns = statement
        .query_map([], |row| Ok((row.get::<_, Option<String>>(0)?, row.get::<_, bool>(1)?, row.get::<_, String>(2)?)));
    let columns: Vec<_> = columns.unwrap().map(Result::unwrap).collect();
    let partial = format!(
        "SELECT count(*) FROM pragma_index_list({}) WHERE name = {} AND partial",
        literal(name),
        literal(index)
    );
    if columns.iter().any(|(name, ..)| name.is_none()) || integer(sqlite, &partial) > 0 {
        // The entries were compared. No query must use such an index.
        return Vec::new();
    }
    let term = |backwards: bool| {
        let term = |(name, descending, collation): &(Option<String>, bool, String)| {
            let name = quoted_name(name.as_ref().expect("no expression"));
            format!("{name} COLLATE {collation}{}", if *descending == backwards { "" } else { " DESC" })
        };
        columns.iter().map(term).collect::<Vec<_>>().join(", ")
    };
    let names: Vec<String> =
        columns.iter().map(|(name, ..)| quoted_name(name.as_ref().expect("no expression"))).collect();
    let (first, collation) = (&names[0], &columns[0].2);
    let (forced, names) = (format!("FROM {table} INDEXED BY {}", quoted_name(index)), names.join(", "));
    vec![
        format!("SELECT {names} {forced} ORDER BY {}", term(false)),
        format!("SELECT * {forced} ORDER BY {}", term(true)),
        format!(
            "SELECT * {forced} WHERE {first} COLLATE {collation} >= \
             (SELECT {first} FROM {table} NOT INDEXED LIMIT 1 OFFSET 2) ORDER BY {}",
            term(false)
        ),
    ]
}

fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Asserts that the database stays sound and its entries equal after SQLite has made all indexes again.
pub fn assert_reindexed(bytes: &[u8], what: &str) {
    let mut before = open(bytes);
    if trees(&before).is_empty() {
        return;
    }
    let mut reindexed = open(bytes);
    reindexed.execute_batch("REINDEX").unwrap();
    let what = format!("{what}, after REINDEX");
    assert_sqlite_content(&mut reindexed, &what);
    assert_same_indexes(&mut before, &mut reindexed, &what);
}
