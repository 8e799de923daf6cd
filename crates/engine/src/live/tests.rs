//! Every test changes a database that SQLite made, and has SQLite judge the result.

mod append;
mod index;

use super::{CannotWritePages, CommitReport, LiveDatabase, LiveOptions, LiveTransaction};
use crate::table::build_few;
use crate::{ErrorKind, Result};
use litepress_format::freelist::Trunk;
use litepress_format::header::DatabaseHeader;
use litepress_format::page::{PageKind, PageSize, PageWriter};
use litepress_format::record;
use litepress_format::value::Value;
use litepress_rows::RecordChunk;
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tempfile::TempDir;

const FRESH: &str = "CREATE TABLE fresh (id INTEGER PRIMARY KEY, name TEXT)";
const PAGE_SIZES: [u32; 4] = [512, 1024, 4096, 65536];
const MODES: [&str; 2] = ["wal", "delete"];

/// Makes a database with a table, an index, free pages and overflow pages. Returns its folder, which must be kept.
fn database(page_size: u32, mode: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app.db");
    let connection = Connection::open(&path).unwrap();
    connection.execute_batch(&format!("PRAGMA page_size = {page_size}; PRAGMA journal_mode = {mode}")).unwrap();
    connection
        .execute_batch(
            "CREATE TABLE old (id INTEGER PRIMARY KEY, name TEXT); CREATE INDEX by_name ON old (name);
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
             INSERT INTO old SELECT i, 'name ' || i || CASE i % 500 WHEN 0 THEN hex(zeroblob(4000)) ELSE '' END FROM n;
             DELETE FROM old WHERE id BETWEEN 1000 AND 1900",
        )
        .unwrap();
    (folder, path)
}

fn open(path: &Path) -> LiveDatabase {
    open_with(path, &LiveOptions::default())
}

fn open_with(path: &Path, options: &LiveOptions) -> LiveDatabase {
    LiveDatabase::open(path, options).unwrap().unwrap()
}

fn number(connection: &Connection, sql: &str) -> i64 {
    connection.query_row(sql, [], |row| row.get(0)).unwrap()
}

/// Has SQLite check the file, by a new connection and by the program `sqlite3` if there is one.
fn check(path: &Path) {
    let connection = Connection::open(path).unwrap();
    let verdict: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(verdict, "ok");
    drop(connection);
    if let Ok(output) = Command::new("sqlite3").arg(path).arg("PRAGMA integrity_check").output() {
        assert_eq!(String::from_utf8_lossy(&output.stdout), "ok\n", "the program sqlite3");
    }
}

/// Returns the bytes of the file, with zeros in the leaves of the freelist: their bytes have no meaning.
fn bytes_in_use(path: &Path) -> Vec<u8> {
    let mut bytes = std::fs::read(path).unwrap();
    let header = DatabaseHeader::decode(&bytes).unwrap();
    let page_bytes = header.page_size.bytes();
    let range = |number: u32| (number as usize - 1) * page_bytes..number as usize * page_bytes;
    let mut trunk = header.first_freelist_trunk;
    while trunk != 0 {
        let page = bytes[range(trunk)].to_vec();
        let page = Trunk::decode(&page, page_bytes).unwrap();
        page.leaves().for_each(|leaf| bytes[range(leaf)].fill(0));
        trunk = page.next;
    }
    bytes
}

/// Ends the loops of other threads, after a panic too.
struct Done<'d>(&'d AtomicBool);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Returns records of `rows` rows of the table `fresh`.
fn records(rows: i64) -> RecordChunk {
    let (mut chunk, mut record) = (RecordChunk::new(), Vec::new());
    for rowid in 1..=rows {
        record.clear();
        let name = format!("fresh {rowid} {}", if rowid % 700 == 0 { "long ".repeat(900) } else { String::new() });
        record::write_record(&[Value::Null, name.as_str().into()], &mut record);
        chunk.push(rowid, &record);
    }
    chunk
}

