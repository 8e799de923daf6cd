//! Writes with several threads at the same time, each to its own tables, in Turso's rewrite of SQLite: it has BEGIN
//! CONCURRENT, which SQLite has on a branch only. The rows are those of `composite.rs`, sorted by their key.
//!
//! There are four tables for any number of threads, so that the work is the same. All rows are made before the clock
//! starts. `bench/README.md` describes command line and output.

use std::time::Instant;
use turso::{Builder, Connection, Database, Error, Value};

const USAGE: &str = "usage: turso-benchmarks 'concurrent writers=N'|'alone writers=1' TARGET ROWS [CHECK]";
const TABLES: usize = 4;
const ROWS_PER_TRANSACTION: usize = 1000;

type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [method, target, rows, check @ ..] = arguments.as_slice() else { return Err(USAGE.into()) };
    let (begin, writers) = match method.split_once(" writers=").ok_or(USAGE)? {
        ("concurrent", writers) => ("BEGIN CONCURRENT", writers.parse()?),
        ("alone", "1") => ("BEGIN", 1),
        _ => return Err(USAGE.into()),
    };
    let rows = rows_of(rows.parse()?);
    let started = Instant::now();
    let database = finish(open(target, begin))?;
    write(&database, begin, writers, &rows)?;
    let seconds = started.elapsed().as_secs_f64();
    print!("{{\"seconds\": {seconds}");
    if let [check] = check {
        print!(", \"check\": [{}]", finish(facts(&database, check))?);
    }
    println!("}}");
    Ok(())
}

/// Runs a future on this thread until it is done.
fn finish<T>(future: impl Future<Output = Outcome<T>>) -> Outcome<T> {
    tokio::runtime::Builder::new_current_thread().build()?.block_on(future)
}

/// Opens a database with its tables, with concurrent transactions if asked for.
async fn open(target: &str, begin: &str) -> Outcome<Database> {
    let database = Builder::new_local(target).build().await?;
    let connection = database.connect()?;
    if begin == "BEGIN CONCURRENT" {
        connection.pragma_update("journal_mode", "'mvcc'").await?;
    }
    for table in 0..TABLES {
        let columns = "a INTEGER NOT NULL, b INTEGER NOT NULL, c INTEGER NOT NULL, name TEXT NOT NULL";
        connection.execute(format!("CREATE TABLE keyed{table} ({columns}, PRIMARY KEY (a, b, c, name))"), ()).await?;
    }
    Ok(database)
}

/// Fills the tables with threads: each one fills its share, one table after another, with its own connection.
fn write(database: &Database, begin: &str, writers: usize, rows: &[Row]) -> Outcome<()> {
    let shares: Vec<&[Row]> = rows.chunks(rows.len().div_ceil(TABLES).max(1)).collect();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..writers)
            .map(|writer| {
                let mine: Vec<_> = shares.iter().enumerate().skip(writer).step_by(writers).collect();
                scope.spawn(move || finish(fill(database, begin, mine)))
            })
            .collect();
        threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| "a writer panicked")?)
    })
}

async fn fill(database: &Database, begin: &str, tables: Vec<(usize, &&[Row])>) -> Outcome<()> {
    let connection = database.connect()?;
    for (table, rows) in tables {
        let insert = format!("INSERT INTO keyed{table} VALUES (?1, ?2, ?3, ?4)");
        for some in rows.chunks(ROWS_PER_TRANSACTION) {
            while let Err(error) = transact(&connection, begin, &insert, some).await {
                if !clashed(&error) {
                    return Err(error.into());
                }
                connection.execute("ROLLBACK", ()).await?;
                std::thread::yield_now();
            }
        }
    }
    Ok(())
}

async fn transact(connection: &Connection, begin: &str, insert: &str, rows: &[Row]) -> Result<(), Error> {
    connection.execute(begin, ()).await?;
    let mut insert = connection.prepare_cached(insert).await?;
    for row in rows {
        let values =
            [Value::Integer(row.a), Value::Integer(row.b), Value::Integer(row.c), Value::Text(row.name.clone())];
        insert.execute(values).await?;
    }
    connection.execute("COMMIT", ()).await?;
    Ok(())
}

/// Returns whether the error is a conflict with another transaction, so that this one can be tried again.
fn clashed(error: &Error) -> bool {
    matches!(error, Error::Busy(_) | Error::BusySnapshot(_)) || error.to_string().contains("conflict")
}

/// Returns the one row of a query as the elements of a JSON array.
async fn facts(database: &Database, query: &str) -> Outcome<String> {
    let connection = database.connect()?;
    let mut rows = connection.query(query, ()).await?;
    let columns = rows.column_count();
    let row = rows.next().await?.ok_or("the check gives no row")?;
    let values: Result<Vec<_>, Error> = (0..columns)
        .map(|column| {
            Ok(match row.get_value(column)? {
                Value::Integer(number) => number.to_string(),
                Value::Real(number) => number.to_string(),
                _ => String::from("null"),
            })
        })
        .collect();
    Ok(values?.join(", "))
}

/// A row: `b` is its number, `a` is `b * 1000 / rows`, `c` is `b % 1000`, and the name is 32 hexadecimal digits.
struct Row {
    a: i64,
    b: i64,
    c: i64,
    name: String,
}

fn rows_of(rows: u32) -> Vec<Row> {
    let row = |number: u32| {
        let b = i64::from(number);
        // Marsaglia's xorshift, multiplied, seeded with the number of the row.
        let mut state = u64::from(number) + 1;
        let mut random = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.wrapping_mul(0x2545_f491_4f6c_dd1d)
        };
        random();
        Row { a: b * 1000 / i64::from(rows), b, c: b % 1000, name: format!("{:016x}{:016x}", random(), random()) }
    };
    (0..rows).map(row).collect()
}
