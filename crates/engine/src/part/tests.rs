use super::*;
use crate::{Database, Options, Result, Target};
use litepress_format::page::PageSize;
use litepress_format::record;
use litepress_format::value::Value;
use litepress_rows::{Part, RecordChunk, RowidOrder, Schema, Source};
use rusqlite::Connection;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

const SCHEMA: &str = "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, n INTEGER);
    CREATE INDEX by_n ON t (n, a);
    CREATE UNIQUE INDEX by_id ON t (id, n);
    CREATE INDEX some ON t (n) WHERE n > 5;
    CREATE TABLE k (a TEXT PRIMARY KEY, n INTEGER) WITHOUT ROWID;
    CREATE VIEW v AS SELECT n FROM t;
    PRAGMA user_version = 7;";

const ROWS_OF_A_PART: i64 = 200;

/// Rows of table `t` (three columns) or `k`, some with overflow pages.
struct Rows {
    rows: Range<i64>,
    has_rowid: bool,
    order: RowidOrder,
    next: AtomicUsize,
    longest: usize,
}

impl Rows {
    fn new(rows: Range<i64>, has_rowid: bool, order: RowidOrder, longest: usize) -> Self {
        Self { rows, has_rowid, order, next: AtomicUsize::new(0), longest }
    }
}

impl Source for Rows {
    fn next_part(&self) -> Result<Option<Box<dyn Part + '_>>> {
        let number = i64::try_from(self.next.fetch_add(1, Ordering::Relaxed)).expect("few parts");
        let start = self.rows.start + number * ROWS_OF_A_PART;
        let rows = start..self.rows.end.min(start + ROWS_OF_A_PART);
        Ok((!rows.is_empty()).then(|| Box::new(RowsPart { source: self, rows }) as Box<dyn Part>))
    }

    fn rows(&self) -> Option<u64> {
        None
    }

    fn rowid_order(&self) -> RowidOrder {
        self.order
    }

    fn page_bytes(&self) -> f64 {
        100.0
    }
}

struct RowsPart<'s> {
    source: &'s Rows,
    rows: Range<i64>,
}

impl Part for RowsPart<'_> {
    fn fill(&mut self, chunk: &mut RecordChunk) -> Result<()> {
        let Some(first) = self.rows.next() else { return Ok(()) };
        chunk.set_first_record(first.unsigned_abs() + 1);
        for row in std::iter::once(first).chain(self.rows.by_ref()) {
            // Rows in any order come backwards, part by part.
            let rowid = if self.source.order == RowidOrder::Ascending { row } else { row ^ 63 };
            let long = usize::from(row % 97 == 0) * self.source.longest;
            let text = format!("{:05}{}", rowid * 7919 % 10_007, "x".repeat(long));
            let values = [Value::Null, text.as_str().into(), Value::Int(rowid % 13)];
            let mut bytes = Vec::new();
            if self.source.has_rowid {
                record::write_record(&values, &mut bytes);
            } else {
                record::write_record(&[format!("{rowid:06}{text}").as_str().into(), Value::Int(rowid % 5)], &mut bytes);
            }
            chunk.push(rowid, &bytes);
        }
        Ok(())
    }
}

fn write(path: &Path, rows: Range<i64>, order: RowidOrder, longest: usize, options: &Options) -> Result<()> {
    let schema = Schema::from_sql(SCHEMA, "<test>")?;
    let mut database = Database::create(&Target::File(path.to_owned()), schema, options)?;
    database.fill(0, &Rows::new(rows.clone(), true, order, longest))?;
    database.fill(1, &Rows::new(rows, false, RowidOrder::Unordered, longest))?;
    database.finish().map(drop)
}

fn stitch(path: &Path, parts: &[PathBuf], copies: Option<&mut Vec<PageCopy>>) -> Result<()> {
    let parts = Parts::open(parts)?;
    let options = Options::default().page_size(parts.page_size());
    let mut copies = copies;
    let mut database = Database::create(&Target::File(path.to_owned()), parts.schema().clone(), &options)?;
    for table in 0..2 {
        database.stitch(table, &parts, copies.as_deref_mut())?;
    }
    database.finish().map(drop)
}

fn assert_sound(path: &Path) {
    let connection = Connection::open(path).expect("a database");
    let check: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).expect("a check");
    assert_eq!(check, "ok", "{}", path.display());
}

