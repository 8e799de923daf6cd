//! Scans of databases that SQLite made give what SQL gives.

mod corrupt;
mod random;
mod wal;

use crate::{IndexScan, Moment, Snapshot, TableScan};
use litepress_format::header::TextEncoding;
use litepress_format::record;
use litepress_format::value::Value;
use litepress_rows::sqlite::companion;
use litepress_rows::sync::{Mutex, lock};
use litepress_rows::{RecordChunk, Result, Source};
use rusqlite::types::Value as Stored;
use rusqlite::{Connection, OpenFlags};
use std::path::PathBuf;
use tempfile::TempDir;

/// A folder with a database.
pub(crate) struct Database {
    _folder: TempDir,
    pub path: PathBuf,
}

impl Database {
    /// Makes a database with SQL.
    pub fn new(sql: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        let database = Self { _folder: folder, path };
        database.connect().execute_batch(sql).unwrap();
        database
    }

    pub fn connect(&self) -> Connection {
        let connection = Connection::open(&self.path).unwrap();
        connection.busy_timeout(std::time::Duration::from_secs(20)).unwrap();
        connection
    }
}

/// Returns the root page of a table or an index.
pub(crate) fn root(connection: &Connection, name: &str) -> u32 {
    let sql = "SELECT rootpage FROM sqlite_schema WHERE name = ?1";
    connection.query_row(sql, [name], |row| row.get(0)).unwrap()
}

/// Returns the rows of a source in order: rowid and record. Two threads read them.
pub(crate) fn rows_of(source: &dyn Source) -> Result<Vec<(i64, Vec<u8>)>> {
    let parts = Mutex::new((0, Vec::new()));
    let read = || -> Result<()> {
        let mut chunk = RecordChunk::new();
        loop {
            let (number, part) = {
                let mut parts = lock(&parts);
                parts.0 += 1;
                (parts.0, source.next_part()?)
            };
            let Some(mut part) = part else { return Ok(()) };
            let (mut rows, mut position) = (Vec::new(), 0);
            while {
                chunk.clear();
                part.fill(&mut chunk)?;
                !chunk.is_empty()
            } {
                assert!(chunk.first_record() > position, "positions ascend");
                position = chunk.first_record() + chunk.len() as u64 - 1;
                rows.extend((0..chunk.len()).map(|row| (chunk.rowids()[row], chunk.record(row).to_vec())));
            }
            lock(&parts).1.push((number, position, rows));
        }
    };
    std::thread::scope(|scope| {
        let other = scope.spawn(read);
        let own = read();
        other.join().unwrap().and(own)
    })?;
    let mut parts = parts.into_inner().unwrap().1;
    parts.sort_by_key(|part| part.0);
    assert!(parts.is_sorted_by_key(|part| part.1), "positions ascend from part to part");
    Ok(parts.into_iter().flat_map(|part| part.2).collect())
}

/// Decodes a record as SQL would show it. `rowid` stands for the NULL of the first column if it is its alias.
pub(crate) fn decoded(record: &[u8], encoding: TextEncoding) -> Vec<Stored> {
    let text = |bytes: &[u8]| match encoding {
        TextEncoding::Utf8 => String::from_utf8(bytes.to_vec()).unwrap(),
        _ => {
            let units = bytes.chunks(2).map(|pair| match encoding {
                TextEncoding::Utf16Le => u16::from(pair[0]) | u16::from(pair[1]) << 8,
                _ => u16::from(pair[1]) | u16::from(pair[0]) << 8,
            });
            String::from_utf16(&units.collect::<Vec<_>>()).unwrap()
        }
    };
    let value = |value: &Value<'_>| match *value {
        Value::Null => Stored::Null,
        Value::Int(int) => Stored::Integer(int),
        Value::Real(real) => Stored::Real(real),
        Value::Text(bytes) => Stored::Text(text(bytes)),
        Value::Blob(bytes) => Stored::Blob(bytes.to_vec()),
    };
    record::decode(record).unwrap().iter().map(value).collect()
}