/// Adds a table of `rows` rows to the transaction.
fn add_table(transaction: &mut LiveTransaction<'_>, name: &str, rows: i64) -> Result<()> {
    let root = build_few(records(rows), transaction.pages()?)?.root;
    transaction.add_object("table", name, name, root, &FRESH.replace("fresh", name))
}

fn publish(path: &Path, options: &LiveOptions, rows: i64) -> Result<CommitReport> {
    let mut database = open_with(path, options);
    let mut transaction = database.begin()?;
    add_table(&mut transaction, "fresh", rows)?;
    transaction.commit()
}

/// Has SQLite work on the database as programs do.
fn use_it(path: &Path) {
    let connection = Connection::open(path).unwrap();
    connection
        .execute_batch(
            "INSERT INTO fresh (name) SELECT name FROM old; DELETE FROM fresh WHERE id % 3 = 0; CREATE INDEX f ON fresh (name);
             CREATE TABLE later AS SELECT * FROM fresh; UPDATE old SET name = name || 'x'",
        )
        .unwrap();
    drop(connection);
    check(path);
    Connection::open(path).unwrap().execute_batch("VACUUM").unwrap();
    check(path);
}

#[test]
fn a_new_table_appears_at_once_or_never() {
    for (page_size, mode) in PAGE_SIZES.into_iter().flat_map(|size| MODES.map(|mode| (size, mode))) {
        let (_folder, path) = database(page_size, mode);
        let reader = Connection::open(&path).unwrap();
        if mode == "wal" {
            reader.execute_batch("BEGIN").unwrap();
        }
        let objects = "SELECT count(*) FROM sqlite_schema";
        assert_eq!(number(&reader, objects), 2);
        let mut database = open(&path);
        let mut transaction = database.begin().unwrap();
        add_table(&mut transaction, "fresh", 2500).unwrap();
        assert_eq!(number(&reader, objects), 2, "nothing shows before COMMIT");
        assert_eq!(number(transaction.connection().unwrap(), "SELECT count(*) FROM fresh"), 2500);
        let report = transaction.commit().unwrap();
        assert!(report.pages_written > 0 && !report.through_wal, "{report:?}");
        if mode == "wal" {
            assert_eq!(number(&reader, objects), 2, "an old reader keeps its snapshot");
            assert_eq!(number(&reader, "SELECT count(*) FROM old"), 2099);
            reader.execute_batch("COMMIT").unwrap();
        }
        assert_eq!(number(&reader, "SELECT count(*) FROM fresh WHERE name LIKE 'fresh%'"), 2500);
        assert_eq!(number(&reader, "SELECT sum(id) FROM fresh"), 2500 * 2501 / 2);
        drop(database);
        check(&path);
        use_it(&path);
    }
}

#[test]
fn a_transaction_that_is_given_up_leaves_the_file_as_it_was() {
    for (page_size, mode) in PAGE_SIZES.into_iter().flat_map(|size| MODES.map(|mode| (size, mode))) {
        let (_folder, path) = database(page_size, mode);
        let before = bytes_in_use(&path);
        let mut database = open(&path);
        for published in [false, true] {
            let mut transaction = database.begin().unwrap();
            add_table(&mut transaction, "fresh", 2500).unwrap();
            transaction.set_root("old", 3).unwrap();
            if published {
                transaction.connection().unwrap().execute_batch("CREATE INDEX f ON fresh (name)").unwrap();
            }
            drop(transaction);
            assert!(bytes_in_use(&path) == before, "{mode}, pages of {page_size} bytes");
            check(&path);
        }
        let mut transaction = database.begin().unwrap();
        add_table(&mut transaction, "fresh", 2500).unwrap();
        transaction.commit().unwrap();
        drop(database);
        use_it(&path);
    }
}

