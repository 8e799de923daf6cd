//! Databases that SQLite fills, in every layout of the test cases.

use std::env;
use std::fs;
use std::path::PathBuf;
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

use litepress_format::header::DatabaseHeader;
use litepress_format::page::{FILE_HEADER_LEN, PageKind, PageSize, PageWriter};
use litepress_format::payload::{max_local, min_local};
use litepress_format::value::Value;
use rusqlite::Connection;
use rusqlite::types::ValueRef;

use crate::walk::File;

/// The parameters of a case.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub page_size: PageSize,
    /// The number of `PRAGMA auto_vacuum`: 0 none, 1 full, 2 incremental.
    pub auto_vacuum: u8,
    /// Reserved bytes at the end of every page.
    pub reserved: u8,
}

impl Shape {
    pub fn plain(page_size: PageSize) -> Self {
        Self { page_size, auto_vacuum: 0, reserved: 0 }
    }
}

pub fn page_sizes() -> impl Iterator<Item = PageSize> {
    (9..=16).filter_map(|power| PageSize::new(1 << power))
}

/// Returns every page size, with each auto-vacuum mode, and with reserved bytes.
pub fn every_shape() -> Vec<Shape> {
    page_sizes()
        .map(Shape::plain)
        .flat_map(|plain| {
            let auto_vacuum = |auto_vacuum| Shape { auto_vacuum, ..plain };
            [plain, auto_vacuum(1), auto_vacuum(2), Shape { reserved: 32, ..plain }]
        })
        .collect()
}

/// A database file in the temporary folder, open in SQLite, deleted on drop.
pub struct Database {
    connection: Connection,
    path: PathBuf,
}

impl Drop for Database {
    fn drop(&mut self) {
        for suffix in ["", "-wal", "-shm"] {
            let mut path = self.path.clone().into_os_string();
            path.push(suffix);
            // The file may not exist.
            let _ = fs::remove_file(path);
        }
    }
}

impl Database {
    /// Creates a database without tables.
    pub fn empty(layout: Shape) -> Self {
        let Shape { page_size, auto_vacuum, reserved } = layout;
        // SQL cannot set reserved bytes. SQLite keeps the number in the header, so this crate writes a header that
        // has one.
        let database = Self::from_bytes(&if reserved > 0 { one_page(page_size, reserved) } else { Vec::new() });
        database.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF");
        database.execute(&format!("PRAGMA page_size = {page_size}; PRAGMA auto_vacuum = {auto_vacuum}"));
        database
    }

