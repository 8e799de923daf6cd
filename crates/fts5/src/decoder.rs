//! Decodes a segment: its leaves, one after another, become terms with whole doclists.

use crate::leaf::Leaf;
use crate::varint_at;
use litepress_format::{FormatError, varint};

/// Decodes the leaves of one segment.
///
/// REQUIRES: all leaves in order. Memory: the largest doclist.
#[derive(Debug)]
pub struct SegmentDecoder {
    has_positions: bool,
    /// The current term; empty before the first.
    term: Vec<u8>,
    /// The doclist of the current term so far, in which only the first rowid is stored whole.
    doclist: Vec<u8>,
    walk: Walk,
}

/// A position in a doclist, up to which its rowids are known.
#[derive(Clone, Copy, Debug, Default)]
struct Walk {
    at: usize,
    /// The last rowid.
    rowid: i64,
    /// Bytes of the last position list that are to come.
    rest: usize,
}

impl SegmentDecoder {
    /// Begins a segment. `has_positions` is false for tables with detail=none.
    #[must_use]
    pub fn new(has_positions: bool) -> Self {
        Self { has_positions, term: Vec::new(), doclist: Vec::new(), walk: Walk::default() }
    }

    /// Decodes the next leaf. Passes each term that is complete, and its doclist, to `take`.
    ///
    /// # Errors
    /// If the leaf breaks a rule of the format.
    pub fn add(&mut self, leaf: &[u8], mut take: impl FnMut(&[u8], &[u8])) -> Result<(), FormatError> {
        let leaf = Leaf::new(leaf)?;
        self.continue_doclist(&leaf)?;
        for number in 0..leaf.terms() {
            self.finish(&mut take);
            let doclist = leaf.read_term(number, &mut self.term)?;
            self.doclist.extend_from_slice(leaf.slice(doclist));
        }
        Ok(())
    }

    /// Passes the last term and its doclist to `take`, if there is one.
    pub fn finish(&mut self, mut take: impl FnMut(&[u8], &[u8])) {
        if !self.term.is_empty() {
            take(&self.term, &self.doclist);
        }
        self.doclist.clear();
        self.walk = Walk::default();
    }

    /// Appends the bytes that continue the doclist of the leaf before. Its first rowid becomes a difference.
    fn continue_doclist(&mut self, leaf: &Leaf<'_>) -> Result<(), FormatError> {
        let bytes = leaf.continuation();
        if bytes.is_empty() {
            return Ok(());
        }
        self.walk_to_end()?;
        let first_rowid = leaf.first_rowid_at().map_or(bytes.len(), |at| at - crate::leaf::HEADER_LEN);
        if self.term.is_empty() || first_rowid != self.walk.rest.min(bytes.len()) {
            return Err(FormatError::new(
                "a doclist does not go on where the leaf before ended",
                crate::leaf::HEADER_LEN,
            ));
        }
        self.doclist.extend_from_slice(&bytes[..first_rowid]);
        self.walk.at = self.doclist.len();
        self.walk.rest -= first_rowid;
        if first_rowid == bytes.len() {
            return Ok(());
        }
        let (rowid, at) = varint_at(bytes, first_rowid)?;
        varint::push(rowid.wrapping_sub(self.walk.rowid.cast_unsigned()), &mut self.doclist);
        self.walk.rowid = rowid.cast_signed();
        self.walk.at = self.doclist.len();
        self.doclist.extend_from_slice(&bytes[at..]);
        self.walk_list()
    }

    /// Reads the rowids that are not known yet.
    fn walk_to_end(&mut self) -> Result<(), FormatError> {
        while self.walk.at < self.doclist.len() {
            let is_first = self.walk.at == 0;
            let (rowid, at) = varint_at(&self.doclist, self.walk.at)?;
            let before = if is_first { 0 } else { self.walk.rowid.cast_unsigned() };
            self.walk.rowid = before.wrapping_add(rowid).cast_signed();
            self.walk.at = at;
            self.walk_list()?;
        }
        Ok(())
    }

    /// Passes over the position list behind a rowid.
    fn walk_list(&mut self) -> Result<(), FormatError> {
        let (end, list) = position_list(&self.doclist, self.walk.at, self.has_positions)?;
        self.walk.at = self.doclist.len().min(end + list);
        self.walk.rest = end + list - self.walk.at;
        Ok(())
    }
}

/// Returns the offset behind the size of the position list at `at`, and the size. Without positions, the list is the marks of a
/// deleted row: two zero bytes at most.
pub(crate) fn position_list(doclist: &[u8], at: usize, has_positions: bool) -> Result<(usize, usize), FormatError> {
    if has_positions {
        let (size, end) = varint_at(doclist, at)?;
        return usize::try_from(size / 2)
            .ok()
            .filter(|&size| size < 1 << 31)
            .map(|size| (end, size))
            .ok_or_else(|| FormatError::new("a position list is too long", at));
    }
    Ok((at, doclist[at..].iter().take(2).take_while(|&&byte| byte == 0).count()))
}
