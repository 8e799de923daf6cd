//! Writes a segment: terms and doclists become leaves, doclist indexes and rows of `%_idx`.
//!
//! The bytes are those of `fts5FlushOneHash` in `fts5_index.c`, which writes a segment of all rows at once. If you change
//! where a leaf ends here, compare it with that function.

use crate::decoder::position_list;
use crate::doclist_index::DoclistIndex;
use crate::leaf::HEADER_LEN;
use crate::run::shared_prefix;
use litepress_format::varint;

/// The destination of a segment.
pub trait SegmentSink {
    /// The error of a write.
    type Error;

    /// Takes the leaf of this number. They come in order, from 1 on.
    ///
    /// # Errors
    /// If it cannot be kept.
    fn leaf(&mut self, page: u32, bytes: &[u8]) -> Result<(), Self::Error>;

    /// Takes a page of a doclist index, in any order.
    ///
    /// # Errors
    /// If it cannot be kept.
    fn doclist_index(&mut self, height: u32, page: u32, bytes: &[u8]) -> Result<(), Self::Error>;

    /// Takes a row of `%_idx`, in the order of terms: the leaf `page`, which no term below `term` is on, and whether its last
    /// doclist has an index.
    ///
    /// # Errors
    /// If it cannot be kept.
    fn index_row(&mut self, term: &[u8], page: u32, has_doclist_index: bool) -> Result<(), Self::Error>;
}

/// The size of a finished segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SegmentSummary {
    /// Number of leaves.
    pub leaves: u32,
    /// Number of terms.
    pub terms: u64,
}

/// Writes one segment.
///
/// REQUIRES: terms in order, each with a doclist of ascending rowids. Memory: a leaf, a row of a doclist index a level.
#[derive(Debug)]
pub struct SegmentWriter<S> {
    sink: S,
    leaf_bytes: usize,
    has_positions: bool,
    page: u32,
    leaf: Vec<u8>,
    /// Offsets of the terms of the leaf, as they will be in its footer.
    footer: Vec<u8>,
    /// Offset of the last term of the leaf.
    last_term_at: usize,
    term: Vec<u8>,
    terms: u64,
    has_no_term: bool,
    has_no_rowid: bool,
    /// The split key and number of the last leaf with a term, until its doclists are complete.
    split: Option<(Vec<u8>, u32)>,
    /// Number of leaves without a term since then.
    empty_leaves: u32,
    index: DoclistIndex,
    /// The doclist so far, as long as it may fit the leaf.
    pending: Vec<u8>,
    /// Whether the current doclist is longer than a leaf.
    is_long: bool,
    /// The last rowid of the current doclist.
    rowid: i64,
}

impl<S: SegmentSink> SegmentWriter<S> {
    /// Begins a segment with leaves of about `leaf_bytes` bytes. `has_positions` is false for tables with detail=none.
    pub fn new(sink: S, leaf_bytes: usize, has_positions: bool) -> Self {
        Self {
            sink,
            leaf_bytes,
            has_positions,
            page: 1,
            leaf: vec![0; HEADER_LEN],
            footer: Vec::new(),
            last_term_at: 0,
            term: Vec::new(),
            terms: 0,
            has_no_term: true,
            has_no_rowid: true,
            split: Some((Vec::new(), 1)),
            empty_leaves: 0,
            index: DoclistIndex::default(),
            pending: Vec::new(),
            is_long: false,
            rowid: 0,
        }
    }

    /// Begins a term, which is above the one before.
    ///
    /// # Errors
    /// If the sink fails.
    ///
    /// # Panics
    /// If the term is not above the one before.
    pub fn term(&mut self, term: &[u8]) -> Result<(), S::Error> {
        assert!(self.terms == 0 || self.term.as_slice() < term, "terms ascend");
        if self.used() + term.len() + 2 >= self.leaf_bytes && self.leaf.len() > HEADER_LEN {
            self.flush_leaf()?;
        }
        varint::push((self.leaf.len() - self.last_term_at) as u64, &mut self.footer);
        self.last_term_at = self.leaf.len();
        let mut shared = shared_prefix(&self.term, term);
        if self.has_no_term {
            if self.page != 1 {
                self.flush_split()?;
                self.split = Some((term[..term.len().min(shared + 1)].to_vec(), self.page));
            }
            shared = 0;
        } else {
            varint::push(shared as u64, &mut self.leaf);
        }
        varint::push((term.len() - shared) as u64, &mut self.leaf);
        self.leaf.extend_from_slice(&term[shared..]);
        self.term.clear();
        self.term.extend_from_slice(term);
        self.terms += 1;
        (self.has_no_term, self.has_no_rowid) = (false, false);
        self.index.begin(self.page);
        self.pending.clear();
        (self.is_long, self.rowid) = (false, 0);
        Ok(())
    }

    /// Adds an entry to the doclist of the current term: a rowid, and its position list with the size before it.
    ///
    /// # Errors
    /// If the sink fails.
    #[inline]
    pub fn entry(&mut self, rowid: i64, list: &[u8]) -> Result<(), S::Error> {
        if self.is_long {
            return self.write_entry(rowid, list);
        }
        varint::push(rowid.wrapping_sub(self.rowid).cast_unsigned(), &mut self.pending);
        self.pending.extend_from_slice(list);
        self.rowid = rowid;
        if self.pending.len() > self.leaf_bytes { self.write_pending() } else { Ok(()) }
    }

