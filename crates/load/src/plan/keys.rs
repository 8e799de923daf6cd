//! The keys of JSON files that are loaded into a given table.

use super::LoadRequest;
use super::content::Content;
use crate::infer::{self, FileStats};
use crate::input::Input;
use crate::json;
use crate::options::ReadOptions;
use crate::reader::{FileColumn, FileColumnKind};
use litepress_rows::{Result, Table};
use std::sync::Arc;

impl LoadRequest {
    /// Returns the columns of a file whose records name them: those of the table, by the names that `map` gives them. A column
    /// whose key no record has gets its DEFAULT, or a row number. So the file is scanned for such keys, up to the place where all
    /// were seen: for most files that is the first piece.
    pub(super) fn fields_by_key(
        &self,
        table: &Table,
        content: &mut Content,
        go_on: &(dyn Fn() -> Result<()> + Sync),
    ) -> Result<Vec<FileColumn>> {
        let mut fields = fields_of_table(table, &self.map);
        fields.retain(|field| {
            let is_added = self.source_column.as_ref().is_some_and(|name| name.eq_ignore_ascii_case(&field.name));
            !is_added && self.selects(&table.name, &field.name)
        });
        let names: Vec<String> = fields.iter().map(|field| field.name.clone()).collect();
        let has_value_of_its_own = |name: &str| {
            let column = table.column(self.name_in_table(name, &names));
            column.is_some_and(|at| table.columns[at].default.is_some() || table.rowid_alias == Some(at))
        };
        let mut missing: Vec<String> = names.iter().filter(|name| has_value_of_its_own(name)).cloned().collect();
        let Content::File(input) = &mut *content else { return Ok(fields) };
        self.find_keys_in_beginning(input, &mut missing)?;
        if !missing.is_empty() {
            input.spool(&self.temp_dir, &|| go_on())?;
            // Bytes of this scan do not count: the progress is that of the load.
            let read = ReadOptions { bytes_read: Arc::default(), ..self.read.clone() };
            let found =
                infer::scan_types(&mut *content.open(&read)?, self.threads, self.limit, &self.read.words, go_on);
            let found = found.map_err(|error| content.in_file(error))?;
            leave_missing(&mut missing, &found, self.limit);
        }
        fields.retain(|field| !missing.contains(&field.name));
        Ok(fields)
    }

    /// Removes the keys that the first records have from `missing`. Errors are left to the load.
    fn find_keys_in_beginning(&self, input: &Input, missing: &mut Vec<String>) -> Result<()> {
        const BYTES: u64 = 4 << 20;
        if missing.is_empty() {
            return Ok(());
        }
        let read = ReadOptions { bytes_read: Arc::default(), ..self.read.clone() };
        let Ok(mut reader) = json::open(&input.beginning(BYTES)?, &read) else { return Ok(()) };
        if let Ok(Some(mut piece)) = reader.next_piece() {
            let mut found = FileStats::default();
            if piece.scan_types(&mut found).is_ok() {
                leave_missing(missing, &found, self.limit);
            }
        }
        Ok(())
    }
}

/// Keeps the keys that none of the first `limit` records has.
fn leave_missing(missing: &mut Vec<String>, found: &FileStats, limit: Option<u64>) {
    let mut columns = found.columns();
    columns.retain(|column| column.is_within(limit));
    missing.retain(|key| !columns.iter().any(|column| column.name.eq_ignore_ascii_case(key)));
}

/// Returns the columns that an unread file with named fields may have: the table's columns, by the names that `map` gives
/// them.
fn fields_of_table(table: &Table, map: &[(String, String)]) -> Vec<FileColumn> {
    let field = |name: &str| FileColumn { name: name.to_owned(), kind: FileColumnKind::Text };
    let is_mapped = |name: &str| map.iter().any(|(_, to)| to.eq_ignore_ascii_case(name));
    let own = table.ordinary_columns().map(|position| table.columns[position].name.as_str());
    let own = own.filter(|name| !is_mapped(name)).map(field);
    map.iter().map(|(from, _)| field(from)).chain(own).collect()
}
