//! Puts the rows of `sqlite_schema` in order.
//!
//! SQLite adds its objects behind the ones that litepress wrote, with the next rowids. The order of these rows
//! matters: a dump follows it, and SQLite reads indexes in it. It thereby decides in which order SQLite tries UNIQUE
//! indexes, and which of two equal plans SQLite takes. So rows are moved to their places in the schema, for which the
//! written rows have left gaps.

use litepress_rows::schema::SchemaObject;
use rusqlite::Connection;
use std::collections::HashMap;

/// A row of `sqlite_schema` that must get another rowid.
#[derive(Debug, PartialEq, Eq)]
struct Move {
    from: i64,
    to: i64,
}

/// Numbers the rows of `sqlite_schema` from 1 on in the order of `objects`; objects that are not among them come last.
pub(super) fn restore(sqlite: &Connection, objects: &[SchemaObject]) -> rusqlite::Result<()> {
    let rows: Vec<(i64, String, String)> = sqlite
        .prepare("SELECT rowid, type, name FROM sqlite_schema ORDER BY rowid")?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let moves = moves(&rows, objects);
    if moves.is_empty() {
        return Ok(());
    }
    sqlite.execute_batch("PRAGMA writable_schema = ON")?;
    let transaction = sqlite.unchecked_transaction()?;
    let mut update = sqlite.prepare("UPDATE sqlite_schema SET rowid = ?2 WHERE rowid = ?1")?;
    // These places may be taken by rows that are still to be moved, so all rows get out of the way first.
    let last = rows.last().map_or(0, |(rowid, ..)| *rowid).max(objects.len() as i64);
    for Move { from, to } in &moves {
        update.execute([*from, last + to])?;
    }
    for Move { to, .. } in &moves {
        update.execute([last + to, *to])?;
    }
    drop(update);
    transaction.commit()?;
    sqlite.execute_batch("PRAGMA writable_schema = OFF")
}

/// Returns the rows that are not in their places. `rows` are rowid, type and name; a trigger may share the name of a
/// table.
fn moves(rows: &[(i64, String, String)], objects: &[SchemaObject]) -> Vec<Move> {
    let places: HashMap<(&str, &str), usize> =
        objects.iter().enumerate().map(|(at, object)| ((object.kind.as_str(), object.name.as_str()), at)).collect();
    let place = |kind: &str, name: &str| places.get(&(kind, name)).copied().unwrap_or(usize::MAX);
    let mut order: Vec<(usize, i64)> = rows.iter().map(|(rowid, kind, name)| (place(kind, name), *rowid)).collect();
    order.sort_unstable();
    let placed = (1..).zip(order).map(|(to, (_, from))| Move { from, to });
    placed.filter(|Move { from, to }| from != to).collect()
}
