//! Rows of some columns of a table, for a reader that stores nothing.

use super::{LoadPlan, PlannedFile, PlannedTable};
use crate::estimate::TableEstimate;
use crate::filter::RowFilter;
use crate::input::Input;
use crate::options::Format;
use crate::rejects::Rejects;
use crate::schema::ColumnMapping;
use crate::source::{ColumnSource, LoadSource, OnError, OpenFile};
use litepress_rows::{Conflict, Result};
use std::path::Path;
use std::sync::Arc;

impl LoadPlan {
    /// Opens the files of a table and returns its rows with only these columns, given by their positions, in this order. Rows keep
    /// the numbers that they have among all rows. `filters` are conditions that the caller has for the rows: readers may leave out
    /// rows that do not meet them. Files can be opened again, except those that can be read only once.
    ///
    /// # Errors
    /// If a file cannot be opened.
    ///
    /// # Panics
    /// If there is no column, or one is not ordinary.
    pub fn source_of_columns(
        &self,
        table: &PlannedTable,
        columns: &[usize],
        filters: &[RowFilter],
        on_error: OnError,
        rejects: &Arc<Rejects>,
    ) -> Result<LoadSource> {
        assert!(!columns.is_empty(), "a row has a column");
        let definition = &self.schema.tables[table.table];
        let ordinary: Vec<usize> = definition.ordinary_columns().collect();
        let position = |column: &usize| ordinary.iter().position(|other| other == column).expect("an ordinary column");
        let positions: Vec<usize> = columns.iter().map(position).collect();
        let open = |file: &PlannedFile| self.open_columns(file, &positions, filters);
        let files = table.files.iter().map(open).collect::<Result<Vec<OpenFile>>>()?;
        let narrow = definition.narrow(columns);
        let estimate = TableEstimate::default();
        let source = LoadSource::new(&narrow, files, Conflict::Abort, on_error, rejects.clone(), estimate);
        let source = if filters.is_empty() { source } else { source.filtered() };
        Ok(source.limited_to(table.limit))
    }

    /// Opens a file for some ordinary columns.
    fn open_columns(&self, file: &PlannedFile, positions: &[usize], filters: &[RowFilter]) -> Result<OpenFile> {
        let narrow = Narrow::of(&file.mapping, positions);
        let mut reader = file.content.open(&self.read)?;
        reader.project(&narrow.mapping.projected)?;
        reader.leave_out(&narrow.filters_of_file(filters));
        let kept = |(block, decision)| Some((narrow.block(block)?, decision));
        Ok(OpenFile {
            name: file.input().map(|input| input.name.clone()),
            reader,
            column_sources: narrow.mapping.column_sources.clone(),
            type_checks: file.type_checks.iter().cloned().filter_map(kept).collect(),
            conversions: file
                .conversions
                .iter()
                .cloned()
                .filter_map(|(block, conversion)| Some((narrow.block(block)?, conversion)))
                .collect(),
            gives_records: false,
            keeps_rowids: false,
        })
    }

    /// Returns the files that the plan reads, if all of them can be opened again by their paths.
    pub fn paths(&self) -> Option<Vec<&Path>> {
        let files = self.tables.iter().flat_map(|table| &table.files);
        files.map(|file| file.input().and_then(Input::outer_path)).collect()
    }

    /// Returns whether all files are of formats that state their types and numbers of records, so that all records can be counted
    /// without a look at them.
    pub fn states_records(&self, table: &PlannedTable) -> bool {
        let is_typed = |file: &PlannedFile| {
            file.input().is_some_and(|input| matches!(input.format, Format::Parquet | Format::Arrow))
        };
        table.records.is_some() && table.files.iter().all(is_typed)
    }
}

/// The mapping of some columns.
struct Narrow {
    mapping: ColumnMapping,
    /// For each block, its position in the mapping of all columns.
    blocks: Vec<usize>,
}

impl Narrow {
    fn of(all: &ColumnMapping, positions: &[usize]) -> Self {
        let mut narrow = Self {
            mapping: ColumnMapping { projected: vec![], column_sources: vec![], missing: vec![] },
            blocks: vec![],
        };
        for &position in positions {
            let source = match &all.column_sources[position] {
                ColumnSource::File(block) => {
                    narrow.blocks.push(*block);
                    narrow.mapping.projected.push(all.projected[*block].clone());
                    ColumnSource::File(narrow.blocks.len() - 1)
                }
                other => other.clone(),
            };
            narrow.mapping.column_sources.push(source);
        }
        narrow
    }

    /// Returns the position of a block of all columns among those that are read.
    fn block(&self, block: usize) -> Option<usize> {
        self.blocks.iter().position(|other| *other == block)
    }

    /// Returns the filters on columns of the file, by block.
    fn filters_of_file(&self, filters: &[RowFilter]) -> Vec<RowFilter> {
        let of_block = |filter: &RowFilter| match self.mapping.column_sources.get(filter.column)? {
            ColumnSource::File(block) => Some(RowFilter { column: *block, ..filter.clone() }),
            _ => None,
        };
        filters.iter().filter_map(of_block).collect()
    }
}
