//! A whole database in memory.

use super::Sink;
use litepress_rows::sync::{Mutex, lock};
use std::io;

/// A byte vector that grows with the pages.
#[derive(Default)]
pub(crate) struct MemorySink {
    bytes: Mutex<Vec<u8>>,
}

impl Sink for MemorySink {
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let mut all = lock(&self.bytes);
        let start = usize::try_from(offset).map_err(|_| io::ErrorKind::OutOfMemory)?;
        let end = start + bytes.len();
        if all.len() < end {
            let missing = end - all.len();
            all.try_reserve(missing).map_err(|_| io::ErrorKind::OutOfMemory)?;
            all.resize(end, 0);
        }
        all[start..end].copy_from_slice(bytes);
        Ok(())
    }

    fn can_read(&self) -> bool {
        true
    }

    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        let all = lock(&self.bytes);
        let written = usize::try_from(offset).ok().and_then(|start| all.get(start..)?.get(..bytes.len()));
        bytes.copy_from_slice(written.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let len = usize::try_from(len).map_err(|_| io::ErrorKind::OutOfMemory)?;
        lock(&self.bytes).resize(len, 0);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    fn take_bytes(&self) -> Option<Vec<u8>> {
        Some(std::mem::take(&mut *lock(&self.bytes)))
    }
}
