//! The best INSERT program: one transaction, a prepared statement of 50 rows, journal and sync off, a big cache; then
//! CREATE INDEX, if asked for.
//!
//! It is as fast as SQL allows, and as unsafe as the usual advice: a crash in the middle leaves a corrupt file. Rows are
//! made while they are inserted, with a few shifts each. Their order is chosen before the clock starts. Prints its times
//! as JSON.

use litepress_bench::Random;
use rusqlite::{Connection, Statement};
use std::error::Error;
use std::time::Instant;

const USAGE: &str = "usage: insert OUT.db ROWS [user|shuffled-user|keyed|sorted-keyed] [index] \
                     [cache=PAGES] [index-cache=PAGES] [sorter-threads=N] [sort-in-memory]";

const ROWS_PER_STATEMENT: usize = 50;

const USER: &str = "CREATE TABLE user (id INTEGER not null primary key, area CHAR(6), age INTEGER not null, \
                    active INTEGER not null)";

const KEYED: &str = "CREATE TABLE keyed (a INTEGER NOT NULL, b INTEGER NOT NULL, c INTEGER NOT NULL, \
                     note TEXT NOT NULL, PRIMARY KEY (a, b, c)) WITHOUT ROWID";

type Outcome<T> = Result<T, Box<dyn Error>>;

/// The command line.
struct Job {
    path: String,
    rows: u32,
    keyed: bool,
    shuffled: bool,
    index: bool,
    /// Pages of 4 KiB while rows are inserted; `index_cache` while the index is made, or `None` for SQLite's default.
    cache: u64,
    index_cache: Option<u64>,
    sorter_threads: u64,
    /// Keeps temporary files in memory, and sorts an index as one list in memory.
    sort_in_memory: bool,
}

impl Job {
    fn parse(mut arguments: impl Iterator<Item = String>) -> Outcome<Self> {
        let path = arguments.next().ok_or(USAGE)?;
        let rows = arguments.next().ok_or(USAGE)?.parse()?;
        let (keyed, shuffled, index) = (false, false, false);
        let (cache, index_cache, sorter_threads, sort_in_memory) = (1_000_000, None, 0, false);
        let mut job = Self { path, rows, keyed, shuffled, index, cache, index_cache, sorter_threads, sort_in_memory };
        for argument in arguments {
            match argument.split_once('=').unwrap_or((&argument, "")) {
                ("user", "") => {}
                ("shuffled-user", "") => job.shuffled = true,
                ("keyed", "") => (job.keyed, job.shuffled) = (true, true),
                ("sorted-keyed", "") => job.keyed = true,
                ("index", "") => job.index = true,
                ("sort-in-memory", "") => job.sort_in_memory = true,
                ("cache", pages) => job.cache = pages.parse()?,
                ("index-cache", pages) => job.index_cache = Some(pages.parse()?),
                ("sorter-threads", threads) => job.sorter_threads = threads.parse()?,
                _ => return Err(USAGE.into()),
            }
        }
        // Only `user` has an index.
        if job.keyed && job.index { Err(USAGE.into()) } else { Ok(job) }
    }
}

fn main() -> Outcome<()> {
    let job = Job::parse(std::env::args().skip(1))?;
    let shuffled = shuffled(&job);
    let row_at = |place: u32| shuffled.as_ref().map_or(place, |rows| rows[place as usize]);
    let mut database = Connection::open(&job.path)?;
    let own_cache: i64 = database.pragma_query_value(None, "cache_size", |row| row.get(0))?;
    database.execute_batch(&format!(
        "PRAGMA journal_mode = OFF; PRAGMA synchronous = 0; PRAGMA cache_size = {}; \
         PRAGMA locking_mode = EXCLUSIVE; PRAGMA temp_store = {}; PRAGMA threads = {};",
        job.cache,
        if job.sort_in_memory { "MEMORY" } else { "DEFAULT" },
        job.sorter_threads
    ))?;
    let started = Instant::now();
    database.execute_batch(if job.keyed { KEYED } else { USER })?;
    let transaction = database.transaction()?;
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let (table, bind): (_, Bind) = if job.keyed { ("keyed", bind_keyed) } else { ("user", bind_user) };
    for first in (0..job.rows).step_by(ROWS_PER_STATEMENT) {
        let rows = first..job.rows.min(first.saturating_add(u32::try_from(ROWS_PER_STATEMENT)?));
        let places = vec!["(?, ?, ?, ?)"; rows.len()].join(", ");
        let mut insert = transaction.prepare_cached(&format!("INSERT INTO {table} VALUES {places}"))?;
        for (place, row) in rows.map(row_at).enumerate() {
            bind(&mut insert, 4 * place, row, job.rows, &mut random)?;
        }
        insert.raw_execute()?;
    }
    transaction.commit()?;
    let inserted = Instant::now();
    if job.index {
        let pages = job.index_cache.map_or(own_cache, u64::cast_signed);
        database.execute_batch(&format!("PRAGMA cache_size = {pages}; CREATE INDEX user_area ON user (area);"))?;
    }
    println!(
        "{{\"insert_seconds\": {}, \"index_seconds\": {}}}",
        (inserted - started).as_secs_f64(),
        inserted.elapsed().as_secs_f64()
    );
    Ok(())
}

/// Returns the row numbers, counted from 0, in shuffled order, or `None` if rows are inserted in order.
fn shuffled(job: &Job) -> Option<Vec<u32>> {
    let mut rows: Vec<u32> = job.shuffled.then(|| (0..job.rows).collect())?;
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    for last in (1..job.rows).rev() {
        rows.swap(last as usize, random.below(last + 1) as usize);
    }
    Some(rows)
}

/// Binds one row behind parameter `at`: takes the row's number, the number of rows, and random numbers.
type Bind = fn(&mut Statement<'_>, usize, u32, u32, &mut Random) -> Outcome<()>;

/// Binds a row of the challenge: its number from 1 on; six digits; 5, 10 or 15; 0 or 1.
fn bind_user(insert: &mut Statement<'_>, at: usize, row: u32, _rows: u32, random: &mut Random) -> Outcome<()> {
    let word = random.next();
    let mut digits = [b'0'; 6];
    let mut rest = word % 1_000_000;
    for digit in digits.iter_mut().rev() {
        *digit += u8::try_from(rest % 10)?;
        rest /= 10;
    }
    insert.raw_bind_parameter(at + 1, i64::from(row) + 1)?;
    insert.raw_bind_parameter(at + 2, std::str::from_utf8(&digits)?)?;
    insert.raw_bind_parameter(at + 3, [5, 10, 15][(word >> 40) as usize % 3])?;
    insert.raw_bind_parameter(at + 4, (word >> 63).cast_signed())?;
    Ok(())
}

/// Binds a key of three integers that ascends with the row's number, and a text of 40 bytes.
fn bind_keyed(insert: &mut Statement<'_>, at: usize, row: u32, rows: u32, random: &mut Random) -> Outcome<()> {
    let word = random.next();
    let mut note = [0; 40];
    for (position, byte) in note.iter_mut().enumerate() {
        *byte = b"0123456789abcdef"[((word >> (position % 16 * 4)) & 15) as usize];
    }
    insert.raw_bind_parameter(at + 1, i64::from(row) * 1000 / i64::from(rows))?;
    insert.raw_bind_parameter(at + 2, row)?;
    insert.raw_bind_parameter(at + 3, (word >> 32).cast_signed() % 1000)?;
    insert.raw_bind_parameter(at + 4, std::str::from_utf8(&note)?)?;
    Ok(())
}