#[test]
fn a_table_gets_another_tree_and_its_old_pages_are_free() {
    for (page_size, mode) in PAGE_SIZES.into_iter().flat_map(|size| MODES.map(|mode| (size, mode))) {
        let (_folder, path) = database(page_size, mode);
        let sqlite = Connection::open(&path).unwrap();
        sqlite.execute_batch("DROP INDEX by_name").unwrap();
        let free = number(&sqlite, "PRAGMA freelist_count");
        let old = number(&sqlite, "SELECT rootpage FROM sqlite_schema WHERE name = 'old'");
        for is_committed in [false, true] {
            let mut database = open(&path);
            let mut transaction = database.begin().unwrap();
            let root = build_few(records(1500), transaction.pages().unwrap()).unwrap().root;
            transaction.set_root("old", root).unwrap();
            transaction.free_tree(u32::try_from(old).unwrap()).unwrap();
            let count = "SELECT count(*) FROM old";
            assert_eq!(number(transaction.connection().unwrap(), count), 1500);
            assert_eq!(number(&sqlite, count), 2099);
            if is_committed {
                let report = transaction.commit().unwrap();
                let freed = number(&sqlite, "PRAGMA freelist_count") - free;
                let expected = report.pages_freed.cast_signed() - report.pages_reused.cast_signed();
                assert!(report.pages_freed > 0 && freed == expected, "{report:?}");
            } else {
                transaction.write_freelist().unwrap();
                drop(transaction);
                assert_eq!(number(&sqlite, "PRAGMA freelist_count"), free);
            }
            drop(database);
            check(&path);
        }
        sqlite.execute_batch(FRESH).unwrap();
        drop(sqlite);
        // Takes the free pages again.
        use_it(&path);
    }
}

/// The b-tree layer of SQLite keeps the parsed form of a page. It counted no row in a table whose root page had got other
/// bytes.
/// The file grew by a tree with every rebuild, for ever: new pages were always behind its end.
#[test]
fn new_pages_take_free_ones() {
    for (page_size, mode) in [512, 1024, 4096].into_iter().flat_map(|size| MODES.map(|mode| (size, mode))) {
        let (_folder, path) = database(page_size, mode);
        let sqlite = Connection::open(&path).unwrap();
        sqlite.execute_batch(FRESH).unwrap();
        let mut database = open(&path);
        let (mut sizes, mut reused) = (Vec::new(), 0);
        // One connection, whose cache knows the pages when they were in use.
        for round in 1..=12 {
            let is_committed = round % 4 != 0;
            let free = number(&sqlite, "PRAGMA freelist_count");
            let old = number(&sqlite, "SELECT rootpage FROM sqlite_schema WHERE name = 'fresh'");
            let mut transaction = database.begin().unwrap();
            let rows = i64::from(page_size) * 8 + round;
            let root = build_few(records(rows), transaction.pages().unwrap()).unwrap().root;
            transaction.set_root("fresh", root).unwrap();
            transaction.free_tree(u32::try_from(old).unwrap()).unwrap();
            let sum = "SELECT sum(id) + sum(length(name)) * 0 FROM fresh";
            assert_eq!(
                number(transaction.connection().unwrap(), sum),
                rows * (rows + 1) / 2,
                "{page_size} {mode} {round}"
            );
            if is_committed {
                let report = transaction.commit().unwrap();
                reused += report.pages_reused;
                let now = number(&sqlite, "PRAGMA freelist_count");
                assert_eq!(
                    now,
                    free + report.pages_freed.cast_signed() - report.pages_reused.cast_signed(),
                    "{report:?}"
                );
                assert!(!report.through_wal);
                assert_eq!(number(&sqlite, sum), rows * (rows + 1) / 2);
                sizes.push(number(&sqlite, "PRAGMA page_count"));
            } else {
                transaction.write_freelist().unwrap();
                drop(transaction);
                assert_eq!(number(&sqlite, "PRAGMA freelist_count"), free);
            }
            check(&path);
        }
        assert!(reused > 0, "{page_size} {mode} {sizes:?}");
        // Two trees have room, and a few pages for trunks of the freelist and for rows that came.
        let growth = sizes[sizes.len() - 1] - sizes[1];
        assert!(growth * 50 < sizes[1], "{page_size} {mode} {sizes:?}");
        drop((database, sqlite));
        use_it(&path);
    }
}

