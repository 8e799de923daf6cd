//! Signs that a program ships the WAL of a database elsewhere. Pages that do not pass through the WAL would be lost to it.

use litepress_rows::sqlite::companion;
use rusqlite::Connection;
use std::path::Path;

/// Returns the sign of replication that was found: `the folder .app.db-litestream`.
pub(super) fn sign(path: &Path, connection: &Connection) -> rusqlite::Result<Option<String>> {
    Ok(file_sign(path).or(table_sign(connection)?))
}

fn file_sign(path: &Path) -> Option<String> {
    let folder = path.parent()?;
    let name = path.file_name()?.to_string_lossy();
    let litestream = [format!(".{name}-litestream"), format!(".{name}-txn")];
    // LiteFS keeps its own files beside the database: `-pos`, and `.primary` on replicas. libSQL: `-info`.
    let beside = [format!("{name}-pos"), format!("{name}-info"), format!("{name}-client_wal_index")];
    let found = litestream.iter().chain(&beside).find(|name| folder.join(name).exists());
    let found = found.cloned().or_else(|| folder.join(".primary").exists().then(|| ".primary".to_owned()));
    let folder_of_libsql = companion(path, "-sync").exists().then(|| format!("{name}-sync"));
    found.or(folder_of_libsql).map(|name| format!("{name} beside it"))
}

fn table_sign(connection: &Connection) -> rusqlite::Result<Option<String>> {
    let sql = "SELECT name FROM sqlite_schema WHERE type = 'table'
               AND name IN ('_litestream_seq', '_litestream_lock', 'libsql_wasm_func_table') LIMIT 1";
    let mut select = connection.prepare(sql)?;
    let mut names = select.query_map([], |row| row.get::<_, String>(0))?;
    names.next().transpose().map(|name| name.map(|name| format!("its table {name}")))
}
