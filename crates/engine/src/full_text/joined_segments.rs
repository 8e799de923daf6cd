//! Joins the indexes of full-text tables of one definition: their segments are merged, and no text is read by a tokenizer.
//!
//! ```text
//! terms of each index --> runs --k-way merge by term--> one segment
//! rows of %_content, %_docsize, %_config, and the sums of the averages: as they are
//! ```

use super::runs::{Run, RunStore};
use super::{FullTextBuilder, FullTextTrees, Indexed};
use crate::Result;
use litepress_fts5::{Averages, RunWriter};
use litepress_rows::{RecordChunk, Source};

/// Bytes of a run that are stored at once.
const PIECE_BYTES: usize = 4 << 20;

/// Takes a term and its doclist.
pub type TakeTerm<'t> = &'t mut dyn FnMut(&[u8], &[u8]) -> Result<()>;

/// The indexes of full-text tables of one definition, which have no row in common.
pub trait TextIndexes {
    /// Returns the sums of rows and tokens of all indexes.
    fn averages(&self) -> Averages;

    /// Returns the rows of `%_content`.
    fn content(&self) -> Box<dyn Source + '_>;

    /// Returns the rows of `%_docsize`.
    fn sizes(&self) -> Box<dyn Source + '_>;

    /// Returns the rows of `%_config`.
    ///
    /// # Errors
    /// If they cannot be read.
    fn configuration(&self) -> Result<RecordChunk>;

    /// Returns the number of indexes.
    fn count(&self) -> usize;

    /// Passes all terms of an index to `take`, in their order, with the doclists of rows that are not deleted.
    ///
    /// # Errors
    /// If the index cannot be read; errors of `take`.
    fn terms(&self, index: usize, take: TakeTerm<'_>) -> Result<()>;
}

impl FullTextBuilder<'_> {
    /// Builds all shadow tables from indexes that exist.
    ///
    /// # Errors
    /// If an index cannot be read, two have a row in common, or a write fails.
    pub fn join(mut self, texts: &dyn TextIndexes) -> Result<FullTextTrees> {
        self.build_content(Some(&*texts.content()))?;
        self.options.progress.enter(format!("full-text index of {}", self.table.name));
        let store = RunStore::new(self.output.temp_dir.clone(), self.options.memory_bytes / 4);
        let mut runs = Vec::new();
        for index in 0..texts.count() {
            self.options.progress.go_on()?;
            runs.push(run(texts, index, &store)?);
        }
        let averages = texts.averages();
        self.trees.rows = averages.rows;
        let sizes = Some(texts.sizes());
        let configuration = texts.configuration()?;
        let indexed = Indexed { runs, sizes: Vec::new(), averages, spilled_bytes: store.file_len() };
        self.build_index(indexed, sizes, Some(configuration))?;
        Ok(self.trees)
    }
}

/// Stores the terms of an index as a run.
fn run(texts: &dyn TextIndexes, index: usize, store: &RunStore) -> Result<Run> {
    let (mut writer, mut pieces) = (RunWriter::default(), store.begin());
    texts.terms(index, &mut |term, doclist| {
        writer.push(term, doclist);
        if writer.bytes().len() < PIECE_BYTES {
            return Ok(());
        }
        pieces.push(std::mem::take(writer.bytes()))
    })?;
    pieces.finish(std::mem::take(writer.bytes()))
}
