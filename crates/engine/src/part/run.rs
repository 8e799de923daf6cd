//! Leaf pages of a rowid table in a part file.

use crate::tree::table_leaf::TablePart;
use crate::{Error, ErrorKind, Result};
use litepress_format::varint;

/// A run of leaf pages and their overflow pages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct StoredRun {
    /// Number of its first page in the part file.
    pub first_page: u32,
    pub pages: u32,
    /// CRC-32 of the pages.
    pub checksum: u32,
    pub rows: u64,
    pub first_rowid: i64,
    pub last_rowid: i64,
    pub payload_bytes: u64,
    /// The largest rowid and the index in the run of each leaf: [`encode`].
    pub leaves: Vec<u8>,
    /// Page index, and offset in the page, of every page number: [`encode`].
    pub pointers: Vec<u8>,
}

impl StoredRun {
    /// Describes a part with rows. Its place and checksum follow later.
    pub fn new(part: &TablePart) -> Self {
        let last = part.leaves.last().expect("a part with rows");
        let leaves = part.leaves.iter().map(|&(rowid, index)| (rowid.cast_unsigned(), index));
        Self {
            pages: part.run.len(),
            rows: part.rows,
            first_rowid: part.first_rowid.expect("a part with rows"),
            last_rowid: last.0,
            payload_bytes: part.payload_bytes,
            leaves: encode(leaves),
            pointers: encode(part.run.pointers().iter().map(|&(page, offset)| (u64::from(page), offset))),
            ..Self::default()
        }
    }

    /// Returns the leaves: largest rowid and index. Rowids and indexes ascend, and indexes are below the number of pages.
    pub fn leaves(&self) -> Result<Vec<(i64, u32)>> {
        let leaves: Vec<(i64, u32)> =
            decode(&self.leaves)?.into_iter().map(|(rowid, index)| (rowid.cast_signed(), index)).collect();
        let ascend = leaves.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 < pair[1].1);
        let ends = leaves.last().is_some_and(|&(rowid, index)| rowid == self.last_rowid && index < self.pages);
        if ascend && ends { Ok(leaves) } else { Err(damaged("the leaves of a run are not in order")) }
    }

    /// Returns the places of page numbers: page index, and offset in the page.
    pub fn pointers(&self, page_bytes: usize) -> Result<Vec<(u32, u32)>> {
        let place = |(page, offset): (u64, u32)| {
            let page = u32::try_from(page).ok().filter(|page| *page < self.pages)?;
            (offset as usize + 4 <= page_bytes).then_some((page, offset))
        };
        let pointers: Option<_> = decode(&self.pointers)?.into_iter().map(place).collect();
        pointers.ok_or_else(|| damaged("a pointer lies outside of its run"))
    }

    /// Returns whether its pages can be copied as they are.
    pub fn is_free_of_pointers(&self) -> bool {
        self.pointers.is_empty()
    }
}

/// Returns the error of a part that is not as it was written.
pub(super) fn damaged(message: &str) -> Error {
    Error::new(ErrorKind::Corrupt, message).advise("print the part again")
}

/// Encodes pairs as varints: of the first number its difference to the one before, of the second the number itself.
fn encode(pairs: impl Iterator<Item = (u64, u32)>) -> Vec<u8> {
    let (mut bytes, mut before) = (Vec::new(), 0);
    for (first, second) in pairs {
        varint::push(first.wrapping_sub(before), &mut bytes);
        varint::push(second.into(), &mut bytes);
        before = first;
    }
    bytes
}

fn decode(mut bytes: &[u8]) -> Result<Vec<(u64, u32)>> {
    let mut take = || {
        let (number, len) = varint::read(bytes)?;
        bytes = &bytes[len..];
        Some((number, bytes.is_empty()))
    };
    let (mut pairs, mut before) = (Vec::new(), 0_u64);
    while let Some((difference, _)) = take() {
        let second = take().and_then(|(number, _)| u32::try_from(number).ok());
        let Some(second) = second else { return Err(damaged("a list of a run is cut off")) };
        before = before.wrapping_add(difference);
        pairs.push((before, second));
    }
    Ok(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_decoded_as_they_were_encoded() {
        let first = [0, 1, 500, i64::MAX.cast_unsigned(), i64::MIN.cast_unsigned(), u64::MAX, 3];
        let pairs: Vec<(u64, u32)> = first.into_iter().zip([0, 1, 127, 128, 70_000, u32::MAX, 5]).collect();
        let bytes = encode(pairs.iter().copied());
        assert_eq!(decode(&bytes).expect("pairs"), pairs);
        assert!(decode(&bytes[..bytes.len() - 1]).is_err(), "a pair without its second number");
        assert_eq!(decode(&[]).expect("no pairs"), []);
    }

    #[test]
    fn leaves_must_lie_in_their_run() {
        let leaves = encode([(5, 0), (9, 1)].into_iter());
        let run = StoredRun { pages: 2, last_rowid: 9, leaves, ..StoredRun::default() };
        assert_eq!(run.leaves().expect("leaves"), [(5, 0), (9, 1)]);
        assert!(StoredRun { pages: 1, ..run.clone() }.leaves().is_err());
        assert!(StoredRun { last_rowid: 8, ..run.clone() }.leaves().is_err());
        let run = StoredRun { pointers: encode([(1, 509)].into_iter()), ..run };
        assert!(run.pointers(512).is_err(), "a pointer has four bytes");
        assert_eq!(run.pointers(1024).expect("pointers"), [(1, 509)]);
    }
}
