//! Reads runs in front coding, from any restart point on.

use super::{SpilledRun, WORD};
use crate::Result;
use crate::sort::item::PADDING_BYTES;
use crate::sort::read_ahead::{PendingRead, ReadAhead};
use crate::sort::spill::{ALIGNMENT, AlignedMemory};

/// Bytes of the first read.
const FIRST_READ_BYTES: usize = 32 << 10;

/// Reads one run from a restart point on.
#[derive(Debug)]
pub(in crate::sort) struct RunDecoder<'s> {
    run: &'s SpilledRun,
    block: AlignedMemory,
    /// Reads the next block in the background, into other memory.
    ahead: Option<ReadAhead>,
    awaited: Option<PendingRead>,
    spare: Option<AlignedMemory>,
    /// Bytes of the next read. It doubles up to the length of the block, so that short visits read little.
    read_bytes: usize,
    /// The part of the block that is not decoded yet.
    at: usize,
    end: usize,
    /// Offset in the run of the next read.
    next: u64,
    /// The item and its padding.
    item: Vec<u8>,
    len: usize,
    /// The first 16 bytes of `item` as a number.
    start: u128,
    /// Items before the current one.
    ordinal: u64,
}

impl<'s> RunDecoder<'s> {
    /// Opens a run at its first item that is not less than `key`, or at its end.
    pub fn at_key(run: &'s SpilledRun, key: &[u8], block_bytes: usize, ahead: Option<ReadAhead>) -> Result<Self> {
        let (ordinal, position) = run.sparse_index.before(key);
        let aligned = position - position % ALIGNMENT as u64;
        let mut decoder = Self {
            run,
            block: AlignedMemory::new(block_bytes),
            ahead,
            awaited: None,
            spare: None,
            read_bytes: FIRST_READ_BYTES.min(block_bytes),
            at: 0,
            end: 0,
            next: aligned,
            item: vec![0; PADDING_BYTES],
            len: 0,
            start: 0,
            ordinal,
        };
        decoder.read()?;
        decoder.at = usize::try_from(position - aligned).expect("less than the alignment");
        decoder.decode()?;
        while !decoder.is_at_end() && decoder.item() < key {
            decoder.advance()?;
        }
        Ok(decoder)
    }

    #[inline]
    pub fn item(&self) -> &[u8] {
        &self.item[..self.len]
    }

    /// Returns the item and at least [`PADDING_BYTES`] behind it.
    #[inline]
    pub fn padded_bytes(&self) -> &[u8] {
        &self.item
    }

    /// Returns the first 16 bytes of the padded item as a number that compares like them.
    #[inline]
    pub fn start(&self) -> u128 {
        self.start
    }

    #[inline]
    pub fn is_at_end(&self) -> bool {
        self.ordinal >= self.run.items
    }

    pub fn ordinal(&self) -> u64 {
        self.ordinal
    }

    /// Moves to the next item, or to the end.
    #[inline]
    pub fn advance(&mut self) -> Result<()> {
        self.ordinal += 1;
        if self.is_at_end() { Ok(()) } else { self.decode() }
    }

    #[inline]
    fn decode(&mut self) -> Result<()> {
        let ahead = &self.block.bytes()[self.at..self.end];
        if ahead.len() < WORD + 2 {
            return self.decode_any();
        }
        let (header, second) = (usize::from(ahead[0]), usize::from(ahead[1]));
        let (shared, same) = (header >> 1, header & 1 == 1);
        let (head, suffix) = if same { (1, self.len.wrapping_sub(shared)) } else { (2, second) };
        // The usual case: one-byte numbers, a suffix of at most a word, and enough memory.
        let short = header < 0x80 && suffix <= WORD && shared <= self.len;
        if short && shared + suffix + PADDING_BYTES <= self.item.len() {
            let word: &[u8; WORD] = ahead[head..].first_chunk().expect("as far as a word reaches");
            self.item[shared..shared + WORD].copy_from_slice(word);
            if shared < 16 {
                // Computed, not loaded from the item: its bytes are still in the store buffer.
                let changed = u128::MAX >> (8 * shared);
                self.start = self.start & !changed | first_16(word) >> (8 * shared);
            }
            self.len = shared + suffix;
            self.at += head + suffix;
            return Ok(());
        }
        self.decode_any()
    }

    fn decode_any(&mut self) -> Result<()> {
        let header = self.length()?;
        let shared = header >> 1;
        let len = if header & 1 == 1 { self.len } else { shared.saturating_add(self.length()?) };
        let left = self.left() + (self.end - self.at) as u64;
        if shared > self.len || len < shared || (len - shared) as u64 > left {
            return Err(self.run.damaged());
        }
        if self.item.len() < len + PADDING_BYTES {
            self.item.resize(len + PADDING_BYTES, 0);
        }
        self.len = len;
        let mut done = shared;
        while done < len {
            if self.at == self.end {
                self.read()?;
            }
            let now = (self.end - self.at).min(len - done);
            self.item[done..done + now].copy_from_slice(&self.block.bytes()[self.at..self.at + now]);
            self.at += now;
            done += now;
        }
        self.start = first_16(&self.item);
        Ok(())
    }

    fn length(&mut self) -> Result<usize> {
        let mut length = 0;
        for shift in (0..usize::BITS).step_by(7) {
            if self.at == self.end {
                self.read()?;
            }
            let byte = usize::from(self.block.bytes()[self.at]);
            self.at += 1;
            length |= (byte & 0x7f).checked_shl(shift).unwrap_or(0);
            if byte < 0x80 {
                return Ok(length);
            }
        }
        Err(self.run.damaged())
    }

    /// Returns the bytes of the run that are not read yet.
    fn left(&self) -> u64 {
        self.run.bytes.saturating_sub(self.next)
    }

    /// Reads the next block. All of the current one must be decoded.
    fn read(&mut self) -> Result<()> {
        let bytes = self.next_bytes();
        if bytes == 0 {
            return Err(self.run.damaged());
        }
        if let Some(awaited) = self.awaited.take() {
            self.spare = Some(std::mem::replace(&mut self.block, awaited.take()?));
        } else {
            let block = &mut self.block.bytes_mut()[..bytes.next_multiple_of(ALIGNMENT)];
            self.run.file.read(block, self.run.start + self.next)?;
        }
        (self.at, self.end) = (0, bytes);
        self.next += bytes as u64;
        let block_bytes = self.block.bytes().len();
        if self.read_bytes < block_bytes {
            self.read_bytes = (2 * self.read_bytes).min(block_bytes);
        } else {
            self.read_ahead();
        }
        Ok(())
    }

    /// Returns the bytes of the next read.
    fn next_bytes(&self) -> usize {
        usize::try_from(self.left().min(self.read_bytes as u64)).expect("at most a block")
    }

    fn read_ahead(&mut self) {
        let bytes = self.next_bytes().next_multiple_of(ALIGNMENT);
        if let Some(ahead) = self.ahead.as_ref().filter(|_| bytes > 0) {
            let memory = self.spare.take().unwrap_or_else(|| AlignedMemory::new(self.block.bytes().len()));
            self.awaited = Some(ahead.request(&self.run.file, self.run.start + self.next, bytes, memory));
        }
    }
}

#[inline]
fn first_16(bytes: &[u8]) -> u128 {
    u128::from_be_bytes(*bytes.first_chunk().expect("16 bytes"))
}
