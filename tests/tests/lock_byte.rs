//! Leaves, interior pages, overflow chains, roots and the schema skip the page with byte 2^30.
//!
//! The limit is a byte offset, so a file that reaches it has a gibibyte. Two such files are written and read whole. In the
//! others, a first table is sized to end a few pages before the limit. Its pages are dropped, which leaves a hole in the file,
//! and only the pages around the limit are written and judged.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use litepress::{Database, PageSize, Schema, Sink, Target};
use litepress_conformance::case::{Into, Route};
use litepress_conformance::faults::HoleSink;
use litepress_conformance::folder::Folder;
use litepress_conformance::oracle::{OldSqlite, assert_verified, integer, open_command, texts};
use litepress_conformance::source::MadeRows;
use litepress_format::page::LOCK_BYTE;
use litepress_format::record::write_record;
use litepress_format::value::Value;
use rusqlite::Connection;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

const SIZES: [PageSize; 2] = [PageSize::DEFAULT, PageSize::MAX];

fn schema() -> Schema {
    Schema::from_sql("CREATE TABLE filler(b BLOB); CREATE TABLE t(id INTEGER PRIMARY KEY, b BLOB)", "<lock-byte>")
        .unwrap()
}

/// Returns the byte that fills a row's blob.
fn fill(row: u64) -> u8 {
    u8::try_from(row % 251).unwrap()
}

/// Returns rows of blobs of `len(row)` bytes, from rowid 1.
fn blobs(
    rows: u64,
    rows_per_part: u64,
    has_key: bool,
    len: fn(u64, u64) -> u64,
    of: u64,
) -> impl litepress_rows::Source {
    MadeRows::new(rows, rows_per_part, move |row, record: &mut Vec<u8>| {
        let blob = vec![fill(row); usize::try_from(len(row, of)).unwrap()];
        let values = [Value::Null, Value::Blob(&blob)];
        write_record(if has_key { &values } else { &values[1..] }, record);
        row.cast_signed() + 1
    })
}

/// The first table: rows of about 1 MiB that fill their overflow pages, and a last row of `last` bytes.
struct Filler {
    row: u64,
    rows: u64,
    last: u64,
}

const FILLER_ROW: u64 = 1 << 20;

impl Filler {
    fn source(&self) -> impl litepress_rows::Source + use<> {
        let Self { row: len, rows, last } = *self;
        MadeRows::new(rows, 8, move |row, record: &mut Vec<u8>| {
            let len = if row + 1 == rows { last } else { len };
            write_record(&[Value::Blob(&vec![fill(row); usize::try_from(len).unwrap()])], record);
            row.cast_signed() + 1
        })
    }

    /// Returns a filler after which page `next` comes next.
    fn up_to(page_size: PageSize, next: u32) -> Self {
        let pages_of = |filler: &Self| {
            let schema = Schema::from_sql("CREATE TABLE filler(b BLOB)", "<lock-byte>").unwrap();
            let options = Route::SHORTEST.options(page_size);
            let mut database = Database::create(&Target::Discard, schema, &options).unwrap();
            database.fill(0, &filler.source()).unwrap();
            database.finish().unwrap().summary.pages
        };
        // An overflow page holds four bytes less than a page. The last row takes the missing pages.
        let chunk = page_size.bytes() as u64 - 4;
        let row = FILLER_ROW / chunk * chunk + 10;
        let mut filler = Self { row, rows: u64::from(LOCK_BYTE) / FILLER_ROW - 24, last: 10 };
        let wanted = u64::from(next) - 1;
        let mut overflow_pages = 0;
        // With its first overflow page, the last row may move to another leaf, so one more try is needed.
        for _ in 0..3 {
            let found = pages_of(&filler);
            // The page count includes the lock-byte page if the file reaches it.
            let found = found - u64::from(found >= page_size.lock_byte_page().into());
            if found == wanted {
                return filler;
            }
            overflow_pages = overflow_pages + wanted - found;
            filler.last = overflow_pages * chunk + 10;
        }
        panic!("no filler ends before page {next}");
    }
}