/// SQLite refuses such a list when it takes a page. New pages were put where the list named a page that did not exist, and the next
/// INSERT of SQLite's took that page once more.
#[test]
fn a_freelist_that_names_other_pages_is_an_error() {
    for (what, mode) in ["behind", "twice", "count"].into_iter().flat_map(|what| MODES.map(|mode| (what, mode))) {
        let (_folder, path) = database(1024, mode);
        let sqlite = Connection::open(&path).unwrap();
        sqlite.execute_batch("DROP INDEX by_name; PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
        drop(sqlite);
        let mut bytes = std::fs::read(&path).unwrap();
        let header = DatabaseHeader::decode(&bytes).unwrap();
        let trunk = (header.first_freelist_trunk as usize - 1) * 1024;
        let (at, number) = match what {
            "behind" => (trunk + 8, u32::try_from(bytes.len() / 1024).unwrap() + 1),
            "twice" => (trunk + 8, u32::from_be_bytes(bytes[trunk + 12..trunk + 16].try_into().unwrap())),
            _ => (litepress_format::header::FREELIST_OFFSET + 4, header.freelist_pages + 1),
        };
        bytes[at..at + 4].copy_from_slice(&number.to_be_bytes());
        std::fs::write(&path, &bytes).unwrap();
        let error = publish(&path, &LiveOptions::default(), 2500).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{what}: {error}");
        assert!(std::fs::read(&path).unwrap() == bytes, "{what}: the file is as before");
    }
}

/// A reader of an old snapshot looks at pages that are free by now.
#[test]
fn an_old_reader_keeps_pages_that_are_free_by_now() {
    let (_folder, path) = database(1024, "wal");
    let sqlite = Connection::open(&path).unwrap();
    sqlite
        .execute_batch(
            "PRAGMA wal_autocheckpoint = 0; CREATE TABLE big AS SELECT * FROM old, (SELECT 1 UNION SELECT 2)",
        )
        .unwrap();
    sqlite.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    let reader = Connection::open(&path).unwrap();
    let all = "SELECT count(*) + sum(length(hex(name))) FROM big";
    reader.execute_batch("PRAGMA cache_size = 1; BEGIN").unwrap();
    let before = number(&reader, all);
    sqlite.execute_batch("DROP TABLE big").unwrap();
    let report = publish(&path, &LiveOptions::default(), 4000).unwrap();
    assert!(!report.through_wal && report.pages_reused == 0, "{report:?}");
    assert_eq!(number(&reader, all), before);
    // Of a file that is free for the most part, pages are taken through the WAL.
    sqlite.execute_batch("DROP TABLE fresh; DROP TABLE old").unwrap();
    let report = publish(&path, &LiveOptions::default(), 4000).unwrap();
    assert!(report.through_wal && report.pages_reused > 0, "{report:?}");
    assert_eq!(number(&reader, all), before);
    reader.execute_batch("COMMIT").unwrap();
    check(&path);
    // Without old readers they are taken directly.
    sqlite.execute_batch("DROP TABLE fresh").unwrap();
    let report = publish(&path, &LiveOptions::default(), 4000).unwrap();
    assert!(!report.through_wal && report.pages_reused > 0, "{report:?}");
    drop((reader, sqlite));
    check(&path);
}

#[test]
fn a_parsed_page_may_get_other_bytes() {
    for mode in MODES {
        let (_folder, path) = database(4096, mode);
        Connection::open(&path).unwrap().execute_batch(FRESH).unwrap();
        let mut database = open(&path);
        let count = "SELECT count(*) FROM fresh";
        assert_eq!(number(database.connection(), count), 0);
        let mut transaction = database.begin().unwrap();
        let root = number(transaction.connection().unwrap(), "SELECT rootpage FROM sqlite_schema WHERE name = 'fresh'");
        assert_eq!(number(transaction.connection().unwrap(), count), 0);
        let (mut page, mut cell) = (vec![0; 4096], Vec::new());
        let mut writer = PageWriter::new(&mut page, 0, PageKind::LeafTable, 4096);
        for rowid in 1..=3_u8 {
            cell.clear();
            cell.extend([3, rowid, 3, 0, 0]);
            assert!(writer.push(&cell));
        }
        writer.finish(None);
        transaction.change_pages(&[(u32::try_from(root).unwrap(), page)]).unwrap();
        let connection = transaction.connection().unwrap();
        assert_eq!(number(connection, count), 3);
        connection.execute_batch("INSERT INTO fresh (name) VALUES ('four')").unwrap();
        transaction.commit().unwrap();
        drop(database);
        check(&path);
        assert_eq!(number(&Connection::open(&path).unwrap(), "SELECT sum(id) FROM fresh"), 10);
    }
}

/// A run that met another program in the middle of its COMMIT gave up at once, and said that it had waited. A program that worked
/// beside a writer for an hour found it.
#[test]
fn a_commit_of_another_program_is_waited_for() {
    for mode in MODES {
        let (_folder, path) = database(1024, mode);
        let mut database = open(&path);
        let other = Connection::open(&path).unwrap();
        other.execute_batch("BEGIN EXCLUSIVE; INSERT INTO old (name) VALUES ('other')").unwrap();
        let committed = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(300));
            other.execute_batch("COMMIT").unwrap();
        });
        let mut transaction = database.begin().unwrap();
        add_table(&mut transaction, "fresh", 4).unwrap();
        transaction.commit().unwrap();
        committed.join().unwrap();
        check(&path);
    }
}

