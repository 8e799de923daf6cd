//! Databases that exist and grow across the page with byte 2^30, which SQLite never uses.
//!
//! They are sparse: all pages between a small table and the limit are free, and nothing but the trunk pages of the freelist is written.
//! litepress takes free pages only if many lie side by side. Here are few, so it puts new pages behind the end, across the limit.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use front_door::{
    AppendOptions, CompactOptions, Conflict, IndexOptions, MergeOptions, Options, PageSize, Route, Sync, Value, Writer,
    compact, index, merge, reindex,
};
use litepress_conformance::folder::Folder;
use litepress_conformance::oracle::{OldSqlite, assert_same_content, assert_same_schema, integer, texts};
use litepress_format::freelist::write_trunk;
use litepress_format::page::LOCK_BYTE;
use rusqlite::Connection;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;

const SCHEMA: &str = "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, b INT); CREATE INDEX old ON t(b)";
const ROWS: i64 = 1200;
/// A trunk page and its leaves: so few free pages in a row are left to SQLite.
const FEW: usize = 12;

/// Returns the text of a row. All rows together fill some of the largest pages.
fn text(row: i64) -> String {
    format!("{:05}", row * 7919 % 99_991).repeat(60 + usize::try_from(row % 30).unwrap())
}

fn fill(sqlite: &Connection, verb: &str, rows: impl Iterator<Item = i64>) {
    sqlite.execute_batch("BEGIN").unwrap();
    let mut insert = sqlite.prepare(&format!("{verb} INTO t VALUES (?1, ?2, ?3)")).unwrap();
    rows.for_each(|row| assert_eq!(insert.execute((row, text(row), row % 7)).unwrap(), 1));
    drop(insert);
    sqlite.execute_batch("COMMIT").unwrap();
}

/// Makes free pages up to the page that is `before` pages in front of the lock-byte page.
fn enlarge(path: &Path, page_size: PageSize, before: u32) {
    let (bytes, last) = (page_size.bytes(), page_size.lock_byte_page() - 1 - before);
    let file = File::options().read(true).write(true).open(path).unwrap();
    let first = u32::try_from(file.metadata().unwrap().len() / bytes as u64).unwrap() + 1;
    file.set_len(u64::from(last) * bytes as u64).unwrap();
    let free: Vec<u32> = (first..=last).collect();
    let (mut next, mut page) = (0_u32, vec![0; bytes]);
    for group in free.chunks(FEW) {
        write_trunk(next, &group[1..], &mut page);
        file.write_all_at(&page, u64::from(group[0] - 1) * bytes as u64).unwrap();
        next = group[0];
    }
    let header = [next, last - first + 1].map(u32::to_be_bytes).concat();
    file.write_all_at(&header, 32).unwrap();
    file.write_all_at(&last.to_be_bytes(), 28).unwrap();
}

/// Adds rows by a route.
fn append(path: &Path, route: Route, conflict: Conflict, through_wal: bool, rows: impl Iterator<Item = i64>) {
    append_texts(path, route, conflict, through_wal, rows.map(|row| (row, text(row))));
}

fn append_texts(
    path: &Path,
    route: Route,
    conflict: Conflict,
    through_wal: bool,
    rows: impl Iterator<Item = (i64, String)>,
) {
    let mut appending = AppendOptions::default().through_wal(through_wal);
    appending.route = Some(route);
    let mut db = Writer::open(path, Options::default().on_conflict(conflict).sync(Sync::Off), &appending).unwrap();
    let mut table = db.table("t").unwrap();
    for (row, text) in rows {
        table.insert(&[Value::Int(row), Value::Text(&text), Value::Int(row % 7)][..]).unwrap();
    }
    let report = db.finish().unwrap().appended.unwrap();
    assert_eq!(report.tables[0].plan.route, route, "{}", report.tables[0].plan.why);
}

/// Asserts that the file lies across the limit and has the content of the other one.
fn assert_across(ours: &Path, theirs: &Path, page_size: PageSize, what: &str) {
    let [our, their] = [ours, theirs].map(|path| Connection::open(path).unwrap());
    assert!(
        integer(&our, "PRAGMA page_count") > i64::from(page_size.lock_byte_page()) + 2,
        "{what}: the limit is reached"
    );
    assert_eq!(texts(&our, "PRAGMA integrity_check"), ["ok"], "{what}");
    assert_same_schema(&our, &their, what);
    assert_same_content(&our, &their, what);
    let mut page = vec![1; page_size.bytes()];
    File::open(ours).unwrap().read_exact_at(&mut page, LOCK_BYTE.into()).unwrap();
    assert!(page.iter().all(|&byte| byte == 0), "{what}: the lock-byte page holds something");
    if let Some(old) = OldSqlite::find().filter(|_| page_size.bytes() == 4096) {
        old.assert_sound(&[ours.to_owned()]);
    }
}

/// An operation, and the SQL that does the same.
struct Operation {
    name: &'static str,
    ours: fn(&Path),
    theirs: fn(&Connection),
}

const INDEX: &str = "CREATE INDEX new ON t(a, b)";