/// Checks a file with the filler, then `rows` in table `t`, without reading the filler.
fn check_behind(filler: &Filler, page_size: PageSize, name: &str, rows: &Rows) {
    let folder = Folder::new();
    let path = folder.join("t.db");
    let keep_from = u64::from(LOCK_BYTE) - 64 * page_size.bytes() as u64;
    let wrap = |sink: Box<dyn Sink>| -> Box<dyn Sink> { Box::new(HoleSink::new(sink, keep_from)) };
    let options = Route { threads: 2, into: Into::CachedFile }.options(page_size);
    let mut database = Database::create_with_sink(&Target::File(path.clone()), schema(), &options, wrap).unwrap();
    database.fill(0, &filler.source()).unwrap();
    if rows.count > 0 {
        database.fill(1, &blobs(rows.count, rows.per_part, true, |_, len| len, rows.len)).unwrap();
    }
    let pages = database.finish().unwrap().summary.pages;
    let what = format!("{name}, pages of {page_size} bytes, {pages} pages");
    assert_eq!(path.metadata().unwrap().len(), pages * page_size.bytes() as u64, "{what}");
    assert!(pages > u64::from(page_size.lock_byte_page()), "{what}: the limit is reached");
    assert_lock_byte_page_is_zero(&path, page_size, &what);
    let sqlite = Connection::open(&path).unwrap();
    assert_eq!(texts(&sqlite, "PRAGMA integrity_check(t)"), ["ok"], "{what}");
    assert_eq!(integer(&sqlite, "PRAGMA page_count"), pages.cast_signed(), "{what}");
    assert_rows(&sqlite, rows.count, |_| rows.len, &what);
    // SQLite can continue after the limit.
    sqlite.execute_batch("BEGIN; INSERT INTO t(b) VALUES (zeroblob(300000)); CREATE TABLE u(a); COMMIT").unwrap();
    assert_eq!(texts(&sqlite, "PRAGMA integrity_check(t)"), ["ok"], "{what}, changed");
    if let Some(old) = OldSqlite::find() {
        assert_eq!(old.run(&(open_command(&path) + "PRAGMA integrity_check(t);\n")), "ok\n", "{what}");
    }
}

struct Rows {
    count: u64,
    len: u64,
    per_part: u64,
}

/// Each part of table `t` that can be next to the limit: its first page, its last, its root, a link of an overflow chain, a
/// part's first page, or the root of the table without rows.
#[test]
fn whatever_comes_next_steps_over_the_lock_byte_page() {
    for page_size in SIZES {
        let bytes = page_size.bytes() as u64;
        // Fillers of large pages take long: two distances show that the size of a page makes no difference.
        for distance in 0..if page_size == PageSize::MAX { 2 } else { 4 } {
            let filler = Filler::up_to(page_size, page_size.lock_byte_page() - distance);
            for (name, rows) in [
                ("an empty table", Rows { count: 0, len: 0, per_part: 1 }),
                ("leaves in one part and a root", Rows { count: 4, len: bytes - 200, per_part: 4 }),
                ("a leaf a part", Rows { count: 5, len: bytes - 200, per_part: 1 }),
                ("overflow chains", Rows { count: 3, len: 3 * bytes, per_part: 2 }),
                ("short rows", Rows { count: 6 * bytes / 20, len: 9, per_part: 2 * bytes / 20 }),
            ] {
                if distance > 0 && rows.count == 0 {
                    continue;
                }
                check_behind(&filler, page_size, &format!("{name}, {distance} pages before"), &rows);
            }
        }
    }
}