#[test]
fn checkpoints_and_readers_do_not_disturb() {
    let (_folder, path) = database(1024, "wal");
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for kind in ["PASSIVE", "TRUNCATE"] {
            let (path, done) = (&path, &done);
            scope.spawn(move || {
                let _done = Done(done);
                let connection = Connection::open(path).unwrap();
                while !done.load(Ordering::Relaxed) {
                    let _ = connection.query_row(&format!("PRAGMA wal_checkpoint({kind})"), [], |_| Ok(()));
                }
            });
        }
        scope.spawn(|| {
            let _done = Done(&done);
            let connection = Connection::open(&path).unwrap();
            connection.busy_timeout(Duration::from_secs(10)).unwrap();
            while !done.load(Ordering::Relaxed) {
                // Every table that is seen is whole.
                connection.execute_batch("BEGIN").unwrap();
                let last: Option<String> = connection
                    .query_row("SELECT max(name) FROM sqlite_schema WHERE name LIKE 'fresh%'", [], |row| row.get(0))
                    .unwrap();
                if let Some(last) = last {
                    assert_eq!(number(&connection, &format!("SELECT sum(id) FROM {last}")), 600 * 601 / 2);
                }
                connection.execute_batch("COMMIT").unwrap();
            }
        });
        let _done = Done(&done);
        let mut database = open(&path);
        for table in 100..130 {
            let mut transaction = database.begin().unwrap();
            add_table(&mut transaction, &format!("fresh{table}"), 600).unwrap();
            if table % 5 == 4 {
                drop(transaction);
            } else {
                transaction.commit().unwrap();
            }
            let writer = Connection::open(&path).unwrap();
            writer.busy_timeout(Duration::from_secs(10)).unwrap();
            writer.execute_batch("INSERT INTO old (name) VALUES ('between')").unwrap();
        }
    });
    check(&path);
    let connection = Connection::open(&path).unwrap();
    assert_eq!(number(&connection, "SELECT count(*) FROM sqlite_schema WHERE name LIKE 'fresh%'"), 24);
    for table in (100..130).filter(|table| table % 5 != 4) {
        assert_eq!(number(&connection, &format!("SELECT sum(id) FROM fresh{table}")), 600 * 601 / 2, "fresh{table}");
    }
}