/// Returns the rows of a query.
pub(crate) fn select(connection: &Connection, sql: &str) -> Vec<Vec<Stored>> {
    let mut statement = connection.prepare(sql).unwrap();
    let columns = statement.column_count();
    let rows = statement.query_map([], |row| (0..columns).map(|column| row.get(column)).collect());
    rows.unwrap().collect::<Result<_, _>>().unwrap()
}

/// Returns the rows of a table by a scan: rowid, then the record's values.
pub(crate) fn table_rows(snapshot: &Snapshot, root: u32, name: &str) -> Result<Vec<Vec<Stored>>> {
    let rows = rows_of(&TableScan::new(snapshot, root, name)?)?;
    let with_rowid = |(rowid, record): (i64, Vec<u8>)| {
        let mut row = vec![Stored::Integer(rowid)];
        row.extend(decoded(&record, snapshot.encoding()));
        row
    };
    Ok(rows.into_iter().map(with_rowid).collect())
}

/// Returns the records of an index or a WITHOUT ROWID table by a scan.
pub(crate) fn index_rows(snapshot: &Snapshot, root: u32, name: &str) -> Result<Vec<Vec<Stored>>> {
    let rows = rows_of(&IndexScan::new(snapshot, root, name)?)?;
    Ok(rows.into_iter().map(|(_, record)| decoded(&record, snapshot.encoding())).collect())
}

/// Checks the tables `t` (rowid), `w` (WITHOUT ROWID, key first) and the index `i` on t(a).
pub(crate) fn check_tables(connection: &Connection, snapshot: &Snapshot) {
    let scanned = table_rows(snapshot, root(connection, "t"), "t").unwrap();
    assert_eq!(scanned, select(connection, "SELECT rowid, * FROM t NOT INDEXED ORDER BY rowid"));
    let scanned = index_rows(snapshot, root(connection, "w"), "w").unwrap();
    assert_eq!(scanned, select(connection, "SELECT * FROM w"));
    let scanned = index_rows(snapshot, root(connection, "i"), "i").unwrap();
    assert_eq!(scanned, select(connection, "SELECT a, rowid FROM t ORDER BY a, rowid"));
    // The schema's tree begins behind the file header.
    let scanned = table_rows(snapshot, 1, "sqlite_schema").unwrap();
    assert_eq!(scanned, select(connection, "SELECT rowid, * FROM sqlite_schema"));
}

/// SQL of tables with rows of all kinds of values: short ones, and some of every length up to several overflow pages.
pub(crate) fn tables(rows: u32) -> String {
    format!(
        "CREATE TABLE t (a, b, c);
         CREATE TABLE w (k TEXT, n, v, PRIMARY KEY (k, n)) WITHOUT ROWID;
         CREATE INDEX i ON t (a);
         CREATE TABLE empty (a);
         CREATE TABLE empty_w (a PRIMARY KEY) WITHOUT ROWID;
         WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < {rows})
         INSERT INTO t (rowid, a, b, c)
         SELECT CASE WHEN n % 3 = 0 THEN -n * n * 1000003 ELSE n * n END,
            CASE n % 7 WHEN 0 THEN NULL WHEN 1 THEN n / 4.5 WHEN 2 THEN 'text ä€😀 ' || n % 100
               WHEN 3 THEN printf('%.*c', n * 13 % 900, 'k') || n ELSE n % 50 END,
            n * 1000003,
            CASE WHEN n % 11 = 0 THEN zeroblob(n * 7919 % (CASE WHEN n < 300 THEN 150000 ELSE 3000 END)) WHEN n % 5 = 0 THEN printf('%.*c', n * 31 % 5000, 'x') END
         FROM n;
         INSERT INTO w SELECT coalesce(a, 'key') || abs(b), rowid, c FROM t;"
    )
}

