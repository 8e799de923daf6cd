//! Work of a client of the hammer.

use super::{BATCH_ROWS, RULES};
use crate::clients::{Client, Role, checkpoint, random, sleep_up_to};
use front_door::Writer;
use litepress::{AppendOptions, Options, Route};
use rusqlite::Connection;
use std::collections::HashSet;
use std::fs::{self, File};
use std::io::Write;
use std::ops::Range;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

/// Returns all rows that clients have written down.
pub fn logged(logs: impl Iterator<Item = PathBuf>) -> HashSet<(String, i64)> {
    let mut rows = HashSet::new();
    for log in logs {
        for line in fs::read_to_string(log).expect("a log").lines() {
            let (client, number) = line.split_once(' ').expect("two words");
            rows.insert((client.to_owned(), number.parse().expect("a number")));
        }
    }
    rows
}

/// Runs a client until the hammer ends.
///
/// # Errors
/// Errors that no client may get: a database that is corrupt or breaks a rule.
pub fn client(client: &Client) -> Result<(), String> {
    client.run(&RULES, connect_and_work)
}

/// Does some work with a connection of its own.
fn connect_and_work(client: &Client, number: &mut i64, log: &mut File) -> Result<(), String> {
    if client.role == Role::OldWriter {
        write_by_program(client, *number)?;
        writeln!(log, "{} {number}", client.name).expect("room for the log");
        *number += 1;
        return Ok(());
    }
    if client.role == Role::Appender {
        const ROWS: i64 = 50;
        append(client, *number..*number + ROWS).map_err(|error| error.to_string())?;
        (*number..*number + ROWS).for_each(|row| writeln!(log, "{} {row}", client.name).expect("room for the log"));
        *number += ROWS;
        return Ok(());
    }
    let told = |error: rusqlite::Error| error.to_string();
    let connection = client.open().map_err(told)?;
    for _ in 0..1 + random(4) {
        match client.role {
            Role::Reader => read(&connection)?,
            Role::Checkpointer => checkpoint(&connection, &["PASSIVE", "PASSIVE", "TRUNCATE"]).map_err(told)?,
            _ => {
                write(&connection, &client.name, *number).map_err(told)?;
                writeln!(log, "{} {number}", client.name).expect("room for the log");
                *number += 1;
            }
        }
        sleep_up_to(Duration::from_millis(2));
    }
    Ok(())
}

fn write(connection: &Connection, name: &str, number: i64) -> rusqlite::Result<()> {
    connection.execute_batch("BEGIN IMMEDIATE")?;
    let sql = "INSERT INTO added (client, number, filler) VALUES (?, ?, hex(randomblob(100)))";
    connection.execute(sql, (name, number))?;
    connection.execute("UPDATE account SET amount = amount + ?1 WHERE id = 1", [number])?;
    connection.execute("UPDATE account SET amount = amount - ?1 WHERE id = 2", [number])?;
    connection.execute_batch("COMMIT")
}

/// Adds rows by litepress, as pages.
fn append(client: &Client, numbers: Range<i64>) -> litepress::Result<()> {
    let mut append = AppendOptions::default().busy_timeout(Duration::from_secs(5));
    append.route = Some(Route::Edge);
    let mut writer = Writer::open(&client.database, Options::default().threads(1), &append)?;
    let mut table = writer.table_columns("added", &["client", "number", "filler"])?;
    for number in numbers {
        table.insert((client.name.as_str(), number, "appended"))?;
    }
    writer.finish().map(drop)
}

/// Adds a row by the program `sqlite3`.
fn write_by_program(client: &Client, number: i64) -> Result<(), String> {
    let sql = format!(
        "BEGIN IMMEDIATE; INSERT INTO added (client, number, filler) VALUES ('{}', {number}, hex(randomblob(100)));
         UPDATE account SET amount = amount + 1 WHERE id = 3; UPDATE account SET amount = amount - 1 WHERE id = 1; COMMIT;",
        client.name
    );
    let mut command = Command::new("sqlite3");
    command.args(["-batch", "-bail", "-cmd", ".timeout 5000"]).arg(&client.database).arg(sql);
    let output = command.output().map_err(|error| error.to_string())?;
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}

/// Reads all tables in one transaction.
fn read(connection: &Connection) -> Result<(), String> {
    let told = |error: rusqlite::Error| error.to_string();
    connection.execute_batch("BEGIN").map_err(told)?;
    let sql = "SELECT (SELECT sum(amount) FROM account), (SELECT count(*) FROM event NOT INDEXED),
                      (SELECT count(*) FROM event INDEXED BY event_batch WHERE batch >= 0),
                      (SELECT count(*) FROM (SELECT 1 FROM event GROUP BY batch)),
                      (SELECT count(*) FROM added NOT INDEXED),
                      (SELECT count(*) FROM added INDEXED BY added_client WHERE client > '')";
    let seen: [i64; 6] = connection
        .query_row(sql, [], |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?]))
        .map_err(told)?;
    let [sum, rows, entries, batches, added, added_entries] = seen;
    if sum != 0 || rows != entries || rows != batches * BATCH_ROWS || added != added_entries {
        return Err(format!("sum, rows, entries, batches, added, its entries: {seen:?}"));
    }
    connection.execute_batch("COMMIT").map_err(told)
}
