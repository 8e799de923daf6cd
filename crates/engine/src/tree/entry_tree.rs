//! Assembles the tree of an index or a WITHOUT ROWID table from parts that come in key order.
//!
//! The last part is held back, because its last entry depends on whether another part follows:
//!
//! ```text
//! another one does      the entry becomes the divider between the two parts; the part is placed
//! none does             the entry stays on the last leaf; the part is placed, and the tree is complete
//! one has one entry     it has none to spare for a divider: both become one part
//! ```

use super::assembler::TreeAssembler;
use super::index_leaf::IndexBuilder;
use super::interior::Entry;
use super::{bulk_load, index_reader};
use crate::Result;
use crate::pages::Pages;
use litepress_format::page::PageKind;
use litepress_rows::source::PART_BYTES;

/// A tree of entries, and its parts placed so far.
pub(crate) struct EntryTree<'p> {
    assembler: TreeAssembler<'p, Entry>,
    /// The last part, which is placed once it is known whether another one follows.
    held: Option<IndexBuilder>,
    counts: EntryCounts,
}

/// The size of a tree of entries.
#[derive(Clone, Copy, Default)]
pub(crate) struct EntryCounts {
    pub entries: u64,
    /// Bytes of all records.
    pub payload_bytes: u64,
}

impl<'p> EntryTree<'p> {
    pub fn new(pages: &'p mut Pages) -> Self {
        Self { assembler: TreeAssembler::new(pages), held: None, counts: EntryCounts::default() }
    }

    /// Returns the pages of the database.
    pub fn pages(&self) -> &Pages {
        self.assembler.pages()
    }

    /// Takes the next part, whose last leaf is open.
    pub fn place(&mut self, part: IndexBuilder) -> Result<()> {
        if part.entries() == 0 {
            return Ok(());
        }
        let held = self.append(part)?;
        self.pages().pool().set_held_blocks(held.run().blocks());
        self.held = Some(held);
        Ok(())
    }

    /// Appends `next` to the held part. Returns the part to hold from now on.
    fn append(&mut self, next: IndexBuilder) -> Result<IndexBuilder> {
        let Some(mut held) = self.held.take() else { return Ok(next) };
        let usable = self.pages().page_size().bytes();
        let is_large = held.run().len() as usize * usable >= PART_BYTES;
        if held.entries() >= 2 && (next.entries() >= 2 || is_large) {
            self.place_leaves(held, false)?;
            return Ok(next);
        }
        index_reader::of_part(next.finish(true), usable, |record| {
            held.add(record);
            Ok(())
        })?;
        Ok(held)
    }

    fn place_leaves(&mut self, leaves: IndexBuilder, is_last: bool) -> Result<()> {
        let part = leaves.finish(is_last);
        self.counts.entries += part.entries;
        self.counts.payload_bytes += part.payload_bytes;
        bulk_load::place(&mut self.assembler, part)
    }

    /// Completes the tree. Returns its size and the number of its root.
    pub fn finish(mut self) -> Result<(EntryCounts, u32)> {
        if let Some(last) = self.held.take() {
            self.pages().pool().set_held_blocks(0);
            self.place_leaves(last, true)?;
        }
        Ok((self.counts, self.assembler.finish(PageKind::LeafIndex)?))
    }
}