    /// Ends the doclist of the current term.
    ///
    /// # Errors
    /// If the sink fails.
    pub fn end_doclist(&mut self) -> Result<(), S::Error> {
        if self.is_long || self.pending.is_empty() {
            return Ok(());
        }
        let pending = std::mem::take(&mut self.pending);
        let written = self.doclist(&pending);
        self.pending = pending;
        written
    }

    /// Adds the whole doclist of the current term.
    ///
    /// # Errors
    /// If the sink fails.
    ///
    /// # Panics
    /// If the bytes are no doclist.
    pub fn doclist(&mut self, doclist: &[u8]) -> Result<(), S::Error> {
        if self.used() + doclist.len() < self.leaf_bytes {
            self.leaf.extend_from_slice(doclist);
            return Ok(());
        }
        let (mut at, mut rowid) = (0, 0_u64);
        self.rowid = 0;
        while at < doclist.len() {
            let (delta, list) = crate::varint_at(doclist, at).expect(WELL_FORMED);
            let (end, len) = position_list(doclist, list, self.has_positions).expect(WELL_FORMED);
            rowid = rowid.wrapping_add(delta);
            at = end + len;
            self.write_entry(rowid.cast_signed(), &doclist[list..at])?;
        }
        Ok(())
    }

    /// Completes the segment. Returns the sink and the size of the segment.
    ///
    /// # Errors
    /// If the sink fails.
    pub fn finish(mut self) -> Result<(S, SegmentSummary), S::Error> {
        if self.leaf.len() > HEADER_LEN {
            self.flush_leaf()?;
        }
        let leaves = self.page - 1;
        if leaves > 0 {
            self.flush_split()?;
        }
        Ok((self.sink, SegmentSummary { leaves, terms: self.terms }))
    }

    /// Returns the number of used bytes of the leaf.
    fn used(&self) -> usize {
        self.leaf.len() + self.footer.len()
    }

    /// Writes the entries that were held back, because they do not fit the leaf.
    fn write_pending(&mut self) -> Result<(), S::Error> {
        let pending = std::mem::take(&mut self.pending);
        self.is_long = true;
        let written = self.doclist(&pending);
        self.pending = pending;
        written
    }

    /// Writes an entry of a doclist that does not fit the leaf.
    fn write_entry(&mut self, rowid: i64, list: &[u8]) -> Result<(), S::Error> {
        if self.has_no_rowid {
            let at = u16::try_from(self.leaf.len()).expect("leaves are below 64 KiB");
            self.leaf[..2].copy_from_slice(&at.to_be_bytes());
            varint::push(rowid.cast_unsigned(), &mut self.leaf);
            self.has_no_rowid = false;
            self.index.add(self.page, rowid, self.leaf_bytes, &mut self.sink)?;
        } else {
            varint::push(rowid.wrapping_sub(self.rowid).cast_unsigned(), &mut self.leaf);
        }
        self.rowid = rowid;
        if !self.has_positions {
            self.leaf.extend_from_slice(list);
            return if self.used() >= self.leaf_bytes { self.flush_leaf() } else { Ok(()) };
        }
        if self.used() + list.len() <= self.leaf_bytes {
            self.leaf.extend_from_slice(list);
            return Ok(());
        }
        self.write_list(list)
    }

    /// Writes a position list that does not fit the leaf, in pieces of whole varints.
    fn write_list(&mut self, mut list: &[u8]) -> Result<(), S::Error> {
        loop {
            let room = self.leaf_bytes.saturating_sub(self.used());
            let piece = if list.len() <= room { list.len() } else { whole_varints(list, room) };
            self.leaf.extend_from_slice(&list[..piece]);
            list = &list[piece..];
            if self.used() >= self.leaf_bytes {
                self.flush_leaf()?;
            }
            if list.is_empty() {
                return Ok(());
            }
        }
    }

    fn flush_leaf(&mut self) -> Result<(), S::Error> {
        let footer_at = u16::try_from(self.leaf.len()).expect("leaves are below 64 KiB");
        self.leaf[2..HEADER_LEN].copy_from_slice(&footer_at.to_be_bytes());
        if self.has_no_term {
            if self.has_no_rowid {
                self.index.add_empty_leaf();
            }
            self.empty_leaves += 1;
        } else {
            self.leaf.extend_from_slice(&self.footer);
        }
        self.sink.leaf(self.page, &self.leaf)?;
        self.leaf.clear();
        self.leaf.resize(HEADER_LEN, 0);
        self.footer.clear();
        self.last_term_at = 0;
        self.page += 1;
        (self.has_no_term, self.has_no_rowid) = (true, true);
        Ok(())
    }

    /// Writes the row of `%_idx` of the last leaf with a term, and the index of its last doclist.
    fn flush_split(&mut self) -> Result<(), S::Error> {
        let Some((term, page)) = self.split.take() else { return Ok(()) };
        let has_index = self.index.finish(std::mem::take(&mut self.empty_leaves), &mut self.sink)?;
        self.sink.index_row(&term, page, has_index)
    }
}

const WELL_FORMED: &str = "a doclist is well-formed";

/// Returns the length of the longest prefix of whole varints in `room` bytes, but at least of one varint.
fn whole_varints(bytes: &[u8], room: usize) -> usize {
    let varint_len = |at: usize| varint::read(&bytes[at..]).expect(WELL_FORMED).1;
    let mut len = varint_len(0);
    while len < room {
        let next = varint_len(len);
        if len + next > room {
            break;
        }
        len += next;
    }
    len
}
