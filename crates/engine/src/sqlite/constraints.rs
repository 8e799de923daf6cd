//! Checks CHECK constraints of the finished table, if their expressions cannot be told from the schema's text.
//!
//! `PRAGMA quick_check` evaluates CHECKs as an INSERT does. It is slow, runs on one core and names no row. All other CHECKs are
//! evaluated while rows pass (`evaluate/checks.rs`).

use super::SqliteSession;
use crate::{Error, ErrorKind, Result};
use litepress_rows::{Table, quoted_name};

/// Fails if a row of the table breaks a CHECK: asks SQLite for its verdict.
pub(super) fn check(session: &SqliteSession, table: &Table) -> Result<()> {
    let name = &table.name;
    let sql = format!("PRAGMA quick_check({})", quoted_name(name));
    let findings = session.connection.prepare(&sql).and_then(|mut statement| {
        statement.query_map([], |row| row.get::<_, String>(0))?.collect::<rusqlite::Result<Vec<_>>>()
    });
    let findings =
        findings.map_err(|error| session.failures().explain(&error, ErrorKind::Constraint).in_table(name))?;
    let broken = findings.iter().find(|finding| finding.starts_with("CHECK constraint failed"));
    match (broken, findings.first()) {
        (Some(finding), _) => Err(Error::new(ErrorKind::Constraint, format!("SQLite says: {finding}")).in_table(name)),
        (None, Some(finding)) if finding != "ok" => {
            Err(Error::new(ErrorKind::Corrupt, format!("SQLite says: {finding}")).in_table(name))
        }
        _ => Ok(()),
    }
}
