//! Builds the leaf pages of an index or of a WITHOUT ROWID table.
//!
//! Every entry is stored once in the tree: the entry that no longer fits a leaf becomes the divider behind it and
//! moves to the levels above (fileformat2.html, section 1.6). A part other than the last ends with a divider, so that
//! the next part can begin with a leaf. The last part ends with a leaf. If the entries do not come out that way, the
//! last ones move by one place: see [`IndexBuilder::finish`].

use super::interior::Entry;
use super::open_page::{OpenPage, add_overflow};
use crate::pages::{PageRun, Placement};
use litepress_format::page::{MIN_CELL_LEN, PageKind};
use litepress_format::short_bytes::copy_short;
use litepress_format::sort_key::{CELL_WINDOW, CellTemplate, ShortCell};
use litepress_format::{payload, varint};

/// The leaf pages of one part of an index, in memory.
pub(crate) struct IndexPart {
    pub run: PageRun,
    /// Page index of each leaf and the divider behind it, in key order; the last leaf of a tree has none.
    pub leaves: Vec<(u32, Option<IndexCell>)>,
    pub entries: u64,
    /// Bytes of all records.
    pub payload_bytes: u64,
}

/// An entry as a cell without a left child.
pub(crate) struct IndexCell {
    bytes: Vec<u8>,
    /// Index in the run of the first overflow page, whose number goes into the last four bytes.
    overflow: Option<u32>,
}

impl IndexCell {
    /// Returns the length of the record, its local payload, and the index of its first overflow page.
    pub fn payload(&self, usable: usize) -> (u64, &[u8], Option<u32>) {
        let (payload_len, len_len) = varint::read(&self.bytes).expect("a cell of this builder");
        let split = payload::split(PageKind::LeafIndex, usable, payload_len);
        (payload_len, &self.bytes[len_len..len_len + split.local], self.overflow)
    }

    /// Returns the divider, once its part's pages have numbers.
    pub fn placed(mut self, placement: &Placement) -> Entry {
        if let Some(index) = self.overflow {
            let at = self.bytes.len() - 4;
            self.bytes[at..].copy_from_slice(&placement.number(index).to_be_bytes());
        }
        Entry(self.bytes)
    }
}

/// Builds the leaf pages of one part.
///
/// REQUIRES: records in key order, at least two in a part that is not the last. Memory: the part's pages. Cost: each
/// record is copied once. Dropped unfinished, it leaves nothing behind.
pub(crate) struct IndexBuilder {
    part: IndexPart,
    usable: usize,
    max_local: usize,
    page: Option<OpenPage>,
    /// The page closed last, whose last cell may be taken back.
    closed: Option<OpenPage>,
}

impl IndexBuilder {
    pub fn new(run: PageRun, usable: usize) -> Self {
        Self {
            part: IndexPart { run, leaves: Vec::new(), entries: 0, payload_bytes: 0 },
            usable,
            max_local: payload::max_local(PageKind::LeafIndex, usable),
            page: None,
            closed: None,
        }
    }

    /// Returns the number of entries so far.
    pub fn entries(&self) -> u64 {
        self.part.entries
    }

    /// Returns the pages so far, the last of which may be open.
    pub fn run(&self) -> &PageRun {
        &self.part.run
    }

    /// Adds the next entry.
    #[inline]
    pub fn add(&mut self, record: &[u8]) {
        let mut payload_len = [0; varint::MAX_LEN];
        let prefix = varint::write(record.len() as u64, &mut payload_len);
        let added = record.len() <= self.max_local
            && self.add_local(prefix + record.len(), prefix, |cell| {
                cell[..prefix].copy_from_slice(&payload_len[..prefix]);
                copy_short(record, &mut cell[prefix..]);
            });
        if !added {
            self.add_any(record);
        }
    }

    /// Appends an encoded cell. Returns `false` if it would overflow or is below the minimum cell size.
    #[inline]
    pub fn add_cell(&mut self, cell: &ShortCell) -> bool {
        cell.len() <= self.max_local && self.add_local(cell.len(), 1, |bytes| cell.write(bytes))
    }

    /// Returns how many cells of this template surely fit the open page.
    pub fn room_for(&self, template: &CellTemplate) -> usize {
        let is_local = (MIN_CELL_LEN..=self.max_local).contains(&template.len());
        // Open a page only once an entry is known to stay on it.
        self.page.filter(|_| is_local).map_or(0, |open| open.room_for(template.len(), CELL_WINDOW))
    }

    /// Adds the next entries, whose rowids are encoded in `words`. REQUIRES: the page has [room](Self::room_for) for
    /// them.
    #[inline(always)]
    pub fn add_from_template(&mut self, words: impl ExactSizeIterator<Item = u64>, template: &CellTemplate) {
        let Some(mut open) = self.page else { return };
        self.part.entries += words.len() as u64;
        // Each cell has one byte for the length in front of its record.
        self.part.payload_bytes += (words.len() * (template.len() - 1)) as u64;
        let page = self.part.run.page_mut(open.index);
        let cells_end = open.content_start;
        open.push_equal_cells(page, words.len(), template.len());
        template.write_all(words, &mut page[..cells_end]);
        self.page = Some(open);
    }

