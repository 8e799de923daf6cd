//! What lies between a table's source and its tree: rows are put in order, and of rows with one key one stays.
//!
//! ```text
//! rowids ascend, nothing can conflict   Source ----------------------------------------> table
//! rowids in any order                   Source -> by rowid ----------------------------> table
//! nobody knows, under abort             Source -> sorted_prefix (table, the rest by rowid) -> table
//! one UNIQUE key                        Source -> by that key -> by rowid -------------> table
//! WITHOUT ROWID, under abort            Source ----------------------------------------> keyed_table (the rest sorted)
//! WITHOUT ROWID, else                   Source -> by primary key ----------------------> keyed_table
//! ```
//!
//! Each arrow behind the first is an external sort, and every row that is left out is left out there: no index ever has
//! an entry of it. A key can be settled in one pass where it is the only one (`plan.rs` sees to that); with several, what
//! becomes of a row hangs on what became of all rows before it.

use crate::index::Indexes;
use crate::keyed_table::{self, Wanted};
use crate::pages::Pages;
use crate::progress::Progress;
use crate::sort::SortOptions;
use crate::sorted_rows::{RecordKey, RowidKey, SortedRows};
use crate::table::{self, TableTree};
use crate::{Conflict, Result, sorted_prefix};
use litepress_rows::schema::Index;
use litepress_rows::{NullRule, RowidOrder, Source, Table};

/// The sorts that the rows of a table go through.
pub(crate) struct Settling<'t> {
    table: &'t Table,
    conflict: Conflict,
    /// The index by whose key rows are told to stay or go; that of an INTEGER PRIMARY KEY has none.
    unique: Option<&'t Index>,
    by_rowid: bool,
    /// They may be in order, of their rowid or of their key without rowid, and nothing that a row says can make another
    /// one go.
    may_ascend: bool,
    /// Rows that go leave no gap: SQLite numbers those that stay.
    is_dense: bool,
}

impl<'t> Settling<'t> {
    /// The sorts for rows of `source`; without one the table is empty.
    pub fn new(table: &'t Table, conflict: Conflict, source: Option<&dyn Source>) -> Self {
        let rowid_order = source.map_or(RowidOrder::Ascending, Source::rowid_order);
        let is_numbered = table.rowid_alias.is_none() || source.is_some_and(Source::has_automatic_rowids);
        let unique = table.indexes.iter().find(|index| index.unique && conflict != Conflict::Abort);
        let may_leave_out = unique.is_some() || table.columns_where_null(NullRule::LeaveOut, conflict).next().is_some();
        let is_dense = conflict == Conflict::Ignore && is_numbered && may_leave_out;
        let by_rowid = !table.without_rowid && (rowid_order != RowidOrder::Ascending || is_dense || unique.is_some());
        let may_ascend = if table.without_rowid {
            rowid_order != RowidOrder::Unordered
        } else {
            rowid_order == RowidOrder::Unknown && conflict == Conflict::Abort
        };
        Self { table, conflict, unique, by_rowid, may_ascend, is_dense }
    }

    /// How many of its sorts live at the same time as those of the table's indexes.
    pub fn sorts(&self) -> usize {
        // The one before the last has ended by then, and what it gives to keyed_table needs no other.
        usize::from(self.table.without_rowid || self.by_rowid)
    }

    /// Builds the table's tree from all rows of `source` that stay, and gives their records to `indexes`; `counts_keys`
    /// where the distinct ones of a WITHOUT ROWID table are wanted.
    pub fn build(
        &self,
        source: &dyn Source,
        pages: &mut Pages,
        indexes: &Indexes,
        options: &SortOptions,
        counts_keys: bool,
        progress: &Progress,
    ) -> Result<TableTree> {
        let Self { table, conflict, .. } = *self;
        let settle = |index| SortedRows::sort(RecordKey::new(table, index)?, source, conflict, options, progress);
        let settled = self.unique.map(settle).transpose()?;
        let settled_source = settled.as_ref().map_or(source, |rows| rows);
        if table.without_rowid {
            let may_ascend = settled.is_some() || self.may_ascend && pages.can_read();
            let wanted = Wanted { indexes, counts_keys, progress };
            return keyed_table::build(table, settled_source, pages, may_ascend, options, wanted);
        }
        if !self.by_rowid {
            return table::build(settled_source, pages, indexes, options.writers, progress);
        }
        if self.may_ascend && pages.can_read() {
            return sorted_prefix::build(table, source, pages, indexes, options, progress);
        }
        let rows = SortedRows::sort(RowidKey::new(table, self.is_dense), settled_source, conflict, options, progress)?;
        // Its memory is the indexes' now.
        drop(settled);
        table::build(&rows, pages, indexes, options.writers, progress)
    }
}
