//! Inserts rows of `user` through sqlx, one after another, each awaited.
//!
//!     litepress-bench-sqlx row-by-row TARGET ROWS [CHECK]
//!
//! It uses one transaction and a statement that sqlx prepares once. The connection is a separate thread, which gets each
//! row through a channel.

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteRow};
use sqlx::{AssertSqlSafe, Column, ConnectOptions, Connection, Executor, Row, TypeInfo, ValueRef};
use std::error::Error;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

const USAGE: &str = "usage: litepress-bench-sqlx row-by-row TARGET ROWS [CHECK]";

const TABLE: &str = "CREATE TABLE user (id INTEGER not null primary key, area CHAR(6), age INTEGER not null, \
                     active INTEGER not null)";

type Outcome<T> = Result<T, Box<dyn Error>>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (target, rows, check) = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["row-by-row", target, rows] => (target, rows, None),
        ["row-by-row", target, rows, check] => (target, rows, Some(check)),
        _ => return Err(USAGE.into()),
    };
    let rows: u64 = rows.parse().map_err(|_| USAGE)?;
    let started = Instant::now();
    let mut database = open(target).await?;
    insert(&mut database, rows).await?;
    if target == ":memory:" {
        let seconds = started.elapsed().as_secs_f64();
        let row = match check {
            Some(query) => Some(database.fetch_one(AssertSqlSafe(query)).await?),
            None => None,
        };
        let check = row.map_or(Ok(String::new()), |row| json(&row).map(|row| format!(", \"check\": {row}")))?;
        println!("{{\"seconds\": {seconds}{check}}}");
    } else {
        database.close().await?;
        println!("{{\"seconds\": {}}}", started.elapsed().as_secs_f64());
    }
    Ok(())
}

/// Opens the database with the article's settings and the empty table.
async fn open(target: &str) -> Outcome<SqliteConnection> {
    let options = SqliteConnectOptions::new().filename(target).create_if_missing(true);
    let settings =
        [("journal_mode", "OFF"), ("synchronous", "0"), ("cache_size", "1000000"), ("locking_mode", "EXCLUSIVE")];
    let options = settings.into_iter().fold(options, |options, (name, value)| options.pragma(name, value));
    let mut database = options.pragma("temp_store", "MEMORY").connect().await?;
    database.execute(TABLE).await?;
    Ok(database)
}

async fn insert(database: &mut SqliteConnection, rows: u64) -> Outcome<()> {
    let mut transaction = database.begin().await?;
    let mut random = Random::new()?;
    for _ in 0..rows {
        sqlx::query("INSERT INTO user VALUES (NULL, ?, ?, ?)")
            .bind(format!("{:06}", random.below(1_000_000)))
            .bind(5 * (1 + random.below(3)))
            .bind(random.below(2))
            .execute(&mut *transaction)
            .await?;
    }
    transaction.commit().await?;
    Ok(())
}

/// Marsaglia's xorshift with 64 bits.
struct Random(u64);

impl Random {
    fn new() -> Outcome<Self> {
        let nanoseconds = SystemTime::now().duration_since(UNIX_EPOCH)?.subsec_nanos();
        Ok(Self(0x9e37_79b9_7f4a_7c15 ^ u64::from(nanoseconds)))
    }

    fn below(&mut self, limit: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        u32::try_from((u128::from(self.0) * u128::from(limit)) >> 64).expect("below the limit")
    }
}

/// Writes a row of numbers as a JSON array.
fn json(row: &SqliteRow) -> Outcome<String> {
    let value = |column: usize| -> Outcome<String> {
        let value = row.try_get_raw(column)?;
        match value.type_info().name() {
            "INTEGER" => Ok(row.try_get::<i64, _>(column)?.to_string()),
            "REAL" => Ok(row.try_get::<f64, _>(column)?.to_string()),
            other => Err(format!("the check's column {} is {other}, no number", row.column(column).name()).into()),
        }
    };
    let values: Outcome<Vec<String>> = (0..row.len()).map(value).collect();
    Ok(format!("[{}]", values?.join(", ")))
}
