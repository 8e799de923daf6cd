//! Inserts a key of three integers and a text, in memory or on disk, with everything that is said to help: rows in the
//! order of the key, other transactions, pages and caches, WITHOUT ROWID; long texts by incremental BLOB I/O; and a
//! snapshot that is loaded instead.
//!
//! All rows are made before the clock starts. `bench/README.md` describes command line and output.

use litepress_bench::{Random, answer};
use rusqlite::backup::Backup;
use rusqlite::blob::Blob;
use rusqlite::{Connection, MAIN_DB, Transaction, ffi};
use std::error::Error;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

const USAGE: &str = "usage: composite METHOD TARGET ROWS [CHECK], where METHOD is one of
  rows [sorted] [transaction=ROWS] [page=BYTES] [cache=PAGES] [cache-at-once=PAGES] [wal] [without-rowid]
  text=BYTES, blob=BYTES       long texts, bound or written through a handle
  vacuum-into                  a database in memory to the file TARGET
  backup=FILE, deserialize=FILE    such a file, made before the clock starts, into memory";

const LONG: &str = "CREATE TABLE long (id INTEGER PRIMARY KEY, body TEXT NOT NULL)";

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [method, target, rows, check @ ..] = arguments.as_slice() else { return Err(USAGE.into()) };
    let rows: u32 = rows.parse()?;
    let (what, settings) = method.split_once(' ').unwrap_or((method, ""));
    let (seconds, database) = match what.split_once('=').unwrap_or((what, "")) {
        ("rows", "") => insert_rows(&Settings::parse(settings)?, target, rows)?,
        ("text", length) => insert_long(target, rows, length.parse()?, bind_texts)?,
        ("blob", length) => insert_long(target, rows, length.parse()?, write_blobs)?,
        ("vacuum-into", "") => vacuum_into(target, rows)?,
        ("backup", snapshot) => load(snapshot, target, rows, restore)?,
        ("deserialize", snapshot) => load(snapshot, target, rows, deserialize)?,
        _ => return Err(USAGE.into()),
    };
    let asked = check.first().filter(|_| target == ":memory:").map(|check| (&database, check.as_str()));
    println!("{}", answer(seconds, asked)?);
    Ok(())
}

/// Stops the clock, and closes a database on disk before; one in memory stays open for the check.
fn stop(started: Instant, database: Connection, target: &str) -> Outcome<(f64, Connection)> {
    if target == ":memory:" {
        return Ok((started.elapsed().as_secs_f64(), database));
    }
    database.close().map_err(|(_, error)| error)?;
    Ok((started.elapsed().as_secs_f64(), Connection::open_in_memory()?))
}

/// Differences from SQLite's defaults and the article's first try.
struct Settings {
    sorted: bool,
    rows_per_transaction: usize,
    page_size: Option<u32>,
    cache: Option<u32>,
    /// Pages of cache that SQLite gets before the database is opened.
    cache_at_once: Option<u32>,
    wal: bool,
    without_rowid: bool,
}

impl Settings {
    fn parse(words: &str) -> Outcome<Self> {
        let (sorted, wal, without_rowid) = (false, false, false);
        let (page_size, cache, cache_at_once) = (None, None, None);
        let rows_per_transaction = 50_000;
        let mut it = Self { sorted, rows_per_transaction, page_size, cache, cache_at_once, wal, without_rowid };
        for word in words.split_whitespace() {
            match word.split_once('=').unwrap_or((word, "")) {
                ("sorted", "") => it.sorted = true,
                ("wal", "") => it.wal = true,
                ("without-rowid", "") => it.without_rowid = true,
                ("transaction", rows) => it.rows_per_transaction = rows.parse()?,
                ("page", size) => it.page_size = Some(size.parse()?),
                ("cache", pages) => it.cache = Some(pages.parse()?),
                ("cache-at-once", pages) => it.cache_at_once = Some(pages.parse()?),
                _ => return Err(USAGE.into()),
            }
        }
        Ok(it)
    }

