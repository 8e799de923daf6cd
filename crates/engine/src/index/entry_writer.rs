//! Decodes sorted entries into records and lays them on pages.

use super::plan::IndexPlan;
use crate::pages::PageRun;
use crate::sort::{PADDING_BYTES, PackedBatch, PaddedItem, bad_item};
use crate::tree::bulk_load::ItemKind;
use crate::tree::index_leaf::{IndexBuilder, IndexPart};
use crate::{Error, Result};
use litepress_format::sort_key::{KeyPart, ShortCell};

/// Makes records of sort items and lays them on pages.
pub(crate) struct IndexPageWriter {
    builder: IndexBuilder,
    record: Vec<u8>,
    cell: ShortCell,
}

impl IndexPageWriter {
    /// Begins the leaves of a part.
    pub fn new(run: PageRun, usable: usize) -> Self {
        Self { builder: IndexBuilder::new(run, usable), record: Vec::new(), cell: ShortCell::default() }
    }

    /// Adds the next entry as a record.
    #[inline]
    pub fn add_record(&mut self, record: &[u8]) {
        self.builder.add(record);
    }

    /// Returns the pages so far.
    pub fn run(&self) -> &PageRun {
        self.builder.run()
    }

    /// Takes the leaves, and begins those of another part.
    pub fn begin_part(&mut self, run: PageRun, usable: usize) -> IndexBuilder {
        std::mem::replace(&mut self.builder, IndexBuilder::new(run, usable))
    }
}

impl ItemKind for IndexPlan {
    type Builder = IndexPageWriter;

    fn begin(&self, run: PageRun, usable: usize) -> IndexPageWriter {
        IndexPageWriter::new(run, usable)
    }

    fn add(&self, writer: &mut IndexPageWriter, item: PaddedItem<'_>) -> Result<()> {
        if self.layout.make_short_cell(item.bytes, item.len, &mut writer.cell) && writer.builder.add_cell(&writer.cell)
        {
            return Ok(());
        }
        writer.record.clear();
        self.layout.write_record(item.item(), &mut writer.record).map_err(|error| bad_item(&error))?;
        writer.builder.add(&writer.record);
        Ok(())
    }

    fn add_batch(&self, writer: &mut IndexPageWriter, batch: PackedBatch<'_>) -> Result<()> {
        let (mut index, mut room) = (0, [0; PADDING_BYTES]);
        while index < batch.len() {
            let len = batch.write(index, &mut room);
            self.add(writer, PaddedItem { bytes: &room, len })?;
            index += 1;
            // The next entries differ only in their rowids: the packed keys are equal in front of the tail.
            let is_key = writer.cell.key_len() == Some(batch.bytes_before_tail()) && self.has_rowid;
            let template = (is_key && batch.shares_key(index)).then(|| writer.cell.template()).flatten();
            if let Some(template) = template {
                let rowids =
                    batch.tails_sharing_key(index, writer.builder.room_for(template), |word| template.fits(word));
                index += rowids.len();
                writer.builder.add_from_template(rowids, template);
            }
        }
        Ok(())
    }

    fn finish(&self, writer: IndexPageWriter, is_last: bool) -> Result<IndexPart> {
        Ok(writer.builder.finish(is_last))
    }

    fn unique_len(&self, item: &[u8]) -> Result<Option<usize>> {
        if !self.unique {
            return Ok(None);
        }
        let key = self.layout.unique_key(item).map_err(|error| bad_item(&error))?;
        Ok((!key.has_null).then_some(key.len))
    }

    fn is_unique(&self) -> bool {
        self.unique
    }

    fn key_parts(&self) -> &[KeyPart] {
        &self.layout.parts()[..self.names.len()]
    }

    fn conflict(&self, first: &[u8], second: &[u8]) -> Error {
        self.not_unique(first, second)
    }
}