/// The WAL of a database that had just been vacuumed held its old last pages. SQLite would have read these instead of the
/// new ones, and a checkpoint would have copied them over.
#[test]
fn frames_of_pages_behind_the_end_do_not_come_back() {
    let (_folder, path) = database(1024, "wal");
    let (sqlite, reader) = (Connection::open(&path).unwrap(), Connection::open(&path).unwrap());
    // The reader keeps the frames from being copied.
    reader.execute_batch("BEGIN").unwrap();
    assert_eq!(number(&reader, "SELECT count(*) FROM old"), 2099);
    sqlite.execute_batch("INSERT INTO old (name) SELECT hex(randomblob(300)) FROM old").unwrap();
    let pages = number(&sqlite, "PRAGMA page_count");
    sqlite.execute_batch("DELETE FROM old WHERE id > 10; VACUUM").unwrap();
    assert!(number(&sqlite, "PRAGMA page_count") < pages, "the database shrank");
    let report = publish(&path, &LiveOptions::default(), 2500).unwrap();
    assert!(report.through_wal, "{report:?}");
    assert_eq!(number(&sqlite, "SELECT sum(id) FROM fresh"), 2500 * 2501 / 2);
    reader.execute_batch("COMMIT").unwrap();
    sqlite.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    drop((sqlite, reader));
    check(&path);
    // Once the frames are copied, pages go past the WAL again.
    let connection = Connection::open(&path).unwrap();
    connection.execute_batch("DROP TABLE fresh").unwrap();
    assert!(!publish(&path, &LiveOptions::default(), 2500).unwrap().through_wal);
    use_it(&path);
}

/// Frames that a checkpoint had copied were taken for done. After a crash, SQLite recovers the whole WAL, and read pages of the
/// time before the database shrank instead of the new ones.
#[test]
fn copied_frames_of_pages_behind_the_end_do_not_come_back_after_a_crash() {
    let (folder, path) = database(1024, "wal");
    let (sqlite, reader) = (Connection::open(&path).unwrap(), Connection::open(&path).unwrap());
    sqlite.execute_batch("INSERT INTO old (name) SELECT hex(randomblob(300)) FROM old").unwrap();
    sqlite.execute_batch("DELETE FROM old WHERE id > 10; VACUUM").unwrap();
    // The reader lets all frames be copied, but keeps the WAL from starting anew.
    reader.execute_batch("BEGIN").unwrap();
    assert_eq!(number(&reader, "SELECT count(*) FROM old"), 10);
    publish(&path, &LiveOptions::default(), 2500).unwrap();
    // The files as a crash leaves them: the wal-index is lost.
    let crashed = folder.path().join("crashed.db");
    std::fs::copy(&path, &crashed).unwrap();
    std::fs::copy(folder.path().join("app.db-wal"), folder.path().join("crashed.db-wal")).unwrap();
    check(&crashed);
    assert_eq!(number(&Connection::open(&crashed).unwrap(), "SELECT sum(id) FROM fresh"), 2500 * 2501 / 2);
}

#[test]
fn pages_go_through_the_wal_if_a_program_copies_it() {
    for mode in MODES {
        let (folder, path) = database(4096, mode);
        let wal = path.with_file_name("app.db-wal");
        let keeper = Connection::open(&path).unwrap();
        assert_eq!(number(&keeper, "SELECT count(*) FROM old"), 2099);
        let options = LiveOptions { through_wal: true, ..LiveOptions::default() };
        let report = publish(&path, &options, 2500).unwrap();
        assert!(report.through_wal);
        if mode == "wal" {
            assert!(std::fs::metadata(&wal).unwrap().len() > report.pages_written * 4096);
        }
        keeper.execute_batch("DROP TABLE fresh").unwrap();
        std::fs::create_dir(folder.path().join(".app.db-litestream")).unwrap();
        let report = publish(&path, &LiveOptions::default(), 2500).unwrap();
        assert!(report.through_wal, "Litestream keeps a folder beside it");
        drop(keeper);
        use_it(&path);
    }
}

