//! A sort item, as merges hand it out.

use crate::{Error, ErrorKind};
use litepress_format::FormatError;

/// Bytes of padding behind the items of a run or batch, so that the hot loops copy and compare whole words.
pub(crate) const PADDING_BYTES: usize = 64;

/// An item with at least [`PADDING_BYTES`] readable bytes of any content behind it, so that short items are read in
/// whole words.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PaddedItem<'s> {
    pub bytes: &'s [u8],
    pub len: usize,
}

impl<'s> PaddedItem<'s> {
    /// Returns the item without the padding.
    #[inline]
    pub fn item(self) -> &'s [u8] {
        &self.bytes[..self.len]
    }
}

/// Returns the error of a sort item or record that cannot be decoded: a bug, or a damaged temporary file.
pub(crate) fn bad_item(error: &FormatError) -> Error {
    Error::new(ErrorKind::Data, format!("a sort item or record cannot be decoded: {error}"))
        .advise("check the disk that holds the temporary files; if it is sound, please report a bug")
}