const OPERATIONS: [Operation; 5] = [
    Operation {
        name: "index",
        ours: |path| {
            drop(index(path, &[INDEX], &IndexOptions::default().build(Options::default().sync(Sync::Off))).unwrap())
        },
        theirs: |sqlite| sqlite.execute_batch(INDEX).unwrap(),
    },
    Operation {
        name: "index through the journal",
        ours: |path| {
            drop(
                index(
                    path,
                    &[INDEX],
                    &IndexOptions::default().build(Options::default().sync(Sync::Off)).through_wal(true),
                )
                .unwrap(),
            )
        },
        theirs: |sqlite| sqlite.execute_batch(INDEX).unwrap(),
    },
    Operation {
        name: "edge",
        ours: |path| append(path, Route::Edge, Conflict::Abort, false, ROWS..2 * ROWS),
        theirs: |sqlite| fill(sqlite, "INSERT", ROWS..2 * ROWS),
    },
    Operation {
        name: "rebuild",
        ours: |path| append(path, Route::Rebuild, Conflict::Replace, false, ROWS / 2..ROWS * 3 / 2),
        theirs: |sqlite| fill(sqlite, "INSERT OR REPLACE", ROWS / 2..ROWS * 3 / 2),
    },
    Operation {
        name: "edge through the log",
        ours: |path| append(path, Route::Edge, Conflict::Abort, true, ROWS..2 * ROWS),
        theirs: |sqlite| fill(sqlite, "INSERT", ROWS..2 * ROWS),
    },
];

#[test]
fn pages_of_a_database_that_exists_step_over_the_lock_byte_page() {
    for (number, page_size) in [PageSize::DEFAULT, PageSize::MIN, PageSize::MAX].into_iter().enumerate() {
        for (turn, operation) in OPERATIONS.iter().enumerate() {
            // All operations cross the limit with pages of the usual size, one with the smallest and one with the largest.
            if page_size != PageSize::DEFAULT && turn % 4 != number % 4 {
                continue;
            }
            let folder = Folder::with_room(2 << 30);
            let [ours, theirs, copy] = ["ours.db", "theirs.db", "copy.db"].map(|name| folder.join(name));
            let mode = ["DELETE", "WAL"][turn % 2];
            let what = format!("{}, pages of {page_size} bytes, {mode}", operation.name);
            let sqlite = Connection::open(&theirs).unwrap();
            sqlite.execute_batch(&format!("PRAGMA page_size = {page_size}; {SCHEMA}")).unwrap();
            fill(&sqlite, "INSERT", 0..ROWS);
            fs::copy(&theirs, &ours).unwrap();
            enlarge(&ours, page_size, [0, 1, 3][(number + turn) % 3]);
            let changed = Connection::open(&ours).unwrap();
            changed.execute_batch(&format!("PRAGMA synchronous = OFF; PRAGMA journal_mode = {mode}")).unwrap();
            drop(changed);
            (operation.ours)(&ours);
            (operation.theirs)(&sqlite);
            assert_across(&ours, &theirs, page_size, &what);
            // Its old pages, on both sides of the limit, become free.
            reindex(&ours, &[""; 0], &IndexOptions::default().build(Options::default().sync(Sync::Off))).unwrap();
            assert_across(&ours, &theirs, page_size, &format!("{what}, reindex"));
            compact(&ours, Some((&*copy).into()), &CompactOptions::default().build(Options::default().sync(Sync::Off)))
                .unwrap();
            let [our, their] = [&copy, &theirs].map(|path| Connection::open(path).unwrap());
            assert_eq!(texts(&our, "PRAGMA integrity_check"), ["ok"], "{what}, compact");
            assert_same_content(&our, &their, &what);
        }
    }
}

/// Rows of more than a gibibyte: nothing is sparse.
#[test]
#[ignore = "writes 10 GB, one half after the other; `make crash` runs it"]
fn real_rows_cross_the_lock_byte_page() {
    let long = |row| text(row).repeat(75);
    for page_size in [PageSize::DEFAULT, PageSize::MAX] {
        let folder = Folder::new();
        let [one, two, all, copy] = ["1.db", "2.db", "all.db", "copy.db"].map(|name| folder.join(name));
        let options = || Options::default().page_size(page_size);
        let shard = |path: &Path, first: i64, rows: i64| {
            let mut db = Writer::create_with(path, SCHEMA, options()).unwrap();
            let mut table = db.table("t").unwrap();
            for row in first..first + rows {
                table.insert(&[Value::Int(row), Value::Text(&long(row)), Value::Int(row % 7)][..]).unwrap();
            }
            db.finish().unwrap();
        };
        shard(&one, 0, 26_000);
        shard(&two, 26_000, 26_000);
        merge(&*all, [&one, &two], &MergeOptions::default()).unwrap();
        index(&all, &["CREATE INDEX new ON t(b, id)"], &IndexOptions::default()).unwrap();
        append_texts(&one, Route::Edge, Conflict::Abort, false, (26_000..42_000).map(|row| (row, long(row))));
        compact(&all, Some((&*copy).into()), &CompactOptions::default()).unwrap();
        for (path, rows) in [(&all, 52_000), (&copy, 52_000), (&one, 42_000)] {
            let sqlite = Connection::open(path).unwrap();
            assert_eq!(texts(&sqlite, "PRAGMA integrity_check"), ["ok"], "{}", path.display());
            assert_eq!(integer(&sqlite, "SELECT count(*) FROM t"), rows);
            let size = path.metadata().unwrap().len();
            assert!(size > u64::from(LOCK_BYTE), "{}: {size} bytes", path.display());
        }
    }
}
