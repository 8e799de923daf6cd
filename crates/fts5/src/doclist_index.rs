//! Doclist indexes: the first rowids of the leaves that a doclist covers, as a tree.
//!
//! ```text
//! page of height 0    flags (1 if it is not the root), varint number of the first leaf, varint first rowid, then for each leaf
//!                     a varint: the difference from the rowid before, or 0 for a leaf without a rowid
//! page above          the same for the pages below it, by their page numbers
//! ```

use crate::writer::SegmentSink;
use litepress_format::varint;

/// Fewest leaves without a term that make a doclist index worth its page.
const FEWEST_LEAVES: u32 = 4;

/// The doclist index of the current doclist.
#[derive(Debug, Default)]
pub(crate) struct DoclistIndex {
    levels: Vec<Level>,
}

#[derive(Debug, Default)]
struct Level {
    page: u32,
    bytes: Vec<u8>,
    /// The last rowid on the page; `None` if the page is empty.
    last: Option<i64>,
}

impl Level {
    fn clear(&mut self) {
        self.bytes.clear();
        self.last = None;
    }

    /// Returns the first rowid of the page.
    fn first_rowid(&self) -> i64 {
        let read = |at: usize| varint::read(&self.bytes[at..]).expect("a page that was begun here");
        let (_, len) = read(1);
        read(1 + len).0.cast_signed()
    }

    fn push(&mut self, value: u64) {
        varint::push(value, &mut self.bytes);
    }
}

impl DoclistIndex {
    /// Begins the index of a doclist that begins on leaf `page`.
    pub fn begin(&mut self, page: u32) {
        if self.levels.is_empty() {
            self.levels.push(Level::default());
        }
        self.levels[0].page = page;
    }

    /// Returns whether there is a page.
    pub fn has_pages(&self) -> bool {
        self.levels.first().is_some_and(|level| !level.bytes.is_empty())
    }

    /// Notes a leaf without term and rowid.
    pub fn add_empty_leaf(&mut self) {
        if self.has_pages() {
            self.levels[0].push(0);
        }
    }

    /// Adds the first rowid of leaf `leaf`. Full pages go to `sink`.
    pub fn add<S: SegmentSink>(
        &mut self,
        leaf: u32,
        rowid: i64,
        leaf_bytes: usize,
        sink: &mut S,
    ) -> Result<(), S::Error> {
        for height in 0.. {
            let is_full = self.levels[height].bytes.len() >= leaf_bytes;
            if is_full {
                self.write_full(height, sink)?;
            }
            let page_below = height.checked_sub(1).map_or(leaf, |below| self.levels[below].page);
            let level = &mut self.levels[height];
            match level.last {
                Some(last) => level.push(rowid.cast_unsigned().wrapping_sub(last.cast_unsigned())),
                None => {
                    level.push(u64::from(is_full));
                    level.push(u64::from(page_below));
                    level.push(rowid.cast_unsigned());
                }
            }
            level.last = Some(rowid);
            if !is_full {
                break;
            }
        }
        Ok(())
    }

    /// Writes a full page. If it was the root, the level above begins with its first rowid.
    fn write_full<S: SegmentSink>(&mut self, height: usize, sink: &mut S) -> Result<(), S::Error> {
        if self.levels.len() == height + 1 {
            self.levels.push(Level::default());
        }
        let [level, above] = &mut self.levels[height..height + 2] else { unreachable!("the level above exists") };
        level.bytes[0] = 1;
        sink.doclist_index(u32::try_from(height).expect("a few levels"), level.page, &level.bytes)?;
        if above.bytes.is_empty() {
            let first = level.first_rowid();
            above.page = level.page;
            above.push(0);
            above.push(u64::from(level.page));
            above.push(first.cast_unsigned());
            above.last = Some(first);
        }
        level.clear();
        level.page += 1;
        Ok(())
    }

    /// Ends the index of a doclist that covers `empty_leaves` leaves without a term. Returns whether it is written.
    pub fn finish<S: SegmentSink>(&mut self, empty_leaves: u32, sink: &mut S) -> Result<bool, S::Error> {
        let is_written = self.has_pages() && empty_leaves >= FEWEST_LEAVES;
        for (height, level) in (0..).zip(&mut self.levels) {
            if level.bytes.is_empty() {
                break;
            }
            if is_written {
                sink.doclist_index(height, level.page, &level.bytes)?;
            }
            level.clear();
        }
        Ok(is_written)
    }
}