#[test]
fn every_page_size_and_encoding() {
    for power in 9..=16 {
        for encoding in ["UTF-8", "UTF-16le", "UTF-16be"] {
            let page_size = 1 << power;
            let settings = format!("PRAGMA page_size = {page_size}; PRAGMA encoding = '{encoding}';");
            let database = Database::new(&(settings + "BEGIN;" + &tables(700) + "COMMIT;"));
            let connection = database.connect();
            let snapshot = Snapshot::begin(&connection).unwrap();
            assert_eq!(snapshot.page_size().bytes(), page_size);
            assert_eq!(snapshot.path().canonicalize().unwrap(), database.path.canonicalize().unwrap());
            assert!(!snapshot.reads_wal());
            check_tables(&connection, &snapshot);
            assert_eq!(table_rows(&snapshot, root(&connection, "empty"), "empty").unwrap(), [] as [Vec<Stored>; 0]);
            let name = "empty_w";
            assert_eq!(index_rows(&snapshot, root(&connection, name), name).unwrap(), [] as [Vec<Stored>; 0]);
        }
    }
}

/// Pages of 512 bytes give trees of four and more levels.
#[test]
fn deep_trees_and_deleted_rows() {
    let sql = "PRAGMA page_size = 512; BEGIN;".to_owned() + &tables(20_000) + "COMMIT; DELETE FROM t WHERE b % 3 = 1;";
    let database = Database::new(&sql);
    let connection = database.connect();
    let snapshot = Snapshot::begin(&connection).unwrap();
    check_tables(&connection, &snapshot);
    let scan = TableScan::new(&snapshot, root(&connection, "t"), "t").unwrap();
    let rows = select(&connection, "SELECT count(*) FROM t");
    let Stored::Integer(rows) = rows[0][0] else { unreachable!() };
    let estimated = scan.estimated_rows().unwrap();
    assert!((rows as f64 / estimated as f64 - 1.0).abs() < 0.3, "{estimated} of {rows}");
    assert!(scan.page_bytes() > 100.0);
    let mut sampled = Vec::new();
    scan.sample(&mut |chunk| sampled.extend_from_slice(chunk.rowids())).unwrap();
    assert!(sampled.len() > 50 && sampled.is_sorted());
}

/// Two rows of the table on each of 25,000 leaves. Parts are of 4 MiB.
#[test]
fn large_tables_have_several_parts() {
    let database = Database::new(
        "PRAGMA page_size = 512; CREATE TABLE t (a, b); CREATE TABLE w (a PRIMARY KEY, b) WITHOUT ROWID;
         WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 50000)
         INSERT INTO t SELECT n, zeroblob(180) FROM n;
         INSERT INTO w SELECT a, zeroblob(80) FROM t",
    );
    let connection = database.connect();
    let snapshot = Snapshot::begin(&connection).unwrap();
    let (t, w) = (root(&connection, "t"), root(&connection, "w"));
    for (is_table, root) in [(true, t), (false, w)] {
        let scan = |root| -> Result<Box<dyn Source>> {
            Ok(if is_table {
                Box::new(TableScan::new(&snapshot, root, "t")?)
            } else {
                Box::new(IndexScan::new(&snapshot, root, "w")?)
            })
        };
        let counted = if is_table {
            let scan = TableScan::new(&snapshot, root, "t").unwrap();
            std::iter::from_fn(|| scan.next_scan_part().unwrap()).map(|mut part| part.count().unwrap()).collect()
        } else {
            let scan = IndexScan::new(&snapshot, root, "w").unwrap();
            std::iter::from_fn(|| scan.next_scan_part().unwrap()).map(|mut part| part.count().unwrap()).collect()
        };
        let counted: Vec<u64> = counted;
        assert!(counted.len() > 1 && counted.iter().sum::<u64>() == 50_000, "{counted:?}");
        let rows = rows_of(&*scan(root).unwrap()).unwrap();
        let value = |record: &[u8]| decoded(record, TextEncoding::Utf8).swap_remove(0);
        assert!(rows.iter().map(|(_, record)| value(record)).eq((1..=50_000).map(Stored::Integer)));
    }
}