#[test]
fn the_lock_byte_page_is_passed_over() {
    let page_size = PageSize::MAX;
    let lock_byte_page = page_size.lock_byte_page();
    for (pages_before, mode) in [(3, "delete"), (1, "wal"), (0, "delete"), (2, "wal")] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sparse.db");
        let sqlite = Connection::open(&path).unwrap();
        sqlite
            .execute_batch(&format!(
                "PRAGMA page_size = 65536; PRAGMA journal_mode = {mode}; CREATE TABLE old (id INTEGER PRIMARY KEY, name TEXT)"
            ))
            .unwrap();
        // A sparse file whose pages are free, up to the lock-byte page.
        let mut database = open(&path);
        let mut transaction = database.begin().unwrap();
        let last = lock_byte_page - 1 - pages_before;
        transaction.insert_page(last, &vec![0; 65536]).unwrap();
        transaction.change_header(litepress_format::header::PAGE_COUNT_OFFSET, &[last]).unwrap();
        transaction.execute("SAVEPOINT size; RELEASE size").unwrap();
        transaction.freed.extend(3..=last);
        transaction.commit().unwrap();
        assert_eq!(number(&sqlite, "PRAGMA page_count"), i64::from(last));
        let mut transaction = database.begin().unwrap();
        // After a statement, free pages are left to SQLite.
        transaction.connection().unwrap();
        add_table(&mut transaction, "fresh", 9000).unwrap();
        assert_eq!(transaction.commit().unwrap().pages_reused, 0);
        drop(database);
        assert!(number(&sqlite, "PRAGMA page_count") > i64::from(lock_byte_page));
        assert_eq!(number(&sqlite, "SELECT sum(id) FROM fresh"), 9000 * 9001 / 2);
        drop(sqlite);
        check(&path);
        let sqlite = Connection::open(&path).unwrap();
        sqlite
            .execute_batch("INSERT INTO fresh (name) SELECT name FROM fresh; DELETE FROM fresh WHERE id % 2")
            .unwrap();
        drop(sqlite);
        check(&path);
    }
}

#[test]
fn databases_that_only_sqlite_can_change_are_refused() {
    let refusals = [
        ("PRAGMA auto_vacuum = FULL; CREATE TABLE t (a)", "it is in auto_vacuum mode"),
        ("PRAGMA legacy_file_format = 1; PRAGMA user_version = 7", "it has no tables yet"),
        ("", "it is empty"),
    ];
    for (sql, expected) in refusals {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("app.db");
        std::fs::write(&path, "").unwrap();
        Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        let refused = LiveDatabase::open(&path, &LiveOptions::default()).unwrap().err();
        assert_eq!(refused, Some(CannotWritePages { reason: expected.to_owned() }));
    }
    let (folder, path) = database(4096, "delete");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[47] = 1;
    let old = folder.path().join("old.db");
    std::fs::write(&old, bytes).unwrap();
    let refused = LiveDatabase::open(&old, &LiveOptions::default()).unwrap().err().unwrap();
    assert!(refused.to_string().contains("schema format is 1"), "{refused}");
    let absent = LiveDatabase::open(&folder.path().join("absent.db"), &LiveOptions::default());
    assert_eq!(absent.err().unwrap().kind(), ErrorKind::Io);
    assert!(!folder.path().join("absent.db").exists());
}

#[test]
fn the_wait_for_another_writer_ends() {
    for mode in MODES {
        let (_folder, path) = database(4096, mode);
        let writer = Connection::open(&path).unwrap();
        writer.execute_batch("BEGIN IMMEDIATE; INSERT INTO old (name) VALUES ('mine')").unwrap();
        let options = LiveOptions { busy_timeout: Duration::from_millis(50), ..LiveOptions::default() };
        let refused = publish(&path, &options, 10).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Target);
        assert!(refused.to_string().contains("busy"), "{refused}");
        writer.execute_batch("COMMIT").unwrap();
        if mode == "delete" {
            // A reader keeps COMMIT from taking its lock.
            let reader = Connection::open(&path).unwrap();
            reader.execute_batch("BEGIN; SELECT count(*) FROM old").unwrap();
            assert_eq!(publish(&path, &options, 10).unwrap_err().kind(), ErrorKind::Target);
            reader.execute_batch("COMMIT").unwrap();
            check(&path);
        }
        publish(&path, &options, 10).unwrap();
        check(&path);
    }
}