/// The last page of the tables is the last one before the limit, and only page 1 follows.
#[test]
fn a_file_that_ends_right_before_the_lock_byte_page() {
    for page_size in SIZES {
        let filler = Filler::up_to(page_size, page_size.lock_byte_page());
        let folder = Folder::new();
        let path = folder.join("t.db");
        let keep_from = u64::from(LOCK_BYTE) - page_size.bytes() as u64;
        let wrap = |sink: Box<dyn Sink>| -> Box<dyn Sink> { Box::new(HoleSink::new(sink, keep_from)) };
        let schema = Schema::from_sql("CREATE TABLE filler(b BLOB)", "<lock-byte>").unwrap();
        let options = Route { threads: 1, into: Into::CachedFile }.options(page_size);
        let mut database = Database::create_with_sink(&Target::File(path.clone()), schema, &options, wrap).unwrap();
        database.fill(0, &filler.source()).unwrap();
        let pages = database.finish().unwrap().summary.pages;
        assert_eq!(path.metadata().unwrap().len(), pages * page_size.bytes() as u64);
        let sqlite = Connection::open(&path).unwrap();
        sqlite.execute_batch("CREATE TABLE u(a); INSERT INTO u VALUES (zeroblob(100000))").unwrap();
        assert_eq!(texts(&sqlite, "PRAGMA integrity_check(u)"), ["ok"]);
        assert_lock_byte_page_is_zero(&path, page_size, "SQLite's own continuation");
    }
}

/// Checks a whole file of more than a gibibyte, with rows of every sort across the limit.
fn check_whole(page_size: PageSize, rows: u64, len: fn(u64, u64) -> u64, of: u64) {
    let folder = Folder::new();
    let path = folder.join("t.db");
    let mut options = Route { threads: 2, into: Into::DirectFile }.options(page_size);
    options.expected_bytes = u64::from(LOCK_BYTE) + (100 << 20);
    let mut database = Database::create(&Target::File(path.clone()), schema(), &options).unwrap();
    database.fill(1, &blobs(rows, 64, true, len, of)).unwrap();
    let pages = database.finish().unwrap().summary.pages;
    let what = format!("a whole file, pages of {page_size} bytes");
    assert!(pages > u64::from(page_size.lock_byte_page()) + 10, "{what}: {pages} pages");
    assert_lock_byte_page_is_zero(&path, page_size, &what);
    assert_verified(&path, &what);
    let sqlite = Connection::open(&path).unwrap();
    assert_eq!(texts(&sqlite, "PRAGMA integrity_check"), ["ok"], "{what}");
    assert_eq!(integer(&sqlite, "SELECT count(*) FROM t"), rows.cast_signed(), "{what}");
    let expected: u64 = (0..rows).map(|row| len(row, of)).sum();
    assert_eq!(integer(&sqlite, "SELECT sum(length(b)) FROM t"), expected.cast_signed(), "{what}");
}

/// Blobs of 60 KB: with the largest pages each is a leaf, and leaves lie across the limit.
#[test]
fn a_whole_file_of_large_pages() {
    check_whole(PageSize::MAX, 18_000, |_, len| len, 60_000);
}

/// Blobs of 60 KB for almost the first gibibyte, then short rows.
#[test]
fn a_whole_file_of_usual_pages() {
    check_whole(PageSize::DEFAULT, 600_000, |row, long| if row < long { 60_000 } else { 100 }, 17_400);
}

fn assert_lock_byte_page_is_zero(path: &Path, page_size: PageSize, what: &str) {
    let mut page = vec![1; page_size.bytes()];
    File::open(path).unwrap().read_exact_at(&mut page, LOCK_BYTE.into()).unwrap();
    assert!(page.iter().all(|&byte| byte == 0), "{what}: the lock-byte page holds something");
}

fn assert_rows(sqlite: &Connection, count: u64, len: impl Fn(u64) -> u64, what: &str) {
    let mut select = sqlite.prepare("SELECT id, b FROM t ORDER BY id").unwrap();
    let mut stored = select.query([]).unwrap();
    for row in 0..count {
        let stored = stored.next().unwrap().unwrap_or_else(|| panic!("{what}: row {row} is missing"));
        assert_eq!(stored.get_ref(0).unwrap().as_i64().unwrap(), row.cast_signed() + 1, "{what}");
        let blob = stored.get_ref(1).unwrap().as_blob().unwrap();
        assert_eq!(blob.len() as u64, len(row), "{what}: row {row}");
        assert!(blob.iter().all(|&byte| byte == fill(row)), "{what}: row {row}");
    }
    assert!(stored.next().unwrap().is_none(), "{what}: more rows");
}