    /// Adds an entry without overflow pages, whose cell `write` writes straight to the page. The cell has `len`
    /// bytes, the first `prefix` of which are the record's length. Returns `false` if it is below the minimum cell
    /// size.
    #[inline]
    fn add_local(&mut self, len: usize, prefix: usize, write: impl Fn(&mut [u8])) -> bool {
        if len < MIN_CELL_LEN {
            return false;
        }
        self.part.entries += 1;
        self.part.payload_bytes += (len - prefix) as u64;
        let mut open = self.open_page();
        if open.fits(len) {
            write(open.push_room(self.part.run.page_mut(open.index), len));
            self.page = Some(open);
        } else {
            let mut bytes = vec![0; len];
            write(&mut bytes);
            self.close_page(Some(IndexCell { bytes, overflow: None }));
        }
        true
    }

    /// Adds any entry.
    fn add_any(&mut self, record: &[u8]) {
        self.part.entries += 1;
        self.part.payload_bytes += record.len() as u64;
        let cell = self.make_cell(record);
        let mut open = self.open_page();
        if open.fits(cell.bytes.len().max(MIN_CELL_LEN)) {
            self.push(&mut open, &cell);
            self.page = Some(open);
        } else {
            self.close_page(Some(cell));
        }
    }

    /// Makes the cell of a record. Overflow pages are appended to the run.
    fn make_cell(&mut self, record: &[u8]) -> IndexCell {
        let mut bytes = Vec::new();
        varint::push(record.len() as u64, &mut bytes);
        let split = payload::split(PageKind::LeafIndex, self.usable, record.len() as u64);
        bytes.extend_from_slice(&record[..split.local]);
        if split.overflow_pages == 0 {
            return IndexCell { bytes, overflow: None };
        }
        bytes.extend_from_slice(&[0; 4]);
        // The leaf is added first, so that it precedes its overflow pages.
        self.open_page();
        let overflow = add_overflow(&mut self.part.run, &record[split.local..], self.usable);
        IndexCell { bytes, overflow: Some(overflow) }
    }

    fn push(&mut self, open: &mut OpenPage, cell: &IndexCell) {
        let page = self.part.run.page_mut(open.index);
        if cell.bytes.len() < MIN_CELL_LEN {
            // Only leaves pad short cells. As a divider, behind a child's number, no cell is that short.
            let mut filled = [0; MIN_CELL_LEN];
            filled[..cell.bytes.len()].copy_from_slice(&cell.bytes);
            open.push(page, &filled);
        } else {
            open.push(page, &cell.bytes);
        }
        if let Some(first) = cell.overflow {
            self.part.run.set_pointer(open.index, open.content_start + cell.bytes.len() - 4, first);
        }
    }

    fn open_page(&mut self) -> OpenPage {
        *self.page.get_or_insert_with(|| OpenPage::new(self.part.run.add_page(), 0, self.usable))
    }

    fn close_page(&mut self, divider: Option<IndexCell>) {
        let open = self.page.take().expect("a page is open");
        open.finish(self.part.run.page_mut(open.index), PageKind::LeafIndex);
        self.part.leaves.push((open.index, divider));
        self.closed = Some(open);
    }

    /// Completes the part. `is_last` says that no other part follows.
    pub fn finish(mut self, is_last: bool) -> IndexPart {
        match (self.page, is_last) {
            // It ends with a divider, as it must, or has no entry at all.
            (None, false) => {}
            (None, true) if self.part.leaves.is_empty() => {}
            // It ends with a divider and must not: the divider moves to a leaf of its own, and the entry before takes
            // its place.
            (None, true) => {
                self.reopen_with_divider();
                self.close_page(None);
            }
            (Some(_), true) => self.close_page(None),
            (Some(open), false) if open.cells >= 2 => {
                let divider = self.take_back_last_cell();
                self.close_page(Some(divider));
            }
            // One entry in the last leaf, which must become the divider behind it: as above, one place further on.
            (Some(_), false) => {
                let divider = self.take_back_last_cell();
                let empty = self.page.take().expect("it is open");
                self.reopen_with_divider_on(empty);
                self.close_page(Some(divider));
            }
        }
        self.part
    }

    fn reopen_with_divider(&mut self) {
        let index = self.part.run.add_page();
        self.reopen_with_divider_on(OpenPage::new(index, 0, self.usable));
    }

    /// Moves the last divider to the empty page `empty`. The last entry of the leaf before it becomes the divider.
    fn reopen_with_divider_on(&mut self, mut empty: OpenPage) {
        let (leaf, divider) = self.part.leaves.pop().expect("a part of two entries has a leaf");
        let divider = divider.expect("it is not the end of the tree");
        self.page = self.closed.take();
        let last = self.take_back_last_cell();
        assert!(self.page.is_some_and(|page| page.index == leaf), "the page closed last is the last leaf");
        self.close_page(Some(last));
        self.push(&mut empty, &divider);
        self.page = Some(empty);
    }

    /// Removes the last cell of the open page.
    fn take_back_last_cell(&mut self) -> IndexCell {
        let mut open = self.page.take().expect("a page is open");
        let run = &mut self.part.run;
        let page = run.page_mut(open.index);
        let (payload_len, len_len) = varint::read(&page[open.content_start..]).expect("a cell of this builder");
        let split = payload::split(PageKind::LeafIndex, self.usable, payload_len);
        let pointer_len = if split.overflow_pages > 0 { 4 } else { 0 };
        let end = open.content_start + len_len + split.local + pointer_len;
        let bytes = page[open.content_start..end].to_vec();
        let overflow = (pointer_len > 0).then(|| run.take_pointer(open.index, end - 4));
        open.cells -= 1;
        open.content_start = end.max(open.content_start + MIN_CELL_LEN);
        self.page = Some(open);
        IndexCell { bytes, overflow }
    }
}
