//! A file, written through the page cache if it is small and past it if it is large.

use super::Sink;
use super::block::ALIGNMENT;
use crate::direct_io;
use litepress_rows::files::FileExt;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// Files up to this size stay in the page cache, where their reader will want them. Larger ones bypass it: copying
/// them into cold memory costs more than writing them, and they would evict everything else.
pub(crate) const CACHED_BYTES: u64 = 64 << 20;

/// A file under construction.
pub(crate) struct FileSink {
    cached: File,
    direct: Option<File>,
    /// Offset from which writes bypass the cache.
    direct_from: u64,
    /// Whether the file system accepted the flag but refused a write.
    direct_refused: AtomicBool,
}

impl FileSink {
    /// Takes over the open, empty `file` at `path`, which is expected to grow to `expected_bytes` (0: unknown).
    pub fn new(file: File, path: &Path, expected_bytes: u64) -> Self {
        let direct = direct_io::open_direct(path);
        if expected_bytes > CACHED_BYTES {
            // Parallel writes beyond the end of a file wait for one another; in preallocated space they do not.
            direct_io::reserve(&file, expected_bytes);
        }
        let direct_from = if expected_bytes > CACHED_BYTES { 0 } else { CACHED_BYTES };
        Self { cached: file, direct, direct_from, direct_refused: AtomicBool::new(false) }
    }

    /// Returns the handle for direct I/O, if this write may use it.
    fn direct(&self, bytes: &[u8], offset: u64) -> Option<&File> {
        let aligned = offset.is_multiple_of(ALIGNMENT as u64)
            && bytes.len().is_multiple_of(ALIGNMENT)
            && bytes.as_ptr().align_offset(ALIGNMENT) == 0;
        let allowed = aligned && offset >= self.direct_from && !self.direct_refused.load(Ordering::Relaxed);
        self.direct.as_ref().filter(|_| allowed)
    }
}

impl Sink for FileSink {
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        if let Some(direct) = self.direct(bytes, offset) {
            match direct.write_all_at(bytes, offset) {
                Err(error) if direct_io::is_refusal(&error) => {
                    self.direct_refused.store(true, Ordering::Relaxed);
                }
                done => return done,
            }
        }
        self.cached.write_all_at(bytes, offset)
    }

    fn can_read(&self) -> bool {
        true
    }

    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        self.cached.read_exact_at(bytes, offset)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.cached.set_len(len)
    }

    fn sync(&self) -> io::Result<()> {
        self.cached.sync_all()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sink::block::BlockPool;

    /// The tests of direct writes expected 256 MiB, an outdated limit: nothing checked the limit of today.
    #[test]
    fn the_cache_is_passed_from_64_mib_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.db");
        let block = BlockPool::new(1).take();
        let (bytes, limit) = (&block.bytes()[..ALIGNMENT], 64 << 20);
        for (expected, direct_from) in [(0, limit), (limit, limit), (limit + 1, 0)] {
            let mut sink = FileSink::new(File::create(&path).unwrap(), &path, expected);
            let room = std::fs::metadata(&path).unwrap().len();
            assert!(room == 0 || (direct_from == 0 && room == expected), "{room} bytes are taken of {expected}");
            // Whether the file system of the tests supports direct I/O does not matter here.
            sink.direct = Some(File::create(folder.path().join("direct")).unwrap());
            for offset in [0, limit - ALIGNMENT as u64, limit] {
                assert_eq!(sink.direct(bytes, offset).is_some(), offset >= direct_from, "{expected}: {offset}");
            }
            assert!(sink.direct(&bytes[1..], limit).is_none() && sink.direct(bytes, limit + 512).is_none());
        }
    }
}