/// Parts in any order give the file of one process, byte for byte.
#[test]
fn stitched_parts_are_the_file_of_one_process() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str| folder.path().join(name);
    for (number, (page_bytes, order, longest)) in [
        (512, RowidOrder::Ascending, 0),
        (512, RowidOrder::Ascending, 3000),
        (4096, RowidOrder::Unknown, 10_000),
        (4096, RowidOrder::Unordered, 0),
        (65536, RowidOrder::Ascending, 200_000),
    ]
    .into_iter()
    .enumerate()
    {
        let options = Options::default().page_size(PageSize::new(page_bytes).expect("a page size"));
        let part = options.clone().part(true);
        let cuts = [0, 3 * ROWS_OF_A_PART, 3 * ROWS_OF_A_PART, 8 * ROWS_OF_A_PART, 2000];
        let mut parts = Vec::new();
        for pair in cuts.windows(2) {
            let path = file(&format!("{number}-{}.part", pair[1] + pair[0]));
            // Rows in any order have another cut in one process.
            let rows = if order == RowidOrder::Ascending || pair[0] == 0 { pair[0]..pair[1] } else { pair[1]..pair[1] };
            write(&path, rows, order, longest, &part).expect("a part");
            parts.push(path);
        }
        parts.reverse();
        let rows = if order == RowidOrder::Ascending { 2000 } else { 3 * ROWS_OF_A_PART };
        let (whole, stitched) = (file(&format!("{number}.db")), file(&format!("{number}-stitched.db")));
        write(&whole, 0..rows, order, longest, &options).expect("a database");
        stitch(&stitched, &parts, None).expect("a database");
        assert!(fs::read(&whole).unwrap() == fs::read(&stitched).unwrap(), "{page_bytes} {order:?} {longest}");
        assert_sound(&stitched);
        // Pages that a store copies lie elsewhere, but hold the same rows.
        let (sparse, mut copies) = (file(&format!("{number}-copied.db")), Vec::new());
        stitch(&sparse, &parts, Some(&mut copies)).expect("a database");
        let mut bytes = fs::read(&sparse).unwrap();
        for PageCopy { part, from, to, bytes: count } in &copies {
            let [from, to, count] = [*from, *to, *count].map(|number| usize::try_from(number).unwrap());
            assert!(bytes[to..to + count].iter().all(|byte| *byte == 0), "the place of a copy is empty");
            bytes[to..to + count].copy_from_slice(&fs::read(&parts[*part]).unwrap()[from..from + count]);
        }
        assert_eq!(copies.is_empty(), longest > 0, "runs with overflow pages are not copied");
        fs::write(&sparse, bytes).unwrap();
        assert_sound(&sparse);
        let rows_of = |path: &Path| {
            let connection = Connection::open(path).unwrap();
            connection
                .query_row(
                    "SELECT group_concat(id || a || n) FROM t UNION ALL SELECT group_concat(a || n) FROM k",
                    [],
                    |row| row.get::<_, String>(0),
                )
                .unwrap()
        };
        assert!(rows_of(&sparse) == rows_of(&whole));
        assert_eq!(
            Connection::open(&sparse).unwrap().pragma_query_value(None, "user_version", |row| row.get(0)),
            Ok(7)
        );
    }
}

/// A byte that changed on its way is found, wherever it is, and nothing is left.
#[test]
fn damaged_parts_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let [part, out] = ["a.part", "out.db"].map(|name| folder.path().join(name));
    let options = Options::default().page_size(PageSize::new(512).expect("a page size")).part(true);
    write(&part, 0..1000, RowidOrder::Ascending, 2000, &options).expect("a part");
    let whole = fs::read(&part).unwrap();
    let needed: Vec<Range<u64>> = Parts::needed(&part).expect("a part");
    assert!(needed.len() >= 6, "runs with pointers, and the items of four trees");
    let directory = Parts::directory_range(&whole[..Parts::HEADER_BYTES]).expect("a part");
    let middle = |range: &Range<u64>| usize::try_from(range.start.midpoint(range.end)).unwrap();
    for at in needed.iter().chain([&directory]).map(middle).chain([0, 21, 26, 33, 38, 42]) {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        fs::write(&part, &bytes).unwrap();
        let error = stitch(&out, std::slice::from_ref(&part), None).expect_err("a damaged part");
        assert!(error.to_string().contains("a.part"), "byte {at}: {error}");
        assert!(!out.exists());
    }
    for len in [0, 10, 600, whole.len() - 1500] {
        fs::write(&part, &whole[..len]).unwrap();
        assert!(stitch(&out, std::slice::from_ref(&part), None).is_err(), "{len} bytes");
    }
    fs::write(&part, &whole).unwrap();
    stitch(&out, &[part], None).expect("the whole part");
}

#[test]
fn parts_of_different_databases_are_refused_before_anything_is_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str| folder.path().join(name);
    let options = Options::default().part(true);
    let small = options.clone().page_size(PageSize::new(1024).expect("a page size"));
    write(&file("a"), 0..500, RowidOrder::Ascending, 0, &options).unwrap();
    write(&file("b"), 499..900, RowidOrder::Ascending, 0, &options).unwrap();
    write(&file("small"), 500..900, RowidOrder::Ascending, 0, &small).unwrap();
    let other = Schema::from_sql(&SCHEMA.replace("n > 5", "n > 6"), "<test>").unwrap();
    Database::create(&Target::File(file("other")), other, &options).unwrap().finish().unwrap();
    fs::write(file("text"), "no part, but long enough to hold the first page of one").unwrap();
    for (names, expected) in [
        (vec!["b", "a"], "rowids overlap: a run begins with 499"),
        (vec!["a", "small"], "pages have 1024 bytes; they have 4096 in"),
        (vec!["a", "other"], "where n > 6 where"),
        (vec!["a", "text"], "this is no part of a database"),
        (vec![], "no part is named"),
    ] {
        let parts: Vec<PathBuf> = names.iter().map(|name| file(name)).collect();
        let error = Parts::open(&parts).expect_err(expected).to_string().to_lowercase();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn options_and_tables_that_a_part_cannot_have() {
    let part = Options::default().part(true);
    let analyzed = part.clone().analyze(true);
    let ignoring = part.clone().on_conflict(crate::Conflict::Ignore);
    let verified = part.clone().verify(crate::Verify::Quick);
    for (sql, options, expected) in [
        ("CREATE TABLE t (a)", &analyzed, "no statistics"),
        ("CREATE TABLE t (a)", &ignoring, "cannot resolve conflicts"),
        ("CREATE TABLE t (a)", &verified, "could be verified"),
        ("CREATE VIRTUAL TABLE t USING fts5(a)", &part, "cannot hold this table"),
        ("CREATE VIRTUAL TABLE t USING rtree(id, x, y)", &part, "cannot hold this table"),
    ] {
        let schema = Schema::from_sql(sql, "<test>").unwrap();
        let error = Database::create(&Target::Memory, schema, options).err().expect(expected).to_string();
        assert!(error.contains(expected), "{error}");
    }
}
