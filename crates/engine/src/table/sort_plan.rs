//! Plans which external sorts the rows of a table need before its tree is built, and which of them resolves key conflicts:
//! of rows with equal keys, at most one stays. `database` makes one plan for each table and runs it.
//!
//! ```text
//! rowids ascend, nothing can conflict   Source ---------------------------> rowid
//! rowids in any order                   Source -> by rowid ---------------> rowid
//! unknown order, under abort            Source ---------------------------> rowid_unknown_order
//! one UNIQUE key                        Source -> by that key -> by rowid -> rowid
//! WITHOUT ROWID, under abort            Source ---------------------------> without_rowid
//! WITHOUT ROWID, else                   Source -> by primary key ---------> without_rowid
//! ```
//!
//! Each arrow after the first is an external sort. A row with a repeated key is dropped there, before any index has an
//! entry for it. One pass resolves the conflicts of a table's only key (`plan.rs` sees to that). With several keys, the
//! fate of a row depends on the fates of all earlier rows.

use super::context::{BuildContext, TableTree};
use super::row_key::{RecordKey, RowidKey};
use super::sorted_rows::SortedRows;
use super::{rowid, rowid_unknown_order, without_rowid};
use crate::pages::Pages;
use crate::sort::SortOptions;
use crate::{Conflict, Result};
use litepress_rows::schema::Index;
use litepress_rows::{NullPolicy, RowidOrder, Source, Table};

/// The sorts that the rows of a table go through.
pub(crate) struct SortPlan<'t> {
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

impl<'t> SortPlan<'t> {
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
        // With two sorts, the first has ended by then. without_rowid does not sort what a first sort gives it.
        usize::from(self.table.without_rowid || self.by_rowid)
    }

    /// Builds the table's tree from all rows of `source` that stay, and passes their records to the indexes.
    pub fn build(
        &self,
        source: &dyn Source,
        pages: &mut Pages,
        options: &SortOptions,
        context: BuildContext<'_>,
    ) -> Result<TableTree> {
        let Self { table, conflict, .. } = *self;
        let progress = context.progress;
        let sort = |index| SortedRows::sort(RecordKey::new(table, index)?, source, conflict, options, progress);
        let resolved = self.unique.map(sort).transpose()?;
        let rows = resolved.as_ref().map_or(source, |rows| rows);
        if table.without_rowid {
            let may_ascend = resolved.is_some() || self.may_ascend && pages.can_read();
            return without_rowid::build(table, rows, pages, may_ascend, options, context);
        }
        if !self.by_rowid {
            return rowid::build(rows, pages, context);
        }
        if self.may_ascend && pages.can_read() {
            return rowid_unknown_order::build(table, source, pages, options, context);
        }
        let sorted = SortedRows::sort(RowidKey::new(table, self.is_dense), rows, conflict, options, progress)?;
        // The indexes need its memory now.
        drop(resolved);
        rowid::build(&sorted, pages, context)
    }
}
