//! The full-text tables of a database: those with rows of their own, those whose texts are in another table, and empty ones.

use super::Database;
use crate::Result;
use crate::full_text::{FullTextBuilder, FullTextTrees, TextIndexes, TextRows, rebuild_statement};
use crate::table::TableTree;
use litepress_rows::schema::TextContent;
use litepress_rows::{Source, Table};
use std::time::Instant;

impl Database {
    /// Builds the shadow tables of full-text table `index`: from rows of its own, or from the table that has its texts.
    pub(super) fn build_full_text(&mut self, index: usize, source: Option<&dyn Source>) -> Result<TableTree> {
        let printed = self.content_position(index).filter(|_| self.output.pages.can_read());
        let printed = printed.and_then(|content| self.printed.get(&content)).copied();
        let rows = match (source, &printed) {
            (Some(source), _) => TextRows::Given(source),
            (None, Some(printed)) => TextRows::Printed(printed),
            (None, None) => TextRows::None,
        };
        let Self { schema, output, options, .. } = self;
        let built = FullTextBuilder::new(schema, &schema.tables[index], output, options)?.build(rows)?;
        Ok(self.take_full_text(built))
    }

    /// Fills full-text table `index` of [`Schema::tables`](crate::Schema::tables) with the indexes of others: their segments are merged.
    ///
    /// # Errors
    /// If an index cannot be read, two have a row in common, or a write fails. The database cannot be finished then.
    ///
    /// # Panics
    /// As [`fill`](Self::fill).
    pub fn fill_text_indexes(&mut self, index: usize, texts: &dyn TextIndexes) -> Result<()> {
        assert!(
            self.trees[index].is_none() && self.session.is_none(),
            "a table is filled once, before SQLite fills others"
        );
        let (started, name) = (Instant::now(), self.schema.tables[index].name.clone());
        self.options.progress.enter_rows(&name);
        let Self { schema, output, options, .. } = self;
        let joined = FullTextBuilder::new(schema, &schema.tables[index], output, options)
            .and_then(|builder| builder.join(texts))
            .inspect_err(|_| self.failed = true)
            .map_err(|error| if error.place().table.is_some() { error } else { error.in_table(&name) })?;
        let tree = self.take_full_text(joined);
        self.summary.rows += tree.rows;
        self.trees[index] = Some(tree);
        self.build_times[index] = started.elapsed();
        Ok(())
    }

    /// Notes the trees of a full-text table. Returns its figures.
    fn take_full_text(&mut self, built: FullTextTrees) -> TableTree {
        let FullTextTrees { rows, roots, statistics, .. } = built;
        self.roots.extend(roots);
        self.statistics.extend(statistics);
        TableTree { rows, ..TableTree::default() }
    }

    /// Builds the full-text tables without rows of their own. REQUIRES: all tables that litepress writes are filled.
    pub(super) fn build_other_full_texts(&mut self) -> Result<()> {
        for index in 0..self.schema.tables.len() {
            let table = &self.schema.tables[index];
            if table.full_text.is_some() && self.trees[index].is_none() && self.is_written_table(table) {
                self.trees[index] = Some(self.build_full_text(index, None)?);
            }
        }
        Ok(())
    }

    /// Counts the phases in which full-text tables are built behind the rows of `filled` tables.
    pub(super) fn full_text_phases(&self, filled: &[usize]) -> usize {
        let phases = |index: usize| match self.content_position(index) {
            _ if self.schema.tables[index].full_text.is_none() => 0,
            _ if !self.is_written_table(&self.schema.tables[index]) => 0,
            _ if filled.contains(&index) => 1,
            Some(content) if filled.contains(&content) && self.output.pages.can_read() => 2,
            _ => 0,
        };
        (0..self.schema.tables.len()).map(phases).sum()
    }

    /// Returns the statements that have SQLite index the texts that it alone can read.
    pub(super) fn rebuild_statements(&self) -> Vec<(String, String)> {
        let is_left = |(table, tree): &(&Table, &Option<TableTree>)| tree.is_none() && !self.is_written_table(table);
        let left = self.schema.tables.iter().zip(&self.trees).filter(is_left);
        left.filter_map(|(table, _)| Some((table.name.clone(), rebuild_statement(table)?))).collect()
    }

    /// Returns the position of the table that has the texts of full-text table `index`.
    fn content_position(&self, index: usize) -> Option<usize> {
        match &self.schema.tables[index].full_text.as_ref()?.content {
            TextContent::Table(content, _) | TextContent::Copied(content, _) => self.schema.position(&content.name),
            _ => None,
        }
    }
}
