//! Work of a client in a race.

use super::{FIXED_ROWS, RULES};
use crate::clients::{Client, Role, checkpoint, random, sleep_up_to};
use rusqlite::Connection;
use std::fs::File;
use std::io::Write;
use std::time::Duration;

/// Runs a client until the race ends.
///
/// # Errors
/// Errors that no client may get: a database that is corrupt or that mixes generations.
pub fn client(client: &Client) -> Result<(), String> {
    client.run(&RULES, connect_and_work)
}

/// Opens the database, waits a moment, and does some work; then closes it.
fn connect_and_work(client: &Client, number: &mut i64, log: &mut File) -> Result<(), String> {
    let told = |error: rusqlite::Error| error.to_string();
    let connection = client.open().map_err(told)?;
    sleep_up_to(Duration::from_millis(2));
    for _ in 0..1 + random(3) {
        match client.role {
            Role::Reader => read(&connection)?,
            Role::Checkpointer => {
                checkpoint(&connection, &["PASSIVE", "FULL", "RESTART", "TRUNCATE"]).map_err(told)?;
            }
            Role::Writer | Role::OldWriter | Role::Appender => {
                let generation = write(&connection, &client.name, *number).map_err(told)?;
                writeln!(log, "{generation} {} {number}", client.name).expect("room for the log");
                *number += 1;
            }
        }
    }
    Ok(())
}

fn write(connection: &Connection, name: &str, number: i64) -> rusqlite::Result<i64> {
    connection.execute_batch("BEGIN IMMEDIATE")?;
    let generation = connection.query_row("SELECT number FROM generation", [], |row| row.get(0))?;
    let sql = "INSERT INTO added(client, number, generation, filler) VALUES (?, ?, ?, hex(randomblob(200)))";
    connection.execute(sql, (name, number, generation))?;
    connection.execute_batch("COMMIT")?;
    Ok(generation)
}

/// Reads all tables in one transaction.
fn read(connection: &Connection) -> Result<(), String> {
    let told = |error: rusqlite::Error| error.to_string();
    connection.execute_batch("BEGIN").map_err(told)?;
    let sql = "SELECT (SELECT count(*) FROM fixed WHERE length(a) = 60), (SELECT count(*) FROM fixed INDEXED BY fixed_a WHERE a > ''),
                      (SELECT count(*) FROM added WHERE generation IS NOT (SELECT number FROM generation))";
    let seen: (u64, u64, u64) =
        connection.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).map_err(told)?;
    if seen != (FIXED_ROWS, FIXED_ROWS, 0) {
        return Err(format!("rows, entries, rows of another generation: {seen:?}"));
    }
    connection.execute_batch("COMMIT").map_err(told)
}
