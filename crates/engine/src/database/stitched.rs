//! Tables of a database that are printed already, in parts.

use super::Database;
use crate::Result;
use crate::part::{PageCopy, Parts};
use std::time::Instant;

impl Database {
    /// Fills table `index` of [`Schema::tables`](crate::Schema) with its rows in `parts`, whose schema the database must have. With
    /// `copies`, pages that need no change are left out, and listed for a program that copies them.
    ///
    /// # Errors
    /// If a part is damaged, two rows have the same unique key, or a write fails. The database cannot be finished then.
    ///
    /// # Panics
    /// If the table was filled before, or SQLite fills it.
    pub fn stitch(&mut self, index: usize, parts: &Parts, copies: Option<&mut Vec<PageCopy>>) -> Result<()> {
        let (started, table) = (Instant::now(), &self.schema.tables[index]);
        assert!(self.trees[index].is_none() && self.is_written_table(table), "litepress fills a table once");
        self.options.progress.enter_rows(&table.name);
        let stitched = self.output.stitch_table(table, parts, &self.options, copies);
        let (tree, indexes) = stitched
            .inspect_err(|_| self.failed = true)
            .map_err(|error| if error.place().table.is_some() { error } else { error.in_table(&table.name) })?;
        self.summary.rows += tree.rows;
        self.sequences[index] = self.sequences[index].max(parts.last_sequence(&table.name));
        self.take_trees(index, &tree, indexes);
        self.trees[index] = Some(tree);
        self.build_times[index] = started.elapsed();
        Ok(())
    }
}
