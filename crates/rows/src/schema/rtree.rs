//! The R-Trees of an open database.

use super::{RTree, TableKinds};
use crate::quoted_name;
use crate::sync::{Mutex, lock};
use litepress_rtree::{CoordinateKind, Layout};
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::{Connection, ffi};
use std::sync::Arc;

/// The shadow tables of an R-Tree.
const SHADOWS: [&str; 3] = ["node", "parent", "rowid"];

/// An R-Tree table of an open database.
#[derive(Debug)]
pub struct NamedRTree {
    /// The name of the table.
    pub name: String,
    /// The tree, or the reason why SQLite cannot open it.
    pub tree: Result<RTree, rusqlite::Error>,
}

/// Returns the R-Tree tables of an open database. Tables of unknown modules are not R-Trees.
///
/// # Errors
/// If SQLite refuses to watch its statements.
pub fn rtrees(sqlite: &mut Connection, kinds: &TableKinds) -> rusqlite::Result<Vec<NamedRTree>> {
    let has_shadows = |name: &&str| SHADOWS.iter().all(|suffix| kinds.is_shadow(&format!("{name}_{suffix}")));
    let mut names: Vec<&str> = kinds.virtual_tables().filter(has_shadows).collect();
    names.sort_unstable();
    let module = Arc::new(Mutex::new(None));
    let seen = module.clone();
    sqlite.authorizer(Some(move |context: AuthContext<'_>| {
        if let AuthAction::DropVtable { module_name, .. } = context.action {
            *lock(&seen) = Some(module_name.to_ascii_lowercase());
        }
        Authorization::Allow
    }))?;
    let found = names.into_iter().filter_map(|name| {
        *lock(&module) = None;
        // The statement is compiled and never run: SQLite names the module that would drop the table.
        let compiled = sqlite.prepare(&format!("DROP TABLE main.{}", quoted_name(name))).map(drop);
        let kind = match (compiled, lock(&module).as_deref()) {
            // A damaged shadow table, or one with other columns. Only a known module has shadow tables.
            (Err(error), seen) if seen.is_none() || is_corrupt(&error) => Err(error),
            (_, Some("rtree")) => Ok(CoordinateKind::Real32),
            (_, Some("rtree_i32")) => Ok(CoordinateKind::Int32),
            _ => return None,
        };
        Some(NamedRTree { name: name.to_owned(), tree: kind.and_then(|kind| tree(sqlite, name, kind)) })
    });
    let found = found.collect();
    sqlite.authorizer(None::<fn(AuthContext<'_>) -> Authorization>)?;
    Ok(found)
}

fn is_corrupt(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseCorrupt)
}

/// Counts columns: an id, two for each dimension, and auxiliary ones. Only the auxiliary columns are also in `%_rowid`.
fn tree(sqlite: &Connection, name: &str, kind: CoordinateKind) -> rusqlite::Result<RTree> {
    let columns = |table: &str| -> rusqlite::Result<usize> {
        sqlite.query_row("SELECT count(*) FROM temp.pragma_table_info(?)", [table], |row| row.get(0))
    };
    let (all, of_rowid) = (columns(name)?, columns(&format!("{name}_rowid"))?);
    let auxiliary = of_rowid.saturating_sub(2);
    let layout = all.checked_sub(1 + auxiliary).and_then(|coordinates| Layout::new(coordinates / 2, kind));
    let layout = layout.ok_or_else(|| {
        let message = format!("{all} columns, and {of_rowid} of its table {name}_rowid, make no R-Tree");
        rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_CORRUPT_VTAB), Some(message))
    })?;
    Ok(RTree { layout, auxiliary })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trees_are_told_from_other_virtual_tables() {
        let mut sqlite = Connection::open_in_memory().unwrap();
        sqlite
            .execute_batch(
                "CREATE VIRTUAL TABLE a USING rtree(id, x0, x1, y0, y1, +note);
                 CREATE VIRTUAL TABLE \"b c\" USING RTREE_I32(id, x0, x1);
                 CREATE VIRTUAL TABLE f USING fts5(words); CREATE TABLE t(a)",
            )
            .unwrap();
        let kinds = TableKinds::read(&sqlite).unwrap();
        let found = rtrees(&mut sqlite, &kinds).unwrap();
        let layout = |dimensions, kind| Layout::new(dimensions, kind).unwrap();
        let expected = [
            ("a", RTree { layout: layout(2, CoordinateKind::Real32), auxiliary: 1 }),
            ("b c", RTree { layout: layout(1, CoordinateKind::Int32), auxiliary: 0 }),
        ];
        let found: Vec<_> = found.iter().map(|found| (found.name.as_str(), *found.tree.as_ref().unwrap())).collect();
        assert_eq!(found, expected);
        // Nothing was dropped.
        assert!(sqlite.table_exists(Some("main"), "a").unwrap());
    }
}