    fn open(&self, target: &str) -> Outcome<Connection> {
        if let Some(pages) = self.cache_at_once {
            allocate_at_once(pages, self.page_size.unwrap_or(4096))?;
        }
        let database = Connection::open(target)?;
        if let Some(pages) = self.cache {
            database.pragma_update(None, "cache_size", pages)?;
        }
        if let Some(size) = self.page_size {
            database.pragma_update(None, "page_size", size)?;
        }
        if self.wal {
            let mode: String = database.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0))?;
            if mode != "wal" {
                return Err(format!("the journal is {mode}: only a database on disk has a WAL").into());
            }
            database.pragma_update(None, "synchronous", "off")?;
        }
        create(&database, self.without_rowid)?;
        Ok(database)
    }
}

/// Gives SQLite the memory of `pages` pages for all databases that are opened later. SQLITE_DEFAULT_PCACHE_INITSZ has no
/// effect here, because the bundled SQLite is compiled with SQLITE_ENABLE_MEMORY_MANAGEMENT.
fn allocate_at_once(pages: u32, page_size: u32) -> Outcome<()> {
    let mut header: i32 = 0;
    // SAFETY: no other thread runs, SQLite is not initialized yet, and the option takes a pointer to an int.
    let code = unsafe { ffi::sqlite3_config(ffi::SQLITE_CONFIG_PCACHE_HDRSZ, &raw mut header) };
    succeed(code)?;
    let slot = (u32::try_from(header)? + page_size).next_multiple_of(8);
    let memory = vec![0_u64; slot as usize / 8 * pages as usize].leak();
    let (slot, pages) = (i32::try_from(slot)?, i32::try_from(pages)?);
    // SAFETY: as above; the option takes a pointer to `pages` slots of `slot` bytes, aligned to 8, which are leaked.
    let code = unsafe { ffi::sqlite3_config(ffi::SQLITE_CONFIG_PAGECACHE, memory.as_mut_ptr(), slot, pages) };
    succeed(code)
}

fn succeed(code: i32) -> Outcome<()> {
    if code == ffi::SQLITE_OK { Ok(()) } else { Err(format!("sqlite3_config gives {code}").into()) }
}

fn create(database: &Connection, without_rowid: bool) -> Outcome<()> {
    let options = if without_rowid { " WITHOUT ROWID" } else { "" };
    database.execute_batch(&format!(
        "CREATE TABLE keyed (a INTEGER NOT NULL, b INTEGER NOT NULL, c INTEGER NOT NULL, name TEXT NOT NULL, \
         PRIMARY KEY (a, b, c, name)){options}"
    ))?;
    Ok(())
}

/// A row: `b` is its number, `a` is `b * 1000 / rows`, `c` is `b % 1000`, and the name is 32 hexadecimal digits.
struct Row {
    a: i64,
    b: i64,
    c: i64,
    name: String,
}

impl Row {
    fn new(number: u32, rows: u32) -> Self {
        let mut random = Random(u64::from(number) + 1);
        random.next();
        let (a, b) = (i64::from(number) * 1000 / i64::from(rows), i64::from(number));
        // The multiplication makes numbers of neighbouring states differ in all bits.
        let mut word = || random.next().wrapping_mul(0x2545_f491_4f6c_dd1d);
        Self { a, b, c: b % 1000, name: format!("{:016x}{:016x}", word(), word()) }
    }
}

/// Makes all rows, sorted by their key or shuffled.
fn rows_of(rows: u32, sorted: bool) -> Vec<Row> {
    let mut all: Vec<Row> = (0..rows).map(|number| Row::new(number, rows)).collect();
    if !sorted {
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        for last in (1..rows).rev() {
            all.swap(last as usize, random.below(last + 1) as usize);
        }
    }
    all
}

fn insert_rows(settings: &Settings, target: &str, rows: u32) -> Outcome<(f64, Connection)> {
    let rows = rows_of(rows, settings.sorted);
    let started = Instant::now();
    let mut database = settings.open(target)?;
    let at_once = if settings.rows_per_transaction == 0 { rows.len() } else { settings.rows_per_transaction };
    for some in rows.chunks(at_once.max(1)) {
        insert(&mut database, some)?;
    }
    stop(started, database, target)
}

