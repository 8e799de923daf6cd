//! The full-text tables of a database: those with rows of their own, those whose texts are in another table, and empty ones.

use super::Database;
use crate::Result;
use crate::full_text::{FullTextBuilder, FullTextTrees, TextRows, rebuild_statement};
use crate::table::TableTree;
use litepress_rows::schema::TextContent;
use litepress_rows::{Source, Table};

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
        let FullTextTrees { rows, roots, statistics, .. } = built;
        self.roots.extend(roots);
        self.statistics.extend(statistics);
        Ok(TableTree { rows, ..TableTree::default() })
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