/// Extensions keep bytes at the end of every page: a nonce, a checksum.
#[test]
fn reserved_bytes() {
    for (page_size, reserved) in [(512, 32), (1024, 255), (4096, 16), (65536, 100)] {
        let database = Database::new(&format!("PRAGMA page_size = {page_size}; PRAGMA user_version = 1"));
        let mut bytes = std::fs::read(&database.path).unwrap();
        assert_eq!(bytes.len(), page_size);
        bytes[20] = reserved;
        let content_start = u16::try_from(page_size - usize::from(reserved)).unwrap();
        bytes[105..107].copy_from_slice(&content_start.to_be_bytes());
        std::fs::write(&database.path, bytes).unwrap();
        let connection = database.connect();
        connection.execute_batch(&("BEGIN;".to_owned() + &tables(700) + "COMMIT")).unwrap();
        let snapshot = Snapshot::begin(&connection).unwrap();
        assert_eq!(snapshot.usable(), page_size - usize::from(reserved));
        check_tables(&connection, &snapshot);
    }
}

#[test]
fn a_file_without_bytes_is_a_database_without_pages() {
    let database = Database::new("");
    let connection = database.connect();
    let snapshot = Snapshot::begin(&connection).unwrap();
    assert_eq!((snapshot.page_count(), snapshot.page_size().bytes()), (0, 4096));
    assert!(TableScan::new(&snapshot, 1, "sqlite_schema").is_err());
}

#[test]
fn a_write_transaction_is_a_moment_too() {
    for mode in ["delete", "wal"] {
        let database = Database::new(&(format!("PRAGMA journal_mode = {mode}; BEGIN;") + &tables(700) + "COMMIT"));
        let connection = database.connect();
        // A reader keeps its snapshot, so that frames stay in the log.
        let reader = database.connect();
        reader.execute_batch("BEGIN; SELECT count(*) FROM t").unwrap();
        if mode == "wal" {
            connection.execute_batch("DELETE FROM t WHERE b % 2 = 0").unwrap();
        }
        connection.execute_batch("BEGIN IMMEDIATE").unwrap();
        let snapshot = Snapshot::of_write_transaction(&connection).unwrap();
        assert_eq!(snapshot.reads_wal(), mode == "wal");
        check_tables(&connection, &snapshot);
        connection.execute_batch("ROLLBACK").unwrap();
    }
}

/// A copy of a database with a hot journal failed as "attempt to write a readonly database".
#[test]
fn a_journal_that_must_be_rolled_back_is_told() {
    let database = Database::new(
        "CREATE TABLE t (a); INSERT INTO t WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 900)
         SELECT zeroblob(500) FROM n",
    );
    let writer = database.connect();
    writer.execute_batch("PRAGMA cache_size = 5; BEGIN; UPDATE t SET a = randomblob(500)").unwrap();
    let crashed = database.path.with_file_name("crashed.db");
    for suffix in ["", "-journal"] {
        std::fs::copy(companion(&database.path, suffix), companion(&crashed, suffix)).unwrap();
    }
    let connection = Connection::open_with_flags(&crashed, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let errors = [Snapshot::begin(&connection).err(), Moment::begin(&crashed).err()];
    for error in errors.map(Option::unwrap) {
        assert!(error.to_string().contains("its journal must be rolled back first"), "{error}");
    }
}

/// Closing a handle of the file drops all POSIX locks of the process: a writer would have come between two reads.
#[test]
fn locks_stay_while_readers_come_and_go() {
    let database = Database::new(&("BEGIN;".to_owned() + &tables(700) + "COMMIT"));
    let connection = database.connect();
    let snapshot = Snapshot::begin(&connection).unwrap();
    check_tables(&connection, &snapshot);
    drop(snapshot);
    // Another process asks, because locks of one process do not conflict.
    let script =
        "import sqlite3, sys\nsqlite3.connect(sys.argv[1], timeout=0, isolation_level=None).execute('DELETE FROM t')";
    let ask = || {
        let python = std::process::Command::new("python3").args(["-c", script]).arg(&database.path).output();
        python.ok().map(|output| String::from_utf8_lossy(&output.stderr).into_owned())
    };
    if let Some(said) = ask() {
        connection.execute_batch("COMMIT").unwrap();
        assert!(said.contains("locked") || said.contains("No module"), "{said}");
        assert!(!ask().unwrap().contains("locked"));
    }
}
