//! Finds all rows that SQLite refuses: those with a repeated key, those that break a CHECK, and wrong boxes of an R-Tree.
//!
//! A build ends at the first of them, and which rows stay may depend on all earlier ones. So SQLite inserts the rows one after
//! another into a scratch database, and each refused row is told with SQLite's reason. The database can then be built
//! without these rows.

use crate::options::Options;
use crate::sqlite::{SessionOptions, SqliteSession};
use crate::{Conflict, Result};
use litepress_rows::{Error, Schema, Source, Table};

/// Returns whether SQLite may refuse a row because of another one, of a CHECK, or of its box.
pub fn may_refuse(table: &Table) -> bool {
    let has_key = table.rowid_alias.is_some() || table.indexes.iter().any(|index| index.unique);
    table.rtree.is_some() || !table.is_virtual && (has_key || table.has_check || table.has_conflict_clause)
}

/// Returns the policy under which SQLite tells the rows that a run leaves out: as the run, but IGNORE leaves rows out without a word.
pub fn telling_policy(conflict: Conflict) -> Conflict {
    match conflict {
        Conflict::Ignore => Conflict::Abort,
        Conflict::Abort | Conflict::Replace | Conflict::Update => conflict,
    }
}

/// Passes each row of `source` that SQLite refuses for table `table` of [`Schema::tables`] to `refuse`: its place in the input
/// and the reason. The source must be encoded under the [`telling_policy`].
///
/// Memory: 32 MiB of pages; the rows that stay go to a temporary file beyond that.
///
/// # Errors
/// Errors of the source and of `refuse`; if SQLite cannot create the table.
pub fn find_refused(
    schema: &Schema,
    table: usize,
    source: &dyn Source,
    options: &Options,
    refuse: &mut dyn FnMut(Error) -> Result<()>,
) -> Result<()> {
    let table = &schema.tables[table];
    let temp_dir = options.temp_dir.clone().unwrap_or_else(std::env::temp_dir);
    let session = SqliteSession::scratch(SessionOptions { temp_dir, progress: options.progress.clone() })?;
    let is_unique = |name: &str| table.indexes.iter().any(|index| index.unique && index.name == name);
    for object in &schema.objects {
        let is_wanted = object.kind == "table" && object.name == table.name
            || object.kind == "index" && object.table == table.name && is_unique(&object.name);
        if let (true, Some(sql)) = (is_wanted, &object.sql) {
            session.define(sql, &format!("{} {}", object.kind, object.name))?;
        }
    }
    options.progress.enter(format!("records that {} refuses", table.name));
    session.find_refused(table, source, options, refuse)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::OneChunk;
    use litepress_format::record::write_record;
    use litepress_format::value::Value;
    use litepress_rows::RecordChunk;

    /// Only the first of two rows with one key, and no row that broke a CHECK, was ever named.
    #[test]
    fn every_refused_row_is_found() {
        let sql = "CREATE TABLE t (a UNIQUE, b CHECK (b > 0)); CREATE UNIQUE INDEX i ON t (b) WHERE b < 10;";
        let schema = Schema::from_sql(sql, "<test>").expect("a schema");
        let mut chunk = RecordChunk::new();
        chunk.set_first_record(101);
        let rows: [(i64, i64); 7] = [(1, 5), (1, 6), (2, -1), (2, 7), (3, 5), (4, 70), (5, 70)];
        for (rowid, (a, b)) in (1..).zip(rows) {
            let mut record = Vec::new();
            write_record(&[Value::Int(a), Value::Int(b)], &mut record);
            chunk.push(rowid, &record);
        }
        let mut refused = Vec::new();
        find_refused(&schema, 0, &OneChunk::new(chunk), &Options::default(), &mut |error| {
            refused.push((error.place().record, error.place().column.clone(), error.message().to_owned()));
            Ok(())
        })
        .expect("a look");
        let told = |record, column: Option<&str>, why: &str| (Some(record), column.map(str::to_owned), why.to_owned());
        let expected = [
            told(102, Some("a"), "SQLite says: UNIQUE constraint failed: t.a"),
            told(103, None, "SQLite says: CHECK constraint failed: b > 0"),
            told(105, Some("b"), "SQLite says: UNIQUE constraint failed: t.b"),
        ];
        assert_eq!(refused, expected);
        assert!(may_refuse(&schema.tables[0]));
    }
}
