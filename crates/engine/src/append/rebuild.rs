//! Old and new rows of a table become a new tree.

use super::update::RowPolicy;
use crate::options::Options;
use crate::pages::Pages;
use crate::sort::SortOptions;
use crate::table::sorted_rows::SortedRows;
use crate::table::updated_rows::UpdatedRows;
use crate::table::{BuildContext, RecordKey, RowKey, RowidKey, TableTree, rowid, without_rowid};
use crate::{Conflict, Result};
use litepress_rows::{Source, Table};

/// The build of a new tree of rows in any order. Of rows with one primary key, the policy for conflicts keeps one.
pub(super) struct Rebuild<'a> {
    pub table: &'a Table,
    pub overwriting: &'a RowPolicy,
    pub options: &'a Options,
    pub sorts: &'a SortOptions,
    pub context: BuildContext<'a>,
}

impl Rebuild<'_> {
    /// Builds the tree, and passes all records to the indexes.
    pub fn build(&self, rows: &dyn Source, pages: &mut Pages) -> Result<TableTree> {
        let Self { table, sorts, context, .. } = *self;
        if !table.without_rowid {
            return self.by_rowid(rows, |sorted| rowid::build(sorted, pages, context));
        }
        if self.options.on_conflict == Conflict::Abort {
            return without_rowid::build(table, rows, pages, false, sorts, context);
        }
        let key = RecordKey::new(table, table.primary_index().expect("a WITHOUT ROWID table has a primary key"))?;
        self.sorted(key, rows, |sorted| without_rowid::build(table, sorted, pages, true, sorts, context))
    }

    /// Passes the rows of a rowid table that stay to `build`, in the order of their rowids.
    pub fn by_rowid<T>(&self, rows: &dyn Source, build: impl FnOnce(&dyn Source) -> Result<T>) -> Result<T> {
        self.sorted(RowidKey::new(self.table, false), rows, build)
    }

    /// Passes the rows that stay to `build`, in the order of their key.
    fn sorted<K: RowKey, T>(
        &self,
        key: K,
        rows: &dyn Source,
        build: impl FnOnce(&dyn Source) -> Result<T>,
    ) -> Result<T> {
        let Self { overwriting, options, sorts, .. } = self;
        match overwriting {
            RowPolicy::OneStays => build(&SortedRows::sort(key, rows, options.on_conflict, sorts, &options.progress)?),
            RowPolicy::Fields(fields) => build(&UpdatedRows::sort(key, rows, fields, sorts, &options.progress)?),
        }
    }
}
