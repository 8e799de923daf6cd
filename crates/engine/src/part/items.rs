//! Sort items in a part file, in their order, in front coding (Witten, Moffat, Bell: Managing Gigabytes, 4.1).
//!
//! ```text
//! item    varint: length of the prefix that it shares with the item before | varint: length of the rest | rest
//! ```
//!
//! The stream fills whole pages; zeros follow the last item.

use super::run::damaged;
use crate::pages::{PageRun, Pages};
use crate::progress::Progress;
use crate::sort::{SortedItems, common_prefix};
use crate::{Error, ErrorKind, Result};
use litepress_format::varint;
use std::io::{BufReader, Read};

/// Bytes that are read at once.
const READ_BYTES: usize = 1 << 20;

/// Sort items in a part file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct StoredItems {
    /// The index; `None` for the rows of a WITHOUT ROWID table.
    pub index: Option<String>,
    /// Number of the first page in the part file.
    pub first_page: u32,
    /// Bytes of the encoded items.
    pub bytes: u64,
    /// CRC-32 of these bytes.
    pub checksum: u32,
    pub items: u64,
    /// Sum of the items' lengths.
    pub item_bytes: u64,
}

/// Writes all items to pages.
pub(crate) fn store(
    index: Option<String>,
    sorted: &SortedItems,
    pages: &mut Pages,
    progress: &Progress,
) -> Result<StoredItems> {
    const ITEMS_BETWEEN_STOPS: u64 = 1 << 16;
    let mut stored = StoredItems { index, items: sorted.len(), item_bytes: sorted.item_bytes(), ..Default::default() };
    if sorted.len() == 0 {
        return Ok(stored);
    }
    let mut stream = PageStream::new(pages);
    let (mut items, mut before, mut head) = (sorted.range(0..sorted.len())?, Vec::new(), Vec::new());
    for number in 0..sorted.len() {
        if number.is_multiple_of(ITEMS_BETWEEN_STOPS) {
            progress.go_on()?;
        }
        let item = items.next()?.expect("as many items as ranks");
        let shared = common_prefix(&before, item);
        head.clear();
        varint::push(shared as u64, &mut head);
        varint::push((item.len() - shared) as u64, &mut head);
        stream.write(&head)?;
        stream.write(&item[shared..])?;
        before.truncate(shared);
        before.extend_from_slice(&item[shared..]);
    }
    (stored.first_page, stored.bytes, stored.checksum) = stream.finish()?;
    Ok(stored)
}

/// Bytes on their way to consecutive pages.
pub(crate) struct PageStream<'p> {
    pages: &'p mut Pages,
    first_page: u32,
    run: PageRun,
    /// Used bytes of the last page of the run.
    used: usize,
    bytes: u64,
    checksum: crc32fast::Hasher,
}

impl<'p> PageStream<'p> {
    pub fn new(pages: &'p mut Pages) -> Self {
        let (first_page, run, used) = (pages.next(), pages.new_run(), pages.page_size().bytes());
        Self { pages, first_page, run, used, bytes: 0, checksum: crc32fast::Hasher::new() }
    }

    pub fn write(&mut self, mut bytes: &[u8]) -> Result<()> {
        self.bytes += bytes.len() as u64;
        while !bytes.is_empty() {
            let page_bytes = self.pages.page_size().bytes();
            if self.used == page_bytes {
                if self.run.fills_blocks() {
                    self.flush()?;
                }
                let index = self.run.add_page();
                self.run.page_mut(index).fill(0);
                self.used = 0;
            }
            let fits = bytes.len().min(page_bytes - self.used);
            let last = self.run.len() - 1;
            self.run.page_mut(last)[self.used..self.used + fits].copy_from_slice(&bytes[..fits]);
            (self.used, bytes) = (self.used + fits, &bytes[fits..]);
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        let mut run = std::mem::replace(&mut self.run, self.pages.new_run());
        // One call for a block: each costs more than the few bytes of an item.
        let mut left = run.bytes() - (self.pages.page_size().bytes() - self.used);
        for block in run.slices() {
            self.checksum.update(&block[..left.min(block.len())]);
            left = left.saturating_sub(block.len());
        }
        let placement = self.pages.place(&mut run)?;
        self.pages.write(run, &placement)?;
        self.pages.pool().wait_for_room();
        Ok(())
    }

    /// Writes the last page. Returns the number of the first page, the number of bytes and their checksum.
    pub fn finish(mut self) -> Result<(u32, u64, u32)> {
        self.flush()?;
        Ok((self.first_page, self.bytes, self.checksum.finalize()))
    }
}

/// A reader that computes the checksum of all bytes.
struct Checksummed<R> {
    input: R,
    checksum: crc32fast::Hasher,
}

impl<R: Read> Read for Checksummed<R> {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        let read = self.input.read(bytes)?;
        self.checksum.update(&bytes[..read]);
        Ok(read)
    }
}

/// Reads items back.
pub(crate) struct ItemReader<R> {
    input: BufReader<Checksummed<R>>,
    left: u64,
    item: Vec<u8>,
    /// The longest possible item.
    most: u64,
    /// The checksum of all bytes.
    expected: u32,
}

impl<R: Read> ItemReader<R> {
    /// `input` has the bytes of the items, and no others.
    pub fn new(input: R, stored: &StoredItems) -> Self {
        let (left, most, expected) = (stored.items, stored.item_bytes, stored.checksum);
        let input = Checksummed { input, checksum: crc32fast::Hasher::new() };
        Self { input: BufReader::with_capacity(READ_BYTES, input), left, item: Vec::new(), most, expected }
    }

    /// Returns the next item.
    ///
    /// # Errors
    /// If the items are damaged. The last call notices a wrong checksum.
    pub fn next(&mut self) -> Result<Option<&[u8]>> {
        if self.left == 0 {
            return Ok(None);
        }
        let (shared, rest) = (self.varint()?, self.varint()?);
        let is_possible = shared <= self.item.len() as u64 && rest > 0 && rest <= self.most;
        let (Ok(shared), Ok(rest), true) = (usize::try_from(shared), usize::try_from(rest), is_possible) else {
            return Err(damaged("an item has an impossible length"));
        };
        // Items ascend: the first byte behind the common prefix is larger.
        let before = self.item.get(shared).copied();
        self.item.resize(shared + rest, 0);
        self.input.read_exact(&mut self.item[shared..]).map_err(|error| unreadable(&error))?;
        if before.is_some_and(|before| self.item[shared] <= before) {
            return Err(damaged("items are not in order"));
        }
        self.left -= 1;
        if self.left == 0 && self.input.get_ref().checksum.clone().finalize() != self.expected {
            return Err(damaged("the checksum of items is wrong"));
        }
        Ok(Some(&self.item))
    }

    fn varint(&mut self) -> Result<u64> {
        let mut bytes = [0; 9];
        for len in 1..=bytes.len() {
            self.input.read_exact(&mut bytes[len - 1..len]).map_err(|error| unreadable(&error))?;
            if bytes[len - 1] < 0x80 || len == bytes.len() {
                return Ok(varint::read(&bytes[..len]).expect("a whole varint").0);
            }
        }
        unreachable!("nine bytes are a varint")
    }
}

fn unreadable(error: &std::io::Error) -> Error {
    Error::new(ErrorKind::Io, format!("cannot read items: {error}"))
}