/// Inserts in one transaction, with one statement for each row.
fn insert(database: &mut Connection, rows: &[Row]) -> Outcome<()> {
    let transaction = database.transaction()?;
    {
        let mut insert = transaction.prepare_cached("INSERT INTO keyed VALUES (?, ?, ?, ?)")?;
        for row in rows {
            insert.execute((row.a, row.b, row.c, row.name.as_str()))?;
        }
    }
    transaction.commit()?;
    Ok(())
}

/// Inserts texts of one length, made before the clock starts; each is a window that starts one byte later.
fn insert_long(target: &str, rows: u32, length: usize, write: Writer) -> Outcome<(f64, Connection)> {
    let alphabet = "abcdefghijklmnopqrstuvwxyz";
    let text = alphabet.repeat((length + alphabet.len()).div_ceil(alphabet.len()));
    let started = Instant::now();
    let mut database = Connection::open(target)?;
    database.execute_batch(LONG)?;
    let transaction = database.transaction()?;
    let texts = (0..rows).map(|row| &text[row as usize % alphabet.len()..][..length]);
    write(&transaction, &mut { texts })?;
    transaction.commit()?;
    stop(started, database, target)
}

type Writer = fn(&Transaction<'_>, &mut dyn Iterator<Item = &str>) -> Outcome<()>;

fn bind_texts(transaction: &Transaction<'_>, texts: &mut dyn Iterator<Item = &str>) -> Outcome<()> {
    let mut insert = transaction.prepare("INSERT INTO long (body) VALUES (?)")?;
    for text in texts {
        insert.execute([text])?;
    }
    Ok(())
}

/// Inserts zeros, then writes the bytes through a BLOB handle: the value is a blob and not a text.
fn write_blobs(transaction: &Transaction<'_>, texts: &mut dyn Iterator<Item = &str>) -> Outcome<()> {
    let mut insert = transaction.prepare("INSERT INTO long (body) VALUES (zeroblob(?))")?;
    let mut handle: Option<Blob<'_>> = None;
    for text in texts {
        insert.execute([text.len()])?;
        let row = transaction.last_insert_rowid();
        match &mut handle {
            Some(blob) => blob.reopen(row)?,
            None => handle = Some(transaction.blob_open(MAIN_DB, "long", "body", row, false)?),
        }
        handle.as_mut().ok_or("no handle")?.write_all(text.as_bytes())?;
    }
    Ok(())
}

/// Makes a database in memory with all rows.
fn filled(rows: u32) -> Outcome<Connection> {
    let mut database = Connection::open_in_memory()?;
    create(&database, true)?;
    insert(&mut database, &rows_of(rows, true))?;
    Ok(database)
}

fn vacuum_into(target: &str, rows: u32) -> Outcome<(f64, Connection)> {
    let database = filled(rows)?;
    let started = Instant::now();
    database.execute("VACUUM INTO ?", [target])?;
    Ok((started.elapsed().as_secs_f64(), database))
}

/// Loads a snapshot, which is a file, into the database.
type Loader = fn(&Path, &mut Connection) -> Outcome<()>;

fn load(snapshot: &str, target: &str, rows: u32, load: Loader) -> Outcome<(f64, Connection)> {
    filled(rows)?.execute("VACUUM INTO ?", [snapshot])?;
    let started = Instant::now();
    let mut database = Connection::open(target)?;
    load(Path::new(snapshot), &mut database)?;
    stop(started, database, target)
}

fn restore(snapshot: &Path, database: &mut Connection) -> Outcome<()> {
    let source = Connection::open(snapshot)?;
    Backup::new(&source, database)?.run_to_completion(i32::MAX, Duration::ZERO, None)?;
    Ok(())
}

fn deserialize(snapshot: &Path, database: &mut Connection) -> Outcome<()> {
    let file = File::open(snapshot)?;
    let size = usize::try_from(file.metadata()?.len())?;
    database.deserialize_read_exact(MAIN_DB, file, size, false)?;
    Ok(())
}
