//! Front coding (prefix compression) of a spilled run: each item without the prefix that it shares with the one
//! before. `encoder` writes runs when writers spill, `decoder` reads them when runs are merged.
//!
//! ```text
//! item     header, [length], suffix
//! header   shared bytes * 2 + 1 if the item is as long as the one before     varint (see `arena`)
//! length   of the suffix, if the header says that the lengths differ         varint
//!
//! 'abc' 1, 'abc' 2, 'abd' 1  ->  [0 4 "abc" 1] [7 2] [5 "d" 1]
//! ```
//!
//! Low-cardinality keys with ascending rowids take two or three bytes an item. At regular distances an item shares
//! nothing, so that reading can begin there: it is a restart point, as in LevelDB. The sparse index in memory has its
//! ordinal, its position, and a key that separates it from the item before. If you change the encoder, also change the decoder.

mod decoder;
mod encoder;

pub(super) use decoder::RunDecoder;
pub(super) use encoder::{RunEncoder, encode};

use super::diff_mask::DiffMask;
use super::sparse_index::SparseIndex;
use super::spill::{ALIGNMENT, SpillFile};
use crate::Error;
use std::sync::Arc;

/// A sorted run in a file. Dropping it frees its disk space.
#[derive(Debug)]
pub(super) struct SpilledRun {
    file: Arc<SpillFile>,
    start: u64,
    /// Bytes of the encoded items.
    bytes: u64,
    items: u64,
    item_bytes: u64,
    pub sparse_index: SparseIndex,
    pub varying: DiffMask,
}

impl SpilledRun {
    pub fn len(&self) -> u64 {
        self.items
    }

    pub fn item_bytes(&self) -> u64 {
        self.item_bytes
    }

    #[cfg(test)]
    pub fn file(&self) -> &SpillFile {
        &self.file
    }

    /// Returns the bytes in the file.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the error of a file that does not hold what was written.
    pub fn damaged(&self) -> Error {
        self.file.damaged()
    }
}

impl Drop for SpilledRun {
    fn drop(&mut self) {
        self.file.release(self.start, self.bytes.next_multiple_of(ALIGNMENT as u64));
    }
}

/// The longest suffix that is copied as one word of this many bytes.
const WORD: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sort::spill::{AlignedMemory, SpillFolder};

    fn spilled(items: &[Vec<u8>], index_limit: u64) -> SpilledRun {
        let folder = tempfile::tempdir().unwrap();
        let file = SpillFolder::new(folder.path().to_owned()).create().unwrap();
        let mut encoder = RunEncoder::new(&file, 2 * ALIGNMENT, index_limit);
        items.iter().for_each(|item| encoder.push_alone(item).unwrap());
        encoder.finish(DiffMask::unknown()).unwrap()
    }

    #[test]
    fn the_example_above() {
        let run = spilled(&[b"abc\x01", b"abc\x02", b"abd\x01"].map(|item| item.to_vec()), 1 << 20);
        let mut block = AlignedMemory::new(ALIGNMENT);
        run.file.read(block.bytes_mut(), 0).unwrap();
        let expected = b"\x00\x04abc\x01\x07\x02\x05d\x01";
        assert_eq!(run.bytes(), expected.len() as u64);
        assert!(block.bytes().starts_with(expected));
    }

    #[test]
    fn every_item_is_found_and_read_again() {
        let tails = [0, 1, 3, 40, 200, 500];
        let numbered = |number: u32| [&number.to_be_bytes()[..], &vec![7; tails[number as usize % 6]]].concat();
        let mut items: Vec<Vec<u8>> = (0..9000).map(numbered).collect();
        items.extend([0, 20, 20_000, 70_000, 100_000].map(|len| [vec![0xff; len], vec![0xfe]].concat()));
        items.sort();
        for index_limit in [500, 1 << 20] {
            let run = spilled(&items, index_limit);
            assert!(run.sparse_index.held_bytes() < index_limit + 500);
            for start in (0..items.len()).step_by(151).chain([items.len() - 1]) {
                let mut decoder = RunDecoder::at_key(&run, &items[start], ALIGNMENT, None).unwrap();
                for (ordinal, item) in items.iter().enumerate().skip(start).take(400) {
                    assert_eq!((decoder.ordinal(), decoder.item()), (ordinal as u64, &item[..]));
                    let start = decoder.start().to_be_bytes();
                    assert_eq!(start[..item.len().min(16)], item[..item.len().min(16)]);
                    decoder.advance().unwrap();
                }
            }
            assert!(RunDecoder::at_key(&run, &[0xff; 200_000], ALIGNMENT, None).unwrap().is_at_end());
        }
    }
}
