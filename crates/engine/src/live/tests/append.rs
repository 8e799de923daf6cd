//! Rows at the right edge of tables of any size.

use super::*;
use crate::index::Indexes;
use crate::progress::Progress;
use crate::table::rowid::NewRows;
use crate::table::{BuildContext, OneChunk};

/// Returns records with rowids from `first` on.
fn rows(first: i64, count: i64) -> OneChunk {
    let (mut chunk, mut record) = (RecordChunk::new(), Vec::new());
    for rowid in first..first + count {
        record.clear();
        let name = format!("row {rowid} {}", if rowid % 900 == 0 { "long ".repeat(2000) } else { String::new() });
        record::write_record(&[Value::Null, name.as_str().into()], &mut record);
        chunk.push(rowid, &record);
    }
    OneChunk::new(chunk)
}

/// Appends rows to the table `fresh`.
fn append(transaction: &mut LiveTransaction<'_>, first: i64, count: i64) -> Result<()> {
    let root = "SELECT rootpage FROM sqlite_schema WHERE name = 'fresh'";
    let root = transaction.connection()?.query_row(root, [], |row| row.get(0)).unwrap();
    let (rows, indexes, progress) = (rows(first, count), Indexes::default(), Progress::default());
    let context = BuildContext { indexes: &indexes, threads: 2, counts_keys: false, progress: &progress };
    let tree = transaction.extend_tree(root, NewRows::Source(&rows, context))?;
    if tree.root != root {
        transaction.set_root("fresh", tree.root)?;
        transaction.free_tree(root)?;
    }
    assert_eq!(tree.rows, u64::try_from(count).unwrap());
    assert!(count == 0 || tree.last_rowid == first + count - 1);
    Ok(())
}

#[test]
fn tables_of_any_size_grow() {
    for (page_size, mode) in PAGE_SIZES.into_iter().flat_map(|size| MODES.map(|mode| (size, mode))) {
        // The tallest trees have the smallest pages.
        let sizes: &[i64] = if page_size == 512 { &[0, 1, 7, 300, 20_000] } else { &[0, 1, 300, 3000] };
        for &before in sizes {
            let (_folder, path) = database(page_size, mode);
            let sqlite = Connection::open(&path).unwrap();
            sqlite.execute_batch("PRAGMA synchronous = OFF").unwrap();
            sqlite.execute_batch(FRESH).unwrap();
            let fill = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
                        INSERT INTO fresh SELECT i, 'row ' || i FROM n WHERE i <= ?1";
            sqlite.execute(fill, [before]).unwrap();
            let sum = |last: i64| last * (last + 1) / 2;
            let mut last = before;
            for count in [0, 1, 40, 3000] {
                let mut database = open(&path);
                let mut transaction = database.begin().unwrap();
                append(&mut transaction, last + 1, count).unwrap();
                drop(transaction);
                assert_eq!(number(&sqlite, "SELECT coalesce(sum(id), 0) FROM fresh"), sum(last));
                let mut transaction = database.begin().unwrap();
                append(&mut transaction, last + 1, count).unwrap();
                last += count;
                // Twice in one transaction, and an ordinary statement behind it.
                append(&mut transaction, last + 1, 5).unwrap();
                last += 5;
                transaction.connection().unwrap().execute_batch("INSERT INTO fresh (name) VALUES ('sql')").unwrap();
                last += 1;
                transaction.commit().unwrap();
                assert_eq!(
                    number(&sqlite, "SELECT sum(id) FROM fresh"),
                    sum(last),
                    "{page_size} {mode} {before} {count}"
                );
                assert_eq!(number(&sqlite, "SELECT count(*) FROM fresh WHERE name > ''"), last);
                let verdict: String = sqlite.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
                assert_eq!(verdict, "ok", "{page_size} {mode} {before} {count}");
            }
            drop(sqlite);
            check(&path);
        }
    }
}

#[test]
fn rowids_must_be_above_the_largest() {
    let (_folder, path) = database(4096, "wal");
    Connection::open(&path).unwrap().execute_batch(&format!("{FRESH}; INSERT INTO fresh VALUES (10, 'ten')")).unwrap();
    let mut database = open(&path);
    let mut transaction = database.begin().unwrap();
    let refused = append(&mut transaction, 10, 3).unwrap_err();
    assert!(refused.to_string().contains("rowid 10"), "{refused}");
    drop(transaction);
    let mut transaction = database.begin().unwrap();
    assert_eq!(transaction.right_edge(2).unwrap().largest_rowid, Some(3000));
    append(&mut transaction, 11, 3).unwrap();
    transaction.commit().unwrap();
    drop(database);
    use_it(&path);
}
