//! The best INSERT program: one transaction, a prepared statement of 50 rows, journal and sync off, a big cache.
//!
//! `insert OUT.db ROWS` fills the table of the challenge, as fast as SQL allows and as unsafe as the usual advice has
//! it: a crash in the middle leaves a corrupt file.

use rusqlite::{Connection, Statement};
use std::error::Error;

const ROWS_PER_STATEMENT: u64 = 50;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, path, rows] = &arguments[..] else { return Err("usage: insert OUT.db ROWS".into()) };
    let rows: u64 = rows.parse()?;
    let mut database = Connection::open(path)?;
    database.execute_batch(
        "PRAGMA journal_mode = OFF; PRAGMA synchronous = 0; PRAGMA cache_size = 1000000; \
         PRAGMA locking_mode = EXCLUSIVE; PRAGMA temp_store = MEMORY;
         CREATE TABLE user (id INTEGER not null primary key, area CHAR(6), age INTEGER not null, \
         active INTEGER not null)",
    )?;
    let transaction = database.transaction()?;
    let mut random = 0x9e37_79b9_7f4a_7c15;
    let mut done = 0;
    while done < rows {
        let batch = ROWS_PER_STATEMENT.min(rows - done);
        let places = vec!["(?, ?, ?, ?)"; usize::try_from(batch)?].join(", ");
        let mut insert = transaction.prepare_cached(&format!("INSERT INTO user VALUES {places}"))?;
        for (place, row) in (done..done + batch).enumerate() {
            bind(&mut insert, 4 * place, row, &mut random)?;
        }
        insert.raw_execute()?;
        done += batch;
    }
    transaction.commit()?;
    Ok(())
}

/// Binds one row of the challenge behind parameter `at`: its number, six digits, 5, 10 or 15, 0 or 1.
fn bind(insert: &mut Statement<'_>, at: usize, row: u64, random: &mut u64) -> Result<(), Box<dyn Error>> {
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    let mut digits = [b'0'; 6];
    let mut rest = *random % 1_000_000;
    for digit in digits.iter_mut().rev() {
        *digit += u8::try_from(rest % 10)?;
        rest /= 10;
    }
    insert.raw_bind_parameter(at + 1, row.cast_signed() + 1)?;
    insert.raw_bind_parameter(at + 2, std::str::from_utf8(&digits)?)?;
    insert.raw_bind_parameter(at + 3, [5, 10, 15][(*random >> 40) as usize % 3])?;
    insert.raw_bind_parameter(at + 4, (*random >> 63).cast_signed())?;
    Ok(())
}