    /// Creates a file with this content.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = env::temp_dir().join(format!("litepress-format-{}-{count}.db", process::id()));
        fs::write(&path, bytes).unwrap();
        Self { connection: Connection::open(&path).unwrap(), path }
    }

    /// Creates a database with values at every threshold, holes and free pages.
    pub fn filled(layout: Shape) -> Self {
        let database = Self::empty(layout);
        database.execute(
            "CREATE TABLE gone(a); CREATE TABLE t(id INTEGER PRIMARY KEY, a, b); CREATE INDEX t_a ON t(a);
             CREATE TABLE w(k PRIMARY KEY, v) WITHOUT ROWID; BEGIN",
        );
        database.fill_around_thresholds(layout.page_size.bytes() - usize::from(layout.reserved));
        database.fill_with_small_values();
        // Record headers of 126 to 130 bytes; 128 does not occur.
        for columns in 125..=129 {
            let names: Vec<String> = (0..columns).map(|column| format!("c{column}")).collect();
            let values = vec!["7"; columns].join(", ");
            let table = format!("wide_{columns}");
            database
                .execute(&format!("CREATE TABLE {table}({}); INSERT INTO {table} VALUES ({values})", names.join(", ")));
        }
        database.execute(
            "INSERT INTO gone SELECT zeroblob(5000) FROM t; COMMIT;
             DELETE FROM t WHERE id % 7 = 0; DELETE FROM w WHERE typeof(k) = 'integer' AND k % 5 = 0; DROP TABLE gone",
        );
        database
    }

    /// Inserts texts into `t.a`, which is indexed, and blobs into `t.b`. Their lengths put payloads around X, M and
    /// whole chunks.
    fn fill_around_thresholds(&self, usable: usize) {
        let chunk = usable - 4;
        let mut insert_t = self.connection.prepare("INSERT INTO t(a, b) VALUES (?, ?)").unwrap();
        let mut insert_w = self.connection.prepare("INSERT OR REPLACE INTO w VALUES (?, ?)").unwrap();
        let table = max_local(PageKind::LeafTable, usable);
        let index = max_local(PageKind::LeafIndex, usable);
        for (turn, overhead) in [(index, 12), (table, 20), (min_local(usable), 12)] {
            for len in [turn, turn + chunk].iter().flat_map(|len| len - overhead..len + 3) {
                let letter = char::from(b'a' + u8::try_from(len % 26).unwrap());
                let text = letter.to_string().repeat(len);
                let number = i64::try_from(len).unwrap();
                insert_t.execute((&text, vec![0xab_u8; len])).unwrap();
                insert_t.execute((number, &text)).unwrap();
                insert_w.execute((&text, number)).unwrap();
                insert_w.execute((number + 1_000_000, &text)).unwrap();
            }
        }
    }

    /// Inserts both ends of every width of integers, rowids of all lengths, short texts, reals, and NULL.
    fn fill_with_small_values(&self) {
        let mut insert_t = self.connection.prepare("INSERT OR REPLACE INTO t VALUES (?, ?, ?)").unwrap();
        let mut insert_w = self.connection.prepare("INSERT OR REPLACE INTO w VALUES (?, ?)").unwrap();
        for shift in 0..64 {
            for edge in [i64::MAX >> shift, i64::MIN >> shift] {
                for value in [edge.saturating_sub(1), edge, edge.saturating_add(1)] {
                    insert_t.execute((value, value, f64::from(shift) / 4.0)).unwrap();
                    insert_w.execute((value, None::<i64>)).unwrap();
                    insert_w.execute((value as f64 + 0.5, format!("{value}"))).unwrap();
                }
            }
        }
    }

    /// Reads the file.
    pub fn file(&self) -> File {
        File::new(fs::read(&self.path).unwrap())
    }

    pub fn execute(&self, sql: &str) {
        self.connection.execute_batch(sql).unwrap();
    }

    /// Returns the results of `make` for each row.
    pub fn rows<T>(&self, sql: &str, mut make: impl FnMut(&[Value<'_>]) -> T) -> Vec<T> {
        let mut statement = self.connection.prepare(sql).unwrap();
        let columns = statement.column_count();
        let mut rows = statement.query(()).unwrap();
        let mut made = Vec::new();
        while let Some(row) = rows.next().unwrap() {
            let values: Vec<Value<'_>> = (0..columns).map(|column| value_of(row.get_ref(column).unwrap())).collect();
            made.push(make(&values));
        }
        made
    }

    pub fn integers(&self, sql: &str) -> Vec<i64> {
        self.rows(sql, |values| match values {
            [Value::Int(int)] => *int,
            other => panic!("{sql}: {other:?}"),
        })
    }

    pub fn integer(&self, sql: &str) -> i64 {
        self.integers(sql)[0]
    }

    pub fn text(&self, sql: &str) -> String {
        let texts = self.rows(sql, |values| match values {
            [Value::Text(text)] => String::from_utf8_lossy(text).into_owned(),
            other => panic!("{sql}: {other:?}"),
        });
        texts.join("\n")
    }
}

fn value_of(value: ValueRef<'_>) -> Value<'_> {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(int) => Value::Int(int),
        ValueRef::Real(real) => Value::Real(real),
        ValueRef::Text(text) => Value::Text(text),
        ValueRef::Blob(blob) => Value::Blob(blob),
    }
}

/// Returns an empty database of one page.
fn one_page(page_size: PageSize, reserved: u8) -> Vec<u8> {
    let header = DatabaseHeader { reserved, ..DatabaseHeader::new(page_size) };
    let mut page = vec![0; page_size.bytes()];
    page[..FILE_HEADER_LEN].copy_from_slice(&header.encode());
    PageWriter::new(&mut page, FILE_HEADER_LEN, PageKind::LeafTable, header.usable()).finish(None);
    page
}
