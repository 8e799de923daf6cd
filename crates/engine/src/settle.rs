//! Sorts the rows of a table for its tree, and resolves key conflicts: of rows with equal keys, at most one stays.
//!
//! ```text
//! rowids ascend, nothing can conflict   Source ----------------------------------------> table
//! rowids in any order                   Source -> by rowid ----------------------------> table
//! unknown order, under abort            Source -> sorted_prefix (table, the rest by rowid) -> table
//! one UNIQUE key                        Source -> by that key -> by rowid -------------> table
//! WITHOUT ROWID, under abort            Source ----------------------------------------> keyed_table (the rest sorted)
//! WITHOUT ROWID, else                   Source -> by primary key ----------------------> keyed_table
//! ```
//!
//! Each arrow after the first is an external sort. A row with a repeated key is dropped there, before any index has an
//! entry for it. One pass resolves the conflicts of a table's only key (`plan.rs` sees to that). With several keys, the
//! fate of a row depends on the fates of all earlier rows.

use crate::index::Indexes;
use crate::keyed_table::{self, Wanted};
use crate::pages::Pages;
use crate::progress::Progress;
use crate::sort::SortOptions;
use crate::sorted_rows::{RecordKey, RowidKey, SortedRows};
use crate::table::{self, TableTree};
use crate::{Conflict, Result, sorted_prefix};
use litepress_rows::schema::Index;
use litepress_rows::{NullPolicy, RowidOrder, Source, Table};

/// The sorts that the rows of a table go through.
pub(crate) struct Settling<'t> {
    table: &'t Table,
    conflict: Conflict,
    /// The index whose key decides which rows stay. `None` under abort; also for an INTEGER PRIMARY KEY, which has no
    /// index.
    unique: Option<&'t Index>,
    by_rowid: bool,
    /// Whether rows may come in order: of their rowid, or of the key of a WITHOUT ROWID table. In a rowid table this
    /// requires the policy abort, under which no row can make another one go.
    may_ascend: bool,
    /// Whether dropped rows leave no gaps between rowids, because SQLite numbers only the rows that stay.
    is_dense: bool,
}

impl<'t> Settling<'t> {
    /// Returns the sorts for rows of `source`. A table without a source is empty.
    pub fn new(table: &'t Table, conflict: Conflict, source: Option<&dyn Source>) -> Self {
        let rowid_order = source.map_or(RowidOrder::Ascending, Source::rowid_order);
        let is_numbered = table.rowid_alias.is_none() || source.is_some_and(Source::has_automatic_rowids);
        let unique = table.indexes.iter().find(|index| index.unique && conflict != Conflict::Abort);
        let may_leave_out =
            unique.is_some() || table.columns_where_null(NullPolicy::LeaveOut, conflict).next().is_some();
        let is_dense = conflict == Conflict::Ignore && is_numbered && may_leave_out;
        let by_rowid = !table.without_rowid && (rowid_order != RowidOrder::Ascending || is_dense || unique.is_some());
        let may_ascend = if table.without_rowid {
            rowid_order != RowidOrder::Unordered
        } else {
            rowid_order == RowidOrder::Unknown && conflict == Conflict::Abort
        };
        Self { table, conflict, unique, by_rowid, may_ascend, is_dense }
    }

    /// Returns how many of its sorts live at the same time as the sorts of the table's indexes.
    pub fn sorts(&self) -> usize {
        // With two sorts, the first has ended by then. keyed_table does not sort what a first sort gives it.
        usize::from(self.table.without_rowid || self.by_rowid)
    }

    /// Builds the table's tree from all rows of `source` that stay, and passes their records to `indexes`.
    /// `counts_keys` asks for the number of distinct keys of a WITHOUT ROWID table.
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
        // The indexes need its memory now.
        drop(settled);
        table::build(&rows, pages, indexes, options.writers, progress)
    }
}
